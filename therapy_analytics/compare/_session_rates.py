"""Rates of single sessions from the machine's codes and the turns that people coded: a small-area estimate."""

from __future__ import annotations

from math import nan

import numpy as np
import pandas as pd

from therapy_analytics.clusters import Floats, Ints
from therapy_analytics.compare._ppi import FEWEST_EVENTS, coded_turns

COLUMNS = ("session_id", "code", "n_turns", "n_gold_turns", "rate", "lo", "hi", "machine_rate", "note")
FEWEST_TURNS = 3
"""Coded turns a session, on average: with two, rates were hardly better than the machine's (AnnoMI)."""
_DOUBT = 0.5
"""Standard errors by which the variance between sessions is taken larger than it was found: without it, intervals held
71 to 98 % in simulated designs, with it 90 to 99 %."""
_DRAWS = 500
"""How often the codes of turns that people did not code are drawn."""
_LEAST = 0.02
"""The least variance that a turn's code is taken to have, however sure the line is."""


def session_rates(turns: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame:
    """Estimate the share of each session's turns that people would give a code.

    A turn that people coded counts as they coded it. Another counts as the machine's probability predicts it (a line
    fitted to the coded turns of all sessions), moved by what people found in the session's coded turns: the further,
    the more of these there are, and the more sessions differ. With few coded turns the rate stays near the machine's,
    put right for all sessions alike; where all are coded, it is people's own.

    Parameters
    ----------
    turns, gold : DataFrame
        As for `powered_rates`; `gold` has the column ``inclusion``.

    Returns
    -------
    DataFrame
        A row a session and code: ``session_id``, ``code``; ``n_turns`` that can have it, ``n_gold_turns`` that people
        coded; ``rate``, ``lo``, ``hi``: 0 to 1, with a 95 % interval, which held 90 to 99 % on average over sessions
        in simulated designs, least where a coder gives only 0 and 1 and people coded four turns a session;
        ``machine_rate``; ``note``: why there is no rate, where people coded fewer than three turns a session on
        average, or gave the code, or did not, to fewer than five turns.

    Notes
    -----
    The nested error model of Battese, Harter and Fuller: ``code = line + session + turn``, with variances ``tau^2`` and
    ``phi line (1 - line)``, found by the method of moments. The interval is that of the share if codes of the other
    turns are drawn by this model; that it is estimated is left out.

    References
    ----------
    Battese, G. E., Harter, R. M., & Fuller, W. A. (1988). An error-components model for prediction of county crop areas
    using survey and satellite data. Journal of the American Statistical Association, 83(401), 28-36.

    Examples
    --------
    >>> turns = pd.DataFrame({"session_id": np.repeat(list("abcdef"), 20), "turn": np.tile(np.arange(20), 6)})
    >>> turns["p_mi_input"] = np.tile([0.9, 0.1], 60)
    >>> gold = turns[turns["turn"] < 10].assign(code="mi_input", value=np.tile([1, 0], 30), inclusion=0.5)
    >>> session_rates(turns, gold)[["n_gold_turns", "rate"]].iloc[0].tolist()
    [10.0, 0.5]
    """
    keys = ["session_id", "turn"]
    tables = []
    for code, rows in gold.groupby("code", sort=False):
        by_turn = coded_turns(rows).dropna(subset="inclusion")
        known = turns[[*keys, f"p_{code}"]].rename(columns={f"p_{code}": "p"}).dropna(subset="p")
        if len(known):
            tables.append(_of_code(known.sort_values(keys).join(by_turn, on=keys)).assign(code=code))
    return pd.concat(tables, ignore_index=True)[list(COLUMNS)] if tables else pd.DataFrame(columns=list(COLUMNS))


def _of_code(turns: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a code, from a row a turn: ``session_id``, ``p``, ``people`` and ``inclusion``, by session."""
    session, names = pd.factorize(turns["session_id"])
    p, people, inclusion = (turns[name].to_numpy(dtype=np.float64) for name in ("p", "people", "inclusion"))
    coded, n = np.isfinite(people), np.bincount(session)
    n_coded = np.bincount(session, coded, minlength=len(n))
    about = {"session_id": names, "n_turns": n, "n_gold_turns": n_coded.astype(int)}
    machine = np.bincount(session, p) / n
    n_people, n_events = float(n_coded.sum()), float(np.nansum(people))
    note = _too_few(n_people / len(n), min(n_events, n_people - n_events))
    if note:
        return pd.DataFrame(about | {"rate": nan, "lo": nan, "hi": nan, "machine_rate": machine, "note": note})
    line = _line(p, people, np.where(coded, 1 / inclusion, 0.0))
    variance = np.maximum(line * (1 - line), _LEAST)
    moved, unsure = _moved(session, np.where(coded, people - line, nan), variance)
    expected = np.clip(line + moved[session], 0, 1)
    rate = np.bincount(session, np.where(coded, people, expected)) / n
    rng = np.random.default_rng(0)
    drawn = np.empty((_DRAWS, len(n)))
    for at in range(_DRAWS):
        level = (moved + np.sqrt(unsure) * rng.standard_normal(len(n)))[session]
        given = rng.random(len(p)) < np.clip(line + level, 0, 1)
        drawn[at] = np.bincount(session, np.where(coded, people, given)) / n
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    return pd.DataFrame(about | {"rate": rate, "lo": low, "hi": high, "machine_rate": machine, "note": ""})


def _too_few(turns: float, events: float) -> str:
    """Say why there are no rates of sessions; empty where there are."""
    if turns < FEWEST_TURNS:
        return f"people coded {turns:.1f} turns a session on average, {FEWEST_TURNS} are needed"
    few = f"{events:g} hand-coded turns with the code or without it, {FEWEST_EVENTS} are needed"
    return few if events < FEWEST_EVENTS else ""


def _line(p: Floats, people: Floats, weights: Floats) -> Floats:
    """Return what a line through the coded turns predicts for all (n_turns,); its slope is 0 to 1."""
    known = weights > 0
    x, y, w = p[known], people[known], weights[known]
    slope = slope_on_machine(x, y, w)
    return np.clip(float(np.average(y - slope * x, weights=w)) + slope * p, 0, 1).astype(np.float64)


def slope_on_machine(p: Floats, people: Floats, weights: Floats) -> float:
    """Return the slope of people's codes on the machine's probabilities of coded turns (n_turns,), from 0 to 1."""
    off = p - np.average(p, weights=weights)
    square = float(weights @ off**2)
    return float(np.clip(weights @ (off * people) / square, 0, 1)) if square > 0 else 0.0


def _moved(session: Ints, residual: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return how far each session lies from the line, and the variance of that (n_sessions,).

    From residuals of coded turns, nan for others, and the variance of each turn's code by the line.
    """
    coded, n_sessions = np.isfinite(residual), int(session.max()) + 1
    own, r, v = session[coded], residual[coded], variance[coded]
    m = np.bincount(own, minlength=n_sessions).astype(np.float64)
    mean = np.divide(np.bincount(own, r, minlength=n_sessions), m, out=np.zeros(n_sessions), where=m > 0)
    noise = np.divide(np.bincount(own, v, minlength=n_sessions), m**2, out=np.full(n_sessions, np.inf), where=m > 0)
    # E (r - mean)^2 = phi v (1 - 1 / m), summed over a session
    expected = float(np.sum(v * (1 - 1 / m[own])))
    phi = float(np.sum((r - mean[own]) ** 2)) / expected if expected > 0 else 1.0
    some = m > 0
    spread = float(np.sum(m[some] * (mean[some] ** 2 - phi * noise[some])) / m.sum())
    tau = max(spread, 0.0)
    weight = np.zeros(n_sessions)
    weight[some] = tau / (tau + phi * noise[some]) if tau > 0 else 0.0
    # The standard error of `spread`
    doubt = float(np.sqrt(2 * np.sum((m[some] * (tau + phi * noise[some])) ** 2)) / m.sum())
    return weight * mean, (tau + _DOUBT * doubt) * (1 - weight)
