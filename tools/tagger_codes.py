"""What is known of the turns of `tagger_corpora`: labels and weights of all codes, those of all books side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from tagger_corpora import KINDS, LABELS, Corpus, known
from tagger_fit import Array
from tagger_layers import CODES, REQUESTED

from therapy_analytics.codes import codebook_named

READ_SHARE = 0.3
"""How much what a language model read counts in the labels of AnnoMI's turns, beside what people coded."""
LABEL_WEIGHTS = {"annomi": 1.0, "misc": 0.5, "hlqc": 0.6, "seed": 0.5, "invented": 0.4, "bolt": 0.0}
CODE_WEIGHTS = {"bolt": 3.0, "annomi": 0.6, "hlqc": 0.6, "seed": 0.5, "invented": 0.4}
MISC_WEIGHTS = {"misc": 1.5, "invented": 0.4}


@dataclass(frozen=True)
class Task:
    """What is learnt: columns, labels and weights (n_turns, n_columns)."""

    names: list[str]
    labels: Array
    weights: Array


def task(corpus: Corpus) -> Task:
    """Put the labels of all books side by side."""
    turns = corpus.turns
    parts = [_labels(corpus)]
    for name in ("mi", "bolt", "miti"):
        codes = [
            (code.id, code.role) for code in codebook_named(name).codes if name == "bolt" or code.id in REQUESTED[name]
        ]
        weights = CODE_WEIGHTS if name == "bolt" else {"annomi": 0.6, "hlqc": 0.6}
        parts.append(_codes(turns, "codes", [(f"{name}_{code}", code, role) for code, role in codes], weights))
    codes = [(f"misc_{name}", code, role) for role, names in CODES.items() for code, name in names.items()]
    parts.append(_codes(turns, "misc", codes, MISC_WEIGHTS))
    names = [name for part in parts for name in part.names]
    return Task(names, *(np.hstack([getattr(part, each) for part in parts]) for each in ("labels", "weights")))


def _labels(corpus: Corpus) -> Task:
    """Return AnnoMI's labels, softened by what was read, and what the other corpora say of them."""
    turns, labels = corpus.turns, corpus.labels.copy()
    own = turns["source"].eq("annomi").to_numpy()
    read = np.array([[float(name in codes) for name in LABELS] for codes in turns.loc[own, "read"]])
    labels[own] = (1 - READ_SHARE) * labels[own] + READ_SHARE * read
    counts = corpus.weights > 0
    counts[:, [LABELS.index(kind) for kind in KINDS]] = counts[:, [LABELS.index("question")]]
    weights = counts * turns["source"].map(LABEL_WEIGHTS).to_numpy()[:, None]
    return Task([f"mi_{name}" for name in LABELS], labels, weights)


def _codes(turns: pd.DataFrame, column: str, codes: list[tuple[str, str, str]], weights: dict[str, float]) -> Task:
    labels = np.array([[float(code in one) for _, code, _ in codes] for one in map(known, turns[column])])
    weight = (turns["source"].map(weights).fillna(0.0) * turns[column].notna()).to_numpy()[:, None]
    own = np.array([[role == mine for _, _, mine in codes] for role in turns["role"]])
    return Task([name for name, _, _ in codes], labels, weight * own)
