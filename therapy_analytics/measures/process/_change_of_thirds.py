"""How much a share or a mean differs between the first and the last third of a session, with its interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from therapy_analytics.measures._intervals import wilsons
from therapy_analytics.measures.process._clauses import Floats

FEWEST = 3
"""Turns in each of the two thirds under which nothing is said."""
Numbers = NDArray[np.integer] | NDArray[np.floating]
Changes = tuple[Floats, Floats, Floats]
_NOTHING: Changes = (np.full((), np.nan), np.full((), np.nan), np.full((), np.nan))


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
    found = np.where(n.min(axis=0) >= FEWEST, np.stack([change, change - low, change + high]), np.nan)
    return found[0], found[1], found[2]


def changes_of_means(first: Numbers, last: Numbers) -> Changes:
    """Return the mean of the last values less that of the first, with Welch's interval.

    Parameters
    ----------
    first, last : arrays (n_first,) and (n_last,)
        The values of the turns of each third.

    Examples
    --------
    From 0 to 4, then from 2 to 6:

    >>> float(changes_of_means(np.arange(5), np.arange(5) + 2)[0])
    2.0
    """
    size = np.array([len(first), len(last)], dtype=np.float64)
    if size.min() < FEWEST:
        return _NOTHING
    error = np.array([first.var(ddof=1), last.var(ddof=1)]) / size
    return _welch(last.mean() - first.mean(), error, size)


def changes_of_ratios(first: Numbers, last: Numbers) -> Changes:
    """Return the last ratio of sums less the first, with its interval.

    Parameters
    ----------
    first, last : arrays (n_first, 2) and (n_last, 2)
        A part and its whole, for each pair of turns of each third.

    Examples
    --------
    Half of the words, then a quarter, in every exchange:

    >>> first, last = np.repeat([[5, 10]], 5, axis=0), np.repeat([[2, 8]], 5, axis=0)
    >>> [float(one) for one in changes_of_ratios(first, last)]
    [-0.25, -0.25, -0.25]

    References
    ----------
    Cochran, W. G. (1977). Sampling techniques (3rd ed.), chapter 6: the ratio of sums over clusters.
    """
    size = np.array([len(first), len(last)], dtype=np.float64)
    if size.min() < FEWEST:
        return _NOTHING
    (share, error), (last_share, last_error) = _share(first), _share(last)
    change, low, high = _welch(last_share - share, np.array([error, last_error]), size)
    return change, np.maximum(low, -1.0), np.minimum(high, 1.0)


def _share(values: Numbers) -> tuple[Floats, Floats]:
    """Return the ratio of the sums of parts and wholes, and its squared standard error."""
    part, whole = values.T
    share = part.sum() / whole.sum()
    return share, (part - share * whole).var(ddof=1) * len(values) / whole.sum() ** 2


def _welch(change: Floats, errors: Floats, n: Floats) -> Changes:
    """Return an interval by Student's t with the degrees of freedom of Welch and Satterthwaite; errors (2,), n (2,)."""
    both = errors.sum()
    freedom = both**2 / (errors**2 / (n - 1)).sum() if both else np.nan
    reach = stdtrit(freedom, 0.975) * np.sqrt(both) if both else 0.0
    return np.asarray(change), np.asarray(change - reach), np.asarray(change + reach)
