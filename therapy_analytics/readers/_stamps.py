"""Times beside a speaker's label: ``[00:01:02]``, ``(2:15)``, ``0:03 - 0:10``, ``10:03 AM``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from therapy_analytics.readers._timeline import timeline
from therapy_analytics.readers._times import HALF_DAY, Kind, Span, TimeMark, seconds
from therapy_analytics.readers.base import Row

_FRAMES = r"\d{1,2}:\d{1,2}:\d{1,2}[:;]\d{2}"
CLOCK = (
    rf"(?:{_FRAMES}|\d{{1,6}}:\d{{1,2}}:\d{{1,2}}|\d{{1,3}}:\d{{2}})(?:[.,]\d+|-\d(?=#))?(?:[ \t]?[AaPp]\.?[Mm]\b\.?)?"
)
"""Part of a pattern: a clock reading."""
_BARE = r"\d{1,6}(?:\.\d{1,6}[ \t]?s?|[ \t]?s)"
_ARROW = r"(?:-->|->|\u2192|[-\u2013\u2014])"
SECONDS = rf"[\[(]{_BARE}[ \t]*(?:{_ARROW}|to)[ \t]*{_BARE}[\])]"
"""Part of a pattern: a range of plain seconds, as recognisers write it: ``[0.0s -> 4.5s]``; one alone is a pause."""
STAMP = (
    rf"(?:[\[(<{{#]?{CLOCK}[ \t]*(?:{_ARROW}(?:[ \t]*{CLOCK})?|to[ \t]+{CLOCK}|(?:,|(?<=\t)){CLOCK}|(?<=[\d\])>mM.]))"
    rf"[\])>}}#]?|{SECONDS})"
)
"""Part of a pattern: a clock reading or a range of two, with brackets or without."""
SECOND = rf"\[{_BARE}\]"
"""Part of a pattern: plain seconds in square brackets, which before a label are no pause."""
_CLOCK = re.compile(rf"{CLOCK}|{_BARE}")
_PLAIN = re.compile(r"[\[(]?\d{1,6}(?::\d\d){1,2}[\])]?")
_NOON = re.compile(r"(?P<clock>[\d:;.,]+?)[ \t]*(?P<half>[AaPp])\.?[Mm]\b\.?")


class Times(NamedTuple):
    """Begin and end in seconds; `by_day` for a time of day, `is_short` where it may be hours and minutes as well."""

    start_s: float | None = None
    end_s: float | None = None
    by_day: bool = False
    is_short: bool = False

    def __bool__(self) -> bool:
        return self.start_s is not None


def times_of(stamp: str) -> Times:
    """Return the times of a stamp.

    Examples
    --------
    >>> times_of("[00:01:02 --> 00:01:04.5]")[:2], times_of("(2:15)").start_s, times_of("1:00 PM").start_s
    ((62.0, 64.5), 135.0, 46800.0)
    """
    if _PLAIN.fullmatch(stamp):
        return Times(seconds(stamp), is_short=stamp.count(":") == 1)
    clocks = _CLOCK.findall(stamp)
    first, second = ([_seconds(clock) for clock in clocks[:2]] + [None, None])[:2]
    return Times(first, second, any(_NOON.fullmatch(clock) for clock in clocks))


def _seconds(clock: str) -> float | None:
    noon = _NOON.fullmatch(clock)
    if ":" not in clock:
        return seconds(clock.replace(" ", ""))
    if noon is None:
        frames = re.fullmatch(_FRAMES, clock)
        return seconds(clock[:-3] if frames else clock.replace("-", "."))
    value = seconds(noon["clock"])
    if value is not None and noon["clock"].count(":") == 1:
        value *= 60  # hours and minutes, where there is a morning and an afternoon
    return None if value is None else value % HALF_DAY + HALF_DAY * (noon["half"] in "pP")


def from_the_first(rows: Sequence[Row], *, by_day: bool, are_short: bool = False) -> tuple[list[Row], bool]:
    """Count times of day from the first of them; times from the start of a recording stay.

    Parameters
    ----------
    rows : sequence of Row
        In order.
    by_day, are_short : bool
        Whether they are times of day by their form, and whether all may be hours and minutes as well.

    Returns
    -------
    list of Row
        With seconds from the start.
    bool
        Whether they were times of day.
    """
    kind: Kind = "noon" if by_day else "brief" if are_short else "clock"
    starts = [None if row.start_s is None else TimeMark(row.start_s, kind) for row in rows]
    ends = [None if row.end_s is None else TimeMark(row.end_s, kind) for row in rows]
    found = timeline(list(map(Span, starts, ends)), [row.text for row in rows])
    timed = zip(rows, found.starts, found.ends, strict=True)
    return [replace(row, start_s=start, end_s=end) for row, start, end in timed], found.by_day
