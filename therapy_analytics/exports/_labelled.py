"""Stata and SPSS files: numbers with labels of variables and values, and short names.

Stata: .dta of Stata 14 and later (format 118, UTF-8). SPSS: .sav with levels of measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.errors import BadOptionError
from therapy_analytics.exports._names import short_names
from therapy_analytics.exports._tables import YES_NO, ExportTable
from therapy_analytics.private import fresh, write
from therapy_analytics.results import as_csv

LONGEST_INT = 2**31 - 1000
"""Whole numbers above it are written as numbers with decimals: the largest of 32 bits mean "missing" in Stata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramLimits:
    """What a program takes.

    Attributes
    ----------
    name, label : int
        Characters of a name, bytes of a label.
    text : int or None
        Bytes of a text.
    value_label : int
        Bytes of the label of a value.
    """

    name: int
    label: int
    text: int | None
    value_label: int


@dataclass(frozen=True, slots=True)
class LabelledTable:
    """A table as these programs take it; all mappings are by the short names.

    Attributes
    ----------
    frame : DataFrame
        Texts and numbers alone.
    names : mapping of str to str
        Short name of each column of the table.
    labels : mapping of str to str
        What the columns mean.
    values : mapping of str to mapping of int to str
        What their values are called.
    ordered : frozenset of str
        Columns whose labelled values have an order.
    cut : mapping of str to int
        How many texts were too long.
    """

    frame: pd.DataFrame
    names: Mapping[str, str]
    labels: Mapping[str, str]
    values: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()
    cut: Mapping[str, int] = field(default_factory=dict)


STATA = ProgramLimits(name=31, label=80, text=None, value_label=32_000)
"""Names may have 32 characters, but the library gives labels of values the name of their column, and 31 at most."""
SPSS = ProgramLimits(name=64, label=256, text=32_767, value_label=120)
_FORMAT_118 = 14
_STATA_DATE = b"01 Jan 2000 00:00"
_BEFORE_STATA_DATE = b"<timestamp>" + bytes([len(_STATA_DATE)])
_STATA_HEAD = 1000
_SPSS_DATE_AT, _SPSS_DATE = 92, b"01 Jan 0000:00:00"
"""Where the head of a .sav says when it was made: nine characters of a date, eight of a time."""
_WIDEST = 40
"""Characters of a text that the data view of SPSS shows at first."""


def library(to: str) -> Any:
    """Return pyreadstat, which is optional."""
    try:
        return import_module("pyreadstat")
    except ImportError:
        remedy = "Install it with: pip install 'therapy-analytics[stats]'"
        problem = "writing Stata and SPSS files needs the package pyreadstat, which is not installed"
        raise BadOptionError(f"--to {to}", problem, remedy) from None


def labelled(table: ExportTable, limits: ProgramLimits) -> LabelledTable:
    """Return a table as numbers with labels and texts of the right length."""
    names = short_names(map(str, table.frame), longest=limits.name)
    columns: dict[str, pd.Series] = {}
    values: dict[str, dict[int, str]] = {}
    cut: dict[str, int] = {}
    for column, name in names.items():
        given = table.frame[column]
        kinds = YES_NO if table.is_yes_no(column) else _kinds(given)
        if kinds:
            values[name] = {value: shortened(text, limits.value_label) for value, text in kinds.items()}
        columns[name] = plain_numbers(given, whole=bool(kinds)) if _is_number(given) else _texts(given)
        if not _is_number(given) and limits.text is not None:
            columns[name], cut[name] = _cut(columns[name], limits.text)
    labels = {name: shortened(clean(table.label(column)), limits.label) for column, name in names.items()}
    ordered = frozenset(name for column, name in names.items() if _is_ordered(table.frame[column]))
    return LabelledTable(pd.DataFrame(columns), names, labels, values, ordered, cut)


def _is_number(values: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(values)) or isinstance(values.dtype, pd.CategoricalDtype)


def _is_ordered(values: pd.Series) -> bool:
    return isinstance(values.dtype, pd.CategoricalDtype) and bool(values.dtype.ordered)


