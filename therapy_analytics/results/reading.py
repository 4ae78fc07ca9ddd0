"""Read a folder that ``tanalyze run`` wrote, as the analysis that it came from; CSV and Parquet alike.

CSV: a file for each joined table, and one in each session's folder. Parquet: a folder of data files for each table;
data files of one name hold the same sessions.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pandas as pd

from therapy_analytics.core.cells import restore
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.third_party import pyarrow
from therapy_analytics.results.analysis import IN_ANALYSIS, NAMED, Analysis, RunTable
from therapy_analytics.results.codebook_table import ABOUT
from therapy_analytics.results.frames import wide as wide_measures
from therapy_analytics.results.frames import wide_turns, with_categories

Form = Literal["csv", "parquet"]
"""How a run writes its tables."""
Portion = tuple[Path, pd.DataFrame]
"""Some rows of a table, with the file or folder that they are from."""
_AGAIN = "Run tanalyze run again, and leave its files as they are"
_ABSENT = "the file is not there"
_FEW = 5
"""The most sessions that an error names."""


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
    asked = None
    if sessions is not None:
        asked = {sessions} if isinstance(sessions, str) else set(sessions)
        known = read_table(folder, "sessions", codebook, names=["session_id"])["session_id"].tolist()
        if unknown := sorted(asked.difference(known)):
            option = "sessions"
            some = ", ".join(known[:_FEW]) + (", ..." if len(known) > _FEW else "")
            remedy = f"Name some of its {len(known):,} sessions: {some}" if known else "It holds no session at all"
            raise BadOptionError(option, f"{folder} holds no session {unknown[0]!r}", remedy)
    tables = {"sessions": read_table(folder, "sessions", codebook, ids=asked)}
    ids = tables["sessions"]["session_id"].tolist()
    tables |= {name: read_table(folder, name, codebook, ids=ids) for name in IN_ANALYSIS if name != "sessions"}
    shown = {name: one if NAMED[name].joined else with_categories(one) for name, one in tables.items()}
    return Analysis(**shown, codebook=codebook, seed=recipe["options"]["seed"], tagger=recipe.get("tagger", {}))


def read_sessions(results: str | Path, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the sessions table of a run, or some of its columns.

    Raises
    ------
    BadOptionError, BadDataFileError
        As for `load`; also if a column is missing.
    """
    folder, codebook = _opened(results)
    return read_table(folder, "sessions", codebook, names=names)


def read_wide_turns(results: str | Path) -> pd.DataFrame:
    """Return the three tables of turns of a run as one, see `wide_turns`; raises as `load` does."""
    folder, codebook = _opened(results)
    names = ("turns", "probabilities", "turn_measures")
    return wide_turns(*(with_categories(read_table(folder, name, codebook)) for name in names))


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
    about = sessions[sessions.columns.difference(list(core), sort=False)]
    return about.merge(wide_measures(measures), on="session_id", how="left", suffixes=("", "_measured"))


def _core(codebook: pd.DataFrame) -> list[str]:
    """Return the columns of the sessions table that are measures."""
    rows = (codebook["table"] == "sessions") & ~codebook["family"].isin(ABOUT)
    columns: list[str] = codebook.loc[rows, "column"].tolist()
    return columns


def form_of(folder: str | Path) -> Form:
    """Return how the tables of a run are written: ``csv`` or ``parquet``.

    Raises
    ------
    BadOptionError
        The folder holds no results.
    """
    folder = Path(folder)
    if (folder / "sessions.csv").is_file():
        return "csv"
    if _data_files(folder, "sessions") or (folder / "turns").is_dir():  # without sessions, there are empty folders
        return "parquet"
    raise _no_results(folder, "sessions.csv")


def _no_results(folder: Path, name: str) -> BadOptionError:
    return BadOptionError("results", f"{folder} holds no {name}", "Name a folder that tanalyze run wrote")


def _opened(results: Any) -> tuple[Path, pd.DataFrame]:
    """Return the folder of a run and its codebook."""
    option = "results"
    if not isinstance(results, str | PathLike):
        problem = f"an object of type {type(results).__name__} is no folder"
        raise BadOptionError(option, problem, "Name a folder that tanalyze run wrote")
    folder = Path(results)
    form_of(folder)
    if not (folder / "codebook.csv").is_file():
        raise _no_results(folder, "codebook.csv")
    codebook = read_csv(folder / "codebook.csv")
    if "measure" not in codebook:
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
        raise BadDataFileError(str(path), "it does not say how the run was made", _AGAIN) from None
    return recipe


