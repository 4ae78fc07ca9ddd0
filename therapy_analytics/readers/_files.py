"""From paths to files, and from a file to its reader."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from therapy_analytics.errors import NothingToReadError, UnreadableFileError
from therapy_analytics.readers._addresses import inside, is_address, is_folder, located, plainly, real, shown, version
from therapy_analytics.readers._base import READERS, Reader, Source, refuse_binary
from therapy_analytics.readers._companions import is_companion
from therapy_analytics.readers._metadata import is_metadata

_MEDIA = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".wav", ".mp3", ".m4a", ".ogg", ".flac", ".mp4", ".mov"}
_NO_TRANSCRIPT = frozenset(_MEDIA | {".avi", ".mkv", ".webm", ".py", ".ipynb", ".toml", ".yaml", ".yml", ".css", ".js"})
_ABOUT = ("readme", "license", "licence", "changelog")
_RESULT = ("run.json", "problems.csv")


def find_files(
    paths: Iterable[str | Path], *, leave_out: Path | None = None, on_table: Callable[[str], None] | None = None
) -> list[Path]:
    """List the transcript files: those named, and those below folders, sorted, each once.

    Parameters
    ----------
    paths, leave_out, on_table : optional
        As for `walk`.

    Raises
    ------
    NothingToReadError
        There is none.
    """
    return [located(path) for path in walk(paths, leave_out, on_table)]


def walk(
    paths: Iterable[str | Path], leave_out: Path | None = None, on_table: Callable[[str], None] | None = None
) -> Iterator[str]:
    """Yield the transcript files as `find_files` lists them, as they are found.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.
    leave_out : Path, optional
        A folder that is not looked into.
    on_table : callable, optional
        Told of each table about sessions in the folders.

    Raises
    ------
    NothingToReadError
        A path holds the results of a run, or there is no file at all.
    """
    named = [str(path) if is_address(path) else str(Path(path)) for path in paths]
    folders = {path for path in named if is_folder(path)}
    for path in named:
        if path in folders and _is_result(path):
            raise NothingToReadError(f"{shown(path)} holds the results of an earlier run, not transcripts.")
    found: set[str] = set()
    forbidden = os.path.realpath(leave_out) if leave_out is not None else None
    for path in named:
        for file in _below(path, forbidden, on_table) if path in folders else [path]:
            place = real(file)
            if place not in found:
                found.add(place)
                yield file
    if not found:
        places = ", ".join(map(shown, named)) or "no path"
        raise NothingToReadError(
            f"No transcript was found in {places}. Give files or a folder with transcripts as text with speaker "
            "labels, Word, CSV, Excel, JSON or JSON Lines, or captions with speakers."
        )


def _below(folder: str, forbidden: str | None, on_table: Callable[[str], None] | None) -> Iterator[str]:
    """Files below a folder; hidden ones, media, notes about the folder and earlier results are passed over."""
    try:
        found = names_in(folder)
    except UnreadableFileError:
        yield folder  # opening it will say why it cannot be read, and the run goes on
        return
    names = [name for name in found if not _is_hidden(name) and not is_companion(name, found)]
    for path in (inside(folder, name) for name in names):
        if is_folder(path):
            if not _is_passed_by(path, forbidden):
                yield from _below(path, forbidden, on_table)
        elif not _passed_over(path):
            if not is_metadata(located(path)):
                yield path
            elif on_table is not None:
                on_table(path)


def names_in(folder: str) -> list[str]:
    """Return the names in a folder, sorted.

    Raises
    ------
    UnreadableFileError
        It cannot be looked into.
    """
    with plainly(folder):
        return sorted(entry.name for entry in located(folder).iterdir())


def transcripts_in(folder: str) -> list[str]:
    """Return the files of a folder, not of those below it, that `walk` takes for transcripts.

    Raises
    ------
    UnreadableFileError
        It cannot be looked into.
    """
    names = names_in(folder)
    paths = [inside(folder, name) for name in names if not _is_hidden(name) and not is_companion(name, names)]
    files = [path for path in paths if not is_folder(path) and not _passed_over(path)]
    return [path for path in files if not is_metadata(located(path))]


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$"))


def _is_passed_by(folder: str, forbidden: str | None) -> bool:
    if not is_address(folder) and (Path(folder).is_symlink() or os.path.realpath(folder) == forbidden):
        return True
    return _is_result(folder)


def _is_result(folder: str) -> bool:
    return all(version(inside(folder, name)) for name in _RESULT)


def _passed_over(place: str) -> bool:
    path = located(place)
    about = path.suffix.lower() in _NO_TRANSCRIPT or path.stem.lower().startswith(_ABOUT)
    odd = not is_address(place) and path.exists() and not path.is_file()
    return about or odd


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
            "JSON messages, or captions with speakers; where speakers are missing, `tanalyze speakers` proposes them",
        )
    rivals = [name for sure, known, name, _ in others if (sure, known) == (best, by_suffix)]
    if rivals:
        names = " and ".join(sorted([chosen.name, *rivals]))
        raise source.error(f"the file could be read in two ways ({names})", "Rename it with the suffix of its format")
    return chosen
