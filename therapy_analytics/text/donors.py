"""Donors: sessions of a run whose turns stand in for those of other sessions, in surrogate pairs.

A donor is chosen by the hash of its words, so that the choice does not depend on the order, names or grouping of the
sessions, and a run can choose in one pass without holding the corpus.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np

from therapy_analytics.core.session import Role, Session, digest_of
from therapy_analytics.text.annotate import Batch, Donors

Place = TypeVar("Place")

PER_CLASS = 20
"""Donors of one length class."""
MOST_TURNS = 200
"""Turns of a donor that are kept, its first."""
CLASS_BOUNDS = (8, 16, 32)
"""Words per turn that divide the length classes."""
FEWEST_TURNS = 5
"""Turns that a donor has at least of the therapist, and of the client."""


@dataclass(frozen=True, slots=True)
class SurrogatePool:
    """The donors of a run; small enough to travel to every process.

    Attributes
    ----------
    sessions : tuple of Session
        At most `PER_CLASS` of a length class, those whose words have the smallest hashes.
    digests : tuple of str
        The hash of each session's words.
    clients : tuple of str
        The client's name of each, empty where the transcript has none. Pools are compared by hashes and clients.
    """

    sessions: tuple[Session, ...] = field(default=(), compare=False, repr=False)
    digests: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What decides whether a session becomes a donor; it holds no word of the session.

    Attributes
    ----------
    length : int
        The length class.
    digest : str
        The hash of the session's words.
    client : str
        The client's name, empty where the transcript has none.
    """

    length: int
    digest: str
    client: str


def candidate(session: Session) -> Candidate | None:
    """Return a session as a candidate, or None where one of the two speaks fewer than `FEWEST_TURNS` turns."""
    donated = shortened(session)
    roles: tuple[Role, ...] = ("therapist", "client")
    if any(sum(t.role == role and bool(t.text.strip()) for t in donated.turns) < FEWEST_TURNS for role in roles):
        return None
    return Candidate(length_class(donated), digest_of(session), session.metadata.get("client", ""))


def shortened(session: Session) -> Session:
    """Return a session with its first `MOST_TURNS` turns, those that it donates."""
    return replace(session, turns=session.turns[:MOST_TURNS])


class DonorChoice(Generic[Place]):
    """Chooses donors among candidates as they come; holds only those chosen so far, each with where it is."""

    def __init__(self) -> None:
        self._kept: dict[int, list[tuple[int, str, Candidate, Place]]] = {}

    def offer(self, one: Candidate, where: Place) -> None:
        """Consider one more candidate."""
        heap = self._kept.setdefault(one.length, [])
        if any(one.digest == known for _, known, _, _ in heap):
            return
        heapq.heappush(heap, (-int(one.digest, 16), one.digest, one, where))
        if len(heap) > PER_CLASS:
            heapq.heappop(heap)

    def chosen(self) -> list[tuple[Candidate, Place]]:
        """Return the chosen candidates, in the order of their hashes."""
        found = [(one, where) for heap in self._kept.values() for _, _, one, where in heap]
        return sorted(found, key=lambda one: one[0].digest)


def choose_donors(sessions: Iterable[Session]) -> SurrogatePool:
    """Choose the donors of a run in one pass over its sessions."""
    choice: DonorChoice[Session] = DonorChoice()
    for session in sessions:
        found = candidate(session)
        if found is not None:
            choice.offer(found, shortened(session))
    chosen = choice.chosen()
    return surrogate_pool([one for one, _ in chosen], [session for _, session in chosen])


def surrogate_pool(chosen: Sequence[Candidate], sessions: Iterable[Session]) -> SurrogatePool:
    """Return the pool of chosen candidates and their sessions, in the same order."""
    return SurrogatePool(tuple(sessions), tuple(one.digest for one in chosen), tuple(one.client for one in chosen))


def length_class(session: Session) -> int:
    """Return the class of a session's mean words per turn, 0 for the shortest (see `CLASS_BOUNDS`).

    Words are counted by the spaces between them, so that a session need not be tokenised to be chosen.
    """
    words = [n for turn in session.turns if turn.role != "other" and (n := len(turn.text.split()))]
    return int(np.searchsorted(CLASS_BOUNDS, sum(words) / len(words), side="right")) if words else 0


def donors_by_length(pool: SurrogatePool, read: Callable[[Sequence[Session]], Batch]) -> dict[int, Donors]:
    """Return the donors of each length class as arrays.

    Parameters
    ----------
    pool : SurrogatePool
        As chosen.
    read : callable
        Makes arrays of sessions, as `annotate` does.
    """
    classes = np.array([length_class(session) for session in pool.sessions], dtype=np.int64)
    found = {}
    for length in dict.fromkeys(classes.tolist()):
        members = np.flatnonzero(classes == length).tolist()
        digests, clients = (tuple(names[i] for i in members) for names in (pool.digests, pool.clients))
        found[length] = Donors.from_batch(read([pool.sessions[i] for i in members]), digests, clients)
    return found
