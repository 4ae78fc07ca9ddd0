"""The files of sessions: a folder of CSV for each, or a data file of Parquet for each table of a work batch.

A session's folder appears all at once. A data file is there when the record of its work batch is, which is written
last; what else lies there under its name is written again.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics import private
from therapy_analytics.analysis import CSV_FILES, JOINED, TABLES, gold_names
from therapy_analytics.arrow import pyarrow
from therapy_analytics.cells import csv_of_parts, csv_of_rows
from therapy_analytics.frames import profile_table, wide_turns
from therapy_analytics.measures._base import STATISTICS
from therapy_analytics.results._files import replaced, unlike_all
from therapy_analytics.results._record import DONE, Record, hash_of_file, write_record
from therapy_analytics.tables import DIGITS

RECORDS = ".parts"
"""The folder of the records of data files."""
DATASETS = tuple(one.name for one in TABLES)
"""The folders of data files."""
_MAY_BE_MISSING = frozenset(one.name for one in TABLES if one.may_be_missing)
_END = "\n"


def session_texts(tables: Mapping[str, pd.DataFrame], ids: Sequence[str]) -> list[dict[str, str]]:
    """Return of each session the texts of the files of its folder, by their names.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of these sessions, in their order.
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
    """Return of each session its lines of the tables that are joined over sessions, without their heads.

    Of the sessions table, these are the measures alone: which other columns there are is not known before the end.
    """
    starts = {name: _starts(tables[name], ids) for name in JOINED}
    written = {**tables, "sessions": tables["sessions"][list(measures)]}
    lines = {name: csv_of_parts(written[name], starts[name], digits=DIGITS)[1] for name in JOINED}
    return [{name: own[at] for name, own in lines.items()} for at in range(len(ids))]


def _divided(table: pd.DataFrame, ids: Sequence[str]) -> list[str]:
    """Return the text of each session's rows; codes that people gave in other sessions alone are no columns of it."""
    gold, starts = gold_names(table), _starts(table, ids)
    given = table[gold].to_numpy() != ""
    lacking = [tuple(np.array(gold)[~given[begin:end].any(axis=0)]) for begin, end in pairwise(starts)]
    texts = {}
    for names in dict.fromkeys(lacking):  # sessions of one corpus mostly have the same codes
        head, lines = csv_of_parts(table.drop(columns=list(names)), starts, digits=DIGITS)
        texts[names] = [head + one for one in lines]
    return [texts[names][at] for at, names in enumerate(lacking)]


def _starts(table: pd.DataFrame, ids: Sequence[str]) -> list[int]:
    rows = {name: sum(1 for _ in group) for name, group in groupby(table["session_id"].tolist())}
    return [0, *np.cumsum([rows.get(name, 0) for name in ids]).tolist()]


def write_joined(
    records: Iterable[Record], name: str, path: Path, columns: Sequence[str], about: Sequence[str]
) -> None:
    """Write a table that is joined over sessions, a session at a time.

    Parameters
    ----------
    records : iterable of Record
        Of the sessions, in order.
    name : str
        The table.
    path : Path
        Its file.
    columns : sequence of str
        Its columns; of the sessions table, its measures.
    about : sequence of str
        The other columns of the sessions table, which come first.
    """
    with replaced(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_of_rows([[*about, *columns]]))
        for one in records:
            cells = csv_of_rows([[one.about.get(column, "") for column in about]]) if about else ""
            file.write(f"{cells.removesuffix(_END)},{one.rows[name]}" if about else one.rows[name])


def write_session(texts: Mapping[str, str], folder: Path, record: Record, *, tagger: str) -> None:
    """Write what there is of one session: its tables, its figures, and what is kept of it.

    They are written into a folder beside it, which then takes its name: whatever stops the program, a session's
    folder holds all or is not there.

    Parameters
    ----------
    texts : mapping of str to str
        The text of each file.
    folder : Path
        Of the session.
    record : Record
        What is kept of it, without the hashes of its files.
    tagger : str
        Who coded the turns, for the figures.
    """
    with _put_in_place(folder) as part:
        for name, text in texts.items():
            private.write(part / name, text)
        _draw(part, record.figures, tagger)
        hashes = {path.name: hash_of_file(path) for path in sorted(part.iterdir())}
        write_record(replace(record, files=hashes), part / DONE)


def write_figures_again(folder: Path, record: Record, figures: Sequence[str], *, tagger: str) -> None:
    """Draw the figures of a session that is done in other formats, from its tables."""
    texts = {path.name: path.read_bytes().decode() for path in sorted(folder.glob("*.csv"))}
    write_session(texts, folder, replace(record, figures=tuple(figures)), tagger=tagger)


def session_is_whole(folder: Path, record: Record) -> bool:
    """Return whether the folder of a session holds its files as they were written, and no others."""
    return {path.name for path in folder.iterdir()} - {DONE} == set(record.files) and record.is_whole(folder)


