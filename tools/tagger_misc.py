"""MISC's coarse codes: read from a turn alone and from the scores of the first layer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import cohen_kappa_score, f1_score
from tagger_corpora import invented, misc_units
from tagger_first import PRIOR, First, folds
from tagger_fit import Array, Data, Head, Penalty, aims, best_threshold, fit, platt, sigmoid
from tagger_meaning import fold_in, widen
from tagger_second import LIFT_SCALE, calibrated

from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.session import Role

PENALTY = Penalty(own=6, context=1, dense=4)
INVENTED_WEIGHT = 0.3
CODES: dict[Role, dict[str, str]] = {
    "therapist": {
        "SRL": "simple_listening",
        "CRL": "complex_listening",
        "Q": "question",
        "IMC": "mi_consistent",
        "IMI": "mi_inconsistent",
        "O": "other",
    },
    "client": {"C": "change", "S": "sustain", "N": "neutral"},
}


@dataclass(frozen=True)
class Misc:
    """Units of MISC (``n`` of them) and invented turns of one role, as written and plain."""

    names: list[str]
    n: int
    labels: Array
    weights: Array
    groups: NDArray[Any]
    copies: list[Data]

    def fit(self, keep: NDArray[np.bool_]) -> Head:
        """Fit all codes of the role on some of the rows."""
        return fit(self.copies, self.labels, self.weights * keep[:, None], PENALTY, parts=1)

    def out_of_fold(self, seed: int) -> Array:
        """Return scores of the units (clean copies) by models that have not seen their session."""
        fold = np.full(len(self.labels), -1)
        fold[: self.n] = folds(self.groups[: self.n], seed)
        scores = np.zeros_like(self.labels)
        for k in range(5):
            scores[fold == k] = self.copies[0].scores(self.fit(fold != k))[fold == k]
        return scores[: self.n]


def misc_layer(folder: Path, role: Role, first: First, scores: dict[str, Array], directions: Array) -> Misc:
    """Put the units of a role together with what the first layer says of them, when it has not seen their session."""
    units, made = misc_units(folder), invented()
    turns = first.corpus.turns
    own = turns["role"].eq(role).to_numpy()
    at_units = np.flatnonzero(own & turns["session"].str.startswith("units").to_numpy())
    at_made = np.flatnonzero(own & turns["session"].str.startswith("invented").to_numpy())
    wanted = np.concatenate([at_units, at_made])
    codes = CODES[role]
    given = units.loc[units["role"].eq(role), "label"]
    truth = [[float(label == code) for code in codes] for label in given]
    truth += [[float(code in labels) for code in codes] for labels in made.loc[made["role"].eq(role), "misc"]]
    weights = np.where(np.arange(len(wanted)) < len(at_units), 1.0, INVENTED_WEIGHT)
    copies = [_copy(first.ways[way], wanted, scores[way], directions) for way in ("clean", "plain")]
    return Misc(
        list(codes.values()),
        len(at_units),
        np.array(truth),
        np.repeat(weights[:, None], len(codes), axis=1),
        turns["group"].to_numpy()[wanted],
        copies,
    )


def _copy(turns: Data, wanted: NDArray[np.int64], scores: Array, directions: Array) -> Data:
    found = turns.features
    none = np.full(len(wanted), -1)
    hand = found.hand[wanted].toarray()
    part = replace(found, words=found.words[wanted], grams=found.grams[wanted], hand=None, before=none, after=none)
    return widen(part, sparse.csr_array(np.hstack([hand, scores[wanted] / LIFT_SCALE])), directions, parts=1)


def calibrate(misc: Misc, scores: Array) -> Array:
    """Return slope and intercept of each code (2, n_codes)."""
    columns = range(len(misc.names))
    return np.array([platt(scores[:, i], misc.labels[: misc.n, i]) for i in columns]).T


def thresholds(misc: Misc, scores: Array, lines: Array) -> list[dict[str, float]]:
    """Return each code's thresholds."""
    p, truth, one = sigmoid(scores * lines[0] + lines[1]), misc.labels[: misc.n] > 0, np.ones(misc.n)
    found = []
    for i in range(len(misc.names)):
        best = best_threshold(p[:, i], truth[:, i], score="kappa")
        found.append(aims(p[:, i], truth[:, i], balanced=best, weights=one, spread=one))
    return found


def table(misc: Misc, seeds: tuple[int, ...]) -> pd.DataFrame:
    """Return agreement with the coders on units: of the likeliest code, and of each code with its threshold."""
    truth = misc.labels[: misc.n]
    found = []
    for seed in seeds:
        scores = misc.out_of_fold(seed)
        slope, intercept = calibrate(misc, scores)
        p, often = sigmoid(scores * slope + intercept), truth.mean(axis=0)
        guess = (np.log(p) - PRIOR * np.log(often)).argmax(axis=1)
        one = {
            "coarse kappa": cohen_kappa_score(truth.argmax(axis=1), guess),
            "coarse macro-F1": f1_score(truth.argmax(axis=1), guess, average="macro"),
        }
        one |= {f"{name} F1": f1_score(truth[:, i], guess == i) for i, name in enumerate(misc.names)}
        found.append(one)
    return pd.DataFrame(found).mean().to_frame("value")


def fold_misc(misc: Misc, lines: Array, directions: Array) -> tuple[Array, Array, Array, Array]:
    """Fit on everything; return calibrated weights of buckets, hand, lift, and the bias."""
    head = fold_in(misc.fit(np.ones(len(misc.labels), dtype=np.bool_)), directions)
    return calibrated(head, lines, list(range(len(HAND))))
