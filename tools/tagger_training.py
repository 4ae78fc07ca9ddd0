"""Training of the accurate tagger: first the encoder, turn by turn, then the sequence model.

The encoder learns from all labels but those of `process`, and gives the scores of these codes: a sequence model on top
found them no better. Of the codes of `process` the encoder learns nothing: trained on them too it found them no better,
and worse in a corpus that it had not seen. These are learnt by the sequence model, from the encoder's vectors, on
segments of sessions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tagger_corpora import WAYS
from tagger_encoder import WIDTH, Texts, Upper, batches, cutter, lower_states, parts
from tagger_noise import recognised
from tagger_sequence import Sequence as SequenceNet
from tagger_turns import Turns
from torch import nn

from therapy_analytics.codes.encoder import BEFORE, upper_vectors
from therapy_analytics.codes.sequence import N_LAYERS, PLACES, REACH, beside

NOISY = "noisy"
READINGS = (*WAYS, NOISY)
"""How turns are read in training: as written; without case and punctuation; the same with made-up mistakes."""
EPOCHS, SEQUENCE_EPOCHS, WARMING = 4, 12, 0.06
RATE, NEW_RATE, SEQUENCE_RATE = 1.5e-4, 1e-3, 1e-3
"""Learning rates of the encoder's upper layers, of what turns their vectors into scores, and of the sequence model."""
AT_ONCE = 2400
"""Subwords of a step of the encoder, at most."""
MOST_PARTS = 6
"""Parts of a turn that are read in a step of the encoder; of longer turns some are drawn."""
ENCODED_AT_ONCE = 64
"""Parts that are read side by side, in eight bits."""
PLAIN = ("annomi", "hlqc", "epitome", "oncoco")
"""Corpora that the sequence model also reads without case and punctuation, and how often then."""
PLAIN_SHARE = 0.4
SEGMENT, SEGMENTS = 16, 8
"""Turns of a segment, and segments of a step of the sequence model."""
OTHERS = {"epitome": 0.5, "oncoco": 0.5, "offmychest": 0.25}
"""How many turns of corpora without codes of counselors the encoder reads in an epoch."""
DECAY = 0.05
"""Weight decay of the sequence model."""
TURNS_AT_ONCE = 64
"""Turns that are scored at a time, after those that they depend on."""
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Reading:
    """All turns written in one way, in parts.

    Attributes
    ----------
    turn_of, start : int64 array (n_parts,), int64 array (n_parts + 1,)
        The turn of each part, and where its subwords begin in ``states``.
    tail : int64 array (n_turns, BEFORE)
        Which of ``states`` are those of the last own subwords of a turn; -1 beyond.
    states : bfloat16 tensor (n_subwords, WIDTH)
        What the lower layers say.
    beside : float32 array (n_parts, PLACES)
    """

    turn_of: Ints
    start: Ints
    tail: Ints
    states: Any
    beside: Floats


@dataclass(frozen=True)
class Material:
    """The turns, each way of reading them, the turn before each (-1 where none), and the mean of the lower layers."""

    turns: Turns
    readings: dict[str, Reading]
    before: Ints
    centre: Floats

    def followed(self, way: str) -> Bools:
        """Return the turns (n_turns,) of the sessions that the sequence model reads in one way of writing."""
        counts = self.turns.weights[:, process_codes(self.turns)].any(axis=1)
        counts &= self.turns.table["corpus"].isin(PLAIN).to_numpy() | (way == "clean")
        found = np.zeros(len(counts), dtype=np.bool_)
        for first, stop in self.turns.sessions:
            found[first:stop] = counts[first:stop].any()
        return found


