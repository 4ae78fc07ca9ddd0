"""Rebuild the weights of the tagger and print how good they are by cross-validation.

Run from the root of the repository, with the research corpora that docs/model_card.md names:

    python tools/train_tagger.py --data CORPORA --tables tables.txt

Two runs on one machine write the same bytes. It takes about five minutes on one core.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import tagger_first
import tagger_misc
import tagger_second
from tagger_corpora import LABELS, THERAPIST_LABELS
from tagger_first import HEADS, First, Lines, Scores, heads_of
from tagger_fit import Array, Head
from tagger_meaning import fold_in, learn
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from therapy_analytics.behaviours.features import N_BUCKETS
from therapy_analytics.session import Role

VERSION = "0.2.0"
ROLES: tuple[Role, Role] = ("therapist", "client")
HOW = {
    "mi": "Platt scaling and threshold of highest kappa, on out-of-fold scores of AnnoMI (clean and plain copies)",
    "bolt": "shrunken Platt scaling; threshold half-way between highest F1 on BOLT's rows and balanced rate, "
    "on out-of-fold scores of BOLT's rows and of AnnoMI's turns as background",
    "misc": "Platt scaling and threshold of highest kappa, on out-of-fold scores of MISC's units",
}


def main() -> None:
    """Cross-validate, fit on everything, write the weights."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=root / "therapy_analytics" / "behaviours" / "weights")
    parser.add_argument("--partitions", type=int, default=3, help="for the figures; the weights do not depend on it")
    parser.add_argument("--tables", type=Path, default=None)
    options = parser.parse_args()
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        model, arrays, tables = build(options.data, tuple(range(1, options.partitions + 1)))
    write(options.out, model, arrays)
    text = "\n\n".join(tables) + "\n"
    print(text)
    if options.tables:
        options.tables.write_text(text, encoding="utf-8")


def build(folder: Path, seeds: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Array], list[str]]:
    """Return the description, the arrays, and tables of figures."""
    directions = learn(folder)
    first = tagger_first.first_layer(folder, directions)
    runs = [first.out_of_fold(seed) for seed in seeds]
    tables = [tagger_first.table(first, runs).round(3).to_string()]
    lines = tagger_first.calibrate(first, runs[0])
    head, scores = kept(first, lines, runs[0], directions)
    codes = [_code("mi", name, _role(name), heads_of(name), lines[name][2]) for name in HEADS]
    layers, heads = [], []
    for role in ROLES:
        second = tagger_second.second_layer(folder, role, first, head, scores["plain"], directions)
        tables.append(tagger_second.table(second, seeds).round(3).to_string())
        p, line = tagger_second.probabilities(second, second.out_of_fold(seeds[0]))
        layers.append(tagger_second.fold_second(second, line, directions))
        heads += second.names
        for name, limits in zip(second.names, tagger_second.thresholds(second, p), strict=True):
            group = tagger_second.group_of(name)
            codes.append(_code("bolt", name, role, [group, name] if group else [name], limits))
    for role in ROLES:
        misc = tagger_misc.misc_layer(folder, role, first, scores, directions)
        tables.append(tagger_misc.table(misc, seeds).round(3).to_string())
        found = misc.out_of_fold(seeds[0])
        line = tagger_misc.calibrate(misc, found)
        layers.append(tagger_misc.fold_misc(misc, line, directions))
        heads += [f"misc_{name}" for name in misc.names]
        for name, limits in zip(misc.names, tagger_misc.thresholds(misc, found, line), strict=True):
            codes.append(_code("misc", name, role, [f"misc_{name}"], limits))
    return _model(heads, codes), _arrays(head, layers), tables


def kept(first: First, lines: Lines, scores: Scores, directions: Array) -> tuple[Head, Scores]:
    """Fit on everything; fold the directions and the calibration in; the same for the out-of-fold scores."""
    head = fold_in(first.fit(np.ones(len(first.corpus.turns), dtype=np.bool_)), directions)
    keep = [LABELS.index(name) for name in HEADS]
    slope, intercept = (np.array([lines[name][i] for name in HEADS]) for i in (0, 1))
    kept = Head(head.buckets[..., keep] * slope, head.dense[:, keep] * slope, head.bias[keep] * slope + intercept)
    return kept, {way: found[:, keep] * slope + intercept for way, found in scores.items()}


def _role(name: str) -> str:
    return "therapist" if LABELS.index(name) < THERAPIST_LABELS else "client"


def _code(book: str, name: str, role: str, heads: list[str], limits: dict[str, float]) -> dict[str, Any]:
    return {"column": f"{book}_{name}", "role": role, "heads": heads, "thresholds": limits}


def _model(heads: list[str], codes: list[dict[str, Any]]) -> dict[str, Any]:
    codes = sorted(codes, key=lambda code: code["column"])
    about = {"format": 2, "name": "hashed-linear", "version": VERSION, "calibration": HOW}
    return {**about, "context_heads": list(HEADS), "heads": heads, "codes": codes}


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
