"""The files of the models of speakers, and the limits from which something is proposed."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.lower_layers import WIDTH
from therapy_analytics.behaviours.text_model import TextModel, load_text_model
from therapy_analytics.language.data_files import (
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


@dataclass(frozen=True, slots=True)
class Limit:
    """How a score becomes a probability, and from which score on something is proposed.

    Attributes
    ----------
    slope, intercept : float
        Of the log-odds in the score.
    least : float
        The score from which on it is proposed.
    """

    slope: float
    intercept: float
    least: float

    def probability(self, score: float) -> float:
        """Return the probability that a proposal of this score is right."""
        return float(1.0 / (1.0 + np.exp(-np.clip(self.slope * score + self.intercept, -30.0, 30.0))))


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """A network with one hidden layer: whether the speaker changes between two words, and who speaks the word before.

    Attributes
    ----------
    hidden, hidden_bias : float32 array (2 * WIDTH, n_units), (n_units,)
        From the vectors of the pieces before and after the gap to the hidden layer, whose units are rectified.
    out, out_bias : float32 array (n_units, 3), (3,)
        From the hidden layer to the parts of a score, see `GapScores.of`.
    """

    hidden: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    out: NDArray[np.float32]
    out_bias: NDArray[np.float32]

    def parts(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the parts of the scores, (n_gaps, 3), from what is read around each gap, (n_gaps, 2 * WIDTH)."""
        units = np.maximum(vectors @ self.hidden + self.hidden_bias, 0.0)
        return np.asarray(units @ self.out + self.out_bias, dtype=np.float64)


class GapScores(NamedTuple):
    """What speaks for a change of the speaker behind each word of a session but the last.

    Attributes
    ----------
    change : float64 array (n_words - 1,)
        The log-odds of a change, whoever speaks.
    lean : float64 array (n_words - 1,)
        What is added to that for a change from therapist to client, and taken off for one from client to therapist.
        Only differences between gaps of a session count.
    """

    change: NDArray[np.float64]
    lean: NDArray[np.float64]

    @classmethod
    def of(cls, parts: NDArray[np.float64]) -> GapScores:
        """Add up the parts of the scores (`Gaps.parts`): change, its direction, and whose the word before sounds.

        If a turn of the therapist ends some words later, these words are the therapist's: whose they sound counts for
        all words up to the gap.

        Examples
        --------
        >>> GapScores.of(np.array([[-1.0, 0.5, 2.0], [1.0, 0.0, -1.0]])).lean.tolist()
        [2.5, 1.0]
        """
        return cls(parts[:, 0], parts[:, 1] + np.cumsum(parts[:, 2]))

    def after(self, of_therapist: bool) -> NDArray[np.float64]:
        """Return the scores of ends of a turn of the therapist, or of the client, (n_words - 1,)."""
        return self.change + self.lean if of_therapist else self.change - self.lean


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerModel:
    """All that is known of speakers.

    Attributes
    ----------
    voice : TextModel
        Its one score is the log-odds that an utterance is the therapist's.
    gaps : Gaps
        Where the speaker changes, and whose words they are.
    exchanged : Limit
        Of stretches with exchanged labels, by their score (see `_exchanged`).
    moved : mapping of str to Limit
        Of words at the wrong side of a boundary, in talk ``written`` with punctuation and ``recognised`` without.
    joint : Limit
        How the log-odds of a change at a gap count where utterances without speakers meet; `least` is the probability
        from which on an utterance is attributed.
    """

    voice: TextModel = field(repr=False)
    gaps: Gaps = field(repr=False)
    exchanged: Limit
    moved: dict[str, Limit]
    joint: Limit


@functools.cache
def load_speaker_model(folder: Path = WEIGHTS) -> SpeakerModel:
    """Load the model of the package, or that of another folder (once).

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or they do not fit this version.
    """
    about = folder / "speakers.json"
    with parsing(about, "the description of a model of speakers", _REMEDY):
        said = json_object(read_bytes(about, LARGEST_TEXT, what=_WHAT, remedy=_REMEDY))
        units = int(said["units"])
        exchanged, joint = Limit(**said["exchanged"]), Limit(**said["joint"])
        moved = {manner: Limit(**said["moved"][manner]) for manner in ("written", "recognised")}
    shapes: dict[str, Any] = {
        "hidden": (2 * WIDTH, units), "hidden_bias": (units,), "out": (units, 3), "out_bias": (3,),
    }  # fmt: skip
    path = folder / "gaps.npz"
    data = read_bytes(path, LARGEST_ARRAYS, what=_WHAT, remedy=_REMEDY)
    wanted = {name: Wanted(shape, held_as="float32") for name, shape in shapes.items()}
    found = read_arrays(path, data, wanted, what="an archive of weights", remedy=_REMEDY)
    gaps = Gaps(found["hidden"], found["hidden_bias"], found["out"], found["out_bias"])
    return SpeakerModel(load_text_model(folder), gaps, exchanged, moved, joint)
