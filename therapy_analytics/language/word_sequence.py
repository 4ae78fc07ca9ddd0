"""The words of a session as one sequence, in which neighbours and sentences are found at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession

Marks = NDArray[np.bool_]
Ints = NDArray[np.int64]
QUOTES = frozenset({'"', "``", "''", "\u201c", "\u201d"})
_FILLERS = frozenset({"uh", "um", "uhm", "er", "erm", "mm", "hm", "hmm", "ah", "eh"})


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
    token : int64 array (n_words,)
        Position among the tokens of the session, from 0.
    """

    index: Mapping[str, int] = field(repr=False)
    ids: Ints = field(repr=False)
    turn_of: Ints
    sentence_of: Ints
    goes_on: Marks
    asks: Marks
    token: Ints = field(repr=False)

    def are(self, words: frozenset[str]) -> Marks:
        """Return which words are in a set, bool (n_words,)."""
        types = np.zeros(len(self.index), dtype=np.bool_)
        types[[self.index[word] for word in words if word in self.index]] = True
        return types[self.ids]

    def near(
        self, marks: Marks, back: int, ahead: int = -1, *, within: Ints | None = None, at: Ints | None = None
    ) -> Marks:
        """Return whether a marked word stands from `back` words before a word to `ahead` words after it.

        Parameters
        ----------
        marks : bool array (n_words,)
            The words that are looked for.
        back, ahead : int
            Bounds of the window; the default of `ahead` leaves the word itself out.
        within : int64 array (n_words,), optional
            Ascending numbers of the units that the window stays in; sentences by default.
        at : int64 array (n,), optional
            Positions that are asked about; all words by default.

        Returns
        -------
        bool array (n,) or (n_words,)
        """
        unit = self.sentence_of if within is None else within
        at = np.arange(len(marks)) if at is None else at
        begins, ends = bounds(unit, at)
        low, high = np.maximum(at - back, begins), np.minimum(at + ahead + 1, ends)
        n_marked = np.append(0, np.cumsum(marks))
        return np.asarray(n_marked[np.maximum(high, low)] > n_marked[low])

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
            self.token[kept],
        )


def bounds(unit: Ints, at: Ints | slice = slice(None)) -> Ints:
    """Return where the units of words begin and end (exclusive), int64 (2, n).

    Parameters
    ----------
    unit : int64 array (n_words,)
        The unit of each word, ascending.
    at : int64 array (n,) or slice, optional
        Positions of the words that are asked about.
    """
    return np.stack([np.searchsorted(unit, unit[at]), np.searchsorted(unit, unit[at], side="right")])


def word_sequence(session: AnnotatedSession) -> WordSequence:
    """Return the words of a session's turns, without punctuation."""
    return session.cached(_all_words)


def fluent_words(session: AnnotatedSession) -> WordSequence:
    """Return the words without fillers and immediate repetitions; quotation marks are kept, as words."""
    return session.cached(_fluent_words)


def _all_words(session: AnnotatedSession) -> WordSequence:
    tokens = session.turns.tokens
    return _kept(session, np.flatnonzero(tokens.verbal[session.turns.ids]))


def _fluent_words(session: AnnotatedSession) -> WordSequence:
    tokens, ids = session.turns.tokens, session.turns.ids
    filler, quote = (np.fromiter((one in some for one in tokens.norm), np.bool_) for some in (_FILLERS, QUOTES))
    at = np.flatnonzero(((tokens.verbal & ~filler) | quote)[ids])
    same = _same_as_before(ids[at]) & _same_as_before(session.turns.sentence_of[at])
    return _kept(session, at[~same])


def _kept(session: AnnotatedSession, at: Ints) -> WordSequence:
    """Return the tokens at some positions of a session as a sequence of words."""
    turns = session.turns
    sentence_of = turns.sentence_of
    norm = [turns.tokens.norm[one] for one in np.unique(turns.ids).tolist()]
    # Types are pairs of a written and a normal form (n't and not are two): words of one normal form are one word here
    index = {word: number for number, word in enumerate(dict.fromkeys(norm))}
    number = np.full(len(turns.tokens.norm), -1, dtype=np.int64)
    number[np.unique(turns.ids)] = [index[word] for word in norm]
    asks = np.isin(sentence_of, sentence_of[turns.asks])
    return WordSequence(
        index,
        number[turns.ids[at]],
        turns.turn_of[at],
        sentence_of[at],
        _same_as_before(sentence_of[at]),
        asks[at],
        at,
    )


def _same_as_before(row: NDArray[np.integer]) -> Marks:
    return np.append(False, np.diff(row) == 0)[: len(row)]
