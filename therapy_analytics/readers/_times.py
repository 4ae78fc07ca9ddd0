"""Clock readings, durations and dates to seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from therapy_analytics.readers._messenger_lines import Written, dates, written

Time = float | None
FIRST_DATE = 1e9
"""Numbers from here are seconds since 1970 (this one is in 2001), or thousandths, millionths, ... of them."""
_THOUSANDTHS = 1e11
_LATEST = 1e19
_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,4}):(\d{1,2}(?:[.,]\d+)?)")
_FRAMES = re.compile(r"(\d{1,3}:\d{1,2}:\d{1,2})[:;]\d{2}")
_DAYS = re.compile(r"(\d{1,5}) days?,? \+?(\d.*)")
_NUMBER = r"(\d{1,9}(?:[.,]\d{1,9})?)"
_UNITS = re.compile(
    rf"(?:{_NUMBER} ?h(?:ours?|rs?)?)? ?(?:{_NUMBER} ?m(?:in(?:utes?|s)?)?)?\.? ?"
    rf"(?:{_NUMBER} ?s(?:ec(?:ond)?s?)?)?\.?",
    re.IGNORECASE,
)
_HOUR_AND_MINUTE = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?[ \u00a0\u202f]?([AaPp])\.?[Mm]\.?")
_RANGE = re.compile(r"(.*?\d[)\]smMpPaA.]*) *(?:-->|->|\u2192|[-\u2013\u2014]| to ) *([(\[]?\d.*)")
_LONGEST = 60
_LONGEST_DATE = 40
HALF_DAY = 43_200.0
_FASTEST = 4.0
"""Words a second; nobody speaks faster for long (about 2.7 on the telephone: Yuan, Liberman & Cieri, 2006)."""
LATE = 6 * 3600.0
"""A recording whose first words are spoken after so many seconds is timed by the day, not from its start."""


def seconds(value: object) -> Time:
    """Return a time in seconds, or None when there is none to read.

    Parameters
    ----------
    value : object
        A number of seconds, a clock reading (``01:02:03.5``, ``62:03,5``, ``[2:15]``), or numbers with their units
        (``1h 2m 3.5s``). What is a date since 1970 is none.

    Examples
    --------
    >>> seconds("01:02:03.5"), seconds("[2:15]"), seconds(7), seconds("7,5"), seconds("later")
    (3723.5, 135.0, 7.0, 7.5, None)
    >>> seconds("1 min 5 s"), seconds("0 days 00:01:02.500000"), seconds(1_500_000), seconds(1_710_252_333)
    (65.0, 62.5, 1500000.0, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _usable(value)
    text = str(value).strip().strip("[]()")
    if not text or len(text) > _LONGEST:
        return None
    if ":" in text:
        return _clock(text)
    number = _number(text)
    return _with_units(text) if number is None else _usable(number)


def _clock(text: str) -> Time:
    days = _DAYS.fullmatch(text)
    if days:
        rest = _clock(days[2])
        return None if rest is None else 86_400.0 * int(days[1]) + rest
    frames = _FRAMES.fullmatch(text)
    match = _CLOCK.fullmatch(frames[1] if frames else text)
    if match is None:
        return None
    hours, minutes, rest_of_minute = match.groups()
    return round(int(hours or 0) * 3600.0 + int(minutes) * 60.0 + float(rest_of_minute.replace(",", ".")), 6)


def _number(text: str) -> Time:
    """Read a number with a point or a comma before its decimals, and perhaps commas between thousands."""
    plain = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text.replace(",", "")
    try:
        return float(plain)
    except ValueError:
        return None


def _with_units(text: str) -> Time:
    match = _UNITS.fullmatch(text.upper().removeprefix("PT"))
    if match is None or not any(match.groups()):
        return None
    hours, minutes, rest = (float((part or "0").replace(",", ".")) for part in match.groups())
    return round(3600 * hours + 60 * minutes + rest, 6)


def _usable(value: float) -> Time:  # a whole number may be too large for a float
    """Keep what can be a time in a session: not negative, not a calendar stamp, not nan."""
    return float(value) if 0 <= value < FIRST_DATE else None


def date_seconds(text: str) -> Time:
    """Return seconds since 1970 of a date as ISO writes it, or None; without a time zone it is taken as UTC.

    Examples
    --------
    >>> date_seconds("2024-03-12T14:05:33Z"), date_seconds(" 2024-03-12 14:05 "), date_seconds("12 March")
    (1710252333.0, 1710252300.0, None)
    """
    found = _iso(text)
    return None if found is None else found.timestamp()


def _iso(text: str) -> datetime | None:
    short = text.strip()[:_LONGEST_DATE].removesuffix(" UTC").replace(" +", "+")
    if not (short[:4].isdecimal() and short[4:5] == "-"):
        return None
    try:
        stamp = datetime.fromisoformat(short)
        moment = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
        moment.timestamp()
    except (ValueError, OverflowError):
        return None
    return moment


class Column(NamedTuple):
    """The times of a column, of one session.

    Attributes
    ----------
    starts, ends : list of float or None
        Seconds: of a recording, of a day, or since 1970. Ends are known where the cells hold ranges.
    is_dates : bool
        They are seconds since 1970.
    by_day : bool
        They are times of day.
    whole : bool
        They are plain whole numbers.
    began : float or None
        The first date, in seconds since 1970 as a clock on the wall where it was written would have counted them.
    """

    starts: list[Time]
    ends: list[Time]
    is_dates: bool = False
    by_day: bool = False
    whole: bool = False
    began: Time = None


def read_column(cells: Sequence[str], unit: float, days: Sequence[str] = ()) -> Column:
    """Read the cells of a column of times, all in the same way.

    Parameters
    ----------
    cells : sequence of str
        As they stand in the table.
    unit : float
        The seconds that a plain number counts in.
    days : sequence of str
        The cells of a column of dates beside them, where there is one.

    Examples
    --------
    >>> read_column(["1500", "2500"], 1e-3).starts, read_column(["1:59 PM", "2:00 PM"], 1).by_day
    ([1.5, 2.5], True)
    >>> read_column(["12/03/2024 14:05", "25/03/2024 14:06"], 1).starts
    [1710252300.0, 1711375560.0]
    """
    numbers = [_number(cell) for cell in cells]
    if any(one is not None for one in numbers):
        return _of_numbers(numbers, cells, unit)
    whole = [_dated(cell, day) for cell, day in zip(cells, days, strict=True)] if days else cells
    for texts in dict.fromkeys((tuple(whole), tuple(cells))):
        moments = _moments(texts)
        if any(one is not None for one in moments):
            local = next(one for one in moments if one is not None).replace(tzinfo=UTC).timestamp()
            times = [None if one is None else one.timestamp() for one in moments]
            return Column(times, [None] * len(times), is_dates=True, began=local)
    spans = [_span(cell) for cell in cells]
    first = next((start for start, _ in spans if start is not None), 0.0)
    by_day = any(map(_HOUR_AND_MINUTE.fullmatch, cells)) or (first >= LATE and any(":" in cell for cell in cells))
    return Column([start for start, _ in spans], [end for _, end in spans], by_day=by_day)


def _of_numbers(numbers: Sequence[Time], cells: Sequence[str], unit: float) -> Column:
    """Read seconds, or what the column's name says; large ones are dates, in whatever they are counted."""
    known = [
        (None if (other := seconds(cell)) is None else other) if one is None else one * unit
        for one, cell in zip(numbers, cells, strict=True)
    ]
    if not any(one is not None and FIRST_DATE <= one < _LATEST for one in known):
        whole = all(one is None or one.is_integer() for one in numbers)
        starts = [None if one is None else _usable(round(one, 6)) for one in known]
        return Column(starts, [None] * len(starts), whole=whole)
    times = [_since_1970(one) if one is not None and one >= FIRST_DATE else None for one in known]
    first = next((one for one in times if one is not None), None)
    return Column(times, [None] * len(times), is_dates=True, began=first)


def _since_1970(value: float) -> Time:
    while value >= _THOUSANDTHS:
        value /= 1000
    return round(value, 6) if value >= FIRST_DATE else None


def _dated(cell: str, day: str) -> str:
    """Put a day before a time of day; midnight may stand beside the day already."""
    return f"{day.strip().removesuffix('T00:00:00').removesuffix(' 00:00:00')} {cell.strip()}" if cell.strip() else ""


def _moments(cells: Sequence[str]) -> list[datetime | None]:
    """Read dates with a time of day, as ISO writes them, or else as people do; a day alone says nothing of turns."""
    by_iso = [_iso(cell) if ":" in cell else None for cell in cells]
    if any(one is not None for one in by_iso):
        return by_iso
    parts: list[Written | None] = [written(cell.strip()) if len(cell) <= _LONGEST else None for cell in cells]
    if not any(parts):
        return by_iso
    found = iter(dates([one for one in parts if one is not None])[0])
    return [None if one is None else next(found) for one in parts]


def are_hours(times: Sequence[Time], n_words: Sequence[int]) -> bool:
    """Tell hours and minutes of a day, as in ``10:02``, that were read as minutes and seconds.

    They begin at six o'clock or later, never run back, and nobody could say the words between the first and the last
    in so many seconds.

    Parameters
    ----------
    times : sequence of float or None
        When each turn begins, in seconds if the times are minutes and seconds.
    n_words : sequence of int
        How many words each turn has.

    Examples
    --------
    >>> are_hours([602, 602, 603, 605], [9, 4, 12, 8]), are_hours([602, 606, 611, 613], [9, 4, 12, 8])
    (True, False)
    """
    known = [(time, n) for time, n in zip(times, n_words, strict=True) if time is not None]
    if len(known) <= 2 or known[0][0] < LATE / 60 or any(one > two for (one, _), (two, _) in pairwise(known)):
        return False
    span = known[-1][0] - known[0][0]
    return known[-1][0] < 2 * HALF_DAY / 60 and sum(n for _, n in known[:-1]) > _FASTEST * span


def _span(cell: str) -> tuple[Time, Time]:
    """Return when a cell begins, and when it ends where it holds a range."""
    text = cell.strip().strip("[]()")
    one = time_of_day(text)
    if one is not None or len(text) > _LONGEST:
        return one, None
    match = _RANGE.fullmatch(text) if ":" in text or text[-1:] in set("sS") else None
    return (time_of_day(match[1]), time_of_day(match[2])) if match else (None, None)


def time_of_day(text: str) -> Time:
    """Return seconds of a clock reading, of the morning or the afternoon where it says so.

    Examples
    --------
    >>> time_of_day("1:05 PM"), time_of_day("12:05 am"), time_of_day("0:05")
    (47100.0, 300.0, 5.0)
    """
    half = _HOUR_AND_MINUTE.fullmatch(text.strip().strip("[]()"))
    if half is None:
        return seconds(text)
    hour, minute, rest, which = half.groups()
    return (
        int(hour) % 12 * 3600.0
        + int(minute) * 60.0
        + float((rest or "0").replace(",", "."))
        + HALF_DAY * (which in "pP")
    )
