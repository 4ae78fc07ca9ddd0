"""The models of speakers as they are installed, and the limits from which on something is proposed."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from therapy_analytics.codes.encoder import WIDTH
from therapy_analytics.codes.text_model import TextModel, load_text_model
from therapy_analytics.speakers._gaps import GapNetwork
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
        For segments with swapped labels, see `_swapped`.
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
