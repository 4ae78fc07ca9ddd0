"""Rebuild the weights of the model of distorted thoughts and core beliefs, and print how good they are.

Run from the root of the repository, with the corpus that ``distortions_weights/NOTICE.md`` names:

    python tools/train_distortions.py --data CORPORA

Two runs on one machine write the same bytes. It takes a few minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import minimize
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GroupKFold
from tagger_corpora import WAYS, plain
from text_models import calibrated, calibration_error, score, table_of, table_of_turns, write
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from train_disclosure import silent

import therapy_analytics as ta
from therapy_analytics.behaviours.distortions import ANY, BALANCED, BELIEFS, KINDS, VOICED, WEIGHTS
from therapy_analytics.behaviours.features import N_BUCKETS
from therapy_analytics.behaviours.text_model import Floats
from therapy_analytics.language import TurnArrays
from therapy_analytics.language.segments import Ints, segments, turns_from_texts

VERSION = "0.1.0"
STRENGTH = 0.1
"""Inverse of the penalty on weights."""
FOLDS = 5
MARKED = 0.5
"""A segment counts as distorted if more than this share of its triples of words stands in the marked part."""
SHARED = 5
"""Letters with so many sequences of eight words in common are taken as copies, and kept on one side of the folds."""
SMALLEST = 0.008
"""Weights of buckets nearer to 0 are dropped: the file is half as large and no number changes."""
KIND_STRENGTH = 0.05
BELIEF_STRENGTH = 1.0
BAG_STRENGTH = 1.0
TALK = 0.3
"""How much a segment of talk that nobody has labelled counts beside one of a letter."""
BACKGROUND = 0.1
"""How much a segment of a letter without distortion counts beside a sentence of our own."""
OF_OTHERS = 0.3
"""How much a belief of somebody else counts beside a sentence of our own."""
STATEMENTS = Path(__file__).with_name("belief_statements.toml")
BAGS: dict[str, Callable[[], Any]] = {
    "bag of words": lambda: CountVectorizer(min_df=2),
    "words and pairs, tf-idf": lambda: TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2),
}
_THIRD = {
    r"\b[Ii]('m| am)\b": "she's",
    r"\b[Ii]'ve\b": "she has",
    r"\b[Ii] don't\b": "she doesn't",
    r"\b[Ii] (have|feel|deserve)\b": r"she \1s",
    r"\bhaves\b": "has",
    r"\b[Ii]\b": "she",
    r"\b[Mm]y\b": "her",
    r"\bme\b": "her",
    r"\bmyself\b": "herself",
}
_REPEATS = 500
_SHOWN = ("auc", "f1", "macro_f1", "f1_tuned", "macro_f1_tuned")
_NOTICE = """\
# The model of distorted thoughts and core beliefs

A linear model (`model.json`, `weights.npz`), made by this project with `tools/train_distortions.py`.

**Distorted thoughts** were learnt from letters in which annotators marked the distorted part and its kind (ten
kinds), or nothing: Shreevastava, S., & Foltz, P. (2021), Detecting cognitive distortions from patient-therapist
interactions, CLPsych (the file states no licence). The weights are of hashed words, hand-crafted features and word
vectors: no sentence and no vocabulary of the corpus is in them. Segments (sentences) in the marked part were set
against those of letters without distortion; added were minimal responses and sentences of our own
(`tools/belief_statements.toml`), and, as talk in which distortions are rare, client turns of AnnoMI (Wu, Z., et al.,
2022, ICASSP; no licence stated).

Five-fold cross-validation (copies on one side), {n} letters, {none} without distortion; plain: lower case, without
punctuation. F1 of the distorted at {balanced} (the threshold of the package, chosen on the same letters; of the bags of
words too), and at the threshold that is best for it in the other folds ("tuned"); 95 % intervals by
drawing letters. Calling every letter distorted gives an F1 of {everything:.3f}: read AUC and macro-F1 beside it.

| | AUC | F1 | macro-F1 | F1, tuned | macro-F1, tuned |
| --- | --- | --- | --- | --- | --- |
{rows}

Calibration error (ECE) over ten bins of equal count: {ece:.3f}. Which kind: macro-F1 over the ten and none {kinds:.2f};
that is too little for a column, so the kinds are in the model for exploring only.

