"""Whether a session's count is outside of what sessions of a reference show, which differ among themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ONE_OVER_TURNS = 0.053
"""Mean of 1 / turns of a role over the 143 sessions of human_high; the same for therapists and clients (.053)."""
LEAST_SHARE = 0.1
"""So much of the spread of the reference's rates is between sessions at the least, whatever its moments say."""
_LEAST_SUM = 0.01


@dataclass(frozen=True, slots=True)
class Spread:
    """How the true rates of a reference's sessions lie: a beta distribution, `a` and `b`; their mean and deviation."""

    a: float
    b: float
    mean: float
    sd: float


def spread(row: Mapping[Any, Any]) -> Spread | None:
    """Return the beta distribution of the rates of a reference's sessions, by its moments.

    Parameters
    ----------
    row : mapping
        ``mean``, ``sd`` and ``n_sessions`` of the rates seen.

    Returns
    -------
    Spread or None
        None where all sessions are alike, or none has a value.

    Notes
    -----
    What is seen varies more than what lies behind it, because sessions have few turns: with h the mean of 1 / turns,
    ``sd**2 = between + (mean * (1 - mean) - between) * h``. The variance between sessions is raised by 1 / n for the
    mean, which n sessions do not tell exactly.

    Examples
    --------
    >>> found = spread({"mean": 0.4, "sd": 0.2, "n_sessions": 143})
    >>> round(found.a, 2), round(found.b, 2), round(found.sd, 3)
    (2.91, 4.36, 0.17)
    """
    mean, sd, n = float(row["mean"]), float(row["sd"]), float(row["n_sessions"])
    if not (0 < mean < 1 and sd > 0 and n > 1):
        return None
    binomial = mean * (1 - mean)
    between = (sd**2 - binomial * ONE_OVER_TURNS) / (1 - ONE_OVER_TURNS)
    between = max(between, LEAST_SHARE * sd**2) * (1 + 1 / n)
    total = max(binomial / between - 1, _LEAST_SUM)
    return Spread(mean * total, (1 - mean) * total, mean, between**0.5)


def two_sided(n: Floats, of: Floats, found: Spread) -> Floats:
    """Return for counts n of so many turns how seldom a session of the reference has one as far out; nan where of is 0.

    Notes
    -----
    Beta-binomial; twice the smaller tail, of which the count itself makes half (mid-p).

    References
    ----------
    Lancaster, H. O. (1961). Significance tests in discrete distributions. Journal of the American Statistical
    Association, 56, 223-234.

    Examples
    --------
    >>> like = Spread(2.0, 2.0, 0.5, 0.22)
    >>> two_sided(np.array([10.0, 20.0]), np.array([20.0, 20.0]), like).round(3).tolist()
    [1.0, 0.012]
    """
    p = np.full(len(n), np.nan)
    there = (of > 0) & ~np.isnan(n)
    for size in np.unique(of[there]):
        here = there & (of == size)
        p[here] = _by_count(int(size), found)[n[here].astype(int)]
    return p


def _by_count(of: int, found: Spread) -> Floats:
    """Return the p of each count from none to all: sums from either end, so that neither tail loses digits."""
    from scipy.special import betaln, gammaln  # noqa: PLC0415 (slow)

    k = np.arange(of + 1.0)
    ways = gammaln(of + 1) - gammaln(k + 1) - gammaln(of - k + 1)
    share = np.exp(ways + betaln(k + found.a, of - k + found.b) - betaln(found.a, found.b))
    tails: Floats = np.minimum(np.cumsum(share), np.cumsum(share[::-1])[::-1]) - share / 2
    p: Floats = np.minimum(1.0, 2 * tails)
    return p


def ends_of(of: int, found: Spread, p: float) -> tuple[int | None, int | None]:
    """Return the largest small count and the smallest large count, of so many turns, that would have such a p.

    Examples
    --------
    >>> ends_of(20, Spread(2.0, 2.0, 0.5, 0.22), 0.05), ends_of(5, Spread(2.0, 2.0, 0.5, 0.22), 0.05)
    ((1, 19), (None, None))
    """
    counts = np.arange(of + 1.0)
    out = _by_count(of, found) <= p
    low = [int(k) for k in counts[out] if k < of * found.mean]
    high = [int(k) for k in counts[out] if k > of * found.mean]
    return (max(low) if low else None), (min(high) if high else None)
