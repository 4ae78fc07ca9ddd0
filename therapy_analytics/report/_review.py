"""What a person should read first: turns with cues of danger and the like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any

from therapy_analytics.compare._results import Results
from therapy_analytics.report._findings import Finding
from therapy_analytics.report._words import listed, plural

KINDS = {
    "n_suicide_active_cue_turns": "suicidal thoughts with intent or plan",
    "n_suicide_passive_cue_turns": "a wish to be dead",
    "n_harm_others_cue_turns": "harm to others",
    "n_self_harm_cue_turns": "self-harm",
    "n_abuse_cue_turns": "abuse by somebody",
    "n_psychosis_cue_turns": "psychosis or delusion",
    "n_mania_cue_turns": "mania",
}
"""Columns of counts, and what such turns may speak of."""
MOST_TURNS = 12
NO_SIGN = "Phrases miss much: that none is found elsewhere is no sign of safety."


def to_review(results: Results, sessions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Yield a sentence for each session with turns that somebody should read, most turns first."""
    frame = results.sessions
    if "n_safety_cue_turns" not in frame:
        return
    counts = frame["n_safety_cue_turns"].fillna(0)
    for i in sorted(range(len(frame)), key=lambda i: (-float(counts.iloc[i]), i)):
        row = frame.iloc[i]
        n = int(counts.iloc[i])
        if n:
            kinds = [words for name, words in KINDS.items() if name in frame and row[name] > 0]
            text = f"{row['session_id']}: {_turns(n, _where(sessions, i))} to review for danger"
            text += f": phrases that may speak of {listed(kinds, len(kinds))}. " if kinds else ". "
            yield Finding(text + NO_SIGN, "n_safety_cue_turns", nan, float(n), session=i)


def _where(sessions: Sequence[Mapping[str, Any]], i: int) -> list[int]:
    marks = sessions[i]["marks"] if i < len(sessions) else ()
    return next((list(mark["turns"]) for mark in marks if mark["name"] == "safety_cue"), [])


def _turns(n: int, where: Sequence[int]) -> str:
    said = f"{n} {plural(n, 'turn', 'turns')}"
    if not where:
        return said
    shown = listed([str(turn) for turn in where], MOST_TURNS)
    return f"{said} ({plural(len(where), 'turn', 'turns')} {shown})"
