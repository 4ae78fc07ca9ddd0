"""Scores of codes from the encoder's vectors of a session's turns.

Each turn is cut into parts of a few sentences (`therapy_analytics.codes.encoder`), and each part has a vector.
Codes that a turn and the end of the one before tell have a line over that vector. Codes that need more of what was said
before are told by the sequence model, a small transformer that lets each part attend to the parts of its own turn and
of the eight turns before it, never to later turns. The score of a turn is the logarithm of the sum of the exponentials
of its parts' scores: a long turn has a code if any of its parts has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from therapy_analytics.codes.encoder import WIDTH as ENCODER_WIDTH
from therapy_analytics.codes.encoder import Encoded
from therapy_analytics.text.data_files import Wanted, read_arrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WIDTH, N_HEADS, N_LAYERS = 128, 4, 2
"""Dimensions of the model's own vectors, attention heads of a layer, and layers."""
REACH = 9
"""How many turns a part attends to in each layer, its own among them."""
PLACES = 8
"""Numbers beside the vector of a part: where in its turn it stands, and how much it repeats, see `beside`."""
VECTOR = 3 * ENCODER_WIDTH
"""Dimensions of a part's vector, see `therapy_analytics.codes.encoder.Encoded`."""
DECIMALS = 8
"""Digits to which scores are rounded: matrix products differ in their last digits with the number of threads."""
TURNS_AT_ONCE, PARTS_AT_ONCE = 64, 256
"""Turns that are scored, and parts that are compared with all others, at a time."""
_LARGEST = 20.0
"""A part's score is clipped at this value, so that no exponential overflows."""


