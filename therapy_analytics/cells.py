"""Text in cells of CSV: what a spreadsheet would take for a formula is made harmless, and made what it was on reading.

Excel and its kin run a cell that begins with ``=``, ``+``, ``-``, ``@`` or a control character, quoted or not, and a
client can say such a thing. It gets a ``'`` in front, and so does a cell that begins with ``'`` and such a sign, so
that every text comes back. Numbers, and ranges such as ``-1 to 1``, are left alone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from csv import writer
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
_ENDING = "\r\n"


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
    text = _Lines(newline="")
    defuse(frame).to_csv(text, index=False, float_format=digits, lineterminator=_ENDING)
    return text.getvalue()


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
    text = _Lines(newline="")
    table = writer(text, lineterminator=_ENDING)
    table.writerows([defused(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()


class _Lines(io.StringIO):
    r"""Text whose rows, handed over one at a time, end in ``\n`` though their writer thinks of ``\r\n``.

    Python's writer quotes the characters that end its rows; before version 3.13 it quotes no others.
    """

    def write(self, row: str, /) -> int:
        return super().write(f"{row.removesuffix(_ENDING)}\n")


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
