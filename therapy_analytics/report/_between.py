"""Where the sessions of a group differ from the rest of the run, and from the reference of skilled people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

import pandas as pd

from therapy_analytics.core.clusters import SESSION
from therapy_analytics.report._findings import HIGH, Finding
from therapy_analytics.report._words import brackets, interval, p_short, p_words, per_cent, plural, sentence
from therapy_analytics.report.shown import Shown
from therapy_analytics.stats.compare.groups import FEW, OTHERS, GroupContrast, Grouped, choose, contrasts, grouped
from therapy_analytics.stats.compare.phrases import unit_name
from therapy_analytics.stats.compare.reference import LEVEL, against_references
from therapy_analytics.stats.compare.sessions import Results
from therapy_analytics.stats.compare.tables import DIFFERS, FEWEST_TO_CLAIM, comparison_table, groups_table

BY = ("counselor", "source")
Row = Mapping[Any, Any]
Told = Callable[[Shown, Row, Grouped], tuple[str, str]]


REST_LEVEL = 0.04
"""Below this p a difference from the other groups is a finding. The page makes other comparisons, too: with .05 here,
6.0 % of 600 pages with shuffled names had a finding of any sort, with .04 4.8 % (docs/validity.md)."""


def of_groups(
    shown: Sequence[Shown], results: Results, about: Sequence[str], profiles: pd.DataFrame | None
) -> tuple[list[Finding], int, list[str]]:
    """Return where counselors, or people and models, differ from all others and from skilled people.

    Also returned is of how many comparisons, and why nothing is claimed of some groups.

    Notes
    -----
    The quantity is the mean over clusters, as in ``tanalyze compare``, of the measures of which that claims something
    (`choose`). Against all others: `comparison_table`; against skilled people: `against_references`. Each p is adjusted
    for all comparisons of its sort, and must lie below `REST_LEVEL`, or .05.
    """
    known = {one.name: one for one in shown}
    asked = [one for one in choose(results, [FEW]) if one.claimed and one.name in known]
    tables = [grouped(results, asked, by=name, cluster=None) for name in BY if asked and name in about]
    beside = [(data, _with_enough(data)) for data in tables]
    # All files of turns are read for this, so only where something can be claimed.
    claims = any(every and not data.barred for data, every in beside)
    turns = results.turns([one.code for one in asked if one.code]) if claims else None
    found, n = [], 0
    for data, every in beside:
        rest = comparison_table(data, every, turns=turns)
        for rows, told in ((rest, _of_rest), (_beside_people(data, profiles), _of_people)):
            n += int(rows["p"].notna().sum())
            for row in rows[rows["finding"] == DIFFERS].to_dict("records"):
                p = float(row["p_adjusted"]) * len(tables)
                if p < (REST_LEVEL if told is _of_rest else LEVEL):
                    found.append(_finding(known[row["measure"]], row, data, told, p))
    return found, n, [data.barred for data in tables if data.barred]


def _finding(one: Shown, row: Row, data: Grouped, told: Told, p: float) -> Finding:
    line, detail = told(one, row, data)
    under = (data.by, str(row["group"]))
    size = abs(float(row["difference"]))
    return Finding(f"{line}; {p_short(p)}", f"{under[1]}: {detail} {p_words(p)}", one.name, p, size, under)


def _with_enough(data: Grouped) -> list[GroupContrast]:
    """Return each group beside all others; of two groups, one alone, as each is the other's rest."""
    every = [one for one in contrasts(data, OTHERS) if min(one.own.sum(), one.other.sum()) >= FEWEST_TO_CLAIM]
    return every[:1] if len(data.names) == 2 else every


def _beside_people(data: Grouped, profiles: pd.DataFrame | None) -> pd.DataFrame:
    """Return the rows of each group beside skilled people, without sessions that are among theirs."""
    rows = pd.DataFrame()
    if profiles is not None:
        rows = against_references(data, groups_table(data), profiles[profiles["group"] == HIGH])
    return pd.DataFrame(columns=["p", "finding"]) if rows.empty else rows[rows["n_sessions"] >= FEWEST_TO_CLAIM]


def _of_rest(one: Shown, row: Row, data: Grouped) -> tuple[str, str]:
    """Return what differs from the other groups, in one line and in detail."""
    more = float(row["difference"])
    ends = [float(row[f"difference_{end}"]) for end in ("lo", "hi")]
    points = " to ".join(f"{100 * end:.0f}" for end in ends)
    other = _others(data, str(row["group"]))
    line = f"{sentence(one.does)} in {_share(row, '')} of turns{_ends(row, '')}, {other} {_share(row, '_against')}"
    detail = (
        f"{one.label}, {'more' if more > 0 else 'less'} than {other}: on average "
        f"{_mean(row, '', data)}, against {_mean(row, '_against', data)}; a difference of "
        f"{100 * more:.0f} points, 95% interval {points}{_like_length(row)} ({_test(row, data)};"
    )
    # A group of one client has no interval of its own; the difference always has one.
    difference = "" if _ends(row, "") else f", a difference of {100 * more:.0f} points{brackets(*ends)}"
    return f"{line}{_ends(row, '_against')}{difference}", detail


def _of_people(one: Shown, row: Row, data: Grouped) -> tuple[str, str]:
    """Return what differs from skilled people, in one line and in detail."""
    more = float(row["difference"])
    low, high = (100 * float(row[f"difference_{end}"]) for end in ("lo", "hi"))
    skilled = f"sessions of skilled people {_share(row, '_against')} on average"
    line = f"{sentence(one.does)} in {_share(row, '')} of turns{_ends(row, '')}, {skilled}"
    detail = (
        f"{one.label}, {'more' if more > 0 else 'less'} than skilled people: on average {_mean(row, '', data)}, "
        f"against {per_cent(float(row['mean_against']))} in {int(row['n_sessions_against'])} sessions shown as good "
        f"practice; a difference of {100 * more:.0f} points, 95% interval {low:.0f} to {high:.0f}, which also holds "
        f"how far corpora of like skill lie apart (t test;"
    )
    return line, detail


def _like_length(row: Row) -> str:
    """Return the difference at like length, where there is one."""
    if not isfinite(float(row["at_like_length"])):
        return ""
    value, low, high = (100 * float(row[f"at_like_length{end}"]) for end in ("", "_lo", "_hi"))
    return f", among turns of like length {value:.0f} points, {low:.0f} to {high:.0f}"


def _others(data: Grouped, name: str) -> str:
    """Return what the other groups are called: of two groups, the other's name."""
    rest = [one for one in data.names if one != name]
    return rest[0] if len(rest) == 1 and rest[0] else f"other {data.by}s"


def _share(row: Row, side: str) -> str:
    return per_cent(float(row[f"mean{side}"]))


def _ends(row: Row, side: str) -> str:
    return brackets(float(row[f"mean{side}_lo"]), float(row[f"mean{side}_hi"]))


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
