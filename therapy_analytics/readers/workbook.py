"""Excel workbooks (XLSX): every sheet that is a table of turns is read as a CSV of it would be."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from defusedxml.common import DefusedXmlException

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.printable import counted
from therapy_analytics.readers._columns import Record
from therapy_analytics.readers._table import (
    HEADER_WITHIN,
    Table,
    cell_text,
    filled,
    header_place,
    header_without,
    read_table,
)
from therapy_analytics.readers._zip import bounded_zip
from therapy_analytics.readers.base import RawSession, Source, reader

if TYPE_CHECKING:
    from openpyxl import Workbook

_SUFFIXES = (".xlsx", ".xlsm", ".xltx")
_ZIP = b"PK\x03\x04"
_OLD = b"\xd0\xcf\x11\xe0"
_WORKBOOK = b"xl/workbook"
_WORD = b"word/document.xml"
"""A Word file may hold a workbook, but not the other way round."""
_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 400
_MOST_CELLS = 30_000_000
_ERRORS = frozenset({"#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!"})
_AGAIN = "Open it in Excel and save it again, or save the sheet as CSV (UTF-8)"


def sniff(source: Source) -> float:
    """Return .95 for an archive with a workbook in it, .6 for a damaged or locked one with a suffix of Excel."""
    if source.data.startswith(_ZIP) and _WORKBOOK in source.data and _WORD not in source.data:
        return 0.95
    named = source.path.suffix.lower() in _SUFFIXES
    return 0.6 if named and source.data.startswith((_ZIP, _OLD)) else 0.0


@reader("workbook", suffixes=_SUFFIXES, sniff=sniff)
def read_workbook(source: Source) -> Iterator[RawSession]:
    """Excel workbook with a row an utterance, an exchange or a session; each sheet is a table of its own."""
    if source.data.startswith(_OLD):
        raise source.error("the workbook is locked by a password, or an old .xls in disguise", _AGAIN)
    sessions: list[tuple[str, list[RawSession]]] = []
    problems: list[UnreadableFileError] = []
    n_words = 0
    for title, rows in _sheets(source):
        try:
            sessions.append((title, list(read_table(source, _table(rows, source.options.columns)))))
        except UnreadableFileError as problem:
            problems.append(problem)
            n_words += sum(len(cell.split()) for _, row in rows for cell in row)
    if not sessions:
        raise problems[0] if problems else source.error("the workbook has no sheet with cells", _AGAIN)
    yield from _together(sessions, len(problems), n_words)


def _together(sheets: list[tuple[str, list[RawSession]]], n_left_out: int, n_words: int) -> Iterator[RawSession]:
    """Yield the sessions of all sheets; where there are several, one without a name has that of its sheet."""
    note = f"{counted(n_left_out, 'sheet')} of the workbook without a transcript left out ({counted(n_words, 'word')})."
    notes = (note,) if n_left_out else ()
    for title, sessions in sheets:
        for one in sessions:
            name = one.name or (title if len(sheets) > 1 else "")
            yield replace(one, name=name, notes=(*notes, *one.notes))


def _sheets(source: Source) -> list[tuple[str, list[Record]]]:
    """Return the title and the cells of each sheet that has any.

    Raises
    ------
    UnreadableFileError
        Whatever the parser of the workbook trips over.
    """
    bounded_zip(source).close()
    try:
        # What is warned of, or printed, are styles and forms that have no words.
        with warnings.catch_warnings(action="ignore"), redirect_stdout(None):
            sheets = [(str(sheet.title), _cells(source, sheet)) for sheet in _open(source).worksheets]
    except UnreadableFileError:
        raise
    except Exception as error:  # noqa: BLE001 (a broken part can raise anything in there)
        has_entities = any(isinstance(one, DefusedXmlException) for one in (error, error.__context__))
        is_damaged = f"the workbook is damaged ({type(error).__name__})"
        problem = "the file holds XML entities, which no office program writes" if has_entities else is_damaged
        raise source.error(problem, _AGAIN) from None
    return [(title, rows) for title, rows in sheets if rows]


def _open(source: Source) -> Workbook:
    from openpyxl import load_workbook  # noqa: PLC0415 (only workbooks need it)

    return load_workbook(io.BytesIO(source.data), read_only=True, data_only=True, keep_links=False)


def _cells(source: Source, sheet: Any) -> list[Record]:
    """Return the rows of a sheet that have anything in them, with their numbers.

    What the sheet claims of its size is not believed: some programs always claim one cell.
    """
    sheet.reset_dimensions()
    rows: list[Record] = []
    n_cells = 0
    for number, row in enumerate(sheet.iter_rows(max_row=_MOST_ROWS, values_only=True), start=1):
        if row:
            n_cells += len(row)
            if n_cells > _MOST_CELLS:
                raise source.error("the workbook has more than 30 million cells", "Split it into smaller files")
            cells = [_cell(value) for value in row[:_MOST_COLUMNS]]
            if any(map(str.strip, cells)):
                rows.append((number, cells))
    return rows


def _cell(value: object) -> str:
    text = cell_text(value).replace("_x000D_", "")
    return "" if text in _ERRORS else text


def _table(rows: list[Record], wanted: Mapping[str, str]) -> Table:
    """Make the rows as wide as the widest; the header may stand below a title."""
    width = max(at for _, row in rows for at, cell in enumerate(row, start=1) if cell.strip())
    square = [(number, row[:width] + [""] * (width - len(row))) for number, row in rows]
    first = [row for _, row in square[:HEADER_WITHIN]]
    header = header_without(first, wanted)
    if header:
        return Table(header, square)
    at = header_place(first)
    above, header = square[at]
    return Table(header, filled(header, [(number - above, row) for number, row in square[at + 1 :]]))
