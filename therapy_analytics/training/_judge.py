"""How good what was learnt is, on turns that it had not seen, and whether that is good enough to be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.agreement import _coefficients as co
from therapy_analytics.agreement._coefficients import Resampling
from therapy_analytics.behaviours import Code
from therapy_analytics.training._fit import FOLDS
from therapy_analytics.training._groups import many

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEWEST = 20
"""So many turns with a code, and as many without, are needed to learn it."""
FEWEST_GROUPS = 5
"""In so many sessions (or groups) at least must there be turns with it, and turns without."""
BINS = 10
SURE = 99.0
"""A code is kept if the lower ends of its intervals of this width are above chance: of codes that mean nothing,
one in some hundreds is kept."""
GRID = np.linspace(0.02, 0.9, 89)
_ROUGH = 400
"""Draws behind the interval of average precision, each of which holds all turns."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One code on the turns that people coded for it.

    Attributes
    ----------
    code : Code
        The code.
    truth : float64 array (n,)
        The share of coders who gave it.
    p : float64 array (n,)
        Its probability, calibrated on other folds than the turn's own.
    decided : bool array (n,)
        Whether the turn has it, by the balanced threshold of other folds.
    group : int64 array (n,)
        What is kept together, from 0.
    line : tuple of float
        Slope and intercept of the calibration, on all folds.
    thresholds : mapping of str to float
        For each aim.
    shipped : bool array (n,) or None
        What the package's tagger decides, where it has the code.
    why_not : str
        Why the code is left out; empty where it is learnt.
    """

    code: Code
    truth: Floats
    p: Floats
    decided: NDArray[np.bool_]
    group: Ints
    line: tuple[float, float] = (1.0, 0.0)
    thresholds: Mapping[str, float] | None = None
    shipped: NDArray[np.bool_] | None = None
    why_not: str = ""

    @property
    def given(self) -> NDArray[np.bool_]:
        """Which turns have the code, by half of the coders or more."""
        return np.asarray(self.truth >= 0.5)


def too_little(truth: Floats, group: Ints, grouped_by: str) -> str:
    """Say why a code cannot be learnt from these turns; nothing where it can be tried.

    Parameters
    ----------
    truth : float64 array (n,)
        Soft labels.
    group : int64 array (n,)
        What is kept together.
    grouped_by : str
        What that is, in a word.
    """
    given = truth >= 0.5
    n, without = int(given.sum()), int((~given).sum())
    if n and not without:
        return "every coded turn has it: there is nothing to tell it from"
    if n < FEWEST:
        return f"too little data: {n} turns with it, {FEWEST} are needed"
    if without < FEWEST:
        return f"too little data: {without} turns without it, {FEWEST} are needed"
    for what, own in (("with", given), ("without", ~given)):
        found = len(np.unique(group[own]))
        if found < FEWEST_GROUPS:
            return f"too little data: turns {what} it in {found} {many(grouped_by)}, {FEWEST_GROUPS} are needed"
    return ""


def judge(code: Code, truth: Floats, scores: Floats, fold: Ints, group: Ints) -> Judged:
    """Calibrate scores of models that had not seen the turns, find thresholds, and decide.

    A turn's own probability and decision rest on the other folds; line and thresholds to be used later on all.
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
    return Judged(code, truth, p, decided, index, line, limits, why_not=why)


def _sigmoid(scores: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(scores / 2)))


