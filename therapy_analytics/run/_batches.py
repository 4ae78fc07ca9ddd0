"""Work batches: what a worker is given are names of sessions and where they are, never what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from therapy_analytics.errors import BadDataFileError, UnreadableFileError
from therapy_analytics.language.donors import Candidate, SurrogatePool, shortened, surrogate_pool
from therapy_analytics.readers._build import fingerprint
from therapy_analytics.readers._fragment_reading import read_again, read_fragment
from therapy_analytics.readers._fragments import Fragment
from therapy_analytics.session import digest_of

if TYPE_CHECKING:
    from therapy_analytics.readers import ReadOptions
    from therapy_analytics.session import Session

_CHANGED = ("its file has changed since the run began", "Leave the transcripts as they are until the run is done")


@dataclass(frozen=True, slots=True)
class NamedSession:
    """A session: its id, what is noted of its name, a hash of its words, how many turns it has."""

    id: str
    notes: tuple[str, ...]
    fingerprint: bytes
    n_turns: int


@dataclass(frozen=True, slots=True)
class FileChunk:
    """A file, or a part of a large one, and how its sessions are called.

    Attributes
    ----------
    fragment : Fragment
        Where they are.
    ids : tuple of str or None
        How all its sessions are called, if they must be read by these names.
    """

    fragment: Fragment
    ids: tuple[str, ...] | None = None

    def read(self, options: ReadOptions) -> tuple[Session, ...]:
        """Read its sessions."""
        found = (
            read_again(self.fragment, options) if self.ids is None else read_fragment(self.fragment, options, self.ids)
        )
        return found.sessions


@dataclass(frozen=True, slots=True)
class ChunkSessions:
    """Sessions of a file chunk that follow each other; `first` is the place of the first of them in it."""

    chunk: FileChunk
    named: tuple[NamedSession, ...]
    first: int = 0

    def cut(self, begin: int, end: int) -> ChunkSessions:
        """Return some of them."""
        return replace(self, named=self.named[begin:end], first=self.first + begin)


@dataclass(frozen=True, slots=True)
class WorkBatch:
    """Sessions that one worker takes at a time.

    Attributes
    ----------
    name : str
        Its number; work batches are in the order of their names.
    sessions : tuple of ChunkSessions
        The sessions.
    """

    name: str
    sessions: tuple[ChunkSessions, ...]

    @property
    def named(self) -> list[tuple[NamedSession, str]]:
        """Return each session, with its file."""
        return [(named, one.chunk.fragment.path) for one in self.sessions for named in one.named]

    def divided(self) -> Iterator[WorkBatch]:
        """Yield work batches of one session."""
        alone = [one.cut(at, at + 1) for one in self.sessions for at in range(len(one.named))]
        return (WorkBatch(f"{self.name}-{at:04d}", (one,)) for at, one in enumerate(alone))

    def read(self, options: ReadOptions) -> Iterator[Session | UnreadableFileError]:
        """Read the sessions; of those that are no longer what they were, say so."""
        for one in self.sessions:
            sessions = one.chunk.read(options)[one.first :]
            for at, named in enumerate(one.named):
                session = sessions[at] if at < len(sessions) else None
                if session is None or fingerprint(session) != named.fingerprint:
                    problem = f"session {named.id}: {_CHANGED[0]}"
                    yield UnreadableFileError(one.chunk.fragment.path, None, problem, _CHANGED[1])
                else:
                    yield replace(session, id=named.id, notes=(*session.notes, *named.notes))


def work_batches(sessions: Iterable[ChunkSessions], n_turns: int) -> Iterator[WorkBatch]:
    """Group sessions, in order, so that each batch but the last has at least so many turns, and not many more."""
    number, taken, n = 0, list[ChunkSessions](), 0
    for one in sessions:
        begin = 0
        for at, named in enumerate(one.named, start=1):
            n += named.n_turns
            if n >= n_turns:
                yield WorkBatch(f"{number:06d}", (*taken, one.cut(begin, at)))
                number, taken, n, begin = number + 1, [], 0, at
        if begin < len(one.named):
            taken.append(one.cut(begin, len(one.named)))
    if taken:
        yield WorkBatch(f"{number:06d}", tuple(taken))


@dataclass(frozen=True, slots=True)
class Donor:
    """A session that lends its turns to surrogate pairs: what chose it, and where it is."""

    candidate: Candidate
    chunk: FileChunk
    at: int

    def read(self, options: ReadOptions) -> Session:
        """Read its first turns.

        Raises
        ------
        BadDataFileError
            It is no longer what it was.
        """
        sessions = self.chunk.read(options)
        if self.at >= len(sessions) or digest_of(sessions[self.at]) != self.candidate.digest:
            raise BadDataFileError(self.chunk.fragment.path, *_CHANGED)
        return shortened(sessions[self.at])


def read_donors(donors: Sequence[Donor], options: ReadOptions) -> SurrogatePool:
    """Read the sessions that lend their turns, each file once."""
    in_files = sorted(donors, key=lambda one: (one.chunk.fragment.path, one.chunk.fragment.part))
    found = {one.candidate.digest: one.read(options) for one in in_files}
    return surrogate_pool([one.candidate for one in donors], [found[one.candidate.digest] for one in donors])
