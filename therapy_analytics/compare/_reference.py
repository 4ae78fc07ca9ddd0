"""Groups beside the reference profiles, of which only summaries are known."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd

from therapy_analytics import references
from therapy_analytics.compare._contrasts import FEWEST_UNITS
from therapy_analytics.compare._expected import LEVEL, Beside, beside
from therapy_analytics.compare._groups import REFERENCE, Grouped
from therapy_analytics.compare._statistics import with_findings
from therapy_analytics.compare._tests import holm
from therapy_analytics.errors import BadOptionError

HUMAN = ("human_high", "human_low")
"""The references that stand beside a comparison unless another is asked for: models only on request."""
PREFIX = f"{REFERENCE}:"
NO_PROFILES = "Reference profiles: this installation has none, so nothing is held against them."


def is_reference(against: str | None) -> bool:
    """Return whether groups are compared with references: ``reference`` or ``reference:NAME``."""
    return against == REFERENCE or (against or "").startswith(PREFIX)


def profiles_for(tagger: str, against: str | None = None) -> tuple[pd.DataFrame | None, str]:
    """Return the reference profiles that fit sessions so coded, or None and a sentence why not.

    Parameters
    ----------
    tagger : str
        ``accurate``, ``fast``, ``llm`` or "".
    against : str or None
        ``reference:NAME`` gives that reference alone; anything else gives those of `HUMAN`.

    Raises
    ------
    BadOptionError
        There is no such reference.
    """
    wanted = (str(against).removeprefix(PREFIX),) if str(against).startswith(PREFIX) else HUMAN
    if not set(wanted) <= set(references.GROUPS):
        problem = f"there is no reference {wanted[0]!r}"
        raise BadOptionError("--against", problem, f"References: {', '.join(references.GROUPS)}")
    if not references.PROFILES.is_file():
        return None, NO_PROFILES
    if tagger not in references.TAGGERS:
        who = f"these sessions were coded by {tagger}" if tagger else "it is not known who coded these sessions"
        return None, f"Reference profiles rest on the taggers of the package; {who}: not held against them."
    found = references.reference_profiles(cast(Any, tagger))
    return found[found["group"].isin(wanted)].reset_index(drop=True), ""


def reference_rows(data: Grouped, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return rows as of ``groups.csv`` for the groups of reference."""
    known = {one.name: one for one in data.measures}
    rows = profiles[profiles["measure"].isin(list(known))].rename(columns={"median": "session_median"})
    return rows.assign(
        kind="reference",
        session_mean=rows["mean"],
        family=[known[name].family for name in rows["measure"]],
        unit=[known[name].unit for name in rows["measure"]],
    ).reset_index(drop=True)


def against_references(data: Grouped, groups: pd.DataFrame, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return rows as of ``comparison.csv``: each group against each group of reference.

    Notes
    -----
    A group is taken as one person of the reference (see `beside`): its mean differs where 95 % of the means that such a
    person would have do not reach it, p adjusted for all rows that are tested (Holm). The interval of the difference is
    the mean less these 95 %.
    """
    own = groups[groups["kind"] == "group"].set_index(["group", "measure"])
    place = {one.name: j for j, one in enumerate(data.measures)}
    rows = [
        {str(key): value for key, value in row.items()} for row in reference_rows(data, profiles).to_dict("records")
    ]
    found: list[dict[str, Any]] = []
    for i, name in enumerate(data.names):
        for row in rows:
            j = place[row["measure"]]
            held = beside(data, data.group == i, j, row) if data.measures[j].claimed else Beside()
            found.append(
                {"group": name, "evidence": data.measures[j].evidence} | _row(own.loc[name, row["measure"]], row, held)
            )
    table = pd.DataFrame(found)
    if table.empty:
        return table
    adjusted = holm(np.where(table["n_clusters"] < FEWEST_UNITS, np.nan, table["p"].to_numpy(dtype=np.float64)))
    return with_findings(table.assign(p_adjusted=adjusted, differs=adjusted < LEVEL))


def _row(own: pd.Series, row: dict[str, Any], held: Beside) -> dict[str, Any]:
    sides = {key: own[key] for key in own.index if str(key).startswith(("n_", "mean", "session_"))}
    against = {f"{key}_against": row[key] for key in ("n_sessions", "mean", "session_mean", "session_median")}
    mean = float(own["mean"])
    return {
        "measure": row["measure"],
        "family": row["family"],
        "unit": row["unit"],
        "against": f"{PREFIX} {row['group']}",
        **sides,
        **against,
        "mean_against_lo": row["mean_lo"],
        "mean_against_hi": row["mean_hi"],
        "n_clusters_against": row["n_sessions"],
        "reference_q05": row["q05"],
        "reference_q95": row["q95"],
        "difference": mean - float(row["mean"]),
        "difference_lo": mean - held.high,
        "difference_hi": mean - held.low,
        "p": held.p,
        "p_method": held.method,
        "hedges_g": np.nan,
        "shown_alike": False,
        "constant": False,
        "tested": "one person of the reference",
    }
