"""Syntactic alignment: do the two build their turns alike, with other words (after ALIGN)."""

from __future__ import annotations

from functools import partial
from math import nan

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.syntax import UPOS
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._columns import pairwise_columns, pairwise_values
from therapy_analytics.measures.synchrony._ngrams import (
    Kernel,
    TaggedNGrams,
    in_common,
    over_pairs,
    tagged_ngrams,
    words_of,
)
from therapy_analytics.measures.synchrony._pairwise import Pairwise, pairwise, scores
from therapy_analytics.measures.synchrony._sparse_rows import Floats, Ints, Sparse, chosen, entries_of, part, row_of
from therapy_analytics.measures.synchrony._whole import Side, Whole, whole, whole_columns, whole_values
from therapy_analytics.measures.synchrony.alignment import SOURCE, cosine

__all__ = ["TaggedNGrams", "syntactic_cosines", "syntactic_whole", "tagged_ngrams"]

_MISLEADS = (
    "Not a quality score: with few parts of speech any two turns of some length are alike, strangers' as much as "
    "partners' (.53 and .50 on AnnoMI). Read it beside words per turn and its baselines"
)


def syntactic_cosines(
    a: TaggedNGrams, b: TaggedNGrams, anchors: ArrayLike, replies: ArrayLike, *, empty: float = nan
) -> Floats:
    """Compare the sequences of parts of speech of pairs of turns, apart from the words that they share.

    As ALIGN does: of each turn the different n-grams of (word, tag); those that both turns have
    are taken from both; of what remains, the n-grams of tags are counted. High means that
    the reply is built like the anchor, with other words.

    "the dog" with "the cat", both tagged article, noun: "the" is shared and leaves, the two
    nouns remain. With "the dog", nothing remains.

    >>> words, tags, turns = np.array([0, 1, 0, 2, 0, 1]), np.array([0, 1, 0, 1, 0, 1]), np.array([0, 2, 4, 6])
    >>> grams = tagged_ngrams(words, tags, turns, 1, n_tags=2)
    >>> syntactic_cosines(grams, grams, [0, 0], [1, 2]).tolist()
    [1.0, nan]

    Parameters
    ----------
    a, b : TaggedNGrams
        Of the turns that are replied to, and of those that reply: twice the same within a
        session; see `tagged_ngrams`.
    anchors, replies : int array, any shapes that broadcast
        As for `lexical_cosines`.
    empty : float
        The value where a turn has no n-gram left; 0.0 in ALIGN.

    Returns
    -------
    float64 array of the broadcast shape
        Cosine of the two vectors of counts, 0 to 1; nan where undefined.

    Notes
    -----
    Not a quality score: with few tags any two turns of some length are alike, strangers' as much
    as partners' (.53 and .50 on AnnoMI). An n-gram that a turn has several times counts once.

    References
    ----------
    Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions
    with generalizable techNiques. Psychological Methods, 24, 419-438.
    """
    kernel_of = partial(_syntactic, a, b, empty)
    return over_pairs(kernel_of, anchors, replies, (len(a.squares), len(b.squares)))


def _syntactic(a: TaggedNGrams, b: TaggedNGrams, empty: float, rows: Ints, columns: Ints) -> Kernel:
    """Cosine of A - S and B - S: tag counts of the two turns without those of what they share.

    Their products unfold into A.B, A.S, B.S and S.S; A.S is the sum, over shared n-grams, of how
    many n-grams of A have the same tags. What leaves the squares of A and B is S.S - 2 A.S and
    S.S - 2 B.S, and half of their sum leaves A.B; all are whole numbers.
    """
    of_a, of_b = in_common(a, b)
    left, right = chosen(a.words, rows, of_a).sparse(), chosen(b.words, columns, of_b).sparse()
    tags, others_tags = a.tags[rows], b.tags[columns]
    squares, tag_of = (a.squares[rows], b.squares[columns]), a.tag_of[of_a]

    def table(some: slice, others: slice) -> Floats:
        a_b = np.asarray(part(tags, some) @ _dense(part(others_tags, others)))
        of_one, of_other = _leaves_table(part(left, some), part(right, others), tag_of)
        square_a, square_b = squares[0][some, None] + of_one, squares[1][others] + of_other
        return cosine(a_b + (of_one + of_other) / 2, square_a, square_b, empty)

    def pairs(some: Ints, others: Ints) -> Floats:
        a_b = _sum(tags[some].multiply(others_tags[others]))
        of_one, of_other = _leaves_pairs(left[some], right[others], tag_of)
        return cosine(a_b + (of_one + of_other) / 2, squares[0][some] + of_one, squares[1][others] + of_other, empty)

    return Kernel(table, pairs, (np.diff(left.indptr), np.diff(right.indptr)), max(len(of_a), a.tags.shape[1]))


