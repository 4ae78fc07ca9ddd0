"""What values sessions like those of a reference would have, of which mean, deviation and number are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, nan
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.compare._groups import Bools, Floats, Grouped
from therapy_analytics.measures._base import count_name

ONE_OVER_TURNS = 0.053
"""Mean of 1 / turns of a role over the 143 sessions of human_high; the same for therapists and clients (.053)."""
LEAST_SHARE = 0.1
"""So much of the spread of the reference's rates is between sessions at the least, whatever its moments say."""
WIDER = 1.5
"""The variance between sessions is raised by this factor: the reference is of two corpora, and sessions of a third lie
about another mean. The sessions of each of the two lie .8 to 1.9 times as far (in variance) from the mean of the other
as that one's own, for questions, reflections and input. Where single sessions of the one are held against the other,
claims are made in at most 4 % of runs with it, and in up to 16 % without (``python -m benchmarks.null_claims``)."""
_LEAST_SUM = 0.01
_ROUNDING = 1e-9
LEVEL = 0.05

Row = Mapping[Any, Any]


@dataclass(frozen=True, slots=True)
class Spread:
    """How the true rates of a reference's sessions lie: a beta distribution, `a` and `b`; their mean and deviation."""

    a: float
    b: float
    mean: float
    sd: float


def spread(row: Row, one_over_turns: float = ONE_OVER_TURNS) -> Spread | None:
    """Return the beta distribution of the rates of a reference's sessions, by its moments.

    Parameters
    ----------
    row : mapping
        ``mean``, ``sd`` and ``n_sessions`` of the rates seen.
    one_over_turns : float, optional
        Mean of 1 / turns of these sessions; 0 for shares whose sampling error may stay in the spread.

    Returns
    -------
    Spread or None
        None where all sessions are alike, or none has a value.

    Notes
    -----
    What is seen varies more than what lies behind it, because sessions have few turns: with h the mean of 1 / turns,
    ``sd**2 = between + (mean * (1 - mean) - between) * h``. The variance between sessions is raised by 1 / n for the
    mean, which n sessions do not tell exactly, and by `WIDER` for sessions from elsewhere.

    Examples
    --------
    >>> found = spread({"mean": 0.4, "sd": 0.2, "n_sessions": 143})
    >>> round(found.a, 2), round(found.b, 2), round(found.sd, 3)
    (1.81, 2.71, 0.209)
    """
    mean, sd, n = float(row["mean"]), float(row["sd"]), float(row["n_sessions"])
    if not (0 < mean < 1 and sd > 0 and n > 1):
        return None
    binomial = mean * (1 - mean)
    between = (sd**2 - binomial * one_over_turns) / (1 - one_over_turns)
    between = max(between, LEAST_SHARE * sd**2) * (1 + 1 / n) * WIDER
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


def counts(frame: pd.DataFrame, name: str) -> tuple[Floats, Floats]:
    """Return how many turns of sessions have a code, and of how many turns of that role, (sessions,) each.

    Both are nan where the measure is no share of a role's turns, or the columns of its counts are missing.
    """
    unknown = np.full(len(frame), np.nan)
    columns = count_name(name), f"n_turns_{name.partition('_')[0]}"
    if not name.endswith("_rate") or any(column not in frame for column in columns):
        return unknown, unknown
    n, of = (frame[column].to_numpy(dtype=np.float64) for column in columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(n / of - frame[name].to_numpy(dtype=np.float64)) < 0.5 / of
    return np.where(share, n, np.nan), np.where(share, of, np.nan)


@dataclass(frozen=True, slots=True)
class Beside:
    """A mean of a group beside a reference.

    Attributes
    ----------
    p : float
        How seldom one who is like the reference has a mean as far out; nan where nothing is known.
    low, high : float
        Between these lie 95 % of such means, in the unit of the measure; means outside have p < .05.
    method : str
        The distribution that p is of.
    """

    p: float = nan
    low: float = nan
    high: float = nan
    method: str = ""


def beside(data: Grouped, own: Bools, j: int, row: Row) -> Beside:
    """Hold the mean over clusters of a group's sessions against the sessions of a reference.

    Parameters
    ----------
    data : Grouped
        Sessions (n) and their values.
    own : bool array (n,)
        The sessions of the group.
    j : int
        Place of the measure.
    row : mapping
        ``mean``, ``sd`` and ``n_sessions`` of the reference.

    Notes
    -----
    Somebody like the reference is taken as one draw from its distribution of sessions: sessions of one person are alike
    to an unknown degree, at most wholly, and many of them tell no more of that distribution than one. The mean of the
    group has its sampling error besides. For shares of turns that is beta-binomial, on as many turns as a mean so
    weighted is worth (``1 / sum(weight**2 / turns)``), and the count is rounded toward the mean of the reference. For
    other shares it is the beta distribution with the mean and the deviation that the reference's sessions show, for
    amounts from 0 the gamma distribution, and for others the normal one; their deviation holds the sampling error of a
    single session.
    """
    one, there = data.measures[j], own & ~np.isnan(data.values[:, j])
    if not there.any():
        return Beside()
    _, place, n_of = np.unique(data.cluster[there], return_inverse=True, return_counts=True)
    weights = 1 / (len(n_of) * n_of[place])
    mean = float(weights @ data.values[there, j])
    _, turns = counts(data.sessions, one.name)
    if np.isnan(turns[there]).any():
        return _beside_amount(mean, one.low, one.high, row)
    like = spread(row)
    return Beside() if like is None else _beside_share(mean, 1 / float((weights**2 / turns[there]).sum()), like)


def _beside_share(mean: float, turns: float, like: Spread) -> Beside:
    of = max(floor(turns + _ROUNDING), 1)
    count = floor(mean * of + _ROUNDING) if mean > like.mean else ceil(mean * of - _ROUNDING)
    p = float(two_sided(np.array([float(count)]), np.array([float(of)]), like)[0])
    few, many = ends_of(of, like, LEVEL)
    return Beside(p, 0.0 if few is None else (few + 1) / of, 1.0 if many is None else (many - 1) / of, "beta-binomial")


def _beside_amount(mean: float, low: float, high: float, row: Row) -> Beside:
    from scipy import stats  # noqa: PLC0415 (slow)

    at, sd, n = float(row["mean"]), float(row["sd"]), float(row["n_sessions"])
    like = spread(row, 0.0) if (low, high) == (0, 1) else None
    if not (sd > 0 and n > 1) or (low == 0 and at <= 0):
        return Beside()
    variance = sd**2 * (1 + 1 / n) * WIDER
    found: Any
    if like is not None:
        found, method = stats.beta(like.a, like.b), "beta"
    elif low == 0:
        found, method = stats.gamma(at**2 / variance, scale=variance / at), "gamma"
    else:
        found, method = stats.norm(at, variance**0.5), "normal"
    p = min(1.0, 2 * min(float(found.cdf(mean)), float(found.sf(mean))))
    return Beside(p, float(found.ppf(LEVEL / 2)), float(found.isf(LEVEL / 2)), method)
