"""The fast tagger: the codes of turns, as calibrated probabilities and decisions that agree with each other.

A turn has a sub-code only where it has the parent (`Code.parent`), and of mutually exclusive sub-codes only one, or
one for each of its questions (`Code.exclusive`). Of codes that are alternatives (`Code.one_of`) it has one. So it is
whoever gave the codes. A folder of weights has ``model.json`` and ``weights.npz`` (read without pickle).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.codebook import Codebook, builtin_codebooks, parents
from therapy_analytics.codes.features import Features, featurize, neighbour
from therapy_analytics.codes.weights import AIMS, DEFAULT_AIM, WEIGHTS, Coded, Weights, load_weights
from therapy_analytics.core.errors import UnknownNameError
from therapy_analytics.core.session import ROLES
from therapy_analytics.text import Batch, TurnArrays

_T = TypeVar("_T", bound=np.generic)
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
STEEPEST = 30.0
"""Scores are clipped at this absolute value, so that no probability rounds to exactly 0 or 1."""
NEAR = 0.25
"""A decision is unsure where the probability is within so many log-odds of the threshold.

The odds are then within a factor exp(0.25) = 1.28 of those at which the code is decided: a few other words, or another
training set, could have changed the decision. A distance between probabilities would be too wide for rare codes, whose
thresholds are low.
"""
FEWEST_WORDS = 2
"""A question of fewer words ("Right?") only asks for assent."""


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
        Whether the probability reaches the code's threshold for the aim, and the decision is consistent with the other
        codes of the turn (see `without_contradictions`); False for other roles.
    unsure : bool array (n_turns, n_codes)
        Whether the probability is close to the threshold (see `NEAR`); False for other roles, and from coders without
        probabilities.
    counts : mapping of str to int
        Counts of an outside coder for the record of the run; empty from the tagger.
    """

    names: tuple[str, ...]
    probability: Floats
    decision: Bools
    unsure: Bools
    counts: Mapping[str, int] = field(default_factory=dict)

    def by_name(self, values: NDArray[_T]) -> dict[str, NDArray[_T]]:
        """Return the columns (views) of an array (n, n_codes) by code."""
        return dict(zip(self.names, values.T, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Tagger:
    """A trained tagger.

    Attributes
    ----------
    name, version : str
        Of the model.
    sha256 : str
        Hash of its two files together.
    codes : tuple of Coded
        The codes, with their heads and thresholds.
    weights : Weights
        The arrays.
    aim : str
        Aim of the thresholds, one of `AIMS`. Probabilities do not depend on it.

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
    def thresholds(self) -> Floats:
        """The threshold of each code for the aim, float64 (n_codes,)."""
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
            The codes of a session do not depend on the other sessions.
        """
        probability = self.probabilities(featurize(batch.turns, batch.starts), batch.turns.roles)
        return decided(self.names, probability, self.thresholds, batch.turns)

    def probabilities(self, features: Features, roles: NDArray[np.integer[Any]]) -> Floats:
        """Return the probability of each code, float64 (n_turns, n_codes); nan where the turn's role cannot have it."""
        heads = 1.0 / (1.0 + np.exp(-scores_of(self.weights, features)))
        probability = np.empty((len(heads), len(self.codes)))
        for column, code in enumerate(self.codes):
            probability[:, column] = heads[:, [self.weights.heads.index(head) for head in code.heads]].prod(axis=1)
            probability[roles != ROLES.index(code.role), column] = np.nan
        return probability


def decided(
    names: tuple[str, ...], probability: Floats, thresholds: Floats, turns: TurnArrays, books: Iterable[Codebook] = ()
) -> Codes:
    """Return codes with consistent decisions; of mutually exclusive sub-codes the likeliest is kept.

    Parameters
    ----------
    names : tuple of str
        Columns of the codes.
    probability : float64 array (n_turns, n_codes)
        Nan where the turn's role cannot have the code.
    thresholds : float64 array (n_codes,)
        For the aim.
    turns : TurnArrays
        The turns.
    books : iterable of Codebook, optional
        The user's codebooks, beside the built-in ones.
    """
    every = (*builtin_codebooks(), *books)
    decision = without_contradictions(names, probability >= thresholds, probability, n_questions(turns), every)
    odds = thresholds / (1.0 - thresholds)
    low, high = (odds * factor / (1.0 + odds * factor) for factor in (np.exp(-NEAR), np.exp(NEAR)))
    return Codes(names, probability, decision, (probability > low) & (probability < high))


def without_contradictions(
    names: Sequence[str], decision: Bools, strength: Floats, asked: Ints, books: Iterable[Codebook]
) -> Bools:
    """Withdraw decisions that contradict others of the same turn.

    A sub-code without its parent is withdrawn. Of mutually exclusive sub-codes only the strongest are kept: one, or as
    many as the turn has questions with a question mark. Of equally strong ones the last in the codebook is kept.

    Parameters
    ----------
    names : sequence of str
        Columns of the codes, (n_codes,).
    decision : bool array (n_turns, n_codes)
        The decision on each code by itself.
    strength : float64 array (n_turns, n_codes)
        Its strength, compared only within a turn.
    asked : int64 array (n_turns,)
        Questions of each turn, see `n_questions`.
    books : iterable of Codebook
        Codebooks that define the codes.

    Returns
    -------
    bool array (n_turns, n_codes)
    """
    found, column, books = decision.copy(), {name: at for at, name in enumerate(names)}, tuple(books)
    parent_of = {code: parent for code, parent in parents(books).items() if code in column}
    for code, parent in parent_of.items():
        if parent in column:
            found[:, column[code]] &= found[:, column[parent]]
    one_each = np.ones(len(asked), np.int64)
    sets: list[tuple[list[str], Ints]] = []  # of whose codes a turn may have so many
    for one in (code for book in books for code in book.codes if code.exclusive):
        most = np.maximum(asked, 1) if one.exclusive == "question" else one_each
        sets.append(([code for code, parent in parent_of.items() if parent == one.column], most))
    alternatives: dict[tuple[str, str], list[str]] = {}
    for one in (code for book in books for code in book.codes if code.one_of and code.column in column):
        alternatives.setdefault((one.book, one.one_of), []).append(one.column)
    for codes, most in (*sets, *((codes, one_each) for codes in alternatives.values())):
        if own := [column[code] for code in codes]:
            found[:, own] &= _rank(np.where(found[:, own], strength[:, own], -np.inf)) < most[:, None]
    return found


def _rank(strength: Floats) -> Ints:
    """Return ranks within rows, 0 for the largest and of equal ones for the last, int64 (n_rows, n_codes)."""
    order = np.argsort(strength, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(strength.shape[1])[None, ::-1], axis=1)
    return rank


def n_questions(turns: TurnArrays) -> Ints:
    """Return how many sentences of two words or more with a question mark each turn has, int64 (n_turns,)."""
    sentence = turns.sentence_of
    n_words = np.bincount(sentence, turns.tokens.word_start[turns.span])
    asks = (np.bincount(sentence, turns.asks) > 0) & (n_words >= FEWEST_WORDS)
    first = np.flatnonzero(np.diff(sentence, prepend=-1))
    return np.bincount(turns.turn_of[first], asks, len(turns)).astype(np.int64)


def load_tagger(folder: Path | None = None, *, aim: str = DEFAULT_AIM, all_codes: bool = False) -> Tagger:
    """Load a tagger, by default that of the package.

    Parameters
    ----------
    folder : Path, optional
        A folder of other weights.
    aim : {"balanced", "precision", "recall", "rate"}, optional
        Aim of the decisions, see ``docs/tagger.md``.
    all_codes : bool, optional
        Whether to give also the codes that are given only on request.

    Raises
    ------
    BadDataFileError
        The folder does not have the weights of a tagger, or they do not fit this version.
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


def scores_of(weights: Weights, features: Features) -> Floats:
    """Return the scores of all heads, float64 (n_turns, n_heads); the second layer uses those of the first."""
    n = weights.n_context
    buckets = features.project(weights.buckets)
    hand = features.hand @ weights.hand + weights.bias
    context = neighbour(buckets[:, n : 2 * n], features.before) + neighbour(buckets[:, 2 * n : 3 * n], features.after)
    first = np.clip((buckets[:, :n] + context + hand[:, :n]).astype(np.float64), -STEEPEST, STEEPEST)
    lifted = np.zeros((len(first), weights.lift.shape[1]))
    for head in range(n):  # head by head: a matrix product may round differently in batches of another size
        lifted += first[:, head : head + 1] * weights.lift[head]
    second = np.clip((buckets[:, 3 * n :] + hand[:, n:] + lifted).astype(np.float64), -STEEPEST, STEEPEST)
    return np.hstack([first, second])
