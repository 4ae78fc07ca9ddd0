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
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure, adjacent_turn_measure, by_table
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
    session_columns,
    session_values,
)
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure

Counts: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
SOURCE = (
    "Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions with generalizable "
    "techNiques. Psychological Methods 24"
)
_MISLEADS = (
    "Not a quality score: frequent words make strangers alike, and long turns more than short ones. Read it beside "
    "words per turn and its baselines"
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


def count_ngrams(keys: NDArray[np.integer], offsets: Ints, n: int) -> Counts:
    """Count the n-grams of each turn, (n_turns, n_types); see `ngram_places`.

    Examples
    --------
    >>> count_ngrams(np.array([5, 5, 5, 7]), np.array([0, 3, 4]), 2).toarray().tolist()
    [[2.0], [0.0]]
    """
    places, types = ngram_places(keys, offsets, n)
    turns = np.searchsorted(offsets, places, side="right") - 1
    shape = len(offsets) - 1, int(types.max(initial=-1)) + 1
    return sparse.csr_array((np.ones(len(places)), (turns, types)), shape=shape)


def lexical_cosines(a: Counts, b: Counts) -> Floats:
    """Compare how often turns have each n-gram: each turn of the one set with each of the other.

    High means that the one uses the words (n = 1) or sequences of words (n > 1) of the other, as often. "I see it",
    "you see it" share two words of three, and one bigram ("see it") of two:

    >>> words, turns = np.array([1, 2, 3, 4, 2, 3]), np.array([0, 3, 6])
    >>> both = [count_ngrams(words, turns, n) for n in (1, 2)]
    >>> [float(lexical_cosines(one[[0]], one[[1]])[0, 0].round(3)) for one in both]
    [0.667, 0.5]

    Parameters
    ----------
    a, b : sparse float64 arrays (n_a, n_types) and (n_b, n_types)
        As `count_ngrams` returns them.

    Returns
    -------
    float64 array (n_a, n_b)
        Cosine of the two vectors of counts, 0 to 1; nan where a turn has no n-gram.

    Notes
    -----
    Not a quality score: frequent words make strangers alike, and long turns more than short ones. Read it beside words
    per turn and its null distributions. ALIGN gives 0 to pairs where a turn has no n-gram; such a 0 lowers the means of
    talk in short turns.

    References
    ----------
    Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions with generalizable
    techNiques. Psychological Methods, 24, 419-438.
    """
    squares = np.multiply.outer(a.power(2).sum(axis=1), b.power(2).sum(axis=1))
    return cosine((a @ b.T).toarray(), squares)


def cosine(products: Floats, squares: Floats) -> Floats:
    """Return products of vectors over the root of the products of their squared lengths; nan where these are 0.

    All are whole numbers, so that a turn compared with itself gives exactly 1.
    """
    found: Floats = np.full(products.shape, nan)
    return np.divide(products, np.sqrt(squares), out=found, where=squares > 0)


def of_speakers(counts: Counts, side: Side) -> Counts:
    """Return the sums of rows over the turns of each speaker, (n_rows, n_types) to (n_speakers, n_types)."""
    speaker = np.repeat(np.arange(len(side.turns)), side.turns.shape[1])
    shape = len(side.turns), counts.shape[0]
    said = sparse.csr_array((np.ones(side.turns.size), (speaker, side.turns.ravel())), shape=shape)
    return said @ counts


def _score(words: TokenRows, anchors: Ints, replies: Ints, *, n: int) -> Floats:
    counts = count_ngrams(words.values[:, 0], words.offsets, n)
    return by_table(lambda rows, columns: lexical_cosines(counts[rows], counts[columns]), len(words), anchors, replies)


def _of_all(words: TokenRows, therapists: Side, clients: Side) -> Floats:
    """Compare all that each therapist says with all that each client says, by words and by sequences of two."""
    each = (count_ngrams(words.values[:, 0], words.offsets, n) for n in (1, 2))
    return np.stack([lexical_cosines(of_speakers(one, therapists), of_speakers(one, clients)) for one in each], axis=-1)


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
        score=partial(_score, n=1),
    )
)
LEXICAL_2 = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="lexical_alignment_2",
        series="lexical_alignment_2_turn",
        meaning="Lexical alignment of two words: how far a reply repeats neighbouring words of the turn before",
        unit="proportion",
        formula=f"{_COSINE} sequence of two words; undefined where one has less than two words",
        misleads=f"{_MISLEADS}. Most pairs of short turns share none",
        source=SOURCE,
        represent=words_of,
        score=partial(_score, n=2),
        variant=True,
    )
)


def _column(name: str, what: str) -> Column:
    return Column(
        name=name,
        meaning=f"Lexical alignment of all that the therapist says with all that the client says, by {what}",
        unit="proportion",
        low=0,
        high=1,
        high_means="higher is more alike",
        formula=f"cosine of how often the two say each of the {what} within their turns, over the session",
        misleads=f"{_MISLEADS}. It grows with the length of the session, and the most frequent words decide",
        source=SOURCE,
        evidence="supported",
    )


LEXICAL_WHOLE = session_measure(
    SessionMeasure(
        name="lexical_alignment_whole",
        columns=(
            _column("lexical_alignment_whole", "words"),
            replace(_column("lexical_alignment_whole_2", "sequences of two words"), compare="part"),
        ),
        represent=words_of,
        values=_of_all,
    )
)


_PAGE: dict[str, Shown] = {
    "lexical_alignment": OnPage("together", "Shared words"),
}


@measure(
    columns=[*session_columns(LEXICAL_WHOLE), *adjacent_columns(LEXICAL), *adjacent_columns(LEXICAL_2)], page=_PAGE
)
def alignment(session: AnnotatedSession) -> dict[str, Value]:
    """Compare the words, and the sequences of two words, of replies and of the turns before (ALIGN).

    High means that a reply repeats words of the turn before; for the whole session, that the
    two use the same words, as often. See `lexical_cosines` for the formula as an example.

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
    each = adjacent_values(LEXICAL, session) | adjacent_values(LEXICAL_2, session)
    return session_values(LEXICAL_WHOLE, session) | each
