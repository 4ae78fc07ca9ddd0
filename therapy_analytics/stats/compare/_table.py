"""The rows of a comparison: the mean over clusters, for test, difference, interval and effect size alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import SESSION, Bools, Floats, Ints
from therapy_analytics.stats.compare import _effects as fx
from therapy_analytics.stats.compare._groups import GroupContrast, Grouped
from therapy_analytics.stats.compare._like_length import LikeLength, in_bins, of_excess, of_rates, places
from therapy_analytics.stats.compare._measures import SYNCHRONY
from therapy_analytics.stats.compare._permutation import Permuted, moderated, paired, two_samples

PERMUTATIONS = 10_000
FEWEST_CLUSTERS = 2
"""Clusters of a side that an interval needs."""
FEWEST_TO_CLAIM, FEWEST_EVENTS = 4, 5
"""Clusters of a side, and turns with the code that a side would have at the rate of both, that a claim needs."""
DIFFERS, ALIKE, UNCLEAR, CONSTANT, TOO_FEW = "differs", "alike", "unclear", "constant", "too few"
NOT_TESTED = "not tested"
QUANTILES = {"q05": 0.05, "q25": 0.25, "q75": 0.75, "q95": 0.95}
SIDE = (
    *("n_sessions", "n_clusters", "n_turns", "count", "out_of"),
    *("mean", "mean_lo", "mean_hi", "session_mean", "session_median"),
)
_PAIRED_SHARE = 0.5
_ROUNDING = 1e-12
"""Deviations smaller than this share of the values are rounding."""


def _against(name: str) -> str:
    """Return the name of a column for the other side: ``mean_lo`` becomes ``mean_against_lo``."""
    stem, _, end = name.rpartition("_")
    return f"{stem}_against_{end}" if end in ("lo", "hi") else f"{name}_against"


COLUMNS = (
    *("measure", "family", "evidence", "unit", "group", "against", "finding"),
    *SIDE,
    *map(_against, SIDE),
    *("difference", "difference_lo", "difference_hi", "p", "p_method", "p_adjusted"),
    *("at_like_length", "at_like_length_lo", "at_like_length_hi", "like_length"),
    *("words_per_turn", "words_per_turn_against"),
    *("hedges_g", "hedges_g_lo", "hedges_g_hi", "tested", "n_left_out", "findable_g", "n_needed"),
)
"""Columns of ``comparison.csv``."""
GROUP_COLUMNS = ("kind", "group", "measure", "family", "unit", *SIDE, "sd", *QUANTILES)
"""Columns of ``groups.csv``."""


@dataclass(frozen=True, slots=True, eq=False)
class AlignedContrast:
    """A contrast with the means of its clusters, x (n, m) and y (k, m), nan where undefined.

    If `paired`, clusters are compared with themselves: row i of both is the same cluster, both are nan where one is,
    and clusters with sessions on one side only are left out, `n_left_out` of them. The masks of the contrast hold only
    the sessions that are compared.
    """

    contrast: GroupContrast
    x: Floats
    y: Floats
    paired: bool
    n_left_out: int


def comparison_table(
    data: Grouped,
    contrasts: Sequence[GroupContrast],
    *,
    turns: pd.DataFrame | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare every measure of every contrast.

    Where at least half of the clusters of the smaller side have sessions on both, differences within clusters are
    tested (`paired`), and the other clusters are left out; else clusters change sides (`two_samples`).

    Parameters
    ----------
    data : Grouped
        Sessions (n), their clusters and values of m measures.
    contrasts : sequence of GroupContrast
        Which groups are compared with which (c of them).
    turns : DataFrame, optional
        A row a turn: ``session_id``, ``n_words`` and codes, for differences of rates at like length.
    permutations, seed : int, optional
        Number and seed of random permutations, where there are more than 20,000 to enumerate.

    Returns
    -------
    DataFrame
        A row for each contrast and measure, in this order (c times m), with the columns

        - ``measure``, ``family``, ``evidence``, ``unit``, ``group``, ``against``;
        - ``finding``: `DIFFERS` where p_adjusted < .05 and the interval of the difference excludes 0, and of synchrony
          also that at like length, on the same side; `ALIKE` where the 90 % interval of Hedges' g lies within half a
          standard deviation; `UNCLEAR` where neither is shown; `NOT_TESTED`, `CONSTANT` or `TOO_FEW`;
        - ``n_sessions``, ``n_clusters`` (with a defined value), ``n_turns``; of rates ``count`` turns ``out_of`` all
          that could have the code; ``mean``, ``mean_lo``, ``mean_hi``: mean over clusters with its 95 % interval, in
          the measure's unit and within its range; ``session_mean``, ``session_median``: each session counted once; and
          all of these with ``_against`` for the other side;
        - ``difference``, ``difference_lo``, ``difference_hi``: of the two means over clusters, with its 95 % interval;
        - ``p`` of the permutation test, ``p_method``, and ``p_adjusted`` for all rows (Holm: the family-wise error
          rate);
        - ``at_like_length`` and its 95 % interval: the difference of rates within bins of words (`of_rates`), of
          synchrony with the length of sessions held constant (`of_excess`); ``like_length`` says which;
          ``words_per_turn`` of both sides;
        - ``hedges_g``, ``hedges_g_lo``, ``hedges_g_hi``: the difference in standard deviations of clusters;
        - ``tested``: what the independent values are, and whether they are paired; ``n_left_out``: clusters on one
          side only that a paired contrast leaves out;
        - ``findable_g``: the g that the test detects with a power of .8; ``n_needed``: the clusters a group needs to
          detect the observed g with this power, for unpaired rows that are unclear.

        Numbers are nan where undefined. There is no test of a measure that is not `claimed`, where a side has fewer
        than four clusters or would have fewer than five turns with the code at the rate of both sides together, where
        all values are equal, or where `Grouped.barred` says why; no interval where nothing varies within any group.

    References
    ----------
    Welch, B. L. (1947). The generalization of "Student's" problem when several different population variances are
    involved. Biometrika, 34(1-2), 28-35.

    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics, 6(2),
    65-70.
    """
    if not contrasts:
        return pd.DataFrame(columns=list(COLUMNS))
    within, length = variance_within_groups(data), lengths(data.sessions)
    place = places(turns, data.sessions["session_id"]) if turns is not None else np.zeros(0, dtype=np.int64)
    binned = [in_bins(turns, place, len(data.sessions), one.code) if turns is not None else None
              for one in data.measures]  # fmt: skip
    parts = []
    for contrast in contrasts:
        one = _aligned(data, contrast)
        few = _too_few(data, one)
        test = _permuted(one, _claimed(data) & ~few, permutations, seed)
        like = [_like_length(data, one, j, found, length) for j, found in enumerate(binned)]
        rows = _rows(data, one, within).assign(p=test.p, p_method=np.where(np.isnan(test.p), "", test.method), few=few)
        parts.append(rows.assign(**_of_like_length(like)))
    table = pd.concat(parts, ignore_index=True)
    table["p_adjusted"] = fx.holm(table["p"].to_numpy(dtype=np.float64))
    apart = beside_zero(table, "difference")
    also = beside_zero(table, "at_like_length")
    sure = apart.ne(0) & (table["family"].ne(SYNCHRONY) | also.eq(apart))
    return with_findings(table.assign(differs=(table["p_adjusted"] < 0.05) & sure))[list(COLUMNS)]