def _draw(folder: Path, figures: Sequence[str], tagger: str) -> None:
    """Draw the figures of a session, if any are asked for, from the numbers that stand in its files."""
    if figures:
        from therapy_analytics.plots._figures import session_figures, write_figures  # noqa: PLC0415 (matplotlib)

        turns, likely, measured = (pd.read_csv(folder / CSV_FILES[name]) for name in _OF_TURNS)
        parts = _parts(folder)
        tables = {
            "wide_turns": wide_turns(turns, likely, measured),
            "parts": parts,
            "profile": profile_table(parts),
            "responses": pd.read_csv(folder / CSV_FILES["responses"]),
        }
        tables["profile"].attrs["tagger"] = tagger
        write_figures(session_figures(), tables, folder, formats=figures)


_OF_TURNS = ("turns", "probabilities", "turn_measures")


def _parts(folder: Path) -> pd.DataFrame:
    return pd.read_csv(
        folder / CSV_FILES["parts"], keep_default_na=False, na_values={name: [""] for name in STATISTICS}
    )


@contextmanager
def _put_in_place(folder: Path) -> Iterator[Path]:
    """Give an empty folder to write into, and put it in the place of the other if all went well."""
    part = unlike_all(folder)
    private.folder(part.parent, parents=False)  # the folder of results is not made again where it went away
    part.mkdir(mode=private.FOLDER)
    try:
        yield part
        shutil.rmtree(folder, ignore_errors=True)
        try:
            part.rename(folder)
        except OSError:
            if not (folder / DONE).is_file():  # else somebody has just written the same
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_run_figures(
    folders: Path, out: Path, sessions: Collection[str], *, figures: Sequence[str], tagger: str
) -> None:
    """Draw what is seen over all sessions of a run, from the tables in their folders."""
    from therapy_analytics.plots._figures import run_figures, write_figures  # noqa: PLC0415 (matplotlib is slow)

    parts = pd.concat([_parts(folders / name) for name in sessions], ignore_index=True)
    profile = profile_table(parts[parts["part"] != "window"])
    profile.attrs["tagger"] = tagger
    responses = [pd.read_csv(folders / name / CSV_FILES["responses"]) for name in sessions]
    tables = {"parts": parts, "profile": profile, "responses": pd.concat(responses, ignore_index=True)}
    if (out / CSV_FILES["sessions"]).is_file():
        tables["sessions"] = pd.read_csv(out / CSV_FILES["sessions"])
    part = unlike_all(folders / "figures")
    part.mkdir(mode=private.FOLDER)
    try:
        for figure in write_figures(run_figures(), tables, part, formats=figures):
            figure.replace(out / figure.name)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def library() -> Any:
    """Return pyarrow.

    Raises
    ------
    BadOptionError
        It is not installed.
    """
    return pyarrow("--output-format parquet", needed="writing Parquet")


def write_data_files(tables: Mapping[str, pd.DataFrame], out: Path, batch: str, record: Record) -> None:
    """Write the data files of a work batch, each under another name first, and then that they are there."""
    hashes = {}
    for name, table in tables.items():
        if len(table) or name not in _MAY_BE_MISSING:
            path = private.folder(out / name, parents=False) / data_file(batch)
            with replaced(path) as part:
                _write_parquet(table, part)
                hashes[f"{name}/{path.name}"] = hash_of_file(part)
    path = record_file(out, batch)
    private.folder(path.parent, parents=False)
    with replaced(path) as part:
        write_record(replace(record, files=hashes), part)


def data_file(batch: str) -> str:
    """Return what the data file of a work batch is called in each data set."""
    return f"part-{batch}.parquet"


def record_file(out: Path, batch: str) -> Path:
    """Return where the record of the data files of a work batch is."""
    return out / RECORDS / f"{batch}.json"


def _write_parquet(table: pd.DataFrame, path: Path) -> None:
    arrow = library()
    fields = [(name, _type(kind, arrow)) for name, kind in table.dtypes.items()]
    arrays = [arrow.array(table[name], type=kind, from_pandas=True) for name, kind in fields]
    # Nothing of pandas goes along: each file would say how many rows it has, and so have a schema of its own.
    whole = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields))
    with path.open("wb") as file:  # by its name, pyarrow opens none that is not UTF-8
        arrow.parquet.write_table(whole, file, compression="zstd", write_page_checksum=True)


def _type(kind: Any, arrow: Any) -> Any:
    """Return the type of a column: texts, codes and roles are strings, whatever else pandas makes of them."""
    if isinstance(kind, pd.CategoricalDtype) or kind.kind not in "iufb":
        return arrow.string()
    return arrow.from_numpy_dtype(getattr(kind, "numpy_dtype", kind))
