"""How much a share or a mean differs between the first and the last third of a session, with its interval."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from therapy_analytics.language.said import Ints, Marks
from therapy_analytics.measures._intervals import wilsons
from therapy_analytics.measures.process._word_meanings import Floats

FEWEST = 3
"""Turns in each of the two thirds under which nothing is said."""
Change = tuple[float, float, float]
Changes = tuple[Floats, Floats, Floats]


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
    k, n = (np.array([[count(first)], [count(last)]], dtype=np.float64) for count in (np.count_nonzero, len))
    return _one(changes_of_shares(k, n))


def changes_of_shares(k: Floats, n: Floats) -> Changes:
    """Return the same of many, from counts (2, ...): of the first third, and of the last."""
    (a, b), (a_low, b_low), (a_high, b_high) = wilsons(k, n)
    change = b - a
    low, high = np.sqrt((b - b_low) ** 2 + (a_high - a) ** 2), np.sqrt((b_high - b) ** 2 + (a - a_low) ** 2)
    return _of_enough(n, (change, change - low, change + high))


def change_of_mean(first: Floats, last: Floats) -> Change:
    """Return the last mean less the first, with Welch's interval.

    Examples
    --------
    >>> change_of_mean(np.arange(5.0), np.arange(5.0) + 2)[0]
    2.0
    """
    row = np.repeat([0, 1], [len(first), len(last)])
    return _one(changes_of_means(np.append(first, last), row, 1))


def changes_of_means(values: Floats, row: Ints, n: int) -> Changes:
    """Return the same of many.

    Parameters
    ----------
    values : float64 array (n_values,)
        Of all of them.
    row : int64 array (n_values,)
        Whose each value is: 0 to n - 1 of the first third, n to 2n - 1 of the last.
    n : int
        How many they are.
    """
    size = np.bincount(row, minlength=2 * n).astype(np.float64)
    mean = np.bincount(row, values, 2 * n) / np.maximum(size, 1)
    error = _variances(values - mean[row], row, size) / np.maximum(size, 1)
    size, mean, error = (one.reshape(2, n) for one in (size, mean, error))
    return _of_enough(size, _welch(mean[1] - mean[0], error, size))


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
    row = np.repeat([0, 1], [len(first), len(last)])
    return _one(changes_of_ratios(np.vstack([first, last]), row, 1))


def changes_of_ratios(values: Floats, row: Ints, n: int) -> Changes:
    """Return the same of many, from rows (n_values, 2); see `changes_of_means`."""
    size = np.bincount(row, minlength=2 * n).astype(np.float64)
    part, whole = (np.bincount(row, one, 2 * n) for one in values.T)
    share = part / np.where(whole > 0, whole, np.nan)
    off = values[:, 0] - share[row] * values[:, 1]
    # Their mean is 0 but for rounding
    off -= (np.bincount(row, off, 2 * n) / np.maximum(size, 1))[row]
    error = _variances(off, row, size) * size / np.where(whole > 0, whole, np.nan) ** 2
    size, share, error = (one.reshape(2, n) for one in (size, share, error))
    change, low, high = _welch(share[1] - share[0], error, size)
    return _of_enough(size, (change, np.maximum(low, -1.0), np.minimum(high, 1.0)))


def _variances(off: Floats, row: Ints, size: Floats) -> Floats:
    return np.bincount(row, off**2, len(size)) / np.maximum(size - 1, 1)


def _welch(change: Floats, errors: Floats, n: Floats) -> Changes:
    """Return an interval by Student's t with the degrees of freedom of Welch and Satterthwaite."""
    both = errors.sum(axis=0)
    freedom = both**2 / np.where(both > 0, (errors**2 / np.maximum(n - 1, 1)).sum(axis=0), np.nan)
    reach = np.where(both == 0, 0.0, stdtrit(freedom, 0.975) * np.sqrt(both))
    return change, change - reach, change + reach


def _of_enough(n: Floats, found: Changes) -> Changes:
    enough = n.min(axis=0) >= FEWEST
    change, low, high = (np.where(enough, one, np.nan) for one in found)
    return change, low, high


def _one(found: Changes) -> Change:
    change, low, high = (float(one[0]) for one in found)
    return change, low, high
