"""Where turns stand to each other: who answers whom, and in which third of the session.

All of it may be asked of the turns of a batch as well: nothing then goes from one session to another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.session import Role

THIRDS = ("first", "middle", "last")
Ints = NDArray[np.int64]


def next_of(session: AnnotatedSession, role: Role) -> Ints:
    """Return for each turn the next turn of a role with words after it, -1 where there is none; (n_turns,).

    Turns of others between the two are passed over.
    """
    return _shared(session, lambda one: _next_of(one, role), (next_of, role))


def _next_of(session: AnnotatedSession, role: Role) -> Ints:
    n = len(session)
    own = np.where(_speaks(session, role), np.arange(n), n)
    after = np.append(np.minimum.accumulate(own[::-1])[::-1][1:], n)[:n]
    return np.where(after < ends_of(session), after, -1)


def last_of(session: AnnotatedSession, role: Role) -> Ints:
    """Return for each turn the last turn of a role with words before it, -1 where there is none; (n_turns,)."""
    return _shared(session, lambda one: _last_of(one, role), (last_of, role))


def _last_of(session: AnnotatedSession, role: Role) -> Ints:
    own = np.where(_speaks(session, role), np.arange(len(session)), -1)
    before = np.append(-1, np.maximum.accumulate(own))[: len(session)]
    return np.where(before >= begins_of(session), before, -1)


def _shared(session: AnnotatedSession, find: Callable[[AnnotatedSession], Ints], key: object) -> Ints:
    """Return what many measures share, found for the whole batch, so that none can change it."""

    def cut(one: AnnotatedSession) -> Ints:
        place = one.in_batch
        found = find(one) if place is None else _shared(place.whole, find, key)[place.start : place.start + len(one)]
        found = found if place is None else np.where(found < 0, -1, found - place.start)
        found.flags.writeable = False
        return found

    return session.once(cut, key=key)


def _speaks(session: AnnotatedSession, role: Role) -> NDArray[np.bool_]:
    return np.asarray(session.of(role) & (session.n_words > 0))


def begins_of(session: AnnotatedSession) -> Ints:
    """Return the first turn of the session that each turn stands in, (n_turns,): 0 unless these are many sessions."""
    return session.once(lambda one: np.repeat(one.bounds[:-1], np.diff(one.bounds)), key=begins_of)


def ends_of(session: AnnotatedSession) -> Ints:
    """Return where the session that each turn stands in ends, (n_turns,)."""
    return session.once(lambda one: np.repeat(one.bounds[1:], np.diff(one.bounds)), key=ends_of)


def third_of(session: AnnotatedSession) -> Ints:
    """Return the third of the session, by turns, that each turn stands in: 0, 1 or 2; (n_turns,)."""
    begin, end = begins_of(session), ends_of(session)
    return np.asarray((np.arange(len(session)) - begin) * len(THIRDS) // np.maximum(end - begin, 1))
