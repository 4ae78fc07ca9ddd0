"""The tables of docs/reference_profile.md, from the package: ``python -m benchmarks.reference_profile [--page]``.

Prints ``docs/reference_profile/core.csv``: a row a core measure and group, with the mean over sessions and its 95 %
interval. ``--page`` prints the short table of the page instead: the intervals of people, and the lowest and the
highest mean of the models.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from benchmarks._markdown import markdown
from therapy_analytics.measures.base import all_columns
from therapy_analytics.stats.compare import GROUPS, reference_profiles
from therapy_analytics.text import builtin_lexicons

FIELDS = ("measure", "family", "group", "n_sessions", "mean", "mean_lo", "mean_hi")
PEOPLE = ("human_high", "human_low")
ON_THE_PAGE = (
    *("therapist_talk_share", "therapist_question_rate", "open_question_rate", "therapist_reflection_rate"),
    *("therapist_input_rate", "therapist_advice_rate", "client_change_rate"),
)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tagger", default="accurate")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    table = core(options.tagger)
    if options.page:
        print(page(table))
    else:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(_fields(row) for row in table.to_dict("records"))


def core(tagger: str) -> pd.DataFrame:
    """Return the profiles of the core measures, in the order of the measures and of the groups."""
    declared = {column.name: one.family for one, column in all_columns(builtin_lexicons()) if column.core}
    profiles = reference_profiles(tagger)  # type: ignore[arg-type]
    table = profiles[profiles["measure"].isin(list(declared))].copy()
    table["family"] = table["measure"].map(declared)
    order = table["measure"].map(list(declared).index) * len(GROUPS) + table["group"].map(list(GROUPS).index)
    return table.loc[order.sort_values().index, list(FIELDS)]


def page(table: pd.DataFrame) -> str:
    """Return the short table of the page."""
    rows = [["measure", "skilled people", "unskilled people", "six models"]]
    for name in ON_THE_PAGE:
        groups = table[table["measure"] == name].set_index("group")
        models = groups.loc[[one for one in groups.index if one not in PEOPLE], "mean"]
        people = [
            f"{mean:.2f} [{low:.2f}, {high:.2f}]"
            for mean, low, high in groups.loc[list(PEOPLE), ["mean", "mean_lo", "mean_hi"]].to_numpy()
        ]
        rows.append([f"`{name}`", *people, f"{models.min():.2f} to {models.max():.2f}"])
    return markdown(rows)


def _fields(row: Mapping[Hashable, Any]) -> list[Any]:
    """Return the cells of a row: numbers with three digits, and none where the group has no value."""
    numbers = [f"{row[name]:.3g}".replace("nan", "") for name in FIELDS[4:]]
    return [*(row[name] for name in FIELDS[:4]), *(numbers if row["n_sessions"] else ["", "", ""])]


if __name__ == "__main__":
    main()
