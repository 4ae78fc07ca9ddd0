"""Write the files of sessions: a folder of CSV for each, or a data file of Parquet for each table of a work batch.

A session's folder appears complete. A data file counts as written when the record of its work batch is there, which is
written last; otherwise it is written again.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core import private
from therapy_analytics.core.arrow import pyarrow
from therapy_analytics.core.cells import csv_of_parts, csv_of_rows
from therapy_analytics.core.folders import replaced, unique_part
from therapy_analytics.measures.base import STATISTICS
from therapy_analytics.readers.account import Remark
from therapy_analytics.results._files import DONE, RECORDS, Record, hash_of_file
from therapy_analytics.results.analysis import CSV_FILES, JOINED, TABLES, gold_names
from therapy_analytics.results.frames import profile_table, wide_turns
from therapy_analytics.results.tables import DIGITS

DATASETS = tuple(one.name for one in TABLES)
"""The folders of data files: one for each table."""
_MAY_BE_MISSING = frozenset(one.name for one in TABLES if one.may_be_missing)
_END = "\n"


def session_texts(tables: Mapping[str, pd.DataFrame], ids: Sequence[str]) -> list[dict[str, str]]:
    """Return the texts of the files of each session's folder, by file name.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        The tables of these sessions, in their order.
    ids : sequence of str
        The sessions.
    """
    own = {name: _divided(table, ids) for name, table in tables.items() if name not in JOINED}
    rows = {name: np.diff(_starts(tables[name], ids)) for name in _MAY_BE_MISSING.intersection(own)}
    return [
        {CSV_FILES[name]: texts[at] for name, texts in own.items() if name not in rows or rows[name][at]}
        for at in range(len(ids))
    ]


def joined_rows(
    tables: Mapping[str, pd.DataFrame], ids: Sequence[str], measures: Sequence[str]
) -> list[dict[str, str]]:
    """Return each session's lines of the joined tables, without headers, by table.

    Lines of the sessions table hold the measures alone; `write_joined` puts its other columns before them.
    """
    starts = {name: _starts(tables[name], ids) for name in JOINED}
    written = {**tables, "sessions": tables["sessions"][list(measures)]}
    lines = {name: csv_of_parts(written[name], starts[name], digits=DIGITS)[1] for name in JOINED}
    return [{name: own[at] for name, own in lines.items()} for at in range(len(ids))]


def _divided(table: pd.DataFrame, ids: Sequence[str]) -> list[str]:
    """Return the rows of each session as CSV, without columns of people's codes that are empty in that session."""
    gold, starts = gold_names(table), _starts(table, ids)
    given = table[gold].to_numpy() != ""
    lacking = [tuple(np.array(gold)[~given[begin:end].any(axis=0)]) for begin, end in pairwise(starts)]
    texts = {}
    for names in dict.fromkeys(lacking):  # the sessions of a corpus mostly have the same columns
        head, lines = csv_of_parts(table.drop(columns=list(names)), starts, digits=DIGITS)
        texts[names] = [head + one for one in lines]
    return [texts[names][at] for at, names in enumerate(lacking)]


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
                cells = csv_of_rows([[one.about.get(column, "") for column in about]])
                file.write(f"{cells.removesuffix(_END)},")
            file.write(one.rows[name])


def write_session(texts: Mapping[str, str], folder: Path, record: Record, *, tagger: str) -> None:
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
        Its record, without the hashes of the files.
    tagger : str
        The kind of the tagger, for the figures.
    """
    with _put_in_place(folder) as part:
        for name, text in texts.items():
            private.write(part / name, text)
        failed = _draw(part, record, tagger)
        not_drawn = tuple((f"{folder.parent.name}/{folder.name}/{one.path}", one.problem, one.remedy) for one in failed)
        hashes = {path.name: hash_of_file(path) for path in sorted(part.iterdir())}
        replace(record, files=hashes, not_drawn=not_drawn).write(part / DONE)


def write_figures_again(folder: Path, record: Record, *, tagger: str) -> None:
    """Draw the figures of a session that is done as `record` now says, from the tables in its folder."""
    texts = {path.name: path.read_bytes().decode() for path in sorted(folder.glob("*.csv"))}
    write_session(texts, folder, record, tagger=tagger)


def session_is_whole(folder: Path, record: Record) -> bool:
    """Return whether the folder of a session, which exists, holds its files as they were written, and nothing else."""
    return {path.name for path in folder.iterdir()} - {DONE} == set(record.files) and record.is_whole(folder)


def _draw(folder: Path, record: Record, tagger: str) -> list[Remark]:
    """Draw the figures of a session, if any are asked for, from the numbers in its files; return what failed."""
    if not record.figures:
        return []
    from therapy_analytics.plots.files import session_figures, tables_first, write_figures  # noqa: PLC0415

    failed: list[Remark] = []
    with tables_first(failed, folder / "figures"):
        turns, likely, measured = (pd.read_csv(folder / CSV_FILES[name]) for name in _OF_TURNS)
        parts = _parts(folder)
        tables = {
            "wide_turns": wide_turns(turns, likely, measured),
            "parts": parts,
            "profile": profile_table(parts),
            "responses": pd.read_csv(folder / CSV_FILES["responses"]),
        }
        tables["profile"].attrs["tagger"] = tagger
        write_figures(
            session_figures(record.plots), tables, folder,
            formats=record.figures, width_mm=record.figure_width, failed=failed,
        )  # fmt: skip
    return failed


_OF_TURNS = ("turns", "probabilities", "turn_measures")


def _parts(folder: Path) -> pd.DataFrame:
    return pd.read_csv(
        folder / CSV_FILES["parts"], keep_default_na=False, na_values={name: [""] for name in STATISTICS}
    )


@contextmanager
def _put_in_place(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to write into, which takes the place of the other if the block succeeds."""
    part, before = unique_part(folder), unique_part(folder)
    private.folder(part.parent, parents=False)  # if the folder of results was removed, it is not made again
    part.mkdir(mode=private.FOLDER)
    try:
        yield part
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


