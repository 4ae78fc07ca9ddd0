"""The agreement of two people in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from therapy_analytics.agreement._coefficients import FEWEST_CLUSTERS, FEWEST_TURNS
from therapy_analytics.agreement._labels import SETS
from therapy_analytics.agreement._report import with_interval
from therapy_analytics.readers._notes import counted

_COLUMNS = {
    "code": "code",
    "n_turns": "turns",
    "n_sessions": "sessions",
    "n_first": "first: yes",
    "n_second": "second: yes",
    "agreement": "agreement",
    "kappa": "kappa",
    "ac1": "AC1",
    "alpha": "alpha",
    "f1": "F1",
}
METHODS = f"""
- Unit: the turn. Turns that only one of the two coded are left out. The sets are nominal.
- Kappa: Cohen's (1960), unweighted. AC1: Gwet's (2008). Alpha: Krippendorff's (2019), nominal. F1 of the value 1.
- No kappa, AC1 or alpha of fewer than {FEWEST_TURNS} turns: a single turn would move them by tenths.
- Intervals in brackets, 95 %: over clusters as named above, Student's t with clusters less one degrees of freedom and
  the jackknife's standard error (each cluster left out in turn; Efron & Stein, 1981), in the logit of the statistic.
  None with fewer than {FEWEST_CLUSTERS} clusters, where one cluster alone defines a statistic, or where all agree
  wholly.
- The turns count alike, however they were drawn: this is agreement on the turns that were coded.
- This is the agreement before anything was settled, and the one to report.
"""


def report(table: pd.DataFrame, apart: pd.DataFrame, notes: Sequence[str], coders: tuple[str, str]) -> str:
    """Return the report as Markdown."""
    lines = [list(_COLUMNS.values()), ["---"] * len(_COLUMNS)]
    lines += [[_cell(row, name) for name in _COLUMNS] for row in table.to_dict("records")]
    parts = [
        f"# Agreement of {coders[0]} (first) and {coders[1]} (second)",
        "\n".join(f"- {note}" for note in (*notes, _apart(apart))),
        "\n".join(f"| {' | '.join(line)} |" for line in lines),
        "## How each number was computed",
        METHODS.strip(),
    ]
    return "\n\n".join(parts) + "\n"


def summary(table: pd.DataFrame, apart: pd.DataFrame, notes: Sequence[str]) -> list[str]:
    """Return what a person reads after the command: a line for each code, then where the two differ."""
    width = max((len(str(code)) for code in table["code"]), default=0)
    lines = []
    for row in table.to_dict("records"):
        numbers = str(row["note"]) or f"kappa {with_interval(row, 'kappa')}, AC1 {with_interval(row, 'ac1')}"
        same = f"{row['agreement']:.0%} the same"
        lines.append(f"{row['code']:<{width}}  {row['n_turns']:,.0f} turns: {same}, {numbers}")
    return [*notes, "", *lines, "", _apart(apart)]


def _apart(apart: pd.DataFrame) -> str:
    turns = len(apart[["session_id", "turn"]].drop_duplicates())
    return f"They differ on {counted(len(apart), 'code')} of {counted(turns, 'turn')}: disagreements.csv."


def _cell(row: Mapping[Any, Any], name: str) -> str:
    if name == "code":
        return str(row[name])
    if name.startswith("n_"):
        return "" if pd.isna(row[name]) else f"{float(row[name]):,.0f}"
    return "" if row["code"] in SETS and name == "f1" else with_interval(row, name)
