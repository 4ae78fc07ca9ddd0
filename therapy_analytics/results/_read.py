"""Read a folder that ``tanalyze run`` wrote, as the analysis that it came from; CSV and Parquet alike."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.results._rows import AGAIN, form_of, no_results, read_csv, rows_of
from therapy_analytics.results.analysis import IN_ANALYSIS, JOINED, TABLES, WITH_CORE, Analysis
from therapy_analytics.results.codebook_table import ABOUT
from therapy_analytics.results.frames import wide as wide_measures
from therapy_analytics.results.frames import wide_turns, with_categories

_TEXT, _FLOAT = "text", "float64"
_FEW = 5


def load(results: str | Path, sessions: Sequence[str] | None = None) -> Analysis:
    """Read the results of a run, so that a notebook need not code the sessions again.

    Parameters
    ----------
    results : str or Path
        A folder that ``tanalyze run`` wrote, as CSV or as Parquet.
    sessions : sequence of str, optional
        Ids: only these sessions are loaded, in the order of the folder. By default all are.

    Returns
    -------
    Analysis
        The same tables with the same types as `analyze` returned. Numbers from CSV have the six digits of the files.
        The turns have a column ``text`` if the run had ``--quotes``.

    Raises
    ------
    BadOptionError
        The folder holds no results, results of a version before 0.4, or no session of that name; or it is Parquet and
        pyarrow is not installed.
    BadDataFileError
        A file of it is missing, or is not as the run wrote it.
    """
    folder, codebook = _opened(results)
    recipe = read_recipe(folder) or {"options": {"seed": 0}}
    asked = None if sessions is None else _known(folder, codebook, sessions)
    tables = {"sessions": read_table(folder, "sessions", codebook, ids=asked)}
    ids = tables["sessions"]["session_id"].tolist()
    tables |= {name: read_table(folder, name, codebook, ids=ids) for name in IN_ANALYSIS if name != "sessions"}
    shown = {name: one if name in JOINED else with_categories(one) for name, one in tables.items()}
    return Analysis(**shown, codebook=codebook, seed=recipe["options"]["seed"], tagger=recipe.get("tagger", {}))


def _known(folder: Path, codebook: pd.DataFrame, sessions: Sequence[str]) -> list[str]:
    """Return some sessions in the order of the folder; a BadOptionError if it lacks one."""
    asked = {sessions} if isinstance(sessions, str) else set(sessions)
    known = read_table(folder, "sessions", codebook, names=["session_id"])["session_id"].tolist()
    if unknown := sorted(asked.difference(known)):
        option = "sessions"
        some = ", ".join(known[:_FEW]) + (", ..." if len(known) > _FEW else "")
        remedy = f"Name some of its {len(known):,} sessions: {some}" if known else "It holds no session at all"
        raise BadOptionError(option, f"{folder} holds no session {unknown[0]!r}", remedy)
    return [one for one in known if one in asked]


def read_sessions(results: str | Path, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the sessions table of a run, or some of its columns.

    Raises
    ------
    BadOptionError, BadDataFileError
        As for `load`; also if a column is missing.
    """
    folder, codebook = _opened(results)
    return read_table(folder, "sessions", codebook, names=names)


def wide(results: Analysis | str | Path) -> pd.DataFrame:
    """Return a row a session with every number that was measured in a column of its own.

    Parameters
    ----------
    results : Analysis, str or Path
        What `analyze` returned, or a folder that ``tanalyze run`` wrote.

    Returns
    -------
    DataFrame
        The columns of ``sessions.csv`` that are no measures, then all of ``measures.csv``: the value of a measure under
        its name, its statistics as ``x_lo``, ``x_hi``, ``n_x``, ``out_of_x``, ``x_null_mean``, ``x_z`` and so on.

    Raises
    ------
    BadOptionError, BadDataFileError
        As for `load`.
    """
    if isinstance(results, Analysis):
        sessions, measures, codebook = results.sessions, results.measures, results.codebook
    else:
        folder, codebook = _opened(results)
        sessions, measures = (read_table(folder, name, codebook) for name in ("sessions", "measures"))
    return joined_wide(sessions, measures, _core(codebook))


def joined_wide(sessions: pd.DataFrame, measures: pd.DataFrame, core: Iterable[str]) -> pd.DataFrame:
    """Return the sessions table without its core measures, joined with all measures as columns."""
    measured = set(core)
    about = sessions[[name for name in sessions if name not in measured]]
    return about.merge(wide_measures(measures), on="session_id", how="left", suffixes=("", "_measured"))


def _core(codebook: pd.DataFrame) -> list[str]:
    """Return the columns of the sessions table that are measures."""
    columns: list[str] = codebook.loc[
        (codebook["table"] == "sessions") & ~codebook["family"].isin(ABOUT), "column"
    ].tolist()
    return columns


def read_wide_turns(results: str | Path) -> pd.DataFrame:
    """Return the three tables of turns of a run as one, see `wide_turns`; raises as `load` does."""
    folder, codebook = _opened(results)
    names = ("turns", "probabilities", "turn_measures")
    return wide_turns(*(with_categories(read_table(folder, name, codebook)) for name in names))


