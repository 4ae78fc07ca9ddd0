"""Logistic regression (scikit-learn) over the features of the fast tagger, and how well each code is learnt by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from therapy_analytics.codes import Code
from therapy_analytics.codes.features import N_BUCKETS, Features
from therapy_analytics.codes.weights import Weights
from therapy_analytics.core.clusters import Bools, Floats, Ints
from therapy_analytics.stats.agreement import coefficients as co
from therapy_analytics.stats.agreement.coefficients import interval_columns

OWN, CONTEXT, DENSE = 5.0, 32.0, 6.0
"""L2 penalties of weights: of a turn's own words, of its neighbours' words, of features counted by hand."""
LIFTS = 96.0
"""The same of scores of the package's tagger; of the score for the same code, 1."""
FOLDS = 5
FEWEST_TURNS = 5
"""A bucket that fewer turns have is left out: it is uninformative about other turns, and there are many."""
FEWEST = 20
"""Turns with a code, and turns without, that are needed to learn it."""
FEWEST_GROUPS = 5
"""Sessions (or groups) in which there must be turns with it, and turns without."""
SURE = 99.0
"""A code is kept if the 99 % intervals of its kappa and AUC lie above 0 and .5: of random codes, one in some hundreds
is kept."""
GRID = np.linspace(0.02, 0.9, 89)
_Matrix = Any  # scipy itself does not say what its sparse arrays return


@dataclass(frozen=True, slots=True, eq=False)
class CodeWeights:
    """Weights of a code, and its intercept `bias`.

    `buckets` (N_BUCKETS, 3) of hashed words of the turn, the turn before and the turn after, `hand` (n_hand,) of
    features counted by hand.
    """

    buckets: Floats
    hand: Floats
    bias: float


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Turns as features, divided by the square roots of their penalties.

    Attributes
    ----------
    common : float32 CSR (n_turns, 3 * n_columns + n_hand)
        Buckets of the turn, of the turn before and of the turn after; features counted by hand.
    columns : int64 array (n_columns,)
        The buckets that occur in turns enough.
    lifts : float64 array (n_turns, n_heads)
        Scores of the package's tagger; without columns for a cold start.
    """

    common: _Matrix
    columns: Ints
    lifts: Floats

    def picked(self, turns: Ints, heads: Floats) -> _Matrix:
        """Return the features of some turns, with the scores of heads divided by the roots of their penalties."""
        used = np.flatnonzero(heads)
        lifts = sparse.csr_array((self.lifts[turns] * heads)[:, used].astype(np.float32))
        found = sparse.hstack([self.common[turns], lifts], format="csr")
        found.indices, found.indptr = found.indices.astype(np.int32), found.indptr.astype(np.int32)  # for scikit-learn
        return found

    def unscaled(self, weights: Floats, bias: float, heads: Floats, base: Weights | None) -> CodeWeights:
        """Return fitted weights as the tagger needs them, those on scores of the package's tagger written as its own.

        Scores of its first layer, which are features of the second, are sums too; only their clipping at plus and minus
        30, which no turn reaches, is lost.
        """
        n = len(self.columns)
        buckets = np.zeros((N_BUCKETS, 3))
        buckets[self.columns] = (weights[: 3 * n].reshape(3, n) / np.sqrt([[OWN], [CONTEXT], [CONTEXT]])).T
        n_all = self.common.shape[1]
        hand = weights[3 * n : n_all] / np.sqrt(DENSE)
        if base is not None:
            mix, n = heads.copy(), base.n_context
            mix[np.flatnonzero(heads)] *= weights[n_all:]
            first, second = mix[:n] + base.lift @ mix[n:], mix[n:]
            buckets += base.buckets[:, : 3 * n].reshape(N_BUCKETS, 3, n) @ first
            buckets[:, 0] += base.buckets[:, 3 * n :] @ second
            both = np.concatenate([first, second])
            hand, bias = hand + base.hand @ both, bias + float(base.bias @ both)
        return CodeWeights(buckets, hand, bias)


def design_of(features: Features, lifts: Floats) -> Design:
    """Return the design of all turns, with scores of the package's tagger (n_turns, n_heads)."""
    buckets = sparse.csr_array(features.words @ features.types + features.grams)
    columns = np.flatnonzero(np.bincount(buckets.indices, minlength=N_BUCKETS) >= FEWEST_TURNS)
    with_none = sparse.vstack([buckets[:, columns], sparse.csr_array((1, len(columns)))], format="csr")  # row -1
    parts = [
        with_none[:-1] / np.sqrt(OWN),
        with_none[features.before] / np.sqrt(CONTEXT),
        with_none[features.after] / np.sqrt(CONTEXT),
        features.hand / np.sqrt(DENSE),
    ]
    return Design(sparse.hstack(parts, format="csr").astype(np.float32), columns, lifts)


