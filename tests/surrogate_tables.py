"""Surrogate pairs by least squares, spelt out: an oracle for tests."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Expected(NamedTuple):
    """What is expected of the first cell of a table, and how far it is off."""

    mean: float
    sd: float
    z: float
    p: float


def two_way(table: Any, *, two_sided: bool = False) -> Expected:
    """Fit speakers' effects to all cells but the first for the mean, and to all of them for the residuals of p."""
    table = np.asarray(table, dtype=np.float64)
    n, m = table.shape
    row, column = (at.ravel() for at in np.indices(table.shape))
    design = np.concatenate([np.eye(n)[row], np.eye(m)[column]], axis=1)
    values, others = table.ravel(), np.arange(n * m) > 0
    effects = np.linalg.lstsq(design[others], values[others], rcond=None)[0]
    mean = float(design[0] @ effects)
    missed = values[others] - design[others] @ effects
    sd = np.sqrt((missed**2).sum() / ((n - 1) * (m - 1) - 1) * (1 + 1 / (n - 1)) * (1 + 1 / (m - 1)))
    left = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    left = np.abs(left) if two_sided else left
    return Expected(mean, float(sd), float((values[0] - mean) / sd), float((left >= left[0] - 1e-9).mean()))


def table_of(value: float, with_clients: Any, with_therapists: Any, others: Any) -> Floats:
    """Return a table: the session, its therapist with other clients, its client with other therapists, these others."""
    n = len(with_clients)
    found = np.empty((n + 1, n + 1))
    found[0, 0], found[0, 1:], found[1:, 0] = value, with_clients, with_therapists
    found[1:, 1:] = np.reshape(others, (n, n))
    return found
