"""The tables of agreement: of the machine with each person and with most of them, and of people with each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from therapy_analytics.agreement import _coefficients as co
from therapy_analytics.agreement._coefficients import FEWEST_TURNS, Floats, Ints
from therapy_analytics.agreement._gold import Gold
from therapy_analytics.agreement._labels import SETS
from therapy_analytics.agreement._machine import Machine

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
BEYOND_CHANCE = ("kappa", "ac1")
RATES = ("code", "session_id", "n_turns", "human", "machine")
Z = float(stats.norm.ppf(0.975))
RATE_FIGURES: Mapping[str, tuple[Callable[[Floats], float], tuple[float, float] | None]] = {
    "icc": (co.icc2, (-1.0, 1.0)),
    "mean_difference": (co.mean_difference, None),
    "limit_low": (partial(co.limit_of_agreement, end=-Z), None),
    "limit_high": (partial(co.limit_of_agreement, end=Z), None),
}
"""Figures of the rates of people and machine (n_sessions, 2), and the least and the most that each can be."""
TOO_FEW = f"no kappa, AC1 or alpha: fewer than {FEWEST_TURNS} turns"


@dataclass(frozen=True, slots=True)
class CodedTurns:
    """One code, or one set of codes, as each coder gave it.

    Attributes
    ----------
    code : str
        A column of ``turns.csv``, or the name of a set.
    values : tuple of str
        What -1 (not coded), 0, 1, ... of the arrays stand for, from 0.
    coders : tuple of str
        People, by name.
    people : int array (n_turns, n_coders)
        Their values.
    machine : int array (n_turns,)
        The machine's.
    p : float array (n_turns,)
        Its probability of a single code; nan for sets.
    session : int array (n_turns,)
        Place of its session in `names`.
    names : tuple of str
        The sessions of these turns.
    cluster : int array (n_turns,)
        The turn's cluster, from 0: what is independent of one another.
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
    def n_clusters(self) -> int:
        """Return how many clusters there are."""
        return int(self.cluster.max(initial=-1)) + 1

    @property
    def majority(self) -> Ints:
        """Return what most people gave, -1 where two values share the lead."""
        counts = (self.people[:, :, None] == np.arange(len(self.values))).sum(axis=1)
        top = counts.max(axis=1, keepdims=True)
        clear = ((counts == top).sum(axis=1) == 1) & (top[:, 0] > 0)
        return np.where(clear, counts.argmax(axis=1), -1)

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Return which turns at least two people coded, and the machine."""
        return np.asarray(((self.people >= 0).sum(axis=1) > 1) & (self.machine >= 0))

    def tables(self, first: Ints, second: Ints) -> Floats:
        """Return counts of pairs of values by cluster (n_clusters, K, K)."""
        return co.tables_of(first, second, self.cluster, (self.n_clusters, len(self.values)))

    def only(self, turns: NDArray[np.bool_]) -> CodedTurns:
        """Return some of the turns, by a mask (n_turns,)."""
        parts = {name: getattr(self, name)[turns] for name in ("people", "machine", "p", "session", "cluster")}
        return replace(self, **parts)

    def coincidences(self, values: Ints) -> Floats:
        """Return Krippendorff's coincidences by cluster, of values (n_turns, n_coders)."""
        return co.coincidences_of(values, self.cluster, (self.n_clusters, len(self.values)))


def coded(machine: Machine, gold: Gold, cluster_of: Mapping[str, int]) -> list[CodedTurns]:
    """Return each code and set that people and the machine gave, in the order of the columns."""
    order = {code: at for at, code in enumerate((*machine.codes, *SETS))}
    single = [_coded(machine, own, str(code), cluster_of) for code, own in gold.values.groupby("code")]
    sets = [_coded(machine, own, str(code), cluster_of) for code, own in gold.sets.groupby("code")]
    found = [one for one in (*single, *sets) if one is not None]
    return sorted(found, key=lambda one: order[one.code])


def _coded(machine: Machine, own: pd.DataFrame, code: str, cluster_of: Mapping[str, int]) -> CodedTurns | None:
    values = (*SETS[code][0], SETS[code][1]) if code in SETS else ("0", "1")
    given = _decided_set(machine, code) if code in SETS else machine.turns[code]
    if given is None:
        return None
    number = own["value"].map({value: at for at, value in enumerate(values)}) if code in SETS else own["value"]
    wide = own.assign(value=number).pivot_table(index="place", columns="coder", values="value", aggfunc="first")
    place = wide.index.to_numpy(dtype=np.int64)
    session, names = pd.factorize(machine.turns["session_id"].to_numpy()[place])
    p = machine.turns[f"p_{code}"].to_numpy()[place] if code not in SETS else np.full(len(place), np.nan)
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
    return pd.DataFrame([row for one in found for row in _pairs(one)])


