"""Syntactic alignment: do the two build their turns alike, with other words (after ALIGN)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.null.surrogates import Ints, TokenRows
from therapy_analytics.measures.synchrony._ngrams import Counts, ngram_places, words_of
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure, adjacent_turn_measure
from therapy_analytics.measures.synchrony.alignment import SOURCE, cosine
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
    session_columns,
    session_values,
)
from therapy_analytics.measures.synchrony.whole_session import of_whole_sides, session_measure

_MISLEADS = (
    "Not a quality score: with few parts of speech any two turns of some length are alike, surrogate pairs "
    "as much as partners (.50 and .53 on AnnoMI). Read it beside words per turn and its null distributions"
)


@dataclass(frozen=True, slots=True, eq=False)
class TaggedNgrams:
    """Which n-grams of (word, part of speech) turns have, each counted once however often it occurs.

    Attributes
    ----------
    has : sparse float64 array (n_turns, n_types), or float64 array (n_types,) of one speaker
        1 where a turn has the n-gram, else 0.
    tags : sparse float64 array (n_types, n_tag_ngrams)
        1 for the n-gram of parts of speech of each type, else 0.
    """

    has: Any
    tags: Counts

    @property
    def size(self) -> int:
        """How many n-grams there are, over all turns."""
        return int(self.has.size)

    def __getitem__(self, turns: Ints) -> TaggedNgrams:
        return TaggedNgrams(self.has[turns], self.tags)

    def sum(self, axis: int) -> TaggedNgrams:
        """Return the different n-grams of all turns together."""
        return TaggedNgrams(np.sign(self.has.sum(axis=axis)), self.tags)


def tagged_ngrams(words: TokenRows, n: int) -> TaggedNgrams:
    """Find the n-grams of (word, part of speech) of each turn; see `words_of`.

    Examples
    --------
    One turn, "work work hard", tagged verb, noun, adverb: three n-grams of length 1, of three parts of speech.

    >>> values = np.array([[5, 1], [5, 2], [7, 3]], dtype=np.uint64)
    >>> found = tagged_ngrams(TokenRows(values, np.array([0, 3])), 1)
    >>> found.has.toarray().tolist(), found.tags.shape
    ([[1.0, 1.0, 1.0]], (3, 3))
    """
    places, word = ngram_places(words.values[:, 0], words.offsets, n)
    _, tag = ngram_places(words.values[:, 1] + np.uint64(1), words.offsets, n)  # untagged words count: none is 0
    n_tags = int(tag.max(initial=-1)) + 1
    types, number = np.unique(word * n_tags + tag, return_inverse=True)
    has = sparse.csr_array((np.ones(len(places)), (words.turn[places], number)), shape=(len(words), len(types)))
    each = np.arange(len(types)), types % max(n_tags, 1)
    return TaggedNgrams(has.sign(), sparse.csr_array((np.ones(len(types)), each), shape=(len(types), n_tags)))


def syntactic_cosine(a: TaggedNgrams, b: TaggedNgrams) -> Floats:
    """Compare the parts of speech of turns, or of two speakers, apart from the words that they share.

    As ALIGN does: of each turn the different n-grams of (word, tag); those that both turns have are taken from both; of
    what remains, the n-grams of tags are counted. High means that the one is built like the other, with other words.

    "the dog" with "the cat", both tagged article, noun: "the" is shared and leaves, the two nouns remain. With "the
    dog", nothing remains.

    >>> values = np.array([[5, 1], [6, 2], [5, 1], [7, 2], [5, 1], [6, 2]], dtype=np.uint64)
    >>> found = tagged_ngrams(TokenRows(values, np.array([0, 2, 4, 6])), 1)
    >>> syntactic_cosine(found[[0, 0]], found[[1, 2]]).tolist()
    [1.0, nan]

    Parameters
    ----------
    a, b : TaggedNgrams
        Of the turns before and the replies (n_pairs of each), or of two speakers.

    Returns
    -------
    float64 array (n_pairs,), or ()
        0 to 1; nan where a turn has no n-gram left.

    Notes
    -----
    Not a quality score: with few tags any two turns of some length are alike, those of surrogate pairs as much as those
    of partners (.50 and .53 on AnnoMI). ALIGN gives 0 where nothing is left.
    """
    shared = a.has * b.has
    return cosine((a.has - shared) @ a.tags, (b.has - shared) @ b.tags)


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
        encode=partial(tagged_ngrams, n=1),
        score=syntactic_cosine,
        extra="syntax",
        evidence="weak",
    )
)
SYNTACTIC_2 = adjacent_turn_measure(
    replace(
        SYNTACTIC,
        name="syntactic_alignment_2",
        series="syntactic_alignment_2_turn",
        meaning="Syntactic alignment of two words: how far a reply has the sequences of two parts of speech of the "
        "turn before, in other words",
        formula=_FORMULA.format("sequences of two words", "sequence of two parts of speech"),
        encode=partial(tagged_ngrams, n=2),
        variant=True,
    )
)


_WHOLE = "Syntactic alignment of all that the therapist says with all that the client says, by"
_WHOLE_FORMULA = (
    "cosine of how many different {} the two have of each of the {}, those apart that both have, over the session"
)
WHOLE = session_measure(
    of_whole_sides(
        SYNTACTIC,
        "syntactic_alignment_whole",
        f"{_WHOLE} parts of speech",
        _WHOLE_FORMULA.format("words", "parts of speech"),
    )
)
WHOLE_2 = session_measure(
    of_whole_sides(
        SYNTACTIC_2,
        "syntactic_alignment_whole_2",
        f"{_WHOLE} sequences of two parts of speech",
        _WHOLE_FORMULA.format("sequences of two words", "sequences of two parts of speech"),
        compare="part",
    )
)


@measure(
    columns=[
        *session_columns(WHOLE),
        *session_columns(WHOLE_2),
        *adjacent_columns(SYNTACTIC),
        *adjacent_columns(SYNTACTIC_2),
    ],
    extra="syntax",
)
def syntactic_alignment(session: AnnotatedSession) -> dict[str, Value]:
    """Compare the parts of speech, and the sequences of two, of replies and of the turns before (ALIGN).

    High means that a reply is built like the turn before, with other words; for the whole
    session, that the two build their turns alike. See `syntactic_cosine` for the formula as an example.

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
    values = session_values(WHOLE, session) | session_values(WHOLE_2, session)
    return values | adjacent_values(SYNTACTIC, session) | adjacent_values(SYNTACTIC_2, session)
