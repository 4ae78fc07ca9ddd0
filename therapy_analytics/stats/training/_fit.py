"""Logistic regression over the features of the fast tagger: all codes of a role at once, soft labels.

scikit-learn's takes neither soft labels, nor a penalty for each kind of feature, nor features in factors (tokens by
types by buckets), without which this would take ten times as long. The minimum is found by scipy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from therapy_analytics.codes import Tagger
from therapy_analytics.codes.features import N_BUCKETS, Features
from therapy_analytics.core.clusters import Bools, Floats, Ints

PENALTIES = {"own": 5.0, "context": 32.0, "dense": 6.0}
"""L2 penalties of weights: of a turn's own words, of its neighbours' words, of all else."""
STRENGTHS = (3.0, 1.0, 0.3)
"""Factors of the penalties, strongest first; chosen by cross-validation within each training set."""
LIFT_SCALE = 4.0
"""Scores of the package's tagger are divided by this when they serve as features."""
PARTS = 3
"""The turn, the turn before, the turn after."""
FOLDS = 5
INNER = 4
"""One in this many groups of a training set is held out to choose the penalty."""
FEWEST_TURNS = 5
"""A bucket that fewer turns have is left out: it is uninformative about other turns, and there are many."""
STEPS, FIRST_STEPS = 24, 12
"""Steps of training, and steps where penalties are only compared: further steps take most of the time and change no
result."""
_Matrix = Any  # scipy itself does not say what its sparse arrays return


