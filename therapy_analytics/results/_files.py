"""Files of a folder of results, each whole or absent, and the records of sessions that are done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from therapy_analytics.core.cells import csv_of_frame
from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.folders import replaced
from therapy_analytics.core.printable import counted
from therapy_analytics.core.private import write
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.readers.account import Remark
from therapy_analytics.readers.pseudonymous import shown_file
from therapy_analytics.results.tables import DIGITS

DONE = "done.json"
"""The record of a session, beside its files."""
SESSIONS = "sessions"
"""The folder of the folders of sessions; with Parquet, a data set."""
RECORDS = ".parts"
"""The folder of the records of work batches, with Parquet."""


def as_csv(frame: pd.DataFrame) -> str:
    """Return a table as the text of its file."""
    return csv_of_frame(frame, digits=DIGITS)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table."""
    write_text(as_csv(frame), path)


def write_not_drawn(failed: Sequence[Remark], part: Path, out: Path, say: Callable[[str], None]) -> None:
    """Write ``problems.csv`` into a folder that will be `out`, if figures could not be drawn, and say so."""
    if failed:
        write_csv(problems_table(not_drawn=failed), part / PROBLEMS)
        figures = counted(len(failed), "figure")
        say(f"{figures} could not be drawn; the tables are complete. {out / PROBLEMS} says why and what to do.")


def write_text(text: str, path: Path) -> None:
    """Write a text, with its line breaks as they are."""
    with replaced(path) as part:
        write(part, text)


PROBLEMS = "problems.csv"
NOT_READ, NOT_MEASURED, NOT_DRAWN, CHECK = "not read", "not measured", "not drawn", "check"
"""Kinds of problems: a file that could not be read, a session that could not be measured, a figure that could not be
drawn, something that looks odd."""
_ON_SCREEN = ("what it is can name people, and is shown on the screen alone", "tanalyze inspect shows it again")


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
    kinds = ((NOT_READ, unread), (NOT_MEASURED, unmeasured), (NOT_DRAWN, not_drawn), (CHECK, remarks))
    rows = [(one.path, one.line, one.problem, one.remedy, kind) for kind, found in kinds for one in found]
    if pseudonyms is not None:
        # Figures are called by what stands in results, and sessions that were not measured, too
        rows = [
            (
                path if kind == NOT_DRAWN else shown_file(path, pseudonyms),
                line,
                *((problem, remedy) if kind in (NOT_MEASURED, NOT_DRAWN) else _ON_SCREEN),
                kind,
            )
            for path, line, problem, remedy, kind in rows
        ]
    frame = pd.DataFrame(rows, columns=["file", "line", "problem", "what_would_be_right", "kind"])
    return frame.astype({"line": "Int64"})


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
    plots: Literal["session", "all", "none"] = "session"
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
        paths = {folder / name: known for name, known in self.files.items()}
        return all(path.is_file() and hash_of_file(path) == known for path, known in paths.items())

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        write(path, json.dumps(asdict(self), ensure_ascii=True) + "\n")


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
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode("ascii")).hexdigest()


def _plain(value: object) -> object:
    return [getattr(value, one.name) for one in fields(value)] if is_dataclass(value) else str(value)


def hash_of_file(path: Path) -> str:
    """Return a hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