def _pairs(one: CodedTurns) -> list[dict[str, object]]:
    people = dict(zip(one.coders, one.people.T, strict=True))
    rows = [_pair(one, (name, values), (MACHINE, one.machine)) for name, values in people.items()]
    if len(people) > 1:
        rows.append(_pair(one, (MAJORITY, one.majority), (MACHINE, one.machine)))
    return rows + [_pair(one, first, second) for first, second in combinations(people.items(), 2)]


def _pair(one: CodedTurns, first: tuple[str, Ints], second: tuple[str, Ints]) -> dict[str, object]:
    """Return the figures of one pair, of which the first is the reference."""
    tables = one.tables(first[1], second[1])
    return {
        "code": one.code,
        "kind": "machine-human" if second[0] == MACHINE else "human-human",
        "reference": first[0],
        "other": second[0],
        **_counts(one, first[1], second[1]),
        **_estimates(tables, NOMINAL if one.code in SETS else BINARY),
    }


def _counts(one: CodedTurns, first: Ints, second: Ints) -> dict[str, float]:
    both = (first >= 0) & (second >= 0)
    counts = {"n_turns": both.sum(), "n_sessions": len(np.unique(one.session[both]))}
    counts |= {"n_clusters": len(np.unique(one.cluster[both]))}
    if one.code not in SETS:
        counts |= {"n_reference": (first[both] == 1).sum(), "n_other": (second[both] == 1).sum()}
        counts |= {"n_both": ((first[both] == 1) & (second[both] == 1)).sum()}
    return {name: float(value) for name, value in counts.items()}


def _estimates(tables: Floats, wanted: Mapping[str, co.Coefficient]) -> dict[str, object]:
    """Return coefficients with their intervals; of too few turns none that is beyond chance, and a note why."""
    few = tables.sum() < FEWEST_TURNS
    found: dict[str, object] = {}
    for name, coefficient in wanted.items():
        found |= co.interval_columns(
            name, (np.nan,) * 3 if few and name in BEYOND_CHANCE else co.estimate(coefficient, tables)
        )
    return found | {"note": TOO_FEW if few else ""}


def codes_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return a row for each code and set: the machine against most people, and beside what people reach together."""
    return pd.DataFrame([_code(one) for one in found])


def _code(one: CodedTurns) -> dict[str, object]:
    majority = one.majority
    tables = one.tables(majority, one.machine)
    tied = ((one.people >= 0).any(axis=1)) & (majority < 0)
    row: dict[str, object] = {"code": one.code, "n_coders": len(one.coders), **_counts(one, majority, one.machine)}
    row["n_tied"] = int(tied.sum())
    row |= _estimates(tables, NOMINAL if one.code in SETS else BINARY)
    row |= _several(one)
    if one.code not in SETS:
        row |= _calibration(one)
    return row


def _several(one: CodedTurns) -> dict[str, object]:
    """Return what people reach together, and the machine with each of them, on the turns that several coded."""
    kept = one.only(one.shared)
    n = len(kept.machine)
    row: dict[str, object] = {"n_turns_shared": n}
    given = {"alpha": kept.people, "alpha_with_machine": np.column_stack([kept.people, kept.machine])}
    for name, values in given.items():
        row |= co.interval_columns(
            name, co.estimate(co.alpha, kept.coincidences(values)) if n >= FEWEST_TURNS else (np.nan,) * 3
        )
    return row | _beside(kept)


def _beside(one: CodedTurns) -> dict[str, object]:
    """Return the machine's kappa with each person and people's with each other: mean, range, and the difference."""
    n = len(one.coders)
    machine = [one.tables(values, one.machine) for values in one.people.T] if n > 1 else []
    human = [one.tables(one.people[:, i], one.people[:, j]) for i, j in combinations(range(n), 2)]
    row: dict[str, object] = {"n_human_pairs": sum(bool(pair.any()) for pair in human)}
    machine, human = _enough(machine), _enough(human)
    for name, pairs in (("machine", machine), ("human", human)):
        row |= _range(f"{name}_kappa", np.array([co.kappa(pair.sum(axis=0)) for pair in pairs]))
    row |= co.interval_columns("kappa_difference", _difference(machine, human))
    row["machine_is"] = _reads(row)
    return row


def _enough(pairs: Sequence[Floats]) -> list[Floats]:
    """Return the tables of the pairs that share enough turns for a kappa."""
    return [pair for pair in pairs if pair.sum() >= FEWEST_TURNS]


def _range(name: str, kappas: Floats) -> dict[str, float]:
    known = kappas[~np.isnan(kappas)] if len(kappas) else kappas
    if not len(known):
        return {f"{name}_{end}": np.nan for end in ("mean", "min", "max")}
    return {f"{name}_mean": float(known.mean()), f"{name}_min": float(known.min()), f"{name}_max": float(known.max())}


def _difference(machine: list[Floats], human: list[Floats]) -> tuple[float, float, float]:
    """Return the machine's mean kappa with people less people's mean with each other, of the same clusters."""
    if not machine or not human:
        return np.nan, np.nan, np.nan
    mine, theirs = np.stack(machine, axis=1), np.stack(human, axis=1)

    def gap(tables: Floats) -> Floats:
        kappas = co.kappa(tables)
        return np.asarray(_mean(kappas[..., : len(machine)]) - _mean(kappas[..., len(machine) :]))

    return co.estimate(gap, np.concatenate([mine, theirs], axis=1), bounded=False)


def _mean(kappas: Floats) -> Floats:
    """Return the mean over the last axis of what is defined, nan where nothing is."""
    known = ~np.isnan(kappas)
    return co.over(np.where(known, kappas, 0).sum(axis=-1), known.sum(axis=-1).astype(np.float64))


def _reads(row: Mapping[str, object]) -> str:
    """Return in words where the machine's mean kappa lies beside the range of pairs of people."""
    mean, low, high = (float(str(row[name])) for name in ("machine_kappa_mean", "human_kappa_min", "human_kappa_max"))
    if np.isnan([mean, low]).any():
        return ""
    if mean < low:
        return "below every pair of people"
    return "above every pair of people" if mean > high else "within the range of people"


