"""Prediction-powered inference: rates from the machine's codes and a hand-coded sample, valid whatever its errors.

The machine's rate over all sessions, less the machine's mean error where people coded. Written here because
``ppi-python`` 0.2.3, which has the same estimator for independent turns (a test compares the formula), knows no
clusters, silences all warnings when it is imported, and brings 200 MB of packages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import inf, isnan, nan, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, stats

from therapy_analytics.core.clusters import SESSION, Bools, Floats, cluster_numbers, cluster_sums
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.intervals import Z95
from therapy_analytics.stats.compare._phrases import unit_name

Names = NDArray[np.generic]

FEWEST_CLUSTERS = 4
"""Hand-coded clusters that an interval needs."""
FEWEST_EVENTS = 5
"""Hand-coded turns with the code, and without it, that the use of the machine's codes needs."""
FEW_CLUSTERS = 10
"""Where people gave the code in fewer clusters, a note says so: intervals then had 93 % coverage in simulations."""
ASSUMPTION = (
    "Valid whatever the tagger does, if the hand-coded sessions (or turns) of each group were drawn from it at random, "
    "and not chosen by what is in them."
)
"""What must stand beside the intervals."""
DRAWN = (
    "Valid whatever the tagger does, because each coded turn was drawn with a known probability (column inclusion), if "
    "people coded all turns that were drawn, or left some out by chance alone."
)
"""What must stand beside them where the turns were drawn by ``tanalyze sample``."""
UNFINISHED = 0.75
"""Where weighted turns stand for less than this share of all, a note says so: the sample may not be coded whole."""
SHORT = "the coded turns stand for {:.0%} of all: is the sample coded to its end?"
_SUMS = ("people", "beside", "rest", "share", "machine")
COLUMNS = (
    *("code", "n_sessions", "n_turns", "n_gold_sessions", "n_gold_turns", "rate", "lo", "hi", "error", "df"),
    *("gold_rate", "gold_lo", "gold_hi", "machine_rate", "weight", "note"),
)


@dataclass(frozen=True, slots=True)
class Powered:
    """A mean over sessions from the machine's codes and people's, and its standard error between clusters.

    nan where there are too few clusters. `weight` is how much the machine's codes count, 0 to 1; `n_clusters` are the
    hand-coded ones.
    """

    value: float
    error: float
    weight: float
    n_clusters: int

    @property
    def df(self) -> int:
        """Degrees of freedom: a tuned weight costs one."""
        return self.n_clusters - (2 if self.weight else 1)


def powered_mean(
    gold: Floats, beside: Floats, rest: Floats, clusters: Names, *, weight: float | None = None
) -> Powered:
    """Estimate a mean over sessions by prediction-powered inference.

    mean(gold) + weight * (mean(rest) - mean(beside)), unbiased for any weight. Its error is cluster-robust
    (linearised), with G / (G - 1) for the machine's part and G / (G - 2) for people's, as the weight is found on the
    same clusters.

    Parameters
    ----------
    gold : float64 array (n_sessions,)
        Mean of people's codes over the hand-coded turns of each session; nan where there are none.
    beside : float64 array (n_sessions,)
        Mean of the machine's codes over the same turns.
    rest : float64 array (n_sessions,)
        Mean of the machine's codes over the other turns; nan where there are none.
    clusters : array (n_sessions,)
        The cluster of each session. It can have both kinds of sessions, and a session both kinds of turns.
    weight : float, optional
        How much the machine's codes count; by default what minimises the error, clipped to 0..1.

    References
    ----------
    Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I., & Zrnic, T. (2023). Prediction-powered inference.
    Science, 382(6671), 669-674. Angelopoulos, A. N., Duchi, J. C., & Zrnic, T. (2023). PPI++: Efficient
    prediction-powered inference. arXiv:2311.01453 (the weight).

    Examples
    --------
    >>> gold, beside = np.array([0.2, 0.4, nan, nan]), np.array([0.3, 0.5, nan, nan])
    >>> found = powered_mean(gold, beside, np.array([nan, nan, 0.5, 0.7]), np.arange(4), weight=1.0)
    >>> round(found.value, 3)
    0.5
    """
    coded, other = np.isfinite(gold), np.isfinite(rest)
    n_coded, n_other = (len(np.unique(clusters[known])) for known in (coded, other))
    if not n_coded:
        return Powered(nan, nan, 0.0, 0)
    value = float(gold[coded].mean())
    people, beside_them, apart = _residuals(gold, coded), _residuals(beside, coded), _residuals(rest, other)
    chosen = 0.0
    if min(n_coded, n_other) >= FEWEST_CLUSTERS or (weight and n_other):
        chosen = _best_weight(people, apart - beside_them, clusters) if weight is None else weight
        value += chosen * float(rest[other].mean() - beside[coded].mean())
    if n_coded < FEWEST_CLUSTERS:
        return Powered(value, nan, chosen, n_coded)
    own = (people - chosen * beside_them) * sqrt(n_coded / (n_coded - (2 if chosen else 1)))
    theirs = chosen * apart * sqrt(n_other / max(n_other - 1, 1))
    sums = cluster_sums(own + theirs, clusters)
    return Powered(value, sqrt(float(sums @ sums)), chosen, n_coded)


