"""Rebuild the weights of the tagger and print how good they are by cross-validation.

Run from the root of the repository, with the research corpora that docs/model_card.md names:

    python tools/train_tagger.py --data ../shared/data --out therapy_analytics/behaviours/weights

Two runs on one machine write the same bytes. ``--tables FILE`` keeps the printed tables.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import cohen_kappa_score, f1_score, precision_recall_fscore_support
from tagger_corpora import FLAGS, LABELS, MAIN, TALK, THERAPIST_LABELS, Corpus, alone, annomi, bare, batch, bolt, misc_gold, plain
from tagger_fit import Array, Data, Head, Penalty, data, fit, platt
from therapy_analytics.behaviours.cues import CUES, HAND
from therapy_analytics.behaviours.features import N_BUCKETS, featurize
from therapy_analytics.session import Role

VERSION = "0.1.0"
WAYS: dict[str, Callable[[str], str]] = {"clean": str, "plain": plain, "bare": bare}
SEEDS = (1, 2, 3)
FIRST = (*FLAGS, "change", "sustain")
"""Heads of the first layer that are kept; those of the main behaviour serve the comparison only."""
PENALTY, PENALTY_BOLT = Penalty(own=3, context=32, dense=6), Penalty(own=8, context=1, dense=4)
MISC_WEIGHT = 0.7
BACKGROUND = 1.0
"""Weight of all AnnoMI turns together, as turns without the code, beside BOLT's own rows."""
HAND_BOLT = [i for i, name in enumerate(HAND) if name.startswith(("has_", "rate_")) or name in {"words", "sentences"}]
GROUPS = {"Reflections": "reflection", "Questions": "question"}
BOLT_IDS = {
    "Reflections on Needs": "reflections_on_needs",
    "Reflections on Emotions": "reflections_on_emotions",
    "Reflections on Values": "reflections_on_values",
    "Reflections on Consequences": "reflections_on_consequences",
    "Reflections on Conflicts": "reflections_on_conflicts",
    "Reflections on Strengths": "reflections_on_strengths",
    "Questions on Experiences": "questions_on_experiences",
    "Questions on Perspectives": "questions_on_perspectives",
    "Questions on Emotions": "questions_on_emotions",
    "Problem-Solving": "problem_solving",
    "Planning": "planning",
    "Normalizing": "normalizing",
    "Psychoeducation": "psychoeducation",
    "Changing Unhealthy Behavior": "changing",
    "Sustaining Unhealthy Behavior": "sustaining",
    "Sharing Negative Emotions": "negative_feeling",
    "Sharing Positive Emotions": "positive_feeling",
    "Gained Insights": "gained_insight",
    "Sharing Experiences": "life_event",
}


def folds(groups: NDArray[Any], seed: int, k: int = 5) -> NDArray[np.int64]:
    """Deal groups out to folds in random order, each to the smallest; other seeds give other folds."""
    names, index, sizes = np.unique(groups.astype(str), return_inverse=True, return_counts=True)
    load, fold = np.zeros(k), np.zeros(len(names), dtype=np.int64)
    for name in np.random.default_rng(seed).permutation(len(names)):
        fold[name] = int(load.argmin())
        load[fold[name]] += sizes[name]
    return fold[index]


def prepare(turns: pd.DataFrame, way: str) -> Data:
    """Return the features of turns written in some way."""
    arrays = batch(turns, WAYS[way])
    features = featurize(arrays.turns, arrays.starts)
    return data(features, features.hand)


# --- first layer: AnnoMI -----------------------------------------------------------------------


@dataclass(frozen=True)
class First:
    """What the first layer is trained on: AnnoMI's turns, then those of MISC; each way of writing."""

    corpus: Corpus
    n: int
    ways: dict[str, Data]

    def out_of_fold(self, seed: int) -> dict[str, Array]:
        """Return scores of AnnoMI's turns by models that have not seen their recording, by way of writing."""
        fold = np.full(len(self.corpus.turns), -1)
        fold[: self.n] = folds(self.corpus.turns["group"].to_numpy()[: self.n], seed)
        scores = {way: np.zeros((self.n, len(LABELS))) for way in self.ways}
        for k in range(5):
            head = self.fit(fold != k)
            for way, turns in self.ways.items():
                scores[way][fold[: self.n] == k] = turns.scores(head)[fold == k]
        return scores

    def fit(self, keep: NDArray[np.bool_]) -> Head:
        """Fit all heads on some turns, as written and as speech recognisers write."""
        copies = [self.ways["clean"], self.ways["plain"]]
        return fit(copies, self.corpus.labels, self.corpus.weights * keep[:, None], PENALTY, parts=3)


