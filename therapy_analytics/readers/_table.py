"""From the cells of a table (CSV, Excel, Parquet, a DataFrame) to its sessions.

Three steps: which column is which, by name (``_columns``) and else by what it holds (``_contents``); then rows of
utterances (``_long``) where there are columns of speakers and words, or else one of the layouts of ``_wide``.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.identity import may_be_fact
from therapy_analytics.core.printable import printable
from therapy_analytics.readers import _long, _wide
from therapy_analytics.readers._columns import (
    NAMES,
    Places,
    Record,
    find_beside_times,
    find_columns,
    may_be_header,
    slug,
)
from therapy_analytics.readers._contents import (
    are_roles,
    columns_of_times,
    may_hold_roles,
    names_beside_roles,
    names_without_header,
    speaker_and_text,
)
from therapy_analytics.readers._text_heads import are_clinical_notes
from therapy_analytics.readers._times import is_serial
from therapy_analytics.readers.base import RawSession, Source
from therapy_analytics.readers.roles import role_of_label

HEADER_WITHIN = 20
"""Rows above the header: a title, a date, an empty line, but never a page."""
_LONGEST_NAME = 60
_MOST_NAMED = 20
_LEVELS = ("season", "series", "episode", "chapter", "scene")
_IDS = ("id", "case", "case_no", "interview", "group_id", "idx", "nr", "no")
_NOTES = (
    "these are clinical notes, and nobody speaks in them",
    "Give transcripts of the sessions: what was said, and by whom",
)
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
    notes : tuple of str
        What became of odd rows.
    """

    header: list[str]
    records: list[Record] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[list[str]]:
        """The cells of the data rows, without their numbers."""
        return [record for _, record in self.records]


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
    """Return which of the first rows of a file is the header.

    It is the one that names columns of a transcript; else the first with at least half as many cells filled as the
    fullest row, which a title is not.
    """
    n_filled = {at: n for at, row in enumerate(rows) if (n := sum(map(bool, map(str.strip, row))))}
    most = max(n_filled.values(), default=0)
    named = (at for at in n_filled if names_a_transcript(rows[at]))
    return next(named, next((at for at, n in n_filled.items() if 2 * n > most), 0))


def names_a_transcript(header: Sequence[str]) -> bool:
    """Tell whether a header names words and speakers, or the columns of a wide layout."""
    if not may_be_header(header) or max(map(len, header)) > _LONGEST_NAME:
        return False
    known = find_columns(header, {})
    return (known["text"] is not None and known["speaker"] is not None) or _wide.names_talk(header)


def header_without(rows: Sequence[Sequence[str]], wanted: Mapping[str, str] | None = None) -> list[str]:
    """Return names for the columns of a table that begins with its first turn; empty where it has a header.

    Parameters
    ----------
    rows : sequence of sequence of str
        The first rows.
    wanted : mapping of str to str
        What the user calls the columns: here their numbers count.
    """
    if not rows or names_a_transcript(rows[0]):
        return []
    known = find_columns([""] * len(rows[0]), wanted or {})
    return names_without_header(rows, {kind: at for kind, at in known.items() if kind in (wanted or {})})


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
    if not table.records:
        raise source.error(*_HEADER_ALONE)
    if are_clinical_notes(table.header, table.rows):
        raise source.error(*_NOTES)
    found: Places = find(source, table)
    sessions: Iterator[RawSession] = iter(())
    if found["text"] is None or (found["speaker"] is None and not source.voice):
        wide = _wide.read(source, table.header, table.records, found)
        if wide:
            return (_of_table(one, table) for one in wide)
    table, found = _settle_columns(source, table, found)
    text, speaker = found["text"], found["speaker"]
    if text is not None and speaker is not None:
        others = {kind: at for kind, at in found.items() if kind not in {"text", "speaker"}}
        others |= beside_times(table, found)
        columns = _long.Columns(text, speaker, role=_role_column(table, speaker), **others)
        sessions = _long.read(table.header, table.records, columns)
    return (_of_table(one, table) for one in sessions)


def _of_table(session: RawSession, table: Table) -> RawSession:
    return replace(session, notes=(*table.notes, *session.notes), of_table=True)


def find(source: Source, table: Table) -> dict[str, int | None]:
    """Return the place of each known column, of those that the user names as well.

    Raises
    ------
    UnreadableFileError
        A column that the user names is not there.
    """
    wanted = source.options.columns
    found = find_columns(table.header, wanted)
    for kind in wanted:
        if found.get(kind) is None:
            raise source.error(
                f"the column named by --columns {kind}=... is not in the table (it has {len(table.header)} columns)",
                _spelling(source, table.header),
                line=1,
            )
    at = found["speaker"]
    if at is not None and "speaker" not in wanted and slug(table.header[at]) == "type":
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


