"""Agreement for each code: of the machine with each person and with most of them, and of people with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.agreement import _coefficients as co
from therapy_analytics.agreement._cells import SETS
from therapy_analytics.agreement._coefficients import Floats, Resampling
from therapy_analytics.agreement._gold import Gold
from therapy_analytics.agreement._machine import Machine

Ints = NDArray[np.int64]
MACHINE, MAJORITY = "machine", "majority"
BINS = 10
BINARY: Mapping[str, co.Coefficient] = {
    "agreement": co.percent_agreement,
    "kappa": co.kappa,
    "ac1": co.ac1,
    "precision": co.precision,
    "recall": co.recall,
    "f1": co.f1,
}
NOMINAL: Mapping[str, co.Coefficient] = {name: BINARY[name] for name in ("agreement", "kappa", "ac1")}


@dataclass(frozen=True, slots=True)
class Coded:
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
        From 0.
    n_sessions : int
        Of these turns.
    """

    code: str
    values: tuple[str, ...]
    coders: tuple[str, ...]
    people: Ints
    machine: Ints
    p: Floats
    session: Ints
    n_sessions: int

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
        """Return counts of pairs of values by session (n_sessions, K, K)."""
        return co.tables_of(first, second, self.session, (self.n_sessions, len(self.values)))

    def coincidences(self, values: Ints) -> Floats:
        """Return Krippendorff's coincidences by session, of values (n_turns, n_coders)."""
        return co.coincidences_of(values, self.session, (self.n_sessions, len(self.values)))


def coded(machine: Machine, gold: Gold) -> list[Coded]:
    """Return each code and set that people and the machine gave, in the order of the columns."""
    order = {code: at for at, code in enumerate((*machine.codes, *SETS))}
    single = [_coded(machine, own, str(code)) for code, own in gold.values.groupby("code")]
    sets = [_coded(machine, own, str(code)) for code, own in gold.sets.groupby("code")]
    found = [one for one in (*single, *sets) if one is not None]
    return sorted(found, key=lambda one: order[one.code])


def _coded(machine: Machine, own: pd.DataFrame, code: str) -> Coded | None:
    values = (*SETS[code][0], SETS[code][1]) if code in SETS else ("0", "1")
    given = _decided_set(machine, code) if code in SETS else machine.turns[code]
    if given is None:
        return None
    number = own["value"].map({value: at for at, value in enumerate(values)}) if code in SETS else own["value"]
    wide = own.assign(value=number).pivot_table(index="place", columns="coder", values="value", aggfunc="first")
    place = wide.index.to_numpy(dtype=np.int64)
    session, names = pd.factorize(machine.turns["session_id"].to_numpy()[place])
    p = machine.turns[f"p_{code}"].to_numpy()[place] if code not in SETS else np.full(len(place), np.nan)
    return Coded(
        code=code,
        values=values,
        coders=tuple(map(str, wide.columns)),
        people=wide.fillna(-1).to_numpy(dtype=np.int64),
        machine=given.fillna(-1).to_numpy(dtype=np.int64)[place],
        p=np.asarray(p, dtype=np.float64),
        session=session.astype(np.int64),
        n_sessions=len(names),
    )


def _decided_set(machine: Machine, name: str) -> pd.Series | None:
    """Return the machine's one code of a set: the decided one, of several the most probable, of none the rest."""
    codes = list(SETS[name][0])
    if not set(codes) <= set(machine.codes):
        return None
    decided = machine.turns[codes].to_numpy()
    p = machine.turns[[f"p_{code}" for code in codes]].to_numpy()
    best = np.where(decided == 1, p, -1.0).argmax(axis=1).astype(np.float64)
    best[(decided != 1).all(axis=1)] = len(codes)
    best[np.isnan(decided).any(axis=1)] = np.nan
    return pd.Series(best)


def pairs_table(found: Sequence[Coded], how: Resampling) -> pd.DataFrame:
    """Return a row for each code and two coders: the machine with each person and the majority, and people in pairs."""
    return pd.DataFrame([row for one in found for row in _pairs(one, how)])


