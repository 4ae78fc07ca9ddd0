"""Clusters: sessions of one counselor, recording or client, which are not independent of each other."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SESSION = "session"
"""The name of the clusters where sessions are taken as independent."""
COLUMNS = ("counselor", "source_group", "client")
"""Columns of ``sessions.csv`` that name clusters, the preferred first; ``source_group`` is the recording."""


def cluster_column(sessions: pd.DataFrame, by: str = "") -> str:
    """Return the column by which sessions cluster, or `SESSION`.

    Parameters
    ----------
    sessions : DataFrame
        A row a session; those of `COLUMNS` that it has are text, "" where unknown.
    by : str, optional
        The column whose groups are compared, which cannot define the clusters as well. Sessions of one counselor
        cluster by client rather than by recording.
    """
    order = ("client", "source_group") if by == "counselor" else COLUMNS
    usable = (name for name in order if name in sessions and name != by)
    # A column with one value for all sessions does not distinguish clusters.
    return next((name for name in usable if sessions[name].where(sessions[name] != "").nunique() > 1), SESSION)


def cluster_numbers(sessions: pd.DataFrame, column: str, by: str = "") -> Ints:
    """Return the number of each session's cluster, int64 array (n_sessions,) from 0.

    A session without a value in the column is its own cluster. Clients are distinguished by counselor: two counselors
    may each have a client of the same name.
    """
    if column == SESSION:
        return np.arange(len(sessions), dtype=np.int64)
    names = _text(sessions[column])
    if column == "client":
        owner = by if by == "counselor" or "counselor" not in sessions else "counselor"
        names = (_text(sessions[owner]) + "\x1f" + names).where(names != "", "") if owner in sessions else names
    alone = pd.Series([f"\x1e{i}" for i in range(len(sessions))], index=sessions.index)
    return np.asarray(pd.factorize(names.where(names != "", alone))[0], dtype=np.int64)


def _text(column: pd.Series) -> pd.Series:
    """Return the values as text, "" where there is none."""
    return column.astype(object).where(column.notna(), "").astype(str)


def cluster_sums(values: Floats, clusters: NDArray[np.generic]) -> Floats:
    """Return the sum of `values` (n,) in each cluster (n_clusters,); `clusters` (n,) are labels of any kind."""
    place = np.unique(clusters, return_inverse=True)[1]
    return np.bincount(place, values).astype(np.float64)


def cluster_error(contributions: Floats, clusters: NDArray[np.generic]) -> tuple[float, int]:
    """Return the cluster-robust standard error of an estimate, and the number of clusters; nan for one cluster.

    Parameters
    ----------
    contributions : float64 array (n,)
        What each unit adds to the estimate's deviation from its expectation.
    clusters : array (n,)
        The cluster of each unit.
    """
    sums = cluster_sums(contributions, clusters)
    n = len(sums)
    return (sqrt(n / (n - 1) * float(sums @ sums)) if n > 1 else nan), n
