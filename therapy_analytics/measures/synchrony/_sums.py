"""Means over stretches of pairs of turns, and how pairs change from the first to the last, of many draws at once."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import nan, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.language.integers import consecutive
from therapy_analytics.measures.synchrony._chance import FEWEST_PAIRS, Floats, Ints

Sparse: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
_LONG = 8
"""Counts of stretches are quicker added one by one where so many pairs are behind each."""


def summing(bounds: Ints, n_pairs: int, *weights: tuple[Ints, Floats]) -> Sparse:
    """Return a table whose products are sums over stretches of pairs, and behind them weighted sums.

    A sparse one: it adds pair after pair, so that no bit of a sum depends on the draws beside, or on other stretches.

    Parameters
    ----------
    bounds : int64 array (2, n_stretches)
        The pairs of each, from and up to.
    n_pairs : int
        How many pairs there are.
    weights : (int64 array (n_runs,), float64 array (n_pairs,))
        How many pairs each of some runs has, one behind the other, and what they are multiplied with.
    """
    pairs, _ = consecutive(bounds[0], bounds[1] - bounds[0])
    columns = np.concatenate([pairs, *(np.arange(n_pairs) for _ in weights)])
    lengths = np.concatenate([bounds[1] - bounds[0], *(runs for runs, _ in weights)])
    numbers = np.concatenate([np.ones(len(pairs)), *(weight for _, weight in weights)])
    return sparse.csr_array((numbers, columns, np.append(0, np.cumsum(lengths))), shape=(len(lengths), n_pairs))


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Stretches of the pairs of some sessions, over which figures are made.

    Attributes
    ----------
    bounds : int64 array (2, n_stretches)
        The pairs of each, from and up to.
    wholes : int64 array (n_sessions,)
        Which of them are all pairs of a session.
    members : sparse array (n_stretches, n_pairs)
        The stretches as a table of ones.
    """

    bounds: Ints
    wholes: Ints
    members: Sparse

    @classmethod
    def of(cls, bounds: Ints, wholes: Ints, n_pairs: int) -> Stretches:
        """Return stretches of so many pairs."""
        return cls(bounds, wholes, summing(bounds, n_pairs))

    @property
    def lengths(self) -> Ints:
        """How many pairs each has, (n_stretches, 1)."""
        lengths: Ints = (self.bounds[1] - self.bounds[0])[:, None]
        return lengths

    @property
    def of_sessions(self) -> Ints:
        """The pairs of each session, from and up to, (n_sessions, 2)."""
        found: Ints = self.bounds[:, self.wholes].T
        return found

    def means(self, values: Floats) -> Floats:
        """Return the means of the defined ones of each stretch, (n_pairs, n_draws) to (n_stretches, n_draws)."""
        undefined = np.isnan(values)
        if undefined.any():
            total, n = self.sums(np.where(undefined, 0.0, values)), self.counts(~undefined)
        else:
            total, n = self.sums(values), self.lengths
        return np.where(n > 0, total / np.maximum(n, 1), nan)

    def sums(self, values: Floats) -> Floats:
        """Return the sums over the pairs of each stretch, (n_pairs, ...) to (n_stretches, ...)."""
        found = self.members.astype(values.dtype, copy=False) @ values.reshape(len(values), prod(values.shape[1:]))
        return np.asarray(found).reshape(-1, *values.shape[1:])

    def counts(self, numbers: NDArray[Any]) -> Ints:
        """Return the same of whole numbers: of more than a few stretches, as differences of running sums."""
        if self.bounds.shape[1] * _LONG <= len(numbers):
            return np.array([numbers[first:stop].sum(axis=0, dtype=np.int64) for first, stop in self.bounds.T])
        so_far = np.zeros((len(numbers) + 1, *numbers.shape[1:]), dtype=np.int64)
        np.cumsum(numbers, axis=0, out=so_far[1:])
        return np.asarray(so_far.take(self.bounds[1], axis=0) - so_far.take(self.bounds[0], axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """What gives how values change from the first pair to the last, of many runs of pairs one behind the other.

    Attributes
    ----------
    of_values, of_defined : sparse array
        Tables whose products are sums over each run, see `summing`: then those with the places of the pairs as weights
        (the first pair of a run at 0, the last at 1), then, where `of_defined`, with the squares of these.
    of_all : float64 array (3, n_runs, 1)
        Pairs, sum of places and sum of squared places of each run.
    """

    of_values: Sparse
    of_defined: Sparse
    of_all: Floats

    @classmethod
    def over(cls, runs: Ints) -> Slopes:
        """Return those of runs of so many pairs."""
        each = [_places(n) for n in runs.tolist()]
        at, stops = np.concatenate([one for one, _ in each]), np.cumsum(runs)
        bounds = np.stack([stops - runs, stops])
        of_values, of_defined = (
            summing(bounds, len(at), *((runs, one) for one in weights)) for weights in ((at,), (at, at * at))
        )
        return cls(of_values, of_defined, np.array([about for _, about in each]).T[..., None])

    def of(self, values: Floats) -> Floats:
        """Return the slopes of least squares, (n_pairs, n_draws) to (n_runs, n_draws).

        Nan under `FEWEST_PAIRS` defined values.

        Examples
        --------
        >>> Slopes.over(np.array([5])).of(np.array([[0.0], [nan], [0.2], [0.3], [0.4]])).round(6).tolist()
        [[0.4]]
        """
        undefined = np.isnan(values)
        if not undefined.any():
            return _slope(self.of_all, *np.split(np.asarray(self.of_values @ values), 2))
        y, xy = np.split(np.asarray(self.of_values @ np.where(undefined, 0.0, values)), 2)
        about = np.asarray(self.of_defined @ (~undefined).astype(np.float64)).reshape(3, *y.shape)
        # What is complete comes to the same bits whatever is beside it.
        return _slope(np.where(about[0] == self.of_all[0], self.of_all, about), y, xy)


def _slope(about: Floats, y: Floats, xy: Floats) -> Floats:
    """Return slopes from pairs, sums of places and of squared places, of values, and of places times values."""
    n, x, xx = about
    spread = n * xx - x * x
    few = (n < FEWEST_PAIRS) | (spread < 1e-9)
    return np.where(few, nan, (n * xy - x * y) / np.where(few, 1.0, spread))


@functools.lru_cache(maxsize=512)
def _places(n: int) -> tuple[Floats, tuple[float, float, float]]:
    """Return the places of so many pairs, from 0 to 1; how many these are, their sum, and that of their squares."""
    at = np.arange(n) / max(n - 1, 1)
    return at, (float(n), float(at.sum()), float(at @ at))
