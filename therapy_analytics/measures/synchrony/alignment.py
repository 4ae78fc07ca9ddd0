"""Lexical alignment: do the two repeat each other's words and sequences of words (after ALIGN)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import nan
from typing import Any

import numpy as np

from therapy_analytics.measures import measure
from therapy_analytics.measures.base import OnPage, Value
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure, adjacent_turn_measure
from therapy_analytics.measures.synchrony.ngrams import count_ngrams, words_of
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
    session_columns,
    session_values,
    value_column,
)
from therapy_analytics.measures.synchrony.whole_session import of_whole_sides, session_measure
from therapy_analytics.measures.turns import Floats
from therapy_analytics.text import AnnotatedSession

SOURCE = (
    "Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions with generalizable "
    "techNiques. Psychological Methods 24"
)
_MISLEADS = (
    "Not a quality score: frequent words make any two people alike, and long turns more than short ones. Read "
    "it beside words per turn and its null distributions"
)


def cosine(a: Any, b: Any) -> Floats:
    """Return the cosine of counts: row by row, or of two vectors.

    High means that the one uses the words (n = 1) or sequences of words (n > 1) of the other, as often. "I see it",
    "you see it" share two words of three, and one bigram ("see it") of two:

    >>> from therapy_analytics.measures.null.surrogates import TokenRows
    >>> words = TokenRows(np.array([[1, 0], [2, 0], [3, 0], [4, 0], [2, 0], [3, 0]]), np.array([0, 3, 6]))
    >>> both = [count_ngrams(words, n) for n in (1, 2)]
    >>> [cosine(one[[0]], one[[1]]).round(3).tolist() for one in both]
    [[0.667], [0.5]]

    Parameters
    ----------
    a, b : sparse or float64 array (n_pairs, n_types), or float64 array (n_types,)
        How often the turns before and the replies, or two speakers, have each n-gram.

    Returns
    -------
    float64 array (n_pairs,), or ()
        0 to 1; nan where one of the two has no n-gram. A turn with itself gives exactly 1.

    Notes
    -----
    Not a quality score: frequent words make any two people alike, and long turns more than short ones. Read it beside
    words per turn and its null distributions. ALIGN gives 0 to pairs where a turn has no n-gram; such a 0 lowers the
    means of talk in short turns.
    """
    squares = (a * a).sum(axis=-1) * (b * b).sum(axis=-1)
    found: Floats = np.full(np.shape(squares), nan)
    return np.asarray(np.divide((a * b).sum(axis=-1), np.sqrt(squares), out=found, where=squares > 0))


_COSINE = "cosine of how often the turn and the turn before have each"
LEXICAL = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="lexical_alignment",
        series="lexical_alignment_turn",
        meaning="Lexical alignment: how far a reply repeats the words of the turn before",
        unit="proportion",
        formula=f"{_COSINE} word; undefined where one has none",
        misleads=_MISLEADS,
        source=SOURCE,
        represent=words_of,
        encode=partial(count_ngrams, n=1),
        score=cosine,
    )
)
LEXICAL_2 = adjacent_turn_measure(
    replace(
        LEXICAL,
        name="lexical_alignment_2",
        series="lexical_alignment_2_turn",
        meaning="Lexical alignment of two words: how far a reply repeats neighbouring words of the turn before",
        formula=f"{_COSINE} sequence of two words; undefined where one has less than two words",
        misleads=f"{_MISLEADS}. Most pairs of short turns share none",
        encode=partial(count_ngrams, n=2),
        variant=True,
    )
)


WHOLE = session_measure(of_whole_sides(LEXICAL, "lexical_alignment_whole"))
WHOLE_2 = session_measure(of_whole_sides(LEXICAL_2, "lexical_alignment_whole_2"))


def _whole(unit: str) -> dict[str, str]:
    return {
        "meaning": f"Lexical alignment of all that the therapist says with all that the client says, by {unit}",
        "formula": f"cosine of how often the two say each of the {unit} within their turns, over the session",
        "misleads": f"{_MISLEADS}. It grows with the length of the session, and the most frequent words decide",
    }


_WHOLES = (
    value_column(LEXICAL, WHOLE.name, **_whole("words")),
    value_column(LEXICAL_2, WHOLE_2.name, compare="part", **_whole("sequences of two words")),
)


@measure(
    columns=[
        *session_columns(WHOLE, _WHOLES[:1]),
        *session_columns(WHOLE_2, _WHOLES[1:]),
        *adjacent_columns(LEXICAL),
        *adjacent_columns(LEXICAL_2),
    ],
    page={"lexical_alignment": OnPage("together", "Shared words")},
)
def alignment(session: AnnotatedSession) -> dict[str, Value]:
    """Compare the words, and the sequences of two words, of replies and of the turns before (ALIGN).

    High means that a reply repeats words of the turn before; for the whole session, that the
    two use the same words, as often. See `cosine` for the formula as an example.

    Notes
    -----
    Words are lower-cased and as they were said, without punctuation; ALIGN's lemmas and spelling
    correction are left out. To compare a reply with an earlier turn of the other, give the
    measure a delay: ``dataclasses.replace(LEXICAL, delay=2)`` for the other's turn before the
    last, handed to `synchrony` as one of its measures.

    References
    ----------
    Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions
    with generalizable techNiques. Psychological Methods, 24, 419-438.
    """
    values = session_values(WHOLE, session) | session_values(WHOLE_2, session)
    return values | adjacent_values(LEXICAL, session) | adjacent_values(LEXICAL_2, session)
