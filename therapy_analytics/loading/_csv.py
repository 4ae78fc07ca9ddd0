"""Results in CSV: a table of all sessions, and a folder for each with its own tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from therapy_analytics.cells import restore
from therapy_analytics.errors import BadDataFileError
from therapy_analytics.loading._types import (
    AGAIN,
    DYADS,
    SESSIONS,
    TURNS,
    in_order,
    missing_columns,
    nothing,
    number_types,
    refuse_unknown,
    with_types,
)

_ROWS_AT_A_TIME = 500


def reader(folder: Path, codebook: pd.DataFrame, asked: Collection[str] | None = None) -> Callable[[str], pd.DataFrame]:
    """Return what reads a table of a run by its name, of some sessions or of all."""
    sessions = read_typed(folder / "sessions.csv", SESSIONS, codebook)
    if asked is not None:
        refuse_unknown(asked, sessions["session_id"].tolist(), folder)
        sessions = _only(sessions, asked)
    ids = sessions["session_id"].tolist()

    def read(name: str) -> pd.DataFrame:
        if name == SESSIONS:
            return sessions
        if name != DYADS:
            return _of_sessions(folder, ids, name, codebook)
        path = folder / "dyads.csv"
        return _only(read_typed(path, DYADS, codebook), ids) if path.is_file() else nothing(DYADS, codebook)

    return read


def _only(frame: pd.DataFrame, ids: Collection[str]) -> pd.DataFrame:
    return frame[frame["session_id"].isin(list(ids))].reset_index(drop=True)


def read_typed(path: Path, name: str, codebook: pd.DataFrame, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a table, or some columns of it, with the types that the codebook gives them."""
    types = number_types(name, codebook)
    return with_types(read_csv(path, names, types), types, path)


def read_csv(path: Path, names: Sequence[str] | None = None, numbers: Collection[str] = ()) -> pd.DataFrame:
    """Read a table that `results.write_csv` wrote; all that is to be undone of how cells are written is undone.

    Parameters
    ----------
    path : Path
        The file. It is read piece by piece, and only what is asked for is kept.
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


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        problem = "the file is not there" if isinstance(error, FileNotFoundError) else "the file cannot be opened"
        raise BadDataFileError(str(path), problem, AGAIN) from None


def _parsed(
    file: BinaryIO, path: Path, names: Sequence[str] | None = None, numbers: Collection[str] = ()
) -> pd.DataFrame:
    try:
        frame: pd.DataFrame = _frame(file, usecols=None if names is None else list(names), numbers=numbers)
    except ValueError as error:  # as pandas' errors about the form of a table are
        raise BadDataFileError(str(path), _problem(file, names, numbers, error), AGAIN) from None
    return frame


def _frame(file: BinaryIO, *, numbers: Collection[str] = (), **options: Any) -> Any:
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
        columns = list(_frame(file, nrows=0))
        asked = columns if names is None else names
        missing = missing_columns(asked, columns)
        worst = "" if missing else _worst(file, [one for one in asked if one in set(numbers)])
    except ValueError:
        missing = worst = ""
    told = f"the column {worst} holds something that is not a number" if worst else missing
    return told or f"it is not a table ({type(error).__name__})"


def _worst(file: BinaryIO, names: Sequence[str]) -> str:
    """Return the first column in which not all is numbers, "" where there is none."""
    with _frame(file, usecols=names, chunksize=_ROWS_AT_A_TIME) as pieces:
        wrong = (str(name) for rows in pieces for name in names if not _is_numbers(rows[name]))
        return next(wrong, "")


def _is_numbers(cells: pd.Series) -> bool:
    given = cells != ""
    return bool(pd.to_numeric(cells.where(given), errors="coerce").count() == given.sum())


def _read_all(paths: Sequence[Path], numbers: Collection[str]) -> list[pd.DataFrame]:
    """Read many tables in order, those of like columns as one: pandas takes its time over each."""
    found = []
    files = [(path, _bytes(path)) for path in paths]
    for head, group in groupby(files, key=lambda one: _head(one[1])):
        alike = list(group)
        plain = head.endswith(b"\n") and not head.endswith(b"\r\n") and b'"' not in head
        if plain and all(data.endswith(b"\n") for _, data in alike):
            whole = head + b"".join(data[len(head) :] for _, data in alike)
            found.append(_of_bytes(whole, alike[0][0].parent.parent, numbers))
        else:
            found += [_of_bytes(data, path, numbers) for path, data in alike]
    return found


def _bytes(path: Path) -> bytes:
    with _opened(path) as file:
        return file.read()


def _head(data: bytes) -> bytes:
    return data[: data.find(b"\n") + 1]


def _of_bytes(data: bytes, path: Path, numbers: Collection[str]) -> pd.DataFrame:
    frame = _parsed(BytesIO(data), path, None, numbers)
    return restore(frame) if b"'" in data else frame


def _of_sessions(folder: Path, ids: Sequence[str], name: str, codebook: pd.DataFrame) -> pd.DataFrame:
    """Put one table of all sessions together; folders of an older version may lack some."""
    paths = [_of_session(folder, one) / f"{name}.csv" for one in ids]
    types = number_types(name, codebook)
    read = _read_all([path for path in paths if name == TURNS or path.is_file()], types)
    if not read:
        return nothing(name, codebook)
    whole = pd.concat(read, ignore_index=True)
    whole = whole.fillna({one: "" for one in whole if one not in types})
    return with_types(in_order(whole, name, codebook), types, folder / SESSIONS)


def _of_session(folder: Path, name: str) -> Path:
    if name in ("", ".", "..") or Path(name).name != name:
        path, problem = str(folder / "sessions.csv"), "a session_id is not the name of a folder"
        raise BadDataFileError(path, problem, AGAIN)
    return folder / SESSIONS / name
