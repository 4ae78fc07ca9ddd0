"""Reads times, however they are written: each becomes a `TimeMark`, a number and what is known about it.

In which unit, and from when, the marks of a session count is decided in ``_timeline``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._messenger_lines import WrittenDate, dates, written

Time = float | None
Kind = Literal["bare", "time", "clock", "brief", "noon", "date"]
UNITS: Mapping[str, float] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "unixtime"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "usec", "micros", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nanos", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(("tick", "ticks"), 1e-7),
    **dict.fromkeys(("min", "minute", "minutes", "mins"), 60.0),
}
_NO_PART_OF_NAMES = frozenset({"in", "ts"})
HALF_DAY = 43_200.0
DAY = 86_400.0
LATE = 6 * 3600.0
"""Clock readings that begin after so many seconds (six hours) are times of day, not times in a recording."""
FIRST_DATE = 1e8
"""Where all times are at least this (in 1973), they are dates: seconds, or fractions of seconds, since 1970."""
SURELY_DATE = 1e9
"""31 years: a date for certain, even beside smaller numbers."""
_THOUSANDTHS, _LATEST = 1e11, 1e19
SERIAL = (36_526.0, 73_051.0)
"""The years 2000 to 2099 as days since the end of 1899, which spreadsheets count."""

_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,4}):(\d{1,2}(?:[.,]\d+)?)")
_FRAMES = re.compile(r"(\d{1,3}:\d{1,2}:\d{1,2})[:;]\d{2}")
_DAYS = re.compile(r"(\d{1,5}) days?,? \+?(\d.*)")
_NUMBER = r"(\d{1,9}(?:[.,]\d{1,9})?)"
_WITH_UNITS = re.compile(
    rf"(?:{_NUMBER} ?h(?:ours?|rs?)?)? ?(?:{_NUMBER} ?m(?:in(?:utes?|s)?)?)?\.? ?"
    rf"(?:{_NUMBER} ?s(?:ec(?:ond)?s?)?)?\.? ?(?:{_NUMBER} ?m(?:illi)?s(?:ec(?:ond)?s?)?)?\.?",
    re.IGNORECASE,
)
_HOUR_AND_MINUTE = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?[ \u00a0\u202f]?([AaPp])\.?[Mm]\.?")
_RANGE = re.compile(r"(.*?\d[)\]smMpPaA.]*) *(?:-->|->|\u2192|[-\u2013\u2014]| to ) *([(\[]?\d.*)")
_LONGEST, _LONGEST_DATE = 60, 40
_BRACKETS = "[]()"
_MISSING = frozenset({"", "-", "--", "\u2013", "?", "na", "n/a", "nan", "nat", "none", "null", "unknown"})


class TimeMark(NamedTuple):
    """A time as it stands in a file.

    Attributes
    ----------
    at : float
        Seconds, of a date since 1970; for a plain number whatever it counts; 0 where `written` is to be read.
    kind : str
        ``bare``: a number whose unit is to be found. ``time``: seconds. ``clock``: a clock reading, of a recording or
        of a day. ``brief``: one of two numbers, minutes and seconds or hours and minutes; `at` has the former.
        ``noon``: a time of day for certain, as one that says morning or afternoon. ``date``.
    zone : float
        Of a date: how much the clock on the wall was before UTC, in seconds.
    written : WrittenDate or None
        Of a date: its numbers, which other dates of the session tell apart into days and months.
    """

    at: float
    kind: Kind
    zone: float = 0.0
    written: WrittenDate | None = None


class Span(NamedTuple):
    """When something begins and ends; how long it takes, where `start` is still to be read; how many are unreadable."""

    start: TimeMark | None = None
    end: TimeMark | None = None
    lasts: TimeMark | None = None
    n_unread: int = 0


NEVER = Span()
_Marks = tuple[TimeMark | None, TimeMark | None]
_NOTHING: _Marks = (None, None)


@lru_cache(maxsize=4096)
def name_and_unit(field: str) -> tuple[str, float | None]:
    """Return the name of a column or field of times without its unit, and the unit in seconds if it has one.

    Examples
    --------
    >>> name_and_unit("start_ms"), name_and_unit("offsetInTicks"), name_and_unit("begin"), name_and_unit("ts")
    (('start', 0.001), ('offset', 1e-07), ('begin', None), ('ts', None))
    """
    parts = slug(field).split("_")
    unit = next((UNITS[part] for part in parts if part in UNITS), None)
    while len(parts) > 1 and (parts[-1] in UNITS or parts[-1] in _NO_PART_OF_NAMES):
        parts.pop()
    return "_".join(parts), unit


def seconds(value: object) -> Time:
    """Return a time in seconds, or None when there is none to read.

    Parameters
    ----------
    value : object
        A number of seconds, a clock reading (``01:02:03.5``, ``62:03,5``, ``[2:15]``), or numbers with their units
        (``1h 2m 3.5s``, ``PT1M``). What is a date since 1970 is none.

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
    text = str(value).strip().strip(_BRACKETS)
    if not text or len(text) > _LONGEST:
        return None
    if ":" in text:
        return _clock(text)
    number = _number(text)
    return _with_units(text) if number is None else _usable(number)


