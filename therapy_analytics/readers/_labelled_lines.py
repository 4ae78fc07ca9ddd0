"""From lines of text to rows: where a turn begins, who speaks, when.

Each way to write a label is a `_Form`. A file is read in the form that finds most labels,
so that a colon in the speech of one file is no label, and in another it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from therapy_analytics.readers._base import Row
from therapy_analytics.readers._labels import speakers
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._stamps import CLOCK, STAMP, Times, from_the_first, times_of

_SAMPLE = 2_000
_EVEN = 0.5
_COVERED = 0.4
_MARGIN = 0.9
_MOSTLY = 0.7
_LARGEST_STEP = 10
_N_PLAIN = 4

_EDGE = r"[ \t\xa0>#*_\ufeff\u200b-\u200f\u202a-\u202e]*+"
_GAP = r"[ \t\xa0*_\u200b-\u200f]{0,20}+"
_LABEL = r"[^\W\d_](?:[^:\uff1a\t,;|*<>]|, ){0,39}?"
_SHORT = r"[^\W\d_][\w.'\u2019()-]{0,24}(?: [\w.'\u2019()&-]{1,24}){0,2}?"
_COLON = r"(?:(?<!\d)[:\uff1a]|[:\uff1a](?!\d\d\b))"  # not the one in 10:30
_BEFORE = rf"^{_EDGE}(?:(?P<before>{STAMP})[ \t\xa0*_|-]*+)?"
_LABEL_FIRST = rf"(?P<square>[\[<])?(?P<label>{_LABEL})(?(square)[\]>]){_GAP}"
_BEGIN = rf"{_BEFORE}{_LABEL_FIRST}"
_STRICT = rf"{_BEFORE}(?P<label>{_SHORT})"
_REST = r"(?![ \t*_]*[:\uff1a])(?P<words>.*\S.*)$"


class Line(NamedTuple):
    """A line: its place in the file, what to look at for a label, and its words if there is none."""

    place: int
    text: str
    raw: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """Lines that were understood: the rows, the share of lines with a label, what to tell."""

    rows: list[Row] = field(repr=False)
    labels: frozenset[str]
    share: float
    notes: tuple[str, ...] = ()


class _Timing(NamedTuple):
    """Where a file gives times: after the colon (in most turns: a single one is a mark), on lines of their own."""

    after_colon: bool
    on_lines: bool


class _Counts(NamedTuple):
    n_dropped: int
    by_day: bool


class _Page(NamedTuple):
    """Lines, and for each whether the line with words above it, or below it, holds only a time."""

    lines: Sequence[Line]
    above: Sequence[bool]
    below: Sequence[bool]


Found = dict[int, re.Match[str]]
"""Lines that may begin a turn, by their index."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to write labels; a strict one must hold for the whole file, and one for named roles have both in it."""

    pattern: re.Pattern[str]
    allowed: Callable[[_Page, int, re.Match[str]], bool] = lambda _page, _at, _match: True
    strict: bool = False
    named: bool = False


def _by_form(_page: _Page, _at: int, match: re.Match[str]) -> bool:
    """Without a colon, a line is a label only if it names a role or has a time."""
    if match["before"] or match["after"]:
        return True
    return bool(role_of_label(match["label"])) and not match["label"].endswith((".", "?", "!"))


