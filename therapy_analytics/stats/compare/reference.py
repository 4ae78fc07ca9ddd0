"""Groups and sessions beside the reference profiles, of which only mean, standard deviation and number are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import SESSION, Bools, Floats
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.process.learnt_turns import OF_REFERENCES, UNKNOWN, among, were_learnt_from
from therapy_analytics.results import references
from therapy_analytics.stats.compare.effects import FEWEST_CLUSTERS, cluster_means, holm, moderated, moments
from therapy_analytics.stats.compare.groups import REFERENCE, Grouped
from therapy_analytics.stats.compare.sessions import Results
from therapy_analytics.stats.compare.tables import (
    FEWEST_EVENTS,
    FEWEST_TO_CLAIM,
    SIDE,
    against,
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


# Which references, and which sessions are in them


def is_reference(kind: str | None) -> bool:
    """Return whether groups are compared with references: ``reference`` or ``reference:NAME``."""
    return kind == REFERENCE or (kind or "").startswith(PREFIX)


def profiles_for(tagger: str, kind: str | None = None) -> tuple[pd.DataFrame | None, str]:
    """Return the reference profiles for sessions coded by this tagger, or None and a sentence why not.

    `kind` ``reference:NAME`` gives that reference alone, anything else those of `HUMAN`.

    Raises
    ------
    BadOptionError
        There is no such reference.
    """
    wanted = (str(kind).removeprefix(PREFIX),) if str(kind).startswith(PREFIX) else HUMAN
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


def in_reference(sessions: pd.DataFrame, group: str) -> Bools:
    """Return which sessions (n,) are among those of a reference; none where that is not known."""
    column = {"human_high": "skilled", "human_low": "unskilled"}.get(group, "model")
    were = were_learnt_from(sessions, f"{column}_reference_turns")
    return np.zeros(len(sessions), dtype=np.bool_) if were is None else were.to_numpy(dtype=np.bool_)


def apart_from_reference(read: Results, kind: str, *, counted: bool) -> Results:
    """Return the sessions to compare with references, and say how many of them are in a reference themselves.

    A session is not held against the reference that it is in, unless those are `counted`.

    Raises
    ------
    BadOptionError
        All sessions are in the only reference.
    """
    groups = HUMAN if kind == REFERENCE else (kind.removeprefix(PREFIX),)
    inside = {group: pd.Series(in_reference(read.sessions, group)) for group in groups}
    told = [among(were, f"those of the reference {group}") for group, were in inside.items() if were.any()]
    if not told:
        return read
    head = "; ".join(told)
    if counted:
        none = dict.fromkeys(OF_REFERENCES, np.nan)
        warning = f"{head}. They are compared with it as asked: beside themselves they differ too little."
        return replace(read, sessions=read.sessions.assign(**none), warnings=(warning, *read.warnings))
    if all(were.all() for were in inside.values()):
        remedy = "Compare other sessions, or say --include-learnt to compare them all the same"
        raise BadOptionError("--against", f"{head}, and beside itself nothing differs", remedy)
    warning = f"{head}. No session is held against the reference that it is in (--include-learnt does so)."
    return replace(read, warnings=(warning, *read.warnings))


def learnt_sessions(sessions: pd.DataFrame, tagger: str, *, counted: bool) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return which sessions are left out where people's codes put the machine's rates right, and what is said of that.

    Notes
    -----
    The machine errs less in sessions that it learnt from. Where only these were coded by hand, its error on the others
    is taken as too small, and the rates of these are wrong, in too narrow intervals. Leaving them out where the error
    is estimated but not where it is applied would put their rates wrong in turn. So they leave both: what is left is a
    random draw of the sessions that the machine has not seen, if the whole was one of all sessions.
    """
    were = were_learnt_from(sessions)
    if were is None:
        return frozenset(), () if tagger == "llm" else (UNKNOWN,)
    head = among(were)
    if not were.any():
        return frozenset(), (f"{head}.",)
    if counted:
        why = "their rates with the turns that people coded hold for these, and say too little of the error on others"
        return frozenset(), (f"{head}, and counted as asked: {why}.",)
    why = "the tagger errs less there than on others, so that rates with the turns that people coded leave them out"
    return frozenset(sessions.loc[were, "session_id"]), (f"{head}: {why} (--include-learnt counts them).",)


# Single sessions: their counts beside the rates of a reference's sessions


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of the true rates of a reference's sessions: beta with `a` and `b`; its mean and deviation."""

    a: float
    b: float
    mean: float
    sd: float


def spread(row: Mapping[Any, Any], one_over_turns: float = ONE_OVER_TURNS) -> Spread | None:
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


# Groups: their means over clusters beside the mean of a reference's sessions


