"""Read a table of scores as people keep it: a row a session, a score or a client, as one row a score."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from therapy_analytics.core.errors import BadDataFileError, BadOptionError, how_to_install
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.stats.compare._dates import iso_dates
from therapy_analytics.stats.outcomes._scales import Scale, ScaleIndex
from therapy_analytics.stats.people_tables import NONE, as_text, named, read_table
from therapy_analytics.stats.turn_matching import session_names

NAMES: Mapping[str, tuple[str, ...]] = {
    "session_id": ("session_id", "session", "sessionid", "transcript_id", "transcript", "source_file", "file",
                   "filename", "file_name"),
    "client": ("client", "client_id", "client_code", "patient", "patient_id", "participant", "participant_id",
               "person", "case", "case_id", "subject", "subject_id", "pseudonym", "id"),
    "counselor": ("counselor", "counsellor", "therapist", "clinician", "provider", "counselor_id", "therapist_id"),
    "date": ("date", "session_date", "date_of_session", "assessment_date", "date_completed", "completed", "day",
             "month"),
    "number": ("session_number", "session_no", "session_nr", "session_num", "number", "time", "time_point",
               "timepoint", "visit", "occasion"),
    "scale": ("scale", "measure", "instrument", "questionnaire", "test"),
    "score": ("score", "total", "total_score", "value", "result"),
}  # fmt: skip
"""Names of columns in the wild, the best known first."""
KEYS = ("session_id", "client", "counselor", "date", "number")
_BLANK = NONE | {".", "missing", "?"}
_LAST = re.compile(r"(.*?)[\s_.-]*(?:session|sess|visit|time|s|t)?[\s_.-]*0*(\d{1,3})", re.IGNORECASE)
_FIRST = re.compile(r"(?:session|sess|visit|time|s|t)?[\s_.-]*0*(\d{1,3})[\s_.-]+(.*)", re.IGNORECASE)
_MOST_NAMED = 5
_HALF = 0.5
_OPTION = "--outcomes"


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of clients.

    Attributes
    ----------
    table : DataFrame
        A row a score: ``row`` (of the file, its header being row 1), ``session_id``, ``client``, ``counselor``,
        ``date`` (ISO, perhaps in part), all text and "" where unknown; ``number`` (float, nan where unknown);
        ``scale`` (the scale's name) and ``score`` (float).
    refused : DataFrame
        The same columns with ``score`` as text, and ``why``: cells that hold no score that can be used.
    scales : tuple of Scale
        The scales, in the order of the table.
    notes : tuple of str
        What was not understood, in sentences.
    """

    table: pd.DataFrame
    refused: pd.DataFrame
    scales: tuple[Scale, ...]
    notes: tuple[str, ...] = ()


def read_scores(
    outcomes: str | Path | pd.DataFrame, index: ScaleIndex, *, columns: Mapping[str, str] | None = None
) -> Scores:
    """Read a table of scores in any of its forms.

    Parameters
    ----------
    outcomes : path or DataFrame
        CSV, TSV, Excel, SPSS or Stata, or a table in memory: a row a session with a column a scale; or a row a score
        with columns ``scale`` and ``score``; or a row a client with columns such as ``phq9_1`` or ``PHQ-9 session 3``.
    index : ScaleIndex
        The scales that are known.
    columns : mapping of str to str, optional
        Which column holds what (`NAMES`), where their names do not say.

    Raises
    ------
    BadOptionError
        Nothing says whose the scores are, or no column is a scale that is known.
    BadDataFileError
        It is no table, or hardly any score of a scale is one that the scale can have.
    """
    cells = as_text(outcomes) if isinstance(outcomes, pd.DataFrame) else _read(Path(outcomes))
    cells = cells.rename(columns=lambda name: str(name).strip())
    rows = _number_or_id(named(cells, columns or {}, NAMES))
    others = [str(name) for name in rows if name not in NAMES]
    if not {"session_id", "client"} & set(rows):
        # Not the names: a transcript given by mistake has words in its first line
        problem = f"no column says whose the scores are (the table has {counted(cells.shape[1], 'column')})"
        remedy = "Give a column session_id, or client with date or session_number; --columns client=Case names it"
        raise BadOptionError(_OPTION, problem, remedy)
    long, notes = _long(rows.assign(row=np.arange(2, len(rows) + 2)), others, index)
    return _valued(long, index, notes)


