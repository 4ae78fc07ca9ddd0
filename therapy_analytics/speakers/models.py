"""The models of speakers: whose an utterance is, whether the speaker changes between words, and what is proposed.

The first is a `TextModel`; the second is a small network over the encoder's vectors around the gap between two words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.encoder import CLS, SEP, WIDTH, lower_layers, lower_vectors
from therapy_analytics.codes.text_model import TextModel, load_text_model
from therapy_analytics.core.third_party import threads
from therapy_analytics.text.data_files import (
    LARGEST_ARRAYS,
    LARGEST_TEXT,
    Wanted,
    json_object,
    parsing,
    read_arrays,
    read_bytes,
)

WEIGHTS = Path(__file__).parent / "weights"
"""The weights of the package."""
_WHAT = "the model of speakers"
_REMEDY = "Install the package again, or rebuild the weights with tools/train_speakers.py"
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
        parts = [network.parts(one) for one in pool.map(_vectors_from(words), range(0, len(words) - 1, CORE))]
    return GapScores.from_parts(np.concatenate(parts))


def gap_vectors(words: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of the tokens before and after each gap, in their context, (n_words - 1, 2 * WIDTH)."""
    found = map(_vectors_from(words), range(0, len(words) - 1, CORE))
    return np.concatenate([np.zeros((0, 2 * WIDTH), dtype=np.float32), *found])


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


@dataclass(frozen=True, slots=True)
class Limit:
    """How a score becomes a probability, and from which score on something is proposed.

    Attributes
    ----------
    slope, intercept : float
        Of the log-odds in the score.
    least : float
        The least score that is proposed.
    """

    slope: float
    intercept: float
    least: float

    def probability(self, score: float) -> float:
        """Return the probability that a proposal of this score is right."""
        return float(1.0 / (1.0 + np.exp(-np.clip(self.slope * score + self.intercept, -30.0, 30.0))))


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerModel:
    """The two models, and the limits of their scores.

    Attributes
    ----------
    voice : TextModel
        Its one score is the log-odds that an utterance is the therapist's.
    gaps : GapNetwork
        Where the speaker changes.
    swapped : Limit
        For segments with swapped labels, see `swapped`.
    moved : mapping of str to Limit
        For words at the wrong side of a boundary, in talk ``written`` with punctuation and ``recognised`` without.
    joint : Limit
        How the log-odds of a change count between utterances without speakers; `least` is the least probability with
        which an utterance is attributed.
    """

    voice: TextModel = field(repr=False)
    gaps: GapNetwork = field(repr=False)
    swapped: Limit
    moved: dict[str, Limit]
    joint: Limit


@functools.cache
def load_speaker_model(folder: Path = WEIGHTS) -> SpeakerModel:
    """Load the model of the package, or that of another folder; each is loaded one time.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or they do not fit this version.
    """
    about = folder / "speakers.json"
    with parsing(about, "the description of a model of speakers", _REMEDY):
        described = json_object(read_bytes(about, LARGEST_TEXT, what=_WHAT, remedy=_REMEDY))
        units = int(described["units"])
        swapped, joint = Limit(**described["swapped"]), Limit(**described["joint"])
        moved = {manner: Limit(**described["moved"][manner]) for manner in ("written", "recognised")}
    shapes: dict[str, Any] = {
        "hidden": (2 * WIDTH, units), "hidden_bias": (units,), "out": (units, 3), "out_bias": (3,),
    }  # fmt: skip
    path = folder / "gaps.npz"
    data = read_bytes(path, LARGEST_ARRAYS, what=_WHAT, remedy=_REMEDY)
    wanted = {name: Wanted(shape, held_as="float32") for name, shape in shapes.items()}
    arrays = read_arrays(path, data, wanted, what="an archive of weights", remedy=_REMEDY)
    gaps = GapNetwork(**{name: arrays[name] for name in shapes})
    return SpeakerModel(load_text_model(folder), gaps, swapped, moved, joint)
