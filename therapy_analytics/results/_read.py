"""A folder that ``tanalyze run`` wrote, read back as the analysis that it came of; CSV and Parquet alike."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from therapy_analytics.analysis import IN_ANALYSIS, JOINED, TABLES, WITH_CORE, Analysis
from therapy_analytics.codebook_table import ABOUT
from therapy_analytics.errors import BadDataFileError, BadOptionError
from therapy_analytics.frames import wide as wide_measures
from therapy_analytics.frames import wide_turns, with_categories
from therapy_analytics.results._rows import (
    AGAIN,
    is_parquet,
    read_csv,
    read_csv_files,
    read_data_files,
)

Form = Literal["csv", "parquet"]
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
        As `analyze` gave it: the same tables with the same types. Numbers from CSV have the six digits of the files.
        The turns have a column ``text`` if the run had ``--quotes``.

    Raises
    ------
    BadOptionError
        The folder holds no results, or no session of that name, or it is Parquet and pyarrow is not installed.
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
    """Return some sessions in the order of the folder.

    Raises
    ------
    BadOptionError
        There is no such session; a few of those there are named.
    """
    asked = {sessions} if isinstance(sessions, str) else set(sessions)
    known = read_table(folder, "sessions", codebook, names=["session_id"])["session_id"].tolist()
    if unknown := sorted(asked.difference(known)):
        option = "sessions"
        some = ", ".join(known[:_FEW]) + (", ..." if len(known) > _FEW else "")
        remedy = f"Name some of its {len(known):,} sessions: {some}" if known else "It holds no session at all"
        raise BadOptionError(option, f"{folder} holds no session {unknown[0]!r}", remedy)
    return [one for one in known if one in asked]


def read_sessions(results: str | Path, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the table of sessions of a run with its types, or some columns of it, of which alone memory is taken.

    Raises
    ------
    BadOptionError
        The folder holds no results, or it is Parquet and pyarrow is not installed.
    BadDataFileError
        A file of it is missing, is not as the run wrote it, or has not these columns.
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
        What ``sessions.csv`` says of a session besides its measures, then all of ``measures.csv``: a measure's value
        under its name, its statistics as ``x_lo``, ``x_hi``, ``n_x``, ``out_of_x``, ``x_null_mean``, ``x_z`` and so on.

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
    of_sessions = codebook[codebook["table"] == "sessions"]
    core = of_sessions.loc[~of_sessions["family"].isin(ABOUT), "column"]
    return joined_wide(sessions, measures, core)


def joined_wide(sessions: pd.DataFrame, measures: pd.DataFrame, core: Iterable[str]) -> pd.DataFrame:
    """Return the columns of the sessions table but these, which measure something, and the measures as columns."""
    measured = set(core)
    about = sessions[[name for name in sessions if name not in measured]]
    return about.merge(wide_measures(measures), on="session_id", how="left", suffixes=("", "_measured"))


def read_wide_turns(results: str | Path) -> pd.DataFrame:
    """Return the three tables of turns of all sessions of a run as one, see `wide_turns`.

    Raises
    ------
    BadOptionError, BadDataFileError
        As for `load`.
    """
    folder, codebook = _opened(results)
    names = ("turns", "probabilities", "turn_measures")
    return wide_turns(*(with_categories(read_table(folder, name, codebook)) for name in names))


def form_of(folder: str | Path) -> Form:
    """Return how the tables of a run are written.

    Parameters
    ----------
    folder : str or Path
        Of the results.

    Returns
    -------
    {"csv", "parquet"}
        ``csv``: a table of all sessions, and a folder for each. ``parquet``: a folder of data files for each table.

    Raises
    ------
    BadOptionError
        The folder holds no results.
    """
    folder = Path(folder)
    if (folder / "sessions.csv").is_file():
        return "csv"
    if is_parquet(folder):
        return "parquet"
    raise _none(folder, "sessions.csv")


def _opened(results: str | Path) -> tuple[Path, pd.DataFrame]:
    """Return the folder of a run, and its codebook."""
    folder = Path(results)
    form_of(folder)
    if not (folder / "codebook.csv").is_file():
        raise _none(folder, "codebook.csv")
    codebook = read_csv(folder / "codebook.csv")
    if "high_means" not in codebook:
        option, problem = "results", f"{folder} was written by a version before 0.4, whose tables were other ones"
        raise BadOptionError(option, problem, "Run tanalyze run over the transcripts again, into another folder")
    return folder, codebook


def _none(folder: Path, name: str) -> BadOptionError:
    option = "results"
    return BadOptionError(option, f"{folder} holds no {name}", "Name a folder that tanalyze run wrote")


def read_recipe(folder: Path) -> dict[str, Any]:
    """Return how a run was made, as its ``run.json`` says it; empty where there is none.

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
    """Read a table of a run with the types that the codebook gives its columns.

    Parameters
    ----------
    folder : Path
        Of the results.
    name : str
        One of the tables of `Analysis`.
    codebook : DataFrame
        Of the run.
    names : sequence of str, optional
        Columns to read; by default all.
    ids : sequence of str, optional
        Sessions to read; by default all.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or holds other things than the codebook says.
    BadOptionError
        It is Parquet and pyarrow is not installed.
    """
    types = number_types(name, codebook)
    if form_of(folder) == "parquet":
        found = [_typed(rows, types, path) for path, rows in read_data_files(folder, name, names, ids)]
    else:
        found = [_typed(rows, types, path) for path, rows in read_csv_files(folder, name, types, names, ids)]
    whole = pd.concat(found, ignore_index=True) if found else _nothing(name, codebook, types, names)
    return whole if name in JOINED else _in_order(whole, name, codebook)


