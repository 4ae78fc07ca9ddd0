"""Permutation tests of many measures at once: p of each, and p adjusted for all of them (Westfall and Young)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import comb

import numpy as np

from therapy_analytics.compare._effects import least_p, least_p_paired
from therapy_analytics.compare._groups import Bools, Floats

EXACT_UP_TO = 20_000
"""Up to so many arrangements are all counted; of more, a random sample is drawn."""
PRIOR = 1.0
"""Degrees of freedom that the variance of both sides together lends to the variance of each side: the values of a
small group can be equal by accident, and its own variance then underestimates its error. Of 0, 0.5, 1, 2 and 4, the
smallest with which the intervals of rates in real sessions keep their coverage (``benchmarks/compare_coverage.py``).
"""
_CHUNK = 2e6
"""Numbers (arrangements by measures or clusters) that are held in memory at once."""
_SLACK, _TIE = 1 - 1e-9, 1e-9
"""Statistics that differ by rounding alone are ties."""
_ROUNDING = 1e-13
_LEAST = 1e-10
"""Sums of squares of values scaled to a variance of 1: below it is rounding."""

Statistic = Callable[[Floats], Floats]
"""From arrangements (b, n) to the absolute statistic of each measure in each arrangement (b, m)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Permuted:
    """The permutation test of one contrast, of m measures.

    Attributes
    ----------
    p : float array (m,)
        Of each measure alone; nan where it was not tested.
    p_family : float array (m,)
        Adjusted for all measures of the contrast; nan where it was not tested.
    least : float
        The smallest p that the design can give, whatever the values are.
    method : str
        How the permutations were taken.
    """

    p: Floats
    p_family: Floats
    least: float
    method: str


