"""Second layer of the tagger: BOLT's codes, from few rows, leaning on the first layer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import average_precision_score, f1_score
from tagger_corpora import alone, bolt, invented, seeds
from tagger_first import HEADS, First, features_of, folds
from tagger_fit import Array, Data, Head, Penalty, aims, best_threshold, fit, platt, rate_threshold, sigmoid
from tagger_meaning import fold_in, widen

from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.session import Role

PENALTY = Penalty(own=3, context=1, dense=2)
BACKGROUND = 1.0
"""Weight of all AnnoMI turns together, as turns without the code, beside BOLT's own rows."""
SEED_WEIGHT = 0.5
"""An invented sentence counts less than a coded one."""
INVENTED_WEIGHT = 0.1
"""The same for a turn of an invented session."""
LIFT_SCALE = 4.0
"""Scores of the first layer are divided by this when they serve as features."""
HAND_ROWS = [i for i, name in enumerate(HAND) if name.startswith(("has_", "rate_")) or name in {"words", "sentences"}]
"""Features by hand that mean the same for a row of BOLT, which has no neighbours and no punctuation."""
IDS = {
    "Problem-Solving": "problem_solving",
    "Changing Unhealthy Behavior": "changing",
    "Sustaining Unhealthy Behavior": "sustaining",
    "Sharing Negative Emotions": "negative_feeling",
    "Sharing Positive Emotions": "positive_feeling",
    "Gained Insights": "gained_insight",
    "Sharing Experiences": "life_event",
}
"""Labels of BOLT's files whose ids are not just the label in lower case."""


def group_of(code: str) -> str | None:
    """Return the head of the first layer that a code is a kind of."""
    return {"reflections": "reflection", "questions": "question"}.get(code.split("_", maxsplit=1)[0])


@dataclass(frozen=True)
class Second:
    """BOLT's ``n`` rows of a role, then seeds and invented turns up to row ``m``, then AnnoMI's turns as background.

    ``given`` holds P(group), which the probability of a kind is multiplied by; 1 for codes without a group.
    """

    names: list[str]
    n: int
    m: int
    labels: Array
    weights: Array
    given: Array
    turns: Data

    def fit(self, keep: NDArray[np.bool_]) -> Head:
        """Fit all codes of the role on some of the turns."""
        return fit([self.turns], self.labels, self.weights * keep[:, None], PENALTY, parts=1)

    def out_of_fold(self, seed: int) -> Array:
        """Return scores of all turns by models that have not seen them."""
        fold = folds(np.arange(len(self.labels)), seed)
        scores = np.zeros_like(self.labels)
        for k in range(5):
            scores[fold == k] = self.turns.scores(self.fit(fold != k))[fold == k]
        return scores

    def take(self, rows: NDArray[np.bool_]) -> Second:
        """Return the labels of some rows (not their features)."""
        parts = {name: getattr(self, name)[rows] for name in ("labels", "weights", "given")}
        return replace(self, n=int(rows[: self.n].sum()), m=int(rows[: self.m].sum()), **parts)


def second_layer(folder: Path, role: Role, first: First, head: Head, scores: Array, directions: Array) -> Second:
    """Put BOLT's rows, invented turns and the background together with what the first layer says of them.

    ``head`` is the calibrated first layer, folded; ``scores`` are its out-of-fold scores on all turns.
    """
    rows, names, n = _rows(folder, role)
    corpus = first.corpus.turns.assign(place=np.arange(len(first.corpus.turns)))
    made = corpus[corpus["session"].str.startswith("invented")]
    sessions = pd.concat([made, corpus[: first.n]], ignore_index=True)
    sessions["wanted"] = sessions["role"] == role
    turns = pd.concat([alone(rows["text"].tolist(), role), sessions], ignore_index=True)
    found = features_of(turns.assign(session=turns["session"].astype(str)), "plain")
    wanted = np.flatnonzero(turns["wanted"].to_numpy(dtype=bool))
    whole = Data(found, found.hand, np.zeros(0, dtype=np.int64)).scores(head)
    lifted = np.vstack([whole[wanted[: len(rows)]], scores[sessions.loc[sessions["wanted"], "place"]]])
    none = np.full(len(wanted), -1)
    part = replace(found, words=found.words[wanted], grams=found.grams[wanted], hand=None, before=none, after=none)
    dense = sparse.csr_array(np.hstack([found.hand[wanted][:, HAND_ROWS].toarray(), lifted / LIFT_SCALE]))
    said = invented().query("role == @role")["bolt"]
    known = np.array([[float(name in codes) for name in names] for codes in said]).reshape(len(said), len(names))
    m = len(rows) + len(known)
    truth = np.vstack([rows[names].to_numpy(), known, np.zeros((len(wanted) - m, len(names)))])
    weights, given = _conditions(names, (n, len(rows), m), truth, sigmoid(lifted))
    return Second(names, n, m, truth, weights, given, widen(part, dense, directions, parts=1))


def _rows(folder: Path, role: Role) -> tuple[pd.DataFrame, list[str], int]:
    """Return BOLT's rows and then the seeds, text and codes; the codes' names; how many rows are BOLT's."""
    rows, labels = bolt(folder, role)
    rows = rows.rename(columns={label: IDS.get(label, label.lower().replace(" ", "_")) for label in labels})
    names = list(rows.columns[1:])
    few = seeds()
    few = few[few["code"].isin(names)].reset_index(drop=True)
    made = pd.DataFrame({name: few["code"].eq(name).astype(float) for name in names})
    return pd.concat([rows, made.assign(text=few["text"])], ignore_index=True), names, len(rows)