def _leaves_table(left: Sparse, right: Sparse, tag_of: Ints) -> tuple[Floats, Floats]:
    """Return what leaves the squares of each row of `left` and of each row of `right`, for each with each.

    Types of like tags stand together, so that a row falls into cells, one for each n-gram of tags that it has: the
    products of a cell with the words of the others are how many n-grams with these tags are shared.
    """
    n_cells, begins, of_row = _cells(left, tag_of)
    alike, ones = _dense(right), np.ones(left.nnz)
    cells = sparse.csr_array((ones, left.indices, begins), shape=(n_cells, left.shape[1]))
    shared = np.asarray(cells @ (alike > 0).astype(np.float64))
    sizes: Floats = left.data[begins[:-1]]
    rows = sparse.csr_array((sizes, np.arange(n_cells), of_row), shape=(left.shape[0], n_cells))
    a_s, b_s = np.asarray(rows @ shared), np.asarray(_with(left, ones) @ alike)
    np.square(shared, out=shared)  # the largest array of all: not made twice
    s_s = np.asarray(sparse.csr_array((np.ones(n_cells), rows.indices, rows.indptr), shape=rows.shape) @ shared)
    return s_s - 2.0 * a_s, s_s - 2.0 * b_s


def _leaves_pairs(left: Sparse, right: Sparse, tag_of: Ints) -> tuple[Floats, Floats]:
    """Return what leaves the squares of each row of `left` and of its partner of `right`."""
    ones = _with(left, np.ones(left.nnz)), _with(right, np.ones(right.nnz))
    shared = sparse.csr_array(ones[0].multiply(ones[1]))
    shared.sort_indices()
    _, begins, of_row = _cells(shared, tag_of)
    so_far = np.concatenate([[0.0], np.cumsum(np.square(np.diff(begins), dtype=np.float64))])
    both = so_far[of_row[1:]] - so_far[of_row[:-1]]
    return both - 2.0 * _sum(left.multiply(ones[1])), both - 2.0 * _sum(ones[0].multiply(right))


def _dense(counts: Sparse) -> Floats:
    """Return counts with a column a turn: sparse rows times these are the products of each with each."""
    return np.ascontiguousarray(counts.toarray().T)


def _cells(words: Sparse, tag_of: Ints) -> tuple[int, Ints, Ints]:
    """Return how many stretches of like tags the rows have, where they begin and end, and which each row owns."""
    key = row_of(words) * (int(tag_of.max(initial=0)) + 1) + tag_of[words.indices]
    begins = np.append(np.flatnonzero(np.diff(key, prepend=-1)), words.nnz)
    return len(begins) - 1, begins, np.searchsorted(begins, words.indptr)


def _with(counts: Sparse, values: Floats) -> Sparse:
    return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def _sum(products: Sparse) -> Floats:
    return np.asarray(products.sum(axis=1))


def syntactic_whole(a: TaggedNGrams, b: TaggedNGrams, of_a: Ints, of_b: Ints, *, empty: float = nan) -> float:
    """Compare how the turns of one side are built with how those of the other side are.

    Parameters
    ----------
    a, b : TaggedNGrams
        Of turns, twice the same within a session.
    of_a, of_b : int array
        The turns of the one side and of the other, as rows of `a` and of `b`.
    empty : float
        The value where a side has no n-gram left.

    Returns
    -------
    float
        Cosine as in `syntactic_cosines`, 0 to 1; nan when a side has no n-gram left.

    Examples
    --------
    "I see" and "I know" against "you see", pronoun and verb each. Without "see", there are a
    pronoun and a verb against a pronoun: 1 / sqrt(2 * 1).

    >>> words, tags = np.array([0, 1, 2, 1, 0, 3]), np.array([0, 1, 0, 1, 0, 1])
    >>> grams = tagged_ngrams(words, tags, np.array([0, 2, 4, 6]), 1, n_tags=2)
    >>> round(syntactic_whole(grams, grams, np.array([0, 2]), np.array([1])), 3)
    0.707
    """
    has_a, has_b = _said(a, of_a), _said(b, of_b)
    at_a, at_b = in_common(a, b)
    both = has_a[at_a] & has_b[at_b]
    has_a[at_a[both]] = has_b[at_b[both]] = False
    one, other = (
        np.bincount(grams.tag_of[has], minlength=grams.tags.shape[1]).astype(np.float64)
        for grams, has in ((a, has_a), (b, has_b))
    )
    return float(cosine(one @ other, one @ one, other @ other, empty))


