"""Parquet tables, as data sets of language models come; read with pyarrow, which is optional."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from therapy_analytics.core import third_party
from therapy_analytics.core.errors import BadOptionError, UnreadableFileError
from therapy_analytics.readers._limits import LARGEST_FILE, refuse_large
from therapy_analytics.readers._table import (
    Table,
    cell_text,
    filled,
    read_table,
)
from therapy_analytics.readers.base import RawSession, Source, begins, reader

_SUFFIXES = (".parquet", ".pq")
_MOST_ROWS = 5_000_000
_MOST_COLUMNS = 400
_BATCH = 4096
_FEW = 64
_AGAIN = "Write it again, or save the table as CSV (UTF-8)"


@reader("parquet", suffixes=_SUFFIXES, sniff=begins(rb"PAR1"))
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
        return third_party.pyarrow("", needed="reading Parquet")
    except BadOptionError as error:
        raise source.error(error.problem, error.remedy) from None


@contextmanager
def _opened(source: Source, pyarrow: Any) -> Iterator[Any]:
    """Open a file so that a text that comes a million times is held one time."""
    handle = pyarrow.OSFile(source.place) if source.place else pyarrow.BufferReader(source.data)
    with handle:
        schema = pyarrow.parquet.read_schema(handle)
        texts = [one.name for one in schema if pyarrow.types.is_string(one.type)]
        handle.seek(0)
        yield pyarrow.parquet.ParquetFile(handle, read_dictionary=texts)


def _table(source: Source, file: Any, pyarrow: Any) -> Table:
    """Return the rows of a file; its real size is counted, as its claims may be wrong."""
    names = [str(name) for name in file.schema_arrow.names]
    groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
    if file.metadata.num_rows > _MOST_ROWS or len(names) > _MOST_COLUMNS:
        raise source.error("the table has more than 5 million rows or 400 columns", "Split it into smaller files")
    refuse_large(str(source.path), sum(group.total_byte_size for group in groups), LARGEST_FILE, packed=True)
    rows: list[list[str]] = []
    letters = 0
    for batch in file.iter_batches(batch_size=_rows_at_a_time(file, pyarrow)):
        refuse_large(str(source.path), batch.nbytes, LARGEST_FILE, packed=True)
        new = list(map(list, zip(*map(_cells, batch.columns), strict=True)))
        letters += sum(len(cell) for row in new for cell in row)
        refuse_large(str(source.path), letters, LARGEST_FILE, packed=True)
        rows.extend(new)
    return Table(names, filled(names, list(enumerate(rows, start=1))))


def _rows_at_a_time(file: Any, pyarrow: Any) -> int:
    """Return how many rows are read at a time: few where equal cells, such as lists, are not shared in memory."""
    types = pyarrow.types
    held_once = (types.is_dictionary, types.is_string, types.is_primitive)
    small = all(any(test(one.type) for test in held_once) for one in file.schema_arrow)
    return _BATCH if small else _FEW


def _cells(column: Any) -> list[str]:
    if not hasattr(column, "dictionary"):
        return [cell_text(value) for value in column.to_pylist()]
    values = [cell_text(value) for value in column.dictionary.to_pylist()]
    return ["" if at is None else values[at] for at in column.indices.to_pylist()]
