"""The tables of agreement: of the machine with each person and with most of them, and of people with each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.agreement import _coefficients as co
from therapy_analytics.agreement._coefficients import FEWEST_TURNS, interval_columns
from therapy_analytics.agreement._gold import Gold
from therapy_analytics.agreement._labels import SETS
from therapy_analytics.agreement._machine import Machine
from therapy_analytics.clusters import Bools, Floats, Ints

MACHINE, MAJORITY = "machine", "majority"
BINARY: Mapping[str, co.Coefficient] = {
    "agreement": co.percent_agreement,
    "kappa": co.kappa,
    "ac1": co.ac1,
    "precision": co.precision,
    "recall": co.recall,
    "f1": co.f1,
}
NOMINAL: Mapping[str, co.Coefficient] = {name: BINARY[name] for name in ("agreement", "kappa", "ac1")}
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
TOO_FEW = f"no kappa, AC1 or alpha: fewer than {FEWEST_TURNS} turns"

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class CodedTurns:
    """One code (a column of ``turns.csv``), or one set of codes, as each coder gave it.

    The `values` of `people` (n_turns, n_coders) and of the `machine` (n_turns,) are numbered from 0; -1 stands for
    turns that are not coded. `p` (n_turns,) is the machine's probability of a single code, nan for sets; `session`
    (n_turns,) an index into the `names` of sessions; `cluster` (n_turns,) a number from 0.
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

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of clusters and of values."""
        return int(self.cluster.max(initial=-1)) + 1, len(self.values)

    @property
    def majority(self) -> Ints:
        """Return what most people gave (n_turns,), -1 where two values share the lead."""
        counts = (self.people[:, :, None] == np.arange(len(self.values))).sum(axis=1)
        top = counts.max(axis=1, keepdims=True)
        clear = ((counts == top).sum(axis=1) == 1) & (top[:, 0] > 0)
        return np.where(clear, counts.argmax(axis=1), -1)

    def tables(self, first: Ints, second: Ints) -> Floats:
        """Return counts of pairs of values (n_turns,) by cluster (n_clusters, K, K)."""
        return co.tables_of(first, second, self.cluster, self.shape)

    def only(self, turns: Bools) -> CodedTurns:
        """Return some of the turns, by a mask (n_turns,)."""
        parts = {name: getattr(self, name)[turns] for name in ("people", "machine", "p", "session", "cluster")}
        return replace(self, **parts)

    def calibrated(self) -> tuple[Floats, Ints, Ints]:
        """Return probability, majority and cluster of the turns that have both, (n,) each."""
        truth = self.majority
        known = (truth >= 0) & ~np.isnan(self.p)
        return self.p[known], truth[known], self.cluster[known]


def coded(machine: Machine, gold: Gold, cluster_of: Mapping[str, int]) -> list[CodedTurns]:
    """Return each code and set that people and the machine gave, in the order of the columns."""
    order = {code: at for at, code in enumerate((*machine.codes, *SETS))}
    codes = [(str(code), own) for table in (gold.values, gold.sets) for code, own in table.groupby("code")]
    found = [_coded(machine, own, code, cluster_of) for code, own in codes]
    return sorted((one for one in found if one is not None), key=lambda one: order[one.code])


def _coded(machine: Machine, own: pd.DataFrame, code: str, cluster_of: Mapping[str, int]) -> CodedTurns | None:
    is_set = code in SETS
    values = (*SETS[code][0], SETS[code][1]) if is_set else ("0", "1")
    given = _decided_set(machine, code) if is_set else machine.turns[code]
    if given is None:
        return None
    number = own["value"].map({value: at for at, value in enumerate(values)}) if is_set else own["value"]
    wide = own.assign(value=number).pivot_table(index="place", columns="coder", values="value", aggfunc="first")
    place = wide.index.to_numpy(dtype=np.int64)
    session, names = pd.factorize(machine.turns["session_id"].to_numpy()[place])
    p = np.full(len(place), np.nan) if is_set else machine.turns[f"p_{code}"].to_numpy()[place]
    return CodedTurns(
        code=code,
        values=values,
        coders=tuple(map(str, wide.columns)),
        people=wide.fillna(-1).to_numpy(dtype=np.int64),
        machine=given.fillna(-1).to_numpy(dtype=np.int64)[place],
        p=np.asarray(p, dtype=np.float64),
        session=session.astype(np.int64),
        names=tuple(names),
        cluster=np.array([cluster_of[name] for name in names], dtype=np.int64)[session],
    )


def _decided_set(machine: Machine, name: str) -> pd.Series | None:
    """Return the machine's code of a set (n_turns,): of several decided codes the most probable, of none the rest."""
    codes = list(SETS[name][0])
    if not set(codes) <= set(machine.codes):
        return None
    decided = machine.turns[codes].to_numpy()
    p = machine.turns[[f"p_{code}" for code in codes]].to_numpy()
    best = np.where(decided == 1, p, -1.0).argmax(axis=1).astype(np.float64)
    best[(decided != 1).all(axis=1)] = len(codes)
    best[np.isnan(decided).any(axis=1)] = np.nan
    return pd.Series(best)


