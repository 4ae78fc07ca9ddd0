"""How far the means of clusters lie apart and how sure that is: permutation tests, intervals, sizes, like length.

Values are arrays (clusters, measures), nan where undefined: each cluster counts once, by the mean of its sessions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import combinations, islice, product
from math import ceil, comb, nan, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, special, stats

from therapy_analytics.core.clusters import Bools, Floats, Ints

EXACT_UP_TO = 20_000
"""All permutations are enumerated up to this number; of more, a random sample is drawn."""
PRIOR = 1.0
"""Prior degrees of freedom of the pooled variance when the variance of a side is moderated: the values of a small group
can be equal by accident, and its own variance then underestimates its error. Of 0, 0.5, 1, 2 and 4, the smallest with
which the intervals of rates in real sessions keep their coverage (``benchmarks/compare_coverage.py``)."""
FEWEST_CLUSTERS = 2
"""Clusters of a side that an interval needs."""
ALIKE_WITHIN = 0.5
"""Standard deviations: groups whose difference lies within are called alike (Cohen's medium effect)."""
POWER = 0.8
BINS = 5
"""Turns are compared within so many bins of their number of words, each with a fifth of all turns."""
LIKE_LENGTH = (
    *("at_like_length", "at_like_length_lo", "at_like_length_hi", "like_length"),
    *("words_per_turn", "words_per_turn_against"),
)
"""Columns of a difference at like length: with its 95% interval, how length was held alike, words of both sides."""
NO_LIKE_LENGTH = (nan, nan, nan, "", nan, nan)
STRATIFIED, HELD = f"within {BINS} bins of words", "log turns and log words per turn held constant"
_FEWEST_HELD = 6
"""Clusters, of both sides together, that a difference with length held constant needs."""
_CHUNK = 2e6
"""Numbers (permutations by measures or clusters) that are held in memory at once."""
_SLACK, _TIE = 1 - 1e-9, 1e-9
"""Statistics that differ by rounding alone are ties."""
_LEAST = 1e-10
"""Sums of squares of values scaled to a variance of 1 are rounding below this."""
_ROUNDING = 1e-12
"""Deviations smaller than this share of the values are rounding."""
_CONTINUOUS = 1e-9
"""Where the smallest p is below this, p is taken as continuous."""
_AS_NORMAL = 150
"""Degrees of freedom from which Student's t is taken as normal for power."""

Ways = NDArray[np.generic]
"""Some permutations, one a row."""


# Means of clusters and their intervals


def cluster_means(values: Floats, cluster: Ints) -> Floats:
    """Return the mean of each cluster's sessions (k, m), in ascending order of clusters, nan where undefined.

    From values (n, m) of sessions and their clusters (n,).
    """
    names, place = np.unique(cluster, return_inverse=True)
    sums, n = np.zeros((len(names), values.shape[1])), np.zeros((len(names), values.shape[1]))
    np.add.at(sums, place, np.nan_to_num(values))
    np.add.at(n, place, ~np.isnan(values))
    return np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0)


def moments(units: Floats) -> tuple[Floats, Floats, Floats]:
    """Return number, mean, and sum of squared deviations of each column; exactly 0 where values are equal."""
    there = ~np.isnan(units)
    n = there.sum(axis=0).astype(np.float64)
    known = np.where(there, units, 0.0)
    mean = np.divide(known.sum(axis=0), n, out=np.full(len(n), np.nan), where=n > 0)
    deviations = np.where(there, units - mean, 0.0)
    rounding = _ROUNDING * np.abs(known).max(axis=0, initial=0.0)
    equal = np.abs(deviations).max(axis=0, initial=0.0) <= rounding
    return n, mean, np.where(equal, 0.0, (deviations**2).sum(axis=0))


def moderated(squares: Floats, n: Floats | float, pooled: Floats) -> Floats:
    """Return the variance (..., m) of a side of n values, shrunk toward the variance within both sides (`pooled`).

    From the sum of squared deviations from the mean of the side, `squares` (..., m).
    """
    return (PRIOR * pooled + squares) / (PRIOR + n - 1)


