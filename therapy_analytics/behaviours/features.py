"""Turns as numbers for the tagger: hashed words, pieces of words, word pairs, and counts by hand.

Nothing here knows a vocabulary: a word is known by the bucket that its hash falls into, so
weights over these buckets cannot be read back as words. All of it is a sum over token types,
which are few: `Features.project` multiplies types by weights once and then adds up turns.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.behaviours.cues import CueTypes, Stream, hand_features
from therapy_analytics.language import TurnArrays
from therapy_analytics.language.integers import differs
from therapy_analytics.language.tokens import Tokens

BITS = 16
N_BUCKETS = 1 << BITS
CHAR_WEIGHT = 0.7
"""How much the pieces of a word count, together, beside the word itself."""
DAMPING = 0.6
"""0: a turn's buckets add up as they are; 1: each turn has length one, however long it is."""
_LONGEST = 40
_P = np.uint64(0x100000001B3)
_Matrix = Any  # scipy itself does not say what its sparse arrays return
Grams = list[tuple[int, NDArray[np.int64], NDArray[np.int64]]]


@dataclass(frozen=True, slots=True)
class Features:
    """Features of a run of turns, in factors: ``buckets = words @ types + grams``.

    Attributes
    ----------
    words : CSR (n_turns, n_types)
        How often each token type occurs, damped.
    types : CSR (n_types, N_BUCKETS)
        Buckets of each type: of the word, and of its pieces of two to five letters.
    grams : CSR (n_turns, N_BUCKETS)
        Buckets of pairs and triples of words, and of the words a turn begins and ends with.
    hand : CSR (n_turns, len(HAND))
        The features of `therapy_analytics.behaviours.cues`.
    before, after : int64 array (n_turns,)
        The neighbouring turn in the same session, or -1.
    """

    words: _Matrix
    types: _Matrix
    grams: _Matrix
    hand: _Matrix
    before: NDArray[np.int64]
    after: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.before)

    def project(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Multiply buckets by weights (N_BUCKETS, n): an array (n_turns, n)."""
        result: NDArray[Any] = self.words @ (self.types @ weights) + self.grams @ weights
        return result


def neighbour(values: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """Return each turn's neighbour's values, and 0 where there is no such turn."""
    return np.where((index >= 0)[:, None], values[index], values.dtype.type(0))


def featurize(turns: TurnArrays, starts: NDArray[np.int64] | Sequence[int]) -> Features:
    """Compute the features of turns from their token ids.

    Parameters
    ----------
    turns : TurnArrays
        The turns of a batch, or of one session of it.
    starts : int array (n_sessions + 1,)
        Session ``i`` owns turns ``starts[i]:starts[i + 1]``.

    Returns
    -------
    Features
        What it holds for a session does not depend on the other sessions.
    """
    begin, end = int(turns.offsets[0]), int(turns.offsets[-1])
    starts = np.asarray(starts, dtype=np.int64)
    types, ids = types_of(turns.tokens), turns.tokens.ids[begin:end]
    turn_of = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
    stream = Stream(types.cues, ids, turns.tokens.sentence_end[begin:end], turn_of, *_neighbours(starts, len(turns)))
    spoken, grams = grams_of(types, ids, turn_of)
    return Features(
        words=_count(turn_of, ids, (len(turns), len(types.spoken))),
        types=types.buckets,
        grams=_gram_counts(turn_of[spoken], grams, len(turns)),
        hand=_sparse(hand_features(turns, stream, starts)),
        before=stream.before,
        after=stream.after,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Types:
    """What features need to know of token types, in whatever turns they stand.

    Attributes
    ----------
    spoken : bool array (n_types,)
        Whether the type has a letter or digit in its normal form.
    hashes : uint64 array (n_types,)
        Of the normal forms, the same on every machine and in every process.
    buckets : CSR (n_types, N_BUCKETS)
        See `Features.types`.
    cues : CueTypes
        What the features by hand look for.
    """

    spoken: NDArray[np.bool_]
    hashes: NDArray[np.uint64]
    buckets: _Matrix
    cues: CueTypes


def types_of(tokens: Tokens) -> Types:
    """Return what there is to know of the types of a batch: found once for all who read its turns."""
    return _types_of(tokens.lower, tokens.norm)


@functools.lru_cache(maxsize=2)
def _types_of(lower: tuple[str, ...], norm: tuple[str, ...]) -> Types:
    spoken = np.array([any(map(str.isalnum, word)) for word in norm], dtype=np.bool_)
    hashes = _string_hashes(norm)
    return Types(spoken, hashes, _type_buckets(lower, hashes), CueTypes.of(norm))


def _sparse(table: NDArray[np.float64]) -> _Matrix:
    """Return a table as CSR: what scipy makes of it, in a third of the time."""
    there = table != 0
    filled, ends = np.flatnonzero(there), np.cumsum(np.count_nonzero(there, axis=1))
    return sparse.csr_array((table.ravel()[filled], filled % table.shape[1], np.append(0, ends)), shape=table.shape)


def _neighbours(starts: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    before, after = np.arange(-1, n - 1), np.arange(1, n + 1)
    begins, ends = starts[:-1], starts[1:]
    filled = begins < ends
    before[begins[filled]] = -1
    after[ends[filled] - 1] = -1
    return before, after


def _count(rows: NDArray[np.int64], columns: NDArray[np.integer], shape: tuple[int, int]) -> _Matrix:
    """Count pairs, dampen the counts, and weaken long rows."""
    cells = np.sort(rows * shape[1] + columns, kind="stable")  # faster for what is nearly in order
    first = np.flatnonzero(differs(cells))
    row = cells[first] // shape[1]
    values = 1.0 + np.log(np.diff(first, append=len(cells)))
    length = np.sqrt(np.bincount(row, values**2, minlength=shape[0]))
    ends = np.append(0, np.cumsum(np.bincount(row, minlength=shape[0])))
    column = cells[first] - row * shape[1]
    return sparse.csr_array((values / (length**DAMPING)[row], column, ends), shape=shape)


def grams_of(types: Types, ids: NDArray[np.integer], turn_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], Grams]:
    """Find pairs and triples of words, and the first and last words of each turn.

    Parameters
    ----------
    types : Types
        Of the tokens.
    ids, turn_of : int arrays (n_tokens,)
        Type and turn of each token.

    Returns
    -------
    spoken : int64 array (n_spoken,)
        The tokens that are said: punctuation is passed over.
    grams : list of (size, at, bucket)
        Words ``spoken[at]`` to ``spoken[at + size - 1]`` together fall into a bucket.
    """
    spoken = np.flatnonzero(types.spoken[ids])
    words, turn_of = types.hashes[ids[spoken]], turn_of[spoken]
    first = np.flatnonzero(np.diff(turn_of, prepend=-1))
    last = np.flatnonzero(np.diff(turn_of, append=-1))
    found = [(1, first, words[first] ^ np.uint64(11)), (1, last, words[last] ^ np.uint64(12))]
    gram = words
    for n in (2, 3):
        gram = _mix(gram[:-1] * _P + words[n - 1 :]) if len(gram) else gram
        whole = turn_of[: len(gram)] == turn_of[n - 1 :]
        opening = first[first < len(gram)]
        opening = opening[whole[opening]]
        found.append((n, np.flatnonzero(whole), gram[whole]))
        found.append((n, opening, gram[opening] ^ np.uint64(10 + n)))
    return spoken, [(n, at, _bucket(keys)) for n, at, keys in found]


def _gram_counts(turn_of: NDArray[np.int64], grams: Grams, n_turns: int) -> _Matrix:
    rows = np.concatenate([turn_of[at] for _, at, _ in grams])
    return _count(rows, np.concatenate([bucket for _, _, bucket in grams]), (n_turns, N_BUCKETS))


def _type_buckets(lower: Sequence[str], hashes: NDArray[np.uint64]) -> _Matrix:
    """Buckets of each type: the word, and its pieces with marks at both ends."""
    letters, owner = _letters([f"<{word[:_LONGEST]}>" for word in lower])
    rows, columns = [], []
    gram = letters
    for n in range(2, 6):
        gram = gram[:-1] * _P + letters[n - 1 :] if len(gram) else gram
        whole = owner[: len(gram)] == owner[n - 1 :]
        rows.append(owner[: len(gram)][whole])
        columns.append(_bucket(gram[whole] + np.uint64(n)))
    row = np.concatenate(rows)
    n_pieces = np.maximum(np.bincount(row, minlength=len(lower)), 1)
    row = np.concatenate([np.arange(len(lower)), row])
    value = np.concatenate([np.ones(len(lower)), (CHAR_WEIGHT / np.sqrt(n_pieces))[row[len(lower) :]]])
    column = np.concatenate([_bucket(hashes), *columns])
    return sparse.csr_array((value, (row, column)), shape=(len(lower), N_BUCKETS))


def _letters(words: list[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    data = "".join(words).encode("utf-32-le", "surrogatepass")
    letters = np.frombuffer(data, dtype="<u4").astype(np.uint64)
    return letters, np.repeat(np.arange(len(words)), [len(word) for word in words])


def _string_hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """Hash each word, the same on every machine and in every process."""
    words = [f"<{word[:_LONGEST]}>" for word in words]
    letters, owner = _letters(words)
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    begins = np.cumsum(lengths) - lengths
    powers = np.cumprod(np.full(_LONGEST + 2, _P, dtype=np.uint64))
    if not words:
        return np.zeros(0, dtype=np.uint64)
    return _mix(np.add.reduceat(letters * powers[np.arange(len(letters)) - begins[owner]], begins))


def _mix(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread keys over 64 bits (the finaliser of splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _bucket(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (_mix(keys) >> np.uint64(64 - BITS)).astype(np.int64)