def weighted_mean(
    people: Floats, beside: Floats, share: Floats, whole: Floats, clusters: Names, *, weight: float | None = None
) -> Powered:
    """Estimate a mean over sessions from turns that were drawn with known probabilities.

    Each coded turn counts 1 / inclusion. The estimate is the difference estimator in Hajek's form, ``sum(people) /
    sum(share) + weight * (mean(whole) - sum(beside) / sum(share))``: unbiased in large samples for any weight and any
    tagger. Its error is cluster-robust as that of `powered_mean`; clusters without coded turns enter it, too.

    Parameters
    ----------
    people, beside, share : float64 arrays (n_sessions,)
        Sums over the coded turns of a session of ``code / inclusion``, ``machine's code / inclusion`` and ``1 /
        inclusion``, each divided by all turns of the session; 0 where none is coded.
    whole : float64 array (n_sessions,)
        Mean of the machine's codes over all turns.
    clusters : array (n_sessions,)
        The cluster of each session.
    weight : float, optional
        As for `powered_mean`.

    References
    ----------
    Sarndal, C.-E., Swensson, B., & Wretman, J. (1992). Model assisted survey sampling (sections 5.7 and 6.3). Springer.
    Zrnic, T., & Candes, E. J. (2024). Active statistical inference. ICML.

    Examples
    --------
    >>> drawn = np.array([0.5, 0.0]), np.array([0.9, 0.0]), np.array([1.0, 1.0])
    >>> round(weighted_mean(*drawn, whole=np.array([0.6, 0.2]), clusters=np.arange(2), weight=1.0).value, 3)
    0.2
    """
    total, n = float(share.sum()), len(np.unique(clusters[share > 0]))
    if not n:
        return Powered(nan, nan, 0.0, 0)
    by_people, by_machine = float(people.sum()) / total, float(beside.sum()) / total
    own, beside_them = (people - by_people * share) / total, (beside - by_machine * share) / total
    apart = _residuals(whole, np.isfinite(whole))
    chosen = weight if weight is not None else 0.0
    if weight is None and n >= FEWEST_CLUSTERS:
        chosen = _best_weight(own, apart - beside_them, clusters)
    value = by_people + chosen * (float(whole.mean()) - by_machine)
    if n < FEWEST_CLUSTERS:
        return Powered(value, nan, chosen, n)
    scale = sqrt(n / (n - (2 if chosen else 1)))
    sums = cluster_sums(scale * (own + chosen * (apart - beside_them)), clusters)
    return Powered(value, sqrt(float(sums @ sums)), chosen, n)


def _residuals(values: Floats, known: Bools) -> Floats:
    """Return what each session adds to the mean of the known ones, 0 for the others."""
    found = np.zeros(len(values))
    if known.any():
        found[known] = (values[known] - values[known].mean()) / np.count_nonzero(known)
    return found


def _best_weight(people: Floats, machine: Floats, clusters: Names) -> float:
    """Return the weight that minimises the error, 0 to 1."""
    by_people, by_machine = cluster_sums(people, clusters), cluster_sums(machine, clusters)
    spread = float(by_machine @ by_machine)
    return min(max(-float(by_people @ by_machine) / spread, 0.0), 1.0) if spread > 0 else 0.0


