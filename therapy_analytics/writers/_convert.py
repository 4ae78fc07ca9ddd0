"""Transcripts in another form: one file a session, and a table about the sessions beside them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from therapy_analytics import private
from therapy_analytics.cells import csv_of_rows
from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.outputs import OUT, refuse_unusable, written_to
from therapy_analytics.readers import Account, ReadOptions, read_files
from therapy_analytics.writers._base import WRITERS


@dataclass(frozen=True, slots=True)
class Conversion:
    """What `convert` did.

    Attributes
    ----------
    files : tuple of Path
        Written, in order.
    losses : tuple of (str, tuple of str)
        Session id, and what of it the form cannot hold; sessions that lose nothing are left out.
    problems : tuple of UnreadableFileError
        Files that could not be read.
    told : tuple of str
        What to say of options, guessed roles and tables about sessions, in sentences.
    """

    files: tuple[Path, ...]
    losses: tuple[tuple[str, tuple[str, ...]], ...]
    problems: tuple[UnreadableFileError, ...]
    told: tuple[str, ...] = field(default=(), repr=False)


def convert(paths: Iterable[str | Path], to: str, out: str | Path, *, options: ReadOptions | None = None) -> Conversion:
    """Read transcripts and write each session in another form.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.
    to : str
        Name of the form.
    out : str or Path
        Folder, made if need be (private, 0700). Files that stand there already are not touched.
    options : ReadOptions, optional
        As for `read`.

    Returns
    -------
    Conversion
        What was written, what was lost, what could not be read.

    Raises
    ------
    UnknownNameError
        There is no such form.
    BadOptionError
        A file of that name stands in the folder already (none is written then), it cannot be a folder, or an option had
        no effect on any transcript.
    CannotWriteError
        The system refused to write.
    NothingToReadError
        There is no file to read.
    """
    form, out = WRITERS[to], Path(out)
    refuse_unusable(out)
    account = Account(options or ReadOptions())
    known: dict[str, Mapping[str, str]] = {}
    for reading in read_files(paths, options=options, leave_out=out, account=account):
        # Before anything is written: do the options have an effect, and which files will there be?
        known.update((session.id, session.metadata) for session in reading.sessions)
    about = _about(known)
    names = [*(f"{identity}{form.suffix}" for identity in known), *(["sessions.csv"] if about else [])]
    if there := [out / name for name in names if os.path.lexists(out / name)]:
        raise _is_there(there[0])
    losses: list[tuple[str, tuple[str, ...]]] = []
    problems: list[UnreadableFileError] = []
    with written_to(out):
        private.folder(out)
        # The sessions of a file are let go before the next is read.
        for reading in read_files(paths, options=options, leave_out=out, account=Account(ReadOptions())):
            problems += [] if reading.problem is None else [reading.problem]
            for session in reading.sessions:
                _create(out / f"{session.id}{form.suffix}", form.write(session))
                losses += [(session.id, lost)] if (lost := tuple(form.losses(session))) else []
        if about:
            _create(out / "sessions.csv", about)
    return Conversion(tuple(out / name for name in names), tuple(losses), tuple(problems), tuple(account.lines()))


def _create(path: Path, data: bytes) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), private.FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except FileExistsError:
        raise _is_there(path) from None


def _is_there(path: Path) -> BadOptionError:
    return BadOptionError(OUT, f"{path} is there already", "Name a new or an empty folder")


def _about(known: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return the table about the sessions, or nothing where nothing is known of them."""
    names = dict.fromkeys(name for metadata in known.values() for name in metadata)
    if not names:
        return b""
    rows = [[session, *(metadata.get(name, "") for name in names)] for session, metadata in known.items()]
    return csv_of_rows([["session_id", *names], *rows]).encode()