def _claimed(data: Grouped) -> Bools:
    """Return of which measures (m,) something may be claimed."""
    return np.array([one.claimed and not data.barred for one in data.measures], dtype=np.bool_)


def _too_few(data: Grouped, one: AlignedContrast) -> Bools:
    """Return of which measures (m,) a side has too few clusters, or would have too few turns with the code."""
    masks = one.contrast.own, one.contrast.other
    sums = [np.nansum(np.where(np.isnan(data.values[mask])[..., None], np.nan, data.counts[mask]), axis=0)
            for mask in masks]  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = (sums[0] + sums[1])[:, 0] / (sums[0] + sums[1])[:, 1]
    fewest = np.minimum(sums[0][:, 1], sums[1][:, 1]) * np.minimum(rate, 1 - rate)
    clusters = np.minimum(_count(one.x), _count(one.y))
    return np.asarray((clusters < FEWEST_TO_CLAIM) | (fewest < FEWEST_EVENTS))


def lengths(sessions: pd.DataFrame) -> Floats:
    """Return the logarithms of turns and of words per turn of each session (n, 2), nan where unknown."""
    asked = sessions.reindex(columns=["n_turns", "n_words_therapist", "n_words_client"]).to_numpy(dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(np.column_stack([asked[:, 0], asked[:, 1:].sum(axis=1) / asked[:, 0]]))
    return np.where(np.isfinite(found), found, np.nan)


def _like_length(data: Grouped, one: AlignedContrast, j: int, found: Floats | None, length: Floats) -> LikeLength:
    """Return the difference of measure `j` at like length; undefined where the measure has none."""
    masks = one.contrast.own, one.contrast.other
    if found is not None:
        return of_rates(found, *masks, data.cluster, paired=one.paired)
    if data.measures[j].family != SYNCHRONY:
        return LikeLength()
    known = ~np.isnan(data.values[:, j])[:, None]
    own, other = (cluster_means(np.where(known, length, np.nan)[mask], data.cluster[mask]) for mask in masks)
    return of_excess(one.x[:, j], one.y[:, j], (own, other), paired=one.paired)


def _of_like_length(found: Sequence[LikeLength]) -> dict[str, list[float] | list[str]]:
    return {
        "at_like_length": [one.difference for one in found],
        "at_like_length_lo": [one.lo for one in found],
        "at_like_length_hi": [one.hi for one in found],
        "like_length": [one.how for one in found],
        "words_per_turn": [one.words for one in found],
        "words_per_turn_against": [one.words_against for one in found],
    }


def beside_zero(table: pd.DataFrame, name: str) -> pd.Series:
    """Return 1 where an interval lies above 0, -1 where it lies below, and 0 elsewhere."""
    return (table[f"{name}_lo"] > 0).astype(int) - (table[f"{name}_hi"] < 0).astype(int)


def with_findings(table: pd.DataFrame) -> pd.DataFrame:
    """Add what each row shows (``finding``), and the clusters a group that its difference needs (``n_needed``).

    Its columns ``constant``, ``few``, ``differs`` and ``shown_alike`` say what is known of each row.
    """
    cases = [table["constant"], table["few"], table["p"].isna(), table["differs"], table["shown_alike"]]
    names = [CONSTANT, TOO_FEW, NOT_TESTED, DIFFERS, ALIKE]
    finding = np.select([case.astype(bool) for case in cases], names, default=UNCLEAR)
    is_open = (finding == UNCLEAR) & ~table["tested"].str.startswith("paired").to_numpy(dtype=bool)
    needed = [fx.sessions_needed(float(g)) if one else 0 for g, one in zip(table["hedges_g"], is_open, strict=True)]
    return table.assign(finding=finding, n_needed=pd.Series([n or None for n in needed], dtype="Int64"))


def groups_table(data: Grouped) -> pd.DataFrame:
    """Return a row for each group and measure, with the columns `GROUP_COLUMNS`: the side of a contrast, and spread."""
    within = variance_within_groups(data)
    parts = []
    for i, name in enumerate(data.names):
        own = data.group == i
        values = pd.DataFrame(data.values[own])
        about = {"kind": "group", "group": name, **_about(data, "family", "unit")}
        side = _side(data, own, cluster_means(data.values[own], data.cluster[own]), within)
        spread = {"sd": values.std()} | {key: values.quantile(at) for key, at in QUANTILES.items()}
        parts.append(pd.DataFrame(about | side | spread)[list(GROUP_COLUMNS)])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(GROUP_COLUMNS))