def powered_rates(turns: pd.DataFrame, gold: pd.DataFrame, *, by: str, cluster: str | None = None) -> pd.DataFrame:
    """Estimate rates of codes in groups from the machine's codes and a hand-coded sample of sessions.

    The sample must be a random draw of each group's sessions or turns (`ASSUMPTION`). The interval is Clopper and
    Pearson's with Korn and Graubard's effective sample size, which keeps it within 0..1; for turns drawn with known
    probabilities, its mid-P form. With fewer than four
    hand-coded clusters there is none; with fewer than five turns with the code, or without it, or fewer than four
    clusters that are not coded by hand, the machine's codes are not used.

    Parameters
    ----------
    turns : DataFrame
        A row a turn of all sessions: ``session_id``, ``turn``, and ``p_<code>`` for each code, empty for turns that
        cannot have it.
    gold : DataFrame
        What people coded: ``session_id``, ``turn``, ``code`` (named as the columns of `turns`), ``value`` (1 the turn
        has it, 0 it has not). Coders of one turn are averaged. A turn without a row for a code is not coded for it.
        With a column ``inclusion``, the probability with which the turn was drawn, turns are weighted by it.
    by, cluster : str
        Columns of `turns`: groups, and clusters (``counselor``, ``source_group``, ``client``; by default the session).
        A session without a value is its own cluster; clients are told apart by ``counselor``, if `turns` has it.

    Returns
    -------
    DataFrame
        A row a group and code: the column `by`; ``code``; ``n_sessions``, ``n_turns``, ``n_gold_sessions``,
        ``n_gold_turns``: all, and those coded by hand; ``rate``, ``lo``, ``hi``: mean over sessions of the share of
        turns that people would give the code, 0 to 1, with its 95 % interval; ``error``, ``df``: its standard error
        between clusters, and the degrees of freedom; ``gold_rate``, ``gold_lo``, ``gold_hi``: the same from the
        hand-coded turns alone; ``machine_rate``: mean probability over all turns; ``weight``: how much the machine's
        codes count, 0 to 1; ``note``: what is missing, and why.

    Examples
    --------
    >>> turns = pd.DataFrame({"session_id": np.repeat(list("abcdefgh"), 10), "turn": np.tile(np.arange(10), 8)})
    >>> turns["p_mi_question"], turns["who"] = np.tile([0.9, 0.1], 40), "Ann"
    >>> gold = turns[turns["session_id"] < "e"].assign(code="mi_question", value=np.tile([1, 0], 20))
    >>> powered_rates(turns, gold, by="who")[["code", "n_gold_turns", "rate"]].to_numpy().tolist()
    [['mi_question', 40, 0.5]]
    """
    keys = ["session_id", "turn"]
    if not pd.MultiIndex.from_frame(gold[keys]).isin(pd.MultiIndex.from_frame(turns[keys])).any():
        raise BadOptionError("--gold", "none of its turns is in the results", "Use session_id and turn of the results")
    rows = [
        {by: group, "code": code} | _row(part, cluster)
        for code in gold["code"].unique()
        for group, part in _by_session(turns, gold, code, by, cluster).groupby(by, sort=False)
    ]
    return pd.DataFrame(rows, columns=[by, *COLUMNS])