def material(turns: Turns, work: Path) -> Material:
    """Read all turns in all ways; what the lower layers say is kept in the working folder."""
    path = work / "readings.pt"
    if not path.exists():
        readings = {way: _read(turns, way) for way in READINGS}
        centre = _lower_means(readings["clean"]).mean(axis=0)
        kept = {"centre": torch.from_numpy(centre)}
        for way, (turn_of, start, tail, states) in readings.items():
            numbers = _beside(turns, turn_of, _lower_means(readings[way]) - centre)
            kept |= {f"{way}.turn_of": torch.from_numpy(turn_of), f"{way}.start": torch.from_numpy(start)}
            kept |= {f"{way}.tail": torch.from_numpy(tail), f"{way}.states": states}
            kept[f"{way}.beside"] = torch.from_numpy(numbers)
        part = path.with_suffix(".part")
        torch.save(kept, part)
        part.replace(path)
    found = torch.load(path, mmap=True)
    names = ("turn_of", "start", "tail")
    readings = {
        way: Reading(
            *(found[f"{way}.{name}"].numpy() for name in names),
            found[f"{way}.states"],
            found[f"{way}.beside"].numpy(),
        )
        for way in READINGS
    }
    return Material(turns, readings, _before(turns, readings["clean"]), found["centre"].numpy())


def _read(turns: Turns, way: str) -> tuple[Ints, Ints, Ints, Any]:
    wordpiece, rng, table = cutter(), np.random.default_rng(0), turns.table
    texts: Texts = []
    turn_of: list[int] = []
    tail = np.full((len(table), BEFORE), -1, dtype=np.int64)
    size = 0
    for turn, (role, text) in enumerate(zip(table["role"], table["text"], strict=True)):
        written = recognised(text, rng) if way == NOISY else WAYS[way](text)
        own: list[int] = []
        for part in parts(role, written, wordpiece):
            texts.append(part)
            turn_of.append(turn)
            own += range(size + len(part) - len(part[2:-1]) - 1, size + len(part) - 1)
            size += len(part)
        own = own[-BEFORE:]
        tail[turn, : len(own)] = own
    start = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    return np.array(turn_of), start, tail, lower_states(texts)


def _lower_means(reading: tuple[Ints, Ints, Ints, Any]) -> Floats:
    """Return the mean of each part's own subwords (n_parts, WIDTH)."""
    _, start, _, states = reading
    sums = torch.zeros((len(start) - 1, WIDTH))
    for low in range(0, len(start) - 1, 5000):
        high = min(low + 5000, len(start) - 1)
        some = states[start[low] : start[high]].float()
        part = np.repeat(np.arange(high - low), np.diff(start[low : high + 1]))
        place = np.arange(len(some)) - (start[low:high] - start[low])[part]
        own = (place >= 2) & (place < np.diff(start[low : high + 1])[part] - 1)
        sums[low:high].index_add_(0, torch.from_numpy(part[own]), some[torch.from_numpy(own)])
    return (sums / torch.from_numpy(np.maximum(np.diff(start) - 3, 1))[:, None]).numpy()


def _beside(turns: Turns, turn_of: Ints, lower: Floats) -> Floats:
    found = np.zeros((len(lower), PLACES), dtype=np.float32)
    for first, stop in turns.sessions:
        low, high = np.searchsorted(turn_of, [first, stop])
        if high > low:
            some = turn_of[low:high]
            found[low:high] = beside(lower[low:high].astype(np.float64), some, turns.roles[some])
    return found


def _before(turns: Turns, reading: Reading) -> Ints:
    """Return the last turn with words before each, in its session; -1 where there is none."""
    found = np.full(len(turns.table), -1, dtype=np.int64)
    words = reading.tail[:, 0] >= 0
    for first, stop in turns.sessions:
        last = -1
        for turn in range(first, stop):
            found[turn] = last
            last = turn if words[turn] else last
    return found


