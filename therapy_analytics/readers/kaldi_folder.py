"""Folders as Kaldi and ESPnet keep them: ``text`` with the words of each utterance, ``segments``, ``utt2spk``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._addresses import folder_of
from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._companions import SEGMENTS, SPEAKERS, TEXT, beside, is_data_folder
from therapy_analytics.readers._files import names_in
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._times import seconds

_PARTS = re.compile(r"[-_.]+")
_SIDE = re.compile(r"(?P<talk>.+)[-_.](?P<side>[ABLR]|[012]|ch[012])")
_BY_NAME = "Who speaks was taken from the names of utterances or recordings, as no file utt2spk tells it."


class _Segment(NamedTuple):
    """The recording of an utterance, and its times."""

    recording: str
    start_s: float | None
    end_s: float | None


def sniff(source: Source) -> float:
    """Return .98 for a file called ``text`` in a folder of such data."""
    if source.path.name != TEXT:
        return 0.0
    try:
        return 0.98 if is_data_folder(names_in(folder_of(source.place or str(source.path)))) else 0.0
    except UnreadableFileError:
        return 0.0


@reader("kaldi_folder", suffixes=(".text",), sniff=sniff)
def read_kaldi_folder(source: Source) -> Iterator[RawSession]:
    """Folders of Kaldi data: words, times and speakers of utterances, a session for each recording."""
    segments = {name: _segment(rest) for name, rest in _fields(beside(source, SEGMENTS)).items()}
    texts = _fields(source.text)
    places = {name: place for place, name in enumerate(texts, start=1)}
    speakers = _fields(beside(source, SPEAKERS))
    if all(name == speaker for name, speaker in speakers.items()):
        speakers = {}  # as Kaldi wants it where nobody knows who speaks
    sessions, sides = _sessions(texts, segments, speakers)
    notes = [] if speakers else [_BY_NAME]
    n_repeated = sum(bool(line.strip()) for line in source.lines) - len(texts)
    notes += [f"{counted(n_repeated, 'line')} left out: another has the same utterance."] if n_repeated else []
    speakers = speakers or sides or _by_name(texts, segments)
    if not speakers:
        raise source.error(
            "no file says who speaks", "Put the file utt2spk, with a speaker for each utterance, beside it"
        )
    for recording, names in sessions.items():
        unknown = sum(name not in segments for name in names)
        told = (f"{counted(unknown, 'utterance')} without a time.",) if unknown and segments else ()
        ordered = sorted(names, key=lambda name: _start(segments, name))
        rows = [_row(texts[name], places[name], speakers.get(name, ""), segments.get(name)) for name in ordered]
        yield RawSession(recording, rows, notes=(*notes, *told))


def _fields(text: str) -> dict[str, str]:
    """Return the rest of each line by its first word."""
    lines = (line.split(maxsplit=1) for line in text.split("\n"))
    return {parts[0]: parts[1].strip() if len(parts) > 1 else "" for parts in lines if parts}


def _segment(rest: str) -> _Segment:
    recording, start, end = (*rest.split(), "", "", "")[:3]
    return _Segment(recording, seconds(start), seconds(end))


def _sessions(
    texts: Mapping[str, str], segments: Mapping[str, _Segment], speakers: Mapping[str, str]
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the utterances of each session, and their speakers where each side of a talk has its own recording."""
    recordings = {one.recording for one in segments.values()}
    split = {name: match for name in recordings if (match := _SIDE.fullmatch(name))}
    by_side = len(split) == len(recordings) and _are_sides(split, segments, speakers)
    sessions: dict[str, list[str]] = {}
    sides: dict[str, str] = {}
    for name in texts:
        recording = segments[name].recording if name in segments else ""
        match = split.get(recording) if by_side else None
        sessions.setdefault(match["talk"] if match else recording, []).append(name)
        if match:
            sides[name] = match["side"]
    return sessions, sides


def _are_sides(
    split: Mapping[str, re.Match[str]], segments: Mapping[str, _Segment], speakers: Mapping[str, str]
) -> bool:
    """Tell recordings of the two sides of a talk, with one speaker each, from numbered visits."""
    heard: dict[str, set[str]] = {name: set() for name in split}
    for utterance, one in segments.items():
        heard[one.recording].add(speakers.get(utterance, ""))
    talks: dict[str, list[set[str]]] = {}
    for name, match in split.items():
        talks.setdefault(match["talk"], []).append(heard[name])
    if {len(sides) for sides in talks.values()} - {1} != {2}:
        return False
    if not speakers:
        return not any(match["side"].isdecimal() for match in split.values())
    return all(sum(map(len, people)) == len(set.union(*people)) == len(people) for people in talks.values())


def _by_name(texts: Mapping[str, str], segments: Mapping[str, _Segment]) -> dict[str, str]:
    """Return the first parts of the names of utterances, which Kaldi wants to be speakers; none if all are equal."""
    speakers = {}
    for name in texts:
        of_recording = set(_PARTS.split(segments[name].recording)) if name in segments else set()
        parts = [part for part in _PARTS.split(name) if part not in of_recording and not part.isdecimal()]
        speakers[name] = parts[0] if parts else ""
    return speakers if 1 < len(set(speakers.values())) < len(texts) and all(speakers.values()) else {}


def _start(segments: Mapping[str, _Segment], name: str) -> float:
    known = segments[name].start_s if name in segments else None
    return float("inf") if known is None else known


def _row(words: str, place: int, speaker: str, segment: _Segment | None) -> Row:
    start, end = (None, None) if segment is None else (segment.start_s, segment.end_s)
    return Row(speaker, words, place, start, end)
