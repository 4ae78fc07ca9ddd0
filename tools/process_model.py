"""The sequence model of the codebook `process`, trained: what `therapy_analytics.behaviours.sequence` runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from process_corpus import NAMES, ROLE_OF
from torch import nn

from therapy_analytics.behaviours import sequence
from therapy_analytics.behaviours.sequence import N_HEADS, N_LAYERS, PLACES, REACH, VECTOR, WIDTH
from therapy_analytics.session import ROLES

EPOCHS, RATE, DECAY, DROPOUT = 12, 1e-3, 0.05, 0.2
SEGMENT, BEFORE = 16, 8
"""Turns that are learnt from at a time, and turns before them that are read with them."""
AT_ONCE = 300
"""Parts in a batch."""
INVENTED = 0.7
"""How much an invented turn counts beside one of a corpus."""
UPPER = 768
GIVEN = 0.5
"""How sure readers must be on the whole for a turn to have a code."""
Array = NDArray[np.float64]
Span = tuple[int, int, int]
"""First turn that is read, first that is learnt from or scored, and the end."""


@dataclass(frozen=True)
class Examples:
    """Turns, and the vectors of their parts (n_parts, VECTOR) with the turn of each (n_parts,), in order."""

    turns: pd.DataFrame
    vectors: NDArray[np.float32]
    turn_of: NDArray[np.int64]

    @cached_property
    def roles(self) -> NDArray[np.int64]:
        """Roles of turns, as positions in ROLES."""
        return self.turns["role"].map(ROLES.index).to_numpy(dtype=np.int64)

    @cached_property
    def sessions(self) -> list[tuple[int, int]]:
        """First turn and end of each session."""
        first = np.flatnonzero(self.turns["session"].ne(self.turns["session"].shift()))
        return list(zip(first.tolist(), [*first[1:].tolist(), len(self.turns)], strict=True))

    @cached_property
    def given(self) -> Array:
        """How sure readers were of each code, 0 to 1, (n_turns, n_codes)."""
        return np.array([[codes.get(name, 0.0) for name in NAMES] for codes in self.turns["codes"]])

    @cached_property
    def truth(self) -> NDArray[np.bool_]:
        """Whether a turn has a code on the whole, (n_turns, n_codes)."""
        return self.given >= GIVEN

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """Whether a turn was read and its role can have the code, (n_turns, n_codes)."""
        own = np.array([[role == mine for mine in ROLE_OF] for role in self.turns["role"]])
        return own & self.turns["read"].to_numpy(dtype=bool)[:, None]

    @cached_property
    def centre(self) -> NDArray[np.float32]:
        """The mean of all vectors."""
        return np.asarray(self.vectors.mean(axis=0))

    @cached_property
    def beside(self) -> Any:
        """Numbers beside the vectors, (n_parts, PLACES)."""
        found = np.empty((len(self.vectors), PLACES))
        for first, stop in self.sessions:
            low, high = np.searchsorted(self.turn_of, [first, stop])
            some = self.turn_of[low:high]
            if len(some):
                vectors = (self.vectors[low:high] - self.centre).astype(np.float64)
                found[low:high] = sequence.beside(vectors, some, self.roles[some])
        return torch.tensor(found, dtype=torch.float32)

    @cached_property
    def tensors(self) -> tuple[Any, Any]:
        """Vectors and roles of parts."""
        return torch.from_numpy(self.vectors), torch.from_numpy(self.roles[self.turn_of])


class Attention(nn.Module):
    """Each part attends to parts of its own turn and of turns before it; turns further back count less at first."""

    def __init__(self) -> None:
        super().__init__()
        self.mix, self.join, self.drop = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), nn.Dropout(DROPOUT)
        slopes = torch.tensor([0.0, 0.15, 0.4, 1.0])[:N_HEADS]
        self.distance = nn.Parameter(-torch.arange(REACH + 1)[None] * slopes[:, None])

    def forward(self, given: Any, distance: Any, seen: Any) -> Any:
        """Return what each part gathers (n, n_parts, WIDTH)."""
        n, length, _ = given.shape
        query, key, value = self.mix(given).view(n, length, 3, N_HEADS, WIDTH // N_HEADS).permute(2, 0, 3, 1, 4)
        fit = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // N_HEADS)
        fit = (fit + self.distance[:, distance].permute(1, 0, 2, 3)).masked_fill(~seen[:, None], -1e4)
        return self.join((self.drop(fit.softmax(-1)) @ value).transpose(1, 2).reshape(n, length, WIDTH))


class Layer(nn.Module):
    """Attention, then two linear layers, each added to what came in."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH)
        self.up, self.down, self.drop = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH), nn.Dropout(DROPOUT)

    def forward(self, given: Any, distance: Any, seen: Any) -> Any:
        """Return vectors (n, n_parts, WIDTH)."""
        given = given + self.drop(self.attention(self.norm1(given), distance, seen))
        inner = self.drop(nn.functional.gelu(self.up(self.norm2(given))))
        return given + self.drop(self.down(inner))


