"""WebVTT captions (``.vtt``), as Zoom, Teams and speech recognisers write them.

By hand, because the caption libraries drop the line where a cue begins, and a reader of
results must be able to find the place.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._times import seconds

_TIMES = re.compile(r"\s*([\d:.,]+)\s*-->\s*([\d:.,]+)")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>]*)>")
_TAG = re.compile(r"</?(?:[a-zA-Z][^<>]*|\d[\d:.]*)?>")
_LABEL = re.compile(r"(?:>>|-)?\s*([^\W\d_][\w.'-]*(?: [\w.'()-]+){0,4}):\s+(?=\S)")
_SKIPPED_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")

Piece = tuple[str, str, int]
"""Speaker, words, and the line of the cue on which they begin, from 0."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A caption: the line of its first words, its times in seconds, its lines of words."""

    place: int
    start_s: float | None
    end_s: float | None
    lines: list[str]


def sniff(source: Source) -> float:
    """Be certain of a file that begins as the format must."""
    return 1.0 if source.head.lstrip("\ufeff").startswith("WEBVTT") else 0.0


@reader("webvtt", suffixes=(".vtt",), sniff=sniff)
def read_webvtt(source: Source) -> Iterator[RawSession]:
    """WebVTT captions with the speaker in a voice tag or before a colon."""
    cues = list(_cues(source.lines))
    split = _splitter(cues)
    rows = [
        Row(speaker, _plain(words), cue.place + line, cue.start_s, cue.end_s)
        for cue in cues
        for speaker, words, line in split(cue.lines)
    ]
    if not rows:
        raise source.error("no captions were found", "A caption is a line with two times and -->, then the words")
    unnamed = sum(not row.speaker for row in rows)
    if unnamed == len(rows):
        raise source.error("no caption says who speaks", "Mark each speaker, as in <v Therapist>Hello")
    notes = (f"{counted(unnamed, 'caption')} without a speaker went to the speaker before.",) if unnamed else ()
    yield RawSession("", _carried_forward(rows), notes=notes)


def _cues(lines: list[str]) -> Iterator[Cue]:
    at = 0
    while at < len(lines):
        if _SKIPPED_BLOCK.match(lines[at]):
            at = _block_end(lines, at)
            continue
        times = _TIMES.match(lines[at])
        at += 1
        if times:
            end = _block_end(lines, at)
            yield Cue(at + 1, seconds(times[1]), seconds(times[2]), lines[at:end])
            at = end


def _block_end(lines: list[str], at: int) -> int:
    while at < len(lines) and lines[at].strip() and not _TIMES.match(lines[at]):
        at += 1
    return at


def _splitter(cues: list[Cue]) -> Callable[[list[str]], Iterator[Piece]]:
    """Choose how this file says who speaks; where it has voice tags, a colon is speech."""
    if any(_VOICE.search(line) for cue in cues for line in cue.lines):
        return _by_voice
    labels = _labels(cues)
    return lambda lines: _by_label(lines, labels)


def _labels(cues: list[Cue]) -> frozenset[str]:
    """Tell speakers from a colon inside speech: they name a role, or come back, or stand in every caption."""
    counts = Counter(match[1] for cue in cues for line in cue.lines if (match := _LABEL.match(line)))
    if all(_LABEL.match(cue.lines[0]) for cue in cues if cue.lines):
        return frozenset(counts)
    return frozenset(label for label, n in counts.items() if n > 1 or role_of_label(label))


def _by_label(lines: list[str], labels: frozenset[str]) -> Iterator[Piece]:
    """Split a cue at each line that begins with a speaker's label."""
    speaker, words, begin = "", list[str](), 0
    for at, line in enumerate(lines):
        match = _LABEL.match(line)
        if match and match[1] in labels:
            if words:
                yield speaker, "\n".join(words), begin
            speaker, words, begin = match[1], [line[match.end() :]], at
        else:
            words.append(line)
    if words:
        yield speaker, "\n".join(words), begin


def _by_voice(lines: list[str]) -> Iterator[Piece]:
    """Split a cue where the voice changes; a voice tag need not be closed."""
    before, *pieces = _VOICE.split("\n".join(lines))
    if _plain(before):
        yield "", before, 0
    line = before.count("\n")
    for speaker, words in zip(pieces[::2], pieces[1::2], strict=True):
        yield _plain(speaker), words, line + _leading_lines(words)
        line += words.count("\n")


def _leading_lines(words: str) -> int:
    return words[: len(words) - len(words.lstrip())].count("\n")


def _plain(text: str) -> str:
    return html.unescape(" ".join(_TAG.sub("", text).split()))


def _carried_forward(rows: list[Row]) -> list[Row]:
    """Give a caption without a speaker to the speaker before it (or, at the start, the next)."""
    speaker = next(row.speaker for row in rows if row.speaker)
    done = []
    for row in rows:
        speaker = row.speaker or speaker
        done.append(Row(speaker, row.text, row.place, row.start_s, row.end_s))
    return done
