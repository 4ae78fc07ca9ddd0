"""Pauses, laughter and what could not be heard, as the transcriber noted them."""

from __future__ import annotations

from math import nan

from therapy_analytics.measures import columns_of, measure
from therapy_analytics.measures.turns import PAIR
from therapy_analytics.text import AnnotatedSession

_KINDS = {"pauses": {"pause", "silence"}, "laughs": {"laughter"}, "unclear": {"unclear", "overlap"}}


@measure(columns=lambda *_: [one for role in PAIR for one in columns_of(__file__, role=role)])
def speech_marks(session: AnnotatedSession) -> dict[str, float]:
    """Count what the transcriber noted: ``[laughs]``, ``(pause 3s)``, ``[inaudible]``.

    High means that more was noted. In "I [laughs] know (pause 3s) it" there is one laugh, one
    pause, and 3 seconds of pause.

    Notes
    -----
    A session without any mark may have had no pauses, or a transcriber who writes none: all
    counts are undefined then, not 0.

    References
    ----------
    This package's own.
    """
    turns = session.session.turns
    marked = any(turn.marks for turn in turns)
    values: dict[str, float] = {}
    for role in PAIR:
        own = [turn.marks for turn in turns if turn.role == role]
        for name, kinds in _KINDS.items():
            n = sum(mark.kind in kinds for marks in own for mark in marks)
            values[f"n_{name}_{role}"] = float(n) if own and marked else nan
        timed = [mark.seconds for marks in own for mark in marks if mark.seconds is not None]
        values[f"pause_s_{role}"] = float(sum(timed)) if timed else nan
    return values
