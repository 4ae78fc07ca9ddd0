"""Results in Parquet: a folder for each table, whose parts hold many sessions each; parts of one name go together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pandas as pd

from therapy_analytics.arrow import pyarrow
from therapy_analytics.errors import BadDataFileError
from therapy_analytics.loading._types import (
    AGAIN,
    DYADS,
    FLOAT,
    SESSIONS,
    TEXT,
    TURNS,
    in_order,
    missing_columns,
    nothing,
    number_types,
    refuse_unknown,
)

Parts = Mapping[str, Collection[str] | None]
"""Names of parts, and the sessions that are wanted of each; None stands for all."""
_ID = "session_id"
_THING = {TEXT: "text", FLOAT: "a number"}
_ABSENT = "the file is not there"


def is_parquet(folder: Path) -> bool:
    """Tell whether a folder holds a run's tables as parts; one without sessions has folders of none."""
    return bool(_names(folder, SESSIONS)) or (folder / TURNS).is_dir()


def reader(folder: Path, codebook: pd.DataFrame, asked: Collection[str] | None = None) -> Callable[[str], pd.DataFrame]:
    """Return what reads a table of a run by its name, of some sessions or of all."""
    parts: Parts = dict.fromkeys(_names(folder, SESSIONS)) if asked is None else _parts_with(folder, asked)

    def read(name: str) -> pd.DataFrame:
        frame = read_parts(folder, name, codebook, parts=parts)
        return frame if name in (SESSIONS, DYADS) else in_order(frame, name, codebook)

    return read


def _names(folder: Path, table: str) -> list[str]:
    return sorted(path.name for path in (folder / table).glob("part-*.parquet") if path.is_file())


def _parts_with(folder: Path, asked: Collection[str]) -> Parts:
    """Return in which parts some sessions are; of each, which."""
    ids = {name: _ids(folder / SESSIONS / name) for name in _names(folder, SESSIONS)}
    refuse_unknown(asked, [one for some in ids.values() for one in some], folder)
    wanted = {name: set(asked).intersection(some) for name, some in ids.items()}
    return {name: some for name, some in wanted.items() if some}


def _ids(path: Path) -> list[str]:
    ids: list[str] = _part(path, {}, None, [_ID])[_ID].to_pylist()
    return ids


def column_names(folder: Path, table: str) -> list[str]:
    """Return the columns of a table, of which no more is read than its head; none where it has no parts."""
    names = _names(folder, table)
    return _columns(folder / table / names[0]) if names else []


def _columns(path: Path) -> list[str]:
    parquet = _library(path).parquet
    names: list[str] = _safely(lambda file: parquet.read_schema(file).names, path)
    return names


def read_parts(
    folder: Path,
    table: str,
    codebook: pd.DataFrame,
    *,
    names: Sequence[str] | None = None,
    parts: Parts | None = None,
) -> pd.DataFrame:
    """Read a table from its parts, in order, with the types that the codebook gives its columns.

    Parameters
    ----------
    folder : Path
        Of the run.
    table : str
        Such as ``turns``.
    codebook : DataFrame
        Of the run.
    names : sequence of str, optional
        Columns to read; no others are read from disk. They come in the order of the file.
    parts : mapping of str to collection of str, optional
        The parts, and the sessions that are wanted of each; by default all. Row groups without them are not read.

    Raises
    ------
    BadDataFileError
        A part is missing or broken, or holds other things than the codebook says.
    BadOptionError
        The package that reads Parquet is not installed.
    """
    types = number_types(table, codebook)
    _refuse_missing(folder, table)
    wanted: Parts = dict.fromkeys(_names(folder, SESSIONS)) if parts is None else parts
    paths = [(folder / table / name, ids) for name, ids in wanted.items()]
    read = [_part(path, types, ids, names) for path, ids in paths if table != DYADS or path.is_file()]
    if not read:
        empty = nothing(table, codebook)
        return empty if names is None else empty[[one for one in empty if one in set(names)]]
    arrow = _library(folder)
    return _frame(_joined(read, folder / table), types, arrow)


def _refuse_missing(folder: Path, table: str) -> None:
    """Refuse a folder in which a table lacks a part that another has; pairs of speakers are not in all."""
    sessions, own = set(_names(folder, SESSIONS)), set(_names(folder, table))
    lost = [folder / SESSIONS / name for name in own - sessions]
    lost += [folder / table / name for name in sessions - own if table != DYADS]
    if lost:
        raise BadDataFileError(str(min(lost)), _ABSENT, AGAIN)


def _part(path: Path, types: Mapping[str, str], ids: Collection[str] | None, names: Sequence[str] | None) -> Any:
    """Read one part, as a table of pyarrow with the right types."""
    parquet = _library(path).parquet
    asked = None if names is None else _in_file(path, names)
    found = None if ids is None else [(_ID, "in", sorted(ids))]
    options = {"columns": asked, "filters": found, "page_checksum_verification": True}
    # A folder on the way may be called as=it; that is no column.
    table = _safely(lambda file: parquet.read_table(file, partitioning=None, **options), path)
    return _typed(table, types, path)


def _in_file(path: Path, names: Sequence[str]) -> list[str]:
    columns = _columns(path)
    missing = missing_columns(names, columns)
    if missing:
        raise BadDataFileError(str(path), missing, AGAIN)
    return [one for one in columns if one in set(names)]


def _typed(table: Any, types: Mapping[str, str], path: Path) -> Any:
    arrow = _library(path)
    names = table.column_names
    columns = [_cast(one, name, types.get(name, TEXT), path) for one, name in zip(table.columns, names, strict=True)]
    return arrow.Table.from_arrays(columns, names=names)


def _cast(column: Any, name: str, kind: str, path: Path) -> Any:
    arrow = _library(path)
    wanted = arrow.string() if kind == TEXT else arrow.from_numpy_dtype(kind.lower())
    problem = f"the column {name} holds something that is not {_THING.get(kind, 'a whole number')}"
    try:
        made = column if column.type == wanted else column.cast(wanted)
    except (arrow.ArrowException, ValueError):
        raise BadDataFileError(str(path), problem, AGAIN) from None
    if kind == "int64" and made.null_count:
        raise BadDataFileError(str(path), problem, AGAIN)
    return made.fill_null("") if kind == TEXT and made.null_count else made


def _joined(tables: Sequence[Any], folder: Path) -> Any:
    arrow = _library(folder)
    if any(one.column_names != tables[0].column_names for one in tables):
        raise BadDataFileError(str(folder), "its parts do not have the same columns", AGAIN)
    return arrow.concat_tables(tables)


def _frame(table: Any, types: Mapping[str, str], arrow: Any) -> pd.DataFrame:
    """Return a table of pyarrow as pandas has one that was read from CSV."""
    frame: pd.DataFrame = table.to_pandas(types_mapper={arrow.int8(): pd.Int8Dtype()}.get)
    for place, name in enumerate(table.column_names):
        if types.get(name) == "Int64":
            frame.isetitem(place, frame[name].astype("Int64"))
    return frame


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
