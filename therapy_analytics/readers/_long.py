"""Tables with a row an utterance: the rows of each session in the order of their numbers, with their times and codes.

Dates with a time of day, and times of day, become seconds from the first row of the session that has one; what is
before that has none. The columns beside the talk are human codes, facts about the session, or coders who repeat rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, pairwise
from operator import itemgetter

from therapy_analytics.readers._base import Layout, RawSession, Row
from therapy_analytics.readers._columns import (
    REMARKS,
    Columns,
    Record,
    is_sentence,
    may_be_fact,
    names_fact,
    numbers_utterances,
    slug,
)
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._timeline import Timeline, timeline
from therapy_analytics.readers._times import Time, name_and_unit, on_day, seconds, span
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
        about = constant_columns(header, list(sessions.values()), columns.used)
        codes = code_columns(header, records, columns.used, about)
    else:
        about, codes = {slug(header[at]): at for at in layout.about}, named_codes(header, layout.codes)
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
    partner = companion(header, records, at) if layout is None else layout.partner
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
        as_written = once(records, self.columns, by_utterance=self.by_utterance)
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
        gold = codes_of(group, self.codes)
        return Row(record[self.columns.speaker], record[self.columns.text], place, start, end, role, gold)


def _role(label: str) -> Role | None:
    return role_of_label(label) if label.strip() else None


def _rises(numbers: Sequence[float]) -> bool:
    return all(one <= two for one, two in pairwise(numbers))


GOLD = "gold_"
_LONGEST_CODE = 60
_MOST_CODES = 100
_MOST_RATINGS = 12
_NOT_CODES_WORDS = """
id ids idx index number no nr num n row turn line time timestamp date start end begin stop duration offset order
position url path file filename name gender sex age language lang text words word count length seed hash
transcript transcription verbatim
"""
NOT_CODES = frozenset(f"{_NOT_CODES_WORDS} {REMARKS}".split())
_CODE_NAMES = """
code codes label labels tag tags act acts behaviour behavior subtype talk gold gt strategy category annotation misc miti
reflection question emotion intent domain rating score
"""
CODE_WORDS = frozenset(_CODE_NAMES.split())
_PEOPLE = (
    "client_id", "patient_id", "case_id", "dyad_id", "dyad", "pair_id", "couple_id", "family_id", "client", "patient",
    "participant_id", "case", "therapist_id", "counselor_id", "client_name", "patient_name",
)  # fmt: skip


def constant_columns(
    header: Sequence[str], sessions: Sequence[Sequence[Record]], used: frozenset[int | None]
) -> dict[str, int]:
    """Columns that say one short thing of each session as a whole, such as a topic."""
    if all(len(rows) < 2 for rows in sessions):
        return {}
    return {
        slug(name): at
        for at, name in enumerate(header)
        if at not in used
        and names_fact(name)
        and not name.startswith(GOLD)
        and all(_one_fact(rows, at) for rows in sessions)
    }


def _one_fact(rows: Sequence[Record], at: int) -> bool:
    first = rows[0][1][at]
    return may_be_fact(first) and all(record[at] == first for _, record in rows)


def code_columns(
    header: Sequence[str], records: Sequence[Record], used: frozenset[int | None], about: Mapping[str, int]
) -> list[tuple[str, int]]:
    """Columns of few short values that change within a session: what human coders wrote; each with its own name."""
    left = [at for at in range(len(header)) if at not in used and at not in about.values()]
    return named_codes(header, (at for at in left if has_codes(header[at], [record[at] for _, record in records])))


def has_codes(name: str, values: Sequence[str]) -> bool:
    """Tell a column of codes by its name, as `convert` and ``turns.csv`` write it, or by what it holds."""
    return name.startswith(GOLD) or (bool(name.strip()) and is_code(name, values))


def is_code(name: str, values: Sequence[str]) -> bool:
    """Tell a column of codes from one of numbers, times, names or words.

    Examples
    --------
    >>> is_code("Dialog_Act", ["gc", "irq", "gc", ""]), is_code("vol_idx", ["0", "1", "2", "3"])
    (True, False)
    """
    distinct = set(map(str.strip, set(values))) - {""}
    parts = set(slug(name).split("_"))
    if parts & NOT_CODES or not distinct or not may_be_codes(distinct):
        return False
    if len(distinct) > 2 and _are_numbers_or_times(distinct, values):
        return False
    if 2 * sum(map(is_sentence, distinct)) > len(distinct):
        return False
    return bool(parts & CODE_WORDS) or 2 * len(distinct) <= len(values)


def may_be_codes(distinct: AbstractSet[str]) -> bool:
    """Tell whether values are few and short; more of them never make them so."""
    return len(distinct) <= _MOST_CODES and max(map(len, distinct), default=0) <= _LONGEST_CODE


def _are_numbers_or_times(distinct: set[str], values: Sequence[str]) -> bool:
    """Tell measurements and running numbers from the few numbers of a rating scale."""
    if any(seconds(value) is None for value in distinct):
        return False
    if len(distinct) > _MOST_RATINGS or any(":" in value for value in distinct):
        return True
    known = [seconds(value) or 0.0 for value in values if value.strip()]
    return len(known) > 1 and all(one < two for one, two in pairwise(known))


def codes_of(group: Sequence[Record], codes: Sequence[tuple[str, int]]) -> dict[str, str]:
    """Return the codes of one utterance; those of several coders joined by ``;``."""
    if len(group) == 1:
        record = group[0][1]
        return {name: value for name, at in codes if (cell := record[at]) and (value := cell.strip())}
    found = {name: dict.fromkeys(record[at].strip() for _, record in group) for name, at in codes}
    joined = {name: ";".join(filter(None, values)) for name, values in found.items()}
    return {name: value for name, value in joined.items() if value}


def once(records: Sequence[Record], columns: Columns, *, by_utterance: bool) -> list[list[Record]]:
    """Gather the rows that repeat an utterance for several annotators, or for several codes.

    A repeat has the words and speaker of an earlier row, its utterance number (or, where the
    table has none, the row just before), and another annotator. Without a column of
    annotators it must follow at once, under the number of the same single utterance.
    """
    coder = columns.annotator
    if coder is not None:
        alone = all(record[coder] == records[0][1][coder] for _, record in records)
        return [[row] for row in records] if alone else _by_coder(records, columns, coder)
    if columns.utterance is None or not by_utterance:
        return [[row] for row in records]
    same = itemgetter(columns.utterance, columns.speaker, columns.text)
    number = columns.utterance
    runs = [list(run) for _, run in groupby(records, key=lambda row: same(row[1]))]
    return [part for run in runs for part in ([run] if run[0][1][number].strip() else [[row] for row in run])]


def _by_coder(records: Sequence[Record], columns: Columns, annotator: int) -> list[list[Record]]:
    """Put the n-th row of a coder with the same words to the n-th of the others."""
    kept: list[list[Record]] = []
    groups: dict[tuple[object, ...], list[Record]] = {}
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


def named_codes(header: Sequence[str], places: Iterable[int]) -> list[tuple[str, int]]:
    """Return columns of codes with names of which none comes twice."""
    found: dict[str, int] = {}
    for at in places:
        name = header[at].strip().removeprefix(GOLD)
        found[name if name not in found else f"{name} ({at + 1})"] = at
    return list(found.items())


def companion(header: Sequence[str], records: Sequence[Record], session: int) -> int | None:
    """Return the column that a session's number needs beside it: session 1 of one client is not that of another.

    It is a column of people that differs within a number, while all rows of one person and
    number stand together, as they would not if it said who speaks.
    """
    people = people_columns(header, session)
    if not people or not all(map(is_small_number, {record[session] for _, record in records})):
        return None
    for at in people:
        pairs = [(record[session], record[at]) for _, record in records]
        runs = 1 + sum(one != two for one, two in pairwise(pairs))
        if len(set(pairs)) == runs > len({number for number, _ in pairs}):
            return at
    return None


def people_columns(header: Sequence[str], session: int) -> list[int]:
    """Return the columns beside that of sessions that say who was there."""
    slugs = [slug(name) for name in header]
    return [slugs.index(name) for name in _PEOPLE if name in slugs and slugs.index(name) != session]


def is_small_number(name: str) -> bool:
    """Tell the number of a session from a name that is no other's."""
    return re.fullmatch(r"(?:\w*\D)?\d{1,3}", name.strip()) is not None
