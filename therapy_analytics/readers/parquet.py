"""Parquet tables, as data sets of language models come; read with pyarrow, which is optional."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from therapy_analytics import arrow
from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.readers._addresses import is_address, open_binary
from therapy_analytics.readers._base import Part, RawSession, Source, reader
from therapy_analytics.readers._limits import LARGEST_FILE, refuse_large
from therapy_analytics.readers._table import Record, Table, cell_text, filled, read_table
from therapy_analytics.readers._table_parts import Large, parts_of

_MAGIC = b"PAR1"
_SUFFIXES = (".parquet", ".pq")
_MOST_ROWS = 5_000_000
_MOST_COLUMNS = 400
_BATCH = 4096
_FEW = 64
_MANY = 256
_LEAST = 200
"""Bytes that a row takes at least when it is read, however small the file has it."""
_AGAIN = "Write it again, or save the table as CSV (UTF-8)"


def sniff(source: Source) -> float:
    """Be certain of the four letters that the format begins with."""
    return 1.0 if source.data.startswith(_MAGIC) else 0.0


def cut(source: Source, size: int) -> Sequence[Part]:
    """Cut a file where groups of rows begin, or soon after, where the next session does."""
    with _opened(source, _pyarrow(source)) as file:
        names = [str(name) for name in file.schema_arrow.names]
        borders = list(_borders(file.metadata, size))
        if not borders or len(set(names)) < len(names) or len(names) > _MOST_COLUMNS:
            return ()
        large = Large(
            reader="parquet",
            header=names,
            n_rows=file.metadata.num_rows,
            borders=borders,
            some=filled(names, _some_rows(file)),
            n_groups=file.metadata.num_row_groups,
            cells=functools.partial(_cells_of_group, file, names),
        )
        return parts_of(source, large)


def _borders(metadata: Any, size: int) -> Iterator[int]:
    """Yield the rows before which a part can begin: small groups go together; what is read takes room for each row."""
    row = held = 0
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        room = max(group.total_byte_size, _LEAST * group.num_rows)
        if held and held + room > size:
            yield row
            held = 0
        row, held = row + group.num_rows, held + room


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


def _cells_of_group(file: Any, names: list[str], group: int, places: Sequence[int]) -> Iterator[dict[int, list[str]]]:
    wanted = [names[at] for at in places]
    for batch in file.iter_batches(batch_size=_BATCH, row_groups=[group], columns=wanted):
        yield {at: _cells(batch.column(name)) for at, name in zip(places, wanted, strict=True)}


@reader("parquet", suffixes=_SUFFIXES, sniff=sniff, cut=cut)
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
    """Open a file so that a text that comes a million times is held once; a large one stays where it is."""
    if not source.place:
        handle = pyarrow.BufferReader(source.data)
    elif is_address(source.place):
        handle = open_binary(source.place)
    else:
        handle = pyarrow.OSFile(source.place)
    with handle:
        schema = pyarrow.parquet.read_schema(handle)
        texts = [one.name for one in schema if pyarrow.types.is_string(one.type)]
        handle.seek(0)
        yield pyarrow.parquet.ParquetFile(handle, read_dictionary=texts)


def _table(source: Source, file: Any, pyarrow: Any) -> Table:
    """Return the rows of a file, or of a part of it, whose claims about its size are not believed, but counted."""
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
    """Return the groups that hold some rows, the first row of them, and how large they say that these rows are."""
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
    """Plain texts are held once, however often they come; where there are others, a few rows are enough."""
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
