"""WebVTT captions with the speaker in a voice tag."""

from __future__ import annotations

import html

from therapy_analytics.readers import join_marks
from therapy_analytics.session import Session, Turn
from therapy_analytics.writers._base import clock, writer


@writer("vtt", suffix=".vtt", holds={"times", "others"})
def write_web_captions(session: Session) -> bytes:
    """WebVTT: a cue a turn, speaker and role in its voice tag; without times at 0, without an end of no length."""
    cues = (
        f"{clock(turn.start_s)} --> {clock(turn.start_s if turn.end_s is None else turn.end_s)}\n{_words(turn)}\n"
        for turn in session.turns
    )
    return "\n".join(["WEBVTT\n", *cues]).encode()


def _words(turn: Turn) -> str:
    words = html.escape(join_marks(turn.text, turn.marks), quote=False)
    return f"<v.{turn.role} {html.escape(turn.speaker, quote=False)}>{' '.join(words.split())}"
