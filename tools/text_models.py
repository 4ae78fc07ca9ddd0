"""What the small models of texts (`therapy_analytics.codes.text_model`) are fitted, judged and written with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from therapy_analytics.codes.features import HAND, N_BUCKETS, featurize
from therapy_analytics.codes.text_model import FORMAT, GRAM_WEIGHT, Floats, mean_vectors
from therapy_analytics.text import TurnArrays
from therapy_analytics.text.embeddings import DIMENSIONS
from therapy_analytics.text.segments import Ints, turns_from_texts

FIRST = {"buckets": 0, "hand": N_BUCKETS, "meaning": N_BUCKETS + len(HAND), "extra": N_BUCKETS + len(HAND) + DIMENSIONS}
"""Where the weights of each part begin."""


def table_of(texts: Sequence[str], extra: Floats | None = None) -> Any:
    """Return texts as a sparse table of what a model reads: buckets of words, counts by hand, mean vectors, extras."""
    return table_of_turns(turns_from_texts(texts), extra)


def table_of_turns(turns: TurnArrays, extra: Floats | None = None) -> Any:
    """Return turns as `table_of` does texts."""
    features = featurize(turns, np.arange(len(turns) + 1))
    buckets = features.words @ features.types + GRAM_WEIGHT * features.grams
    dense = [mean_vectors(turns)] if extra is None else [mean_vectors(turns), extra]
    return sparse.hstack([buckets, features.hand, *map(sparse.csr_array, dense)], format="csr")


def score(table: Any, weights: Floats) -> Floats:
    """Return the scores of one kind (weights (n,)) or several ((n, n_kinds)); the intercept is the last row."""
    return np.asarray(table @ weights[:-1] + weights[-1])


def line(scores: Floats, labels: Ints) -> tuple[float, float]:
    """Return slope and intercept of Platt's scaling, fitted on scores (n, n_ways) of sentences that were left out."""
    x, y = scores.reshape(-1, 1), np.repeat(labels, scores.shape[1])
    model = LogisticRegression(C=1e6).fit(x, y)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def calibrated(weights: Floats, slope: float, intercept: float) -> Floats:
    """Put Platt's scaling into the weights."""
    return np.append(weights[:-1] * slope, weights[-1] * slope + intercept)


def calibration_error(p: Floats, labels: Ints) -> float:
    """Return the mean distance of probability and share over ten bins of equal count."""
    bins = np.array_split(np.argsort(p, kind="stable"), 10)
    return float(sum(len(one) * abs(p[one].mean() - labels[one].mean()) for one in bins) / len(p))


def write(
    folder: Path,
    weights: Floats,
    figures: Mapping[str, Any],
    *,
    kinds: Sequence[str],
    version: str,
    **about: Any,
) -> None:
    """Write ``model.json`` and ``weights.npz`` for weights (n, n_kinds), the intercepts in the last row.

    Parameters
    ----------
    folder, weights, kinds, version : Path, float64 array, sequence of str, str
        Where, and what.
    figures : mapping
        What the model is worth, cross-validated.
    **about : bool, sequence of str
        `TextModel.exclusive` and `TextModel.extras` where they are not False and empty.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bounds = [*FIRST.values(), len(weights) - 1]
    parts = {name: weights[a:b] for name, a, b in zip(FIRST, bounds, bounds[1:], strict=False)} | {"bias": weights[-1]}
    kept = {name: part.astype(np.float16 if name == "buckets" else np.float32) for name, part in parts.items()}
    np.savez_compressed(folder / "weights.npz", **kept)
    model = {"format": FORMAT, "version": version, "kinds": list(kinds), "exclusive": False, "extras": []}
    model |= about | {"cross_validated": figures}
    (folder / "model.json").write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")
