"""Rebuild the weights of the model of self-disclosure, and print how good they are by cross-validation.

Run from the root of the repository, with the corpus that ``disclosure_weights/NOTICE.md`` names:

    python tools/train_disclosure.py --data CORPORA

Two runs on one machine write the same bytes. It takes some minutes on one core.
"""

from __future__ import annotations

import argparse
import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GroupKFold
from tagger_corpora import WAYS
from text_models import calibrated, calibration_error, line, score, table_of, write
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from therapy_analytics.codes.disclosure import KINDS, WEIGHTS
from therapy_analytics.codes.text_model import Floats
from therapy_analytics.text import builtin_lexicons
from therapy_analytics.text.segments import Ints

VERSION = "0.1.0"
STRENGTH = 0.05
"""Inverse of the penalty on weights."""
FOLDS = 5
_ESCAPE = re.compile(r"<U\+([0-9A-F]{4,8})>")
_LAST_C1 = 0xA0
_NOTICE = """\
# The model of self-disclosure

A linear model (`model.json`, `weights.npz`), made by this project with `tools/train_disclosure.py` from the labelled
sentences of the corpus OffMyChest (CC BY 4.0): Jaidka, K., Singh, I., Liu, J., Chhaya, N., & Ungar, L. (2020), A report
of the CL-Aff OffMyChest shared task: Modeling supportiveness and disclosure, AffCon 2020. The weights are of hashed
words, counts by hand and word vectors: no sentence and no vocabulary of the corpus is in them. Changes made to the
corpus: escaped signs mended, copies in lower case without punctuation added, and minimal responses (our own list)
added as sentences that disclose nothing.

Five-fold cross-validation by source (no post on both sides), {n} sentences; plain: lower case, without punctuation.
Macro-F1 at the threshold of the other folds, calibration error (ECE) over ten bins of equal count:

| | AUC | macro-F1 | ECE | AUC, plain | macro-F1, plain | ECE, plain |
| --- | --- | --- | --- | --- | --- | --- |
{rows}

What bounds them: {groups} sentences stand in the corpus more than once, word for word, and {differ:.0%} of them have
both labels for emotional disclosure. The labels are of forum posts, not of sessions.
"""