def first_layer(folder: Path) -> First:
    """Read AnnoMI and the MISC units."""
    own, more = annomi(folder), misc_gold(folder)
    turns = pd.concat([own.turns.assign(session="annomi" + own.turns["session"].astype(str)), more.turns], ignore_index=True)
    weights = np.vstack([own.weights, more.weights * MISC_WEIGHT])
    corpus = Corpus(turns, np.vstack([own.labels, more.labels]), weights)
    return First(corpus, len(own.turns), {way: prepare(turns, way) for way in WAYS})


def best_threshold(p: Array, y: NDArray[np.bool_], weights: Array | None = None) -> float:
    """Return the threshold of the highest F1 (the middle of the best run on a grid)."""
    grid = np.linspace(0.04, 0.8, 77)
    w = np.ones(len(p)) if weights is None else weights
    scores = [2 * (w * y * (p >= t)).sum() / max((w * y).sum() + (w * (p >= t)).sum(), 1e-9) for t in grid]
    smooth = np.convolve(np.pad(scores, 2, mode="edge"), np.ones(5) / 5, mode="valid")
    return float(np.round(grid[int(smooth.argmax())], 3))


def sigmoid(scores: Array) -> Array:
    """Return probabilities of scores."""
    return np.asarray(0.5 * (1 + np.tanh(scores / 2)))


def calibrate_first(first: First, scores: dict[str, Array]) -> dict[str, tuple[float, float, float]]:
    """Return slope, intercept and threshold of each kept head, from clean and plain copies together."""
    found = {}
    for name in FIRST:
        column = LABELS.index(name)
        mine = first.corpus.weights[: first.n, column] > 0
        z = np.concatenate([scores[way][mine, column] for way in ("clean", "plain")])
        y = np.tile(first.corpus.labels[: first.n][mine, column], 2)
        slope, intercept = platt(z, y)
        found[name] = (slope, intercept, best_threshold(sigmoid(slope * z + intercept), y >= 0.5))
    return found


def first_table(first: First, scores: dict[int, dict[str, Array]]) -> pd.DataFrame:
    """Return the cross-validated figures of the first layer, averaged over the partitions."""
    rows = [{"way": way, **_figures(first, found, way)} for found in scores.values() for way in first.ways]
    return pd.DataFrame(rows).groupby("way", sort=False).mean().T


def _figures(first: First, scores: dict[str, Array], way: str) -> dict[str, float]:
    labels, weights = first.corpus.labels[: first.n], first.corpus.weights[: first.n]
    found = {}
    for family, names in (("main", [f"main_{name}" for name in MAIN]), ("client", list(TALK))):
        columns = [LABELS.index(name) for name in names]
        mine = weights[:, columns[0]] > 0
        truth, guess = labels[mine][:, columns].argmax(axis=1), scores[way][mine][:, columns].argmax(axis=1)
        found[f"{family} macro-F1"] = f1_score(truth, guess, average="macro")
        found[f"{family} kappa"] = cohen_kappa_score(truth, guess)
    for name, (slope, intercept, threshold) in calibrate_first(first, scores).items():
        column = LABELS.index(name)
        mine = weights[:, column] > 0
        p, y = sigmoid(slope * scores[way][mine, column] + intercept), labels[mine, column]
        _, _, f1, _ = precision_recall_fscore_support(y >= 0.5, p >= threshold, average="binary")
        found[f"{name} F1"] = f1
        found[f"{name} kappa"] = cohen_kappa_score(y >= 0.5, p >= threshold)
        found[f"{name} rate - true rate"] = float((p >= threshold).mean() - (y >= 0.5).mean())
    return found


# --- second layer: BOLT ------------------------------------------------------------------------


