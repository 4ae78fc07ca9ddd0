"""Contrasts of groups: one quantity, the mean over clusters, for test, difference, interval and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.compare._groups import SESSION, Bools, Contrast, Floats, Grouped, Ints
from therapy_analytics.compare._permutation import Permuted, across_contrasts, moderated, paired, two_samples
from therapy_analytics.compare._tests import Effect, effect, findable, findable_paired, paired_effect, summary

PERMUTATIONS = 10_000
FEWEST_UNITS = 2
"""Clusters of a side without which there is no test and no interval."""
_PAIRED_SHARE = 0.5
_ROUNDING = 1e-12
"""Deviations smaller than this share of the values are rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """A contrast with the means of its clusters.

    Attributes
    ----------
    contrast : Contrast
        Its masks hold only the sessions that are compared.
    x, y : float arrays (n, m) and (k, m)
        Means of clusters, a row a cluster and a column a measure, nan where undefined. Of a paired contrast, row i of
        both is the same cluster, and both are nan where one is.
    paired : bool
        Whether clusters are compared with themselves.
    n_left_out : int
        Clusters that stand on one side only and were left out of a paired contrast.
    """

    contrast: Contrast
    x: Floats
    y: Floats
    paired: bool
    n_left_out: int


def contrast_tests(
    data: Grouped, contrasts: Sequence[Contrast], *, permutations: int = PERMUTATIONS, seed: int = 0
) -> pd.DataFrame:
    """Test every measure of every contrast.

    Parameters
    ----------
    data : Grouped
        Sessions (n), their clusters and values of m measures.
    contrasts : sequence of Contrast
        What is held against what (c of them), as `therapy_analytics.compare._groups.contrasts` gives it.
    permutations : int, optional
        Random permutations where there are more than 20,000 arrangements; fewer are all counted.
    seed : int, optional
        Of the random permutations.

    Returns
    -------
    DataFrame
        A row for each contrast and measure, in this order (c times m), with the columns

        - ``group``, ``against``, ``measure``;
        - ``n_clusters``, ``n_clusters_against``: clusters with a defined value; ``n_left_out``: those that stand on one
          side only and were left out of a paired contrast;
        - ``mean``, ``mean_lo``, ``mean_hi`` and the same with ``_against``: mean over clusters with its 95 % interval,
          in the measure's unit and within its range;
        - ``difference``, ``difference_lo``, ``difference_hi``: of these two means, with its 95 % interval;
        - ``p`` of the permutation test, ``p_method``, and ``p_adjusted`` for all rows (family-wise);
        - ``hedges_g``, ``hedges_g_lo``, ``hedges_g_hi``: the difference in standard deviations of clusters;
          ``shown_alike``: its 90 % interval lies within half a standard deviation;
        - ``findable_g``: the size that the test finds at p < .05 in four of five tries;
        - ``tested``: what the independent values are, and whether they are paired; ``differs``: p_adjusted < .05 and
          the interval of the difference does not hold 0.

        Numbers are nan where they are undefined: no test of a measure that is not `claimed`, with fewer than two
        clusters on a side, or where all values are equal, no interval where nothing varies within any group.

    Notes
    -----
    Where at least half of the clusters of the smaller side stand on both, differences within clusters are tested
    (`paired`), and the other clusters are left out; else clusters change sides (`two_samples`).

    References
    ----------
    Welch, B. L. (1947). The generalization of "Student's" problem when several different population variances are
    involved. Biometrika, 34(1-2), 28-35.

    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics Bulletin,
    2(6), 110-114.
    """
    sides = [aligned(data, one) for one in contrasts]
    claimed = np.array([one.claimed for one in data.measures])
    found = [_permuted(one, claimed, permutations, seed) for one in sides]
    adjusted = across_contrasts(found)
    within = _within_groups(data)
    parts = [_rows(data, one, test, p, within) for one, test, p in zip(sides, found, adjusted, strict=True)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def aligned(data: Grouped, one: Contrast) -> Aligned:
    """Return the cluster means of a contrast, and whether they are paired."""
    mine, theirs = np.unique(data.cluster[one.own]), np.unique(data.cluster[one.other])
    shared = np.intersect1d(mine, theirs)
    is_paired = len(shared) >= FEWEST_UNITS and len(shared) >= _PAIRED_SHARE * min(len(mine), len(theirs))
    n_left_out = len(np.setxor1d(mine, theirs)) if is_paired else 0
    if is_paired:
        both = np.isin(data.cluster, shared)
        one = replace(one, own=one.own & both, other=one.other & both)
    x, y = (cluster_means(data.values[mask], data.cluster[mask]) for mask in (one.own, one.other))
    if is_paired:
        undefined = np.isnan(x) | np.isnan(y)
        x, y = np.where(undefined, np.nan, x), np.where(undefined, np.nan, y)
    return Aligned(one, x, y, is_paired, n_left_out)


def cluster_means(values: Floats, cluster: Ints) -> Floats:
    """Return the mean of each cluster's sessions, (k, m) from (n, m), by number of the cluster; nan without a value."""
    _, place = np.unique(cluster, return_inverse=True)
    k = int(place.max()) + 1 if len(place) else 0
    sums, n = np.zeros((k, values.shape[1])), np.zeros((k, values.shape[1]))
    np.add.at(sums, place, np.nan_to_num(values))
    np.add.at(n, place, (~np.isnan(values)).astype(np.float64))
    found = np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0)
    # Of one session the value itself, which is not quite its sum by its number.
    return values[np.argsort(place, kind="stable")] if len(values) == k else found


