"""The tagger: which behaviours a turn holds, as calibrated probabilities and decisions.

A folder of weights holds ``model.json`` (what the codes are made of) and ``weights.npz``
(arrays, read without pickle). `load_tagger` checks both; another model comes in another folder.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours._weights import AIMS, DEFAULT_AIM, WEIGHTS, Coded, Weights, load_weights
from therapy_analytics.behaviours.codebook import Codebook, builtin_codebooks
from therapy_analytics.behaviours.features import Features, featurize, neighbour
from therapy_analytics.behaviours.hierarchy import n_questions, without_contradictions
from therapy_analytics.errors import UnknownNameError
from therapy_analytics.language import Batch, TurnArrays
from therapy_analytics.session import ROLES

STEEPEST = 30.0
"""Scores are cut here, so that no probability rounds to exactly 0 or 1."""
NEAR = 0.25
"""How near to its threshold a probability is unsure, in log-odds.

Within it the odds of the code lie within a factor exp(0.25) = 1.28 of those at which it is
decided: a few other words could have turned the decision, and so could another training
set. A distance of probabilities would be too wide for rare codes, whose thresholds are low.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """The codes of the turns of a batch.

    Attributes
    ----------
    names : tuple of str
        Columns: ``mi_question``, ``bolt_planning``, ...
    probability : float64 array (n_turns, n_codes)
        Calibrated; nan where the turn's role cannot have the code.
    decision : bool array (n_turns, n_codes)
        Whether the probability reaches the code's threshold for the aim, and no other code of the turn speaks
        against it (see `therapy_analytics.behaviours.hierarchy`); False for other roles.
    unsure : bool array (n_turns, n_codes)
        Whether the probability is so near to the threshold that the decision may well be
        otherwise (see `NEAR`); False for other roles, and from coders without probabilities.
    counts : mapping of str to int
        What a coder counted on its way, for the record; the tagger has nothing to count.
    """

    names: tuple[str, ...]
    probability: NDArray[np.float64]
    decision: NDArray[np.bool_]
    unsure: NDArray[np.bool_]
    counts: Mapping[str, int] = field(default_factory=dict)

    def probabilities(self, start: int, stop: int) -> Mapping[str, NDArray[np.float64]]:
        """Return the probabilities of turns ``start:stop`` by code (views)."""
        return dict(zip(self.names, self.probability[start:stop].T, strict=True))

    def decisions(self, start: int, stop: int) -> Mapping[str, NDArray[np.bool_]]:
        """Return the decisions on turns ``start:stop`` by code (views)."""
        return dict(zip(self.names, self.decision[start:stop].T, strict=True))

    def doubts(self, start: int, stop: int) -> Mapping[str, NDArray[np.bool_]]:
        """Return which decisions on turns ``start:stop`` are unsure, by code (views)."""
        return dict(zip(self.names, self.unsure[start:stop].T, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Tagger:
    """A trained tagger.

    Attributes
    ----------
    name, version : str
        Of the model.
    sha256 : str
        Of its two files together: says exactly which weights made a result.
    codes : tuple of Coded
        What each code is made of, and its thresholds.
    weights : Weights
        The arrays.
    aim : str
        What the thresholds are chosen for, one of `AIMS`. Probabilities do not depend on it.

    Raises
    ------
    UnknownNameError
        There is no such aim.
    """

    name: str
    version: str
    sha256: str
    codes: tuple[Coded, ...]
    weights: Weights = field(repr=False)
    aim: str = DEFAULT_AIM

    def __post_init__(self) -> None:
        if self.aim not in AIMS:
            raise UnknownNameError("aim of the tagger", self.aim, AIMS)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the codes."""
        return tuple(code.column for code in self.codes)

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The threshold of each code for the aim, (n_codes,)."""
        return np.array([code.thresholds[self.aim] for code in self.codes], dtype=np.float64)

    def predict(self, batch: Batch) -> Codes:
        """Predict the codes of all turns of a batch at once.

        Parameters
        ----------
        batch : Batch
            Annotated sessions, with any lexicons or none.

        Returns
        -------
        Codes
            What it holds for a session does not depend on the other sessions.
        """
        probability = self.probabilities(featurize(batch.turns, batch.starts), batch.turns.roles)
        return decided(self.names, probability, self.thresholds, batch.turns)

    def probabilities(self, features: Features, roles: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return the probability of each code, (n_turns, n_codes); nan where the turn's role cannot have it."""
        heads = 1.0 / (1.0 + np.exp(-scores_of(self.weights, features)))
        probability = np.empty((len(heads), len(self.codes)))
        for column, code in enumerate(self.codes):
            probability[:, column] = heads[:, [self.weights.heads.index(head) for head in code.heads]].prod(axis=1)
            probability[roles != ROLES.index(code.role), column] = np.nan
        return probability


def decided(
    names: tuple[str, ...],
    probability: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    turns: TurnArrays,
    books: Iterable[Codebook] = (),
) -> Codes:
    """Return codes by their probabilities (n_turns, n_codes) and thresholds (n_codes,), without contradictions.

    Of kinds that exclude each other the likeliest stands. `books` are those of the user, beside the built-in ones.
    """
    every = (*builtin_codebooks(), *books)
    decision = without_contradictions(names, probability >= thresholds, probability, n_questions(turns), every)
    return Codes(names, probability, decision, _near(probability, thresholds))


def load_tagger(folder: Path | None = None, *, aim: str = DEFAULT_AIM, all_codes: bool = False) -> Tagger:
    """Load a tagger; the one of the package when no folder is named.

    Parameters
    ----------
    folder : Path, optional
        Of other weights.
    aim : {"balanced", "precision", "recall", "rate"}, optional
        What decisions are for, see ``docs/tagger.md``.
    all_codes : bool, optional
        Whether the codes that are given on request only are wanted, too.

    Raises
    ------
    BadDataFileError
        The folder does not hold the weights of a tagger, or they do not fit this version.
    UnknownNameError
        There is no such aim.
    """
    return replace(_load(WEIGHTS, all_codes) if folder is None else _load.__wrapped__(folder, all_codes), aim=aim)


@functools.cache
def _load(folder: Path, all_codes: bool) -> Tagger:
    whole = Tagger(*load_weights(folder))
    if all_codes:
        return whole
    codes = tuple(code for code in whole.codes if not code.on_request)
    used = {whole.weights.heads.index(head) for code in codes for head in code.heads}
    return replace(whole, codes=codes, weights=whole.weights.only(used))


def _near(probability: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether |logit(p) - logit(threshold)| < NEAR, by bounds on p: two comparisons are faster than a logarithm."""
    odds = thresholds / (1.0 - thresholds)
    low, high = (odds * factor / (1.0 + odds * factor) for factor in (np.exp(-NEAR), np.exp(NEAR)))
    near: NDArray[np.bool_] = (probability > low) & (probability < high)
    return near


def scores_of(weights: Weights, features: Features) -> NDArray[np.float64]:
    """Scores of all heads: first those that read the neighbouring turns, then those that build on them."""
    n = weights.n_context
    buckets = features.project(weights.buckets)
    hand = features.hand @ weights.hand + weights.bias
    context = neighbour(buckets[:, n : 2 * n], features.before) + neighbour(buckets[:, 2 * n : 3 * n], features.after)
    first = _cut(buckets[:, :n] + context + hand[:, :n])
    return np.hstack([first, _cut(buckets[:, 3 * n :] + hand[:, n:] + _lifted(first, weights.lift))])


def _lifted(first: NDArray[np.float64], lift: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up head by head: a matrix product may round differently in batches of another size."""
    result = np.zeros((len(first), lift.shape[1]))
    for head in range(first.shape[1]):
        result += first[:, head : head + 1] * lift[head]
    return result


def _cut(scores: NDArray[Any]) -> NDArray[np.float64]:
    clipped: NDArray[np.float64] = np.clip(scores.astype(np.float64), -STEEPEST, STEEPEST)
    return clipped