def pairs_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return a row for each code and two coders: the machine with each person and the majority, and people in pairs."""
    rows = []
    for one in found:
        people = list(zip(one.coders, one.people.T, strict=True))
        references = [*people, *([(MAJORITY, one.majority)] if len(people) > 1 else [])]
        rows += [_pair(one, reference, (MACHINE, one.machine)) for reference in references]
        rows += [_pair(one, *pair) for pair in combinations(people, 2)]
    return pd.DataFrame(rows)


def people_table(found: Sequence[CodedTurns], coders: tuple[str, str]) -> pd.DataFrame:
    """Return a row for each code that both of these people coded: the one with the other, without a machine."""
    rows = []
    for one in (one for one in found if set(coders) <= set(one.coders)):
        both = one.people[:, [one.coders.index(name) for name in coders]]
        n = int((both >= 0).all(axis=1).sum())
        coincidences = co.coincidences_of(both, one.cluster, one.shape)
        alpha = co.estimate(co.alpha, coincidences) if n >= FEWEST_TURNS else co.UNDEFINED
        if n:
            pair = _pair(one, (coders[0], both[:, 0]), (coders[1], both[:, 1]))
            rows.append(pair | interval_columns("alpha", alpha))
    names = {"reference": "first", "other": "second", "n_reference": "n_first", "n_other": "n_second"}
    return pd.DataFrame(rows).rename(columns=names)


def _pair(one: CodedTurns, first: tuple[str, Ints], second: tuple[str, Ints]) -> Row:
    """Return the columns of one pair, of which the first is the reference."""
    kind = "machine-human" if second[0] == MACHINE else "human-human"
    about: Row = {"code": one.code, "kind": kind, "reference": first[0], "other": second[0]}
    return about | _counts(one, first[1], second[1]) | _estimates(one, first[1], second[1])


def _counts(one: CodedTurns, first: Ints, second: Ints) -> dict[str, float]:
    both = (first >= 0) & (second >= 0)
    counts = {"n_turns": both.sum(), "n_sessions": len(np.unique(one.session[both]))}
    counts |= {"n_clusters": len(np.unique(one.cluster[both]))}
    if one.code not in SETS:
        yes, no = first[both] == 1, second[both] == 1
        counts |= {"n_reference": yes.sum(), "n_other": no.sum(), "n_both": (yes & no).sum()}
    return {name: float(value) for name, value in counts.items()}


def _estimates(one: CodedTurns, first: Ints, second: Ints) -> Row:
    """Return coefficients with their intervals; of too few turns none that is chance-corrected, and a note why."""
    tables = one.tables(first, second)
    few = tables.sum() < FEWEST_TURNS
    found: Row = {}
    for name, coefficient in (NOMINAL if one.code in SETS else BINARY).items():
        found |= interval_columns(name, co.UNDEFINED if few and name in CORRECTED else co.estimate(coefficient, tables))
    return found | {"note": TOO_FEW if few else ""}


def codes_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return a row for each code and set: the machine against most people, and beside people's own agreement."""
    return pd.DataFrame([_code(one) for one in found])


def _code(one: CodedTurns) -> Row:
    majority = one.majority
    row: Row = {"code": one.code, "n_coders": len(one.coders), **_counts(one, majority, one.machine)}
    row["n_tied"] = int(((one.people >= 0).any(axis=1) & (majority < 0)).sum())
    row |= _estimates(one, majority, one.machine)
    row |= _several(one)
    if one.code not in SETS:
        p, given, cluster = one.calibrated()
        row |= interval_columns("ece", co.calibration_error(p, given.astype(np.float64), cluster))
        row["brier"] = float(((p - given) ** 2).mean()) if len(p) else np.nan
    return row


def _several(one: CodedTurns) -> Row:
    """Return people's agreement, and the machine's with each of them, on the turns that several coded."""
    kept = one.only(((one.people >= 0).sum(axis=1) > 1) & (one.machine >= 0))
    n = len(kept.machine)
    row: Row = {"n_turns_shared": n}
    given = {"alpha": kept.people, "alpha_with_machine": np.column_stack([kept.people, kept.machine])}
    for name, values in given.items():
        counts = co.coincidences_of(values, kept.cluster, kept.shape)
        row |= interval_columns(name, co.estimate(co.alpha, counts) if n >= FEWEST_TURNS else co.UNDEFINED)
    return row | _beside(kept)