def _pairs(one: Coded, how: Resampling) -> list[dict[str, object]]:
    people = dict(zip(one.coders, one.people.T, strict=True))
    rows = [_pair(one, (name, values), (MACHINE, one.machine), how) for name, values in people.items()]
    if len(people) > 1:
        rows.append(_pair(one, (MAJORITY, one.majority), (MACHINE, one.machine), how))
    return rows + [_pair(one, first, second, how) for first, second in combinations(people.items(), 2)]


def _pair(one: Coded, first: tuple[str, Ints], second: tuple[str, Ints], how: Resampling) -> dict[str, object]:
    """Return the figures of one pair, of which the first is the reference."""
    tables = one.tables(first[1], second[1])
    binary = one.code not in SETS
    return {
        "code": one.code,
        "kind": "machine-human" if second[0] == MACHINE else "human-human",
        "reference": first[0],
        "other": second[0],
        **_counts(tables, binary=binary),
        **_estimates(tables, BINARY if binary else NOMINAL, how),
    }


def _counts(tables: Floats, *, binary: bool) -> dict[str, float]:
    whole = tables.sum(axis=0)
    counts = {"n_turns": whole.sum(), "n_sessions": np.count_nonzero(tables.sum(axis=(1, 2)))}
    if binary:
        counts |= {"n_reference": whole[1].sum(), "n_other": whole[:, 1].sum(), "n_both": whole[1, 1]}
    return {name: float(value) for name, value in counts.items()}


def _estimates(tables: Floats, wanted: Mapping[str, co.Coefficient], how: Resampling) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, coefficient in wanted.items():
        found |= _ended(name, how.estimate(coefficient, tables))
    return found


def _ended(name: str, figures: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip((name, f"{name}_lo", f"{name}_hi"), figures, strict=True))


def codes_table(found: Sequence[Coded], how: Resampling) -> pd.DataFrame:
    """Return a row for each code and set: the machine against most people, and beside what people reach together."""
    return pd.DataFrame([_code(one, how) for one in found])


def _code(one: Coded, how: Resampling) -> dict[str, object]:
    majority = one.majority
    tables = one.tables(majority, one.machine)
    binary = one.code not in SETS
    tied = ((one.people >= 0).any(axis=1)) & (majority < 0)
    row: dict[str, object] = {"code": one.code, "n_coders": len(one.coders), **_counts(tables, binary=binary)}
    row["n_tied"] = int(tied.sum())
    row |= _estimates(tables, BINARY if binary else NOMINAL, how)
    row |= _several(one, how)
    if binary:
        row |= _calibration_error(one, how)
    return row


def _several(one: Coded, how: Resampling) -> dict[str, object]:
    """Return what people reach together, and the machine with each of them, on the turns that several coded."""
    own = one.shared
    kept = Coded(
        one.code,
        one.values,
        one.coders,
        one.people[own],
        one.machine[own],
        one.p[own],
        one.session[own],
        one.n_sessions,
    )
    people = kept.coincidences(kept.people)
    with_it = kept.coincidences(np.column_stack([kept.people, kept.machine]))
    several = len(one.coders) > 1
    blank = np.full((1, len(one.values), len(one.values)), 0.0)
    row: dict[str, object] = {"n_turns_shared": int(own.sum())}
    row |= _ended("alpha", how.estimate(co.alpha, people if several else blank))
    row |= _ended("alpha_with_machine", how.estimate(co.alpha, with_it if several else blank))
    return row | _beside(kept, how)


def _beside(one: Coded, how: Resampling) -> dict[str, object]:
    """Return the machine's kappa with each person and people's with each other: mean, range, and the difference."""
    n = len(one.coders)
    machine = [one.tables(values, one.machine) for values in one.people.T] if n > 1 else []
    human = [one.tables(one.people[:, i], one.people[:, j]) for i, j in combinations(range(n), 2)]
    row: dict[str, object] = {"n_human_pairs": sum(bool(pair.any()) for pair in human)}
    for name, pairs in (("machine", machine), ("human", human)):
        row |= _range(f"{name}_kappa", np.array([co.kappa(pair.sum(axis=0)) for pair in pairs]))
    row |= _ended("kappa_difference", _difference(machine, human, how))
    row["machine_is"] = _reads(row)
    return row


