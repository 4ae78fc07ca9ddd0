"""What Stata and SPSS have in common: numbers with labels, short names, and the libraries that write both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.errors import BadOptionError
from therapy_analytics.exports._names import short_names
from therapy_analytics.exports._sheets import YES_NO, Sheet
from therapy_analytics.private import write
from therapy_analytics.results import as_csv

LONGEST_INT = 2**31 - 1000
"""Whole numbers above it are written as numbers with decimals: the largest of 32 bits mean "missing" in Stata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
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
class Labelled:
    """A sheet as these programs take it; all mappings are by the short names.

    Attributes
    ----------
    frame : DataFrame
        Texts and numbers alone.
    names : mapping of str to str
        Short name of each column of the sheet.
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


def library(to: str) -> Any:
    """Return pyreadstat, which is optional."""
    try:
        return import_module("pyreadstat")
    except ImportError:
        remedy = "Install it with: pip install 'therapy-analytics[stats]'"
        problem = "writing Stata and SPSS files needs the package pyreadstat, which is not installed"
        raise BadOptionError(f"--to {to}", problem, remedy) from None


def labelled(sheet: Sheet, limits: Limits) -> Labelled:
    """Return a sheet as numbers with labels and texts of the right length."""
    names = short_names(map(str, sheet.frame), longest=limits.name)
    columns: dict[str, pd.Series] = {}
    values: dict[str, dict[int, str]] = {}
    cut: dict[str, int] = {}
    for column, name in names.items():
        given = sheet.frame[column]
        kinds = YES_NO if sheet.is_yes_no(column) else _kinds(given)
        if kinds:
            values[name] = {value: shortened(text, limits.value_label) for value, text in kinds.items()}
        columns[name] = plain_numbers(given, whole=bool(kinds)) if _is_number(given) else _texts(given)
        if not _is_number(given) and limits.text is not None:
            columns[name], cut[name] = _cut(columns[name], limits.text)
    labels = {name: shortened(clean(sheet.label(column)), limits.label) for column, name in names.items()}
    ordered = frozenset(name for column, name in names.items() if _is_ordered(sheet.frame[column]))
    return Labelled(pd.DataFrame(columns), names, labels, values, ordered, cut)


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


def write_names(done: Sequence[tuple[Sheet, Labelled]], path: Path) -> None:
    """Write how each column is called in these files, and in the package's own tables."""
    rows = [
        (sheet.name, column, name, one.labels[name], one.cut.get(name, 0))
        for sheet, one in done
        for column, name in one.names.items()
    ]
    write(path, as_csv(pd.DataFrame(rows, columns=["table", "column", "name", "label", "n_texts_cut"])))


def refused(sheet: Sheet, error: Exception) -> BadOptionError:
    """Return what to say when a library cannot write a table, without its words: they can be the table's."""
    problem = f"the table {sheet.name} cannot be written ({type(error).__name__})"
    return BadOptionError("--to", problem, "Export to another form, and report this as a defect")
