"""Talk in one file a speaker (``visit12_doctor.vtt``, ``visit12_patient.vtt``), joined by its times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.printable import printable
from therapy_analytics.readers._files import choose_reader
from therapy_analytics.readers._unnamed import unnamed_sessions
from therapy_analytics.readers.base import BINARY, RawSession, Row, Source
from therapy_analytics.readers.roles import is_relative, role_of_label

_BEHIND = re.compile(r"(?P<talk>.*[^ _.-])[ _.-]+(?P<who>[^\W\d_]+(?:[ _-]?\d{1,2})?)", re.DOTALL)
_BEFORE = re.compile(r"(?P<who>[^\W\d_]+\d{0,2})[ _.-]+(?P<talk>.+)", re.DOTALL)
_VOICE = re.compile(r"(?:speaker|spk|spkr|channel|chan|ch|track|mic|voice|left|right)[ _-]?\d{0,2}", re.IGNORECASE)
_OF_DAY = "Times of day were counted"


@dataclass(frozen=True, slots=True)
class Voice:
    """A file that seems to hold one speaker: as the user named it, where it is opened, and who that is."""

    path: str
    place: str
    who: str


class TalkFiles(NamedTuple):
    """The name of a talk, and its files by name, each with its speaker."""

    name: str
    files: tuple[tuple[str, str], ...]


def talks(names: Iterable[str]) -> dict[str, TalkFiles]:
    """Return by file name the talks of which a folder has several files that differ in the speaker alone.

    Examples
    --------
    >>> talks(["v1_doctor.txt", "v1_patient.txt", "v2_doctor.txt", "notes.txt"])["v1_patient.txt"]
    TalkFiles(name='v1', files=(('v1_doctor.txt', 'doctor'), ('v1_patient.txt', 'patient')))
    """
    groups: dict[tuple[str, ...], list[tuple[str, str, str]]] = {}
    for name in sorted(names):
        if parts := _name_parts(name):
            shared, talk, who = parts
            groups.setdefault(shared, []).append((name, talk, who))
    found: dict[str, TalkFiles] = {}
    for files in groups.values():
        if len(files) > 1 and len({who.casefold() for _, _, who in files}) == len(files):
            both = tuple((name, who) for name, _, who in files)
            found |= {name: TalkFiles(talk, both) for name, talk, _ in files}
    return found


def _name_parts(name: str) -> tuple[tuple[str, ...], str, str] | None:
    """Return what the file names of one talk have in common, the name of the talk, and the speaker."""
    path = Path(printable(name))
    for position, form in (("behind", _BEHIND), ("before", _BEFORE)):
        match = form.fullmatch(path.stem)
        if match and (role_of_label(match["who"]) or _VOICE.fullmatch(match["who"]) or is_relative(match["who"])):
            return (position, match["talk"].casefold(), path.suffix.casefold()), match["talk"], match["who"]
    return None


def joined(sources: Sequence[tuple[Source, str]], talk: str) -> RawSession | str:
    """Return the talk of files of one speaker each in the order of its times, or why they cannot be joined.

    Parameters
    ----------
    sources : sequence of (Source, str)
        The files, each with its speaker.
    talk : str
        The name of the talk.

    Returns
    -------
    RawSession or str
        An empty reason where one of the files holds several speakers: it is a transcript by itself.
    """
    voices: list[RawSession] = []
    for source, who in sources:
        voice = _voice(source, who)
        if voice is None:
            return ""
        voices.append(voice)
    spoken = [[row for row in voice.rows if row.text.strip()] for voice in voices]
    if not all(spoken) or any(row.start_s is None for rows in spoken for row in rows):
        return "not all that is said in them has a time"
    dated = [voice.began for voice in voices]
    of_day = any(note.startswith(_OF_DAY) for voice in voices for note in voice.notes)
    if (of_day or any(dated)) and not all(dated):
        return "their times do not count from the same moment"
    first = min((began for began in dated if began), default=0.0)
    rows: list[Row] = []
    for voice, own in zip(voices, spoken, strict=True):
        later = (voice.began or first) - first
        for row in own:
            start, end = (None if at is None else round(at + later, 6) for at in (row.start_s, row.end_s))
            rows.append(replace(row, start_s=start, end_s=end))
    rows.sort(key=lambda row: row.start_s or 0.0)
    files = ", ".join(source.path.name for source, _ in sources)
    note = f"{len(sources)} files of one speaker each were joined by their times: {files}."
    notes = dict.fromkeys(note for voice in voices for note in voice.notes)
    about = {key: value for voice in reversed(voices) for key, value in voice.metadata.items()}
    return RawSession(talk, rows, about, (note, *notes), began=first or None)


def _voice(source: Source, who: str) -> RawSession | None:
    """Return what the one speaker of a file says, as far as it can be read; None where there are several."""
    try:
        (session,) = choose_reader(source).read(replace(source, voice=who))
    except (UnreadableFileError, ValueError):
        session = RawSession("", _unnamed_rows(source))
    labels = {row.speaker.strip().casefold() for row in session.rows if row.text.strip()}
    if len(labels) > 1:
        return None
    role = role_of_label(who)
    return replace(session, rows=[replace(row, speaker=who, role=row.role or role) for row in session.rows])


def _unnamed_rows(source: Source) -> list[Row]:
    """Return the rows of a file that names nobody; a line without a time goes on with the row before."""
    found = None if source.encoding == BINARY else unnamed_sessions(source)
    if found is None or len(found) != 1:
        return []
    rows: list[Row] = []
    for row in found[0].rows:
        if row.start_s is None and rows:
            rows[-1] = replace(rows[-1], text=f"{rows[-1].text}\n{row.text}".strip())
        else:
            rows.append(row)
    return rows
