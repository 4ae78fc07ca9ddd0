"""Meaning: is a turn about what the turn before was about; by the vectors of `therapy_analytics.text.meanings`."""

from __future__ import annotations

import numpy as np

from therapy_analytics.measures import measure
from therapy_analytics.measures.base import Curve, OnPage, Shown, Value
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure, adjacent_turn_measure
from therapy_analytics.measures.synchrony.tables import adjacent_columns, adjacent_values
from therapy_analytics.measures.turns import Floats
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.meanings import divided, dots, meanings

VECTORS = "Vectors are means over words: order, negation and irony count for nothing"


def vectors_and_squares(session: AnnotatedSession) -> Floats:
    """Return the vector of each turn, behind it its squared length, (n_turns, n_dimensions + 1); 0 without meaning."""
    found = meanings(session)
    return np.column_stack([found.vectors, found.squares])


def cosines(a: Floats, b: Floats) -> Floats:
    """Return the cosine of vectors with vectors, row by row; nan where one is 0.

    Parameters
    ----------
    a, b : float64 array (..., n_dimensions + 1), shapes that broadcast
        As `vectors_and_squares` returns them: each turn stands in many pairs.

    Examples
    --------
    >>> turns = np.array([[2.0, 0.0, 4.0], [0.0, 3.0, 9.0], [1.0, 1.0, 2.0]])
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
        represent=vectors_and_squares,
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


@measure(columns=adjacent_columns(SIMILARITY), core=10, page=_PAGE)
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
