"""Second layer of the tagger: BOLT's codes, from few rows, leaning on the first layer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from tagger_first import HEADS, First
from tagger_fit import Array, Data, Head, Penalty, fit, platt, sigmoid
from tagger_judged import Judged, parts
from tagger_meaning import fold_in, widen

from therapy_analytics.codes import codebook_named
from therapy_analytics.codes.features import HAND, Features
from therapy_analytics.core.session import Role

PENALTY = Penalty(own=3, context=1, dense=2)
WEIGHTS = {"bolt": 1.0, "seed": 0.5, "invented": 0.1, "hlqc": 0.2, "annomi": 0.2}
"""How much a turn of each source counts."""
SESSIONS = ("hlqc", "annomi")
"""Sources of whole sessions: how often a code comes among them is how often it comes."""
LIFT_SCALE = 4.0
"""Scores of the first layer are divided by this when they serve as features."""
HAND_ROWS = [i for i, name in enumerate(HAND) if name.startswith(("has_", "rate_")) or name in {"words", "sentences"}]
"""Features by hand that mean the same for a row of BOLT, which has no neighbours and no punctuation."""


def group_of(code: str) -> str | None:
    """Return the head of the first layer that a code is a kind of."""
    return {"reflections": "reflection", "questions": "question"}.get(code.split("_", maxsplit=1)[0])


@dataclass(frozen=True)
class Second:
    """Turns of a role with what is known of BOLT's codes.

    ``given`` holds P(group), which the probability of a kind is multiplied by; 1 for codes without a group.
    """

    role: Role
    names: list[str]
    places: NDArray[np.int64]
    source: NDArray[Any]
    groups: NDArray[Any]
    labels: Array
    weights: Array
    given: Array
    turns: Data

    @property
    def rows(self) -> NDArray[np.bool_]:
        """BOLT's own rows."""
        return self.source == "bolt"

    @property
    def sessions(self) -> NDArray[np.bool_]:
        """Turns of whole sessions."""
        return np.isin(self.source, SESSIONS)

    def fit(self, keep: NDArray[np.bool_]) -> Head:
        """Fit all codes of the role on some of the turns."""
        return fit([self.turns], self.labels, self.weights * keep[:, None], PENALTY, parts=1)

    def out_of_fold(self, seed: int) -> Array:
        """Return scores of all turns by models that have not seen their recording."""
        scores = np.zeros_like(self.labels)
        for mine in parts(self.groups, seed):
            scores[mine] = self.turns.scores(self.fit(~mine))[mine]
        return scores


def second_layer(role: Role, first: First, scores: Array, directions: Array) -> Second:
    """Put the turns of a role whose codes are known together with what the first layer says of them.

    ``scores`` are the first layer's calibrated scores of all turns, written plain, from models that have not seen them.
    """
    turns = first.corpus.turns
    mine = np.flatnonzero(turns["role"].eq(role) & turns["codes"].notna())
    known = turns["codes"].iloc[mine]
    names = [code.id for code in codebook_named("bolt").codes if code.role == role]
    truth = np.array([[float(name in codes) for name in names] for codes in known])
    source = turns["source"].to_numpy()[mine]
    weights = np.repeat(turns["source"].map(WEIGHTS).to_numpy()[mine, None], len(names), axis=1)
    given = np.ones_like(truth)
    for column, name in enumerate(names):
        group = group_of(name)
        if group:
            family = [i for i, other in enumerate(names) if group_of(other) == group]
            weights[:, column] *= truth[:, family].any(axis=1) | [group in codes for codes in known]
            given[:, column] = sigmoid(scores[mine, HEADS.index(group)])
    part, hand = at(first.ways["plain"].features, mine)
    dense = sparse.csr_array(np.hstack([hand[:, HAND_ROWS], scores[mine] / LIFT_SCALE]))
    groups = turns["group"].to_numpy()[mine]
    return Second(role, names, mine, source, groups, truth, weights, given, widen(part, dense, directions, parts=1))


def at(features: Features, wanted: NDArray[np.int64]) -> tuple[Features, Array]:
    """Return the features of some turns, without their neighbours, and those by hand apart."""
    none = np.full(len(wanted), -1)
    part = replace(
        features, words=features.words[wanted], grams=features.grams[wanted], hand=None, before=none, after=none
    )
    return part, features.hand[wanted].toarray()


def lines_of(second: Second, scores: Array) -> Array:
    """Return slope and intercept of each code (2, n_codes)."""
    weights = second.weights * (second.rows | second.sessions)[:, None]  # of what was made up, shares say nothing
    return np.array([_line(scores[:, i], second.labels[:, i], weights[:, i]) for i in range(len(second.names))]).T


def judged(second: Second, scores: Array, lines: Array) -> list[Judged]:
    """Return what the codes say of BOLT's rows and of whole sessions: P(group) P(kind | group)."""
    keep = second.rows | second.sessions
    rows, sessions = second.rows[keep], second.sessions[keep]
    p = (sigmoid(scores * lines[0] + lines[1]) * second.given)[keep]
    share = np.where(rows, WEIGHTS["bolt"], WEIGHTS["annomi"])
    found = []
    for column, name in enumerate(second.names):
        group = group_of(name)
        about = (f"bolt_{name}", second.role, f"mi_{group}" if group else None, second.places[keep], ("plain",))
        truth = second.labels[keep, column]
        found.append(Judged(*about, truth, p[:, column], share, sessions.astype(float), second.groups[keep]))
    return found


def _line(scores: Array, labels: Array, weights: Array) -> tuple[float, float]:
    """Platt's line with its slope drawn half-way to 1 (there are few rows), and the mean kept right."""
    slope = float(np.clip((platt(scores, labels, weights)[0] + 1) / 2, 0.3, 1.5))
    low, high, wanted = -20.0, 20.0, float(weights @ labels)
    for _ in range(60):
        middle = (low + high) / 2
        short = float(weights @ sigmoid(slope * scores + middle)) < wanted
        low, high = (middle, high) if short else (low, middle)
    return slope, (low + high) / 2


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
