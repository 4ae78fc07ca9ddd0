"""Linguistic coordination: does a kind of function word in a turn make it likelier in the reply."""

from __future__ import annotations

from math import nan

import numpy as np

from therapy_analytics.measures import measure
from therapy_analytics.measures.base import OnPage, Value
from therapy_analytics.measures.synchrony.adjacent_turns import (
    AdjacentTurnMeasure,
    adjacent_turn_measure,
    mean_of_defined,
)
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES
from therapy_analytics.measures.synchrony.tables import adjacent_columns, adjacent_values
from therapy_analytics.measures.turns import Floats
from therapy_analytics.text import AnnotatedSession


def marks(session: AnnotatedSession) -> Floats:
    """Return which function-word categories each turn has, 0 or 1, float64 (n_turns, 9)."""
    columns = [session.turns.column(category) for category in CATEGORIES]
    return (session.turns.counts[:, columns] > 0).astype(np.float64)


def coordination_of(a: Floats, b: Floats) -> Floats:
    """Return P(marker in reply | marker in turn before) - P(marker in reply), of each marker.

    Parameters
    ----------
    a, b : float64 array (n_pairs, ..., n_markers)
        Which markers the turns before have, and the replies, 0 or 1.

    Returns
    -------
    float64 array (..., n_markers)
        -1 to 1; nan of a marker that no turn before has.

    Examples
    --------
    Four replies. The marker is in two of the turns before and in the replies to both, and in
    one of the other replies: 2/2 - 3/4.

    >>> coordination_of(np.array([[1.0], [1], [0], [0]]), np.array([[1.0], [1], [1], [0]])).tolist()
    [0.25]
    """
    n_before = a.sum(axis=0)
    given = (a * b).sum(axis=0) / np.where(n_before > 0, n_before, nan)
    return np.asarray(given - b.sum(axis=0) / max(len(b), 1))


def above_rate(a: Floats, b: Floats) -> Floats:
    """Return by how much each reply exceeds the rate of the markers that the turn before has.

    Parameters
    ----------
    a, b : float64 array (n_pairs, ..., n_markers)
        As for `coordination_of`.

    Returns
    -------
    float64 array (n_pairs, ...)
        Mean over the markers that the turn before has of (1 or 0) - P(marker in reply), -1 to 1; nan where it has none.
    """
    n = a.sum(axis=-1)
    exceeds = b - b.sum(axis=0) / max(len(b), 1)
    return np.asarray((a * exceeds).sum(axis=-1) / np.where(n > 0, n, nan))


def mean_of_markers(markers: Floats) -> Floats:
    """Return the mean of the markers that are defined, (..., n_markers) to (...)."""
    return mean_of_defined(np.moveaxis(markers, -1, 0))


COORDINATION = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="coordination",
        series="coordination_turn",
        meaning="Coordination: how much likelier a kind of function word is in a reply when the turn before has it",
        unit="difference of proportions",
        formula="P(category in the reply | category in the turn before) - P(category in the reply), mean over the nine "
        "function-word categories that occur in a turn before; of one reply, the mean over the categories that the "
        "turn before has of (1 or 0) - P(category in the reply)",
        misleads="Few pairs leave wide error, and most sessions do not exceed their shuffles; a long turn before "
        "has every category, which moves the value to 0. Not a quality score",
        source="Danescu-Niculescu-Mizil, C., Lee, L., Pang, B., & Kleinberg, J. (2012). Echoes of power. WWW '12",
        represent=marks,
        score=lambda a, b: np.stack([a, b], axis=1),  # of which `coordination_of` needs several pairs at once
        over=lambda marks: mean_of_markers(coordination_of(marks[:, :, 0], marks[:, :, 1])),
        each=lambda marks: above_rate(marks[:, :, 0], marks[:, :, 1]),
        low=-1.0,
        high=1.0,
    )
)


@measure(
    columns=adjacent_columns(COORDINATION),
    page={"coordination": OnPage("together", "Coordination of function words")},
)
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
