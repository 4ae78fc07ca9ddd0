"""The size of a difference with its interval, and how large a difference a permutation test mostly finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, nan, sqrt

import numpy as np
from scipy import optimize, special, stats

from therapy_analytics.compare._groups import Floats

ALIKE = 0.5
"""Standard deviations: a difference that lies within is small or none (Cohen's medium effect)."""
POWER = 0.8


@lru_cache(maxsize=4096)
def least_p(n: int, k: int) -> float:
    """Return the smallest p that a permutation of n and k values can give; with equal sizes, sides can be swapped."""
    return min(1.0, (2 if n == k else 1) / float(special.comb(n + k, n))) if n and k else 1.0


def least_p_paired(n: int) -> float:
    """Return the smallest p that flips of the signs of n differences can give."""
    return min(1.0, 2.0 ** (1 - n))


@dataclass(frozen=True, slots=True)
class Effect:
    """Hedges' g with its 95 % interval, and the 90 % one that says whether groups are alike."""

    g: float = nan
    lo: float = nan
    hi: float = nan
    inner_lo: float = nan
    inner_hi: float = nan

    @property
    def alike(self) -> bool:
        """Return whether the groups are shown to differ by less than `ALIKE` (two one-sided tests at 5 %)."""
        return self.inner_lo > -ALIKE and self.inner_hi < ALIKE


Summary = tuple[float, float, float]
"""Mean, standard deviation, and how many."""


def effect(one: Summary, other: Summary) -> Effect:
    """Return the difference of means in standard deviations, without its bias in small samples.

    Parameters
    ----------
    one, other : (mean, sd, n)
        Of independent values.
    """
    if min(one[2], other[2]) < 2 or one[1] + other[1] <= 0:
        return Effect()
    from statsmodels.stats.meta_analysis import effectsize_smd  # noqa: PLC0415 (slow)

    g, variance = (float(value) for value in effectsize_smd(*one, *other))
    # Summaries of a few sessions: a t, because the deviation is estimated, too.
    df = one[2] + other[2] - 2
    wide, narrow = (stats.t.ppf(level, df) * sqrt(variance) for level in (0.975, 0.95))
    return Effect(g, g - wide, g + wide, g - narrow, g + narrow)


def summary(values: Floats) -> Summary:
    """Return mean, standard deviation (n - 1) and n of values without nan."""
    if not len(values):
        return nan, nan, 0
    # Equal values have no deviation, whatever their mean rounds to.
    same = len(values) < 2 or bool(np.ptp(values) == 0)
    return float(values.mean()), 0.0 if same else float(values.std(ddof=1)), len(values)


def paired_effect(x: Floats, y: Floats) -> Effect:
    """Return the mean difference within pairs in standard deviations of single values, as `effect` does.

    Parameters
    ----------
    x, y : float arrays (n,)
        Values of the same n clusters, without nan.

    References
    ----------
    Borenstein, M., Hedges, L. V., Higgins, J. P. T., & Rothstein, H. R. (2009). Introduction to meta-analysis. Wiley,
    chapter 4 (g of matched groups, its variance by the correlation of the two values).
    """
    n = len(x)
    if n < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Effect()
    deviation, alike = sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2), float(np.corrcoef(x, y)[0, 1])
    df = n - 1
    unbiased = 1 - 3 / (4 * df - 1)
    d = float((x - y).mean()) / deviation
    if np.ptp(x - y) <= 1e-12 * np.abs(x).max():  # the same difference in each: nothing says how sure it is
        return Effect(unbiased * d)
    error = unbiased * sqrt((1 / n + d**2 / (2 * n)) * 2 * max(1 - alike, 0.0))
    g = unbiased * d
    wide, narrow = (float(stats.t.ppf(level, df)) * error for level in (0.975, 0.95))
    return Effect(g, g - wide, g + wide, g - narrow, g + narrow)


def sessions_needed(g: float) -> int:
    """Return how many independent values a group takes to find a difference of g standard deviations, mostly.

    By the permutation test at p < .05, in four of five tries, of normal values (see `findable`); 0 where g is 0 or
    undefined.

    Examples
    --------
    >>> sessions_needed(0.5), sessions_needed(0.8)
    (64, 26)
    """
    return _needed(min(abs(round(g, 2)), 9.0)) if np.isfinite(g) else 0


@lru_cache(maxsize=4096)
def _needed(size: float) -> int:
    if size == 0:
        return 0
    low, high = 3, 4  # three values on either side can give no p below .05
    while _power(size, high, high) < POWER:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _power(size, middle, middle) < POWER else (low, middle)
    return high


@lru_cache(maxsize=4096)
def findable(n: int, k: int) -> float:
    """Return the difference, in standard deviations, that groups of so many would mostly (80 %) show at p < .05.

    The power is that of Student's t, with a degree of freedom less (a permutation of few values finds a little less),
    at the largest p below .05 that permutations can give: with 4 and 4 values, 2 of 70; with 3 and 3 there is
    none, and it is nan. By simulation, .75 to .82 are found (``benchmarks/compare_coverage.py``).

    Examples
    --------
    >>> round(findable(4, 4), 2), round(findable(64, 64), 2), findable(3, 3)
    (2.86, 0.5, nan)
    """
    return _size_found(lambda size: _power(size, n, k)) if min(n, k) > 1 and _largest_below(least_p(n, k)) > 0 else nan


@lru_cache(maxsize=4096)
def findable_paired(n: int) -> float:
    """Return the mean difference within n pairs, in standard deviations of differences, that is mostly shown."""
    level = _largest_below(least_p_paired(n))
    return _size_found(lambda size: _power_of_t(size * sqrt(n), n - 1, level)) if n > 1 and level > 0 else nan


def _largest_below(least: float) -> float:
    """Return the largest p below .05, of those that are multiples of the least."""
    return (ceil(0.05 / least) - 1) * least if least > _CONTINUOUS else 0.05


_CONTINUOUS = 1e-9


def _power(size: float, n: int, k: int) -> float:
    return _power_of_t(size / sqrt(1 / n + 1 / k), n + k - 2, _largest_below(least_p(n, k)))


def _power_of_t(shift: float, df: int, level: float) -> float:
    bound = float(stats.t.isf(level / 2, df - 1))
    return float(stats.nct.sf(bound, df - 1, shift) + stats.nct.cdf(-bound, df - 1, shift))


def _size_found(power: Callable[[float], float]) -> float:
    high = 1.0
    while power(high) < POWER:
        high *= 2
    return float(optimize.brentq(lambda size: power(size) - POWER, 0.0, high))


def holm(p: Floats) -> Floats:
    """Return p adjusted for all tests (family-wise error rate); nan, which is no test, stays.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics, 6(2),
    65-70.

    Examples
    --------
    >>> holm(np.array([0.01, np.nan, 0.04, 0.03])).round(3).tolist()
    [0.03, nan, 0.06, 0.06]
    """
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 (slow)

    found, known = np.full(p.shape, np.nan), ~np.isnan(p)
    if known.any():
        found[known] = multipletests(p[known], method="holm")[1]
    return found
