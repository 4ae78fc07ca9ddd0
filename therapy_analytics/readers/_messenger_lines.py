"""Lines of chat exports: date and time, name and words, in the many forms that phones write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

_FROM, _SENT = "From:", "Sent:"
_HEAD_LINE = re.compile(r"[A-Z][A-Za-z-]{1,20}: ?\S")
_LONGEST_HEAD = 8
_SAMPLE = 500
_HOURS = 24
_SEVERAL = 2
_SHORTEST_DAY, _LONGEST_DAY = 6, 40
Stamp = tuple[int, ...]
"""Three numbers of a date as written, hour, minute, second."""

_MARKS = "\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_HIDDEN = rf"[{_MARKS}]*"
_SPACE = "[ \u00a0\u202f]"
_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_OTHER_MONTHS = {"m\u00e4r": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12, "ene": 1, "abr": 4, "ago": 8, "dic": 12}
_MONTHS = {**{name: at for at, name in enumerate(_MONTH_NAMES.split(), start=1)}, **_OTHER_MONTHS}
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z\u00e9]{{0,7}}\.?"
_DATE = (
    r"(?:(?P<a>\d{1,4})[./-](?P<b>\d{1,2})[./-](?P<c>\d{1,4})\.?"
    rf"|(?P<day>\d{{1,2}})\.?[ -](?:de )?(?P<month>{_MONTH})(?: de)?,?[ -](?P<year>\d{{4}}|\d\d)"
    rf"|(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}}),? (?P<year2>\d{{4}}))"
)
_TIME = (
    rf"(?P<h>\d{{1,2}})[:.](?P<m>\d{{2}})(?:[:.](?P<s>\d{{2}})(?:[.,]\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"(?:{_SPACE}?(?P<half>[AaPp])\.?{_SPACE}?[Mm]\.?)?"
)
_STAMP = rf"{_DATE}(?:,?{_SPACE}{{1,2}}(?:(?:at|um|klo){_SPACE})?|T){_TIME}"
_WHO = rf"{_HIDDEN}~?{_SPACE}?(?:<(?P<nick>[^<>\n]{{1,60}})>|(?P<name>[^:\n\[\]<>]{{1,60}}):)(?=[\s{_MARKS}]|$)"
_CELL = rf"(?P<cell>[^\W\d_][^:\n\[\]<>|\t]{{0,39}}?){_SPACE}?[|\t]"
_STAMP_FIRST = re.compile(
    rf"{_HIDDEN}(?:(?P<open>\[){_SPACE}?|){_STAMP}(?(open){_SPACE}?\](?:{_SPACE}|$)|(?::?{_SPACE}|(?=\t)|$))"
    rf"(?:[|\t]{_SPACE}?{_CELL}|(?:[-\u2013|]{_SPACE})?(?:{_WHO})?)(?P<words>.*)$",
    re.IGNORECASE,
)
_NAME_FIRST = re.compile(
    rf"{_HIDDEN}(?P<name>[^\W\d_](?:[^:,\n\[\]()<>\u2014]|\([^()\d\n]{{1,30}}\)){{0,59}}?)"
    rf"(?:,?{_SPACE}(?P<open>[\[(])|{_SPACE}\u2014{_SPACE}){_STAMP}(?(open)[\])]:?|$)(?:{_SPACE}(?P<words>.*))?$",
    re.IGNORECASE,
)
_STAMP_ALONE = re.compile(_STAMP, re.IGNORECASE)
_STARTS_WITH_STAMP = re.compile(
    rf"{_HIDDEN}\[?{_SPACE}?(?:\d{{1,4}}[./-]\d|\d{{1,2}}\.?[ -](?:de )?[a-z\u00e4]{{3}}|{_MONTH} \d)", re.IGNORECASE
)
_WEEKDAY = r"[^\W\d_]{2,12}\.?"
_DAY_ALONE = re.compile(rf"(?:{_WEEKDAY},? )?(?P<date>{_DATE})[ ,]{{0,2}}(?:\(?{_WEEKDAY}\)?)?", re.IGNORECASE)
_CLOCK_FIRST = re.compile(rf"(?P<open>\[?)(?P<time>{_TIME})(?P<rest>(?(open)\]?)[\t \u2013-].*)", re.IGNORECASE)
_RULES = " \t-\u2013\u2014=*#_\u200e\ufeff"
_NAME_ALONE = re.compile(r"[^\W\d_][\w.'\u2019-]*(?: [\w.'\u2019()-]+){0,3}")


class WrittenDate(NamedTuple):
    """A date with a time of day as it is written; `half` is a for a.m. and p for p.m."""

    stamp: Stamp
    half: str


@dataclass(slots=True)
class Message:
    """A message: its line, its date as written, its author (empty: the program itself), and its lines of words."""

    place: int
    when: WrittenDate
    name: str
    lines: list[str] = field(repr=False)


def written(text: str) -> WrittenDate | None:
    """Return the date with a time of day that a text consists of, if it does.

    Examples
    --------
    >>> written("12/03/2024, 2:05 pm"), written("12/03/2024")
    (WrittenDate(stamp=(12, 3, 2024, 2, 5, 0), half='p'), None)
    """
    match = _STAMP_ALONE.fullmatch(text)
    return None if match is None else _written(match.groupdict())


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
            _NAME_FIRST.match(line)
            if line.rstrip()[-1:] in {"]", ")", ":"} or "]" in line or "):" in line or " \u2014 " in line
            else None
        )
    if match is None:
        return None
    part = match.groupdict()
    name = " ".join((part["name"] or part.get("nick") or part.get("cell") or "").strip("~ \u202f\u00a0").split())
    return Message(place, _written(part), name, [(part["words"] or "").strip()])


def with_heads(lines: Sequence[str]) -> Sequence[str]:
    r"""Put the head of each message of a chat written like mail (From:, Sent:) on one line; others become empty.

    Examples
    --------
    >>> with_heads(["From: Anna", "Type: incoming", "Sent: Mon, 04 Mar 2024 14:01:00 +0100", "", "Hello", "Again"])
    ['[04 Mar 2024 14:01:00] Anna:', '', '', '', 'Hello', 'Again']
    """
    if not any(line.startswith(_SENT) for line in lines):
        return lines
    found = list(lines)
    for at, line in enumerate(lines):
        end = next((place for place in range(at, min(at + _LONGEST_HEAD, len(lines))) if not lines[place].strip()), at)
        sent = next((one for one in lines[at:end] if one.startswith(_SENT)), "")
        when = _STAMP_ALONE.search(sent)
        if line.startswith(_FROM) and when and all(_HEAD_LINE.match(one) for one in lines[at:end]):
            found[at] = f"[{when[0]}] {line.removeprefix(_FROM).strip().replace(':', ' ')}:"
            found[at + 1 : end] = [""] * (end - at - 1)
    return found


def with_days(lines: Sequence[str]) -> Sequence[str]:
    r"""Put the day before each time of a chat that has days as headings, which become empty.

    Below a single day, times may be minutes of a recording: they count as times of day only with a tab behind them, or
    with a.m. or p.m.

    Examples
    --------
    >>> with_days(["Tue, 12/03/2024", "14:05\tAnna\tHello", "14:06\tBen\tHi"])
    ['', '12/03/2024 14:05\tAnna\tHello', '12/03/2024 14:06\tBen\tHi']
    """
    plain = [line.strip(_RULES) for line in lines]
    days = {
        at: day["date"]
        for at, line in enumerate(plain)
        if _SHORTEST_DAY <= len(line) <= _LONGEST_DAY and (day := _DAY_ALONE.fullmatch(line))
    }
    timed = list(filter(None, map(_CLOCK_FIRST.match, lines[:_SAMPLE]))) if days else []
    of_day = len(days) > 1 or all(match["half"] or match["rest"].startswith("\t") for match in timed)
    if len(timed) < _SEVERAL or not of_day or any(int(match["h"]) >= _HOURS for match in timed):
        return lines
    found, today = list(lines), ""
    for at, line in enumerate(lines):
        if at in days:
            today, found[at] = days[at], ""
        elif today and (clock := _CLOCK_FIRST.match(line)):
            found[at] = f"{clock['open']}{today} {clock['time']}{clock['rest']}"
    return found


def _written(part: Mapping[str, str | None]) -> WrittenDate:
    """Return the numbers of a date as written, or year, month and day where the month is a word."""
    numbers = [int(part[key] or 0) for key in "abchms"]
    month = part["month"] or part["month2"]
    if month:
        year, day = int(part["year"] or part["year2"] or 0), int(part["day"] or part["day2"] or 0)
        numbers[:3] = year + 2000 * (year < 100), _MONTHS[month[:3].casefold()], day
    return WrittenDate(tuple(numbers), (part["half"] or "").lower())


def with_names_above(messages: list[Message]) -> list[Message]:
    """Take names alone behind the dates, with words below them, for authors, where no message has another name."""
    alone = [message.lines[0] for message in messages if len(message.lines) > 1]
    names = {name for name in alone if _NAME_ALONE.fullmatch(name) and alone.count(name) > 1}
    if any(message.name for message in messages) or len(names) < 2:
        return messages
    return [
        replace(message, name=message.lines[0], lines=message.lines[1:]) if message.lines[0] in names else message
        for message in messages
    ]


def dates(stamps: Sequence[WrittenDate]) -> tuple[list[datetime | None], bool]:
    """Return the dates, and whether it is unclear which number is the day.

    Of the orders in which all dates exist, the one in which the fewest run back is taken, then the one that spans the
    fewest days; of equal ones day before month, or month before day beside a.m. and p.m.
    """
    has_halves = any(stamp.half for stamp in stamps)
    read = [
        [_moment(stamp, month_first=month_first) for stamp in stamps] for month_first in (has_halves, not has_halves)
    ]
    first, second = map(_cost, read)
    unclear = first == second and read[0] != read[1]
    return (read[1] if second < first else read[0]), unclear


def _moment(written_as: WrittenDate, *, month_first: bool) -> datetime | None:
    a, b, c, hour, minute, second = written_as.stamp
    year, month, day = (a, b, c) if a > 31 else (c, a, b) if month_first else (c, b, a)
    if written_as.half:
        hour = hour % 12 + 12 * (written_as.half == "p")
    try:
        return datetime(year + 2000 * (year < 100), month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def _cost(read: Sequence[datetime | None]) -> tuple[int, int, float]:
    known = [one for one in read if one is not None]
    back = sum(later < earlier for earlier, later in pairwise(known))
    span = (max(known) - min(known)).total_seconds() if known else 0.0
    return len(read) - len(known), back, span
