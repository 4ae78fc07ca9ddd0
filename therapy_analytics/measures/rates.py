"""Rates: how many of the turns that could have something have it, with their interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.codebook import DEFAULT_CORRELATION
from therapy_analytics.measures.base import count_name, total_name
from therapy_analytics.measures.intervals import wilson


def rate(
    name: str, hits: NDArray[np.bool_], among: NDArray[np.bool_], *, correlation: float = DEFAULT_CORRELATION
) -> dict[str, float]:
    """Return a rate with its count and its 95% interval (`therapy_analytics.measures.intervals.wilson`).

    Parameters
    ----------
    name : str
        Column of the rate; the others are ``name_lo``, ``name_hi``, `count_name` and `total_name`.
    hits, among : bool array (n_turns,)
        Turns that have it, among turns that could.
    correlation : float
        How alike turns are; see `therapy_analytics.codes.Code`.
    """
    k, n = np.count_nonzero(hits & among), np.count_nonzero(among)
    return counted_rate(name, float(k), float(n), correlation=correlation)


def counted_rate(
    name: str, k: float, n: float, *, per: float = 1.0, correlation: float = DEFAULT_CORRELATION
) -> dict[str, float]:
    """Return ``k`` of ``n``, times `per`, as `rate` does, from the counts themselves."""
    low, high = wilson(k, n, correlation)
    value, count = (k / n, k) if n else (float("nan"), float("nan"))
    return {
        name: per * value,
        f"{name}_lo": per * low,
        f"{name}_hi": per * high,
        count_name(name): count,
        total_name(name): n,
    }


def marks(counted: NDArray[np.bool_], hits: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 for turns with a hit, 0 for others that are counted, nan elsewhere; float64 (n_turns,)."""
    return np.where(counted, hits.astype(np.float64), np.nan)


def mean_column(values: NDArray[np.float64] | NDArray[np.int64]) -> float:
    """Return the mean of the values that are defined, or nan when none is."""
    defined = np.asarray(values, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    # As ndarray.mean does, whose checks take longer than the sum of a session's turns
    return float(np.add.reduce(defined)) / len(defined) if len(defined) else float("nan")
