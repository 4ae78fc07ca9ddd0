"""The tables of agreement: of the machine with each person and with most of them, and of people with each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.codes import builtin_codebooks
from therapy_analytics.codes.codebook import parents
from therapy_analytics.core.clusters import Bools, Floats, Ints
from therapy_analytics.stats.agreement import coefficients as co
from therapy_analytics.stats.agreement.coefficients import FEWEST_POSITIVES, FEWEST_TURNS, interval_columns
from therapy_analytics.stats.code_labels import SETS
from therapy_analytics.stats.machine_codes import Machine
from therapy_analytics.stats.people_codes import Gold

MACHINE, MAJORITY = "machine", "majority"
ON_BOTH: Mapping[str, co.Coefficient] = {"agreement": co.percent_agreement, "kappa": co.kappa, "ac1": co.ac1}
"""Coefficients that count agreement on the absence of a code, too: of a kind, among the turns that can have it."""
FOUND: Mapping[str, co.Coefficient] = {"precision": co.precision, "recall": co.recall, "f1": co.f1}
"""Coefficients of single codes that do not: of a kind, too, they are of all turns."""
CORRECTED = ("kappa", "ac1")
"""Chance-corrected coefficients, which need `FEWEST_TURNS`."""
RATES = ("code", "session_id", "n_turns", "human", "machine")
Z = float(stats.norm.ppf(0.975))
RATE_STATISTICS: Mapping[str, tuple[Callable[[Floats], float], tuple[float, float] | None]] = {
    "icc": (co.icc2, (-1.0, 1.0)),
    "mean_difference": (co.mean_difference, None),
    "limit_low": (partial(co.limit_of_agreement, end=-Z), None),
    "limit_high": (partial(co.limit_of_agreement, end=Z), None),
}
"""Statistics of the rates of people and machine (n_sessions, 2), and the range of each; None for differences."""

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class CodedTurns:
    """One code (a column of ``turns.csv``), or one set of codes, as each coder gave it.

    The `values` of `people` (n_turns, n_coders) and of the `machine` (n_turns,) are numbered from 0; -1 stands for
    turns that are not coded. `p` (n_turns,) is the machine's probability of a single code, nan for sets; `session`
    (n_turns,) an index into the `names` of sessions; `cluster` (n_turns,) a number from 0; `weight` (n_turns,) how much
    each turn counts: in proportion to 1 / the probability with which it was drawn, 1 in the mean.

    Of a kind of a code, such as an open question, `parent` is that code ("" of others), and `gave` (n_turns, n_coders +
    1) says whether each coder, and last the machine, gave it; None where people or machine were not asked for it.
    `clear` (n_turns,) are the turns of which it is known what most people gave.
    """

    code: str
    values: tuple[str, ...]
    coders: tuple[str, ...]
    people: Ints
    machine: Ints
    p: Floats
    session: Ints
    names: tuple[str, ...]
    cluster: Ints
    weight: Floats
    clear: Bools
    parent: str = ""
    gave: Bools | None = None

    @property
    def is_set(self) -> bool:
        """Return whether this is a set of codes."""
        return self.code in SETS

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of clusters and of values."""
        return int(self.cluster.max(initial=-1)) + 1, len(self.values)

    @property
    def majority(self) -> Ints:
        """Return what most people gave (n_turns,), -1 where two values share the lead."""
        counts = (self.people[:, :, None] == np.arange(len(self.values))).sum(axis=1)
        top = counts.max(axis=1, keepdims=True)
        clear = ((counts == top).sum(axis=1) == 1) & (top[:, 0] > 0) & self.clear
        return np.where(clear, counts.argmax(axis=1), -1)

    def tables(self, first: Ints, second: Ints) -> Floats:
        """Return weighted counts of pairs of values (n_turns,) by cluster (n_clusters, K, K)."""
        return co.tables_of(first, second, self.cluster, self.shape, self.weight)

    def alpha(self, values: Ints) -> co.Estimate:
        """Return alpha of values (n_turns, n_coders)."""
        return co.estimate(co.alpha, co.coincidences_of(values, self.cluster, self.shape, self.weight))

    def among(self) -> CodedTurns:
        """Return a kind among the turns that can have it: coders who did not give its parent did not code it there.

        Kappa over all turns would count as agreement on open questions that both saw no question. Most people have
        coded a kind where most gave the parent.
        """
        if self.gave is None:
            return self
        people, machine = self.gave[:, :-1], self.gave[:, -1]
        asked = (self.people >= 0) | people
        return replace(
            self,
            people=np.where(people, self.people, -1),
            machine=np.where(machine, self.machine, -1),
            clear=2 * people.sum(axis=1) > asked.sum(axis=1),
        )

    def calibrated(self) -> tuple[Floats, Ints, Ints, Floats]:
        """Return probability, majority, cluster and weight of the turns that have both, (n,) each."""
        truth = self.majority
        known = (truth >= 0) & ~np.isnan(self.p)
        return self.p[known], truth[known], self.cluster[known], self.weight[known]


