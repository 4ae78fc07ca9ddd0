"""Write the files of a run, each whole or absent, and the records of what is done.

As CSV a session has a folder, which appears complete. As Parquet a work batch has a data file for each table, which
counts as written when the record of the batch is there; that is written last.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core import private
from therapy_analytics.core.cells import csv_of_frame, csv_of_parts, csv_of_rows
from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.folders import replaced, unique_part
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.core.third_party import pyarrow
from therapy_analytics.readers.account import Remark
from therapy_analytics.readers.pseudonymous import shown_file
from therapy_analytics.results.analysis import JOINED, NAMED, TABLES, gold_names
from therapy_analytics.results.tables import DIGITS

DONE = "done.json"
"""The record of a session, beside its files."""
SESSIONS = "sessions"
"""The folder of the folders of sessions; with Parquet, a data set."""
RECORDS = ".parts"
"""The folder of the records of work batches, with Parquet."""
DATASETS = tuple(one.name for one in TABLES)
"""The folders of data files: one for each table."""
PROBLEMS = "problems.csv"
_NOT_MEASURED, _NOT_DRAWN = "not measured", "not drawn"
_ON_SCREEN = ("what it is can name people, and is shown on the screen alone", "tanalyze inspect shows it again")


def as_csv(frame: pd.DataFrame) -> str:
    """Return a table as the text of its file."""
    return csv_of_frame(frame, digits=DIGITS)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table."""
    write_text(as_csv(frame), path)


def write_text(text: str, path: Path) -> None:
    """Write a text, with its line breaks as they are."""
    with replaced(path) as part:
        private.write(part, text)


def problems_table(
    unread: Sequence[UnreadableFileError] = (),
    unmeasured: Sequence[UnreadableFileError] = (),
    remarks: Sequence[Remark] = (),
    not_drawn: Sequence[Remark] = (),
    *,
    pseudonyms: Pseudonyms | None = None,
) -> pd.DataFrame:
    """Return ``problems.csv``: a row for each file not read, session not measured, figure not drawn, and remark.

    With pseudonyms it names no transcript, and quotes no sentence on what is in files, which may name people.
    """
    rows = []
    kinds: dict[str, Sequence[UnreadableFileError | Remark]] = {
        "not read": unread, _NOT_MEASURED: unmeasured, _NOT_DRAWN: not_drawn, "check": remarks,
    }  # fmt: skip
    for kind, one in ((kind, one) for kind, found in kinds.items() for one in found):
        path, told = one.path, (one.problem, one.remedy)
        if pseudonyms is not None:
            # Figures are called by what stands in results, and sessions that were not measured, too
            path = path if kind == _NOT_DRAWN else shown_file(path, pseudonyms)
            told = told if kind in (_NOT_MEASURED, _NOT_DRAWN) else _ON_SCREEN
        rows.append((path, one.line, *told, kind))
    frame = pd.DataFrame(rows, columns=["file", "line", "problem", "what_would_be_right", "kind"])
    return frame.astype({"line": "Int64"})


