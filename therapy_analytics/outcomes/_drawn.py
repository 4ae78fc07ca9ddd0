"""Slopes of scores on rates, and of rates on scores, from turns that were drawn with known probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.agreement._gold import Gold
from therapy_analytics.agreement._machine import Machine
from therapy_analytics.clusters import Floats
from therapy_analytics.compare._ppi import SHORT, UNFINISHED
from therapy_analytics.compare._session_rates import slope_on_machine
from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.outcomes._gold import COLUMNS, FEWEST_GOLD, RATE_ON_SCORE, SCORE_ON_RATE, least_squares

DRAWN = (
    "Valid whatever the tagger does, because each coded turn was drawn with a known probability (column inclusion), if "
    "people coded all turns that were drawn, or left some out by chance alone, and sessions are independent."
)
_TOO_ALIKE = (
    "so few coded turns a session do not tell how far rates differ between sessions (corrected.csv has the slope of "
    "the rate on the score)"
)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnRates:
    """Rates of sessions from turns that were drawn.

    Attributes
    ----------
    rate : float64 array (n_sessions,)
        Unbiased for what people would code in the whole session: the machine's rate, put right by the coded turns, each
        of which counts 1 / inclusion.
    noise : float64 array (n_sessions,)
        Estimated variance that the draw adds to it, and that drawn turns were not coded.
    reached : float
        Share of all turns that the weighted coded turns stand for: near 1 if all drawn turns were coded.
    """

    rate: Floats
    noise: Floats
    reached: float


def drawn_turns(machine: Machine, gold: Gold) -> dict[str, pd.DataFrame]:
    """Return for each measure of a coded code a row a turn that can have it.

    ``session_id``; ``machine``, the probability; ``people``, the mean of people's codes, nan where none; ``inclusion``.
    """
    found = {}
    for code, rows in gold.values.groupby("code", sort=False):
        by_turn = rows.groupby("place").agg(people=("value", "mean"), inclusion=("inclusion", "first"))
        turns = pd.DataFrame({"session_id": machine.turns["session_id"], "machine": machine.turns[f"p_{code}"]})
        found[measure_of_code(str(code))] = turns.join(by_turn)[turns["machine"].notna()]
    return found


def rates_of(turns: pd.DataFrame, *, by_machine: bool = True) -> tuple[pd.Index, DrawnRates]:
    """Return the sessions and their rates; without the machine's codes (`by_machine`), from people's codes alone.

    People's codes are regressed on the machine's probabilities over the coded turns, with the weights that make the
    noise smallest; a session's rate is the mean of what that predicts, and of its coded turns' weighted residuals.

    Where people coded only some of the drawn turns, the others are taken as missing at random: coded turns count as
    much more as makes them stand for all turns of their sessions, and these sessions for all sessions.
    """
    session, names = pd.factorize(turns["session_id"])
    size = np.bincount(session)
    coded = turns["people"].notna().to_numpy()
    p, y, inclusion = (turns[name].to_numpy(dtype=np.float64) for name in ("machine", "people", "inclusion"))
    p, y, inclusion = p if by_machine else np.zeros(len(p)), y[coded], inclusion[coded]
    own, counts = session[coded], size[session[coded]]
    shares = np.bincount(own, 1 / (inclusion * counts), minlength=len(size))
    reached = float(shares.mean())
    # Coders who stop half way leave out whole sessions, so that what the others have apart is less sure than the draw
    # of turns alone would let it be; turns that are left out one by one are as if they had been drawn more rarely.
    in_session = min(float(shares[shares > 0].mean()), 1.0)
    sessions = min(reached / in_session, 1.0)
    inclusion = inclusion * in_session
    weights = np.maximum(1 - inclusion, 1e-6) / (inclusion * counts) ** 2
    slope = slope_on_machine(p[coded], y, weights)
    level = float(np.average(y - slope * p[coded], weights=1 / (inclusion * counts)))
    residual = (y - slope * p[coded] - level) / (inclusion * counts)
    apart = np.bincount(own, residual, minlength=len(size))
    rate = level + slope * np.bincount(session, p) / size + apart / sessions
    of_turns = np.bincount(own, (1 - inclusion) * residual**2, minlength=len(size))
    noise = (sessions * of_turns + (1 - sessions) * apart**2) / sessions**2
    return pd.Index(names), DrawnRates(rate, noise.astype(np.float64), reached)


def drawn_slopes(
    joined: pd.DataFrame, by_measure: Mapping[str, pd.DataFrame], measures: Sequence[str], scales: Sequence[str]
) -> pd.DataFrame:
    """Estimate slopes between scores and true rates from the machine's codes and turns drawn with known probabilities.

    Parameters
    ----------
    joined : DataFrame
        A row a session: ``session_id``, the measures as the machine gives them, the scales; nan where missing.
    by_measure : mapping of str to DataFrame
        As `drawn_turns` returns it.
    measures, scales : sequence of str
        Columns; measures that nobody coded are left out.

    Returns
    -------
    DataFrame
        The columns of `therapy_analytics.outcomes._gold.corrected_slopes`; ``n_gold`` counts sessions with coded turns,
        ``gold_...`` are the same estimates without the machine's codes.

    Notes
    -----
    A session's rate from drawn turns (`rates_of`) is unbiased, so its slope on the score is, too, with an error robust
    to unequal variances (HC3). For the score's slope on the rate, the noise of the draw is taken from the variance of
    the rates, and the interval is Fieller's, with variances by the jackknife.

    References
    ----------
    Egami, N., Hinck, M., Stewart, B., & Wei, H. (2023). Using imperfect surrogates for downstream inference:
    Design-based supervised learning. NeurIPS. Fuller, W. A. (1987). Measurement error models. Wiley. Fieller, E. C.
    (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B, 16(2), 175-185.
    """
    rows, kept = [], joined.drop_duplicates("session_id")
    by_session = kept.set_index(kept["session_id"].astype(str))
    for scale in scales:
        score = by_session[scale]
        for name in (one for one in measures if one in by_measure):
            turns = by_measure[name]
            known = turns[turns["session_id"].map(score.notna()).fillna(False).astype(bool)]
            n_gold = int(known.loc[known["people"].notna(), "session_id"].nunique())
            names = pd.unique(known["session_id"])
            y = score.reindex(names).to_numpy(dtype=np.float64)
            beside = by_session[name].reindex(names).to_numpy(dtype=np.float64)
            for way, row in _both_ways(known, y, beside, n_gold).items():
                about = {"scale": scale, "measure": name, "direction": way, "n_sessions": len(names), "n_gold": n_gold}
                rows.append(about | row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _both_ways(turns: pd.DataFrame, y: Floats, machine: Floats, n_gold: int) -> dict[str, dict[str, Any]]:
    """Return the columns of both directions."""
    empty = dict.fromkeys(("slope", "lo", "hi", "p"), nan)
    found: dict[str, dict[str, Any]] = {}
    enough = n_gold >= FEWEST_GOLD and np.ptp(y) > 0
    why = f"{n_gold} sessions with coded turns have a score, {FEWEST_GOLD} are needed"
    why = why if n_gold < FEWEST_GOLD else "the score does not vary"
    both, alone = (rates_of(turns, by_machine=one)[1] if enough else None for one in (True, False))
    short = SHORT.format(both.reached) if both and both.reached < UNFINISHED else ""
    for way, slope in ((SCORE_ON_RATE, score_on_rate), (RATE_ON_SCORE, rate_on_score)):
        own = dict(zip(empty, slope(y, both), strict=True)) if both else empty
        bare = dict(zip(empty, slope(y, alone), strict=True)) if alone else empty
        turned = way == RATE_ON_SCORE
        naive = least_squares(*((y, machine) if turned else (machine, y)), np.isfinite(machine))
        note = why if not both else "; ".join(filter(None, (_TOO_ALIKE if np.isnan(own["lo"]) else "", short)))
        found[way] = (
            own
            | {f"gold_{name}": bare[name] for name in ("slope", "lo", "hi")}
            | dict(zip(("machine_slope", "machine_lo", "machine_hi"), naive, strict=True))
            | {"note": note}
        )
    return found


def rate_on_score(y: Floats, rates: DrawnRates) -> tuple[float, float, float, float]:
    """Return the slope of the true rate on the score (n_sessions,), its 95 % interval, and p."""
    x = y - y.mean()
    square = float(x @ x)
    slope = float(x @ rates.rate) / square
    leverage = 1 / len(x) + x**2 / square
    left = (rates.rate - rates.rate.mean() - slope * x) / (1 - np.minimum(leverage, 0.99))
    error = sqrt(float((x * left) @ (x * left))) / square
    half = float(stats.t.ppf(0.975, len(x) - 2)) * error
    return slope, slope - half, slope + half, 2 * float(stats.t.sf(abs(slope) / error, len(x) - 2)) if error else nan


def score_on_rate(y: Floats, rates: DrawnRates) -> tuple[float, float, float, float]:
    """Return the slope of the score (n_sessions,) on the true rate, its 95 % interval, and p.

    Slope and interval are nan where the variance of the true rates cannot be told from 0.
    """
    n = len(y)
    everyone = _moments(y, rates, np.ones(n, dtype=bool))
    left_out = np.array([_moments(y, rates, np.arange(n) != one) for one in range(n)])
    pseudo = n * everyone - (n - 1) * left_out
    covariance = np.cov(pseudo.T) / n
    t = float(stats.t.ppf(0.975, n - 2))
    together, spread = everyone
    a, b, c = (
        spread**2 - t**2 * covariance[1, 1],
        together * spread - t**2 * covariance[0, 1],
        together**2 - t**2 * covariance[0, 0],
    )
    p = 2 * float(stats.t.sf(abs(together) / sqrt(covariance[0, 0]), n - 2)) if covariance[0, 0] else nan
    if spread <= 0 or a <= 0 or b**2 < a * c:
        return nan, nan, nan, p
    half = sqrt(b**2 - a * c)
    return together / spread, (b - half) / a, (b + half) / a, p


def _moments(y: Floats, rates: DrawnRates, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> Floats:
    """Return the covariance of score and true rate over some sessions, and the variance of the true rate."""
    covariance = np.cov(y[kept], rates.rate[kept])
    return np.array([covariance[0, 1], covariance[1, 1] - rates.noise[kept].mean()])
