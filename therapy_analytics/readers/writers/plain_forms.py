"""Forms that are plain text: CSV with a row a turn, JSON Lines."""

from __future__ import annotations

import json
from typing import Any

from therapy_analytics.core.cells import csv_of_rows
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.readers import join_marks
from therapy_analytics.readers.writers._base import writer


@writer("csv", suffix=".csv")
def write_csv(session: Session) -> bytes:
    """CSV with a row a turn: speaker, role, times in seconds, words, codes by people; how speakers were changed."""
    codes = list(dict.fromkeys(name for turn in session.turns for name in turn.gold))
    changed = any(turn.speaker_changed for turn in session.turns)
    rows: list[list[object]] = [["turn", "speaker", "role", "start_s", "end_s", "text", *(f"gold_{c}" for c in codes)]]
    for turn in session.turns:
        times = ("" if time is None else repr(time) for time in (turn.start_s, turn.end_s))
        given = (turn.gold.get(name, "") for name in codes)
        rows.append([turn.index, turn.speaker, turn.role, *times, join_marks(turn.text, turn.marks), *given])
    if changed:
        marks = ["speaker_changed", *(turn.speaker_changed for turn in session.turns)]
        rows = [[*row, mark] for row, mark in zip(rows, marks, strict=True)]
    return csv_of_rows(rows).encode()


@writer("jsonl", suffix=".jsonl")
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
