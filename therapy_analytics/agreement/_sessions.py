"""Agreement on rates of sessions: intraclass correlation, Bland and Altman's limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.agreement._cells import SETS
from therapy_analytics.agreement._coefficients import Floats, Ints, jackknife
from therapy_analytics.agreement._statistics import Coded

RATES = ["code", "session_id", "n_turns", "human", "machine"]
Z = float(stats.norm.ppf(0.975))
nan = np.nan


def icc2(ratings: Floats) -> float:
    """Return ICC(2,1), absolute agreement of single ratings by coders who stand for others.

    Parameters
    ----------
    ratings : float array (n_sessions, n_coders)
        Without gaps.

    Returns
    -------
    float
        From below 0 to 1; nan where there are fewer than two rows or columns, or nothing varies.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Intraclass correlations: Uses in assessing rater reliability. Psychological
    Bulletin, 86, 420-428.

    Examples
    --------
    >>> round(icc2(np.array([[1.0, 2], [3, 3], [5, 6], [7, 9]])), 2)
    0.91
    """
    n, k = ratings.shape
    if n < 2 or k < 2:
        return nan
    row, column, whole = ratings.mean(axis=1), ratings.mean(axis=0), ratings.mean()
    between = k * ((row - whole) ** 2).sum() / (n - 1)
    coders = n * ((column - whole) ** 2).sum() / (k - 1)
    error = ((ratings - row[:, None] - column + whole) ** 2).sum() / ((n - 1) * (k - 1))
    bottom = between + (k - 1) * error + k * (coders - error) / n
    return float((between - error) / bottom) if min(bottom, between) > 1e-12 else nan


def rates_table(found: Sequence[Coded]) -> pd.DataFrame:
    """Return the rate of each code in each session, by most people and by the machine, on the same turns."""
    frames = []
    for one in found:
        if one.code in SETS:
            continue
        tables = one.tables_by_session(one.majority, one.machine)
        n = tables.sum(axis=(1, 2))
        kept = n > 0
        rates = {"human": tables[kept, 1].sum(axis=1) / n[kept], "machine": tables[kept, :, 1].sum(axis=1) / n[kept]}
        names = np.array(one.names, dtype=object)[kept]
        frames.append(pd.DataFrame({"code": one.code, "session_id": names, "n_turns": n[kept].astype(int)} | rates))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=RATES)


def sessions_table(rates: pd.DataFrame, cluster_of: Mapping[str, int]) -> pd.DataFrame:
    """Return for each rate how machine and people agree over sessions, with intervals over clusters.

    ``icc``; ``mean_difference`` (machine less people) and the limits between which 95 % of differences lie
    (``limit_low``, ``limit_high``).

    Parameters
    ----------
    rates : DataFrame
        As `rates_table` returns them.
    cluster_of : mapping of str to int
        The cluster of each session.
    """
    rows = []
    for code, own in rates.groupby("code", sort=False):
        cluster = np.unique([cluster_of[name] for name in own["session_id"]], return_inverse=True)[1]
        rows.append({"code": code, **_figures(own, cluster.astype(np.int64))})
    return pd.DataFrame(rows)


def _figures(own: pd.DataFrame, cluster: Ints) -> dict[str, float]:
    both = own[["human", "machine"]].to_numpy(dtype=np.float64)
    row = {"n_sessions": float(len(both)), "n_clusters": float(cluster.max() + 1)}
    row |= {"n_turns": float(own["n_turns"].sum())}
    row |= {"human_mean": float(both[:, 0].mean()), "machine_mean": float(both[:, 1].mean())}
    for name, (figure, bounds) in FIGURES.items():
        value = figure(both)
        left_out = np.array([figure(both[cluster != one]) for one in range(int(cluster.max()) + 1)])
        low, high = jackknife(value, left_out, bounds)
        row |= {name: value, f"{name}_lo": low, f"{name}_hi": high}
    difference = both[:, 1] - both[:, 0]
    return row | {"sd_difference": float(difference.std(ddof=1)) if len(both) > 1 else nan}


def _mean_difference(both: Floats) -> float:
    return float((both[:, 1] - both[:, 0]).mean()) if len(both) else nan


def _limit(both: Floats, end: float) -> float:
    """Return a limit of agreement (Bland & Altman, 1986): the mean difference and `end` standard deviations."""
    difference = both[:, 1] - both[:, 0]
    return float(difference.mean() + end * difference.std(ddof=1)) if len(both) > 1 else nan


FIGURES: Mapping[str, tuple[Callable[[Floats], float], tuple[float, float] | None]] = {
    "icc": (icc2, (-1.0, 1.0)),
    "mean_difference": (_mean_difference, None),
    "limit_low": (partial(_limit, end=-Z), None),
    "limit_high": (partial(_limit, end=Z), None),
}
"""Figures of the rates of people and machine (n_sessions, 2), and the least and the most that each can be."""
