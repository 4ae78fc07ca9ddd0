"""How likely a turn tells of the speaker: feelings (emotional disclosure), and facts (informational disclosure).

A linear model over hashed words, hand-crafted features and the mean of static word vectors reads one segment of a turn
at a time: a sentence, or a window where speech recognisers wrote no full stops. It was trained on single sentences of a
forum (``disclosure_weights/NOTICE.md``) by ``tools/train_disclosure.py``, as written and without punctuation.

References
----------
Jaidka, K., Singh, I., Liu, J., Chhaya, N., & Ungar, L. (2020). A report of the CL-Aff OffMyChest shared task: Modeling
supportiveness and disclosure. Proceedings of the 3rd Workshop on Affective Content Analysis (AffCon), AAAI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from therapy_analytics.codes.text_model import (
    Floats,
    SegmentedTurns,
    TextModel,
    load_text_model,
    read_segments,
    session_segments,
)
from therapy_analytics.text import AnnotatedSession, TurnArrays
from therapy_analytics.text.segments import turns_from_texts

KINDS = ("emotional", "informational")
"""Columns of everything that the model gives."""
WEIGHTS = Path(__file__).parent / "disclosure_weights"


@dataclass(frozen=True, slots=True, eq=False)
class Disclosed:
    """The model's output for consecutive turns.

    Attributes
    ----------
    turns : float64 array (n_turns, 2)
        The probability that some segment of the turn discloses, as its likeliest segment has it: for each of
        `KINDS`, 0 to 1; nan for turns without words.
    words : float64 array (n_turns,)
        Words of the turn in segments that disclose feelings or facts, as expected if the two were independent.
    """

    turns: Floats
    words: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Disclosure:
    """The model, asked for each segment of a turn."""

    model: TextModel

    def predict(self, turns: TurnArrays) -> Disclosed:
        """Return what turns disclose; no bit of it depends on the other turns."""
        return self.of_segments(read_segments(turns))

    def of_segments(self, read: SegmentedTurns) -> Disclosed:
        """Return the same for turns that are cut and read."""
        turns, cut = read.turns, read.segments
        p = self.model.probabilities(read.texts)
        best = np.zeros((len(turns), len(KINDS)))
        np.maximum.at(best, cut.turn_of, p)
        either = 1.0 - (1.0 - p[:, 0]) * (1.0 - p[:, 1])
        best[turns.n_words == 0] = np.nan
        return Disclosed(best, np.bincount(cut.turn_of, cut.turns.n_words * either, len(turns)).astype(np.float64))

    def of_texts(self, texts: Sequence[str]) -> Floats:
        """Return the probabilities of texts, each read as a turn: (n_texts, 2), nan for texts without words.

        Examples
        --------
        >>> model = load_disclosure()
        >>> told, asked = model.of_texts(["I was so scared when my father left us.", "What would you like to do?"])
        >>> bool(told[0] > asked[0]), bool(told[1] > asked[1])
        (True, True)
        """
        return self.predict(turns_from_texts(texts)).turns


def disclosed(session: AnnotatedSession) -> Disclosed:
    """Return the output of the package's model for all turns of a session, computed once."""
    return session.cached(lambda one: load_disclosure().of_segments(session_segments(one)), key=disclosed)


def load_disclosure(folder: Path = WEIGHTS) -> Disclosure:
    """Load the model of the package, or that of another folder.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or they do not fit this version.
    """
    return Disclosure(load_text_model(folder))
