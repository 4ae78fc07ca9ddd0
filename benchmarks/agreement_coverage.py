"""How often the intervals of agreement hold the true value, before and now.

``python -m benchmarks.agreement_coverage [RUNS]`` simulates coded sessions and prints, for each number of sessions and
counselors, the coverage of nominal 95 % intervals of kappa: percentiles of a bootstrap of sessions, as it was, and the
jackknife over clusters, as it is; then of the other coefficients, the same where counselors differ twice as much, the
bias of the calibration error, and kappa of samples that ``tanalyze sample`` draws, without weights (before) and with
each turn counting 1 / its probability (now).

Sessions have 20 to 80 turns. How common the code is differs between sessions, how often the machine errs between
sessions and, where a counselor has several sessions, between counselors: normal on the logit scale, with the standard
deviations of `Case`. True values are those of the population of turns.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, special

from benchmarks._markdown import markdown
from therapy_analytics.stats.agreement import coefficients as co
from therapy_analytics.stats.sampling.design import design, uncertainty, weights_in_rates
from therapy_analytics.stats.sampling.design import drawn as drawn_turns

Floats = NDArray[np.float64]
LAYOUTS = ((5, 1), (6, 1), (8, 1), (12, 1), (20, 1), (40, 1), (5, 4), (6, 3), (8, 3), (12, 3), (20, 2))
"""Clusters, and sessions of each: of one session the cluster is the session, of more it is the counselor."""
STRONG = ((5, 4), (8, 3), (20, 2))
PREVALENCES = (0.05, 0.1, 0.2, 0.5)
OTHERS = {
    "AC1": co.ac1,
    "agreement": co.percent_agreement,
    "precision": co.precision,
    "recall": co.recall,
    "F1": co.f1,
}
DRAWS = 300


@dataclass(frozen=True)
class Case:
    """What is simulated.

    Attributes
    ----------
    n_clusters, sessions_each : int
        Clusters, and sessions of each.
    prevalence : float
        Share of turns with the code.
    sensitivity, specificity : float
        Of the machine, on average.
    sd_prevalence, sd_session, sd_counselor : float
        Standard deviations on the logit scale: of prevalence between sessions, and of sensitivity and specificity
        between sessions and between counselors.
    """

    n_clusters: int
    sessions_each: int
    prevalence: float
    sensitivity: float = 0.75
    specificity: float = 0.95
    sd_prevalence: float = 0.75
    sd_session: float = 0.5
    sd_counselor: float = 0.75

    @property
    def between(self) -> float:
        """Return the standard deviation between counselors: none where each session is its own cluster."""
        return self.sd_counselor if self.sessions_each > 1 else 0.0


def simulated(rng: np.random.Generator, n: int, case: Case, *, by_session: bool = False) -> tuple[Floats, Floats]:
    """Return tables of people and machine (n, n_clusters, 2, 2), or by session, and that of the population (2, 2)."""
    shape = (n, case.n_clusters, case.sessions_each)
    turns = rng.integers(20, 81, shape)
    has = rng.binomial(turns, _logistic(rng, case.prevalence, shape, case.sd_prevalence, 0.0))
    hit = rng.binomial(has, _logistic(rng, case.sensitivity, shape, case.sd_session, case.between))
    right = rng.binomial(turns - has, _logistic(rng, case.specificity, shape, case.sd_session, case.between))
    tables = np.stack([right, turns - has - right, has - hit, hit], axis=-1).reshape(*shape, 2, 2).astype(np.float64)
    share, sensitivity, specificity = case.prevalence, case.sensitivity, case.specificity
    population = [
        [(1 - share) * specificity, (1 - share) * (1 - specificity)],
        [share * (1 - sensitivity), share * sensitivity],
    ]
    return tables.reshape(n, -1, 2, 2) if by_session else tables.sum(axis=2), np.array(population)


def _logistic(rng: np.random.Generator, mean: float, shape: tuple[int, ...], within: float, between: float) -> Floats:
    """Return shares of this mean, normal on the logit scale within and between clusters."""
    effect = within * rng.standard_normal(shape) + between * rng.standard_normal((*shape[:2], 1))
    return np.asarray(special.expit(_centre(mean, float(np.hypot(within, between))) + effect))


@cache
def _centre(mean: float, sd: float) -> float:
    """Return the mean of logits with this deviation at which shares have this mean."""
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    return float(optimize.brentq(lambda centre: (weights * special.expit(centre + sd * points)).sum() - mean, -15, 15))


def covered(coefficient: co.Coefficient, tables: Floats, truth: float) -> tuple[float, float]:
    """Return the coverage of intervals where there are any, and how often there are."""
    ends = np.array([co.estimate(coefficient, one)[1:] for one in tables])
    known = ~np.isnan(ends[:, 0])
    return float(((ends[:, 0] <= truth) & (truth <= ends[:, 1]))[known].mean()), float(known.mean())


def drawn(rng: np.random.Generator, tables: Floats, truth: float) -> float:
    """Return the coverage of percentiles of kappa over drawn sessions (n, n_sessions, 2, 2)."""
    sessions = tables.shape[1]
    weights = rng.multinomial(sessions, np.full(sessions, 1 / sessions), size=DRAWS).astype(np.float64)
    hits = 0
    for one in tables:
        low, high = np.nanpercentile(co.kappa(np.tensordot(weights, one, axes=1)), [2.5, 97.5])
        hits += int(low <= truth <= high)
    return hits / len(tables)


def rows_of(runs: int, layouts: Sequence[tuple[int, int]] = LAYOUTS, sd: float = 0.75) -> list[list[str]]:
    """Return the table: kappa before and now, by prevalence, and the range of the other coefficients.

    `sd` is the standard deviation between counselors.
    """
    head = ["sessions, counselors", *(f"kappa at {one}: before, now" for one in PREVALENCES), *OTHERS]
    rows = [head]
    for n_clusters, each in layouts:
        kappas: list[str] = []
        others: dict[str, list[float]] = {name: [] for name in OTHERS}
        for prevalence in PREVALENCES:
            specificity = 0.85 if prevalence == 0.5 else 0.95
            case = Case(n_clusters, each, prevalence, specificity=specificity, sd_counselor=sd)
            sessions, truth = simulated(np.random.default_rng(n_clusters), runs, case, by_session=True)
            tables = sessions.reshape(runs, n_clusters, each, 2, 2).sum(axis=2)
            true = float(co.kappa(truth))
            now, known = covered(co.kappa, tables, true)
            missing = "" if known > 0.995 else f" ({1 - known:.0%} without)"
            kappas.append(f"{_short(drawn(np.random.default_rng(1), sessions, true))}, {_short(now)}{missing}")
            for name, coefficient in OTHERS.items():
                others[name].append(covered(coefficient, tables, float(coefficient(truth)))[0])
        what = f"{n_clusters} sessions" if each == 1 else f"{n_clusters * each} sessions of {n_clusters} counselors"
        ranges = [f"{_short(min(found))} to {_short(max(found))}" for found in others.values()]
        rows.append([what, *kappas, *ranges])
    return rows


def calibration(runs: int) -> list[list[str]]:
    """Return the mean of the calibration error as it was and as it is, with the true one."""
    rows = [["sessions of 50 turns", "off by (logits)", "true", "before", "now", "its interval covers"]]
    rng = np.random.default_rng(0)
    for sessions in (5, 10, 30):
        for off in (0.0, 0.5, 1.0):
            p, q = _probabilities(rng, 200_000, off)
            gap = [(p - q)[co.bins_of(p) == one].mean() for one in range(co.BINS)]
            true = float(np.sqrt(np.mean(np.square(gap))))
            before, now, hits = [], [], 0
            for _ in range(runs):
                p, q = _probabilities(rng, sessions * 50, off)
                given = (rng.random(len(q)) < q).astype(np.float64)
                value, low, high = co.calibration_error(p, given, np.repeat(np.arange(sessions), 50))
                bins = co.bins_of(p)
                n = np.bincount(bins, minlength=co.BINS)
                before.append(np.abs(np.bincount(bins, p - given, minlength=co.BINS)).sum() / n.sum())
                now.append(value)
                hits += int(low - 1e-9 <= true <= high)
            numbers = [true, float(np.mean(before)), float(np.mean(now))]
            rows.append([str(sessions), str(off), *(f"{one:.3f}" for one in numbers), _short(hits / runs)])
    return rows


def _probabilities(rng: np.random.Generator, n: int, off: float) -> tuple[Floats, Floats]:
    """Return stated probabilities and true ones."""
    scores = rng.normal(-1.2, 1.5, n)
    return np.asarray(special.expit(scores)), np.asarray(special.expit(scores + off))


def talks(rng: np.random.Generator, sessions: int = 60) -> pd.DataFrame:
    """Return turns of sessions with codes by two people and a machine, who err most where a turn is ambiguous.

    Each sees how far a turn has the code (normal, with a level of its session) with a noise of their own; what exceeds
    0 gets the code. ``p_code`` is the machine's probability.
    """
    sizes = rng.integers(20, 81, sessions)
    session = np.repeat(np.arange(sessions), sizes)
    level = rng.normal(-1.2, 0.75, sessions)[session] + rng.normal(0, 2, len(session))
    seen = level + rng.normal(0, 1.2, len(session))
    frame = pd.DataFrame({"session_id": session, "role": "therapist", "group": "all", "p_code": special.expit(seen)})
    people = {name: (level + rng.normal(0, 0.9, len(session)) > 0).astype(np.int64) for name in ("first", "second")}
    return frame.assign(turn=np.arange(len(session)), machine=(seen > 0).astype(np.int64), **people)


def of_samples(runs: int, sizes: Sequence[int] = (150, 300, 1000)) -> list[list[str]]:
    """Return the mean of kappa in drawn samples, and how often its interval holds that of all turns."""
    rows = [["kappa of", "turns coded", "of all turns", "before: mean, coverage", "now: mean, coverage"]]
    whole = talks(np.random.default_rng(99), 10_000)
    for who, other in (("two people", "second"), ("a person and the machine", "machine")):
        true = float(co.kappa(_table(whole, other).sum(axis=0)))
        for n in sizes:
            found = np.array([sample_kappas(np.random.default_rng([n, run]), n, other) for run in range(runs)])
            holds = ((found[..., 1] <= true) & (true <= found[..., 2])).mean(axis=0)
            means = found[..., 0].mean(axis=0)
            told = [f"{_short(mean)}, {_short(share)}" for mean, share in zip(means, holds, strict=True)]
            rows.append([who, str(n), _short(true), *told])
    return rows


def sample_kappas(rng: np.random.Generator, n: int, other: str) -> Floats:
    """Return kappa with its interval in a drawn sample of `n` turns, without weights and with them, (2, 3)."""
    turns = talks(rng)
    plan = design(weights_in_rates(turns), uncertainty(turns[["p_code"]].to_numpy()), n)
    chosen = drawn_turns(turns, plan.inclusion, rng)
    weight = 1 / plan.inclusion[chosen]
    tables = [_table(turns.iloc[chosen], other, one) for one in (None, weight / weight.mean())]
    return np.array([co.estimate(co.kappa, one) for one in tables])


def _table(turns: pd.DataFrame, other: str, weight: Floats | None = None) -> Floats:
    """Return counts by session of the first person's code and another's."""
    first, second, session = (turns[name].to_numpy(dtype=np.int64) for name in ("first", other, "session_id"))
    return co.tables_of(first, second, session, (int(session.max()) + 1, 2), weight)


def _short(share: float) -> str:
    return f"{share:.3f}".removeprefix("0")


def main(runs: Sequence[str]) -> str:
    """Return the tables as Markdown."""
    n = int(runs[0]) if runs else 1000
    strong = rows_of(n, STRONG, sd=1.5)
    return "\n\n".join(
        [
            markdown(rows_of(n)),
            "Counselors who differ twice as much:",
            markdown(strong),
            markdown(calibration(min(n, 300))),
            "Samples that were drawn where the machine is unsure:",
            markdown(of_samples(n)),
        ]
    )


if __name__ == "__main__":
    print(main(sys.argv[1:]))