def write_run_figures(
    folders: Path,
    out: Path,
    sessions: Collection[str],
    *,
    figures: Sequence[str],
    width_mm: float | None = None,
    tagger: str,
) -> list[Remark]:
    """Draw the figures of a whole run into `out`, from the tables in `folders`, which has a folder for each session.

    Returns
    -------
    list of Remark
        Which could not be drawn, and why.
    """
    from therapy_analytics.plots.files import run_figures, tables_first, write_figures  # noqa: PLC0415 (matplotlib)

    failed: list[Remark] = []
    part = unique_part(folders / "figures")
    part.mkdir(mode=private.FOLDER)
    try:
        with tables_first(failed, out / "figures"):
            tables = _tables_of_run(folders, out, sessions, tagger)
            for figure in write_figures(run_figures(), tables, part, formats=figures, width_mm=width_mm, failed=failed):
                figure.replace(out / figure.name)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return failed


def _tables_of_run(folders: Path, out: Path, sessions: Collection[str], tagger: str) -> dict[str, pd.DataFrame]:
    parts = pd.concat([_parts(folders / name) for name in sessions], ignore_index=True)
    profile = profile_table(parts[parts["part"] != "window"])
    profile.attrs["tagger"] = tagger
    responses = [pd.read_csv(folders / name / CSV_FILES["responses"]) for name in sessions]
    tables = {"parts": parts, "profile": profile, "responses": pd.concat(responses, ignore_index=True)}
    if (out / CSV_FILES["sessions"]).is_file():
        tables["sessions"] = pd.read_csv(out / CSV_FILES["sessions"])
    return tables


def library() -> Any:
    """Return pyarrow.

    Raises
    ------
    BadOptionError
        It is not installed.
    """
    return pyarrow("--output-format parquet", needed="writing Parquet")


def write_data_files(tables: Mapping[str, pd.DataFrame], out: Path, batch: str, record: Record) -> None:
    """Write the data files of a work batch, then the record that says that they are complete."""
    hashes = {}
    for name, table in tables.items():
        if len(table) or name not in _MAY_BE_MISSING:
            path = private.folder(out / name, parents=False) / data_file(batch)
            with replaced(path) as part:
                _write_parquet(table, part)
                hashes[f"{name}/{path.name}"] = hash_of_file(part)
    path = out / record_file(batch)
    private.folder(path.parent, parents=False)
    with replaced(path) as part:
        replace(record, files=hashes).write(part)


def data_file(batch: str) -> str:
    """Return the name of the data files of a work batch."""
    return f"part-{batch}.parquet"


def record_file(batch: str) -> str:
    """Return the path of the record of a work batch, relative to the folder of results."""
    return f"{RECORDS}/{batch}.json"


def _write_parquet(table: pd.DataFrame, path: Path) -> None:
    arrow = library()
    fields = [(name, _type(kind, arrow)) for name, kind in table.dtypes.items()]
    arrays = [arrow.array(table[name], type=kind, from_pandas=True) for name, kind in fields]
    # Without the metadata of pandas, whose number of rows would make the schemas of a table's files differ.
    whole = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields))
    with path.open("wb") as file:  # pyarrow cannot open a file whose name is not UTF-8
        arrow.parquet.write_table(whole, file, compression="zstd", write_page_checksum=True)


def _type(kind: Any, arrow: Any) -> Any:
    """Return the type of a column in the file: anything but numbers and booleans is a string."""
    if isinstance(kind, pd.CategoricalDtype) or kind.kind not in "iufb":
        return arrow.string()
    return arrow.from_numpy_dtype(getattr(kind, "numpy_dtype", kind))
