"""Permutation tests of the means of clusters, for many measures at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core.clusters import Bools, Floats

EXACT_UP_TO = 20_000
"""All permutations are enumerated up to this number; of more, a random sample is drawn."""
PRIOR = 1.0
"""Prior degrees of freedom of the pooled variance when the variance of a side is moderated: the values of a small group
can be equal by accident, and its own variance then underestimates its error. Of 0, 0.5, 1, 2 and 4, the smallest with
which the intervals of rates in real sessions keep their coverage (``benchmarks/compare_coverage.py``)."""
_CHUNK = 2e6
"""Numbers (permutations by measures or clusters) that are held in memory at once."""
_SLACK, _TIE = 1 - 1e-9, 1e-9
"""Statistics that differ by rounding alone are ties."""
_LEAST = 1e-10
"""Sums of squares of values scaled to a variance of 1 are rounding below this."""

Statistic = Callable[[NDArray[np.generic]], Floats]
"""From b permutations (b, ...) to the absolute statistic of each measure (b, m)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Permuted:
    """The permutation test of m measures of one contrast: `p` (m,) of each alone, nan where not tested.

    `method` says how the permutations were taken.
    """

    p: Floats
    method: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Design:
    """The permutations of a test: their number, all of them in order, and b random ones."""

    name: str
    n_ways: int
    ways: Iterable[tuple[float, ...]]
    draw: Callable[[int], NDArray[np.generic]]


def two_samples(x: Floats, y: Floats, n_random: int, seed: int) -> Permuted:
    """Test the difference of means of two groups of clusters, x (n, m) and y (k, m), for all m measures jointly.

    Each row is a cluster, nan where undefined; a measure with fewer than two values on a side, or with equal values
    throughout, is not tested. Where there are too many permutations to enumerate, `n_random` are drawn.

    Whole clusters change sides, with all their measures. The statistic is the absolute difference of means over
    Welch's standard error with moderated variances (`moderated`): it keeps its level where one side varies more than
    the other, and is finite where a side does not vary.

    References
    ----------
    Janssen, A. (1997). Studentized permutation tests for non-i.i.d. hypotheses and the generalized Behrens-Fisher
    problem. Statistics & Probability Letters, 36(1), 9-21.

    Phipson, B., & Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical Applications in Genetics
    and Molecular Biology, 9(1), 39.

    Examples
    --------
    >>> found = two_samples(np.array([[1.0], [2], [3], [4]]), np.array([[5.0], [6], [7], [8]]), 1_000, 0)
    >>> round(found.p[0] * 70), found.method  # of 70 ways to divide eight values, this one and its mirror image
    (2, 'permutation, exact')
    """
    n, total, both = len(x), len(x) + len(y), np.concatenate([x, y])
    varies = np.fmax.reduce(both, axis=0) > np.fmin.reduce(both, axis=0)
    rng = np.random.default_rng(seed)
    design = _Design(
        name="permutation",
        n_ways=comb(total, n),
        ways=combinations(range(total), n),
        draw=lambda b: rng.random((b, total)).argpartition(n - 1, axis=1)[:, :n],
    )
    tested = varies & (_n_defined(x) > 1) & (_n_defined(y) > 1)
    return _permuted(both, tested, _studentised, np.arange(n), design, n_random)


def paired(differences: Floats, n_random: int, seed: int) -> Permuted:
    """Test whether the mean of differences within clusters (n, m) is 0, for all measures jointly, by sign flips.

    Differences are nan where a side is undefined; a measure with fewer than two, or with none but 0, is not tested. The
    statistic is the absolute sum of differences over the root of the sum of their squares. It grows with Student's t,
    and has a variance of 1 over all flips, whatever the measure.

    Examples
    --------
    >>> paired(np.full((6, 1), 0.05), 1_000, 0).p.tolist()  # 2 of 64 flips
    [0.03125]
    """
    n, known = len(differences), np.nan_to_num(differences)
    rng = np.random.default_rng(seed)
    design = _Design(
        name="sign flips",
        n_ways=2**n,
        ways=product((1.0, -1.0), repeat=n),
        draw=lambda b: rng.choice((-1.0, 1.0), size=(b, n)),
    )
    tested = (_n_defined(differences) > 1) & (np.abs(known).sum(axis=0) > 0)
    return _permuted(known, tested, _signed, np.ones(n), design, n_random)