def reference_rows(data: Grouped, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return rows as of ``groups.csv`` for the reference groups."""
    known = pd.DataFrame(data.about("family", "unit"))
    rows = profiles.rename(columns={"median": "session_median"}).assign(kind="reference", session_mean=profiles["mean"])
    return rows.merge(known, on="measure")


def against_references(data: Grouped, groups: pd.DataFrame, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return rows as of ``comparison.csv``: each group against each reference group.

    The mean of the group over its clusters is held against that of the reference's sessions. The difference has three
    errors: that of the group's mean, over its clusters (whose variance is shrunk toward that within groups); that of
    the reference's mean, over its sessions; and how far the means of corpora lie apart that are alike in skill, of
    which the group is one and the reference `CORPORA` (`BETWEEN`). Degrees of freedom are Satterthwaite's, the third
    error being taken as known; p is adjusted for all rows that are tested (Holm).

    A claim needs four clusters and, at the rate of the reference, five turns with the code and five without. Sessions
    that are in a reference are not compared with it. `groups` and `profiles` are those of `groups_table` and
    `profiles_for`.
    """
    within = variance_within_groups(data)
    beside = []
    for reference, rows in reference_rows(data, profiles).groupby("group", sort=False):
        inside = in_reference(data.sessions, str(reference))
        rest = replace(data, values=np.where(inside[:, None], np.nan, data.values)) if inside.any() else data
        sides = groups_table(rest) if inside.any() else groups[groups["kind"] == "group"]
        beside.append((rows.reset_index(drop=True), inside, sides))
    parts = []
    for i, name in enumerate(data.names):
        for rows, inside, sides in beside:
            side = sides[sides["group"] == name].set_index("measure").loc[rows["measure"]].reset_index()
            parts.append(_of_group(data, (data.group == i) & ~inside, side, rows, within))
    if not parts:
        return pd.DataFrame()
    table = pd.concat(parts, ignore_index=True)
    adjusted = holm(table["p"].to_numpy(dtype=np.float64))
    return with_findings(table.assign(p_adjusted=adjusted, differs=adjusted < LEVEL))


def _of_group(data: Grouped, own: Bools, side: pd.DataFrame, rows: pd.DataFrame, within: Floats) -> pd.DataFrame:
    """Return the rows of a group (its sessions `own`, its `side` as of ``groups.csv``) beside those of a reference."""
    j = pd.Index(data.about()["measure"]).get_indexer(pd.Index(rows["measure"]))
    measures = [data.measures[one] for one in j]
    sd, mean = rows["sd"].to_numpy(dtype=np.float64), rows["mean"].to_numpy(dtype=np.float64)
    n = rows["n_sessions"].to_numpy(dtype=np.float64)
    expected = side["out_of"] * np.minimum(mean, 1 - mean)  # nan for what is no rate of turns, and never too few
    few = ((side["n_clusters"] < FEWEST_TO_CLAIM) | (expected < FEWEST_EVENTS)).to_numpy()
    claimed = np.array([one.claimed and not data.barred for one in measures], dtype=np.bool_)

    k, units, squares = moments(cluster_means(data.values[own][:, j], data.cluster[own]))
    of_rate = np.array([(one.low, one.high) == (0, 1) for one in measures], dtype=np.bool_)
    between = np.where(of_rate, BETWEEN, BETWEEN_AMOUNTS) * sd
    with np.errstate(divide="ignore", invalid="ignore"):
        ours = moderated(squares, k, np.where(within[j] > 0, within[j], sd**2)) / k
        theirs = sd**2 / n
        error = np.sqrt(ours + theirs + between**2 * (1 + 1 / CORPORA.get(str(rows["group"].iloc[0]), 1)))
        df = error**4 / (ours**2 / (k - 1) + theirs**2 / (n - 1))
        held = claimed & ~few & (k >= FEWEST_CLUSTERS) & (sd > 0) & (n > 1)
        p = np.where(held, 2 * stats.t.sf(np.abs(units - mean) / error, df), np.nan)
        reach = np.where(held, stats.t.ppf(0.975, df) * error, np.nan)
    how = [f"t of {of:.0f} clusters, and corpora {apart:.2g} apart" for of, apart in zip(k, between, strict=True)]
    difference = side["mean"] - mean
    return pd.DataFrame(
        {
            **{name: side[name] for name in ("group", "measure", "family", "unit", *SIDE)},
            "evidence": [one.evidence for one in measures],
            "against": f"{PREFIX} " + rows["group"],
            **{against(name): rows[name] for name in ("n_sessions", "mean", "mean_lo", "mean_hi", "session_mean")},
            "session_median_against": rows["session_median"],
            "n_clusters_against": rows["n_sessions"],
            "reference_q05": rows["q05"],
            "reference_q95": rows["q95"],
            "difference": difference,
            "difference_lo": difference - reach,
            "difference_hi": difference + reach,
            "p": p,
            "p_method": np.where(held, how, ""),
            "hedges_g": np.nan,
            "tested": "sessions" if data.clustered_by == SESSION else f"means by {data.clustered_by}",
            "few": few,
            "shown_alike": False,
            "constant": False,
        }
    )