def coded(machine: Machine, gold: Gold, cluster_of: Mapping[str, int]) -> list[CodedTurns]:
    """Return each code and set that people and the machine gave, in the order of the columns."""
    above = parents(builtin_codebooks())
    by_code = {str(code): own for part in (gold.values, gold.sets) for code, own in part.groupby("code")}
    found = []
    for code in (one for one in (*machine.codes, *SETS) if one in by_code):
        one = _coded(machine, by_code[code], code, cluster_of)
        if one is not None and code in above:
            one = _as_kind(one, above[code], by_code.get(above[code]), machine, by_code[code])
        found += [one] if one is not None else []
    return found


def _coded(machine: Machine, own: pd.DataFrame, code: str, cluster_of: Mapping[str, int]) -> CodedTurns | None:
    """Return a code or set as people (`own`, a row a turn and coder) and machine gave it; None without the machine."""
    is_set = code in SETS
    values = (*SETS[code][0], SETS[code][1]) if is_set else ("0", "1")
    if is_set and not set(SETS[code][0]) <= set(machine.codes):
        return None
    number = own["value"].map({value: at for at, value in enumerate(values)}) if is_set else own["value"]
    wide = own.assign(value=number).pivot_table(index="place", columns="coder", values="value", aggfunc="first")
    place = wide.index.to_numpy(dtype=np.int64)
    session, names = pd.factorize(machine.turns["session_id"].to_numpy()[place])
    given = (_decided_set(machine, code) if is_set else machine.turns[code].to_numpy(dtype=np.float64))[place]
    weight = np.ones(len(place))
    if "inclusion" in own:  # of a drawn sample; what was coded beside it is in no pair of coders
        drawn = own.groupby("place")["inclusion"].first().reindex(wide.index).to_numpy(dtype=np.float64)
        weight = np.nan_to_num(1 / drawn)
    return CodedTurns(
        code=code,
        values=values,
        coders=tuple(map(str, wide.columns)),
        people=wide.fillna(-1).to_numpy(dtype=np.int64),
        machine=np.nan_to_num(given, nan=-1).astype(np.int64),
        p=np.full(len(place), np.nan) if is_set else machine.turns[f"p_{code}"].to_numpy()[place],
        session=session.astype(np.int64),
        names=tuple(map(str, names)),
        cluster=np.array([cluster_of[name] for name in names], dtype=np.int64)[session],
        weight=weight / weight.mean(),
        clear=np.ones(len(place), dtype=bool),
    )


def _as_kind(
    one: CodedTurns, parent: str, above: pd.DataFrame | None, machine: Machine, own: pd.DataFrame
) -> CodedTurns:
    """Return a code as a kind of its parent, with who gave that: a kind implies it.

    `above` are people's codes of the parent, None if there are none. Who never coded the parent gave it nowhere.
    """
    if above is None or parent not in machine.codes:
        return replace(one, parent=parent)
    place = np.unique(own["place"].to_numpy(dtype=np.int64))
    asked = np.isin(one.coders, above["coder"].unique().astype(str))
    wide = above.pivot_table(index="place", columns="coder", values="value", aggfunc="first")
    theirs = wide.reindex(index=place, columns=list(one.coders)).to_numpy(dtype=np.float64)
    by_machine = machine.turns[parent].to_numpy(dtype=np.float64)[place]
    gave = np.column_stack([((theirs == 1) | (one.people == 1)) & asked, (by_machine == 1) | (one.machine == 1)])
    return replace(one, parent=parent, gave=gave)