def moderated(squares: Floats, n: Floats | float, pooled: Floats) -> Floats:
    """Return the variance (..., m) of a side of n values, shrunk toward the variance within both sides (`pooled`).

    From the sum of squared deviations from the mean of the side, `squares` (..., m).
    """
    return (PRIOR * pooled + squares) / (PRIOR + n - 1)


def _n_defined(values: Floats) -> Floats:
    return np.asarray((~np.isnan(values)).sum(axis=0), dtype=np.float64)


def _studentised(values: Floats) -> Statistic:
    """Return the studentised difference of means as a function of who is on the first side, integers (b, n)."""
    there = (~np.isnan(values)).astype(np.float64)
    scaled = _scaled(values)
    squares, n_all = scaled**2, there.sum(axis=0)
    total, total_squares = scaled.sum(axis=0), squares.sum(axis=0)

    def statistic(chosen: NDArray[np.generic]) -> Floats:
        own = np.zeros((len(chosen), len(values)))
        np.put_along_axis(own, chosen.astype(np.int64), 1.0, axis=1)
        n = own @ there
        k = n_all - n
        with np.errstate(divide="ignore", invalid="ignore"):
            first, first_squares = own @ scaled, own @ squares
            mean, other = first / n, (total - first) / k
            within = _no_rounding(first_squares - first * mean)
            beyond = _no_rounding(total_squares - first_squares - (total - first) * other)
            pooled = np.maximum((within + beyond) / (n_all - 2), _LEAST)
            error = moderated(within, n, pooled) / n + moderated(beyond, k, pooled) / k
            return np.where((n > 0) & (k > 0), np.abs(mean - other) / np.sqrt(error), 0.0)

    return statistic


def _scaled(values: Floats) -> Floats:
    """Return values (n, m) with mean 0 and variance 1 in each column, 0 where they are undefined."""
    there = ~np.isnan(values)
    n = there.sum(axis=0)
    mean = np.where(there, values, 0.0).sum(axis=0) / n
    centred = np.where(there, values - mean, 0.0)
    return np.asarray(centred / np.sqrt((centred**2).sum(axis=0) / n), dtype=np.float64)


def _no_rounding(squares: Floats) -> Floats:
    return np.where(squares > _LEAST, squares, 0.0)


def _signed(differences: Floats) -> Statistic:
    """Return the absolute sum of differences (n, m), scaled, as a function of their signs (b, n)."""
    scaled = differences / np.sqrt((differences**2).sum(axis=0))
    return lambda signs: np.abs(signs @ scaled)


def _permuted(
    values: Floats,
    tested: Bools,
    statistic_of: Callable[[Floats], Statistic],
    observed: NDArray[np.generic],
    design: _Design,
    n_random: int,
) -> Permuted:
    """Test the columns `tested` (m,) of values (n, m); `observed` is the permutation as which they stand."""
    exact = design.n_ways <= EXACT_UP_TO
    method = f"{design.name}, exact" if exact else f"{design.name}, {n_random:,} drawn"
    p = np.full(len(tested), np.nan)
    if tested.any():
        size = max(int(_CHUNK / max(len(values), int(tested.sum()))), 1)
        statistic = statistic_of(values[:, tested])
        first = statistic(observed[None]) * _SLACK - _TIE
        # A random sample does not contain the observed permutation; the enumeration does.
        as_large, n = np.zeros(int(tested.sum())) if exact else np.ones(int(tested.sum())), 0 if exact else 1
        for chunk in _chunks(design, None if exact else n_random, size):
            as_large, n = as_large + (statistic(chunk) >= first).sum(axis=0), n + len(chunk)
        p[tested] = as_large / n
    return Permuted(p=p, method=method)


def _chunks(design: _Design, n_random: int | None, size: int) -> Iterator[NDArray[np.generic]]:
    """Yield all permutations of a design, or random ones, at most `size` at a time."""
    if n_random is None:
        ways = iter(design.ways)
        while chunk := list(islice(ways, size)):
            yield np.array(chunk)
        return
    for start in range(0, n_random, size):
        yield design.draw(min(size, n_random - start))
