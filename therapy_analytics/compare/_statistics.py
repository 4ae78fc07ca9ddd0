"""The rows of the comparison: each measure of one group beside that of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.compare._contrasts import (
    FEWEST_UNITS,
    PERMUTATIONS,
    aligned,
    cluster_means,
    contrast_tests,
    mean_with_ends,
)
from therapy_analytics.compare._groups import Bools, Contrast, Floats, Grouped
from therapy_analytics.compare._tests import sessions_needed, summary

DIFFERS, ALIKE, UNCLEAR, CONSTANT, TOO_FEW = "differs", "alike", "unclear", "constant", "too few"
NOT_TESTED = "not tested"
QUANTILES = {"q05": 0.05, "q25": 0.25, "q75": 0.75, "q95": 0.95}


def comparison_table(
    data: Grouped, contrasts: Sequence[Contrast], *, permutations: int = PERMUTATIONS, seed: int = 0
) -> pd.DataFrame:
    """Return a row for each contrast and measure; p_adjusted is over all rows."""
    tests = contrast_tests(data, contrasts, permutations=permutations, seed=seed)
    if tests.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    beside = pd.concat([_beside(data, aligned(data, one).contrast) for one in contrasts], ignore_index=True)
    return with_findings(pd.concat([tests, beside], axis=1))[list(COLUMNS)]


def _beside(data: Grouped, one: Contrast) -> pd.DataFrame:
    """Return what stands beside the tests of a contrast: what is measured, and of how many sessions."""
    both = data.values[one.own | one.other]
    described = {name: [getattr(each, name) for each in data.measures] for name in ("family", "evidence", "unit")}
    constant = [_constant(column) for column in both.T]
    return pd.DataFrame(
        described | _of_sessions(data, one.own, "") | _of_sessions(data, one.other, "_against") | {"constant": constant}
    )


def _of_sessions(data: Grouped, own: Bools, end: str) -> dict[str, Any]:
    """Return what sessions of a side have, each counted alike."""
    values = data.values[own]
    there = ~np.isnan(values)
    return {
        f"n_sessions{end}": there.sum(axis=0),
        f"n_turns{end}": there.T @ np.nan_to_num(data.turns[own]),
        f"session_mean{end}": _columns(values, np.mean),
        f"session_median{end}": _columns(values, np.median),
    }


def _columns(values: Floats, of: Callable[[Floats], Any]) -> Floats:
    defined = [column[~np.isnan(column)] for column in values.T]
    return np.array([float(of(column)) if len(column) else np.nan for column in defined])


def _constant(values: Floats) -> bool:
    defined = values[~np.isnan(values)]
    return len(defined) > 0 and bool(np.ptp(defined) == 0)


def with_findings(table: pd.DataFrame) -> pd.DataFrame:
    """Say what each row shows, and how many values would show a difference of its size."""
    fewer = table[["n_clusters", "n_clusters_against"]].min(axis=1)
    cases = [table["constant"], fewer < FEWEST_UNITS, table["p"].isna(), table["differs"], table["shown_alike"]]
    names = [CONSTANT, TOO_FEW, NOT_TESTED, DIFFERS, ALIKE]
    finding = np.select([case.astype(bool) for case in cases], names, default=UNCLEAR)
    known = (finding == UNCLEAR) & ~table["tested"].str.startswith("paired").to_numpy(dtype=bool)
    needed = [
        sessions_needed(float(g)) if open_ and not isnan(g) else 0
        for g, open_ in zip(table["hedges_g"], known, strict=True)
    ]
    return table.assign(finding=finding, n_needed=pd.Series([n or None for n in needed], dtype="Int64"))


_SIDE = ("n_sessions", "n_clusters", "n_turns", "mean", "mean_lo", "mean_hi", "session_mean", "session_median")


def _against(name: str) -> str:
    stem, _, end = name.rpartition("_")
    return f"{stem}_against_{end}" if end in ("lo", "hi") else f"{name}_against"


COLUMNS = (
    *("measure", "family", "evidence", "unit", "group", "against", "finding"),
    *_SIDE,
    *map(_against, _SIDE),
    *("difference", "difference_lo", "difference_hi", "p", "p_method", "p_adjusted"),
    *("hedges_g", "hedges_g_lo", "hedges_g_hi", "tested", "n_left_out", "findable_g", "n_needed"),
)
"""Columns of ``comparison.csv``, besides those of mixed models and reference profiles."""


def groups_table(data: Grouped) -> pd.DataFrame:
    """Return a row for each group and measure: how many, the mean over clusters with its interval, and sessions."""
    parts = [_group(data, name, data.group == i) for i, name in enumerate(data.names)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(GROUP_COLUMNS))


GROUP_COLUMNS = ("kind", "group", "measure", "family", "unit", *_SIDE, "sd", *QUANTILES)


def _group(data: Grouped, name: str, own: Bools) -> pd.DataFrame:
    values = data.values[own]
    units = cluster_means(values, data.cluster[own])
    mean, low, high = mean_with_ends(data, units)
    described = {
        "kind": "group",
        "group": name,
        "measure": [one.name for one in data.measures],
        "family": [one.family for one in data.measures],
        "unit": [one.unit for one in data.measures],
        "n_clusters": (~np.isnan(units)).sum(axis=0),
        "mean": mean,
        "mean_lo": low,
        "mean_hi": high,
        "sd": _columns(values, lambda column: summary(column)[1] if len(column) > 1 else np.nan),
    }
    spread = {key: _columns(values, partial(np.quantile, q=at)) for key, at in QUANTILES.items()}
    return pd.DataFrame(described | _of_sessions(data, own, "") | spread)[list(GROUP_COLUMNS)]
