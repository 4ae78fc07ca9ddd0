"""Rows as they stand in the files of a run, CSV or Parquet, and what is wrong with a file.

CSV: a file for each joined table, and one in each session's folder. Parquet: a folder for each table, of data files
that hold many sessions each; data files of one name hold the same sessions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
import pandas as pd

from therapy_analytics.analysis import CSV_FILES, JOINED, TABLES
from therapy_analytics.arrow import pyarrow
from therapy_analytics.cells import restore
from therapy_analytics.errors import BadDataFileError

AGAIN = "Run tanalyze run again, and leave its files as they are"
_ROWS_AT_A_TIME = 500
_ABSENT = "the file is not there"
_MAY_BE_MISSING = frozenset(one.name for one in TABLES if one.may_be_missing)


def read_csv(path: Path, names: Sequence[str] | None = None, numbers: Collection[str] = ()) -> pd.DataFrame:
    """Read a table that `write_csv` wrote; all that is to be undone of how cells are written is undone.

    Parameters
    ----------
    path : Path
        The file. It is read a few rows at a time, and only what is asked for is kept.
    names : sequence of str, optional
        Columns to read; they come in the order of the file.
    numbers : collection of str, optional
        Columns to read as numbers, an empty cell as nan. All others are text, as they were written.

    Raises
    ------
    BadDataFileError
        The file cannot be opened, is not a table, has not these columns, or has other things where numbers should be.
    """
    with _opened(path) as file:
        return restore(_parsed(file, path, names, numbers))


def read_csv_files(
    folder: Path, name: str, numbers: Collection[str], names: Sequence[str] | None, ids: Sequence[str] | None
) -> Iterator[tuple[Path, pd.DataFrame]]:
    """Yield the rows of a table of a run, with the file that they are of.

    Parameters
    ----------
    folder : Path
        Of the results.
    name : str
        The table.
    numbers : collection of str
        Its columns that hold numbers.
    names : sequence of str or None
        The columns that are wanted; None is all.
    ids : sequence of str or None
        The sessions that are wanted; None is all.
    """
    if name in JOINED:
        path = folder / CSV_FILES[name]
        if path.is_file() or name == "sessions":
            rows = read_csv(path, names, numbers)
            yield path, rows if ids is None else rows[rows["session_id"].isin(list(ids))]
        return
    wanted = read_csv(folder / "sessions.csv", ["session_id"])["session_id"].tolist() if ids is None else ids
    paths = [_session_folder(folder, one) / CSV_FILES[name] for one in wanted]
    # Folders of an older version may lack some tables, but all have turns.
    found = list(_read_many([path for path in paths if name == "turns" or path.is_file()], numbers))
    if found:
        rows = pd.concat(found, ignore_index=True)
        yield folder / "sessions", rows if names is None else rows[[one for one in rows if one in set(names)]]


def _session_folder(folder: Path, name: str) -> Path:
    if name in ("", ".", "..") or Path(name).name != name:
        path, problem = str(folder / "sessions.csv"), "a session_id is not the name of a folder"
        raise BadDataFileError(path, problem, AGAIN)
    return folder / "sessions" / name


def _read_many(paths: Sequence[Path], numbers: Collection[str]) -> Iterator[pd.DataFrame]:
    """Read many tables in order, those of like columns as one: pandas takes some milliseconds for each."""
    files = [(path, _bytes(path)) for path in paths]
    for head, group in groupby(files, key=lambda one: one[1][: one[1].find(b"\n") + 1]):
        alike = list(group)
        # A spreadsheet may have saved a file since; a break inside of a name would be taken for the end of the head.
        plain = head.endswith(b"\n") and not head.endswith(b"\r\n") and b'"' not in head
        if plain and all(data.endswith(b"\n") for _, data in alike):
            alike = [(alike[0][0].parent.parent, head + b"".join(data[len(head) :] for _, data in alike))]
        for path, data in alike:
            rows = _parsed(BytesIO(data), path, None, numbers)
            yield restore(rows) if b"'" in data else rows


def _bytes(path: Path) -> bytes:
    with _opened(path) as file:
        return file.read()


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        problem = _ABSENT if isinstance(error, FileNotFoundError) else "the file cannot be opened"
        raise BadDataFileError(str(path), problem, AGAIN) from None


def _parsed(
    file: BinaryIO, path: Path, names: Sequence[str] | None = None, numbers: Collection[str] = ()
) -> pd.DataFrame:
    try:
        frame: pd.DataFrame = _pandas(file, usecols=None if names is None else list(names), numbers=numbers)
    except ValueError as error:  # as pandas' errors about the form of a table are
        raise BadDataFileError(str(path), _problem(file, names, numbers, error), AGAIN) from None
    return frame


def _pandas(file: BinaryIO, *, numbers: Collection[str] = (), **options: Any) -> Any:
    file.seek(0)
    # Ours end in \n, so that a \r is a part of the cell. A spreadsheet may have saved the file since.
    ending = None if file.readline().endswith(b"\r\n") else "\n"
    file.seek(0)
    # What is no number is text: 007 is a name, and so is NA.
    types = defaultdict[str, type](lambda: str, dict.fromkeys(numbers, np.float64))
    return pd.read_csv(
        file,
        dtype=types,
        na_values={name: [""] for name in numbers},
        keep_default_na=False,
        encoding="utf-8-sig",
        lineterminator=ending,
        **options,
    )


def _problem(file: BinaryIO, names: Sequence[str] | None, numbers: Collection[str], error: ValueError) -> str:
    """Return what is wrong with a table that could not be read."""
    try:
        columns = list(_pandas(file, nrows=0))
        asked = columns if names is None else names
        missing = missing_columns(asked, columns)
        worst = "" if missing else _worst(file, [one for one in asked if one in set(numbers)])
    except ValueError:
        missing = worst = ""
    told = f"the column {worst} holds something that is not a number" if worst else missing
    return told or f"it is not a table ({type(error).__name__})"


def missing_columns(names: Sequence[str], columns: Collection[str]) -> str:
    """Return what to say of columns that a table does not have, "" where it has all of them."""
    missing = [name for name in names if name not in columns]
    return f"it has no column {', '.join(missing)}" if missing else ""


def _worst(file: BinaryIO, names: Sequence[str]) -> str:
    """Return the first column in which not all is numbers, "" where there is none."""
    with _pandas(file, usecols=names, chunksize=_ROWS_AT_A_TIME) as some:
        wrong = (str(name) for rows in some for name in names if not _is_numbers(rows[name]))
        return next(wrong, "")


def _is_numbers(cells: pd.Series) -> bool:
    given = cells != ""
    return bool(pd.to_numeric(cells.where(given), errors="coerce").count() == given.sum())


def is_parquet(folder: Path) -> bool:
    """Tell whether a folder holds a run's tables as data files; one without sessions has folders of none."""
    return bool(_names(folder, "sessions")) or (folder / "turns").is_dir()


