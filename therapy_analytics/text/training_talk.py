"""How far sessions lie from those that the tagger learnt its codes of counselors from.

A session is described by 20 numbers: of each of its two speakers, where the mean of the turns' static vectors lies
along eight directions, how far off these it lies, and the mean logarithm of the words of a turn. The distance is
Mahalanobis' to the sessions of AnnoMI and HLQC, each of which was compared with sessions of other recordings.
``tools/build_training_talk.py`` writes the directions, means and covariances; they hold no words.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.text.data_files import Wanted, read_arrays

N_DIRECTIONS, N_VECTOR = 8, 256
N_NUMBERS = 2 * (N_DIRECTIONS + 2)
FEWEST = 3
"""Turns of each speaker from which on a session is described."""
PATH = Path(__file__).parent / "vectors" / "training_talk.npz"
_SHAPES = {
    "mean": (2, N_VECTOR),
    "directions": (2, N_DIRECTIONS, N_VECTOR),
    "usual": (N_NUMBERS,),
    "precision": (N_NUMBERS, N_NUMBERS),
    "limit": (2,),
}
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingTalk:
    """What the sessions that the tagger learnt from are like.

    Attributes
    ----------
    mean, directions : float64 arrays (2, N_VECTOR), (2, N_DIRECTIONS, N_VECTOR)
        Of the mean vectors of therapists and of clients.
    usual, precision : float64 arrays (N_NUMBERS,), (N_NUMBERS, N_NUMBERS)
        Mean of the numbers, and the inverse of their covariance.
    limit : float64 array (2,)
        The squared distance that 95% of sessions of n turns lie within is ``limit[0] + limit[1] / n``.
    """

    mean: _Floats
    directions: _Floats
    usual: _Floats
    precision: _Floats
    limit: _Floats

    def numbers(self, speakers: Sequence[tuple[_Floats, NDArray[np.int64]]]) -> _Floats | None:
        """Return the numbers of a session, float64 (N_NUMBERS,); None where a speaker has too few turns.

        Parameters
        ----------
        speakers : sequence of two (float64 array (n_turns, N_VECTOR), int64 array (n_turns,))
            Vectors and numbers of words of the turns with words: the therapist's, then the client's.
        """
        if any(len(words) < FEWEST for _, words in speakers):
            return None
        found: list[float] = []
        for (vectors, words), mean, directions in zip(speakers, self.mean, self.directions, strict=True):
            off = vectors.mean(axis=0) - mean
            along = directions @ off
            found += [*along, np.log(np.linalg.norm(off - along @ directions)), np.log(words).mean()]
        return np.array(found)

    def distance(self, speakers: Sequence[tuple[_Floats, NDArray[np.int64]]]) -> float:
        """Return how far a session lies off; 1 is as far as one in twenty of the sessions of its length that were seen.

        Nan where a speaker has too few turns.
        """
        numbers = self.numbers(speakers)
        if numbers is None:
            return nan
        off = numbers - self.usual
        within = self.limit[0] + self.limit[1] / sum(len(words) for _, words in speakers)
        return float(np.sqrt(off @ self.precision @ off / N_NUMBERS / within))


@functools.cache
def training_talk() -> TrainingTalk:
    """Load what the package knows of the sessions.

    Raises
    ------
    BadDataFileError
        The file is broken.
    """
    wanted = {name: Wanted(shape) for name, shape in _SHAPES.items()}
    found = read_arrays(
        PATH, PATH.read_bytes(), wanted, what="an archive of arrays", remedy="Install the package again"
    )
    return TrainingTalk(**found)