def mean_reach(units: Floats, within: Floats) -> tuple[Floats, Floats]:
    """Return means and half the length of their intervals, variances shrunk toward those `within` groups (m,)."""
    n, mean, squares = moments(units)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = _t(n - 1) * np.sqrt(moderated(squares, n, within) / n)
    reach[(n < FEWEST_CLUSTERS) | ~(reach > 0)] = np.nan
    return mean, reach


def difference_reach(x: Floats, y: Floats, within: Floats, *, paired: bool) -> tuple[Floats, Floats]:
    """Return the difference of means and half the length of its interval, (m,) each.

    Within the same clusters if `paired`, else Welch's with moderated variances; where nothing varies on either side,
    these are shrunk toward the variance `within` groups (m,).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if paired:
            n, mean, squares = moments(x - y)
            reach = _t(n - 1) * np.sqrt(squares / (n - 1) / n)
            reach[(n < FEWEST_CLUSTERS) | ~(reach > _ROUNDING * _largest(x, y))] = np.nan
            return mean, reach
        (n, mean, squares), (k, other, others) = moments(x), moments(y)
        pooled = (squares + others) / (n + k - 2)
        pooled = np.where(pooled > 0, pooled, within)
        first, second = moderated(squares, n, pooled) / n, moderated(others, k, pooled) / k
        df = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (k - 1))
        reach = _t(df) * np.sqrt(first + second)
    reach[(np.minimum(n, k) < FEWEST_CLUSTERS) | ~(reach > 0)] = np.nan
    return mean - other, reach


def _t(df: Floats) -> Floats:
    """Return the .975 quantile of Student's t; nan without degrees of freedom."""
    return np.asarray(stats.t.ppf(0.975, np.where(df > 0, df, np.nan)), dtype=np.float64)


def _largest(*sides: Floats) -> Floats:
    return np.asarray(np.fmax.reduce(np.abs(np.concatenate(sides)), axis=0), dtype=np.float64)