def _opened(results: Any) -> tuple[Path, pd.DataFrame]:
    """Return the folder of a run and its codebook."""
    if not isinstance(results, str | PathLike):
        option = "results"
        problem = f"an object of type {type(results).__name__} is no folder"
        raise BadOptionError(option, problem, "Name a folder that tanalyze run wrote")
    folder = Path(results)
    form_of(folder)
    if not (folder / "codebook.csv").is_file():
        raise no_results(folder, "codebook.csv")
    codebook = read_csv(folder / "codebook.csv")
    if "measure" not in codebook:
        option = "results"
        problem = f"{folder} holds results of a version before 0.4, whose tables and numbers differ from those of now"
        raise BadOptionError(option, problem, "Compute them again: tanalyze run TRANSCRIPTS --out ANOTHER_FOLDER")
    return folder, codebook


def read_recipe(folder: Path) -> dict[str, Any]:
    """Return the contents of ``run.json``; empty where there is none.

    Raises
    ------
    BadDataFileError
        It is not as the run wrote it.
    """
    path = folder / "run.json"
    if not path.is_file():
        return {}
    try:
        recipe: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        recipe["options"]["seed"] = int(recipe["options"]["seed"])
        recipe["tagger"] = dict(recipe.get("tagger", {}))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise BadDataFileError(str(path), "it does not say how the run was made", AGAIN) from None
    return recipe


def read_table(
    folder: Path,
    name: str,
    codebook: pd.DataFrame,
    *,
    names: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Read a table of a run with the types that its codebook gives the columns.

    Parameters
    ----------
    folder : Path
        The folder of results.
    name : str
        The name of the table in `Analysis`.
    codebook : DataFrame
        The codebook of the run.
    names : sequence of str, optional
        Columns to read; by default all.
    ids : sequence of str, optional
        Sessions to read; by default all.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or a column holds other values than the codebook says.
    BadOptionError
        It is Parquet and pyarrow is not installed.
    """
    types = _number_types(name, codebook)
    found = [_typed(rows, types, path) for path, rows in rows_of(folder, name, types, names, ids)]
    whole = pd.concat(found, ignore_index=True) if found else _nothing(name, codebook, types, names)
    return whole if name in JOINED else _in_order(whole, name, codebook)


def _number_types(name: str, codebook: pd.DataFrame) -> dict[str, str]:
    """Return the type of each column of a table that holds numbers; all others are text.

    It is ``float64``; for whole numbers ``int64`` where they are never missing, else ``Int64``, ``Int8`` for codes.
    """
    own = codebook[codebook["table"].isin((name, "sessions") if name in WITH_CORE else (name,))]
    numbers = own.loc[own["unit"] != _TEXT, "column"].tolist()
    types = dict.fromkeys(numbers, _FLOAT)
    if name == "turns":
        coded = set(codebook.loc[codebook["table"] == "probabilities", "column"])
        types |= {column: "Int8" for column in numbers if column in coded} | {"n_words": "Int64"}
    (table,) = (one for one in TABLES if one.name == name)
    whole = dict.fromkeys(table.whole, "int64")
    return types | {column: kind for column, kind in whole.items() if column in types}


def _typed(frame: pd.DataFrame, types: Mapping[str, str], path: Path) -> pd.DataFrame:
    """Return rows of a file with the right types; a BadDataFileError if a column holds something else."""
    columns: dict[str, pd.Series] = {str(name): column for name, column in frame.items()}
    for name, column in columns.items():
        wanted = types.get(name, _TEXT)
        if wanted == _TEXT:
            if str(column.dtype) not in ("str", "object") or column.hasnans:
                columns[name] = column.astype(object).where(column.notna(), "").astype("str")
        elif wanted != _FLOAT or column.dtype != np.float64:
            try:
                columns[name] = _number(column, wanted)
            except (TypeError, ValueError, OverflowError):
                what = "a number" if wanted == _FLOAT else "a whole number"
                problem = f"the column {name} holds something that is not {what}"
                raise BadDataFileError(str(path), problem, AGAIN) from None
    return pd.DataFrame(columns)


def _number(column: pd.Series, wanted: str) -> pd.Series:
    """Return a column as numbers of a type; a ValueError if it holds something else."""
    values = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), index=column.index)
    if wanted != _FLOAT and (values.notna() & (values % 1 != 0)).any():
        raise ValueError
    made: pd.Series = values.astype(pd.api.types.pandas_dtype(wanted))
    return made


def _columns_of(name: str, codebook: pd.DataFrame) -> list[str]:
    """Return the columns of a table, in order; of the turns without their words."""
    columns: list[str] = codebook.loc[codebook["table"] == name, "column"].tolist()
    columns += _core(codebook) if name in WITH_CORE and name != "sessions" else []
    return [one for one in columns if (name, one) != ("turns", "text")]


def _nothing(
    name: str, codebook: pd.DataFrame, types: Mapping[str, str], names: Collection[str] | None
) -> pd.DataFrame:
    """Return a table without rows."""
    columns = [one for one in _columns_of(name, codebook) if names is None or one in names]
    return pd.DataFrame({one: pd.Series(dtype=types.get(one, "str")) for one in columns})


def _in_order(frame: pd.DataFrame, name: str, codebook: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its columns in the order of the codebook, then those that it does not list."""
    known = [column for column in _columns_of(name, codebook) if column in frame]
    return frame[[*known, *frame.columns.difference(known, sort=False)]]
