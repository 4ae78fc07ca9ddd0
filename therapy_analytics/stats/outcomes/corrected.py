"""Slopes of scores on rates, and of rates on scores, that hold whatever the tagger does, from turns that were drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import Bools, Floats, Ints
from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.stats.compare.powered import SHORT, UNFINISHED, slope_on_machine
from therapy_analytics.stats.machine_codes import Machine
from therapy_analytics.stats.outcomes.estimators import basis, robust_slope, trend, within
from therapy_analytics.stats.outcomes.levels import CLIENT, CLIENTS, FEWEST_DF, WITHIN, nesting, with_groups
from therapy_analytics.stats.people_codes import Gold

FEWEST_GOLD = 8
"""Sessions with coded turns and a score that an interval needs."""
SCORE_ON_RATE, RATE_ON_SCORE = "score on rate", "rate on score"
DRAWN = (
    "Valid whatever the tagger does, because each coded turn was drawn with a known probability (column inclusion), if "
    "people coded all turns that were drawn, or left some out by chance alone, and clients are independent."
)
"""What must stand beside the intervals."""
COLUMNS = (
    *("scale", "measure", "level", "direction", "slope", "lo", "hi", "p", "machine_slope", "machine_lo", "machine_hi"),
    *("gold_slope", "gold_lo", "gold_hi", "n_sessions", "n_gold", "note"),
)
_TOO_ALIKE = (
    "so few coded turns do not tell how far rates differ (corrected.csv has the slope of the rate on the score)"
)
_FEW = f"too few clients: {FEWEST_DF + 2} or more are needed"
Slope = tuple[float, float, float, float]
"""A slope, its 95 % interval and p; nan where it cannot be told."""
_NO_SLOPE: Slope = (nan, nan, nan, nan)


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


def rates_of(turns: pd.DataFrame, *, by_machine: bool = True) -> DrawnRates:
    """Return the rates of sessions, in the order of their turns; from people's codes alone unless `by_machine`.

    People's codes are regressed on the machine's probabilities over the coded turns, with the weights that make the
    noise smallest; a session's rate is the mean of what that predicts, and of its coded turns' weighted residuals.

    Where people coded only some of the drawn turns, the others are taken as missing at random: coded turns count as
    much more as makes them stand for all turns of their sessions, and these sessions for all sessions.
    """
    session = pd.factorize(turns["session_id"])[0]
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
    return DrawnRates(rate, noise.astype(np.float64), reached)


def drawn_slopes(
    joined: pd.DataFrame, by_measure: Mapping[str, pd.DataFrame], measures: Sequence[str], scales: Sequence[str]
) -> pd.DataFrame:
    """Estimate slopes between scores and true rates from the machine's codes and turns drawn with known probabilities.

    Parameters
    ----------
    joined : DataFrame
        A row a session: ``session_id``, ``client`` and ``number`` as for `associations`, the measures as the machine
        gives them, the scales; nan where missing.
    by_measure : mapping of str to DataFrame
        As `drawn_turns` returns it.
    measures, scales : sequence of str
        Columns; measures that nobody coded are left out.

    Returns
    -------
    DataFrame
        A row a scale, measure, ``level`` (``within_clients``, with the trend over sessions held constant, where clients
        have several sessions with numbers; ``between_clients``, of their means) and ``direction``: ``score on rate``,
        points of the score for a rate of 1 instead of 0; ``rate on score``, how much the rate rises for a point of the
        score. ``slope``, ``lo``, ``hi``: estimate and 95 % interval; ``p``, two-sided. ``machine_...``: the same from
        the machine's rates alone, which a tagger that errs makes wrong; ``gold_...``: without the machine's codes.
        ``n_sessions``, ``n_gold``: with a score, and of these with coded turns. ``note``: why there is no slope.

    Notes
    -----
    A session's rate from drawn turns (`rates_of`) is unbiased, so its slope on the score is, too (`robust_slope`). For
    the score's slope on the rate, the noise of the draw is taken from the variance of the rates, and the interval is
    Fieller's, with variances by the jackknife over clients.

    References
    ----------
    Egami, N., Hinck, M., Stewart, B., & Wei, H. (2023). Using imperfect surrogates for downstream inference:
    Design-based supervised learning. NeurIPS. Fuller, W. A. (1987). Measurement error models. Wiley. Fieller, E. C.
    (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B, 16(2), 175-185.
    """
    rows, sessions = [], with_groups(joined.drop_duplicates("session_id"))
    by_session = sessions.set_index(sessions["session_id"].astype(str))
    for scale in scales:
        scored = by_session[scale].notna()
        for name in (one for one in measures if one in by_measure):
            turns = by_measure[name]
            turns = turns[turns["session_id"].map(scored).fillna(False).astype(bool)]
            own = by_session.reindex(pd.unique(turns["session_id"]))[[scale, name, CLIENT, "number"]]
            own.columns = pd.Index(["y", "x", "client", "number"])
            n_gold = int(turns.loc[turns["people"].notna(), "session_id"].nunique())
            about = {"scale": scale, "measure": name, "n_sessions": len(own), "n_gold": n_gold}
            rows += [about | row for row in _levels(turns, own, n_gold)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _levels(turns: pd.DataFrame, sessions: pd.DataFrame, n_gold: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a scale and measure: each level and direction."""
    client = np.unique(sessions["client"], return_inverse=True)[1].astype(np.int64)
    repeats = bool(len(client)) and WITHIN in nesting(client, np.zeros_like(client)).free
    levels = [*([WITHIN] if repeats and sessions["number"].notna().any() else []), CLIENTS]
    why = "the score does not vary" if sessions["y"].nunique() == 1 else ""
    if n_gold < FEWEST_GOLD:
        why = f"{n_gold} sessions with coded turns have a score, {FEWEST_GOLD} are needed"
    rates = {way: rates_of(turns, by_machine=way == "") for way in ("", "gold_")} if not why else {}
    for level in levels:
        units = {way: _units(sessions, client, one, level) for way, one in rates.items()}
        for direction in (SCORE_ON_RATE, RATE_ON_SCORE):
            about: dict[str, Any] = {"level": level, "direction": direction, "note": why}
            if why:
                yield about
                continue
            estimate = _score_on_rate if direction == SCORE_ON_RATE else _rate_on_score
            slopes = {way: estimate(one) for way, one in units.items()}
            slopes["machine_"] = _naive(units[""], direction)
            for way, slope in slopes.items():
                about |= dict(zip((f"{way}slope", f"{way}lo", f"{way}hi"), slope[:3], strict=True))
            low, p = slopes[""][1], slopes[""][3]
            unknown = (_TOO_ALIKE if np.isfinite(p) else _FEW) if np.isnan(low) else ""
            reached = rates[""].reached
            short = SHORT.format(reached) if reached < UNFINISHED else ""
            yield about | {"p": p, "note": "; ".join(filter(None, (unknown, short)))}


@dataclass(frozen=True, slots=True)
class _Units:
    """The units of a level: sessions within clients, as deviations, or means of clients.

    `y` the score, `rate` and `noise` as `DrawnRates` has them, `machine` its own rate, (n,) each; `held` (n, n_held) an
    orthonormal basis of what is held constant; `clusters` (n,), `kept` (n,) how much of a unit's noise is left beside
    its client's mean, and `n_means` that many means were taken.
    """

    y: Floats
    rate: Floats
    noise: Floats
    machine: Floats
    held: Floats
    clusters: Ints
    kept: Floats
    n_means: int


def _units(sessions: pd.DataFrame, client: Ints, rates: DrawnRates, level: str) -> _Units:
    """Return sessions as deviations from their client's mean, those without a number left out; or means of clients."""
    number = sessions["number"].to_numpy(dtype=np.float64)
    known = np.isfinite(number)
    values = np.column_stack([sessions["y"], rates.rate, sessions["x"]]).astype(np.float64)
    if level == WITHIN:
        client = np.unique(client[known], return_inverse=True)[1].astype(np.int64)
        y, rate, machine = within(values[known], client).T
        held = basis(within(trend(number[known], levels=True), client))
        sizes = np.bincount(client)
        return _Units(y, rate, rates.noise[known], machine, held, client, 1 - 1 / sizes[client], len(sizes))
    filled = np.where(known, number, number[known].mean() if known.any() else 1.0)
    sizes = np.bincount(client)
    y, rate, machine, *course = (np.bincount(client, one) / sizes for one in np.column_stack([values, trend(filled)]).T)
    noise = np.bincount(client, rates.noise) / sizes**2
    everyone, one_each = np.arange(len(sizes), dtype=np.int64), np.ones(len(sizes))
    return _Units(y, rate, noise, machine, basis(np.column_stack([one_each, *course])), everyone, one_each, 0)


def _interval(slope: float, error: float, df: float) -> Slope:
    """Return a slope with its interval and p; nan where there are too few clients."""
    if not (error > 0 and df >= FEWEST_DF - 1e-6):
        return _NO_SLOPE
    half = float(stats.t.ppf(0.975, df)) * error
    return slope, slope - half, slope + half, 2 * float(stats.t.sf(abs(slope) / error, df))


def _naive(units: _Units, direction: str) -> Slope:
    """Return the slope by the machine's rates alone."""
    if not np.isfinite(units.machine).all():
        return _NO_SLOPE
    y, x = (units.y, units.machine) if direction == SCORE_ON_RATE else (units.machine, units.y)
    return _interval(*robust_slope(y, x, units.held, units.clusters))


def _rate_on_score(units: _Units) -> Slope:
    """Return the slope of the true rate on the score, its 95 % interval, and p."""
    return _interval(*robust_slope(units.rate, units.y, units.held, units.clusters))


def _score_on_rate(units: _Units) -> Slope:
    """Return the slope of the score on the true rate, its 95 % interval, and p.

    Slope and interval are nan where the variance of the true rates cannot be told from 0.
    """
    n = int(units.clusters.max()) + 1
    df = n - 1 - (0 if units.n_means else units.held.shape[1])
    if df < FEWEST_DF:
        return _NO_SLOPE
    everyone = _moments(units, np.ones(len(units.y), dtype=np.bool_))
    left_out = np.array([_moments(units, units.clusters != one) for one in range(n)])
    covariance = np.cov((n * everyone - (n - 1) * left_out).T) / n
    t = float(stats.t.ppf(0.975, df))
    together, spread = everyone
    a, b, c = (
        spread**2 - t**2 * covariance[1, 1],
        together * spread - t**2 * covariance[0, 1],
        together**2 - t**2 * covariance[0, 0],
    )
    p = 2 * float(stats.t.sf(abs(together) / sqrt(covariance[0, 0]), df)) if covariance[0, 0] > 0 else nan
    if spread <= 0 or a <= 0 or b**2 < a * c:
        return nan, nan, nan, p
    half = sqrt(b**2 - a * c)
    return together / spread, (b - half) / a, (b + half) / a, p


def _moments(units: _Units, some: Bools) -> Floats:
    """Return the covariance of score and true rate over some units, and the variance of the true rate."""
    held = basis(units.held[some])
    y, rate = (one[some] - held @ (held.T @ one[some]) for one in (units.y, units.rate))
    left = units.kept[some] - (held**2).sum(axis=1)
    n_means = len(np.unique(units.clusters[some])) if units.n_means else 0
    free = max(len(y) - n_means - held.shape[1], 1)
    return np.asarray(np.array([y @ rate, rate @ rate - units.noise[some] @ left]) / free)
