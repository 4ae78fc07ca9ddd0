"""The therapist's turns after an event, for measures of the process family that have not moved to `_answers` yet."""

from __future__ import annotations

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures.alliance._answers import Bools, Ints, next_turns, says_something


def repair_windows(session: AnnotatedSession, hits: Bools) -> tuple[Ints, Ints]:
    """Return the therapist's next three turns after each event, without mm-hmm: places among the events, and turns."""
    turns = next_turns(hits, session.spoken_by("therapist") & says_something(session))
    inside = turns >= 0
    return np.nonzero(inside)[0], turns[inside]
