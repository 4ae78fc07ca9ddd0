"""Rebuild the weights of the model of question kinds, and print how good they are by cross-validation.

The corpus is of debates. Sessions are told of by questions of our own (``question_seeds.toml``, ``invented_sessions``).
Run from the root of the repository, with the corpus that ``question_kinds_weights/NOTICE.md`` names:

    python tools/train_question_kinds.py --data CORPORA

Two runs on one machine write the same bytes. It takes about a minute on one core.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, sparse
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.svm import LinearSVC
from tagger_corpora import WAYS, plain
from text_models import FIRST, calibration_error, score, table_of, write
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from therapy_analytics.behaviours.question_kinds import KINDS, WEIGHTS
from therapy_analytics.behaviours.text_model import Floats
from therapy_analytics.language.segments import Ints

VERSION = "0.1.0"
STRENGTH = 0.5
"""Inverse of the penalty on weights."""
OWN = 2.0
"""How much a question of our own counts beside one of the corpus."""
SCALE = 0.15
"""How much counts by hand and mean vectors count beside words, which tell the kinds apart better."""
FOLDS, SEED = 5, 0
NAMES = {
    "clarity": "clarity",
    "assumptions": "assumptions",
    "reasons_evidence": "evidence",
    "alternate_viewpoints_perspectives": "viewpoints",
    "implication_consequences": "implications",
    "others": "other",
}
"""Labels of the corpus, and what they are called here."""
_NOTICE = """\
# The model of question kinds

A linear model (`model.json`, `weights.npz`), made by this project with `tools/train_question_kinds.py` from the
labelled questions of the corpus SocraticQuestions (licence: none stated, published for research): Ang, B. H.,
Gollapalli, S. D., & Ng, S.-K. (2023), Socratic question generation: A novel dataset, models, and evaluation, EACL
2023. The weights are of hashed words, counts by hand and word vectors: no sentence and no vocabulary of the corpus is
in them. Changes made to the corpus: copies in lower case without punctuation added, and {own} questions of our own
(`tools/question_seeds.toml`, and of `tools/invented_sessions` those that ask for facts, plans or feelings, as
`other`).

Five-fold cross-validation over the {n} questions of the corpus that are of the five kinds; the model may also say
`other`, which is then wrong. Plain: lower case, without punctuation. Grouped: neither a thought nor a question (as
plain) stands on both sides; calibration is fitted on the other folds; ECE: calibration error over ten bins of equal
count, mean of the five kinds. Ungrouped, the macro-F1 is {ungrouped:.3f}.

| | macro-F1 | accuracy | ECE | macro-F1, plain | accuracy, plain | ECE, plain |
| --- | --- | --- | --- | --- | --- | --- |
{rows}

What bounds them: the questions are of a forum for debate, not of sessions, and the corpus was put together by stock
phrases (most questions about assumptions have a form of *assume*), so that a bag of words alone comes near these
figures. What the model is worth on questions of sessions is another matter: docs/validity.md has the figures.
"""


def main() -> None:
    """Cross-validate, fit on everything, write the weights."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        corpus, own = read(options.data), own_questions()
        tables = [scaled(table_of(corpus["question"].map(way).tolist())) for way in WAYS.values()]
        labels = corpus["kind"].to_numpy(np.int64)
        more = [scaled(table_of(own["question"].map(way).tolist())) for way in WAYS.values()], own["kind"].to_numpy()
        scores, figures = judged(tables, labels, grouped_folds(corpus), more)
        alone = judged(tables, labels, plain_folds(corpus), more)[1]["five_kinds"]["macro_f1_clean"]
        figures["five_kinds"]["macro_f1_clean_ungrouped"] = alone
        weights = calibrated(fit(tables, labels, more), *temperature(scores, labels))
    write(options.out, unscaled(weights), figures, kinds=KINDS, version=VERSION, exclusive=True)
    (options.out / "NOTICE.md").write_text(notice(corpus, len(own), figures), encoding="utf-8")
    print(json.dumps(figures, indent=1))