_WITH_COLON = rf"{_LABEL_FIRST}(?:(?P<after>{STAMP}){_GAP})?{_COLON}[*_]*(?P<words>.*)$"
_ALONE = re.compile(rf"{_BEGIN}(?P<after>{STAMP})?{_GAP}(?P<words>)$")
_FORMS = (
    _Form(re.compile(rf"{_BEFORE}{_WITH_COLON}")),
    _Form(_ALONE, _by_form),
    _Form(_ALONE, lambda page, at, _match: page.above[at]),
    _Form(_ALONE, lambda page, at, _match: page.below[at]),
    _Form(re.compile(rf"{_STRICT}[ \t]*[-\u2013\u2014]+[ \t]+{_REST}"), strict=True),
    _Form(re.compile(rf"{_STRICT}(?:[ \t]*\t|[ ]{{3,}}+)[ \t]*+{_REST}"), strict=True),
    _Form(re.compile(rf"{_BEFORE}(?P<label>[^\W\d_]\w{{0,11}}(?: \d{{1,2}})?)[.)][ \t]+{_REST}"), strict=True),
    _Form(re.compile(rf"{_BEFORE}[\[<](?P<label>{_SHORT})[\]>][ \t]+{_REST}"), strict=True),
    _Form(re.compile(rf"^[ \t>#]*(?P<bold>\*\*|__)(?P<label>{_SHORT})[ \t]*(?P=bold)[ \t]*{_REST}"), strict=True),
    _Form(re.compile(rf"^[ \t>#]*(?P<bold>\*\*|__)(?P<label>{_SHORT})(?P=bold)[ \t]*(?P<words>)$"), strict=True),
    _Form(re.compile(rf"{_BEFORE}(?P<label>(?:DR\.? )?[A-Z]{{2,24}}(?: ?\d{{1,2}})?)[ \t]+{_REST}"), strict=True),
    _Form(re.compile(rf"^[ \t]*[-+\u2022\u2013\u2014][ \t]+[*_]*{_WITH_COLON}")),
    _Form(re.compile(rf"^{_EDGE}(?P<label>{_LABEL})[ \t]*(?P<after>{STAMP}){_GAP}{_REST}"), strict=True),
    _Form(re.compile(rf"^{_EDGE}\((?P<label>[^\W\d_]\w{{0,14}})\)[ \t]+{_REST}"), strict=True, named=True),
    _Form(
        re.compile(rf"^{_EDGE}(?P<before>{STAMP}){_GAP}(?P<label>[^\W\d_]\w{{0,14}})[ \t]+{_REST}"),
        strict=True,
        named=True,
    ),
    _Form(re.compile(rf"^{_EDGE}(?P<label>[^\W\d_][\w. ]{{0,14}}?)>[ \t]*{_REST}"), strict=True),
)
_CLOCK_ONLY = re.compile(rf"{_EDGE}{STAMP}[ \t*_]*$")
_AFTER_COLON = re.compile(rf"[ \t]*(?P<stamp>\[{CLOCK}\]|\({CLOCK}\))[ \t]*")
_RECORDER = re.compile(
    r"[^:]{1,60} (?:started|stopped) (?:the )?(?:transcription|recording)\.?|Transcribed by https?://otter\.ai",
    re.IGNORECASE,
)
_LAST_OF_RECORDER = ("transcription", "transcription.", "recording", "recording.", "otter.ai")
_BRACKETS = " \t\xa0[](){}<>*_"
_COUNTED_LABEL = re.compile(r"(.*?[^\W\d])[ .#-]?(\d{1,4})\Z")
_NUMBER = re.compile(r"[ \t]*(\d{1,6})(?:[.):\]|]?[ \t]+(?=\S)|[ \t]*$)")


def plain_lines(texts: Iterable[str], *, first: int = 1) -> list[Line]:
    """Return the lines of a text file, numbered from `first`."""
    return [Line(place, text, text) for place, text in enumerate(texts, start=first)]


def labelled_rows(lines: Sequence[Line]) -> Labelled | None:
    """Find who says what in lines of text.

    Parameters
    ----------
    lines : sequence of Line
        In order.

    Returns
    -------
    Labelled or None
        None where no labels are to be found.

    Examples
    --------
    >>> found = labelled_rows(plain_lines(["T: Hello.", "So.", "C: Hi.", "T: Well.", "C: Yes."]))
    >>> [(row.speaker, row.place) for row in found.rows]
    [('T', 1), ('C', 3), ('T', 4), ('C', 5)]
    """
    page = _page(_without_numbers(lines))
    begins, labels = _layout(page)
    if not labels:
        return None
    rows, counts = _rows(page, begins, labels)
    rows, by_day = from_the_first(rows, by_day=counts.by_day)
    first = min(begins)
    preamble = sum(bool(line.raw.strip()) for line in page.lines[:first]) - page.above[first]
    notes = [f"{counted(preamble, 'line')} before the first speaker label left out."] if preamble else []
    if counts.n_dropped:
        notes.append(f"{counted(counts.n_dropped, 'line')} that the recorder wrote left out.")
    if by_day:
        notes.append("Times of day were counted from the first of them.")
    filled = sum(bool(line.raw.strip()) for line in page.lines)
    return Labelled(rows, labels, len(begins) / max(filled, 1), tuple(notes))


