"""How well each learnt code agrees with people on unseen turns, and whether that is well enough to be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.core.clusters import Bools, Floats, Ints
from therapy_analytics.stats.agreement import coefficients as co
from therapy_analytics.stats.agreement.coefficients import interval_columns
from therapy_analytics.stats.training._fit import FOLDS
from therapy_analytics.stats.training._groups import many

FEWEST = 20
"""Turns with a code, and turns without, that are needed to learn it."""
FEWEST_GROUPS = 5
"""Sessions (or groups) in which there must be turns with it, and turns without."""
SURE = 99.0
"""A code is kept if the 99 % intervals of its kappa and AUC lie above 0 and .5: of random codes, one in some hundreds
is kept."""
GRID = np.linspace(0.02, 0.9, 89)


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


def too_little(truth: Floats, group: Ints, grouped_by: str) -> str:
    """Say why a code cannot be learnt from soft labels and groups (n,) each; "" where it can be tried."""
    given = truth >= 0.5
    n, without = int(given.sum()), int((~given).sum())
    if n and not without:
        return "every coded turn has it: there is nothing to tell it from"
    for what, own in (("with", given), ("without", ~given)):
        if own.sum() < FEWEST:
            return f"too little data: {int(own.sum())} turns {what} it, {FEWEST} are needed"
    for what, own in (("with", given), ("without", ~given)):
        found = len(np.unique(group[own]))
        if found < FEWEST_GROUPS:
            return f"too little data: turns {what} it in {found} {many(grouped_by)}, {FEWEST_GROUPS} are needed"
    return ""


def judge(code: Code, truth: Floats, scores: Floats, fold: Ints, group: Ints) -> Judged:
    """Calibrate scores of unseen turns, choose thresholds, and decide.

    A turn's own probability and decision rest on the other folds; the line and thresholds that the model uses later
    rest on all. From soft labels, log-odds by models that had not seen the turn, the fold in which it was held out, and
    what is kept together, (n,) each.
    """
    p, decided = np.zeros(len(truth)), np.zeros(len(truth), dtype=np.bool_)
    for number in range(FOLDS):
        mine = fold == number
        slope, intercept = _line(scores[~mine], truth[~mine])
        p[mine] = _sigmoid(slope * scores[mine] + intercept)
        limit = _limits(_sigmoid(slope * scores[~mine] + intercept), truth[~mine])["balanced"]
        decided[mine] = p[mine] >= limit
    line = _line(scores, truth)
    limits = _limits(_sigmoid(line[0] * scores + line[1]), truth)
    index = np.unique(group, return_inverse=True)[1].astype(np.int64)
    why = "its scores fall where the code is: nothing was learnt" if line[0] <= 0 else ""
    return Judged(code, truth, index, p, decided, line, limits, why_not=why)


def _sigmoid(scores: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(scores / 2)))


def _line(scores: Floats, truth: Floats) -> tuple[float, float]:
    """Return slope and intercept that calibrate scores (Platt scaling), each turn weighted by its soft label.

    The slope is never below 0. Scores of unseen turns are slightly negatively correlated with random codes (what is
    held out is missing in training), and a negative slope would seem to have learnt something.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (a run must not load it)

    weights = np.concatenate([truth, 1 - truth])
    labels = np.repeat([1, 0], len(truth))
    base = float(np.clip(truth.mean(), 0.5 / len(truth), 1 - 0.5 / len(truth)))
    flat = (0.0, float(np.log(base / (1 - base))))
    if not truth.any() or not (1 - truth).any():
        return flat
    model = LogisticRegression(C=10.0).fit(np.tile(scores, 2)[:, None], labels, weights)
    slope = float(model.coef_[0, 0])
    return (slope, float(model.intercept_[0])) if slope > 0 else flat


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
    n = len(one.truth)
    found: dict[str, float] = {
        "n_turns": n,
        "n_positive": int(one.given.sum()),
        "n_groups": len(np.unique(one.group)),
        "n_groups_positive": len(np.unique(one.group[one.given])),
        "share": float(one.given.mean()) if n else np.nan,
    }
    if not len(one.p):
        return found
    tables = one.tables(one.decided)
    estimates = {
        "kappa": co.estimate(co.kappa, tables),
        "f1": co.estimate(co.f1, tables),
        "auc": _auc(one),
        "average_precision": _average_precision(one),
        "calibration_error": co.calibration_error(one.p, one.truth, one.group),
    }
    if one.shipped is not None:
        theirs = one.tables(one.shipped)
        estimates["shipped_kappa"] = co.estimate(co.kappa, theirs)
        estimates["difference"] = co.estimate(_difference, np.stack([tables, theirs], axis=1), bounded=False)
    for name, numbers in estimates.items():
        found |= interval_columns(name, numbers)
    return found


