"""Are distorted thoughts and beliefs found? ``python -m benchmarks.beliefs --data DATA`` prints Markdown tables.

The letters that the model of distortions was trained on (as cross-validated by ``tools/train_distortions.py``), sixty
sentences of our own that judge alone, kinds of letters, and clients of five corpora. ``--read FILE.csv`` writes thirty
turns that were found, drawn at random, to be read; they are text of the corpora and stay out of the repository.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks._corpora import sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.behaviours.distortions import BALANCED, BELIEFS, VOICED, WEIGHTS, Distorted, load_distortions
from therapy_analytics.language.segments import turns_from_texts
from therapy_analytics.measures._intervals import wilson

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Clients = dict[str, tuple[list[str], NDArray[np.int64], Distorted]]
CORPORA = ("annomi", "hlqc", "mibot", "vera_mh", "mindeval")
STATEMENTS = Path(__file__).resolve().parents[1] / "tools" / "belief_statements.toml"
WORDS = {
    "helpless": r"\b(fail\w*|helpless|powerless|weak|useless|incompetent|trapped|stuck|loser|stupid|can't|cannot)\b",
    "unlovable": r"\b(unlovable|unloved|unwanted|ugly|alone|rejected|nobody|no one|love[sd]?|leaves?)\b",
    "worthless": r"\b(worthless|bad|burden|worth|deserves?|evil|disgusting|garbage|horrible|terrible|hate)\b",
}
"""Keywords to compare with: a turn with one of them and with I, me or my."""
_SELF = re.compile(r"\b(i|i'm|me|my|myself)\b", re.IGNORECASE)
LENGTHS = ((1, 5), (5, 15), (15, 30), (30, 60), (60, 10**6))
_REPEATS = 1000


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--read", type=Path, help="a file for thirty turns that were found")
    given = parser.parse_args()
    print("### Letters, left out in five folds\n")
    print(markdown(letters()))
    print("\n### Sixty sentences of our own that judge alone\n")
    print(markdown(sentences()))
    print("\n### Beliefs by kind of letter\n")
    print(markdown(by_kind(given.data)))
    clients = {name: of_clients(given.data, name) for name in CORPORA}
    print("\n### Clients\n")
    print(markdown(sessions(clients)))
    print("\n### Turns with a distorted thought, by words of the turn\n")
    print(markdown(by_length(clients)))
    if given.read:
        to_read(clients, given.read)


def letters() -> list[list[str]]:
    """Return the figures that are in the model, beside those of bags of words on the same folds."""
    figures = json.loads((WEIGHTS / "model.json").read_text(encoding="utf-8"))["cross_validated"]
    shown = ("auc", "f1", "macro_f1", "f1_tuned", "macro_f1_tuned")
    rows = [["", "AUC", "F1", "macro-F1", "F1, tuned", "macro-F1, tuned"]]
    for name, own in figures.items():
        if set(shown) <= set(own):
            rows.append([name.replace("_", ", "), *("{:.3f} [{:.3f}, {:.3f}]".format(*own[one]) for one in shown)])
    rows.append(["all called distorted", "", f"{figures['all_distorted']['f1']:.3f}", "", "", ""])
    return rows


def sentences(path: Path = STATEMENTS) -> list[list[str]]:
    """Return how many beliefs are found, how many as the right one, and how many others are taken for one."""
    kept = tomllib.loads(path.read_text(encoding="utf-8"))["held_out"]
    rows = [["", "n", "any belief found", "the right belief found", "keywords: any", "keywords: the right one"]]
    for kind, texts in kept.items():
        spoken, words = load_distortions().of_texts(texts).beliefs >= VOICED, keywords(texts)
        right = [one[:, BELIEFS.index(kind)] if kind in BELIEFS else ~one.any(axis=1) for one in (spoken, words)]
        shown = [spoken.any(axis=1), right[0], words.any(axis=1), right[1]]
        rows.append([kind, str(len(texts)), *map(share, shown)])
    return rows


def keywords(texts: Sequence[str]) -> Bools:
    """Return which texts have a keyword of each belief, and speak of the self: (n, 3)."""
    own = np.array([bool(_SELF.search(text)) for text in texts])[:, None]
    found = [[bool(re.search(WORDS[belief], text, re.IGNORECASE)) for belief in BELIEFS] for text in texts]
    return np.asarray(np.array(found) & own)


def share(given: NDArray[Any] | np.bool_) -> str:
    """Return a share with its 95 % interval."""
    hits = np.atleast_1d(given)
    low, high = wilson(float(hits.sum()), float(len(hits)))
    return f"{hits.mean():.3f} [{low:.3f}, {high:.3f}]" if len(hits) else "-"


def by_kind(data: Path) -> list[list[str]]:
    """Return the share of letters of each kind in which a belief is found."""
    table = pd.read_csv(data / "distortions" / "distortions.csv", keep_default_na=False)
    rows = [["kind", "letters", *BELIEFS, "any, in the marked part"]]
    for kind, part in table.groupby("Dominant Distortion"):
        spoken = load_distortions().of_texts(part["Patient Question"].tolist()).beliefs >= VOICED
        marked = load_distortions().of_texts(part["Distorted part"].tolist()).beliefs >= VOICED
        inside = "-" if kind == "No Distortion" else share(marked.any(axis=1))
        rows.append([str(kind), str(len(part)), *map(share, spoken.T), inside])
    return rows


def of_clients(data: Path, name: str) -> tuple[list[str], NDArray[np.int64], Distorted]:
    """Return the client turns with words of a corpus, whose session they are, and what the model says of them."""
    first = {one.metadata.get("source_group", one.id): one for one in reversed(sessions_of(data, name))}
    texts = [(k, turn.text) for k, one in enumerate(first.values()) for turn in one.turns if turn.role == "client"]
    turns = turns_from_texts([text for _, text in texts])
    spoken = np.flatnonzero(turns.n_words > 0)
    found = load_distortions().of_texts([texts[i][1] for i in spoken.tolist()])
    return [texts[i][1] for i in spoken.tolist()], np.array([texts[i][0] for i in spoken.tolist()]), found


def sessions(clients: Clients) -> list[list[str]]:
    """Return shares of client turns, with intervals by drawing sessions."""
    heads = ["distorted turns", "distorted words", "any belief", *BELIEFS]
    rows = [["corpus", "sessions", "turns", *heads]]
    for name, (texts, of, found) in clients.items():
        ones = np.ones(len(texts))
        belief = (found.beliefs >= VOICED).astype(np.float64)
        n_words = turns_from_texts(texts).n_words.astype(np.float64)
        pairs = [(found.any >= BALANCED, ones), (found.words, n_words), (belief.max(axis=1), ones)]
        pairs += [(column, ones) for column in belief.T]
        shares = [ratio(np.asarray(hits, dtype=np.float64), base, of) for hits, base in pairs]
        rows.append([name, str(len(set(of.tolist()))), str(len(texts)), *shares])
    return rows


def ratio(hits: Floats, base: Floats, of: NDArray[np.int64]) -> str:
    """Return the ratio of two sums with its 95 % interval, by drawing sessions."""
    sums = np.stack([np.bincount(of, hits), np.bincount(of, base)])
    drawn = np.random.default_rng(0).integers(0, sums.shape[1], (_REPEATS, sums.shape[1]))
    top, bottom = sums[:, drawn].sum(axis=2)
    low, high = np.quantile(top / bottom, [0.025, 0.975])
    return f"{hits.sum() / base.sum():.4f} [{low:.4f}, {high:.4f}]"


def by_length(clients: Clients) -> list[list[str]]:
    """Return the share of client turns with a distorted thought, in classes of length."""
    rows = [["corpus", *(f"{a} to {b - 1} words" if b < 10**6 else f"{a} words and more" for a, b in LENGTHS)]]
    for name, (texts, _, found) in clients.items():
        n = turns_from_texts(texts).n_words
        rows.append([name, *(share(found.any[(n >= a) & (n < b)] >= BALANCED) for a, b in LENGTHS)])
    return rows


def to_read(clients: Clients, path: Path) -> None:
    """Write fifteen turns with a distorted thought of each of two corpora, and all turns with a belief."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["corpus", "what", "p", "text"])
        for name in ("annomi", "hlqc"):
            texts, _, found = clients[name]
            hits = np.flatnonzero(found.any >= BALANCED)
            drawn = np.random.default_rng(0).permutation(hits)[:15].tolist()
            out.writerows((name, "distorted", round(float(found.any[i]), 3), texts[i]) for i in drawn)
            for k, belief in enumerate(BELIEFS):
                p = found.beliefs[:, k]
                rows = [(name, belief, round(float(p[i]), 3), texts[i]) for i in np.flatnonzero(p >= VOICED).tolist()]
                out.writerows(rows)


if __name__ == "__main__":
    main()
