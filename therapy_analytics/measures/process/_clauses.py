"""The words of a session in a row, with the bounds of sentences and clauses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.word_sequence import Ints, Marks, WordSequence, bounds, fluent_words
from therapy_analytics.measures.process._feeling_words import families

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Clauses:
    """The words of a session in a row, with the bounds of sentences and clauses found once.

    Attributes
    ----------
    words : WordSequence
        Without fillers and doubled words.
    sentence, clause : int64 array (2, n_words)
        Where the sentence, and the clause, of each word begins and ends.
    """

    words: WordSequence
    sentence: Ints
    clause: Ints

    def are(self, some: frozenset[str]) -> Marks:
        """Return which words are among these, bool (n_words,)."""
        return self.words.are(some)

    def near(self, marks: Marks, back: int, ahead: int = -1, *, within: Ints | None = None) -> Marks:
        """Return for each word whether one is marked from so many words back to so many ahead, in its sentence."""
        # From the marked words, which are few, to those that they are near
        at, found = np.flatnonzero(marks), np.zeros(len(marks), dtype=np.bool_)
        begin, end = (self.sentence if within is None else within)[:, at]
        for step in range(-ahead, back + 1):
            place = at + step
            found[place[(begin <= place) & (place < end)]] = True
        return found

    def next(self, some: frozenset[str], ahead: int = 1) -> Marks:
        """Return which words have one of these among so many after them."""
        return self.near(self.are(some), -1, ahead)

    def before(self, slot: str, back: int) -> Marks:
        """Return which words have one of a slot of the lexicon among so many before them in the clause."""
        return self.near(self.are(families().slots[slot]), back, within=self.clause)


def clauses(session: AnnotatedSession) -> Clauses:
    """Return the words of a session's turns with their sentences and clauses, found once."""
    return session.cached(_clauses)


def _clauses(session: AnnotatedSession) -> Clauses:
    words = fluent_words(session)
    clause: Ints = np.cumsum(~words.goes_on | words.are(families().slots["breaks"]), dtype=np.int64)
    return Clauses(words, bounds(words.sentence_of), bounds(clause))


def units(vectors: NDArray[np.float32]) -> Floats:
    """Return vectors of length one; rows of 0 for those without meaning."""
    wide = np.nan_to_num(np.asarray(vectors, dtype=np.float64))
    length = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return np.asarray(wide / np.where(length > 0, length, 1.0))
