"""Lexical alignment: do the two repeat each other's words and sequences of words (after ALIGN)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import nan
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import OnPage, Shown, Value
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.null.surrogates import Ints, TokenRows
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure, adjacent_turn_measure
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
    session_columns,
    session_values,
)
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, session_measure, total

Counts: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
SOURCE = (
    "Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions with generalizable "
    "techNiques. Psychological Methods 24"
)
_MISLEADS = (
    "Not a quality score: frequent words make any two people alike, and long turns more than short ones. Read "
    "it beside words per turn and its null distributions"
)


def words_of(session: AnnotatedSession) -> TokenRows:
    """Return the words of each turn, without punctuation; pieces of a contraction ("do", "n't") are two.

    The two numbers of a word are its key, the same in every session, and its part of speech: its position in `UPOS`
    counted from 1, or 0 where it has none.
    """
    tokens, tags, offsets = session.turns.tokens, session.turns.tags, session.turns.offsets
    ids = tokens.ids[offsets[0] : offsets[-1]]
    verbal = tokens.verbal[ids]
    found = np.zeros(len(ids)) if tags is None else tags[offsets[0] : offsets[-1]].astype(np.int64) + 1
    values = np.stack([tokens.keys[ids], found.astype(np.uint64)], axis=1)[verbal]
    return TokenRows(values, np.append(0, np.cumsum(verbal))[offsets - offsets[0]])


def ngram_places(keys: NDArray[np.integer], offsets: Ints, n: int) -> tuple[Ints, Ints]:
    """Return where n-grams begin, and a number from 0 of each that is the same for the same n-gram, (n_ngrams,) each.

    Parameters
    ----------
    keys : int array (n_tokens,)
        What each token is; a token of key 0 is in no n-gram.
    offsets : int64 array (n_turns + 1,)
        Turn ``i`` owns ``keys[offsets[i]:offsets[i + 1]]``; no n-gram crosses from turn to turn.
    n : int
        Length of the n-grams, 1 or more.

    Examples
    --------
    Two turns, "so so so" and "no": the bigram "so so" begins twice.

    >>> [found.tolist() for found in ngram_places(np.array([5, 5, 5, 7]), np.array([0, 3, 4]), 2)]
    [[0, 1], [0, 0]]
    """
    turn = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    kinds, number = np.unique(keys, return_inverse=True)
    places, found = np.flatnonzero(keys != 0), number[keys != 0]
    for step in range(1, n):
        fits = places + step < len(keys)
        last = np.where(fits, places + step, 0)
        fits &= (turn[last] == turn[places]) & (keys[last] != 0)
        places, longer = places[fits], (found * len(kinds) + number[last])[fits]
        found = np.unique(longer, return_inverse=True)[1]
    return places, found


def count_ngrams(words: TokenRows, n: int) -> Counts:
    """Count the n-grams of each turn, float64 (n_turns, n_types); see `ngram_places`.

    Examples
    --------
    >>> values = np.array([[5, 0], [5, 0], [5, 0], [7, 0]], dtype=np.uint64)
    >>> count_ngrams(TokenRows(values, np.array([0, 3, 4])), 2).toarray().tolist()
    [[2.0], [0.0]]
    """
    places, types = ngram_places(words.values[:, 0], words.offsets, n)
    shape = len(words), int(types.max(initial=-1)) + 1
    return sparse.csr_array((np.ones(len(places)), (words.turn[places], types)), shape=shape)


def cosine(a: Counts | Floats, b: Counts | Floats) -> Floats:
    """Return the cosine of counts: row by row, or of two vectors.

    High means that the one uses the words (n = 1) or sequences of words (n > 1) of the other, as often. "I see it",
    "you see it" share two words of three, and one bigram ("see it") of two:

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

    References
    ----------
    Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions with generalizable
    techNiques. Psychological Methods, 24, 419-438.
    """
    squares = (a * a).sum(axis=-1) * (b * b).sum(axis=-1)
    found: Floats = np.full(np.shape(squares), nan)
    return np.divide((a * b).sum(axis=-1), np.sqrt(squares), out=found, where=squares > 0)


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


def _whole(name: str, ngrams: str, n: int) -> SessionMeasure:
    column = Column(
        name=name,
        meaning=f"Lexical alignment of all that the therapist says with all that the client says, by {ngrams}",
        unit="proportion",
        low=0,
        high=1,
        high_means="higher is more alike",
        formula=f"cosine of how often the two say each of the {ngrams} within their turns, over the session",
        misleads=f"{_MISLEADS}. It grows with the length of the session, and the most frequent words decide",
        source=SOURCE,
        evidence="supported",
        compare="" if n == 1 else "part",
    )
    return SessionMeasure(
        name=name,
        columns=(column,),
        represent=words_of,
        encode=lambda words, _: count_ngrams(words, n),
        speaker=total,
        score=cosine,
    )


WHOLE = session_measure(_whole("lexical_alignment_whole", "words", 1))
WHOLE_2 = session_measure(_whole("lexical_alignment_whole_2", "sequences of two words", 2))


_PAGE: dict[str, Shown] = {
    "lexical_alignment": OnPage("together", "Shared words"),
}


@measure(
    columns=[
        *session_columns(WHOLE),
        *session_columns(WHOLE_2),
        *adjacent_columns(LEXICAL),
        *adjacent_columns(LEXICAL_2),
    ],
    page=_PAGE,
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
