"""Sampling intervals of rates and ratios, from counts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054
NAN = float("nan")
Floats = NDArray[np.float64]


def wilson(k: float, n: float) -> tuple[float, float]:
    """Return the 95% Wilson score interval of ``k`` of ``n``.

    Examples
    --------
    >>> low, high = wilson(5, 10)
    >>> round(low, 3), round(high, 3)
    (0.237, 0.763)
    >>> wilson(0, 0)
    (nan, nan)

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
    inference. Journal of the American Statistical Association, 22, 209-212.
    """
    if n <= 0:
        return NAN, NAN
    share = k / n
    spread = Z95 * math.sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
    centre, scale = share + Z95**2 / (2 * n), 1 + Z95**2 / n
    low = (centre - spread) / scale if k > 0 else 0.0
    high = (centre + spread) / scale if k < n else 1.0
    return low, high


def ratio(a: float, b: float) -> tuple[float, float, float]:
    """Return ``a / b`` for two counts, with its 95% interval.

    Given ``a + b`` events, the share of the first kind is binomial; its Wilson interval
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
    low, high = wilson(a, a + b)
    return a / b, low / (1 - low), high / (1 - high)


def wilsons(k: Floats, n: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the rates ``k / n`` with their 95% Wilson score intervals, for arrays; nan where n is 0.

    Examples
    --------
    >>> [round(float(value[0]), 3) for value in wilsons(np.array([5.0]), np.array([10.0]))]
    [0.5, 0.237, 0.763]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(n > 0, k / n, np.nan)
        spread = Z95 * np.sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
        centre, scale = share + Z95**2 / (2 * n), 1 + Z95**2 / n
        low = np.where(k > 0, (centre - spread) / scale, np.where(n > 0, 0.0, np.nan))
        high = np.where(k < n, (centre + spread) / scale, np.where(n > 0, 1.0, np.nan))
    return share, low, high


def odds_ratios(k: Floats, n: Floats, k_other: Floats, n_other: Floats) -> tuple[Floats, Floats, Floats]:
    """Return odds ratios of ``k`` of ``n`` against ``k_other`` of ``n_other``, with their 95% intervals, for arrays.

    Half a case is added to each of the four cells. Nan where a row or a column of the table is empty: then nothing was
    compared.

    Examples
    --------
    >>> [round(float(value[0]), 2) for value in odds_ratios(*(np.array([x]) for x in (3.0, 4.0, 1.0, 8.0)))]
    [11.67, 0.87, 156.22]

    References
    ----------
    Haldane, J. B. S. (1956). Annals of Human Genetics, 20, 309-311. Anscombe, F. J. (1956). Biometrika, 43, 461-464.
    """
    total = k + k_other
    told = (n > 0) & (n_other > 0) & (total > 0) & (total < n + n_other)
    cells = np.stack([k, n - k, k_other, n_other - k_other]) + 0.5
    log = np.where(told, np.log(cells[0] * cells[3] / (cells[1] * cells[2])), np.nan)
    error = Z95 * np.sqrt((1 / cells).sum(axis=0))
    return np.exp(log), np.exp(log - error), np.exp(log + error)
