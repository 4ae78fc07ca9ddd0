"""Strangers: turns of other sessions of the run, to set beside the words of a session."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np

from therapy_analytics.language.annotate import Batch, Company
from therapy_analytics.session import Session, digest_of

Where = TypeVar("Where")

PER_CLASS = 20
"""Sessions of one length class that serve as strangers."""
MOST_TURNS = 200
"""So many of a stranger's turns are kept, its first."""
CLASS_BOUNDS = (8, 16, 32)
"""Words per turn that divide the length classes."""
FEWEST_TURNS = 5
"""A stranger has at least so many turns of the therapist, and of the client."""


@dataclass(frozen=True, slots=True)
class Strangers:
    """Sessions of a run that lend their turns to chance baselines; small enough to travel to every process.

    Attributes
    ----------
    sessions : tuple of Session
        At most `PER_CLASS` of a length class, those whose words have the smallest hash: they
        do not depend on the order, names or grouping of the sessions.
    digests : tuple of str
        The hash of each.
    clients : tuple of str
        The client's name of each, where the transcript has it. Two of these compare by hashes and clients.
    """

    sessions: tuple[Session, ...] = field(default=(), compare=False, repr=False)
    digests: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What decides whether a session lends its turns: small, and without a word of it.

    Attributes
    ----------
    length : int
        Its length class.
    digest : str
        The hash of its words.
    client : str
        The client's name, where the transcript has it.
    """

    length: int
    digest: str
    client: str


def candidate(session: Session) -> Candidate | None:
    """Return a session as one of those that may be chosen, or None where too little is said in it."""
    lent = shortened(session)
    if any(len(_spoken(lent, role)) < FEWEST_TURNS for role in ("therapist", "client")):
        return None
    return Candidate(length_class(lent), digest_of(session), session.metadata.get("client", ""))


def shortened(session: Session) -> Session:
    """Return what a session lends: its first turns."""
    return replace(session, turns=session.turns[:MOST_TURNS])


class Choice(Generic[Where]):
    """Chooses among candidates as they come, and holds no more than those chosen so far, each with where it is."""

    def __init__(self) -> None:
        self._kept: dict[int, list[tuple[int, str, Candidate, Where]]] = {}

    def offer(self, one: Candidate, where: Where) -> None:
        """Look at one more."""
        heap = self._kept.setdefault(one.length, [])
        if any(one.digest == known for _, known, _, _ in heap):
            return
        heapq.heappush(heap, (-int(one.digest, 16), one.digest, one, where))
        if len(heap) > PER_CLASS:
            heapq.heappop(heap)

    def chosen(self) -> list[tuple[Candidate, Where]]:
        """Return those chosen, by their hashes."""
        found = [(one, where) for heap in self._kept.values() for _, _, one, where in heap]
        return sorted(found, key=lambda one: one[0].digest)


def choose_strangers(sessions: Iterable[Session]) -> Strangers:
    """Choose the strangers of a run, in one pass that holds no more than those.

    Parameters
    ----------
    sessions : iterable of Session
        All of the run.
    """
    choice: Choice[Session] = Choice()
    for session in sessions:
        found = candidate(session)
        if found is not None:
            choice.offer(found, shortened(session))
    chosen = choice.chosen()
    return strangers_of([one for one, _ in chosen], [session for _, session in chosen])


def strangers_of(chosen: Sequence[Candidate], sessions: Iterable[Session]) -> Strangers:
    """Return the strangers that were chosen, with their sessions."""
    digests, clients = tuple(one.digest for one in chosen), tuple(one.client for one in chosen)
    return Strangers(tuple(sessions), digests, clients)


def length_class(session: Session) -> int:
    """Return the class of a session's mean words per turn, 0 for the shortest (see `CLASS_BOUNDS`).

    Words are counted by the space between them, so that a session need not be tokenised to be chosen.
    """
    words = [len(turn.text.split()) for turn in session.turns if turn.role != "other"]
    spoken = [n for n in words if n]
    return int(np.searchsorted(CLASS_BOUNDS, sum(spoken) / len(spoken), side="right")) if spoken else 0


def _spoken(session: Session, role: str) -> list[int]:
    return [i for i, turn in enumerate(session.turns) if turn.role == role and turn.text.strip()]


def companies(strangers: Strangers, read: Callable[[Sequence[Session]], Batch]) -> dict[int, Company]:
    """Read the strangers as sessions are read, and group them by length class.

    Parameters
    ----------
    strangers : Strangers
        As chosen.
    read : callable
        Makes arrays of sessions, as `annotate` does.
    """
    groups: dict[int, list[int]] = {}
    for i, session in enumerate(strangers.sessions):
        groups.setdefault(length_class(session), []).append(i)
    found = {}
    for length, members in groups.items():
        digests, clients = (tuple(names[i] for i in members) for names in (strangers.digests, strangers.clients))
        found[length] = Company.from_batch(read([strangers.sessions[i] for i in members]), digests, clients)
    return found
