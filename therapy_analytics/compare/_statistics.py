"""The rows of the comparison: each measure of one group beside that of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import isnan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.compare._bootstrap import (
    FEWEST,
    Draws,
    affordable,
    drawn_means,
    drawn_medians,
    interval,
)
from therapy_analytics.compare._groups import SESSION, Bools, Contrast, Floats, Grouped, Ints
from therapy_analytics.compare._measures import Measured
from therapy_analytics.compare._tests import (
    Effect,
    RankTest,
    across_all,
    effect,
    findable,
    rank_test,
    sessions_needed,
    summary,
    t_test,
)

DIFFERS, ALIKE, UNCLEAR, CONSTANT, TOO_FEW = "differs", "alike", "unclear", "constant", "too few"
FEWEST_UNITS = 2
"""Independent values of a group without which there is no test."""
QUANTILES = {"q05": 0.05, "q25": 0.25, "q75": 0.75, "q95": 0.95}
_KEPT = 24


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Side:
    """One side of a comparison; m measures, k clusters.

    Attributes
    ----------
    sessions, clusters : int arrays (m,)
        Sessions and clusters with a defined value.
    turns : float array (m,)
        Their turns.
    mean, median : float arrays (m,)
        Over sessions.
    mean_ends, median_ends : float arrays (m, 2)
        Their 95 % intervals.
    means, medians : float arrays (m, n_draws)
        Of each draw.
    units : float array (k, m)
        The independent values: means of clusters.
    """

    sessions: Ints
    clusters: Ints
    turns: Floats
    mean: Floats
    median: Floats
    mean_ends: Floats
    median_ends: Floats
    means: Floats
    medians: Floats
    units: Floats


def sides(data: Grouped, draws: Draws, n_contrasts: int) -> Callable[[bytes], Side]:
    """Return a function that gives the side of a mask (its bytes), and computes no recent one twice."""
    few = draws.first(affordable(data, n_contrasts, draws.n))
    pooled = _pooled(data)

    @lru_cache(maxsize=_KEPT)
    def side(mask: bytes) -> Side:
        return _side(data, np.frombuffer(mask, dtype=np.bool_), (draws, few), pooled)

    return side


def _side(data: Grouped, own: Bools, all_draws: tuple[Draws, Draws], pooled: Floats) -> Side:
    draws, few = all_draws
    values = data.values[own]
    there = ~np.isnan(values)
    units = _units(values, data.cluster[own])
    clusters = np.count_nonzero(~np.isnan(units), axis=0)
    mean, median = _columns(values, np.mean), _columns(values, np.median)
    means, medians = drawn_means(data.values, own, draws), drawn_medians(data.values, own, few)
    ends, few_clusters = interval(means, clusters), clusters < FEWEST
    ends[few_clusters] = _t_ends(mean, units, data, pooled)[few_clusters]
    return Side(
        sessions=np.count_nonzero(there, axis=0),
        clusters=clusters,
        turns=there.T @ np.nan_to_num(data.turns[own]),
        mean=mean,
        median=median,
        mean_ends=ends,
        median_ends=interval(medians, clusters),
        means=means,
        medians=medians,
        units=units,
    )


def _units(values: Floats, cluster: Ints) -> Floats:
    """Return the mean of each cluster that has sessions, (k, m); nan where none of them has a value."""
    _, place = np.unique(cluster, return_inverse=True)
    k = int(place.max()) + 1 if len(place) else 0
    sums, n = np.zeros((k, values.shape[1])), np.zeros((k, values.shape[1]))
    np.add.at(sums, place, np.nan_to_num(values))
    np.add.at(n, place, (~np.isnan(values)).astype(np.float64))
    found = np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0)
    # Of one session the value itself, which is not quite its sum by its number.
    return values[np.argsort(place, kind="stable")] if len(values) == k else found


def _columns(values: Floats, of: Callable[[Floats], Any]) -> Floats:
    defined = [column[~np.isnan(column)] for column in values.T]
    return np.array([float(of(column)) if len(column) else np.nan for column in defined])


def _pooled(data: Grouped) -> Floats:
    """Return the standard deviation of clusters within groups and its degrees of freedom, (m, 2)."""
    squares, df = np.zeros(len(data.measures)), np.zeros(len(data.measures))
    for i in range(len(data.names)):
        units = _units(data.values[data.group == i], data.cluster[data.group == i])
        n = np.count_nonzero(~np.isnan(units), axis=0)
        means = np.divide(np.nansum(units, axis=0), n, out=np.zeros(len(n)), where=n > 0)
        squares += np.nansum((units - means) ** 2, axis=0)
        df += np.maximum(n - 1, 0)
    return np.column_stack([np.sqrt(np.divide(squares, df, out=np.zeros_like(df), where=df > 0)), df])


def _t_ends(mean: Floats, units: Floats, data: Grouped, pooled: Floats) -> Floats:
    """Return intervals by t for a handful of clusters, within the range of the measure.

    The deviation is that of all groups: that of two clients can be nothing, by chance.
    """
    found = np.full((len(mean), 2), np.nan)
    for j, one in enumerate(data.measures):
        n, (sd, df) = int(np.count_nonzero(~np.isnan(units[:, j]))), pooled[j]
        if n >= FEWEST_UNITS and sd > 0:
            half = float(stats.t.ppf(0.975, df)) * sd / sqrt(n)
            found[j] = np.clip([mean[j] - half, mean[j] + half], one.low, one.high)
    return found


def comparison_table(data: Grouped, contrasts: Sequence[Contrast], side: Callable[[bytes], Side]) -> pd.DataFrame:
    """Return a row for each contrast and measure; q is over all rows."""
    parts = [_contrast(data, one, side(one.own.tobytes()), side(one.other.tobytes())) for one in contrasts]
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    return with_findings(pd.concat(parts, ignore_index=True))[list(COLUMNS)]


def _contrast(data: Grouped, one: Contrast, own: Side, other: Side) -> pd.DataFrame:
    pairs = [_defined(own.units[:, j], other.units[:, j]) for j in range(len(data.measures))]
    described = {
        "measure": [each.name for each in data.measures],
        "family": [each.family for each in data.measures],
        "evidence": [each.evidence for each in data.measures],
        "unit": [each.unit for each in data.measures],
        "group": one.group,
        "against": one.against,
    }
    return pd.DataFrame(
        described
        | _of_side(own, "")
        | _of_side(other, "_against")
        | _differences(own, other, pairs, data.measures)
        | _tested(pairs)
        | {
            "tested": "sessions" if data.clustered_by == SESSION else f"means by {data.clustered_by}",
            "constant": [_constant(data.values[one.own | one.other, j]) for j in range(len(data.measures))],
        }
    )


def _defined(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    return x[~np.isnan(x)], y[~np.isnan(y)]


def _constant(values: Floats) -> bool:
    defined = values[~np.isnan(values)]
    return len(defined) > 0 and bool(np.ptp(defined) == 0)


def _of_side(side: Side, end: str) -> dict[str, Any]:
    return {
        f"n_sessions{end}": side.sessions,
        f"n_clusters{end}": side.clusters,
        f"n_turns{end}": side.turns,
        f"mean{end}": side.mean,
        f"mean{end}_lo": side.mean_ends[:, 0],
        f"mean{end}_hi": side.mean_ends[:, 1],
        f"median{end}": side.median,
        f"median{end}_lo": side.median_ends[:, 0],
        f"median{end}_hi": side.median_ends[:, 1],
    }


def _differences(
    own: Side, other: Side, pairs: Sequence[tuple[Floats, Floats]], measures: Sequence[Measured]
) -> dict[str, Any]:
    fewer = np.minimum(own.clusters, other.clusters)
    difference = own.mean - other.mean
    ends = interval(own.means - other.means, fewer)
    few = fewer < FEWEST
    ends[few] = np.array(
        [_t_difference(x, y, float(d), one) for (x, y), d, one in zip(pairs, difference, measures, strict=True)]
    ).reshape(-1, 2)[few]
    median_ends = interval(own.medians - other.medians, fewer)
    return {
        "difference": difference,
        "difference_lo": ends[:, 0],
        "difference_hi": ends[:, 1],
        "interval": np.where(few, "t, few clusters", "bootstrap of clusters"),
        "median_difference": own.median - other.median,
        "median_difference_lo": median_ends[:, 0],
        "median_difference_hi": median_ends[:, 1],
    }


def _t_difference(x: Floats, y: Floats, difference: float, one: Measured) -> tuple[float, float]:
    """Return the interval of a difference of means by t, around the difference of sessions."""
    reach, most = t_test(summary(x), summary(y))[0], one.high - one.low
    return max(difference - reach, -most), min(difference + reach, most)


def _tested(pairs: Sequence[tuple[Floats, Floats]]) -> dict[str, Any]:
    tests = [_test(x, y) for x, y in pairs]
    effects = [_effect(x, y) for x, y in pairs]
    return {
        "u": [one.u for one in tests],
        "p": [one.p for one in tests],
        "p_method": [one.method for one in tests],
        "rank_biserial": [one.r for one in tests],
        "hedges_g": [float(one.g) for one in effects],
        "hedges_g_lo": [float(one.lo) for one in effects],
        "hedges_g_hi": [float(one.hi) for one in effects],
        "shown_alike": [one.alike for one in effects],
        "findable_g": [findable(len(x), len(y)) for x, y in pairs],
    }


def _test(x: Floats, y: Floats) -> RankTest:
    both = np.concatenate([x, y])
    if min(len(x), len(y)) < FEWEST_UNITS or np.ptp(both) == 0:
        return RankTest(float("nan"), float("nan"), "", float("nan"))
    return rank_test(x, y)


def _effect(x: Floats, y: Floats) -> Effect:
    return effect(summary(x), summary(y))


def with_findings(table: pd.DataFrame) -> pd.DataFrame:
    """Raise p to q over all rows; say what each shows, and how many values would show a difference of its size."""
    table = table.assign(q=across_all(table["p"].to_numpy(dtype=np.float64)))
    fewer = table[["n_clusters", "n_clusters_against"]].min(axis=1)
    differs = (table["q"] < 0.05).astype(bool)
    cases = [table["constant"].astype(bool), fewer < FEWEST_UNITS, differs, table["shown_alike"].astype(bool)]
    finding = np.select(cases, [CONSTANT, TOO_FEW, DIFFERS, ALIKE], default=UNCLEAR)
    unclear = finding == UNCLEAR
    needed = [
        sessions_needed(float(g)) if open_ and not isnan(g) else 0
        for g, open_ in zip(table["hedges_g"], unclear, strict=True)
    ]
    return table.assign(finding=finding, n_needed=pd.Series([n or None for n in needed], dtype="Int64"))


_SIDE = ("n_sessions", "n_clusters", "n_turns", "mean", "mean_lo", "mean_hi", "median", "median_lo", "median_hi")


def _against(name: str) -> str:
    stem, _, end = name.rpartition("_")
    return f"{stem}_against_{end}" if end in ("lo", "hi") else f"{name}_against"


COLUMNS = (
    *("measure", "family", "evidence", "unit", "group", "against", "finding"),
    *_SIDE,
    *map(_against, _SIDE),
    *("difference", "difference_lo", "difference_hi"),
    *("median_difference", "median_difference_lo", "median_difference_hi", "interval"),
    *("u", "p", "p_method", "q", "rank_biserial", "hedges_g", "hedges_g_lo", "hedges_g_hi"),
    *("tested", "findable_g", "n_needed"),
)
"""Columns of ``comparison.csv``, besides those of mixed models and reference profiles."""


def groups_table(data: Grouped, side: Callable[[bytes], Side]) -> pd.DataFrame:
    """Return a row for each group and measure: how many, mean and median with intervals, spread, quantiles."""
    parts = [_group(data, name, data.group == i, side) for i, name in enumerate(data.names)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(GROUP_COLUMNS))


GROUP_COLUMNS = ("kind", "group", "measure", "family", "unit", *_SIDE, "sd", *QUANTILES)


def _group(data: Grouped, name: str, own: Bools, side: Callable[[bytes], Side]) -> pd.DataFrame:
    values = data.values[own]
    described = {
        "kind": "group",
        "group": name,
        "measure": [one.name for one in data.measures],
        "family": [one.family for one in data.measures],
        "unit": [one.unit for one in data.measures],
        "sd": _columns(values, lambda column: summary(column)[1] if len(column) > 1 else np.nan),
    }
    spread = {key: _columns(values, partial(np.quantile, q=at)) for key, at in QUANTILES.items()}
    return pd.DataFrame(described | _of_side(side(own.tobytes()), "") | spread)[list(GROUP_COLUMNS)]
