"""From counts of points and lines to the values of recurrence quantification."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import nan

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Values of a cross-recurrence plot; what is undefined is nan.

    Attributes
    ----------
    rate : float
        RR: share of recurrent points among all pairs of words that are compared, 0 to 1 (crqa: per cent).
    determinism : float
        DET: share of the recurrent points that lie on diagonal lines of two or more, 0 to 1; 0 when there are
        points but no line (crqa: NA).
    mean_line, longest_line : float
        L and LMAX: mean and greatest length of the diagonal lines, in words, from 2; nan without lines (crqa: 0).
    entropy : float
        ENTR: Shannon entropy of the lengths of diagonal lines, in nats, from 0.
    relative_entropy : float
        rENTR: `entropy` divided by the logarithm of the number of different lengths, 0 to 1; nan for one length.
    laminarity : float
        LAM: share of the recurrent points on vertical lines (two or more words of the client in a row that are
        like one word of the therapist), 0 to 1.
    trapping_time : float
        TT: mean length of the vertical lines, in words, from 2.
    balance : float
        Recurrence rate where the client's word comes later, minus where it comes earlier, -1 to 1. Above 0: the
        client takes up the therapist's words more than the therapist takes up the client's.
    n_points, n_lines : float
        Recurrent points, and diagonal lines of two or more.
    """

    rate: float = nan
    determinism: float = nan
    mean_line: float = nan
    longest_line: float = nan
    entropy: float = nan
    relative_entropy: float = nan
    laminarity: float = nan
    trapping_time: float = nan
    balance: float = nan
    n_points: float = 0.0
    n_lines: float = 0.0


VALUES = tuple(one.name for one in fields(Recurrence))


@dataclass(frozen=True, slots=True)
class Found:
    """What is counted in a plot.

    Attributes
    ----------
    cells, points : float64 array (3,)
        Pairs of words, and recurrent ones: all; client's word later; client's word earlier.
    vertical : float64 array (2,)
        Vertical lines, and the points on them.
    lines : float64 array (longest + 1,)
        Diagonal lines of each length, from 0.
    """

    cells: Floats
    points: Floats
    vertical: Floats
    lines: Floats


def values_of(found: Found) -> Recurrence:
    """Return the values of a plot."""
    points, tall, n_lines = found.points[0], found.vertical, found.lines.sum()
    lengths = np.flatnonzero(found.lines)
    on_lines = lengths @ found.lines[lengths]
    entropy = _entropy(found.lines[lengths] / n_lines) if n_lines else nan
    rate, later, earlier = ratio(found.points, found.cells).tolist()
    parts = np.array([on_lines, on_lines, entropy, tall[1], tall[1]])
    wholes = np.array([points, n_lines, np.log(max(len(lengths), 1)), points, tall[0]])
    determinism, mean_line, relative_entropy, laminarity, trapping_time = ratio(parts, wholes).tolist()
    return Recurrence(
        rate=rate,
        determinism=determinism,
        mean_line=mean_line,
        longest_line=float(lengths[-1]) if n_lines else nan,
        entropy=entropy,
        relative_entropy=relative_entropy,
        laminarity=laminarity,
        trapping_time=trapping_time,
        balance=later - earlier,
        n_points=float(points),
        n_lines=float(n_lines),
    )


def _entropy(shares: Floats) -> float:
    return abs(float(shares @ np.log(shares)))


def ratio(part: Floats, whole: Floats) -> Floats:
    """Return one divided by the other; nan where the other is 0."""
    found: Floats = np.full(np.shape(whole), nan)
    return np.divide(part, whole, out=found, where=whole > 0)
