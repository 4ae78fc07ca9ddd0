"""Tables without a column of speakers: who speaks is in the header, or inside the cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import mean

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._base import READERS, RawSession, Reader, Row, Source
from therapy_analytics.readers._codes import LONGEST_FACT
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.session import Role

Record = tuple[int, list[str]]
Found = Mapping[str, int | None]
TABLES = frozenset({"delimited", "workbook", "parquet"})
_FILLERS = frozenset({"turn", "utterance", "text", "message", "said", "says", "words", "speech"})
_ASK = re.compile(r"(?:(?:client|patient|user|seeker)_)?(?:question|context|query|post)(?:_text)?")
_REPLY = re.compile(r"(?:(?:therapist|counsel+or|doctor)_)?(?:response|answer|reply)(?:_text)?_?\d*")
_NUMBER = re.compile(r"\d+")
_IDS = ("id", "dialogue_id", "conversation_id", "transcript_id", "case", "name")
_ENOUGH = 0.8
_SAMPLE = 50


@dataclass(frozen=True, slots=True)
class _Grid:
    """What every layout looks at: the file, the header, the numbered rows, the columns of known names."""

    source: Source
    header: Sequence[str]
    records: Sequence[Record]
    found: Found

    def session_name(self, record: Sequence[str]) -> str:
        """Return what the column of sessions says, if there is one."""
        at = self.found["session"]
        return "" if at is None else record[at].strip()


def names_talk(header: Sequence[str]) -> bool:
    """Tell whether a header has columns of talk in one of the wide layouts, by their names alone."""
    slugs = [slug(name) for name in header]
    by_question = any(map(_ASK.fullmatch, slugs)) and any(map(_REPLY.fullmatch, slugs))
    return by_question or bool(_numbered(header)) or len(set(_role_columns(header).values())) > 1


def read(source: Source, header: Sequence[str], records: Sequence[Record], found: Found) -> list[RawSession]:
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
    table = _Grid(source, header, records, found)
    for layout in (_alternating, _exchanges, _questions, _cells, _labelled_rows):
        sessions = layout(table)
        if sessions:
            return sessions
    return []


def _alternating(table: _Grid) -> list[RawSession]:
    """Read ``p1,d1,p2,d2,...``: one session a row."""
    talk = _numbered(table.header)
    if not talk or not _holds_words(table.records, [at for _, at in talk]):
        return []
    sessions = []
    for place, record in table.records:
        rows = [Row(label, record[at], place) for label, at in talk if record[at].strip()]
        sessions.append(_of_row(table, (place, record), rows, {at for _, at in talk}))
    return sessions if len(sessions) > 1 else [replace(one, name="") for one in sessions]


def _numbered(header: Sequence[str]) -> list[tuple[str, int]]:
    """Return the numbered columns of talk in the order of the talk, each with its label; two speakers, no others."""
    columns: list[tuple[int, str, int]] = []
    for at, name in enumerate(header):
        numbers = _NUMBER.findall(name)
        label = " ".join(part for part in slug(_NUMBER.sub(" ", name)).split("_") if part not in _FILLERS)
        if len(numbers) == 1 and len(numbers[0]) <= 4 and label:
            columns.append((int(numbers[0]), label, at))
    labels = dict.fromkeys(label for _, label, _ in columns)
    roles = {role_of_label(label) for label in labels}
    by_header = [label for _, label, _ in columns]
    takes_turns = all(one != two for one, two in pairwise(by_header))
    if len(labels) != 2 or len(columns) < 3 or not roles & {"therapist", "client"}:
        return []
    if not takes_turns and roles != {"therapist", "client"}:
        return []
    order = columns if takes_turns else sorted(columns, key=lambda column: column[0])
    return [(label, at) for _, label, at in order]


def _role_columns(header: Sequence[str]) -> dict[int, Role]:
    """Columns that are named by a role alone, or by a role and a word for what is said."""
    roles: dict[int, Role] = {}
    for at, name in enumerate(header):
        label = " ".join(part for part in slug(name).split("_") if part not in _FILLERS | {"response", "statement"})
        role = role_of_label(label)
        if role in ("therapist", "client") and len(label.split()) == 1 and not _NUMBER.search(name):
            roles[at] = role
    return roles


def _exchanges(table: _Grid) -> list[RawSession]:
    """Read ``therapist,client``: one exchange a row, both columns hold words."""
    roles = {at: role for at, role in _role_columns(table.header).items() if _holds_words(table.records, [at])}
    if len(set(roles.values())) < 2:
        return []
    sessions: dict[str, list[Row]] = {}
    for place, record in table.records:
        name = table.session_name(record)
        said = [Row(table.header[at].strip(), record[at], place) for at in roles if record[at].strip()]
        sessions.setdefault(name, []).extend(said)
    return [RawSession(name, rows) for name, rows in sessions.items()]


def _questions(table: _Grid) -> list[RawSession]:
    """Read ``Question,Response_1,Response_2``: each response to a question is a session of its own."""
    slugs = [slug(name) for name in table.header]
    asked = [at for at, name in enumerate(slugs) if _ASK.fullmatch(name)]
    replies = [at for at, name in enumerate(slugs) if _REPLY.fullmatch(name)]
    if not asked or not replies or not all(_holds_words(table.records, some) for some in ([asked[-1]], replies)):
        return []
    sessions = []
    for place, record in table.records:
        for at in (at for at in replies if record[at].strip()):
            question = Row(table.header[asked[-1]].strip(), record[asked[-1]], place, role="client")
            rows = [question, Row(table.header[at].strip(), record[at], place, role="therapist")]
            one = _of_row(table, (place, record), rows, {*asked, *replies})
            name = f"{one.name}-{slugs[at]}" if len(replies) > 1 else one.name
            sessions.append(replace(one, name=name))
    note = "Each response of a row was read as a session with the question before it."
    return [replace(one, notes=(note,)) for one in sessions]


def _cells(table: _Grid) -> list[RawSession]:
    """Read a column whose cells each hold a whole session, in whatever form of text."""
    only = table.found["text"] if "text" in table.source.options.columns else None
    at = column_of_sessions(table.source, table.header, table.records, only=only)
    if at is None:
        return []
    sessions: list[RawSession] = []
    lost = 0
    for place, record in table.records:
        try:
            inside = list(_inside(record[at], table.source))
        except UnreadableFileError:
            inside = []
        lost += not inside
        for one in inside:
            rows = [replace(row, place=place) for row in one.rows]
            of_row = _of_row(table, (place, record), rows, {at})
            sessions.append(replace(of_row, notes=one.notes))
    note = (f"{counted(lost, 'row')} of the file without labelled turns left out.",) if lost else ()
    sessions = sessions if len(sessions) > 1 else [replace(one, name="") for one in sessions]
    return [replace(one, notes=(*note, *one.notes)) for one in sessions]


def column_of_sessions(
    source: Source, header: Sequence[str], records: Sequence[Record], *, only: int | None = None
) -> int | None:
    """Return the first column whose cells are nearly all transcripts by themselves."""
    for at in range(len(header)) if only is None else [only]:
        cells = [record[at] for _, record in records[:_SAMPLE] if record[at].strip()]
        if cells and mean(map(len, cells)) > LONGEST_FACT:
            read = sum(_reader_of(_lines(cell), source) is not None for cell in cells)
            if read >= _ENOUGH * len(cells):
                return at
    return None


def _inside(cell: str, source: Source) -> Iterator[RawSession]:
    text = _lines(cell)
    reader = _reader_of(text, source)
    if reader is not None:
        yield from reader.read(Source(source.path, text, source.options, text.encode("utf-8", "replace")))


def _reader_of(text: str, source: Source) -> Reader | None:
    """Return the format that a cell is written in, if it is one with more than one speaker."""
    inside = Source(Path(source.path.stem), text, source.options, text.encode("utf-8", "replace"))
    bids = ((one.sniff(inside), one.name, one) for one in READERS if one.name not in TABLES)
    best, _, reader = max(bids, key=lambda bid: bid[:2])
    return reader if best >= 0.5 else None


def _lines(cell: str) -> str:
    """Put each turn on a line of its own where a cell marks lines otherwise, or not at all."""
    text = re.sub(r"<br\s*/?>", "\n", cell.replace("\r\n", "\n").replace("\r", "\n"))
    if "\n" in text.strip() or text.lstrip()[:1] in {"[", "{"}:
        return text
    text = text.replace("\\n", "\n")
    return text if "\n" in text.strip() else re.sub(r"\s+(?=(?P<label>[A-Z][\w.]*(?: \w+)?)[:\uff1a]\s)", _break, text)


def _break(space: re.Match[str]) -> str:
    return "\n" if role_of_label(space["label"]) else space[0]


def _labelled_rows(table: _Grid) -> list[RawSession]:
    """Read a column of words in which the speaker stands before each turn: ``T: ...``."""
    at = table.found["text"]
    if at is None or 2 * sum(":" in record[at][:LONGEST_FACT] for _, record in table.records) < len(table.records):
        return []
    sessions: dict[str, list[tuple[int, str]]] = {}
    for place, record in table.records:
        name = table.session_name(record)
        sessions.setdefault(name, []).extend((place, line) for line in record[at].split("\n"))
    read = [_labelled(table.source, name, lines) for name, lines in sessions.items()]
    return [one for one in read if one is not None] if all(read) else []


def _labelled(source: Source, name: str, lines: list[tuple[int, str]]) -> RawSession | None:
    text = "\n".join(line for _, line in lines)
    reader = _reader_of(text, source)
    if reader is None:
        return None
    try:
        (one,) = reader.read(Source(source.path, text, source.options, text.encode("utf-8", "replace")))
    except (UnreadableFileError, ValueError):
        return None
    rows = [replace(row, place=lines[row.place - 1][0]) for row in one.rows]
    return RawSession(name, rows, one.metadata, one.notes)


def _of_row(table: _Grid, row: Record, rows: list[Row], talk: set[int]) -> RawSession:
    """Return the session that a row holds, named by its own column, else by file and row."""
    place, record = row
    slugs = [slug(name) for name in table.header]
    named = [at for at in (table.found["session"], *map(_place_of(slugs), _IDS)) if at is not None and at not in talk]
    name = next((record[at].strip() for at in named if record[at].strip()), f"{table.source.path.stem}-{place}")
    metadata = {
        slugs[at]: record[at].strip()
        for at in range(len(slugs))
        if at not in talk and at not in named and slugs[at] and 0 < len(record[at].strip()) <= LONGEST_FACT
    }
    return RawSession(name, rows, metadata)


def _place_of(slugs: Sequence[str]) -> Callable[[str], int | None]:
    return lambda name: slugs.index(name) if name in slugs else None


def _holds_words(records: Sequence[Record], columns: Sequence[int]) -> bool:
    """Tell speech from names and numbers: in some, more than two words."""
    cells = [record[at] for _, record in records for at in columns if record[at].strip()]
    spoken = sum(len(cell.split()) > 2 and any(map(str.isalpha, cell)) for cell in cells)
    return bool(cells) and 10 * spoken >= len(cells)
