"""Turns that have codes, turns that say something, and values put at the places of their turns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession

Bools = NDArray[np.bool_]
_MINIMAL = "conversation.minimal_responses"


def coded(session: AnnotatedSession, *codes: str) -> Bools:
    """Return which turns with words were coded with all of these codes, bool (n_turns,); none if a code is missing."""
    if not codes or not session.has(*codes):
        return np.zeros(len(session), dtype=np.bool_)
    unknown = np.any([np.isnan(session.probabilities[one]) for one in codes], axis=0)
    return np.asarray(~unknown & (session.n_words > 0))


def any_of(session: AnnotatedSession, *codes: str) -> Bools:
    """Return which turns have any of these codes, bool (n_turns,); none if a code is missing."""
    if not codes or not session.has(*codes):
        return np.zeros(len(session), dtype=np.bool_)
    return np.asarray(np.any([session.decided(one) for one in codes], axis=0))


def says_something(session: AnnotatedSession) -> Bools:
    """Return which turns have words that are more than a minimal response such as "mm-hmm", bool (n_turns,)."""
    return np.asarray((session.n_words > 0) & ~session.consists_of(_MINIMAL))


def placed(events: Bools, values: Bools) -> Bools:
    """Return a value of each event at the place of its turn, bool (n_turns,); False elsewhere."""
    found = np.zeros(len(events), dtype=np.bool_)
    found[events] = values
    return found
