"""The different words of a session with their meaning and rarity, and runs of words held against each other."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession, builtin_lexicons
from therapy_analytics.language.embeddings import DIMENSIONS, load_embeddings
from therapy_analytics.language.word_sequence import Ints, Marks, WordSequence, word_sequence
from therapy_analytics.measures.process._clauses import units

Floats = NDArray[np.float64]
_EMPTY = frozenset({
    "something", "anything", "nothing", "everything", "someone", "anyone", "everyone", "somebody", "anybody",
    "everybody", "thing", "things", "stuff", "way", "lot", "kind", "sort", "bit", "feel", "feels", "feeling",
    "felt", "like", "want", "wants", "wanted", "going", "gonna", "get", "got", "getting", "make", "makes", "made",
    "know", "think", "thought", "thinking", "really", "just", "even", "still", "yeah", "okay", "yes", "no", "oh",
    "uh", "um", "said", "say", "saying", "told", "tell", "mean", "guess", "maybe", "able", "let", "lets", "go",
    "goes", "went", "come", "comes", "came", "one", "time", "times", "much", "many", "more", "most", "good", "well",
    "right", "'s", "s", "m", "re", "ve", "ll", "d", "t", "gon", "na", "wanna",
})  # fmt: skip
"""Words that say little of what was told, beside those of function_words.toml."""


@dataclass(frozen=True, eq=False)
class WordMeanings:
    """The words of a session in a row, and what each different one means.

    Attributes
    ----------
    spoken : WordSequence
        The row.
    types : int64 array (n_words,)
        The number of each word among the different ones, which are numbered as they first occur.
    rarity : float64 array (n_types,)
        How much the word says: the length of its vector, in which common words are short; 0 for empty words.
    units : float64 array (n_different, n_dimensions)
        Vectors of length one, of each word of `WordSequence.index`; rows of 0 for words without meaning.
    words : int64 array (n_types,)
        Where each type stands in them.
    """

    spoken: WordSequence
    types: Ints
    rarity: Floats
    units: Floats = field(repr=False)
    words: Ints = field(repr=False)

    @functools.cached_property
    def of_types(self) -> Floats:
        """Return the vector of each type, (n_types, n_dimensions)."""
        return np.asarray(self.units[self.words])

    @property
    def content(self) -> Marks:
        """Return which words of the row say something, bool (n_words,)."""
        return np.asarray(self.rarity[self.types] > 0)


@functools.cache
def empty_words() -> frozenset[str]:
    """Return words that say little of what was told: function words and a few others."""
    (lexicon,) = (one for one in builtin_lexicons() if one.name == "function_words")
    return _EMPTY | {word for category in lexicon.categories for word in category.words}


def word_meanings(session: AnnotatedSession) -> WordMeanings:
    """Return the words of a session with their meanings (to be asked for by `AnnotatedSession.cached`)."""
    words = word_sequence(session)
    place = np.arange(len(words.ids))
    first, number = np.empty((2, len(words.index)), dtype=np.int64)
    first[words.ids[::-1]] = place[::-1]  # of several writes the last one stays
    used = words.ids[first[words.ids] == place]
    number[used] = np.arange(len(used))
    return WordMeanings(words, number[words.ids], rarity_of_words(session)[used], units_of_words(session), used)


def units_of_words(session: AnnotatedSession) -> Floats:
    """Return the vector of length one of each different word of `WordSequence.index`; 0 where it has none."""
    return session.cached(_units_and_rarity)[0]


def rarity_of_words(session: AnnotatedSession) -> Floats:
    """Return how much each different word of `WordSequence.index` says, see `WordMeanings`."""
    return session.cached(_units_and_rarity)[1]


def _units_and_rarity(session: AnnotatedSession) -> tuple[Floats, Floats]:
    vectors = session.cached(_vectors)
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    full = word_sequence(session).types(_is_full)
    return vectors / np.where(length > 0, length, 1.0)[:, None], np.where(full, length, 0.0)


def directions(session: AnnotatedSession) -> Floats:
    """Return the direction of each word of `WordSequence.index`, and last that of no word; 0 where one has none."""
    return session.cached(_directions)


def _directions(session: AnnotatedSession) -> Floats:
    return units(np.vstack([session.cached(_vectors), np.zeros((1, DIMENSIONS))]))


def _vectors(session: AnnotatedSession) -> Floats:
    """Return the vector of each different word of `WordSequence.index`; 0 where one has none."""
    return np.nan_to_num(load_embeddings().embed(list(word_sequence(session).index))).astype(np.float64)


def _is_full(word: str) -> bool:
    return word not in empty_words() and not word.isdigit()
