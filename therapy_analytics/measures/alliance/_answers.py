"""Turns that come after an event: the next few of a role, and whether one of them has a code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
WITHIN = 3
"""Turns of a role after an event among which an answer is looked for."""
_MINIMAL = "conversation.minimal_responses"
_NOBODY = -1


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


def next_turns(events: Bools, among: Bools, n: int = WITHIN) -> Ints:
    """Return for each event the places of the next turns of a kind, in order; -1 where the session has no more.

    Parameters
    ----------
    events, among : bool array (n_turns,)
        The turns that are followed, and the turns that may follow them.
    n : int
        How many of them.

    Returns
    -------
    int64 array (n_events, n)

    Examples
    --------
    >>> next_turns(np.array([True, False, False, True]), np.array([False, True, True, False]), n=3).tolist()
    [[1, 2, -1], [-1, -1, -1]]
    """
    following = np.append(np.flatnonzero(among), np.full(n, _NOBODY))
    first = np.searchsorted(following[:-n], np.flatnonzero(events), side="right")
    return np.asarray(following[first[:, None] + np.arange(n)])


def any_in(turns: Ints, hits: Bools) -> Bools:
    """Return for each event whether one of the turns after it is a hit, bool (n_events,).

    Parameters
    ----------
    turns : int64 array (n_events, n)
        As `next_turns` returns them.
    hits : bool array (n_turns,)
        Turns that are looked for.
    """
    return np.asarray((np.append(hits, False)[turns] & (turns != _NOBODY)).any(axis=1))


def placed(events: Bools, values: Bools) -> Bools:
    """Return a value of each event at the place of its turn, bool (n_turns,); False elsewhere."""
    found = np.zeros(len(events), dtype=np.bool_)
    found[events] = values
    return found
