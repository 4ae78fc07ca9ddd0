"""From paths to sessions: which files, which reader, which ids."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from therapy_analytics.errors import BadDataFileError, NothingToReadError, UnreadableFileError
from therapy_analytics.readers._base import (
    READERS,
    RawSession,
    Reader,
    ReadOptions,
    Source,
    load_source,
    refuse_binary,
)
from therapy_analytics.readers._build import Place, build_session, fingerprint, safe_id, unique_id
from therapy_analytics.readers._metadata import Table, combined, common_names, from_name, is_metadata, keys, tables_for
from therapy_analytics.session import Session

_MEDIA = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".wav", ".mp3", ".m4a", ".ogg", ".flac", ".mp4", ".mov"}
_NO_TRANSCRIPT = frozenset(_MEDIA | {".avi", ".mkv", ".webm", ".py", ".ipynb", ".toml", ".yaml", ".yml"})
_ABOUT = ("readme", "license", "licence", "changelog")


@dataclass(frozen=True, slots=True)
class FileReading:
    """What became of one file: its sessions, or why it could not be read."""

    path: Path
    sessions: tuple[Session, ...] = ()
    problem: UnreadableFileError | None = None
    reader: str = ""
    sha256: str = ""


@dataclass(slots=True)
class _Shelf:
    """What files of one run share: the ids taken and the tables about sessions."""

    ids: dict[str, int] = field(default_factory=dict)
    twins: dict[bytes, str] = field(default_factory=dict)
    tables: dict[Path, Table] = field(default_factory=dict)


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
    """
    sessions: list[Session] = []
    for reading in read_files([path], options=options):
        if reading.problem is not None:
            raise reading.problem
        sessions.extend(reading.sessions)
    return sessions


def read_files(
    paths: Iterable[str | Path], *, options: ReadOptions | None = None, leave_out: Path | None = None
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
    """
    options = options or ReadOptions()
    if options.metadata is not None and not options.metadata.is_file():
        raise BadDataFileError(str(options.metadata), "there is no such table about sessions", "Check its name")
    from_name("", options.pattern)  # a pattern that cannot be used is an error before any file is read
    shelf = _Shelf()
    for path in find_files(paths, leave_out=leave_out):
        if options.metadata is not None and os.path.realpath(path) == os.path.realpath(options.metadata):
            continue
        yield _read_file(path, options, shelf)


def find_files(paths: Iterable[str | Path], *, leave_out: Path | None = None) -> list[Path]:
    """List the transcript files: those named, and those below folders, sorted, each once.

    Raises
    ------
    NothingToReadError
        There is none.
    """
    named = [Path(path) for path in paths]
    found: dict[str, Path] = {}
    for path in named:
        if path.is_dir() and _is_result(path):
            raise NothingToReadError(f"{path} holds the results of an earlier run, not transcripts.")
        for inside in _below(path, leave_out) if path.is_dir() else [path]:
            found.setdefault(os.path.realpath(inside), inside)
    if not found:
        places = ", ".join(map(str, named)) or "no path"
        raise NothingToReadError(
            f"No transcript was found in {places}. Give files or a folder with transcripts as text with speaker "
            "labels, Word, CSV, Excel, JSON or JSON Lines, or captions with speakers."
        )
    return list(found.values())


def _below(folder: Path, leave_out: Path | None) -> list[Path]:
    """Files below a folder; hidden ones, media, notes about the folder and earlier results are passed over."""
    inside: list[Path] = []
    forbidden = leave_out.resolve() if leave_out is not None else None
    try:
        entries = sorted(folder.iterdir(), key=lambda one: one.name)
    except OSError:
        return [folder]  # opening it will say why it cannot be read, and the run goes on
    for path in entries:
        if path.name.startswith((".", "~$")) or (path.is_symlink() and path.is_dir()):
            continue
        if path.is_dir():
            if path.resolve() != forbidden and not _is_result(path):
                inside.extend(_below(path, leave_out))
        elif not _passed_over(path):
            inside.append(path)
    return inside


def _is_result(folder: Path) -> bool:
    return (folder / "run.json").is_file() and (folder / "problems.csv").is_file()


def _passed_over(path: Path) -> bool:
    about = path.suffix.lower() in _NO_TRANSCRIPT or path.stem.lower().startswith(_ABOUT)
    return about or (path.exists() and not path.is_file()) or is_metadata(path)


def _read_file(path: Path, options: ReadOptions, shelf: _Shelf) -> FileReading:
    try:
        return _sessions_of(load_source(path, options), shelf)
    except UnreadableFileError as problem:
        return FileReading(path, problem=problem)
    except BadDataFileError as error:
        return FileReading(path, problem=UnreadableFileError(error.path, None, error.problem, error.remedy))
    except Exception as error:  # noqa: BLE001 (whatever a file does to a reader, the run goes on)
        what = f"the file could not be understood ({type(error).__name__})"
        return FileReading(path, problem=UnreadableFileError(str(path), None, what, "Save it again in its format"))


def _sessions_of(source: Source, shelf: _Shelf) -> FileReading:
    chosen = choose_reader(source)
    tables = list(tables_for(source.path, source.options, shelf.tables))
    sessions = tuple(_build(raw, source, tables, shelf) for raw in chosen.read(source))
    if not any(session.turns for session in sessions):
        raise source.error("the file holds no spoken words", "It should hold a transcript")
    return FileReading(source.path, sessions, reader=chosen.name, sha256=source.sha256)


def _build(raw: RawSession, source: Source, tables: list[Table], shelf: _Shelf) -> Session:
    stem = safe_id(source.path.stem)
    wanted = safe_id(raw.name) if raw.name.strip() else stem
    identity = unique_id(wanted, stem, shelf.ids)
    about, notes = combined(
        common_names(raw.metadata),
        from_name(source.path.stem, source.options.pattern),
        *(next(filter(None, map(table.get, keys(identity, wanted, stem))), {}) for table in tables),
    )
    session = build_session(raw, Place(str(source.path), identity), about, source.options)
    twin = shelf.twins.setdefault(fingerprint(session), identity)
    if twin != identity:
        notes = (*notes, f"The same words as in session {twin}.")
    return replace(session, notes=(*session.notes, *notes))


def choose_reader(source: Source) -> Reader:
    """Return the reader that is surest of a file; a known suffix breaks a tie.

    Raises
    ------
    UnreadableFileError
        None is sure at all, or two are equally sure and the suffix does not decide.
    """
    suffix = source.path.suffix.lower()
    bids = sorted(((one.sniff(source), suffix in one.suffixes, one.name, one) for one in READERS), reverse=True)
    (best, by_suffix, _, chosen), *others = bids
    if best <= 0:
        refuse_binary(source)
        raise source.error(
            "no way to read this file was found",
            "Give text with a label before each turn (Therapist: ...), a table with columns speaker and text, "
            "JSON messages, or captions with speakers",
        )
    rivals = [name for sure, known, name, _ in others if (sure, known) == (best, by_suffix)]
    if rivals:
        names = " and ".join(sorted([chosen.name, *rivals]))
        raise source.error(f"the file could be read in two ways ({names})", "Rename it with the suffix of its format")
    return chosen
