"""Work batches: ids of sessions and where they are, as a worker gets them; never their words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from therapy_analytics.core.errors import BadDataFileError, UnreadableFileError
from therapy_analytics.core.session import digest_of
from therapy_analytics.readers.build import fingerprint
from therapy_analytics.readers.transcript_reading import read_again, read_transcript
from therapy_analytics.readers.transcripts import Transcript
from therapy_analytics.text.donors import Candidate, SurrogatePool, shortened, surrogate_pool

if TYPE_CHECKING:
    from therapy_analytics.core.session import Session
    from therapy_analytics.readers import ReadOptions

_CHANGED = ("its file has changed since the run began", "Leave the transcripts as they are until the run is done")


@dataclass(frozen=True, slots=True)
class NamedSession:
    """A session: its id, notes on its id, a hash of its words, its number of turns."""

    id: str
    notes: tuple[str, ...]
    fingerprint: bytes
    n_turns: int


@dataclass(frozen=True, slots=True)
class FileChunk:
    """A transcript, and the ids of its sessions.

    Attributes
    ----------
    transcript : Transcript
        The file, or the files of one talk.
    ids : tuple of str or None
        The ids of all its sessions, if facts about them are looked up by these.
    """

    transcript: Transcript
    ids: tuple[str, ...] | None = None

    def read(self, options: ReadOptions, groupings: Collection[str] = ()) -> tuple[Session, ...]:
        """Read its sessions, with those fields beside the turns that are groupings over all sessions of the run."""
        if self.ids is None:
            return read_again(self.transcript, options).with_groupings(groupings).sessions
        return read_transcript(self.transcript, options, self.ids).with_groupings(groupings).sessions


@dataclass(frozen=True, slots=True)
class ChunkSessions:
    """Consecutive sessions of a file chunk; `first` is the position of the first of them in it."""

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
        Its number; work batches are ordered by their names.
    sessions : tuple of ChunkSessions
        The sessions, in order.
    """

    name: str
    sessions: tuple[ChunkSessions, ...]

    @property
    def named(self) -> list[tuple[NamedSession, str]]:
        """Each session, with its file."""
        return [(named, one.chunk.transcript.path) for one in self.sessions for named in one.named]

    def divided(self) -> Iterator[WorkBatch]:
        """Yield a work batch for each session."""
        alone = [one.cut(at, at + 1) for one in self.sessions for at in range(len(one.named))]
        return (WorkBatch(f"{self.name}-{at:04d}", (one,)) for at, one in enumerate(alone))

    def read(self, options: ReadOptions, groupings: Collection[str] = ()) -> Iterator[Session | UnreadableFileError]:
        """Yield the sessions, or an error for those that have changed since the survey."""
        for one in self.sessions:
            sessions = one.chunk.read(options, groupings)[one.first :]
            for at, named in enumerate(one.named):
                session = sessions[at] if at < len(sessions) else None
                if session is None or fingerprint(session) != named.fingerprint:
                    problem = f"session {named.id}: {_CHANGED[0]}"
                    yield UnreadableFileError(one.chunk.transcript.path, None, problem, _CHANGED[1])
                else:
                    yield replace(session, id=named.id, notes=(*session.notes, *named.notes))


def work_batches(sessions: Iterable[ChunkSessions], n_turns: int) -> Iterator[WorkBatch]:
    """Group sessions, in order, so that each batch except the last has at least `n_turns` turns, and not many more."""
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
    """A donor of surrogate pairs: the session as a candidate, and where it is."""

    candidate: Candidate
    chunk: FileChunk
    at: int

    def read(self, options: ReadOptions) -> Session:
        """Read its first turns.

        Raises
        ------
        BadDataFileError
            It has changed since the survey.
        """
        sessions = self.chunk.read(options)
        if self.at >= len(sessions) or digest_of(sessions[self.at]) != self.candidate.digest:
            raise BadDataFileError(self.chunk.transcript.path, *_CHANGED)
        return shortened(sessions[self.at])


def read_donors(donors: Sequence[Donor], options: ReadOptions) -> SurrogatePool:
    """Read the donors, each file once."""
    in_files = sorted(donors, key=lambda one: one.chunk.transcript.path)
    found = {one.candidate.digest: one.read(options) for one in in_files}
    return surrogate_pool([one.candidate for one in donors], [found[one.candidate.digest] for one in donors])
