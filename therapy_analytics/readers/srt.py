"""SubRip captions (``.srt``): a number, a line with two times, the words.

By hand for the same reason as WebVTT: the caption libraries drop the line where a cue begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._captions import session_of
from therapy_analytics.readers._cues import srt_cues

_BEGINS = re.compile(r"\s*(?:\d+[ \t]*\n\s*)?(?:\d{1,3}:)?\d{1,3}:\d{1,2}(?:[,.]\d{1,3})?[ \t]*-->[ \t]*\d")


def sniff(source: Source) -> float:
    """Be nearly certain of a file that begins with a number and two times."""
    return 0.97 if _BEGINS.match(source.head.lstrip("\ufeff")) else 0.0


@reader("srt", suffixes=(".srt",), sniff=sniff, one_session=True)
def read_srt(source: Source) -> Iterator[RawSession]:
    """SubRip captions with the speaker before a colon, or after dashes or >> marks."""
    yield session_of(source, list(srt_cues(source.lines)), example='"Therapist: Hello"')