@dataclass(frozen=True, slots=True, eq=False)
class SequenceModel:
    """A trained sequence model, and the lines over the encoder's vectors.

    Attributes
    ----------
    n_lines, n_codes : int
        How many scores the lines give, and how many the sequence model.
    arrays : mapping of str to float64 array
        The weights, see `_shapes`.
    """

    n_lines: int
    n_codes: int
    arrays: Mapping[str, Floats] = field(repr=False)

    def scores(self, encoded: Encoded, starts: Sequence[int], roles: NDArray[np.integer[Any]]) -> Floats:
        """Return the score of each code in each turn, float64 (n_turns, n_lines + n_codes): those of the lines first.

        Nan for turns without words.

        Parameters
        ----------
        encoded : Encoded
            Vectors of the parts of all turns.
        starts : sequence of int
            First turn of each session, and the number of turns. What a turn gets depends on its own session only.
        roles : int array (n_turns,)
            Roles, as positions in `therapy_analytics.core.session.ROLES`.
        """
        scores = np.full((len(roles), self.n_lines + self.n_codes), np.nan)
        for first, stop in pairwise(starts):
            low, high = np.searchsorted(encoded.turn_of, [first, stop])
            self._score(scores, encoded.vectors[low:high].astype(np.float64), encoded.turn_of[low:high], roles)
        return scores

    def _score(self, scores: Floats, vectors: Floats, turn_of: Ints, roles: NDArray[np.integer[Any]]) -> None:
        """Fill in the scores of a session's turns, from the vectors of its parts (n_parts, VECTOR)."""
        if not len(turn_of):
            return
        numbers = beside(vectors[:, -ENCODER_WIDTH:] - self.arrays["centre"], turn_of, roles[turn_of])
        for begin in range(turn_of[0], turn_of[-1] + 1, TURNS_AT_ONCE):
            # A turn's score depends on no turn further back than the layers reach
            seen = begin - N_LAYERS * (REACH - 1)
            low, high = np.searchsorted(turn_of, [seen, begin + TURNS_AT_ONCE])
            some = turn_of[low:high]
            parts = self._parts(vectors[low:high], numbers[low:high], some, roles[some])
            powers = np.exp(np.minimum(parts, _LARGEST))
            for turn in np.unique(some[some >= begin]):
                scores[turn] = np.round(np.log(powers[some == turn].sum(axis=0)), DECIMALS)

    def _parts(self, vectors: Floats, numbers: Floats, turn_of: Ints, roles: NDArray[np.integer[Any]]) -> Floats:
        """Return the scores of parts that follow each other in a session, float64 (n_parts, n_lines + n_codes)."""
        arrays = self.arrays
        lines = _normed(vectors, arrays["line.norm"]) @ arrays["line.weight"] + arrays["line.bias"]
        upper, lower = vectors[:, : 2 * ENCODER_WIDTH], vectors[:, 2 * ENCODER_WIDTH :]
        read = np.hstack([_normed(upper, arrays["upper.norm"]), _normed(lower, arrays["lower.norm"])])
        found = read @ arrays["in.weight"] + arrays["in.bias"] + arrays["role"][roles]
        found = found + numbers @ arrays["place.weight"] + arrays["place.bias"]
        distance = turn_of[:, None] - turn_of[None, :]
        seen = (distance >= 0) & (distance < REACH)
        for layer in range(N_LAYERS):
            found = found + self._attended(_normed(found, arrays[f"{layer}.norm1"]), layer, distance, seen)
            inner = _normed(found, arrays[f"{layer}.norm2"]) @ arrays[f"{layer}.up.weight"] + arrays[f"{layer}.up.bias"]
            inner = 0.5 * inner * (1.0 + erf(inner / np.sqrt(2.0)))  # GELU
            found = found + inner @ arrays[f"{layer}.down.weight"] + arrays[f"{layer}.down.bias"]
        scores = _normed(found, arrays["out.norm"]) @ arrays["out.weight"] + arrays["out.bias"]
        return np.hstack([lines, scores + read @ arrays["skip.weight"] + arrays["skip.bias"]])

    def _attended(self, given: Floats, layer: int, distance: Ints, seen: NDArray[np.bool_]) -> Floats:
        """Return what each part gathers from the parts that it attends to, float64 (n_parts, WIDTH)."""
        arrays, n = self.arrays, len(given)
        mixed = given @ arrays[f"{layer}.mix.weight"] + arrays[f"{layer}.mix.bias"]
        query, key, value = mixed.reshape(n, 3, N_HEADS, WIDTH // N_HEADS).transpose(1, 2, 0, 3)
        fit = query @ key.transpose(0, 2, 1) / np.sqrt(WIDTH // N_HEADS)
        fit = np.where(seen, fit + arrays[f"{layer}.distance"][:, np.clip(distance, 0, REACH)], -np.inf)
        weight = np.exp(fit - fit.max(axis=2, keepdims=True))
        gathered = (weight / weight.sum(axis=2, keepdims=True)) @ value
        joined: Floats = gathered.transpose(1, 0, 2).reshape(n, WIDTH)
        result: Floats = joined @ arrays[f"{layer}.join.weight"] + arrays[f"{layer}.join.bias"]
        return result


def sequence_model(packed: bytes, path: Path, *, n_lines: int, n_codes: int, remedy: str) -> SequenceModel:
    """Return a sequence model from the contents of ``sequence.npz``.

    Raises
    ------
    BadDataFileError
        The file is broken, or its arrays have other shapes.
    """
    wanted = {name: Wanted(shape) for name, shape in _shapes(n_lines, n_codes).items()}
    arrays = read_arrays(path, packed, wanted, what="an archive of weights", remedy=remedy)
    return SequenceModel(n_lines, n_codes, arrays)


def _shapes(n_lines: int, n_codes: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array of weights; matrices are applied from the right."""
    shapes: dict[str, tuple[int, ...]] = {
        "centre": (ENCODER_WIDTH,),
        "line.norm": (2, VECTOR),
        **_linear("line", VECTOR, n_lines),
        "upper.norm": (2, 2 * ENCODER_WIDTH),
        "lower.norm": (2, ENCODER_WIDTH),
        "role": (3, WIDTH),
        "out.norm": (2, WIDTH),
        **_linear("in", VECTOR, WIDTH),
        **_linear("place", PLACES, WIDTH),
        **_linear("out", WIDTH, n_codes),
        **_linear("skip", VECTOR, n_codes),
    }
    for layer in range(N_LAYERS):
        shapes |= {f"{layer}.norm{i}": (2, WIDTH) for i in (1, 2)}
        shapes |= {f"{layer}.distance": (N_HEADS, REACH + 1)}
        shapes |= _linear(f"{layer}.mix", WIDTH, 3 * WIDTH) | _linear(f"{layer}.join", WIDTH, WIDTH)
        shapes |= _linear(f"{layer}.up", WIDTH, 2 * WIDTH) | _linear(f"{layer}.down", 2 * WIDTH, WIDTH)
    return shapes


def _linear(name: str, n_in: int, n_out: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (n_in, n_out), f"{name}.bias": (n_out,)}


def _normed(given: Floats, weights: Floats) -> Floats:
    """Return rows (n, width) with mean 0 and variance 1, scaled and shifted by weights (2, width)."""
    centred = given - given.mean(axis=1, keepdims=True)
    scaled: Floats = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * weights[0] + weights[1]
    return scaled


def beside(vectors: Floats, turn_of: Ints, roles: NDArray[np.integer[Any]]) -> Floats:
    """Return the numbers that are read beside the vectors of a session's parts, float64 (n_parts, PLACES).

    Where in its turn the part stands: whether it is the first; whether it is the last; how many parts precede it, up to
    six, divided by six; half the logarithm of the number of the turn's parts. Then how much it repeats, as the largest
    cosine: to all earlier turns of the same role; to those among the four turns before; to the turn before, if of
    another role; to earlier ones of other roles. 0 where there is none.

    Parameters
    ----------
    vectors : float64 array (n_parts, ENCODER_WIDTH)
        Means of the encoder's third layer over a session's parts, less their mean in training.
    turn_of : int64 array (n_parts,)
        Turn of each part.
    roles : int array (n_parts,)
        Role of each part's turn.
    """
    _, first, n_parts = np.unique(turn_of, return_index=True, return_counts=True)
    before = np.arange(len(turn_of)) - np.repeat(first, n_parts)
    of_turn = np.repeat(n_parts, n_parts)
    columns = [before == 0, before == of_turn - 1, np.minimum(before, 6) / 6, np.log(of_turn) / 2]
    return np.hstack([np.stack(columns, axis=1).astype(np.float64), _repeated(vectors, turn_of, roles)])


def _repeated(vectors: Floats, turn_of: Ints, roles: NDArray[np.integer[Any]]) -> Floats:
    found = np.zeros((len(vectors), 4))
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    for low in range(0, len(unit), PARTS_AT_ONCE):
        rows = slice(low, low + PARTS_AT_ONCE)
        cosine = unit[rows] @ unit.T
        distance = turn_of[rows, None] - turn_of[None, :]
        same = roles[rows, None] == roles[None, :]
        earlier = distance > 0
        kinds = (same, same & (distance <= 4), ~same & (distance <= 1), ~same & (distance > 1))
        for kind, chosen in enumerate(kinds):
            there = earlier & chosen
            largest = np.where(there, cosine, -1.0).max(axis=1)
            found[rows, kind] = np.where(there.any(axis=1), largest, 0.0)
    return found