def number_types(name: str, codebook: pd.DataFrame) -> dict[str, str]:
    """Return the type of each column of a table that holds numbers; all others are text.

    Parameters
    ----------
    name : str
        The table.
    codebook : DataFrame
        Of the run.

    Returns
    -------
    dict of str to str
        ``float64``, ``int64`` where it is never missing, else ``Int64`` or ``Int8``.
    """
    own = codebook[codebook["table"].isin((name, "sessions") if name in WITH_CORE else (name,))]
    units = dict(zip(own["column"], own["unit"], strict=True))
    numbers = {column for column, unit in units.items() if unit != _TEXT}
    whole = {column: "int64" for one in TABLES if one.name == name for column in one.whole}
    whole |= {column: "Int64" for one in TABLES if one.name == name for column in one.whole_or_missing}
    if name == "turns":
        coded = set(codebook.loc[codebook["table"] == "probabilities", "column"])
        whole |= {column: "Int8" for column in numbers & coded if column not in whole}
    return {column: whole.get(column, _FLOAT) for column in units if column in numbers}


def _typed(frame: pd.DataFrame, types: Mapping[str, str], path: Path) -> pd.DataFrame:
    """Return rows of a file with the right types.

    Raises
    ------
    BadDataFileError
        A column holds something else.
    """
    changed: dict[str, pd.Series] = {}
    for name, kind in zip(map(str, frame), frame.dtypes, strict=True):
        wanted, column = types.get(name, _TEXT), frame[name]
        if wanted == _TEXT:
            if str(kind) not in ("str", "object") or column.hasnans:
                changed[name] = column.astype(object).where(column.notna(), "").astype("str")
        elif wanted != _FLOAT or kind != np.float64:
            try:
                changed[name] = _number(column, wanted)
            except (TypeError, ValueError, OverflowError):
                what = "a number" if wanted == _FLOAT else "a whole number"
                problem = f"the column {name} holds something that is not {what}"
                raise BadDataFileError(str(path), problem, AGAIN) from None
    columns: dict[str, pd.Series] = {str(name): column for name, column in frame.items()}
    return pd.DataFrame(columns | changed) if changed else frame


def _number(column: pd.Series, wanted: str) -> pd.Series:
    """Return a column as numbers of a type; a ValueError if it holds something else."""
    values = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), index=column.index)
    if wanted != _FLOAT and (values.notna() & (values % 1 != 0)).any():
        raise ValueError
    made: pd.Series = values.astype(pd.api.types.pandas_dtype(wanted))
    return made


def _columns_of(name: str, codebook: pd.DataFrame) -> list[str]:
    """Return the columns that a table has, in order; of the turns without what was said."""
    columns: list[str] = codebook.loc[codebook["table"] == name, "column"].tolist()
    if name in WITH_CORE and name != "sessions":
        of_sessions = codebook[(codebook["table"] == "sessions") & ~codebook["family"].isin(ABOUT)]
        columns += of_sessions["column"].tolist()
    return [one for one in columns if (name, one) != ("turns", "text")]


def _nothing(
    name: str, codebook: pd.DataFrame, types: Mapping[str, str], names: Collection[str] | None
) -> pd.DataFrame:
    """Return a table without rows."""
    columns = [one for one in _columns_of(name, codebook) if names is None or one in names]
    return pd.DataFrame({one: pd.Series(dtype=types.get(one, "str")) for one in columns})


def _in_order(frame: pd.DataFrame, name: str, codebook: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its columns as the codebook has them, then those that it does not know."""
    known = [column for column in _columns_of(name, codebook) if column in frame]
    wanted = [*known, *frame.columns.difference(known, sort=False)]
    return frame if wanted == list(frame) else frame[wanted]