def under_pseudonyms(scores: Scores, sessions: pd.Series, pseudonyms: Pseudonyms) -> Scores:
    """Return scores whose clients, counselors and sessions have the pseudonyms of the results."""
    tables = []
    for table in (scores.table, scores.refused):
        people = {
            name: table[name].map(functools.partial(pseudonyms.name_for, name)) for name in ("client", "counselor")
        }
        tables.append(table.assign(session_id=session_names(table["session_id"], set(sessions), pseudonyms), **people))
    return replace(scores, table=tables[0], refused=tables[1])


def _read(path: Path) -> pd.DataFrame:
    """Return a table of any form with all cells as text."""
    suffix = path.suffix.lower()
    if suffix not in (".sav", ".zsav", ".dta"):
        return read_table(path)
    try:
        if suffix == ".dta":
            return as_text(pd.read_stata(path, convert_categoricals=False))
        return as_text(pd.read_spss(path, convert_categoricals=False))
    except ImportError:
        problem = "reading SPSS files needs the package pyreadstat, which is not installed"
        remedy = f"Install it with: {how_to_install('pyreadstat')}; or save the table as CSV"
        raise BadOptionError(_OPTION, problem, remedy) from None
    except Exception:  # noqa: BLE001 (the library's own errors, whose messages could quote the table)
        raise BadDataFileError(str(path), "it is no table that can be read", "Save it as CSV (UTF-8) or xlsx") from None


def _number_or_id(rows: pd.DataFrame) -> pd.DataFrame:
    """Take a column of sessions that holds small whole numbers, beside a column of clients, as their numbers."""
    if not {"session_id", "client"} <= set(rows) or "number" in rows:
        return rows
    told = rows["session_id"].str.strip().str.removesuffix(".0")
    numbered = told[told != ""].str.fullmatch(r"\d{1,3}").all() and bool((told != "").any())
    return rows.rename(columns={"session_id": "number"}) if numbered else rows


def _long(rows: pd.DataFrame, others: Sequence[str], index: ScaleIndex) -> tuple[pd.DataFrame, list[str]]:
    """Return a row a score: keys, ``scale`` as the table calls it, ``score`` as text; and what was left out."""
    keys = ["row", *(name for name in KEYS if name in rows)]
    if {"scale", "score"} <= set(rows):
        return rows[[*keys, "scale", "score"]], []
    candidates = [*others, *(name for name in ("scale", "score") if name in rows)]
    chosen: list[tuple[str, str, str]] = [(name, name, "") for name in candidates if index.find(name)]
    if not {"session_id", "date", "number"} & set(rows):
        chosen = [(name, *found) for name in candidates if (found := _numbered(name, index))] or chosen
    if not chosen:
        problem = f"no column is a scale that is known (its columns: {_listed(candidates or rows.columns)})"
        remedy = (
            f"Known: {', '.join(index.labels)}. Of another, --better NAME or --worse NAME says what a higher score is"
        )
        raise BadOptionError(_OPTION, problem, remedy)
    parts = [
        rows[keys].assign(scale=scale, score=rows[name], **({"number": number} if number else {}))
        for name, scale, number in chosen
    ]
    left = [name for name in candidates if name not in {name for name, _, _ in chosen}]
    note = f"Columns that are no known scale were left out: {_listed(left)} (--better or --worse names a scale)."
    return pd.concat(parts, ignore_index=True), [note] if left else []


