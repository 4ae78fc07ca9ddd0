"""The tables of docs/reference_profile.md, from the package: ``python -m benchmarks.reference_profile``.

The core measures; each cell is the mean over sessions with its 95 % interval, and the number of sessions where some
have no value.
"""

from __future__ import annotations

import argparse
from collections.abc import Hashable, Mapping
from typing import Any

from benchmarks._markdown import markdown
from therapy_analytics.compare import GROUPS, reference_profiles
from therapy_analytics.language import builtin_lexicons
from therapy_analytics.measures._base import all_columns

FAMILIES = {"process": "Process", "alliance": "Alliance proxies", "synchrony": "Synchrony"}


def main() -> None:
    """Print a table a family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tagger", default="accurate")
    profiles = reference_profiles(parser.parse_args().tagger)
    most = profiles.groupby("group")["n_sessions"].max()
    cells = profiles.assign(cell=[_cell(row, int(most[row["group"]])) for row in profiles.to_dict("records")])
    wide = cells.pivot_table(index="measure", columns="group", values="cell", aggfunc="first")[list(GROUPS)]
    declared = all_columns(builtin_lexicons())
    measures = [(one.family, column.name) for one, column in declared if column.core and column.name in wide.index]
    for family, title in FAMILIES.items():
        names = [name for own, name in measures if own == family]
        head = ["measure", *(f"{group} ({most[group]})" for group in GROUPS)]
        print(f"\n### {title}\n")
        print(markdown([head, *([f"`{name}`", *wide.loc[name]] for name in names)]))


def _cell(row: Mapping[Hashable, Any], most: int) -> str:
    if not row["n_sessions"]:
        return "-"
    fewer = f" (n {row['n_sessions']})" if row["n_sessions"] < most else ""
    return f"{row['mean']:.3g} [{row['mean_lo']:.3g}, {row['mean_hi']:.3g}]{fewer}".replace("nan", "-")


if __name__ == "__main__":
    main()
