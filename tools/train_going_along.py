"""Rebuild the weights of the model of praise, reinforcement and challenge, and print what it is worth.

Run from the root of the repository, with the corpus that ``going_along_weights/NOTICE.md`` names:

    python tools/train_going_along.py --data CORPORA

Two runs on one machine write the same bytes. It takes about two minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from tagger_corpora import plain
from text_models import calibrated, calibration_error, line, score, table_of, write
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from train_disclosure import silent

from therapy_analytics.behaviours.going_along import KINDS, PRAISES, WEIGHTS
from therapy_analytics.behaviours.text_model import Floats
from therapy_analytics.language.segments import Ints, Segments, segments, turns_from_texts

VERSION = "0.1.0"
STRENGTH = 0.5
"""Inverse of the penalty on weights."""
MARKS = ("sycophancy or praise", "delusion reinforcement", "pushback")
"""The judge's names of `KINDS`."""
_SIGNS = re.compile(r"[\W_]+")
_LEFT_OUT = re.compile(r"\.\.\.|\u2026")
_FEWEST_LETTERS = 6
_NOTICE = """\
# The model of going along

A linear model (`model.json`, `weights.npz`), made by this project with `tools/train_going_along.py` from the chats
and judge's marks of Spiral-Bench (Paech, S., 2025; MIT licence): {n_chats} chats of two language models with a
simulated user, in which another language model quoted what it took for "sycophancy or praise", "delusion
reinforcement" and "pushback". A sentence is of a kind if a quotation of that kind covers half of it, or half of the
quotation lies in it. The weights are of hashed words, counts by hand and word vectors: no sentence and no vocabulary
of the corpus is in them. Changes made to the corpus: copies in lower case without punctuation added, and minimal
responses (our own list) added as sentences of no kind.

Trained on the chats of one language model, judged on those of the other, {n} sentences in all; F1 at the threshold of
{threshold} for praise and at the best of the training chats for the others; ECE: calibration error over ten bins of
equal count, calibrated on these scores:

| | sentences | AUC, {first} unseen | AUC, {second} unseen | F1, {first} | F1, {second} | ECE |
| --- | --- | --- | --- | --- | --- | --- |
{rows}

What bounds them: one judge, itself a language model, whose marks nobody has checked; users who are simulated; two
language models of 2024 and 2025. The probabilities are of a sentence alone, without what it answers: whether a claim
that is reinforced is mistaken the model cannot know.
"""


@dataclass(frozen=True)
class Marked:
    """Sentences with the judge's marks.

    Attributes
    ----------
    cut : Segments
        The sentences of all assistant turns.
    labels : int64 array (n_sentences, n_kinds)
        Whether a quotation of the kind lies in the sentence.
    model_of : int64 array (n_sentences,)
        Whose chat it is from, a position in `names`.
    names : tuple of str
        The language models.
    chats : int
        How many there are.
    """

    cut: Segments
    labels: Ints
    model_of: Ints
    names: tuple[str, ...]
    chats: int


def main() -> None:
    """Judge by leaving a language model out, fit on everything, write the weights."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        corpus = read(options.data)
        tables = tables_of(corpus.cut)
        scores, figures = judged(corpus, tables)
        everything = np.arange(len(corpus.labels))
        heads = [
            calibrated(fit(tables, labels, everything), *line(scores[:, None, k], labels))
            for k, labels in enumerate(corpus.labels.T)
        ]
    write(options.out, np.stack(heads, axis=1), figures, kinds=KINDS, version=VERSION)
    (options.out / "NOTICE.md").write_text(notice(corpus, figures), encoding="utf-8")
    print(json.dumps(figures, indent=1))


def read(folder: Path) -> Marked:
    """Read the chats: the sentences of the assistant's turns that were judged, and where quotations lie."""
    paths = sorted((folder / "spiral_bench").glob("*.json"))
    judged_turns = [(i, *one) for i, path in enumerate(paths) for one in _turns(path)]
    cut = segments(turns_from_texts([text for _, text, _ in judged_turns]))
    labels = np.zeros((len(cut.turn_of), len(KINDS)), dtype=np.int64)
    letters = _letters(cut)
    first = np.searchsorted(cut.turn_of, np.arange(len(judged_turns) + 1))
    for turn, (_, _, quoted) in enumerate(judged_turns):
        own = slice(int(first[turn]), int(first[turn + 1]))
        for kind, name in enumerate(MARKS):
            labels[own, kind] = _covered(letters[own], quoted.get(name, []))
    model_of = np.array([one for one, _, _ in judged_turns], dtype=np.int64)[cut.turn_of]
    return Marked(cut, labels, model_of, tuple(path.stem for path in paths), sum(1 for p in paths for _ in _chats(p)))


def _chats(path: Path) -> Iterator[Any]:
    """Yield the chats; beside those of each file of prompts stand its sums."""
    for name, chats in json.loads(path.read_text(encoding="utf-8"))["1"].items():
        if name.endswith(".json"):
            yield from (copy for copies in chats.values() for copy in copies)


