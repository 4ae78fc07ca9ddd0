"""How likely a turn voices a distorted thought (mind reading, overgeneralization, ...), or a negative core belief.

A linear model over hashed words, hand-crafted features and the mean of static word vectors reads one segment of a turn
at a time: a sentence, or a window where speech recognisers wrote no full stops. It was trained on letters in which a
passage was marked as distorted, or none (``distortions_weights/NOTICE.md``), by ``tools/train_distortions.py``. A turn
is distorted if any of its segments is, each taken to be so independently of the others ("noisy or"). The beliefs
(helpless, unlovable, worthless) were learnt from sentences of our own alone.

References
----------
Beck, J. S. (2021). Cognitive behavior therapy: Basics and beyond (3rd ed.). Guilford. (Core beliefs.)

Shreevastava, S., & Foltz, P. (2021). Detecting cognitive distortions from patient-therapist interactions. Proceedings
of the 7th Workshop on Computational Linguistics and Clinical Psychology, NAACL, 151-158.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.text_model import (
    Floats,
    SegmentedTurns,
    TextModel,
    load_text_model,
    read_segments,
    session_segments,
)
from therapy_analytics.language import AnnotatedSession, TurnArrays
from therapy_analytics.language.segments import Ints, turns_from_texts

KINDS = (
    "all_or_nothing_thinking",
    "emotional_reasoning",
    "fortune_telling",
    "labeling",
    "magnification",
    "mental_filter",
    "mind_reading",
    "overgeneralization",
    "personalization",
    "should_statements",
)
"""Columns of `Distorted.kinds`."""
BELIEFS = ("helpless", "unlovable", "worthless")
"""Columns of `Distorted.beliefs`: what the speaker believes of himself or herself."""
BALANCED = 0.45
"""From this probability on a turn counts as distorted: of letters left out, about as good in F1 and macro-F1 as any."""
VOICED = 0.5
"""From this probability on a turn counts as voicing a belief."""
ANY = "distorted"
"""The first kind of the model."""
WEIGHTS = Path(__file__).parent / "distortions_weights"
_SUREST = 1.0 - 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Distorted:
    """The model's output for consecutive turns.

    Attributes
    ----------
    any : float64 array (n_turns,)
        The probability that some segment of the turn is distorted; nan for turns without words.
    kinds : float64 array (n_turns, 10)
        The same for each of `KINDS`; little better than a guess among the ten (``NOTICE.md``), for exploring only.
    words : float64 array (n_turns,)
        Words of the turn in distorted segments, as expected; 0 for turns without words.
    beliefs : float64 array (n_turns, 3)
        The probability that the likeliest segment of the turn voices each of `BELIEFS`; nan for turns without words.
    """

    any: Floats
    kinds: Floats
    words: Floats
    beliefs: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Distortions:
    """The model, asked for each segment of a turn."""

    model: TextModel

    def predict(self, turns: TurnArrays) -> Distorted:
        """Return how likely turns are distorted; no bit of it depends on the other turns."""
        return self.of_segments(read_segments(turns))

    def of_segments(self, read: SegmentedTurns) -> Distorted:
        """Return the same for turns that are cut and read."""
        turns, cut = read.turns, read.segments
        scores = self.model.scores(read.texts)
        silent = turns.n_words == 0
        p = 1.0 / (1.0 + np.exp(-scores))
        of_kind = p[:, :1] * _shares(scores[:, 1 : 1 + len(KINDS)])
        beliefs = np.zeros((len(turns), len(BELIEFS)))
        np.maximum.at(beliefs, cut.turn_of, p[:, 1 + len(KINDS) :])
        beliefs[silent] = np.nan
        words = np.bincount(cut.turn_of, cut.turns.n_words * p[:, 0], len(turns)).astype(np.float64)
        return Distorted(
            any=_any_of(p[:, :1], cut.turn_of, silent)[:, 0],
            kinds=_any_of(of_kind, cut.turn_of, silent),
            words=words,
            beliefs=beliefs,
        )

    def of_texts(self, texts: Sequence[str]) -> Distorted:
        """Return the model's output for texts, each read as a turn.

        Examples
        --------
        >>> thought, fact = load_distortions().of_texts(["Everybody hates me.", "I went to the shop."]).any
        >>> bool(thought > fact)
        True
        """
        return self.predict(turns_from_texts(texts))


def _shares(scores: Floats) -> Floats:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _any_of(p: Floats, turn_of: Ints, silent: NDArray[np.bool_]) -> Floats:
    """Return the probability that any segment of a turn is, for columns of p; nan for silent turns."""
    none = [np.bincount(turn_of, log_not, len(silent)) for log_not in np.log1p(-np.minimum(p, _SUREST)).T]
    return np.where(silent[:, None], np.nan, -np.expm1(np.stack(none, axis=1)))


def distorted(session: AnnotatedSession) -> Distorted:
    """Return the output of the package's model for all turns of a session, computed once."""
    return session.cached(_distorted)


def _distorted(session: AnnotatedSession) -> Distorted:
    return load_distortions().of_segments(session_segments(session))


def load_distortions(folder: Path = WEIGHTS) -> Distortions:
    """Load the model of the package, or that of another folder.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or they do not fit this version.
    """
    return Distortions(load_text_model(folder))
