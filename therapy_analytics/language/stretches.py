"""Turns cut into stretches for small models: sentences, or windows where speech recognisers wrote no full stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import TurnArrays, annotate
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.session import Session, Turn

LONGEST = 30
"""Sentences of more words are cut into even windows, as turns without punctuation are."""
SHORTEST = 4
"""A sentence of fewer words is read together with the one after it."""
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """The sentences or windows of a run of turns.

    Attributes
    ----------
    turns : TurnArrays
        The stretches, as if each was a turn.
    turn_of : int64 array (n_stretches,)
        Whose they are.
    """

    turns: TurnArrays
    turn_of: Ints


def turns_of(texts: Sequence[str]) -> TurnArrays:
    """Return texts as turns of one speaker."""
    made = tuple(
        Turn(index=i, speaker="client", role="client", text=text, first_row=i + 1) for i, text in enumerate(texts)
    )
    return annotate([Session(id="texts", source_file="", turns=made)], Matcher([])).turns


def stretches(turns: TurnArrays) -> Stretches:
    """Cut turns into sentences, and long sentences into even windows; turns without words have none.

    Examples
    --------
    A short sentence goes with the one after it; 62 words without a full stop are three windows:

    >>> cut = stretches(turns_of(["Yes. I told my mother. She cried all night.", "um " * 62, "..."]))
    >>> cut.turns.n_words.tolist(), cut.turn_of.tolist()
    ([5, 4, 21, 21, 20, 0], [0, 0, 1, 1, 1, 2])
    """
    begin, end = int(turns.offsets[0]), int(turns.offsets[-1])
    turn_of = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
    word = turns.tokens.word_start[begin:end]
    begins = np.diff(turn_of, prepend=-1) > 0
    after_end = np.concatenate([[False], turns.tokens.sentence_end[begin:end][:-1]])[: len(word)]
    begins = _joined(begins, begins | after_end, word)
    begins |= _window_begins(begins, word)
    at = np.append(np.flatnonzero(begins), len(word))
    n_words = np.diff(np.concatenate([[0], np.cumsum(word)])[at])
    # A stretch without words (signs behind the last sentence) goes with the one before
    kept = (n_words > 0) | (np.diff(turn_of[at[:-1]], prepend=-1) > 0)
    at, owner = np.append(at[:-1][kept], len(word)), turn_of[at[:-1][kept]]
    n_words = np.diff(np.concatenate([[0], np.cumsum(word)])[at])
    return _as_turns(turns, at + begin, n_words, owner)


def _joined(opens: NDArray[np.bool_], begins: NDArray[np.bool_], word: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Leave out the beginnings that follow a sentence of fewer than `SHORTEST` words; those of turns stay."""
    at = np.flatnonzero(begins)
    n_words = np.diff(np.concatenate([[0], np.cumsum(word)])[np.append(at, len(word))])
    found = opens.copy()
    found[at[1:]] |= n_words[:-1] >= SHORTEST
    return found


def _window_begins(begins: NDArray[np.bool_], word: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where the further windows of sentences of more than `LONGEST` words begin."""
    at = np.flatnonzero(begins)
    total = np.cumsum(word)
    n_words = np.diff(np.concatenate([[0], total])[np.append(at, len(word))])
    sentence = np.cumsum(begins) - 1
    n_windows = np.maximum(-(-n_words // LONGEST), 1)
    place = total - 1 - (np.concatenate([[0], total])[at])[sentence] if len(word) else total
    window = np.where(word, place, 0) * n_windows[sentence] // np.maximum(n_words, 1)[sentence]
    found = np.zeros(len(word), dtype=np.bool_)
    spoken = np.flatnonzero(word)
    changed = (np.diff(window[spoken], prepend=0) > 0) & (np.diff(sentence[spoken], prepend=0) == 0)
    found[spoken[changed]] = True
    return found


def _as_turns(turns: TurnArrays, offsets: Ints, n_words: Ints, owner: Ints) -> Stretches:
    made = replace(
        turns,
        offsets=offsets,
        roles=turns.roles[owner],
        n_words=n_words,
        n_sentences=np.minimum(n_words, 1),
        counts=turns.counts[owner],
        covered=turns.covered[owner],
        opens=turns.opens[owner],
    )
    return Stretches(made, owner)
