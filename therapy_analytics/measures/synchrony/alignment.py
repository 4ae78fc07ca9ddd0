"""Lexical alignment: do the two repeat each other's words and sequences of words (after ALIGN)."""

from __future__ import annotations

from functools import partial
from math import nan
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.integers import distinct
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._columns import pairwise_columns, pairwise_values
from therapy_analytics.measures.synchrony._ngrams import (
    Kernel,
    NGrams,
    chosen_in_common,
    joined,
    ngrams,
    over_pairs,
    placed_in,
    products_of_few,
    words_of,
)
from therapy_analytics.measures.synchrony._pairwise import Pairwise, of_cells, pairwise, scores
from therapy_analytics.measures.synchrony._sparse_rows import Floats, Ints, products
from therapy_analytics.measures.synchrony._whole import Side, Whole, whole, whole_columns, whole_values

__all__ = ["NGrams", "joined", "lexical_cosines", "lexical_whole", "ngrams"]

SOURCE = (
    "Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions with generalizable "
    "techNiques. Psychological Methods 24"
)
Totals: TypeAlias = tuple[Ints, Floats]
_MISLEADS = (
    "Not a quality score: frequent words make strangers alike, and long turns more than short ones. Read it beside "
    "words per turn and its baselines"
)


def lexical_cosines(a: NGrams, b: NGrams, anchors: ArrayLike, replies: ArrayLike, *, empty: float = nan) -> Floats:
    """Compare the n-grams of pairs of turns.

    High means that the reply uses the words (n = 1) or sequences of words (n > 1) of the
    anchor, as often. "I see it", "you see it" share two words of three, and one bigram ("see it")
    of two:

    >>> words, turns = np.array([0, 1, 2, 3, 1, 2]), np.array([0, 3, 6])
    >>> both = [ngrams(words, turns, n) for n in (1, 2)]
    >>> [float(lexical_cosines(one, one, [0], [1])[0].round(3)) for one in both]
    [0.667, 0.5]

    Parameters
    ----------
    a, b : NGrams
        Of the turns that are replied to, and of those that reply: twice the same within a
        session; see `ngrams`.
    anchors, replies : int array, any shapes that broadcast
        Pairs of turns, rows of `a` and of `b`: with delay d a reply is the turn d behind its anchor;
        200 shuffles of the replies are anchors (n_pairs,) and replies (200, n_pairs).
    empty : float
        The value where a turn has no n-gram.

    Returns
    -------
    float64 array of the broadcast shape
        Cosine of the two vectors of counts, 0 to 1; nan where undefined.

    Notes
    -----
    Not a quality score: frequent words make strangers alike, and long turns more than short
    ones. Read it beside words per turn and a shuffled baseline. ALIGN gives 0 to pairs
    where a turn has no n-gram (``empty=0.0``); such a 0 lowers the means of talk in short turns.

    References
    ----------
    Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions
    with generalizable techNiques. Psychological Methods, 24, 419-438.
    """
    rows, columns = np.asarray(anchors, dtype=np.intp), np.asarray(replies, dtype=np.intp)
    return cosine(_products(a, b, rows, columns), a.squares[rows], b.squares[columns], empty)


def _products(a: NGrams, b: NGrams, anchors: Ints, replies: Ints) -> Floats:
    """Return the products of the counts of pairs of turns, of which `lexical_cosines` makes cosines."""
    return over_pairs(partial(_kernel, a, b), anchors, replies, (len(a.squares), len(b.squares)))


def _kernel(a: NGrams, b: NGrams, rows: Ints, columns: Ints) -> Kernel:
    if len(rows) > len(columns):
        return _kernel(b, a, columns, rows).turned()
    left, types = chosen_in_common(a, rows, b)
    right = b.chosen(columns, types)

    def table(some: slice, others: slice) -> Floats:
        return products(left.part(some), right.part(others))

    def pairs(some: Ints, others: Ints) -> Floats:
        return np.asarray(left.sparse()[some].multiply(right.sparse()[others]).sum(axis=1))

    return Kernel(table, pairs, (np.diff(left.bounds), np.diff(right.bounds)), len(types))


def lexical_whole(a: NGrams, b: NGrams, of_a: Ints, of_b: Ints, *, empty: float = nan) -> float:
    """Compare all that one side says with all that the other says.

    Parameters
    ----------
    a, b : NGrams
        Of turns, twice the same within a session.
    of_a, of_b : int array
        The turns of the one side and of the other, as rows of `a` and of `b`.
    empty : float
        The value where a side has no n-gram.

    Returns
    -------
    float
        Cosine as in `lexical_cosines`, 0 to 1; nan when a side has no n-gram.

    Notes
    -----
    Only n-grams within turns are counted. ALIGN writes each side's turns behind one another and
    so counts bigrams that nobody said; to do the same, `joined` the tokens before `ngrams`.

    Examples
    --------
    "yes", "no", "yes" by the one, the other, the one: they share no word.

    >>> grams = ngrams(np.array([0, 1, 0]), np.array([0, 1, 2, 3]), 1)
    >>> lexical_whole(grams, grams, np.array([0, 2]), np.array([1]))
    0.0
    """
    return float(_of_many((a, b), (_totals(a, of_a), _totals(b, of_b)), empty=empty)[0, 0])


