"""Effect sizes with their intervals, the smallest effect that a permutation test can detect, and Holm's p."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil, nan, sqrt

import numpy as np
from scipy import optimize, special, stats

from therapy_analytics.core.clusters import Floats

ALIKE = 0.5
"""Standard deviations: groups whose difference lies within are called alike (Cohen's medium effect)."""
POWER = 0.8
_CONTINUOUS = 1e-9
"""Where the smallest p is below this, p is taken as continuous."""

_AS_NORMAL = 150
"""Degrees of freedom from which Student's t is taken as normal for power."""

Summary = tuple[float, float, float]
"""Mean, standard deviation, and number of values."""


@dataclass(frozen=True, slots=True)
class EffectSize:
    """Hedges' g with its 95 % interval; `alike` if the 90 % interval lies within `ALIKE` (two one-sided tests)."""

    g: float = nan
    lo: float = nan
    hi: float = nan
    alike: bool = False


def summary(values: Floats) -> Summary:
    """Return mean, standard deviation (exactly 0 for equal values) and number of values (n,) without nan."""
    if not len(values):
        return nan, nan, 0
    same = len(values) < 2 or bool(np.ptp(values) == 0)
    return float(values.mean()), 0.0 if same else float(values.std(ddof=1)), len(values)


def effect(one: Summary, other: Summary) -> EffectSize:
    """Return Hedges' g of two groups of independent values."""
    if min(one[2], other[2]) < 2 or one[1] + other[1] <= 0:
        return EffectSize()
    from statsmodels.stats.meta_analysis import effectsize_smd  # noqa: PLC0415 (slow)

    g, variance = (float(value) for value in effectsize_smd(*one, *other))
    return _with_interval(g, sqrt(variance), one[2] + other[2] - 2)


def paired_effect(x: Floats, y: Floats) -> EffectSize:
    """Return the mean difference within pairs in standard deviations of single values.

    Parameters
    ----------
    x, y : float64 arrays (n,)
        Values of the same n clusters, without nan.

    References
    ----------
    Borenstein, M., Hedges, L. V., Higgins, J. P. T., & Rothstein, H. R. (2009). Introduction to meta-analysis. Wiley,
    chapter 4 (g of matched groups, its variance by the correlation of the two values).
    """
    n = len(x)
    if n < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return EffectSize()
    deviation, correlation = sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2), float(np.corrcoef(x, y)[0, 1])
    unbiased = 1 - 3 / (4 * (n - 1) - 1)
    d = float((x - y).mean()) / deviation
    if np.ptp(x - y) <= 1e-12 * np.abs(x).max():  # the same difference in each pair: its error is unknown
        return EffectSize(unbiased * d)
    error = unbiased * sqrt((1 / n + d**2 / (2 * n)) * 2 * max(1 - correlation, 0.0))
    return _with_interval(unbiased * d, error, n - 1)


def _with_interval(g: float, error: float, df: float) -> EffectSize:
    """Return g with intervals of Student's t, because its standard deviation is estimated as well."""
    wide, narrow = (float(stats.t.ppf(level, df)) * error for level in (0.975, 0.95))
    return EffectSize(g, g - wide, g + wide, alike=g - narrow > -ALIKE and g + narrow < ALIKE)


def least_p(n: int, k: int) -> float:
    """Return the smallest p that permutations of n and k values can give; with equal sizes, sides can be swapped."""
    return min(1.0, (2 if n == k else 1) / float(special.comb(n + k, n))) if n and k else 1.0


def least_p_paired(n: int) -> float:
    """Return the smallest p that sign flips of n differences can give."""
    return min(1.0, 2.0 ** (1 - n))


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
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _power(size, middle, middle) < POWER else (low, middle)
    return high


@cache
def findable(n: int, k: int) -> float:
    """Return the difference, in standard deviations, that groups of n and k values detect with a power of .8.

    The power is that of Student's t with one degree of freedom less (a permutation test of few values has a little less
    power), at the largest p below .05 that permutations can give: with 4 and 4 values, 2 of 70; with 3 and 3 there is
    none, and the result is nan. In simulations, .75 to .82 were detected (``benchmarks/compare_coverage.py``).

    Examples
    --------
    >>> round(findable(4, 4), 2), round(findable(64, 64), 2), findable(3, 3)
    (2.86, 0.5, nan)
    """
    if min(n, k) < 2 or _level(least_p(n, k)) <= 0:
        return nan
    return _smallest_detected(lambda size: _power(size, n, k))


@cache
def findable_paired(n: int) -> float:
    """Return the mean difference of n pairs, in standard deviations of differences, detected with a power of .8."""
    level = _level(least_p_paired(n))
    if n < 2 or level <= 0:
        return nan
    return _smallest_detected(lambda size: _power_of_t(size * sqrt(n), n - 1, level))


def _level(least: float) -> float:
    """Return the largest p below .05, of those that are multiples of the least."""
    return (ceil(0.05 / least) - 1) * least if least > _CONTINUOUS else 0.05


def _power(size: float, n: int, k: int) -> float:
    return _power_of_t(size / sqrt(1 / n + 1 / k), n + k - 2, _level(least_p(n, k)))


def _power_of_t(shift: float, df: int, level: float) -> float:
    bound = float(stats.t.isf(level / 2, df - 1))
    if df > _AS_NORMAL:  # where tails of the noncentral t are lost to rounding
        return float(stats.norm.sf(bound - shift) + stats.norm.cdf(-bound - shift))
    return float(stats.nct.sf(bound, df - 1, shift) + stats.nct.cdf(-bound, df - 1, shift))


def _smallest_detected(power: Callable[[float], float]) -> float:
    high = 1.0
    while power(high) < POWER:
        high *= 2
    return float(optimize.brentq(lambda size: power(size) - POWER, 0.0, high))


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
    found, known = np.full(p.shape, np.nan), ~np.isnan(p)
    values = p[known]
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)), 1.0)
    found[known] = adjusted
    return found