class Encoder(nn.Module):
    """The upper layers, and scores of codes from their vectors by a line each, as they are trained."""

    def __init__(self, n_codes: int) -> None:
        super().__init__()
        self.upper, self.norm = Upper(), nn.LayerNorm(3 * WIDTH)
        self.out, self.drop = nn.Linear(3 * WIDTH, n_codes), nn.Dropout(0.1)
        nn.init.normal_(self.out.weight, std=0.01)

    def forward(self, given: Material, some: Reading, chosen: Ints) -> Any:
        """Return the vectors of some parts (n, 3 * WIDTH)."""
        lengths = np.diff(some.start)[chosen]
        order = np.argsort(lengths, kind="stable")
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = [self._vectors(given, some, chosen[at]) for at in batches(lengths, order)]
        place = torch.empty(len(order), dtype=torch.long)
        place[torch.from_numpy(order)] = torch.arange(len(order))
        return torch.cat(found)[place]

    def _vectors(self, given: Material, some: Reading, chosen: Ints) -> Any:
        lengths = np.diff(some.start)[chosen]
        place = np.minimum(np.arange(lengths.max())[None], lengths[:, None] - 1) + some.start[chosen][:, None]
        below = some.states[torch.from_numpy(place)]
        before = given.before[some.turn_of[chosen]]
        tail = np.where(before[:, None] >= 0, some.tail[before], -1)
        earlier = some.states[torch.from_numpy(np.maximum(tail, 0))]
        return self.upper(below, earlier, torch.from_numpy(lengths), torch.from_numpy((tail >= 0).sum(1)))

    def scores(self, vectors: Any, part_of: Any, n: int) -> Any:
        """Return the scores of n turns (n, n_codes) from the vectors of their parts."""
        powers = torch.exp(self.out(self.drop(self.norm(vectors))).clamp(max=20))
        sums = torch.zeros((n, powers.shape[1])).index_add(0, part_of, powers)
        return torch.log(sums + 1e-9)

    def lines(self, names: list[str], kept: list[str]) -> dict[str, Floats]:
        """Return the lines of some of the codes as the package reads them; ``names`` are all codes."""
        at = [names.index(name) for name in kept]
        norm = torch.stack([self.norm.weight, self.norm.bias])
        found = {"line.norm": norm, "line.weight": self.out.weight[at].T, "line.bias": self.out.bias[at]}
        return {name: one.detach().numpy().astype(np.float32) for name, one in found.items()}


def encoder_codes(turns: Turns) -> list[int]:
    """Return the places of the codes that the encoder learns from."""
    return [at for at, name in enumerate(turns.names) if not name.startswith("process_")]


def process_codes(turns: Turns) -> list[int]:
    """Return the places of the codes that the sequence model learns."""
    return [at for at, name in enumerate(turns.names) if name.startswith("process_")]