def _of_many(grams: tuple[NGrams, NGrams], totals: tuple[Totals, Totals], *, empty: float = nan) -> Floats:
    """Return `lexical_whole` of each of some speakers with each of some others, from `_totals` of both."""
    (types, one), (theirs, others) = totals
    places = placed_in(*grams).take(types)
    known = np.flatnonzero(places >= 0)
    beside = np.zeros((len(one), len(grams[1].types)))
    beside[:, places.take(known)] = one.take(known, axis=1)
    products = beside.take(theirs, axis=1) @ others.T
    return cosine(products, np.vecdot(one, one)[:, None], np.vecdot(others, others), empty)


def cosine(dot: Floats, square_a: Floats, square_b: Floats, empty: float) -> Floats:
    """Divide; all three hold whole numbers, so a turn compared with itself gives exactly 1 and no pair more."""
    values = np.asarray(square_a * square_b)
    np.sqrt(values, out=values)
    with np.errstate(invalid="ignore"):  # where one of the two is nothing, it is 0 / 0
        values = np.divide(dot, values, out=values)
    return values if np.isnan(empty) else np.where(np.isnan(values), empty, values)


def _totals(grams: NGrams, turns: Ints) -> Totals:
    """Return the types that occur in turns, and how often each does in each row of them, (n_rows, n_types)."""
    turns = np.atleast_2d(turns)
    found, numbers, of_turn = grams.entries(turns.ravel())
    types, place = distinct(found, len(grams.types))
    row = np.repeat(np.arange(len(turns)) * len(types), turns.shape[1])
    total = np.bincount(row.take(of_turn) + place, numbers, len(turns) * len(types))
    return types, total.astype(np.float64, copy=False).reshape(len(turns), -1)


def words(session: AnnotatedSession) -> NGrams:
    """Return how often each turn has each word."""
    return _of_length(session, 1)


def word_pairs(session: AnnotatedSession) -> NGrams:
    """Return how often each turn has each word right behind each other."""
    return _of_length(session, 2)


def _of_length(session: AnnotatedSession, n: int) -> NGrams:
    """Count once for the batch: what it has in common with strangers is then looked up once, too."""
    return session.by_turn(partial(_counted_alone, n=n), key=("n-grams", n))


def _counted_alone(session: AnnotatedSession, n: int) -> NGrams:
    tokens = session.turns.tokens
    places, offsets = words_of(session)
    return ngrams(tokens.keys[tokens.ids[places]], offsets, n)


def _words_and_pairs(session: AnnotatedSession) -> tuple[NGrams, NGrams]:
    return session.meanwhile(words), session.meanwhile(word_pairs)


def _terms(before: NGrams, after: NGrams, anchors: Ints, replies: Ints) -> Floats:
    return scores(lexical_cosines(before, after, anchors, replies))


def _many(therapist: Side, client: Side) -> Floats:
    grams = zip(therapist.represented, client.represented, strict=True)
    totals = zip(therapist.once(_totals_of), client.once(_totals_of), strict=True)
    return np.stack([_of_many(*both) for both in zip(grams, totals, strict=True)], axis=-1)


def _totals_of(side: Side) -> list[Totals]:
    """Return `_totals` of the words of a side, and of its sequences of two."""
    return [_totals(grams, side.turns) for grams in side.represented]


def _whole_session(therapist: Side, client: Side) -> list[float]:
    values: list[float] = _many(therapist, client)[0, 0].tolist()
    return values


_COSINE = "cosine of how often the turn and the turn before have each"
LEXICAL = pairwise(
    Pairwise(
        name="lexical_alignment",
        series="lexical_alignment_turn",
        meaning="Lexical alignment: how far a reply repeats the words of the turn before",
        unit="proportion",
        formula=f"{_COSINE} word; undefined where one has none",
        misleads=_MISLEADS,
        source=SOURCE,
        represent=words,
        terms=_terms,
        score=lexical_cosines,
        products=lambda before, after, draws: of_cells(partial(_products, before, after), draws),
        symmetric=True,
        tables=4,
    )
)
LEXICAL_2 = pairwise(
    Pairwise(
        name="lexical_alignment_2",
        series="lexical_alignment_2_turn",
        meaning="Lexical alignment of two words: how far a reply repeats neighbouring words of the turn before",
        unit="proportion",
        formula=f"{_COSINE} sequence of two words; undefined where one has less than two words",
        misleads=f"{_MISLEADS}. Most pairs of short turns share none",
        source=SOURCE,
        represent=word_pairs,
        terms=_terms,
        score=lexical_cosines,
        products=products_of_few,
        symmetric=True,
        tables=4,
    )
)


def _column(name: str, what: str) -> Column:
    return Column(
        name=name,
        meaning=f"Lexical alignment of all that the therapist says with all that the client says, by {what}",
        unit="proportion",
        low=0,
        high=1,
        direction="higher is more alike",
        formula=f"cosine of how often the two say each of the {what} within their turns, over the session",
        misleads=f"{_MISLEADS}. It grows with the length of the session, and the most frequent words decide",
        source=SOURCE,
        evidence="supported",
    )


LEXICAL_WHOLE = whole(
    Whole(
        name="lexical_alignment_whole",
        columns=(
            _column("lexical_alignment_whole", "words"),
            _column("lexical_alignment_whole_2", "sequences of two words"),
        ),
        represent=_words_and_pairs,
        values=_whole_session,
        many=_many,
    )
)


@measure(columns=[*whole_columns(LEXICAL_WHOLE), *pairwise_columns(LEXICAL), *pairwise_columns(LEXICAL_2)])
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
    each = pairwise_values(LEXICAL, session) | pairwise_values(LEXICAL_2, session)
    return whole_values(LEXICAL_WHOLE, session) | each
