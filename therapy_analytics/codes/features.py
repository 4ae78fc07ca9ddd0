"""Features of turns for the tagger: hashed words, character n-grams, word n-grams, and hand-crafted features.

There is no vocabulary: a word is represented by the bucket that its hash falls into, so the weights of buckets cannot
be read back as words. Words and their character n-grams are the same wherever a token type occurs, so
`Features.project` multiplies types by weights once and then adds up the tokens of each turn.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.codes.cues import CueTypes, cue_types, hand_features, neighbours
from therapy_analytics.text import TurnArrays
from therapy_analytics.text.tokens import Tokens

BITS = 16
N_BUCKETS = 1 << BITS
CHAR_WEIGHT = 0.7
"""Weight of a word's character n-grams together; that of the word itself is 1."""
DAMPING = 0.6
"""Exponent of the length that each row is divided by: 0 leaves rows as they are, 1 makes all of length one."""
_LONGEST = 40
_P = np.uint64(0x100000001B3)
_Matrix = Any  # scipy itself does not say what its sparse arrays return


@dataclass(frozen=True, slots=True)
class Features:
    """Features of consecutive turns, in factors: ``buckets = words @ types + grams``.

    Attributes
    ----------
    words : CSR (n_turns, n_types)
        Damped counts of token types.
    types : CSR (n_types, N_BUCKETS)
        Buckets of each type: of the word, and of its character n-grams of two to five letters.
    grams : CSR (n_turns, N_BUCKETS)
        Damped counts of the buckets of word bigrams and trigrams, and of the words that a turn begins and ends with.
    hand : CSR (n_turns, len(HAND))
        The features of `therapy_analytics.codes.cues`.
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
        """Return the buckets times weights (N_BUCKETS, n): an array (n_turns, n)."""
        result: NDArray[Any] = self.words @ (self.types @ weights) + self.grams @ weights
        return result


def neighbour(values: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """Return the values (n_turns, n) of each turn's neighbour, 0 where it has none (index -1)."""
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
    starts = np.asarray(starts, dtype=np.int64)
    types = types_of(turns.tokens)
    before, after = neighbours(starts)
    rows, buckets = grams_of(types, turns.ids, turns.turn_of)
    return Features(
        words=_count(turns.turn_of, turns.ids, (len(turns), len(types.spoken))),
        types=types.buckets,
        grams=_count(rows, buckets, (len(turns), N_BUCKETS)),
        hand=sparse.csr_array(hand_features(turns, types.cues, starts)),
        before=before,
        after=after,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Types:
    """Features of token types, which do not depend on the turns that they occur in.

    Attributes
    ----------
    spoken : bool array (n_types,)
        Whether the type has a letter or digit in its normal form.
    hashes : uint64 array (n_types,)
        Of the normal forms; the same on every machine and in every process.
    buckets : CSR (n_types, N_BUCKETS)
        See `Features.types`.
    cues : CueTypes
        For the hand-crafted features.
    """

    spoken: NDArray[np.bool_]
    hashes: NDArray[np.uint64]
    buckets: _Matrix
    cues: CueTypes


def types_of(tokens: Tokens) -> Types:
    """Return the features of the token types of a batch; cached for all who read its turns."""
    return _types_of(tokens.lower, tokens.norm)


@functools.lru_cache(maxsize=2)
def _types_of(lower: tuple[str, ...], norm: tuple[str, ...]) -> Types:
    spoken = np.array([any(map(str.isalnum, word)) for word in norm], dtype=np.bool_)
    hashes = _string_hashes(norm)
    return Types(spoken, hashes, _type_buckets(lower, hashes), cue_types(norm))


def _count(rows: NDArray[np.int64], columns: NDArray[np.integer], shape: tuple[int, int]) -> _Matrix:
    """Count pairs of row and column, take ``1 + log(count)``, and divide each row by its length to the `DAMPING`."""
    cells, counts = np.unique(rows * shape[1] + columns, return_counts=True)
    row, column = np.divmod(cells, shape[1])
    values = 1.0 + np.log(counts)
    length = np.sqrt(np.bincount(row, values**2, minlength=shape[0]))
    ends = np.append(0, np.cumsum(np.bincount(row, minlength=shape[0])))
    return sparse.csr_array((values / (length**DAMPING)[row], column, ends), shape=shape)


def grams_of(
    types: Types, ids: NDArray[np.integer], turn_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return turn and bucket of each bigram and trigram, and of the first and last words of each turn.

    Parameters
    ----------
    types : Types
        Of the tokens.
    ids, turn_of : int arrays (n_tokens,)
        Type and turn of each token; n-grams skip punctuation.
    """
    spoken = np.flatnonzero(types.spoken[ids])
    words, turn_of = types.hashes[ids[spoken]], turn_of[spoken]
    first = np.flatnonzero(np.diff(turn_of, prepend=-1))
    last = np.flatnonzero(np.diff(turn_of, append=-1))
    found = [(first, words[first] ^ np.uint64(11)), (last, words[last] ^ np.uint64(12))]
    gram = words
    for n in (2, 3):
        gram = _mix(gram[:-1] * _P + words[n - 1 :]) if len(gram) else gram
        whole = turn_of[: len(gram)] == turn_of[n - 1 :]
        opening = first[first < len(gram)]
        opening = opening[whole[opening]]
        found.append((np.flatnonzero(whole), gram[whole]))
        found.append((opening, gram[opening] ^ np.uint64(10 + n)))
    at, keys = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return turn_of[at], _bucket(keys)


def _type_buckets(lower: Sequence[str], hashes: NDArray[np.uint64]) -> _Matrix:
    """Return the buckets of each type: the word, and its character n-grams with marks at both ends."""
    letters, owner = _letters([f"<{word[:_LONGEST]}>" for word in lower])
    rows, columns = [], []
    gram = letters
    for n in range(2, 6):
        gram = gram[:-1] * _P + letters[n - 1 :] if len(gram) else gram
        whole = owner[: len(gram)] == owner[n - 1 :]
        rows.append(owner[: len(gram)][whole])
        columns.append(_bucket(gram[whole] + np.uint64(n)))
    row = np.concatenate(rows)
    n_grams = np.maximum(np.bincount(row, minlength=len(lower)), 1)
    row = np.concatenate([np.arange(len(lower)), row])
    value = np.concatenate([np.ones(len(lower)), (CHAR_WEIGHT / np.sqrt(n_grams))[row[len(lower) :]]])
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
