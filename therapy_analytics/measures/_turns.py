"""Where turns stand to each other: who answers whom, and in which third of the session."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.session import Role

THIRDS = ("first", "middle", "last")


def next_of(session: AnnotatedSession, role: Role) -> NDArray[np.int64]:
    """Return for each turn the next turn of a role with words after it, -1 where there is none; (n_turns,).

    Turns of others between the two are passed over.
    """
    return session.once(lambda one: _next_of(one, role), key=(next_of, role))


def _next_of(session: AnnotatedSession, role: Role) -> NDArray[np.int64]:
    at = _places(session, role)
    after = np.searchsorted(at, np.arange(len(session)), side="right")
    return _fixed(np.append(at, -1)[after])


def last_of(session: AnnotatedSession, role: Role) -> NDArray[np.int64]:
    """Return for each turn the last turn of a role with words before it, -1 where there is none; (n_turns,)."""
    return session.once(lambda one: _last_of(one, role), key=(last_of, role))


def _last_of(session: AnnotatedSession, role: Role) -> NDArray[np.int64]:
    at = _places(session, role)
    before = np.searchsorted(at, np.arange(len(session)), side="left")
    return _fixed(np.append(-1, at)[before])


def _fixed(found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what many measures share, so that none can change it."""
    found.flags.writeable = False
    return found


def _places(session: AnnotatedSession, role: Role) -> NDArray[np.int64]:
    return np.flatnonzero(session.of(role) & (session.n_words > 0))


def third_of(session: AnnotatedSession) -> NDArray[np.int64]:
    """Return the third of the session, by turns, that each turn stands in: 0, 1 or 2; (n_turns,)."""
    n = len(session)
    return np.arange(n) * len(THIRDS) // max(n, 1)
