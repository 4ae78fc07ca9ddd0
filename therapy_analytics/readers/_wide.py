"""Wide tables: who speaks is in the header, or inside the cells, and a row holds more than one utterance.

Five layouts are known. Each is found by its columns (`WideForm.find`) and then read from these columns
(`WideForm.read`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from therapy_analytics.core.identity import LONGEST_FACT
from therapy_analytics.core.printable import counted
from therapy_analytics.readers._cells import column_of_sessions, read_text, sessions_in_cell
from therapy_analytics.readers._columns import Places, Record, slug
from therapy_analytics.readers.base import RawSession, Row, Source
from therapy_analytics.readers.roles import is_relative, role_of_label

_SPEECH_NAMES = frozenset({"response", "statement"})
_FILLERS = frozenset({"turn", "utterance", "text", "message", "said", "says", "words", "speech"})
_ASK = re.compile(r"(?:(?:client|patient|user|seeker)_)?(?:question|context|query|post)(?:_text)?")
_REPLY = re.compile(r"(?:(?:therapist|counsel+or|doctor)_)?(?:response|answer|reply)(?:_text)?_?\d*")
_NUMBER = re.compile(r"\d+")
_IDS = ("id", "dialogue_id", "conversation_id", "transcript_id", "case")
_RANGES = frozenset({"excerpt_range", "range", "char_range", "character_range"})
_RANGE = re.compile(r"\s*(\d{1,9})\s*[-\u2013]\s*(\d{1,9})\s*")
_ONE_COLUMN = ("cells", "labels")
"""Forms that have one column of words, which the user may name."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table in one of these layouts: the file, the header, the numbered rows, the columns of known names."""

    source: Source
    header: Sequence[str]
    records: Sequence[Record]
    found: Places

    def session_name(self, record: Sequence[str]) -> str:
        """Return what the column of sessions says, if there is one."""
        at = self.found["session"]
        return "" if at is None else record[at].strip()

    def holds_words(self, columns: Sequence[int]) -> bool:
        """Tell speech from names and numbers: a tenth of the cells has more than two words, or is a sentence."""
        cells = [record[at] for _, record in self.records for at in columns if record[at].strip()]
        spoken = sum(
            any(map(str.isalpha, cell)) and (len(cell.split()) > 2 or cell.rstrip().endswith((".", "?", "!")))
            for cell in cells
        )
        return bool(cells) and 10 * spoken >= len(cells)

    def session_of_row(self, row: Record, rows: list[Row], talk: Iterable[int]) -> RawSession:
        """Return the session that a row holds, named by its own column, else by file and row; others hold facts."""
        place, record = row
        slugs = list(map(slug, self.header))
        ids = [slugs.index(name) for name in _IDS if name in slugs]
        named = [at for at in (self.found["session"], *ids) if at is not None and at not in talk]
        name = next((record[at].strip() for at in named if record[at].strip()), f"{self.source.path.stem}-{place}")
        others = [at for at in range(len(slugs)) if at not in talk and at not in named]
        facts = {slugs[at]: fact for at in others if slugs[at] and (fact := record[at].strip())}
        return RawSession(name, rows, facts)


class WideForm(NamedTuple):
    """A layout: a function that finds the columns of the talk, none where it does not fit, and one that reads them."""

    find: Callable[[Grid], Sequence[int]]
    read: Callable[[Grid, Sequence[int]], list[RawSession]]


def names_talk(header: Sequence[str]) -> bool:
    """Tell whether a header has columns of talk in one of the wide layouts, by their names alone."""
    slugs = list(map(slug, header))
    by_question = any(map(_ASK.fullmatch, slugs)) and any(map(_REPLY.fullmatch, slugs))
    return by_question or bool(_numbered_columns(header)) or bool(_role_columns(header))


def read(source: Source, header: Sequence[str], records: Sequence[Record], found: Places) -> list[RawSession]:
    """Return the sessions in the first wide layout that fits, or none.

    Parameters
    ----------
    source : Source
        The file.
    header : sequence of str
        Names of the columns.
    records : sequence of Record
        Data rows.
    found : mapping
        Where the columns of known names are.
    """
    table = Grid(source, header, records, found)
    form, sessions = _first_fitting(table)
    used = ("session", "text") if form in _ONE_COLUMN else ("session",)
    unused = [kind for kind in source.options.columns if kind not in used]
    if not unused:
        return sessions
    note = f"--columns {', '.join(unused)} had no effect: a row of this table holds more than one utterance."
    return [replace(one, notes=(*one.notes, note)) for one in sessions]


