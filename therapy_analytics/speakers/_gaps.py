"""Whether the speaker changes between two words, by what the encoder reads around them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.encoder import CLS, SEP, model_input
from therapy_analytics.behaviours.lower_layers import LOWER, WIDTH, lower_layers
from therapy_analytics.language.cores import threads
from therapy_analytics.language.wordpiece import WordPiece
from therapy_analytics.speakers._model import GapScores, SpeakerModel

CORE, MARGIN = 56, 12
"""So many words are read at a time, with so many before and after them."""
MOST = 8
"""So many pieces of a word are read."""
_UNKNOWN = 100


def gap_scores(words: Sequence[str], model: SpeakerModel) -> GapScores:
    """Return what speaks for a change of the speaker behind each word but the last.

    Parameters
    ----------
    words : sequence of str
        All words of a session, in order, as they are written between spaces; who says them is not looked at.
    model : SpeakerModel
        Its network of gaps.
    """
    if len(words) < 2:
        return GapScores(np.zeros(0), np.zeros(0))
    with ThreadPoolExecutor(threads()) as pool:
        parts = [model.gaps.parts(one) for one in pool.map(_reading(words), _begins(words))]
    return GapScores.of(np.concatenate(parts))


def gap_vectors(words: Sequence[str]) -> NDArray[np.float32]:
    """Return what is read around each gap, (n_words - 1, 2 * WIDTH): the pieces before and after it, in context."""
    read = _reading(words)
    return np.concatenate([np.zeros((0, 2 * WIDTH), dtype=np.float32), *map(read, _begins(words))])


def _begins(words: Sequence[str]) -> range:
    return range(0, max(len(words) - 1, 0), CORE)


def _reading(words: Sequence[str]) -> Any:
    """Return a function from where some words begin to the vectors of their gaps."""
    encoder, cutter = lower_layers()
    pieces = [_pieces(word, cutter) for word in words]

    def read(begin: int) -> NDArray[np.float32]:
        first = max(0, begin - MARGIN)
        some = pieces[first : begin + CORE + MARGIN]
        given = model_input([CLS, *(subword for word in some for subword in word), SEP])
        vectors = encoder.run([LOWER], given)[0][0]
        ends = np.cumsum([len(word) for word in some])  # the last subword of each word: a mark stands before the first
        at = np.arange(begin, min(begin + CORE, len(words) - 1)) - first
        return np.asarray(np.hstack([vectors[ends[at]], vectors[ends[at] + 1]]), dtype=np.float32)

    return read


def _pieces(word: str, cutter: WordPiece) -> list[int]:
    return cutter.ids(word.replace("\u2019", "'"))[:MOST] or [_UNKNOWN]
