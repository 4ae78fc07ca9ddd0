"""Where the sessions of a group differ from the rest of the run, and from the reference of skilled people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import pandas as pd

from therapy_analytics.clusters import SESSION
from therapy_analytics.compare._groups import OTHERS, Grouped, contrasts, grouped
from therapy_analytics.compare._measures import FEW, choose
from therapy_analytics.compare._phrases import unit_name
from therapy_analytics.compare._reference import LEVEL, against_references
from therapy_analytics.compare._results import Results
from therapy_analytics.compare._table import DIFFERS, comparison_table, groups_table
from therapy_analytics.report._codebook import Shown
from therapy_analytics.report._findings import HIGH, Finding
from therapy_analytics.report._words import interval, p_words, per_cent, plural

BY = ("counselor", "source")
FEWEST = 3
"""Sessions on each side."""
Row = Mapping[Any, Any]


def of_groups(
    shown: Sequence[Shown], results: Results, about: Sequence[str], profiles: pd.DataFrame | None
) -> tuple[list[Finding], int]:
    """Return where counselors, or people and models, differ from all others and from skilled people, and of how many.

    Notes
    -----
    The quantity is the mean over clusters, as in ``tanalyze compare``, of the measures of which that claims something
    (`therapy_analytics.compare._measures.choose`). Against all others: `comparison_table`; against skilled people:
    `against_references`. Each p is adjusted for all comparisons of its sort.
    """
    known = {one.name: one for one in shown}
    asked = [one for one in choose(results, [FEW]) if one.claimed and one.name in known]
    tables = [grouped(results, asked, by=name, cluster=None) for name in BY if asked and name in about]
    found, n = [], 0
    for data in tables:
        for rows, told in ((_beside_rest(data), _of_rest), (_beside_people(data, profiles), _of_people)):
            n += int(rows["p"].notna().sum())
            for row in rows[rows["finding"] == DIFFERS].to_dict("records"):
                p = float(row["p_adjusted"]) * len(tables)
                if p < LEVEL:
                    text = f"{data.by} {row['group']}: {told(known[row['measure']], row, data)} {p_words(p)}"
                    size, group = abs(float(row["difference"])), (data.by, str(row["group"]))
                    found.append(Finding(text, str(row["measure"]), p, size, group=group))
    return found, n


def _beside_rest(data: Grouped) -> pd.DataFrame:
    """Return the rows of each group beside all others; of two groups, once, as each is the other's rest."""
    every = [one for one in contrasts(data, OTHERS) if min(one.own.sum(), one.other.sum()) >= FEWEST]
    return comparison_table(data, every[:1] if len(data.names) == 2 else every)


def _beside_people(data: Grouped, profiles: pd.DataFrame | None) -> pd.DataFrame:
    """Return the rows of each group beside skilled people."""
    rows = pd.DataFrame()
    if profiles is not None:
        rows = against_references(data, groups_table(data), profiles[profiles["group"] == HIGH])
    return pd.DataFrame(columns=["p", "finding"]) if rows.empty else rows[rows["n_sessions"] >= FEWEST]


def _of_rest(one: Shown, row: Row, data: Grouped) -> str:
    more = float(row["difference"])
    points = " to ".join(f"{100 * float(row[f'difference_{end}']):.0f}" for end in ("lo", "hi"))
    return (
        f"{one.label}, {'more' if more > 0 else 'less'} than in the other sessions: on average "
        f"{_mean(row, '', data)}, against {_mean(row, '_against', data)}; a difference of "
        f"{100 * more:.0f} points, 95% interval {points} ({_test(row, data)};"
    )


def _of_people(one: Shown, row: Row, data: Grouped) -> str:
    mean = float(row["mean"])
    low, high = mean - float(row["difference_hi"]), mean - float(row["difference_lo"])
    return (
        f"{one.label}, {'more' if float(row['difference']) > 0 else 'less'} than skilled people: on average "
        f"{_mean(row, '', data)}; of people like those who were shown as good practice, 95% would "
        f"average {interval(low, high)} ({row['p_method']} distribution of their sessions;"
    )


def _mean(row: Row, side: str, data: Grouped) -> str:
    """Return the mean over clusters with its interval, and of how many."""
    mean, low, high = (float(row[f"mean{side}{end}"]) for end in ("", "_lo", "_hi"))
    n, k = int(row[f"n_sessions{side}"]), int(row[f"n_clusters{side}"])
    sure = f"95% interval {interval(low, high)}; " if isfinite(low) else ""
    of = "" if data.clustered_by == SESSION else f" of {k} {unit_name(data.clustered_by, k)}"
    return f"{per_cent(mean)} ({sure}{n} {plural(n, 'session', 'sessions')}{of})"


def _test(row: Row, data: Grouped) -> str:
    paired = str(row["tested"]).startswith("paired")
    return f"sign-flip test, paired by {data.clustered_by}" if paired else "permutation test"
