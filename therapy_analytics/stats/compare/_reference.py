"""Groups and sessions beside the reference profiles, of which only mean, standard deviation and number are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import SESSION, Bools, Floats
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.process.learnt_turns import were_learnt_from
from therapy_analytics.results import references
from therapy_analytics.stats.compare._effects import holm
from therapy_analytics.stats.compare._groups import REFERENCE, Grouped
from therapy_analytics.stats.compare._permutation import moderated
from therapy_analytics.stats.compare._table import (
    FEWEST_CLUSTERS,
    FEWEST_EVENTS,
    FEWEST_TO_CLAIM,
    SIDE,
    cluster_means,
    groups_table,
    variance_within_groups,
    with_findings,
)

HUMAN = ("human_high", "human_low")
"""The references that stand beside a comparison by default: language models only on request."""
PREFIX = f"{REFERENCE}:"
NO_PROFILES = "Reference profiles: this installation has none, so that nothing is compared with them."
ONE_OVER_TURNS = 0.053
"""Mean of 1 / turns of a role over the 143 sessions of human_high; the same for therapists and clients (.053)."""
LEAST_SHARE = 0.1
"""The variance between sessions is at least this share of the variance of the reference's rates."""
WIDER = 1.5
"""The variance between sessions is raised by this factor: the reference is of two corpora, and sessions of a third have
another mean. The sessions of each of the two lie .8 to 1.9 times as far (in variance) from the mean of the other as
that one's own, for questions, reflections and input. Where single sessions of the one are compared with the other,
claims are made in at most 4 % of runs with it, and in up to 16 % without (``python -m benchmarks.null_claims``)."""
LEVEL = 0.05
CORPORA = {"human_high": 2, "human_low": 2}
"""Of how many corpora the sessions of a reference are; of those of models each is of one."""
BETWEEN, BETWEEN_AMOUNTS = 0.45, 0.9
"""How far the means of two corpora that are alike in skill lie apart (their standard deviation), in standard deviations
of sessions: of rates (.08 to .10 of questions, reflections and input), and of amounts such as words per turn. An
assumption: it rests on two corpora, whose skilled sessions differ by .5, .3, .4 and .4 such standard deviations in
questions, reflections, input and advice, and by 1.2 in words per turn (``python -m benchmarks.compare_claims``)."""
_LEAST_SUM = 0.01

Row = Mapping[Any, Any]


def is_reference(against: str | None) -> bool:
    """Return whether groups are compared with references: ``reference`` or ``reference:NAME``."""
    return against == REFERENCE or (against or "").startswith(PREFIX)


def profiles_for(tagger: str, against: str | None = None) -> tuple[pd.DataFrame | None, str]:
    """Return the reference profiles for sessions coded by this tagger, or None and a sentence why not.

    `against` ``reference:NAME`` gives that reference alone, anything else those of `HUMAN`.

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
        return None, f"Reference profiles rest on the taggers of the package, and {who}: they are not compared."
    found = references.reference_profiles(cast(Any, tagger))
    return found[found["group"].isin(wanted)].reset_index(drop=True), ""


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of the true rates of a reference's sessions: beta with `a` and `b`; its mean and deviation."""

    a: float
    b: float
    mean: float
    sd: float


def spread(row: Row, one_over_turns: float = ONE_OVER_TURNS) -> Spread | None:
    """Return the beta distribution of the rates of a reference's sessions, by its moments.

    Observed rates vary more than true ones, because sessions have few turns: with h the mean of 1 / turns,
    ``sd**2 = between + (mean * (1 - mean) - between) * h``. The variance between sessions is raised by 1 / n for the
    mean, which is estimated from n sessions, and by `WIDER` for sessions from elsewhere.

    Parameters
    ----------
    row : mapping
        ``mean``, ``sd`` and ``n_sessions`` of the observed rates. Without variation or sessions the result is None.
    one_over_turns : float, optional
        Mean of 1 / turns of these sessions; 0 for shares whose sampling error may stay in the spread.

    Examples
    --------
    >>> found = spread({"mean": 0.4, "sd": 0.2, "n_sessions": 143})
    >>> round(found.a, 2), round(found.b, 2), round(found.sd, 3)
    (1.81, 2.71, 0.209)
    """
    mean, sd, n = float(row["mean"]), float(row["sd"]), float(row["n_sessions"])
    if not (0 < mean < 1 and sd > 0 and n > 1):
        return None
    binomial = mean * (1 - mean)
    between = (sd**2 - binomial * one_over_turns) / (1 - one_over_turns)
    between = max(between, LEAST_SHARE * sd**2) * (1 + 1 / n) * WIDER
    total = max(binomial / between - 1, _LEAST_SUM)
    return Spread(mean * total, (1 - mean) * total, mean, between**0.5)


