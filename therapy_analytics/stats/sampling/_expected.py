"""The interval that a coding sample will buy, computed from the machine's probabilities before anybody codes."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Floats, cluster_sums
from therapy_analytics.stats.compare.powered import FEWEST_CLUSTERS, FEWEST_EVENTS, Powered, powered_interval

UNSEEN = 0.1
"""Share of a code's variance that lies between sessions and that the machine does not see: .03 to .20, median .11, over
five codes in sessions of high and low quality of AnnoMI (``benchmarks/coding_samples.py``)."""


def half_width(turns: pd.DataFrame, inclusion: Floats) -> float:
    """Return half the width of the 95 % interval that a group's rate of a code is expected to have.

    The machine's probabilities are taken as calibrated: of turns with probability p, people give a share p the code.
    The variance of the estimate (`weighted_mean`) is then that between clusters (of the machine's rates, and the share
    `UNSEEN` of the variance of codes), and that of codes and draw: for each turn ``p (1 - p) / inclusion + (1 -
    weight)^2 (p - rate)^2 (1 / inclusion - 1)``. The machine's codes count in full
    (weight 1), or not at all (0) where fewer than `FEWEST_EVENTS` turns with the code are expected in the sample.

    Parameters
    ----------
    turns : DataFrame
        A row a turn of the group that can have the code: ``p``, ``session_id``, ``cluster``.
    inclusion : float64 array (n_turns,)
        The probability with which each is drawn.

    Returns
    -------
    float
        0 to 1; nan where fewer than four clusters are expected to have coded turns.

    Examples
    --------
    >>> session = np.repeat(np.arange(40), 10)
    >>> frame = pd.DataFrame({"p": np.tile([0.4, 0.6], 200), "session_id": session, "cluster": session})
    >>> [round(half_width(frame, np.full(400, share)), 2) for share in (0.25, 1.0)]
    [0.11, 0.07]
    """
    p = turns["p"].to_numpy(dtype=np.float64)
    session = pd.factorize(turns["session_id"])[0]
    n = np.bincount(session)
    means, rate = np.bincount(session, p) / n, float((p / n[session]).sum() / len(n))
    cluster = turns.groupby(session)["cluster"].first().to_numpy()
    coded = 1 - np.exp(cluster_sums(np.log1p(-np.minimum(inclusion, 1 - 1e-12)), turns["cluster"].to_numpy()))
    n_clusters, n_coded = float(coded.sum()), float(inclusion.sum())
    if n_clusters < FEWEST_CLUSTERS or not 0 < rate < 1:
        return nan
    events = float((inclusion * p).sum())
    weight = 1.0 if min(events, n_coded - events) >= FEWEST_EVENTS and np.ptp(p) > 0 else 0.0
    noise = p * (1 - p) / inclusion + (1 - weight) ** 2 * (p - rate) ** 2 * (1 / inclusion - 1)
    within = float((noise / n[session] ** 2).sum())
    unseen = UNSEEN * float((np.bincount(session, p * (1 - p)) / n).sum())
    between = float((cluster_sums(means - rate, cluster) ** 2).sum()) + unseen
    scale = n_clusters / (n_clusters - (2 if weight else 1))
    error = sqrt(scale * (within + between)) / len(n)
    found = Powered(rate, error, weight, round(n_clusters))
    low, high = powered_interval(found, np.inf if weight else n_coded, drawn=True)
    return (high - low) / 2
