"""Sampling intervals of rates and ratios, from counts.

They speak of the pair's way of talking: of the rate that the session would come to, had it gone on. Turns near each
other are alike, so that ``n`` turns tell less than ``n`` independent ones would: `design_effect` says how much less.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054
NAN = float("nan")
FEWEST = 3
"""Client turns of either kind, and answers of either kind, under which a difference of two rates is undefined."""
WORD_CORRELATION = 0.001
"""Correlation between two words of a session in being of one kind, for rates per 100 words."""
Floats = NDArray[np.float64]


def design_effect(n: float | Floats, correlation: float | Floats) -> Floats:
    """Return how many times larger the variance of a rate over ``n`` turns is than if they were independent.

    Parameters
    ----------
    n : float or float64 array (...)
        Number of turns.
    correlation : float or float64 array (...)
        Correlation between two turns of the session in having the code, 0 to 1; see
        `therapy_analytics.codes.Code`.

    Examples
    --------
    >>> design_effect(np.array([1.0, 41.0]), 0.1).tolist()
    [1.0, 5.0]

    References
    ----------
    Kish, L. (1965). Survey sampling. Wiley.
    """
    return np.asarray(1 + np.maximum(n - 1, 0.0) * correlation)


def wilson(k: float, n: float, correlation: float = 0.0) -> tuple[float, float]:
    """Return the 95% Wilson score interval of ``k`` of ``n``, over as many independent turns as tell as much.

    Examples
    --------
    >>> low, high = wilson(5, 10)
    >>> round(low, 3), round(high, 3)
    (0.237, 0.763)
    >>> low, high = wilson(5, 10, correlation=0.1)
    >>> round(low, 3), round(high, 3)
    (0.175, 0.825)
    >>> wilson(0, 0)
    (nan, nan)

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
    inference. Journal of the American Statistical Association, 22, 209-212.
    """
    _, low, high = wilsons(np.float64(k), np.float64(n), correlation)
    return float(low), float(high)


def ratio(a: float, b: float, correlation: float = 0.0) -> tuple[float, float, float]:
    """Return ``a / b`` for two counts, with its 95% interval.

    Of ``a + b`` events a share is of the first kind; its Wilson interval, `correlation` being that between events,
    carries over to the odds, which are the ratio. Over ``b = 0`` all three are undefined.

    Examples
    --------
    >>> [round(value, 2) for value in ratio(8, 8)]
    [1.0, 0.39, 2.57]
    >>> ratio(3, 0)
    (nan, nan, nan)
    """
    if b <= 0:
        return NAN, NAN, NAN
    low, high = wilson(a, a + b, correlation)
    return a / b, low / (1 - low), high / (1 - high)


def wilsons(
    k: Floats | np.float64, n: Floats | np.float64, correlation: float | Floats = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Return the rates ``k / n`` with the intervals of `wilson`, for arrays of one shape; nan where n is 0.

    Examples
    --------
    >>> [round(float(value[0]), 3) for value in wilsons(np.array([5.0]), np.array([10.0]))]
    [0.5, 0.237, 0.763]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share, told = np.where(n > 0, k / n, np.nan), n / design_effect(n, correlation)
        spread = Z95 * np.sqrt(share * (1 - share) / told + Z95**2 / (4 * told**2))
        centre, scale = share + Z95**2 / (2 * told), 1 + Z95**2 / told
        low = np.where(k > 0, (centre - spread) / scale, np.where(n > 0, 0.0, np.nan))
        high = np.where(k < n, (centre + spread) / scale, np.where(n > 0, 1.0, np.nan))
    return share, low, high


def matched_differences(
    k: Floats, n: Floats, k_other: Floats, n_other: Floats, effect: float | Floats = 1.0
) -> tuple[Floats, Floats, Floats]:
    """Return how much larger the share ``k / n`` is than ``k_other / n_other`` within strata, with 95% intervals.

    The difference is that of Mantel and Haenszel: the mean over strata of the differences of the two shares, weighted
    by ``n n_other / (n + n_other)``. All three are undefined (nan) where one of the sums over the strata of `k`, `n`,
    and of their counterparts is under `FEWEST`, or no stratum has turns of both kinds.

    Parameters
    ----------
    k, n, k_other, n_other : float64 arrays (n_strata, ...)
        Counts, whole numbers.
    effect : float or float64 array (...)
        Design effect of the comparison, at least 1.

    Notes
    -----
    The interval takes the variance of Sato (1989), which holds for many thin strata and for few thick ones, after two
    turns were added to either kind, one of which is a hit (Agresti & Caffo, 2000), spread over the strata as the kind's
    own turns are. Of 95% intervals of 20 to 80 turns in four strata 93 to 97% held the true difference; without the
    added turns 80 to 94% did.

    References
    ----------
    Greenland, S., & Robins, J. M. (1985). Estimation of a common effect parameter from sparse follow-up data.
    Biometrics, 41, 55-68. Sato, T. (1989). On the variance estimator for the Mantel-Haenszel risk difference.
    Biometrics, 45, 1323-1324. Agresti, A., & Caffo, B. (2000). Simple and effective confidence intervals for
    proportions and differences of proportions result from adding two successes and two failures. The American
    Statistician, 54, 280-288.

    Examples
    --------
    3 of 4 against 2 of 8 among short turns, and 3 of 4 against 4 of 8 among long ones:

    >>> table = (np.array(x, dtype=float).reshape(2, 1) for x in ((3, 3), (4, 4), (2, 4), (8, 8)))
    >>> [round(float(value[0]), 2) for value in matched_differences(*table)]
    [0.38, -0.05, 0.67]
    """
    hits, other_hits = k.sum(axis=0), k_other.sum(axis=0)
    turns, other_turns = n.sum(axis=0), n_other.sum(axis=0)
    total = hits + other_hits
    least = np.minimum(np.minimum(turns, other_turns), np.minimum(total, turns + other_turns - total))
    with np.errstate(divide="ignore", invalid="ignore"):
        value, _ = _sato(k, n, k_other, n_other)
        share, other_share = n / turns, n_other / other_turns
        centre, variance = _sato(k + share, n + 2 * share, k_other + other_share, n_other + 2 * other_share)
        reach = Z95 * np.sqrt(np.maximum(variance, 0) * effect)
    found = np.stack([value, np.minimum(centre - reach, value), np.maximum(centre + reach, value)])
    low, high = np.where(least >= FEWEST, found[1:].clip(-1, 1), np.nan)
    return np.where(least >= FEWEST, value, np.nan), low, high


def _sato(k: Floats, n: Floats, k_other: Floats, n_other: Floats) -> tuple[Floats, Floats]:
    """Return Mantel and Haenszel's difference over strata (n_strata, ...) and its variance, (...) both."""
    both, product, size = (n > 0) & (n_other > 0), n * n_other, n + n_other

    def add_up(terms: Floats) -> Floats:
        return np.asarray(np.where(both, terms, 0.0).sum(axis=0))

    weight = add_up(product / size)
    value = add_up((k * n_other - k_other * n) / size) / weight
    p = add_up((n**2 * k_other - n_other**2 * k + product * (n_other - n) / 2) / size**2)
    q = add_up((k * (n_other - k_other) + k_other * (n - k)) / (2 * size))
    return value, (value * p + q) / weight**2
