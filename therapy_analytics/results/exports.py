"""Export of tables for a spreadsheet, R, Stata (.dta of version 14 and later, by pandas) and SPSS (by pyreadstat).

How to add a form: write ``f(tables, out) -> None``, which calls `private.fresh` for each file that it writes, and add
it to `FORMS`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.errors import BadOptionError, UnknownNameError, how_to_install
from therapy_analytics.core.folders import Made, alone_in, replaced_in, sources_of
from therapy_analytics.core.private import fresh, write
from therapy_analytics.core.third_party import pyarrow
from therapy_analytics.results.analysis import IN_ANALYSIS, NAMED, Analysis
from therapy_analytics.results.codebook_table import wide_codebook
from therapy_analytics.results.reading import load
from therapy_analytics.results.reading import wide as wide_table
from therapy_analytics.results.writing import as_csv

EXPORTED = (*IN_ANALYSIS, "behaviours", "codebook")
"""The tables of an analysis, its codes in long form, and its codebook."""
WIDE = "wide"
"""The table that is exported on request: a row a session, every number in a column of its own."""
_TOLD = ("meaning", "unit", "range", "high_means", "evidence")
"""The parts of the codebook that CSV and Parquet hold for each column; all of it would outweigh the numbers."""
_OF_CODEBOOK = {
    "column": "Name of the column",
    "table": "The table that it is in",
    "family": "What it belongs to",
    "meaning": "What it means",
    "unit": "Its unit",
    "range": "The values that it can have",
    "high_means": "What a high value means",
    "formula": "How it is computed",
    "misleads": "When it misleads",
    "evidence": "How far a check on real sessions bears it out",
    "source": "Where it comes from",
    "measure": "The measure that it is a number of",
    "direction": "Of a measure of synchrony, whose replies",
}
_STATA_NAME, _STATA_LABEL = 32, 80
_SPSS_NAME, _SPSS_LABEL, _SPSS_VALUE, _SPSS_TEXT = 64, 256, 120, 32_767
"""Characters of a name, bytes of the label of a variable and of a value, and of a text, at most."""
_LONGEST_INT = 2**31 - 1000
"""Larger integers are written as floating-point numbers: the largest 32-bit integers mean "missing" in Stata."""
_NO_DATE = datetime(2000, 1, 1)
_RESERVED = "all and by byte double eq float ge gt if in int le long lt ne not or strl to using with"


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table to be written.

    Attributes
    ----------
    name : str
        One of `EXPORTED`, or `WIDE`.
    frame : DataFrame
        The table.
    about : mapping of str to mapping of str to str
        The codebook's row for each column that it lists.
    """

    name: str
    frame: pd.DataFrame
    about: Mapping[str, Mapping[str, str]]

    def told(self, column: object, key: str = "meaning") -> str:
        """Return what the codebook says of a column; empty if it does not list it."""
        return self.about.get(str(column), {}).get(key, "")


@dataclass(frozen=True, slots=True)
class _ExportForm:
    """A form of export."""

    suffix: str
    write: Callable[[Sequence[ExportTable], Path], None]
    names: str = ""
    """The file that lists the columns, or their short names, if there is one."""
    check: Callable[[], object] = lambda: None
    """Raises a `BadOptionError` if the library that writes it is not installed."""

    @property
    def files(self) -> list[str]:
        """The names of all files that an export may write."""
        return [f"{table}{self.suffix}" for table in (*EXPORTED, WIDE)] + ([self.names] if self.names else [])


