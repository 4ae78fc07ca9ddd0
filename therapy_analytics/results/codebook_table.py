"""The codebook of a run (``codebook.csv``): what every column and measure means; and codes with their definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isinf

import numpy as np
import pandas as pd

from therapy_analytics.codes import Code, Codebook, Meaning
from therapy_analytics.measures import Column, Curve, KindOf, Mark, Measure, OnPage
from therapy_analytics.measures.base import Shown, wide_name
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
_AS_MEASURE = "as the measure"
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
    of_turns = [(one, column) for one, column in measures if column.level == "turn"]
    known = {column.name for column in SESSION_COLUMNS} | {column.name for _, column in rates}
    changed = (SPEAKER_COLUMN,) if repaired else ()
    unsure = replace(UNSURE_COLUMN, formula=meaning.unsure, misleads=meaning.misleads, source="This program")
    codes = [(book, code) for book in codebooks for code in book.codes]
    rows = [_codebook_row(column, "sessions", "fixed") for column in SESSION_COLUMNS]
    rows += [_codebook_row(_metadata_column(name), "sessions", "metadata") for name in sessions if name not in known]
    ledger = ledger_words()
    rows += [
        {**_codebook_row(column, "sessions", one.family), "outcomes": ledger.get(column.name, "")}
        for one, column in rates
        if column.core
    ]
    rows += [_codebook_row(column, MEASURED, one.family) for one, column in rates if column.statistic == "value"]
    of_codes = profile_columns([code for _, code in codes], known)
    rows += [_codebook_row(column, MEASURED, "process") for column in of_codes]
    rows += [_codebook_row(column, "turns", "fixed") for column in (*TURN_COLUMNS, *changed, QUOTE_COLUMN)]
    rows += [_decision_row(code, book, meaning) for book, code in codes]
    rows += [_codebook_row(_gold_column(name), "turns", "codes, by people") for name in gold]
    rows += [_codebook_row(column, "probabilities", "fixed") for column in TURN_KEYS]
    rows += [_probability_row(code, book, meaning) for book, code in codes]
    rows.append(_codebook_row(unsure, "probabilities", "codes"))
    rows += [_codebook_row(column, "turn_measures", "fixed") for column in (*TURN_KEYS, SENTENCES_COLUMN)]
    rows += [_codebook_row(column, "turn_measures", one.family) for one, column in of_turns]
    rows += [_codebook_row(column, "behaviours", "codes") for column in BEHAVIOUR_COLUMNS]
    return _frame(rows)


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
    found = [about]
    for column in MEASURE_COLUMNS[3:]:
        name = column.name
        wide = [
            wide_name(measure, direction, name)  # type: ignore[arg-type]
            for measure, direction in zip(values["measure"], values["direction"], strict=True)
        ]
        rows = values.assign(column=wide, statistic=name)
        if name != "value":
            rows = rows.assign(meaning=f"{column.meaning}: " + values["column"])
        if column.unit != _AS_MEASURE:
            rows = rows.assign(unit=column.unit, range=_range(column))
        if name == "excess":
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
    whole.loc[(whole["statistic"] != "") & (whole["statistic"] != compared), ["page", "label", "does"]] = ""
    whole.loc[(whole["statistic"] != "") & (whole["statistic"] != compared), "compare"] = "no"
    return whole.assign(core=whole.index.isin(codebook.loc[codebook["table"] == "sessions", "column"]))


def codebook_of(table: str, family: str, columns: Sequence[Column]) -> pd.DataFrame:
    """Return the codebook's rows about a table with these columns."""
    rows = [_codebook_row(column, table, family) for column in columns]
    return _frame(rows)


def _frame(rows: Iterable[Mapping[str, str]]) -> pd.DataFrame:
    """Return rows as a table; cells that a row lacks are empty."""
    empty = dict.fromkeys(CODEBOOK_COLUMNS, "")
    return pd.DataFrame([{**empty, **row} for row in rows], columns=list(CODEBOOK_COLUMNS))


def _metadata_column(name: object) -> Column:
    return fixed_column(str(name), "From the transcript's file or a table about the sessions")


def _gold_column(name: str) -> Column:
    return fixed_column(
        name, "Codes that people gave the turn, as the transcript's file has them; several are split by ;"
    )


def _codebook_row(column: Column, table: str, family: str) -> dict[str, str]:
    return {
        "column": column.name,
        "table": table,
        "family": family,
        "meaning": column.meaning,
        "unit": column.unit,
        "range": _range(column),
        "high_means": column.high_means,
        "formula": column.formula,
        "misleads": column.misleads,
        "evidence": column.evidence,
        "source": column.source,
        **({"measure": column.row[0], "direction": column.row[1]} if table in (MEASURED, "sessions") else {}),
        **_on_page(column.page),
        "compare": "no" if column.unit == "count" else column.compare,
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


def _decision_row(code: Code, book: Codebook, meaning: Meaning) -> dict[str, str]:
    return {
        **_of_code(code, book, meaning),
        "table": "turns",
        "meaning": f"{code.name}: {code.definition}",
        "unit": "0 or 1",
        "formula": meaning.decision,
    }


def _probability_row(code: Code, book: Codebook, meaning: Meaning) -> dict[str, str]:
    return {
        **_of_code(code, book, meaning),
        "table": "probabilities",
        "meaning": f"Probability of {code.column}",
        "unit": "probability",
        "formula": meaning.probability,
    }


def _of_code(code: Code, book: Codebook, meaning: Meaning) -> dict[str, str]:
    return {
        "column": code.column,
        "family": f"codes, {book.name}",
        "range": "0 to 1",
        "misleads": f"{meaning.misleads}; experimental: {code.status_reason}" if code.status else meaning.misleads,
        "source": code.source or book.source,
    }


def codes_table(codebooks: Iterable[Codebook]) -> pd.DataFrame:
    """Return a row for every code of these codebooks, with all that its codebook says of it."""
    rows = [_code_row(code) for book in codebooks for code in book.codes]
    return pd.DataFrame(rows)


def _code_row(code: Code) -> dict[str, str]:
    return {
        "column": code.column,
        "book": code.book,
        "id": code.id,
        "label": code.label,
        "name": code.name,
        "role": code.role,
        "group": code.group,
        "level": code.level,
        "parent": code.parent,
        "status": f"{code.status}: {code.status_reason}" if code.status else "",
        "unit": code.unit,
        "definition": code.definition,
        "examples": "\n".join(code.examples),
        "counter_examples": "\n".join(code.counter_examples),
        "crosswalk": "\n".join(f"{one.to} ({one.quality}) {one.note}".strip() for one in code.crosswalk),
        "source": code.source,
    }
