"""The tables that are exported, each with the meaning of its columns; and how they are written as CSV and Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.core.private import fresh, write
from therapy_analytics.core.third_party import pyarrow
from therapy_analytics.results import as_csv, wide
from therapy_analytics.results.analysis import IN_ANALYSIS, TABLES, Analysis
from therapy_analytics.results.codebook_table import wide_codebook

EXPORTED = (*IN_ANALYSIS, "behaviours", "codebook")
"""The tables of an analysis, its codes in long form, and its codebook."""
WIDE = "wide"
"""The table that is exported on request: a row a session, every number in a column of its own."""
_MAY_BE_MISSING = frozenset(one.name for one in TABLES if one.may_be_missing)
_TOLD = ("meaning", "unit", "range", "high_means", "evidence")
"""The parts of the codebook that CSV and Parquet hold for each column; all of it would outweigh the numbers."""
YES_NO = {0: "no", 1: "yes"}
_UNIT_YES_NO = "0 or 1"
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

    def label(self, column: str) -> str:
        """Return what a column means; empty if the codebook does not list it."""
        return self.about.get(column, {}).get("meaning", "")

    def is_yes_no(self, column: str) -> bool:
        """Return whether a column holds only 0, 1 and missing values."""
        one = self.frame[column]
        if pd.api.types.is_bool_dtype(one):
            return True
        return self.about.get(column, {}).get("unit") == _UNIT_YES_NO and bool(one.dropna().isin((0, 1)).all())


def export_tables(analysis: Analysis, *, with_wide: bool = False) -> list[ExportTable]:
    """Return the tables to export: those that may be missing if they have rows, the wide one on request."""
    frames: dict[str, pd.DataFrame] = {name: getattr(analysis, name) for name in EXPORTED}
    given = {name: one for name, one in frames.items() if len(one) or name not in _MAY_BE_MISSING}
    if with_wide:
        given[WIDE] = wide(analysis)
    return [ExportTable(name, one, _about(name, analysis.codebook)) for name, one in given.items()]


def _about(name: str, codebook: pd.DataFrame) -> dict[str, Mapping[str, str]]:
    if name == "codebook":
        return {column: {"meaning": meaning} for column, meaning in _OF_CODEBOOK.items()}
    if name == WIDE:
        return _by_column(wide_codebook(codebook).reset_index())
    # The columns of dyads are its own, which take precedence, and core measures.
    tables = ("sessions", name) if name == "dyads" else (name,)
    found: dict[str, Mapping[str, str]] = {}
    for table in tables:
        found |= _by_column(codebook[codebook["table"] == table])
    return found


def _by_column(rows: pd.DataFrame) -> dict[str, Mapping[str, str]]:
    found = rows.to_dict("records")
    return {str(row["column"]): {str(key): str(value) for key, value in row.items()} for row in found}


def nothing_needed() -> None:
    """Do nothing: CSV and Stata files need no library that could be missing."""


def write_csv(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a file for each table, and ``columns.csv``, which says what each of their columns means."""
    for one in exported:
        write(out / f"{one.name}.csv", as_csv(one.frame))
    rows = [
        {"table": one.name, "column": name, **{key: one.about.get(str(name), {}).get(key, "") for key in _TOLD}}
        for one in exported
        for name in one.frame
    ]
    write(out / "columns.csv", as_csv(pd.DataFrame(rows)))


def parquet_library() -> Any:
    """Return pyarrow, which is optional; a BadOptionError if it is not installed."""
    return pyarrow("--to parquet", needed="writing Parquet")


def write_parquet(exported: Sequence[ExportTable], out: Path) -> None:
    """Write a file for each table, from which pandas restores categories and missing values."""
    arrow = parquet_library()
    for one in exported:
        path = out / f"{one.name}.parquet"
        fresh(path)
        table = arrow.Table.from_pandas(one.frame, preserve_index=False)
        fields = [field.with_metadata(_told(one, field.name)) for field in table.schema]
        schema = arrow.schema(fields, metadata=table.schema.metadata)
        whole = arrow.Table.from_arrays(table.columns, schema=schema)
        with path.open("wb") as file:  # pyarrow opens no file whose name is not UTF-8
            arrow.parquet.write_table(whole, file, compression="zstd")


def _told(one: ExportTable, column: str) -> dict[str, str]:
    about = one.about.get(column, {})
    return {key: value for key, value in about.items() if value and key in _TOLD}
