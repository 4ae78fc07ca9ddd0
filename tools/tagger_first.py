"""First layer of the tagger: AnnoMI's behaviours, read from a turn and its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tagger_corpora import (
    FLAGS,
    KINDS,
    LABELS,
    THERAPIST_LABELS,
    WAYS,
    Corpus,
    annomi,
    batch,
    bolt,
    hlqc,
    invented,
    misc_gold,
    seeds,
)
from tagger_fit import Array, Data, Head, Penalty, fit, platt, sigmoid
from tagger_judged import Judged, parts
from tagger_meaning import widen

from therapy_analytics.codes.features import Features, featurize
from therapy_analytics.core.session import Role

HEADS = (*FLAGS, *KINDS, "change", "sustain")
"""Heads that are kept; those of the main behaviour and of neutral talk serve the comparison with others only."""
PENALTY = Penalty(own=5, context=32, dense=6)
WEIGHTS = {"annomi": 1.0, "misc": 0.5, "hlqc": 0.5, "seed": 2.0, "invented": 0.2, "bolt": 0.0}
"""How much a turn of each source counts; those of BOLT have no labels that this layer learns."""
Scores = dict[str, Array]


@dataclass(frozen=True)
class First:
    """What the layers are trained on: AnnoMI's ``n`` turns, then those of the others; in each way of writing."""

    corpus: Corpus
    n: int
    ways: dict[str, Data]

    def fit(self, keep: NDArray[np.bool_]) -> Head:
        """Fit all heads on some turns, as people and as speech recognisers write them."""
        return fit(list(self.ways.values()), self.corpus.labels, self.corpus.weights * keep[:, None], PENALTY, parts=3)

    def out_of_fold(self, seed: int) -> Scores:
        """Return scores of all turns by models that have not seen their recording, by way of writing."""
        scores = {way: np.zeros(self.corpus.labels.shape) for way in self.ways}
        for mine in parts(self.corpus.turns["group"].to_numpy(), seed):
            head = self.fit(~mine)
            for way, turns in self.ways.items():
                scores[way][mine] = turns.scores(head)[mine]
        return scores

    def known(self, name: str) -> tuple[NDArray[np.int64], Array]:
        """Return AnnoMI's turns that can have a label, and the labels."""
        column = LABELS.index(name)
        mine = np.flatnonzero(self.corpus.weights[: self.n, column] > 0)
        return mine, self.corpus.labels[mine, column]


def features_of(turns: pd.DataFrame, way: str) -> Features:
    """Return the features of turns written in some way."""
    arrays = batch(turns, WAYS[way])
    return featurize(arrays.turns, arrays.starts)


def labelled(folder: Path) -> Corpus:
    """Read all that is labelled, AnnoMI first."""
    own, others = annomi(folder), hlqc(folder)
    rows = bolt(folder, pd.concat([others.turns, own.turns]))
    corpora = [own, misc_gold(folder), others, seeds(), invented(), rows]
    turns = pd.concat([corpus.turns for corpus in corpora], ignore_index=True)
    weights = np.vstack([corpus.weights for corpus in corpora]) * turns["source"].map(WEIGHTS).to_numpy()[:, None]
    return Corpus(turns, np.vstack([corpus.labels for corpus in corpora]), weights)


def first_layer(corpus: Corpus, directions: Array) -> First:
    """Put what is labelled into features."""
    ways = {way: features_of(corpus.turns, way) for way in WAYS}
    copies = {way: widen(found, found.hand, directions, parts=3) for way, found in ways.items()}
    return First(corpus, int(corpus.turns["source"].eq("annomi").sum()), copies)


def lines_of(first: First, scores: Scores) -> Array:
    """Return slope and intercept of each head (2, n_labels), by AnnoMI's turns, clean and plain copies together."""
    found = []
    for column, name in enumerate(LABELS):
        mine, labels = first.known(name)
        found.append(platt(np.concatenate([scores[way][mine, column] for way in WAYS]), np.tile(labels, len(WAYS))))
    return np.array(found).T


def heads_of(name: str) -> list[str]:
    """Return the heads of a code: a kind of question has the probability of its group too."""
    return ["question", name] if name in KINDS else [name]


def judged(first: First, scores: Scores, lines: Array) -> list[Judged]:
    """Return what the heads say of AnnoMI's turns; a kind of question has P(question) P(kind | question)."""
    found = []
    for name in LABELS:
        heads = [LABELS.index(head) for head in heads_of(name)]
        rows, _ = first.known(heads_of(name)[0])
        p = [sigmoid(lines[0][heads] * scores[way][rows][:, heads] + lines[1][heads]).prod(axis=1) for way in WAYS]
        truth, one = first.corpus.labels[rows, LABELS.index(name)], np.ones(len(WAYS) * len(rows))
        recording = np.tile(first.corpus.turns["group"].to_numpy()[rows], len(WAYS))
        group = "mi_question" if name in KINDS else None
        about = (f"mi_{name}", role_of(name), group, rows, tuple(WAYS))
        found.append(Judged(*about, np.tile(truth, len(WAYS)), np.concatenate(p), one, one, recording))
    return found


def role_of(name: str) -> Role:
    """Return whose turns a label is of."""
    return "therapist" if LABELS.index(name) < THERAPIST_LABELS else "client"
