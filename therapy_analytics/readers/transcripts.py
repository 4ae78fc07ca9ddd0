"""Transcripts as they are found: files, and the files of one speaker each that are read as one session."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from therapy_analytics.core.errors import BadDataFileError, UnreadableFileError
from therapy_analytics.core.printable import printable
from therapy_analytics.core.verbs import options_of
from therapy_analytics.readers._applied import refuse_contradictions
from therapy_analytics.readers._files import names_in, walk
from therapy_analytics.readers._limits import LARGEST_SESSION
from therapy_analytics.readers._metadata import from_name, table_in
from therapy_analytics.readers._voices import TalkFiles, Voice, joined, talks
from therapy_analytics.readers.base import HEAD, ReadOptions, Source, decoded, load_source
from therapy_analytics.readers.paths import open_binary, placed, sibling, size, version


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file, or several of one talk; it holds no words.

    Attributes
    ----------
    path : str
        The file as the user named it, and as results and messages show it.
    place : str
        Where it is opened, from any folder: an absolute path.
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
    table: str = ""
    voices: tuple[Voice, ...] = ()
    talk: str = ""
    apart: str = ""
    file: str = ""


def find_transcripts(
    paths: Iterable[str | Path],
    *,
    options: ReadOptions | None = None,
    leave_out: Path | None = None,
    on_table: Callable[[str], None] | None = None,
) -> Iterator[Transcript]:
    """Yield what is to be read, file after file, as it is found.

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
    by_place: dict[str, Transcript | None] = {}
    for path, file in walk(paths, leave_out, on_table):
        if os.path.realpath(path) == own:
            continue
        place = placed(path)
        folder, name = str(Path(place).parent), Path(printable(place)).name
        if folder not in folders:
            folders[folder] = _looked_at(folder)
        table, talks_here = folders[folder]
        whole = Transcript(printable(str(path)), place, table=table, file=file)
        if place not in by_place and name in talks_here:
            by_place |= _with_other_voices(whole, talks_here[name], options, given)
        transcript = by_place.get(place, whole)
        if transcript is not None:
            yield transcript


def _looked_at(folder: str) -> tuple[str, dict[str, TalkFiles]]:
    """Return the table about the sessions of a folder (empty: none), and its talks of one file a speaker."""
    try:
        names = names_in(folder)
    except UnreadableFileError:
        return "", {}  # its files may be readable although it cannot be listed
    table = table_in(names, folder)
    return str(Path(folder) / table) if table else "", talks(names)


def _with_other_voices(
    transcript: Transcript, talk: TalkFiles, options: ReadOptions, given: Collection[str]
) -> dict[str, Transcript | None]:
    """Return what to read for each file of a talk: if they can be joined, the first stands for all of them.

    Files belong together that were all named by the user, or all found in a folder.
    """
    by_user = os.path.realpath(transcript.place) in given
    voices = [
        Voice(printable(sibling(transcript.path, name)), place, who)
        for name, who in talk.files
        if (os.path.realpath(place := sibling(transcript.place, name)) in given) == by_user
        and size(place) <= LARGEST_SESSION
    ]
    why = _why_not_joined(voices, talk.name, options) if len(voices) > 1 else ""
    if why is None:
        return {
            **{one.place: None for one in voices},
            transcript.place: replace(transcript, voices=tuple(voices), talk=talk.name),
        }
    if not why:
        return {transcript.place: transcript}
    names = ", ".join(Path(printable(one.path)).name for one in voices)
    apart = f"{names} seem to hold one speaker of a talk each; they were not joined, because {why}."
    return {
        one.place: replace(
            transcript,
            path=one.path,
            place=one.place,
            apart=apart,
            file=sibling(transcript.file, Path(printable(one.path)).name),
        )
        for one in voices
    }


def _why_not_joined(voices: Sequence[Voice], talk: str, options: ReadOptions) -> str | None:
    try:
        found = joined([(load_source(one.path, options, one.place), one.who) for one in voices], talk)
    except Exception:  # noqa: BLE001 (reading each by itself will say what is wrong)
        return ""
    return found if isinstance(found, str) else None


def beginning(transcript: Transcript, options: ReadOptions) -> Source:
    """Return the beginning of a file, which is enough to tell its format."""
    with open_binary(transcript.place) as file:
        data = file.read(HEAD)
    return replace(decoded(Path(printable(transcript.path)), data, options), place=transcript.place)