def _numbered(name: str, index: ScaleIndex) -> tuple[str, str] | None:
    """Return scale and session of a column such as ``phq9_1``, ``PHQ-9 session 3`` or ``s2_ors``; None for others."""
    if index.find(name):
        return None
    last, first = _LAST.fullmatch(name), _FIRST.fullmatch(name)
    if last and index.find(last[1]):
        return last[1], last[2]
    return (first[2], first[1]) if first and index.find(first[2]) else None


def _valued(long: pd.DataFrame, index: ScaleIndex, notes: Sequence[str]) -> Scores:
    """Return scores as numbers, without empty cells; apart from them those that cannot be used, and why."""
    table = long.reindex(columns=["row", *KEYS, "scale", "score"], fill_value="")
    for name in ("session_id", "client", "counselor", "score"):
        table[name] = table[name].astype(str).str.strip()
    table["date"] = iso_dates(table["date"].astype(str).tolist())
    table["number"] = pd.to_numeric(table["number"], errors="coerce").astype(float)
    table = table[~table["score"].str.lower().isin(_BLANK)].reset_index(drop=True)
    scales = {name: found for name in dict.fromkeys(table["scale"]) if (found := index.find(name))}
    ranges = {name: (one.low, one.high) for name, one in scales.items()}
    why = pd.Series("", index=table.index)
    why[~table["scale"].isin(scales)] = "the scale is not known: say --better or --worse"
    value = pd.to_numeric(table["score"].str.replace(",", "."), errors="coerce").astype(float)
    why[(why == "") & ~np.isfinite(value)] = "the score is no number"
    low, high = (table["scale"].map({name: ends[i] for name, ends in ranges.items()}).astype(float) for i in (0, 1))
    outside = (why == "") & ((value < low) | (value > high))
    why[outside] = "the score lies outside what the scale can have"
    table["scale"] = table["scale"].map({name: one.name for name, one in scales.items()}).fillna(table["scale"])
    used = tuple({one.name: one for one in scales.values()}.values())
    _refuse_other_form(table[why == ""], table[outside], used)
    refused = table.assign(why=why)[why != ""].reset_index(drop=True)
    kept = table.assign(score=value)[why == ""].reset_index(drop=True)
    if kept.empty:
        raise BadOptionError(_OPTION, "the table holds no score that can be used", _first_reason(refused))
    more = [_refused_note(own, str(reason)) for reason, own in refused.groupby("why", sort=False)]
    return Scores(kept, refused, tuple(one for one in used if one.name in set(kept["scale"])), (*notes, *more))


def _refuse_other_form(kept: pd.DataFrame, outside: pd.DataFrame, scales: Sequence[Scale]) -> None:
    """Refuse scores most of which a scale cannot have: means of items instead of sums, or another questionnaire."""
    for one in scales:
        n_kept, n_out = int((kept["scale"] == one.name).sum()), int((outside["scale"] == one.name).sum())
        if n_out > _HALF * (n_kept + n_out):
            problem = f"{n_out} of {n_kept + n_out} scores of the {one.label} lie outside {one.low:g} to {one.high:g}"
            remedy = (
                "Give totals as the scale is scored; of another scale, name the column so, and say --better or --worse"
            )
            raise BadDataFileError(_OPTION, problem, remedy)


def _first_reason(refused: pd.DataFrame) -> str:
    if refused.empty:
        return "All its cells are empty"
    first = refused.iloc[0]
    return f"In row {first['row']}, {first['why']}"


def _refused_note(own: pd.DataFrame, reason: str) -> str:
    names, n = _listed(own["scale"].drop_duplicates()), counted(len(own), "cell")
    return f"{n} of {names} left out, because {reason}: {rows_in_words(own['row'])} of the table."


def rows_in_words(rows: pd.Series) -> str:
    """Return the numbers of some rows as ``row 4`` or ``rows 4, 9``, the first five."""
    known = sorted({int(one) for one in rows})
    return f"row{'' if len(known) == 1 else 's'} {_listed(known)}"


def _listed(names: object) -> str:
    shown = [str(name) for name in names]  # type: ignore[attr-defined]
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return ", ".join(shown[:_MOST_NAMED]) + more
