"""How much a share or a mean differs between the first and the last third of a session, with its interval."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from therapy_analytics.language.said import Ints
from therapy_analytics.measures._intervals import wilsons
from therapy_analytics.measures.process._word_meanings import Floats

FEWEST = 3
"""Turns in each of the two thirds under which nothing is said."""
Changes = tuple[Floats, Floats, Floats]


def changes_of_shares(k: Floats, n: Floats) -> Changes:
    """Return the last shares less the first, with Newcombe's hybrid score intervals.

    Parameters
    ----------
    k, n : float64 arrays (2, ...)
        What is counted, and of how many: in the first third, and in the last.

    Examples
    --------
    2 of 10 turns, then 7 of 10:

    >>> [float(one.round(3)) for one in changes_of_shares(np.array([2.0, 7.0]), np.array([10.0, 10.0]))]
    [0.5, 0.066, 0.74]

    References
    ----------
    Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions: Comparison of eleven
    methods. Statistics in Medicine, 17, 873-890 (method 10).
    """
    (a, b), (a_low, b_low), (a_high, b_high) = wilsons(k, n)
    change = b - a
    low, high = np.sqrt((b - b_low) ** 2 + (a_high - a) ** 2), np.sqrt((b_high - b) ** 2 + (a - a_low) ** 2)
    return _of_enough(n, (change, change - low, change + high))


def changes_of_means(values: Floats, row: Ints, n: int) -> Changes:
    """Return the last means less the first, with Welch's intervals.

    Parameters
    ----------
    values : float64 array (n_values,)
        Of all of them.
    row : int64 array (n_values,)
        Whose each value is: 0 to n - 1 of the first third, n to 2n - 1 of the last.
    n : int
        How many they are.

    Examples
    --------
    From 0 to 4, then from 2 to 6:

    >>> first, last = np.arange(5.0), np.arange(5.0) + 2
    >>> changes_of_means(np.append(first, last), np.repeat([0, 1], 5), 1)[0].tolist()
    [2.0]
    """
    size = np.bincount(row, minlength=2 * n).astype(np.float64)
    mean = np.bincount(row, values, 2 * n) / np.maximum(size, 1)
    error = _variances(values - mean[row], row, size) / np.maximum(size, 1)
    size, mean, error = (one.reshape(2, n) for one in (size, mean, error))
    return _of_enough(size, _welch(mean[1] - mean[0], error, size))


def changes_of_ratios(values: Floats, row: Ints, n: int) -> Changes:
    """Return the last ratios of sums less the first, with intervals.

    `values`, (n_values, 2), are a part and its whole; for `row` and `n` see `changes_of_means`.

    Examples
    --------
    Half of the words, then a quarter, in every exchange:

    >>> values = np.repeat([[5.0, 10.0], [2.0, 8.0]], 5, axis=0)
    >>> [one.tolist() for one in changes_of_ratios(values, np.repeat([0, 1], 5), 1)]
    [[-0.25], [-0.25], [-0.25]]

    References
    ----------
    Cochran, W. G. (1977). Sampling techniques (3rd ed.), chapter 6: the ratio of sums over clusters.
    """
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