def _page(lines: Sequence[Line]) -> _Page:
    filled = [bool(line.text.strip()) for line in lines]
    clocks = [bool(_CLOCK_ONLY.match(line.text)) for line in lines]
    if not any(clocks):
        nowhere = [False] * len(lines)
        return _Page(lines, nowhere, nowhere)
    kinds = list(zip(filled, clocks, strict=True))
    return _Page(lines, _beside(kinds), _beside(kinds[::-1])[::-1])


def _beside(kinds: Sequence[tuple[bool, bool]]) -> list[bool]:
    """Tell for each line whether the last that was filled before it holds only a time."""
    beside, last = [], False
    for filled, is_clock in kinds:
        beside.append(last and not is_clock)
        last = is_clock if filled else last
    return beside


def _layout(page: _Page) -> tuple[Found, frozenset[str]]:
    """Return the lines that begin a turn, and the labels: in the form that finds most of them."""
    head = _Page(page.lines[:_SAMPLE], page.above, page.below)
    for part in (head, page):
        forms = _FORMS if part is head else _FORMS[:_N_PLAIN]  # what is strict shows itself at the head
        tried = [_tried(form, part) for form in forms]
        best = max(tried, key=lambda one: (len(one[1]) > 1, len(one[0])))  # of equals the first
        if len(best[1]) > 1 or len(part.lines) == len(page.lines):
            break
    if len(part.lines) < len(page.lines):
        best = _tried(_FORMS[tried.index(best)], page)
    return best


def _tried(form: _Form, page: _Page) -> tuple[Found, frozenset[str]]:
    match_line, allowed = form.pattern.match, form.allowed
    found = {at: match for at, line in enumerate(page.lines) if (match := match_line(line.text))}
    found = {at: match for at, match in found.items() if allowed(page, at, match)}
    keys = dict(zip(found, _unnumbered([_key(match["label"]) for match in found.values()]), strict=True))
    labels = speakers(list(keys.values()))
    begins = {at: match for at, match in found.items() if keys[at] in labels}
    if form.strict and not _holds([keys[at] for at in begins], labels, page.lines):
        return {}, frozenset()
    if form.named and not _has_both_roles(labels):
        return {}, frozenset()
    return begins, labels


def _holds(order: list[str], labels: frozenset[str], lines: Sequence[Line]) -> bool:
    """Tell whether labels without a colon are labels: they take turns, and stand all through the file."""
    if len(labels) < 2:
        return False
    changes = sum(one != two for one, two in pairwise(order))
    filled = sum(bool(line.raw.strip()) for line in lines)
    share = _COVERED / 4 if _has_both_roles(labels) else _COVERED
    return changes >= _EVEN * (len(order) - 1) and len(order) >= share * filled


def _has_both_roles(labels: Iterable[str]) -> bool:
    return {"therapist", "client"} <= {role_of_label(label) for label in labels}


def _unnumbered(keys: list[str]) -> list[str]:
    """Take the numbers of turns off labels that count them, as in T1, C1, T2, C2, but not those of Client 1 and 2."""
    counts: dict[str, list[int]] = {}
    split = [_COUNTED_LABEL.fullmatch(key) for key in keys]
    for one in split:
        if one:
            counts.setdefault(one[1], []).append(int(one[2]))
    turns = {base for base, numbers in counts.items() if len(numbers) > 1 and _grows(numbers)}
    if len(turns) < 2 or max(len(counts[base]) for base in turns) < 3:
        return keys
    return [one[1] if one and one[1] in turns else key for key, one in zip(keys, split, strict=True)]


def _grows(numbers: Sequence[int]) -> bool:
    return all(one < two for one, two in pairwise(numbers))


def _key(label: str) -> str:
    return " ".join(label.casefold().split())


def _speaker(label: str, labels: frozenset[str]) -> str:
    """Return the label as written, without the number of the turn."""
    if label.casefold() not in labels and _key(label) not in labels:
        label = _COUNTED_LABEL.sub(r"\1", label.strip())
    return label.strip(" \t\xa0*_")


