"""Stata files (.dta of Stata 14 and later) by pandas, SPSS files (.sav) by pyreadstat, all with labels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.errors import BadOptionError, how_to_install
from therapy_analytics.core.private import fresh, write
from therapy_analytics.results import as_csv
from therapy_analytics.results.exports._tables import YES_NO, ExportTable

_STATA_NAME, _STATA_LABEL = 32, 80
_SPSS_NAME, _SPSS_LABEL, _SPSS_VALUE, _SPSS_TEXT = 64, 256, 120, 32_767
"""Characters of a name, bytes of the label of a variable and of a value, and of a text, at most."""
_LONGEST_INT = 2**31 - 1000
"""Larger integers are written as floating-point numbers: the largest 32-bit integers mean "missing" in Stata."""
_NO_DATE = datetime(2000, 1, 1)
_RESERVED_WORDS = """
all and by byte double eq float ge gt if in int le long lt ne not or strl to using with
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A table of numbers and texts under names that the programs take, with labels of columns and of values."""

    frame: pd.DataFrame
    names: Mapping[str, str]
    labels: Mapping[str, str]
    values: Mapping[str, Mapping[int, str]]


def library() -> Any:
    """Return pyreadstat, which is optional."""
    try:
        return import_module("pyreadstat")
    except ImportError:
        problem = "writing SPSS files needs the package pyreadstat, which is not installed"
        raise BadOptionError("--to spss", problem, f"Install it with: {how_to_install('pyreadstat')}") from None


def _labelled(table: ExportTable, *, name: int, label: int) -> _Labelled:
    names = valid_names(map(str, table.frame), most=name)
    columns: dict[str, pd.Series] = {}
    values: dict[str, dict[int, str]] = {}
    for column, plain in names.items():
        given = table.frame[column]
        if isinstance(given.dtype, pd.CategoricalDtype):
            values[plain] = {at: clean(str(text)) for at, text in enumerate(given.dtype.categories, start=1)}
            columns[plain] = given.cat.codes.astype("float64").add(1).where(given.notna())
        elif pd.api.types.is_numeric_dtype(given):
            values |= {plain: YES_NO} if table.is_yes_no(column) else {}
            columns[plain] = _numbers(given)
        else:
            columns[plain] = pd.Series([clean(str(one)) for one in given.fillna("")], dtype=object)
    labels = {plain: _short(clean(table.label(column)), label) for column, plain in names.items()}
    return _Labelled(pd.DataFrame(columns), names, labels, values)


def _numbers(values: pd.Series) -> pd.Series:
    """Return whole numbers as integers of 32 bits where none is missing, all others as floats; infinity is missing."""
    floats = values.to_numpy(dtype=np.float64, na_value=np.nan)
    whole = not pd.api.types.is_float_dtype(values) and bool((np.abs(floats) < _LONGEST_INT).all())
    return pd.Series(floats.astype(np.int32) if whole else np.where(np.isfinite(floats), floats, np.nan))


def valid_names(names: Iterable[str], *, most: int) -> dict[str, str]:
    r"""Return a name for each column of letters, digits and _; where two would be the same, the later is numbered.

    Examples
    --------
    >>> list(valid_names(["if", "1st", "rate_of_this_lo", "rate_of_this_hi", "Gr\xf6\xdfe"], most=12).values())
    ['v_if', 'v_1st', 'rate_of_this', 'rate_of_th_2', 'Groe']
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        plain = re.sub(r"\W+", "_", letters, flags=re.ASCII).strip("_")
        reserved = plain.casefold() in _RESERVED or re.fullmatch(r"(?i)str\d+", plain)
        plain = plain if plain[:1].isalpha() and not reserved else f"v_{plain}".rstrip("_")
        short, number = plain[:most], 1
        while short.casefold() in taken:
            number += 1
            short = f"{plain[: most - len(f'_{number}')]}_{number}"
        taken.add(short.casefold())
        found[name] = short
    return found


def clean(text: str) -> str:
    """Return a text without NUL, which ends a text in these files, and without lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")


def _short(text: str, most: int) -> str:
    """Return a text of at most `most` bytes; three dots show that it was cut."""
    whole = text.encode()
    return text if len(whole) <= most else whole[: most - 3].decode("utf-8", "ignore") + "..."


def _write_names(done: Sequence[tuple[ExportTable, _Labelled]], path: Path) -> None:
    """Write the name of each column in these files, with its name in the tables of the package."""
    rows = [(table.name, column, name, one.labels[name]) for table, one in done for column, name in one.names.items()]
    write(path, as_csv(pd.DataFrame(rows, columns=["table", "column", "name", "label"])))


def write_stata(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a .dta file for each table, and the names of their columns."""
    done = [(table, _labelled(table, name=_STATA_NAME, label=_STATA_LABEL)) for table in exported]
    for table, one in done:
        one.frame.to_stata(
            fresh(out / f"{table.name}.dta"),
            write_index=False,
            version=118,
            time_stamp=_NO_DATE,
            data_label=f"therapy-analytics: {table.name}",
            variable_labels=dict(one.labels),
            value_labels={
                name: {float(at): text for at, text in labels.items()} for name, labels in one.values.items()
            },
        )
    _write_names(done, out / "names_stata.csv")


def write_spss(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a .sav file for each table, and the names of their columns."""
    pyreadstat = library()
    done = [(table, _labelled(table, name=_SPSS_NAME, label=_SPSS_LABEL)) for table in exported]
    for table, one in done:
        texts = [str(name) for name in one.frame if one.frame[name].dtype == object]
        frame = one.frame.assign(**{name: [_short(text, _SPSS_TEXT) for text in one.frame[name]] for name in texts})
        ordered = {
            name for column, name in one.names.items() if getattr(table.frame[column].dtype, "ordered", False) is True
        }
        nominal = {*texts, *one.values}
        try:
            pyreadstat.write_sav(
                frame,
                str(fresh(out / f"{table.name}.sav")),
                file_label=f"therapy-analytics: {table.name}",
                row_compress=True,
                column_labels=dict(one.labels),
                variable_value_labels={
                    name: {value: _short(text, _SPSS_VALUE) for value, text in labels.items()}
                    for name, labels in one.values.items()
                },
                variable_measure={
                    name: "ordinal" if name in ordered else "nominal" if name in nominal else "scale" for name in frame
                },
            )
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, TypeError) as error:
            # without the message of the library, which could quote the table
            problem = f"the table {table.name} cannot be written ({type(error).__name__})"
            raise BadOptionError("--to", problem, "Export to another form, and report this as a defect") from None
    _write_names(done, out / "names_spss.csv")
