"""Long chats and recordings as several sessions: a new one each day, or after a time in which nobody speaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from therapy_analytics.errors import BadOptionError
from therapy_analytics.readers._base import RawSession, Row
from therapy_analytics.session import Session

_GAP = re.compile(r"gap=(\d{1,6}(?:\.\d{1,3})?) ?(s|sec|m|min|h|hours?|d|days?)", re.IGNORECASE)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_DAY = 86_400
NO_TIMES = "--split-by had no effect: the session has no times."
NO_DATES = "--split-by day had no effect: the session has no dates. A gap in time splits it: --split-by gap=4h."

Place = Callable[[float, float], bool]
"""From the time of the last words, and that of the next, to whether a new session begins between them."""


def gap_of(split_by: str | None) -> float | None:
    """Return the seconds of a gap that splits; None for days, and where nothing is to be split.

    Examples
    --------
    >>> gap_of("gap=4h"), gap_of("gap=90min"), gap_of("day"), gap_of(None)
    (14400.0, 5400.0, None, None)

    Raises
    ------
    BadOptionError
        It says neither.
    """
    if split_by is None or split_by == "day":
        return None
    match = _GAP.fullmatch(split_by)
    if match is None or not float(match[1]):
        raise BadOptionError(
            "--split-by", f"{split_by!r} is not understood", "Write day, or a gap such as gap=4h (s, min, h, d)"
        )
    return float(match[1]) * _SECONDS[match[2][0].lower()]


def split(raw: RawSession, split_by: str | None, name: str) -> tuple[list[RawSession], bool]:
    """Return the sessions that one is, and whether it could be split.

    Parameters
    ----------
    raw : RawSession
        As its reader found it.
    split_by : str or None
        ``gap=4h``: a new session begins with words more than four hours after all before. ``day``: with the first of
        another day, as the clock showed it where the file was written.
    name : str
        What the session is called; the parts of several are numbered, or named by their days.

    Returns
    -------
    list of RawSession
        The session itself, or its parts, whose times count from their first words; rows without a time stay with
        those before them.
    bool
        Whether it has the times, or the dates, that it takes.
    """
    gap = gap_of(split_by)
    if split_by is None:
        return [raw], False
    if not any(row.start_s is not None for row in raw.rows):
        return [replace(raw, notes=(*raw.notes, NO_TIMES))], False
    if gap is None and raw.began is None:
        return [replace(raw, notes=(*raw.notes, NO_DATES))], False
    began = raw.began or 0.0
    if gap is None:
        parts = _parts(raw.rows, lambda last, start: (began + start) // _DAY > (began + last) // _DAY)
    else:
        parts = _parts(raw.rows, lambda last, start: start - last > gap)
    if len(parts) < 2:
        return [raw], True
    notes = (*raw.notes, f"One of {len(parts)} sessions of {name}, told apart by --split-by {split_by}.")
    return [_part(raw, rows, _name(raw, rows, name, number, gap), notes) for number, rows in enumerate(parts, 1)], True


def with_roles(part: RawSession, whole: Session) -> RawSession:
    """Give the speakers of a part the roles that they have in the whole: of a part alone, a guess may be another."""
    roles = {turn.speaker.casefold(): turn.role for turn in whole.turns}
    rows = [replace(row, role=row.role or roles.get(" ".join(row.speaker.split()).casefold())) for row in part.rows]
    return replace(part, rows=rows)


def _parts(rows: Sequence[Row], begins_between: Place) -> list[list[Row]]:
    parts: list[list[Row]] = [[]]
    last: float | None = None
    for row in rows:
        start = row.start_s
        if start is not None and last is not None and begins_between(last, start):
            parts.append([])
            last = start
        parts[-1].append(row)
        known = [time for time in (last, start, row.end_s) if time is not None]
        last = max(known, default=None)
    return parts


def _first(rows: Sequence[Row]) -> float:
    return next((row.start_s for row in rows if row.start_s is not None), 0.0)


def _name(raw: RawSession, rows: Sequence[Row], name: str, number: int, gap: float | None) -> str:
    return f"{name}-{number}" if gap is not None else f"{name}-{_date(raw, rows)}"


def _date(raw: RawSession, rows: Sequence[Row]) -> str:
    return datetime.fromtimestamp((raw.began or 0.0) + _first(rows), UTC).date().isoformat()


def _part(raw: RawSession, rows: Sequence[Row], name: str, notes: tuple[str, ...]) -> RawSession:
    first = _first(rows)
    moved = [replace(row, start_s=_since(row.start_s, first), end_s=_since(row.end_s, first)) for row in rows]
    if raw.began is None:
        return replace(raw, name=name, rows=moved, notes=notes)
    about = {**raw.metadata, "date": _date(raw, rows)}
    return replace(raw, name=name, rows=moved, metadata=about, notes=notes, began=raw.began + first)


def _since(time: float | None, first: float) -> float | None:
    return None if time is None or time < first else round(time - first, 6)