@dataclass(frozen=True)
class Second:
    """BOLT's rows of a role, then AnnoMI's turns of it as background; scores of the first layer as features."""

    names: list[str]
    n: int
    labels: Array
    weights: Array
    turns: Data
    given: Array

    def fit(self, keep: NDArray[np.bool_]) -> Head:
        """Fit all codes of the role on some of the turns."""
        return fit([self.turns], self.labels, self.weights * keep[:, None], PENALTY_BOLT, parts=1)

    def out_of_fold(self, seed: int) -> Array:
        """Return scores of all turns; BOLT's and the background's by models that have not seen them."""
        fold = folds(np.arange(len(self.labels)), seed)
        scores = np.zeros_like(self.labels)
        for k in range(5):
            scores[fold == k] = self.turns.scores(self.fit(fold != k))[fold == k]
        return scores


def second_layer(folder: Path, role: Role, first: First, head: Head, scores: Array) -> Second:
    """Read BOLT and put it together with what the first layer (calibrated) says of its rows."""
    table, names = bolt(folder, role)
    single = alone(table["text"].tolist(), role)
    mine = (first.corpus.turns["role"] == role).to_numpy()[: first.n]
    turns = pd.concat([single, first.corpus.turns[: first.n].assign(wanted=mine)], ignore_index=True)
    turns["session"] = turns["session"].astype(str)
    made = prepare(turns, "plain")
    wanted = np.flatnonzero(turns["wanted"].to_numpy(dtype=bool))
    n = len(table)
    lifted = np.vstack([made.scores(head)[wanted[:n]][:, : len(FIRST)], scores[mine]])
    kinds = [GROUPS.get(name.split()[0]) for name in names]
    labels = np.zeros((len(wanted), len(names)))
    labels[:n] = table[names].to_numpy()
    weights = np.full_like(labels, BACKGROUND * n / max(len(wanted) - n, 1))
    weights[:n] = 1.0
    given = np.ones_like(labels)
    for column, kind in enumerate(kinds):
        if kind:
            family = [i for i, other in enumerate(kinds) if other == kind]
            weights[:n, column] = labels[:n][:, family].any(axis=1)
            weights[n:, column] = 0.0
            given[:, column] = sigmoid(lifted[:, FIRST.index(kind)])
    dense = sparse.csr_array(np.hstack([made.dense[wanted][:, HAND_BOLT].toarray(), np.clip(lifted, -30, 30) / LIFT_SCALE]))
    return Second([BOLT_IDS[name] for name in names], n, labels, weights, _rows(made, wanted, dense), given)


LIFT_SCALE = 4.0


def _rows(made: Data, rows: NDArray[np.int64], dense: Any) -> Data:
    """Take some turns, without their neighbours."""
    features = made.features
    none = np.full(len(rows), -1)
    part = type(features)(
        features.words[rows], features.types, features.grams[rows], features.hand[rows], none, none
    )
    return data(part, dense)


def second_probabilities(second: Second, scores: Array) -> tuple[Array, list[tuple[float, float]]]:
    """Return calibrated probabilities P(group) P(kind | group), and each code's slope and intercept."""
    lines = []
    for column in range(len(second.names)):
        w = second.weights[:, column]
        lines.append(_line(scores[:, column], second.labels[:, column], w))
    kinds = np.stack([sigmoid(a * scores[:, i] + b) for i, (a, b) in enumerate(lines)], axis=1)
    return kinds * second.given, lines


def _line(scores: Array, labels: Array, weights: Array) -> tuple[float, float]:
    """Platt's line, drawn half-way to slope 1: few rows would make it too sure or too flat."""
    slope, _ = platt(scores, labels, weights)
    slope = float(np.clip((slope + 1) / 2, 0.3, 1.5))
    _, intercept = _offset(scores * slope, labels, weights)
    return slope, intercept


def _offset(scores: Array, labels: Array, weights: Array) -> tuple[float, float]:
    low, high = -20.0, 20.0
    wanted = float((weights * labels).sum())
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float((weights * sigmoid(scores + middle)).sum()) < wanted else (low, middle)
    return 1.0, (low + high) / 2


def second_thresholds(second: Second, p: Array) -> list[float]:
    """Return each code's threshold of highest F1 on BOLT's rows, with the background for codes without a group."""
    found = []
    for column in range(len(second.names)):
        w = np.where(np.arange(len(p)) < second.n, 1.0, second.weights[:, column])
        found.append(best_threshold(p[:, column], second.labels[:, column] > 0, w))
    return found


