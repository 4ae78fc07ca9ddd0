"""The words of a session as one sequence, in which neighbours and sentences are found at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.text import AnnotatedSession

Marks = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class WordSequence:
    """The words of a session, one after the other.

    Attributes
    ----------
    index : mapping of str to int
        The number of each different word (normal form).
    ids : int64 array (n_words,)
        The number of each word of the sequence.
    turn_of, sentence_of : int64 array (n_words,)
        The turn and the sentence of each word; both ascend.
    goes_on : bool array (n_words,)
        Whether the word before is of the same sentence.
    asks : bool array (n_words,)
        Whether the sentence ends with a question mark.
    """

    index: Mapping[str, int] = field(repr=False)
    ids: Ints = field(repr=False)
    turn_of: Ints
    sentence_of: Ints
    goes_on: Marks
    asks: Marks

    def are(self, words: frozenset[str]) -> Marks:
        """Return which words are in a set, bool (n_words,)."""
        types = np.zeros(len(self.index), dtype=np.bool_)
        types[[self.index[word] for word in words if word in self.index]] = True
        return types[self.ids]

    def near(self, marks: Marks, back: int, at: Ints) -> Marks:
        """Return whether a marked word stands among the `back` words before a word, in its sentence; bool (n,).

        Parameters
        ----------
        marks : bool array (n_words,)
            The words that are looked for.
        back : int
            How many words before.
        at : int64 array (n,)
            Positions that are asked about.
        """
        first = np.maximum(at - back, np.searchsorted(self.sentence_of, self.sentence_of[at]))
        n_marked = np.append(0, np.cumsum(marks))
        return np.asarray(n_marked[at] > n_marked[first])

    def only(self, turns: Marks) -> WordSequence:
        """Return the words of some turns, bool (n_turns,)."""
        kept = turns[self.turn_of]
        return WordSequence(
            self.index,
            self.ids[kept],
            self.turn_of[kept],
            self.sentence_of[kept],
            self.goes_on[kept],
            self.asks[kept],
        )


def word_sequence(session: AnnotatedSession) -> WordSequence:
    """Return the words of a session's turns, without punctuation."""
    return session.cached(_all_words)


def _all_words(session: AnnotatedSession) -> WordSequence:
    turns = session.turns
    at = np.flatnonzero(turns.tokens.verbal[turns.ids])
    sentence_of = turns.sentence_of
    norm = [turns.tokens.norm[one] for one in np.unique(turns.ids).tolist()]
    # Types are pairs of a written and a normal form (n't and not are two): words of one normal form are one word here
    index = {word: number for number, word in enumerate(dict.fromkeys(norm))}
    number = np.full(len(turns.tokens.norm), -1, dtype=np.int64)
    number[np.unique(turns.ids)] = [index[word] for word in norm]
    asks = np.isin(sentence_of, sentence_of[turns.asks])
    same = np.append(False, np.diff(sentence_of[at]) == 0)[: len(at)]
    return WordSequence(index, number[turns.ids[at]], turns.turn_of[at], sentence_of[at], same, asks[at])
