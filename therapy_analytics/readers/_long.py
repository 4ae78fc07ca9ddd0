"""Tables with a row an utterance: the rows of each session, in the order of their numbers, with their times.

Dates with a time of day, and times of day, become seconds from the first row of the session that has one; what is
before that has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from therapy_analytics.readers import _codes
from therapy_analytics.readers._base import Layout, RawSession, Row
from therapy_analytics.readers._codes import Record
from therapy_analytics.readers._columns import Columns, numbers_utterances, slug
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._timeline import Timeline, timeline
from therapy_analytics.readers._times import Time, name_and_unit, on_day, span
from therapy_analytics.session import Role

_SORTED = "The rows were put in the order of their utterance numbers."
MOST_ROWS = 3_000
"""A session of more utterances than that is hardly one: three hours have some 2,000."""
_UNSORTED = "The rows are not in the order of their utterance numbers; they were read as they stand."
Group = list[Record]
"""The rows of one utterance: several where several people coded it."""


def read(
    header: Sequence[str], records: list[Record], columns: Columns, layout: Layout | None = None
) -> Iterator[RawSession]:
    """Yield the sessions of a table.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    records : list of Record
        Data rows; merged cells in the column of sessions are filled in. Where there is such a column, the list is
        emptied.
    columns : Columns
        Which column is which.
    layout : Layout, optional
        What was decided of the whole table, if these rows are a part of it.
    """
    named = 0 if columns.session is None else fill_down(records, columns.session)
    notes = (f"{counted(named, 'row')} of the file without a session went to the session before.",) if named else ()
    if columns.session is None and len(records) > MOST_ROWS:
        notes = (_one_session(len(records)),)
    sessions = _by_session(header, records, columns.session, layout)
    if layout is None:
        about = _codes.constant_columns(header, list(sessions.values()), columns.used)
        codes = _codes.code_columns(header, records, columns.used, about)
    else:
        about, codes = {slug(header[at]): at for at in layout.about}, _codes.named_codes(header, layout.codes)
    reader = _LongReader(header, columns, codes)
    if columns.session is not None:
        records.clear()  # each row is let go with its session: of a large table they take most room
    for name in list(sessions):
        rows = sessions.pop(name)
        metadata = {key: value for key, at in about.items() if (value := rows[0][1][at].strip())}
        spoken, remarks, began = reader.rows(rows)
        yield RawSession(name, spoken, metadata, (*notes, *remarks), began=began)


def _one_session(n: int) -> str:
    return (
        f"All {counted(n, 'row')} were read as one session, because no column is known to say which session a row "
        "belongs to. If they are several, name it: --columns session=NAME."
    )


def _by_session(
    header: Sequence[str], records: list[Record], at: int | None, layout: Layout | None
) -> dict[str, list[Record]]:
    if at is None:
        return {"": records}
    sessions: dict[str, list[Record]] = {}
    partner = _codes.companion(header, records, at) if layout is None else layout.partner
    for row in records:
        name = row[1][at].strip()
        sessions.setdefault(name if partner is None else f"{row[1][partner].strip()}-{name}", []).append(row)
    return sessions


def fill_down(records: list[Record], at: int) -> int:
    """Give an empty cell the value above it, as merged cells mean it; return how many were filled."""
    filled, last = 0, ""
    for _, record in records:
        if record[at].strip():
            last = record[at]
        elif last:
            record[at] = last
            filled += 1
    return filled


class _LongReader:
    """The rows of one session after another, with what is the same for all of them looked up once."""

    def __init__(self, header: Sequence[str], columns: Columns, codes: Sequence[tuple[str, int]]) -> None:
        self.columns, self.codes = columns, codes
        timed = (columns.start, columns.end, columns.duration)
        self.units = [None if at is None else name_and_unit(header[at])[1] for at in timed]
        self.by_utterance = columns.utterance is not None and numbers_utterances(header[columns.utterance])

    def rows(self, records: list[Record]) -> tuple[list[Row], list[str], Time]:
        """Return the rows of a session, what to tell of them, and the date of its beginning, where it is known."""
        as_written = _codes.once(records, self.columns, by_utterance=self.by_utterance)
        groups, notes = self._ordered(as_written)
        if len(records) > len(groups):
            repeats = counted(len(records) - len(groups), "row")
            n_words = sum(len(row[1][self.columns.text].split()) for group in groups for row in group[1:])
            notes.append(f"{repeats} that repeat an utterance for another coder left out ({counted(n_words, 'word')}).")
        times = self._times(groups)
        spoken = [group[0] for group in groups if group[0][1][self.columns.text].strip()]
        unnamed = fill_down([row for row in spoken if self._goes_on(row)], self.columns.speaker)
        if unnamed:
            notes.append(f"{counted(unnamed, 'row')} without a speaker went to the speaker before.")
        return list(map(self._row, groups, times.starts, times.ends)), [*notes, *times.told], times.began

    def _goes_on(self, row: Record) -> bool:
        """Tell a row that can have a speaker, or that of the row before, from one of nobody's by its own role."""
        at = self.columns.role
        return bool(row[1][self.columns.speaker].strip()) or at is None or not row[1][at].strip()

    def _ordered(self, groups: list[Group]) -> tuple[list[Group], list[str]]:
        """Sort utterances by numbers of which none is missing and none comes twice, unless times say otherwise."""
        at = self.columns.utterance
        cells = [] if at is None else [group[0][1][at].strip() for group in groups]
        numbers = [float(cell) for cell in cells if cell.isdecimal()]
        if _rises(numbers):
            return groups, []
        each_once = len(set(numbers)) == len(groups) == max(numbers) - min(numbers) + 1
        if not each_once or self._in_time(groups):
            return groups, [_UNSORTED]
        order = sorted(range(len(groups)), key=numbers.__getitem__)
        return [groups[place] for place in order], [_SORTED]

    def _in_time(self, groups: Sequence[Group]) -> bool:
        known = [time for time in self._times(groups).starts if time is not None]
        return len(known) > 1 and known[0] < known[-1] and _rises(known)

    def _times(self, groups: Sequence[Group]) -> Timeline:
        """Return the times of a session; of one day, the date beside its times of day only says when it began."""
        at = self.columns.day
        days = [""] * len(groups) if at is None else [group[0][1][at].strip() for group in groups]
        several = len(set(days) - {""}) > 1
        found = self._timeline(groups, days if several else ())
        if found.by_day and any(days):
            return found._replace(began=self._timeline(groups, days).began)
        return found

    def _timeline(self, groups: Sequence[Group], days: Sequence[str]) -> Timeline:
        timed = (self.columns.start, self.columns.end, self.columns.duration)
        spans = []
        for number, group in enumerate(groups):
            start, end, lasts = (None if at is None else group[0][1][at] for at in timed)
            if days:
                start, end = (cell and on_day(cell, days[number]) for cell in (start, end))
            spans.append(span(start, end, lasts, self.units))
        return timeline(spans, [group[0][1][self.columns.text] for group in groups])

    def _row(self, group: Group, start: Time, end: Time) -> Row:
        place, record = group[0]
        role = None if self.columns.role is None else _role(record[self.columns.role])
        gold = _codes.gold(group, self.codes)
        return Row(record[self.columns.speaker], record[self.columns.text], place, start, end, role, gold)


def _role(label: str) -> Role | None:
    return role_of_label(label) if label.strip() else None


def _rises(numbers: Sequence[float]) -> bool:
    return all(one <= two for one, two in pairwise(numbers))