def _line(scores: Floats, truth: Floats) -> tuple[float, float]:
    """Return slope and intercept that calibrate scores: each turn once with the code, once without.

    A slope is never under 0. Scores of unseen turns run a little against codes that mean nothing (what is held out
    lacks in training), and a line that turned them round would seem to have learnt something.
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


def figures(one: Judged, how: Resampling) -> dict[str, float]:
    """Return the figures of a code with their 95% intervals, by bootstrap over groups.

    ``kappa`` (chance: 0), ``f1``, ``auc`` (chance: .5), ``average_precision`` (chance: ``share``),
    ``calibration_error`` (mean distance of stated and true frequency over ten bins of equal size), and where the
    package's tagger has the code, its ``shipped_kappa`` on the same turns and the ``difference`` to it.
    """
    found = _counted(one)
    if not len(one.p):
        return found
    given, decided = (values.astype(np.int64) for values in (one.given, one.decided))
    shape = (int(one.group.max()) + 1, 2)
    tables = co.tables_of(given, decided, one.group, shape)
    found |= _ended("kappa", how.estimate(co.kappa, tables)) | _ended("f1", how.estimate(co.f1, tables))
    found |= _ended("auc", _auc(one, how)) | _ended("average_precision", _precision(one, how))
    found |= _ended("calibration_error", how.estimate(_gaps, _bins(one)))
    if one.shipped is not None:
        theirs = co.tables_of(given, one.shipped.astype(np.int64), one.group, shape)
        found |= _ended("shipped_kappa", how.estimate(co.kappa, theirs))
        both = np.stack([tables, theirs], axis=1)
        found |= _ended("difference", how.estimate(_difference, both))
    return found


def _difference(tables: Floats) -> Floats:
    kappas = co.kappa(tables)
    return np.asarray(kappas[..., 0] - kappas[..., 1])


def _counted(one: Judged) -> dict[str, float]:
    n = len(one.truth)
    return {
        "n_turns": n,
        "n_positive": int(one.given.sum()),
        "n_groups": len(np.unique(one.group)),
        "n_groups_positive": len(np.unique(one.group[one.given])),
        "share": float(one.given.mean()) if n else np.nan,
    }


def _ended(name: str, values: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip((name, f"{name}_lo", f"{name}_hi"), values, strict=True))


def kept(one: Judged, how: Resampling) -> Judged:
    """Say of a code whether it was found above chance; if not, why it is left out."""
    if one.why_not:
        return one
    low = (100 - SURE) / 2
    shape = (int(one.group.max()) + 1, 2)
    tables = co.tables_of(one.given.astype(np.int64), one.decided.astype(np.int64), one.group, shape)
    draws = how.draw(tables)
    # A draw without a turn that has the code says nothing of it.
    kappa = np.nanpercentile(np.where(draws[:, 1].sum(axis=1) > 0, co.kappa(draws), np.nan), low)
    wins, pairs = _wins(one)
    auc = np.nanpercentile(_drawn_auc(how.weights(shape[0]), wins, pairs), low)
    if kappa > 0 and auc > 0.5:
        return one
    name, value, chance = ("kappa", kappa, "0") if kappa <= 0 else ("AUC", auc, ".5")
    why = f"cannot be told from chance: the {SURE:.0f}% interval of {name} begins at {value:.2f}, chance is {chance}"
    return replace(one, why_not=why)


def _auc(one: Judged, how: Resampling) -> tuple[float, float, float]:
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415

    wins, pairs = _wins(one)
    draws = _drawn_auc(how.weights(len(pairs)), wins, pairs)
    return float(roc_auc_score(one.given, one.p)), *co.percentiles(draws)


def _wins(one: Judged) -> tuple[Floats, Floats]:
    """Return by group of a turn with the code and group of one without: how often it scores higher, of how many pairs.

    With these the area under the curve of any draw of groups is two products of small matrices.
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


def _drawn_auc(weights: Floats, wins: Floats, pairs: Floats) -> Floats:
    top, bottom = (np.einsum("di,di->d", weights @ table, weights) for table in (wins, pairs))
    return co.over(top, bottom)


def _precision(one: Judged, how: Resampling) -> tuple[float, float, float]:
    from sklearn.metrics import average_precision_score  # noqa: PLC0415

    weights = how.weights(int(one.group.max()) + 1)[:_ROUGH, one.group]
    return float(average_precision_score(one.given, one.p)), *co.percentiles(_drawn_precision(one, weights))


def _drawn_precision(one: Judged, weights: Floats) -> Floats:
    """Return average precision with each row of weights (draws, n), as scikit-learn has it, but all at once."""
    order = np.argsort(-one.p, kind="stable")
    last = np.flatnonzero(np.diff(one.p[order], append=np.nan) != 0)  # of turns with one probability
    found = np.cumsum(weights[:, order], axis=1)[:, last]
    hits = np.cumsum(weights[:, order] * one.given[order], axis=1)[:, last]
    gained = np.diff(hits, axis=1, prepend=0.0)
    return co.over((gained * np.nan_to_num(co.over(hits, found))).sum(axis=1), hits[:, -1])


def _bins(one: Judged) -> Floats:
    """Return by group and bin of probabilities: turns, what was expected, what people gave."""
    edges = np.percentile(one.p, np.linspace(0, 100, BINS + 1)[1:-1])
    sums = np.zeros((int(one.group.max()) + 1, BINS, 3))
    cells: Any = (one.group, np.searchsorted(edges, one.p))
    np.add.at(sums, cells, np.column_stack([np.ones(len(one.p)), one.p, one.truth]))
    return sums


def _gaps(sums: Floats) -> Floats:
    return co.over(np.abs(sums[..., 1] - sums[..., 2]).sum(axis=-1), sums[..., 0].sum(axis=-1))