def write_not_drawn(failed: Sequence[Remark], part: Path, out: Path, say: Callable[[str], None]) -> None:
    """Write ``problems.csv`` into a folder that will be `out`, if figures could not be drawn, and say so."""
    if failed:
        write_csv(problems_table(not_drawn=failed), part / PROBLEMS)
        figures = counted(len(failed), "figure")
        say(f"{figures} could not be drawn; the tables are complete. {out / PROBLEMS} says why and what to do.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Says that the files of some sessions are complete: of one in its folder, or of a work batch in data files.

    Attributes
    ----------
    key : str
        A hash of everything that the tables depend on: sessions, settings, program and its data.
    ids : tuple of str
        The sessions, in order.
    plots : {"session", "all", "none"}
        Which figures of the session are drawn.
    figures : tuple of str
        Their formats.
    figure_width : float or None
        Their width in millimetres, if one was asked for.
    about : mapping of str to str
        The session's cells of ``sessions.csv`` that are no measures.
    rows : mapping of str to str
        The session's lines of each joined table; those of ``sessions.csv`` without `about`.
    counted : mapping of str to int
        What an outside coder counted.
    not_drawn : tuple of (str, str, str)
        File, problem and remedy of each figure of the session that could not be drawn; a later run draws it again.
    problems : tuple of (str, str, str)
        File, problem and remedy of each session of the work batch that could not be measured.
    files : mapping of str to str
        A hash of each file, by its path relative to the folder of the session, or of the results.
    """

    key: str
    ids: tuple[str, ...]
    plots: str = "session"
    figures: tuple[str, ...] = ()
    figure_width: float | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    not_drawn: tuple[tuple[str, str, str], ...] = ()
    problems: tuple[tuple[str, str, str], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def unmeasured(self) -> list[UnreadableFileError]:
        """The problems as errors."""
        return [UnreadableFileError(path, None, problem, remedy) for path, problem, remedy in self.problems]

    def is_whole(self, folder: Path) -> bool:
        """Return whether all files are as they were written: a power failure may have cut one."""
        return all(
            (folder / name).is_file() and hash_of_file(folder / name) == known for name, known in self.files.items()
        )

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        private.write(path, json.dumps(asdict(self), ensure_ascii=True) + "\n")


def read_record(path: Path) -> Record | None:
    """Return a record, or None if there is none or it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        lists = {name: tuple(found[name]) for name in ("ids", "figures")}
        rows = {name: tuple(map(tuple, found.get(name, ()))) for name in ("problems", "not_drawn")}
        return Record(**{**found, **lists, **rows})
    except (OSError, ValueError, LookupError, TypeError):
        return None


def records_at(paths: Iterable[Path]) -> Iterator[Record]:
    """Yield the records that can be read."""
    return (one for one in map(read_record, paths) if one is not None)


def hash_of_all(value: object) -> str:
    """Return a hash of a JSON value; dataclasses in it count by their fields, other objects by their text."""

    def plain(one: object) -> object:
        return [getattr(one, each.name) for each in fields(one)] if is_dataclass(one) else str(one)

    return hashlib.sha256(json.dumps(value, sort_keys=True, default=plain).encode("ascii")).hexdigest()


def hash_of_file(path: Path) -> str:
    """Return a hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def session_texts(tables: Mapping[str, pd.DataFrame], ids: Sequence[str]) -> list[dict[str, str]]:
    """Return the texts of the files of each session's folder, by file name.

    Columns of people's codes that are empty in a session are left out, and tables that may be missing if they have no
    row.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        The tables of these sessions, in their order.
    ids : sequence of str
        The sessions.
    """
    found: list[dict[str, str]] = [{} for _ in ids]
    for name, table in tables.items():
        if name in JOINED:
            continue
        gold, starts, kind = gold_names(table), _starts(table, ids), NAMED[name]
        given = table[gold].to_numpy() != ""
        lacking = [tuple(np.array(gold)[~given[begin:end].any(axis=0)]) for begin, end in pairwise(starts)]
        for names in dict.fromkeys(lacking):  # the sessions of a corpus mostly have the same columns
            head, lines = csv_of_parts(table.drop(columns=list(names)), starts, digits=DIGITS)
            for at, text in enumerate(lines):
                if lacking[at] == names and (text or not kind.may_be_missing):
                    found[at][kind.csv] = head + text
    return found


def joined_rows(
    tables: Mapping[str, pd.DataFrame], ids: Sequence[str], measures: Sequence[str]
) -> list[dict[str, str]]:
    """Return each session's lines of the joined tables, without headers, by table.

    Lines of the sessions table hold the measures alone; `write_joined` puts its other columns before them.
    """
    written = {**tables, "sessions": tables["sessions"][list(measures)]}
    lines = {name: csv_of_parts(written[name], _starts(tables[name], ids), digits=DIGITS)[1] for name in JOINED}
    return [{name: own[at] for name, own in lines.items()} for at in range(len(ids))]


def _starts(table: pd.DataFrame, ids: Sequence[str]) -> list[int]:
    """Return the first row of each session in a table that holds them in order, and its length; (n_sessions + 1,)."""
    rows = {name: sum(1 for _ in group) for name, group in groupby(table["session_id"].tolist())}
    return [0, *np.cumsum([rows.get(name, 0) for name in ids]).tolist()]


def write_joined(
    records: Iterable[Record], name: str, path: Path, columns: Sequence[str], about: Sequence[str]
) -> None:
    """Write a joined table from the records of the sessions, one at a time.

    Parameters
    ----------
    records : iterable of Record
        The records of the sessions, in order.
    name : str
        The name of the table.
    path : Path
        Its file.
    columns : sequence of str
        The columns of the lines that the records hold.
    about : sequence of str
        The columns to put before them: those that describe sessions, and none for other tables.
    """
    with replaced(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_of_rows([[*about, *columns]]))
        for one in records:
            if about:
                file.write(csv_of_rows([[one.about.get(column, "") for column in about]]).removesuffix("\n") + ",")
            file.write(one.rows[name])


Draw = Callable[[Path], Iterable[Remark]]
"""Draws figures into a folder from the tables in it, and returns which could not be drawn, and why."""


def write_session(texts: Mapping[str, str], folder: Path, record: Record, draw: Draw = lambda _: ()) -> None:
    """Write the folder of a session: its tables, its figures, and its record.

    The files are written into a folder beside it, which is then renamed: whatever stops the program, the folder of a
    session is complete or absent.

    Parameters
    ----------
    texts : mapping of str to str
        The text of each file.
    folder : Path
        The folder.
    record : Record
        Its record, without the hashes of the files, and without what could not be drawn.
    draw : callable, optional
        Called with the folder that holds the tables, to add the session's figures.
    """
    part, before = unique_part(folder), unique_part(folder)
    private.folder(part.parent, parents=False)  # if the folder of results was removed, it is not made again
    part.mkdir(mode=private.FOLDER)
    try:
        for name, text in texts.items():
            private.write(part / name, text)
        place = f"{folder.parent.name}/{folder.name}"
        not_drawn = tuple((f"{place}/{one.path}", one.problem, one.remedy) for one in draw(part))
        hashes = {path.name: hash_of_file(path) for path in sorted(part.iterdir())}
        replace(record, files=hashes, not_drawn=not_drawn).write(part / DONE)
        with suppress(FileNotFoundError):
            folder.rename(before)
        try:
            part.rename(folder)
        except OSError:
            if not (folder / DONE).is_file():  # unless another worker has just written the same
                raise
    finally:
        for one in (part, before):
            shutil.rmtree(one, ignore_errors=True)


def write_figures_again(folder: Path, record: Record, draw: Draw) -> None:
    """Draw the figures of a session that is done as `record` now says, from the tables in its folder."""
    texts = {path.name: path.read_bytes().decode() for path in sorted(folder.glob("*.csv"))}
    write_session(texts, folder, record, draw)


def session_is_whole(folder: Path, record: Record) -> bool:
    """Return whether the folder of a session, which exists, holds its files as they were written, and nothing else."""
    return {path.name for path in folder.iterdir()} - {DONE} == set(record.files) and record.is_whole(folder)


def library() -> Any:
    """Return pyarrow.

    Raises
    ------
    BadOptionError
        It is not installed.
    """
    return pyarrow("--output-format parquet", needed="writing Parquet")


def data_file(batch: str) -> str:
    """Return the name of the data files of a work batch."""
    return f"part-{batch}.parquet"


def record_file(batch: str) -> str:
    """Return the path of the record of a work batch, relative to the folder of results."""
    return f"{RECORDS}/{batch}.json"


def write_data_files(tables: Mapping[str, pd.DataFrame], out: Path, batch: str, record: Record) -> None:
    """Write the data files of a work batch, then the record that says that they are complete."""
    arrow, hashes = library(), {}
    for name, table in tables.items():
        if len(table) or not NAMED[name].may_be_missing:
            kinds = [(column, _arrow_type(kind, arrow)) for column, kind in table.dtypes.items()]
            arrays = [arrow.array(table[column], type=kind, from_pandas=True) for column, kind in kinds]
            # Without the metadata of pandas, whose number of rows would make the schemas of a table's files differ.
            whole = arrow.Table.from_arrays(arrays, schema=arrow.schema(kinds))
            path = private.folder(out / name, parents=False) / data_file(batch)
            with replaced(path) as part:
                with part.open("wb") as file:  # pyarrow cannot open a file whose name is not UTF-8
                    arrow.parquet.write_table(whole, file, compression="zstd", write_page_checksum=True)
                hashes[f"{name}/{path.name}"] = hash_of_file(part)
    path = out / record_file(batch)
    private.folder(path.parent, parents=False)
    with replaced(path) as part:
        replace(record, files=hashes).write(part)


def _arrow_type(kind: Any, arrow: Any) -> Any:
    """Return the type of a column in the file: anything but numbers and booleans is a string."""
    if isinstance(kind, pd.CategoricalDtype) or kind.kind not in "iufb":
        return arrow.string()
    return arrow.from_numpy_dtype(getattr(kind, "numpy_dtype", kind))