def _settle_columns(source: Source, table: Table, found: Places) -> tuple[Table, Places]:
    """Find what no name of a column tells: who speaks, what is said, and where a session ends.

    Returns
    -------
    Table
        Perhaps with a further column, and with notes on what was found.
    mapping of str to int or None
        The places of the columns.

    Raises
    ------
    UnreadableFileError
        No column is known to hold speakers, or words.
    """
    if source.voice and found["speaker"] is None and found["text"] is not None:
        table = _with_column(table, "speaker", [source.voice] * len(table.records))
        found = {**found, "speaker": len(table.header) - 1}
    text, speaker = found["text"], found["speaker"]
    if text is None or speaker is None:
        both = speaker_and_text(table.header, table.rows, found)
        if both is None:
            raise _no_layout(source, found, len(table.header))
        table = replace(table, notes=(*table.notes, _by_contents(table.header, both)))
        found = {**found, "speaker": both[0], "text": both[1]}
    elif "speaker" not in source.options.columns:
        names = names_beside_roles(table.header, table.records, speaker, found["session"])
        found = {**found, "speaker": speaker if names is None else names}
    return (table, found) if found["session"] is not None else _with_sessions(table, found)


def _by_contents(header: Sequence[str], both: Sequence[int]) -> str:
    """Return a note on the columns of speakers and of words that were told by what they hold."""
    known = {at: printable(header[at].strip()) for at in both if may_be_fact(header[at])}
    names = [known.get(at) or f"column {at + 1}" for at in both]  # a header may be what somebody said
    return (
        f"Which columns are which was told by what they hold: {names[0]} says who speaks, {names[1]} what is said. "
        "If that is wrong, name them: --columns speaker=NAME,text=NAME."
    )


def _with_column(table: Table, name: str, cells: Sequence[str]) -> Table:
    records = [(place, [*record, cell]) for (place, record), cell in zip(table.records, cells, strict=True)]
    return replace(table, header=[*table.header, name], records=records)


def _no_layout(source: Source, found: Places, width: int) -> UnreadableFileError:
    what = {"text": "what is said", "speaker": "who speaks"}
    missing = [kind for kind in what if found[kind] is None]
    known = ", ".join(NAMES[missing[0]][:6])
    return source.error(
        f"no column is known to hold {' or '.join(what[kind] for kind in missing)} (the table has {width} columns)",
        f"Name it {known} ..., or say which it is with --columns {missing[0]}=NAME",
        line=1,
    )


def _with_sessions(table: Table, found: Places) -> tuple[Table, Places]:
    """Find a column of sessions where a plain id tells them apart, or make one of levels such as episode and scene."""
    slugs = [slug(name) for name in table.header]
    levels = [slugs.index(name) for name in _LEVELS if name in slugs]
    if len(levels) < 2:
        ids = (at for at, name in enumerate(slugs) if name in _IDS and _tells_sessions_apart(table, at, found))
        return table, {**found, "session": next(ids, None)}
    for at in levels:
        _long.fill_down(table.records, at)
    names = [printable(table.header[at].strip()) for at in levels]
    note = f"The sessions were told apart by {', '.join(names[:-1])} and {names[-1]} together."
    table = _with_column(table, "session", ["-".join(record[at].strip() for at in levels) for record in table.rows])
    return replace(table, notes=(*table.notes, note)), {**found, "session": len(table.header) - 1}


def _tells_sessions_apart(table: Table, at: int, found: Places) -> bool:
    """Tell a column that names sessions: its rows are together, and several people speak in most of them."""
    speaker = found["speaker"]
    if speaker is None or at in found.values():
        return False
    people: dict[str, set[str]] = {}
    n_blocks, last = 0, ""
    for record in table.rows:
        if name := record[at].strip():
            people.setdefault(name, set()).add(record[speaker].strip().casefold())
            n_blocks, last = n_blocks + (name != last), name
    several = sum(len(who) > 1 for who in people.values())
    return 1 < n_blocks == len(people) and 2 * several > len(people)


def beside_times(table: Table, found: Places) -> dict[str, int | None]:
    """Return the columns that say more of times; a date with a time of day is all that there is to say."""
    beside = {kind: at for kind, at in find_beside_times(table.header).items() if at not in found.values()}
    if found["start"] is not None:
        return beside
    day = beside.get("day")
    if day is not None and any(":" in record[day] or is_serial(record[day]) for record in table.rows):
        return {**beside, "start": day, "day": None}
    if found["end"] is None:
        timed = columns_of_times(table.header, table.rows, {*found.values(), *beside.values()})
        beside |= dict(zip(("start", "end"), timed[:2], strict=False))
    return beside


def _role_column(table: Table, speaker: int) -> int | None:
    """Return a column beside the speakers' names that says therapist or client in words we know."""
    columns = may_hold_roles(table.header, speaker)
    return next((at for at in columns if are_roles({record[at] for record in table.rows})), None)
