"""Meaning: is a turn about what the turn before was about; by the vectors of `therapy_analytics.text.meanings`."""

from __future__ import annotations

import numpy as np

from therapy_analytics.measures import measure
from therapy_analytics.measures.base import Curve, OnPage, Shown, Value
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.synchrony.adjacent_turns import (
    AdjacentTurnMeasure,
    adjacent_turn_measure,
)
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
)
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.meanings import divided, dots, meanings

VECTORS = "Vectors are means over words: order, negation and irony count for nothing"


def vectors_of(session: AnnotatedSession) -> Floats:
    """Return the vector of each turn, (n_turns, n_dimensions), of length `STEPS`; 0 without meaning."""
    return meanings(session).vectors


def with_squares(vectors: Floats) -> Floats:
    """Return vectors (n, n_dimensions) with their squared lengths behind them, (n, n_dimensions + 1)."""
    return np.column_stack([vectors, dots(vectors, vectors)])


def cosines(a: Floats, b: Floats) -> Floats:
    """Return the cosine of vectors with vectors, row by row; nan where one is 0.

    Parameters
    ----------
    a, b : float64 array (..., n_dimensions + 1), shapes that broadcast
        As `with_squares` returns them: each turn stands in many pairs.

    Examples
    --------
    >>> turns = with_squares(np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]]))
    >>> cosines(turns[0], turns).round(3).tolist()
    [1.0, 0.0, 0.707]
    """
    return divided(dots(a[..., :-1], b[..., :-1]), a[..., -1] * b[..., -1])


SIMILARITY = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="semantic_similarity",
        series="semantic_similarity_turn",
        meaning="Similarity of meaning of neighbouring turns",
        unit="cosine",
        formula="cosine of the vectors of a turn and of the turn before, each the mean of the vectors of its words",
        misleads="Long turns are alike whatever they are about (means over many words lie near one another), and short "
        "ones ('yeah', 'okay') are 1 or near 0; saying the opposite in the same words is 1. Read it beside words per "
        f"turn and its null distributions. {VECTORS}. Not a quality score",
        source="This package's own; static vectors after Tulkens, S., & van Dongen, T. (2024). Model2Vec",
        represent=vectors_of,
        encode=with_squares,
        score=cosines,
        low=-1.0,
        core=True,
        shown=True,
    )
)


_PAGE: dict[str, Shown] = {
    "semantic_similarity": OnPage("together", "Similar in meaning"),
    "semantic_similarity_turn": Curve("Similar in meaning", beside="semantic_similarity"),
}


@measure(
    columns=[
        *adjacent_columns(SIMILARITY),
    ],
    core=10,
    page=_PAGE,
)
def semantic_similarity(session: AnnotatedSession) -> dict[str, Value]:
    """Compare neighbouring turns by what they are about.

    High similarity means that a turn is about what the turn before was about. See `cosines` for the formula as an
    example.

    Notes
    -----
    A text is the mean of the vectors of its words. So the vectors know what is talked about, not what is said about it.

    References
    ----------
    Tulkens, S., & van Dongen, T. (2024). Model2Vec: Fast state-of-the-art static embeddings.
    """
    return adjacent_values(SIMILARITY, session)