def _about(data: Grouped, *keys: str) -> dict[str, list[str]]:
    return {"measure": [one.name for one in data.measures]} | {
        key: [getattr(one, key) for one in data.measures] for key in keys
    }


def _aligned(data: Grouped, one: GroupContrast) -> AlignedContrast:
    """Return the cluster means of a contrast, paired where enough clusters have sessions on both sides."""
    mine, theirs = np.unique(data.cluster[one.own]), np.unique(data.cluster[one.other])
    shared = np.intersect1d(mine, theirs)
    is_paired = len(shared) >= FEWEST_CLUSTERS and len(shared) >= _PAIRED_SHARE * min(len(mine), len(theirs))
    if is_paired:
        both = np.isin(data.cluster, shared)
        one = replace(one, own=one.own & both, other=one.other & both)
    x, y = (cluster_means(data.values[mask], data.cluster[mask]) for mask in (one.own, one.other))
    if is_paired:
        undefined = np.isnan(x) | np.isnan(y)
        x, y = np.where(undefined, np.nan, x), np.where(undefined, np.nan, y)
    return AlignedContrast(one, x, y, is_paired, len(np.setxor1d(mine, theirs)) if is_paired else 0)


def cluster_means(values: Floats, cluster: Ints) -> Floats:
    """Return the mean of each cluster's sessions (k, m), in ascending order of clusters, nan where undefined.

    From values (n, m) of sessions and their clusters (n,).
    """
    _, place = np.unique(cluster, return_inverse=True)
    k = int(place.max()) + 1 if len(place) else 0
    sums, n = np.zeros((k, values.shape[1])), np.zeros((k, values.shape[1]))
    np.add.at(sums, place, np.nan_to_num(values))
    np.add.at(n, place, (~np.isnan(values)).astype(np.float64))
    return np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0)


