"""From paths to files, and from a file to its reader."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from therapy_analytics.errors import NothingToReadError, UnreadableFileError
from therapy_analytics.readers._addresses import is_address, is_folder, located, plainly, shown, version
from therapy_analytics.readers._base import READERS, Reader, Source, refuse_binary
from therapy_analytics.readers._metadata import is_metadata

_MEDIA = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".wav", ".mp3", ".m4a", ".ogg", ".flac", ".mp4", ".mov"}
_NO_TRANSCRIPT = frozenset(_MEDIA | {".avi", ".mkv", ".webm", ".py", ".ipynb", ".toml", ".yaml", ".yml"})
_ABOUT = ("readme", "license", "licence", "changelog")
_RESULT = ("run.json", "problems.csv")
_WEB_PAGE = re.compile(r"\ufeff?\s*<(?:!doctype html|html)\b", re.IGNORECASE)


def find_files(paths: Iterable[str | Path], *, leave_out: Path | None = None) -> list[Path]:
    """List the transcript files: those named, and those below folders, sorted, each once.

    Raises
    ------
    NothingToReadError
        There is none.
    """
    return [located(path) for path in walk(paths, leave_out)]


def walk(paths: Iterable[str | Path], leave_out: Path | None = None) -> Iterator[str]:
    """Yield the transcript files as `find_files` lists them, as they are found.

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
        for inside in _below(path, forbidden) if path in folders else [path]:
            place = inside if is_address(inside) else os.path.realpath(inside)
            if place not in found:
                found.add(place)
                yield inside
    if not found:
        places = ", ".join(map(shown, named)) or "no path"
        raise NothingToReadError(
            f"No transcript was found in {places}. Give files or a folder with transcripts as text with speaker "
            "labels, Word, CSV, Excel, JSON or JSON Lines, or captions with speakers."
        )


def _below(folder: str, forbidden: str | None) -> Iterator[str]:
    """Files below a folder; hidden ones, media, notes about the folder and earlier results are passed over."""
    try:
        with plainly(folder):
            names = sorted(entry.name for entry in located(folder).iterdir())
    except UnreadableFileError:
        yield folder  # opening it will say why it cannot be read, and the run goes on
        return
    for name in names:
        path = _inside(folder, name)
        if name.startswith((".", "~$")):
            continue
        if is_folder(path):
            if not _is_passed_by(path, forbidden):
                yield from _below(path, forbidden)
        elif not _passed_over(path):
            yield path


def _inside(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if is_address(folder) else str(Path(folder) / name)


def _is_passed_by(folder: str, forbidden: str | None) -> bool:
    if not is_address(folder) and (Path(folder).is_symlink() or os.path.realpath(folder) == forbidden):
        return True
    return _is_result(folder)


def _is_result(folder: str) -> bool:
    return all(version(_inside(folder, name)) for name in _RESULT)


def _passed_over(place: str) -> bool:
    path = located(place)
    about = path.suffix.lower() in _NO_TRANSCRIPT or path.stem.lower().startswith(_ABOUT)
    odd = not is_address(place) and path.exists() and not path.is_file()
    return about or odd or is_metadata(path)


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
        if _WEB_PAGE.match(source.head):
            raise source.error(
                "this is a web page, which this version does not read",
                "Copy the talk into a text file, or take the export of the service that shows it (JSON, captions)",
            )
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