def _usable(value: float) -> Time:  # a whole number may be too large for a float
    """Return a number that can be a time in a session; None if it is negative, a date, or nan."""
    return float(value) if 0 <= value < SURELY_DATE else None


def _clock(text: str) -> Time:
    days = _DAYS.fullmatch(text)
    if days:
        rest = _clock(days[2])
        return None if rest is None else DAY * int(days[1]) + rest
    frames = _FRAMES.fullmatch(text)
    match = _CLOCK.fullmatch(frames[1] if frames else text)
    if match is None:
        return None
    hours, minutes, rest_of_minute = match.groups()
    return round(int(hours or 0) * 3600.0 + int(minutes) * 60.0 + float(rest_of_minute.replace(",", ".")), 6)


def _number(text: str) -> Time:
    """Return a number written with a decimal point or comma, perhaps with commas between thousands; None for others."""
    plain = text if "," not in text else text.replace(",", "." if text.count(",") == 1 and "." not in text else "")
    try:
        return float(plain)
    except ValueError:
        return None


def _with_units(text: str) -> Time:
    match = _WITH_UNITS.fullmatch(text.upper().removeprefix("PT").removeprefix("P"))
    if match is None or not any(match.groups()):
        return None
    hours, minutes, rest, thousandths = (float((part or "0").replace(",", ".")) for part in match.groups())
    return round(3600 * hours + 60 * minutes + rest + thousandths / 1000, 6)


def _half_day(text: str) -> Time:
    """Return the seconds of a time of day with am or pm."""
    half = _HOUR_AND_MINUTE.fullmatch(text)
    if half is None:
        return None
    hour, minute, rest, which = half.groups()
    past = int(minute) * 60.0 + float((rest or "0").replace(",", "."))
    return int(hour) % 12 * 3600.0 + past + HALF_DAY * (which in "pP")


def date_seconds(text: str) -> Time:
    """Return seconds since 1970 of a date as ISO writes it, or None; without a time zone it is taken as UTC.

    Examples
    --------
    >>> date_seconds("2024-03-12T14:05:33Z"), date_seconds(" 2024-03-12 14:05 "), date_seconds("12 March")
    (1710252333.0, 1710252300.0, None)
    """
    mark = _iso(text)
    return None if mark is None else mark.at


def _iso(text: str) -> TimeMark | None:
    short = text.strip()[:_LONGEST_DATE].removesuffix(" UTC").replace(" +", "+")
    if not (short[:4].isdecimal() and short[4:5] == "-"):
        return None
    try:
        stamp = datetime.fromisoformat(short)
        zone = stamp.utcoffset()
        moment = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
        return TimeMark(moment.timestamp(), "date", 0.0 if zone is None else zone.total_seconds())
    except (ValueError, OverflowError):
        return None


def date_of(value: Any) -> Time:
    """Return seconds since 1970 of a value that is a date with a time of day by itself; None for any other.

    Examples
    --------
    >>> date_of(1_700_000_000_000), date_of("2024-03-12T14:05:33Z"), date_of(62), date_of("00:01:02")
    (1700000000.0, 1710252333.0, None, None)
    """
    mark = span(value).start
    at = None if mark is None or mark.written else since_1970(mark.at)
    return at if at is not None and at >= FIRST_DATE else None


def day(time: float) -> str:
    """Return the date of a moment.

    Examples
    --------
    >>> day(1710252333.0)
    '2024-03-12'
    """
    return datetime.fromtimestamp(time, UTC).date().isoformat()


def since_1970(value: float) -> float:
    """Return a date in seconds that may be in thousandths or millionths of a second."""
    while value >= _THOUSANDTHS:
        value /= 1000
    return value


def span(
    start: Any = None, end: Any = None, lasts: Any = None, units: Sequence[float | None] = (None, None, None)
) -> Span:
    """Return when something begins and ends, as far as its own values tell.

    Parameters
    ----------
    start, end, lasts : object
        As the file has them: numbers, clock readings, ranges, dates, durations, whole seconds beside their billionths.
    units : sequence of float or None
        Of each of the three, in seconds, as the name of its column or field says.

    Examples
    --------
    >>> span("00:01:02").start.at, span("3.5s").start.at, span("PT1M2.5S").start.at, span(62).start.kind
    (62.0, 3.5, 62.5, 'bare')
    >>> span({"seconds": "3", "nanos": 500_000_000}).start.at, span("0:03 - 0:05").end.at, span("soon").n_unread
    (3.5, 5.0, 1)
    """
    one = _NOTHING if start is None else _marks(start, units[0])
    two = _NOTHING if end is None else _marks(end, units[1])
    three = _NOTHING if lasts is None else _marks(lasts, units[2])
    n_unread = (one, two, three).count(None)
    begins, until = one or _NOTHING
    ends, length = (two or _NOTHING)[0] or until, (three or _NOTHING)[0]
    if begins is None or ends is not None or length is None:
        return Span(begins, ends, None, n_unread)
    if begins.written is not None:
        return Span(begins, None, length, n_unread)
    return Span(begins, begins._replace(at=round(begins.at + length.at, 9)), None, n_unread)


