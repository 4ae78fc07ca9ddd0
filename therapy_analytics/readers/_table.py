"""Tables of turns, from wherever they come (CSV, Excel, Parquet): whose row is whose session and turn."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.printable import printable
from therapy_analytics.readers import _long, _wide
from therapy_analytics.readers._base import RawSession, Source
from therapy_analytics.readers._columns import NAMES, Columns, find_columns, may_be_header, slug
from therapy_analytics.readers._facts import may_be_fact
from therapy_analytics.readers._roles import role_of_label

Record = tuple[int, list[str]]
"""The number of a data row, from 1, and its cells, as many as the header has."""
HEADER_WITHIN = 20
"""Rows above the header: a title, a date, an empty line, but never a page."""
_LONGEST_NAME = 60
_MOST_NAMED = 20
_ROLES = ("role", "speaker_role", "speaker_type", "participant_role", "type")
_HEADER_ALONE = ("the table has a header and no rows", "It should hold a row for each utterance")


@dataclass(frozen=True, slots=True)
class Table:
    """A header and the rows below it, all of one width.

    Attributes
    ----------
    header : list of str
        Names of the columns.
    records : list of Record
        Numbered data rows; none is without any cell filled.
    name : str
        What the sessions without a name of their own are called; empty for the file's name.
    notes : tuple of str
        What became of odd rows.
    """

    header: list[str]
    records: list[Record] = field(repr=False)
    name: str = ""
    notes: tuple[str, ...] = ()


def cell_text(value: object) -> str:
    """Return a typed cell as it would stand in a CSV.

    Examples
    --------
    >>> cell_text(3.0), cell_text(None), cell_text(dt.timedelta(minutes=2)), cell_text({"role": "user"})
    ('3', '', '120', '{"role": "user"}')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dt.timedelta):
        value = value.total_seconds()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else str(value)


def header_place(rows: Sequence[Sequence[str]]) -> int:
    """Return which of the first rows of a file is the header: the one that names columns of a transcript."""
    filled = [at for at, row in enumerate(rows) if any(map(str.strip, row))]
    for at in filled:
        if names_a_transcript(rows[at]):
            return at
    return filled[0] if filled else 0


def names_a_transcript(header: Sequence[str]) -> bool:
    """Tell whether a header names words and speakers, or the columns of a wide layout."""
    if not may_be_header(header) or max(map(len, header)) > _LONGEST_NAME:
        return False
    known = find_columns(header, {})
    return (known["text"] is not None and known["speaker"] is not None) or _wide.names_talk(header)


def header_without(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return names for the columns of a table that begins with its first turn; empty where it has a header.

    One column holds roles in words that we know, from the first row on, another the words.
    """
    if (
        len(rows) < 2
        or len(rows[0]) < 2
        or any(len(row) != len(rows[0]) for row in rows)
        or names_a_transcript(rows[0])
    ):
        return []
    columns = list(zip(*rows, strict=True))
    speakers = [at for at, cells in enumerate(columns) if all(map(role_of_label, cells)) and len(set(cells)) > 1]
    text = max(range(len(columns)), key=lambda at: sum(map(len, columns[at])))
    if len(speakers) != 1 or text in speakers or len(rows[0][text].split()) < 2:
        return []
    return [{speakers[0]: "speaker", text: "text"}.get(at, "") for at in range(len(columns))]


def filled(header: Sequence[str], records: Sequence[Record]) -> list[Record]:
    """Leave out rows without anything in them, and the header where it comes again."""
    return [row for row in records if row[1] != header and any(map(str.strip, row[1]))]


def read_table(source: Source, table: Table) -> Iterator[RawSession]:
    """Yield the sessions of a table, whichever layout it has.

    Parameters
    ----------
    source : Source
        The file, for its options and for errors.
    table : Table
        Its rows.

    Raises
    ------
    UnreadableFileError
        No layout fits, or there are no rows.
    """
    layout = None if source.part is None else source.part.layout
    if not table.records:
        if layout is not None:
            return iter(())
        raise source.error(*_HEADER_ALONE)
    found = find(source, table)
    text, speaker = found["text"], found["speaker"]
    sessions: Iterable[RawSession]
    if text is not None and speaker is not None:
        others = {kind: at for kind, at in found.items() if kind not in {"text", "speaker"}}
        role = _role_column(table, speaker) if layout is None else layout.role
        sessions = _long.read(table.header, table.records, Columns(text, speaker, role=role, **others), layout)
    else:
        sessions = _wide.read(source, table.header, table.records, found)
        if not sessions and layout is None:
            raise _no_layout(source, found, len(table.header))
    return (_named(one, table) for one in sessions)


def _named(session: RawSession, table: Table) -> RawSession:
    notes = (*table.notes, *session.notes)
    return replace(session, name=session.name or table.name, notes=notes, of_table=True)


def find(source: Source, table: Table) -> dict[str, int | None]:
    """Return the place of each known column, of those that the user names as well."""
    found = find_columns(table.header, source.options.columns)
    for kind in source.options.columns:
        if found.get(kind) is None:
            raise source.error(
                f"the column named by --columns {kind}=... is not in the table (it has {len(table.header)} columns)",
                _spelling(source, table.header),
                line=1,
            )
    at = found["speaker"]
    if at is not None and "speaker" not in source.options.columns and slug(table.header[at]) == "type":
        labels = {record[at] for _, record in table.records if record[at].strip()}
        found["speaker"] = at if all(map(role_of_label, labels)) else None
    return found


def _spelling(source: Source, header: Sequence[str]) -> str:
    """Name the columns that there are, if the first line holds names for sure: else it may be what somebody said."""
    known = find_columns(header, source.options.columns, loosely=False)
    if all(at is None for at in known.values()):
        return "Check its spelling against the first line of the file"
    names = [printable(name) for name in header if may_be_fact(name) and name.strip()]
    return f"Its columns are: {', '.join(names[:_MOST_NAMED])}{' ...' if len(names) > _MOST_NAMED else ''}"


def _no_layout(source: Source, found: Mapping[str, int | None], width: int) -> UnreadableFileError:
    what = {"text": "what is said", "speaker": "who speaks"}
    missing = [kind for kind in what if found[kind] is None]
    known = ", ".join(NAMES[missing[0]][:6])
    return source.error(
        f"no column is known to hold {' or '.join(what[kind] for kind in missing)} (the table has {width} columns)",
        f"Name it {known} ..., or say which it is with --columns {missing[0]}=NAME",
        line=1,
    )


def _role_column(table: Table, speaker: int) -> int | None:
    """Return a column beside the speakers' names that says therapist or client in words we know."""
    for at in may_hold_roles(table.header, speaker):
        labels = {record[at] for _, record in table.records} - {""}
        if labels and all(map(role_of_label, labels)):
            return at
    return None


def may_hold_roles(header: Sequence[str], speaker: int) -> list[int]:
    """Return the columns that may say roles beside the speakers' names, the likeliest first."""
    slugs = [slug(name) for name in header]
    return [slugs.index(name) for name in _ROLES if name in slugs and slugs.index(name) != speaker]
