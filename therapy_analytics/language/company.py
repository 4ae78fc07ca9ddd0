"""Strangers: turns of other sessions of the run, to set beside the words of a session."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language.annotate import AnnotatedSession, Batch
from therapy_analytics.session import CLIENT, THERAPIST, Session

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


def digest_of(session: Session) -> str:
    """Return a hash of what is said, 16 hexadecimal digits; that of a session is also that of each pair in it."""
    said = hashlib.blake2b(digest_size=8)
    for turn in session.turns:
        said.update(f"{turn.text}\x1e".encode("utf-8", "surrogatepass"))
    return said.hexdigest()


def length_class(session: Session) -> int:
    """Return the class of a session's mean words per turn, 0 for the shortest (see `CLASS_BOUNDS`).

    Words are counted by the space between them, so that a session need not be tokenised to be chosen.
    """
    words = [len(turn.text.split()) for turn in session.turns if turn.role != "other"]
    spoken = [n for n in words if n]
    return int(np.searchsorted(CLASS_BOUNDS, sum(spoken) / len(spoken), side="right")) if spoken else 0


def _spoken(session: Session, role: str) -> list[int]:
    return [i for i, turn in enumerate(session.turns) if turn.role == role and turn.text.strip()]


@dataclass(frozen=True, slots=True, eq=False)
class Company:
    """The strangers of one length class, as arrays.

    Attributes
    ----------
    whole : AnnotatedSession
        All their turns as those of one session, so that each measure reads them once.
    starts : int64 array (n_strangers + 1,)
        Stranger ``s`` owns turns ``starts[s]:starts[s + 1]``.
    digests, clients : tuple of str
        Whose words they are, and the client's name where the transcript has it.
    spoken : mapping of (int, int) to int64 array
        Stranger and role (`THERAPIST`, `CLIENT`) to their turns that have words, in order.
    """

    whole: AnnotatedSession
    starts: NDArray[np.int64]
    digests: tuple[str, ...]
    clients: tuple[str, ...]
    spoken: Mapping[tuple[int, int], NDArray[np.int64]]

    def n_turns(self, stranger: int) -> tuple[int, int]:
        """Return how many turns with words a stranger has, of the therapist and of the client."""
        return len(self.spoken[stranger, THERAPIST]), len(self.spoken[stranger, CLIENT])

    def others_than(self, session: Session) -> list[int]:
        """Return the strangers with words in both roles who are neither this session nor of its client."""
        digest, client = digest_of(session), session.metadata.get("client", "")
        known = zip(self.digests, self.clients, strict=True)
        others = [i for i, (other, name) in enumerate(known) if other != digest and not (client and name == client)]
        # Words were counted by the space between them: those turns may all be of signs.
        return [i for i in others if all(self.n_turns(i))]


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
    return {one: _company(strangers, members, read) for one, members in groups.items()}


def _company(strangers: Strangers, members: Sequence[int], read: Callable[[Sequence[Session]], Batch]) -> Company:
    sessions = [strangers.sessions[i] for i in members]
    batch = read(sessions)
    turns = tuple(turn for session in sessions for turn in session.turns)
    whole = AnnotatedSession(replace(sessions[0], turns=turns), batch.turns)
    spoken = {}
    for s in range(len(sessions)):
        own = np.arange(batch.starts[s], batch.starts[s + 1])
        for role in (THERAPIST, CLIENT):
            spoken[s, role] = own[(batch.turns.roles[own] == role) & (batch.turns.n_words[own] > 0)]
    digests = tuple(strangers.digests[i] for i in members)
    clients = tuple(strangers.clients[i] for i in members)
    return Company(whole, batch.starts, digests, clients, spoken)
