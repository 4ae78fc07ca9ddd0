"""Clock readings to seconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{1,2}(?:[.,]\d+)?)")
_LONGEST_DATE = 40


def seconds(value: object) -> float | None:
    """Return a time in seconds, or None when there is none to read.

    Parameters
    ----------
    value : object
        A number of seconds, or a clock reading: ``01:02:03.5``, ``62:03,5``, ``[2:15]``.

    Examples
    --------
    >>> seconds("01:02:03.5"), seconds("[2:15]"), seconds(7), seconds("later")
    (3723.5, 135.0, 7.0, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _usable(value)
    text = str(value).strip().strip("[]()")
    match = _CLOCK.fullmatch(text) if ":" in text else None
    if match:
        hours, minutes, rest = match.groups()
        return round(int(hours or 0) * 3600.0 + int(minutes) * 60.0 + float(rest.replace(",", ".")), 6)
    if not text:
        return None
    try:
        return _usable(float(text.removesuffix("s")))
    except ValueError:
        return None


def _usable(value: float) -> float | None:  # a whole number may be too large for a float
    """Keep what can be a time in a session: not negative, not a calendar stamp, not nan."""
    return float(value) if 0 <= value < 1e6 else None


def date_seconds(text: str) -> float | None:
    """Return seconds since 1970 of a date as ISO writes it, or None; without a time zone it is taken as UTC.

    Examples
    --------
    >>> date_seconds("2024-03-12T14:05:33Z"), date_seconds(" 2024-03-12 14:05 "), date_seconds("12 March")
    (1710252333.0, 1710252300.0, None)
    """
    short = text.strip()[:_LONGEST_DATE]
    if not (short[:4].isdecimal() and short[4:5] == "-"):
        return None
    try:
        stamp = datetime.fromisoformat(short)
        return (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
