"""What is kept of sessions that are done: a run that was stopped goes on from it, and need not hold it in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.private import write

DONE = "done.json"
"""The record of a session beside its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Sessions whose files are all there: one with a folder of its own, or those of a work batch in data files.

    Attributes
    ----------
    key : str
        A hash of all that the tables depend on: the sessions, the settings, the program and its data.
    ids : tuple of str
        The sessions, in order.
    figures : tuple of str
        The formats of the session's figures.
    about : mapping of str to str
        The session's columns of sessions.csv that are no measures, as they are written.
    rows : mapping of str to str
        Its lines of each joined table, as they are written; those of sessions.csv without `about`.
    counted : mapping of str to int
        What an outside coder counted.
    problems : tuple of (str, str, str)
        File, problem and remedy of each session of the work batch that could not be measured.
    files : mapping of str to str
        A hash of each file, by its path from the folder that the record speaks of.
    """

    key: str
    ids: tuple[str, ...]
    figures: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[tuple[str, str, str], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def unmeasured(self) -> list[UnreadableFileError]:
        """Return its problems as they are told."""
        return [UnreadableFileError(path, None, problem, remedy) for path, problem, remedy in self.problems]

    def is_whole(self, folder: Path) -> bool:
        """Return whether all files are there as they were written: a machine that lost its power may have cut one."""
        paths = {folder / name: known for name, known in self.files.items()}
        return all(path.is_file() and hash_of_file(path) == known for path, known in paths.items())


def write_record(record: Record, path: Path) -> None:
    """Write a record."""
    write(path, json.dumps(asdict(record), ensure_ascii=True) + "\n")


def read_record(path: Path) -> Record | None:
    """Return a record, or None where there is none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        lists = {name: tuple(found[name]) for name in ("ids", "figures")}
        problems = tuple(map(tuple, found["problems"]))
        return Record(**{**found, **lists, "problems": problems})
    except (OSError, ValueError, LookupError, TypeError):
        return None


def records_at(paths: Iterable[Path]) -> Iterable[Record]:
    """Yield the records that can be read."""
    return (one for one in map(read_record, paths) if one is not None)


def hash_of_all(what: object) -> str:
    """Return a hash of values that can be written as JSON, of dataclasses by their fields, of others by their text."""
    return hashlib.sha256(json.dumps(what, sort_keys=True, default=_plain).encode("ascii")).hexdigest()


def _plain(value: object) -> object:
    return [getattr(value, one.name) for one in fields(value)] if is_dataclass(value) else str(value)


def hash_of_file(path: Path) -> str:
    """Return a hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