def train_encoder(given: Material, keep: Bools, seed: int) -> Encoder:
    """Fit on the turns that are kept (n_turns,)."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    turns, codes = given.turns, encoder_codes(given.turns)
    labels, weights = turns.labels[:, codes], turns.weights[:, codes]
    net = Encoder(len(codes))
    net.out.bias.data = _usual(labels[keep], weights[keep])
    keep = keep & weights.any(axis=1)
    new = [*net.norm.parameters(), *net.out.parameters()]
    optimizer = torch.optim.AdamW(
        [{"params": [*net.upper.parameters()], "lr": RATE}, {"params": new, "lr": NEW_RATE}],
        weight_decay=0.01,
        fused=True,
    )
    steps = [step for _ in range(EPOCHS) for step in _turn_steps(given, keep, rng)]
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: _pace(at, len(steps)))
    net.train()
    for way, chosen in steps:
        some = given.readings[way]
        read, part_of = np.unique(some.turn_of[chosen], return_inverse=True)
        found = net.scores(net(given, some, chosen), torch.from_numpy(part_of), len(read))
        truth, counts = torch.from_numpy(labels[read]), torch.from_numpy(weights[read])
        _learn(net, optimizer, schedule, found, truth, counts)
    return net.eval()


def _usual(labels: Floats, weights: Floats) -> Any:
    share = (labels * weights).sum(0) / np.maximum(weights.sum(0), 1)
    return torch.logit(torch.tensor(share).clamp(0.003, 0.95))


def _learn(net: nn.Module, optimizer: Any, schedule: Any, found: Any, truth: Any, counts: Any) -> None:
    loss = nn.functional.binary_cross_entropy_with_logits(found, truth, reduction="none")
    ((loss * counts).sum() / (4 * len(found))).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()


def _pace(step: int, steps: int) -> float:
    warming = WARMING * steps
    return min((step + 1) / warming, max(0.0, (steps - step) / (steps - warming)))


def _turn_steps(given: Material, keep: Bools, rng: np.random.Generator) -> Iterator[tuple[str, Ints]]:
    """Deal turns out to steps in random order; a step is the parts of turns written in one way."""
    corpus = given.turns.table["corpus"]
    drawn = np.flatnonzero(keep & (rng.random(len(keep)) < corpus.map(OTHERS).fillna(1.0).to_numpy()))
    bounds = {way: np.searchsorted(some.turn_of, [drawn, drawn + 1]).T for way, some in given.readings.items()}
    size = {way: np.diff(some.start) for way, some in given.readings.items()}
    way_of = rng.choice(len(READINGS), len(drawn), p=[0.5, 0.3, 0.2])
    pending: dict[str, tuple[list[Ints], int]] = {way: ([], 0) for way in READINGS}
    for at in rng.permutation(len(drawn)):
        way = READINGS[way_of[at]]
        own = np.arange(*bounds[way][at])
        if len(own) > MOST_PARTS:
            own = np.sort(rng.choice(own, MOST_PARTS, replace=False))
        much = int(size[way][own].sum())
        some, n = pending[way]
        if some and n + much > AT_ONCE:
            yield way, np.concatenate(some)
            some, n = [], 0
        pending[way] = ([*some, own] if len(own) else some, n + much)
    yield from ((way, np.concatenate(some)) for way, (some, _) in pending.items() if some)


def vectors(upper: Any, given: Material, way: str, wanted: Bools) -> Floats:
    """Return the vectors of parts written in one way (n_parts, 3 * WIDTH), 0 where their turn is not wanted.

    ``upper`` is `therapy_analytics.codes.encoder.Encoder.upper`: the weights in eight bits, as they are used.
    """
    some = given.readings[way]
    found = np.zeros((len(some.turn_of), 3 * WIDTH), dtype=np.float16)
    chosen = np.flatnonzero(wanted[some.turn_of])
    lengths = np.diff(some.start)
    order = chosen[np.argsort(lengths[chosen], kind="stable")]
    starts = np.concatenate([np.flatnonzero(np.diff(lengths[order], prepend=0)), [len(order)]])
    for low, high in pairwise(starts.tolist()):
        for begin in range(low, high, ENCODED_AT_ONCE):
            batch = order[begin : min(begin + ENCODED_AT_ONCE, high)]
            place = some.start[batch][:, None] + np.arange(lengths[batch[0]])
            below = some.states[torch.from_numpy(place)].float().numpy()
            found[batch] = upper_vectors(upper, below, [_tail(given, some, turn) for turn in some.turn_of[batch]])
    return found


def _tail(given: Material, some: Reading, turn: int) -> Floats | None:
    before = given.before[turn]
    if before < 0:
        return None
    own = some.tail[before]
    tail: Floats = some.states[torch.from_numpy(own[own >= 0])].float().numpy()
    return tail


def train_sequence(given: Material, read: dict[str, Floats], keep: Bools, seed: int) -> SequenceNet:
    """Fit on the sessions whose turns are kept (n_turns,), from the vectors of parts in each way of reading."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    turns = given.turns
    labels, weights = (values[:, process_codes(turns)] for values in (turns.labels, turns.weights))
    net = SequenceNet(labels.shape[1])
    net.out.bias.data = _usual(labels[keep], weights[keep])
    labels, weights = torch.from_numpy(labels), torch.from_numpy(weights)
    optimizer = torch.optim.AdamW(net.parameters(), lr=SEQUENCE_RATE, weight_decay=DECAY, fused=True)
    steps = [step for _ in range(SEQUENCE_EPOCHS) for step in _steps(given, keep, rng)]
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: _pace(at, len(steps)))
    net.train()
    for way, segments in steps:
        found, scored = _scored(net, given, way, read[way], [_with_before(given, some) for some in segments])
        own = np.isin(scored, np.concatenate([np.asarray(some) for some in segments]))
        _learn(net, optimizer, schedule, found[own], labels[scored[own]], weights[scored[own]])
    return net.eval()


def _with_before(given: Material, some: range) -> range:
    """Return a segment with the turns before it that its first turn attends to."""
    starts = [first for first, _ in given.turns.sessions]
    first = starts[np.searchsorted(starts, some.start, side="right") - 1]
    return range(max(first, some.start - REACH + 1), some.stop)


def _steps(given: Material, keep: Bools, rng: np.random.Generator) -> Iterator[tuple[str, list[range]]]:
    """Deal segments of sessions out to steps, those of similar length together, in random order."""
    dealt = list(_segments(given, keep, rng))
    steps = []
    for way in WAYS:
        segments = [some for its_way, some in dealt if its_way == way]
        first = given.readings[way].turn_of
        n_parts = [np.subtract(*np.searchsorted(first, [some.stop, some.start])) for some in segments]
        order = np.argsort(np.array(n_parts) * rng.uniform(0.8, 1.25, len(n_parts)))
        starts = range(0, len(order), SEGMENTS)
        steps += [(way, [segments[at] for at in order[start : start + SEGMENTS]]) for start in starts]
    yield from (steps[at] for at in rng.permutation(len(steps)))


