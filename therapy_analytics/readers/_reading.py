"""From paths to sessions, file after file, with ids that are unique among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._account import Account
from therapy_analytics.readers._addresses import named
from therapy_analytics.readers._base import ReadOptions
from therapy_analytics.readers._build import fingerprint
from therapy_analytics.readers._pieces import Names, PieceReading, find_pieces, no_words, read_piece
from therapy_analytics.session import Session


@dataclass(frozen=True, slots=True)
class FileReading:
    """What became of one file: its sessions, or why it could not be read.

    Of a large file that is read in parts, there can be both: the sessions of the sound parts, and what is wrong
    with another.
    """

    path: Path
    sessions: tuple[Session, ...] = ()
    problem: UnreadableFileError | None = None
    reader: str = ""
    sha256: str = ""


def read(path: str | Path, *, options: ReadOptions | None = None) -> list[Session]:
    """Read the sessions of a transcript file, or of all transcripts below a folder.

    Parameters
    ----------
    path : str or Path
        A file or a folder.
    options : ReadOptions, optional
        Columns, labels, metadata.

    Returns
    -------
    list of Session
        In the order of the file names, then of the file.

    Raises
    ------
    UnreadableFileError
        The first file that cannot be read. `read_files` goes on instead.
    NothingToReadError
        There is no transcript.
    BadOptionError
        An option had no effect on any session; what there is instead is listed.

    Warns
    -----
    TablesWarning
        A row of a table about sessions is about none, a session has no row, or a column of remarks was left out.
    """
    sessions: list[Session] = []
    for reading in read_files([path], options=options):
        if reading.problem is not None:
            raise reading.problem
        sessions.extend(reading.sessions)
    return sessions


def read_files(
    paths: Iterable[str | Path],
    *,
    options: ReadOptions | None = None,
    leave_out: Path | None = None,
    account: Account | None = None,
) -> Iterator[FileReading]:
    """Read file after file; one that cannot be read is reported and stops nothing.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.
    options : ReadOptions, optional
        Columns, labels, metadata.
    leave_out : Path, optional
        A folder that is not looked into, such as the one that results go to.
    account : Account, optional
        Filled with what should be said of options, tables about sessions and guessed roles. Without it, what should
        be looked at in the tables is a warning of Python's (`TablesWarning`).

    Yields
    ------
    FileReading
        One for each file, in order.

    Raises
    ------
    NothingToReadError
        There is no file to read.
    BadDataFileError
        The table about sessions that the options name does not exist.
    BadOptionError
        An option had no effect on any session; this is known, and raised, behind the last file.
    """
    options = options or ReadOptions()
    names, told = Names(), account or Account(options)
    pieces = find_pieces(paths, options=options, leave_out=leave_out, on_table=told.saw_table)
    for _, parts in groupby(pieces, key=lambda piece: piece.place):
        readings = [_settled(read_piece(piece, options), names, options) for piece in parts]
        for one in readings:
            told.add(one)
        yield _together(readings)
    told.refuse()
    if account is None:
        told.warn()


def _together(parts: list[PieceReading]) -> FileReading:
    first = parts[0].piece
    problem = next((part.problem for part in parts if part.problem is not None), None)
    sessions = tuple(session for part in parts for session in part.sessions)
    reader = next((part.reader for part in parts if part.reader), "")
    if problem is None and not any(session.turns for session in sessions):
        sessions, problem = (), no_words(first.path)
    return FileReading(named(first.path), sessions, problem, reader, parts[0].sha256)


def _settled(reading: PieceReading, names: Names, options: ReadOptions) -> PieceReading:
    """Give the sessions of a piece ids that no other has; by other ids, a table may say other things of them."""
    given = [names.settle(one.id, reading.stem, fingerprint(one)) for one in reading.sessions]
    ids = [identity for identity, _ in given]
    if reading.by_name and ids != [one.id for one in reading.sessions]:
        reading = read_piece(reading.piece, options, ids)
    sessions = [
        replace(one, id=identity, notes=(*one.notes, *notes))
        for one, (identity, notes) in zip(reading.sessions, given, strict=reading.problem is None)
    ]
    return replace(reading, sessions=tuple(sessions))