def _beside(one: CodedTurns) -> Row:
    """Return the machine's kappa with each person and people's with each other: mean, range, and the difference."""
    people = list(one.people.T)
    machine = [one.tables(values, one.machine) for values in people] if len(people) > 1 else []
    human = [one.tables(*pair) for pair in combinations(people, 2)]
    row: Row = {"n_human_pairs": sum(bool(pair.any()) for pair in human)}
    machine, human = ([pair for pair in pairs if pair.sum() >= FEWEST_TURNS] for pairs in (machine, human))
    for name, pairs in (("machine", machine), ("human", human)):
        kappas = np.array([co.kappa(pair.sum(axis=0)) for pair in pairs])
        known = kappas[~np.isnan(kappas)]
        numbers = (known.mean(), known.min(), known.max()) if len(known) else co.UNDEFINED
        row |= {f"{name}_kappa_{end}": float(n) for end, n in zip(("mean", "min", "max"), numbers, strict=True)}
    row |= interval_columns("kappa_difference", _difference(machine, human))
    return row | {"machine_is": _position(row)}


def _difference(machine: list[Floats], human: list[Floats]) -> co.Estimate:
    """Return the machine's mean kappa with people less people's mean with each other, of the same clusters."""
    if not machine or not human:
        return co.UNDEFINED

    def gap(tables: Floats) -> Floats:
        kappas = co.kappa(tables)
        return np.asarray(_mean(kappas[..., : len(machine)]) - _mean(kappas[..., len(machine) :]))

    return co.estimate(gap, np.stack([*machine, *human], axis=1), bounded=False)


def _mean(kappas: Floats) -> Floats:
    """Return the mean over the last axis of what is defined, nan where nothing is."""
    known = ~np.isnan(kappas)
    return co.over(np.where(known, kappas, 0).sum(axis=-1), known.sum(axis=-1).astype(np.float64))


def _position(row: Mapping[str, object]) -> str:
    """Return in words where the machine's mean kappa lies beside the range of pairs of people."""
    mean, low, high = (float(str(row[name])) for name in ("machine_kappa_mean", "human_kappa_min", "human_kappa_max"))
    if np.isnan([mean, low]).any():
        return ""
    if mean < low:
        return "below every pair of people"
    return "above every pair of people" if mean > high else "within the range of people"


def calibration_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return a row for each code and bin of probabilities: turns, mean probability, share that people gave."""
    rows = []
    for one in (one for one in found if one.code not in SETS):
        p, given, cluster = one.calibrated()
        bins = co.bins_of(p) if len(p) else np.zeros(0, dtype=np.int64)
        for number in np.unique(bins):
            own = bins == number
            hits = np.zeros((int(cluster.max()) + 1, 2))
            np.add.at(hits, cluster[own], np.column_stack([np.ones(own.sum()), given[own]]))
            row = {"code": one.code, "bin": int(number) + 1, "n_turns": int(own.sum())}
            row |= {"n_positive": int(given[own].sum()), "p_mean": float(p[own].mean())}
            share = co.estimate(lambda sums: co.over(sums[..., 1], sums[..., 0]), hits)
            rows.append(row | interval_columns("observed", share))
    names = ("code", "bin", "n_turns", "n_positive", "p_mean", "observed", "observed_lo", "observed_hi")
    return pd.DataFrame(rows, columns=list(names))


def confusion_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return how often most people gave each value where the machine gave each, by code and set."""
    rows = []
    for one in found:
        table = one.tables(one.majority, one.machine).sum(axis=0)
        share = co.over(table, table.sum(axis=1, keepdims=True) * np.ones_like(table))
        rows += [
            {"code": one.code, "human": human, "machine": machine, "n": int(table[i, j]), "share_of_human": share[i, j]}
            for i, human in enumerate(one.values)
            for j, machine in enumerate(one.values)
        ]
    return pd.DataFrame(rows, columns=["code", "human", "machine", "n", "share_of_human"])


def rates_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return the rate of each code in each session, by most people and by the machine, on the same turns."""
    frames = []
    for one in (one for one in found if one.code not in SETS):
        majority = one.majority
        known = (majority >= 0) & (one.machine >= 0)
        turns = pd.DataFrame({"human": majority[known], "machine": one.machine[known]}, dtype=np.float64)
        group = turns.groupby(one.session[known])
        rates = group.mean()
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
        cluster = np.unique([cluster_of[name] for name in own["session_id"]], return_inverse=True)[1]
        rows.append({"code": code, **_rate_statistics(own, cluster.astype(np.int64))})
    return pd.DataFrame(rows)


def _rate_statistics(own: pd.DataFrame, cluster: Ints) -> dict[str, float]:
    both, n_clusters = own[["human", "machine"]].to_numpy(dtype=np.float64), int(cluster.max()) + 1
    row = {"n_sessions": float(len(both)), "n_clusters": float(n_clusters), "n_turns": float(own["n_turns"].sum())}
    row |= {"human_mean": float(both[:, 0].mean()), "machine_mean": float(both[:, 1].mean())}
    for name, (statistic, bounds) in RATE_STATISTICS.items():
        value = statistic(both)
        left_out = np.array([statistic(both[cluster != one]) for one in range(n_clusters)])
        row |= interval_columns(name, (value, *co.jackknife(value, left_out, bounds)))
    difference = both[:, 1] - both[:, 0]
    return row | {"sd_difference": float(difference.std(ddof=1)) if len(both) > 1 else np.nan}
