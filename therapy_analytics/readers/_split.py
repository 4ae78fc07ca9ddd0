"""Long chats and recordings cut into several sessions: a new one each day, or after a gap in time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.session import Session
from therapy_analytics.readers.base import RawSession, Row

_GAP = re.compile(r"gap=(\d{1,6}(?:\.\d{1,3})?) ?(s|sec|m|min|h|hours?|d|days?)", re.IGNORECASE)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_DAY = 86_400
NO_TIMES = "--split-by had no effect: the session has no times."
NO_DATES = "--split-by day had no effect: the session has no dates. A gap in time splits it: --split-by gap=4h."


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
    """Split a session.

    Parameters
    ----------
    raw : RawSession
        As its reader found it.
    split_by : str or None
        ``gap=4h``: a new session begins with words more than four hours after all before. ``day``: with the first words
        of another day, on the local clock of the file.
    name : str
        The name of the session; that of a part is followed by its number, or its day.

    Returns
    -------
    list of RawSession
        The session itself, or its parts, whose times count from their first words; rows without a time stay with
        those before them.
    bool
        Whether it has the times, or the dates, that this takes.
    """
    gap = gap_of(split_by)
    if split_by is None:
        return [raw], False
    if not any(row.start_s is not None for row in raw.rows):
        return [replace(raw, notes=(*raw.notes, NO_TIMES))], False
    if gap is None and raw.began is None:
        return [replace(raw, notes=(*raw.notes, NO_DATES))], False
    began = raw.began or 0.0

    def begins_between(last: float, start: float) -> bool:
        return start - last > gap if gap is not None else (began + start) // _DAY > (began + last) // _DAY

    parts = _parts(raw.rows, begins_between)
    if len(parts) < 2:
        return [raw], True
    notes = (*raw.notes, f"One of {len(parts)} sessions of {name}, told apart by --split-by {split_by}.")
    sessions = []
    for number, rows in enumerate(parts, start=1):
        first = next((row.start_s for row in rows if row.start_s is not None), 0.0)
        day = "" if raw.began is None else datetime.fromtimestamp(began + first, UTC).date().isoformat()
        sessions.append(
            replace(
                raw,
                name=f"{name}-{day}" if gap is None else f"{name}-{number}",
                rows=[replace(row, start_s=_since(row.start_s, first), end_s=_since(row.end_s, first)) for row in rows],
                metadata={**raw.metadata, "date": day} if day else raw.metadata,
                notes=notes,
                began=None if raw.began is None else raw.began + first,
            )
        )
    return sessions, True


def with_roles(part: RawSession, whole: Session) -> RawSession:
    """Give the speakers of a part the roles that they have in the whole: a guess by a part alone may differ."""
    roles = {turn.speaker.casefold(): turn.role for turn in whole.turns}
    rows = [replace(row, role=row.role or roles.get(" ".join(row.speaker.split()).casefold())) for row in part.rows]
    return replace(part, rows=rows)


def _parts(rows: Sequence[Row], begins_between: Callable[[float, float], bool]) -> list[list[Row]]:
    """Cut rows where a session begins between the last time before a row and its start."""
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


def _since(time: float | None, first: float) -> float | None:
    return None if time is None or time < first else round(time - first, 6)
