"""WebVTT captions (``.vtt``), as Zoom, Teams, Webex, YouTube and speech recognisers write them.

By hand, because the caption libraries drop the line where a cue begins, and a reader of
results must be able to find the place.
"""

from __future__ import annotations

from collections.abc import Iterator

from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._captions import session_of
from therapy_analytics.readers._cues import vtt_cues


def sniff(source: Source) -> float:
    """Be certain of a file that begins as the format must."""
    return 1.0 if source.head.lstrip("\ufeff").startswith("WEBVTT") else 0.0


@reader("webvtt", suffixes=(".vtt",), sniff=sniff, one_session=True)
def read_webvtt(source: Source) -> Iterator[RawSession]:
    """WebVTT captions with the speaker in a voice tag, before a colon, or after >> marks."""
    yield session_of(source, list(vtt_cues(source.lines)), example="<v Therapist>Hello")
