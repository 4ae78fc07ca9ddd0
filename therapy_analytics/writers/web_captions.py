"""WebVTT captions with the speaker in a voice tag."""

from __future__ import annotations

import html

from therapy_analytics.readers import join_marks
from therapy_analytics.session import Session, Turn
from therapy_analytics.writers._base import writer


@writer("vtt", suffix=".vtt", holds={"times", "others"})
def write_web_captions(session: Session) -> bytes:
    """WebVTT: a cue a turn, speaker and role in its voice tag; without times at 0, without an end of no length."""
    cues = (
        f"{_clock(turn.start_s)} --> {_clock(turn.start_s if turn.end_s is None else turn.end_s)}\n{_words(turn)}\n"
        for turn in session.turns
    )
    return "\n".join(["WEBVTT\n", *cues]).encode()


def _clock(seconds: float | None) -> str:
    whole = round(1000 * (seconds or 0))
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02}.{whole % 1000:03}"


def _words(turn: Turn) -> str:
    words = html.escape(join_marks(turn.text, turn.marks), quote=False)
    return f"<v.{turn.role} {html.escape(turn.speaker, quote=False)}>{' '.join(words.split())}"
