"""From lines of text to rows: where a turn begins, who speaks, when; and changes of speaker that name nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._label_forms import (
    Found,
    Line,
    TextPage,
    is_beside_the_talk,
    without_numbers,
    without_rule,
)
from therapy_analytics.readers._label_layout import LabelLayout, is_clock, layout, page_of, speaker_of
from therapy_analytics.readers._notes import lost
from therapy_analytics.readers._stamps import CLOCK, Times, from_the_first, times_of
from therapy_analytics.readers._text_heads import Head, session_head
from therapy_analytics.readers.base import Row

CHANGE = ">>"
"""The mark of a change of speaker."""
UNKNOWN = "Unknown"
"""Who speaks where nothing tells."""
_EVEN = 0.5
_AFTER_COLON = re.compile(rf"[ \t]*(?:(?P<stamp>\[{CLOCK}\]|\({CLOCK}\))[ \t]*|(?P<bare>{CLOCK})(?:[ \t]+|$))")
_AT_END = re.compile(rf"(?<!\s)\s*+[\[(#](?P<stamp>{CLOCK})[\])#]\s*\Z")
_BRACKETS = " \t\xa0[](){}<>*_"
_CHANGES = re.compile(r"^[ \t]*>>+[ \t]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Lines that were understood.

    Attributes
    ----------
    rows : list of Row
        A row a turn.
    labels : frozenset of str
        The speakers, in small letters.
    share : float
        The share of lines with a label, from 0 to 1.
    notes : tuple of str
        What to tell the user.
    facts : mapping of str to str
        About the session as a whole.
    passed_over : mapping of str to int
        What looks like a label and was not taken for one, with its number of lines.
    """

    rows: list[Row] = field(repr=False)
    labels: frozenset[str]
    share: float
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    passed_over: Mapping[str, int] = field(default_factory=dict, repr=False)


class _CutLines(NamedTuple):
    """The rows, the lines that are no talk, whether times are times of day, whether all may be hours and minutes."""

    rows: list[Row]
    dropped: list[str]
    by_day: bool
    are_short: bool


def plain_lines(texts: Iterable[str], *, first: int = 1) -> list[Line]:
    """Return the lines of a text file, numbered from `first`."""
    return [Line(place, text, text) for place, text in enumerate(texts, start=first)]


def labelled_rows(lines: Sequence[Line]) -> Labelled | None:
    """Return who says what in lines of text; None where there are no labels.

    Examples
    --------
    >>> found = labelled_rows(plain_lines(["T: Hello.", "So.", "C: Hi.", "T: Well.", "C: Yes."]))
    >>> [(row.speaker, row.place) for row in found.rows]
    [('T', 1), ('C', 3), ('T', 4), ('C', 5)]
    """
    n_filled = sum(bool(line.raw.strip()) for line in lines)
    lines = without_numbers(lines)
    head = session_head(lines)
    page, found = _understood(lines, head)
    if len(found.labels) < 2 and head.n_lines:
        head = Head(0, {})  # what looked like facts about the session was all there is
        page, found = _understood(lines, head)
    if not found.labels:
        return None
    begins, n_begins, first = found.begins, len(found.begins), min(found.begins)
    above = [page.lines[at].raw for at in page.filled if at < first]
    above = above[:-1] if page.above[first] else above  # but for the time of the first turn
    marked = sum(CHANGE in match.string[: match.start("label")] for match in begins.values())
    cut = _rows(page, begins, found.labels)
    rows, by_day = from_the_first(cut.rows, by_day=cut.by_day, are_short=cut.are_short)
    rows, at_end = _with_ends(rows)
    rows, changes = parted_at_changes(rows) if 2 * marked > n_begins else (rows, "")
    n_pages = n_filled - len(page.filled)
    was_read = "was read as a turn" if found.n_slips == 1 else "were read as turns"
    notes = (
        f"{lost(above)} before the first speaker label left out." if above else "",
        f"{lost(cut.dropped)} that the recorder wrote left out." if cut.dropped else "",
        f"{counted(n_pages, 'number')} of pages left out." if n_pages else "",
        "Times of day were counted from the first of them." if by_day else "",
        changes,
        "Times behind the words were taken as the ends of turns." if at_end else "",
        f"{counted(found.n_slips, 'line')} whose label has no colon, or another mark, {was_read} of that speaker."
        if found.n_slips
        else "",
    )
    share = n_begins / max(len(page.filled), 1)
    return Labelled(rows, found.labels, share, tuple(filter(None, notes)), head.facts, found.passed_over)