def _first_fitting(table: Grid) -> tuple[str, list[RawSession]]:
    for name, form in FORMS.items():
        columns = form.find(table)
        if columns and (sessions := form.read(table, columns)):
            return name, sessions
    return "", []


# ---- alternating: p1,d1,p2,d2,..., a session a row


def _find_alternating(table: Grid) -> Sequence[int]:
    columns = _numbered_columns(table.header)
    return columns if columns and table.holds_words(columns) else ()


def _read_alternating(table: Grid, columns: Sequence[int]) -> list[RawSession]:
    labels = {at: _numbered_label(table.header[at]) for at in columns}
    sessions = []
    for place, record in table.records:
        rows = [Row(label, record[at], place) for at, label in labels.items() if record[at].strip()]
        sessions.append(table.session_of_row((place, record), rows, labels))
    return sessions if len(sessions) > 1 else [replace(one, name="") for one in sessions]


def _numbered_columns(header: Sequence[str]) -> list[int]:
    """Return the numbered columns of talk, in its order: those of two speakers, or of known ones among more."""
    columns: list[tuple[int, str, int]] = []
    for at, name in enumerate(header):
        numbers, label = _NUMBER.findall(name), _numbered_label(name)
        if len(numbers) == 1 and len(numbers[0]) <= 4 and label:
            columns.append((int(numbers[0]), label, at))
    if len({label for _, label, _ in columns}) > 2:
        columns = [column for column in columns if role_of_label(column[1]) or is_relative(column[1])]
    by_header = [label for _, label, _ in columns]
    labels, roles = set(by_header), set(map(role_of_label, by_header))
    takes_turns = all(one != two for one, two in pairwise(by_header))
    if len(labels) < 2 or len(columns) < 3 or not roles & {"therapist", "client"}:
        return []
    if len(labels) == len(columns) or (not takes_turns and not roles >= {"therapist", "client"}):
        return []
    order = columns if takes_turns else sorted(columns, key=lambda column: column[0])
    return [at for *_, at in order]


def _numbered_label(name: str) -> str:
    return _label(_NUMBER.sub(" ", name))


def _label(name: str) -> str:
    return " ".join(part for part in slug(name).split("_") if part not in _FILLERS)


# ---- exchanges: therapist,client, both columns hold words


def _find_exchanges(table: Grid) -> Sequence[int]:
    columns = {at: role for at, role in _role_columns(table.header).items() if table.holds_words([at])}
    return list(columns) if _talk_with_each_other(columns.values()) else ()


def _read_exchanges(table: Grid, columns: Sequence[int]) -> list[RawSession]:
    sessions: dict[str, list[Row]] = {}
    for place, record in table.records:
        rows = [Row(table.header[at].strip(), record[at], place) for at in columns if record[at].strip()]
        sessions.setdefault(table.session_name(record), []).extend(rows)
    return [RawSession(name, rows) for name, rows in sessions.items()]


def _role_columns(header: Sequence[str]) -> dict[int, str]:
    """Return the columns that are named by a role or a relative alone, or with a word for what is said."""
    found: dict[int, str] = {}
    for at, name in enumerate(header):
        label = " ".join(part for part in _numbered_label(name).split() if part not in _SPEECH_NAMES)
        role = role_of_label(label)
        if len(label.split()) == 1 and ":" not in name:  # a label has the colon
            if role in ("therapist", "client"):
                found[at] = role
            elif role == "other" or is_relative(label):
                found[at] = label
    return found if _talk_with_each_other(found.values()) else {}


def _talk_with_each_other(labels: Iterable[str]) -> bool:
    """Tell columns of therapist and client, or of one of them and people of a family."""
    known = set(labels)
    return len(known) > 1 and bool(known & {"therapist", "client"})


# ---- questions: Question,Response_1,Response_2, each response with its question a session


def _find_questions(table: Grid) -> Sequence[int]:
    slugs = list(map(slug, table.header))
    asked = [at for at, name in enumerate(slugs) if _ASK.fullmatch(name)]
    replies = [at for at, name in enumerate(slugs) if _REPLY.fullmatch(name)]
    fits = asked and replies and table.holds_words([asked[-1]]) and table.holds_words(replies)
    return [asked[-1], *replies] if fits else ()