**Core beliefs** (helpless, unlovable, worthless; the names are Beck's) were learnt from about 425 sentences of our own
alone, with segments of letters and of client turns of AnnoMI as a background. Left-out sentences of our own, ten-fold,
AUC and F1 at {voiced}: {beliefs}.

The letters are long, written, and by people who ask for advice; the sentences of our own are clear cases. Neither is
a session, and no part of this is a diagnosis.
"""
Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class SegmentedLetters:
    """Letters cut into segments: features, whose they are, and which are marked as distorted."""

    table: Any
    text_of: Ints
    marked: Bools


@dataclass(frozen=True)
class Letters:
    """The corpus: texts, labels (0 or 1, kind or -1), groups of copies, cuts for each of `WAYS`; talk of clients."""

    texts: list[str]
    labels: Ints
    kinds: Ints
    groups: Ints
    cuts: list[SegmentedLetters]
    talk: Any

    def folds(self) -> list[Ints]:
        """Return the letters of each fold."""
        split = GroupKFold(FOLDS, shuffle=True, random_state=0).split(self.labels, groups=self.groups)
        return [test for _, test in split]


@dataclass(frozen=True)
class Own:
    """Sentences of our own, each written in all `WAYS`: features, belief (-1: none), number, weight."""

    table: Any
    belief: Ints
    sentence: Ints
    weight: Floats


def read(folder: Path) -> Letters:
    """Read the corpus, a letter a row."""
    rows = pd.read_csv(folder / "distortions" / "distortions.csv", keep_default_na=False)
    texts, parts = rows["Patient Question"].tolist(), rows["Distorted part"].tolist()
    named = rows["Dominant Distortion"].str.lower().str.replace("[- ]", "_", regex=True)
    kinds = np.array([KINDS.index(kind) if kind in KINDS else -1 for kind in named])
    cuts = [cut_up(list(map(way, texts)), list(map(way, parts))) for way in WAYS.values()]
    return Letters(texts, (kinds >= 0).astype(np.int64), kinds, copies(texts), cuts, talk(folder))


def talk(folder: Path) -> Any:
    """Return the segments of client turns of AnnoMI: how people talk; few of them are distorted."""
    sessions = [session for reading in ta.read_files([folder / "annomi"]) for session in reading.sessions]
    texts = [turn.text for session in sessions for turn in session.turns if turn.role == "client"]
    tables = [table_of_turns(segments(turns_from_texts(list(map(way, texts)))).turns) for way in WAYS.values()]
    return sparse.vstack(tables, format="csr")


def cut_up(texts: Sequence[str], parts: Sequence[str]) -> SegmentedLetters:
    """SegmentedLetters letters into segments and find those in the part that was marked."""
    cut, spans = segments(turns_from_texts(texts)), turns_from_texts(parts)
    inside = [set(_runs(spans, i, 3)) for i in range(len(parts))]
    own = [_runs(cut.turns, i, 3) for i in range(len(cut.turns))]
    pairs = zip(cut.turn_of, own, strict=True)
    share = [sum(one in inside[text] for one in grams) / max(len(grams), 1) for text, grams in pairs]
    return SegmentedLetters(table_of_turns(cut.turns), cut.turn_of, np.array(share) > MARKED)


def copies(texts: Sequence[str]) -> Ints:
    """Return a group for each text: the first text that it shares `SHARED` sequences of eight words with, or itself."""
    turns, group = turns_from_texts([plain(text) for text in texts]), np.arange(len(texts))
    seen: dict[tuple[str, ...], int] = {}
    for i in range(len(texts)):
        shared = Counter(seen[run] for run in set(_runs(turns, i, 8)) if run in seen)
        if shared and shared.most_common(1)[0][1] >= SHARED:
            group[i] = group[shared.most_common(1)[0][0]]
        seen.update((run, i) for run in _runs(turns, i, 8) if run not in seen)
    return group


def _runs(turns: TurnArrays, i: int, n: int) -> list[tuple[str, ...]]:
    here = slice(int(turns.offsets[i]), int(turns.offsets[i + 1]))
    words = [turns.tokens.lower[k] for k in turns.tokens.ids[here][turns.tokens.word_start[here]].tolist()]
    return list(zip(*(words[k:] for k in range(n)), strict=False))


def main() -> None:
    """Cross-validate, fit on everything, write the weights."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        letters, own = read(options.data), read_own()
        scores = left_out(letters, own)
        spoken = left_out_own(own, letters)
        figures = figures_of(letters, scores) | own_figures(own, spoken)
        weights = fit(letters, own, np.arange(len(letters.labels)))
        weights = put_in(weights, noisy_or_line(letters, scores), [platt(own, spoken, k) for k in range(len(BELIEFS))])
    weights[:N_BUCKETS][np.abs(weights[:N_BUCKETS]) < SMALLEST] = 0
    write(options.out, weights, figures, kinds=(ANY, *KINDS, *BELIEFS), version=VERSION)
    (options.out / "NOTICE.md").write_text(notice(letters, figures), encoding="utf-8")
    print(json.dumps(figures, indent=1))


def read_own(path: Path = STATEMENTS) -> Own:
    """Read the sentences of our own, and add those of others who say so of themselves (which voice no belief)."""
    lists = tomllib.loads(path.read_text(encoding="utf-8"))
    spoken = [(text, k) for k, name in enumerate(BELIEFS) for text in lists[name]]
    spoken += [(text, -1) for name in ("none", "filler") for text in lists[name]]
    owner = np.arange(len(spoken))
    texts = [text for text, _ in spoken] + [third_person(text) for text, belief in spoken if belief >= 0]
    belief = np.array([belief for _, belief in spoken])
    others = owner[belief >= 0]
    belief, owner = np.append(belief, np.full(len(others), -1)), np.append(owner, others)
    weight = np.append(np.ones(len(spoken)), np.full(len(others), OF_OTHERS))
    table = sparse.vstack([table_of(list(map(way, texts))) for way in WAYS.values()], format="csr")
    n = len(WAYS)
    return Own(table, np.tile(belief, n), np.tile(owner, n), np.tile(weight, n))


def third_person(text: str) -> str:
    """Return what somebody else says of herself.

    Examples
    --------
    >>> third_person("I'm bad and nobody likes me.")
    "She says that she's bad and nobody likes her."
    """
    for form, new in _THIRD.items():
        text = re.sub(form, new, text)
    return "She says that " + text[:1].lower() + text[1:]


def fit(letters: Letters, own: Own, rows: Ints) -> Floats:
    """Fit everything on some letters and sentences of our own; return weights (n, 14), the intercepts last."""
    heads = [fit_any(letters, own, rows), *fit_kinds(letters, rows).T]
    heads += [fit_belief(own, background(letters, rows), k) for k in range(len(BELIEFS))]
    return np.stack(heads, axis=1)


def fit_any(letters: Letters, own: Own, rows: Ints) -> Floats:
    """Fit marked segments against those of letters without distortion; the unmarked ones of others are left out."""
    tables, labels = [own.table], [own.belief >= 0]
    for cut in letters.cuts:
        used = np.isin(cut.text_of, rows) & (cut.marked | (letters.labels[cut.text_of] == 0))
        tables.append(cut.table[used])
        labels.append(cut.marked[used])
    others = sparse.vstack([silent(), letters.talk], format="csr")
    weight = np.append(np.ones(sum(map(len, labels))), np.full(others.shape[0], TALK))
    labels.append(np.zeros(others.shape[0], dtype=np.bool_))
    return _logistic(sparse.vstack([*tables, others], format="csr"), np.concatenate(labels), weight)[:, 0]


def fit_kinds(letters: Letters, rows: Ints) -> Floats:
    """Fit the kinds of marked segments against each other: (n, 10)."""
    tables, kinds = [], []
    for cut in letters.cuts:
        used = np.isin(cut.text_of, rows) & cut.marked
        tables.append(cut.table[used])
        kinds.append(letters.kinds[cut.text_of[used]])
    return _logistic(
        sparse.vstack(tables, format="csr"), np.concatenate(kinds), class_weight="balanced", C=KIND_STRENGTH
    )


def fit_belief(own: Own, others: Any, k: int, used: Bools | None = None) -> Floats:
    """Fit one belief on sentences of our own against all others and against segments of letters."""
    used = np.ones(len(own.belief), dtype=np.bool_) if used is None else used
    table = sparse.vstack([own.table[used], others], format="csr")
    labels = np.append(own.belief[used] == k, np.zeros(others.shape[0], dtype=np.bool_))
    weight = np.append(own.weight[used], np.full(others.shape[0], BACKGROUND))
    return _logistic(table, labels, weight, C=BELIEF_STRENGTH)[:, 0]


def background(letters: Letters, rows: Ints) -> Any:
    """Return every third segment of letters without distortion, and of talk, as a table."""
    kept = [cut.table[np.isin(cut.text_of, rows[letters.labels[rows] == 0])][::3] for cut in letters.cuts]
    return sparse.vstack([*kept, letters.talk], format="csr")


def _logistic(table: Any, labels: Any, weight: Floats | None = None, **how: Any) -> Floats:
    model = LogisticRegression(**({"C": STRENGTH, "max_iter": 150, "tol": 1e-3} | how))
    model.fit(table, labels, sample_weight=weight)
    return np.vstack([model.coef_.T, model.intercept_])


def left_out(letters: Letters, own: Own) -> list[Floats]:
    """Return for each way of writing the scores (n_segments, 11) of letters that were left out."""
    scores = [np.zeros((len(cut.text_of), 1 + len(KINDS))) for cut in letters.cuts]
    for test in letters.folds():
        rows = np.setdiff1d(np.arange(len(letters.labels)), test)
        weights = np.column_stack([fit_any(letters, own, rows), fit_kinds(letters, rows)])
        for cut, found in zip(letters.cuts, scores, strict=True):
            own_rows = np.isin(cut.text_of, test)
            found[own_rows] = score(cut.table[own_rows], weights)
    return scores


def left_out_own(own: Own, letters: Letters) -> Floats:
    """Return scores (n, 3) of sentences of our own that were left out, one in ten at a time."""
    others = background(letters, np.arange(len(letters.labels)))
    part = np.random.default_rng(0).permutation(own.sentence.max() + 1)[own.sentence] % 10
    scores = np.zeros((len(own.belief), len(BELIEFS)))
    for fold in range(10):
        for k in range(len(BELIEFS)):
            scores[part == fold, k] = score(own.table[part == fold], fit_belief(own, others, k, part != fold))
    return scores


def noisy_or_line(letters: Letters, scores: Sequence[Floats], rows: Ints | None = None) -> Floats:
    """Return slope and intercept for scores of segments with which "any segment is" fits the labels of letters."""
    rows = np.arange(len(letters.labels)) if rows is None else rows

    def misfit(line: Floats) -> float:
        p = np.clip([any_of(letters, scores, line, way)[rows] for way in range(len(scores))], 1e-9, 1 - 1e-9)
        return -float(np.where(letters.labels[rows] == 1, np.log(p), np.log1p(-p)).mean())

    found = minimize(misfit, [1.0, -1.0], method="Nelder-Mead", options={"maxiter": 100})
    return np.asarray(found.x)


def any_of(letters: Letters, scores: Sequence[Floats], line: Floats, way: int) -> Floats:
    """Return the probability of each letter that some segment of it is distorted."""
    none = -np.logaddexp(0.0, line[0] * scores[way][:, 0] + line[1])
    return np.asarray(-np.expm1(np.bincount(letters.cuts[way].text_of, none, len(letters.labels))))


def platt(own: Own, spoken: Floats, k: int) -> tuple[float, float]:
    """Return slope and intercept of Platt's scaling of a belief; sentences of others count less, as in the fit."""
    model = LogisticRegression(C=1e6).fit(spoken[:, [k]], own.belief == k, sample_weight=own.weight)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def put_in(weights: Floats, line: Floats, lines: Sequence[tuple[float, float]]) -> Floats:
    """Put the calibrations of the first column and of the beliefs into the weights."""
    weights = weights.copy()
    for column, (slope, intercept) in zip((0, *range(1 + len(KINDS), weights.shape[1])), (line, *lines), strict=True):
        weights[:, column] = calibrated(weights[:, column], float(slope), float(intercept))
    return weights


def figures_of(letters: Letters, scores: Sequence[Floats]) -> dict[str, dict[str, float]]:
    """Return how good the model and the two bags of words are on letters that were left out."""
    found = {}
    lines = [noisy_or_line(letters, scores, _others(letters, test)) for test in letters.folds()]
    for place, way in enumerate(WAYS):
        p = np.zeros(len(letters.labels))
        for test, line in zip(letters.folds(), lines, strict=True):
            p[test] = any_of(letters, scores, line, place)[test]
        found[f"any_{way}"] = _figures(letters, p) | {"ece": round(calibration_error(p, letters.labels), 4)}
        found[f"kinds_{way}"] = {"macro_f1_of_11": round(kinds_f1(letters, scores, p, place), 4)}
    for name, bag in BAGS.items():
        found[name] = _figures(letters, bag_of_words(letters, bag))
    everything = np.ones(len(letters.labels))
    return found | {"all_distorted": {"f1": round(float(f1_score(letters.labels, everything)), 4)}}


def bag_of_words(letters: Letters, bag: Callable[[], Any]) -> Floats:
    """Return the probabilities of letters that were left out, of a logistic regression on counts of words."""
    p = np.zeros(len(letters.labels))
    for test in letters.folds():
        rows, words = _others(letters, test), bag()
        model = LogisticRegression(C=BAG_STRENGTH, max_iter=1000)
        model.fit(words.fit_transform([letters.texts[i] for i in rows]), letters.labels[rows])
        p[test] = model.predict_proba(words.transform([letters.texts[i] for i in test]))[:, 1]
    return p


def _others(letters: Letters, test: Ints) -> Ints:
    return np.setdiff1d(np.arange(len(letters.labels)), test)


def _figures(letters: Letters, p: Floats) -> dict[str, Any]:
    """AUC, and F1 at `BALANCED` and at the threshold that is best for F1 in the other folds, with 95 % intervals."""
    plain, tuned = p >= BALANCED, np.zeros(len(p), dtype=np.bool_)
    for test in letters.folds():
        tuned[test] = p[test] >= _threshold(p[_others(letters, test)], letters.labels[_others(letters, test)])
    figures = {
        "auc": lambda i: roc_auc_score(letters.labels[i], p[i]),
        "f1": lambda i: f1_score(letters.labels[i], plain[i]),
        "macro_f1": lambda i: f1_score(letters.labels[i], plain[i], average="macro"),
        "f1_tuned": lambda i: f1_score(letters.labels[i], tuned[i]),
        "macro_f1_tuned": lambda i: f1_score(letters.labels[i], tuned[i], average="macro"),
    }
    whole = np.arange(len(p))
    draws = [drawn(letters.groups, seed) for seed in range(_REPEATS)]
    return {
        name: [round(float(v), 4) for v in (value(whole), *np.quantile([value(one) for one in draws], [0.025, 0.975]))]
        for name, value in figures.items()
    }


def drawn(groups: Ints, seed: int) -> Ints:
    """Return letters of groups drawn with replacement."""
    order = np.argsort(groups, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    return np.concatenate([parts[i] for i in np.random.default_rng(seed).integers(0, len(parts), len(parts))])


def _threshold(p: Floats, labels: Ints) -> float:
    tried = np.quantile(p, np.linspace(0.01, 0.9, 90))
    return float(max(tried, key=lambda at: f1_score(labels, p >= at)))


def kinds_f1(letters: Letters, scores: Sequence[Floats], p: Floats, way: int) -> float:
    """Return macro-F1 over ten kinds and none: the kind with the highest mean share, where the letter is distorted."""
    text_of, own = letters.cuts[way].text_of, scores[way]
    weight = 1 / (1 + np.exp(-own[:, 0]))
    odds = np.exp(own[:, 1:] - own[:, 1:].max(axis=1, keepdims=True))
    shares = odds / odds.sum(axis=1, keepdims=True) * weight[:, None]
    sums = np.stack([np.bincount(text_of, one, len(p)) for one in shares.T], axis=1)
    spoken = np.where(p >= BALANCED, sums.argmax(axis=1), -1)
    return float(f1_score(letters.kinds, spoken, average="macro"))


def own_figures(own: Own, spoken: Floats) -> dict[str, dict[str, float]]:
    """Return how well beliefs are told in sentences of our own that were left out."""
    plainly = own.weight == 1
    found = {}
    for k, name in enumerate(BELIEFS):
        slope, intercept = platt(own, spoken, k)
        labels, p = own.belief[plainly] == k, 1 / (1 + np.exp(-(slope * spoken[plainly, k] + intercept)))
        figures = {"auc": roc_auc_score(labels, p), "f1": f1_score(labels, p >= VOICED)}
        found[name] = {name_: round(float(value), 4) for name_, value in figures.items()}
    return found


def notice(letters: Letters, figures: dict[str, Any]) -> str:
    """Say where the weights come from and what they are worth."""
    named = {"the model": "any_clean", "the model, plain": "any_plain"} | {name: name for name in BAGS}
    rows = [
        f"| {name} | " + " | ".join("{:.3f} [{:.3f}, {:.3f}]".format(*figures[key][one]) for one in _SHOWN) + " |"
        for name, key in named.items()
    ]
    beliefs = "; ".join(f"{name} {figures[name]['auc']:.2f} and {figures[name]['f1']:.2f}" for name in BELIEFS)
    return _NOTICE.format(
        n=f"{len(letters.labels):,}",
        none=int((letters.labels == 0).sum()),
        rows="\n".join(rows),
        everything=figures["all_distorted"]["f1"],
        ece=figures["any_clean"]["ece"],
        kinds=figures["kinds_clean"]["macro_f1_of_11"],
        beliefs=beliefs,
        balanced=BALANCED,
        voiced=VOICED,
    )


if __name__ == "__main__":
    main()
