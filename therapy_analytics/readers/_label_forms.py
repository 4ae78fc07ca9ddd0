"""The ways to write a label before a turn, each a `Form`; and lines of a page that are no talk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from therapy_analytics.readers._labels import ANSWERS, AT_THE_KEYBOARD
from therapy_analytics.readers._stamps import CLOCK, SECOND, STAMP
from therapy_analytics.readers.roles import is_relative, role_of_label

_CHANGES, _CHANGES_OF_ROLES = 0.4, 0.2
"""The least share of labels that differ from the label before; less where the labels name both roles."""
_COVERED = 0.4
_FOLLOWED = 0.9
_OF_BLOCKS = 0.4
_OF_LINES = 0.3

_PICTURES = "\u2600-\u27bf\ufe0f\U0001f300-\U0001faff"
EDGE = rf"[ \t\x0c\xa0\u202f>#*_\ufeff\u200b-\u200f\u202a-\u202e\u2066-\u2069{_PICTURES}]*+"
"""Part of a pattern: what may stand before a label and is no part of it."""
_GAP = r"[ \t\xa0\u202f*_\u200b-\u200f]{0,20}+"
_LABEL = r"[^\W\d_](?:[^:\uff1a\t,;|*<>]|, ){0,39}?"
_SHORT = r"[^\W\d_][\w.'\u2019()-]{0,24}(?: [\w.'\u2019()&-]{1,24}){0,2}?"
_COLON = r"(?:(?<!\d)[:\uff1a]|[:\uff1a](?!\d\d\b))[:*_]*"  # not the one in 10:30
_BEFORE = rf"^{EDGE}(?:(?P<before>{STAMP}|{SECOND})[ \t\xa0*_|,-]*+(?:From[ \t]+)?)?"
_LABEL_FIRST = rf"(?P<square>[\[<(])?(?P<label>{_LABEL})(?(square)[\]>)])"
_AFTER = rf"(?:[ \t\xa0*_|\u00b7\u2022@,\u2013\u2014-]{{0,20}}+(?P<after>{STAMP}))?{_GAP}"
_STRICT = rf"{_BEFORE}(?P<label>{_SHORT})"
_REST = r"(?![ \t*_]*[:\uff1a])(?P<words>.*\S.*)$"
_LETTER = r"[\w.'\u2019()&/-]"
_ADDRESSED = re.compile(r"\bFrom[ \t]+\S.* to ")
_INITIALS = re.compile(r"(?:\w{1,3}\.){1,3}")


class Line(NamedTuple):
    """A line: its place in the file, the text to look for a label in, and its words if it has none."""

    place: int
    text: str
    raw: str


@dataclass(frozen=True)
class TextPage:
    """Lines; `above` and `below` tell of each whether the next line with words above or below it holds only a time."""

    lines: Sequence[Line]
    above: Sequence[bool]
    below: Sequence[bool]

    @cached_property
    def filled(self) -> list[int]:
        """Positions of the lines with words."""
        return [at for at, line in enumerate(self.lines) if line.raw and not line.raw.isspace()]

    def is_blank(self, at: int) -> bool:
        """Tell whether a line has no words, or does not exist."""
        return not 0 <= at < len(self.lines) or not self.lines[at].raw.strip()


Found = dict[int, re.Match[str]]
"""Lines that may begin a turn, by position."""
Labels = frozenset[str]
Allowed = Callable[[TextPage, int, re.Match[str]], bool]
"""Whether a line at a position may begin a turn."""
Holds = Callable[[TextPage, Sequence[int], Sequence[str], Labels], bool]
"""Whether a form fits a page, from the lines that begin a turn, the label of each, and all labels."""


def has_both_roles(labels: Labels) -> bool:
    """Tell whether labels by themselves name a therapist and a client, or a client's relative."""
    roles = {role_of_label(label) for label in labels}
    return "therapist" in roles and ("client" in roles or any(map(is_relative, labels)))


def _anywhere(_page: TextPage, _at: int, _match: re.Match[str]) -> bool:
    return True


def _without_addressee(_page: TextPage, _at: int, match: re.Match[str]) -> bool:
    """Tell a label from one with an addressee, which has a form of its own."""
    return " to " not in match["label"] or not _ADDRESSED.search(match.string, 0, match.end("label"))


def _by_role_or_time(_page: TextPage, _at: int, match: re.Match[str]) -> bool:
    """Without a colon, a line is a label only if it names a role or a relative, or has a time."""
    if match["before"] or match["after"]:
        return True
    label = match["label"]
    return bool(role_of_label(label) or is_relative(label)) and not label.endswith((".", "?", "!"))


