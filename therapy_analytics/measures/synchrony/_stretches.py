"""The parts of a session that values are given for, and sums over the pairs of turns in them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import nan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.integers import consecutive
from therapy_analytics.measures.synchrony._chance import FEWEST_PAIRS, Floats, Ints, directions

Sparse: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
WHOLE, WINDOWS, SLOPE = "whole", "window", "slope"
THIRDS = ("third_1", "third_2", "third_3")
WINDOW, STEP = 20, 5
"""Turns of a sliding window, and between the beginnings of two."""
FEW = 2
"""Sums of so many stretches are quicker added one by one."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a session: turns ``first`` to ``last``, both in it."""

    name: str
    first: int
    last: int


def parts_of(n_turns: int, *, course: bool = True) -> tuple[Part, ...]:
    """Return the stretches that values are given for: the whole, its thirds, sliding windows, and last the slope.

    Without its course, the whole and the slope alone.

    Examples
    --------
    >>> [(part.name, part.first, part.last) for part in parts_of(25)]  # doctest: +NORMALIZE_WHITESPACE
    [('whole', 0, 24), ('third_1', 0, 8), ('third_2', 9, 16), ('third_3', 17, 24),
     ('window', 0, 19), ('window', 5, 24), ('slope', 0, 24)]
    """
    last = n_turns - 1
    if not course:
        return Part(WHOLE, 0, last), Part(SLOPE, 0, last)
    bounds = [-(-n_turns * k // 3) for k in range(4)]
    thirds = [Part(name, bounds[k], bounds[k + 1] - 1) for k, name in enumerate(THIRDS)]
    windows = [Part(WINDOWS, first, first + WINDOW - 1) for first in range(0, n_turns - WINDOW + 1, STEP)]
    return (Part(WHOLE, 0, last), *thirds, *windows, Part(SLOPE, 0, last))


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Stretches of pairs, over which figures are made.

    Attributes
    ----------
    bounds : int64 array (2, n_stretches)
        The pairs of each, from and up to.
    members : sparse array (n_stretches, n_pairs)
        The same as a table of ones.
    """

    bounds: Ints
    members: Sparse

    @classmethod
    def of(cls, bounds: Ints, n_pairs: int) -> Stretches:
        """Return stretches of so many pairs."""
        lengths = bounds[1] - bounds[0]
        starts = np.append(0, np.cumsum(lengths))
        pairs, _ = consecutive(bounds[0], lengths)
        return cls(bounds, sparse.csr_array((np.ones(len(pairs)), pairs, starts), shape=(len(lengths), n_pairs)))

    def sums(self, values: Floats) -> Floats:
        """Return the sums over the pairs of each stretch, (n_pairs, ...) to (n_stretches, ...)."""
        found = self.members.astype(values.dtype, copy=False) @ values.reshape(len(values), -1)
        return np.asarray(found).reshape(-1, *values.shape[1:])

    def counts(self, numbers: NDArray[Any]) -> Ints:
        """Return the same of whole numbers: of more than a few stretches, as differences of running sums."""
        if self.bounds.shape[1] <= FEW:
            return np.array([numbers[first:stop].sum(axis=0, dtype=np.int64) for first, stop in self.bounds.T])
        so_far = np.zeros((len(numbers) + 1, *numbers.shape[1:]), dtype=np.int64)
        np.cumsum(numbers, axis=0, out=so_far[1:])
        return np.asarray(so_far.take(self.bounds[1], axis=0) - so_far.take(self.bounds[0], axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Which pairs belong to the parts of a session; first all replies of the therapist, then all of the client.

    Attributes
    ----------
    parts : tuple of Part
        The slope last.
    replies : int64 array (n_pairs,)
        The turns that reply.
    n_therapist : int
        How many of them are the therapist's.
    of_each : two Stretches
        The parts but the slope, among the therapist's replies, and among the client's.
    of_both : Stretches
        The same among all replies: the therapist's, then the client's.
    """

    parts: tuple[Part, ...]
    replies: Ints
    n_therapist: int
    of_each: tuple[Stretches, Stretches]
    of_both: Stretches


def spans_of(session: AnnotatedSession, delay: int, *, course: bool) -> Spans:
    """Return which replies of a session belong to its parts; see `directions`."""
    parts = parts_of(len(session), course=course)
    two = [direction.replies for direction in directions(session, delay=delay)]
    edges = np.array([[part.first for part in parts[:-1]], [part.last + 1 for part in parts[:-1]]])
    therapist, client = (np.searchsorted(replies, edges) for replies in two)
    n, m = map(len, two)
    both = Stretches.of(np.concatenate([therapist, client + n], axis=1), n + m)
    return Spans(parts, np.concatenate(two), n, (Stretches.of(therapist, n), Stretches.of(client, m)), both)


def slopes(each: Floats) -> Floats:
    """Return how the values of draws change from the first pair to the last, (n_pairs, n_draws) to (n_draws,).

    The slope of least squares, the first pair at 0 and the last at 1; nan under `FEWEST_PAIRS` defined values.

    Examples
    --------
    >>> slopes(np.array([[0.0], [nan], [0.2], [0.3], [0.4]])).round(6).tolist()
    [0.4]
    """
    at, weights = _places(len(each))
    undefined = np.isnan(each)
    if not undefined.any():
        return _slopes_of_all(at, np.asarray(weights @ each))
    n, sum_x = weights @ (~undefined).astype(np.float64)
    sum_y, sum_xy = weights @ np.where(undefined, 0.0, each)
    _, sum_xx = weights @ np.where(undefined, 0.0, at[:, None])
    spread = n * sum_xx - sum_x**2
    few = (n < FEWEST_PAIRS) | (spread < 1e-9)
    return np.where(few, nan, (n * sum_xy - sum_x * sum_y) / np.where(few, 1.0, spread))


def _slopes_of_all(at: Floats, sums: Floats) -> Floats:
    """Return `slopes` where all values are defined, from their sums and those of place times value."""
    n, x = len(at), float(at.sum())
    if n < FEWEST_PAIRS:
        return np.full(sums.shape[1], nan)
    return np.asarray((n * sums[1] - x * sums[0]) / (n * float(at @ at) - x * x))


@functools.lru_cache(maxsize=512)
def _places(n: int) -> tuple[Floats, Sparse]:
    """Return the places of so many pairs, from 0 to 1, and ones and these as a table whose products are sums.

    A sparse one: it adds pair after pair, so that no bit of a sum depends on the draws beside.
    """
    at = np.arange(n) / max(n - 1, 1)
    weights = np.concatenate([np.ones(n), at])
    return at, sparse.csr_array((weights, np.tile(np.arange(n), 2), [0, n, 2 * n]), shape=(2, n))