def _said(grams: TaggedNGrams, turns: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which types occur in some turns, (n_types,)."""
    said = np.zeros(len(grams.types), dtype=np.bool_)
    said[grams.words.indices[entries_of(grams.words.indptr, turns)[0]]] = True
    return said


def tagged_words(session: AnnotatedSession) -> TaggedNGrams:
    """Return which words each turn has, each with its part of speech."""
    return _of_length(session, 1)


def tagged_pairs(session: AnnotatedSession) -> TaggedNGrams:
    """Return which sequences of two words each turn has, with their parts of speech."""
    return _of_length(session, 2)


def _of_length(session: AnnotatedSession, n: int) -> TaggedNGrams:
    tokens, tags = session.turns.tokens, session.turns.tags
    places, offsets = words_of(session)
    # -1 is "none of them" and becomes 0; without tags, so are all.
    found = np.zeros(len(places), dtype=np.int64) if tags is None else tags[places].astype(np.int64) + 1
    return tagged_ngrams(tokens.keys[tokens.ids[places]], found, offsets, n, n_tags=len(UPOS) + 1)


def _words_and_pairs(session: AnnotatedSession) -> tuple[TaggedNGrams, TaggedNGrams]:
    return session.meanwhile(tagged_words), session.meanwhile(tagged_pairs)


def _terms(before: TaggedNGrams, after: TaggedNGrams, anchors: Ints, replies: Ints) -> Floats:
    return scores(syntactic_cosines(before, after, anchors, replies))


def _whole_session(therapist: Side, client: Side) -> tuple[float, ...]:
    sides = zip(therapist.represented, client.represented, strict=True)
    return tuple(syntactic_whole(a, b, therapist.turns, client.turns) for a, b in sides)


_FORMULA = (
    "cosine of how many different {} the turn and the turn before have of each {}, those apart that are in both; "
    "undefined where nothing is left of one"
)
SYNTACTIC = pairwise(
    Pairwise(
        name="syntactic_alignment",
        series="syntactic_alignment_turn",
        meaning="Syntactic alignment: how far a reply has the parts of speech of the turn before, in other words",
        unit="proportion",
        formula=_FORMULA.format("words", "part of speech"),
        misleads=_MISLEADS,
        source=SOURCE,
        represent=tagged_words,
        terms=_terms,
        score=syntactic_cosines,
        symmetric=True,
        tables=4,
        extra="syntax",
        evidence="weak",
    )
)
SYNTACTIC_2 = pairwise(
    Pairwise(
        name="syntactic_alignment_2",
        series="syntactic_alignment_2_turn",
        meaning="Syntactic alignment of two words: how far a reply has the sequences of two parts of speech of the "
        "turn before, in other words",
        unit="proportion",
        formula=_FORMULA.format("sequences of two words", "sequence of two parts of speech"),
        misleads=_MISLEADS,
        source=SOURCE,
        represent=tagged_pairs,
        terms=_terms,
        score=syntactic_cosines,
        symmetric=True,
        tables=4,
        extra="syntax",
        evidence="weak",
    )
)


def _column(name: str, what: str, tags: str) -> Column:
    return Column(
        name=name,
        meaning=f"Syntactic alignment of all that the therapist says with all that the client says, by {tags}",
        unit="proportion",
        low=0,
        high=1,
        direction="higher is more alike",
        formula=f"cosine of how many different {what} the two have of each of the {tags}, those apart that both have, "
        "over the session",
        misleads=_MISLEADS,
        source=SOURCE,
        evidence="weak",
    )


SYNTACTIC_WHOLE = whole(
    Whole(
        name="syntactic_alignment_whole",
        columns=(
            _column("syntactic_alignment_whole", "words", "parts of speech"),
            _column("syntactic_alignment_whole_2", "sequences of two words", "sequences of two parts of speech"),
        ),
        represent=_words_and_pairs,
        values=_whole_session,
        extra="syntax",
    )
)


@measure(
    columns=[*whole_columns(SYNTACTIC_WHOLE), *pairwise_columns(SYNTACTIC), *pairwise_columns(SYNTACTIC_2)],
    extra="syntax",
)
def syntactic_alignment(session: AnnotatedSession) -> dict[str, Value]:
    """Compare the parts of speech, and the sequences of two, of replies and of the turns before (ALIGN).

    High means that a reply is built like the turn before, with other words; for the whole
    session, that the two build their turns alike. See `syntactic_cosines` for the formula as an example.

    Notes
    -----
    Parts of speech are the universal ones, not those of the Penn Treebank that ALIGN uses: 17
    instead of 36, so values are higher. Punctuation is left out. To compare a reply with an
    earlier turn of the other, give the measure a delay: ``dataclasses.replace(SYNTACTIC, delay=2)``
    for the other's turn before the last, handed to `synchrony` as one of its measures.

    References
    ----------
    Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions
    with generalizable techNiques. Psychological Methods, 24, 419-438.
    """
    each = pairwise_values(SYNTACTIC, session) | pairwise_values(SYNTACTIC_2, session)
    return whole_values(SYNTACTIC_WHOLE, session) | each