def read(folder: Path) -> pd.DataFrame:
    """Read the corpus: question, kind (a position in `KINDS`), group."""
    rows = pd.read_csv(folder / "socratic_questions" / "questions.csv", keep_default_na=False)
    return rows.assign(kind=rows["label"].map(NAMES).map(KINDS.index), group=groups(rows))


def own_questions() -> pd.DataFrame:
    """Return questions of our own: question, kind."""
    here = Path(__file__).parent
    seeds = tomllib.loads((here / "question_seeds.toml").read_text(encoding="utf-8"))
    rows = [(question, KINDS.index(kind)) for kind, questions in seeds.items() for question in questions]
    for path in sorted((here / "invented_sessions").glob("*.jsonl")):
        rows += [(question, KINDS.index("other")) for question in _asked(path)]
    return pd.DataFrame(rows, columns=["question", "kind"])


def _asked(path: Path) -> Iterator[str]:
    """Yield the questions of invented sessions that look at nothing from elsewhere."""
    for line in path.read_text(encoding="utf-8").splitlines():
        for turn in json.loads(line)["turns"]:
            if "question" in turn.get("mi", []) and "questions_on_perspectives" not in turn["bolt"]:
                yield from (one for one in re.split(r"(?<=[.?!])\s+", turn["text"]) if one.endswith("?"))


def groups(corpus: pd.DataFrame) -> Ints:
    """Return the group of each row: rows of one thought or one question are of one group, and so on."""
    n = len(corpus)
    thought, question = (pd.factorize(corpus[name].map(plain))[0] for name in ("thought", "question"))
    first = n + 1 + int(thought.max())
    links = (np.ones(2 * n), (np.tile(np.arange(n), 2), np.concatenate([n + thought, first + question])))
    size = first + 1 + int(question.max())
    graph = sparse.coo_array(links, shape=(size, size))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1][:n], dtype=np.int64)


def grouped_folds(corpus: pd.DataFrame) -> list[Ints]:
    """Return five parts of the rows, no group in two of them."""
    cut = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED)
    return [test for _, test in cut.split(corpus, corpus["kind"], corpus["group"])]


def plain_folds(corpus: pd.DataFrame) -> list[Ints]:
    """Return five parts of the rows, whatever their groups."""
    cut = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    return [test for _, test in cut.split(corpus, corpus["kind"])]


def scaled(table: Any) -> Any:
    """Make counts by hand and mean vectors smaller, so that they are penalised more."""
    return sparse.csr_array(table @ sparse.diags_array(_scales(table.shape[1])))


def unscaled(weights: Floats) -> Floats:
    """Return weights for tables as they are."""
    return np.vstack([weights[:-1] * _scales(len(weights) - 1)[:, None], weights[-1:]])


def _scales(n: int) -> Floats:
    return np.where(np.arange(n) < FIRST["hand"], 1.0, SCALE)


def fit(tables: Sequence[Any], labels: Ints, own: tuple[Sequence[Any], Ints], rows: Ints | None = None) -> Floats:
    """Fit all kinds, each against the others, on all ways of writing at once; return weights, the intercepts last."""
    rows = np.arange(len(labels)) if rows is None else rows
    x = sparse.vstack([*(table[rows] for table in tables), *own[0]], format="csr")
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)  # all that liblinear reads
    y = np.concatenate([*(labels[rows] for _ in tables), *(own[1] for _ in tables)])
    weight = np.where(np.arange(len(y)) < len(rows) * len(tables), 1.0, OWN)
    weight *= (len(y) / len(KINDS) / np.bincount(y, weight))[y]
    model = LinearSVC(C=STRENGTH, random_state=SEED, max_iter=5000).fit(x, y, sample_weight=weight)
    return np.vstack([model.coef_.T, model.intercept_])


