"""The codebook of a run (``codebook.csv``): what every column and measure means; and codes with their definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isinf
from typing import Literal

import numpy as np
import pandas as pd

from therapy_analytics.codes import Code, Codebook, Meaning
from therapy_analytics.measures import Column, Curve, KindOf, Mark, Measure, OnPage
from therapy_analytics.measures.base import STATISTICS, Shown, wide_name
from therapy_analytics.measures.profile_rows import profile_columns
from therapy_analytics.measures.rows import MEASURE_COLUMNS
from therapy_analytics.results.frames import BEHAVIOUR_COLUMNS
from therapy_analytics.results.references import ledger_words
from therapy_analytics.results.tables import (
    QUOTE_COLUMN,
    SENTENCES_COLUMN,
    SESSION_COLUMNS,
    SPEAKER_COLUMN,
    TURN_COLUMNS,
    TURN_KEYS,
    UNSURE_COLUMN,
    fixed_column,
)

CODEBOOK_COLUMNS = (
    "column", "table", "family", "meaning", "unit", "range", "high_means", "formula", "misleads", "evidence", "source",
    "measure", "direction", "label", "page", "does", "compare", "outcomes",
)  # fmt: skip
"""The columns of ``codebook.csv``. The last five are the name of a measure on the page, its place there, what a speaker
does in turns that it counts, whether ``tanalyze compare`` tests or shows it by default, and what
ratings, outcomes and skill have to do with it."""
ABOUT = ("fixed", "metadata")
"""Families of columns that describe a session and are no measures."""
MEASURED = "measured"
"""The value of the codebook's column ``table`` in rows about measures, which are no columns of a file."""


def codebook_table(
    measures: Sequence[tuple[Measure, Column]],
    codebooks: Sequence[Codebook],
    *,
    sessions: Iterable[str],
    gold: Iterable[str],
    meaning: Meaning,
    repaired: bool = False,
) -> pd.DataFrame:
    """Return a row for every column of the tables of a run, and for every measure.

    Parameters
    ----------
    measures : sequence of (Measure, Column)
        Each column of each measure of the run.
    codebooks : sequence of Codebook
        The codes of the run.
    sessions : iterable of str
        Columns of the sessions table; those that are not known otherwise are metadata.
    gold : iterable of str
        Columns of codes that people gave.
    meaning : Meaning
        How codes were made and when they mislead, which depends on the coder.
    repaired : bool, optional
        Whether speakers were repaired, so that the turns have a column about it.
    """
    rates = [(one, column) for one, column in measures if column.level == "session"]
    known = {column.name for column in SESSION_COLUMNS} | {column.name for _, column in rates}
    codes = [(book, code) for book in codebooks for code in book.codes]
    facts = [fixed_column(str(name), _OF_FACTS) for name in sessions if name not in known]
    of_turns = [*TURN_COLUMNS, *((SPEAKER_COLUMN,) if repaired else ()), QUOTE_COLUMN]
    of_codes = profile_columns([code for _, code in codes], known)
    unsure = replace(UNSURE_COLUMN, formula=meaning.unsure, misleads=meaning.misleads, source="This program")
    ledger = ledger_words()
    return _frame([
        *(_row(column, "sessions", "fixed") for column in SESSION_COLUMNS),
        *(_row(column, "sessions", "metadata") for column in facts),
        *(
            {**_row(column, "sessions", one.family), "outcomes": ledger.get(column.name, "")}
            for one, column in rates
            if column.core
        ),
        *(_row(column, MEASURED, one.family) for one, column in rates if column.statistic == "value"),
        *(_row(column, MEASURED, "process") for column in of_codes),
        *(_row(column, "turns", "fixed") for column in of_turns),
        *(_code_row(code, book, "turns", meaning) for book, code in codes),
        *(_row(fixed_column(name, _OF_GOLD), "turns", "codes, by people") for name in gold),
        *(_row(column, "probabilities", "fixed") for column in TURN_KEYS),
        *(_code_row(code, book, "probabilities", meaning) for book, code in codes),
        _row(unsure, "probabilities", "codes"),
        *(_row(column, "turn_measures", "fixed") for column in (*TURN_KEYS, SENTENCES_COLUMN)),
        *(_row(column, "turn_measures", one.family) for one, column in measures if column.level == "turn"),
        *(_row(column, "behaviours", "codes") for column in BEHAVIOUR_COLUMNS),
    ])  # fmt: skip


