"""Stata and SPSS files: labels of variables and values, and short names.

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

from therapy_analytics.core.errors import BadOptionError, how_to_install
from therapy_analytics.core.private import fresh, write
from therapy_analytics.results import as_csv
from therapy_analytics.results.exports._names import short_names
from therapy_analytics.results.exports._tables import YES_NO, ExportTable

LONGEST_INT = 2**31 - 1000
"""Larger integers are written as floating-point numbers: the largest 32-bit integers mean "missing" in Stata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramLimits:
    """Limits of a program.

    Attributes
    ----------
    name, label : int
        Characters of a column's name, bytes of its label.
    text : int or None
        Bytes of a text; None for any number.
    value_label : int
        Bytes of the label of a value.
    """

    name: int
    label: int
    text: int | None
    value_label: int


@dataclass(frozen=True, slots=True)
class LabelledTable:
    """A table as these programs hold it; the mappings except `names` are by short name.

    Attributes
    ----------
    frame : DataFrame
        Texts and numbers, with short names of columns.
    names : mapping of str to str
        The short name of each column.
    labels : mapping of str to str
        What the columns mean.
    values : mapping of str to mapping of int to str
        Labels of the values of categorical columns.
    ordered : frozenset of str
        Categorical columns whose values have an order.
    cut : mapping of str to int
        How many texts were too long and were cut.
    """

    frame: pd.DataFrame
    names: Mapping[str, str]
    labels: Mapping[str, str]
    values: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()
    cut: Mapping[str, int] = field(default_factory=dict)


STATA = ProgramLimits(name=31, label=80, text=None, value_label=32_000)
"""Stata allows names of 32 characters, but the library names the labels of values after their column, in 31."""
SPSS = ProgramLimits(name=64, label=256, text=32_767, value_label=120)
_FORMAT_118 = 14
_STATA_DATE = b"01 Jan 2000 00:00"
_BEFORE_STATA_DATE = b"<timestamp>" + bytes([len(_STATA_DATE)])
_STATA_HEAD = 1000
_SPSS_DATE_AT, _SPSS_DATE = 92, b"01 Jan 0000:00:00"
"""Position and replacement of the date (nine characters) and time (eight) in the header of a .sav file."""
_WIDEST = 40
"""The most characters of a text that the data view of SPSS shows by default."""


def library(to: str) -> Any:
    """Return pyreadstat, which is optional."""
    try:
        return import_module("pyreadstat")
    except ImportError:
        remedy = f"Install it with: {how_to_install('pyreadstat')}"
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
    """Return the categories of a column by number, from 1."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return {}
    return {number: clean(str(text)) for number, text in enumerate(values.dtype.categories, start=1)}


def plain_numbers(values: pd.Series, *, whole: bool) -> pd.Series:
    """Return integers of 32 bits or floats of 64; categories are numbered from 1, infinite values are missing."""
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
    """Return a text without NUL, which ends a text in these files, and without lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")


def _cut(texts: pd.Series, most: int) -> tuple[pd.Series, int]:
    """Return texts with those of too many bytes cut between characters, and how many these are."""
    long = np.array([len(one) * 4 > most and len(one.encode()) > most for one in texts], dtype=np.bool_)
    kept = [shortened(one, most) if far else one for one, far in zip(texts, long, strict=True)]
    return pd.Series(kept, dtype=object), int(long.sum())


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` bytes; three dots show that it was cut.

    Examples
    --------
    >>> shortened("What a high value means", 12)
    'What a hi...'
    """
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - 3].decode("utf-8", "ignore") + "..."


def write_names(done: Sequence[tuple[ExportTable, LabelledTable]], path: Path) -> None:
    """Write the short name of each column, with its name in the tables of the package."""
    rows = [
        (table.name, column, name, one.labels[name], one.cut.get(name, 0))
        for table, one in done
        for column, name in one.names.items()
    ]
    write(path, as_csv(pd.DataFrame(rows, columns=["table", "column", "name", "label", "n_texts_cut"])))


def write_stata(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a .dta file for each table, and the names of their columns."""
    pyreadstat = library("stata")
    done = [(table, labelled(table, STATA)) for table in exported]
    for table, one in done:
        path = fresh(out / f"{table.name}.dta")
        _write(pyreadstat.write_dta, table, one, path, version=_FORMAT_118)
        with path.open("r+b") as file:  # no time of writing: the same table gives the same bytes
            at = file.read(_STATA_HEAD).find(_BEFORE_STATA_DATE)
            if at >= 0:
                file.seek(at + len(_BEFORE_STATA_DATE))
                file.write(_STATA_DATE)
    write_names(done, out / "names_stata.csv")


def write_spss(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a .sav file for each table, and the names of their columns."""
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
        with path.open("r+b") as file:  # no time of writing here either
            file.seek(_SPSS_DATE_AT)
            file.write(_SPSS_DATE)
    write_names(done, out / "names_spss.csv")


def _write(
    write_file: Callable[..., object], table: ExportTable, one: LabelledTable, path: Path, **options: Any
) -> None:
    """Write a file; an error of the library is passed on without its message, which could quote the table."""
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