def variance_within_groups(data: Grouped) -> Floats:
    """Return the variance of cluster means within groups (m,), pooled over all groups; 0 where undefined."""
    squares, df = np.zeros(len(data.measures)), np.zeros(len(data.measures))
    for group in np.unique(data.group):
        own = data.group == group
        n, _, deviations = _moments(cluster_means(data.values[own], data.cluster[own]))
        squares, df = squares + deviations, df + np.maximum(n - 1, 0)
    return np.divide(squares, df, out=np.zeros_like(df), where=df > 0)


def mean_with_interval(data: Grouped, units: Floats, within: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean over clusters and its 95 % interval, within the range of each measure, (m,) each.

    From the means of the clusters, `units` (k, m), whose variance is shrunk toward that `within` groups (m,).
    """
    n, mean, squares = _moments(units)
    low, high = _ranges(data)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = _t(n - 1) * np.sqrt(moderated(squares, n, within) / n)
    reach[(n < FEWEST_CLUSTERS) | ~(reach > 0)] = np.nan
    return mean, np.maximum(mean - reach, low), np.minimum(mean + reach, high)


def _permuted(one: AlignedContrast, claimed: Bools, permutations: int, seed: int) -> Permuted:
    """Test the measures of which something may be claimed; the others stay undefined, and out of the family."""
    x, y = np.where(claimed, one.x, np.nan), np.where(claimed, one.y, np.nan)
    if not one.paired:
        return two_samples(x, y, permutations, seed)
    differences = x - y
    differences[np.abs(differences) <= _ROUNDING * np.abs(x)] = 0.0
    return paired(differences, permutations, seed)


def _moments(units: Floats) -> tuple[Floats, Floats, Floats]:
    """Return number, mean, and sum of squared deviations of each column; exactly 0 where values are equal."""
    there = ~np.isnan(units)
    n = there.sum(axis=0).astype(np.float64)
    known = np.where(there, units, 0.0)
    mean = np.divide(known.sum(axis=0), n, out=np.full(len(n), np.nan), where=n > 0)
    deviations = np.where(there, units - mean, 0.0)
    rounding = _ROUNDING * np.abs(known).max(axis=0, initial=0.0)
    equal = np.abs(deviations).max(axis=0, initial=0.0) <= rounding
    return n, mean, np.where(equal, 0.0, (deviations**2).sum(axis=0))


def _ranges(data: Grouped) -> tuple[Floats, Floats]:
    return np.array([one.low for one in data.measures]), np.array([one.high for one in data.measures])


def _t(df: Floats) -> Floats:
    """Return the .975 quantile of Student's t; nan without degrees of freedom."""
    with np.errstate(invalid="ignore"):
        return np.asarray(stats.t.ppf(0.975, np.where(df > 0, df, np.nan)), dtype=np.float64)


def _paired_reach(one: AlignedContrast) -> tuple[Floats, Floats]:
    """Return the mean difference within clusters and half the length of its interval, (m,) each."""
    n, mean, squares = _moments(one.x - one.y)
    scale = np.fmax.reduce(np.abs(np.concatenate([one.x, one.y])), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = _t(n - 1) * np.sqrt(squares / (n - 1) / n)
    reach[(n < FEWEST_CLUSTERS) | ~(reach > _ROUNDING * scale)] = np.nan
    return mean, reach


def _welch_reach(one: AlignedContrast, within: Floats) -> tuple[Floats, Floats]:
    """Return the difference of means and half the length of its interval (Welch, moderated variances), (m,) each."""
    (n, mean, squares), (k, other, others) = _moments(one.x), _moments(one.y)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (squares + others) / (n + k - 2)
        pooled = np.where(pooled > 0, pooled, within)
        first, second = moderated(squares, n, pooled) / n, moderated(others, k, pooled) / k
        df = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (k - 1))
        reach = _t(df) * np.sqrt(first + second)
    reach[(np.minimum(n, k) < FEWEST_CLUSTERS) | ~(reach > 0)] = np.nan
    return mean - other, reach


def _rows(data: Grouped, one: AlignedContrast, within: Floats) -> pd.DataFrame:
    """Return all columns of a contrast but those of its test."""
    contrast = one.contrast
    theirs = _side(data, contrast.other, one.y, within)
    difference, reach = _paired_reach(one) if one.paired else _welch_reach(one, within)
    low, high = _ranges(data)
    sizes = [_effect(one, j) for j in range(len(data.measures))]
    means = "sessions" if data.clustered_by == SESSION else f"means by {data.clustered_by}"
    return pd.DataFrame(
        {
            "group": contrast.group,
            "against": contrast.against,
            **_about(data, "family", "evidence", "unit"),
            **_side(data, contrast.own, one.x, within),
            **{_against(key): value for key, value in theirs.items()},
            "constant": pd.DataFrame(data.values[contrast.own | contrast.other]).nunique() == 1,
            "n_left_out": one.n_left_out,
            "difference": difference,
            "difference_lo": np.maximum(difference - reach, low - high),
            "difference_hi": np.minimum(difference + reach, high - low),
            "hedges_g": [size.g for size in sizes],
            "hedges_g_lo": [size.lo for size in sizes],
            "hedges_g_hi": [size.hi for size in sizes],
            "shown_alike": [size.alike for size in sizes],
            "findable_g": _findable(one),
            "tested": f"paired by {data.clustered_by}" if one.paired else means,
        }
    )


def _side(data: Grouped, own: Bools, units: Floats, within: Floats) -> dict[str, Any]:
    """Return the columns `SIDE` of the sessions `own` (n,) with the cluster means `units` (k, m), each (m,)."""
    values = pd.DataFrame(data.values[own])
    counted = np.where(values.isna().to_numpy()[..., None], np.nan, data.counts[own])
    known = np.array([not np.isnan(counted[:, j]).all() for j in range(counted.shape[1])], dtype=np.bool_)
    columns = (
        values.count(),
        _count(units),
        values.notna().to_numpy().T @ np.nan_to_num(data.turns[own]),
        *np.where(known[:, None], np.nansum(counted, axis=0), np.nan).T,
        *mean_with_interval(data, units, within),
        values.mean(),
        values.median(),
    )
    return dict(zip(SIDE, columns, strict=True))


def _count(units: Floats) -> Ints:
    return np.asarray((~np.isnan(units)).sum(axis=0), dtype=np.int64)


def _effect(one: AlignedContrast, j: int) -> fx.EffectSize:
    x, y = (units[~np.isnan(units[:, j]), j] for units in (one.x, one.y))
    return fx.paired_effect(x, y) if one.paired else fx.effect(fx.summary(x), fx.summary(y))


def _findable(one: AlignedContrast) -> list[float]:
    n, k = _count(one.x), _count(one.y)
    if not one.paired:
        return [fx.findable(int(a), int(b)) for a, b in zip(n, k, strict=True)]
    # In standard deviations of single values, as g is: differences within pairs vary less.
    own, other, apart = (_variance(units) for units in (one.x, one.y, one.x - one.y))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.sqrt(apart / ((own + other) / 2))
    return [fx.findable_paired(int(a)) * float(b) for a, b in zip(n, share, strict=True)]


def _variance(units: Floats) -> Floats:
    n, _, squares = _moments(units)
    return np.asarray(np.divide(squares, n - 1, out=np.full(len(n), np.nan), where=n > 1), dtype=np.float64)