def temperature(scores: Floats, labels: Ints) -> tuple[float, Floats]:
    """Return one slope and an offset a kind with which a softmax of scores (n, n_ways, n_kinds) is calibrated."""
    x, y = scores.reshape(-1, scores.shape[-1]), np.repeat(labels, scores.shape[1])

    def loss(at: Floats) -> float:
        p = softmax(x * at[0] + at[1:])
        return float(-np.log(np.maximum(p[np.arange(len(y)), y], 1e-12)).mean() + 1e-4 * (at[1:] ** 2).sum())

    found = optimize.minimize(loss, np.append(1.0, np.zeros(x.shape[1])), method="L-BFGS-B").x
    return float(found[0]), found[1:]


def calibrated(weights: Floats, slope: float, offsets: Floats) -> Floats:
    """Put slope and offsets into the weights."""
    return np.vstack([weights[:-1] * slope, weights[-1:] * slope + offsets])


def softmax(scores: Floats) -> Floats:
    """Return probabilities that add up to 1, row by row."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def judged(
    tables: Sequence[Any], labels: Ints, folds: Sequence[Ints], own: tuple[Sequence[Any], Ints]
) -> tuple[Floats, dict[str, dict[str, float]]]:
    """Return scores of questions that were left out, (n, n_ways, n_kinds), and how good they are."""
    every = np.arange(len(labels))
    scores = np.zeros((len(labels), len(tables), len(KINDS)))
    p = np.zeros_like(scores)
    for test in folds:
        weights = fit(tables, labels, own, np.setdiff1d(every, test))
        scores[test] = np.stack([score(table[test], weights) for table in tables], axis=1)
    for test in folds:
        others = np.setdiff1d(every, test)
        slope, offsets = temperature(scores[others], labels[others])
        p[test] = np.stack([softmax(scores[test, way] * slope + offsets) for way in range(len(tables))], axis=1)
    five = labels < KINDS.index("other")
    return scores, _figures(p[five], labels[five])


def _figures(p: Floats, labels: Ints) -> dict[str, dict[str, float]]:
    five = range(KINDS.index("other"))
    found: dict[str, dict[str, float]] = {name: {} for name in ("five_kinds", *(KINDS[k] for k in five))}
    for place, way in enumerate(WAYS):
        texts, own = p[:, place].argmax(axis=1), p[:, place]
        each = f1_score(labels, texts, average=None, labels=list(five))
        eces = [calibration_error(own[:, k], (labels == k).astype(np.int64)) for k in five]
        found["five_kinds"] |= {
            f"macro_f1_{way}": round(float(np.mean(each)), 4),
            f"accuracy_{way}": round(float((texts == labels).mean()), 4),
            f"ece_{way}": round(float(np.mean(eces)), 4),
        }
        for k in five:
            found[KINDS[k]] |= {f"f1_{way}": round(float(each[k]), 4), f"ece_{way}": round(eces[k], 4)}
    return found


def notice(corpus: pd.DataFrame, own: int, figures: dict[str, dict[str, float]]) -> str:
    """Say where the weights come from and what they are worth."""
    whole = figures["five_kinds"]
    names = [f"{name}_{way}" for way in WAYS for name in ("macro_f1", "accuracy", "ece")]
    rows = [" | ".join(["| five kinds", *(f"{whole[name]:.3f}" for name in names)]) + " |"]
    for kind in KINDS[:-1]:
        one = figures[kind]
        cells = [
            f"{one['f1_clean']:.3f} | | {one['ece_clean']:.3f}",
            f"{one['f1_plain']:.3f} | | {one['ece_plain']:.3f}",
        ]
        rows.append(f"| {kind} (F1) | {' | '.join(cells)} |")
    n, alone = f"{(corpus['label'] != 'others').sum():,}", whole["macro_f1_clean_ungrouped"]
    return _NOTICE.format(n=n, own=own, ungrouped=alone, rows="\n".join(rows))


if __name__ == "__main__":
    main()
