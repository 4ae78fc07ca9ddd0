"""What a comparison with references says, in sentences."""

from __future__ import annotations

import pandas as pd

from therapy_analytics.compare._glance import Lines, amount, at_a_glance, label
from therapy_analytics.compare._groups import Grouped
from therapy_analytics.compare._statistics import DIFFERS

MOST_LISTED = 30

_ONE_PERSON = (
    "- A group is taken as one person: many sessions of one person tell much of this person, and nothing of how "
    "persons differ. What 95% of such people would average follows from the sessions of the reference (p_method)."
)


def beside_references(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return the sections on what lies outside of the references, and the table at a glance."""
    if table.empty:
        return []
    found = table[table["finding"] == DIFFERS].sort_values("p_adjusted", kind="stable")
    n = int(table["p"].notna().sum())
    some = f"{len(found):,} of {n:,} comparisons (a measure of a group beside a reference) lie"
    none = f"None of {n:,} comparisons (a measure of a group beside a reference) lies"
    lines = [
        "## In short",
        "",
        f"- {some if len(found) else none} outside of what people or models like those would show.",
    ]
    lines += [_ONE_PERSON, "- To be unlike a reference is not thereby better or worse.", "", *at_a_glance(table, data)]
    lines += ["## What differs", "", *(_bullet(row, data) for _, row in found[:MOST_LISTED].iterrows())]
    if len(found) > MOST_LISTED:
        lines.append(f"- {len(found) - MOST_LISTED:,} more stand in comparison.csv (column finding: differs).")
    return [*lines, *([] if len(found) else ["Nothing, as far as these sessions can show."]), ""]


def _bullet(row: pd.Series, data: Grouped) -> str:
    words, unit = str(row["measure"]).replace("_", " "), str(row["unit"])
    mean, low, high = (float(row["mean"]), *(float(row["mean"] - row[f"difference_{end}"]) for end in ("hi", "lo")))
    n = int(row["n_sessions"])
    p = float(row["p_adjusted"])
    said = "below .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".")
    return (
        f"- {label(data, str(row['group']))}, {row['against'].replace('_', ' ')}: **{words}** is "
        f"{'higher' if row['difference'] > 0 else 'lower'}, on average {amount(mean, unit)} ({n} sessions), where 95% "
        f"of those would average {amount(low, unit)} to {amount(high, unit)} (adjusted p {said})."
    )
