"""Clock readings to seconds."""

from __future__ import annotations

import re

_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{1,2}(?:[.,]\d+)?)")


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
    if isinstance(value, int | float):
        return _usable(value)
    text = str(value).strip().strip("[]()")
    match = _CLOCK.fullmatch(text)
    if match:
        hours, minutes, rest = match.groups()
        return round(int(hours or 0) * 3600.0 + int(minutes) * 60.0 + float(rest.replace(",", ".")), 6)
    try:
        return _usable(float(text.removesuffix("s")))
    except ValueError:
        return None


def _usable(value: float) -> float | None:  # a whole number may be too large for a float
    """Keep what can be a time in a session: not negative, not a calendar stamp, not nan."""
    return float(value) if 0 <= value < 1e6 else None
