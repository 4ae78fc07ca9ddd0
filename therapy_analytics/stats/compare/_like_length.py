"""Differences at like length: rates among turns of like length, synchrony with the length of sessions held constant.

A longer turn has more of every code, and two who talk longer are more alike in every measure of synchrony. Where groups
differ in the length of their turns, a difference of rates may be one of length alone, or may be hidden by it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import Bools, Floats, Ints

BINS = 5
"""Turns are compared within so many bins of their number of words, each with a fifth of all turns."""
STRATIFIED, HELD = f"within {BINS} bins of words", "log turns and log words per turn held constant"
"""What the column ``like_length`` says: how length was held alike."""
FEWEST = 6
"""Clusters, of both sides together, that a difference with length held constant needs."""


@dataclass(frozen=True, slots=True)
class LikeLength:
    """A difference at like length, with its 95% interval, in the unit of the measure; nan where undefined."""

    difference: float = np.nan
    lo: float = np.nan
    hi: float = np.nan
    how: str = ""
    words: float = np.nan
    """Mean words a turn of the first side over its clusters."""
    words_against: float = np.nan


def places(turns: pd.DataFrame, sessions: pd.Series) -> Ints:
    """Return the place of each turn's session among the ids of sessions, -1 for others (n_turns,)."""
    ids = pd.Index(turns["session_id"].astype(str))
    return np.asarray(pd.Index(sessions.astype(str)).get_indexer(ids), dtype=np.int64)


def in_bins(turns: pd.DataFrame, place: Ints, n_sessions: int, code: str) -> Floats | None:
    """Return what each session has in each bin of words: turns with the code, all turns that could have it, words.

    Parameters
    ----------
    turns : DataFrame
        A row a turn: ``n_words`` and the code.
    place : int64 array (n_turns,)
        As `places` gives it.
    n_sessions : int
        The number n of sessions.
    code : str
        The code's column; missing in turns that cannot have it.

    Returns
    -------
    float64 array (n, BINS, 3), or None
        None where the turns, or their codes, are not known.
    """
    if code not in turns or "n_words" not in turns:
        return None
    hits = turns[code].to_numpy(dtype=np.float64, na_value=np.nan)
    words = turns["n_words"].to_numpy(dtype=np.float64, na_value=np.nan)
    known = (place >= 0) & ~np.isnan(hits) & ~np.isnan(words)
    if not known.any():
        return None
    place, hits, words = place[known], hits[known], words[known]
    edges = np.quantile(words, np.arange(1, BINS) / BINS)
    found = np.zeros((n_sessions, BINS, 3))
    np.add.at(found, (place, np.searchsorted(edges, words)), np.stack([hits, np.ones_like(hits), words], axis=1))
    return found


def of_rates(found: Floats, own: Bools, other: Bools, cluster: Ints, *, paired: bool) -> LikeLength:
    """Compare rates within bins of words.

    In each bin the share of turns with the code is compared, each cluster counted once in all. The differences are
    averaged over the bins in which both sides have turns, by how many turns of both lie there: both sides are set to
    one distribution of lengths (direct standardization). The interval is by leaving out one cluster at a time.

    Parameters
    ----------
    found : float64 array (n, BINS, 3)
        As `in_bins` gives it.
    own, other : bool arrays (n,)
        The sessions of each side.
    cluster : int64 array (n,)
        The cluster of each session.
    paired : bool
        Whether both sides have the same clusters.

    References
    ----------
    Keiding, N., & Clayton, D. (2014). Standardization and control for confounding in observational studies: a
    historical perspective. Statistical Science, 29(4), 529-558.

    Efron, B., & Stein, C. (1981). The jackknife estimate of variance. Annals of Statistics, 9(3), 586-596.
    """
    sides = [_of_clusters(found[mask], cluster[mask]) for mask in (own, other)]
    if not all(len(side) for side in sides):
        return LikeLength()
    words = [float((side[:, :, 2].sum(axis=1) / side[:, :, 1].sum(axis=1)).mean()) for side in sides]
    shares = [side[:, :, :2] / side[:, :, 1].sum(axis=1)[:, None, None] for side in sides]
    means = [share.mean(axis=0) for share in shares]
    turns = sides[0][:, :, 1].sum(axis=0) + sides[1][:, :, 1].sum(axis=0)
    whole = float(_standardized(means[0], means[1], turns))
    if paired and len(shares[0]) == len(shares[1]):
        left = _standardized(_without_each(shares[0]), _without_each(shares[1]), turns)
        variance, df = _jackknife(left), len(left) - 1
    else:
        left = _standardized(_without_each(shares[0]), means[1], turns)
        right = _standardized(means[0], _without_each(shares[1]), turns)
        variance, df = _jackknife(left) + _jackknife(right), min(len(left), len(right)) - 1
    reach = float(stats.t.ppf(0.975, df)) * np.sqrt(variance) if df > 0 and variance > 0 else np.nan
    return LikeLength(whole, max(whole - reach, -1.0), min(whole + reach, 1.0), STRATIFIED, words[0], words[1])


