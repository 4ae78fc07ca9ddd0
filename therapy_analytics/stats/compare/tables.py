"""The rows of a comparison: the mean over clusters, for test, difference, interval and effect size alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import SESSION, Bools, Floats
from therapy_analytics.stats.compare import effects
from therapy_analytics.stats.compare.effects import cluster_means, moments, n_defined
from therapy_analytics.stats.compare.groups import SYNCHRONY, GroupContrast, Grouped

PERMUTATIONS = 10_000
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
"""Differences smaller than this share of the values are rounding."""


def against(name: str) -> str:
    """Return the name of a column for the other side: ``mean_lo`` becomes ``mean_against_lo``."""
    stem, _, end = name.rpartition("_")
    return f"{stem}_against_{end}" if end in ("lo", "hi") else f"{name}_against"


COLUMNS = (
    *("measure", "family", "evidence", "unit", "group", "against", "finding"),
    *SIDE,
    *map(against, SIDE),
    *("difference", "difference_lo", "difference_hi", "p", "p_method", "p_adjusted"),
    *effects.LIKE_LENGTH,
    *("hedges_g", "hedges_g_lo", "hedges_g_hi", "tested", "n_left_out", "findable_g", "n_needed"),
)
"""Columns of ``comparison.csv``."""
GROUP_COLUMNS = ("kind", "group", "measure", "family", "unit", *SIDE, "sd", *QUANTILES)
"""Columns of ``groups.csv``."""


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
    tested (`sign_flips`), and the other clusters are left out; else clusters change sides (`two_samples`).

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
        - ``at_like_length`` and its 95 % interval: the difference of rates within bins of words, of synchrony with the
          length of sessions held constant; ``like_length`` says which; ``words_per_turn`` of both sides;
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
    within = variance_within_groups(data)
    bins = [effects.in_bins(turns, data.sessions["session_id"], one.code) for one in data.measures]
    parts = [_of_contrast(data, one, within, bins, (permutations, seed)) for one in contrasts]
    table = pd.concat(parts, ignore_index=True)
    table["p_adjusted"] = effects.holm(table["p"].to_numpy(dtype=np.float64))
    apart = beside_zero(table, "difference")
    also = beside_zero(table, "at_like_length")
    sure = apart.ne(0) & (table["family"].ne(SYNCHRONY) | also.eq(apart))
    return with_findings(table.assign(differs=(table["p_adjusted"] < 0.05) & sure))[list(COLUMNS)]


def _of_contrast(
    data: Grouped, contrast: GroupContrast, within: Floats, bins: Sequence[Floats | None], drawn: tuple[int, int]
) -> pd.DataFrame:
    """Return the rows of a contrast: both sides, their difference, its test and size, and it at like length."""
    own, other = contrast.own, contrast.other
    mine, theirs = np.unique(data.cluster[own]), np.unique(data.cluster[other])
    shared = np.intersect1d(mine, theirs)
    paired = len(shared) >= effects.FEWEST_CLUSTERS and len(shared) >= _PAIRED_SHARE * min(len(mine), len(theirs))
    if paired:  # clusters on one side only are left out, and of the others measures that a side has not
        both = np.isin(data.cluster, shared)
        own, other = own & both, other & both
    x, y = (cluster_means(data.values[mask], data.cluster[mask]) for mask in (own, other))
    if paired:
        undefined = np.isnan(x) | np.isnan(y)
        x, y = np.where(undefined, np.nan, x), np.where(undefined, np.nan, y)
    few = _too_few(data, own, other, np.minimum(n_defined(x), n_defined(y)))
    tested = np.array([one.claimed and not data.barred for one in data.measures], dtype=np.bool_) & ~few
    p, method = _test(np.where(tested, x, np.nan), np.where(tested, y, np.nan), drawn, paired=paired)
    difference, reach = effects.difference_reach(x, y, within, paired=paired)
    low, high = _ranges(data)
    like = [_like_length(data, j, (own, other), (x, y), bins[j], paired=paired) for j in range(len(data.measures))]
    means = "sessions" if data.clustered_by == SESSION else f"means by {data.clustered_by}"
    rows = pd.DataFrame(
        {
            **data.about("family", "evidence", "unit"),
            "group": contrast.group,
            "against": contrast.against,
            **_side(data, own, x, within),
            **{against(key): value for key, value in _side(data, other, y, within).items()},
            "difference": difference,
            "difference_lo": np.maximum(difference - reach, low - high),
            "difference_hi": np.minimum(difference + reach, high - low),
            "p": p,
            "p_method": np.where(np.isnan(p), "", method),
            **effects.hedges_g(x, y, paired=paired),
            "tested": f"paired by {data.clustered_by}" if paired else means,
            "n_left_out": len(np.setxor1d(mine, theirs)) if paired else 0,
            "findable_g": effects.findable_g(x, y, paired=paired),
            "few": few,
            "constant": pd.DataFrame(data.values[own | other]).nunique() == 1,
        }
    )
    return rows.join(pd.DataFrame(like, columns=list(effects.LIKE_LENGTH)))


def _too_few(data: Grouped, own: Bools, other: Bools, clusters: Floats) -> Bools:
    """Return of which measures (m,) a side has too few clusters, or would have too few turns with the code."""
    sums = [np.nansum(np.where(np.isnan(data.values[mask])[..., None], np.nan, data.counts[mask]), axis=0)
            for mask in (own, other)]  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = (sums[0] + sums[1])[:, 0] / (sums[0] + sums[1])[:, 1]
    fewest = np.minimum(sums[0][:, 1], sums[1][:, 1]) * np.minimum(rate, 1 - rate)
    return np.asarray((clusters < FEWEST_TO_CLAIM) | (fewest < FEWEST_EVENTS))


def _test(x: Floats, y: Floats, drawn: tuple[int, int], *, paired: bool) -> tuple[Floats, str]:
    """Return p of each measure, and how permutations were taken; without values it is not tested."""
    if not paired:
        return effects.two_samples(x, y, *drawn)
    differences = x - y
    differences[np.abs(differences) <= _ROUNDING * np.abs(x)] = 0.0
    return effects.sign_flips(differences, *drawn)


def _like_length(
    data: Grouped,
    j: int,
    masks: tuple[Bools, Bools],
    units: tuple[Floats, Floats],
    bins: Floats | None,
    *,
    paired: bool,
) -> tuple[float, float, float, str, float, float]:
    """Return the difference of measure `j` at like length; undefined where the measure has none."""
    if bins is not None:
        sides, clusters = ((bins[masks[0]], bins[masks[1]]), (data.cluster[masks[0]], data.cluster[masks[1]]))
        return effects.rates_at_like_length(sides, clusters, paired=paired)
    if data.measures[j].family != SYNCHRONY:
        return effects.NO_LIKE_LENGTH
    length = np.where(np.isnan(data.values[:, j])[:, None], np.nan, lengths(data.sessions))
    own, other = (cluster_means(length[mask], data.cluster[mask]) for mask in masks)
    return effects.excess_at_like_length(units[0][:, j], units[1][:, j], (own, other), paired=paired)


def lengths(sessions: pd.DataFrame) -> Floats:
    """Return the logarithms of turns and of words per turn of each session (n, 2), nan where unknown."""
    asked = sessions.reindex(columns=["n_turns", "n_words_therapist", "n_words_client"]).to_numpy(dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(np.column_stack([asked[:, 0], asked[:, 1:].sum(axis=1) / asked[:, 0]]))
    return np.where(np.isfinite(found), found, np.nan)


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
    needed = [effects.sessions_needed(g) if one else 0 for g, one in zip(table["hedges_g"], is_open, strict=True)]
    return table.assign(finding=finding, n_needed=pd.Series([n or None for n in needed], dtype="Int64"))


def groups_table(data: Grouped) -> pd.DataFrame:
    """Return a row for each group and measure, with the columns `GROUP_COLUMNS`: the side of a contrast, and spread."""
    within = variance_within_groups(data)
    parts = []
    for i, name in enumerate(data.names):
        own = data.group == i
        values = pd.DataFrame(data.values[own])
        about = {"kind": "group", "group": name, **data.about("family", "unit")}
        side = _side(data, own, cluster_means(data.values[own], data.cluster[own]), within)
        spread = {"sd": values.std()} | {key: values.quantile(at) for key, at in QUANTILES.items()}
        parts.append(pd.DataFrame(about | side | spread)[list(GROUP_COLUMNS)])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(GROUP_COLUMNS))


def _side(data: Grouped, own: Bools, units: Floats, within: Floats) -> dict[str, Any]:
    """Return the columns `SIDE` of the sessions `own` (n,) with the cluster means `units` (k, m), each (m,)."""
    values = pd.DataFrame(data.values[own])
    counted = np.where(values.isna().to_numpy()[..., None], np.nan, data.counts[own])
    known = ~np.isnan(counted[..., 0]).all(axis=0)
    mean, low, high = mean_with_interval(data, units, within)
    return {
        "n_sessions": values.count(),
        "n_clusters": n_defined(units),
        "n_turns": values.notna().to_numpy().T @ np.nan_to_num(data.turns[own]),
        "count": np.where(known, np.nansum(counted[..., 0], axis=0), np.nan),
        "out_of": np.where(known, np.nansum(counted[..., 1], axis=0), np.nan),
        "mean": mean,
        "mean_lo": low,
        "mean_hi": high,
        "session_mean": values.mean(),
        "session_median": values.median(),
    }


def mean_with_interval(data: Grouped, units: Floats, within: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean over clusters and its 95 % interval, within the range of each measure, (m,) each.

    From the means of the clusters, `units` (k, m), whose variance is shrunk toward that `within` groups (m,).
    """
    mean, reach = effects.mean_reach(units, within)
    low, high = _ranges(data)
    return mean, np.maximum(mean - reach, low), np.minimum(mean + reach, high)


def variance_within_groups(data: Grouped) -> Floats:
    """Return the variance of cluster means within groups (m,), pooled over all groups; 0 where undefined."""
    squares, df = np.zeros(len(data.measures)), np.zeros(len(data.measures))
    for group in np.unique(data.group):
        own = data.group == group
        n, _, deviations = moments(cluster_means(data.values[own], data.cluster[own]))
        squares, df = squares + deviations, df + np.maximum(n - 1, 0)
    return np.divide(squares, df, out=np.zeros_like(df), where=df > 0)


def _ranges(data: Grouped) -> tuple[Floats, Floats]:
    return np.array([one.low for one in data.measures]), np.array([one.high for one in data.measures])
