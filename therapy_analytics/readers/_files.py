"""From paths to files, and from a file to its reader."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from therapy_analytics.core.errors import NothingToReadError, UnreadableFileError
from therapy_analytics.core.folders import MADE_FROM
from therapy_analytics.core.printable import printable
from therapy_analytics.readers._companions import is_companion
from therapy_analytics.readers._metadata import is_metadata
from therapy_analytics.readers._other_programs import refuse_other_program
from therapy_analytics.readers.base import READERS, Reader, Source, refuse_binary
from therapy_analytics.readers.paths import plainly, version

_MEDIA = ".png .jpg .jpeg .gif .svg .webp .wav .mp3 .m4a .ogg .flac .mp4 .mov .avi .mkv .webm"
_PROGRAMS = ".py .ipynb .toml .yaml .yml .css .js"
_NO_TRANSCRIPT = frozenset(f"{_MEDIA} {_PROGRAMS}".split())
_ABOUT = ("readme", "license", "licence", "changelog")
_RESULT = ("run.json", "problems.csv")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""What an address begins with, of which a path keeps one of two slashes; the letter of a drive is none."""

OnTable = Callable[[str], None]
"""Called with each table about sessions in the folders."""


def find_files(
    paths: Iterable[str | Path], *, leave_out: Path | None = None, on_table: OnTable | None = None
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
    return [Path(path) for path, _ in walk(paths, leave_out, on_table)]


def walk(
    paths: Iterable[str | Path], leave_out: Path | None = None, on_table: OnTable | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the transcript files as `find_files` lists them, as they are found, each with its name for results.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.
    leave_out : Path, optional
        A folder that is not looked into.
    on_table : callable, optional
        Called with each table about sessions in the folders.

    Raises
    ------
    NothingToReadError
        A path holds the results of a run or is an address on a network, or there is no file at all.
    """
    named = [str(Path(path)) for path in paths]
    if any(_ADDRESS.match(path) and not Path(path).exists() for path in named):
        raise NothingToReadError(
            "An address on a network is not read, only files on this machine. Copy the transcripts into a folder here "
            "first, for example with aws s3 cp --recursive, and name that folder."
        )
    folders = {path for path in named if Path(path).is_dir()}
    for path in named:
        if path in folders and _is_result(path):
            raise NothingToReadError(f"{printable(path)} holds the results of an earlier run, not transcripts.")
    found: set[str] = set()
    forbidden = os.path.realpath(leave_out) if leave_out is not None else None
    short = _short_names(named)
    for path in named:
        for file in _below(path, forbidden, on_table) if path in folders else [path]:
            place = os.path.realpath(file)
            if place not in found:
                found.add(place)
                below = file.removeprefix(path) if path in folders and path != "." else f"/{file}" * (path in folders)
                yield file, printable(f"{short[path]}{below}".replace(os.sep, "/").lstrip("/"))
    if not found:
        places = ", ".join(map(printable, named)) or "no path"
        raise NothingToReadError(
            f"No transcript was found in {places}. Give files or a folder with transcripts as text with speaker "
            "labels, Word, CSV, Excel, JSON or JSON Lines, or captions with speakers."
        )


def _short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return for what the user named how results call it: the fewest of its last folders that are no other's.

    A folder that was named alone is not called anything: its files are relative to it.

    Examples
    --------
    >>> _short_names(["a/talks", "b/talks", "c/one.txt"]), _short_names(["a/one.txt"])
    ({'a/talks': 'a/talks', 'b/talks': 'b/talks', 'c/one.txt': 'one.txt'}, {'a/one.txt': 'one.txt'})
    """
    if len(set(paths)) == 1 and Path(paths[0]).is_dir():
        return {paths[0]: ""}
    places = {path: str(Path(path).absolute()) for path in paths}
    parts = {place: place.replace(os.sep, "/").rstrip("/").split("/") for place in places.values()}
    found = {place: own[-1] for place, own in parts.items()}
    for n in range(2, 1 + max(map(len, parts.values()), default=0)):
        times = Counter(found.values())
        found = {place: "/".join(parts[place][-n:]) if times[name] > 1 else name for place, name in found.items()}
    return {path: found[place] for path, place in places.items()}


def _below(folder: str, forbidden: str | None, on_table: OnTable | None) -> Iterator[str]:
    """Yield the transcripts below a folder; earlier results and links to folders are not looked into."""
    try:
        paths = _visible(folder)
    except UnreadableFileError:
        yield folder  # opening it will say why it cannot be read, and the run goes on
        return
    for path in paths:
        if Path(path).is_dir():
            is_link = Path(path).is_symlink() or os.path.realpath(path) == forbidden
            if not is_link and not _is_result(path) and not version(str(Path(path) / MADE_FROM)):
                yield from _below(path, forbidden, on_table)
        elif _may_be_transcript(path):
            if not is_metadata(Path(path)):
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
        return sorted(entry.name for entry in Path(folder).iterdir())


def transcripts_in(folder: str) -> list[str]:
    """Return the files that `walk` takes for transcripts in a folder, without those of folders inside it.

    Raises
    ------
    UnreadableFileError
        It cannot be looked into.
    """
    files = [path for path in _visible(folder) if not Path(path).is_dir() and _may_be_transcript(path)]
    return [path for path in files if not is_metadata(Path(path))]


def _visible(folder: str) -> list[str]:
    """Return the paths in a folder, without hidden ones and files that are read with a transcript beside them."""
    names = names_in(folder)
    shown_names = [name for name in names if not name.startswith((".", "~$")) and not is_companion(name, names)]
    return [str(Path(folder) / name) for name in shown_names]


def _is_result(folder: str) -> bool:
    return all(version(str(Path(folder) / name)) for name in _RESULT)


def _may_be_transcript(place: str) -> bool:
    """Tell a possible transcript from media, programs, notes about the folder, and files that are not regular."""
    path = Path(place)
    about = path.suffix.lower() in _NO_TRANSCRIPT or path.stem.lower().startswith(_ABOUT)
    return not about and (not path.exists() or path.is_file())


def choose_reader(source: Source) -> Reader:
    """Return the reader with the highest certainty; a known suffix breaks a tie.

    Raises
    ------
    UnreadableFileError
        None has any, two have the same and the suffix does not decide, or it is a file of a program that is not read.
    """
    refuse_other_program(source)
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
