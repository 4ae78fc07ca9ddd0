"""Parquet tables, as data sets of language models come; read with pyarrow, which is optional."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._table import Table, cell_text, filled, read_table

_MAGIC = b"PAR1"
_SUFFIXES = (".parquet", ".pq")
_MOST_ROWS = 5_000_000
_MOST_COLUMNS = 400
_MOST_LETTERS = 200 * 2**20
_BATCH = 4096
_FEW = 64
_AGAIN = "Write it again, or save the table as CSV (UTF-8)"
_TOO_LARGE = ("the table would unpack to more than 200 MB", "Split it into smaller files")


def sniff(source: Source) -> float:
    """Be certain of the four letters that the format begins with."""
    return 1.0 if source.data.startswith(_MAGIC) else 0.0


@reader("parquet", suffixes=_SUFFIXES, sniff=sniff)
def read_parquet(source: Source) -> Iterator[RawSession]:
    """Parquet with a row an utterance, an exchange or a session; lists of messages in a column are sessions."""
    try:
        pyarrow = import_module("pyarrow")  # optional, and slow to load
        import_module("pyarrow.parquet")
    except ImportError:
        remedy = "Install it with: pip install 'therapy-analytics[parquet]'"
        raise source.error("reading Parquet needs the package pyarrow, which is not installed", remedy) from None
    try:
        table = _table(source, pyarrow.parquet.ParquetFile(pyarrow.BufferReader(source.data)), pyarrow)
    except UnreadableFileError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError, OverflowError) as error:
        raise source.error(f"the Parquet file is damaged or breaks off ({type(error).__name__})", _AGAIN) from None
    yield from read_table(source, table)


def _table(source: Source, file: Any, pyarrow: Any) -> Table:
    """Return the rows of a file whose claims about its size are not believed, but counted."""
    names = [str(name) for name in file.schema_arrow.names]
    if file.metadata.num_rows > _MOST_ROWS or len(names) > _MOST_COLUMNS:
        raise source.error("the table has more than 5 million rows or 400 columns", "Split it into smaller files")
    file, n_rows = _small_in_memory(file, source, pyarrow)
    rows: list[list[str]] = []
    letters = 0
    for batch in file.iter_batches(batch_size=n_rows):
        if batch.nbytes > _MOST_LETTERS:
            raise source.error(*_TOO_LARGE)
        columns = [_cells(column, pyarrow) for column in batch.columns]
        letters += sum(len(cell) for cells in columns for cell in cells)
        if letters > _MOST_LETTERS:
            raise source.error(*_TOO_LARGE)
        rows.extend(map(list, zip(*columns, strict=True)))
    return Table(names, filled(names, list(enumerate(rows, start=1))))


def _small_in_memory(file: Any, source: Source, pyarrow: Any) -> tuple[Any, int]:
    """Open the file so that a text that comes a million times is held once, and say how many rows to take at a time.

    Only plain texts can be held like that; where there are others, a few rows are enough.
    """
    unpacked = sum(file.metadata.row_group(at).total_byte_size for at in range(file.metadata.num_row_groups))
    if unpacked > _MOST_LETTERS:
        raise source.error(*_TOO_LARGE)
    types = pyarrow.types
    texts = [one.name for one in file.schema_arrow if types.is_string(one.type)]
    small = all(types.is_string(one.type) or types.is_primitive(one.type) for one in file.schema_arrow)
    opened = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(source.data), read_dictionary=texts)
    return opened, _BATCH if small else _FEW


def _cells(column: Any, pyarrow: Any) -> list[str]:
    if not pyarrow.types.is_dictionary(column.type):
        return [cell_text(value) for value in column.to_pylist()]
    values = [cell_text(value) for value in column.dictionary.to_pylist()]
    return ["" if at is None else values[at] for at in column.indices.to_pylist()]
