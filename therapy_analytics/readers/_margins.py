"""What stands on a page beside the talk: numbers of lines, turns and pages, what the recorder wrote, rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from therapy_analytics.readers._label_forms import PLAIN, Line
from therapy_analytics.readers._stamps import CLOCK, STAMP

_MARGIN = 0.9
_MOSTLY = 0.7
_LARGEST_STEP = 10
_LONGEST = 120
_NUMBER = re.compile(
    r"[ \t]*(?:turn[ \t]+)?[#(\[]?(?P<n>\d{1,6})(?:[.):\]|]{0,2}[ \t]+(?:[-\u2013\u2014][ \t]+)?(?=\S)|[ \t]*$)",
    re.IGNORECASE,
)
_NUMBER_BEHIND = re.compile(r"(?<=\S)(?:[ \t]{2,}|\t)(?P<n>\d{1,6})[ \t]*$")
_BARE = re.compile(
    r"[ \t\x0c]*(?:[-\u2013\u2014][ \t]*)?(\d{1,4})(?:[ \t]*[-\u2013\u2014]|[ \t]*(?:/|of)[ \t]*\d{1,4})?[ \t]*$"
)
_RECORDER = re.compile(
    r"[^:]{1,60} (?:started|stopped) (?:the )?(?:transcription|recording)\.?"
    r"|transcribed by https?://otter\.ai"
    r"|this transcript was exported on .{1,100}"
    r"|(?:meeting|call|recording|transcription) ended after .{1,20}"
    r"|reference \d{1,4} - [\d.,]{1,8}% coverage"
    r"|by (?:mr|mrs|ms|miss|dr)\b\.? [^:]{1,40}:|(?:(?:direct|cross|re-?direct|re-?cross|further)[- ])*examination"
    r"|<.{1,200}> - \u00a7 \d{1,4} references? coded.{0,40}"
    r"|this editable transcript was computer generated.{0,200}"
    rf"|\W*(?:{CLOCK}\W*)?(?:end of|end) (?:the )?(?:session|transcript(?:ion)?|recording|interview|audio|tape)"
    r"(?: \d{1,3})?\W*",
    re.IGNORECASE,
)
_PAGE = re.compile(
    r"(?:[^:\n]{1,40}[-|\u2013\u2014\t ]+)?page[ \t|]*\d{1,4}(?:[ \t]*(?:/|of)[ \t]*\d{1,4})?\W*", re.IGNORECASE
)
_TIME = re.compile(rf"[ \t]*{STAMP}")
_RULE = re.compile(r"(?:[-*_=~\u2014\u2500][ \t]*){3,}")
_BRACKETED = re.compile(r"[\[(].*[\])]")

Counted = tuple[int, re.Match[str]]


def is_beside_the_talk(raw: str) -> bool:
    """Tell a line that no speaker said: of the recorder, an end of the recording, the number of a page."""
    if len(raw) > 2 * _LONGEST or not raw or raw.isspace():
        return False
    line = raw.strip()
    return bool((_RECORDER.fullmatch(line) and not _BRACKETED.fullmatch(line)) or _PAGE.fullmatch(line))


def without_rule(lines: list[Line]) -> list[Line]:
    """Take the rule away that parts a turn from the next."""
    filled = [at for at, line in enumerate(lines) if line.raw.strip()]
    if filled and _RULE.fullmatch(lines[filled[-1]].raw.strip()):
        return lines[: filled[-1]]
    return lines


def without_numbers(lines: Sequence[Line]) -> Sequence[Line]:
    """Take away the numbers of lines in a margin, of turns, of pages; a list inside a turn keeps its own."""
    digits = [at for at, line in enumerate(lines) if any(map(str.isdigit, line.text[:12] + line.text[-3:]))]
    if len(digits) < 2:
        return lines
    lines = _without_pages(lines, digits)
    found = [(at, match) for at in digits if (match := _NUMBER.match(lines[at].text)) and lines[at].raw.strip()]
    counting = _counting(found)
    if len(counting) > 1 and len(counting) >= _MOSTLY * len(found):
        return _without_first_numbers(lines, counting)
    behind = _counting([(at, match) for at in digits if (match := _NUMBER_BEHIND.search(lines[at].text))])
    if len(behind) > 1 and len(behind) >= _MARGIN * _n_filled(lines):
        return _cut(lines, ((at, lines[at].text[: match.start()]) for at, match in behind))
    return lines


def _without_first_numbers(lines: Sequence[Line], counting: Sequence[Counted]) -> Sequence[Line]:
    if len(counting) >= _MARGIN * _n_filled(lines) or _number_the_lines(lines, counting):
        return _cut(lines, ((at, lines[at].text[match.end() :]) for at, match in counting))
    if len(counting) <= sum(bool(PLAIN[0].pattern.match(line.text)) for line in lines):
        return lines
    plain = list(lines)
    for at, match in counting:
        plain[at] = lines[at]._replace(text=lines[at].text[match.end() :])
    return plain


def _n_filled(lines: Sequence[Line]) -> int:
    return sum(bool(line.raw.strip()) for line in lines)


def _cut(lines: Sequence[Line], cut: Iterator[tuple[int, str]]) -> list[Line]:
    plain = list(lines)
    for at, rest in cut:
        plain[at] = Line(lines[at].place, rest, rest)
    return plain


def _number_the_lines(lines: Sequence[Line], counting: Sequence[Counted]) -> bool:
    """Tell numbers that stand at every fifth line, or every tenth, and say which line it is."""
    rank = {at: n for n, at in enumerate(at for at, line in enumerate(lines) if line.raw.strip())}
    steps = [(int(two["n"]) - int(one["n"]), rank[b] - rank[a]) for (a, one), (b, two) in pairwise(counting)]
    return len(steps) > 1 and steps[0][0] in {2, 5, 10} and all(by_number == by_line for by_number, by_line in steps)


def _counting(found: Sequence[Counted]) -> list[Counted]:
    """Return the numbers that count on from one to the next, or begin again at 1 on a new page."""
    kept = list(found[:1])
    for at, match in found[1:]:
        step = int(match["n"]) - int(kept[-1][1]["n"])
        if 0 < step <= _LARGEST_STEP or int(match["n"]) == 1:
            kept.append((at, match))
    return kept


def _without_pages(lines: Sequence[Line], digits: Sequence[int]) -> Sequence[Line]:
    """Blank the numbers alone on a line, apart from the talk or above a time, that count one by one."""
    bare = [(at, int(match[1])) for at in digits if (match := _BARE.match(lines[at].text))]
    apart = [
        at
        for at, _ in bare
        if at == 0 or not lines[at - 1].raw.strip() or _TIME.match(lines[at + 1].text if at + 1 < len(lines) else "")
    ]
    in_turn = all(two - one == 1 for (_, one), (_, two) in pairwise(bare))
    if len(bare) < 2 or len(apart) < len(bare) or not in_turn:
        return lines
    return _cut(lines, ((at, "") for at, _ in bare))