def _read_questions(table: Grid, columns: Sequence[int]) -> list[RawSession]:
    slugs = list(map(slug, table.header))
    asked, *replies = columns
    talk = {*replies, *(at for at, name in enumerate(slugs) if _ASK.fullmatch(name))}
    notes = ("Each response of a row was read as a session with the question before it.",)
    sessions = []
    for place, record in table.records:
        for at in (at for at in replies if record[at].strip()):
            question = Row(table.header[asked].strip(), record[asked], place, role="client")
            rows = [question, Row(table.header[at].strip(), record[at], place, role="therapist")]
            one = table.session_of_row((place, record), rows, talk)
            name = f"{one.name}-{slugs[at]}" if len(replies) > 1 else one.name
            sessions.append(replace(one, name=name, notes=notes))
    return sessions


# ---- cells: a column whose cells each hold a whole session, in whatever form of text


def _find_cells(table: Grid) -> Sequence[int]:
    only = table.found["text"] if "text" in table.source.options.columns else None
    at = column_of_sessions(table.source, table.header, table.records, only=only)
    return () if at is None else [at]


def _read_cells(table: Grid, columns: Sequence[int]) -> list[RawSession]:
    (at,) = columns
    at_range = next((place for place, name in enumerate(table.header) if slug(name) in _RANGES), None)
    sessions: list[RawSession] = []
    ranges: list[str] = []
    n_lost = n_words = 0
    for place, record in table.records:
        inside = sessions_in_cell(record[at], table.source, table.header[at])
        n_lost += not inside
        n_words += 0 if inside else len(record[at].split())
        for one in inside:
            rows = [replace(row, place=place) for row in one.rows]
            sessions.append(replace(table.session_of_row((place, record), rows, {at}), notes=one.notes))
            ranges.append("" if at_range is None else record[at_range])
    notes: tuple[str, ...] = ()
    if n_lost:
        notes = (f"{counted(n_lost, 'row')} of the file without labelled turns left out ({counted(n_words, 'word')}).",)
    if len({one.name for one in sessions}) < len(sessions):
        joined = _joined(sessions, ranges)
        how = "they were joined in the order of their ranges" if joined else "each row was read as a session of its own"
        notes, sessions = (*notes, f"Several rows name the same session: {how}."), joined or sessions
    is_named = len(sessions) > 1
    return [replace(one, name=one.name if is_named else "", notes=(*notes, *one.notes)) for one in sessions]


def _joined(sessions: Sequence[RawSession], ranges: Sequence[str]) -> list[RawSession]:
    """Join the excerpts of each session in the order of their ranges; nothing where a range is missing or overlaps."""
    excerpts: dict[str, list[tuple[int, int, RawSession]]] = {}
    for one, written in zip(sessions, ranges, strict=True):
        span = _RANGE.fullmatch(written)
        if span is None:
            return []
        excerpts.setdefault(one.name, []).append((int(span[1]), int(span[2]), one))
    joined: list[RawSession] = []
    for parts in excerpts.values():
        parts.sort(key=lambda part: part[:2])
        if any(one[1] > two[0] for one, two in pairwise(parts)):
            return []
        inside = [one for *_, one in parts]
        facts = inside[0].metadata.items()
        common = {key: fact for key, fact in facts if all(one.metadata.get(key) == fact for one in inside)}
        notes = tuple(dict.fromkeys(note for one in inside for note in one.notes))
        rows = [row for one in inside for row in one.rows]
        joined.append(replace(inside[0], rows=rows, metadata=common, notes=notes))
    return joined


# ---- labels: a column of words in which the speaker stands before each turn, as in "T: ..."


def _find_labels(table: Grid) -> Sequence[int]:
    at = table.found["text"]
    if at is None or 2 * sum(":" in record[at][:LONGEST_FACT] for _, record in table.records) < len(table.records):
        return ()
    return [at]


def _read_labels(table: Grid, columns: Sequence[int]) -> list[RawSession]:
    (at,) = columns
    lines: dict[str, list[tuple[int, str]]] = {}
    for place, record in table.records:
        of_session = lines.setdefault(table.session_name(record), [])
        of_session.extend((place, line) for line in record[at].split("\n"))
    sessions = []
    for name, numbered in lines.items():
        inside = read_text("\n".join(line for _, line in numbered), table.source)
        if inside is None or len(inside) != 1:
            return []
        one = inside[0]
        rows = [replace(row, place=numbered[row.place - 1][0]) for row in one.rows]
        sessions.append(RawSession(name, rows, one.metadata, one.notes))
    return sessions


FORMS: Mapping[str, WideForm] = {
    "alternating": WideForm(_find_alternating, _read_alternating),
    "exchanges": WideForm(_find_exchanges, _read_exchanges),
    "questions": WideForm(_find_questions, _read_questions),
    "cells": WideForm(_find_cells, _read_cells),
    "labels": WideForm(_find_labels, _read_labels),
}
"""In the order in which they are tried."""
