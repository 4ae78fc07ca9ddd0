"""Directions of meaning, learnt without labels: buckets that occur in like turns share weights.

The directions are linear in the buckets, so after training they are folded into the weights:
the tagger itself never sees them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from tagger_corpora import batch, plain
from tagger_fit import Array, Data, Head, data

from therapy_analytics.codes.features import N_BUCKETS, Features, featurize, neighbour

DIRECTIONS = 60
STRENGTH, STRENGTH_CONTEXT = 0.3, 0.12
"""How freely the weights may move along a direction, beside a feature by hand."""
TEXTS = {
    "annomi/annomi.csv": ["utterance_text"],
    "hlqc/hlqc.csv": ["vol_text"],
    "offmychest/*.csv": ["full_text"],
    "socratic_questions/*.csv": ["question", "thought"],
}


def learn(folder: Path) -> Array:
    """Return directions (N_BUCKETS, DIRECTIONS), scaled so that a turn's values spread by one."""
    features = _features(_texts(folder))
    turns = (features.words @ features.types + features.grams).tocsr()
    spread = np.bincount(turns.indices, minlength=N_BUCKETS)
    rarity = np.where(spread < 3, 0.0, np.log((turns.shape[0] + 1) / (spread + 1)))
    scaled = (turns @ sparse.diags_array(rarity)).tocsr()
    _, _, found = randomized_svd(scaled, n_components=DIRECTIONS, random_state=0, n_iter=3)
    directions: Array = rarity[:, None] * found.T
    directions /= features.project(directions).std(axis=0)
    return directions


def _texts(folder: Path) -> list[str]:
    frames = [(pd.read_csv(path), names) for glob, names in TEXTS.items() for path in sorted(folder.glob(glob))]
    columns = [frame[name].dropna().drop_duplicates() for frame, names in frames for name in names]
    return [plain(str(text)) for column in columns for text in column]


def _features(texts: list[str]) -> Features:
    arrays = batch(pd.DataFrame({"session": "all", "role": "client", "text": texts}), str)
    return featurize(arrays.turns, arrays.starts)


def widen(features: Features, dense: Any, directions: Array, *, parts: int) -> Data:
    """Put the values along the directions beside the dense features."""
    own = features.project(directions)
    wide = [STRENGTH * own]
    if parts == 3:
        wide += [STRENGTH_CONTEXT * neighbour(own, index) for index in (features.before, features.after)]
    return data(features, sparse.csr_array(np.hstack([dense.toarray(), *wide])))


def fold_in(head: Head, directions: Array) -> Head:
    """Move what the directions have learnt into the weights of the buckets."""
    parts, width = head.buckets.shape[1], directions.shape[1]
    n = len(head.dense) - parts * width
    buckets = head.buckets.copy()
    for part, strength in enumerate((STRENGTH, STRENGTH_CONTEXT, STRENGTH_CONTEXT)[:parts]):
        along = head.dense[n + part * width : n + (part + 1) * width]
        buckets[:, part] += strength * (directions @ along)
    return Head(buckets, head.dense[:n], head.bias)
