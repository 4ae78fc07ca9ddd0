"""Transcripts in another form: one file a session, and a table about the sessions beside them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from therapy_analytics import private
from therapy_analytics.cells import csv_of_rows
from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.readers import ReadOptions, read_files
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
    """

    files: tuple[Path, ...]
    losses: tuple[tuple[str, tuple[str, ...]], ...]
    problems: tuple[UnreadableFileError, ...]


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
        A file of that name stands in the folder already.
    NothingToReadError
        There is no file to read.
    """
    form, out = WRITERS[to], Path(out)
    files: list[Path] = []
    known: dict[str, Mapping[str, str]] = {}
    losses: list[tuple[str, tuple[str, ...]]] = []
    problems: list[UnreadableFileError] = []
    for reading in read_files(paths, options=options, leave_out=out):  # whose sessions are let go before the next
        problems += [] if reading.problem is None else [reading.problem]
        private.folder(out)
        for session in reading.sessions:
            files.append(_create(out / f"{session.id}{form.suffix}", form.write(session)))
            known[session.id] = session.metadata
            losses += [(session.id, lost)] if (lost := tuple(form.losses(session))) else []
    if about := _about(known):
        files.append(_create(out / "sessions.csv", about))
    return Conversion(tuple(files), tuple(losses), tuple(problems))


def _create(path: Path, data: bytes) -> Path:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), private.FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except FileExistsError:
        raise BadOptionError("--out", f"{path} is there already", "Name a new or an empty folder") from None
    return path


def _about(known: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return the table about the sessions, or nothing where nothing is known of them."""
    names = dict.fromkeys(name for metadata in known.values() for name in metadata)
    if not names:
        return b""
    rows = [[session, *(metadata.get(name, "") for name in names)] for session, metadata in known.items()]
    return csv_of_rows([["session_id", *names], *rows]).encode()
