"""How much a share or a mean differs between the first and the last third of a session, with its interval."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
from scipy.special import stdtrit

from therapy_analytics.language.said import Marks
from therapy_analytics.measures._intervals import wilson
from therapy_analytics.measures.process._word_meanings import Floats

FEWEST = 3
"""Turns in each of the two thirds under which nothing is said."""
Change = tuple[float, float, float]
UNKNOWN: Change = (nan, nan, nan)


def change_of_share(first: Marks, last: Marks) -> Change:
    """Return the last share less the first, with Newcombe's hybrid score interval.

    Examples
    --------
    2 of 10 turns, then 7 of 10:

    >>> first, last = np.arange(10) < 2, np.arange(10) < 7
    >>> [round(value, 3) for value in change_of_share(first, last)]
    [0.5, 0.066, 0.74]

    References
    ----------
    Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions: Comparison of eleven
    methods. Statistics in Medicine, 17, 873-890 (method 10).
    """
    if min(len(first), len(last)) < FEWEST:
        return UNKNOWN
    a, b = float(np.mean(first)), float(np.mean(last))
    (a_low, a_high), (b_low, b_high) = (wilson(float(one.sum()), len(one)) for one in (first, last))
    change = b - a
    return (
        change,
        change - sqrt((b - b_low) ** 2 + (a_high - a) ** 2),
        change + sqrt((b_high - b) ** 2 + (a - a_low) ** 2),
    )


def change_of_mean(first: Floats, last: Floats) -> Change:
    """Return the last mean less the first, with Welch's interval.

    Examples
    --------
    >>> change_of_mean(np.arange(5.0), np.arange(5.0) + 2)[0]
    2.0
    """
    if min(len(first), len(last)) < FEWEST:
        return UNKNOWN
    errors = [float(one.var(ddof=1)) / len(one) for one in (first, last)]
    return _welch(float(last.mean() - first.mean()), errors, [len(first), len(last)])


def change_of_ratio(first: Floats, last: Floats) -> Change:
    """Return the last ratio of sums less the first, with an interval over rows (n, 2): part and whole.

    Examples
    --------
    Half of the words, then a quarter, in every exchange:

    >>> half, quarter = np.tile([5.0, 10.0], (5, 1)), np.tile([2.0, 8.0], (5, 1))
    >>> change_of_ratio(half, quarter)
    (-0.25, -0.25, -0.25)

    References
    ----------
    Cochran, W. G. (1977). Sampling techniques (3rd ed.), chapter 6: the ratio of sums over clusters.
    """
    if min(len(first), len(last)) < FEWEST or not (first[:, 1].sum() and last[:, 1].sum()):
        return UNKNOWN
    shares = [float(one[:, 0].sum() / one[:, 1].sum()) for one in (first, last)]
    off = [one[:, 0] - share * one[:, 1] for one, share in zip((first, last), shares, strict=True)]
    errors = [
        float(one.var(ddof=1)) * len(one) / float(rows[:, 1].sum()) ** 2
        for one, rows in zip(off, (first, last), strict=True)
    ]
    change, low, high = _welch(shares[1] - shares[0], errors, [len(first), len(last)])
    return change, max(low, -1.0), min(high, 1.0)


def _welch(change: float, errors: list[float], n: list[int]) -> Change:
    """Return an interval by Student's t with the degrees of freedom of Welch and Satterthwaite."""
    both = sum(errors)
    if not both:
        return change, change, change
    freedom = both**2 / sum(one**2 / (k - 1) for one, k in zip(errors, n, strict=True))
    reach = float(stdtrit(freedom, 0.975)) * sqrt(both)
    return change, change - reach, change + reach
