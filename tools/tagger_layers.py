"""Further codes, read from a turn and from the scores of the first layer: MISC's coarse ones, those on request."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from tagger_corpora import SUBTYPES
from tagger_first import First
from tagger_fit import Array, Data, Head, Penalty, fit, platt, sigmoid
from tagger_judged import Judged, parts
from tagger_meaning import fold_in, widen
from tagger_second import LIFT_SCALE, at, calibrated

from therapy_analytics.codes import codebook_named
from therapy_analytics.codes.features import HAND, Features
from therapy_analytics.core.session import Role

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
SHARED = ("question", "reflection", *SUBTYPES["reflection"])
"""Codes of AnnoMI that MITI has by the same name: they are the same heads."""
REQUESTED: dict[str, tuple[str, ...]] = {
    "mi": tuple(chain.from_iterable(SUBTYPES.values())),
    "miti": tuple(code.id for code in codebook_named("miti").codes if code.id not in SHARED),
}
"""Codes of therapists that are written on request only."""
HLQC_WEIGHT = 0.5


@dataclass(frozen=True)
class Layer:
    """Turns of one role, as written and plain: ``n`` that the codes are judged on, and others."""

    role: Role
    names: list[str]
    places: NDArray[np.int64]
    n: int
    labels: Array
    weights: Array
    groups: NDArray[Any]
    copies: list[Data]

    def fit(self, keep: NDArray[np.bool_]) -> Head:
        """Fit all codes of the role on some of the rows."""
        return fit(self.copies, self.labels, self.weights * keep[:, None], PENALTY, parts=1)

    def out_of_fold(self, seed: int) -> Array:
        """Return scores of the first turns (clean copies) by models that have not seen their recording."""
        scores = np.zeros_like(self.labels)
        for mine in parts(self.groups, seed):
            scores[mine] = self.copies[0].scores(self.fit(~mine))[mine]
        return scores[: self.n]


def misc_layer(role: Role, first: First, scores: dict[str, Array], directions: Array) -> Layer:
    """Put MISC's units, and invented turns, together with what the first layer says of them unseen."""
    turns = first.corpus.turns
    wanted = np.flatnonzero(turns["role"].eq(role) & turns["misc"].notna())
    truth = np.array([[float(code in labels) for code in CODES[role]] for labels in turns["misc"].iloc[wanted]])
    weights = {"misc": 1.0, "invented": INVENTED_WEIGHT}
    names = [f"misc_{name}" for name in CODES[role].values()]
    return _layer(role, names, "misc", (first, wanted, truth, weights), scores, directions)


def requested_layer(first: First, scores: dict[str, Array], directions: Array) -> Layer:
    """Put AnnoMI's and HLQC's therapist turns together with what the first layer says of them unseen."""
    turns = first.corpus.turns
    weights = {"annomi": 1.0, "hlqc": HLQC_WEIGHT}
    wanted = np.flatnonzero(turns["role"].eq("therapist") & turns["codes"].notna() & turns["source"].isin(weights))
    names = [name for book in REQUESTED.values() for name in book]
    truth = np.array([[float(name in codes) for name in names] for codes in turns["codes"].iloc[wanted]])
    columns = [f"{book}_{name}" for book, codes in REQUESTED.items() for name in codes]
    return _layer("therapist", columns, "annomi", (first, wanted, truth, weights), scores, directions)


def _layer(
    role: Role,
    names: list[str],
    judged: str,
    found: tuple[First, NDArray[np.int64], Array, dict[str, float]],
    scores: dict[str, Array],
    directions: Array,
) -> Layer:
    first, wanted, truth, weights = found
    turns = first.corpus.turns.iloc[wanted]
    n = int(turns["source"].eq(judged).sum())
    weight = np.repeat(turns["source"].map(weights).to_numpy()[:, None], len(names), axis=1)
    copies = [_copy(data.features, wanted, scores[way], directions) for way, data in first.ways.items()]
    return Layer(role, names, wanted, n, truth, weight, turns["group"].to_numpy(), copies)


def _copy(features: Features, wanted: NDArray[np.int64], scores: Array, directions: Array) -> Data:
    part, hand = at(features, wanted)
    return widen(part, sparse.csr_array(np.hstack([hand, scores[wanted] / LIFT_SCALE])), directions, parts=1)


def lines_of(layer: Layer, scores: Array) -> Array:
    """Return slope and intercept of each code (2, n_codes)."""
    columns = range(len(layer.names))
    return np.array([platt(scores[:, i], layer.labels[: layer.n, i]) for i in columns]).T


def judged(layer: Layer, scores: Array, lines: Array) -> list[Judged]:
    """Return what the codes say of the turns that they are judged on."""
    p, n = sigmoid(scores * lines[0] + lines[1]), layer.n
    one, groups = np.ones(n), layer.groups[:n]
    return [
        Judged(name, layer.role, None, layer.places[:n], ("clean",), layer.labels[:n, i], p[:, i], one, one, groups)
        for i, name in enumerate(layer.names)
    ]


def fold_layer(layer: Layer, lines: Array, directions: Array) -> tuple[Array, Array, Array, Array]:
    """Fit on everything; return calibrated weights of buckets, hand, lift, and the bias."""
    head = fold_in(layer.fit(np.ones(len(layer.labels), dtype=np.bool_)), directions)
    return calibrated(head, lines, list(range(len(HAND))))
