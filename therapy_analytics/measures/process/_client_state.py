"""How the client's state is tracked: a small hidden Markov model of talk, and a line that drifts for opening up.

All are plain functions of arrays with one value a client turn; `client_state` says which turns these are.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from math import nan, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DATA = Path(__file__).with_name("client_state.toml")
CHANGE, SUSTAIN = 0, 1
HYSTERESIS = 0.15
"""A balance as far from 0 as this is on a side; what lies between stays on the side that it was on."""
HOLDS = 3
"""Client turns that a side must hold to count; shorter stays are passed over."""
FEWEST = 8
"""Client turns under which a slope and its interval are left undefined."""
_SURE, _LEAST = (0.05, 0.9), 0.02
"""What a coder's plain no and yes are taken for, and the least that is left to talk of neither kind."""


@dataclass(frozen=True, slots=True)
class Talk:
    """Parameters of the chain of talk, see ``client_state.toml``."""

    base_rates: tuple[float, float, float]
    exponent: float
    stay: float
    pull: float


@dataclass(frozen=True, slots=True)
class Opening:
    """Variances: of the slope at the start, of level and slope from turn to turn, of single turns around the line."""

    start: float
    level: float
    slope: float
    noise: float


@dataclass(frozen=True, slots=True, eq=False)
class Tracked:
    """Probabilities of change, sustain and neither, (n, 3): from the turns so far, and from the whole session."""

    live: Floats
    smoothed: Floats

    @property
    def balance(self) -> Floats:
        """Change minus sustain over the whole session, (n,): -1 to 1."""
        return np.asarray(self.smoothed[:, CHANGE] - self.smoothed[:, SUSTAIN])


@functools.cache
def talk_parameters() -> Talk:
    """Return the fitted parameters of talk."""
    found = tomllib.loads(DATA.read_text(encoding="utf-8"))["talk"]
    change, sustain, neither = found.pop("base_rates")
    return Talk((change, sustain, neither), **found)


@functools.cache
def opening_parameters() -> Opening:
    """Return the fitted parameters of opening up."""
    return Opening(**tomllib.loads(DATA.read_text(encoding="utf-8"))["opening"])


def three_way(change: Floats, sustain: Floats) -> Floats:
    """Return a coder's probabilities of change, sustain and neither, (n, 3), none 0 and each row adding up to 1.

    Examples
    --------
    >>> three_way(np.array([0.5, 1.0]), np.array([0.2, 0.0])).round(2).tolist()
    [[0.5, 0.2, 0.3], [0.9, 0.05, 0.05]]
    """
    no, yes = _SURE
    both = [np.where(p >= 1, yes, np.where(p <= 0, no, p)) for p in (change, sustain)]
    found = np.stack([*both, np.maximum(1.0 - both[0] - both[1], _LEAST)], axis=1)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def tracked(p: Floats, talk: Talk) -> Tracked:
    """Track talk through the client's turns.

    A phase (change, sustain or neither) stays from one turn to the next with probability ``stay`` and is else drawn
    anew from the base rates. The talk of a turn is of the phase's kind with probability ``pull`` and is else drawn from
    the base rates. The turn's words speak for a kind by (p / base rate) to the power ``exponent``.

    Parameters
    ----------
    p : float64 array (n, 3)
        What the coder says of each turn, see `three_way`.
    talk : Talk
        The parameters.

    Returns
    -------
    Tracked
        Without a stay, and with exponent 1, both are what the coder said.
    """
    base = np.array(talk.base_rates)
    words = (p / base) ** talk.exponent
    words /= words.max(axis=1, keepdims=True, initial=1e-300)
    # Every kind of talk may come in every phase, so that what speaks for a phase is never 0.
    phases = talk.pull * words + (1 - talk.pull) * (words @ base)[:, None]
    before = _forward(phases, talk)
    live, whole = (
        (talk.pull * w + (1 - talk.pull) * w.sum(axis=1, keepdims=True) * base) * words
        for w in (before, before * _backward(phases, talk))
    )
    return Tracked(_shares(live), _shares(whole))


