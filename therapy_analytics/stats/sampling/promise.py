"""How closely a coding sample will tell each rate, before anybody codes, and anew once people have coded some of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

from therapy_analytics.core.clusters import Floats, Ints, cluster_sums
from therapy_analytics.stats.compare.groups import ALL
from therapy_analytics.stats.compare.powered import FEWEST_CLUSTERS, FEWEST_EVENTS, Powered, powered_interval

FIRST = ("mi_question", "mi_reflection", "mi_input", "mi_change", "mi_sustain")
"""Codes that are told first; of books that have none of them, the most common."""
UNSEEN = 0.1
"""Share of a code's variance that lies between sessions and that the machine does not see: .03 to .20, median .11, over
five codes in sessions of high and low quality of AnnoMI (``benchmarks/coding_samples.py``)."""
SPREADS = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Standard deviations, in log-odds, of how far a tagger's level can be off in a group; each is as likely beforehand. On
recordings that a tagger of their corpus had not seen it was .56 (AnnoMI), and .94 on another corpus (HLQC)."""
_SHIFTS = np.linspace(-4.0, 4.0, 81)
_EDGE = 1e-4
_MOST_COMMON, _MOST_GROUPS = 3, 4


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


def recalibrated(p: Floats, people: Floats, session: Ints) -> Floats:
    """Return the machine's probabilities in a group at the level that people's codes of some turns suggest, (n_turns,).

    The log-odds of all turns are shifted alike: by the mean of the posterior distribution, with a prior around no shift
    (a mixture of normal distributions, `SPREADS`), because the few coded turns of a pilot say little alone. What the
    machine does not see is alike in turns of one session (`UNSEEN`): n of them count as n / (1 + (n - 1) UNSEEN).

    Parameters
    ----------
    p : float64 array (n_turns,)
        The machine's probabilities.
    people : float64 array (n_turns,)
        The share of people who gave the code, nan where nobody has coded the turn yet.
    session : int64 array (n_turns,)
        The number of the session, from 0.

    Examples
    --------
    >>> people = np.where(np.arange(100) < 50, np.arange(100) % 10 == 0, np.nan)
    >>> recalibrated(np.full(100, 0.5), people, np.arange(100))[:2].round(2).tolist()
    [0.12, 0.12]
    """
    score, coded = special.logit(np.clip(p, _EDGE, 1 - _EDGE)), np.isfinite(people)
    shifted, given = score[coded, None] + _SHIFTS, people[coded, None]
    counts = 1 / (1 + (np.bincount(session[coded])[session[coded]] - 1) * UNSEEN)
    likelihood = counts @ (given * shifted - np.logaddexp(0, shifted))
    prior = np.mean([stats.norm.pdf(_SHIFTS, 0, spread) for spread in SPREADS], axis=0)
    shift = np.average(_SHIFTS, weights=prior * np.exp(likelihood - likelihood.max()))
    return np.asarray(special.expit(score + shift), dtype=np.float64)


def expected_widths(
    turns: pd.DataFrame, inclusion: Floats, codes: Sequence[str], kappas: pd.Series
) -> list[dict[str, Any]]:
    """Return the half-widths that each code's rate is expected to have in each group.

    Parameters
    ----------
    turns : DataFrame
        A row a turn: ``group``, ``session_id``, ``cluster`` and the probabilities ``p_...``.
    inclusion : float64 array (n_turns,)
        The probability with which each is drawn.
    codes : sequence of str
        Columns of codes.
    kappas : Series
        The tagger's cross-validated kappa of each code that has one.

    Returns
    -------
    list of dict
        ``code``, ``group``, ``rate``; half-widths if the sample is coded (``half_width_coded``), as many turns at
        random, or all; and ``machine_differs``, the share of turns on which machine and people are expected to differ.
    """
    random = np.full(len(turns), inclusion.sum() / len(turns))
    rows = []
    for code in codes:
        known = turns[f"p_{code}"].notna()
        p = graded(turns[f"p_{code}"], turns["group"])
        for group, at in turns[known].groupby("group", sort=True).indices.items():
            places = np.flatnonzero(known)[at]
            part = turns.iloc[places].assign(p=p.iloc[places])
            rate = float(part["p"].mean())
            rows.append({
                "code": code, "group": str(group), "rate": rate,
                "half_width_coded": half_width(part, inclusion[places]),
                "half_width_random": half_width(part, random[places]),
                "half_width_all": half_width(part, np.ones(len(part))),
                "machine_differs": differing(rate, float(kappas.get(code, nan))),
            })  # fmt: skip
    return rows


def differing(rate: float, kappa: float) -> float:
    """Return the share of turns on which two coders differ who give a code at this rate and agree with this kappa.

    Examples
    --------
    >>> round(differing(0.3, 0.5), 2)
    0.21
    """
    return (1 - kappa) * 2 * rate * (1 - rate)


def graded(p: pd.Series, group: pd.Series) -> pd.Series:
    """Return probabilities; where a coder gives only 0 and 1, each group's share, as these say nothing of its doubt."""
    return p.groupby(group).transform("mean") if p.dropna().isin((0, 1)).all() else p


def told_first(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are told: of each book the first codes, or the most common; of many groups the first."""
    rates = table.groupby("code")["rate"].mean().sort_values(ascending=False, kind="stable")
    found: set[str] = set()
    for _, part in rates.groupby(rates.index.str.partition("_").get_level_values(0)):
        own = set(FIRST).intersection(part.index)
        found |= own or set(part.index[:_MOST_COMMON])
    groups = table["group"].unique()[:_MOST_GROUPS]
    return table[table["code"].isin(found) & table["group"].isin(groups)]


def side_by_side(rows: pd.DataFrame, by: str, columns: Mapping[str, str]) -> list[str]:
    """Return lines of text with some columns of shares, in percentage points, a row a code and group."""
    names = rows["code"] if by == ALL else rows["code"] + ", " + rows["group"]
    wide = max(len(name) for name in names)
    lines = [" " * wide + "".join(f"{head:>10}" for head in columns)]
    for name, row in zip(names, rows.to_dict("records"), strict=True):
        halves = (float(row[one]) for one in columns.values())
        cells = ["-" if isnan(one) else f"{100 * one:.0f}" if one >= 0.0995 else f"{100 * one:.1f}" for one in halves]
        lines.append(f"{name:<{wide}}" + "".join(f"{cell:>10}" for cell in cells))
    return lines
