"""Times of messages: seconds of a recording, or dates of a chat, which become seconds from its first message."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from therapy_analytics.readers._times import date_seconds, seconds

FIRST_DATE = 1e8
"""Numbers from here are seconds since 1970 (this one is in 1973), or thousandths or millionths of them."""
_LONGEST = 1e6
_SLOWEST = 0.05
"""Words a second; what is said slower than this in whole numbers was timed in thousandths."""


class Span(NamedTuple):
    """When a message begins and ends, as the file says it."""

    start: float | None
    end: float | None
    whole: bool = False


def moment(value: Any) -> float | None:
    """Return seconds of the recording, or since 1970 for a date.

    Examples
    --------
    >>> moment("00:01:02"), moment(1_700_000_000_000), moment("2024-03-12T14:05:33Z")
    (62.0, 1700000000.0, 1710252333.0)
    >>> moment("soon") is None
    True
    """
    if isinstance(value, str):
        return _written(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e18:
        return None
    while value >= 1e11:
        value = value / 1000
    return float(value)


def _written(text: str) -> float | None:
    short = text.strip()
    date = date_seconds(short)
    known = seconds(short[:40]) if date is None else date
    if known is not None:
        return known
    try:
        return moment(float(short[:40]))
    except ValueError:
        return None


def span(start: Any, end: Any) -> Span:
    """Return when a message begins and ends; some files put both in one list or object."""
    if isinstance(start, dict):
        start, end = start.get("from", start.get("start")), start.get("to", start.get("end"))
    elif isinstance(start, list):
        start, end = (*start, None, None)[:2]
    if start is None and end is None:
        return Span(None, None)
    whole = isinstance(start, int) and isinstance(end, int)
    return Span(moment(start), moment(end), whole)


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


def from_first(spans: Sequence[Span], n_words: int) -> list[Span]:
    """Return the times of a session in seconds from its beginning.

    Dates count from the first message; thousandths of a second become seconds; numbers that only
    count the messages are no times.
    """
    starts = [one.start for one in spans]
    if not any(one.start is not None or one.end is not None for one in spans):
        return list(spans)
    if _only_counts(starts) and all(one.end is None for one in spans):
        return [Span(None, None)] * len(spans)
    first = next((time for time in starts if is_date(time)), None)
    unit = 0.001 if _in_thousandths(spans, n_words) else 1.0

    def settled(time: float | None) -> float | None:
        if time is None:
            return None
        if first is not None and time >= FIRST_DATE:
            return round(time - first, 6) if time >= first else None
        return time * unit if time * unit < _LONGEST else None

    return [Span(settled(one.start), settled(one.end)) for one in spans]


def _only_counts(starts: Sequence[float | None]) -> bool:
    return len(starts) > 2 and starts[0] in {0, 1} and all(at == starts[0] + i for i, at in enumerate(starts))


def _in_thousandths(spans: Sequence[Span], n_words: int) -> bool:
    if not all(one.whole for one in spans):
        return False
    spoken = sum(one.end - one.start for one in spans if one.start is not None and one.end is not None)
    return spoken > 0 and n_words / spoken < _SLOWEST
