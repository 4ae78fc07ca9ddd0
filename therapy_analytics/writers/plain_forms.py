"""Forms that are plain text: CSV with a row a turn, JSON Lines, WebVTT captions."""

from __future__ import annotations

import html
import json
from typing import Any

from therapy_analytics.cells import csv_of_rows
from therapy_analytics.readers import join_marks
from therapy_analytics.session import Session, Turn
from therapy_analytics.writers._base import clock, table_of, writer


@writer("csv", suffix=".csv", holds={"times", "ends", "codes", "lines", "others"})
def write_csv(session: Session) -> bytes:
    """CSV with a row a turn: speaker, role, times in seconds, words, codes by people."""
    header, *rows = table_of(session, times=("start_s", "end_s"), write_time=repr)
    numbered = [[turn.index, *row] for turn, row in zip(session.turns, rows, strict=True)]
    return csv_of_rows([["turn", *header], *numbered]).encode()


@writer("jsonl", suffix=".jsonl", holds={"times", "ends", "codes", "lines", "others"})
def write_json_lines(session: Session) -> bytes:
    """JSON Lines: the session on one line, a message a turn."""
    whole = {"session_id": session.id, "turns": [_message(turn) for turn in session.turns]}
    return (json.dumps(whole, ensure_ascii=False) + "\n").encode()


def _message(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {
        "speaker": turn.speaker,
        "role": turn.role,
        "start_s": turn.start_s,
        "end_s": turn.end_s,
        "text": join_marks(turn.text, turn.marks),
        "codes": dict(turn.gold),
    }
    return {key: value for key, value in message.items() if value not in (None, {})}


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
