"""The agreement of two people in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from therapy_analytics.core.printable import counted
from therapy_analytics.stats.agreement._coefficients import FEWEST_CLUSTERS, FEWEST_POSITIVES, FEWEST_TURNS
from therapy_analytics.stats.agreement._labels import SETS
from therapy_analytics.stats.agreement._report import in_a_line, with_interval

_COLUMNS = {
    "code": "code",
    "among": "kind of",
    "n_turns": "turns",
    "n_sessions": "sessions",
    "n_first": "first: yes",
    "n_second": "second: yes",
    "n_both": "both: yes",
    "n_differ": "differ",
    "agreement": "agreement",
    "kappa": "kappa",
    "ac1": "AC1",
    "alpha": "alpha",
    "f1": "F1",
}
METHODS = f"""
- Unit: the turn. Turns that only one of the two coded are left out. The sets are nominal.
- Kappa: Cohen's (1960), unweighted. AC1: Gwet's (2008). Alpha: Krippendorff's (2019), nominal. F1 of the value 1.
- Of a kind of a code, such as an open question, everything but F1 is of the turns to which both gave the code: that
  both saw no question is no agreement on open questions.
- No kappa, AC1 or alpha of fewer than {FEWEST_TURNS} turns: a single turn would move them by tenths. No kappa or alpha
  where a coder gave the code, or no code, to fewer than {FEWEST_POSITIVES} turns. Counts are of turns, not weighted.
- Intervals in brackets, 95 %: over clusters as named above, Student's t with clusters less one degrees of freedom and
  the jackknife's standard error (each cluster left out in turn; Efron & Stein, 1981), in the logit of the statistic.
  None with fewer than {FEWEST_CLUSTERS} clusters, where one cluster alone defines a statistic, or where all agree
  wholly.
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
        who = str(row["first"]), str(row["second"])
        lines.append(f"{row['code']:<{width}}  {in_a_line(row, who, ('n_first', 'n_second'), ('kappa', 'ac1'))}")
    return [*notes, "", *lines, "", _apart(apart)]


def _apart(apart: pd.DataFrame) -> str:
    turns = len(apart[["session_id", "turn"]].drop_duplicates())
    return f"They differ on {counted(len(apart), 'code')} of {counted(turns, 'turn')}: disagreements.csv."


def _cell(row: Mapping[Any, Any], name: str) -> str:
    if name in {"code", "among"}:
        return str(row[name])
    if name.startswith("n_"):
        return "" if pd.isna(row[name]) else f"{float(row[name]):,.0f}"
    return "" if row["code"] in SETS and name == "f1" else with_interval(row, name)
