"""Tables with a row an utterance: the rows of each session in the order of their numbers, with their times and codes.

Dates with a time of day, and times of day, become seconds from the first row of the session that has one; what is
before that has none. The columns beside the talk are human codes, facts about the session, or coders who repeat rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter

from therapy_analytics.core.printable import counted
from therapy_analytics.readers import _limits
from therapy_analytics.readers._columns import Record, numbers_utterances, slug
from therapy_analytics.readers._contents import code_columns, constant_columns, partner_of
from therapy_analytics.readers._timeline import Timeline, timeline
from therapy_analytics.readers._times import Time, name_and_unit, on_day, span
from therapy_analytics.readers.base import RawSession, Row
from therapy_analytics.readers.roles import role_of_label

MOST_ROWS = 3_000
"""A session of more utterances than that is hardly one: three hours have some 2,000."""
_SORTED = "The rows were put in the order of their utterance numbers."
_UNSORTED = "The rows are not in the order of their utterance numbers; they were read as they stand."
Group = list[Record]
"""The rows of one utterance: several where several people coded it."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where in a record each thing stands; None where the table does not have it.

    Attributes
    ----------
    text, speaker : int
        What is said, who speaks.
    session, start, end, utterance, annotator : int or None
        The rest of what has known names.
    role : int or None
        A column of roles beside the one of speakers.
    duration, day : int or None
        How long an utterance takes, for one without an end; the date beside a time of day.
    """

    text: int
    speaker: int
    session: int | None = None
    start: int | None = None
    end: int | None = None
    utterance: int | None = None
    annotator: int | None = None
    role: int | None = None
    duration: int | None = None
    day: int | None = None

    @property
    def used(self) -> frozenset[int | None]:
        """All of them but the date, which may be a fact about the session."""
        return frozenset(getattr(self, name) for name in self.__slots__ if name != "day")

    @property
    def timed(self) -> tuple[int | None, int | None, int | None]:
        """Those of times."""
        return self.start, self.end, self.duration


def read(header: Sequence[str], records: list[Record], columns: Columns) -> Iterator[RawSession]:
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
    """
    notes: tuple[str, ...] = ()
    by_name = False
    if columns.session is None:
        sessions = {"": records}
        notes = (_one_session(len(records)),) if len(records) > MOST_ROWS else ()
    else:
        if n_filled := fill_down(records, columns.session):
            notes = (f"{counted(n_filled, 'row')} of the file without a session went to the session before.",)
        partner = partner_of(header, records, columns.session)
        sessions = _by_session(records, columns.session, partner)
        by_name = partner is not None and slug(header[partner]).endswith("name")  # of a person, which is no id
    about = constant_columns(header, sessions.values(), columns.used)
    codes = code_columns(header, records, columns.used, about)
    reader = _SessionReader(header, columns, codes)
    if columns.session is not None:
        records.clear()  # each row is let go with its session: those of a large table take most of the memory
    for name in list(sessions):
        rows = sessions.pop(name)[: _limits.MOST_ROWS + 1]  # a session that is longer is refused
        metadata = {key: value for key, at in about.items() if (value := rows[0][1][at].strip())}
        spoken, remarks, began = reader.read(rows)
        yield RawSession("" if by_name else name, spoken, metadata, (*notes, *remarks), began=began)


def _one_session(n: int) -> str:
    return (
        f"All {counted(n, 'row')} were read as one session, because no column is known to say which session a row "
        "belongs to. If they are several, name it: --columns session=NAME."
    )


def _by_session(records: list[Record], at: int, partner: int | None) -> dict[str, list[Record]]:
    sessions: dict[str, list[Record]] = {}
    for row in records:
        name = row[1][at].strip()
        sessions.setdefault(name if partner is None else f"{row[1][partner].strip()}-{name}", []).append(row)
    return sessions


def fill_down(records: list[Record], at: int) -> int:
    """Give an empty cell the value above it, as merged cells mean it; return how many were filled."""
    n_filled, last = 0, ""
    for _, record in records:
        if record[at].strip():
            last = record[at]
        elif last:
            record[at] = last
            n_filled += 1
    return n_filled


