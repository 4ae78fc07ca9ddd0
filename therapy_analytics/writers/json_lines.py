"""A line of JSON with the session's messages."""

from __future__ import annotations

import json
from typing import Any

from therapy_analytics.readers import join_marks
from therapy_analytics.session import Session, Turn
from therapy_analytics.writers._base import writer


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
