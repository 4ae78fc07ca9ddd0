"""How good the codes of posts of peers are: empathy (EPITOME) and disclosure (OffMyChest), by post and source left out.

Limits of a fold come from the other folds.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from tagger_judged import FOLDS
from tagger_turns import DISCLOSURE, EMPATHY, Turns

LIMITS = np.arange(-3.0, 2.1, 0.25)
PUBLISHED = {"emotional_reaction": 0.745, "interpretation": 0.626, "exploration": 0.726}
"""Macro-F1 over none, weak and strong of the RoBERTa bi-encoder on the Reddit part (Sharma et al., 2020)."""
Floats = NDArray[np.float64]


def figures(turns: Turns, scores: Floats) -> dict[str, float]:
    """Return macro-F1 of each kind of empathy (3 classes) and of disclosure, by scores that had not seen it."""
    found = {}
    for code in EMPATHY:
        at = [turns.names.index(f"epitome_{code}{kind}") for kind in ("", "_strong")]
        found[f"EPITOME, {code.replace('_', ' ')}, 3 classes, macro-F1"] = _unseen(turns, scores, at)
    for kind in DISCLOSURE:
        at = [turns.names.index(f"disclosure_{kind}")]
        found[f"OffMyChest, {kind}, macro-F1"] = _unseen(turns, scores, at)
    return found


def _unseen(turns: Turns, scores: Floats, at: list[int]) -> float:
    rows = (turns.weights[:, at[0]] > 0) & ~np.isnan(scores[:, at[0]])
    truth = (turns.labels[rows][:, at] >= 0.5).sum(axis=1)
    given, fold = scores[rows][:, at], turns.table["fold"].to_numpy()[rows]
    guess = np.zeros(len(truth), dtype=np.int64)
    for one in range(FOLDS):
        mine = fold == one
        guess[mine] = _classes(given[mine], _best(truth[~mine], given[~mine]))
    return float(f1_score(truth, guess, average="macro"))


def _classes(given: Floats, limits: tuple[float, ...]) -> NDArray[np.int64]:
    """Return how many of the limits are passed, one after the other."""
    passed = given >= np.array(limits)
    found: NDArray[np.int64] = np.minimum.accumulate(passed, axis=1).sum(axis=1)
    return found


def _best(truth: NDArray[np.int64], given: Floats) -> tuple[float, ...]:
    def gained(limits: tuple[float, ...]) -> float:
        return float(f1_score(truth, _classes(given, limits), average="macro"))

    return max(product(LIMITS.tolist(), repeat=given.shape[1]), key=gained)