def _like_a_name(_page: TextPage, _at: int, match: re.Match[str]) -> bool:
    label = match["label"]
    if not ANSWERS.isdisjoint(label.casefold().split()) and role_of_label(label) is None:
        return label.casefold() in AT_THE_KEYBOARD
    return not label[0].islower() and (label[-1] != "." or bool(_INITIALS.fullmatch(label)))


def _always(_page: TextPage, _starts: Sequence[int], _order: Sequence[str], _labels: Labels) -> bool:
    return True


def _throughout(page: TextPage, starts: Sequence[int], order: Sequence[str], labels: Labels) -> bool:
    """Tell whether labels without a colon take turns, and occur all through the file."""
    share = _COVERED / 4 if has_both_roles(labels) else _COVERED
    return _take_turns(order, labels) and len(starts) >= share * len(page.filled)


def _both_throughout(page: TextPage, starts: Sequence[int], order: Sequence[str], labels: Labels) -> bool:
    return has_both_roles(labels) and _throughout(page, starts, order, labels)


def _above_each_turn(page: TextPage, starts: Sequence[int], order: Sequence[str], labels: Labels) -> bool:
    """Tell names on lines of their own above the words from short answers that somebody gives repeatedly."""
    follower = dict(pairwise(page.filled))
    begins = set(starts)
    followed = sum(at in follower and follower[at] not in begins for at in starts)
    if not _take_turns(order, labels) or followed < _FOLLOWED * len(starts):
        return False
    blocks = sum(page.is_blank(at - 1) for at in page.filled)
    if blocks < len(starts):
        return len(starts) >= _OF_LINES * len(page.filled)
    first_of_block = sum(page.is_blank(at - 1) for at in starts)
    return first_of_block >= _FOLLOWED * len(starts) and len(starts) >= _OF_BLOCKS * blocks