class _SessionReader:
    """Reads one session after another; what is the same for all of them is looked up when it is made."""

    def __init__(self, header: Sequence[str], columns: Columns, codes: Sequence[tuple[str, int]]) -> None:
        self.columns, self.codes = columns, codes
        self.units = [None if at is None else name_and_unit(header[at])[1] for at in columns.timed]
        self.by_utterance = columns.utterance is not None and numbers_utterances(header[columns.utterance])

    def read(self, records: list[Record]) -> tuple[list[Row], list[str], Time]:
        """Return the rows of a session, what to tell of them, and the date of its beginning, where it is known."""
        columns = self.columns
        groups, notes = self._ordered(group_coders(records, columns, by_utterance=self.by_utterance))
        if len(records) > len(groups):
            repeats = counted(len(records) - len(groups), "row")
            n_words = sum(len(row[1][columns.text].split()) for group in groups for row in group[1:])
            notes.append(f"{repeats} that repeat an utterance for another coder left out ({counted(n_words, 'word')}).")
        times = self._times(groups)
        spoken = [group[0] for group in groups if group[0][1][columns.text].strip()]
        # a row without a speaker that has a role of its own is nobody's, not the speaker's before
        unnamed = fill_down([row for row in spoken if self._goes_on(row)], columns.speaker)
        if unnamed:
            notes.append(f"{counted(unnamed, 'row')} without a speaker went to the speaker before.")
        return list(map(self._row, groups, times.starts, times.ends)), [*notes, *times.told], times.began

    def _goes_on(self, row: Record) -> bool:
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
        if not each_once or self._are_in_time(groups):
            return groups, [_UNSORTED]
        order = sorted(range(len(groups)), key=numbers.__getitem__)
        return [groups[place] for place in order], [_SORTED]

    def _are_in_time(self, groups: Sequence[Group]) -> bool:
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
        spans = []
        for number, group in enumerate(groups):
            start, end, lasts = (None if at is None else group[0][1][at] for at in self.columns.timed)
            if days:
                start, end = (cell and on_day(cell, days[number]) for cell in (start, end))
            spans.append(span(start, end, lasts, self.units))
        return timeline(spans, [group[0][1][self.columns.text] for group in groups])

    def _row(self, group: Group, start: Time, end: Time) -> Row:
        place, record = group[0]
        label = "" if self.columns.role is None else record[self.columns.role]
        role = role_of_label(label) if label.strip() else None
        gold = codes_of(group, self.codes)
        return Row(record[self.columns.speaker], record[self.columns.text], place, start, end, role, gold)


def _rises(numbers: Sequence[float]) -> bool:
    return all(one <= two for one, two in pairwise(numbers))


def codes_of(group: Group, codes: Sequence[tuple[str, int]]) -> dict[str, str]:
    """Return the codes of one utterance; those of several coders joined by ``;``."""
    found = {}
    for name, at in codes:
        values = dict.fromkeys(value for _, record in group if (value := record[at].strip()))
        if values:
            found[name] = ";".join(values)
    return found


def group_coders(records: Sequence[Record], columns: Columns, *, by_utterance: bool) -> list[Group]:
    """Gather the rows that repeat an utterance for several annotators, or for several codes.

    A repeat has the words and speaker of an earlier row, its utterance number (or, where the
    table has none, the row just before), and another annotator. Without a column of
    annotators it must follow at once, under the number of the same single utterance.
    """
    coder, number = columns.annotator, columns.utterance
    if coder is not None and any(record[coder] != records[0][1][coder] for _, record in records):
        return _by_coder(records, columns, coder)
    if coder is not None or number is None or not by_utterance:
        return [[row] for row in records]
    same = itemgetter(number, columns.speaker, columns.text)
    blocks = [list(block) for _, block in groupby(records, key=lambda row: same(row[1]))]
    return [group for block in blocks for group in ([block] if block[0][1][number].strip() else map(list, zip(block)))]


def _by_coder(records: Sequence[Record], columns: Columns, annotator: int) -> list[Group]:
    """Put the n-th row of a coder with the same words to the n-th of the others."""
    kept: list[Group] = []
    groups: dict[tuple[object, ...], Group] = {}
    counts: dict[tuple[str, ...], int] = {}
    before: tuple[str, ...] = ()
    for row in records:
        record = row[1]
        key: tuple[str, ...] = (record[columns.speaker], record[columns.text])
        if columns.utterance is not None:
            key = (*key, record[columns.utterance])
        elif key != before:
            groups, counts, before = {}, {}, key
        by_coder = (*key, record[annotator])
        counts[by_coder] = n = counts.get(by_coder, 0) + 1
        group = groups.setdefault((key, n), [])
        if not group:
            kept.append(group)
        group.append(row)
    return kept
