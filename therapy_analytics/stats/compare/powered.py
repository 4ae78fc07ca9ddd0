"""Prediction-powered inference: rates from the machine's codes and a hand-coded sample, valid whatever its errors.

The machine's rate over all sessions, less the machine's mean error where people coded. Written here because
``ppi-python`` 0.2.3, which has the same estimator for independent turns (a test compares the formula), knows no
clusters, silences all warnings when it is imported, and brings 200 MB of packages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, isfinite, isnan, nan, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, stats

from therapy_analytics.core.clusters import COLUMNS as CLUSTERS
from therapy_analytics.core.clusters import SESSION, Bools, Floats, cluster_column, cluster_numbers, cluster_sums
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.measures.intervals import Z95
from therapy_analytics.stats.agreement import GoldOptions
from therapy_analytics.stats.compare.groups import ALL, TOGETHER, Grouped
from therapy_analytics.stats.compare.phrases import p_phrase, unit_name
from therapy_analytics.stats.compare.sessions import Results
from therapy_analytics.stats.machine_codes import read_machine
from therapy_analytics.stats.people_codes import LISTED, read_gold

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
RATE_COLUMNS = (
    *("code", "n_sessions", "n_turns", "n_gold_sessions", "n_gold_turns", "rate", "lo", "hi", "error", "df"),
    *("gold_rate", "gold_lo", "gold_hi", "machine_rate", "weight", "note"),
)
_BY_HAND = "With the turns that people coded"
_MOST_LISTED = 20
"""Further rates stand in the table alone."""


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


def powered_interval(found: Powered, most: float, *, drawn: bool = False) -> tuple[float, float]:
    """Return the 95 % interval of an estimate; nan where its error is unknown.

    Clopper and Pearson's for a sample that is as uncertain as the estimate (Korn & Graubard 1998): the simple random
    sample whose share has its standard error between clusters and its degrees of freedom, and no larger than `most`
    turns (infinite where the machine's turns count, too), because clusters can be alike by accident. Wilson's is
    shorter by a twentieth and held the true rate in 91 to 95 % of simulated samples, this one in 93 to 96 %. For turns
    that were `drawn` with known probabilities it held 96 to 99 %, because their error allows for clusters that the draw
    has evened out: there its mid-P form (Lancaster 1961), shorter by 6 %, held 95 to 98 %.

    References
    ----------
    Korn, E. L., & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology, 24(2), 193-201.
    """
    from statsmodels.stats.proportion import proportion_confint  # noqa: PLC0415 (slow)

    value, error = found.value, found.error
    if isnan(error) or isnan(value):
        return nan, nan
    known = value * (1 - value) / error**2 if error > 0 and 0 < value < 1 else inf
    quantile = float(stats.t.ppf(0.975, found.df)) if found.df >= 1 else Z95
    n = min(known, most) * (Z95 / quantile) ** 2
    k = value * n
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


def slope_on_machine(p: Floats, people: Floats, weights: Floats) -> float:
    """Return the slope of people's codes on the machine's probabilities of coded turns (n_turns,), from 0 to 1."""
    off = p - np.average(p, weights=weights)
    square = float(weights @ off**2)
    return float(np.clip(weights @ (off * people) / square, 0, 1)) if square > 0 else 0.0


# Tables of rates in groups


def powered_rates(turns: pd.DataFrame, gold: pd.DataFrame, *, by: str, cluster: str | None = None) -> pd.DataFrame:
    """Estimate rates of codes in groups from the machine's codes and a hand-coded sample of sessions.

    The sample must be a random draw of each group's sessions or turns (`ASSUMPTION`). The interval is
    `powered_interval`. With fewer than four hand-coded clusters there is none; with fewer than five turns with the
    code, or without it, or fewer than four clusters that are not coded by hand, the machine's codes are not used.

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
        {by: group, "code": code} | _rate(part, cluster)
        for code in gold["code"].unique()
        for group, part in _by_session(turns, gold, code, by, cluster).groupby(by, sort=False)
    ]
    return pd.DataFrame(rows, columns=[by, *RATE_COLUMNS])