def powered_differences(rates: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the difference of each two groups (column `by`) of `powered_rates`.

    A row a code and pair: ``code``, ``group``, ``against``, ``difference`` (rate of the first less that of the second),
    ``lo``, ``hi`` (95 %, Student's t with Welch and Satterthwaite's degrees of freedom), ``p``; nan where either group
    has no interval. Groups are taken as independent: no cluster may have sessions in both.

    Examples
    --------
    >>> rates = pd.DataFrame({"who": ["x", "y"], "code": "mi_input", "rate": [0.3, 0.1], "error": [0.03, 0.04]})
    >>> powered_differences(rates.assign(df=[20, 20]), "who").round(3).to_numpy().tolist()
    [['mi_input', 'x', 'y', 0.2, 0.099, 0.301, 0.0]]
    """
    rows = [
        {"code": code, "group": one[by], "against": other[by]} | _difference(one, other)
        for code, part in rates.groupby("code", sort=False)
        for one, other in combinations([row for _, row in part.iterrows()], 2)
    ]
    return pd.DataFrame(rows, columns=["code", "group", "against", "difference", "lo", "hi", "p"])


def _difference(one: pd.Series, other: pd.Series) -> dict[str, float]:
    difference = float(one["rate"] - other["rate"])
    variances = [float(group["error"]) ** 2 for group in (one, other)]
    error = sqrt(sum(variances))
    if isnan(error) or not error:
        return {"difference": difference, "lo": nan, "hi": nan, "p": nan}
    df = error**4 / sum(part**2 / float(group["df"]) for part, group in zip(variances, (one, other), strict=True))
    half = float(stats.t.ppf(0.975, df)) * error
    p = 2 * float(stats.t.sf(abs(difference) / error, df))
    return {"difference": difference, "lo": difference - half, "hi": difference + half, "p": p}


def coded_turns(rows: pd.DataFrame) -> pd.DataFrame:
    """Return people's codes of one code, by session_id and turn: ``people``, the mean of coders, and ``inclusion``."""
    value = pd.to_numeric(rows["value"], errors="coerce")
    by_turn = rows.assign(people=value).groupby(["session_id", "turn"])
    found = by_turn[["people"]].mean()
    return found.assign(inclusion=by_turn["inclusion"].first()) if "inclusion" in rows else found


def _by_session(turns: pd.DataFrame, gold: pd.DataFrame, code: str, by: str, cluster: str | None) -> pd.DataFrame:
    """Return the means of each session: people's, the machine's on the same turns, the machine's on the others."""
    machine = pd.to_numeric(turns[f"p_{code}"], errors="coerce").to_numpy(dtype=np.float64, na_value=nan)
    given = coded_turns(gold[gold["code"] == code]).reindex(pd.MultiIndex.from_frame(turns[["session_id", "turn"]]))
    people = given["people"].to_numpy(dtype=np.float64)
    coded = np.isfinite(people)
    columns = {
        "people": np.where(np.isfinite(machine), people, nan),
        "beside": np.where(coded, machine, nan),
        "rest": np.where(coded, nan, machine),
        "machine": machine,
    }
    by_turn = pd.DataFrame(columns)
    grouped = by_turn.groupby(turns["session_id"].to_numpy(), sort=False)
    counts = grouped[["people", "machine"]].count()
    sessions = grouped.mean().assign(n=counts["machine"], n_gold=counts["people"], k=grouped["people"].sum())
    if "inclusion" in given:
        times = pd.Series(1 / given["inclusion"].to_numpy(dtype=np.float64))
        drawn = by_turn[["people", "beside"]].mul(times, axis=0).assign(share=times.where(by_turn["people"].notna()))
        sums = drawn.groupby(turns["session_id"].to_numpy(), sort=False).sum().div(counts["machine"], axis=0)
        sessions = sessions.assign(**{str(name): sums[name] for name in sums})
    first = turns.drop_duplicates("session_id").set_index("session_id")
    sessions["cluster"] = pd.Series(cluster_numbers(first, cluster or SESSION, by), index=first.index)
    sessions[by] = first[by] if by != "session_id" else sessions.index
    return sessions[sessions["n"] > 0]


def _estimator(part: pd.DataFrame) -> Callable[[float | None], Powered]:
    """Return what estimates a group's rate with a weight of the machine's codes."""
    found = {str(name): part[name].to_numpy(dtype=np.float64) for name in part if name in _SUMS}
    people, beside, clusters = found["people"], found["beside"], part["cluster"].to_numpy()
    if "share" in found:
        drawn = found["share"], found["machine"]
        return lambda weight: weighted_mean(people, beside, drawn[0], drawn[1], clusters, weight=weight)
    return lambda weight: powered_mean(people, beside, found["rest"], clusters, weight=weight)


def _row(part: pd.DataFrame, cluster: str | None) -> dict[str, object]:
    """Return the columns of a group and code."""
    estimate, n_gold = _estimator(part), float(part["n_gold"].sum())
    alone = estimate(0.0)
    events = min(float(part["k"].sum()), n_gold - float(part["k"].sum()))
    both = estimate(None) if events >= FEWEST_EVENTS else alone
    both = both if 0 < both.value < 1 else alone
    is_drawn = "share" in part
    low, high = powered_interval(both, np.inf if both.weight and both.error else n_gold, drawn=is_drawn)
    gold_low, gold_high = powered_interval(alone, n_gold, drawn=is_drawn)
    reached = float(part["share"].mean()) if "share" in part and n_gold else 1.0
    spread = int(part.loc[part["people"] > 0, "cluster"].nunique())
    short = SHORT.format(reached) if reached < UNFINISHED else ""
    return {
        "n_sessions": len(part),
        "n_turns": int(part["n"].sum()),
        "n_gold_sessions": int((part["n_gold"] > 0).sum()),
        "n_gold_turns": int(n_gold),
        "rate": both.value,
        "lo": low,
        "hi": high,
        "error": both.error,
        "df": both.df if both.n_clusters >= FEWEST_CLUSTERS else nan,
        "gold_rate": alone.value,
        "gold_lo": gold_low,
        "gold_hi": gold_high,
        "machine_rate": float(part["machine"].mean()),
        "weight": both.weight,
        "note": "; ".join(filter(None, (_note(both, events, spread, cluster), short))),
    }


def powered_interval(found: Powered, most: float, *, drawn: bool = False) -> tuple[float, float]:
    """Return the 95 % interval of an estimate; nan where its error is unknown.

    Clopper and Pearson's for a sample that is as uncertain as the estimate (Korn & Graubard 1998), and no larger than
    `most` turns (infinite where the machine's turns count, too). Wilson's is shorter by a twentieth and held the true
    rate in 91 to 95 % of simulated samples, this one in 93 to 96 %. For turns that were `drawn` with known
    probabilities it held 96 to 99 %, because their error allows for clusters that the draw has evened out: there its
    mid-P form (Lancaster 1961), shorter by 6 %, held 95 to 98 %.
    """
    from statsmodels.stats.proportion import proportion_confint  # noqa: PLC0415 (slow)

    if isnan(found.error) or isnan(found.value):
        return nan, nan
    n = effective_n(found.value, found.error, most, float(found.df))
    k = found.value * n
    if drawn:
        return _end_of_mid_p(k, n, 0.025), _end_of_mid_p(k, n, 0.975)
    low, high = proportion_confint(k, n, method="beta")
    return float(low), float(high)


def _end_of_mid_p(k: float, n: float, level: float) -> float:
    """Return the share up to which the mean of both beta distributions of Clopper and Pearson holds `level`."""

    def held(share: float) -> float:
        low = stats.beta.cdf(share, k, n - k + 1) if k > 0 else 1.0
        return float(low + (stats.beta.cdf(share, k + 1, n - k) if k < n else 0.0)) / 2

    if held(0.0) >= level:
        return 0.0
    if held(1.0) <= level:
        return 1.0
    return float(optimize.brentq(lambda share: held(share) - level, 0, 1))


def _note(found: Powered, events: float, spread: int, cluster: str | None) -> str:
    unit = cluster or "session"
    if not found.n_clusters:
        return "no turn of the group is coded by hand"
    if found.n_clusters < FEWEST_CLUSTERS:
        coded = f"{found.n_clusters} {unit_name(unit, found.n_clusters)}"
        return f"people coded turns of {coded}, {FEWEST_CLUSTERS} are needed for an interval"
    if events < FEWEST_EVENTS:
        few = f"{events:g} hand-coded turns with the code or without it"
        return f"{few}, {FEWEST_EVENTS} are needed: people's codes alone"
    if spread < FEW_CLUSTERS:
        given = f"{spread} {unit_name(unit, spread)}"
        return f"people gave the code to turns of {given} only: the interval may be somewhat too short"
    return "" if found.weight else "people's codes alone: the machine's say nothing more"


def effective_n(share: float, error: float, most: float, df: float) -> float:
    """Return the size of the simple random sample whose share is as uncertain as this one of clusters.

    From a share, its standard error between clusters, and the degrees of freedom of that; with fewer the sample is
    smaller. It is at `most` the number of turns, because clusters can be alike by accident.

    References
    ----------
    Korn, E. L., & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology, 24(2), 193-201.

    Examples
    --------
    >>> round(effective_n(0.5, 0.05, 400, inf), 6)
    100.0
    """
    known = share * (1 - share) / error**2 if error > 0 and 0 < share < 1 else inf
    spread = float(stats.t.ppf(0.975, df)) if df >= 1 else Z95
    return min(known, most) * (Z95 / spread) ** 2


def slope_on_machine(p: Floats, people: Floats, weights: Floats) -> float:
    """Return the slope of people's codes on the machine's probabilities of coded turns (n_turns,), from 0 to 1."""
    off = p - np.average(p, weights=weights)
    square = float(weights @ off**2)
    return float(np.clip(weights @ (off * people) / square, 0, 1)) if square > 0 else 0.0
