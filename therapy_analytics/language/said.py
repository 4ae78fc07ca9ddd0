"""What is said in a session as one row of words, in which neighbours and sentences are seen at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.tokens import Tokens

Marks = NDArray[np.bool_]
Ints = NDArray[np.int64]
QUOTES = frozenset({'"', "``", "''", "\u201c", "\u201d"})
_FILLERS = frozenset({"uh", "um", "uhm", "er", "erm", "mm", "hm", "hmm", "ah", "eh"})


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """The words of a session in a row.

    Attributes
    ----------
    index : mapping of str to int
        The different words, in normal form, and their numbers.
    ids : int64 array (n_words,)
        The number of each word.
    turn_of, sentence_of : int64 array (n_words,)
        Where it stands.
    goes_on : bool array (n_words,)
        Whether the word before it is of the same sentence.
    asks : bool array (n_words,)
        Whether its sentence is closed by a question mark.
    token : int64 array (n_words,)
        Which token of the session it is, from 0.
    """

    index: Mapping[str, int] = field(repr=False)
    ids: Ints = field(repr=False)
    turn_of: Ints
    sentence_of: Ints
    goes_on: Marks
    asks: Marks
    token: Ints = field(repr=False)
    _types: dict[object, Marks] = field(default_factory=dict, repr=False)
    _known: dict[frozenset[str], Marks] = field(default_factory=dict, repr=False)

    def are(self, words: frozenset[str]) -> Marks:
        """Return which words are among these, bool (n_words,)."""
        if words not in self._known:
            types = self._types.get(words)
            if types is None:
                types = self._types[words] = np.zeros(len(self.index), dtype=np.bool_)
                types[[self.index[one] for one in words if one in self.index]] = True
            self._known[words] = types[self.ids]
        return self._known[words]

    def types(self, test: Callable[[str], bool]) -> Marks:
        """Return which of the different words pass a test, bool (n_different,); each is asked once."""
        if test not in self._types:
            self._types[test] = np.array([test(word) for word in self.index], dtype=np.bool_)
        return self._types[test]

    def near(
        self, marks: Marks, back: int, ahead: int = -1, *, of: Ints | None = None, at: Ints | None = None
    ) -> Marks:
        """Return for each word, or each of those at some places, whether one is marked so many words back to ahead.

        Words count that are of the same sentence, or of the same unit that `of` numbers (in rising order).
        """
        unit = self.sentence_of if of is None else of
        if at is not None:
            low = np.maximum(at - back, np.searchsorted(unit, unit[at]))
            high = np.minimum(at + ahead + 1, np.searchsorted(unit, unit[at], side="right"))
            marked = np.flatnonzero(marks)
            return np.asarray(np.searchsorted(marked, np.maximum(high, low)) > np.searchsorted(marked, low))
        at, (begins, ends) = np.arange(len(marks)), bounds(unit)
        low, high = np.maximum(at - back, begins), np.minimum(at + ahead + 1, ends)
        so_far = np.append(0, np.cumsum(marks))
        return np.asarray(so_far[np.maximum(high, low)] > so_far[low])

    def only(self, turns: Marks) -> Said:
        """Return the words of some turns, bool (n_turns,)."""
        of = turns[self.turn_of]
        ids, turn_of, sentence_of = self.ids[of], self.turn_of[of], self.sentence_of[of]
        goes_on, asks, token = self.goes_on[of], self.asks[of], self.token[of]
        return Said(self.index, ids, turn_of, sentence_of, goes_on, asks, token, self._types)


def bounds(unit: Ints) -> Ints:
    """Return where the unit of each word begins and ends; units are numbered in rising order."""
    new = np.diff(unit, prepend=-1) != 0
    begins, which = np.flatnonzero(new), np.cumsum(new) - 1
    return np.stack([begins[which], np.append(begins, len(unit))[which + 1]])


def said(session: AnnotatedSession) -> Said:
    """Return the words of a session's turns, without signs."""
    return session.cached(_said)


def said_fluently(session: AnnotatedSession) -> Said:
    """Return them without fillers and what is said twice in a row; quotation marks stay, as words."""
    return session.cached(_said_fluently)


def _said(session: AnnotatedSession) -> Said:
    return _in_a_row(session, fluent=False)


def _said_fluently(session: AnnotatedSession) -> Said:
    return _in_a_row(session, fluent=True)


def _in_a_row(session: AnnotatedSession, *, fluent: bool) -> Said:
    tokens, offsets = session.turns.tokens, session.turns.offsets
    span = slice(int(offsets[0]), int(offsets[-1]))
    turn_of = np.repeat(np.arange(len(session)), np.diff(offsets))
    opens = np.append(True, tokens.sentence_end[span][:-1] | (np.diff(turn_of) > 0))[: len(turn_of)]
    sentence_of = np.cumsum(opens, dtype=np.int64) - 1
    occurs = np.zeros(len(tokens.norm), dtype=np.bool_)
    occurs[tokens.ids[span]] = True
    types, place = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[tokens.ids[span]]
    norm = [tokens.norm[one] for one in types.tolist()]
    asking = np.array(["?" in one for one in norm], dtype=np.bool_)[place]
    asks = np.bincount(sentence_of, asking)[sentence_of] > 0 if len(place) else asking
    at = np.flatnonzero(_kept(tokens, types.tolist(), fluent=fluent)[place])
    goes_on = _same_as_before(sentence_of[at])
    if fluent:
        at = at[~(_same_as_before(place[at]) & goes_on)]
        goes_on = _same_as_before(sentence_of[at])
    # Forms of one normal form (n't, not) are one word here
    index = {word: number for number, word in enumerate(dict.fromkeys(norm))}
    numbers = np.array([index[word] for word in norm], dtype=np.int64)
    return Said(index, numbers[place[at]], turn_of[at], sentence_of[at], goes_on, asks[at], at)


def _kept(tokens: Tokens, types: list[int], *, fluent: bool) -> Marks:
    verbal = tokens.verbal[types]
    if not fluent:
        return verbal
    norm = [tokens.norm[one] for one in types]
    fillers, quotes = (np.array([one in some for one in norm], dtype=np.bool_) for some in (_FILLERS, QUOTES))
    return np.asarray((verbal & ~fillers) | quotes)


def _same_as_before(row: NDArray[np.integer]) -> Marks:
    return np.append(False, np.diff(row) == 0)[: len(row)]