@dataclass(frozen=True, slots=True, eq=False)
class LinearHead:
    """Fitted weights: buckets (n_columns, PARTS, n_codes), dense (n_dense, n_codes), bias (n_codes,)."""

    buckets: Floats
    dense: Floats
    bias: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Turns of one role as features; ``n`` is their number.

    Attributes
    ----------
    words : CSR (n, PARTS * n_types)
        Token types of the turn, the turn before, the turn after.
    types : CSR (n_types, n_columns)
        Buckets of each type.
    grams : CSR (n, PARTS * n_columns)
        Buckets of pairs and triples of words, likewise.
    dense : CSR (n, n_dense)
        Features by hand, then scores of the package's tagger, if they may be used.
    offset : float64 array (n, n_codes)
        Log-odds of the same code by the package's tagger, else 0: training begins there.
    columns : int64 array (n_columns,)
        The buckets that occur.
    """

    words: _Matrix
    types: _Matrix
    grams: _Matrix
    dense: _Matrix
    offset: Floats
    columns: Ints

    def only(self, keep: Bools) -> Design:
        """Return some of the turns, by a mask (n,)."""
        parts = {name: getattr(self, name)[keep] for name in ("words", "grams", "dense", "offset")}
        return replace(self, **parts)

    def scores(self, head: LinearHead) -> Floats:
        """Return log-odds (n, n_codes)."""
        by_part = np.ascontiguousarray(head.buckets.swapaxes(0, 1), dtype=np.float32)
        types = np.concatenate([self.types @ part for part in by_part])
        found = self.words @ types + self.grams @ by_part.reshape(-1, head.buckets.shape[2])
        found = np.asarray(found + self.dense @ head.dense.astype(np.float32), dtype=np.float64)
        return found + head.bias + self.offset


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """Scores of n turns by models that have not seen them.

    `scores` (n, n_codes) are log-odds, not calibrated; `fold` (n,) is the fold in which a turn was held out; `strength`
    (n_codes,) the median over folds of the factor of the penalties.
    """

    scores: Floats
    fold: Ints
    strength: Floats


def design_of(features: Features, rows: Ints, lifts: Floats, offset: Floats) -> Design:
    """Return the design of the turns `rows` (n,), from features of all turns.

    `lifts` (n_turns, n_heads) are scores of the package's tagger, without columns for a cold start; `offset` (n_turns,
    n_codes) the log-odds from which each code begins.
    """
    in_turns = (features.words @ features.types + features.grams).tocsr()
    columns = np.flatnonzero(np.bincount(in_turns.indices, minlength=N_BUCKETS) >= FEWEST_TURNS)
    words = features.words.astype(np.float32)
    grams = features.grams.tocsc()[:, columns].tocsr().astype(np.float32)
    dense = sparse.hstack([features.hand[rows], sparse.csr_array(lifts[rows] / LIFT_SCALE)], format="csr")
    n = len(features)
    picks = [_pick(index[rows], n) for index in (np.arange(n), features.before, features.after)]
    return Design(
        words=sparse.hstack([pick @ words for pick in picks], format="csr"),
        types=features.types.tocsc()[:, columns].tocsr().astype(np.float32),
        grams=sparse.hstack([pick @ grams for pick in picks], format="csr"),
        dense=dense.astype(np.float32),
        offset=offset[rows],
        columns=columns,
    )


def _pick(index: Ints, n: int) -> _Matrix:
    """Return the matrix (len(index), n) that picks turns; -1 picks none."""
    row = np.flatnonzero(index >= 0)
    return sparse.csr_array((np.ones(len(row), dtype=np.float32), (row, index[row])), shape=(len(index), n))


def folds(groups: Ints, seed: int, n: int = FOLDS) -> Ints:
    """Return the fold of each turn (n_turns,): groups in random order, each into the smallest fold."""
    sizes = np.bincount(groups)
    load, fold = np.zeros(n), np.zeros(len(sizes), dtype=np.int64)
    for group in np.random.default_rng(seed).permutation(np.flatnonzero(sizes)):
        fold[group] = int(load.argmin())
        load[fold[group]] += sizes[group]
    return fold[groups]


def out_of_fold(design: Design, labels: Floats, groups: Ints, *, seed: int) -> Unseen:
    """Score all turns by models that have not seen their group (n,).

    Soft labels (n, n_codes) are nan where unknown; `seed` is that of the folds.
    """
    fold = folds(groups, seed)
    scores, chosen = np.zeros(labels.shape), []
    for number in range(FOLDS):
        mine = fold == number
        strength, start = _chosen(design.only(~mine), labels[~mine], groups[~mine], seed)
        head = fit(design.only(~mine), labels[~mine], strength, start=start)
        scores[mine] = design.only(mine).scores(head)
        chosen.append(strength)
    return Unseen(scores, fold, np.median(chosen, axis=0))


def _chosen(design: Design, labels: Floats, groups: Ints, seed: int) -> tuple[Floats, LinearHead]:
    """Return the strength of penalty for each code that predicts held-out groups best, and its weights."""
    out = folds(groups, seed, INNER) == 0
    inner, held = design.only(~out), design.only(out)
    losses: list[Floats] = []
    heads: list[LinearHead] = []
    for strength in STRENGTHS:
        same = np.full(labels.shape[1], strength)
        heads.append(fit(inner, labels[~out], same, start=heads[-1] if heads else None, steps=FIRST_STEPS))
        scores = held.scores(heads[-1])
        loss = np.logaddexp(0, scores) - np.nan_to_num(labels[out]) * scores
        losses.append(np.where(np.isnan(labels[out]), 0, loss).sum(axis=0))
    best = np.argmin(losses, axis=0)
    kept = [
        np.stack([getattr(heads[at], name)[..., code] for code, at in enumerate(best)], axis=-1)
        for name in ("buckets", "dense", "bias")
    ]
    return np.array(STRENGTHS)[best], LinearHead(*kept)


def fit(
    design: Design, labels: Floats, strength: Floats, *, start: LinearHead | None = None, steps: int = STEPS
) -> LinearHead:
    """Fit all codes by at most so many steps from `start`.

    Soft labels (n, n_codes) are nan where unknown; `strength` (n_codes,) are factors of the penalties.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to import)

    problem = _Problem(design, labels, strength)
    options: Any = {"maxiter": steps, "maxcor": 6, "maxls": 10}
    found: Any = minimize(problem.loss, problem.flat(start), jac=True, method="L-BFGS-B", options=options)
    return problem.head(found.x)


