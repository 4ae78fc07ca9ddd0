"""Whether the speaker changes between two words, by a small network over the encoder's vectors around the gap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.encoder import CLS, SEP, WIDTH, lower_layers, lower_vectors
from therapy_analytics.core.third_party import threads

CORE, MARGIN = 56, 12
"""So many words are read at a time, with so many before and after them as context."""
MOST_TOKENS = 8
"""So many of the encoder's tokens are read of a word."""
_UNKNOWN = 100

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GapNetwork:
    """A network with one hidden layer of rectified units.

    Attributes
    ----------
    hidden, hidden_bias : float32 array (2 * WIDTH, n_units), (n_units,)
        From the vectors of the tokens before and after a gap to the hidden layer.
    out, out_bias : float32 array (n_units, 3), (3,)
        From the hidden layer to the parts of a score, see `GapScores.from_parts`.
    """

    hidden: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    out: NDArray[np.float32]
    out_bias: NDArray[np.float32]

    def parts(self, vectors: NDArray[np.float32]) -> Floats:
        """Return the parts of the scores, (n_gaps, 3), from the vectors around each gap, (n_gaps, 2 * WIDTH)."""
        units = np.maximum(vectors @ self.hidden + self.hidden_bias, 0.0)
        return np.asarray(units @ self.out + self.out_bias, dtype=np.float64)


class GapScores(NamedTuple):
    """Evidence for a change of speaker behind each word of a session but the last.

    Attributes
    ----------
    change : float64 array (n_words - 1,)
        The log-odds of a change, whoever speaks.
    lean : float64 array (n_words - 1,)
        Added to that for a change from therapist to client, subtracted for one from client to therapist. Only
        differences between gaps of one session have a meaning.
    """

    change: Floats
    lean: Floats

    @classmethod
    def from_parts(cls, parts: Floats) -> GapScores:
        """Add up what `GapNetwork.parts` returns: a change, its direction, and who the word before sounds like.

        If a turn of the therapist ends some words later, these words are the therapist's as well: who a word sounds
        like counts for every later gap.

        Examples
        --------
        >>> GapScores.from_parts(np.array([[-1.0, 0.5, 2.0], [1.0, 0.0, -1.0]])).lean.tolist()
        [2.5, 1.0]
        """
        return cls(parts[:, 0], parts[:, 1] + np.cumsum(parts[:, 2]))

    def after(self, of_therapist: bool) -> Floats:
        """Return the log-odds that a turn of the therapist, or of the client, ends at each gap, (n_words - 1,)."""
        return self.change + self.lean if of_therapist else self.change - self.lean


def gap_scores(words: Sequence[str], network: GapNetwork) -> GapScores:
    """Return the evidence for a change of speaker behind each word but the last.

    Parameters
    ----------
    words : sequence of str
        All words of a session in order, as they stand between spaces; who says them is not looked at.
    network : GapNetwork
        `SpeakerModel.gaps`.
    """
    if len(words) < 2:
        return GapScores(np.zeros(0), np.zeros(0))
    with ThreadPoolExecutor(threads()) as pool:
        parts = [network.parts(vectors) for vectors in pool.map(_vectors_from(words), _begins(words))]
    return GapScores.from_parts(np.concatenate(parts))


def gap_vectors(words: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of the tokens before and after each gap, in their context, (n_words - 1, 2 * WIDTH)."""
    return np.concatenate([np.zeros((0, 2 * WIDTH), dtype=np.float32), *map(_vectors_from(words), _begins(words))])


def _begins(words: Sequence[str]) -> range:
    return range(0, max(len(words) - 1, 0), CORE)


def _vectors_from(words: Sequence[str]) -> Callable[[int], NDArray[np.float32]]:
    """Return a function from a word's position to the vectors of the `CORE` gaps from there on."""
    encoder, tokenizer = lower_layers()
    tokens = [tokenizer.ids(word.replace("\u2019", "'"))[:MOST_TOKENS] or [_UNKNOWN] for word in words]

    def read(begin: int) -> NDArray[np.float32]:
        first = max(0, begin - MARGIN)
        some = tokens[first : begin + CORE + MARGIN]
        vectors = lower_vectors(encoder, [[CLS, *(token for word in some for token in word), SEP]])[0]
        ends = np.cumsum([len(word) for word in some])  # the last token of each word: a mark stands before the first
        at = np.arange(begin, min(begin + CORE, len(words) - 1)) - first
        return np.asarray(np.hstack([vectors[ends[at]], vectors[ends[at] + 1]]), dtype=np.float32)

    return read
