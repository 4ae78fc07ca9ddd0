"""Sampling intervals of rates and ratios, from counts."""

from __future__ import annotations

import math

Z95 = 1.959963984540054
NAN = float("nan")


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
