"""From lines of text to rows: where a turn begins, who speaks, when; changes of speaker that name nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from therapy_analytics.readers._base import Row
from therapy_analytics.readers._label_forms import Found, Line, Page, is_beside_the_talk, without_numbers, without_rule
from therapy_analytics.readers._label_layout import Layout, is_clock, layout, page_of, speaker_of
from therapy_analytics.readers._notes import counted, lost
from therapy_analytics.readers._stamps import CLOCK, Times, from_the_first, times_of
from therapy_analytics.readers._text_heads import Head, session_head

_EVEN = 0.5
_NO_HEAD = Head(0, {})
_AFTER_COLON = re.compile(rf"[ \t]*(?:(?P<stamp>\[{CLOCK}\]|\({CLOCK}\))[ \t]*|(?P<bare>{CLOCK})(?:[ \t]+|$))")
_AT_END = re.compile(rf"(?<!\s)\s*+[\[(#](?P<stamp>{CLOCK})[\])#]\s*\Z")
_BRACKETS = " \t\xa0[](){}<>*_"


@dataclass(frozen=True, slots=True)
class Labelled:
    """Lines that were understood: the rows, the share of lines with a label, what to tell, facts of the session."""

    rows: list[Row] = field(repr=False)
    labels: frozenset[str]
    share: float
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    passed_over: Mapping[str, int] = field(default_factory=dict, repr=False)


class _Timing(NamedTuple):
    """Where a file gives times: after the colon (in most turns: a single one is a mark), on lines of their own."""

    after_colon: bool
    on_lines: bool


class _Cut(NamedTuple):
    """The rows, the lines that were none of the talk, whether times are of the day, whether all are in short."""

    rows: list[Row]
    dropped: list[str]
    by_day: bool
    are_short: bool


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
    numbered, lines = lines, without_numbers(lines)
    head = session_head(lines)
    page, found = _understood(lines, head)
    if len(found.labels) < 2 and head.n_lines:
        head = _NO_HEAD  # what looked like facts about the session was all there is
        page, found = _understood(lines, head)
    if not found.labels:
        return None
    first, n_begins = min(found.begins), len(found.begins)
    marked = sum(CHANGE in match.string[: match.start("label")] for match in found.begins.values())
    cut = _rows(page, found.begins, found.labels)
    rows, by_day = from_the_first(cut.rows, by_day=cut.by_day, are_short=cut.are_short)
    rows, at_end = _without_ends(rows)
    rows, changes = parted_at_changes(rows) if 2 * marked > n_begins else (rows, "")
    n_pages = sum(bool(one.raw.strip()) for one in numbered) - len(page.filled)
    notes = (
        *_left_out(_preamble(page, first), "before the first speaker label"),
        *_left_out(cut.dropped, "that the recorder wrote"),
        *((f"{counted(n_pages, 'number')} of pages left out.",) if n_pages else ()),
        *(("Times of day were counted from the first of them.",) if by_day else ()),
        *((changes,) if changes else ()),
        *(("Times behind the words were taken as the ends of turns.",) if at_end else ()),
        *_slips(found.n_slips),
    )
    share = n_begins / max(len(page.filled), 1)
    return Labelled(rows, found.labels, share, notes, head.facts, found.passed_over)


def _understood(lines: Sequence[Line], head: Head) -> tuple[Page, Layout]:
    page = page_of([line._replace(text="") for line in lines[: head.n_lines]] + list(lines[head.n_lines :]))
    return page, layout(page)


def _preamble(page: Page, first: int) -> list[str]:
    """Return the lines above the first turn, but for the time that belongs to it."""
    above = [page.lines[at].raw for at in page.filled if at < first]
    return above[:-1] if page.above[first] else above


def _slips(n: int) -> Iterator[str]:
    if n:
        was, those = ("was", "a turn") if n == 1 else ("were", "turns")
        yield f"{counted(n, 'line')} whose label has no colon, or another mark, {was} read as {those} of that speaker."


def _left_out(lines: Sequence[str], which: str) -> Iterator[str]:
    if lines:
        yield f"{lost(lines)} {which} left out."


def _rows(page: Page, begins: Found, labels: frozenset[str]) -> _Cut:
    """Cut the lines at those that begin a turn, each of which is let go then: of a long text they take most room."""
    starts = sorted(begins)
    timing = _timing(page, begins)
    speakers = {label: speaker_of(label, labels) for label in {one["label"] for one in begins.values()}}
    rows, dropped, by_day, are_short = list[Row](), list[str](), False, True
    for at, end in zip(starts, [*starts[1:], len(page.lines)], strict=True):
        match = begins.pop(at)
        words, times = _own_times(match, timing)
        following: Sequence[Line] = page.lines[at + 1 : end]
        if timing.on_lines:
            following, times = _without_clocks(page, range(at, end), times, has_no_words=not words.strip())
        place = page.lines[at].place
        if len(following) > 1 or (following and following[0].raw):
            beside = [line.raw for line in following if is_beside_the_talk(line.raw)]
            dropped += beside
            kept = [line for line in following if not is_beside_the_talk(line.raw)] if beside else following
            kept = without_rule(list(kept))
            place = place if words.strip() else _first_place(kept, place)
            words = "\n".join([words, *[line.raw for line in kept]])
        by_day = by_day or times.by_day
        are_short = are_short and (times.is_short or not times)
        rows.append(Row(speakers[match["label"]], words.strip(), place, times.start_s, times.end_s))
    return _Cut(rows, dropped, by_day, are_short)


def _timing(page: Page, begins: Found) -> _Timing:
    after = sum(bool(_AFTER_COLON.match(match["words"])) for match in begins.values())
    on_lines = any(page.above[at] or (page.below[at] and not match["words"].strip()) for at, match in begins.items())
    return _Timing(after >= _EVEN * len(begins), on_lines)


def _own_times(match: re.Match[str], timing: _Timing) -> tuple[str, Times]:
    """Return the words of a line with a label, and the time that it gives."""
    groups = match.groupdict()
    words, stamp = match["words"], groups.get("before") or groups.get("after")
    if stamp:
        # Zoom's "[Ruth] 10:03:04" is the clock on the wall
        times = times_of(stamp)
        return words, times._replace(by_day=times.by_day or bool(groups.get("square") and groups.get("after")))
    after = _AFTER_COLON.match(words) if timing.after_colon else None
    return (words[after.end() :], times_of(after["stamp"] or after["bare"])) if after else (words, Times())


def _without_clocks(page: Page, turn: range, times: Times, *, has_no_words: bool) -> tuple[list[Line], Times]:
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
    return line._replace(raw=f"[{line.text.strip(_BRACKETS)}]") if is_clock(line.text) else line


def _first_place(lines: Sequence[Line], otherwise: int) -> int:
    return next((line.place for line in lines if line.raw.strip()), otherwise)


def _without_ends(rows: list[Row]) -> tuple[list[Row], bool]:
    """Take the times off that stand behind the words of most turns, where no others are: they say when a turn ends."""
    if any(row.start_s is not None for row in rows):
        return rows, False
    ends = [_AT_END.search(row.text) if row.text.rstrip()[-1:] in set("])#") else None for row in rows]
    if sum(map(bool, ends)) <= _EVEN * len(rows):
        return rows, False
    return [
        replace(row, text=row.text[: end.start()], end_s=times_of(end["stamp"]).start_s) if end else row
        for row, end in zip(rows, ends, strict=True)
    ], True


CHANGE = ">>"
"""The mark of a change of speaker."""
UNKNOWN = "Unknown"
"""Who speaks where nothing tells."""
_BEGINS = re.compile(r"^[ \t]*>>+[ \t]*", re.MULTILINE)


def parted_at_changes(rows: Sequence[Row]) -> tuple[list[Row], str]:
    r"""Part the rows of a text at lines that begin with the mark; of two people, it is the other who speaks then.

    Examples
    --------
    >>> rows, note = parted_at_changes([Row("Ann", "Well?\n>> Yes.", 1), Row("Ben", "So.", 3)])
    >>> [(row.speaker, row.text) for row in rows]
    [('Ann', 'Well?'), ('Ben', 'Yes.'), ('Ben', 'So.')]
    """
    names = list({row.speaker.casefold(): row.speaker for row in rows}.values())
    done = [part for row in rows for part in _parts(row, names)]
    n = len(done) - len(rows)
    return done, about_changes(n, names if len(names) == 2 else []) if n else ""


def _parts(row: Row, names: Sequence[str]) -> Iterator[Row]:
    first, *others = _BEGINS.split(row.text)
    yield replace(row, text=first.strip(), end_s=None if others else row.end_s)
    speaker, place = row.speaker, row.place + first.count("\n")
    for words in others:
        speaker = other_of(speaker, names)
        yield replace(row, speaker=speaker, text=words.strip(), place=place, start_s=None, end_s=None)
        place += words.count("\n")


def other_of(speaker: str, names: Sequence[str]) -> str:
    """Return who speaks after a change that names nobody: of two people the other one."""
    others = [name for name in names if name.casefold() != speaker.casefold()]
    return others[0] if len(others) == 1 else UNKNOWN


def about_changes(n: int, pair: Sequence[str]) -> str:
    """Return a note on changes of speaker that name nobody, and between whom they were taken to be."""
    said = f"{counted(n, 'change')} of speaker without a name"
    if not pair:
        return f"{said} among more than two speakers; whose words follow is unknown."
    return f"{said}: they were read as two people taking turns. Check the first turns."
