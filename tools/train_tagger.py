"""Rebuild the weights of the tagger and print how good they are by cross-validation.

Run from the root of the repository, with the research corpora that docs/model_card.md names:

    python tools/train_tagger.py --data CORPORA --tables tables.txt

Two runs on one machine write the same bytes. It takes a quarter of an hour on one core.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tagger_first
import tagger_layers
import tagger_second
from tagger_corpora import LABELS, SPEAKERS
from tagger_first import HEADS, First
from tagger_fit import Array, Head
from tagger_judged import Findings, Judged, table
from tagger_layers import Layer
from tagger_meaning import fold_in, learn
from tagger_second import Second
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from therapy_analytics.codes.codebook import codebook_named
from therapy_analytics.codes.features import N_BUCKETS

VERSION = "0.3.0"
SEED = 1
"""Of the partition that calibration and thresholds are found on."""
KEPT = [LABELS.index(name) for name in HEADS]
HOW = {
    "mi": "Platt scaling and threshold of highest kappa, on out-of-fold scores of AnnoMI (clean and plain copies)",
    "bolt": "shrunken Platt scaling; threshold half-way between highest F1 on BOLT's rows and balanced rate, "
    "on out-of-fold scores of BOLT's rows and of sessions with codes that a language model read",
    "misc": "Platt scaling and threshold of highest kappa, on out-of-fold scores of MISC's units",
    "on request": "the same on AnnoMI's turns, the codes of MITI as a language model read them",
}


@dataclass(frozen=True)
class Layers:
    """All layers, with their scores and lines for one partition, and what they say unseen."""

    first: First
    lines: Array
    seconds: list[tuple[Second, Array]]
    further: list[tuple[Layer, Array]]
    found: Findings


def main() -> None:
    """Cross-validate, fit on everything, write the weights."""
    options = command(__doc__).parse_args()
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        directions = learn(options.data)
        first = tagger_first.first_layer(tagger_first.labelled(options.data), directions)
        layers = out_of_fold(first, directions, SEED)
        model, arrays = fitted(layers, directions)
    write(options.out, model, arrays)
    tell(layers.found, first.corpus.turns, options.tables)


def command(about: str | None) -> argparse.ArgumentParser:
    """Return the options that both trainings have."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=root / "therapy_analytics" / "codes" / "weights")
    parser.add_argument("--tables", type=Path, default=None)
    return parser


def tell(found: Findings, turns: pd.DataFrame, path: Path | None) -> None:
    """Print the figures of each code, and write them to a file."""
    text = table(found, turns).round(3).to_string()
    print(text)
    if path:
        path.write_text(text + "\n", encoding="utf-8")


def out_of_fold(first: First, directions: Array, seed: int) -> Layers:
    """Score all turns by models that have not seen their recording, layer after layer."""
    scores = first.out_of_fold(seed)
    lines = tagger_first.lines_of(first, scores)
    found = tagger_first.judged(first, scores, lines)
    below = {way: part[:, KEPT] * lines[0][KEPT] + lines[1][KEPT] for way, part in scores.items()}
    seconds, further = [], []
    for role in SPEAKERS:
        second = tagger_second.second_layer(role, first, below["plain"], directions)
        texts = second.out_of_fold(seed)
        seconds.append((second, tagger_second.lines_of(second, texts)))
        found += tagger_second.judged(second, texts, seconds[-1][1])
    layers = [tagger_layers.misc_layer(role, first, below, directions) for role in SPEAKERS]
    for layer in (*layers, tagger_layers.requested_layer(first, below, directions)):
        texts = layer.out_of_fold(seed)
        further.append((layer, tagger_layers.lines_of(layer, texts)))
        found += tagger_layers.judged(layer, texts, further[-1][1])
    return Layers(first, lines, seconds, further, {one.column: one for one in found})


def fitted(layers: Layers, directions: Array) -> tuple[dict[str, Any], dict[str, Array]]:
    """Fit on everything; return the description and the arrays."""
    head = fold_in(layers.first.fit(np.ones(len(layers.first.corpus.turns), dtype=np.bool_)), directions)
    slope, intercept = layers.lines[:, KEPT]
    head = Head(head.buckets[..., KEPT] * slope, head.dense[:, KEPT] * slope, head.bias[KEPT] * slope + intercept)
    parts = [tagger_second.fold_second(second, lines, directions) for second, lines in layers.seconds]
    parts += [tagger_layers.fold_layer(layer, lines, directions) for layer, lines in layers.further]
    heads = [f"bolt_{name}" for second, _ in layers.seconds for name in second.names]
    heads += [name for layer, _ in layers.further for name in layer.names]
    return _model(heads, layers.found), _arrays(head, parts)


def _model(heads: list[str], found: Findings) -> dict[str, Any]:
    kept = [one for one in found.values() if one.book != "mi" or one.column in {*heads, *map(_mi, HEADS)}]
    codes = [_code(one) for one in kept]
    codes += [
        code | {"column": f"miti_{name}", "on_request": True}
        for name in tagger_layers.SHARED
        for code in codes
        if code["column"] == _mi(name)
    ]
    about = {"format": 3, "name": "hashed-linear", "version": VERSION, "calibration": HOW}
    codes.sort(key=lambda code: str(code["column"]))
    return {**about, "context_heads": [_mi(name) for name in HEADS], "heads": heads, "codes": codes}


def _code(one: Judged) -> dict[str, Any]:
    heads = [one.group, one.column] if one.group else [one.column]
    second = bool(codebook_named(one.book).overlaps)
    return {
        "column": one.column,
        "role": one.role,
        "heads": heads,
        "thresholds": one.limits(),
        "on_request": second or one.column.removeprefix("mi_") in tagger_layers.REQUESTED["mi"],
    }


def _mi(name: str) -> str:
    return f"mi_{name}"


def _arrays(head: Head, layers: list[tuple[Array, Array, Array, Array]]) -> dict[str, Array]:
    buckets, hand, lift, bias = zip(*layers, strict=True)
    return {
        "buckets": np.hstack([head.buckets.reshape(N_BUCKETS, -1), *buckets]),
        "hand": np.hstack([head.dense, *hand]),
        "lift": np.hstack(lift),
        "bias": np.concatenate([head.bias, *bias]),
    }


def write(folder: Path, model: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write the two files of the weights, buckets in half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")
    small = {name: values.astype(np.float16 if name == "buckets" else np.float32) for name, values in arrays.items()}
    np.savez_compressed(folder / "weights.npz", allow_pickle=False, **small)


if __name__ == "__main__":
    main()