def _by_session(turns: pd.DataFrame, gold: pd.DataFrame, code: str, by: str, cluster: str | None) -> pd.DataFrame:
    """Return the means of each session: people's, the machine's on the same turns, the machine's on the others.

    Of drawn turns, those of people and beside them are sums of 1 / inclusion over all turns, and so is ``share``.
    """
    machine = pd.to_numeric(turns[f"p_{code}"], errors="coerce").to_numpy(dtype=np.float64, na_value=nan)
    coded = gold[gold["code"] == code]
    by_turn = coded.assign(people=pd.to_numeric(coded["value"], errors="coerce")).groupby(["session_id", "turn"])
    place = pd.MultiIndex.from_frame(turns[["session_id", "turn"]])
    people = by_turn["people"].mean().reindex(place).to_numpy(dtype=np.float64)
    found = pd.DataFrame(
        {
            "people": np.where(np.isfinite(machine), people, nan),
            "beside": np.where(np.isfinite(people), machine, nan),
            "rest": np.where(np.isfinite(people), nan, machine),
            "machine": machine,
        }
    )
    session = turns["session_id"].to_numpy()
    grouped = found.groupby(session, sort=False)
    counts = grouped[["people", "machine"]].count()
    sessions = grouped.mean().assign(n=counts["machine"], n_gold=counts["people"], k=grouped["people"].sum())
    if "inclusion" in coded:
        times = pd.Series(1 / by_turn["inclusion"].first().reindex(place).to_numpy(dtype=np.float64))
        drawn = found[["people", "beside"]].mul(times, axis=0).assign(share=times.where(found["people"].notna()))
        sums = drawn.groupby(session, sort=False).sum().div(counts["machine"], axis=0)
        sessions = sessions.assign(**{str(name): sums[name] for name in sums})
    first = turns.drop_duplicates("session_id").set_index("session_id")
    sessions["cluster"] = pd.Series(cluster_numbers(first, cluster or SESSION, by), index=first.index)
    sessions[by] = first[by] if by != "session_id" else sessions.index
    return sessions[sessions["n"] > 0]


def _rate(part: pd.DataFrame, cluster: str | None) -> dict[str, object]:
    """Return the columns of a group and code from the means of its sessions."""
    people, beside, rest, machine = (
        part[name].to_numpy(np.float64) for name in ("people", "beside", "rest", "machine")
    )
    clusters, is_drawn, n_gold, k = part["cluster"].to_numpy(), "share" in part, part["n_gold"].sum(), part["k"].sum()

    def estimate(weight: float | None) -> Powered:
        if is_drawn:
            share = part["share"].to_numpy(np.float64)
            return weighted_mean(people, beside, share, machine, clusters, weight=weight)
        return powered_mean(people, beside, rest, clusters, weight=weight)

    alone, events = estimate(0.0), float(min(k, n_gold - k))
    both = estimate(None) if events >= FEWEST_EVENTS else alone
    both = both if 0 < both.value < 1 else alone
    low, high = powered_interval(both, np.inf if both.weight and both.error else float(n_gold), drawn=is_drawn)
    gold_low, gold_high = powered_interval(alone, float(n_gold), drawn=is_drawn)
    reached = float(part["share"].mean()) if is_drawn and n_gold else 1.0
    note = _note(both, events, part.loc[part["people"] > 0, "cluster"].nunique(), cluster or SESSION)
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
        "machine_rate": float(machine.mean()),
        "weight": both.weight,
        "note": "; ".join(filter(None, (note, SHORT.format(reached) if reached < UNFINISHED else ""))),
    }


def _note(found: Powered, events: float, spread: int, unit: str) -> str:
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
    rows = []
    for code, part in rates.groupby("code", sort=False):
        for one, other in combinations(part.to_dict("records"), 2):
            difference, error = one["rate"] - other["rate"], sqrt(one["error"] ** 2 + other["error"] ** 2)
            low = high = p = nan
            if error > 0:
                df = error**4 / (one["error"] ** 4 / one["df"] + other["error"] ** 4 / other["df"])
                half = float(stats.t.ppf(0.975, df)) * error
                low, high, p = difference - half, difference + half, 2 * float(stats.t.sf(abs(difference) / error, df))
            rows.append((code, one[by], other[by], difference, low, high, p))
    return pd.DataFrame(rows, columns=["code", "group", "against", "difference", "lo", "hi", "p"])


