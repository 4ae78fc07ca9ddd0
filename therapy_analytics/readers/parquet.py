"""Parquet tables, as data sets of language models come; read with pyarrow, which is optional.

A large file is cut into parts. Sessions are not cut in two, and the columns of which all rows decide what they are
(codes, facts about a session, roles) are read through beforehand, each for as long as it can still be one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from therapy_analytics import arrow
from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.readers._base import Layout, Part, RawSession, Source, begins, reader
from therapy_analytics.readers._columns import Places, Record, slug
from therapy_analytics.readers._contents import (
    GOLD,
    holds_codes,
    is_small_number,
    may_be_codes,
    may_hold_roles,
    may_name_fact,
    names_beside_roles,
    people_columns,
)
from therapy_analytics.readers._limits import LARGEST_FILE, refuse_large
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._table import (
    Table,
    beside_times,
    cell_text,
    filled,
    find,
    read_table,
)
from therapy_analytics.readers._text_heads import are_clinical_notes
from therapy_analytics.readers._wide import Grid, layout_of

_SUFFIXES = (".parquet", ".pq")
_MOST_ROWS = 5_000_000
_MOST_COLUMNS = 400
_BATCH = 4096
_FEW = 64
_MANY = 256
_LEAST = 200
"""Bytes that a row takes at least when it is read, however small the file has it."""
_AGAIN = "Write it again, or save the table as CSV (UTF-8)"


def cut(source: Source, size: int) -> Sequence[Part]:
    """Cut a file where groups of rows begin, or soon after, where the next session does."""
    with _opened(source, _pyarrow(source)) as file:
        names = [str(name) for name in file.schema_arrow.names]
        borders = list(_borders(file.metadata, size))
        if not borders or len(set(names)) < len(names) or len(names) > _MOST_COLUMNS:
            return ()
        large = _Large(
            header=names,
            n_rows=file.metadata.num_rows,
            borders=borders,
            some=filled(names, _some_rows(file)),
            file=file,
        )
        return _parts_of(source, large)


def _borders(metadata: Any, size: int) -> Iterator[int]:
    """Yield the rows before which a part can begin: small groups go together; each row takes memory when it is read."""
    row = held = 0
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        n_bytes = max(group.total_byte_size, _LEAST * group.num_rows)
        if held and held + n_bytes > size:
            yield row
            held = 0
        row, held = row + group.num_rows, held + n_bytes


def _some_rows(file: Any) -> list[Record]:
    """Return the first rows, and the first of the group in the middle and of the last."""
    n_groups = file.metadata.num_row_groups
    found = _head(file, list(range(n_groups)), _MANY)
    for at in sorted({n_groups // 2, n_groups - 1}):
        before = sum(file.metadata.row_group(one).num_rows for one in range(at))
        found += [(before + number, row) for number, row in _head(file, [at], _FEW) if before + number > len(found)]
    return found


def _head(file: Any, groups: list[int], n_rows: int) -> list[Record]:
    rows: list[list[str]] = []
    for batch in file.iter_batches(batch_size=_FEW, row_groups=groups):
        rows.extend(_rows(batch))
        if len(rows) >= n_rows:
            break
    return list(enumerate(rows[:n_rows], start=1))


@reader("parquet", suffixes=_SUFFIXES, sniff=begins(rb"PAR1"), cut=cut)
def read_parquet(source: Source) -> Iterator[RawSession]:
    """Parquet with a row an utterance, an exchange or a session; lists of messages in a column are sessions."""
    pyarrow = _pyarrow(source)
    try:
        with _opened(source, pyarrow) as file:
            table = _table(source, file, pyarrow)
    except UnreadableFileError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError, OverflowError) as error:
        raise source.error(f"the Parquet file is damaged or breaks off ({type(error).__name__})", _AGAIN) from None
    yield from read_table(source, table)


def _pyarrow(source: Source) -> Any:
    try:
        return arrow.pyarrow("", needed="reading Parquet")
    except BadOptionError as error:
        raise source.error(error.problem, error.remedy) from None


@contextmanager
def _opened(source: Source, pyarrow: Any) -> Iterator[Any]:
    """Open a file so that a text that comes a million times is held one time; a large file is not held."""
    handle = pyarrow.OSFile(source.place) if source.place else pyarrow.BufferReader(source.data)
    with handle:
        schema = pyarrow.parquet.read_schema(handle)
        texts = [one.name for one in schema if pyarrow.types.is_string(one.type)]
        handle.seek(0)
        yield pyarrow.parquet.ParquetFile(handle, read_dictionary=texts)


def _table(source: Source, file: Any, pyarrow: Any) -> Table:
    """Return the rows of a file, or of a part of it; its real size is counted, as its claims may be wrong."""
    names = [str(name) for name in file.schema_arrow.names]
    begin, end = (0, file.metadata.num_rows) if source.part is None else (source.part.begin, source.part.end)
    if end - begin > _MOST_ROWS or len(names) > _MOST_COLUMNS:
        raise source.error("the table has more than 5 million rows or 400 columns", "Split it into smaller files")
    groups, before, unpacked = _groups(file.metadata, begin, end)
    refuse_large(str(source.path), int(unpacked), LARGEST_FILE, packed=True)
    rows: list[list[str]] = []
    letters = 0
    for batch in file.iter_batches(batch_size=_rows_at_a_time(file, pyarrow), row_groups=groups):
        wanted = batch.slice(max(begin - before, 0), max(end - max(begin, before), 0))
        before += batch.num_rows
        refuse_large(str(source.path), wanted.nbytes, LARGEST_FILE, packed=True)
        new = _rows(wanted)
        letters += sum(len(cell) for row in new for cell in row)
        refuse_large(str(source.path), letters, LARGEST_FILE, packed=True)
        rows.extend(new)
        if before >= end:
            break
    return Table(names, filled(names, list(enumerate(rows, start=begin + 1))))


def _groups(metadata: Any, begin: int, end: int) -> tuple[list[int], int, float]:
    """Return the row groups that hold rows `begin` to `end`, their first row, and the claimed size of these rows."""
    groups: list[int] = []
    row, first, unpacked = 0, 0, 0.0
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        inside = min(end, row + group.num_rows) - max(begin, row)
        if inside > 0:
            first = first if groups else row
            groups.append(at)
            unpacked += group.total_byte_size * inside / group.num_rows
        row += group.num_rows
    return groups, first, unpacked


def _rows_at_a_time(file: Any, pyarrow: Any) -> int:
    """Return how many rows are read at a time: few where equal cells, such as lists, are not shared in memory."""
    types = pyarrow.types
    held_once = (types.is_dictionary, types.is_string, types.is_primitive)
    small = all(any(test(one.type) for test in held_once) for one in file.schema_arrow)
    return _BATCH if small else _FEW


def _rows(batch: Any) -> list[list[str]]:
    return list(map(list, zip(*map(_cells, batch.columns), strict=True)))


def _cells(column: Any) -> list[str]:
    if not hasattr(column, "dictionary"):
        return [cell_text(value) for value in column.to_pylist()]
    values = [cell_text(value) for value in column.dictionary.to_pylist()]
    return ["" if at is None else values[at] for at in column.indices.to_pylist()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Large:
    """A large table: its columns, the rows before which it may be cut, from 0, some of its rows, and the open file."""

    header: list[str]
    n_rows: int
    borders: Sequence[int]
    some: list[Record] = field(repr=False)
    file: Any

    def cells(self, *places: int) -> Iterator[list[list[str]]]:
        """Yield the cells of some columns, a batch of rows after the other; a column is a list."""
        names = [self.header[at] for at in places]
        for batch in self.file.iter_batches(batch_size=_BATCH, columns=list(dict.fromkeys(names))):
            yield [_cells(batch.column(name)) for name in names]


def _parts_of(source: Source, table: _Large) -> list[Part]:
    """Return the parts of a table; none where its sessions cannot be told apart, or are not together."""
    some = Table(table.header, table.some)
    found = find(source, some)
    times_by_contents = found["start"] is None and beside_times(some, found).get("start") is not None
    if times_by_contents or are_clinical_notes(table.header, some.rows):
        return []
    if found["text"] is not None and found["speaker"] is not None:
        return _of_utterances(source, table, found)
    layout = layout_of(Grid(source, table.header, table.some, found), "parquet")
    if layout is None or layout.form != "exchanges":
        return [] if layout is None else _between(table, table.borders, layout)
    begins = None if found["session"] is None else _beginnings(table, found["session"], None)
    return [] if begins is None else _between(table, _next_beginnings(table, begins), layout)


def _between(table: _Large, borders: Iterable[int], layout: Layout) -> list[Part]:
    return [Part(begin, end, layout) for begin, end in pairwise(sorted({0, *borders, table.n_rows}))]


def _next_beginnings(table: _Large, begins: bytearray) -> list[int]:
    """Return for each row before which the table may be cut the next one with which a session begins."""
    return [row for border in table.borders if (row := begins.find(1, border)) >= 0]


def _of_utterances(source: Source, table: _Large, found: Places) -> list[Part]:
    """Return parts of whole sessions, told apart by their name alone or with who was there.

    There are none where all rows together decide who speaks.
    """
    speaker, session = found["speaker"], found["session"]
    by_user = "speaker" in source.options.columns
    if speaker is None or session is None or (slug(table.header[speaker]) == "type" and not by_user):
        return []
    if names_beside_roles(table.header, table.some, speaker, session) is not None:
        return []
    for partner in (*people_columns(table.header, session), None):
        begins = _beginnings(table, session, partner)
        if begins is not None:
            layout = _layout_of_utterances(table, found, speaker, begins)
            return _between(table, _next_beginnings(table, begins), replace(layout, partner=partner))
    return []


def _beginnings(table: _Large, session: int, partner: int | None) -> bytearray | None:
    """Return with which rows a session begins.

    Parameters
    ----------
    table : _Large
        The table.
    session : int
        The column of sessions.
    partner : int or None
        A column of people that belongs to the number of a session.

    Returns
    -------
    bytearray (n_rows,) or None
        1 for such a row, else 0. None where that cannot be told: a session comes again later, a row has none, the
        header is repeated, or the number of a session needs no such column of people. Of the names, which may be many,
        only hashes are kept.
    """
    import numpy as np  # noqa: PLC0415 (only a large file needs it)

    begins = bytearray()
    hashes = array("q")
    numbers: set[str] = set()
    last: tuple[str, ...] = ()
    for columns in table.cells(session, *([] if partner is None else [partner])):
        keys = list(zip(*(map(str.strip, cells) for cells in columns), strict=True))
        names = {key[0] for key in keys}
        if names & {"", table.header[session].strip()} or (
            partner is not None and not all(map(is_small_number, names))
        ):
            return None
        numbers |= set() if partner is None else names
        for key in keys:
            begins.append(key != last)
            if key != last:
                hashes.append(hash(key))
            last = key
    are_together = np.unique(np.frombuffer(hashes, np.int64)).size == len(hashes)
    is_needed = partner is None or len(hashes) > len(numbers)
    return begins if are_together and is_needed else None


def _layout_of_utterances(table: _Large, found: Places, speaker: int, begins: bytearray) -> Layout:
    """Return what the reader of the whole table would find of its columns: roles, facts, and codes."""
    role = next((at for at in may_hold_roles(table.header, speaker) if _holds_roles(table, at)), None)
    used = {at for at in found.values() if at is not None}
    about: dict[str, int] = {}
    codes: list[int] = []
    for at in (at for at in range(len(table.header)) if at not in used and at != role):
        is_fact, has_codes = _holds_facts_or_codes(table, at, begins)
        if is_fact and 0 in begins:
            about[slug(table.header[at])] = at
        if has_codes:
            codes.append(at)
    codes = [at for at in codes if at not in about.values()]
    return Layout("parquet", "utterances", (), role, tuple(about.values()), tuple(codes))


def _holds_roles(table: _Large, at: int) -> bool:
    labels: set[str] = set()
    for (cells,) in table.cells(at):
        new = set(cells) - labels - {""}
        if not all(map(role_of_label, new)):
            return False
        labels |= new
    return bool(labels)


def _holds_facts_or_codes(table: _Large, at: int, begins: bytearray) -> tuple[bool, bool]:
    """Return whether a column says one fact of each session, and whether it holds codes; it is read while it may."""
    name = table.header[at]
    is_fact, may_have_codes = may_name_fact(name), bool(name.strip()) and not name.startswith(GOLD)
    counts: Counter[str] = Counter()
    row, last = 0, ""
    for (cells,) in table.cells(at):
        beside = zip([last, *cells], cells, begins[row : row + len(cells)], strict=False)
        is_fact = is_fact and all(new or one == two for one, two, new in beside)
        if may_have_codes:
            counts.update(map(str.strip, cells))
            may_have_codes = may_be_codes(counts.keys() - {""})
        if not is_fact and not may_have_codes:
            break
        row, last = row + len(cells), cells[-1]
    return is_fact, holds_codes(name, counts) if may_have_codes or name.startswith(GOLD) else False
