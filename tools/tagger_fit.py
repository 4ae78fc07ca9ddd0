"""Logistic regression over the factored features of the tagger: many heads at once, soft labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from therapy_analytics.codes.features import N_BUCKETS, Features, neighbour

Array = NDArray[np.float64]
_OPTIONS: Any = {"maxiter": 60, "maxcor": 6, "maxls": 10}
"""Stopped early: the last steps would cost most of the time and change no figure."""


@dataclass(frozen=True)
class Penalty:
    """L2 penalties: of a turn's own buckets, of the neighbours' buckets, of the dense features."""

    own: float
    context: float
    dense: float


@dataclass(frozen=True)
class Head:
    """Fitted heads: buckets (N_BUCKETS, parts, n), dense (n_dense, n), bias (n,)."""

    buckets: Array
    dense: Array
    bias: Array


@dataclass(frozen=True)
class Data:
    """Turns to fit on, or to score: features, dense features beside them, which buckets occur."""

    features: Features
    dense: Any
    columns: NDArray[np.int64]

    def scores(self, head: Head) -> Array:
        """Return scores (n_turns, n)."""
        _, parts, n = head.buckets.shape
        found = self.features.project(head.buckets.reshape(N_BUCKETS, parts * n))
        scores: Array = _gather(self.features, found.reshape(-1, parts, n)) + self.dense @ head.dense + head.bias
        return scores


def data(features: Features, dense: Any) -> Data:
    """Put features and dense features together."""
    found = np.concatenate([features.types.indices, features.grams.indices])
    return Data(features, dense, np.unique(found).astype(np.int64))


def fit(copies: Sequence[Data], targets: Array, weights: Array, penalty: Penalty, *, parts: int) -> Head:
    """Fit heads on several copies of the same turns.

    Parameters
    ----------
    copies : sequence of Data
        The same turns, written in different ways; each counts as a part of the whole.
    targets, weights : float64 array (n_turns, n)
        Soft labels, and how much each counts for each head (0: not at all).
    penalty : Penalty
        How strongly weights are drawn to zero.
    parts : int
        3 to read the neighbouring turns, too; 1 for the turn alone.
    """
    columns = np.unique(np.concatenate([copy.columns for copy in copies]))
    problem = _Problem(copies, columns, targets, weights / len(copies), _scales(penalty, parts))
    start = np.zeros(problem.size)
    base = (weights * targets).sum(axis=0) / weights.sum(axis=0)
    start[-targets.shape[1] :] = np.log(base / (1 - base))
    found: Any = minimize(problem.loss, start, jac=True, method="L-BFGS-B", options=_OPTIONS)
    return problem.head(found.x)


def _scales(penalty: Penalty, parts: int) -> Array:
    return 1 / np.sqrt([penalty.own, *[penalty.context] * (parts - 1), penalty.dense])


class _Problem:
    """The loss and its gradient; variables are weights times the square roots of their penalties."""

    def __init__(
        self,
        copies: Sequence[Data],
        columns: NDArray[np.int64],
        targets: Array,
        weights: Array,
        scales: Array,
    ) -> None:
        self.columns, self.targets, self.weights = columns, targets, weights
        self.scale, self.dense_scale = scales[:-1][:, None], scales[-1]
        self.shape = (len(columns), len(scales) - 1, targets.shape[1])
        self.dense_shape = (copies[0].dense.shape[1], targets.shape[1])
        self.n_buckets = int(np.prod(self.shape))
        self.size = self.n_buckets + int(np.prod(self.dense_shape)) + targets.shape[1]
        self.copies = [(copy, *_factors(copy, columns)) for copy in copies]

    def head(self, x: Array) -> Head:
        full = np.zeros((N_BUCKETS, *self.shape[1:]))
        full[self.columns], dense, bias = self._unpack(x)
        return Head(full, dense, bias)

    def _unpack(self, x: Array) -> tuple[Array, Array, Array]:
        n = self.targets.shape[1]
        dense = x[self.n_buckets : -n].reshape(self.dense_shape) * self.dense_scale
        return x[: self.n_buckets].reshape(self.shape) * self.scale, dense, x[-n:]

    def loss(self, x: Array) -> tuple[float, Array]:
        buckets, dense, bias = self._unpack(x)
        n = len(bias)
        flat = buckets.reshape(len(buckets), -1)
        total = 0.5 * float(x[:-n] @ x[:-n])
        to_buckets, to_dense, to_bias = np.zeros_like(flat), np.zeros_like(dense), np.zeros_like(bias)
        for copy, types, grams in self.copies:
            words = copy.features.words
            found = (words @ (types @ flat) + grams @ flat).reshape(-1, *self.shape[1:])
            scores = _gather(copy.features, found) + copy.dense @ dense + bias
            total += float((self.weights * (np.logaddexp(0, scores) - self.targets * scores)).sum())
            error = self.weights * (0.5 * (1 + np.tanh(scores / 2)) - self.targets)
            spread = _spread(copy.features, error, self.shape[1])
            to_buckets += types.T @ (words.T @ spread) + grams.T @ spread
            to_dense += copy.dense.T @ error
            to_bias += error.sum(axis=0)
        return total, x * np.r_[np.ones(len(x) - n), np.zeros(n)] + np.concatenate(
            [
                (to_buckets.reshape(self.shape) * self.scale).ravel(),
                (to_dense * self.dense_scale).ravel(),
                to_bias,
            ]
        )


def _factors(copy: Data, columns: NDArray[np.int64]) -> tuple[Any, Any]:
    types, grams = copy.features.types, copy.features.grams
    return types.tocsc()[:, columns].tocsr(), grams.tocsc()[:, columns].tocsr()


def _gather(features: Features, found: Array) -> Array:
    """Sum what the turn and (with three parts) its neighbours say: (n_turns, parts, n) to (n_turns, n)."""
    total: Array = found[:, 0]
    for part, index in enumerate((features.before, features.after)[: found.shape[1] - 1], start=1):
        total = total + neighbour(found[:, part], index)
    return total


def _spread(features: Features, error: Array, parts: int) -> Array:
    """Transpose of `_gather`, flat: errors go to the turn and to its neighbours."""
    spread = np.zeros((len(error), parts, error.shape[1]))
    spread[:, 0] = error
    for part, index in enumerate((features.before, features.after)[: parts - 1], start=1):
        there = index >= 0
        spread[index[there], part] = error[there]
    return spread.reshape(len(error), -1)


def platt(scores: Array, targets: Array, weights: Array | None = None) -> tuple[float, float]:
    """Return slope and intercept that calibrate scores against soft targets."""
    weights = np.ones_like(scores) if weights is None else weights

    def loss(x: Array) -> tuple[float, Array]:
        found = x[0] * scores + x[1]
        error = weights * (0.5 * (1 + np.tanh(found / 2)) - targets)
        total = float((weights * (np.logaddexp(0, found) - targets * found)).sum())
        return total, np.array([error @ scores, error.sum()])

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS").x.tolist()
    return slope, intercept


def sigmoid(scores: Array) -> Array:
    """Return probabilities of scores."""
    found: Array = 0.5 * (1 + np.tanh(scores / 2))
    return found


def aims(p: Array, truth: NDArray[np.bool_], *, balanced: float, weights: Array, spread: Array) -> dict[str, float]:
    """Return a threshold for each aim of a user.

    Parameters
    ----------
    p, truth : array (n,)
        Probabilities, and what people coded.
    balanced : float
        The threshold of best agreement.
    weights : array (n,)
        How much each row counts where hits and misses are weighed against each other.
    spread : array (n,)
        How much each counts where rates are to be right: as many as in whole sessions.
    """
    return {
        "balanced": balanced,
        "precision": max(balanced, best_threshold(p, truth, weights, score="F0.5")),
        "recall": min(balanced, best_threshold(p, truth, weights, score="F2")),
        "rate": rate_threshold(p, spread),
    }


def rate_threshold(p: Array, weights: Array) -> float:
    """Return the threshold at which as many turns are decided as the probabilities expect."""
    order = np.argsort(-p, kind="stable")
    at = int(np.searchsorted(np.cumsum(weights[order]), weights @ p))
    return round(float(np.clip(p[order[min(at, len(p) - 1)]], 0.04, 0.8)), 3)


def best_threshold(p: Array, truth: NDArray[np.bool_], weights: Array | None = None, *, score: str = "F1") -> float:
    """Return the threshold of highest ``F<beta>`` or kappa, from a grid and smoothed over it."""
    grid = np.linspace(0.04, 0.8, 77)
    weights = np.ones(len(p)) if weights is None else weights
    measure = _kappa if score == "kappa" else partial(_f, float(score.removeprefix("F")) ** 2)
    scores = [measure(weights, truth, p >= limit) for limit in grid]
    smooth = np.convolve(np.pad(scores, 2, mode="edge"), np.ones(5) / 5, mode="valid")
    return round(float(grid[int(smooth.argmax())]), 3)


def _f(beta2: float, weights: Array, truth: NDArray[np.bool_], guess: NDArray[np.bool_]) -> float:
    both = float(weights[truth & guess].sum())
    total = beta2 * float(weights[truth].sum()) + float(weights[guess].sum())
    return (1 + beta2) * both / max(total, 1e-9)


def _kappa(weights: Array, truth: NDArray[np.bool_], guess: NDArray[np.bool_]) -> float:
    total = float(weights.sum())
    true, found = float(weights[truth].sum()) / total, float(weights[guess].sum()) / total
    expected = true * found + (1 - true) * (1 - found)
    return (float(weights[truth == guess].sum()) / total - expected) / max(1 - expected, 1e-9)
