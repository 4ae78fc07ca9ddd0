"""Syntactic alignment: do the two build their turns alike, with other words (after ALIGN)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.null.surrogates import Ints, TokenRows
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure, adjacent_turn_measure, by_table
from therapy_analytics.measures.synchrony.alignment import SOURCE, Counts, cosine, ngram_places, of_speakers, words_of
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
    session_columns,
    session_values,
)
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure

_MISLEADS = (
    "Not a quality score: with few parts of speech any two turns of some length are alike, strangers' as much as "
    "partners' (.53 and .50 on AnnoMI). Read it beside words per turn and its baselines"
)


@dataclass(frozen=True, slots=True, eq=False)
class TaggedNGrams:
    """Which n-grams of (word, part of speech) each turn has, each counted once however often it is said.

    Attributes
    ----------
    has : sparse float64 array (n_turns, n_types)
        1 where a turn has the n-gram.
    kind : int64 array (n_types,)
        The n-gram of parts of speech of each type, a number from 0.
    """

    has: Counts
    kind: Ints

    def counts(self, rows: Counts) -> Counts:
        """Return how many different n-grams rows have of each kind, (n_rows, n_types) to (n_rows, n_kinds)."""
        n_types = len(self.kind)
        shape = n_types, int(self.kind.max(initial=-1)) + 1
        return rows @ sparse.csr_array((np.ones(n_types), (np.arange(n_types), self.kind)), shape=shape)


def tagged_ngrams(words: TokenRows, n: int) -> TaggedNGrams:
    """Find the n-grams of (word, part of speech) of each turn; see `words_of`.

    Examples
    --------
    One turn, "work work hard", tagged verb, noun, adverb: three n-grams of length 1, of three kinds.

    >>> values = np.array([[5, 1], [5, 2], [7, 3]], dtype=np.uint64)
    >>> grams = tagged_ngrams(TokenRows(values, np.array([0, 3])), 1)
    >>> grams.has.toarray().tolist(), grams.kind.tolist()
    ([[1.0, 1.0, 1.0]], [0, 1, 2])
    """
    places, said = ngram_places(words.values[:, 0], words.offsets, n)
    _, tags = ngram_places(words.values[:, 1] + np.uint64(1), words.offsets, n)  # all tokens count: none is 0
    n_kinds = int(tags.max(initial=-1)) + 1
    types, number = np.unique(said * n_kinds + tags, return_inverse=True)
    has = sparse.csr_array((np.ones(len(places)), (words.turn[places], number)), shape=(len(words), len(types)))
    has.sum_duplicates()
    has.data[:] = 1.0
    return TaggedNGrams(has, types % max(n_kinds, 1))


def syntactic_cosines(grams: TaggedNGrams, a: Counts, b: Counts) -> Floats:
    """Compare the parts of speech of turns, apart from the words that they share: each of `a` with each of `b`.

    As ALIGN does: of each turn the different n-grams of (word, tag); those that both turns have are taken from both; of
    what remains, the n-grams of tags are counted. High means that the one is built like the other, with other words.
    With A, B and S the counts by tags of the one, of the other and of what they share, it is the cosine of A - S and
    B - S, whose products unfold into those of A, B and S.

    "the dog" with "the cat", both tagged article, noun: "the" is shared and leaves, the two nouns remain. With "the
    dog", nothing remains.

    >>> values = np.array([[5, 1], [6, 2], [5, 1], [7, 2], [5, 1], [6, 2]], dtype=np.uint64)
    >>> grams = tagged_ngrams(TokenRows(values, np.array([0, 2, 4, 6])), 1)
    >>> syntactic_cosines(grams, grams.has[[0]], grams.has[[1, 2]]).tolist()
    [[1.0, nan]]

    Parameters
    ----------
    grams : TaggedNGrams
        What the columns are.
    a, b : sparse float64 arrays (n_a, n_types) and (n_b, n_types)
        Which n-grams turns, or speakers, have: 1 or 0.

    Returns
    -------
    float64 array (n_a, n_b)
        0 to 1; nan where a turn has no n-gram left.

    Notes
    -----
    Not a quality score: with few tags any two turns of some length are alike, strangers' as much as partners' (.53 and
    .50 on AnnoMI). ALIGN gives 0 where nothing is left.

    References
    ----------
    Duran, N. D., Paxton, A., & Fusaroli, R. (2019). ALIGN: Analyzing linguistic interactions with generalizable
    techNiques. Psychological Methods, 24, 419-438.
    """
    tags_a, tags_b = grams.counts(a), grams.counts(b)
    a_b = (tags_a @ tags_b.T).toarray()
    a_s = (_weighed(a, tags_a, grams.kind) @ b.T).toarray()
    b_s = (a @ _weighed(b, tags_b, grams.kind).T).toarray()
    s_s = _shared_squares(grams, a, b)
    square_a = tags_a.power(2).sum(axis=1)[:, None] - 2 * a_s + s_s
    square_b = tags_b.power(2).sum(axis=1) - 2 * b_s + s_s
    return cosine(a_b - a_s - b_s + s_s, square_a * square_b)


def _weighed(has: Counts, tags: Counts, kind: Ints) -> Counts:
    """Return for each n-gram of each row how many n-grams of its kind the row has, (n_rows, n_types)."""
    weights = tags.toarray()[_row_of(has), kind[has.indices]]
    return sparse.csr_array((weights, has.indices, has.indptr), shape=has.shape)


def _row_of(counts: Counts) -> Ints:
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))


def _shared_squares(grams: TaggedNGrams, a: Counts, b: Counts) -> Floats:
    """Return the squared counts, by kind, of what each row of `a` shares with each of `b`, summed, (n_a, n_b)."""
    n_kinds = int(grams.kind.max(initial=-1)) + 1
    cells, cell = np.unique(_row_of(a) * n_kinds + grams.kind[a.indices], return_inverse=True)
    of_kind = sparse.csr_array((np.ones(a.nnz), (cell, a.indices)), shape=(len(cells), a.shape[1]))
    shape = a.shape[0], len(cells)
    owner = sparse.csr_array((np.ones(len(cells)), (cells // max(n_kinds, 1), np.arange(len(cells)))), shape=shape)
    return np.asarray((owner @ (of_kind @ b.T).power(2)).toarray())


def _score(words: TokenRows, anchors: Ints, replies: Ints, *, n: int) -> Floats:
    grams = tagged_ngrams(words, n)

    def table(rows: Ints, columns: Ints) -> Floats:
        return syntactic_cosines(grams, grams.has[rows], grams.has[columns])

    return by_table(table, len(words), anchors, replies)


def _of_all(words: TokenRows, therapists: Side, clients: Side) -> Floats:
    """Compare how all turns of each therapist are built with how those of each client are."""
    found = []
    for n in (1, 2):
        grams = tagged_ngrams(words, n)
        one, other = (of_speakers(grams.has, side).sign() for side in (therapists, clients))
        found.append(syntactic_cosines(grams, one, other))
    return np.stack(found, axis=-1)


_FORMULA = (
    "cosine of how many different {} the turn and the turn before have of each {}, those apart that are in both; "
    "undefined where nothing is left of one"
)
SYNTACTIC = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="syntactic_alignment",
        series="syntactic_alignment_turn",
        meaning="Syntactic alignment: how far a reply has the parts of speech of the turn before, in other words",
        unit="proportion",
        formula=_FORMULA.format("words", "part of speech"),
        misleads=_MISLEADS,
        source=SOURCE,
        represent=words_of,
        score=partial(_score, n=1),
        extra="syntax",
        evidence="weak",
    )
)
SYNTACTIC_2 = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="syntactic_alignment_2",
        series="syntactic_alignment_2_turn",
        meaning="Syntactic alignment of two words: how far a reply has the sequences of two parts of speech of the "
        "turn before, in other words",
        unit="proportion",
        formula=_FORMULA.format("sequences of two words", "sequence of two parts of speech"),
        misleads=_MISLEADS,
        source=SOURCE,
        represent=words_of,
        score=partial(_score, n=2),
        variant=True,
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
        high_means="higher is more alike",
        formula=f"cosine of how many different {what} the two have of each of the {tags}, those apart that both have, "
        "over the session",
        misleads=_MISLEADS,
        source=SOURCE,
        evidence="weak",
    )


SYNTACTIC_WHOLE = session_measure(
    SessionMeasure(
        name="syntactic_alignment_whole",
        columns=(
            _column("syntactic_alignment_whole", "words", "parts of speech"),
            replace(
                _column("syntactic_alignment_whole_2", "sequences of two words", "sequences of two parts of speech"),
                compare="part",
            ),
        ),
        represent=words_of,
        values=_of_all,
        extra="syntax",
    )
)


@measure(
    columns=[*session_columns(SYNTACTIC_WHOLE), *adjacent_columns(SYNTACTIC), *adjacent_columns(SYNTACTIC_2)],
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
    each = adjacent_values(SYNTACTIC, session) | adjacent_values(SYNTACTIC_2, session)
    return session_values(SYNTACTIC_WHOLE, session) | each
