"""Rows of the tables of a run, from CSV or from Parquet.

CSV: a file for each joined table, and one in each session's folder. Parquet: a folder of data files for each table;
data files of one name hold the same sessions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pandas as pd

from therapy_analytics.core.cells import restore
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.third_party import pyarrow
from therapy_analytics.results.analysis import CSV_FILES, JOINED, TABLES

Form = Literal["csv", "parquet"]
AGAIN = "Run tanalyze run again, and leave its files as they are"
_ABSENT = "the file is not there"
_MAY_BE_MISSING = frozenset(one.name for one in TABLES if one.may_be_missing)


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
    if _names(folder, "sessions") or (folder / "turns").is_dir():  # without sessions, there are empty folders
        return "parquet"
    raise no_results(folder, "sessions.csv")


def no_results(folder: Path, name: str) -> BadOptionError:
    """Return the error for a folder that lacks a file of results."""
    return BadOptionError("results", f"{folder} holds no {name}", "Name a folder that tanalyze run wrote")


def rows_of(
    folder: Path, table: str, numbers: Collection[str], names: Sequence[str] | None, ids: Sequence[str] | None
) -> Iterator[tuple[Path, pd.DataFrame]]:
    """Yield the rows of a table of a run, in order, in some portions, each with its file.

    Parameters
    ----------
    folder : Path
        The folder of results.
    table : str
        The name of the table.
    numbers : collection of str
        Its columns that hold numbers: CSV does not say.
    names : sequence of str or None
        The columns to read; None is all.
    ids : sequence of str or None
        The sessions to read; None is all.
    """
    if form_of(folder) == "parquet":
        return _in_data_files(folder, table, names, ids)
    if table in JOINED:
        return _in_joined_file(folder, table, numbers, names, ids)
    return _in_session_folders(folder, table, numbers, names, ids)


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
    return restore(_parsed(_bytes(path), path, names, numbers))


def _in_joined_file(
    folder: Path, table: str, numbers: Collection[str], names: Sequence[str] | None, ids: Sequence[str] | None
) -> Iterator[tuple[Path, pd.DataFrame]]:
    path = folder / CSV_FILES[table]
    if path.is_file() or table == "sessions":
        rows = read_csv(path, names, numbers)
        yield path, rows if ids is None else rows[rows["session_id"].isin(list(ids))]


def _in_session_folders(
    folder: Path, table: str, numbers: Collection[str], names: Sequence[str] | None, ids: Sequence[str] | None
) -> Iterator[tuple[Path, pd.DataFrame]]:
    """Yield all rows at once: files with the same header are parsed as one, as pandas takes milliseconds for each."""
    if ids is None:
        ids = read_csv(folder / "sessions.csv", ["session_id"])["session_id"].tolist()
    paths = [_session_folder(folder, one) / CSV_FILES[table] for one in ids]
    files = [(path, _bytes(path)) for path in paths if table not in _MAY_BE_MISSING or path.is_file()]
    found = []
    for head, group in groupby(files, key=lambda one: one[1][: one[1].find(b"\n") + 1]):
        alike = list(group)
        # A spreadsheet may have saved a file since, and a quoted header may hold a line break.
        if b'"' not in head and not head.endswith(b"\r\n") and all(data.endswith(b"\n") for _, data in alike):
            alike = [(folder / "sessions", head + b"".join(data[len(head) :] for _, data in alike))]
        found += [restore(_parsed(data, path, None, numbers)) for path, data in alike]
    if found:
        rows = pd.concat(found, ignore_index=True)
        yield folder / "sessions", rows if names is None else rows[[one for one in rows if one in set(names)]]


def _session_folder(folder: Path, name: str) -> Path:
    if name in ("", ".", "..") or Path(name).name != name:
        path, problem = str(folder / "sessions.csv"), "a session_id is not the name of a folder"
        raise BadDataFileError(path, problem, AGAIN)
    return folder / "sessions" / name


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read()
    except OSError as error:
        problem = _ABSENT if isinstance(error, FileNotFoundError) else "the file cannot be opened"
        raise BadDataFileError(str(path), problem, AGAIN) from None


def _parsed(data: bytes, path: Path, names: Sequence[str] | None, numbers: Collection[str]) -> pd.DataFrame:
    try:
        return _table(data, names, numbers)
    except ValueError as error:  # pandas' errors about the form of a table are ValueErrors
        problem = _problem(data, names, numbers) or f"it is not a table ({type(error).__name__})"
        raise BadDataFileError(str(path), problem, AGAIN) from None


def _table(data: bytes, names: Sequence[str] | None, numbers: Collection[str]) -> pd.DataFrame:
    # Our rows end in \n, so a lone \r is a part of a cell; but a spreadsheet may have saved the file since.
    by_spreadsheet = data[: data.find(b"\n") + 1].endswith(b"\r\n")
    # Columns that are not numbers are text: 007 is a name, and so is NA.
    types = defaultdict[str, type](lambda: str, dict.fromkeys(numbers, np.float64))
    frame: pd.DataFrame = pd.read_csv(
        BytesIO(data), dtype=types, usecols=None if names is None else list(names), keep_default_na=False,
        na_values={name: [""] for name in numbers}, encoding="utf-8-sig",
        lineterminator=None if by_spreadsheet else "\n",
    )  # fmt: skip
    return frame


def _problem(data: bytes, names: Sequence[str] | None, numbers: Collection[str]) -> str:
    """Return what is wrong with a table that cannot be read as it should; empty if it is no table at all."""
    try:
        texts = _table(data, None, ())
    except ValueError:
        return ""
    asked = list(map(str, texts)) if names is None else names
    if missing := _missing(asked, texts.columns):
        return missing
    for name in asked:
        given = texts[name][texts[name] != ""]
        if name in numbers and pd.to_numeric(given, errors="coerce").count() < len(given):
            return f"the column {name} holds something that is not a number"
    return ""


def _missing(names: Sequence[str], columns: Collection[str]) -> str:
    missing = [name for name in names if name not in columns]
    return f"it has no column {', '.join(missing)}" if missing else ""


def _names(folder: Path, table: str) -> list[str]:
    return sorted(path.name for path in (folder / table).glob("part-*.parquet") if path.is_file())


def _in_data_files(
    folder: Path, table: str, names: Sequence[str] | None, ids: Sequence[str] | None
) -> Iterator[tuple[Path, pd.DataFrame]]:
    _refuse_missing(folder, table)
    first: list[str] = []
    for file in _names(folder, "sessions"):
        wanted = None if ids is None else _sessions_in(folder / "sessions" / file, ids)
        path = folder / table / file
        if wanted == [] or (table in _MAY_BE_MISSING and not path.is_file()):
            continue
        rows = _data_file(path, names, wanted)
        if first and list(map(str, rows)) != first:
            raise BadDataFileError(str(folder / table), "its parts do not have the same columns", AGAIN)
        first = list(map(str, rows))
        yield path, rows


def _refuse_missing(folder: Path, table: str) -> None:
    """Refuse a folder in which a table lacks a data file that another has, unless that may be missing."""
    sessions, own = set(_names(folder, "sessions")), set(_names(folder, table))
    lost = [folder / "sessions" / name for name in own - sessions]
    lost += [folder / table / name for name in sessions - own if table not in _MAY_BE_MISSING]
    if lost:
        raise BadDataFileError(str(min(lost)), _ABSENT, AGAIN)


def _sessions_in(path: Path, ids: Sequence[str]) -> list[str] | None:
    """Return which of some sessions a data file holds, or None if these are all of its sessions."""
    held = _data_file(path, ["session_id"], None)["session_id"]
    some = sorted(set(ids).intersection(held))
    return None if some and len(some) == len(held) else some


def _data_file(path: Path, names: Sequence[str] | None, ids: Sequence[str] | None) -> pd.DataFrame:
    """Read some columns and sessions of a data file; other columns and row groups are not read from the disk."""
    parquet = _library(path).parquet
    columns = None
    if names is not None:
        known: list[str] = _safely(lambda file: parquet.read_schema(file).names, path)
        if missing := _missing(names, known):
            raise BadDataFileError(str(path), missing, AGAIN)
        columns = [one for one in known if one in set(names)]
    filters = None if ids is None else [("session_id", "in", list(ids))]
    options = {"columns": columns, "filters": filters, "page_checksum_verification": True}
    # Without partitioning: a folder above it may be called as=it, which is no column.
    table = _safely(lambda file: parquet.read_table(file, partitioning=None, **options), path)
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    return frame


def _safely(read: Callable[[IO[bytes]], Any], path: Path) -> Any:
    arrow = _library(path)
    try:
        with path.open("rb") as file:  # pyarrow opens no file whose name is not UTF-8
            return read(file)
    except FileNotFoundError:
        raise BadDataFileError(str(path), _ABSENT, AGAIN) from None
    except (arrow.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
        raise BadDataFileError(str(path), f"it is not a table ({type(error).__name__})", AGAIN) from None


def _library(path: Path) -> Any:
    return pyarrow("results", needed=f"{path} is Parquet, and reading it")