def of_excess(x: Floats, y: Floats, length: tuple[Floats, Floats], *, paired: bool) -> LikeLength:
    """Compare the synchrony of clusters with the length of their sessions held constant, by least squares.

    Parameters
    ----------
    x, y : float64 arrays (k,), (l,)
        Excess over surrogate pairs of the clusters of each side; of the same clusters, in one order, if `paired`.
    length : two float64 arrays (k, 2), (l, 2)
        Mean logarithms of turns and of words per turn of their sessions.
    paired : bool
        Whether differences within clusters are compared.
    """
    words = [float(np.exp(np.nanmean(one[:, 1]))) if len(one) else np.nan for one in length]
    if paired:
        outcome, covariates = x - y, length[0] - length[1]
        design = np.column_stack([np.ones(len(outcome)), covariates])
    else:
        outcome, covariates = np.concatenate([x, y]), np.concatenate(length)
        side = np.concatenate([np.ones(len(x)), np.zeros(len(y))])
        centred = covariates - np.nanmean(covariates, axis=0) if len(covariates) else covariates
        design = np.column_stack([side, np.ones(len(outcome)), centred])
    known = ~np.isnan(outcome) & ~np.isnan(design).any(axis=1)
    varies = np.ptp(design[known], axis=0) if known.any() else np.zeros(design.shape[1])
    n_kept = 1 if paired else 2  # of the group, and of the constant
    design = design[:, [j for j in range(design.shape[1]) if j < n_kept or varies[j] > 0]]
    df = int(known.sum()) - design.shape[1]
    if int(known.sum()) < FEWEST or df < 1 or np.linalg.matrix_rank(design[known]) < design.shape[1]:
        return LikeLength()
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415 (slow)

    fit = OLS(outcome[known], design[known]).fit(cov_type="HC3", use_t=True)
    low, high = fit.conf_int()[0]
    return LikeLength(float(fit.params[0]), float(low), float(high), HELD, words[0], words[1])


def _of_clusters(found: Floats, cluster: Ints) -> Floats:
    """Return the sums over the sessions of each cluster that has turns (k, BINS, 3)."""
    _, place = np.unique(cluster, return_inverse=True)
    sums = np.zeros((int(place.max()) + 1 if len(place) else 0, *found.shape[1:]))
    np.add.at(sums, place, found)
    has_turns: Bools = sums[:, :, 1].sum(axis=1) > 0
    return sums[has_turns]


def _without_each(shares: Floats) -> Floats:
    """Return the mean over all clusters but one, for each one that is left out (k, BINS, 2)."""
    return np.asarray((shares.sum(axis=0) - shares) / max(len(shares) - 1, 1))


def _standardized(a: Floats, b: Floats, turns: Floats) -> Floats:
    """Return the mean difference of shares over bins (...), each weighted by its `turns` (BINS,).

    From turns with the code and all turns of each side, (..., BINS, 2).
    """
    (x, n), (y, k) = (a[..., 0], a[..., 1]), (b[..., 0], b[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where((n > 0) & (k > 0), turns, 0.0)
        apart = np.where(weight > 0, x / n - y / k, 0.0)
        return np.asarray((weight * apart).sum(axis=-1) / weight.sum(axis=-1))


def _jackknife(left: Floats) -> float:
    """Return the variance of an estimate from those without one cluster each (k,)."""
    k = len(left)
    return float((k - 1) / k * ((left - left.mean()) ** 2).sum()) if k > 1 else np.nan
