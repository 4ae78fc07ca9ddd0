"""What is kept of a session that is done: a run that was stopped goes on from it, and need not hold it in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from therapy_analytics.private import write

if TYPE_CHECKING:
    from therapy_analytics.session import Session

NAME = "done.json"


@dataclass(frozen=True, slots=True)
class Key:
    """What a session's files depend on.

    Attributes
    ----------
    tables : str
        A hash of the session, the settings, the program and its data.
    figures : tuple of str
        The formats of its figures.
    """

    tables: str
    figures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A session whose files are all there.

    Attributes
    ----------
    key : Key
        What they depend on.
    about : mapping of str to str
        Its columns of sessions.csv that are no measures, as they are written.
    measures : str
        Its measures, as they are written: cells parted by commas.
    dyads : tuple of str
        Its lines of dyads.csv.
    counted : mapping of str to int
        What an outside coder counted.
    responses : tuple of int
        What the therapist answers to what, as `response_counts` has it, in one row.
    files : mapping of str to str
        A hash of each of its files.
    """

    key: Key
    about: Mapping[str, str]
    measures: str
    dyads: tuple[str, ...] = ()
    counted: Mapping[str, int] = field(default_factory=dict)
    responses: tuple[int, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def session_key(session: Session, rest: str) -> str:
    """Return a hash of a session, whole, and of the rest that its files depend on."""
    return hash_of_all([rest, session])


def hash_of_all(what: object) -> str:
    """Return a hash of values that can be written as JSON, of dataclasses by their fields, of others by their text."""
    return hashlib.sha256(json.dumps(what, sort_keys=True, default=_plain).encode("ascii")).hexdigest()


def _plain(value: object) -> object:
    return [getattr(value, one.name) for one in fields(value)] if is_dataclass(value) else str(value)


def write_done(done: Done, folder: Path) -> None:
    """Write what is done of a session beside its files, with a hash of each of them."""
    names = sorted(path.name for path in folder.iterdir() if path.name != NAME)
    whole = replace(done, files={name: hash_of(folder / name) for name in names})
    write(folder / NAME, json.dumps(asdict(whole), ensure_ascii=True) + "\n")


def read_done(folder: Path) -> Done | None:
    """Return what is done of a session, or None where nothing is, or a file of it is not as it was written."""
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
        key = Key(found["key"]["tables"], tuple(found["key"]["figures"]))
        lists = {name: tuple(found[name]) for name in ("dyads", "responses")}
        return Done(**{**found, **lists, "key": key})
    except (OSError, ValueError, LookupError, TypeError):
        return None


def is_whole(done: Done, folder: Path) -> bool:
    """Return whether all files are there as they were written: a machine that lost its power may have cut one."""
    names = {path.name for path in folder.iterdir()} - {NAME}
    return names == set(done.files) and all(hash_of(folder / name) == known for name, known in done.files.items())


def hash_of(path: Path) -> str:
    """Return a hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
