"""Where the turns of a session stand to each other: who answers whom, and in which third of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.session import Role

THIRDS = ("third_1", "third_2", "third_3")
Ints = NDArray[np.int64]


def next_of(session: AnnotatedSession, role: Role) -> Ints:
    """Return for each turn the next turn of a role with words after it, -1 where there is none; (n_turns,).

    Turns of others between the two are passed over.
    """

    def find(one: AnnotatedSession) -> Ints:
        n = len(one)
        own = np.where(one.spoken_by(role) & (one.n_words > 0), np.arange(n), n)
        after = np.append(np.minimum.accumulate(own[::-1])[::-1][1:], n)[:n]
        return _kept(np.where(after < n, after, -1))

    return session.cached(find, key=(next_of, role))


def last_of(session: AnnotatedSession, role: Role) -> Ints:
    """Return for each turn the last turn of a role with words before it, -1 where there is none; (n_turns,)."""

    def find(one: AnnotatedSession) -> Ints:
        own = np.where(one.spoken_by(role) & (one.n_words > 0), np.arange(len(one)), -1)
        return _kept(np.append(-1, np.maximum.accumulate(own))[: len(one)])

    return session.cached(find, key=(last_of, role))


def _kept(found: Ints) -> Ints:
    """Return what many measures share, so that none can change it."""
    found.flags.writeable = False
    return found


def third_of(session: AnnotatedSession) -> Ints:
    """Return the third of the session, by turns, that each turn stands in: 0, 1 or 2; (n_turns,)."""
    return np.arange(len(session)) * len(THIRDS) // max(len(session), 1)
