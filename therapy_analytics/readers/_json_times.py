"""Times of messages: seconds of a recording, or dates of a chat, which become seconds from its first message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._times import date_seconds, seconds

FIRST_DATE = 1e8
"""Numbers from here are seconds since 1970 (this one is in 1973), or thousandths or millionths of them."""
_LATEST = 1e18
_NUMBERS = (int, float)
_SLOWEST = 0.05
"""Words a second; what would be said slower than this in seconds was timed in a smaller unit."""
_SPEECH = (0.3, 12.0)
"""Words a second between which people speak, pauses included."""
_NO_SPEECH = 0.002
"""Words a second below which numbers are no seconds of anything that is said or written to each other."""
_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "unixtime"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisec", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "usec", "micros", "microseconds"), 1e-6),
    **dict.fromkeys(("ticks",), 1e-7),
    **dict.fromkeys(("ns", "nanos", "nanoseconds"), 1e-9),
}
_GUESSED = {1e-3: "thousandths", 1 / 16_000: "sixteen-thousandths", 1e-7: "ten-millionths", 1e-9: "billionths"}
"""Units of whole numbers whose name tells none, and that are no seconds, the likeliest first; of those that count
samples of sound, recognisers have 16,000 a second."""
_NO_PART_OF_NAMES = frozenset({"in", "ts"})
_NO_UNIT = "Times were left out, because in no unit of theirs would people speak so fast or so slowly."
_DURATION = re.compile(r"PT?(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?", re.IGNORECASE)
_DAY = len("2024-03-12")


class Span(NamedTuple):
    """When a message begins and ends, as the file says it: in seconds where `settled`, else in a unit to be found."""

    start: float | None = None
    end: float | None = None
    settled: bool = True
    unread: bool = False
    """Whether something stands there that is no time."""


@lru_cache(maxsize=4096)
def name_and_unit(field: str) -> tuple[str, float | None]:
    """Return the name of a field of times without its unit, and the unit in seconds if it has one.

    Examples
    --------
    >>> name_and_unit("start_ms"), name_and_unit("offsetInTicks"), name_and_unit("begin"), name_and_unit("ts")
    (('start', 0.001), ('offset', 1e-07), ('begin', None), ('ts', None))
    """
    parts = slug(field).split("_")
    unit = None
    while len(parts) > 1 and (parts[-1] in _UNITS or parts[-1] in _NO_PART_OF_NAMES):
        unit = _UNITS.get(parts.pop(), unit)
    return "_".join(parts), unit


def moment(value: Any) -> float | None:
    """Return seconds of the recording, or since 1970 for a date.

    Examples
    --------
    >>> moment("00:01:02"), moment(1_700_000_000_000), moment("2024-03-12T14:05:33Z")
    (62.0, 1700000000.0, 1710252333.0)
    >>> moment("3.5s"), moment("PT1M2.5S"), moment({"seconds": "3", "nanos": 500_000_000})
    (3.5, 62.5, 3.5)
    >>> moment("soon") is None
    True
    """
    if isinstance(value, str):
        return _written(value)
    if isinstance(value, Mapping):
        return _of_parts(value)
    return _of_date(float(value)) if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return type(value) in _NUMBERS and 0 <= value < _LATEST


def _of_date(value: float) -> float:
    """Bring a date in thousandths or millionths of a second to seconds."""
    while value >= 1e11:
        value = value / 1000
    return value


def _of_parts(value: Mapping[str, Any]) -> float | None:
    """Read whole seconds and their billionths, each of which is left out where it is 0."""
    parts = [value.get(name) for name in ("seconds", "nanos")]
    numbers = [number for part in parts if (number := _number(part)) is not None]
    if not numbers or len(numbers) < sum(part is not None for part in parts):
        return 0.0 if value == {} else None
    whole, part = (_number(one) or 0.0 for one in parts)
    return round(whole + part / 1e9, 6)


def _written(text: str) -> float | None:
    short = text.strip()[:40]
    date = date_seconds(short) if len(short) > _DAY else None
    known = seconds(short) if date is None else date
    if known is not None:
        return known
    lasting = _DURATION.fullmatch(short)
    if lasting and any(lasting.groups()):
        hours, minutes, rest = (float(part or 0) for part in lasting.groups())
        return round(3600 * hours + 60 * minutes + rest, 6)
    number = _number(short)
    return None if number is None else _of_date(number)


def _number(value: Any) -> float | None:
    """Return a number, or one that is written as text."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if _is_number(value) else None