class Net(nn.Module):
    """Scores of parts, as `therapy_analytics.behaviours.sequence.SequenceModel` computes them."""

    def __init__(self) -> None:
        super().__init__()
        self.upper, self.lower = nn.LayerNorm(UPPER), nn.LayerNorm(VECTOR - UPPER)
        self.enter, self.place, self.role = nn.Linear(VECTOR, WIDTH), nn.Linear(PLACES, WIDTH), nn.Embedding(3, WIDTH)
        self.layers = nn.ModuleList([Layer() for _ in range(N_LAYERS)])
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(NAMES))
        self.skip = nn.Linear(VECTOR, len(NAMES))
        self.drop, self.less, self.last = nn.Dropout(0.3), nn.Dropout(0.5), nn.Dropout(DROPOUT)
        for part in (self.skip.weight, self.skip.bias):
            nn.init.zeros_(part)

    def forward(self, vectors: Any, beside: Any, roles: Any, turns: Any, there: Any) -> Any:
        """Return scores (n, n_parts, n_codes); ``there`` is False at what only fills up."""
        read = torch.cat([self.upper(vectors[..., :UPPER]), self.lower(vectors[..., UPPER:])], -1)
        found = self.enter(self.drop(read)) + self.place(beside) + self.role(roles)
        distance = turns[:, :, None] - turns[:, None, :]
        seen = (distance >= 0) & (distance < REACH) & there[:, None, :]
        seen = seen | torch.eye(seen.shape[1], dtype=torch.bool)[None]
        for layer in self.layers:
            found = layer(found, distance.clamp(0, REACH), seen)
        return self.out(self.last(self.norm(found))) + self.skip(self.less(read))

    def arrays(self, centre: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Return the weights as the package reads them."""
        found = {"centre": torch.from_numpy(centre), "role": self.role.weight}
        for name, norm in (("upper.norm", self.upper), ("lower.norm", self.lower), ("out.norm", self.norm)):
            found[name] = torch.stack([norm.weight, norm.bias])
        linear = {"in": self.enter, "place": self.place, "out": self.out, "skip": self.skip}
        for at, layer in enumerate(self.layers):
            found |= {f"{at}.norm{i}": torch.stack([n.weight, n.bias]) for i, n in ((1, layer.norm1), (2, layer.norm2))}
            found[f"{at}.distance"] = layer.attention.distance
            linear |= {f"{at}.mix": layer.attention.mix, f"{at}.join": layer.attention.join}
            linear |= {f"{at}.up": layer.up, f"{at}.down": layer.down}
        for name, one in linear.items():
            found |= {f"{name}.weight": one.weight.T, f"{name}.bias": one.bias}
        return {name: one.detach().numpy().astype(np.float32) for name, one in found.items()}


def fit(data: Examples, keep: NDArray[np.bool_], seed: int) -> Net:
    """Train on the sessions whose turns are kept (n_turns,)."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    invented = data.turns["corpus"].eq("invented").to_numpy()
    labels = torch.tensor(data.given, dtype=torch.float32)
    weights = torch.tensor(data.counts * np.where(invented, INVENTED, 1.0)[:, None], dtype=torch.float32)
    net = Net()
    share = (labels * weights)[keep].sum(0) / weights[keep].sum(0).clamp(min=1)
    net.out.bias.data = torch.logit(share.clamp(0.003, 0.9)) - 0.3
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    sessions = [one for one in data.sessions if keep[one[0]]]
    steps, step = EPOCHS * len(list(_batches(data, sessions, rng))), 0
    net.train()
    for _ in range(EPOCHS):
        for spans in _batches(data, sessions, rng):
            for group in optimizer.param_groups:
                group["lr"] = RATE * min((step + 1) / (0.1 * steps), max(0.01, (steps - step) / (0.9 * steps)))
            scores, places, learnt = _scored(net, data, spans)
            loss = nn.functional.binary_cross_entropy_with_logits(scores, labels[places], reduction="none")
            ((loss * weights[places] * learnt[..., None]).sum() / (3 * learnt.sum())).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
    return net.eval()


@torch.inference_mode()
def scores(net: Net, data: Examples, wanted: NDArray[np.bool_]) -> Array:
    """Return the scores (n_turns, n_codes) of the sessions whose turns are wanted; nan for all others."""
    found = np.full((len(data.turns), len(NAMES)), np.nan)
    for first, stop in data.sessions:
        if wanted[first]:
            for begin in range(first, stop, 24):
                span = (max(first, begin - N_LAYERS * (REACH - 1)), begin, min(stop, begin + 24))
                some, places, learnt = _scored(net, data, [span])
                found[places[learnt].numpy()] = some[learnt].numpy()
    return found


def _batches(data: Examples, sessions: list[tuple[int, int]], rng: np.random.Generator) -> Iterator[list[Span]]:
    """Deal segments of sessions out to batches of like length, in random order."""
    spans: list[Span] = []
    for first, stop in sessions:
        off = int(rng.integers(0, SEGMENT)) if stop - first > SEGMENT else 0
        for begin in range(first - off, stop, SEGMENT):
            learnt, end = max(begin, first), min(begin + SEGMENT, stop)
            if end > learnt and data.turns["read"].to_numpy()[learnt:end].any():
                spans.append((max(begin - BEFORE, first), learnt, end))
    size = {one: np.diff(np.searchsorted(data.turn_of, [one[0], one[2]])).item() for one in spans}
    spans.sort(key=lambda one: size[one] * (1 + 0.3 * rng.random()))
    batches: list[list[Span]] = [[]]
    for one in spans:
        if batches[-1] and (len(batches[-1]) + 1) * max(size[other] for other in [one, *batches[-1]]) > AT_ONCE:
            batches.append([])
        batches[-1].append(one)
    yield from (batches[at] for at in rng.permutation(len(batches)))


def _scored(net: Net, data: Examples, spans: list[Span]) -> tuple[Any, Any, Any]:
    """Return scores (n, n_turns, n_codes), the places of the turns, and which of them are learnt from or scored."""
    ends = [np.searchsorted(data.turn_of, [first, stop]).tolist() for first, _, stop in spans]
    shape = (len(spans), max(high - low for low, high in ends))
    n_turns = max(stop - first for first, _, stop in spans)
    index, turns, there = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long), torch.zeros(shape)
    places = torch.zeros(len(spans), n_turns, dtype=torch.long)
    learnt = torch.zeros(len(spans), n_turns, dtype=torch.bool)
    for row, ((low, high), (first, begin, stop)) in enumerate(zip(ends, spans, strict=True)):
        index[row, : high - low], there[row, : high - low] = torch.arange(low, high), 1
        turns[row, : high - low] = torch.from_numpy(data.turn_of[low:high]) - first
        places[row, : stop - first], learnt[row, begin - first : stop - first] = torch.arange(first, stop), True
    vectors, roles = data.tensors
    found = net(vectors[index], data.beside[index], roles[index], turns, there.bool())
    powers = torch.exp(found.clamp(max=20)) * there[..., None]
    summed = torch.zeros(len(spans), n_turns, len(NAMES))
    summed = summed.scatter_add(1, turns[..., None].expand(-1, -1, len(NAMES)), powers)
    return torch.log(summed + 1e-9), places, learnt