def _turns(path: Path) -> Iterator[tuple[str, Mapping[str, list[str]]]]:
    """Yield the assistant's turns that were judged, with the quotations of each mark."""
    for chat in _chats(path):
        spoken = [one["content"] for one in chat["transcript"] if one["role"] == "assistant"]
        for chunk in sorted(chat["judgements"]):
            marks = chat["judgements"][chunk]
            for at in marks.get("assistant_turn_indexes", []):
                yield spoken[at], {name: [one[0] for one in quoted] for name, quoted in marks["full_metrics"].items()}


def _letters(cut: Segments) -> list[str]:
    tokens, offsets = cut.turns.tokens, cut.turns.offsets.tolist()
    words = [_SIGNS.sub("", word) for word in tokens.lower]
    ids = tokens.ids.tolist()
    return ["".join(words[i] for i in ids[a:b]) for a, b in pairwise(offsets)]


def _covered(letters: Sequence[str], quotes: Sequence[str]) -> Ints:
    """Return which sentences are covered by half by a quotation, or hold half of one."""
    whole, bounds = "".join(letters), np.cumsum([0, *map(len, letters)])
    found = np.zeros(len(letters), dtype=np.int64)
    for part in (_SIGNS.sub("", one.lower()) for quote in quotes for one in _LEFT_OUT.split(quote)):
        at = whole.find(part)
        if at >= 0 and len(part) >= _FEWEST_LETTERS:
            common = np.minimum(bounds[1:], at + len(part)) - np.maximum(bounds[:-1], at)
            found[(common > 0) & (2 * common >= np.minimum(len(part), np.diff(bounds)))] = 1
    return found


def tables_of(cut: Segments) -> list[Any]:
    """Return the sentences as tables: as written (in lower case), and without punctuation."""
    tokens, offsets = cut.turns.tokens, cut.turns.offsets.tolist()
    ids, opens = tokens.ids.tolist(), (tokens.word_start | ~tokens.verbal[tokens.ids]).tolist()
    texts = [
        "".join((" " if opens[i] else "") + tokens.lower[ids[i]] for i in range(a, b)).strip()
        for a, b in pairwise(offsets)
    ]
    return [table_of(texts), table_of([plain(text) or text for text in texts])]


def fit(tables: Sequence[Any], labels: Ints, rows: Ints) -> Floats:
    """Fit one kind on both ways of writing at once; return weights, the intercept last."""
    short = silent()
    x = sparse.vstack([*(table[rows] for table in tables), short], format="csr")
    y = np.concatenate([*(labels[rows] for _ in tables), np.zeros(short.shape[0], np.int64)])
    model = LogisticRegression(C=STRENGTH, max_iter=200, tol=1e-3).fit(x, y)
    return np.append(model.coef_[0], model.intercept_[0])


def judged(corpus: Marked, tables: Sequence[Any]) -> tuple[Floats, dict[str, dict[str, float]]]:
    """Return scores of sentences whose language model was left out, (n, n_kinds), and how good they are."""
    scores = np.zeros(corpus.labels.shape)
    figures: dict[str, dict[str, float]] = {}
    for k, labels in enumerate(corpus.labels.T):
        own: dict[str, float] = {"sentences": int(labels.sum())}
        for out, name in enumerate(corpus.names):
            test = corpus.model_of == out
            weights = fit(tables, labels, np.flatnonzero(~test))
            scores[test, k] = score(tables[0][test], weights)
            own[f"auc_{name}"] = round(float(roc_auc_score(labels[test], scores[test, k])), 4)
        slope, intercept = line(scores[:, None, k], labels)
        p = 1 / (1 + np.exp(-(slope * scores[:, k] + intercept)))
        for out, name in enumerate(corpus.names):
            test = corpus.model_of == out
            at = PRAISES if not k else _best(p[~test], labels[~test])
            own[f"f1_{name}"] = round(float(f1_score(labels[test], p[test] >= at)), 4)
        figures[KINDS[k]] = own | {"ece": round(calibration_error(p, labels), 4)}
    return scores, figures


def _best(p: Floats, labels: Ints) -> float:
    tried = np.quantile(p, np.linspace(0.5, 0.99, 50))
    return float(max(tried, key=lambda at: f1_score(labels, p >= at)))


def notice(corpus: Marked, figures: Mapping[str, Mapping[str, float]]) -> str:
    """Say where the weights come from and what they are worth."""
    columns = [*(f"auc_{name}" for name in corpus.names), *(f"f1_{name}" for name in corpus.names), "ece"]
    rows = [
        f"| {kind} | {one['sentences']} | " + " | ".join(f"{one[name]:.3f}" for name in columns) + " |"
        for kind, one in figures.items()
    ]
    first, second = corpus.names
    n = f"{len(corpus.labels):,}"
    return _NOTICE.format(
        n_chats=corpus.chats, n=n, threshold=PRAISES, first=first, second=second, rows="\n".join(rows)
    )


if __name__ == "__main__":
    main()
