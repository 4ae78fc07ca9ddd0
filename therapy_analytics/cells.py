"""Text in cells of CSV: what a spreadsheet would take for a formula is made harmless, and made what it was on reading.

Excel and its kin run a cell that begins with ``=``, ``+``, ``-``, ``@`` or a control character, quoted or not, and a
client can say such a thing. It gets a ``'`` in front, and so does a cell that begins with ``'`` and such a sign, so
that every text comes back. Numbers, and ranges such as ``-1 to 1``, are left alone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from csv import reader
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame, Series

# The last four are the wide forms of East Asian keyboards, which spreadsheets there take for the plain ones.
_SIGN = r"[=+\-@\x00-\x1f\x7f-\x9f\uff1d\uff0b\uff0d\uff20]"
_RISKY = re.compile(rf"'*{_SIGN}")
_DEFUSED = re.compile(rf"'+{_SIGN}")
_ONE_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_NUMBER = re.compile(rf"{_ONE_NUMBER}( to {_ONE_NUMBER})?", re.ASCII)
"""A number, or a range of them as the codebook has it."""
_DIVIDING = re.compile(r'[,"\r\n]')
"""What ends a cell or a row, and so is quoted."""


def defused(cell: str) -> str:
    r"""Return a text as it may stand in a CSV file; `restored` undoes it.

    Parameters
    ----------
    cell : str
        Any text.

    Returns
    -------
    str
        With ``'`` in front where a spreadsheet could take it for a formula, else as it is.

    Examples
    --------
    >>> [defused(one) for one in ("=1+1", "- no", "-0.5", "'tis", "'-", "\tso")]
    ["'=1+1", "'- no", '-0.5', "'tis", "''-", "'\tso"]
    """
    return f"'{cell}" if _RISKY.match(cell) and not _NUMBER.fullmatch(cell) else cell


def restored(cell: str) -> str:
    """Return the text that `defused` got.

    Parameters
    ----------
    cell : str
        A cell of a CSV file.

    Returns
    -------
    str
        Without the ``'`` that stands before a sign of a formula, else as it is.

    Examples
    --------
    >>> [restored(one) for one in ("'=1+1", "-0.5", "'tis", "''-", "=1+1")]
    ['=1+1', '-0.5', "'tis", "'-", '=1+1']
    """
    return cell[1:] if _DEFUSED.match(cell) else cell


def defuse(frame: DataFrame) -> DataFrame:
    """Return a table whose texts may stand in a CSV file; numbers are not touched.

    Parameters
    ----------
    frame : DataFrame
        Any; texts in columns of text, of objects or of categories are looked at.

    Returns
    -------
    DataFrame
        The same one where there is nothing to do, else a copy.

    Examples
    --------
    >>> import pandas as pd
    >>> defuse(pd.DataFrame({"said": ["@all", "well"], "slope": [-1.0, 2.0]})).to_numpy().tolist()
    [["'@all", -1.0], ['well', 2.0]]
    """
    return _mapped(frame, defused)


def restore(frame: DataFrame) -> DataFrame:
    """Return a table, read as text, as it was before it was written: what `defuse` got.

    Parameters
    ----------
    frame : DataFrame
        Of texts; others are not touched.

    Returns
    -------
    DataFrame
        The same one where there is nothing to do, else a copy.

    Examples
    --------
    >>> import pandas as pd
    >>> restore(pd.DataFrame({"said": ["'@all", "'tis"]}))["said"].tolist()
    ['@all', "'tis"]
    """
    return _mapped(frame, restored)


def csv_of_frame(frame: DataFrame, *, digits: str | None = None) -> str:
    r"""Return a table as CSV, the same on every system, its cells harmless and its line breaks quoted.

    Parameters
    ----------
    frame : DataFrame
        Without its index.
    digits : str, optional
        How numbers with decimals are written, as ``"%.6g"``.

    Returns
    -------
    str
        Rows end in ``\n``. A ``\r`` inside a cell is quoted, as else a spreadsheet begins a row there.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_of_frame(pd.DataFrame({"said": ["a\rb", "=x"], "n": [0.5, -1.25]}), digits="%.6g")
    'said,n\n"a\rb",0.5\n\'=x,-1.25\n'
    """
    header, (rows,) = csv_of_parts(frame, (0, len(frame)), digits=digits)
    return header + rows


def csv_of_parts(frame: DataFrame, starts: Sequence[int], *, digits: str | None = None) -> tuple[str, list[str]]:
    r"""Return a table as CSV in parts, each some rows; this is faster than to write one part after the other.

    Parameters
    ----------
    frame : DataFrame
        Without its index.
    starts : sequence of int
        The row at which each part begins, and at last the one before which the last part ends.
    digits : str, optional
        How numbers with decimals are written, as ``"%.6g"``.

    Returns
    -------
    header : str
        The line with the names of the columns.
    parts : list of str
        The lines of the rows ``starts[i]:starts[i + 1]`` for each ``i``; after the header, they are what
        `csv_of_frame` returns for these rows.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_of_parts(pd.DataFrame({"who": ["T", "C", "T"], "n": [1, 2, 3]}), [0, 2, 2, 3])
    ('who,n\n', ['T,1\nC,2\n', '', 'T,3\n'])
    """
    columns = [_written(column, digits) for _, column in frame.items()]
    lines = list(map(_line, zip(*columns, strict=True) if columns else [()] * len(frame)))
    header = _line([_quoted(str(name)) for name in frame])
    return header, ["".join(lines[start:end]) for start, end in pairwise(starts)]


def csv_of_rows(rows: Iterable[Sequence[object]]) -> str:
    r"""Return rows as CSV, as `csv_of_frame` does.

    Parameters
    ----------
    rows : iterable of sequence
        The first may be the names of the columns. None is an empty cell.

    Returns
    -------
    str
        Rows end in ``\n``.

    Examples
    --------
    >>> csv_of_rows([["speaker", "text"], ["T", "-- well"], ["C", "a, b"]])
    'speaker,text\nT,\'-- well\nC,"a, b"\n'
    """
    return "".join(_line([_cell(cell) for cell in row]) for row in rows)


def _line(cells: Sequence[str]) -> str:
    # One empty cell is quoted, as an empty line is no row to those who read it.
    return f"{','.join(cells)}\n" if len(cells) != 1 or cells[0] else '""\n'


def _cell(cell: object) -> str:
    """Return what is written of a text, a number, or None."""
    return _quoted(defused(cell)) if isinstance(cell, str) else "" if cell is None else _quoted(str(cell))


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if _DIVIDING.search(text) else text


def _written(column: Series, digits: str | None) -> list[str]:
    """Return the cells of a column as they are written; empty where there is nothing."""
    import numpy as np  # noqa: PLC0415 (both are there where there is a column, and slow to import where there is none)
    import pandas as pd  # noqa: PLC0415

    kind, plain = column.dtype, isinstance(column.dtype, np.dtype)
    if plain and kind.kind == "f":
        return _numbers(column, digits)
    if _is_text(kind):
        return _texts(column)
    if isinstance(kind, pd.CategoricalDtype) and _is_text(kind.categories.dtype):
        names = [*_texts(kind.categories.to_series()), ""]
        return [names[code] for code in column.cat.codes.tolist()]
    if (plain and kind.kind in "iub") or isinstance(column.array, pd.arrays.IntegerArray):
        return ["" if cell is pd.NA else str(cell) for cell in column.tolist()]
    return _by_pandas(column, digits)


def _is_text(kind: object) -> bool:
    return getattr(kind, "kind", "") == "O" and getattr(kind, "name", "") in {"object", "str", "string"}


def _texts(column: Series) -> list[str]:
    cells, empty = column.tolist(), column.isna().tolist()
    # Most texts are there many times, as who spoke.
    written = {cell: _cell(cell) for cell in {cell for cell in cells if isinstance(cell, str)}}
    return [
        "" if nothing else written[cell] if isinstance(cell, str) else _cell(cell)
        for cell, nothing in zip(cells, empty, strict=True)
    ]


def _numbers(column: Series, digits: str | None) -> list[str]:
    if digits is None:
        cells, empty = column.to_numpy().astype(str).tolist(), column.isna().tolist()
        return ["" if nothing else cell for cell, nothing in zip(cells, empty, strict=True)]
    return [digits % cell if cell == cell else "" for cell in column.tolist()]  # noqa: PLR0124 (a nan is not itself)


def _by_pandas(column: Series, digits: str | None) -> list[str]:
    """Return the cells of a column of another kind, such as one of dates."""
    lines = defuse(column.to_frame()).to_csv(index=False, header=False, float_format=digits, lineterminator="\r\n")
    return [_quoted(cell) for (cell,) in reader(io.StringIO(lines, newline=""))]


def _mapped(frame: DataFrame, change: Callable[[str], str]) -> DataFrame:
    # By their types first: a table has many columns, and to take one out of it costs more than to look at its cells.
    places = [place for place, kind in enumerate(frame.dtypes) if getattr(kind, "kind", "O") in "OU"]
    found = {place: _changed(frame.iloc[:, place], change) for place in places}
    changed = {place: column for place, column in found.items() if column is not None}
    if not changed:
        return frame
    frame = frame.copy()
    for place, column in changed.items():
        frame.isetitem(place, column.array)
    return frame


def _changed(column: Series, change: Callable[[str], str]) -> Series | None:
    """Return a column with its texts changed; None where all stay as they are."""
    if hasattr(column, "cat"):
        kinds = [change(one) if isinstance(one, str) else one for one in column.cat.categories]
        return None if kinds == list(column.cat.categories) else column.cat.rename_categories(kinds)
    cells = column.tolist()
    news = [change(cell) if isinstance(cell, str) else cell for cell in cells]
    if all(old is new for old, new in zip(cells, news, strict=True)):
        return None
    made: Series = column.copy()
    made[:] = news
    return made