def span(start: Any, end: Any, lasts: Any = None, units: Sequence[float | None] = (None, None, None)) -> Span:
    """Return when a message begins and ends.

    Parameters
    ----------
    start, end, lasts : object
        As the file has them: numbers, clock readings, dates, durations; some files put begin and end into one list or
        object.
    units : sequence of float or None
        Of each of the three, in seconds, as the name of its field says.
    """
    if isinstance(start, Span):
        return start
    if lasts is None and _is_number(start) and (end is None or _is_number(end)) and units[0] is units[1] is None:
        return Span(float(start), None if end is None else float(end), settled=False)
    if isinstance(start, list) and start and isinstance(start[0], dict):
        start = start[0]  # of the places where something is said, the first
    if isinstance(start, dict) and not {"seconds", "nanos"} & start.keys() and start:
        start, end = start.get("from", start.get("start")), start.get("to", start.get("end"))
    elif isinstance(start, list):
        start, end = (*start, None, None)[:2]
    given = [start, end, lasts]
    read = [_in_unit(value, unit) for value, unit in zip(given, units, strict=True)]
    begins, ends, length = (time for time, _ in read)
    if ends is None and begins is not None and length is not None:
        ends = round(begins + length, 9)
    settled = all(known for time, known in read if time is not None)
    both = zip(given, read, strict=True)
    unread = any(value is not None and value != "" and time is None for value, (time, _) in both)
    return Span(begins, ends, settled, unread)


def _in_unit(value: Any, unit: float | None) -> tuple[float | None, bool]:
    """Return a time, and whether it is in seconds for sure."""
    if value is None or value == "":
        return None, True
    bare = _is_number(value) or (isinstance(value, str) and value.isdecimal())
    if not bare:
        number = _number(value) if unit is not None else None
        return (moment(value), True) if number is None or unit is None else (round(number * unit, 9), True)
    number = float(value)
    return (number, False) if unit is None else (_of_date(round(number * unit, 9)), True)


def is_date(time: float | None) -> bool:
    """Tell a date from seconds of a recording."""
    return time is not None and time >= FIRST_DATE


def day(time: float) -> str:
    """Return the date of a moment.

    Examples
    --------
    >>> day(1710252333.0)
    '2024-03-12'
    """
    return datetime.fromtimestamp(time, UTC).date().isoformat()


def from_first(spans: Sequence[Span], n_words: int) -> tuple[list[Span], tuple[str, ...]]:
    """Return the times of a session in seconds from its beginning, and what to tell of those that are left out.

    Dates count from the first message; smaller units than seconds are told by how fast people would speak; numbers
    that only count the messages are no times.

    Parameters
    ----------
    spans : sequence of Span
        Of each message.
    n_words : int
        How many words are said in all of them.
    """
    if not any(one.start is not None or one.end is not None for one in spans):
        return list(spans), _unread(spans)
    if _only_counts(spans):
        return [Span()] * len(spans), ("Numbers that only count the messages were not taken as times.",)
    unit = _unit(spans, n_words)
    if unit is None:
        return [Span()] * len(spans), (_NO_UNIT,)
    known = [one._replace(start=_scaled(one.start, unit, one), end=_scaled(one.end, unit, one)) for one in spans]
    first = next((one.start for one in known if is_date(one.start)), None)
    settled = [one._replace(start=_since(one.start, first), end=_since(one.end, first)) for one in known]
    both = list(zip(settled, known, strict=True))
    early = sum((now.start is None) > (then.start is None) for now, then in both)
    early += sum((now.end is None) > (then.end is None) for now, then in both)
    told = (f"{counted(early, 'time')} before that of the first message left out.",) if early else ()
    if unit in _GUESSED:
        told = (
            f"Times were taken as {_GUESSED[unit]} of a second: in seconds, they would be much too long for the words.",
            *told,
        )
    return settled, (*_unread(spans), *told)


def _unread(spans: Sequence[Span]) -> tuple[str, ...]:
    n = sum(one.unread for one in spans)
    return (f"The times of {counted(n, 'message')} could not be read.",) if n else ()


def _scaled(time: float | None, unit: float, of: Span) -> float | None:
    if time is None or of.settled:
        return time
    return _of_date(time) if unit == 1 else round(time * unit, 6)


def _since(time: float | None, first: float | None) -> float | None:
    """Return a time of the recording, or of a date what passed since the first."""
    if time is None or first is None or time < FIRST_DATE:
        return time
    return round(time - first, 6) if time >= first else None


def _only_counts(spans: Sequence[Span]) -> bool:
    if len(spans) < 3 or any(one.settled or one.end is not None for one in spans) or spans[0].start not in {0, 1}:
        return False
    return all(one.start == spans[0].start + i for i, one in enumerate(spans))


def _unit(spans: Sequence[Span], n_words: int) -> float | None:
    """Return the unit of bare numbers, and None where none is known in which people would speak as they do.

    Where only beginnings are known, silence counts as well: seconds give way to thousandths alone, and only if the
    whole session would be slower than a slow chat.
    """
    bare = [one for one in spans if not one.settled]
    if not all(time.is_integer() for one in bare for time in one[:2] if time is not None):
        return 1.0
    spoken = sum(one.end - one.start for one in bare if one.start is not None and one.end is not None)
    starts = [one.start for one in bare if one.start is not None]
    lasted = spoken or max(starts, default=0.0) - min(starts, default=0.0)
    if lasted <= 0 or n_words / lasted >= (_SLOWEST if spoken else _SLOWEST / 5):
        return 1.0
    units = list(_GUESSED) if spoken else [] if is_date(min(starts)) else list(_GUESSED)[:1]
    fitting = (unit for unit in units if _SPEECH[0] <= n_words / lasted / unit <= _SPEECH[1])
    return next(fitting, None if spoken and n_words / lasted < _NO_SPEECH else 1.0)
