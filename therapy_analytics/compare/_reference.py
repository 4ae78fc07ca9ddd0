"""Groups and sessions beside the reference profiles, of which only mean, standard deviation and number are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, nan
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics import references
from therapy_analytics.clusters import Bools, Floats
from therapy_analytics.compare._effects import holm
from therapy_analytics.compare._groups import REFERENCE, Grouped
from therapy_analytics.compare._table import FEWEST_CLUSTERS, with_findings
from therapy_analytics.errors import BadOptionError
from therapy_analytics.measures._base import count_name

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
_LEAST_SUM = 0.01
_ROUNDING = 1e-9

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


def counts(frame: pd.DataFrame, name: str) -> tuple[Floats, Floats]:
    """Return the number of turns with the code of a rate, and of all turns of that role, (n_sessions,) each.

    Both are nan where the measure is not a share of a role's turns, or the columns of its counts are missing.
    """
    unknown = np.full(len(frame), np.nan)
    columns = count_name(name), f"n_turns_{name.partition('_')[0]}"
    if not name.endswith("_rate") or any(column not in frame for column in columns):
        return unknown, unknown
    n, turns = (frame[column].to_numpy(dtype=np.float64) for column in columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(n / turns - frame[name].to_numpy(dtype=np.float64)) < 0.5 / turns
    return np.where(share, n, np.nan), np.where(share, turns, np.nan)


@dataclass(frozen=True, slots=True)
class BesideReference:
    """A mean of a group beside a reference.

    `p` is the probability that a person like the reference has a mean as far out (nan where unknown), and `method` the
    distribution that it is of; 95 % of such means lie between `low` and `high`, in the unit of the measure.
    """

    p: float = nan
    low: float = nan
    high: float = nan
    method: str = ""


def beside(data: Grouped, own: Bools, j: int, row: Row) -> BesideReference:
    """Test the mean over clusters of measure `j`, of the sessions `own` (n,), against the sessions of a reference.

    A person like the reference is taken as one draw from its distribution of sessions: sessions of one person are alike
    to an unknown degree, at most wholly, and many of them tell no more of that distribution than one. The mean of the
    group has its sampling error besides. For shares of turns that is beta-binomial, on the number of turns to which a
    mean so weighted is equivalent (``1 / sum(weight**2 / turns)``), and the count is rounded toward the mean of the
    reference. For other shares it is the beta distribution with the mean and the standard deviation of the reference's
    sessions, for amounts from 0 the gamma distribution, and for others the normal one; their deviation holds the
    sampling error of a single session. `row` has ``mean``, ``sd`` and ``n_sessions`` of the reference.
    """
    one, there = data.measures[j], own & ~np.isnan(data.values[:, j])
    if not there.any():
        return BesideReference()
    _, place, sizes = np.unique(data.cluster[there], return_inverse=True, return_counts=True)
    weights = 1 / (len(sizes) * sizes[place])
    mean = float(weights @ data.values[there, j])
    _, turns = counts(data.sessions, one.name)
    if np.isnan(turns[there]).any():
        return _beside_amount(mean, one.low, one.high, row)
    like = spread(row)
    n_turns = 1 / float((weights**2 / turns[there]).sum())
    return BesideReference() if like is None else _beside_share(mean, n_turns, like)


def _beside_share(mean: float, turns: float, like: Spread) -> BesideReference:
    n = max(floor(turns + _ROUNDING), 1)
    count = floor(mean * n + _ROUNDING) if mean > like.mean else ceil(mean * n - _ROUNDING)
    few, many = ends_of(n, like, LEVEL)
    low, high = 0.0 if few is None else (few + 1) / n, 1.0 if many is None else (many - 1) / n
    return BesideReference(float(_p_of_counts(n, like)[count]), low, high, "beta-binomial")


def _beside_amount(mean: float, low: float, high: float, row: Row) -> BesideReference:
    at, sd, n = float(row["mean"]), float(row["sd"]), float(row["n_sessions"])
    like = spread(row, 0.0) if (low, high) == (0, 1) else None
    if not (sd > 0 and n > 1) or (low == 0 and at <= 0):
        return BesideReference()
    variance = sd**2 * (1 + 1 / n) * WIDER
    found: Any
    if like is not None:
        found, method = stats.beta(like.a, like.b), "beta"
    elif low == 0:
        found, method = stats.gamma(at**2 / variance, scale=variance / at), "gamma"
    else:
        found, method = stats.norm(at, variance**0.5), "normal"
    p = min(1.0, 2 * min(float(found.cdf(mean)), float(found.sf(mean))))
    return BesideReference(p, float(found.ppf(LEVEL / 2)), float(found.isf(LEVEL / 2)), method)


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

    A group is taken as one person of the reference (see `beside`): its mean differs where it lies outside the 95 % of
    the means that such a person would have, p adjusted for all rows that are tested (Holm). The interval of the
    difference is the mean less these 95 %. `groups` and `profiles` are those of `groups_table` and `profiles_for`.
    """
    rows = groups[groups["kind"] == "group"].to_dict("records")
    own = {(str(row["group"]), str(row["measure"])): row for row in rows}
    place = {one.name: j for j, one in enumerate(data.measures)}
    found: list[dict[str, Any]] = []
    for i, name in enumerate(data.names):
        for row in reference_rows(data, profiles).to_dict("records"):
            one = data.measures[place[row["measure"]]]
            held = beside(data, data.group == i, place[one.name], row) if one.claimed else BesideReference()
            about = {"group": name, "measure": one.name, "family": one.family, "evidence": one.evidence}
            found.append(about | {"unit": one.unit} | _row(own[(name, one.name)], row, held))
    table = pd.DataFrame(found)
    if table.empty:
        return table
    adjusted = holm(np.where(table["n_clusters"] < FEWEST_CLUSTERS, np.nan, table["p"].to_numpy(dtype=np.float64)))
    return with_findings(table.assign(p_adjusted=adjusted, differs=adjusted < LEVEL))


def _row(own: Row, row: Row, held: BesideReference) -> dict[str, Any]:
    sides = {str(key): own[key] for key in own if str(key).startswith(("n_", "mean_", "session_"))}
    against = {f"{key}_against": row[key] for key in ("n_sessions", "mean", "session_mean", "session_median")}
    mean = float(own["mean"])
    return {
        "against": f"{PREFIX} {row['group']}",
        **sides,
        "mean": mean,
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