def export(
    results: Analysis | str | Path,
    out: str | Path,
    *,
    to: str = "csv",
    wide: bool | None = None,
    replace: bool = False,
    on_before: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write the tables of an analysis for a spreadsheet, R, Stata or SPSS: as ``ta.export``, which writes codes, too.

    Raises
    ------
    UnknownNameError
        There is no such form.
    BadOptionError
        A library is missing, the folder holds other files, or exports of other results, or the results cannot be read.
    CannotWriteError
        The system refused to write.
    """
    if to not in FORMS:
        kind = "form to export to"
        raise UnknownNameError(kind, to, tuple(FORMS))
    form = FORMS[to]
    form.check()
    analysis = results if isinstance(results, Analysis) else load(results)
    out = Path(out)
    known = {name for one in FORMS.values() for name in one.files}
    made = Made(
        what="exported tables", names=form.files, beside=known.difference(form.files), sources=sources_of(results),
        replace=replace, say=on_before,
    )  # fmt: skip
    with alone_in(out):
        frames: dict[str, pd.DataFrame] = {name: getattr(analysis, name) for name in EXPORTED}
        if to == "csv" if wide is None else wide:
            frames[WIDE] = wide_table(analysis)
        tables = [
            ExportTable(name, frame, _about(name, analysis.codebook))
            for name, frame in frames.items()
            if len(frame) or name not in NAMED or not NAMED[name].may_be_missing
        ]
        with replaced_in(out, made) as part:
            form.write(tables, part)
    return [out / name for name in form.files if (out / name).is_file()]


def _about(name: str, codebook: pd.DataFrame) -> dict[str, Mapping[str, str]]:
    if name == "codebook":
        return {column: {"meaning": meaning} for column, meaning in _OF_CODEBOOK.items()}
    if name == WIDE:
        rows = wide_codebook(codebook).reset_index()
    else:
        # The columns of dyads are its own, which take precedence, and core measures.
        asked = ("sessions", name) if name == "dyads" else (name,)
        rows = pd.concat([codebook[codebook["table"] == one] for one in asked])
    found = rows.to_dict("records")
    return {str(row["column"]): {str(key): str(value) for key, value in row.items()} for row in found}


def _write_csv(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a file for each table, and ``columns.csv``, which says what each of their columns means."""
    for one in exported:
        write(out / f"{one.name}.csv", as_csv(one.frame))
    rows = [
        {"table": one.name, "column": name, **{key: one.told(name, key) for key in _TOLD}}
        for one in exported
        for name in one.frame
    ]
    write(out / "columns.csv", as_csv(pd.DataFrame(rows)))


def _pyarrow() -> Any:
    return pyarrow("--to parquet", needed="writing Parquet")


def _write_parquet(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a file for each table, from which pandas restores categories and missing values."""
    arrow = _pyarrow()
    for one in exported:
        table = arrow.Table.from_pandas(one.frame, preserve_index=False)
        fields = [
            field.with_metadata({key: one.told(field.name, key) for key in _TOLD if one.told(field.name, key)})
            for field in table.schema
        ]
        whole = arrow.Table.from_arrays(table.columns, schema=arrow.schema(fields, metadata=table.schema.metadata))
        with fresh(out / f"{one.name}.parquet").open("wb") as file:  # pyarrow opens no file whose name is not UTF-8
            arrow.parquet.write_table(whole, file, compression="zstd")


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A table of numbers and texts under names that the programs take, with labels of columns and of values."""

    name: str
    frame: pd.DataFrame
    names: Mapping[str, str]
    labels: Mapping[str, str]
    values: Mapping[str, Mapping[int, str]]


def _labelled(table: ExportTable, *, name: int, label: int) -> _Labelled:
    """Return a table with names of so many characters and labels of so many bytes at most."""
    names = _valid_names(map(str, table.frame), most=name)
    columns: dict[str, pd.Series] = {}
    values: dict[str, dict[int, str]] = {}
    for column, plain in names.items():
        given = table.frame[column]
        if isinstance(given.dtype, pd.CategoricalDtype):
            values[plain] = {at: _clean(str(text)) for at, text in enumerate(given.dtype.categories, start=1)}
            columns[plain] = given.cat.codes.astype("float64").add(1).where(given.notna())
        elif pd.api.types.is_numeric_dtype(given):
            flags = table.told(column, "unit") == "0 or 1" and given.dropna().isin((0, 1)).all()
            if flags or pd.api.types.is_bool_dtype(given):
                values[plain] = {0: "no", 1: "yes"}
            floats = given.to_numpy(dtype=np.float64, na_value=np.nan)
            whole = not pd.api.types.is_float_dtype(given) and (np.abs(floats) < _LONGEST_INT).all()
            # Integers of 32 bits where none is missing, else floats, of which infinity is missing
            columns[plain] = pd.Series(
                floats.astype(np.int32) if whole else np.where(np.isfinite(floats), floats, np.nan)
            )
        else:
            columns[plain] = pd.Series([_clean(str(one)) for one in given.fillna("")], dtype=object)
    labels = {plain: _short(_clean(table.told(column)), label) for column, plain in names.items()}
    return _Labelled(table.name, pd.DataFrame(columns), names, labels, values)


def _valid_names(names: Iterable[str], *, most: int) -> dict[str, str]:
    r"""Return a name for each column of letters, digits and _; where two would be the same, the later is numbered.

    Examples
    --------
    >>> list(_valid_names(["if", "1st", "rate_of_this_lo", "rate_of_this_hi", "Gr\xf6\xdfe"], most=12).values())
    ['v_if', 'v_1st', 'rate_of_this', 'rate_of_th_2', 'Groe']
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        plain = re.sub(r"\W+", "_", letters, flags=re.ASCII).strip("_")
        reserved = plain.casefold() in _RESERVED.split() or re.fullmatch(r"(?i)str\d+", plain)
        plain = plain if plain[:1].isalpha() and not reserved else f"v_{plain}".rstrip("_")
        short, number = plain[:most], 1
        while short.casefold() in taken:
            number += 1
            short = f"{plain[: most - len(f'_{number}')]}_{number}"
        taken.add(short.casefold())
        found[name] = short
    return found


def _clean(text: str) -> str:
    """Return a text without NUL, which ends a text in these files, and without lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")


def _short(text: str, most: int) -> str:
    """Return a text of at most `most` bytes; three dots show that it was cut."""
    whole = text.encode()
    return text if len(whole) <= most else whole[: most - 3].decode("utf-8", "ignore") + "..."


def _write_names(done: Sequence[_Labelled], path: Path) -> None:
    """Write the name of each column in these files, with its name in the tables of the package."""
    rows = [(one.name, column, name, one.labels[name]) for one in done for column, name in one.names.items()]
    write(path, as_csv(pd.DataFrame(rows, columns=["table", "column", "name", "label"])))


def _write_stata(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a .dta file for each table, and the names of their columns."""
    done = [_labelled(table, name=_STATA_NAME, label=_STATA_LABEL) for table in exported]
    for one in done:
        values = {name: {float(at): text for at, text in labels.items()} for name, labels in one.values.items()}
        one.frame.to_stata(
            fresh(out / f"{one.name}.dta"), write_index=False, version=118, time_stamp=_NO_DATE,
            data_label=f"therapy-analytics: {one.name}", variable_labels=dict(one.labels), value_labels=values,
        )  # fmt: skip
    _write_names(done, out / "names_stata.csv")


def _pyreadstat() -> Any:
    """Return pyreadstat, which is optional."""
    try:
        return import_module("pyreadstat")
    except ImportError:
        problem = "writing SPSS files needs the package pyreadstat, which is not installed"
        raise BadOptionError("--to spss", problem, f"Install it with: {how_to_install('pyreadstat')}") from None


def _write_spss(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a .sav file for each table, and the names of their columns."""
    pyreadstat = _pyreadstat()
    done = [_labelled(table, name=_SPSS_NAME, label=_SPSS_LABEL) for table in exported]
    for table, one in zip(exported, done, strict=True):
        texts = [str(name) for name in one.frame if one.frame[name].dtype == object]
        frame = one.frame.assign(**{name: [_short(text, _SPSS_TEXT) for text in one.frame[name]] for name in texts})
        level = dict.fromkeys(frame, "scale") | dict.fromkeys([*texts, *one.values], "nominal")
        level |= {
            name: "ordinal" for column, name in one.names.items() if getattr(table.frame[column].dtype, "ordered", 0)
        }
        values = {name: {at: _short(text, _SPSS_VALUE) for at, text in one.values[name].items()} for name in one.values}
        try:
            pyreadstat.write_sav(
                frame, str(fresh(out / f"{one.name}.sav")), file_label=f"therapy-analytics: {one.name}",
                row_compress=True, column_labels=dict(one.labels), variable_value_labels=values, variable_measure=level,
            )  # fmt: skip
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, TypeError) as error:
            # without the message of the library, which could quote the table
            problem = f"the table {one.name} cannot be written ({type(error).__name__})"
            raise BadOptionError("--to", problem, "Export to another form, and report this as a defect") from None
    _write_names(done, out / "names_spss.csv")


FORMS = {
    "csv": _ExportForm(".csv", _write_csv, names="columns.csv"),
    "parquet": _ExportForm(".parquet", _write_parquet, check=_pyarrow),
    "stata": _ExportForm(".dta", _write_stata, names="names_stata.csv"),
    "spss": _ExportForm(".sav", _write_spss, names="names_spss.csv", check=_pyreadstat),
}
"""The forms that tables can be exported to, by name."""