def two_samples(x: Floats, y: Floats, n_random: int, seed: int) -> Permuted:
    """Test the difference of means of two groups of clusters, for all measures jointly.

    Parameters
    ----------
    x, y : float arrays (n, m) and (k, m)
        A row a cluster and a column a measure; nan where it is undefined.
    n_random : int
        Random permutations where there are too many to count all.
    seed : int
        Of the random permutations.

    Returns
    -------
    Permuted
        Untested are measures with fewer than two defined values on a side, or with equal values throughout.

    Notes
    -----
    Whole clusters change sides, with all their measures. The statistic is the absolute difference of means over
    Welch's standard error with moderated variances (`moderated`): it keeps its level where one side varies more than
    the other, and a side without any variance does not make it infinite. p_family is the step-down minimum-p p.

    References
    ----------
    Westfall, P. H., & Young, S. S. (1993). Resampling-based multiple testing. Wiley (step-down minimum p).

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
    n, k, both = len(x), len(y), np.concatenate([x, y])
    tested = _varies(both) & (_n_defined(x) > 1) & (_n_defined(y) > 1)
    exact = comb(n + k, n) <= EXACT_UP_TO
    least = least_p(n, k) if exact else 1 / (n_random + 1)
    method = "permutation, exact" if exact else f"permutation, {n_random:,} drawn"
    if not tested.any():
        return _spread(None, tested, least, method)
    per_chunk = _per_chunk(max(n + k, int(tested.sum())))
    splits = _all_splits(n, n + k, per_chunk) if exact else _random_splits((n, n + k), n_random, per_chunk, seed)
    own = np.concatenate([np.ones(n), np.zeros(k)])
    found = _joint(_studentised(both[:, tested]), own[None, :], splits, exact=exact)
    return _spread(found, tested, least, method)


def paired(differences: Floats, n_random: int, seed: int) -> Permuted:
    """Test whether the mean of differences within clusters is 0, for all measures jointly, by flips of their signs.

    Parameters
    ----------
    differences : float array (n, m)
        A row a cluster and a column a measure; nan where a side is undefined.
    n_random, seed : int
        As in `two_samples`.

    Returns
    -------
    Permuted
        Untested are measures with fewer than two differences, or without any but 0.

    Notes
    -----
    The statistic is the absolute sum of differences over the root of the sum of their squares. It grows with Student's
    t, and has a variance of 1 over all flips, whatever the measure.

    Examples
    --------
    >>> paired(np.full((6, 1), 0.05), 1_000, 0).p.tolist()  # 2 of 64 flips
    [0.03125]
    """
    n = len(differences)
    known = np.nan_to_num(differences)
    tested = (_n_defined(differences) > 1) & (np.abs(known).sum(axis=0) > 0)
    exact = 2**n <= EXACT_UP_TO
    least = least_p_paired(n) if exact else 1 / (n_random + 1)
    method = "sign flips, exact" if exact else f"sign flips, {n_random:,} drawn"
    if not tested.any():
        return _spread(None, tested, least, method)
    scaled = known[:, tested] / np.sqrt((known[:, tested] ** 2).sum(axis=0))
    per_chunk = _per_chunk(max(n, int(tested.sum())))
    flips = _all_flips(n, per_chunk) if exact else _random_flips(n, n_random, per_chunk, seed)
    found = _joint(lambda signs: np.abs(signs @ scaled), np.ones((1, n)), flips, exact=exact)
    return _spread(found, tested, least, method)


def across_contrasts(found: list[Permuted]) -> list[Floats]:
    """Return the p (m,) of each contrast's measures, adjusted for all measures of all contrasts.

    Notes
    -----
    Each is multiplied by the number of contrasts whose design can give so small a p at all (Tarone 1990). This
    controls the family-wise error rate however the contrasts depend on each other.

    References
    ----------
    Tarone, R. E. (1990). A modified Bonferroni method for discrete data. Biometrics, 46(2), 515-522.
    """
    least = np.sort([one.least for one in found if not np.isnan(one.p).all()])
    able = [np.searchsorted(least, one.p_family, side="right") for one in found]
    return [np.minimum(1.0, one.p_family * np.maximum(n, 1)) for one, n in zip(found, able, strict=True)]


def moderated(squares: Floats, n: Floats | float, pooled: Floats) -> Floats:
    """Return the variance of a side, drawn toward that of both sides.

    Parameters
    ----------
    squares : float array (..., m)
        Sum of squared deviations from the mean of the side.
    n : float array (..., m) or float
        How many values the side has.
    pooled : float array (..., m)
        The variance within both sides.
    """
    return (PRIOR * pooled + squares) / (PRIOR + n - 1)


def _n_defined(values: Floats) -> Floats:
    return np.asarray((~np.isnan(values)).sum(axis=0), dtype=np.float64)


def _varies(values: Floats) -> Bools:
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    return np.asarray(high > low, dtype=np.bool_)


def _studentised(values: Floats) -> Statistic:
    """Return the studentised difference of means as a function of who is on the first side, (b, n) of 0 and 1."""
    there = (~np.isnan(values)).astype(np.float64)
    scaled = _scaled(values)
    squares, n_all = scaled**2, there.sum(axis=0)
    total, total_squares = scaled.sum(axis=0), squares.sum(axis=0)

    def statistic(own: Floats) -> Floats:
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


def _joint(statistic: Statistic, own: Floats, arrangements: Iterator[Floats], *, exact: bool) -> tuple[Floats, Floats]:
    """Return p of each measure (m,), and its step-down p for all of them (m,)."""
    observed = statistic(own)
    drawn = [statistic(chunk) for chunk in arrangements]
    # A random sample does not contain the observed arrangement; all arrangements do.
    found = np.concatenate(drawn if exact else [observed, *drawn])
    own_p, own_rank = np.empty(found.shape[1]), np.empty(found.shape[1])
    for j, column in enumerate(found.T):
        ordered = np.sort(column)
        own_p[j] = _p_of(ordered, observed[:, j])[0]
        own_rank[j] = _rank_of(ordered, observed[:, j])[0]
        found[:, j] = _rank_of(ordered, column)
    order = np.argsort(own_rank, kind="stable")
    # In each arrangement the smallest rank among a measure and all that are less sure than it.
    least = np.minimum.accumulate(found[:, order][:, ::-1], axis=1)[:, ::-1]
    family = np.empty(len(order))
    family[order] = np.maximum.accumulate((least <= own_rank[order] + _ROUNDING).mean(axis=0))
    return own_p, family


def _p_of(ordered: Floats, values: Floats) -> Floats:
    """Return for each value the share of all statistics, in ascending order, that are as large: its p."""
    return (len(ordered) - np.searchsorted(ordered, values * _SLACK - _TIE)) / len(ordered)


def _rank_of(ordered: Floats, values: Floats) -> Floats:
    """Return p of each value, made a little smaller (by less than two values of p are apart) for a larger statistic.

    On this scale measures of any distribution are compared. Small groups give many equal p: of these the larger
    statistic then counts as the surer.
    """
    return _p_of(ordered, values) + 0.5 / len(ordered) / (1 + values)


def _spread(found: tuple[Floats, Floats] | None, tested: Bools, least: float, method: str) -> Permuted:
    """Return the p of the measures that were tested at their places, and nan at those of the others."""
    p, family = np.full(len(tested), np.nan), np.full(len(tested), np.nan)
    if found is not None:
        p[tested], family[tested] = found
    return Permuted(p=p, p_family=family, least=least, method=method)


def _per_chunk(width: int) -> int:
    return max(int(_CHUNK / width), 1)


def _all_splits(n: int, total: int, per_chunk: int) -> Iterator[Floats]:
    ways = combinations(range(total), n)
    while chosen := list(islice(ways, per_chunk)):
        yield _indicators(np.array(chosen), total)


def _random_splits(sizes: tuple[int, int], n_random: int, per_chunk: int, seed: int) -> Iterator[Floats]:
    rng, (n, total) = np.random.default_rng(seed), sizes
    for start in range(0, n_random, per_chunk):
        drawn = rng.random((min(per_chunk, n_random - start), total))
        yield _indicators(drawn.argpartition(n - 1, axis=1)[:, :n], total)


def _indicators(chosen: np.ndarray, total: int) -> Floats:
    own = np.zeros((len(chosen), total))
    np.put_along_axis(own, chosen, 1.0, axis=1)
    return own


def _all_flips(n: int, per_chunk: int) -> Iterator[Floats]:
    ways = product((1.0, -1.0), repeat=n)
    while signs := list(islice(ways, per_chunk)):
        yield np.array(signs)


def _random_flips(n: int, n_random: int, per_chunk: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    for start in range(0, n_random, per_chunk):
        yield rng.choice((-1.0, 1.0), size=(min(per_chunk, n_random - start), n))