def _rows(page: _Page, begins: Found, labels: frozenset[str]) -> tuple[list[Row], _Counts]:
    """Cut the lines at those that begin a turn."""
    starts = sorted(begins)
    timing = _Timing(
        after_colon=sum(bool(_AFTER_COLON.match(one["words"])) for one in begins.values()) >= _EVEN * len(begins),
        on_lines=any(page.above[at] or (page.below[at] and not begins[at]["words"].strip()) for at in starts),
    )
    rows, n_dropped, by_day = list[Row](), 0, False
    for at, end in zip(starts, [*starts[1:], len(page.lines)], strict=True):
        match = begins[at]
        words, times = _own_times(match, timing)
        following: Sequence[Line] = page.lines[at + 1 : end]
        if timing.on_lines:
            following, times = _without_clocks(page, range(at, end), times, has_no_words=not words.strip())
        kept = [line for line in following if not _is_of_recorder(line.raw)]
        n_dropped += len(following) - len(kept)
        by_day = by_day or times.by_day
        text = "\n".join([words, *[line.raw for line in kept]]) if kept else words
        place = page.lines[at].place if words.strip() else _first_place(kept, page.lines[at].place)
        rows.append(Row(_speaker(match["label"], labels), text, place, times.start_s, times.end_s))
    return rows, _Counts(n_dropped, by_day)


def _own_times(match: re.Match[str], timing: _Timing) -> tuple[str, Times]:
    """Return the words of a line with a label, and the time that it gives."""
    groups = match.groupdict()
    words, stamp = match["words"], groups.get("before") or groups.get("after")
    if stamp:
        # Zoom's "[Ruth] 10:03:04" is the clock on the wall
        times = times_of(stamp)
        return words, times._replace(by_day=times.by_day or bool(groups.get("square") and groups.get("after")))
    after = _AFTER_COLON.match(words) if timing.after_colon else None
    return (words[after.end() :], times_of(after["stamp"])) if after else (words, Times())


def _without_clocks(page: _Page, turn: range, times: Times, *, has_no_words: bool) -> tuple[list[Line], Times]:
    """Take the lines that hold only a time out of a turn: its own, that of the next turn, and marks of the minute."""
    following = page.lines[turn.start + 1 : turn.stop]
    filled = [at for at, line in enumerate(following) if line.raw.strip()]
    if page.above[turn[0]] and not times:
        before = next(line for line in reversed(page.lines[: turn[0]]) if line.text.strip())
        times = times_of(before.text)
    out = set[int]()
    if filled and page.below[turn[0]] and has_no_words and not times:
        times = times_of(following[filled[0]].text)
        out.add(filled[0])
    if filled and turn.stop < len(page.lines) and page.above[turn.stop]:
        out.add(filled[-1])
    return [_as_mark(line) for at, line in enumerate(following) if at not in out], times


def _as_mark(line: Line) -> Line:
    """Put a time on a line of its own into the brackets of a speech mark."""
    if not _CLOCK_ONLY.match(line.text):
        return line
    return line._replace(raw=f"[{line.text.strip(_BRACKETS)}]")


def _first_place(lines: Sequence[Line], otherwise: int) -> int:
    return next((line.place for line in lines if line.raw.strip()), otherwise)


def _is_of_recorder(text: str) -> bool:
    return text.rstrip()[-13:].casefold().endswith(_LAST_OF_RECORDER) and bool(_RECORDER.fullmatch(text.strip()))


def _without_numbers(lines: Sequence[Line]) -> Sequence[Line]:
    """Take away the numbers of lines in a margin, or of turns; a list inside a turn keeps its own."""
    found = [(at, match) for at, line in enumerate(lines) if (match := _NUMBER.match(line.text))]
    counting = _counting(found)
    if len(counting) < 2 or len(counting) < _MOSTLY * len(found):
        return lines
    filled = sum(bool(line.raw.strip()) for line in lines)
    in_margin = len(counting) >= _MARGIN * filled
    if not in_margin and len(counting) <= sum(bool(_FORMS[0].pattern.match(line.text)) for line in lines):
        return lines
    plain = list(lines)
    for at, match in counting:
        rest = lines[at].text[match.end() :]
        plain[at] = Line(lines[at].place, rest, rest if in_margin else lines[at].raw)
    return plain


def _counting(found: Sequence[tuple[int, re.Match[str]]]) -> list[tuple[int, re.Match[str]]]:
    """Return the numbers that count on from one to the next, or begin again at 1 on a new page."""
    kept = list(found[:1])
    for at, match in found[1:]:
        step = int(match[1]) - int(kept[-1][1][1])
        if 0 < step <= _LARGEST_STEP or int(match[1]) == 1:
            kept.append((at, match))
    return kept
