"""How the turns of a session stand to each other: who answers whom, in which third, and slopes along it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.session import Role

THIRDS = ("third_1", "third_2", "third_3")
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
WITHIN = 3
"""Turns of a role after an event among which an answer is looked for."""
_NOBODY = -1


def next_of(session: AnnotatedSession, role: Role) -> Ints:
    """Return for each turn the next turn of a role that has words, -1 where there is none; int64 (n_turns,)."""

    def find(one: AnnotatedSession) -> Ints:
        n = len(one)
        own = np.where(one.spoken_by(role) & (one.n_words > 0), np.arange(n), n)
        after = np.append(np.minimum.accumulate(own[::-1])[::-1][1:], n)[:n]
        return _kept(np.where(after < n, after, -1))

    return session.cached(find, key=(next_of, role))


def last_of(session: AnnotatedSession, role: Role) -> Ints:
    """Return for each turn the last earlier turn of a role that has words, -1 where there is none; int64 (n_turns,)."""

    def find(one: AnnotatedSession) -> Ints:
        own = np.where(one.spoken_by(role) & (one.n_words > 0), np.arange(len(one)), -1)
        return _kept(np.append(-1, np.maximum.accumulate(own))[: len(one)])

    return session.cached(find, key=(last_of, role))


def _kept(found: Ints) -> Ints:
    """Return an array that many measures share, read-only."""
    found.flags.writeable = False
    return found


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


def third_of(session: AnnotatedSession) -> Ints:
    """Return the third of the session, by turns, that each turn stands in: 0, 1 or 2; int64 (n_turns,)."""
    return np.arange(len(session)) * len(THIRDS) // max(len(session), 1)


def slopes(places: Floats, values: Floats) -> Floats:
    """Return the slopes of least squares of columns of values on places, (n_columns,); nan where all places are one.

    Parameters
    ----------
    places, values : float64 arrays (n,) and (n, n_columns)
        What changes along what.

    Examples
    --------
    Half a point more at the end than at the beginning, and no change:

    >>> slopes(np.array([0.0, 0.2, 0.8, 1.0]), np.array([[0.0, 1], [0.1, 1], [0.4, 1], [0.5, 1]])).round(3).tolist()
    [0.5, 0.0]
    """
    off = places - places.mean()
    spread = float(off @ off)
    return np.asarray(off @ values) / (spread or np.nan)