def _conditions(names: list[str], sizes: tuple[int, int, int], truth: Array, p_first: Array) -> tuple[Array, Array]:
    """Kinds are learnt among rows of their group only; other codes against the background, too."""
    weights, given = np.ones_like(truth), np.ones_like(truth)
    n, seeded, m = sizes
    weights[n:seeded] = SEED_WEIGHT
    weights[seeded:m] = INVENTED_WEIGHT
    weights[m:] = BACKGROUND * n / max(len(truth) - m, 1)
    for column, name in enumerate(names):
        group = group_of(name)
        if group:
            family = [i for i, other in enumerate(names) if group_of(other) == group]
            weights[:, column] *= truth[:, family].any(axis=1)
            given[:, column] = p_first[:, HEADS.index(group)]
    return weights, given


def probabilities(second: Second, scores: Array) -> tuple[Array, Array]:
    """Return calibrated P(group) P(kind | group), and slope and intercept of each code (2, n_codes)."""
    columns = range(len(second.names))
    weights = second.weights.copy()
    weights[second.n : second.m] = 0.0  # seeds are chosen, so their share of a code says nothing
    lines = np.array([_line(scores[:, i], second.labels[:, i], weights[:, i]) for i in columns]).T
    found: Array = sigmoid(scores * lines[0] + lines[1]) * second.given
    return found, lines


def _line(scores: Array, labels: Array, weights: Array) -> tuple[float, float]:
    """Platt's line with its slope drawn half-way to 1 (there are few rows), and the mean kept right."""
    slope = float(np.clip((platt(scores, labels, weights)[0] + 1) / 2, 0.3, 1.5))
    low, high, wanted = -20.0, 20.0, float(weights @ labels)
    for _ in range(60):
        middle = (low + high) / 2
        short = float(weights @ sigmoid(slope * scores + middle)) < wanted
        low, high = (middle, high) if short else (low, middle)
    return slope, (low + high) / 2


def thresholds(second: Second, p: Array) -> list[dict[str, float]]:
    """Return each code's thresholds; the balanced one half-way (on a log scale) between two that each go wrong alone.

    The one of highest F1 on BOLT's rows fires too often in whole sessions, where a code is rarer than in
    BOLT's selection; the one that decides as often as the probabilities say finds too little.
    """
    place = np.arange(len(p))
    rows = place < second.n
    spread = np.where(rows, 1.0, (place >= second.m) * BACKGROUND * second.n / max(len(p) - second.m, 1))
    found = []
    for column in range(len(second.names)):
        weights = np.where(rows, 1.0, (place >= second.m) * second.weights[:, column])
        one, truth = p[:, column], second.labels[:, column] > 0
        balanced = round(float(np.sqrt(best_threshold(one, truth, weights) * rate_threshold(one, spread))), 3)
        found.append(aims(one, truth, balanced=balanced, weights=weights, spread=spread))
    return found


def table(second: Second, seeds: tuple[int, ...]) -> pd.DataFrame:
    """Return cross-validated figures of each code on BOLT's rows; thresholds come from the other folds.

    ``best F1`` is by thresholds for BOLT's rows alone, ``F1`` by those that are shipped.
    """
    rows = [row for seed in seeds for row in _figures(second, seed)]
    found = pd.DataFrame(rows).groupby("code", sort=False).mean()
    found.loc["mean of codes"] = found.mean()
    return found


def _figures(second: Second, seed: int) -> list[dict[str, Any]]:
    p, _ = probabilities(second, second.out_of_fold(seed))
    truth, n, m = second.labels > 0, second.n, second.m
    fold = folds(np.arange(len(p)), seed + 100)
    guess, best = np.zeros(p.shape, dtype=np.bool_), np.zeros((n, len(second.names)), dtype=np.bool_)
    for k in range(5):
        limits = [one["balanced"] for one in thresholds(second.take(fold != k), p[fold != k])]
        guess[fold == k] = p[fold == k] >= limits
        others = fold[:n] != k
        alone = [best_threshold(p[:n, i][others], truth[:n, i][others]) for i in range(len(second.names))]
        best[~others] = p[:n][~others] >= alone
    return [
        {
            "code": name,
            "rows": int(truth[:n, i].sum()),
            "F1": f1_score(truth[:n, i], guess[:n, i], zero_division=0.0),
            "best F1": f1_score(truth[:n, i], best[:, i], zero_division=0.0),
            "average precision": average_precision_score(truth[:n, i], p[:n, i]),
            "share of BOLT rows": truth[:n, i].mean(),
            "decided on AnnoMI": guess[m:, i].mean(),
            "mean p on AnnoMI": p[m:, i].mean(),
        }
        for i, name in enumerate(second.names)
    ]


def fold_second(second: Second, lines: Array, directions: Array) -> tuple[Array, Array, Array, Array]:
    """Fit on everything; return calibrated weights of buckets, hand, lift, and the bias."""
    head = fold_in(second.fit(np.ones(len(second.labels), dtype=np.bool_)), directions)
    return calibrated(head, lines, HAND_ROWS)


def calibrated(head: Head, lines: Array, hand_rows: list[int]) -> tuple[Array, Array, Array, Array]:
    """Return a fitted head, folded, with its calibration in: weights of buckets, hand, lift, and the bias."""
    hand = np.zeros((len(HAND), head.dense.shape[1]))
    hand[hand_rows] = head.dense[: len(hand_rows)]
    lift = head.dense[len(hand_rows) :] / LIFT_SCALE
    return head.buckets[:, 0] * lines[0], hand * lines[0], lift * lines[0], head.bias * lines[0] + lines[1]
