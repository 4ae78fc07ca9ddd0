"""The columns of a table beside the talk: human codes, facts about the session, coders who repeat its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, pairwise
from operator import itemgetter

from therapy_analytics.readers._columns import REMARKS, Columns, slug
from therapy_analytics.readers._facts import is_sentence, may_be_fact, names_fact
from therapy_analytics.readers._times import seconds

Record = tuple[int, list[str]]
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


def gold(group: Sequence[Record], codes: Sequence[tuple[str, int]]) -> dict[str, str]:
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