def _marks(value: Any, unit: float | None) -> _Marks | None:
    """Return the time that a value is, and where it ends if it is a range; None for what is no time."""
    if isinstance(value, str):
        return _of_text(value, unit)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_number(float(value) if value < _LATEST else _LATEST, unit)
    return _of_parts(value) if isinstance(value, Mapping) else None


def _of_number(number: float, unit: float | None) -> _Marks | None:
    if not 0 <= number < _LATEST:
        return None
    return (TimeMark(number, "bare") if unit is None else TimeMark(round(number * unit, 9), "time")), None


def _of_parts(value: Mapping[str, Any]) -> _Marks | None:
    """Read an object of seconds and nanoseconds, each of which may be left out where it is 0, or with a date in it."""
    known = {slug(key): part for key, part in value.items()}
    if "date" in known:
        return _of_text(known["date"], None) if isinstance(known["date"], str) else _marks(known["date"], 1e-3)
    parts = [known.get("seconds"), known.get("nanos", known.get("nanoseconds"))]
    numbers = [_number(str(part or 0)) for part in parts]
    if (value and parts == [None, None]) or None in numbers:
        return None
    whole, rest = (number or 0.0 for number in numbers)
    return _of_number(round(whole + rest / 1e9, 6), 1.0)


def _of_text(text: str, unit: float | None) -> _Marks | None:
    short = text.strip()
    number = _number(short)
    if number is not None and number == number:  # noqa: PLR0124 (nan is missing)
        return _of_number(number, unit)
    if short.casefold() in _MISSING:
        return _NOTHING
    if len(short) > _LONGEST:
        return None
    bare = short.strip(_BRACKETS)
    one = _of_one(bare)
    if one is not None:
        return one, None
    match = _RANGE.fullmatch(bare) if ":" in bare or bare[-1:] in set("sS") else None
    both = _NOTHING if match is None else (_of_one(match[1].strip(_BRACKETS)), _of_one(match[2].strip(_BRACKETS)))
    return both if None not in both else None


def _of_one(text: str) -> TimeMark | None:
    if ":" in text:
        date = _iso(text)
        if date is not None:
            return date
        noon, clock = _half_day(text), _clock(text)
        if noon is not None or clock is not None:
            brief = text.count(":") == 1
            return TimeMark(clock or 0.0, "brief" if brief else "clock") if noon is None else TimeMark(noon, "noon")
    parts = written(text)
    if parts is not None:
        return TimeMark(0.0, "date", written=parts)
    time = _with_units(text)
    return None if time is None else TimeMark(time, "time")


def is_serial(cell: str) -> bool:
    """Tell a date with a time as spreadsheets count them: days since the end of 1899, with a fraction.

    Examples
    --------
    >>> is_serial("45363.586805556"), is_serial("45363"), is_serial("12.5")
    (True, False, False)
    """
    number = _number(cell.strip())
    return number is not None and SERIAL[0] <= number < SERIAL[1] and not number.is_integer()


def on_day(clock: str, date: str) -> str:
    """Put a date before a time of day; the date may itself be written with midnight.

    Examples
    --------
    >>> on_day("14:05", "2024-03-12T00:00:00"), on_day("", "2024-03-12")
    ('2024-03-12 14:05', '')
    """
    bare = date.strip().removesuffix("T00:00:00").removesuffix(" 00:00:00")
    return f"{bare} {clock.strip()}" if clock.strip() else ""


def resolved(spans: Sequence[Span]) -> Sequence[Span]:
    """Read dates such as 03/04/24, for which all of a session together tell which number is the day."""
    parts = [mark.written for one in spans for mark in one[:2] if mark is not None and mark.written is not None]
    if not parts:
        return spans
    moments = iter(dates(parts)[0])
    return [_resolved(one, moments) for one in spans]


def _resolved(one: Span, moments: Any) -> Span:
    marks: list[TimeMark | None] = []
    n_unread = one.n_unread
    for mark in one[:2]:
        moment = next(moments) if mark is not None and mark.written is not None else None
        is_read = mark is None or mark.written is None
        n_unread += not is_read and moment is None
        marks.append(mark if is_read else None if moment is None else TimeMark(moment.timestamp(), "date"))
    start, end = marks
    if start is not None and end is None and one.lasts is not None:
        end = start._replace(at=start.at + one.lasts.at)
    return Span(start, end, None, n_unread)
