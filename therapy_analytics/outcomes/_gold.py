"""Slopes of scores on rates, and of rates on scores, that hold whatever the tagger does, from some sessions by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.agreement._gold import Gold
from therapy_analytics.agreement._machine import Machine
from therapy_analytics.clusters import Floats
from therapy_analytics.measures.process.behaviour_rates import measure_of_code

FEWEST_GOLD = 8
"""Hand-coded sessions with a score that an interval needs."""
FEWEST_OTHERS = 8
"""Sessions that are not coded by hand, below which the machine's codes add nothing worth having."""
CODED = 0.8
"""Share of a session's turns that people must have coded for its rate to be known."""
DRAWS = 4_000
_LESS = 1
"""Degrees of freedom that the residual variance has less where the rate predicts the score: with none less, intervals
held the true slope in 91 to 95 % of simulated studies, so in 93 to 96 % (``benchmarks/outcomes_coverage.py``)."""
SCORE_ON_RATE, RATE_ON_SCORE = "score on rate", "rate on score"
ASSUMPTION = (
    "Valid whatever the tagger does, if the sessions coded by hand were drawn at random from all of them, and sessions "
    "are independent."
)
"""What must stand beside the intervals."""
COLUMNS = (
    *("scale", "measure", "direction", "slope", "lo", "hi", "p", "machine_slope", "machine_lo", "machine_hi"),
    *("gold_slope", "gold_lo", "gold_hi", "n_sessions", "n_gold", "note"),
)


@dataclass(frozen=True, slots=True, eq=False)
class SlopeDraws:
    """Draws of the posterior distribution of slopes.

    `on_rate` and `on_score` (n_draws,): the score's slope on the true rate, and the rate's on the score, in their
    units. `weights` (n_draws,) are those of the draws for `on_rate`; for `on_score` all count alike.
    """

    on_rate: Floats
    on_score: Floats
    weights: Floats


def rates_by_hand(machine: Machine, gold: Gold) -> pd.DataFrame:
    """Return the rates of sessions that people coded.

    Parameters
    ----------
    machine : Machine
        The turns.
    gold : Gold
        Codes of people.

    Returns
    -------
    DataFrame
        ``session_id`` and a column for each code, called as its rate in ``sessions.csv``: the mean over turns of
        people's codes (of several coders, their mean), 0 to 1; nan where fewer than `CODED` of the turns that can have
        the code were coded.
    """
    values = gold.values
    sessions, found = machine.turns["session_id"], {}
    for code, rows in values.groupby("code", sort=False):
        people = pd.to_numeric(rows["value"], errors="coerce").groupby(rows["place"]).mean()
        by_turn = people.reindex(np.arange(len(sessions)))
        possible = machine.turns[f"p_{code}"].notna().to_numpy()
        coded, of = (by_turn[possible].notna().groupby(sessions[possible]).agg(how) for how in ("sum", "size"))
        found[measure_of_code(str(code))] = (
            by_turn[possible].groupby(sessions[possible]).mean().where(coded >= CODED * of)
        )
    return pd.DataFrame(found).rename_axis("session_id").reset_index()