def _kinds(values: pd.Series) -> dict[int, str]:
    """Return the categories of a column, numbered from 1."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return {}
    return {number: clean(str(text)) for number, text in enumerate(values.dtype.categories, start=1)}


def plain_numbers(values: pd.Series, *, whole: bool) -> pd.Series:
    """Return whole numbers of 32 bits, and others of 64; categories count from 1; the infinite is missing."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        place = values.cat.codes.to_numpy(dtype=np.int32)
        return pd.Series(pd.arrays.IntegerArray(place + np.int32(1), place < 0))
    floats = values.to_numpy(dtype=np.float64, na_value=np.nan)
    if whole or (not pd.api.types.is_float_dtype(values) and not (np.abs(floats) > LONGEST_INT).any()):
        missing = np.isnan(floats)
        return pd.Series(pd.arrays.IntegerArray(np.where(missing, 0, floats).astype(np.int32), missing))
    return pd.Series(np.where(np.isfinite(floats), floats, np.nan))


def _texts(values: pd.Series) -> pd.Series:
    return pd.Series([clean(str(one)) for one in values.fillna("")], dtype=object)


def clean(text: str) -> str:
    """Return a text without what these files cannot hold: NUL ends a text there, half a character has no bytes."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")


def _cut(texts: pd.Series, most: int) -> tuple[pd.Series, int]:
    """Cut texts of too many bytes, between characters, and count them."""
    long = np.array([len(one) * 4 > most and len(one.encode()) > most for one in texts], dtype=np.bool_)
    kept = [shortened(one, most) if far else one for one, far in zip(texts, long, strict=True)]
    return pd.Series(kept, dtype=object), int(long.sum())


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many bytes; three dots say that there was more.

    Examples
    --------
    >>> shortened("What a high value means", 12)
    'What a hi...'
    """
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - 3].decode("utf-8", "ignore") + "..."


def write_names(done: Sequence[tuple[ExportTable, LabelledTable]], path: Path) -> None:
    """Write how each column is called in these files, and in the package's own tables."""
    rows = [
        (table.name, column, name, one.labels[name], one.cut.get(name, 0))
        for table, one in done
        for column, name in one.names.items()
    ]
    write(path, as_csv(pd.DataFrame(rows, columns=["table", "column", "name", "label", "n_texts_cut"])))


def write_stata(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a .dta file a table, and how their columns are called."""
    pyreadstat = library("stata")
    done = [(table, labelled(table, STATA)) for table in exported]
    for table, one in done:
        path = fresh(out / f"{table.name}.dta")
        _write(pyreadstat.write_dta, table, one, path, version=_FORMAT_118)
        with path.open("r+b") as file:  # no clock: the same table gives the same bytes
            at = file.read(_STATA_HEAD).find(_BEFORE_STATA_DATE)
            if at >= 0:
                file.seek(at + len(_BEFORE_STATA_DATE))
                file.write(_STATA_DATE)
    write_names(done, out / "names_stata.csv")


def write_spss(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a .sav file a table, and how their columns are called."""
    pyreadstat = library("spss")
    done = [(table, labelled(table, SPSS)) for table in exported]
    for table, one in done:
        path = fresh(out / f"{table.name}.sav")
        texts = [name for name in one.frame if one.frame[name].dtype == object]
        _write(
            pyreadstat.write_sav, table, one, path,
            row_compress=True,
            variable_measure={str(name): _level(str(name), one) for name in one.frame},
            variable_display_width={name: _width(one.frame[name]) for name in texts},
            variable_format={name: _format(one.frame[name]) for name in one.frame if name not in texts},
        )  # fmt: skip
        with path.open("r+b") as file:  # no clock here either
            file.seek(_SPSS_DATE_AT)
            file.write(_SPSS_DATE)
    write_names(done, out / "names_spss.csv")


def _write(
    write_file: Callable[..., object], table: ExportTable, one: LabelledTable, path: Path, **options: Any
) -> None:
    """Write a file; an error of the library is told without its words, which can be the table's."""
    pyreadstat = import_module("pyreadstat")
    try:
        write_file(
            one.frame,
            str(path),
            file_label=f"therapy-analytics: {table.name}",
            column_labels=dict(one.labels),
            variable_value_labels={name: dict(values) for name, values in one.values.items()},
            **options,
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, TypeError) as error:
        problem = f"the table {table.name} cannot be written ({type(error).__name__})"
        raise BadOptionError("--to", problem, "Export to another form, and report this as a defect") from None


def _level(name: str, one: LabelledTable) -> str:
    if name in one.ordered:
        return "ordinal"
    return "nominal" if name in one.values or one.frame[name].dtype == object else "scale"


def _format(values: pd.Series) -> str:
    return "F8.3" if pd.api.types.is_float_dtype(values) else "F8.0"


def _width(texts: pd.Series) -> int:
    return min(_WIDEST, max((len(one) for one in texts), default=0)) or 8
