"""The tables of an analysis, each with what is known of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from therapy_analytics.analysis import Analysis

TABLES = ("sessions", "turns", "behaviours", "profile", "responses", "feelings", "dyads", "codebook")
YES_NO = {0: "no", 1: "yes"}
_UNIT_YES_NO = "0 or 1"
_OF_CODEBOOK = {
    "column": "Name of the column",
    "table": "The table that it is in",
    "family": "What it belongs to",
    "meaning": "What it means",
    "unit": "Its unit",
    "range": "The values that it can have",
    "direction": "What a high value means",
    "formula": "How it is computed",
    "misleads": "When it misleads",
    "evidence": "How far a check on real sessions bears it out",
    "source": "Where it comes from",
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table to be written.

    Attributes
    ----------
    name : str
        One of `TABLES`.
    frame : DataFrame
        The table.
    about : mapping of str to mapping of str to str
        For each column that the codebook knows, its row there.
    """

    name: str
    frame: pd.DataFrame
    about: Mapping[str, Mapping[str, str]]

    def label(self, column: str) -> str:
        """Return what a column means, "" where nothing is known of it."""
        return self.about.get(column, {}).get("meaning", "")

    def is_yes_no(self, column: str) -> bool:
        """Return whether a column holds nothing but 0, 1 and missing values."""
        one = self.frame[column]
        if pd.api.types.is_bool_dtype(one):
            return True
        return self.about.get(column, {}).get("unit") == _UNIT_YES_NO and bool(one.dropna().isin((0, 1)).all())


def sheets_of(analysis: Analysis) -> list[Sheet]:
    """Return the tables of an analysis; dyads only where there are any."""
    frames: dict[str, pd.DataFrame] = {name: getattr(analysis, name) for name in TABLES}
    given = {name: one for name, one in frames.items() if len(one) or name != "dyads"}
    return [Sheet(name, one, _about(name, analysis.codebook)) for name, one in given.items()]


def _about(name: str, codebook: pd.DataFrame) -> dict[str, Mapping[str, str]]:
    if name == "codebook":
        return {column: {"meaning": meaning} for column, meaning in _OF_CODEBOOK.items()}
    # A dyad has the measures of a session besides its own columns, which come later and win.
    tables = ("sessions", name) if name == "dyads" else (name,)
    found: dict[str, Mapping[str, str]] = {}
    for table in tables:
        rows = codebook[codebook["table"] == table].to_dict("records")
        found |= {str(row["column"]): {str(key): str(value) for key, value in row.items()} for row in rows}
    return found