def corrected_slopes(
    joined: pd.DataFrame, people: pd.DataFrame, measures: Sequence[str], scales: Sequence[str], *, seed: int = 0
) -> pd.DataFrame:
    """Estimate slopes between scores and true rates from the machine's rates and a hand-coded sample of sessions.

    Parameters
    ----------
    joined : DataFrame
        A row a session: ``session_id``, the measures as the machine gives them, the scales; nan where missing.
    people : DataFrame
        As `rates_by_hand` returns it: ``session_id`` and the same measures, nan where not coded by hand. The sessions
        must be a random draw of all (`ASSUMPTION`).
    measures, scales : sequence of str
        Columns; measures that `people` lacks are left out.
    seed : int, optional
        Random seed of the draws.

    Returns
    -------
    DataFrame
        A row a scale, measure and ``direction``: ``score on rate``, points of the score for a rate of 1 instead of 0;
        ``rate on score``, how much the rate rises for a point of the score. ``slope``, ``lo``, ``hi``: median and 95 %
        interval; ``p``, two-sided. ``machine_...``: by least squares on the machine's rates, which a biased tagger
        makes wrong; ``gold_...``: on the hand-coded sessions alone, Student's t. ``n_sessions``, ``n_gold``: with a
        score and the machine's rate, and of these coded by hand. ``note``: why there is no slope.

    Notes
    -----
    The true rate is regressed on the machine's rate and the score in the hand-coded sessions, and covariances of
    machine's rate and score come from all sessions: together they give those of true rate and score, also where the
    machine errs more for some scores than for others. Parameters are drawn from their distribution given the data
    (normal, missing values in a monotone pattern); draws for the score's slope are weighted to the prior under which
    its interval would be Student's t were all sessions coded by hand. For the rate's slope this is the difference
    estimator of prediction-powered inference, with the best weight of the machine.

    With ten sessions by hand the intervals are wide: six to eight tenths of those from these alone, and no narrower
    than these with a machine that hardly follows the true rate, however many others there are, because how the machine
    errs is known no better. More sessions by hand make them narrower. Coverage: ``benchmarks/outcomes_coverage.py``.

    References
    ----------
    Anderson, T. W. (1957). Maximum likelihood estimates for a multivariate normal distribution when some observations
    are missing. Journal of the American Statistical Association, 52, 200-203. Little, R. J. A., & Rubin, D. B. (2019).
    Statistical analysis with missing data (3rd ed., chapter 7). Wiley. Angelopoulos, A. N., Duchi, J. C., & Zrnic, T.
    (2023). PPI++. arXiv:2311.01453. Egami, N., et al. (2023). Using imperfect surrogates for downstream inference:
    Design-based supervised learning. NeurIPS. Fuller, W. A. (1987). Measurement error models. Wiley. Berger, J. O., &
    Sun, D. (2008). Objective priors for the bivariate normal model. The Annals of Statistics, 36(2), 963-982.
    """
    by_hand = joined[["session_id"]].astype(str).merge(people.astype({"session_id": str}), on="session_id", how="left")
    rows = []
    for scale in scales:
        for name in measures:
            if name not in people:
                continue
            y, machine = (joined[column].to_numpy(dtype=np.float64) for column in (scale, name))
            known = np.isfinite(y) & np.isfinite(machine)
            gold = by_hand[name].to_numpy(dtype=np.float64)[known]
            found = _both_ways(y[known], machine[known], gold, np.random.default_rng(seed))
            rows += [{"scale": scale, "measure": name, "direction": way} | row for way, row in found.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _both_ways(y: Floats, machine: Floats, gold: Floats, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Return the columns of both directions."""
    coded = np.isfinite(gold)
    note = _why_not(y, machine, gold)
    draws = None if note else slope_draws(y, machine, gold, rng)
    found = {}
    for way in (SCORE_ON_RATE, RATE_ON_SCORE):
        turned = way == RATE_ON_SCORE
        alone = least_squares(*((y, gold) if turned else (gold, y)), coded)
        naive = least_squares(*((y, machine) if turned else (machine, y)), np.isfinite(machine))
        row: dict[str, Any] = dict(zip(("gold_slope", "gold_lo", "gold_hi"), alone, strict=True))
        row |= dict(zip(("machine_slope", "machine_lo", "machine_hi"), naive, strict=True))
        numbers = (nan, nan, nan, nan)
        if draws is not None:
            values, weights = (draws.on_score, np.ones(DRAWS)) if turned else (draws.on_rate, draws.weights)
            numbers = _summary(values, weights)
        row |= dict(zip(("slope", "lo", "hi", "p"), numbers, strict=True))
        found[way] = row | {"n_sessions": len(y), "n_gold": int(coded.sum()), "note": note}
    return found


def _why_not(y: Floats, machine: Floats, gold: Floats) -> str:
    """Return why there is no corrected slope; empty if there is."""
    coded = np.isfinite(gold)
    if coded.sum() < FEWEST_GOLD:
        return f"{int(coded.sum())} sessions coded by hand have a score, {FEWEST_GOLD} are needed"
    if (~coded).sum() < FEWEST_OTHERS:
        return "nearly all sessions are coded by hand: see gold_slope"
    if min(np.ptp(y[coded]), np.ptp(machine[coded]), np.ptp(gold[coded])) <= 0:
        return "score or rate do not vary over the sessions coded by hand"
    return ""


def slope_draws(y: Floats, machine: Floats, gold: Floats, rng: np.random.Generator, n: int = DRAWS) -> SlopeDraws:
    """Draw slopes between score and true rate.

    Parameters
    ----------
    y, machine : float64 arrays (n_sessions,)
        Score and the machine's rate.
    gold : float64 array (n_sessions,)
        People's rate; nan where not coded by hand.
    rng : Generator
        Of random numbers.
    n : int, optional
        Draws.
    """
    coded = np.isfinite(gold)
    both = np.column_stack([machine, y])
    both = both - both.mean(axis=0)
    covariance = np.asarray(stats.invwishart.rvs(len(y) - 1, both.T @ both, size=n, random_state=rng)).reshape(n, 2, 2)
    design = np.column_stack([np.ones(int(coded.sum())), both[coded]])
    inverse = np.linalg.inv(design.T @ design)
    best = inverse @ design.T @ gold[coded]
    left = gold[coded] - design @ best
    normal = (rng.normal(size=(n, 3)) @ np.linalg.cholesky(inverse).T)[:, 1:]
    chi_square, of_score = rng.chisquare(len(left) - 3, n), covariance[:, 1, 1]

    def drawn(residual: Floats) -> tuple[Floats, Floats]:
        """Return the true rate's covariance with the score and its variance, from residual variances (n,)."""
        slopes = best[1:] + np.sqrt(residual)[:, None] * normal
        with_both = np.einsum("di,dij->dj", slopes, covariance)
        return with_both[:, 1], np.einsum("di,di->d", slopes, with_both) + residual

    with_score, _ = drawn(float(left @ left) / chi_square)
    on_score = with_score / of_score
    with_score, of_rate = drawn(float(left @ left) / rng.chisquare(len(left) - 3 - _LESS, n))
    determinant = of_rate * of_score - with_score**2
    weights = np.linalg.det(covariance) ** 1.5 / (determinant * of_rate)
    return SlopeDraws(with_score / of_rate, on_score, weights / weights.sum())


def _summary(values: Floats, weights: Floats) -> tuple[float, float, float, float]:
    """Return the weighted median of draws (n,), their 95 % interval, and twice the share on the smaller side of 0."""
    order = np.argsort(values)
    shares = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    middle, low, high = np.interp([0.5, 0.025, 0.975], shares, values[order])
    below = float(weights[values < 0].sum() / weights.sum())
    return float(middle), float(low), float(high), max(2 * min(below, 1 - below), 1 / len(values))


def least_squares(x: Floats, y: Floats, known: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[float, float, float]:
    """Return the slope of `y` on `x` over known rows with its 95 % interval; nan where it is undefined."""
    x, y = x[known] - x[known].mean() if known.any() else x[known], y[known]
    square = float(x @ x)
    if len(x) < 3 or square <= 0:
        return nan, nan, nan
    slope = float(x @ y) / square
    left = y - y.mean() - slope * x
    half = float(stats.t.ppf(0.975, len(x) - 2) * np.sqrt(left @ left / (len(x) - 2) / square))
    return slope, slope - half, slope + half
