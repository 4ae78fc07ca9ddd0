"""Read a table of scores, with a row a session or a row a score, as one row a score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from therapy_analytics.core.errors import BadDataFileError, BadOptionError, how_to_install
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.stats.compare.courses import iso_dates
from therapy_analytics.stats.outcomes.scales import Scale, compact
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
OPTION = "--outcomes"
_BLANK = NONE | {".", "missing", "?"}
_MOST_NAMED = 5


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
    outcomes: str | Path | pd.DataFrame, index: Mapping[str, Scale], *, columns: Mapping[str, str] | None = None
) -> Scores:
    """Read a table of scores.

    Parameters
    ----------
    outcomes : path or DataFrame
        CSV, TSV, Excel, SPSS or Stata, or a table in memory: a row a session with a column a scale, or a row a score
        with columns ``scale`` and ``score``.
    index : mapping of str to Scale
        The scales that are known, as `therapy_analytics.stats.outcomes.scales.scale_index` returns them.
    columns : mapping of str to str, optional
        Which column holds what (`NAMES`), where their names do not say.

    Raises
    ------
    BadOptionError
        Nothing says whose the scores are, or no column is a scale that is known.
    BadDataFileError
        It is no table, or hardly any score of a scale is one that the scale can have.
    """
    cells = as_text(outcomes) if isinstance(outcomes, pd.DataFrame) else _cells(Path(outcomes))
    rows = named(cells.rename(columns=lambda name: str(name).strip()), columns or {}, NAMES)
    if {"session_id", "client"} <= set(rows) and "number" not in rows:
        # Small whole numbers beside clients are numbers of their sessions
        told = rows["session_id"].str.strip().str.removesuffix(".0")
        told = told[told != ""]
        if len(told) and told.str.fullmatch(r"\d{1,3}").all():
            rows = rows.rename(columns={"session_id": "number"})
    if not {"session_id", "client"} & set(rows):
        # Not the names: a transcript given by mistake has words in its first line
        problem = f"no column says whose the scores are (the table has {counted(cells.shape[1], 'column')})"
        remedy = "Give a column session_id, or client with date or session_number; --columns client=Case names it"
        raise BadOptionError(OPTION, problem, remedy)
    others = [str(name) for name in rows if name not in NAMES]
    rows = rows.assign(row=np.arange(2, len(rows) + 2))
    keys = ["row", *(name for name in KEYS if name in rows)]
    if {"scale", "score"} <= set(rows):
        return _valued(rows[[*keys, "scale", "score"]], index, [])
    others += [name for name in ("scale", "score") if name in rows]
    chosen = [name for name in others if compact(name) in index]
    if not chosen:
        raise _no_scale(others or list(rows.columns), index)
    long = pd.concat([rows[keys].assign(scale=name, score=rows[name]) for name in chosen], ignore_index=True)
    left = listed(name for name in others if name not in chosen)
    note = f"Columns that are no known scale were left out: {left} (--better or --worse names a scale)."
    return _valued(long, index, [note] if left else [])


def _cells(path: Path) -> pd.DataFrame:
    """Return a file's table with all cells as text."""
    suffix = path.suffix.lower()
    if suffix not in (".sav", ".zsav", ".dta"):
        return read_table(path)
    try:
        read = pd.read_stata if suffix == ".dta" else pd.read_spss
        return as_text(read(path, convert_categoricals=False))
    except ImportError:
        problem = "reading SPSS files needs the package pyreadstat, which is not installed"
        remedy = f"Install it with: {how_to_install('pyreadstat')}; or save the table as CSV"
        raise BadOptionError(OPTION, problem, remedy) from None
    except Exception:  # noqa: BLE001 (the library's own errors, whose messages could quote the table)
        raise BadDataFileError(str(path), "it is no table that can be read", "Save it as CSV (UTF-8) or xlsx") from None