def _range(name: str, kappas: Floats) -> dict[str, float]:
    known = kappas[~np.isnan(kappas)] if len(kappas) else kappas
    if not len(known):
        return {f"{name}_{end}": np.nan for end in ("mean", "min", "max")}
    return {f"{name}_mean": float(known.mean()), f"{name}_min": float(known.min()), f"{name}_max": float(known.max())}


def _difference(machine: list[Floats], human: list[Floats], how: Resampling) -> tuple[float, float, float]:
    """Return the machine's mean kappa with people less people's mean with each other, by draws of the same sessions."""
    if not machine or not human:
        return np.nan, np.nan, np.nan
    mine, theirs = np.stack(machine, axis=1), np.stack(human, axis=1)
    held = np.concatenate([mine, theirs], axis=1)
    held = held[held.sum(axis=(1, 2, 3)) > 0]

    def gap(tables: Floats) -> Floats:
        kappas = co.kappa(tables)
        return np.asarray(_mean(kappas[..., : len(machine)]) - _mean(kappas[..., len(machine) :]))

    return how.estimate(gap, held) if len(held) else (np.nan, np.nan, np.nan)


def _mean(kappas: Floats) -> Floats:
    """Return the mean over the last axis of what is defined, nan where nothing is."""
    known = ~np.isnan(kappas)
    return co.over(np.where(known, kappas, 0).sum(axis=-1), known.sum(axis=-1).astype(np.float64))


def _reads(row: Mapping[str, object]) -> str:
    """Say in words where the machine stands among people."""
    mean, low, high = (float(str(row[name])) for name in ("machine_kappa_mean", "human_kappa_min", "human_kappa_max"))
    if np.isnan([mean, low]).any():
        return ""
    if mean < low:
        return "below every pair of people"
    return "above every pair of people" if mean > high else "within the range of people"


def bins_of(p: Floats, n: int = BINS) -> Ints:
    """Return the bin of each probability: about equally many in each, equal probabilities together."""
    edges = np.percentile(p, np.linspace(0, 100, n + 1)[1:-1])
    return np.searchsorted(edges, p)


def _calibrated(one: Coded) -> tuple[Ints, Floats, Ints]:
    """Return bin, per session and bin (n, sum of p, n positive), and the turns that are known."""
    truth = one.majority
    known = np.flatnonzero((truth >= 0) & ~np.isnan(one.p))
    if not len(known):
        return np.zeros(0, dtype=np.int64), np.zeros((1, BINS, 3)), known
    bins = bins_of(one.p[known])
    sums = np.zeros((one.n_sessions, BINS, 3))
    np.add.at(sums, (one.session[known], bins), np.column_stack([np.ones(len(known)), one.p[known], truth[known]]))
    return bins, sums, known


def _gaps(sums: Floats) -> Floats:
    """Return the expected calibration error of sums (..., bins, 3)."""
    return co.over(np.abs(sums[..., 1] - sums[..., 2]).sum(axis=-1), sums[..., 0].sum(axis=-1))


def _calibration_error(one: Coded, how: Resampling) -> dict[str, float]:
    _, sums, known = _calibrated(one)
    truth = one.majority[known]
    brier = float(((one.p[known] - truth) ** 2).mean()) if len(known) else np.nan
    return {**_ended("ece", how.estimate(_gaps, sums)), "brier": brier}


def calibration_table(found: Sequence[Coded], how: Resampling) -> pd.DataFrame:
    """Return a row for each code and bin of probabilities: how many turns, what was expected, what people gave."""
    rows = []
    for one in (one for one in found if one.code not in SETS):
        _, sums, _ = _calibrated(one)
        for number in range(BINS):
            n, p, hits = sums[:, number].sum(axis=0)
            if n:
                row = {"code": one.code, "bin": number + 1, "n_turns": int(n), "n_positive": int(hits), "p_mean": p / n}
                rows.append(row | _ended("observed", how.estimate(_share, sums[:, number])))
    return pd.DataFrame(
        rows, columns=["code", "bin", "n_turns", "n_positive", "p_mean", "observed", "observed_lo", "observed_hi"]
    )


def _share(sums: Floats) -> Floats:
    return co.over(sums[..., 2], sums[..., 0])


def confusion_table(found: Sequence[Coded]) -> pd.DataFrame:
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
