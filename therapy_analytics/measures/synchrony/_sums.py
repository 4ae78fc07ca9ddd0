"""Means over stretches of pairs of turns, and how pairs change from the first to the last, of many draws at once."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import nan
from typing import TypeAlias

import numpy as np
from scipy import sparse

from therapy_analytics.language.integers import consecutive
from therapy_analytics.measures.synchrony._chance import FEWEST_PAIRS, Floats, Ints

Sparse: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
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
class Sums:
    """What means over stretches and slopes over sessions are made from.

    Attributes
    ----------
    bounds : int64 array (2, n_stretches)
        The pairs of each stretch, from and up to.
    wholes : int64 array (n_runs,)
        Which of them are runs: all replies of one of the two in a session. All pairs are in one of them, in order.
    of_values, of_defined : sparse array
        Tables whose products are sums, see `summing`: of the stretches, then of the runs with the places of their
        pairs as weights (the first pair at 0, the last at 1), then, where `of_defined`, with the squares of these.
    of_all : float64 array (3, n_runs, 1)
        Pairs, sum of places and sum of squared places of each run.
    """

    bounds: Ints
    wholes: Ints
    of_values: Sparse
    of_defined: Sparse
    of_all: Floats

    @classmethod
    def of(cls, bounds: Ints, wholes: Ints) -> Sums:
        """Return those of stretches."""
        runs = bounds[1, wholes] - bounds[0, wholes]
        each = [_places(n) for n in runs.tolist()]
        at = np.concatenate([one for one, _ in each])
        tables = (summing(bounds, len(at), *((runs, weight) for weight in some)) for some in ((at,), (at, at * at)))
        return cls(bounds, wholes, *tables, np.array([about for _, about in each]).T[..., None])

    def figures(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the means of values over stretches and their slopes over runs, of each draw.

        Parameters
        ----------
        values : float64 array (n_pairs, n_draws)
            Of pairs; nan where undefined.

        Returns
        -------
        means : float64 array (n_stretches, n_draws)
            Nan of nothing.
        slopes : float64 array (n_runs, n_draws)
            Of least squares, the first pair of a run at 0 and the last at 1; nan under `FEWEST_PAIRS` defined values.

        Examples
        --------
        >>> sums = Sums.of(np.array([[0], [5]]), np.array([0]))
        >>> [found.round(6).tolist() for found in sums.figures(np.array([[0.0], [nan], [0.2], [0.3], [0.4]]))]
        [[[0.225]], [[0.4]]]
        """
        undefined, n_stretches = np.isnan(values), self.bounds.shape[1]
        if not undefined.any():
            total, of_places = np.split(self.of_values @ values, [n_stretches])
            n = (self.bounds[1] - self.bounds[0])[:, None]
            return _mean(total, n), _slope(*self.of_all, total[self.wholes], of_places)
        total, of_places = np.split(self.of_values @ np.where(undefined, 0.0, values), [n_stretches])
        n, about = np.split(self.of_defined @ (~undefined).astype(np.float64), [n_stretches])
        own, y = n[self.wholes], total[self.wholes]
        # What is complete comes to the same bits whatever is beside it.
        x, xx = np.where(own == self.of_all[0], self.of_all[1:], about.reshape(2, *own.shape))
        return _mean(total, n), _slope(own, x, xx, y, of_places)


def _mean(total: Floats, n: Floats | Ints) -> Floats:
    return np.where(n > 0, total / np.maximum(n, 1), nan)


def _slope(n: Floats, x: Floats, xx: Floats, y: Floats, xy: Floats) -> Floats:
    """Return slopes of least squares from numbers of pairs, and sums of places, of their squares, and with values."""
    spread = n * xx - x * x
    few = (n < FEWEST_PAIRS) | (spread < 1e-9)
    return np.where(few, nan, (n * xy - x * y) / np.where(few, 1.0, spread))


@functools.lru_cache(maxsize=512)
def _places(n: int) -> tuple[Floats, tuple[float, float, float]]:
    """Return the places of so many pairs, from 0 to 1; how many these are, their sum, and that of their squares."""
    at = np.arange(n) / max(n - 1, 1)
    return at, (float(n), float(at.sum()), float(at @ at))
