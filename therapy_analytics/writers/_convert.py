"""Transcripts in another form: one file a session, and a table about the sessions beside them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from therapy_analytics import private
from therapy_analytics.cells import csv_of_rows
from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.outputs import OUT, refuse_unusable, written_to
from therapy_analytics.readers import Account, ReadOptions, read_files
from therapy_analytics.session import Session
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
    sessions: list[Session] = []
    problems: list[UnreadableFileError] = []
    account = Account(options or ReadOptions())
    for reading in read_files(paths, options=options, leave_out=out, account=account):
        sessions.extend(reading.sessions)
        if reading.problem is not None:
            problems.append(reading.problem)
    files = [out / f"{session.id}{form.suffix}" for session in sessions]
    about = _about(sessions)
    files += [out / "sessions.csv"] * bool(about)
    if there := [path for path in files if os.path.lexists(path)]:
        raise _is_there(there[0])
    with written_to(out):
        private.folder(out)
        for path, session in zip(files, sessions, strict=False):
            _create(path, form.write(session))
        if about:
            _create(files[-1], about)
    losses = tuple((session.id, lost) for session in sessions if (lost := tuple(form.losses(session))))
    return Conversion(tuple(files), losses, tuple(problems), tuple(account.lines()))


def _create(path: Path, data: bytes) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), private.FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except FileExistsError:
        raise _is_there(path) from None


def _is_there(path: Path) -> BadOptionError:
    return BadOptionError(OUT, f"{path} is there already", "Name a new or an empty folder")


def _about(sessions: list[Session]) -> bytes:
    """Return the table about the sessions, or nothing where nothing is known of them."""
    names = dict.fromkeys(name for session in sessions for name in session.metadata)
    if not names:
        return b""
    rows = [[session.id, *(session.metadata.get(name, "") for name in names)] for session in sessions]
    return csv_of_rows([["session_id", *names], *rows]).encode()