def second_table(second: Second, seeds: tuple[int, ...]) -> pd.DataFrame:
    """Return cross-validated figures of each code on BOLT's rows; thresholds come from other rows."""
    rows = []
    truth = second.labels[: second.n] > 0
    for seed in seeds:
        scores = second.out_of_fold(seed)
        p, _ = second_probabilities(second, scores)
        half = folds(np.arange(len(p)), seed + 100)
        guess = np.zeros_like(truth)
        for k in range(5):
            train = half != k
            part = Second(second.names, int(train[: second.n].sum()), second.labels[train], second.weights[train], second.turns, second.given[train])
            guess[half[: second.n] == k] = (p[: second.n] >= second_thresholds(part, p[train]))[half[: second.n] == k]
        for i, name in enumerate(second.names):
            rows.append({"code": name, "rows": int(truth[:, i].sum()), "F1": f1_score(truth[:, i], guess[:, i], zero_division=0.0), "rate on AnnoMI": float((p[second.n :, i]).mean())})
    table = pd.DataFrame(rows).groupby("code", sort=False).mean()
    table.loc["mean of codes"] = table.mean()
    return table


# --- all together ------------------------------------------------------------------------------


def main() -> None:
    """Cross-validate, fit on everything, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=root / "therapy_analytics" / "behaviours" / "weights")
    parser.add_argument("--tables", type=Path, default=None)
    options = parser.parse_args()
    first = first_layer(options.data)
    scores = {seed: first.out_of_fold(seed) for seed in SEEDS}
    tables = [first_table(first, scores).round(3).to_string()]
    model, arrays = build(options.data, first, scores[SEEDS[0]], tables)
    write(options.out, model, arrays)
    text = "\n\n".join(tables)
    print(text)
    if options.tables:
        options.tables.write_text(text + "\n", encoding="utf-8")


def build(folder: Path, first: First, scores: dict[str, Array], tables: list[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Fit on everything; return the description and the arrays."""
    lines = calibrate_first(first, scores)
    head = first.fit(np.ones(len(first.corpus.turns), dtype=bool))
    keep = [LABELS.index(name) for name in FIRST]
    slopes, intercepts = (np.array([lines[name][i] for name in FIRST]) for i in (0, 1))
    kept = Head(head.buckets[..., keep] * slopes, head.dense[:, keep] * slopes, head.bias[keep] * slopes + intercepts)
    calibrated = scores["plain"][:, keep] * slopes + intercepts
    codes = [
        {"column": f"mi_{name}", "role": _role(name), "heads": [name], "threshold": lines[name][2]} for name in FIRST
    ]
    buckets, hand, lift, bias, heads = [kept.buckets.reshape(N_BUCKETS, -1)], [kept.dense], [], [kept.bias], []
    for role in ("therapist", "client"):
        second = second_layer(folder, role, first, kept, calibrated)
        tables.append(second_table(second, SEEDS).round(3).to_string())
        out = second.out_of_fold(SEEDS[0])
        p, fitted = second_probabilities(second, out)
        thresholds = second_thresholds(second, p)
        last = second.fit(np.ones(len(second.labels), dtype=bool))
        a, b = (np.array([line[i] for line in fitted]) for i in (0, 1))
        buckets.append(last.buckets[:, 0] * a)
        wide = np.zeros((len(HAND), len(a)))
        wide[HAND_BOLT] = last.dense[: len(HAND_BOLT)] * a
        hand.append(wide)
        lift.append(last.dense[len(HAND_BOLT) :] * a / LIFT_SCALE)
        bias.append(last.bias * a + b)
        heads += second.names
        for name, threshold in zip(second.names, thresholds, strict=True):
            group = next((g for word, g in GROUPS.items() if name.startswith(word.lower())), None)
            codes.append({"column": f"bolt_{name}", "role": role, "heads": [*([group] if group else []), name], "threshold": threshold})
    model = {"format": 1, "name": "hashed-linear", "version": VERSION, "context_heads": list(FIRST), "heads": heads, "codes": codes}
    return model, {"buckets": np.hstack(buckets), "hand": np.hstack(hand), "lift": np.hstack(lift), "bias": np.concatenate(bias)}


def _role(name: str) -> Role:
    return "therapist" if LABELS.index(name) < THERAPIST_LABELS else "client"


def write(folder: Path, model: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write the two files of the weights, buckets in half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")
    small = {name: values.astype(np.float16 if name == "buckets" else np.float32) for name, values in arrays.items()}
    np.savez_compressed(folder / "weights.npz", allow_pickle=False, **small)


if __name__ == "__main__":
    main()