def two_sided(n: Floats, turns: Floats, found: Spread) -> Floats:
    """Return the two-sided p (n_sessions,) of counts under a reference: beta-binomial, twice the smaller tail, mid-p.

    From turns with the code and all turns, (n_sessions,) each; nan where there are none.

    References
    ----------
    Lancaster, H. O. (1961). Significance tests in discrete distributions. Journal of the American Statistical
    Association, 56, 223-234.

    Examples
    --------
    >>> like = Spread(2.0, 2.0, 0.5, 0.22)
    >>> two_sided(np.array([10.0, 20.0]), np.array([20.0, 20.0]), like).round(3).tolist()
    [1.0, 0.012]
    """
    p = np.full(len(n), np.nan)
    there = (turns > 0) & ~np.isnan(n)
    for size in np.unique(turns[there]):
        here = there & (turns == size)
        p[here] = _p_of_counts(int(size), found)[n[here].astype(int)]
    return p


def _p_of_counts(n: int, found: Spread) -> Floats:
    """Return the p of each count from 0 to n; summed from either end, so that neither tail loses digits."""
    share = stats.betabinom.pmf(np.arange(n + 1), n, found.a, found.b)
    tails = np.minimum(np.cumsum(share), np.cumsum(share[::-1])[::-1]) - share / 2
    return np.asarray(np.minimum(1.0, 2 * tails), dtype=np.float64)


def ends_of(n: int, found: Spread, p: float) -> tuple[int | None, int | None]:
    """Return the largest small count and the smallest large count among n turns that have at most such a p.

    Examples
    --------
    >>> ends_of(20, Spread(2.0, 2.0, 0.5, 0.22), 0.05), ends_of(5, Spread(2.0, 2.0, 0.5, 0.22), 0.05)
    ((1, 19), (None, None))
    """
    out = np.flatnonzero(_p_of_counts(n, found) <= p)
    low, high = out[out < n * found.mean], out[out > n * found.mean]
    return (int(low.max()) if len(low) else None), (int(high.min()) if len(high) else None)


@dataclass(frozen=True, slots=True)
class BesideReference:
    """The mean of a group beside that of a reference: its difference with its 95% interval, p, and how it was found."""

    p: float = nan
    reach: float = nan
    method: str = ""


def beside(data: Grouped, own: Bools, j: int, row: Row, within: float = nan) -> BesideReference:
    """Test whether the mean of measure `j` over clusters differs from that of a reference.

    The difference has three errors: that of the group's mean, over its clusters (whose variance is shrunk toward
    `within`); that of the reference's mean, over its sessions; and how far the means of corpora lie apart that are
    alike in skill, of which the group is one and the reference `CORPORA` (`BETWEEN`). Degrees of freedom are
    Satterthwaite's, the third error being taken as known.

    Parameters
    ----------
    data : Grouped
        The n sessions.
    own : bool array (n,)
        The sessions of the group.
    j : int
        The measure.
    row : mapping
        ``group``, ``mean``, ``sd`` and ``n_sessions`` of the reference.
    within : float, optional
        The variance of clusters within groups.
    """
    units = cluster_means(data.values[own][:, [j]], data.cluster[own])[:, 0]
    units = units[~np.isnan(units)]
    k, n, sd = len(units), float(row["n_sessions"]), float(row["sd"])
    if k < FEWEST_CLUSTERS or not (sd > 0 and n > 1):
        return BesideReference()
    one = data.measures[j]
    squares = np.array([float(((units - units.mean()) ** 2).sum())])
    pooled = np.array([within if within > 0 else sd**2])
    ours, theirs = float(moderated(squares, float(k), pooled)[0]) / k, sd**2 / n
    between = (BETWEEN if (one.low, one.high) == (0, 1) else BETWEEN_AMOUNTS) * sd
    corpora = between**2 * (1 + 1 / CORPORA.get(str(row["group"]), 1))
    error = (ours + theirs + corpora) ** 0.5
    df = error**4 / (ours**2 / (k - 1) + theirs**2 / (n - 1))
    difference = float(units.mean()) - float(row["mean"])
    p = float(2 * stats.t.sf(abs(difference) / error, df))
    how = f"t of {k} clusters, and corpora {between:.2g} apart"
    return BesideReference(p, float(stats.t.ppf(0.975, df)) * error, how)