class _Problem:
    """The loss and its gradient; variables are weights times the square roots of their penalties."""

    def __init__(self, design: Design, labels: Floats, strength: Floats) -> None:
        self.design, self.known = design, ~np.isnan(labels)
        self.labels = np.nan_to_num(labels)
        own, context, dense = (1 / np.sqrt(PENALTIES[name] * strength) for name in ("own", "context", "dense"))
        self.scale, self.dense_scale = np.stack([own, context, context])[None], dense[None]
        self.shape = (len(design.columns), PARTS, len(strength))
        self.dense_shape = (design.dense.shape[1], len(strength))
        self.n_buckets = int(np.prod(self.shape))

    def flat(self, start: LinearHead | None) -> Floats:
        """Return the variables of weights; without weights, the log-odds of each code's rate and else 0."""
        if start is not None:
            scaled = (start.buckets / self.scale, start.dense / self.dense_scale, start.bias)
            return np.concatenate([one.ravel() for one in scaled])
        n = np.maximum(self.known.sum(axis=0), 1)
        base = np.clip((self.labels * self.known).sum(axis=0) / n, 0.5 / n, 1 - 0.5 / n)
        cold = (self.design.offset == 0).all(axis=0)
        x = np.zeros(self.n_buckets + int(np.prod(self.dense_shape)) + len(base))
        x[-len(base) :] = np.where(cold, np.log(base / (1 - base)), 0.0)
        return x

    def head(self, x: Floats) -> LinearHead:
        n = self.dense_shape[1]
        buckets = x[: self.n_buckets].reshape(self.shape) * self.scale
        return LinearHead(buckets, x[self.n_buckets : -n].reshape(self.dense_shape) * self.dense_scale, x[-n:])

    def loss(self, x: Floats) -> tuple[float, Floats]:
        design, head = self.design, self.head(x)
        n = len(head.bias)
        scores = design.scores(head)
        fit_loss = self.known * (np.logaddexp(0, scores) - self.labels * scores)
        total = 0.5 * float(x[:-n] @ x[:-n]) + float(fit_loss.sum())
        error = (self.known * (0.5 * (1 + np.tanh(scores / 2)) - self.labels)).astype(np.float32)
        to_types = (design.words.T @ error).reshape(PARTS, -1, n)
        to_buckets = (design.grams.T @ error).reshape(PARTS, -1, n)
        to_buckets = np.stack([design.types.T @ to_types[part] for part in range(PARTS)]) + to_buckets
        slope = np.concatenate(
            [
                (to_buckets.swapaxes(0, 1) * self.scale).ravel() + x[: self.n_buckets],
                ((design.dense.T @ error) * self.dense_scale).ravel() + x[self.n_buckets : -n],
                error.sum(axis=0, dtype=np.float64),
            ]
        )
        return total, slope


def heads_for(tagger: Tagger, role: str) -> Ints:
    """Return the heads (n_heads,) of the package's tagger that concern turns of a role."""
    names = {head for code in tagger.codes if code.role == role for head in code.heads}
    return np.array([at for at, name in enumerate(tagger.weights.heads) if name in names], dtype=np.int64)


def as_linear(tagger: Tagger, heads: Ints) -> tuple[Floats, Floats, Floats]:
    """Write heads of two layers as one: buckets (N_BUCKETS, PARTS, n), hand (n_hand, n), bias (n,).

    Scores of the first layer, which are features of the second, are sums too; only their clipping at plus and minus 30,
    which no turn reaches, is lost.
    """
    weights, n = tagger.weights, tagger.weights.n_context
    first = weights.buckets[:, : PARTS * n].reshape(N_BUCKETS, PARTS, n)
    mix = np.hstack([np.eye(n), weights.lift])[:, heads]
    own = np.hstack([np.zeros((N_BUCKETS, n)), weights.buckets[:, PARTS * n :]])[:, heads]
    buckets = first @ mix
    buckets[:, 0] += own
    second = heads >= n
    hand = weights.hand[:, :n] @ mix + weights.hand[:, heads] * second
    return buckets, hand, weights.bias[:n] @ mix + weights.bias[heads] * second
