"""Turns cut into segments for small models: sentences, or windows where speech recognisers wrote no full stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core.session import Session, Turn
from therapy_analytics.text import TurnArrays, annotate
from therapy_analytics.text.lexicons import Matcher

LONGEST = 30
"""Sentences of more words are cut into even windows, as turns without punctuation are."""
SHORTEST = 4
"""A sentence of fewer words is read together with the one after it."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """The sentences or windows of consecutive turns.

    Attributes
    ----------
    turns : TurnArrays
        The segments, as if each was a turn.
    turn_of : int64 array (n_segments,)
        The turn of each segment.
    """

    turns: TurnArrays
    turn_of: Ints


def turns_from_texts(texts: Sequence[str]) -> TurnArrays:
    """Return texts as turns of one speaker."""
    made = tuple(
        Turn(index=i, speaker="client", role="client", text=text, first_row=i + 1) for i, text in enumerate(texts)
    )
    return annotate([Session(id="texts", source_file="", turns=made)], Matcher([])).turns


def segments(turns: TurnArrays) -> Segments:
    """Cut turns into sentences, and long sentences into even windows; a turn without words is one segment.

    Examples
    --------
    A short sentence goes with the one after it; 62 words without a full stop are three windows:

    >>> cut = segments(turns_from_texts(["Yes. I told my mother. She cried all night.", "um " * 62, "..."]))
    >>> cut.turns.n_words.tolist(), cut.turn_of.tolist()
    ([5, 4, 21, 21, 20, 0], [0, 0, 1, 1, 1, 2])
    """
    word, turn_of = turns.tokens.word_start[turns.span], turns.turn_of
    opens_turn = np.diff(turn_of, prepend=-1) > 0
    opens_sentence = np.diff(turns.sentence_of, prepend=-1) > 0
    # A sentence that follows a short one of its turn does not begin a segment
    begins = np.flatnonzero(opens_sentence)
    short = np.append(False, _n_words(begins, word)[:-1] < SHORTEST)[: len(begins)]
    begins = begins[~short | opens_turn[begins]]
    begins = np.union1d(begins, _window_begins(begins, word))
    # Punctuation behind the last sentence goes with the segment before
    begins = begins[(_n_words(begins, word) > 0) | opens_turn[begins]]
    owner = turn_of[begins]
    n_words = _n_words(begins, word)
    cut = replace(
        turns,
        offsets=np.append(begins, len(word)) + turns.span.start,
        roles=turns.roles[owner],
        n_words=n_words,
        n_sentences=np.minimum(n_words, 1),
        counts=turns.counts[owner],
        covered=turns.covered[owner],
    )
    return Segments(cut, owner)


def _n_words(begins: Ints, word: Bools) -> Ints:
    """Return how many words there are from each begin to the next, (n_begins,)."""
    n_words: Ints = np.diff(np.append(0, np.cumsum(word))[np.append(begins, len(word))])
    return n_words


def _window_begins(begins: Ints, word: Bools) -> Ints:
    """Return where the second and further windows of sentences of more than `LONGEST` words begin."""
    spoken = np.flatnonzero(word)
    n_words = _n_words(begins, word)
    n_windows = np.maximum(-(-n_words // LONGEST), 1)
    sentence = np.repeat(np.arange(len(begins)), n_words)
    place = np.arange(len(spoken)) - (np.cumsum(n_words) - n_words)[sentence]
    window = place * n_windows[sentence] // n_words[sentence]
    return spoken[(np.diff(window, prepend=0) > 0) & (place > 0)]
