"""CSV whose cells no spreadsheet runs as formulas, and which reads back as it was.

Excel and similar programs run a cell that begins with ``=``, ``+``, ``-``, ``@`` or a control character, quoted or not,
and a client can say such a thing. Such a cell gets a ``'`` in front, and so does a cell that begins with ``'`` and one
of these signs, so that reading restores every text. Numbers, and ranges such as ``-1 to 1``, stay as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame, Series

# The last four are the full-width forms of these signs, which spreadsheets in East Asia treat alike.
_SIGN = r"[=+\-@\x00-\x1f\x7f-\x9f\uff1d\uff0b\uff0d\uff20]"
_RISKY = re.compile(rf"'*{_SIGN}")
_DEFUSED = re.compile(rf"'+{_SIGN}")
_ONE_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_NUMBER = re.compile(rf"{_ONE_NUMBER}( to {_ONE_NUMBER})?", re.ASCII)
"""A number, or a range as the codebook writes it."""
_END = "\r\n"
"""What the CSV writers of Python and pandas are told to end rows with, so that they quote a lone ``\\r`` too."""


def defused(cell: str) -> str:
    r"""Return a text that is safe in a CSV file; `restored` undoes it.

    Examples
    --------
    >>> [defused(cell) for cell in ("=1+1", "- no", "-0.5", "'tis", "'-", "\tso")]
    ["'=1+1", "'- no", '-0.5', "'tis", "''-", "'\tso"]
    """
    return f"'{cell}" if _RISKY.match(cell) and not _NUMBER.fullmatch(cell) else cell


def restored(cell: str) -> str:
    """Return the text that was given to `defused`.

    Examples
    --------
    >>> [restored(cell) for cell in ("'=1+1", "-0.5", "'tis", "''-", "=1+1")]
    ['=1+1', '-0.5', "'tis", "'-", '=1+1']
    """
    return cell[1:] if _DEFUSED.match(cell) else cell


def defuse(frame: DataFrame) -> DataFrame:
    """Return a table whose texts (in columns of text, objects or categories) are safe in a CSV file.

    Examples
    --------
    >>> import pandas as pd
    >>> defuse(pd.DataFrame({"reply": ["@all", "well"], "slope": [-1.0, 2.0]})).to_numpy().tolist()
    [["'@all", -1.0], ['well', 2.0]]
    """
    return _mapped(frame, defused)


def restore(frame: DataFrame) -> DataFrame:
    """Return the table that was given to `defuse`, of a table whose cells were read as text.

    Examples
    --------
    >>> import pandas as pd
    >>> restore(pd.DataFrame({"reply": ["'@all", "'tis"]}))["reply"].tolist()
    ['@all', "'tis"]
    """
    return _mapped(frame, restored)


def _mapped(frame: DataFrame, change: Callable[[str], str]) -> DataFrame:
    frame = frame.copy(deep=False)
    for place, kind in enumerate(frame.dtypes):
        if getattr(kind, "kind", "O") in "OU":
            frame.isetitem(place, _changed(frame.iloc[:, place], change).array)
    return frame


def _changed(column: Series, change: Callable[[str], str]) -> Series:
    def changed(cells: Iterable[object]) -> list[object]:
        return [change(cell) if isinstance(cell, str) else cell for cell in cells]

    if hasattr(column, "cat"):
        return column.cat.rename_categories(changed(column.cat.categories))
    made: Series = column.copy()
    made[:] = changed(column.tolist())
    return made


class _Rows(io.StringIO):
    r"""A file that keeps the rows that are written into it, each as one text that ends in ``\n``."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[str] = []

    def write(self, row: str, /) -> int:
        """Keep a row: writers of CSV call this once for each."""
        self.rows.append(f"{row.removesuffix(_END)}\n")
        return len(row)


def csv_of_frame(frame: DataFrame, *, digits: str | None = None) -> str:
    r"""Return a table, without its index, as CSV that is the same on every system.

    Parameters
    ----------
    frame : DataFrame
        The table.
    digits : str, optional
        How numbers with decimals are written, as ``"%.6g"``.

    Returns
    -------
    str
        Rows end in ``\n``. Line breaks inside a cell, ``\r`` among them, are quoted; missing values are empty cells.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_of_frame(pd.DataFrame({"reply": ["a\rb", "=x"], "n": [0.5, -1.25]}), digits="%.6g")
    'reply,n\n"a\rb",0.5\n\'=x,-1.25\n'
    """
    header, (rows,) = csv_of_parts(frame, (0, len(frame)), digits=digits)
    return header + rows


def csv_of_parts(frame: DataFrame, starts: Sequence[int], *, digits: str | None = None) -> tuple[str, list[str]]:
    r"""Return a table as CSV in several parts: faster than writing one part after the other.

    Parameters
    ----------
    frame : DataFrame
        The table.
    starts : sequence of int
        The row at which each part begins, then the row at which the last part ends (exclusive).
    digits : str, optional
        How numbers with decimals are written, as ``"%.6g"``.

    Returns
    -------
    header : str
        The line with the names of the columns.
    parts : list of str
        The lines of the rows ``starts[i]:starts[i + 1]`` for each ``i``, as `csv_of_frame` writes them.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_of_parts(pd.DataFrame({"who": ["T", "C", "T"], "n": [1, 2, 3]}), [0, 2, 2, 3])
    ('who,n\n', ['T,1\nC,2\n', '', 'T,3\n'])
    """
    file = _Rows()
    defuse(frame).to_csv(file, index=False, float_format=digits, lineterminator=_END)
    header, *lines = file.rows
    return header, ["".join(lines[start:end]) for start, end in pairwise(starts)]


def csv_of_rows(rows: Iterable[Sequence[object]]) -> str:
    r"""Return rows as CSV, as `csv_of_frame` does; the first may be the names of the columns, None is an empty cell.

    Examples
    --------
    >>> csv_of_rows([["speaker", "text"], ["T", "-- well"], ["C", "a, b"]])
    'speaker,text\nT,\'-- well\nC,"a, b"\n'
    """
    file = _Rows()
    safe = ([defused(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    csv.writer(file, lineterminator=_END).writerows(safe)
    return "".join(file.rows)
