"""Clusters: sessions of one counselor, recording or client, which are not independent of each other."""

from __future__ import annotations

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
        The column whose groups are compared, which cannot define the clusters as well, nor can one that says the same:
        the counselor of a language model's sessions is the model. Sessions of one counselor cluster by client rather
        than by recording.
    """
    order = ("client", "source_group") if by == "counselor" else COLUMNS
    for name in order:
        if name not in sessions or name == by:
            continue
        values = sessions[name].where(sessions[name] != "")
        if values.nunique() <= 1:  # a column with one value for all sessions does not distinguish clusters
            continue
        one_each = by in sessions and bool((values.groupby(sessions[by]).nunique() <= 1).all())
        says_the_same = one_each and (by == "model" or bool((values.fillna("") == sessions[by]).all()))
        if not says_the_same:
            return name
    return SESSION


def cluster_numbers(sessions: pd.DataFrame, column: str, by: str = "", *, crossed: bool = False) -> Ints:
    """Return the number of each session's cluster, int64 array (n_sessions,) from 0.

    A session without a value in the column is its own cluster. Clients are distinguished by counselor, because two
    counselors may each have a client of the same name, unless they are `crossed`: then one name is one client.
    """
    if column == SESSION:
        return np.arange(len(sessions), dtype=np.int64)
    names = _text(sessions[column])
    if column == "client" and not crossed:
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