def mean_with_ends(data: Grouped, units: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean over clusters (k, m) of each measure with its 95 % interval, each (m,), within its range."""
    return _mean(data, units, _within_groups(data))


def _permuted(one: Aligned, claimed: Bools, permutations: int, seed: int) -> Permuted:
    """Test the measures of which something may be claimed; the others are left undefined, and out of the family."""
    x, y = np.where(claimed, one.x, np.nan), np.where(claimed, one.y, np.nan)
    if one.paired:
        return paired(_exactly(x - y, x), permutations, seed)
    return two_samples(x, y, permutations, seed)


def _exactly(differences: Floats, values: Floats) -> Floats:
    """Return differences, 0 where they are but rounding."""
    return np.where(np.abs(differences) <= _ROUNDING * np.abs(values), 0.0, differences)


def _moments(units: Floats) -> tuple[Floats, Floats, Floats]:
    """Return number, mean, and sum of squared deviations of each column; exactly 0 where values are equal."""
    there = ~np.isnan(units)
    n = there.sum(axis=0).astype(np.float64)
    mean = np.divide(np.where(there, units, 0.0).sum(axis=0), n, out=np.full(len(n), np.nan), where=n > 0)
    deviations = np.where(there, units - mean, 0.0)
    largest = np.abs(np.where(there, units, 0.0)).max(axis=0, initial=0.0)
    squares = (deviations**2).sum(axis=0)
    return n, mean, np.where(np.abs(deviations).max(axis=0, initial=0.0) <= _ROUNDING * largest, 0.0, squares)


def _within_groups(data: Grouped) -> tuple[Floats, Floats]:
    """Return the variance of clusters within groups, and its degrees of freedom, (m,) each."""
    squares, df = np.zeros(len(data.measures)), np.zeros(len(data.measures))
    for group in np.unique(data.group):
        own = data.group == group
        n, _, deviations = _moments(cluster_means(data.values[own], data.cluster[own]))
        squares, df = squares + deviations, df + np.maximum(n - 1, 0)
    return np.divide(squares, df, out=np.zeros_like(df), where=df > 0), df


def _mean(data: Grouped, units: Floats, within: tuple[Floats, Floats]) -> tuple[Floats, Floats, Floats]:
    n, mean, squares = _moments(units)
    low, high = _ranges(data)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = _t(n - 1) * np.sqrt(moderated(squares, n, within[0]) / n)
    reach[(n < FEWEST_UNITS) | ~(reach > 0)] = np.nan
    return mean, np.maximum(mean - reach, low), np.minimum(mean + reach, high)


def _ranges(data: Grouped) -> tuple[Floats, Floats]:
    return np.array([one.low for one in data.measures]), np.array([one.high for one in data.measures])


def _t(df: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(stats.t.ppf(0.975, np.where(df > 0, df, np.nan)), dtype=np.float64)


def _difference(data: Grouped, one: Aligned, within: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the difference of means with its 95 % interval, no wider than the range of the measure allows."""
    difference, reach = _paired_reach(one) if one.paired else _welch_reach(one, within)
    low, high = _ranges(data)
    return difference, np.maximum(difference - reach, low - high), np.minimum(difference + reach, high - low)


def _paired_reach(one: Aligned) -> tuple[Floats, Floats]:
    n, mean, squares = _moments(one.x - one.y)
    scale = np.fmax.reduce(np.abs(np.concatenate([one.x, one.y])), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = _t(n - 1) * np.sqrt(squares / (n - 1) / n)
    reach[(n < FEWEST_UNITS) | ~(reach > _ROUNDING * scale)] = np.nan
    return mean, reach


def _welch_reach(one: Aligned, within: Floats) -> tuple[Floats, Floats]:
    (n, mean, squares), (k, other, others) = _moments(one.x), _moments(one.y)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (squares + others) / (n + k - 2)
        pooled = np.where(pooled > 0, pooled, within)
        first, second = moderated(squares, n, pooled) / n, moderated(others, k, pooled) / k
        df = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (k - 1))
        reach = _t(df) * np.sqrt(first + second)
    reach[(np.minimum(n, k) < FEWEST_UNITS) | ~(reach > 0)] = np.nan
    return mean - other, reach


def _rows(data: Grouped, one: Aligned, test: Permuted, adjusted: Floats, within: tuple[Floats, Floats]) -> pd.DataFrame:
    n, k = (_count(units) for units in (one.x, one.y))
    mean, mean_lo, mean_hi = _mean(data, one.x, within)
    other, other_lo, other_hi = _mean(data, one.y, within)
    difference, low, high = _difference(data, one, within[0])
    sizes = [_effect(one, j) for j in range(len(data.measures))]
    return pd.DataFrame(
        {
            "group": one.contrast.group,
            "against": one.contrast.against,
            "measure": [each.name for each in data.measures],
            "n_clusters": n,
            "n_clusters_against": k,
            "n_left_out": one.n_left_out,
            "mean": mean,
            "mean_lo": mean_lo,
            "mean_hi": mean_hi,
            "mean_against": other,
            "mean_against_lo": other_lo,
            "mean_against_hi": other_hi,
            "difference": difference,
            "difference_lo": low,
            "difference_hi": high,
            "p": test.p,
            "p_method": np.where(np.isnan(test.p), "", test.method),
            "p_adjusted": adjusted,
            "hedges_g": [size.g for size in sizes],
            "hedges_g_lo": [size.lo for size in sizes],
            "hedges_g_hi": [size.hi for size in sizes],
            "shown_alike": [size.alike for size in sizes],
            "findable_g": _findable(one, n, k),
            "tested": _tested(data, one),
            "differs": (adjusted < 0.05) & ((low > 0) | (high < 0)),
        }
    )


def _count(units: Floats) -> Ints:
    return np.asarray((~np.isnan(units)).sum(axis=0), dtype=np.int64)


def _effect(one: Aligned, j: int) -> Effect:
    if one.paired:
        there = ~np.isnan(one.x[:, j])
        return paired_effect(one.x[there, j], one.y[there, j])
    x, y = one.x[:, j], one.y[:, j]
    return effect(summary(x[~np.isnan(x)]), summary(y[~np.isnan(y)]))


def _findable(one: Aligned, n: Ints, k: Ints) -> list[float]:
    if not one.paired:
        return [findable(int(a), int(b)) for a, b in zip(n, k, strict=True)]
    # In standard deviations of single values, as g is: differences within pairs vary less.
    own, other, apart = (_variance(units) for units in (one.x, one.y, one.x - one.y))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.sqrt(apart / ((own + other) / 2))
    return [findable_paired(int(a)) * float(b) for a, b in zip(n, share, strict=True)]


def _variance(units: Floats) -> Floats:
    n, _, squares = _moments(units)
    variance: Floats = np.divide(squares, n - 1, out=np.full(len(n), np.nan), where=n > 1)
    return variance


def _tested(data: Grouped, one: Aligned) -> str:
    if one.paired:
        return f"paired by {data.clustered_by}"
    return "sessions" if data.clustered_by == SESSION else f"means by {data.clustered_by}"
