"""The runs of one to three words that begin at each word: of words themselves, and of classes of words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language.integers import consecutive, numbered

Ints = NDArray[np.int64]
_Kept: TypeAlias = "WeakKeyDictionary[Runs, dict[Any, Any]]"
LONGEST = 3
"""Words of the longest run that is counted."""
_MIX, _SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_HASH_BITS = 60


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Runs:
    """The runs of some turns. Their kinds: of one, two and three words, then of one, two and three classes, if asked.

    Attributes
    ----------
    types : int64 array (n_types,)
        What the different runs say, rising: 60 bits of a hash, the same in every session, and above them the kind.
    ids : int32 array (n_kinds, n_words)
        Which of the types begins at each word; -1 for none, as where the turn ends too soon.
    starts : int64 array (n_turns + 1,)
        Turn ``t`` owns words ``starts[t]:starts[t + 1]``, also those that are never alike.
    among : mapping
        What was made for other runs, for as long as these live, of all that share the types.
    """

    types: Ints
    ids: NDArray[np.int32]
    starts: Ints
    among: _Kept = field(default_factory=WeakKeyDictionary, repr=False)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def between(self, start: int, stop: int) -> Runs:
        """Return the runs of turns ``start:stop``."""
        return replace(self, starts=self.starts[start : stop + 1])

    def n_words(self, turns: Ints) -> Ints:
        """Return how many words turns have."""
        return self.starts[turns + 1] - self.starts[turns]

    def types_among(self, others: Runs) -> NDArray[np.int32]:
        """Return where each type stands among those of others; -1 where they lack it. Looked up once a batch."""
        made = self.among.setdefault(others, {})
        if "types" not in made:
            both = np.concatenate([others.types, self.types])
            order = np.argsort(both, kind="stable")  # of two that are sorted: quicker than to look each up
            alike = (np.diff(both[order]) == 0).nonzero()[0]
            made["types"] = np.full(len(self.types), -1, dtype=np.int32)
            made["types"][order[alike + 1] - len(others.types)] = order[alike]
        found: NDArray[np.int32] = made["types"]
        return found


def runs_of(keys: NDArray[np.uint64], words: Ints, turn: Ints, n_turns: int) -> Runs:
    """Return the runs of words.

    Parameters
    ----------
    keys : uint64 array (n_words,) or (n_series, n_words)
        What each different word is, the same number in every session; 0 for words that are never alike. Of several
        series, such as words and their classes, each has its own kinds of runs.
    words : int64 array (n_said,)
        Which of these is said, word after word.
    turn : int64 array (n_said,)
        Position of its turn, never falling.
    n_turns : int
        How many turns there are.

    Examples
    --------
    Words a b in a turn, and a in the next: a and b alone and a b begin there; and a.

    >>> found = runs_of(np.array([7, 8], dtype=np.uint64), np.array([0, 1, 0]), np.array([0, 0, 1]), 2)
    >>> found.ids.tolist(), found.starts.tolist(), kind_of(found.types).tolist()
    ([[1, 0, 1], [2, -1, -1], [-1, -1, -1]], [0, 2, 3], [0, 0, 1])
    """
    kinds = [kind for of_words in np.atleast_2d(keys) for kind in _kinds(of_words, words, turn)]
    codes = [_code(hashes, kind) for kind, (hashes, _, _) in enumerate(kinds)]
    types, rank = np.unique(np.concatenate(codes), return_inverse=True)
    ids = np.full((len(kinds), len(turn)), -1, dtype=np.int32)
    n = 0
    for row, (hashes, at, which) in zip(ids, kinds, strict=True):
        row[at] = rank[n:][which]
        n += len(hashes)
    return Runs(types, ids, np.searchsorted(turn, np.arange(n_turns + 1)))


def _code(hashes: NDArray[np.uint64], kind: int) -> Ints:
    return (hashes * _SPREAD >> np.uint64(64 - _HASH_BITS)).astype(np.int64) | kind << _HASH_BITS


def _kinds(keys: NDArray[np.uint64], words: Ints, turn: Ints) -> Iterator[tuple[NDArray[np.uint64], Ints, Ints]]:
    """Yield for runs of one, two and three words a hash of each different one, where runs begin, and which one there.

    What is different is found by small numbers, not by the hashes: of a longer run, those of the run without its last
    word and of that word.
    """
    # Behind the last word nothing is said.
    keys, turn = np.append(keys, np.uint64(0)), np.append(turn, np.full(LONGEST, -1))
    words = np.append(words, np.full(LONGEST, len(keys) - 1))
    said, number = keys[words], np.unique(keys, return_inverse=True)[1][words]
    at = said.nonzero()[0]
    which, first = numbered(number[at])
    hashes = said[at[first]]
    yield hashes, at, which
    for size in range(1, LONGEST):
        fits = ((said[at + size] != 0) & (turn[at] == turn[at + size])).nonzero()[0]
        at, shorter = at[fits], which[fits]
        which, first = numbered(shorter * len(keys) + number[at + size])
        begun = hashes[shorter[first]]
        hashes = (begun ^ (begun >> np.uint64(29))) * _MIX + said[at[first] + size]
        yield hashes, at, which


def kind_of(types: Ints) -> Ints:
    """Return the kind of each type, from 0: words of the run less 1, and `LONGEST` more for each series before."""
    return types >> _HASH_BITS


def words_of(runs: Runs, turns: Ints) -> tuple[Ints, Ints]:
    """Return the words of turns, one after the other, and which of the turns says each."""
    n = runs.n_words(turns)
    return consecutive(runs.starts[turns + 1] - n, n)