def folds(groups: Ints, seed: int) -> Ints:
    """Return the fold of each turn (n_turns,); turns of one group are in one fold."""
    from sklearn.model_selection import GroupKFold  # noqa: PLC0415 (a run must not load it)

    fold = np.zeros(len(groups), dtype=np.int64)
    for number, (_, held) in enumerate(GroupKFold(FOLDS, shuffle=True, random_state=seed).split(fold, groups=groups)):
        fold[held] = number
    return fold


def fitted(matrix: _Matrix, truth: Floats, strength: float = 1.0) -> tuple[Floats, float]:
    """Fit a code to soft labels (n,), as two turns each that share its weight; return weights and intercept."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    with_it, without = np.flatnonzero(truth > 0), np.flatnonzero(truth < 1)
    if not len(with_it) or not len(without):
        return np.zeros(matrix.shape[1]), _log_odds(truth)
    labels = np.repeat([1, 0], [len(with_it), len(without)])
    weights = np.concatenate([truth[with_it], 1 - truth[without]])
    rows = np.concatenate([with_it, without])
    model = LogisticRegression(C=1 / strength, max_iter=1000).fit(matrix[rows], labels, weights)
    return model.coef_[0].astype(np.float64), float(model.intercept_[0])


def _log_odds(truth: Floats) -> float:
    """Return the log-odds of the mean of soft labels (n,), kept away from certainty."""
    base = float(np.clip(truth.mean(), 0.5 / len(truth), 1 - 0.5 / len(truth)))
    return float(np.log(base / (1 - base)))


def unseen_scores(matrix: _Matrix, truth: Floats, fold: Ints) -> Floats:
    """Return the log-odds of each turn (n,) by a model that has not seen its fold."""
    scores = np.zeros(len(truth))
    for number in np.unique(fold):
        mine = fold == number
        weights, bias = fitted(matrix[~mine], truth[~mine])
        scores[mine] = matrix[mine] @ weights + bias
    return scores


# ---- how well a code is learnt


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One code on the n turns that people coded for it.

    `truth` (n,) is the share of coders who gave it, `group` (n,) what is kept together, from 0; `p` (n,) its
    probability, calibrated on other folds than the turn's own, and empty where it was not tried; `decided` (n,) whether
    the turn has it, by the balanced threshold of other folds. `line` are slope and intercept of the calibration on all
    folds, `thresholds` those of each aim, `shipped` (n,) the decisions of the package's tagger, where it has the code.
    `why_not` says why the code is left out; empty where it is learnt.
    """

    code: Code
    truth: Floats
    group: Ints
    p: Floats
    decided: Bools
    line: tuple[float, float] = (1.0, 0.0)
    thresholds: Mapping[str, float] | None = None
    shipped: Bools | None = None
    why_not: str = ""

    @property
    def given(self) -> Bools:
        """Return which turns have the code (n,), by half of the coders or more."""
        return np.asarray(self.truth >= 0.5)

    def tables(self, decided: Bools) -> Floats:
        """Return counts of what people and a tagger gave, by group (n_groups, 2, 2)."""
        shape = (int(self.group.max()) + 1, 2)
        return co.tables_of(self.given.astype(np.int64), decided.astype(np.int64), self.group, shape)

    def auc(self, level: float = 0.95) -> co.Estimate:
        """Return the area under the curve of receiver operating characteristics, with its interval over groups."""
        from sklearn.metrics import roc_auc_score  # noqa: PLC0415

        return self._ranked(roc_auc_score, level)

    def average_precision(self) -> co.Estimate:
        """Return the average precision, with its interval over groups."""
        from sklearn.metrics import average_precision_score  # noqa: PLC0415

        return self._ranked(average_precision_score)

    def _ranked(self, statistic: Callable[[Bools, Floats], float], level: float = 0.95) -> co.Estimate:
        value = float(statistic(self.given, self.p))
        others = (self.group != group for group in np.unique(self.group))
        left_out = np.array([statistic(self.given[one], self.p[one]) for one in others])
        return value, *co.jackknife(value, left_out, level=level)


def too_little(truth: Floats, group: Ints, groups: str) -> str:
    """Say why a code cannot be learnt from soft labels and groups (n,) each; "" where it can be tried."""
    given = truth >= 0.5
    if given.any() and given.all():
        return "every coded turn has it: there is nothing to tell it from"
    for what, own in (("with", given), ("without", ~given)):
        if own.sum() < FEWEST:
            return f"too little data: {int(own.sum())} turns {what} it, {FEWEST} are needed"
    for what, own in (("with", given), ("without", ~given)):
        found = len(np.unique(group[own]))
        if found < FEWEST_GROUPS:
            return f"too little data: turns {what} it in {found} {groups}, {FEWEST_GROUPS} are needed"
    return ""