def _decided_set(machine: Machine, name: str) -> Floats:
    """Return the machine's code of a set (n_turns,): of several decided codes the most probable, of none the rest."""
    codes = list(SETS[name][0])
    decided = machine.turns[codes].to_numpy(dtype=np.float64)
    p = machine.turns[[f"p_{code}" for code in codes]].to_numpy(dtype=np.float64)
    best = np.where(decided == 1, p, -1.0).argmax(axis=1).astype(np.float64)
    best[(decided != 1).all(axis=1)] = len(codes)
    best[np.isnan(decided).any(axis=1)] = np.nan
    return np.asarray(best)


def codes_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return a row for each code and set: the machine against most people, and beside people's own agreement."""
    rows = []
    for one in found:
        kind = one.among()
        row: Row = {"code": one.code, "n_coders": len(one.coders)}
        row |= _pair(one, (one.majority, kind.majority), (one.machine, kind.machine))
        row["n_tied"] = int(((kind.people >= 0).any(axis=1) & kind.clear & (kind.majority < 0)).sum())
        row |= _beside(kind)
        if not one.is_set:
            p, given, cluster, weight = one.calibrated()
            row |= interval_columns("ece", co.calibration_error(p, given.astype(np.float64), cluster, weight))
            row["brier"] = float(np.average((p - given) ** 2, weights=weight)) if len(p) else np.nan
        rows.append(row)
    return pd.DataFrame(rows) if rows else pd.DataFrame({"code": []}, dtype=str)


