"""Tables that a run wrote, read as text, and numbers as JSON holds them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from math import isfinite, nan
from pathlib import Path

from therapy_analytics.core.cells import restored
from therapy_analytics.core.errors import BadDataFileError

Columns = Mapping[str, Sequence[str]]
Row = dict[str, str]
REMEDY = "Run tanalyze run again"


def read_columns(path: Path, needed: Sequence[str] = ()) -> Columns:
    """Return the columns of a CSV file as text; none where there is no such file.

    Raises
    ------
    BadDataFileError
        It is not a table, or a column is missing.

    Notes
    -----
    The standard reader takes a fifth of the time of pandas for tables of fifty rows, of which a report reads hundreds.
    """
    if not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
        rows = list(csv.reader(StringIO(text, newline="")))
    except (csv.Error, ValueError, OSError) as error:
        raise BadDataFileError(str(path), "it cannot be read as a table", REMEDY) from error
    if "'" in text:
        rows = [list(map(restored, row)) for row in rows]
    header, *body = rows or [[]]
    missing = [name for name in needed if name not in header]
    if missing:
        raise BadDataFileError(str(path), f"it has no column {', '.join(missing)}", REMEDY)
    if any(len(row) != len(header) for row in body):
        raise BadDataFileError(str(path), "it breaks off, or its rows are not of one length", REMEDY)
    return {name: [row[at] for row in body] for at, name in enumerate(header)}


def read_rows(path: Path, needed: Sequence[str] = ()) -> list[Row]:
    """Return the rows of a CSV file, as `read_columns` reads it."""
    columns = read_columns(path, needed)
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def number(text: str) -> float:
    """Return a cell as a number, nan where there is none."""
    try:
        value = float(text)
    except ValueError:
        return nan
    return value if isfinite(value) else nan


def plain(value: float, digits: int = 4) -> float | int | None:
    """Return a number as JSON should hold it: rounded, whole where it is whole, None where undefined."""
    if not isfinite(value):
        return None
    rounded = round(value, digits)
    return int(rounded) if rounded == int(rounded) else rounded


def numbers(cells: Sequence[str], digits: int = 4) -> list[float | int | None]:
    """Return a column as JSON numbers, None where nothing stands."""
    return [plain(number(cell), digits) for cell in cells]