def _shares(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _forward(phases: Floats, talk: Talk) -> Floats:
    """Return the probability of each phase given the turns before, (n, 3); in plain numbers, which are faster here."""
    (b0, b1, b2), stay, anew = talk.base_rates, talk.stay, 1 - talk.stay
    total = b0 + b1 + b2
    p0, p1, p2 = b0 / total, b1 / total, b2 / total
    found = []
    for l0, l1, l2 in phases.tolist():
        found.append((p0, p1, p2))
        p0, p1, p2 = p0 * l0, p1 * l1, p2 * l2
        s = p0 + p1 + p2
        p0, p1, p2 = (stay * p0 / s + anew * b0, stay * p1 / s + anew * b1, stay * p2 / s + anew * b2)
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def _backward(phases: Floats, talk: Talk) -> Floats:
    """Return how much the turns after speak for each phase, up to a factor, (n, 3)."""
    (b0, b1, b2), stay, anew = talk.base_rates, talk.stay, 1 - talk.stay
    found, (a0, a1, a2) = [], (1.0, 1.0, 1.0)
    for l0, l1, l2 in phases[::-1].tolist():
        found.append((a0, a1, a2))
        a0, a1, a2 = a0 * l0, a1 * l1, a2 * l2
        s = b0 * a0 + b1 * a1 + b2 * a2
        a0, a1, a2 = stay * a0 / s + anew, stay * a1 / s + anew, stay * a2 / s + anew
    return np.array(found[::-1], dtype=np.float64).reshape(-1, 3)


def turning_points(balance: Floats) -> Ints:
    """Return where the balance goes over to the other side and stays there: 1 to change, -1 to sustain, else 0; (n,).

    Examples
    --------
    The first side is none that it turned to, the dip to 0.0 is between the sides, and -0.5 does not hold:

    >>> turning_points(np.array([-0.4, -0.2, -0.3, 0.3, 0.0, 0.4, 0.4, -0.5, 0.3])).tolist()
    [0, 0, 0, 1, 0, 0, 0, 0, 0]
    """
    found = np.zeros(len(balance), dtype=np.int64)
    at = np.flatnonzero(np.abs(balance) >= HYSTERESIS)
    if not len(at):
        return found
    side = np.sign(balance[at]).astype(np.int64)
    begins = np.flatnonzero(np.append(True, side[1:] != side[:-1]))
    starts, sides = at[begins], side[begins]
    long_enough = np.diff(np.append(starts, len(balance))) >= HOLDS
    starts, sides = starts[long_enough], sides[long_enough]
    turns = np.flatnonzero(sides[1:] != sides[:-1]) + 1
    found[starts[turns]] = sides[turns]
    return found


def thirds(series: Floats) -> tuple[float, float]:
    """Return the means of the first and of the last third of a series; nan under three values.

    Examples
    --------
    >>> thirds(np.array([0.0, 0.5, 0.25]))
    (0.0, 0.25)
    """
    n = len(series)
    if n < 3:
        return nan, nan
    return float(series[: round(n / 3)].mean()), float(series[round(2 * n / 3) :].mean())


def slope(series: Floats) -> tuple[float, float, float]:
    """Return the slope from the first value (0) to the last (1) with its 95% interval; nan under `FEWEST` values.

    Neighbouring turns are alike, which the usual standard error leaves out: this is Newey and West's (1987), with
    neighbours as far as 4 (n / 100)^(2/9) turns away, and Student's t.

    Examples
    --------
    >>> [round(x, 2) for x in slope(np.linspace(-0.5, 0.5, 10))]
    [1.0, 1.0, 1.0]
    """
    n = len(series)
    if n < FEWEST:
        return nan, nan, nan
    place = np.linspace(-0.5, 0.5, n)
    spread = float((place * place).sum())
    found = float((place * series).sum()) / spread
    scores = place * (series - series.mean() - found * place)
    variance = float((scores * scores).sum())
    reach = int(4 * (n / 100) ** (2 / 9))
    for lag in range(1, reach + 1):
        variance += 2 * (1 - lag / (reach + 1)) * float((scores[lag:] * scores[:-lag]).sum())
    # The kernel may bring the sum a little under 0 by rounding alone.
    error = sqrt(max(variance, 0.0) * n / (n - 2)) / spread
    half = float(stdtrit(n - 2, 0.975)) * error
    return found, found - half, found + half


def rising(series: Floats, opening: Opening) -> Floats:
    """Return the probability that a drifting line through the values so far goes up, (n,); the first is .5.

    Examples
    --------
    >>> up = rising(np.arange(8.0), Opening(start=0.1, level=0.02, slope=0.01, noise=1.0))
    >>> float(up[0]), bool((np.diff(up) > 0).all())
    (0.5, True)
    """
    return np.asarray(ndtr(filtered(series, opening)[0]))


def filtered(series: Floats, opening: Opening) -> tuple[Floats, Floats, Floats]:
    """Filter a drifting line out of a series: a Kalman filter of the local linear trend (Harvey 1989).

    Parameters
    ----------
    series : float64 array (n,)
        Values, of which the first sets the level.
    opening : Opening
        The variances.

    Returns
    -------
    z, surprise, variance : float64 arrays (n,)
        The slope over its standard error, from the values so far; what each value lay off the line's forecast, and the
        variance of that (0 and 1 for the first value, which nothing foretells).
    """
    if not len(series):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    level, trend = float(series[0]), 0.0
    vl, vlt, vt = opening.noise, 0.0, opening.start
    found = [(0.0, 0.0, 1.0)]
    for value in series[1:].tolist():
        level += trend
        vl, vlt, vt = vl + 2 * vlt + vt + opening.level, vlt + vt, vt + opening.slope
        off, total = value - level, vl + opening.noise
        level, trend = level + vl / total * off, trend + vlt / total * off
        vl, vlt, vt = vl - vl * vl / total, vlt - vl * vlt / total, vt - vlt * vlt / total
        found.append((trend / sqrt(vt), off, total))
    z, surprise, variance = np.array(found).T
    return z, surprise, variance
