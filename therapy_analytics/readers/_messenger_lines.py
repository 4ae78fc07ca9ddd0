"""Lines of chat exports: a date and a time, a name, words; in the many orders of numbers that phones write."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

Stamp = tuple[int, ...]
"""Three numbers of a date as written, hour, minute, second."""

_MARKS = "\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_HIDDEN = rf"[{_MARKS}]*"
_SPACE = "[ \u00a0\u202f]"
_DATE = r"(?P<a>\d{1,4})[./-](?P<b>\d{1,2})[./-](?P<c>\d{1,4})\.?"
_TIME = (
    rf"(?P<h>\d{{1,2}})[:.](?P<m>\d{{2}})(?:[:.](?P<s>\d{{2}})(?:[.,]\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"(?:{_SPACE}?(?P<half>[AaPp])\.?{_SPACE}?[Mm]\.?)?"
)
_STAMP = rf"{_DATE}(?:,?{_SPACE}(?:(?:at|um|klo){_SPACE})?|T){_TIME}"
_WHO = rf"{_HIDDEN}~?{_SPACE}?(?:<(?P<nick>[^<>\n]{{1,60}})>|(?P<name>[^:\n\[\]<>]{{1,60}}):)(?=[\s{_MARKS}]|$)"
_STAMP_FIRST = re.compile(
    rf"{_HIDDEN}(?:(?P<open>\[)|){_STAMP}(?(open)\](?:{_SPACE}|$)|(?::?{_SPACE}|$))"
    rf"(?:[-\u2013|]{_SPACE})?(?:{_WHO})?(?P<words>.*)$"
)
_NAME_FIRST = re.compile(
    rf"{_HIDDEN}(?P<name>[^\W\d_][^:,\n\[\]()<>]{{0,59}}),?{_SPACE}[\[(]{_STAMP}[\])]:?(?:{_SPACE}(?P<words>.*))?$"
)
_STARTS_WITH_STAMP = re.compile(rf"{_HIDDEN}\[?\d{{1,4}}[./-]\d")


@dataclass(slots=True)
class Message:
    """Where a message begins, its stamp as written, its name (none: the program's own), and its lines of words."""

    place: int
    stamp: Stamp
    half: str
    name: str
    lines: list[str] = field(repr=False)


def message_at(line: str, place: int) -> Message | None:
    """Return the message that begins on a line.

    Examples
    --------
    >>> message_at("[12/03/2024, 14:05:33] Anna: Hello", 1).name
    'Anna'
    >>> message_at("[00:01:02] Therapist: Hello", 1) is None
    True
    """
    if _STARTS_WITH_STAMP.match(line):
        match = _STAMP_FIRST.match(line)
    else:
        match = (
            _NAME_FIRST.match(line) if line.rstrip()[-1:] in {"]", ")", ":"} or "]" in line or "):" in line else None
        )
    if match is None:
        return None
    part = match.groupdict()
    stamp = tuple(int(part[key] or 0) for key in "abchms")
    name = " ".join((part["name"] or part.get("nick") or "").strip("~ \u202f\u00a0").split())
    return Message(place, stamp, (part["half"] or "").lower(), name, [(part["words"] or "").strip()])


def dates(messages: Sequence[Message]) -> tuple[list[datetime | None], bool]:
    """Return when messages were written, and whether it was unclear which number is the day.

    Of the orders in which all dates exist, that in which the fewest run back is taken, then that
    which spans the fewest days; with equal ones, day before month, or month before day beside a.m. and p.m.
    """
    orders = [_day_first, _month_first]
    if any(message.half for message in messages):
        orders.reverse()
    read = [[_moment(message, order) for message in messages] for order in orders]
    first, second = (_worth(one) for one in read)
    unclear = first == second and read[0] != read[1]
    return (read[1] if second < first else read[0]), unclear


def _day_first(a: int, b: int, c: int) -> tuple[int, int, int]:
    return (a, b, c) if a > 31 else (c, b, a)


def _month_first(a: int, b: int, c: int) -> tuple[int, int, int]:
    return (a, b, c) if a > 31 else (c, a, b)


def _moment(message: Message, order: Callable[[int, int, int], tuple[int, int, int]]) -> datetime | None:
    a, b, c, hour, minute, second = message.stamp
    year, month, day = order(a, b, c)
    if message.half:
        hour = hour % 12 + 12 * (message.half == "p")
    try:
        return datetime(year + 2000 * (year < 100), month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def _worth(read: Sequence[datetime | None]) -> tuple[int, int, float]:
    known = [one for one in read if one is not None]
    back = sum(later < earlier for earlier, later in pairwise(known))
    span = (max(known) - min(known)).total_seconds() if known else 0.0
    return len(read) - len(known), back, span
