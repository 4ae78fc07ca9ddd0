"""Captions in lines: WebVTT (``.vtt``) as Zoom, Teams, Webex, YouTube and recognisers write it, and SubRip (``.srt``).

By hand, because libraries for captions drop the line where a caption begins, by which results refer to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.readers._captions import Cue, session_of
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers.base import RawSession, Source, begins, reader

_TIMES = re.compile(r"\s*([\d:.,]+)\s*-->\s*([\d:.,]+|(?=\S*\s*$))")
"""The line above the words of a caption, also where its end cannot be read."""
_SRT_BEGINS = r"\s*(?:\d+[ \t]*\n\s*)?(?:\d{1,3}:)?\d{1,3}:\d{1,2}(?:[,.]\d{1,3})?[ \t]*-->[ \t]*\d"
_BROKEN_OFF = re.compile(r"\n[ \t]*\n\d+[ \t]*(?:\n[\d:,. >-]*+)?\s*+\Z")
"""The number of a caption, with or without the beginning of its times, at the end of a file that was cut."""
_SKIPPED_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_WEBEX = re.compile(r'\d+ "([^"]+)"(?: \(\d*\))?\s*$')


@reader("webvtt", suffixes=(".vtt",), sniff=begins("WEBVTT"), one_session=True)
def read_webvtt(source: Source) -> Iterator[RawSession]:
    """WebVTT captions with the speaker in a voice tag, before a colon, or after >> marks."""
    yield session_of(source, list(_vtt_cues(source.lines)), example="<v Therapist>Hello")


@reader("srt", suffixes=(".srt",), sniff=begins(_SRT_BEGINS, sure=0.97), one_session=True)
def read_srt(source: Source) -> Iterator[RawSession]:
    """SubRip captions with the speaker before a colon, or after dashes or >> marks."""
    yield session_of(source, list(_srt_cues(source.lines)), example='"Therapist: Hello"')


def caption_cues(lines: list[str]) -> Iterator[Cue]:
    """Yield the captions of a text that is WebVTT or SubRip; none for other texts."""
    return (_vtt_cues if lines[0].lstrip("\ufeff").startswith("WEBVTT") else _srt_cues)(lines)


def _srt_cues(lines: list[str]) -> Iterator[Cue]:
    """Yield the captions of SubRip, each up to the number and times of the next: empty lines may stand in it."""
    found = [(at, match) for at, line in enumerate(lines) if "-->" in line and (match := _TIMES.match(line))]
    numbered = bool(found) and _is_number(lines, found[0][0])
    ends = [at - 1 if numbered and _is_number(lines, at) else at for at, _ in found[1:]]
    for (at, times), end in zip(found, [*ends, len(lines)], strict=bool(found)):
        words = lines[at + 1 : max(end, at + 1)]
        if end == len(lines):
            words = _BROKEN_OFF.sub("", "\n".join(["", *words])).split("\n")[1:]
        yield Cue(at + 2, seconds(times[1]), seconds(times[2]), words)


def _is_number(lines: list[str], at: int) -> bool:
    """Tell whether the line before is the number of a caption."""
    return at > 0 and lines[at - 1].strip("\ufeff \t").isdecimal()


def _vtt_cues(lines: list[str]) -> Iterator[Cue]:
    """Yield the captions of WebVTT."""
    at = 0
    while at < len(lines):
        if _SKIPPED_BLOCK.match(lines[at]):
            at = _block_end(lines, at)
            continue
        times = _TIMES.match(lines[at])
        at += 1
        if times:
            end = _block_end(lines, at)
            speaker = _WEBEX.match(lines[at - 2]) if at > 1 else None
            words = _without_id(lines, at, end)
            yield Cue(at + 1, seconds(times[1]), seconds(times[2]), words, speaker[1] if speaker else "")
            at = end


def _block_end(lines: list[str], at: int) -> int:
    """Return where a block ends: at an empty line; a line of blanks belongs to rolling captions."""
    while at < len(lines) and lines[at] and not _TIMES.match(lines[at]):
        if not lines[at].strip():
            following = lines[at + 1 : at + 3]
            if any(map(_TIMES.match, following)) or any(map(_SKIPPED_BLOCK.match, following[:1])):
                return at
        at += 1
    return at


def _without_id(lines: list[str], at: int, end: int) -> list[str]:
    """Return the words of a caption, without the number of the next where no empty line stands between."""
    runs_on = end < len(lines) and end > at and lines[end] and lines[end - 1].strip().isdecimal()
    return lines[at : end - 1 if runs_on else end]