def main() -> None:
    """Cross-validate, fit on everything, write the weights."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        corpus = read(options.data)
        tables = [table_of(corpus["text"].map(way).tolist()) for way in WAYS.values()]
        scores, figures = judged(corpus, tables)
        heads = [
            calibrated(fit(tables, labels), *line(scores[:, :, k], labels))
            for k, labels in enumerate(labels_of(corpus))
        ]
    write(options.out, np.stack(heads, axis=1), figures, kinds=KINDS, version=VERSION)
    (options.out / "NOTICE.md").write_text(notice(corpus, figures), encoding="utf-8")
    print(json.dumps(figures, indent=1))


def read(folder: Path) -> pd.DataFrame:
    """Read the corpus: text with its escaped signs mended, source_id, and a column of 0 or 1 for each kind."""
    rows = pd.read_csv(folder / "offmychest" / "disclosure.csv", keep_default_na=False)
    named = {"Emotional_disclosure": KINDS[0], "Information_disclosure": KINDS[1]}
    return rows.rename(columns=named).assign(text=rows["full_text"].map(mended))


def labels_of(corpus: pd.DataFrame) -> list[Ints]:
    """Return the labels, kind by kind."""
    return [corpus[kind].to_numpy(np.int64) for kind in KINDS]


def mended(text: str) -> str:
    r"""Put back the signs that the corpus writes as ``<U+0092>`` or ``&amp;``.

    Examples
    --------
    >>> mended("It<U+0092>s a<U+0001F602> &amp; b")
    'It\u2019s a\U0001f602 & b'
    """
    return html.unescape(_ESCAPE.sub(lambda found: _sign(int(found[1], 16)), text))


def _sign(code: int) -> str:
    return bytes([code]).decode("cp1252", "ignore") if 0x80 <= code < _LAST_C1 else chr(code)


def silent() -> Any:
    """Return minimal responses as a table: short turns, of which the corpus has none, disclose nothing."""
    words = [word for one in builtin_lexicons() if one.name == "conversation" for word in _minimal(one)]
    return table_of(sorted({*words, *(f"{word}." for word in words)}))


def _minimal(lexicon: Any) -> Iterator[str]:
    for category in lexicon.categories:
        if category.name.endswith(("minimal_responses", "agreement_openers")):
            yield from (word for word in category.words if "*" not in word)


def fit(tables: Sequence[Any], labels: Ints, rows: Ints | None = None) -> Floats:
    """Fit one kind on all ways of writing at once; return weights, the intercept last."""
    rows = np.arange(len(labels)) if rows is None else rows
    short = silent()
    x = sparse.vstack([*(table[rows] for table in tables), short], format="csr")
    y = np.concatenate([*(labels[rows] for _ in tables), np.zeros(short.shape[0], np.int64)])
    model = LogisticRegression(C=STRENGTH, max_iter=100, tol=1e-3).fit(x, y)
    return np.append(model.coef_[0], model.intercept_[0])


def judged(corpus: pd.DataFrame, tables: Sequence[Any]) -> tuple[Floats, dict[str, dict[str, float]]]:
    """Return scores of sentences whose source was left out, (n, n_ways, n_kinds), and how good they are."""
    folds = [
        test for _, test in GroupKFold(FOLDS, shuffle=True, random_state=0).split(corpus, groups=corpus["source_id"])
    ]
    scores = np.zeros((len(corpus), len(tables), len(KINDS)))
    figures: dict[str, dict[str, float]] = {}
    for k, labels in enumerate(labels_of(corpus)):
        for test in folds:
            weights = fit(tables, labels, np.setdiff1d(np.arange(len(corpus)), test))
            scores[test, :, k] = np.stack([score(table[test], weights) for table in tables], axis=1)
        figures[KINDS[k]] = {
            f"{name}_{way}": round(value, 4)
            for place, way in enumerate(WAYS)
            for name, value in _figures(scores[:, :, k], labels, folds, place).items()
        }
    return scores, figures


def _figures(scores: Floats, labels: Ints, folds: Sequence[Ints], way: int) -> dict[str, float]:
    p, texts = np.zeros(len(labels)), np.zeros(len(labels), dtype=np.int64)
    for test in folds:
        others = np.setdiff1d(np.arange(len(labels)), test)
        slope, intercept = line(scores[others], labels[others])
        p[test] = 1 / (1 + np.exp(-(slope * scores[test, way] + intercept)))
        texts[test] = scores[test, way] >= _threshold(scores[others, way], labels[others])
    return {
        "auc": float(roc_auc_score(labels, p)),
        "macro_f1": float(f1_score(labels, texts, average="macro")),
        "ece": calibration_error(p, labels),
    }


def _threshold(scores: Floats, labels: Ints) -> float:
    tried = np.quantile(scores, np.linspace(0.4, 0.9, 51))
    return float(max(tried, key=lambda at: f1_score(labels, scores >= at, average="macro")))


def notice(corpus: pd.DataFrame, figures: dict[str, dict[str, float]]) -> str:
    """Say where the weights come from and what they are worth."""
    names = [f"{name}_{way}" for way in WAYS for name in ("auc", "macro_f1", "ece")]
    rows = [" | ".join([f"| {kind}", *(f"{one[name]:.3f}" for name in names)]) + " |" for kind, one in figures.items()]
    same = corpus.groupby(corpus["text"].str.lower())[KINDS[0]].agg(["mean", "size"]).query("size > 1")["mean"]
    differ = float(same.between(0, 1, inclusive="neither").mean())
    return _NOTICE.format(n=f"{len(corpus):,}", rows="\n".join(rows), differ=differ, groups=len(same))


if __name__ == "__main__":
    main()
