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
    KINDS,
    LABELS,
    MAIN,
    TALK,
    Corpus,
    annomi,
    bare,
    batch,
    invented_as_turns,
    misc_gold,
    plain,
    seeds_as_turns,
)
from tagger_fit import Array, Data, Head, Penalty, aims, best_threshold, fit, platt, sigmoid
from tagger_meaning import widen

from therapy_analytics.behaviours.features import Features, featurize

WAYS: dict[str, Callable[[str], str]] = {"clean": str, "plain": plain, "bare": bare}
HEADS = (*FLAGS, *KINDS, "change", "sustain")
"""Heads that are kept; those of the main behaviour and of neutral talk serve the comparison with others only."""
PENALTY = Penalty(own=5, context=32, dense=6)
PRIOR = 0.75
"""How much of the commoner classes' lead is taken away where one class is chosen."""
MISC_WEIGHT, SEED_WEIGHT, INVENTED_WEIGHT = 0.5, 2.0, 0.2
"""How much a turn of these counts beside one of AnnoMI."""
Scores = dict[str, Array]
Lines = dict[str, tuple[float, float, dict[str, float]]]


@dataclass(frozen=True)
class First:
    """What the layer is trained on: AnnoMI's ``n`` turns, those of MISC, seeds, invented; in each way of writing."""

    corpus: Corpus
    n: int
    ways: dict[str, Data]

    def fit(self, keep: NDArray[np.bool_]) -> Head:
        """Fit all heads on some turns, as people and as speech recognisers write them."""
        copies = [self.ways["clean"], self.ways["plain"]]
        return fit(copies, self.corpus.labels, self.corpus.weights * keep[:, None], PENALTY, parts=3)

    def out_of_fold(self, seed: int) -> Scores:
        """Return scores of all turns by models that have not seen their recording, by way of writing.

        Seeds are seen by all models.
        """
        group = self.corpus.turns["group"].to_numpy()
        fold = np.concatenate([folds(group[: self.n], seed), folds(group[self.n :], seed)])
        fold[group == "seed"] = -1
        scores = {way: np.zeros(self.corpus.labels.shape) for way in self.ways}
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
    """Read AnnoMI, the MISC units, the seeds and the invented sessions."""
    own = annomi(folder)
    renamed = own.turns.assign(session="annomi" + own.turns["session"].astype(str))
    others = [(misc_gold(folder), MISC_WEIGHT), (seeds_as_turns(), SEED_WEIGHT), (invented_as_turns(), INVENTED_WEIGHT)]
    turns = pd.concat([renamed, *(corpus.turns for corpus, _ in others)], ignore_index=True)
    weights = np.vstack([own.weights, *(corpus.weights * weight for corpus, weight in others)])
    labels = np.vstack([own.labels, *(corpus.labels for corpus, _ in others)])
    ways = {way: features_of(turns, way) for way in WAYS}
    copies = {way: widen(found, found.hand, directions, parts=3) for way, found in ways.items()}
    return First(Corpus(turns, labels, weights), len(own.turns), copies)


def calibrate(first: First, scores: Scores) -> Lines:
    """Return slope, intercept and thresholds of each kept head, clean and plain copies together."""
    found: Lines = {}
    for name in HEADS:
        mine, labels = first.known(name)
        z = np.concatenate([scores[way][mine, LABELS.index(name)] for way in ("clean", "plain")])
        found[name] = (*platt(z, np.tile(labels, 2)), {})
        both = [judged(first, name, scores[way], found) for way in ("clean", "plain")]
        p, truth = (np.concatenate([one[i] for one in both]) for i in (1, 2))
        best, one = best_threshold(p, truth >= 0.5, score="kappa"), np.ones(len(p))
        found[name] = (*found[name][:2], aims(p, truth >= 0.5, balanced=best, weights=one, spread=one))
    return found


def heads_of(name: str) -> list[str]:
    """Return the heads of a code: a kind of question has the probability of its group too."""
    return ["question", name] if name in KINDS else [name]


def judged(first: First, name: str, scores: Array, lines: Lines) -> tuple[NDArray[np.int64], Array, Array]:
    """Return AnnoMI's turns that can have a code, its probability there, and the labels.

    A kind of question has the probability P(question) P(kind | question).
    """
    heads = heads_of(name)
    mine, _ = first.known(heads[0])
    p = np.prod([sigmoid(lines[one][0] * scores[mine, LABELS.index(one)] + lines[one][1]) for one in heads], axis=0)
    return mine, p, first.corpus.labels[mine, LABELS.index(name)]


def table(first: First, runs: list[Scores]) -> pd.DataFrame:
    """Return the cross-validated figures, averaged over partitions."""
    calibrated = [(scores, calibrate(first, scores)) for scores in runs]
    rows = [{"way": way, **figures(first, scores, lines, way)} for scores, lines in calibrated for way in first.ways]
    return pd.DataFrame(rows).groupby("way", sort=False).mean().T


def figures(first: First, scores: Scores, lines: Lines, way: str) -> dict[str, float]:
    """Return the figures of one partition and way of writing."""
    found: dict[str, float] = {}
    margins = {}
    for name, (_, _, limits) in lines.items():
        _, p, labels = judged(first, name, scores[way], lines)
        found |= _agreement(name, labels >= 0.5, p >= limits["balanced"])
        found[f"{name} calibration error"] = calibration_error(p, labels)
        margins[name] = p / limits["balanced"]
    mine, _ = first.known("change")
    talk = np.stack([margins["change"], margins["sustain"], np.ones(len(mine))], axis=1)
    said = first.corpus.labels[mine][:, [LABELS.index(name) for name in TALK]]
    main = main_behaviour(first, scores[way], np.ones(first.n, dtype=np.bool_))
    return _classes("main 4 classes", main) | _classes("client 3 classes", _agree(said, talk)) | found


def main_behaviour(first: First, scores: Array, rows: NDArray[np.bool_]) -> tuple[float, float]:
    """Return macro-F1 and kappa of the main behaviour over some of AnnoMI's ``n`` turns."""
    columns = [LABELS.index(f"main_{name}") for name in MAIN]
    mine, _ = first.known("main_question")
    often = first.corpus.labels[mine][:, columns].mean(axis=0)
    mine = mine[rows[mine]]
    return _agree(first.corpus.labels[mine][:, columns], scores[mine][:, columns] - PRIOR * np.log(often / (1 - often)))


def _agree(labels: Array, guesses: Array) -> tuple[float, float]:
    """Return macro-F1 and kappa of the likeliest class of each row."""
    truth, guess = labels.argmax(axis=1), guesses.argmax(axis=1)
    return float(f1_score(truth, guess, average="macro")), float(cohen_kappa_score(truth, guess))


def _classes(family: str, agreement: tuple[float, float]) -> dict[str, float]:
    return dict(zip((f"{family} macro-F1", f"{family} kappa"), agreement, strict=True))


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