def pairs_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return a row for each code and two coders: the machine with each person and the majority, and people in pairs."""
    rows = []
    for one in found:
        kind = one.among()
        people = list(zip(one.coders, one.people.T, kind.people.T, strict=True))
        machine, most = (MACHINE, one.machine, kind.machine), (MAJORITY, one.majority, kind.majority)
        pairs = [(reference, machine) for reference in (*people, *([most] if len(people) > 1 else []))]
        for first, second in (*pairs, *combinations(people, 2)):
            by = "machine-human" if second is machine else "human-human"
            about: Row = {"code": one.code, "kind": by, "reference": first[0], "other": second[0]}
            rows.append(about | _pair(one, first[1:], second[1:]))
    return pd.DataFrame(rows)


def people_table(found: Sequence[CodedTurns], coders: tuple[str, str]) -> pd.DataFrame:
    """Return a row for each code that both of these people coded: the one with the other, without a machine."""
    rows = []
    for one in (one for one in found if set(coders) <= set(one.coders)):
        at = [one.coders.index(name) for name in coders]
        both, kind = one.people[:, at], one.among().people[:, at]
        if not (both >= 0).all(axis=1).any():
            continue
        row = _pair(one, (both[:, 0], kind[:, 0]), (both[:, 1], kind[:, 1]))
        alpha = co.UNDEFINED if np.isnan(float(str(row["kappa"]))) else one.alpha(kind)
        about: Row = {"code": one.code, "first": coders[0], "second": coders[1]}
        rows.append(about | row | interval_columns("alpha", alpha))
    return pd.DataFrame(rows).rename(columns={"n_reference": "n_first", "n_other": "n_second"})


def _pair(one: CodedTurns, first: tuple[Ints, ...], second: tuple[Ints, ...]) -> Row:
    """Return counts and coefficients of two coders, the first being the reference.

    Each is given by two arrays (n_turns,): the values on all turns, which precision, recall and F1 are of; and those
    among the turns that can have the code (`CodedTurns.among`), which everything else is of.
    """
    a, b = first[1], second[1]
    both = (a >= 0) & (b >= 0)
    row: Row = {"among": one.parent, "n_turns": int(both.sum()), "n_sessions": len(np.unique(one.session[both]))}
    row |= {"n_clusters": len(np.unique(one.cluster[both]))}
    if not one.is_set:
        yes, no = a[both] == 1, b[both] == 1
        row |= {"n_reference": int(yes.sum()), "n_other": int(no.sum()), "n_both": int((yes & no).sum())}
    row |= {"n_differ": int((a[both] != b[both]).sum())}
    reason, lacking = _lacking(one, a, b)
    tables = one.tables(a, b)
    for name, coefficient in ON_BOTH.items():
        row |= interval_columns(name, co.UNDEFINED if name in lacking else co.estimate(coefficient, tables))
    if not one.is_set:
        every = one.tables(first[0], second[0])
        for name, coefficient in FOUND.items():
            row |= interval_columns(name, co.estimate(coefficient, every))
    same = f"0 of {both.sum():,} turns differ" if both.any() and not row["n_differ"] else ""
    return row | {"note": "; ".join(filter(None, (same, reason)))}


def _lacking(one: CodedTurns, first: Ints, second: Ints) -> tuple[str, tuple[str, ...]]:
    """Return in words why two coders (n_turns,) have no kappa, and the coefficients that they lack; "" if they do."""
    both = (first >= 0) & (second >= 0)
    if one.parent and one.gave is None:
        return f"no kappa, AC1 or alpha: {one.parent}, of which it is a kind, was not coded", CORRECTED
    if both.sum() < FEWEST_TURNS:
        where = f" to which both gave {one.parent}" if one.parent else ""
        return f"no kappa, AC1 or alpha: fewer than {FEWEST_TURNS} turns{where}", CORRECTED
    counts = np.array([np.bincount(own[both], minlength=len(one.values)) for own in (first, second)])
    if one.is_set:
        few = (counts.sum(axis=1) - counts.max(axis=1)).min() < FEWEST_POSITIVES
        what = "another value than the commonest" if few else ""
    else:
        without, positive = counts.min(axis=0)
        what = "the code" if positive < FEWEST_POSITIVES else "no code" if without < FEWEST_POSITIVES else ""
    if what:
        return f"no kappa or alpha: a coder gave {what} to fewer than {FEWEST_POSITIVES} turns", ("kappa",)
    return "", ()


def _beside(kind: CodedTurns) -> Row:
    """Return people's agreement, and the machine's with each of them, on the turns that several coded.

    Of kappas: mean and range of the machine with each person and of people with each other, and their difference.
    """
    several = ((kind.people >= 0).sum(axis=1) > 1) & (kind.machine >= 0)
    cut = {name: getattr(kind, name)[several] for name in ("people", "machine", "p", "session", "cluster", "weight")}
    one = replace(kind, **cut, clear=kind.clear[several])
    n = len(one.machine)
    positive = n if one.is_set else (one.people == 1).sum() / len(one.coders)
    enough = n >= FEWEST_TURNS and positive >= FEWEST_POSITIVES and not (one.parent and one.gave is None)
    row: Row = {"n_turns_shared": n}
    for name, values in (
        ("alpha", one.people),
        ("alpha_with_machine", np.column_stack([one.people, one.machine])),
    ):
        row |= interval_columns(name, one.alpha(values) if enough else co.UNDEFINED)
    human = list(combinations(one.people.T, 2))
    machine = [(own, one.machine) for own in one.people.T] if human else []
    row["n_human_pairs"] = sum(bool(((first >= 0) & (second >= 0)).any()) for first, second in human)
    tables = {
        name: [one.tables(*pair) for pair in pairs if not _lacking(one, *pair)[0]]
        for name, pairs in (("machine", machine), ("human", human))
    }
    for name, pairs in tables.items():
        kappas = np.array([co.kappa(pair.sum(axis=0)) for pair in pairs])
        known = kappas[~np.isnan(kappas)]
        numbers = (known.mean(), known.min(), known.max()) if len(known) else co.UNDEFINED
        row |= {f"{name}_kappa_{end}": float(n) for end, n in zip(("mean", "min", "max"), numbers, strict=True)}
    row |= interval_columns("kappa_difference", _difference(tables["machine"], tables["human"]))
    mean, low, high = (float(str(row[name])) for name in ("machine_kappa_mean", "human_kappa_min", "human_kappa_max"))
    where = "below every pair of people" if mean < low else "above every pair of people" if mean > high else ""
    return row | {"machine_is": "" if np.isnan([mean, low]).any() else where or "within the range of people"}


def _difference(machine: list[Floats], human: list[Floats]) -> co.Estimate:
    """Return the machine's mean kappa with people less people's mean with each other, of the same clusters."""
    if not machine or not human:
        return co.UNDEFINED

    def mean(kappas: Floats) -> Floats:
        known = ~np.isnan(kappas)
        return co.over(np.where(known, kappas, 0).sum(axis=-1), known.sum(axis=-1).astype(np.float64))

    def gap(tables: Floats) -> Floats:
        kappas = co.kappa(tables)
        return np.asarray(mean(kappas[..., : len(machine)]) - mean(kappas[..., len(machine) :]))

    return co.estimate(gap, np.stack([*machine, *human], axis=1), bounded=False)


def calibration_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return a row for each code and bin of probabilities: turns, mean probability, share that people gave."""
    rows = []
    for one in (one for one in found if not one.is_set):
        p, given, cluster, weight = one.calibrated()
        bins = co.bins_of(p) if len(p) else np.zeros(0, dtype=np.int64)
        for number in np.unique(bins):
            own = bins == number
            hits = np.zeros((int(cluster.max()) + 1, 2))
            np.add.at(hits, cluster[own], (np.array([np.ones(own.sum()), given[own]]) * weight[own]).T)
            row = {"code": one.code, "bin": int(number) + 1, "n_turns": int(own.sum())}
            row |= {"n_positive": int(given[own].sum()), "p_mean": float(np.average(p[own], weights=weight[own]))}
            share = co.estimate(lambda sums: co.over(sums[..., 1], sums[..., 0]), hits)
            rows.append(row | interval_columns("observed", share))
    names = ("code", "bin", "n_turns", "n_positive", "p_mean", "observed", "observed_lo", "observed_hi")
    return pd.DataFrame(rows, columns=list(names))


