"""The design of a coding sample: inclusion probabilities, and a draw of a fixed size that keeps them exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Bools, Floats, Ints

FLOOR = 0.3
"""Share of the effort that is spread evenly over sessions: no turn's weight can then exceed 1 / FLOOR times that of an
even sample, so that turns where the machine is wrongly sure cannot dominate an estimate."""
_CERTAIN = 1 - 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class CodingDesign:
    """With which probability each turn is drawn.

    `inclusion` (n_turns,) adds up to the size of the sample; `unsure` (n_turns,) says whether the machine is unsure
    enough of the turn that it is drawn more often than in an even sample.
    """

    inclusion: Floats
    unsure: Bools


def weights_in_rates(frame: pd.DataFrame) -> Floats:
    """Return the weight of each turn in its group's rates (n_turns,).

    A group's rate is the mean over sessions of the share of turns, so a turn counts 1 / (sessions of the group x turns
    of its role in the session). The weights of a group and role add up to 1.

    Parameters
    ----------
    frame : DataFrame
        A row a turn: ``group``, ``session_id``, ``role``.

    Examples
    --------
    >>> frame = pd.DataFrame({"group": "x", "role": "client", "session_id": ["a", "b", "b", "b", "b"]})
    >>> weights_in_rates(frame).tolist()
    [0.5, 0.125, 0.125, 0.125, 0.125]
    """
    sessions = frame.groupby(["group", "role"])["session_id"].transform("nunique")
    turns = frame.groupby(["group", "role", "session_id"])["role"].transform("size")
    return np.asarray(1.0 / (sessions * turns), dtype=np.float64)


def uncertainty(p: Floats) -> Floats:
    """Return how unsure the machine is of each turn (n_turns,): the root of the mean variance of its codes.

    From probabilities (n_turns, n_codes), nan where a turn cannot have the code. Turns drawn in proportion to this have
    the smallest sum of the variances of the codes' rates (Neyman 1934).

    Examples
    --------
    >>> uncertainty(np.array([[0.5, np.nan], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """
    known = np.isfinite(p)
    variances = np.where(known, p * (1 - p), 0.0)
    return np.asarray(np.sqrt(variances.sum(axis=1) / np.maximum(known.sum(axis=1), 1)), dtype=np.float64)


def design(weights: Floats, unsure: Floats, n: int, floor: float = FLOOR) -> CodingDesign:
    """Return the design that spends a share `floor` of `n` turns evenly and the rest where the machine is unsure.

    From the weight of each turn in the rates and the machine's uncertainty, (n_turns,) each. Both parts are in
    proportion to the weight, so that each group, role and session gets its share. Probabilities above 1 are set to 1,
    and what they leave over goes to the other turns.

    Examples
    --------
    >>> design(np.full(4, 0.25), np.array([0.5, 0.5, 0.0, 0.0]), n=2, floor=0.5).inclusion.tolist()
    [0.75, 0.75, 0.25, 0.25]
    """
    even = weights / weights.sum()
    doubtful = weights * unsure
    if not doubtful.any():
        return CodingDesign(inclusion_probabilities(even, n), np.zeros(len(even), dtype=bool))
    favoured = doubtful / doubtful.sum()
    return CodingDesign(inclusion_probabilities(floor * even + (1 - floor) * favoured, n), favoured > even)


def inclusion_probabilities(size: Floats, n: int) -> Floats:
    """Return probabilities in proportion to `size` (n_turns,) that add up to `n`, none above 1.

    Examples
    --------
    >>> inclusion_probabilities(np.array([8.0, 1.0, 1.0]), 2).tolist()
    [1.0, 0.5, 0.5]
    """
    found = np.zeros(len(size))
    certain = np.zeros(len(size), dtype=bool)
    while True:
        rest = ~certain
        found[certain] = 1.0
        found[rest] = (n - certain.sum()) * size[rest] / size[rest].sum() if rest.any() else 0.0
        above = rest & (found > 1)
        if not above.any():
            return found
        certain |= above


def drawn(frame: pd.DataFrame, inclusion: Floats, rng: np.random.Generator) -> Ints:
    """Draw turns with exactly these probabilities, a whole number in all: systematic sampling in a random order.

    Turns lie one after the other on a line, each as long as its probability, by group, role and session; those at a
    random start and each whole step after it are drawn. So each group, role and session gets the number of turns that
    its probabilities add up to, rounded up or down. Sessions of a group, and turns of a session, come in random order,
    without which a rhythm of the talk could coincide with the steps.

    Parameters
    ----------
    frame : DataFrame
        A row a turn: ``group``, ``session_id``, ``role``.
    inclusion : float64 array (n_turns,)
        Probabilities that add up to a whole number.
    rng : Generator
        Of random numbers.

    Returns
    -------
    int64 array
        Positions of the drawn turns in the frame, ascending.

    References
    ----------
    Hartley, H. O., & Rao, J. N. K. (1962). Sampling with unequal probabilities and without replacement. The Annals of
    Mathematical Statistics, 33(2), 350-374.
    """
    certain = np.flatnonzero(inclusion >= _CERTAIN)
    session, names = pd.factorize(frame["session_id"])
    place = [pd.factorize(frame[name], sort=True)[0] for name in ("group", "role")]
    shuffled = (rng.random(len(frame)), rng.permutation(len(names))[session], place[1], place[0])
    order = np.lexsort(shuffled)
    order = order[inclusion[order] < _CERTAIN]
    n = round(float(inclusion.sum())) - len(certain)
    ends = np.cumsum(inclusion[order])
    ends = np.append(0.0, ends * (n / ends[-1])) if n else np.zeros(len(order) + 1)
    steps = np.floor(np.append(ends[:-1], n) + rng.random())
    return np.sort(np.concatenate([certain, order[np.diff(steps) > 0]])).astype(np.int64)
