"""What is given to a worker: names of sessions and where they are, never what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from therapy_analytics.errors import BadDataFileError, UnreadableFileError
from therapy_analytics.language.company import Candidate, Strangers, shortened, strangers_of
from therapy_analytics.readers._build import fingerprint
from therapy_analytics.readers._pieces import Piece, PieceReading, read_again, read_piece
from therapy_analytics.session import digest_of

if TYPE_CHECKING:
    from therapy_analytics.readers import ReadOptions
    from therapy_analytics.session import Session

_CHANGED = ("its file has changed since the run began", "Leave the transcripts as they are until the run is done")


@dataclass(frozen=True, slots=True)
class Named:
    """A session: its id, what is noted of its name, a hash of its words, how many turns it has."""

    id: str
    notes: tuple[str, ...]
    said: bytes
    n_turns: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Sessions of a file, or of a part of one, that follow each other.

    Attributes
    ----------
    piece : Piece
        Where they are.
    named : tuple of Named
        The sessions.
    first : int
        Which of the piece's sessions is the first of them.
    ids : tuple of str or None
        How all sessions of the piece are called, if they must be read by these names.
    """

    piece: Piece
    named: tuple[Named, ...]
    first: int = 0
    ids: tuple[str, ...] | None = None

    def cut(self, begin: int, end: int) -> Slice:
        """Return some of them."""
        return replace(self, named=self.named[begin:end], first=self.first + begin)


@dataclass(frozen=True, slots=True)
class Item:
    """Sessions that one worker takes at a time.

    Attributes
    ----------
    name : str
        Its number; items are in the order of their names.
    slices : tuple of Slice
        The sessions.
    """

    name: str
    slices: tuple[Slice, ...]

    @property
    def named(self) -> Iterator[tuple[Named, str]]:
        """Yield each session, with its file."""
        return ((named, one.piece.path) for one in self.slices for named in one.named)

    def apart(self) -> Iterator[Item]:
        """Yield items of one session."""
        alone = [one.cut(at, at + 1) for one in self.slices for at in range(len(one.named))]
        return (Item(f"{self.name}-{at:04d}", (one,)) for at, one in enumerate(alone))


@dataclass(frozen=True, slots=True)
class Lender:
    """Where a session that lends its turns is."""

    piece: Piece
    at: int
    ids: tuple[str, ...] | None


def items_of(slices: Iterable[Slice], n_turns: int) -> Iterator[Item]:
    """Group sessions, in order, so that each item but the last has at least so many turns, and not many more."""
    number, taken, n = 0, list[Slice](), 0
    for one in slices:
        begin = 0
        for at, named in enumerate(one.named, start=1):
            n += named.n_turns
            if n >= n_turns:
                yield Item(f"{number:06d}", (*taken, one.cut(begin, at)))
                number, taken, n, begin = number + 1, [], 0, at
        if begin < len(one.named):
            taken.append(one.cut(begin, len(one.named)))
    if taken:
        yield Item(f"{number:06d}", tuple(taken))


def read_item(item: Item, options: ReadOptions) -> Iterator[Session | UnreadableFileError]:
    """Read the sessions of an item; of those that are no longer what they were, say so."""
    for one in item.slices:
        sessions = _read(one.piece, one.ids, options).sessions[one.first :]
        for at, named in enumerate(one.named):
            session = sessions[at] if at < len(sessions) else None
            if session is None or fingerprint(session) != named.said:
                yield UnreadableFileError(one.piece.path, None, f"session {named.id}: {_CHANGED[0]}", _CHANGED[1])
            else:
                yield replace(session, id=named.id, notes=(*session.notes, *named.notes))


def read_strangers(lenders: Sequence[tuple[Candidate, Lender]], options: ReadOptions) -> Strangers:
    """Read the sessions that lend their turns.

    Raises
    ------
    BadDataFileError
        One is no longer what it was.
    """
    found: dict[str, Session] = {}
    for one, lender in sorted(lenders, key=lambda one: (one[1].piece.path, one[1].piece.part)):  # each file once
        sessions = _read(lender.piece, lender.ids, options).sessions
        if lender.at >= len(sessions) or digest_of(sessions[lender.at]) != one.digest:
            raise BadDataFileError(lender.piece.path, *_CHANGED)
        found[one.digest] = shortened(sessions[lender.at])
    return strangers_of([one for one, _ in lenders], [found[one.digest] for one, _ in lenders])


def _read(piece: Piece, ids: Sequence[str] | None, options: ReadOptions) -> PieceReading:
    return read_again(piece, options) if ids is None else read_piece(piece, options, ids)
