"""Linguistic coordination: does a kind of function word in a turn make it likelier in the reply."""

from __future__ import annotations

from math import nan
from typing import Literal

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import measure
from therapy_analytics.measures._base import OnPage, Shown, Value
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure, adjacent_turn_measure
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES
from therapy_analytics.measures.synchrony.tables import adjacent_columns, adjacent_values

Aggregate = Literal["available", "complete", "filled"]


def marks(session: AnnotatedSession) -> Floats:
    """Return which function-word categories each turn has, 0 or 1, (n_turns, 9)."""
    columns = [session.turns.column(category) for category in CATEGORIES]
    return (session.turns.counts[:, columns] > 0).astype(np.float64)


def terms(a: Floats, b: Floats) -> Floats:
    """Return what pairs of turns add up.

    Parameters
    ----------
    a, b : float64 array (..., n_markers)
        Which markers the turn before has, and the reply, 0 or 1.

    Returns
    -------
    float64 array (..., 3 * n_markers + 1)
        For each marker whether the turn before has it, both have it, the reply has it; then 1 for the pair.
    """
    return np.concatenate([a, a * b, b, np.ones((*b.shape[:-1], 1))], axis=-1)


def coordination_of(sums: Floats, *, fewest: int = 1) -> Floats:
    """Return P(marker in reply | marker in turn before) - P(marker in reply), for each marker.

    Parameters
    ----------
    sums : float64 array (..., 3 * n_markers + 1)
        Turns before that have each marker, pairs in which both have it, replies that have it; pairs.
    fewest : int
        Markers that fewer turns before have are undefined (the target threshold).

    Returns
    -------
    float64 array (..., n_markers)
        -1 to 1; nan where undefined.

    Examples
    --------
    Four replies. The marker is in two of the turns before and in the replies to both, and in
    one of the other replies: 2/2 - 3/4.

    >>> coordination_of(np.array([2, 2, 3, 4.0])).tolist()
    [0.25]
    """
    before, both, after = np.split(sums[..., :-1], 3, axis=-1)
    enough = before >= max(fewest, 1)
    return np.where(enough, both / np.maximum(before, 1) - after / np.maximum(sums[..., -1:], 1), nan)


def aggregate(markers: Floats, *, how: Aggregate = "available") -> Floats:
    """Return one number for several markers, (..., n_markers) to (...).

    Parameters
    ----------
    markers : float64 array (..., n_markers)
        As `coordination_of` returns them; for "filled", (n_speakers, n_markers).
    how : {"available", "complete", "filled"}
        The mean of the markers that are defined; the mean where all are, else nan; or the mean
        in which an undefined marker counts as that marker's mean over the speakers. The
        publication's three ways to treat speakers of whom little is known.

    Examples
    --------
    >>> two = np.array([[0.2, 0.4], [0.4, np.nan]])
    >>> [aggregate(two, how=how).round(2).tolist() for how in ("available", "complete", "filled")]
    [[0.3, 0.4], [0.3, nan], [0.3, 0.4]]
    """
    if how == "filled":
        known = ~np.isnan(markers)
        n_known = known.sum(axis=0)
        means = np.where(n_known > 0, np.where(known, markers, 0.0).sum(axis=0) / np.maximum(n_known, 1), nan)
        markers = np.where(known, markers, means)
    defined = ~np.isnan(markers)
    n, needed = np.count_nonzero(defined, axis=-1), markers.shape[-1] if how == "complete" else 1
    total = np.where(defined, markers, 0.0).sum(axis=-1)
    return np.where(n >= needed, total / np.maximum(n, 1), nan)


def above_rate(terms: Floats) -> Floats:
    """Return by how much each reply exceeds its dialogue's rate of the markers that the turn before has.

    Parameters
    ----------
    terms : float64 array (n_pairs, n_dialogues, 3 * n_markers + 1)
        As `terms` returns them, of all pairs of dialogues.

    Returns
    -------
    float64 array (n_pairs, n_dialogues)
        Mean over the markers that the turn before has of (1 or 0) - P(marker in reply), -1 to 1.
    """
    before, both, after = np.split(terms[..., :-1], 3, axis=-1)
    n = before.sum(axis=-1)
    rate = after.sum(axis=0) / max(len(after), 1)
    return np.where(n > 0, (both - before * rate).sum(axis=-1) / np.maximum(n, 1), nan)


COORDINATION = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="coordination",
        series="coordination_turn",
        meaning="Coordination: how much likelier a kind of function word is in a reply when the turn before has it",
        unit="difference of proportions",
        formula="P(category in the reply | category in the turn before) - P(category in the reply), mean over the nine "
        "function-word categories that occur in a turn before; of one reply, the mean over the categories that the "
        "turn before has of (1 or 0) - P(category in the reply)",
        misleads="Few pairs leave wide error, and most sessions do not exceed chance; a long turn before has every "
        "category, which moves the value to 0. Not a quality score",
        source="Danescu-Niculescu-Mizil, C., Lee, L., Pang, B., & Kleinberg, J. (2012). Echoes of power. WWW '12",
        represent=marks,
        terms=lambda marks, anchors, replies: terms(marks[anchors], marks[replies]),
        over=lambda sums: aggregate(coordination_of(sums)),
        each=above_rate,
        low=-1.0,
        high=1.0,
    )
)


_PAGE: dict[str, Shown] = {
    "coordination": OnPage("together", "Coordination of function words"),
}


@measure(columns=adjacent_columns(COORDINATION), page=_PAGE)
def coordination(session: AnnotatedSession) -> dict[str, Value]:
    """Measure how kinds of function words call forth their like in the reply.

    High means that a reply has articles, pronouns and so on more often when the turn before
    had them than it has them at all; 0 that the turn before makes no difference. See
    `coordination_of` for the formula as an example.

    References
    ----------
    Danescu-Niculescu-Mizil, C., Lee, L., Pang, B., & Kleinberg, J. (2012). Echoes of power:
    Language effects and power differences in social interaction. Proceedings of WWW '12, 699-708.
    """
    return adjacent_values(COORDINATION, session)
