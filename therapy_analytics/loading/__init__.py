"""A folder that ``tanalyze run`` wrote, read back as the analysis that it came of."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from therapy_analytics.analysis import Analysis
from therapy_analytics.errors import BadDataFileError, BadOptionError
from therapy_analytics.frames import with_categories
from therapy_analytics.loading import _csv, _parquet
from therapy_analytics.loading._csv import read_csv
from therapy_analytics.loading._types import AGAIN, DYADS, SESSIONS, TURNS

__all__ = ["Form", "form_of", "load", "read_csv", "read_recipe", "read_sessions", "read_turns"]

Form = Literal["csv", "parquet"]
_TABLES = (SESSIONS, TURNS, DYADS, "profile", "responses", "feelings")


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
    folder, form = _opened(results)
    codebook = _codebook(folder)
    asked = None if sessions is None else {sessions} if isinstance(sessions, str) else set(sessions)
    recipe = read_recipe(folder) or {"options": {"seed": 0}}
    read = (_parquet if form == "parquet" else _csv).reader(folder, codebook, asked)
    tables = {name: _shown(name, read) for name in _TABLES}
    return Analysis(**tables, codebook=codebook, seed=recipe["options"]["seed"], tagger=recipe.get("tagger", {}))


def _shown(name: str, read: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    return read(name) if name in (SESSIONS, DYADS) else with_categories(read(name))


def read_sessions(results: str | Path, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the table of sessions of a run with its types, or some columns of it, of which alone memory is taken.

    Raises
    ------
    BadOptionError
        The folder holds no results, or it is Parquet and pyarrow is not installed.
    BadDataFileError
        A file of it is missing, is not as the run wrote it, or has not these columns.
    """
    folder, form = _opened(results)
    codebook = _codebook(folder)
    if form == "parquet":
        return _parquet.read_parts(folder, SESSIONS, codebook, names=names)
    return _csv.read_typed(folder / "sessions.csv", SESSIONS, codebook, names)


def read_turns(results: str | Path, choose: Callable[[Sequence[str]], Sequence[str]]) -> pd.DataFrame:
    """Return some columns of the turns of all sessions of a run.

    Parameters
    ----------
    results : str or Path
        A folder that ``tanalyze run`` wrote.
    choose : callable
        Gets the names of the columns that there are, and returns those that are wanted.

    Raises
    ------
    BadOptionError, BadDataFileError
        As for `load`.
    """
    folder, form = _opened(results)
    codebook = _codebook(folder)
    if form == "parquet":
        names = choose(_parquet.column_names(folder, TURNS))
        return with_categories(_parquet.read_parts(folder, TURNS, codebook, names=names))
    turns = with_categories(_csv.reader(folder, codebook)(TURNS))
    return turns[list(choose(turns.columns.tolist()))]


def form_of(folder: str | Path) -> Form:
    """Return how the tables of a run are written.

    Parameters
    ----------
    folder : str or Path
        Of the results.

    Returns
    -------
    {"csv", "parquet"}
        ``csv``: a table of all sessions, and a folder for each. ``parquet``: a folder of parts for each table.

    Raises
    ------
    BadOptionError
        The folder holds no results.
    """
    folder = Path(folder)
    if (folder / "sessions.csv").is_file():
        return "csv"
    if _parquet.is_parquet(folder):
        return "parquet"
    raise _none(folder, "sessions.csv")


def _opened(results: str | Path) -> tuple[Path, Form]:
    folder = Path(results)
    form = form_of(folder)
    if not (folder / "codebook.csv").is_file():
        raise _none(folder, "codebook.csv")
    return folder, form


def _none(folder: Path, name: str) -> BadOptionError:
    option = "results"
    return BadOptionError(option, f"{folder} holds no {name}", "Name a folder that tanalyze run wrote")


def _codebook(folder: Path) -> pd.DataFrame:
    return read_csv(folder / "codebook.csv")


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
