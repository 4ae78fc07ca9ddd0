"""WebVTT captions (``.vtt``), as Zoom, Teams and speech recognisers write them.

By hand, because the caption libraries drop the line where a cue begins, and a reader of
results must be able to find the place.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._times import seconds

_TIMES = re.compile(r"\s*([\d:.,]+)\s*-->\s*([\d:.,]+)")
_VOICE = re.compile(r"<v(?:\.[\w.-]+)*[ \t]+([^>]*)>")
_TAG = re.compile(r"</?(?:[a-zA-Z][^<>]*|\d[\d:.]*)?>")
_LABEL = re.compile(r"(?:>>|-)?\s*([A-Z][\w.'-]*(?: [\w.'()-]+){0,2}):\s+(?=\S)")
_SKIPPED_BLOCKS = ("NOTE", "STYLE", "REGION")


def sniff(source: Source) -> float:
    """Be certain of a file that begins as the format must."""
    return 1.0 if source.head.lstrip("\ufeff").startswith("WEBVTT") else 0.0


@reader("webvtt", suffixes=(".vtt",), sniff=sniff)
def read_webvtt(source: Source) -> Iterator[RawSession]:
    """WebVTT captions with the speaker in a voice tag or before a colon."""
    rows: list[Row] = []
    for number, times, lines in _cues(source.text):
        rows.extend(_rows(lines, number, (seconds(times[1]), seconds(times[2]))))
    if not rows:
        raise source.error("no captions were found", "A caption is a line with two times and -->, then the words")
    unnamed = sum(not row.speaker for row in rows)
    if unnamed == len(rows):
        raise source.error("no caption says who speaks", "Mark each speaker, as in <v Therapist>Hello")
    notes = (f"{unnamed} captions without a speaker were given to the speaker before.",) if unnamed else ()
    yield RawSession("", _carried_forward(rows), notes=notes)


def _cues(text: str) -> Iterator[tuple[int, re.Match[str], list[str]]]:
    """Yield (line of the first words, times, lines of words) for each cue."""
    lines = text.lstrip("\ufeff").splitlines()
    at = 0
    while at < len(lines):
        if lines[at].split(" ")[0] in _SKIPPED_BLOCKS:
            at = _block_end(lines, at)
            continue
        times = _TIMES.match(lines[at])
        at += 1
        if times:
            end = _block_end(lines, at)
            yield at + 1, times, lines[at:end]
            at = end


def _block_end(lines: list[str], at: int) -> int:
    while at < len(lines) and lines[at].strip() and not _TIMES.match(lines[at]):
        at += 1
    return at


def _rows(lines: list[str], number: int, times: tuple[float | None, float | None]) -> Iterator[Row]:
    """Split a cue where the voice changes; a voice tag need not be closed."""
    pieces = _VOICE.split("\n".join(lines))
    if pieces[0].strip() or len(pieces) == 1:
        label = _LABEL.match(pieces[0])
        speaker, words = (label[1], pieces[0][label.end() :]) if label else ("", pieces[0])
        yield Row(speaker, _plain(words), number, *times)
    for speaker, words in zip(pieces[1::2], pieces[2::2], strict=True):
        yield Row(_plain(speaker), _plain(words), number, *times)


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