def _no_scale(names: Sequence[str], index: Mapping[str, Scale]) -> BadOptionError:
    known = ", ".join(dict.fromkeys(one.label for one in index.values()))
    remedy = f"Known: {known}. Of another, --better NAME or --worse NAME says what a higher score is"
    if any(compact(name).startswith(tuple(filter(None, index))) for name in names):
        remedy = "Of columns such as phq9_1, phq9_2 make rows: client, session_number, and one column a scale"
    return BadOptionError(OPTION, f"no column is a scale that is known (its columns: {listed(names)})", remedy)


def _valued(long: pd.DataFrame, index: Mapping[str, Scale], notes: Sequence[str]) -> Scores:
    """Return scores as numbers, without empty cells; apart from them those that cannot be used, and why."""
    table = long.reindex(columns=["row", *KEYS, "scale", "score"], fill_value="")
    for name in ("session_id", "client", "counselor", "score"):
        table[name] = table[name].astype(str).str.strip()
    table["date"] = iso_dates(table["date"].astype(str).tolist())
    table["number"] = pd.to_numeric(table["number"], errors="coerce").astype(float)
    table = table[~table["score"].str.lower().isin(_BLANK)].reset_index(drop=True)
    scales = {name: index[compact(name)] for name in dict.fromkeys(table["scale"]) if compact(name) in index}
    value = pd.to_numeric(table["score"].str.replace(",", "."), errors="coerce").astype(float)
    low, high = (
        table["scale"].map({name: getattr(one, end) for name, one in scales.items()}).astype(float)
        for end in ("low", "high")
    )
    outside = (value < low) | (value > high)
    why = pd.Series("", index=table.index)
    why[outside] = "the score lies outside what the scale can have"
    why[~np.isfinite(value)] = "the score is no number"
    why[~table["scale"].isin(scales)] = "the scale is not known: say --better or --worse"
    table["scale"] = table["scale"].map({name: one.name for name, one in scales.items()}).fillna(table["scale"])
    used = list({one.name: one for one in scales.values()}.values())
    for one in used:
        # Most outside the range: means of items instead of sums, or another questionnaire
        out = outside[(table["scale"] == one.name) & np.isfinite(value)]
        if out.mean() > 0.5:
            problem = f"{out.sum()} of {len(out)} scores of the {one.label} lie outside {one.low:g} to {one.high:g}"
            remedy = "Give totals as the scale is scored; of another scale, name the column so, and say --better or "
            raise BadDataFileError(OPTION, problem, f"{remedy}--worse")
    refused = table.assign(why=why)[why != ""].reset_index(drop=True)
    kept = table.assign(score=value)[why == ""].reset_index(drop=True)
    if kept.empty:
        first = "All its cells are empty"
        if len(refused):
            first = f"In row {refused['row'].iloc[0]}, {refused['why'].iloc[0]}"
        raise BadOptionError(OPTION, "the table holds no score that can be used", first)
    more = [
        f"{counted(len(own), 'cell')} of {listed(own['scale'].drop_duplicates())} left out, because {reason}: "
        f"{rows_in_words(own['row'])} of the table."
        for reason, own in refused.groupby("why", sort=False)
    ]
    return Scores(kept, refused, tuple(one for one in used if one.name in set(kept["scale"])), (*notes, *more))


def under_pseudonyms(scores: Scores, sessions: pd.Series, pseudonyms: Pseudonyms) -> Scores:
    """Return scores whose clients, counselors and sessions have the pseudonyms of the results."""
    tables = []
    for table in (scores.table, scores.refused):
        own = {name: table[name].map(partial(pseudonyms.name_for, name)) for name in ("client", "counselor")}
        tables.append(table.assign(session_id=session_names(table["session_id"], set(sessions), pseudonyms), **own))
    return replace(scores, table=tables[0], refused=tables[1])


def rows_in_words(rows: pd.Series) -> str:
    """Return the numbers of some rows as ``row 4`` or ``rows 4, 9``, the first five."""
    known = sorted({int(one) for one in rows})
    return f"row{'' if len(known) == 1 else 's'} {listed(known)}"


def listed(names: Iterable[object]) -> str:
    """Return the first five names, and how many more there are."""
    shown = [str(name) for name in names]
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return ", ".join(shown[:_MOST_NAMED]) + more