def reference_rows(data: Grouped, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return rows as of ``groups.csv`` for the reference groups."""
    known = {one.name: one for one in data.measures}
    rows = profiles[profiles["measure"].isin(list(known))].rename(columns={"median": "session_median"})
    return rows.assign(
        kind="reference",
        session_mean=rows["mean"],
        family=[known[name].family for name in rows["measure"]],
        unit=[known[name].unit for name in rows["measure"]],
    ).reset_index(drop=True)


def against_references(data: Grouped, groups: pd.DataFrame, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return rows as of ``comparison.csv``: each group against each reference group.

    The mean of the group over its clusters is held against that of the reference's sessions (see `beside`), p adjusted
    for all rows that are tested (Holm). A claim needs four clusters and, at the rate of the reference, five turns with
    the code and five without. Sessions that are in a reference are not compared with it. `groups` and `profiles` are
    those of `groups_table` and `profiles_for`.
    """
    place = {one.name: j for j, one in enumerate(data.measures)}
    within = variance_within_groups(data)
    theirs = {str(group): in_reference(data.sessions, str(group)) for group in profiles["group"].unique()}
    found: list[dict[str, Any]] = []
    sides: dict[str, dict[tuple[str, str], Row]] = {}
    for group, inside in theirs.items():
        rest = replace(data, values=np.where(inside[:, None], np.nan, data.values)) if inside.any() else data
        table = groups_table(rest) if inside.any() else groups[groups["kind"] == "group"]
        sides[group] = {(str(row["group"]), str(row["measure"])): row for row in table.to_dict("records")}
    for i, name in enumerate(data.names):
        for row in reference_rows(data, profiles).to_dict("records"):
            j, group = place[row["measure"]], str(row["group"])
            one, side = data.measures[j], sides[group][(name, row["measure"])]
            own = (data.group == i) & ~theirs[group]
            few = _too_few(side, row)
            tested = one.claimed and not data.barred and not few
            held = beside(data, own, j, row, float(within[j])) if tested else BesideReference()
            about = {"group": name, "measure": one.name, "family": one.family, "evidence": one.evidence}
            found.append(about | {"unit": one.unit, "few": few} | _row(side, row, held, data.clustered_by))
    table = pd.DataFrame(found)
    if table.empty:
        return table
    adjusted = holm(table["p"].to_numpy(dtype=np.float64))
    return with_findings(table.assign(p_adjusted=adjusted, differs=adjusted < LEVEL))


def _too_few(side: Row, row: Row) -> bool:
    """Return whether a group has too few clusters, or too few turns are expected at the rate of the reference."""
    mean = float(row["mean"])
    expected = float(side["out_of"]) * min(mean, 1 - mean)  # nan for what is no rate of turns, and never too few
    return bool(side["n_clusters"] < FEWEST_TO_CLAIM or expected < FEWEST_EVENTS)


def in_reference(sessions: pd.DataFrame, group: str) -> Bools:
    """Return which sessions (n,) are among those of a reference; none where that is not known."""
    column = {"human_high": "skilled", "human_low": "unskilled"}.get(group, "model")
    were = were_learnt_from(sessions, f"{column}_reference_turns")
    return np.zeros(len(sessions), dtype=np.bool_) if were is None else were.to_numpy(dtype=np.bool_)


def _row(own: Row, row: Row, held: BesideReference, clustered_by: str) -> dict[str, Any]:
    sides = {str(key): own[key] for key in own if str(key) in SIDE}
    against = {f"{key}_against": row[key] for key in ("n_sessions", "mean", "session_mean", "session_median")}
    difference = float(own["mean"]) - float(row["mean"])
    return {
        "against": f"{PREFIX} {row['group']}",
        **sides,
        **against,
        "mean_against_lo": row["mean_lo"],
        "mean_against_hi": row["mean_hi"],
        "n_clusters_against": row["n_sessions"],
        "reference_q05": row["q05"],
        "reference_q95": row["q95"],
        "difference": difference,
        "difference_lo": difference - held.reach,
        "difference_hi": difference + held.reach,
        "p": held.p,
        "p_method": held.method,
        "hedges_g": np.nan,
        "shown_alike": False,
        "constant": False,
        "tested": "sessions" if clustered_by == SESSION else f"means by {clustered_by}",
    }