def _calibration(one: CodedTurns) -> dict[str, float]:
    truth = one.majority
    known = (truth >= 0) & ~np.isnan(one.p)
    p, given = one.p[known], truth[known].astype(np.float64)
    brier = float(((p - given) ** 2).mean()) if len(p) else np.nan
    return {**co.interval_columns("ece", co.calibration_error(p, given, one.cluster[known])), "brier": brier}


def calibration_table(found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return a row for each code and bin of probabilities: how many turns, what was expected, what people gave."""
    rows = []
    for one in (one for one in found if one.code not in SETS):
        truth = one.majority
        known = (truth >= 0) & ~np.isnan(one.p)
        p, given, cluster = one.p[known], truth[known], one.cluster[known]
        bins = co.bins_of(p) if len(p) else np.zeros(0, dtype=np.int64)
        for number in np.unique(bins):
            own = bins == number
            hits = np.zeros((int(cluster.max()) + 1, 2))
            np.add.at(hits, cluster[own], np.column_stack([np.ones(own.sum()), given[own]]))
            row = {"code": one.code, "bin": int(number) + 1, "n_turns": int(own.sum())}
            row |= {"n_positive": int(given[own].sum()), "p_mean": float(p[own].mean())}
            rows.append(row | co.interval_columns("observed", co.estimate(_share, hits)))
    return pd.DataFrame(
        rows, columns=["code", "bin", "n_turns", "n_positive", "p_mean", "observed", "observed_lo", "observed_hi"]
    )


def _share(sums: Floats) -> Floats:
    return co.over(sums[..., 1], sums[..., 0])


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
    for one in found:
        if one.code in SETS:
            continue
        majority = one.majority
        known = (majority >= 0) & (one.machine >= 0)
        turns = pd.DataFrame({"human": majority[known], "machine": one.machine[known]}, dtype=np.float64)
        group = turns.groupby(one.session[known])
        rates = group.mean()
        names = np.array(one.names, dtype=object)[rates.index]
        frames.append(pd.DataFrame({"code": one.code, "session_id": names, "n_turns": group.size()}).join(rates))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(RATES))


def sessions_table(rates: pd.DataFrame, cluster_of: Mapping[str, int]) -> pd.DataFrame:
    """Return for each rate how machine and people agree over sessions, with intervals over clusters.

    ``icc``; ``mean_difference`` (machine less people) and the limits between which 95 % of differences lie
    (``limit_low``, ``limit_high``).

    Parameters
    ----------
    rates : DataFrame
        As `rates_table` returns them.
    cluster_of : mapping of str to int
        The cluster of each session.
    """
    rows = []
    for code, own in rates.groupby("code", sort=False):
        cluster = np.unique([cluster_of[name] for name in own["session_id"]], return_inverse=True)[1]
        rows.append({"code": code, **_figures(own, cluster.astype(np.int64))})
    return pd.DataFrame(rows)


def _figures(own: pd.DataFrame, cluster: Ints) -> dict[str, float]:
    both = own[["human", "machine"]].to_numpy(dtype=np.float64)
    row = {"n_sessions": float(len(both)), "n_clusters": float(cluster.max() + 1)}
    row |= {"n_turns": float(own["n_turns"].sum())}
    row |= {"human_mean": float(both[:, 0].mean()), "machine_mean": float(both[:, 1].mean())}
    for name, (figure, bounds) in RATE_FIGURES.items():
        value = figure(both)
        left_out = np.array([figure(both[cluster != one]) for one in range(int(cluster.max()) + 1)])
        low, high = co.jackknife(value, left_out, bounds)
        row |= {name: value, f"{name}_lo": low, f"{name}_hi": high}
    difference = both[:, 1] - both[:, 0]
    return row | {"sd_difference": float(difference.std(ddof=1)) if len(both) > 1 else np.nan}