def read_table(
    folder: Path,
    name: str,
    codebook: pd.DataFrame,
    *,
    names: Sequence[str] | None = None,
    ids: Collection[str] | None = None,
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
    ids : collection of str, optional
        Sessions to read; by default all. Of tables that are not joined, in the order in which they are to come.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or a column holds other values than the codebook says.
    BadOptionError
        It is Parquet and pyarrow is not installed.
    """
    table, types = NAMED[name], _number_types(name, codebook)
    if form_of(folder) == "parquet":
        portions = _from_data_files(folder, table, names, ids)
    elif table.joined:
        portions = _from_joined_file(folder, table, types, names, ids)
    else:
        portions = _from_session_folders(folder, table, types, names, ids)
    found = [_typed(rows, types, path) for path, rows in portions]
    columns: list[str] = codebook.loc[codebook["table"] == name, "column"].tolist()
    columns += _core(codebook) if table.with_core and name != "sessions" else []
    columns = [one for one in columns if (name, one) != ("turns", "text")]
    if not found:
        asked = [one for one in columns if names is None or one in names]
        return pd.DataFrame({one: pd.Series(dtype=types.get(one, "str")) for one in asked})
    whole = pd.concat(found, ignore_index=True)
    if table.joined:
        return whole
    known = [one for one in columns if one in whole]  # then those that the codebook does not list
    return whole[[*known, *whole.columns.difference(known, sort=False)]]


def _number_types(name: str, codebook: pd.DataFrame) -> dict[str, str]:
    """Return the type of each column of a table that holds numbers; all others are text.

    It is ``float64``; for whole numbers ``int64`` where they are never missing, else ``Int64``, ``Int8`` for codes.
    """
    own = codebook[codebook["table"].isin((name, "sessions") if NAMED[name].with_core else (name,))]
    types = dict.fromkeys(own.loc[own["unit"] != "text", "column"].tolist(), "float64")
    if name == "turns":
        coded = set(codebook.loc[codebook["table"] == "probabilities", "column"])
        types |= {column: "Int8" for column in types if column in coded} | {"n_words": "Int64"}
    return types | {column: "int64" for column in NAMED[name].whole if column in types}


def _typed(frame: pd.DataFrame, types: Mapping[str, str], path: Path) -> pd.DataFrame:
    """Return rows of a file with the right types; a BadDataFileError if a column holds something else."""
    columns: dict[str, pd.Series] = {}
    for name, column in frame.items():
        wanted = types.get(str(name), "str")
        if wanted == "str":
            columns[str(name)] = column.astype(object).where(column.notna(), "").astype("str")
            continue
        try:
            made = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), index=column.index)
            # Numbers with decimals become no Int64, and missing ones no int64
            made = made.astype("Int64") if wanted == "int64" else made
            columns[str(name)] = made.astype(pd.api.types.pandas_dtype(wanted))
        except (TypeError, ValueError, OverflowError):
            what = "a number" if wanted == "float64" else "a whole number"
            problem = f"the column {name} holds something that is not {what}"
            raise BadDataFileError(str(path), problem, _AGAIN) from None
    return pd.DataFrame(columns)


def _from_joined_file(
    folder: Path, table: RunTable, numbers: Collection[str], names: Sequence[str] | None, ids: Collection[str] | None
) -> Iterator[Portion]:
    path = folder / table.csv
    if path.is_file() or table.name == "sessions":
        rows = read_csv(path, names, numbers)
        yield path, rows if ids is None else rows[rows["session_id"].isin(list(ids))]


def _from_session_folders(
    folder: Path, table: RunTable, numbers: Collection[str], names: Sequence[str] | None, ids: Collection[str] | None
) -> Iterator[Portion]:
    """Yield all rows at once: files with the same header are parsed as one, as pandas takes milliseconds for each."""
    if ids is None:
        ids = read_csv(folder / "sessions.csv", ["session_id"])["session_id"].tolist()
    if any(one in ("", ".", "..") or Path(one).name != one for one in ids):
        raise BadDataFileError(str(folder / "sessions.csv"), "a session_id is not the name of a folder", _AGAIN)
    paths = [folder / "sessions" / one / table.csv for one in ids]
    files = [(path, _bytes(path)) for path in paths if not table.may_be_missing or path.is_file()]
    found = []
    for head, group in groupby(files, key=lambda one: one[1][: one[1].find(b"\n") + 1]):
        alike = list(group)
        # A spreadsheet may have saved a file since, and a quoted header may hold a line break.
        if b'"' not in head and not head.endswith(b"\r\n") and all(data.endswith(b"\n") for _, data in alike):
            alike = [(folder / "sessions", head + b"".join(data[len(head) :] for _, data in alike))]
        found += [_parsed(data, path, None, numbers) for path, data in alike]
    if found:
        rows = pd.concat(found, ignore_index=True)
        yield folder / "sessions", rows if names is None else rows[[one for one in rows if one in set(names)]]


def read_csv(path: Path, names: Sequence[str] | None = None, numbers: Collection[str] = ()) -> pd.DataFrame:
    """Read a table that `write_csv` wrote.

    Parameters
    ----------
    path : Path
        The file.
    names : sequence of str, optional
        The columns to read; they come in the order of the file.
    numbers : collection of str, optional
        The columns to read as numbers, empty cells as nan. All others are text, as it was before it was written.

    Raises
    ------
    BadDataFileError
        The file cannot be opened, is no table, lacks a column, or has other things where numbers should be.
    """
    return _parsed(_bytes(path), path, names, numbers)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read()
    except OSError as error:
        problem = _ABSENT if isinstance(error, FileNotFoundError) else "the file cannot be opened"
        raise BadDataFileError(str(path), problem, _AGAIN) from None


def _parsed(data: bytes, path: Path, names: Sequence[str] | None, numbers: Collection[str]) -> pd.DataFrame:
    # Our rows end in \n, so a lone \r is a part of a cell; but a spreadsheet may have saved the file since.
    by_spreadsheet = data[: data.find(b"\n") + 1].endswith(b"\r\n")
    options: dict[str, Any] = {
        "keep_default_na": False, "encoding": "utf-8-sig", "lineterminator": None if by_spreadsheet else "\n",
    }  # fmt: skip
    # Columns that are not numbers are text: 007 is a name, and so is NA.
    types = defaultdict[str, type](lambda: str, dict.fromkeys(numbers, np.float64))
    empty = {name: [""] for name in numbers}
    try:
        asked = None if names is None else list(names)
        return restore(pd.read_csv(BytesIO(data), dtype=types, usecols=asked, na_values=empty, **options))
    except ValueError as error:  # pandas' errors about the form of a table are ValueErrors
        problem = f"it is not a table ({type(error).__name__})"
        try:
            texts = pd.read_csv(BytesIO(data), dtype=str, **options)
        except ValueError:
            raise BadDataFileError(str(path), problem, _AGAIN) from None
    asked = list(map(str, texts)) if names is None else list(names)
    if missing := _missing(asked, texts.columns):
        raise BadDataFileError(str(path), missing, _AGAIN)
    for name in (one for one in asked if one in numbers):
        given = texts[name][texts[name] != ""]
        if pd.to_numeric(given, errors="coerce").count() < len(given):
            problem = f"the column {name} holds something that is not a number"
            break
    raise BadDataFileError(str(path), problem, _AGAIN)


def _missing(names: Sequence[str], columns: Collection[str]) -> str:
    missing = [name for name in names if name not in columns]
    return f"it has no column {', '.join(missing)}" if missing else ""


def _data_files(folder: Path, table: str) -> list[str]:
    return sorted(path.name for path in (folder / table).glob("part-*.parquet") if path.is_file())


def _from_data_files(
    folder: Path, table: RunTable, names: Sequence[str] | None, ids: Collection[str] | None
) -> Iterator[Portion]:
    sessions, own = set(_data_files(folder, "sessions")), set(_data_files(folder, table.name))
    lost = [folder / "sessions" / name for name in own - sessions]
    lost += [folder / table.name / name for name in sessions - own if not table.may_be_missing]
    if lost:
        raise BadDataFileError(str(min(lost)), _ABSENT, _AGAIN)
    first: list[str] = []
    for file in sorted(own):
        asked = None if ids is None else set(ids)
        if asked is not None and asked.isdisjoint(_data_file(folder / "sessions" / file, ["session_id"])["session_id"]):
            continue
        path = folder / table.name / file
        rows = _data_file(path, names)
        if first and list(map(str, rows)) != first:
            raise BadDataFileError(str(folder / table.name), "its parts do not have the same columns", _AGAIN)
        first = list(map(str, rows))
        yield path, rows if asked is None else rows[rows["session_id"].isin(asked)]


def _data_file(path: Path, names: Sequence[str] | None) -> pd.DataFrame:
    """Read some columns of a data file; others are not read from the disk."""
    arrow = pyarrow("results", needed=f"{path} is Parquet, and reading it")

    def safely(read: Callable[[IO[bytes]], Any]) -> Any:
        try:
            with path.open("rb") as file:  # pyarrow opens no file whose name is not UTF-8
                return read(file)
        except FileNotFoundError:
            raise BadDataFileError(str(path), _ABSENT, _AGAIN) from None
        except (arrow.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
            raise BadDataFileError(str(path), f"it is not a table ({type(error).__name__})", _AGAIN) from None

    columns = None
    if names is not None:
        known: list[str] = safely(lambda file: arrow.parquet.read_schema(file).names)
        if missing := _missing(names, known):
            raise BadDataFileError(str(path), missing, _AGAIN)
        columns = [one for one in known if one in set(names)]
    # Without partitioning: a folder above it may be called as=it, which is no column.
    options = {"columns": columns, "partitioning": None, "page_checksum_verification": True}
    table = safely(lambda file: arrow.parquet.read_table(file, **options))
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    return frame
