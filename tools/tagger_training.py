"""Training of the accurate tagger: encoder and sequence model together, on stretches of sessions, all codes at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tagger_corpora import WAYS
from tagger_encoder import WIDTH, Encoder, Texts, cutter, parts
from tagger_noise import recognised
from tagger_sequence import Sequence as SequenceNet
from tagger_turns import Turns
from torch import nn

from therapy_analytics.behaviours.sequence import N_LAYERS, PLACES, REACH, beside

EPOCHS, SHARE_OF_STEPS_WARMING = 3, 0.06
RATE, NEW_RATE = 1.5e-4, 1e-3
"""Learning rates of the encoder's upper layers, and of the sequence model, which begins from nothing."""
STRETCH, MOST_IN_STRETCH, AT_ONCE = 24, 1600, 2400
"""Turns of a stretch; subwords of a stretch, and of a step, at most."""
MOST_PARTS = 8
"""Parts of a turn that are read in training; of longer turns some are drawn."""
NOISY = 0.4
"""How many of the turns that are written as speech recognisers write have their mistakes, too."""
READ = {
    "offmychest": 0.25,
    "spiral_bench": 0.25,
    "distortions": 0.25,
    "mindeval": 0.4,
    "vera_mh": 0.4,
    "excerpts": 0.4,
    "mibot": 0.5,
    "epitome": 0.5,
    "oncoco": 0.5,
}
"""How many stretches of a corpus are read in an epoch, where not all."""
TURNS_AT_ONCE = 32
"""Turns that are scored at a time, after those that they depend on."""
Rows = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


class Stretch(NamedTuple):
    """Turns that follow each other, and the way in which they are written."""

    turns: Sequence[int]
    way: str


@dataclass(frozen=True)
class Material:
    """The turns cut into parts, in each way of writing."""

    turns: Turns
    parts: dict[str, list[Texts]]
    beside: dict[str, list[Floats]]
    centre: Floats

    @cached_property
    def size(self) -> Rows:
        """Subwords that are read of each turn."""
        return np.array([sum(map(len, some[:MOST_PARTS])) for some in self.parts["clean"]])


def material(turns: Turns, work: Path) -> Material:
    """Cut all turns into parts, and find what repeats; the second is kept in the working folder."""
    wordpiece, table = cutter(), turns.table
    cut = {
        way: [parts(role, write(text), wordpiece) for role, text in zip(table["role"], table["text"], strict=True)]
        for way, write in WAYS.items()
    }
    path = work / "beside.npz"
    if not path.exists():
        lower = {way: _lower([one for some in cut[way] for one in some]) for way in WAYS}
        centre = lower["clean"].mean(axis=0)
        numbers = {way: _beside(turns, cut[way], lower[way] - centre) for way in WAYS}
        part = path.with_suffix(".part.npz")
        np.savez(part, centre=centre, **numbers)
        part.replace(path)
    with np.load(path, allow_pickle=False) as found:
        at = {way: np.cumsum([len(some) for some in cut[way]])[:-1] for way in WAYS}
        return Material(turns, cut, {way: np.split(found[way], at[way]) for way in WAYS}, found["centre"])


@torch.inference_mode()
def _lower(texts: Texts, at_once: int = 4000) -> Floats:
    net = Encoder().eval()
    net.upper = nn.ModuleList()
    starts = range(0, len(texts), at_once)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return np.concatenate([net(texts[start : start + at_once])[:, -WIDTH:].numpy() for start in starts])


def _beside(turns: Turns, cut: list[Texts], lower: Floats) -> Floats:
    turn_of = np.repeat(np.arange(len(cut)), [len(some) for some in cut])
    found = np.zeros((len(lower), PLACES), dtype=np.float32)
    for first, stop in turns.sessions:
        low, high = np.searchsorted(turn_of, [first, stop])
        if high > low:
            some = turn_of[low:high]
            found[low:high] = beside(lower[low:high].astype(np.float64), some, turns.roles[some])
    return found


class Net(nn.Module):
    """Encoder and sequence model."""

    def __init__(self, n_codes: int) -> None:
        super().__init__()
        self.encoder, self.sequence = Encoder(), SequenceNet(n_codes)

    def forward(self, given: Material, stretches: list[Stretch], rng: np.random.Generator | None = None) -> Any:
        """Return the scores of turns (n, n_codes) and which turns they are; turns without words are left out.

        With ``rng`` some turns get mistakes of speech recognition, and of long turns some parts are drawn.
        """
        read = [_Read(*one) for one in _reading(given, stretches, rng)]
        device = self.sequence.out.weight.device
        with torch.autocast(device.type, dtype=torch.bfloat16):
            vectors = self.encoder([one.text for one in read])
        row = torch.tensor([one.stretch for one in read])
        column = torch.cat([torch.arange(n) for n in torch.bincount(row).tolist()])
        shape = (len(stretches), int(column.max()) + 1)

        def spread(values: Any) -> Any:
            filled = torch.zeros((*shape, *values.shape[1:]), dtype=values.dtype, device=device)
            return filled.index_put((row.to(device), column.to(device)), values.to(device))

        turn = torch.tensor([one.turn for one in read])
        roles = torch.tensor(given.turns.roles[turn])
        numbers = torch.from_numpy(np.array([one.beside for one in read]))
        there = spread(torch.ones(len(read), dtype=torch.bool))
        found = self.sequence(spread(vectors), spread(numbers), spread(roles), spread(turn), there)
        scored, place = torch.unique(turn, return_inverse=True)
        powers = torch.exp(found[row.to(device), column.to(device)].clamp(max=20))
        sums = torch.zeros(len(scored), powers.shape[1], device=device).index_add(0, place.to(device), powers)
        return torch.log(sums + 1e-9), scored