# What a comparison tells of them


@dataclass(frozen=True, slots=True, eq=False)
class FurtherTable:
    """A table that is written as ``<name>.csv``, and what it shows in words (Markdown, without a heading)."""

    name: str
    title: str
    table: pd.DataFrame
    words: str


def tables_by_hand(
    data: Grouped,
    read: Results,
    gold: Path,
    *,
    pseudonyms: Pseudonyms | None = None,
    cluster: str | None = None,
    left_out: frozenset[str] = frozenset(),
) -> Iterator[FurtherTable]:
    """Yield the tables of rates that rest on the turns that people coded, without the sessions `left_out`.

    Without a column of clusters that the user named, that of all sessions together is chosen anew, because counselors
    who are compared with each other are not clusters, and of all sessions together they are. Only from turns that were
    drawn with known probabilities may rates of all sessions together be estimated.
    """
    if len(read.sources) != 1:
        problem = "can be used with one folder of results or one analysis only"
        raise BadOptionError("--gold", problem, "Name the one that was coded")
    sessions, by = data.sessions[data.group >= 0], data.by
    of_all = cluster or cluster_column(sessions[read.about])
    machine = read_machine(read.sources[0][1])
    people = read_gold(machine, gold, GoldOptions(pseudonyms=pseudonyms))
    where = machine.turns[["session_id", "turn"]].iloc[people.values["place"].astype(int)].reset_index(drop=True)
    coded = pd.concat([where, people.values.drop(columns="place").reset_index(drop=True)], axis=1)
    drawn = "inclusion" in coded
    # All columns of clusters, because clients are told apart by counselor
    names = dict.fromkeys(("session_id", by, data.clustered_by, of_all, *CLUSTERS))
    about = sessions[[name for name in names if name in sessions]].astype({"session_id": str})
    turns = machine.turns.merge(about, on="session_id")
    turns, coded = (one[~one["session_id"].isin(left_out)].reset_index(drop=True) for one in (turns, coded))
    if left_out and coded.empty:
        yield FurtherTable("gold", _BY_HAND, pd.DataFrame(columns=[by, *RATE_COLUMNS]), "No coded session is left.")
        return
    rates = powered_rates(turns, coded, by=by, cluster=data.clustered_by)
    notes = [one for one in people.notes if not (drawn and one == LISTED)]
    words = [*_rates_in_words(rates, by), "", DRAWN if drawn else ASSUMPTION, *notes]
    yield FurtherTable("gold", _BY_HAND, rates, "\n".join(words))
    differences = powered_differences(rates, by)
    yield FurtherTable(
        "gold_differences", "Differences of these rates", differences, _differences_in_words(differences)
    )
    if drawn and by != ALL:
        whole = powered_rates(turns.assign(**{ALL: TOGETHER}), coded, by=ALL, cluster=of_all)
        title = f"{_BY_HAND}, all sessions together"
        yield FurtherTable("gold_all", title, whole, "\n".join(_rates_in_words(whole, ALL)))


def _rates_in_words(rates: pd.DataFrame, by: str) -> Sequence[str]:
    def interval(low: float, high: float) -> str:
        return f"{low:.0%} to {high:.0%}" if isfinite(low) else "no interval"

    lines = [
        f"- {row['code']}, {row[by]}: {row['rate']:.0%} ({interval(row['lo'], row['hi'])}); by hand alone "
        f"{row['gold_rate']:.0%} ({interval(row['gold_lo'], row['gold_hi'])}), machine {row['machine_rate']:.0%}"
        for row in rates[rates["rate"].notna()].head(_MOST_LISTED).to_dict("records")
    ]
    return lines or ["Too few sessions were coded by hand: see the notes in gold.csv."]


def _differences_in_words(differences: pd.DataFrame) -> str:
    known = differences[differences["lo"].notna()]
    lines = [
        f"- {row['code']}, {row['group']} less {row['against']}: {100 * row['difference']:+.0f} points "
        f"({100 * row['lo']:+.0f} to {100 * row['hi']:+.0f}), {p_phrase('p', row['p'])}"
        for row in known.head(_MOST_LISTED).to_dict("records")
    ]
    return "\n".join([*lines, *([""] if lines else []), "gold_differences.csv has each two groups."])