def _names(folder: Path, table: str) -> list[str]:
    return sorted(path.name for path in (folder / table).glob("part-*.parquet") if path.is_file())


def read_data_files(
    folder: Path, name: str, names: Sequence[str] | None, ids: Sequence[str] | None
) -> Iterator[tuple[Path, pd.DataFrame]]:
    """Yield the rows of each data file of a table of a run, in order; row groups without them are not read.

    Parameters
    ----------
    folder : Path
        Of the results.
    name : str
        The table.
    names : sequence of str or None
        The columns that are wanted, no others of which are read from disk; None is all.
    ids : sequence of str or None
        The sessions that are wanted; None is all.
    """
    _refuse_missing(folder, name)
    first: list[str] = []
    for file in _names(folder, "sessions"):
        wanted = None if ids is None else _of_file(folder / "sessions" / file, ids)
        path = folder / name / file
        if wanted == [] or (name in _MAY_BE_MISSING and not path.is_file()):
            continue
        rows = _read_file(path, names, wanted)
        if first and list(map(str, rows)) != first:
            raise BadDataFileError(str(folder / name), "its parts do not have the same columns", AGAIN)
        first = list(map(str, rows))
        yield path, rows


def _refuse_missing(folder: Path, table: str) -> None:
    """Refuse a folder in which a table lacks a data file that another has, unless that may be missing."""
    sessions, own = set(_names(folder, "sessions")), set(_names(folder, table))
    lost = [folder / "sessions" / name for name in own - sessions]
    lost += [folder / table / name for name in sessions - own if table not in _MAY_BE_MISSING]
    if lost:
        raise BadDataFileError(str(min(lost)), _ABSENT, AGAIN)


def _of_file(path: Path, ids: Sequence[str]) -> list[str] | None:
    """Return which of some sessions are in a data file, or None where these are all that are in it."""
    there = _read_file(path, ["session_id"], None)["session_id"]
    some = sorted(set(ids).intersection(there))
    return None if some and len(some) == len(there) else some


def _read_file(path: Path, names: Sequence[str] | None, ids: Sequence[str] | None) -> pd.DataFrame:
    """Read a data file, or some columns and sessions of it."""
    parquet = _library(path).parquet
    asked = None if names is None else _in_file(path, names)
    found = None if ids is None else [("session_id", "in", list(ids))]
    options = {"columns": asked, "filters": found, "page_checksum_verification": True}
    # A folder on the way may be called as=it; that is no column.
    table = _safely(lambda file: parquet.read_table(file, partitioning=None, **options), path)
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    return frame


def column_names(folder: Path, table: str) -> list[str]:
    """Return the columns of a table, of which no more is read than its head; none where it has no data files."""
    names = _names(folder, table)
    return _columns(folder / table / names[0]) if names else []


def _columns(path: Path) -> list[str]:
    parquet = _library(path).parquet
    names: list[str] = _safely(lambda file: parquet.read_schema(file).names, path)
    return names


def _in_file(path: Path, names: Sequence[str]) -> list[str]:
    columns = _columns(path)
    if missing := missing_columns(names, columns):
        raise BadDataFileError(str(path), missing, AGAIN)
    return [one for one in columns if one in set(names)]


def _safely(read: Callable[[IO[bytes]], Any], path: Path) -> Any:
    arrow = _library(path)
    try:
        with path.open("rb") as file:  # by its name, pyarrow opens none that is not UTF-8
            return read(file)
    except FileNotFoundError:
        raise BadDataFileError(str(path), _ABSENT, AGAIN) from None
    except (arrow.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
        raise BadDataFileError(str(path), f"it is not a table ({type(error).__name__})", AGAIN) from None


def _library(path: Path) -> Any:
    return pyarrow("results", needed=f"{path} is Parquet, and reading it")
