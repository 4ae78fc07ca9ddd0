"""Groups beside the reference profiles, of which only summaries are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from therapy_analytics import references
from therapy_analytics.compare._groups import Bools, Grouped
from therapy_analytics.compare._statistics import with_findings
from therapy_analytics.compare._tests import Effect, Summary, across_all, effect, findable, summary, t_test

QUANTILES = ("q05", "q25", "session_median", "q75", "q95")
PLACES = (
    "below its 5th percentile",
    "in its lowest quarter",
    "between its 25th percentile and its median",
    "between its median and its 75th percentile",
    "in its highest quarter",
    "above its 95th percentile",
)
NO_PROFILES = "Reference profiles: this installation has none, so nothing is held against them."


def profiles_for(tagger: str) -> tuple[pd.DataFrame | None, str]:
    """Return the reference profiles that fit sessions so coded, or None and a sentence why not."""
    if not references.PROFILES.is_file():
        return None, NO_PROFILES
    if tagger not in references.TAGGERS:
        who = f"these sessions were coded by {tagger}" if tagger else "it is not known who coded these sessions"
        return None, f"Reference profiles rest on the taggers of the package; {who}: not held against them."
    return references.reference_profiles(cast(Literal["accurate", "fast"], tagger)), ""


def reference_rows(data: Grouped, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return rows as of ``groups.csv`` for the groups of reference."""
    known = {one.name: one for one in data.measures}
    rows = profiles[profiles["measure"].isin(list(known))].rename(columns={"median": "session_median"})
    return rows.assign(
        kind="reference",
        family=[known[name].family for name in rows["measure"]],
        unit=[known[name].unit for name in rows["measure"]],
    ).reset_index(drop=True)


def against_references(data: Grouped, groups: pd.DataFrame, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return rows as of ``comparison.csv``: each group against each group of reference.

    Notes
    -----
    Of a reference only number, mean, deviation and quantiles are known: the test is a t from these (`t_test`),
    on means of clusters of the group; a rank test would take the single sessions.
    """
    own = groups[groups["kind"] == "group"].set_index(["group", "measure"])
    reference = reference_rows(data, profiles)
    found: list[dict[str, Any]] = []
    for i, name in enumerate(data.names):
        units = _unit_summaries(data, data.group == i)
        rows = [{str(key): value for key, value in row.items()} for row in reference.to_dict("records")]
        found += [_row(own.loc[(name, row["measure"])], units[str(row["measure"])], row, data) for row in rows]
    table = pd.DataFrame(found)
    if table.empty:
        return table
    table = table.assign(p_adjusted=across_all(table["p"].to_numpy(dtype=np.float64)))
    sure = (table["difference_lo"] > 0) | (table["difference_hi"] < 0)
    return with_findings(table.assign(differs=(table["p_adjusted"] < 0.05) & sure))


def _unit_summaries(data: Grouped, own: Bools) -> dict[str, Summary]:
    cluster, values = data.cluster[own], data.values[own]
    units = pd.DataFrame(values).groupby(cluster).mean().to_numpy()
    return {one.name: summary(units[:, j][~np.isnan(units[:, j])]) for j, one in enumerate(data.measures)}


def _row(own: pd.Series, units: Summary, row: dict[str, Any], data: Grouped) -> dict[str, Any]:
    evidence = next(one.evidence for one in data.measures if one.name == row["measure"])
    other = float(row["mean"]), float(row["sd"]), int(row["n_sessions"])
    sides = {key: own[key] for key in own.index if str(key).startswith(("n_", "mean", "session_"))}
    size = effect(units, other)
    against = {f"{key}_against": row.get(key) for key in ("n_sessions", "mean", "session_median")}
    ends = {f"mean_against_{end}": row.get(f"mean_{end}") for end in ("lo", "hi")}
    return {
        "measure": row["measure"],
        "family": own["family"],
        "evidence": evidence,
        "unit": own["unit"],
        "group": own.name[0] if isinstance(own.name, tuple) else own.name,
        "against": f"reference: {row['group']}",
        **sides,
        **against,
        **ends,
        "n_clusters_against": row["n_sessions"],
        **_tested(units, other),
        **_sizes(size, units, other),
        "reference_place": _place(float(own["session_median"]), row),
        "tested": "summaries",
    }


def _sizes(size: Effect, units: Summary, other: Summary) -> dict[str, Any]:
    return {
        "hedges_g": float(size.g),
        "hedges_g_lo": float(size.lo),
        "hedges_g_hi": float(size.hi),
        "shown_alike": size.alike,
        "constant": units[2] > 1 and units[1] + other[1] == 0,
        "findable_g": findable(units[2], other[2]),
    }


def _tested(one: Summary, other: Summary) -> dict[str, Any]:
    difference = one[0] - other[0]
    reach, p, whose = t_test(one, other)
    if np.isnan(p):
        return {"difference": difference, "p": p, "p_method": "", "interval": ""}
    ends = {"difference_lo": difference - reach, "difference_hi": difference + reach}
    return {"difference": difference, **ends, "interval": whose, "p": p, "p_method": f"{whose}, from summaries"}


def _place(median: float, row: dict[str, Any]) -> str:
    ends: Sequence[float] = [float(row[key]) for key in QUANTILES]
    if np.isnan(median) or np.isnan(ends).any():
        return ""
    return PLACES[int(np.searchsorted(ends, median, side="right"))]
