"""Pairs of turns, many times over: of a session, and of several sessions one behind the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language.integers import consecutive

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Pairs of turns, many times over, held as positions among the turns that may occur.

    Attributes
    ----------
    anchors, replies : int64 array
        The turns that may occur, session after session.
    anchor_at, reply_at : int64 array (n_pairs, 1 or n_draws)
        Positions in those; one column where all draws have the same.
    sizes : int64 array (3, n_sessions)
        How many anchors, replies and pairs each session has.
    """

    anchors: Ints
    replies: Ints
    anchor_at: Ints
    reply_at: Ints
    sizes: Ints

    @classmethod
    def of(cls, anchors: Ints, replies: Ints, anchor_at: Ints, reply_at: Ints) -> Draws:
        """Return the draws of one session."""
        return cls(anchors, replies, anchor_at, reply_at, np.array([[len(anchors)], [len(replies)], [len(reply_at)]]))

    @classmethod
    def joined(cls, each: Sequence[Draws], firsts: tuple[Sequence[int], Sequence[int]]) -> Draws:
        """Return the draws of some sessions as one, with what is to be added to the anchors, and to the replies."""
        sizes = np.concatenate([one.sizes for one in each], axis=1)
        befores = (np.cumsum(sizes, axis=1) - sizes)[:2].tolist()
        turns = ([one.anchors for one in each], [one.replies for one in each])
        places = ([one.anchor_at for one in each], [one.reply_at for one in each])
        anchors, replies = map(_moved, turns, firsts)
        anchor_at, reply_at = map(_moved, places, befores)
        return cls(anchors, replies, anchor_at, reply_at, sizes)

    @property
    def n_draws(self) -> int:
        """How many draws there are."""
        return int(max(self.anchor_at.shape[1], self.reply_at.shape[1]))

    @property
    def n_pairs(self) -> int:
        """How many pairs a draw has."""
        return len(self.reply_at)

    @property
    def n_cells(self) -> int:
        """How many pairs there are of an anchor and a reply of one session."""
        return int(self.sizes[0] @ self.sizes[1])

    def some(self, draws: slice) -> tuple[Ints, Ints]:
        """Return the positions of some of the draws."""
        return (
            self.anchor_at if self.anchor_at.shape[1] == 1 else self.anchor_at[:, draws],
            self.reply_at if self.reply_at.shape[1] == 1 else self.reply_at[:, draws],
        )

    def turns(self, draws: slice) -> tuple[Ints, Ints]:
        """Return the turns of some of the draws, as `some` does their positions."""
        anchor_at, reply_at = self.some(draws)
        return self.anchors.take(anchor_at), self.replies.take(reply_at)

    def turned(self) -> Draws:
        """Return the same with anchors and replies exchanged."""
        return Draws(self.replies, self.anchors, self.reply_at, self.anchor_at, self.sizes[[1, 0, 2]])

    def tables(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield the anchors of each session as a column, and its replies as a row."""
        for (anchor, reply, _), (n_anchors, n_replies, _) in zip(self._before().T, self.sizes.T, strict=True):
            yield self.anchors[anchor : anchor + n_anchors, None], self.replies[None, reply : reply + n_replies]

    def cells(self) -> tuple[Ints, Ints]:
        """Return positions of the anchor and of the reply of each cell of `tables`, row by row."""
        n_anchors, n_replies, _ = self.sizes
        cell, session = consecutive(np.zeros_like(n_anchors), n_anchors * n_replies)
        row, column = np.divmod(cell, n_replies[session])
        before = self._before()[:, session]
        return before[0] + row, before[1] + column

    def at(self) -> Ints:
        """Return in which of the `cells` each pair stands, (n_pairs, n_draws)."""
        row, column = self.rows_and_columns()
        found: Ints = row.take(self.anchor_at) + column.take(self.reply_at)
        return found

    def rows_and_columns(self) -> tuple[Ints, Ints]:
        """Return in which of the `cells` the row of each anchor begins, and how far on each reply stands in it."""
        (n_anchors, n_replies, _), (of_anchor, of_reply) = self.sizes, self.sessions()
        anchor, reply, _ = self._before()
        cells = n_anchors * n_replies
        first = np.cumsum(cells) - cells - anchor * n_replies
        rows = np.arange(len(self.anchors)) * n_replies.take(of_anchor) + first.take(of_anchor)
        return rows, np.arange(len(self.replies)) - reply.take(of_reply)

    def sessions(self) -> tuple[Ints, Ints]:
        """Return the session of each anchor, and of each reply, counted from 0."""
        of_anchor, of_reply = (np.repeat(np.arange(len(n)), n) for n in self.sizes[:2])
        return of_anchor, of_reply

    def _before(self) -> Ints:
        """Return how many anchors, replies and pairs are of earlier sessions, (3, n_sessions)."""
        return np.cumsum(self.sizes, axis=1) - self.sizes


def _moved(each: Sequence[Ints], by: Sequence[int]) -> Ints:
    """Return whole numbers one behind the other, those of each with a number added."""
    return np.concatenate([one + more if more else one for one, more in zip(each, by, strict=True)])


@dataclass(frozen=True, slots=True, eq=False)
class Replies:
    """Replies of the therapists and of the clients of some sessions, drawn many times over.

    Attributes
    ----------
    each : two Draws
        Those of the therapists, and those of the clients: as many sessions, and the anchors of the one are the
        replies of the other.
    at : int64 array (n_pairs, n_draws)
        In which of the cells of the first each stands, the therapists' and then the clients'. What is the same
        whichever turn replies is so looked up for the two at once.
    """

    each: tuple[Draws, Draws]
    at: Ints

    @classmethod
    def of(cls, therapists: Draws, clients: Draws) -> Replies:
        """Return the two, and both together."""
        return cls((therapists, clients), np.concatenate([therapists.at(), clients.turned().at()]))

    @property
    def n_draws(self) -> int:
        """How many draws there are."""
        return int(self.at.shape[1])