def wide_codebook(codebook: pd.DataFrame) -> pd.DataFrame:
    """Return the codebook of the wide table, indexed by the names of its columns.

    Parameters
    ----------
    codebook : DataFrame
        As ``analysis.codebook``.

    Returns
    -------
    DataFrame
        The rows about the identity of a session, then for each measure a row for its value and for each statistic
        that it may have, which ``statistic`` names; ``core`` says whether it is a column of ``sessions.csv``. Synchrony
        is compared, and shown of several sessions, as the excess over surrogate pairs, never as its value, which grows
        with the length of turns: its place on the page and in comparisons is that of ``excess``.
    """
    about = codebook[(codebook["table"] == "sessions") & codebook["family"].isin(ABOUT)].assign(statistic="")
    values = codebook[codebook["table"] == MEASURED]
    rows_of = list(zip(values["measure"], values["direction"], strict=True))
    found = [about]
    for statistic, column in zip(STATISTICS, MEASURE_COLUMNS[3:], strict=True):
        names = [wide_name(measure, direction, statistic) for measure, direction in rows_of]
        rows = values.assign(column=names, statistic=statistic)
        if statistic != "value":
            rows = rows.assign(meaning=f"{column.meaning}: " + values["column"])
        if column.unit != "as the measure":
            rows = rows.assign(unit=column.unit, range=_range(column))
        if statistic == "excess":
            rows = rows.assign(
                meaning=values["meaning"] + ", above what surrogate pairs lead one to expect",
                high_means=values["high_means"] + "; 0 is what surrogate pairs lead one to expect",
                formula="value - surrogate_mean",
                range="any",
                label=(values["label"] + ", above surrogate pairs").where(values["label"] != "", ""),
            )
        found.append(rows)
    whole = pd.concat(found).drop_duplicates("column").set_index("column")
    compared = np.where(whole["family"] == "synchrony", "excess", "value")
    beside = (whole["statistic"] != "") & (whole["statistic"] != compared)
    whole.loc[beside, ["page", "label", "does"]] = ""
    whole.loc[beside, "compare"] = "no"
    return whole.assign(core=whole.index.isin(codebook.loc[codebook["table"] == "sessions", "column"]))


def codebook_of(table: str, family: str, columns: Sequence[Column]) -> pd.DataFrame:
    """Return the codebook's rows about a table with these columns."""
    return _frame([_row(column, table, family) for column in columns])


def _frame(rows: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """Return rows as a table; cells that a row lacks are empty."""
    empty = dict.fromkeys(CODEBOOK_COLUMNS, "")
    return pd.DataFrame([{**empty, **row} for row in rows], columns=list(CODEBOOK_COLUMNS))


_OF_FACTS = "From the transcript's file or a table about the sessions"
_OF_GOLD = "Codes that people gave the turn, as the transcript's file has them; several are split by ;"
_COPIED = ("meaning", "unit", "high_means", "formula", "misleads", "evidence", "source")
"""What a row says as its `Column` has it."""


def _row(column: Column, table: str, family: str) -> dict[str, str]:
    return {
        "column": column.name,
        "table": table,
        "family": family,
        **{name: getattr(column, name) for name in _COPIED},
        "range": _range(column),
        **(dict(zip(("measure", "direction"), column.row, strict=True)) if table in (MEASURED, "sessions") else {}),
        **_on_page(column.page),
        "compare": "no" if column.unit == "count" else column.compare,
    }


def _code_row(code: Code, book: Codebook, table: Literal["turns", "probabilities"], meaning: Meaning) -> dict[str, str]:
    """Return the row on the decisions, or on the probabilities, of a code."""
    told = {
        "turns": (f"{code.name}: {code.definition}", "0 or 1", meaning.decision),
        "probabilities": (f"Probability of {code.column}", "probability", meaning.probability),
    }
    return {
        "column": code.column,
        "table": table,
        "family": f"codes, {book.name}",
        **dict(zip(("meaning", "unit", "formula"), told[table], strict=True)),
        "range": "0 to 1",
        "misleads": f"{meaning.misleads}; experimental: {code.status_reason}" if code.status else meaning.misleads,
        "source": code.source or book.source,
    }


FIRST, STRIP, MARK, KIND, CURVE = "first", "strip", "mark", "kind", "curve"
ALSO = f"{MARK}, also"
"""Words in the codebook's column ``page``: a column that the table of the page shows first; the place of a measure in
the strip of numbers of a session (``strip 3``); marked turns (those that are not to review: `ALSO`); a kind of what
another measure counts; a line."""


def _on_page(page: Shown | None) -> dict[str, str]:
    """Return the cells of the codebook on how the page shows a column; `Mark` and `Curve` are for columns of turns."""
    if isinstance(page, OnPage):
        strip = f"{STRIP} {page.strip}" if page.strip else ""
        place = ", ".join(filter(None, (page.heading, strip, FIRST if page.first else "")))
        return {"label": page.label, "page": place, "does": page.does}
    if isinstance(page, Mark):
        return {"label": page.label, "page": ALSO if page.also else MARK, "measure": page.danger}
    if isinstance(page, KindOf):
        return {"label": page.label, "page": f"{KIND}, {page.kind_of}"}
    if isinstance(page, Curve):
        return {"label": page.label, "page": CURVE, "measure": page.beside}
    return {}


def _range(column: Column) -> str:
    low, high = column.low, column.high
    if isinf(low) and isinf(high):
        return "any"
    return f"{low:g} or more" if isinf(high) else f"{low:g} to {high:g}"


def codes_table(codebooks: Iterable[Codebook]) -> pd.DataFrame:
    """Return a row for every code of these codebooks, with all that its codebook says of it."""
    plain = ("column", "book", "id", "label", "name", "role", "group", "level", "parent")
    return pd.DataFrame([
        {
            **{name: getattr(code, name) for name in plain},
            "status": f"{code.status}: {code.status_reason}" if code.status else "",
            "unit": code.unit,
            "definition": code.definition,
            "examples": "\n".join(code.examples),
            "counter_examples": "\n".join(code.counter_examples),
            "crosswalk": "\n".join(f"{one.to} ({one.quality}) {one.note}".strip() for one in code.crosswalk),
            "source": code.source,
        }
        for book in codebooks
        for code in book.codes
    ])  # fmt: skip
