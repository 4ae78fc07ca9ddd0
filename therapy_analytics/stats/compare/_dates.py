"""Dates as people write them in tables, whole or in part: all as ``2024-03-12``, ``2024-03`` or ``2024``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from therapy_analytics.core.errors import BadOptionError

_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?:[T ]\d{1,2}:.*)?")
_DAY_FIRST = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})")
_EITHER = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?: .*)?")
_MONTH = re.compile(r"(\d{1,2})[/.](\d{4})")
_SERIAL = re.compile(r"[34]\d{4}(?:\.0)?")
_WRITTEN = ("%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y")
_WRITTEN_MONTH = ("%B %Y", "%b %Y")
_FIRST_OF_EXCEL = date(1899, 12, 30)


def iso_dates(cells: Sequence[str]) -> list[str]:
    """Return the dates of a column as ISO writes them, as much of each as is known; "" for a cell that is none.

    Parameters
    ----------
    cells : sequence of str
        The cells. Of ``3/4/2024`` the other cells of the column say whether the day or the month stands first.

    Raises
    ------
    BadOptionError
        Nothing in the column tells the day from the month, or two cells contradict each other.

    Examples
    --------
    >>> iso_dates(["2024-03-12", "12.3.2024", "March 2024", "2024", "13/3/2024", "3/4/2024", "soon"])
    ['2024-03-12', '2024-03-12', '2024-03', '2024', '2024-03-13', '2024-04-03', '']
    """
    stripped = [" ".join(cell.replace(",", " ").split()) for cell in cells]
    pairs = [(int(found[1]), int(found[2])) for cell in stripped if (found := _EITHER.fullmatch(cell))]
    day_first = any(first > 12 for first, _ in pairs)
    month_first = any(second > 12 for _, second in pairs)
    if pairs and day_first == month_first and any(first != second for first, second in pairs):
        option = "date"
        problem = "dates such as 3/4/2024 stand in the table, and nothing tells the day from the month"
        raise BadOptionError(
            option, problem, "Write dates as 2024-04-03, or give a column session_id or session_number"
        )
    return [_iso(cell, day_first=day_first) for cell in stripped]


def _iso(cell: str, *, day_first: bool) -> str:
    if found := _ISO.fullmatch(cell):
        return _of_parts(found[1], found[2], found[3])
    if found := _DAY_FIRST.fullmatch(cell):
        return _of_parts(found[3], found[2], found[1])
    if found := _EITHER.fullmatch(cell):
        first, second, year = found.groups()
        return _of_parts(year, second, first) if day_first else _of_parts(year, first, second)
    if found := _MONTH.fullmatch(cell):
        return _of_parts(found[2], found[1])
    if _SERIAL.fullmatch(cell):  # the number that a spreadsheet holds for a date
        return (_FIRST_OF_EXCEL + timedelta(days=int(float(cell)))).isoformat()
    return _written(cell)


def _of_parts(year: str, month: str | None = None, day: str | None = None) -> str:
    """Return a date of its parts; "" where there is no such day or month."""
    try:
        whole = date(int(year), int(month or 1), int(day or 1)).isoformat()
    except ValueError:
        return ""
    return whole if day else whole[:7] if month else whole[:4]


def _written(cell: str) -> str:
    """Return a date whose month is written as a word."""
    for forms, length in ((_WRITTEN, 10), (_WRITTEN_MONTH, 7)):
        for form in forms:
            try:
                return datetime.strptime(cell, form).date().isoformat()[:length]
            except ValueError:
                continue
    return ""


def dates_fit(one: str, other: str) -> bool:
    """Return whether two dates, each known as a day, a month or a year, can be the same day.

    Examples
    --------
    >>> dates_fit("2024-03", "2024-03-12"), dates_fit("2024", "2024-03"), dates_fit("2024-03-12", "2024-04")
    (True, True, False)
    """
    return bool(one and other) and (one.startswith(other) or other.startswith(one))
