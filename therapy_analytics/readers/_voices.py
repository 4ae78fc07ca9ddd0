"""Talk that was written one file a speaker (``visit12_doctor.vtt``, ``visit12_patient.vtt``), joined by its times."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._addresses import named
from therapy_analytics.readers._base import BINARY, RawSession, Row, Source
from therapy_analytics.readers._captions import plain, without_repeats
from therapy_analytics.readers._files import choose_reader
from therapy_analytics.readers._roles import is_relative, role_of_label
from therapy_analytics.readers._stamps import STAMP, times_of
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers.webvtt import caption_cues

_BEHIND = re.compile(r"(?P<talk>.*[^ _.-])[ _.-]+(?P<who>[^\W\d_]+(?:[ _-]?\d{1,2})?)", re.DOTALL)
_BEFORE = re.compile(r"(?P<who>[^\W\d_]+\d{0,2})[ _.-]+(?P<talk>.+)", re.DOTALL)
_VOICE = re.compile(r"(?:speaker|spk|spkr|channel|chan|ch|track|mic|voice|left|right)[ _-]?\d{0,2}", re.IGNORECASE)
_LINE = re.compile(rf"[ \t]*(?P<stamp>{STAMP})[ \t:]*(?P<words>.*)")
_SPANS = re.compile(r"[ \t]*(?P<start>\d{1,7}\.\d+)\t(?P<end>\d{1,7}\.\d+)\t(?P<words>.*)")
_OF_DAY = "Times of day were counted"
_DEPTH = 4

Times = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Voice:
    """A file that seems to hold what one speaker says: as the user named it, where it is opened, and who that is."""

    path: str
    place: str
    who: str


def mates(names: Iterable[str]) -> dict[str, tuple[str, tuple[tuple[str, str], ...]]]:
    """Return the files of a folder that differ in the speaker that their names say.

    Parameters
    ----------
    names : iterable of str
        Of the files.

    Returns
    -------
    dict of str to (str, tuple of (str, str))
        By the name of each such file, how the talk is called, and all the files of it, each with its speaker.

    Examples
    --------
    >>> mates(["v1_doctor.txt", "v1_patient.txt", "v2_doctor.txt", "notes.txt"])["v1_patient.txt"]
    ('v1', (('v1_doctor.txt', 'doctor'), ('v1_patient.txt', 'patient')))
    """
    parted = [(name, *found) for name in sorted(names) if (found := _parted(name))]
    talks: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {}
    for _, group in groupby(sorted(parted, key=lambda one: one[1]), key=lambda one: one[1]):
        files = list(group)
        if len(files) > 1 and len({who.casefold() for _, _, _, who in files}) == len(files):
            both = tuple((name, who) for name, _, _, who in files)
            talks |= {name: (talk, both) for name, _, talk, _ in files}
    return talks


def _parted(name: str) -> tuple[tuple[str, ...], str, str] | None:
    """Return what files of one talk have in common, how it is called, and the speaker."""
    path = named(name)
    for place, form in enumerate((_BEHIND, _BEFORE)):
        match = form.fullmatch(path.stem)
        who = match["who"].casefold() if match else ""
        if match and (role_of_label(match["who"]) or _VOICE.fullmatch(who) or is_relative(who)):
            return (str(place), match["talk"].casefold(), path.suffix.casefold()), match["talk"], match["who"]
    return None


def joined(sources: Sequence[tuple[Source, str]], talk: str) -> RawSession | str:
    """Return the talk of files of one speaker each, in the order of its times; else why they cannot be joined.

    Parameters
    ----------
    sources : sequence of (Source, str)
        The files, each with the speaker that its name says.
    talk : str
        How the talk is called.

    Returns
    -------
    RawSession or str
        Empty where one of the files holds several speakers: it is a transcript by itself.
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
    by_date = [voice.began for voice in voices]
    of_day = any(note.startswith(_OF_DAY) for voice in voices for note in voice.notes)
    if (of_day or any(by_date)) and not all(by_date):
        return "their times do not count from the same moment"
    first = min((began for began in by_date if began), default=0.0)
    rows = [
        _later(row, (voice.began or first) - first) for voice, rows in zip(voices, spoken, strict=True) for row in rows
    ]
    rows.sort(key=lambda row: row.start_s or 0.0)
    files = ", ".join(source.path.name for source, _ in sources)
    note = f"{len(sources)} files of one speaker each were joined by their times: {files}."
    notes = dict.fromkeys(note for voice in voices for note in voice.notes)
    about = {key: value for voice in reversed(voices) for key, value in voice.metadata.items()}
    return RawSession(talk, rows, about, (note, *notes), began=first or None)


def _later(row: Row, by: float) -> Row:
    times = (None if time is None else round(time + by, 6) for time in (row.start_s, row.end_s))
    start, end = times
    return replace(row, start_s=start, end_s=end)


def _voice(source: Source, who: str) -> RawSession | None:
    """Return what the one speaker of a file says, as far as it can be read; None where there are several."""
    try:
        (session,) = choose_reader(source).read(replace(source, voice=who))
    except (UnreadableFileError, ValueError):
        rows = _timed_rows(source)
        session = RawSession("", rows)
    labels = {row.speaker.strip().casefold() for row in session.rows if row.text.strip()}
    if len(labels) > 1:
        return None
    role = role_of_label(who)
    return replace(session, rows=[replace(row, speaker=who, role=row.role or role) for row in session.rows])


def _timed_rows(source: Source) -> list[Row]:
    """Read captions, lines with times, or segments of a recogniser, in which nobody is named."""
    if source.encoding == BINARY:
        return []
    if source.head.lstrip("\ufeff \n")[:1] in ("{", "["):
        try:
            return _of_segments(json.loads(source.text))
        except (ValueError, RecursionError):
            pass
    return list(_of_captions(source.lines)) or list(_of_lines(source.lines))


def _of_captions(lines: list[str]) -> Iterator[Row]:
    for cue in without_repeats(list(caption_cues(lines)))[0]:
        yield Row("", plain("\n".join(cue.lines)), cue.place, cue.start_s, cue.end_s)


def _of_lines(lines: Sequence[str]) -> Iterator[Row]:
    """Yield lines that begin with a time, each with those that go on with it; nothing where the first has none."""
    rows: list[Row] = []
    for place, line in enumerate(lines, start=1):
        span, match = _SPANS.fullmatch(line), _LINE.fullmatch(line)
        if span:
            rows.append(Row("", span["words"], place, seconds(span["start"]), seconds(span["end"])))
        elif match:
            times = times_of(match["stamp"])
            rows.append(Row("", match["words"], place, times.start_s, times.end_s))
        elif rows:
            rows[-1] = replace(rows[-1], text=f"{rows[-1].text}\n{line}".strip())
        elif line.strip("\ufeff \t"):
            return
    yield from rows


def _of_segments(value: Any, depth: int = 0) -> list[Row]:
    """Return the first list of segments with times and words, wherever it stands."""
    if isinstance(value, list) and value and all(isinstance(one, Mapping) and "start" in one for one in value):
        texts = [one.get("text", one.get("transcript", "")) for one in value]
        return [
            Row("", text, place, seconds(one["start"]), seconds(one.get("end")))
            for place, (one, text) in enumerate(zip(value, texts, strict=True), start=1)
            if isinstance(text, str)
        ]
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    found = (_of_segments(one, depth + 1) for one in inside if depth < _DEPTH)
    return next(filter(None, found), [])
