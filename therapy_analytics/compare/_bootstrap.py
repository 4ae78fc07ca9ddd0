"""Intervals of means and medians by drawing clusters again: all measures at once, as sums and products."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from therapy_analytics.compare._groups import Bools, Floats, Grouped, Ints

Counts = NDArray[np.int16]

FEWEST = 6
"""Clusters. Of fewer no interval of a median holds 95 % (two halves to the fifth are 6 %), and the bootstrap of a
mean is far too narrow."""
_CHUNK = 1_000
_WORK = 4e9
"""Weights that may be summed for medians: about half a minute."""


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """How often each cluster was drawn: (n_clusters, n_draws)."""

    counts: Counts
    cluster: Ints

    @property
    def n(self) -> int:
        """Return the number of draws."""
        return int(self.counts.shape[1])

    def first(self, n: int) -> Draws:
        """Return the first n of them."""
        return Draws(self.counts[:, :n], self.cluster)


def draw(data: Grouped, n_draws: int, seed: int) -> Draws:
    """Draw clusters with replacement, within groups where each cluster lies in one group.

    Where a cluster has sessions of several groups (one counselor, before and after), it is drawn with all of them.
    """
    rng = np.random.default_rng(seed)
    of = _strata(data)
    counts = np.zeros((data.n_clusters, n_draws), dtype=np.int16)
    for stratum in np.unique(of):
        (own,) = np.nonzero(of == stratum)
        shares = np.full(len(own), 1 / len(own))
        counts[own] = rng.multinomial(len(own), shares, size=n_draws).T
    return Draws(counts, data.cluster)


def _strata(data: Grouped) -> Ints:
    """Return for each cluster its group, or 0 for all where a cluster lies in several."""
    low = np.full(data.n_clusters, np.iinfo(np.int64).max)
    high = np.full(data.n_clusters, -2)
    np.minimum.at(low, data.cluster, data.group)
    np.maximum.at(high, data.cluster, data.group)
    return low if np.array_equal(low, high) else np.zeros_like(low)


def drawn_means(values: Floats, own: Bools, draws: Draws) -> Floats:
    """Return the mean of each measure in each draw, (m, n_draws); nan where no session of a draw has a value."""
    there = ~np.isnan(values) & own[:, None]
    shape = (len(draws.counts), values.shape[1])
    sums, n = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, draws.cluster, np.where(there, values, 0.0))
    np.add.at(n, draws.cluster, there.astype(np.float64))
    some = n.any(axis=1)
    counts = draws.counts[some].astype(np.float64)
    total, base = sums[some].T @ counts, n[some].T @ counts
    return np.divide(total, base, out=np.full_like(total, np.nan), where=base > 0)


def drawn_medians(values: Floats, own: Bools, draws: Draws) -> Floats:
    """Return the median of each measure in each draw, (m, n_draws)."""
    found = np.full((values.shape[1], draws.n), np.nan)
    weights = draws.counts[draws.cluster[own]].astype(np.int32)
    for start in range(0, draws.n, _CHUNK):  # so many weights stay in the cache
        part = np.ascontiguousarray(weights[:, start : start + _CHUNK])
        for j, column in enumerate(values[own].T):
            found[j, start : start + _CHUNK] = _medians(column, part)
    return found


def _medians(column: Floats, weights: NDArray[np.int32]) -> Floats:
    """Return the median of values that stand so often as their weights (n, n_draws) say."""
    order = np.argsort(column, kind="stable")[: int(np.count_nonzero(~np.isnan(column)))]
    if not len(order):
        return np.full(weights.shape[1], np.nan)
    ordered = column[order]
    reached = np.cumsum(weights[order], axis=0, dtype=np.int32) * 2
    total = reached[-1] // 2
    last = len(order) - 1
    low = np.minimum((reached < total).sum(axis=0), last)
    high = np.minimum((reached <= total).sum(axis=0), last)
    return np.where(total > 0, (ordered[low] + ordered[high]) / 2, np.nan)


def affordable(data: Grouped, n_sides: int, n_draws: int) -> int:
    """Return of how many draws medians are taken, where all would take minutes: 1,000 or more."""
    work = len(data.values) * len(data.measures) * max(n_sides, 1)
    return min(n_draws, max(1_000, int(_WORK / max(work, 1))))


def interval(drawn: Floats, n_clusters: Ints) -> Floats:
    """Return the 95 % percentile interval of draws (m, n_draws), widened for few clusters, as (m, 2).

    Parameters
    ----------
    drawn : float array (m, n_draws)
        A statistic of each draw.
    n_clusters : int array (m,)
        On how many clusters it rests; of a difference, those of the smaller side. Under `FEWEST` it is nan.

    References
    ----------
    Hesterberg, T. C. (2015). What teachers should know about the bootstrap. The American Statistician, 69(4), 371-386
    (expanded percentile intervals: their percentiles are those of a t, not of a normal distribution).
    """
    found = np.full((len(drawn), 2), np.nan)
    for n in np.unique(n_clusters[n_clusters >= FEWEST]).tolist():
        rows = n_clusters == n
        tail = stats.norm.cdf(-sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
        found[rows] = _quantiles(drawn[rows], [tail, 1 - tail])
    return found


def _quantiles(drawn: Floats, levels: list[float]) -> Floats:
    some = ~np.isnan(drawn).any(axis=1)
    found = np.full((len(drawn), len(levels)), np.nan)
    found[some] = np.quantile(drawn[some], levels, axis=1).T
    for i in np.flatnonzero(~some).tolist():  # draws without a defined value: few measures have them
        defined = drawn[i][~np.isnan(drawn[i])]
        # Where every second draw has none, what is left says nothing of the rest.
        if len(defined) > drawn.shape[1] / 2:
            found[i] = np.quantile(defined, levels)
    return found
