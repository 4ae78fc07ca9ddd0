"""How the turns of a session stand to each other: who answers whom, in which third, and slopes along it."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from therapy_analytics.core.session import Role
from therapy_analytics.text import AnnotatedSession

THIRDS = ("third_1", "third_2", "third_3")
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
WITHIN = 3
"""Turns of a role after an event among which an answer is looked for."""
FEWEST_FOR_SLOPE = 8
"""Turns under which a slope and its interval are left undefined."""
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


def slope(series: Floats) -> tuple[float, float, float]:
    """Return the slope from the first value (0) to the last (1) with its 95% interval; nan under `FEWEST_FOR_SLOPE`.

    Neighbouring turns are alike, which the usual standard error leaves out: this is Newey and West's (1987), with
    neighbours as far as 4 (n / 100)^(2/9) turns away, and Student's t.

    Examples
    --------
    >>> [round(x, 2) for x in slope(np.linspace(-0.5, 0.5, 10))]
    [1.0, 1.0, 1.0]
    """
    n = len(series)
    if n < FEWEST_FOR_SLOPE:
        return nan, nan, nan
    place = np.linspace(-0.5, 0.5, n)
    spread = float((place * place).sum())
    found = float((place * series).sum()) / spread
    scores = place * (series - series.mean() - found * place)
    variance = float((scores * scores).sum())
    reach = int(4 * (n / 100) ** (2 / 9))
    for lag in range(1, reach + 1):
        variance += 2 * (1 - lag / (reach + 1)) * float((scores[lag:] * scores[:-lag]).sum())
    # The kernel may bring the sum a little under 0 by rounding alone.
    error = sqrt(max(variance, 0.0) * n / (n - 2)) / spread
    half = float(stdtrit(n - 2, 0.975)) * error
    return found, found - half, found + half