def _take_turns(order: Sequence[str], labels: Labels) -> bool:
    changes = sum(one != two for one, two in pairwise(order))
    share = _CHANGES_OF_ROLES if has_both_roles(labels) else _CHANGES
    return len(labels) > 1 and changes >= share * (len(order) - 1)


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write labels: the pattern of a line, whether a line may begin a turn, and whether the form fits a page.

    `has_names` tells whether a label that occurs only once may be a name; not so where any word of speech could stand.
    """

    pattern: re.Pattern[str]
    allowed: Allowed = _anywhere
    holds: Holds = _always
    has_names: bool = True


def _form(pattern: str, holds: Holds = _throughout, *, has_names: bool = True) -> Form:
    return Form(re.compile(pattern), holds=holds, has_names=has_names)


_WITH_COLON = rf"{_LABEL_FIRST}{_AFTER}{_COLON}(?P<words>.*)$"
_ALONE = re.compile(rf"{_BEFORE}{_LABEL_FIRST}{_AFTER}(?P<words>)$")
_NAME = re.compile(
    rf"^{EDGE}(?P<square>\[)?(?P<label>[^\W\d_]{_LETTER}{{0,24}}(?: {_LETTER}{{1,24}}){{0,3}})(?(square)\]){_GAP}"
    r"(?P<words>)$"
)

PLAIN = (
    Form(re.compile(rf"{_BEFORE}{_WITH_COLON}"), _without_addressee),
    Form(_ALONE, _by_role_or_time),
    Form(_ALONE, lambda page, at, _match: page.above[at]),
    Form(_ALONE, lambda page, at, _match: page.below[at]),
)
"""Forms that need not hold for the whole file; the first is a label and a colon."""
STRICT = (
    _form(
        rf"^{EDGE}(?P<before>{STAMP})[ \t]*From[ \t]+(?P<label>[^:\n]{{1,40}}?)"
        rf"(?:[ \t]+to[ \t]+[^:\n]{{1,40}})?[ \t]*:(?P<words>.*)$"
    ),
    Form(_NAME, _like_a_name, _above_each_turn),
    _form(rf"{_STRICT}[ \t]*[-\u2013\u2014]+[ \t]++{_REST}"),
    _form(rf"{_STRICT}[ \t]*(?:\||->|=>?|;|\u2192)[ \t]++{_REST}"),
    _form(rf"{_STRICT}(?:[ \t]*\t|[ ]{{3,}}+)[ \t]*+{_REST}"),
    _form(
        rf"{_BEFORE}(?!(?i:mr|mrs|ms|dr|prof|st)\.)(?P<label>[^\W\d_]\w{{0,11}}(?: \d{{1,2}})?)[.)][ \t]++{_REST}",
        has_names=False,
    ),
    _form(rf"{_BEFORE}[\[<](?P<label>{_SHORT})[\]>][ \t]++{_REST}"),
    _form(rf"^[ \t>#]*(?P<bold>\*\*|__)(?P<label>{_SHORT})[ \t]*(?P=bold)[ \t]*+{_REST}"),
    _form(rf"^[ \t>#]*(?P<bold>\*\*|__)(?P<label>{_SHORT})(?P=bold)[ \t]*(?P<words>)$"),
    _form(rf"{_BEFORE}(?P<label>[A-Z][A-Z.'\u2019-]+(?: [A-Z][A-Z.'\u2019-]+){{0,2}})[ ]{{2,}}+{_REST}"),
    _form(rf"{_BEFORE}(?P<label>(?:DR\.? )?[A-Z]{{2,24}}(?: ?\d{{1,2}})?)[ \t]++{_REST}", has_names=False),
    _form(rf"^[ \t]*[-+\u2022\u2013\u2014][ \t]+[*_]*{_WITH_COLON}", _always),
    _form(rf"^{EDGE}(?P<label>{_LABEL})[ \t]*(?P<after>{STAMP})[ \t]*+{_GAP}{_REST}"),
    _form(rf"^{EDGE}\[(?P<label>{_SHORT}),?[ \t]+(?P<after>{CLOCK})\]:?[ \t]++{_REST}"),
    _form(rf"{_BEFORE}\((?P<label>[^\W\d_]\w{{0,14}})\)[ \t]++{_REST}", _both_throughout),
    _form(
        rf"^{EDGE}(?P<before>{STAMP}){_GAP}(?P<label>[^\W\d_]\w{{0,14}})[ \t]++{_REST}",
        _both_throughout,
        has_names=False,
    ),
    _form(rf"^{EDGE}(?P<label>[^\W\d_]\w{{0,14}})[ ]{{2,}}+{_REST}"),
    _form(rf"^{EDGE}(?P<label>(?:[A-Z]|T[Hh]|C[Ll])\d{{0,3}})[ \t]++{_REST}", _both_throughout, has_names=False),
    _form(rf"^{EDGE}(?P<label>[^\W\d_][\w. ]{{0,14}}?)>[ \t]*+{_REST}"),
)
"""Forms that must hold all through a file, so they show at its head."""


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
    """Tell a line that is no speech: of a recorder, the end of a recording, the number of a page."""
    if len(raw) > 2 * _LONGEST or not raw or raw.isspace():
        return False
    line = raw.strip()
    return bool((_RECORDER.fullmatch(line) and not _BRACKETED.fullmatch(line)) or _PAGE.fullmatch(line))


def without_rule(lines: list[Line]) -> list[Line]:
    """Drop a rule at the end, which parts a turn from the next."""
    filled = [at for at, line in enumerate(lines) if line.raw.strip()]
    if filled and _RULE.fullmatch(lines[filled[-1]].raw.strip()):
        return lines[: filled[-1]]
    return lines


def without_numbers(lines: Sequence[Line]) -> Sequence[Line]:
    """Drop numbers of lines in a margin, of turns and of pages; a list inside a turn keeps its own."""
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
    """Tell numbers of every second, fifth or tenth line, which count the lines."""
    rank = {at: n for n, at in enumerate(at for at, line in enumerate(lines) if line.raw.strip())}
    steps = [(int(two["n"]) - int(one["n"]), rank[b] - rank[a]) for (a, one), (b, two) in pairwise(counting)]
    return len(steps) > 1 and steps[0][0] in {2, 5, 10} and all(by_number == by_line for by_number, by_line in steps)


def _counting(found: Sequence[Counted]) -> list[Counted]:
    """Return the numbers that count up from one to the next, or begin again at 1 on a new page."""
    kept = list(found[:1])
    for at, match in found[1:]:
        step = int(match["n"]) - int(kept[-1][1]["n"])
        if 0 < step <= _LARGEST_STEP or int(match["n"]) == 1:
            kept.append((at, match))
    return kept


def _without_pages(lines: Sequence[Line], digits: Sequence[int]) -> Sequence[Line]:
    """Blank page numbers: alone on a line, apart from the talk or above a time, and counting up by one."""
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
