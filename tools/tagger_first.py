"""First layer of the tagger: AnnoMI's behaviours, read from a turn and its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score, f1_score
from tagger_corpora import (
    FLAGS,
    LABELS,
    MAIN,
    TALK,
    Corpus,
    annomi,
    bare,
    batch,
    misc_gold,
    plain,
    seeds_as_turns,
)
from tagger_fit import Array, Data, Head, Penalty, best_threshold, fit, platt, sigmoid
from tagger_meaning import widen

from therapy_analytics.behaviours.features import Features, featurize

WAYS: dict[str, Callable[[str], str]] = {"clean": str, "plain": plain, "bare": bare}
HEADS = (*FLAGS, "change", "sustain")
"""Heads that are kept; those of the main behaviour and of neutral talk serve the comparison with others only."""
PENALTY = Penalty(own=3, context=32, dense=6)
MISC_WEIGHT, SEED_WEIGHT = 0.7, 2.0
"""How much a turn of these counts beside one of AnnoMI."""
Scores = dict[str, Array]
Lines = dict[str, tuple[float, float, float]]


@dataclass(frozen=True)
class First:
    """What the layer is trained on: AnnoMI's ``n`` turns, those of MISC, seeds; in each way of writing."""

    corpus: Corpus
    n: int
    ways: dict[str, Data]

    def fit(self, keep: NDArray[np.bool_]) -> Head:
        """Fit all heads on some turns, as people and as speech recognisers write them."""
        copies = [self.ways["clean"], self.ways["plain"]]
        return fit(copies, self.corpus.labels, self.corpus.weights * keep[:, None], PENALTY, parts=3)

    def out_of_fold(self, seed: int) -> Scores:
        """Return scores of AnnoMI's turns by models that have not seen their recording, by way of writing."""
        fold = np.full(len(self.corpus.turns), -1)
        fold[: self.n] = folds(self.corpus.turns["group"].to_numpy()[: self.n], seed)
        scores = {way: np.zeros((self.n, len(LABELS))) for way in self.ways}
        for k in range(5):
            head, mine = self.fit(fold != k), np.flatnonzero(fold == k)
            for way, turns in self.ways.items():
                scores[way][mine] = turns.scores(head)[mine]
        return scores

    def known(self, name: str) -> tuple[NDArray[np.int64], Array]:
        """Return AnnoMI's turns that can have a label, and the labels."""
        column = LABELS.index(name)
        mine = np.flatnonzero(self.corpus.weights[: self.n, column] > 0)
        return mine, self.corpus.labels[mine, column]


def folds(groups: NDArray[Any], seed: int, k: int = 5) -> NDArray[np.int64]:
    """Deal groups out to folds in random order, each to the smallest; other seeds give other folds."""
    names, index, sizes = np.unique(groups.astype(str), return_inverse=True, return_counts=True)
    load, fold = np.zeros(k), np.zeros(len(names), dtype=np.int64)
    for name in np.random.default_rng(seed).permutation(len(names)):
        fold[name] = int(load.argmin())
        load[fold[name]] += sizes[name]
    return fold[index]


def features_of(turns: pd.DataFrame, way: str) -> Features:
    """Return the features of turns written in some way."""
    arrays = batch(turns, WAYS[way])
    return featurize(arrays.turns, arrays.starts)


def first_layer(folder: Path, directions: Array) -> First:
    """Read AnnoMI, the MISC units and the seeds."""
    own, more, few = annomi(folder), misc_gold(folder), seeds_as_turns()
    renamed = own.turns.assign(session="annomi" + own.turns["session"].astype(str))
    turns = pd.concat([renamed, more.turns, few.turns], ignore_index=True)
    weights = np.vstack([own.weights, more.weights * MISC_WEIGHT, few.weights * SEED_WEIGHT])
    labels = np.vstack([own.labels, more.labels, few.labels])
    ways = {way: features_of(turns, way) for way in WAYS}
    copies = {way: widen(found, found.hand, directions, parts=3) for way, found in ways.items()}
    return First(Corpus(turns, labels, weights), len(own.turns), copies)


def calibrate(first: First, scores: Scores) -> Lines:
    """Return slope, intercept and threshold (highest kappa) of each kept head, clean and plain copies together."""
    found = {}
    for name in HEADS:
        mine, labels = first.known(name)
        z = np.concatenate([scores[way][mine, LABELS.index(name)] for way in ("clean", "plain")])
        slope, intercept = platt(z, np.tile(labels, 2))
        truth = np.tile(labels, 2) >= 0.5
        found[name] = (slope, intercept, best_threshold(sigmoid(slope * z + intercept), truth, score="kappa"))
    return found


def table(first: First, runs: list[Scores]) -> pd.DataFrame:
    """Return the cross-validated figures, averaged over partitions."""
    rows = [{"way": way, **_figures(first, scores, way)} for scores in runs for way in first.ways]
    return pd.DataFrame(rows).groupby("way", sort=False).mean().T


def _figures(first: First, scores: Scores, way: str) -> dict[str, float]:
    lines = calibrate(first, scores)
    found: dict[str, float] = {}
    margins = {}
    for name, (slope, intercept, threshold) in lines.items():
        mine, labels = first.known(name)
        p = sigmoid(slope * scores[way][mine, LABELS.index(name)] + intercept)
        found |= _agreement(name, labels >= 0.5, p >= threshold)
        found[f"{name} calibration error"] = calibration_error(p, labels)
        margins[name] = p / threshold
    mine, _ = first.known("change")
    talk = np.stack([margins["change"], margins["sustain"], np.ones(len(mine))], axis=1)
    main = [f"main_{name}" for name in MAIN]
    turns, _ = first.known(main[0])
    columns = [LABELS.index(name) for name in main]
    often = first.corpus.labels[turns][:, columns].mean(axis=0)
    guess = scores[way][turns][:, columns] - 0.75 * np.log(often / (1 - often))
    return _classes(first, "main 4 classes", main, guess) | _classes(first, "client 3 classes", TALK, talk) | found


def _classes(first: First, family: str, names: Any, guess: Array) -> dict[str, float]:
    mine, _ = first.known(names[0])
    truth = first.corpus.labels[mine][:, [LABELS.index(name) for name in names]].argmax(axis=1)
    return {
        f"{family} macro-F1": float(f1_score(truth, guess.argmax(axis=1), average="macro")),
        f"{family} kappa": float(cohen_kappa_score(truth, guess.argmax(axis=1))),
    }


def _agreement(name: str, truth: NDArray[np.bool_], guess: NDArray[np.bool_]) -> dict[str, float]:
    return {
        f"{name} F1": float(f1_score(truth, guess)),
        f"{name} kappa": float(cohen_kappa_score(truth, guess)),
        f"{name} true rate": float(truth.mean()),
        f"{name} decided rate": float(guess.mean()),
    }


def calibration_error(p: Array, labels: Array, bins: int = 10) -> float:
    """Return the mean distance of stated and true frequency over bins of equal size."""
    parts = np.array_split(np.argsort(p, kind="stable"), bins)
    return float(np.mean([abs(p[part].mean() - labels[part].mean()) for part in parts]))
