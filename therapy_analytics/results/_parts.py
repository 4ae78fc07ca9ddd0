"""Many sessions in one part of each data set: Parquet, for runs whose sessions are too many for a folder each.

A part is there when its record is, which is written last; what else lies there under its name is written again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics import private
from therapy_analytics.arrow import pyarrow
from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.results._done import hash_of
from therapy_analytics.results._files import replaced, write_text

RECORDS = ".parts"
DATASETS = ("sessions", "turns", "dyads", "synchrony", "profile", "responses", "feelings", "evidence")
"""Folders of parts; a table without rows in any session has none."""
_MAY_BE_EMPTY = frozenset({"dyads"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is kept of a part whose files are all there.

    Attributes
    ----------
    key : str
        A hash of its sessions and of all else that its files depend on.
    ids : tuple of str
        Its sessions, in order.
    responses : tuple of tuple of int
        Of each, what the therapist answers to what, as `response_counts` has it, in one row.
    counted : mapping of str to int
        What an outside coder counted.
    n_dyads : int
        Rows of its dyads.
    problems : tuple of (str, str, str)
        File, problem and remedy of each session that could not be measured.
    files : mapping of str to str
        A hash of its file in each data set.
    """

    key: str
    ids: tuple[str, ...]
    responses: tuple[tuple[int, ...], ...] = ()
    counted: Mapping[str, int] = field(default_factory=dict)
    n_dyads: int = 0
    problems: tuple[tuple[str, str, str], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def unmeasured(self) -> list[UnreadableFileError]:
        """Return its problems as they are told."""
        return [UnreadableFileError(path, None, problem, remedy) for path, problem, remedy in self.problems]


def library() -> Any:
    """Return pyarrow.

    Raises
    ------
    BadOptionError
        It is not installed.
    """
    return pyarrow("--output-format parquet", needed="writing Parquet")


def write_part(tables: Mapping[str, pd.DataFrame], out: Path, name: str, part: Part) -> None:
    """Write the tables of a part, each under another name first, and then that it is there."""
    written = {}
    for dataset, table in tables.items():
        if len(table) or dataset not in _MAY_BE_EMPTY:
            path = private.folder(out / dataset, parents=False) / file_name(name)
            with replaced(path) as fresh:
                _write(table, fresh)
                written[dataset] = hash_of(fresh)
    record = json.dumps(asdict(replace(part, files=written)), ensure_ascii=True)
    write_text(record + "\n", private.folder(out / RECORDS, parents=False) / f"{name}.json")


def read_part(out: Path, name: str) -> Part | None:
    """Return what is kept of a part, or None where it is not there."""
    try:
        found = json.loads((out / RECORDS / f"{name}.json").read_text(encoding="utf-8"))
        rows = {one: tuple(map(tuple, found[one])) for one in ("responses", "problems")}
        return Part(**{**found, **rows, "ids": tuple(found["ids"])})
    except (OSError, ValueError, LookupError, TypeError):
        return None


def part_is_whole(part: Part, out: Path, name: str) -> bool:
    """Return whether its files are as they were written."""
    files = {dataset: out / dataset / file_name(name) for dataset in part.files}
    return all(path.is_file() and hash_of(path) == part.files[dataset] for dataset, path in files.items())


def file_name(name: str) -> str:
    """Return what the file of a part is called in each data set."""
    return f"part-{name}.parquet"


def _write(table: pd.DataFrame, path: Path) -> None:
    arrow = library()
    fields = [(name, _type(kind, arrow)) for name, kind in table.dtypes.items()]
    arrays = [arrow.array(table[name], type=kind, from_pandas=True) for name, kind in fields]
    # Nothing of pandas goes along: each part would say how many rows it has, and so have a schema of its own.
    whole = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields))
    with path.open("wb") as file:  # by its name, pyarrow opens none that is not UTF-8
        arrow.parquet.write_table(whole, file, compression="zstd", write_page_checksum=True)


def _type(kind: Any, arrow: Any) -> Any:
    """Return the type of a column: texts, codes and roles are strings, whatever else pandas makes of them."""
    if isinstance(kind, pd.CategoricalDtype) or kind.kind not in "iufb":
        return arrow.string()
    return arrow.from_numpy_dtype(getattr(kind, "numpy_dtype", kind))