def _understood(lines: Sequence[Line], head: Head) -> tuple[TextPage, LabelLayout]:
    page = page_of([line._replace(text="") for line in lines[: head.n_lines]] + list(lines[head.n_lines :]))
    return page, layout(page)


def _rows(page: TextPage, begins: Found, labels: frozenset[str]) -> _CutLines:
    """Cut the lines at those that begin a turn; each match is freed then, as those of a long text take most memory."""
    starts = sorted(begins)
    speakers = {label: speaker_of(label, labels) for label in {one["label"] for one in begins.values()}}
    n_after = sum(bool(_AFTER_COLON.match(match["words"])) for match in begins.values())
    after_colon = n_after >= _EVEN * len(begins)  # a single time there is a mark
    on_lines = any(page.above[at] or (page.below[at] and not match["words"].strip()) for at, match in begins.items())
    rows, dropped, by_day, are_short = list[Row](), list[str](), False, True
    for at, end in zip(starts, [*starts[1:], len(page.lines)], strict=True):
        match = begins.pop(at)
        words, times = _own_times(match, after_colon=after_colon)
        following: Sequence[Line] = page.lines[at + 1 : end]
        if on_lines:
            following, times = _without_clocks(page, range(at, end), times, has_no_words=not words.strip())
        place = page.lines[at].place
        if any(line.raw for line in following):
            beside = [is_beside_the_talk(line.raw) for line in following]
            dropped += [line.raw for line, is_beside in zip(following, beside, strict=True) if is_beside]
            kept = without_rule([line for line, is_beside in zip(following, beside, strict=True) if not is_beside])
            if not words.strip():
                place = next((line.place for line in kept if line.raw.strip()), place)
            words = "\n".join([words, *(line.raw for line in kept)])
        by_day = by_day or times.by_day
        are_short = are_short and (times.is_short or not times)
        rows.append(Row(speakers[match["label"]], words.strip(), place, times.start_s, times.end_s))
    return _CutLines(rows, dropped, by_day, are_short)


def _own_times(match: re.Match[str], *, after_colon: bool) -> tuple[str, Times]:
    """Return the words of a line with a label, and the time that it gives."""
    groups = match.groupdict()
    words, stamp = match["words"], groups.get("before") or groups.get("after")
    if stamp:
        times = times_of(stamp)
        is_zoom = groups.get("square") and groups.get("after")  # "[Ruth] 10:03:04" is the time of day
        return words, times._replace(by_day=times.by_day or bool(is_zoom))
    after = _AFTER_COLON.match(words) if after_colon else None
    return (words[after.end() :], times_of(after["stamp"] or after["bare"])) if after else (words, Times())


def _without_clocks(page: TextPage, turn: range, times: Times, *, has_no_words: bool) -> tuple[list[Line], Times]:
    """Take the lines that hold only a time out of a turn: its own and the next turn's; others become speech marks."""
    following = page.lines[turn.start + 1 : turn.stop]
    filled = [at for at, line in enumerate(following) if line.raw.strip()]
    if page.above[turn.start] and not times:
        times = times_of(next(line.text for line in reversed(page.lines[: turn.start]) if line.text.strip()))
    out = set[int]()
    if filled and page.below[turn.start] and has_no_words and not times:
        times = times_of(following[filled[0]].text)
        out.add(filled[0])
    if filled and turn.stop < len(page.lines) and page.above[turn.stop]:
        out.add(filled[-1])
    kept = [line for at, line in enumerate(following) if at not in out]
    return [
        line._replace(raw=f"[{line.text.strip(_BRACKETS)}]") if is_clock(line.text) else line for line in kept
    ], times


def _with_ends(rows: list[Row]) -> tuple[list[Row], bool]:
    """Take times behind the words of most turns, where there are no others, for the ends of turns."""
    if any(row.start_s is not None for row in rows):
        return rows, False
    ends = [_AT_END.search(row.text) if row.text.rstrip()[-1:] in set("])#") else None for row in rows]
    if sum(map(bool, ends)) <= _EVEN * len(rows):
        return rows, False
    return [
        replace(row, text=row.text[: end.start()], end_s=times_of(end["stamp"]).start_s) if end else row
        for row, end in zip(rows, ends, strict=True)
    ], True


def parted_at_changes(rows: Sequence[Row]) -> tuple[list[Row], str]:
    r"""Part rows at lines that begin with the mark of a change; of two people, the other one speaks then.

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
    first, *others = _CHANGES.split(row.text)
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
    """Return a note on changes of speaker that name nobody, and how they were read."""
    changes = f"{counted(n, 'change')} of speaker without a name"
    if not pair:
        return f"{changes} among more than two speakers; whose words follow is unknown."
    return f"{changes}: they were read as two people taking turns. Check the first turns."