def _segments(given: Material, keep: Bools, rng: np.random.Generator) -> Iterator[tuple[str, range]]:
    """Cut sessions into segments, each time at other places, and yield those that can be learnt from."""
    counts = given.turns.weights[:, process_codes(given.turns)].any(axis=1)
    words = {way: some.tail[:, 0] >= 0 for way, some in given.readings.items()}
    corpus = given.turns.table["corpus"].tolist()
    for first, stop in given.turns.sessions:
        if keep[first]:
            off = int(rng.integers(SEGMENT)) if stop - first > SEGMENT else 0
            for begin in range(first - off, stop, SEGMENT):
                some = slice(max(begin, first), min(begin + SEGMENT, stop))
                way = "plain" if corpus[first] in PLAIN and rng.random() < PLAIN_SHARE else "clean"
                if (counts[some] & words[way][some]).any():
                    yield way, range(some.start, some.stop)


def _scored(net: SequenceNet, given: Material, way: str, read: Floats, segments: list[range]) -> tuple[Any, Any]:
    """Return the scores of turns (n, n_codes) and which turns they are; turns without words are left out."""
    some = given.readings[way]
    bounds = [np.searchsorted(some.turn_of, [one.start, one.stop]) for one in segments]
    rows = np.concatenate([np.arange(*one) for one in bounds])
    row = torch.from_numpy(np.repeat(np.arange(len(bounds)), [high - low for low, high in bounds]))
    column = torch.from_numpy(np.concatenate([np.arange(high - low) for low, high in bounds]))
    shape = (len(bounds), int(column.max()) + 1)

    def spread(values: NDArray[Any]) -> Any:
        filled = torch.zeros((*shape, *values.shape[1:]), dtype=torch.from_numpy(values[:0]).dtype)
        filled[row, column] = torch.from_numpy(values)
        return filled

    turn = some.turn_of[rows]
    there = spread(np.ones(len(rows), dtype=bool))
    roles, numbers = given.turns.roles[turn], some.beside[rows]
    found = net(spread(read[rows].astype(np.float32)), spread(numbers), spread(roles), spread(turn), there)
    scored, place = np.unique(turn, return_inverse=True)
    powers = torch.exp(found[row, column].clamp(max=20))
    sums = torch.zeros(len(scored), powers.shape[1]).index_add(0, torch.from_numpy(place), powers)
    return torch.log(sums + 1e-9), scored


@torch.inference_mode()
def scores(net: Encoder, sequence: SequenceNet, given: Material, read: Floats, wanted: Bools, way: str) -> Floats:
    """Return the scores of turns (n_turns, n_codes) that are wanted; nan for all others, and where nothing is known."""
    found = np.full(given.turns.labels.shape, np.nan, dtype=np.float32)
    some = given.readings[way]
    words = some.tail[:, 0] >= 0
    rows = np.flatnonzero((wanted & words)[some.turn_of])
    turns, part_of = np.unique(some.turn_of[rows], return_inverse=True)
    of_parts = torch.from_numpy(read[rows].astype(np.float32))
    own = net.scores(of_parts, torch.from_numpy(part_of), len(turns)).numpy()
    found[np.ix_(turns, encoder_codes(given.turns))] = own
    followed = wanted & words & given.followed(way)
    of_process = np.full((len(found), len(process_codes(given.turns))), np.nan, dtype=np.float32)
    for first, stop in given.turns.sessions:
        for begin in range(first, stop, TURNS_AT_ONCE):
            seen = range(max(first, begin - N_LAYERS * (REACH - 1)), min(begin + TURNS_AT_ONCE, stop))
            if followed[begin : seen.stop].any():
                values, scored = _scored(sequence, given, way, read, [seen])
                new = scored >= begin
                of_process[scored[new]] = values.numpy()[new]
    of_process[~followed] = np.nan
    found[:, process_codes(given.turns)] = of_process
    return found
