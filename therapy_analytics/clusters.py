"""What is independent in a table of sessions: sessions of one counselor, recording or client belong together."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

SESSION = "session"
"""The name of the cluster where each session stands for itself."""
COLUMNS = ("counselor", "source_group", "client")
"""Columns of ``sessions.csv`` that name clusters, the first that says something first; ``source_group`` is the
recording."""


def cluster_column(sessions: pd.DataFrame, by: str = "") -> str:
    """Return the column by which sessions cluster, or `SESSION`.

    Parameters
    ----------
    sessions : DataFrame
        A row a session; the columns of `COLUMNS` that it has are text, "" where nothing is known.
    by : str, optional
        The column whose groups are compared, which cannot be the clusters as well. Sessions of one counselor cluster by
        client before they do by recording.
    """
    order = ("client", "source_group") if by == "counselor" else COLUMNS
    usable = (name for name in order if name in sessions and name != by)
    # Where all sessions are of one counselor, nothing is said of others, and the next column tells them apart.
    return next((name for name in usable if sessions[name].where(sessions[name] != "").nunique() > 1), SESSION)


def cluster_numbers(sessions: pd.DataFrame, column: str, by: str = "") -> NDArray[np.int64]:
    """Return the number of each session's cluster (n_sessions,), from 0.

    A session without a name in the column is a cluster of its own, and clients belong to their counselor: another
    counselor's Dana is another Dana.
    """
    if column == SESSION:
        return np.arange(len(sessions), dtype=np.int64)
    names = sessions[column]
    if column == "client":
        owner = by if by == "counselor" or "counselor" not in sessions else "counselor"
        names = (sessions[owner] + "\x1f" + names).where(names != "", "") if owner in sessions else names
    alone = pd.Series([f"\x1e{i}" for i in range(len(sessions))], index=sessions.index)
    return np.asarray(pd.factorize(names.where(names != "", alone))[0], dtype=np.int64)