def _difference(tables: Floats) -> Floats:
    kappas = co.kappa(tables)
    return np.asarray(kappas[..., 0] - kappas[..., 1])


def kept(one: Judged) -> Judged:
    """Return the code, with the reason why it is left out if its agreement could be that of random codes."""
    if one.why_not:
        return one
    kappa, auc = co.estimate(co.kappa, one.tables(one.decided), level=SURE / 100), _auc(one, SURE / 100)
    # Where all groups agree wholly there is no interval, and nothing to doubt.
    low_kappa, low_auc = (value if value == 1 else low for value, low, _ in (kappa, auc))
    if low_kappa > 0 and low_auc > 0.5:
        return one
    name, low, random = ("kappa", low_kappa, "0") if not low_kappa > 0 else ("AUC", low_auc, ".5")
    begins = "is undefined" if np.isnan(low) else f"begins at {low:.2f}"
    why = f"may be no better than random codes, which give {name} {random}: its {SURE:.0f}% interval {begins}"
    return replace(one, why_not=why)


def _auc(one: Judged, level: float = 0.95) -> co.Estimate:
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415

    wins, pairs = _wins(one)
    value = float(roc_auc_score(one.given, one.p))
    return value, *co.jackknife(value, _weighted_auc(1 - np.eye(len(pairs)), wins, pairs), level=level)


def _wins(one: Judged) -> tuple[Floats, Floats]:
    """Return for pairs of a turn with the code and one without, by the group of each: wins of the first, and pairs.

    Both are (n_groups, n_groups). With them the AUC of any weights of groups is two products of small matrices.
    """
    n = int(one.group.max()) + 1
    wins = np.zeros((n, n))
    yes, of_yes = one.p[one.given], one.group[one.given]
    for group in range(n):
        no = np.sort(one.p[~one.given & (one.group == group)])
        over = (np.searchsorted(no, yes, side="left") + np.searchsorted(no, yes, side="right")) / 2
        wins[:, group] = np.bincount(of_yes, over, minlength=n)
    counts = [np.bincount(one.group[own], minlength=n).astype(np.float64) for own in (one.given, ~one.given)]
    return wins, np.outer(*counts)


def _weighted_auc(weights: Floats, wins: Floats, pairs: Floats) -> Floats:
    """Return the AUC (k,) for weights of groups (k, n_groups)."""
    top, bottom = (np.einsum("di,di->d", weights @ table, weights) for table in (wins, pairs))
    return co.over(top, bottom)


def _average_precision(one: Judged) -> co.Estimate:
    from sklearn.metrics import average_precision_score  # noqa: PLC0415

    value = float(average_precision_score(one.given, one.p))
    without = np.array([_weighted_precision(one, one.group != group) for group in np.unique(one.group)])
    return value, *co.jackknife(value, without)


def _weighted_precision(one: Judged, weights: Any) -> float:
    """Return average precision with weights of turns (n,), as scikit-learn has it, which is slower."""
    order = np.argsort(-one.p, kind="stable")
    last = np.flatnonzero(np.diff(one.p[order], append=np.nan) != 0)  # of turns with one probability
    found = np.cumsum(weights[order].astype(np.float64))[last]
    hits = np.cumsum((weights * one.given)[order].astype(np.float64))[last]
    gained = np.diff(hits, prepend=0.0)
    return float(co.over((gained * np.nan_to_num(co.over(hits, found))).sum(), hits[-1]))
