"""How likely a therapist's (or language model's) turn praises, reinforces a claim, or challenges it.

A linear model over hashed words, hand-crafted features and the mean of static word vectors reads one segment of a turn
at a time: a sentence, or a window where speech recognisers wrote no full stops. It was trained on the spans that a
judge quoted from chats of two language models (``going_along_weights/NOTICE.md``) by ``tools/train_going_along.py``.

References
----------
Paech, S. (2025). Spiral-Bench: A benchmark for sycophancy and delusion reinforcement in language models (MIT licence).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from therapy_analytics.behaviours.text_model import Floats, SegmentedTurns, TextModel, load_text_model, read_segments
from therapy_analytics.language import TurnArrays
from therapy_analytics.language.segments import Ints, turns_from_texts

KINDS = ("praise", "reinforcement", "challenge")
"""Columns of what the model gives: praise of the person or idea, reinforcement of a claim, and challenge, which is for
exploring only: phrases find challenges better (docs/validity.md)."""
WEIGHTS = Path(__file__).parent / "going_along_weights"
PRAISES = 0.5
"""A segment of this probability counts as praise."""


@dataclass(frozen=True, slots=True, eq=False)
class WentAlong:
    """The model's output for consecutive turns.

    Attributes
    ----------
    turns : float64 array (n_turns, 3)
        For each of `KINDS`, the probability of the turn's likeliest segment; nan for turns without words.
    praises : int64 array (n_turns,)
        How many segments of the turn praise (probability of `PRAISES` or more).
    """

    turns: Floats
    praises: Ints


@dataclass(frozen=True, slots=True, eq=False)
class GoingAlong:
    """The model, asked for each segment of a turn."""

    model: TextModel

    def predict(self, turns: TurnArrays) -> WentAlong:
        """Return what turns do; no bit of it depends on the other turns."""
        return self.of_segments(read_segments(turns))

    def of_segments(self, read: SegmentedTurns) -> WentAlong:
        """Return the same for turns that are cut and read."""
        turns, cut = read.turns, read.segments
        p = self.model.probabilities(read.texts)
        best = np.zeros((len(turns), len(KINDS)))
        np.maximum.at(best, cut.turn_of, p)
        best[turns.n_words == 0] = np.nan
        praises = np.bincount(cut.turn_of[p[:, 0] >= PRAISES], minlength=len(turns))
        return WentAlong(best, praises.astype(np.int64))

    def of_texts(self, texts: Sequence[str]) -> Floats:
        """Return the probabilities of texts, each read as a turn: (n_texts, 3), nan for texts without words.

        Examples
        --------
        >>> praised, asked = load_going_along().of_texts(["That is such a brilliant insight!", "When was that?"])
        >>> bool(praised[0] > asked[0])
        True
        """
        return self.predict(turns_from_texts(texts)).turns


def load_going_along(folder: Path = WEIGHTS) -> GoingAlong:
    """Load the model of the package, or that of another folder.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or they do not fit this version.
    """
    return GoingAlong(load_text_model(folder))