def confusion_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return how often most people gave each value where the machine gave each, by code and set.

    ``n`` counts turns; ``share_of_human`` weights them where they were drawn with known probabilities.
    """
    rows = []
    for one in found:
        pair = one.majority, one.machine
        counts = co.tables_of(*pair, one.cluster, one.shape).sum(axis=0)
        table = one.tables(*pair).sum(axis=0)
        share = co.over(table, table.sum(axis=1, keepdims=True) * np.ones_like(table))
        rows += [
            (one.code, human, machine, int(counts[i, j]), share[i, j])
            for i, human in enumerate(one.values)
            for j, machine in enumerate(one.values)
        ]
    return pd.DataFrame(rows, columns=["code", "human", "machine", "n", "share_of_human"])


def rates_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return the rate of each code in each session, by most people and by the machine, on the same turns.

    Of turns that were drawn with known probabilities, the rates are those of all turns, as far as these can tell.
    """
    frames = []
    for one in (one for one in found if not one.is_set):
        majority = one.majority
        known = (majority >= 0) & (one.machine >= 0)
        weight = one.weight[known]
        turns = pd.DataFrame({"human": majority[known] * weight, "machine": one.machine[known] * weight, "w": weight})
        group = turns.groupby(one.session[known])
        sums = group.sum()
        rates = sums[["human", "machine"]].div(sums["w"], axis=0)
        names = np.array(one.names, dtype=object)[rates.index]
        frames.append(pd.DataFrame({"code": one.code, "session_id": names, "n_turns": group.size()}).join(rates))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(RATES))


def sessions_table(rates: pd.DataFrame, cluster_of: Mapping[str, int]) -> pd.DataFrame:
    """Return for each rate of `rates_table` how machine and people agree over sessions, with intervals over clusters.

    ``icc``; ``mean_difference`` (machine less people) and the limits of agreement (``limit_low``, ``limit_high``).
    `cluster_of` is the cluster of each session.
    """
    rows: list[Row] = []
    for code, own in rates.groupby("code", sort=False):
        cluster = np.array([cluster_of[name] for name in own["session_id"]])
        both, clusters = own[["human", "machine"]].to_numpy(dtype=np.float64), np.unique(cluster)
        row: Row = {"code": code, "n_sessions": float(len(both)), "n_clusters": float(len(clusters))}
        row |= {"n_turns": float(own["n_turns"].sum())}
        row |= {"human_mean": float(both[:, 0].mean()), "machine_mean": float(both[:, 1].mean())}
        for name, (statistic, bounds) in RATE_STATISTICS.items():
            value = statistic(both)
            left_out = np.array([statistic(both[cluster != one]) for one in clusters])
            row |= interval_columns(name, (value, *co.jackknife(value, left_out, bounds)))
        difference = both[:, 1] - both[:, 0]
        rows.append(row | {"sd_difference": float(difference.std(ddof=1)) if len(both) > 1 else np.nan})
    return pd.DataFrame(rows)
