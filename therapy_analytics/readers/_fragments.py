"""File fragments: files, and parts of large files, each of which any process can read by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from therapy_analytics.errors import BadDataFileError, UnreadableFileError
from therapy_analytics.printable import printable
from therapy_analytics.readers._applied import refuse_contradictions
from therapy_analytics.readers._base import HEAD, Layout, Part, ReadOptions, Source, decoded, load_source
from therapy_analytics.readers._files import choose_reader, names_in, walk
from therapy_analytics.readers._limits import LARGEST_SESSION
from therapy_analytics.readers._metadata import from_name, table_in
from therapy_analytics.readers._paths import open_binary, placed, sibling, size, version
from therapy_analytics.readers._voices import TalkFiles, Voice, joined, talks
from therapy_analytics.verbs import options_of

LARGE = 8 * 2**20
"""Bytes of a part of a file, unpacked; smaller files are not cut."""
_PACKED = 8
"""A file may be so many times smaller than its contents."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A file, or a part of a large one; it holds no words.

    Attributes
    ----------
    path : str
        The file as the user named it, and as results and messages show it.
    place : str
        Where it is opened, from any folder: an absolute path.
    begin, end : int and int or None
        The part ``begin:end``: data rows of Parquet, bytes of JSON Lines; without an end, the whole file.
    part : int
        The number of the part, from 0.
    layout : Layout or None
        What was decided about the whole file, for those who read a part of it.
    table : str
        Where the table about sessions beside the file is opened; empty where there is none.
    voices : tuple of Voice
        All files of one speaker each that are read as one session, of which this is the first.
    talk : str
        The name of that session.
    apart : str
        Why it is not joined with files whose names say that they hold the other speakers, if there are some.
    file : str
        The file as results show it: relative to the folder that the user named.
    """

    path: str
    place: str
    begin: int = 0
    end: int | None = None
    part: int = 0
    layout: Layout | None = None
    table: str = ""
    voices: tuple[Voice, ...] = ()
    talk: str = ""
    apart: str = ""
    file: str = ""


def find_fragments(
    paths: Iterable[str | Path],
    *,
    options: ReadOptions | None = None,
    leave_out: Path | None = None,
    on_table: Callable[[str], None] | None = None,
) -> Iterator[Fragment]:
    """Yield what is to be read, file after file, as it is found; parts of a file follow each other.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.
    options : ReadOptions, optional
        Of the run.
    leave_out : Path, optional
        A folder that is not looked into, such as the one for the results.
    on_table : callable, optional
        Called with each table about sessions in the folders.

    Raises
    ------
    NothingToReadError
        There is no file to read.
    BadDataFileError
        The table about sessions that the options name does not exist, or a folder has two tables of one name.
    BadOptionError
        The options contradict each other, or the pattern cannot be used.
    """
    options = options_of(ReadOptions, options)
    refuse_contradictions(options)
    if options.metadata is not None and not version(placed(options.metadata)):
        raise BadDataFileError(
            printable(str(options.metadata)), "there is no such table about sessions", "Check its name"
        )
    from_name("", options.pattern)  # a pattern that cannot be used is an error before any file is read
    own = None if options.metadata is None else os.path.realpath(options.metadata)
    paths = list(paths)
    given = {os.path.realpath(path) for path in paths}
    folders: dict[str, tuple[str, dict[str, TalkFiles]]] = {}
    by_place: dict[str, Fragment | None] = {}
    for path, file in walk(paths, leave_out, on_table):
        if os.path.realpath(path) == own:
            continue
        place = placed(path)
        folder, name = str(Path(place).parent), Path(printable(place)).name
        if folder not in folders:
            folders[folder] = _looked_at(folder)
        table, talks_here = folders[folder]
        whole = Fragment(printable(str(path)), place, table=table, file=file)
        if place not in by_place and name in talks_here:
            by_place |= _with_other_voices(whole, talks_here[name], options, given)
        fragment = by_place.get(place, whole)
        if fragment is not None:
            yield from [fragment] if fragment.voices else _parts_of(fragment, options)


def _looked_at(folder: str) -> tuple[str, dict[str, TalkFiles]]:
    """Return the table about the sessions of a folder (empty: none), and its talks of one file a speaker."""
    try:
        names = names_in(folder)
    except UnreadableFileError:
        return "", {}  # its files may be readable although it cannot be listed
    table = table_in(names, folder)
    return str(Path(folder) / table) if table else "", talks(names)


def _with_other_voices(
    fragment: Fragment, talk: TalkFiles, options: ReadOptions, given: Collection[str]
) -> dict[str, Fragment | None]:
    """Return what to read for each file of a talk: if they can be joined, the first stands for all of them.

    Files belong together that were all named by the user, or all found in a folder.
    """
    by_user = os.path.realpath(fragment.place) in given
    voices = [
        Voice(printable(sibling(fragment.path, name)), place, who)
        for name, who in talk.files
        if (os.path.realpath(place := sibling(fragment.place, name)) in given) == by_user
        and size(place) <= LARGEST_SESSION
    ]
    why = _why_not_joined(voices, talk.name, options) if len(voices) > 1 else ""
    if why is None:
        return {
            **{one.place: None for one in voices},
            fragment.place: replace(fragment, voices=tuple(voices), talk=talk.name),
        }
    if not why:
        return {fragment.place: fragment}
    names = ", ".join(Path(printable(one.path)).name for one in voices)
    apart = f"{names} seem to hold one speaker of a talk each; they were not joined, because {why}."
    return {
        one.place: replace(
            fragment,
            path=one.path,
            place=one.place,
            apart=apart,
            file=sibling(fragment.file, Path(printable(one.path)).name),
        )
        for one in voices
    }


def _why_not_joined(voices: Sequence[Voice], talk: str, options: ReadOptions) -> str | None:
    try:
        found = joined([(load_source(one.path, options, one.place), one.who) for one in voices], talk)
    except Exception:  # noqa: BLE001 (reading each by itself will say what is wrong)
        return ""
    return found if isinstance(found, str) else None


def _parts_of(whole: Fragment, options: ReadOptions) -> Iterator[Fragment]:
    """Yield the parts of a large file, or the file."""
    parts = _cut(whole, options) if size(whole.place) >= LARGE // _PACKED else ()
    if len(parts) < 2:
        yield whole
        return
    for number, part in enumerate(parts):
        yield replace(whole, begin=part.begin, end=part.end, part=number, layout=part.layout)


def _cut(whole: Fragment, options: ReadOptions) -> Sequence[Part]:
    try:
        source = beginning(whole, options)
        cut = choose_reader(source).cut
        return () if cut is None else cut(source, LARGE)
    except Exception:  # noqa: BLE001 (reading it will say what is wrong)
        return ()


def beginning(fragment: Fragment, options: ReadOptions) -> Source:
    """Return the beginning of a file, which is enough to tell its format."""
    with open_binary(fragment.place) as file:
        data = file.read(HEAD)
    return replace(decoded(Path(printable(fragment.path)), data, options), place=fragment.place)