def judge(code: Code, truth: Floats, scores: Floats, fold: Ints, group: Ints) -> Judged:
    """Calibrate scores of unseen turns, choose thresholds, decide, and say whether the code is learnt.

    A turn's own probability and decision rest on the other folds; the line and thresholds that the model uses later
    rest on all. From soft labels, log-odds by models that had not seen the turn, the fold in which it was held out, and
    what is kept together, (n,) each.
    """
    p, decided = np.zeros(len(truth)), np.zeros(len(truth), dtype=np.bool_)
    for number in np.unique(fold):
        mine = fold == number
        slope, intercept = _line(scores[~mine], truth[~mine])
        p[mine] = _sigmoid(slope * scores[mine] + intercept)
        limit = _limits(_sigmoid(slope * scores[~mine] + intercept), truth[~mine])["balanced"]
        decided[mine] = p[mine] >= limit
    line = _line(scores, truth)
    limits = _limits(_sigmoid(line[0] * scores + line[1]), truth)
    index = np.unique(group, return_inverse=True)[1].astype(np.int64)
    one = Judged(code, truth, index, p, decided, line, limits)
    return replace(one, why_not=_why_not(one))


def _why_not(one: Judged) -> str:
    """Say why a code is left out: its agreement could be that of random codes."""
    if one.line[0] <= 0:
        return "its scores fall where the code is: nothing was learnt"
    kappa, auc = co.estimate(co.kappa, one.tables(one.decided), level=SURE / 100), one.auc(SURE / 100)
    # Where all groups agree wholly there is no interval, and nothing to doubt.
    low_kappa, low_auc = (value if value == 1 else low for value, low, _ in (kappa, auc))
    if low_kappa > 0 and low_auc > 0.5:
        return ""
    name, low, random = ("kappa", low_kappa, "0") if not low_kappa > 0 else ("AUC", low_auc, ".5")
    begins = "is undefined" if np.isnan(low) else f"begins at {low:.2f}"
    return f"may be no better than random codes, which give {name} {random}: its {SURE:.0f}% interval {begins}"


def _sigmoid(scores: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(scores / 2)))


def _line(scores: Floats, truth: Floats) -> tuple[float, float]:
    """Return slope and intercept that calibrate scores (Platt scaling), each turn weighted by its soft label.

    The slope is never below 0. Scores of unseen turns are slightly negatively correlated with random codes (what is
    held out is missing in training), and a negative slope would seem to have learnt something.
    """
    (slope,), intercept = fitted(scores[:, None], truth, strength=0.1)
    return (float(slope), intercept) if slope > 0 else (0.0, _log_odds(truth))


def _limits(p: Floats, truth: Floats) -> dict[str, float]:
    """Return a threshold for each aim: of highest kappa, F0.5, F2, and of as many turns as are expected."""
    given = truth >= 0.5
    guess = p[None, :] >= GRID[:, None]
    both, found = (guess & given).sum(axis=1), guess.sum(axis=1)
    n, have = len(p), int(given.sum())
    tables = np.stack([n - found - have + both, found - both, have - both, both], axis=-1).reshape(-1, 2, 2)
    balanced = _top(np.nan_to_num(co.kappa(tables.astype(np.float64))))
    precise, wide = (_top((1 + b) * both / np.maximum(b * have + found, 1)) for b in (0.25, 4.0))
    expected = np.sort(p)[::-1][min(round(float(p.sum())), n - 1)]
    return {
        "balanced": balanced,
        "precision": max(balanced, precise),
        "recall": min(balanced, wide),
        "rate": round(float(np.clip(expected, GRID[0], GRID[-1])), 3),
    }


def _top(values: Floats) -> float:
    """Return the threshold of the highest value, smoothed over its neighbours."""
    smooth = np.convolve(np.pad(values, 2, mode="edge"), np.ones(5) / 5, mode="valid")
    return round(float(GRID[int(smooth.argmax())]), 3)


def statistics(one: Judged) -> dict[str, float]:
    """Return the statistics of a code with their 95% intervals over groups (`co.jackknife`).

    Counts; ``kappa`` (0 of random codes), ``f1``, ``auc`` (.5 of random codes), ``average_precision`` (``share`` of
    random codes), ``calibration_error`` (`co.calibration_error`), and where the package's tagger has the code, its
    ``shipped_kappa`` on the same turns and the ``difference`` to it.
    """
    found: dict[str, float] = {
        "n_turns": len(one.truth),
        "n_positive": int(one.given.sum()),
        "n_groups": len(np.unique(one.group)),
        "n_groups_positive": len(np.unique(one.group[one.given])),
        "share": float(one.given.mean()) if len(one.truth) else np.nan,
    }
    if not len(one.p):
        return found
    tables = one.tables(one.decided)
    estimates = {
        "kappa": co.estimate(co.kappa, tables),
        "f1": co.estimate(co.f1, tables),
        "auc": one.auc(),
        "average_precision": one.average_precision(),
        "calibration_error": co.calibration_error(one.p, one.truth, one.group),
    }
    if one.shipped is not None:
        theirs = one.tables(one.shipped)
        estimates["shipped_kappa"] = co.estimate(co.kappa, theirs)
        both = np.stack([tables, theirs], axis=1)
        estimates["difference"] = co.estimate(lambda n: -np.diff(co.kappa(n))[..., 0], both, bounded=False)
    for name, numbers in estimates.items():
        found |= interval_columns(name, numbers)
    return found