def hedges_g(x: Floats, y: Floats, *, paired: bool) -> dict[str, Floats]:
    """Return Hedges' g with its 95% interval, and whether its 90% interval lies within `ALIKE_WITHIN`.

    Of matched clusters, the mean difference within them in standard deviations of single values. Intervals are of
    Student's t, because the standard deviation is estimated as well.

    References
    ----------
    Borenstein, M., Hedges, L. V., Higgins, J. P. T., & Rothstein, H. R. (2009). Introduction to meta-analysis. Wiley,
    chapter 4 (g of matched groups, its variance by the correlation of the two values).
    """
    from statsmodels.stats.meta_analysis import effectsize_smd  # noqa: PLC0415 (slow)

    (n, mean, squares), (k, other, others) = moments(x), moments(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.sqrt(squares / (n - 1)), np.sqrt(others / (k - 1))
        if paired:
            apart = x - y
            unbiased, df = 1 - 3 / (4 * (n - 1) - 1), n - 1
            d = (mean - other) / np.sqrt((deviations[0] ** 2 + deviations[1] ** 2) / 2)
            correlation = (squares + others - moments(apart)[2]) / 2 / np.sqrt(squares * others)
            g, error = unbiased * d, unbiased * np.sqrt((1 / n + d**2 / (2 * n)) * 2 * np.maximum(1 - correlation, 0.0))
            known = (n > 1) & (squares > 0) & (others > 0)
            # The same difference in each pair: its error is unknown
            spread = np.fmax.reduce(apart, axis=0) - np.fmin.reduce(apart, axis=0)
            error[spread <= _ROUNDING * _largest(x)] = np.nan
        else:
            g, variance = effectsize_smd(mean, deviations[0], n, other, deviations[1], k)
            error, df = np.sqrt(variance), n + k - 2
            known = (np.minimum(n, k) > 1) & (squares + others > 0)
        g, error = np.where(known, g, np.nan), np.where(known, error, np.nan)
        wide, narrow = (stats.t.ppf(level, np.where(known, df, np.nan)) * error for level in (0.975, 0.95))
    alike = (g - narrow > -ALIKE_WITHIN) & (g + narrow < ALIKE_WITHIN)
    return {"hedges_g": g, "hedges_g_lo": g - wide, "hedges_g_hi": g + wide, "shown_alike": alike}


def holm(p: Floats) -> Floats:
    """Return p (any shape) adjusted for all tests (family-wise error rate); nan is not a test and stays.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics, 6(2),
    65-70.

    Examples
    --------
    >>> holm(np.array([0.01, np.nan, 0.04, 0.03])).round(3).tolist()
    [0.03, nan, 0.06, 0.06]
    """
    # statsmodels has it too, and collects garbage at every call, which takes longer than the comparison
    known = pd.Series(p.ravel()).dropna().sort_values(kind="stable")
    adjusted = (known * np.arange(len(known), 0, -1)).cummax().clip(upper=1.0)
    return np.asarray(adjusted.reindex(range(p.size)), dtype=np.float64).reshape(p.shape)


# Permutation tests


def two_samples(x: Floats, y: Floats, n_random: int, seed: int) -> tuple[Floats, str]:
    """Test the difference of means of two groups of clusters, x (n, m) and y (k, m), for all m measures jointly.

    Returns p (m,) of each measure, and how the permutations were taken. A measure with fewer than two values on a side,
    or with equal values throughout, is not tested: nan. Where there are too many permutations to enumerate, `n_random`
    are drawn.

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
    >>> p, method = two_samples(np.array([[1.0], [2], [3], [4]]), np.array([[5.0], [6], [7], [8]]), 1_000, 0)
    >>> round(p[0] * 70), method  # of 70 ways to divide eight values, this one and its mirror image
    (2, 'permutation, exact')
    """
    n, total, both = len(x), len(x) + len(y), np.concatenate([x, y])
    tested = (np.fmax.reduce(both, axis=0) > np.fmin.reduce(both, axis=0)) & (n_defined(x) > 1) & (n_defined(y) > 1)
    rng = np.random.default_rng(seed)

    def draw(b: int) -> Ways:
        return rng.random((b, total)).argpartition(n - 1, axis=1)[:, :n]

    exact = comb(total, n) <= EXACT_UP_TO
    ways = partial(_chunks, combinations(range(total), n) if exact else None, draw, n_random)
    p = _permuted(both, tested, _studentised, np.arange(n), ways, exact=exact)
    return p, "permutation, exact" if exact else f"permutation, {n_random:,} drawn"


def sign_flips(differences: Floats, n_random: int, seed: int) -> tuple[Floats, str]:
    """Test whether the mean of differences within clusters (n, m) is 0, for all measures jointly, by sign flips.

    Differences are nan where a side is undefined; a measure with fewer than two, or with none but 0, is not tested. The
    statistic is the absolute sum of differences over the root of the sum of their squares. It grows with Student's t,
    and has a variance of 1 over all flips, whatever the measure.

    Examples
    --------
    >>> sign_flips(np.full((6, 1), 0.05), 1_000, 0)[0].tolist()  # 2 of 64 flips
    [0.03125]
    """
    n, known = len(differences), np.nan_to_num(differences)
    tested = (n_defined(differences) > 1) & (np.abs(known).sum(axis=0) > 0)
    rng = np.random.default_rng(seed)

    def draw(b: int) -> Ways:
        return rng.choice((-1.0, 1.0), size=(b, n))

    def statistic_of(values: Floats) -> Callable[[Ways], Floats]:
        scaled = values / np.sqrt((values**2).sum(axis=0))
        return lambda signs: np.abs(signs @ scaled)

    exact = 2**n <= EXACT_UP_TO
    ways = partial(_chunks, product((1.0, -1.0), repeat=n) if exact else None, draw, n_random)
    p = _permuted(known, tested, statistic_of, np.ones(n), ways, exact=exact)
    return p, "sign flips, exact" if exact else f"sign flips, {n_random:,} drawn"


def _permuted(
    values: Floats,
    tested: Bools,
    statistic_of: Callable[[Floats], Callable[[Ways], Floats]],
    observed: Ways,
    ways: Callable[[int], Iterator[Ways]],
    *,
    exact: bool,
) -> Floats:
    """Return p of the columns `tested` (m,) of values (n, m); `observed` is the permutation as which they stand.

    It is the share of permutations (`ways`, so many at a time) whose absolute statistic is as large.
    """
    p = np.full(len(tested), np.nan)
    if not tested.any():
        return p
    size = max(int(_CHUNK / max(len(values), int(tested.sum()))), 1)
    statistic = statistic_of(values[:, tested])
    first = statistic(observed[None]) * _SLACK - _TIE
    # A random sample does not contain the observed permutation; the enumeration does.
    n = 0 if exact else 1
    as_large = np.full(int(tested.sum()), float(n))
    for chunk in ways(size):
        as_large, n = as_large + (statistic(chunk) >= first).sum(axis=0), n + len(chunk)
    p[tested] = as_large / n
    return p


def _chunks(
    every: Iterator[tuple[float, ...]] | None, draw: Callable[[int], Ways], n_random: int, size: int
) -> Iterator[Ways]:
    """Yield all permutations, or random ones, at most `size` at a time."""
    if every is None:
        yield from (draw(min(size, n_random - start)) for start in range(0, n_random, size))
        return
    while chunk := list(islice(every, size)):
        yield np.array(chunk)


def _studentised(values: Floats) -> Callable[[Ways], Floats]:
    """Return the studentised difference of means as a function of who is on the first side, integers (b, n)."""
    there = (~np.isnan(values)).astype(np.float64)
    n_all = there.sum(axis=0)
    # Mean 0 and variance 1 in each column, 0 where undefined
    centred = np.nan_to_num(values - np.nan_to_num(values).sum(axis=0) / n_all)
    scaled = centred / np.sqrt((centred**2).sum(axis=0) / n_all)
    squares = scaled**2
    total, total_squares = scaled.sum(axis=0), squares.sum(axis=0)

    def statistic(chosen: Ways) -> Floats:
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


def _no_rounding(squares: Floats) -> Floats:
    return np.where(squares > _LEAST, squares, 0.0)


def n_defined(units: Floats) -> Ints:
    """Return how many values of each column are defined (m,)."""
    return np.asarray((~np.isnan(units)).sum(axis=0), dtype=np.int64)


# What a test can find; without k, of n pairs


def least_p(n: int, k: int | None = None) -> float:
    """Return the smallest p that permutations of n and k values can give, or sign flips of n differences."""
    if k is None:
        return min(1.0, 2.0 ** (1 - n))
    # With equal sizes, sides can be swapped
    return min(1.0, (2 if n == k else 1) / float(special.comb(n + k, n))) if n and k else 1.0


@cache
def findable(n: int, k: int | None = None) -> float:
    """Return the difference, in standard deviations, that groups of n and k values detect with a power of .8.

    Of pairs, in standard deviations of differences. The power is that of Student's t with one degree of freedom less (a
    permutation test of few values has a little less power), at the largest p below .05 that permutations can give: with
    4 and 4 values, 2 of 70; with 3 and 3 there is none, and the result is nan. In simulations, .75 to .82 were detected
    (``benchmarks/compare_coverage.py``).

    Examples
    --------
    >>> round(findable(4, 4), 2), round(findable(64, 64), 2), findable(3, 3)
    (2.86, 0.5, nan)
    """
    if min(n, n if k is None else k) < 2 or _level(n, k) <= 0:
        return nan
    high = 1.0
    while _power(high, n, k) < POWER:
        high *= 2
    return float(optimize.brentq(lambda size: _power(size, n, k) - POWER, 0.0, high))


def findable_g(x: Floats, y: Floats, *, paired: bool) -> list[float]:
    """Return the smallest g of each measure that the test of two sides detects with a power of .8."""
    if not paired:
        return [findable(int(n), int(k)) for n, k in zip(n_defined(x), n_defined(y), strict=True)]
    # In standard deviations of single values, as g is: differences within pairs vary less.
    own, other, apart = (moments(units)[2] for units in (x, y, x - y))
    n = n_defined(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(n > 1, np.sqrt(apart / ((own + other) / 2)), np.nan)
    return [findable(int(one)) * float(by) for one, by in zip(n, share, strict=True)]


def sessions_needed(g: float) -> int:
    """Return how many independent values a group needs to detect a difference of g at p < .05 with a power of .8.

    The power is that of `findable`; 0 where g is 0 or undefined.

    Examples
    --------
    >>> sessions_needed(0.5), sessions_needed(0.8)
    (64, 26)
    """
    size = min(abs(round(g, 2)), 9.0) if np.isfinite(g) else 0.0
    if size == 0:
        return 0
    low, high = 3, 4  # three values on either side can give no p below .05
    while _power(size, high, high) < POWER:
        low, high = high, 2 * high
    return bisect_left(range(high), True, low + 1, high, key=lambda n: _power(size, n, n) >= POWER)


def _level(n: int, k: int | None) -> float:
    """Return the largest p below .05 that permutations can give."""
    least = least_p(n, k)
    return (ceil(0.05 / least) - 1) * least if least > _CONTINUOUS else 0.05


def _power(size: float, n: int, k: int | None) -> float:
    shift, df = (size * sqrt(n), n - 1) if k is None else (size / sqrt(1 / n + 1 / k), n + k - 2)
    bound = float(stats.t.isf(_level(n, k) / 2, df - 1))
    if df > _AS_NORMAL:  # where tails of the noncentral t are lost to rounding
        return float(stats.norm.sf(bound - shift) + stats.norm.cdf(-bound - shift))
    return float(stats.nct.sf(bound, df - 1, shift) + stats.nct.cdf(-bound, df - 1, shift))


# Differences at like length: a longer turn has more of every code, and two who talk longer are more alike in every
# measure of synchrony. A difference of rates may be one of length alone, or may be hidden by it.


def in_bins(turns: pd.DataFrame | None, sessions: pd.Series, code: str) -> Floats | None:
    """Return what each session has in each bin of words: turns with the code, all turns that could have it, words.

    (n_sessions, BINS, 3), from a row a turn: ``session_id`` (one of `sessions`), ``n_words`` and the code, missing in
    turns that cannot have it. None where the turns, or their codes, are not known.
    """
    if turns is None or code not in turns or "n_words" not in turns:
        return None
    place = pd.Index(sessions.astype(str)).get_indexer(pd.Index(turns["session_id"].astype(str)))
    hits, words = (turns[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in (code, "n_words"))
    known = (place >= 0) & ~np.isnan(hits) & ~np.isnan(words)
    if not known.any():
        return None
    place, hits, words = place[known], hits[known], words[known]
    edges = np.quantile(words, np.arange(1, BINS) / BINS)
    found = np.zeros((len(sessions), BINS, 3))
    np.add.at(found, (place, np.searchsorted(edges, words)), np.stack([hits, np.ones_like(hits), words], axis=1))
    return found


def rates_at_like_length(
    sides: tuple[Floats, Floats], clusters: tuple[Ints, Ints], *, paired: bool
) -> tuple[float, float, float, str, float, float]:
    """Compare rates within bins of words; return `LIKE_LENGTH`.

    In each bin the share of turns with the code is compared, each cluster counted once in all. The differences are
    averaged over the bins in which both sides have turns, by how many turns of both lie there: both sides are set to
    one distribution of lengths (direct standardization). The interval is by leaving out one cluster at a time. `sides`
    are of `in_bins`, with the `clusters` of their sessions, which are the same on both if `paired`.

    References
    ----------
    Keiding, N., & Clayton, D. (2014). Standardization and control for confounding in observational studies: a
    historical perspective. Statistical Science, 29(4), 529-558.

    Efron, B., & Stein, C. (1981). The jackknife estimate of variance. Annals of Statistics, 9(3), 586-596.
    """
    sums = []
    for found, cluster in zip(sides, clusters, strict=True):
        of = pd.DataFrame(found.reshape(-1, BINS * 3)).groupby(cluster).sum().to_numpy().reshape(-1, BINS, 3)
        sums.append(of[of[:, :, 1].sum(axis=1) > 0])
    if not all(map(len, sums)):
        return NO_LIKE_LENGTH
    words = [float((one[:, :, 2].sum(axis=1) / one[:, :, 1].sum(axis=1)).mean()) for one in sums]
    turns = sums[0][:, :, 1].sum(axis=0) + sums[1][:, :, 1].sum(axis=0)
    x, y = (one[:, :, :2] / one[:, :, 1].sum(axis=1)[:, None, None] for one in sums)
    whole = float(_standardized(x.mean(axis=0), y.mean(axis=0), turns))
    if paired and len(x) == len(y):
        variance, df = _jackknife(_standardized(_without_each(x), _without_each(y), turns)), len(x) - 1
    else:
        left, right = (
            _standardized(_without_each(x), y.mean(axis=0), turns),
            _standardized(x.mean(axis=0), _without_each(y), turns),
        )
        variance, df = _jackknife(left) + _jackknife(right), min(len(x), len(y)) - 1
    reach = float(stats.t.ppf(0.975, df)) * np.sqrt(variance) if df > 0 and variance > 0 else np.nan
    return whole, max(whole - reach, -1.0), min(whole + reach, 1.0), STRATIFIED, words[0], words[1]


def _without_each(shares: Floats) -> Floats:
    """Return the mean over all clusters but one, for each one that is left out (k, BINS, 2)."""
    return np.asarray((shares.sum(axis=0) - shares) / max(len(shares) - 1, 1))


def _standardized(a: Floats, b: Floats, turns: Floats) -> Floats:
    """Return the mean difference of shares over bins (...), each weighted by its `turns` (BINS,).

    From turns with the code and all turns of each side, (..., BINS, 2).
    """
    (x, n), (y, k) = (a[..., 0], a[..., 1]), (b[..., 0], b[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where((n > 0) & (k > 0), turns, 0.0)
        apart = np.where(weight > 0, x / n - y / k, 0.0)
        return np.asarray((weight * apart).sum(axis=-1) / weight.sum(axis=-1))


def _jackknife(left: Floats) -> float:
    """Return the variance of an estimate from those without one cluster each (k,)."""
    k = len(left)
    return float((k - 1) / k * ((left - left.mean()) ** 2).sum()) if k > 1 else np.nan


def excess_at_like_length(
    x: Floats, y: Floats, lengths: tuple[Floats, Floats], *, paired: bool
) -> tuple[float, float, float, str, float, float]:
    """Compare synchrony with the length of sessions held constant, by least squares; return `LIKE_LENGTH`.

    From excess over surrogate pairs of the clusters of each side (k,), (l,), and mean logarithms of turns and of words
    per turn of their sessions (k, 2), (l, 2). If `paired`, differences within clusters, which stand in one order.
    """
    if paired:
        outcome = x - y
        design = np.column_stack([np.ones(len(outcome)), lengths[0] - lengths[1]])
    else:
        outcome, covariates = np.concatenate([x, y]), pd.DataFrame(np.concatenate(lengths))
        side = np.repeat([1.0, 0.0], [len(x), len(y)])
        design = np.column_stack([side, np.ones(len(outcome)), covariates - covariates.mean()])
    known = ~np.isnan(outcome) & ~np.isnan(design).any(axis=1)
    varies = np.ptp(design[known], axis=0) if known.any() else np.zeros(design.shape[1])
    n_kept = 1 if paired else 2  # of the group, and of the constant
    design = design[:, [j for j in range(design.shape[1]) if j < n_kept or varies[j] > 0]]
    df = int(known.sum()) - design.shape[1]
    if int(known.sum()) < _FEWEST_HELD or df < 1 or np.linalg.matrix_rank(design[known]) < design.shape[1]:
        return NO_LIKE_LENGTH
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415 (slow)

    fit = OLS(outcome[known], design[known]).fit(cov_type="HC3", use_t=True)
    low, high = fit.conf_int()[0]
    words = [float(np.exp(pd.Series(one[:, 1]).mean())) for one in lengths]
    return float(fit.params[0]), float(low), float(high), HELD, words[0], words[1]
