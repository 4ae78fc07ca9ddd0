"""WebVTT captions (``.vtt``), as Zoom, Teams, Webex, YouTube and speech recognisers write them.

By hand, because the caption libraries drop the line where a cue begins, and a reader of
results must be able to find the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._captions import session_of
from therapy_analytics.readers._cues import TIMES, Cue
from therapy_analytics.readers._times import seconds

_SKIPPED_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_WEBEX = re.compile(r'\d+ "([^"]+)"(?: \(\d*\))?\s*$')


def sniff(source: Source) -> float:
    """Be certain of a file that begins as the format must."""
    return 1.0 if source.head.lstrip("\ufeff").startswith("WEBVTT") else 0.0


@reader("webvtt", suffixes=(".vtt",), sniff=sniff, one_session=True)
def read_webvtt(source: Source) -> Iterator[RawSession]:
    """WebVTT captions with the speaker in a voice tag, before a colon, or after >> marks."""
    yield session_of(source, list(_cues(source.lines)), example="<v Therapist>Hello")


def _cues(lines: list[str]) -> Iterator[Cue]:
    at = 0
    while at < len(lines):
        if _SKIPPED_BLOCK.match(lines[at]):
            at = _block_end(lines, at)
            continue
        times = TIMES.match(lines[at])
        at += 1
        if times:
            end = _block_end(lines, at)
            speaker = _WEBEX.match(lines[at - 2]) if at > 1 else None
            words = _without_id(lines, at, end)
            yield Cue(at + 1, seconds(times[1]), seconds(times[2]), words, speaker[1] if speaker else "")
            at = end


def _block_end(lines: list[str], at: int) -> int:
    """Return where a block ends: at an empty line; one of blanks is a line of words in rolling captions."""
    while at < len(lines) and lines[at] and not TIMES.match(lines[at]):
        if not lines[at].strip() and _begins_block(lines[at + 1 : at + 3]):
            return at
        at += 1
    return at


def _begins_block(lines: list[str]) -> bool:
    return any(map(TIMES.match, lines)) or any(map(_SKIPPED_BLOCK.match, lines[:1]))


def _without_id(lines: list[str], at: int, end: int) -> list[str]:
    """Return the words of a caption; the number of the next is none of them, where no empty line stands between."""
    runs_on = end < len(lines) and end > at and lines[end] and lines[end - 1].strip().isdecimal()
    return lines[at : end - 1 if runs_on else end]
