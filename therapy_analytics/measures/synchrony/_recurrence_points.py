"""Recurrent points of two series of words, and the lines that they form, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from therapy_analytics.errors import BadOptionError

Ints = NDArray[np.int64]
REACH = 5
"""Only words whose turns lie at most so many turns apart are compared."""
DIAGONAL, VERTICAL = (1, 1), (0, 1)
_BLOCK = 500_000
_NO_X, _NO_Y = -1, -2


@dataclass(frozen=True, slots=True)
class Series:
    """What one of the two says, word after word.

    Attributes
    ----------
    ids : int64 array (n_words,)
        What each word is: its type, or its function-word class. Negative: nothing, and never recurrent.
    turn : int64 array (n_words,)
        Position of each word's turn in the session, from 0, never falling. Turns without words are left out.
    """

    ids: Ints
    turn: Ints

    @classmethod
    def of(cls, ids: ArrayLike, turn: ArrayLike) -> Series:
        """Return a series of anything that numpy reads as two lists of whole numbers.

        Raises
        ------
        BadOptionError
            The two differ in length, or the turns are negative or out of order.
        """
        series = cls(np.asarray(ids, dtype=np.int64), np.asarray(turn, dtype=np.int64))
        if series.ids.shape != series.turn.shape or series.ids.ndim != 1:
            raise BadOptionError("turn", "there must be one position for each word", "Give two lists of one length")
        if len(series) and (series.turn[0] < 0 or np.any(np.diff(series.turn) < 0)):
            raise BadOptionError("turn", "positions are negative or fall", "Give the words in the order of the session")
        return series

    def __len__(self) -> int:
        return len(self.ids)

    def between(self, first: int, last: int) -> Series:
        """Return the words of the turns at positions ``first`` to ``last``, both included."""
        part = slice(*np.searchsorted(self.turn, [first, last + 1]).tolist())
        return Series(self.ids[part], self.turn[part])


@dataclass(frozen=True, slots=True)
class Plot:
    """The two series laid out so that a comparison of ids says whether a point is recurrent.

    Words that are nothing have another negative number in `x` than in `y`; so has what stands before the first
    and behind the last word and, if lines end with the turn, between turns. A point is its place in `x` and in `y`.

    Attributes
    ----------
    x, y : int64 array (n_places,)
        Ids, with the fillers.
    x_turn, y_turn : int64 array (n_places,)
        Positions of turns; of a filler, that of the word before it.
    reach : int
        How many turns apart two words may be.
    banded : bool
        Whether steps along a line can leave the band (not if lines end with the turn, or the band is the plot).
    """

    x: Ints
    y: Ints
    x_turn: Ints
    y_turn: Ints
    reach: int
    banded: bool

    def recurs(self, i: Ints, j: Ints) -> NDArray[np.bool_]:
        """Return which of the points are recurrent and inside the band."""
        same: NDArray[np.bool_] = self.x[i] == self.y[j]
        if self.banded:
            same &= np.abs(self.y_turn[j] - self.x_turn[i]) <= self.reach
        return same


def lay_out(x: Series, y: Series, *, reach: int | None, cut_at_turns: bool) -> Plot:
    """Return the plot of two series.

    Parameters
    ----------
    x, y : Series
        The therapist's words, and the client's.
    reach : int or None
        How many turns apart two words may be; None for the whole plot.
    cut_at_turns : bool
        Whether a line ends where a turn ends.

    Raises
    ------
    BadOptionError
        The reach is below 1.
    """
    if reach is not None and reach < 1:
        raise BadOptionError("reach", "no two turns of different speakers are that close", "Give 1 or more, or None")
    furthest = max((int(one.turn[-1]) for one in (x, y) if len(one)), default=0)
    x_ids, x_turn = _with_fillers(x, _NO_X, cut_at_turns)
    y_ids, y_turn = _with_fillers(y, _NO_Y, cut_at_turns)
    wide = reach is None or reach >= furthest
    return Plot(x_ids, y_ids, x_turn, y_turn, furthest if reach is None or wide else reach, not (wide or cut_at_turns))


def _with_fillers(series: Series, filler: int, cut_at_turns: bool) -> tuple[Ints, Ints]:
    ids = np.where(series.ids < 0, filler, series.ids)
    breaks = np.flatnonzero(np.diff(series.turn)) + 1 if cut_at_turns else np.zeros(0, dtype=np.int64)
    at = np.concatenate([np.zeros(1, dtype=np.int64), breaks, np.full(1, len(ids))])
    turn_before = np.concatenate([np.zeros(1, dtype=np.int64), series.turn])[at]
    return np.insert(ids, at, filler), np.insert(series.turn, at, turn_before)


def points(plot: Plot) -> Iterator[tuple[Ints, Ints]]:
    """Yield the recurrent points in blocks, as places in ``plot.x`` and ``plot.y``.

    For each word of `x` the like words of `y` inside the band stand side by side once `y` is sorted by id and
    turn; so time and memory go with the points that there are, not with the area of the plot.
    """
    order, begin, n_like = _like_words(plot)
    before = np.concatenate([[0], np.cumsum(n_like)])
    start = 0
    while start < len(n_like) and before[start] < before[-1]:
        stop = max(int(np.searchsorted(before, before[start] + _BLOCK, side="right")) - 1, start + 1)
        counts = n_like[start:stop]
        i = np.repeat(np.arange(start, stop), counts)
        skip = np.repeat(begin[start:stop] - before[start:stop] + before[start], counts)
        yield i, order[skip + np.arange(len(i))]
        start = stop


def _like_words(plot: Plot) -> tuple[Ints, Ints, Ints]:
    """Places of `y` sorted by id and turn; for each place of `x`, where its like words begin there, and how many."""
    rank = _ranks(np.concatenate([plot.x, plot.y]))
    span = int(max(plot.x_turn.max(), plot.y_turn.max())) + 2 * plot.reach + 1
    x_key = rank[: len(plot.x)] * span + plot.x_turn
    y_key = rank[len(plot.x) :] * span + plot.y_turn + plot.reach
    order = np.argsort(y_key, kind="stable")
    edges = np.searchsorted(y_key[order], np.concatenate([x_key, x_key + 2 * plot.reach + 1]))
    begin, end = edges[: len(x_key)], edges[len(x_key) :]
    return order, begin, np.where(plot.x >= 0, end - begin, 0)


def _ranks(ids: Ints) -> Ints:
    """Return numbers from 0 that are alike where ids are, and not much greater than there are ids."""
    low, high = int(ids.min()), int(ids.max())
    if high - low > _BLOCK:
        ranks: Ints = np.unique(ids, return_inverse=True)[1]
        return ranks
    return ids.astype(np.int64, copy=False) - low


def lines(plot: Plot, i: Ints, j: Ints, *, step: tuple[int, int]) -> tuple[Ints, Ints]:
    """Return the lines of two points or more that begin in these recurrent points.

    Parameters
    ----------
    plot : Plot
        The two series.
    i, j : int64 array (n,)
        Recurrent points.
    step : (int, int)
        From one point of a line to the next: (1, 1) diagonal, (0, 1) vertical.

    Returns
    -------
    first, length : int64 array (n_lines,)
        Which of the points each line begins in, and how many points it has. A line is followed to its end,
        wherever the block of points ends.
    """
    di, dj = step
    first = np.flatnonzero(plot.recurs(i + di, j + dj))
    first = first[~plot.recurs(i[first] - di, j[first] - dj)]
    length = np.full(len(first), 2)
    alive, reached = np.arange(len(first)), 2
    while len(alive):
        at = first[alive]
        alive = alive[plot.recurs(i[at] + reached * di, j[at] + reached * dj)]
        reached += 1
        length[alive] = reached
    return first, length


def n_cells(x: Series, y: Series, *, first: int, last: int) -> int:
    """Return how many pairs of words have their turns ``first`` to ``last`` apart (y's position minus x's)."""
    from_, to = (np.searchsorted(y.turn, x.turn + lag, side="left") for lag in (first, last + 1))
    return int(np.sum(to - from_))