class _Read(NamedTuple):
    """A part that is read: its text, the numbers beside it, its turn and its stretch."""

    text: list[int]
    beside: Floats
    turn: int
    stretch: int


def _reading(
    given: Material, stretches: list[Stretch], rng: np.random.Generator | None
) -> Iterator[tuple[list[int], Floats, int, int]]:
    table, wordpiece = given.turns.table, cutter()
    for stretch, (turns, way) in enumerate(stretches):
        for turn in turns:
            texts, numbers = given.parts[way][turn], given.beside[way][turn]
            if rng is not None and texts and way == "plain" and rng.random() < NOISY:
                noisy = parts(table["role"].iat[turn], recognised(table["text"].iat[turn], rng), wordpiece)
                texts = noisy or texts
                numbers = numbers[np.minimum(np.arange(len(texts)), len(numbers) - 1)]
            if rng is not None and len(texts) > MOST_PARTS:
                drawn = np.sort(rng.choice(len(texts), MOST_PARTS, replace=False))
                texts, numbers = [texts[at] for at in drawn], numbers[drawn]
            yield from ((text, number, turn, stretch) for text, number in zip(texts, numbers, strict=True))


def train(given: Material, keep: Bools, seed: int, *, device: str = "cpu") -> Net:
    """Fit on the sessions whose turns are kept (n_turns,)."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    turns = given.turns
    net = Net(len(turns.names)).to(device)
    share = (turns.labels * turns.weights)[keep].sum(0) / np.maximum(turns.weights[keep].sum(0), 1)
    net.sequence.out.bias.data = torch.logit(torch.tensor(share).clamp(0.003, 0.95)).to(device)
    labels, weights = torch.from_numpy(turns.labels), torch.from_numpy(turns.weights)
    upper, new = list(net.encoder.upper.parameters()), list(net.sequence.parameters())
    groups = [
        {"params": upper, "lr": RATE, "weight_decay": 0.01},
        {"params": new, "lr": NEW_RATE, "weight_decay": 0.02},
    ]
    optimizer = torch.optim.AdamW(groups, fused=True)
    steps = [step for _ in range(EPOCHS) for step in _steps(given, keep, rng)]
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: _pace(at, len(steps)))
    net.train()
    for step in steps:
        found, scored = net(given, [Stretch(some, rng.choice(list(WAYS))) for some in step], rng)
        weight = weights[scored].to(device)
        loss = nn.functional.binary_cross_entropy_with_logits(found, labels[scored].to(device), reduction="none")
        ((loss * weight).sum() / (4 * len(scored))).backward()
        nn.utils.clip_grad_norm_([*upper, *new], 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return net.eval()


def _pace(step: int, steps: int) -> float:
    warming = SHARE_OF_STEPS_WARMING * steps
    return min((step + 1) / warming, max(0.0, (steps - step) / (steps - warming)))


def _steps(given: Material, keep: Bools, rng: np.random.Generator) -> Iterator[list[list[int]]]:
    """Deal stretches of sessions out to steps, in random order."""
    stretches = list(_stretches(given, keep, rng))
    step: list[list[int]] = []
    size = 0
    for at in rng.permutation(len(stretches)):
        much = int(given.size[stretches[at]].sum())
        if step and size + much > AT_ONCE:
            yield step
            step, size = [], 0
        step.append(stretches[at])
        size += much
    if step:
        yield step


def _stretches(given: Material, keep: Bools, rng: np.random.Generator) -> Iterator[list[int]]:
    """Cut sessions into stretches, each time at other places, and yield those that can be learnt from."""
    counts = given.turns.weights.any(axis=1) & (given.size > 0)
    corpus = given.turns.table["corpus"].tolist()
    for first, stop in given.turns.sessions:
        if not keep[first]:
            continue
        off = int(rng.integers(STRETCH)) if stop - first > STRETCH else 0
        for begin in range(first - off, stop, STRETCH):
            turns = range(max(begin, first), min(begin + STRETCH, stop))
            if counts[turns].any() and rng.random() < READ.get(corpus[first], 1.0):
                yield from (some for some in _shortened(turns, given.size) if counts[some].any())


def _shortened(turns: range, size: Rows) -> Iterator[list[int]]:
    some: list[int] = []
    for turn in turns:
        if some and size[[*some, turn]].sum() > MOST_IN_STRETCH:
            yield some
            some = []
        some.append(turn)
    yield some


@torch.inference_mode()
def scores(net: Net, given: Material, wanted: Bools, way: str) -> Floats:
    """Return the scores of all turns (n_turns, n_codes) of the sessions that are wanted; nan for all others."""
    found = np.full(given.turns.labels.shape, np.nan, dtype=np.float32)
    for first, stop in given.turns.sessions:
        for begin in range(first, stop, TURNS_AT_ONCE) if wanted[first] else ():
            read = range(max(first, begin - N_LAYERS * (REACH - 1)), min(begin + TURNS_AT_ONCE, stop))
            if any(given.parts[way][turn] for turn in read):
                some, scored = net(given, [Stretch(read, way)])
                new = scored >= begin
                found[scored[new].numpy()] = some[new.to(some.device)].cpu().numpy()
    return found
