"""SubRip captions (``.srt``): a number, a line with two times, the words.

By hand for the same reason as WebVTT: the caption libraries drop the line where a cue begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._captions import session_of
from therapy_analytics.readers._cues import TIMES, Cue
from therapy_analytics.readers._times import seconds

_BEGINS = re.compile(r"\s*(?:\d+[ \t]*\n\s*)?(?:\d{1,3}:)?\d{1,3}:\d{1,2}(?:[,.]\d{1,3})?[ \t]*-->[ \t]*\d")

_BROKEN_OFF = re.compile(r"\n[ \t]*\n\d+[ \t]*(?:\n[\d:,. >-]*+)?\s*+\Z")
"""The number of a caption, with or without the beginning of its times, at the end of a file that was cut."""


def sniff(source: Source) -> float:
    """Be nearly certain of a file that begins with a number and two times."""
    return 0.97 if _BEGINS.match(source.head.lstrip("\ufeff")) else 0.0


@reader("srt", suffixes=(".srt",), sniff=sniff, one_session=True)
def read_srt(source: Source) -> Iterator[RawSession]:
    """SubRip captions with the speaker before a colon, or after dashes or >> marks."""
    yield session_of(source, list(_cues(source.lines)), example='"Therapist: Hello"')


def _cues(lines: list[str]) -> Iterator[Cue]:
    """Yield the captions: all up to the number and times of the next, for an empty line ends none in some players."""
    found = [(at, match) for at, line in enumerate(lines) if "-->" in line and (match := TIMES.match(line))]
    if not found:
        return
    numbered = _is_number(lines, found[0][0])
    ends = [at - 1 if numbered and _is_number(lines, at) else at for at, _ in found[1:]]
    for (at, times), end in zip(found, [*ends, len(lines)], strict=True):
        words = lines[at + 1 : max(end, at + 1)]
        if end == len(lines):
            words = _BROKEN_OFF.sub("", "\n".join(["", *words])).split("\n")[1:]
        yield Cue(at + 2, seconds(times[1]), seconds(times[2]), words)


def _is_number(lines: list[str], at: int) -> bool:
    """Tell whether the line before is the number of a caption."""
    return at > 0 and lines[at - 1].strip("\ufeff \t").isdecimal()
