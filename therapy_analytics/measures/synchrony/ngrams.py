"""N-grams of turns: how often each turn has each, and which come again in other turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.measures.null.surrogates import TokenRows
from therapy_analytics.measures.turns import Bools, Ints
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.integers import consecutive

Counts: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"


# ---- counted


def words_of(session: AnnotatedSession) -> TokenRows:
    """Return the words of each turn, without punctuation; the two parts of a contraction ("do", "n't") are two words.

    The number of a word is its key, the same in every session.
    """
    tokens, offsets = session.turns.tokens, session.turns.offsets
    ids = tokens.ids[offsets[0] : offsets[-1]]
    verbal = tokens.verbal[ids]
    return TokenRows(tokens.keys[ids[verbal], None], np.append(0, np.cumsum(verbal))[offsets - offsets[0]])


def count_ngrams(words: TokenRows, n: int) -> Counts:
    """Count the n-grams of each turn, float64 (n_turns, n_types); none crosses from turn to turn.

    Examples
    --------
    Two turns, "so so so" and "no": the bigram "so so" stands twice in the first.

    >>> values = np.array([[5], [5], [5], [7]], dtype=np.uint64)
    >>> count_ngrams(TokenRows(values, np.array([0, 3, 4])), 2).toarray().tolist()
    [[2.0], [0.0]]
    """
    turn = words.turn
    kinds, number = np.unique(words.values[:, 0], return_inverse=True)
    places, types = np.arange(len(number)), number
    for step in range(1, n):
        last = np.minimum(places + step, len(number) - 1)
        fits = (places + step < len(number)) & (turn[last] == turn[places])
        places, longer = places[fits], (types * len(kinds) + number[last])[fits]
        types = np.unique(longer, return_inverse=True)[1]
    shape = len(words), int(types.max(initial=-1)) + 1
    return sparse.csr_array((np.ones(len(places)), (turn[places], types)), shape=shape)


# ---- that come again


def repeated_ngrams(ids: NDArray[np.integer], turn: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield the n-grams that stand in two turns or more, of one token, of two, ...

    A longer one consists of two shorter ones that overlap and come again themselves.

    Parameters
    ----------
    ids : int array (n_tokens,)
        What each token is.
    turn : int64 array (n_tokens,)
        The turn of each, never falling; no n-gram crosses from turn to turn.

    Yields
    ------
    places, types : int64 array (n_ngrams,)
        Where n-grams begin, in order, and a number from 0 of each.
    """
    places, types = np.arange(len(ids)), np.unique(ids, return_inverse=True)[1]
    while len(places):
        first = np.empty(int(types.max()) + 1, dtype=np.int64)
        first[types[::-1]] = turn[places[::-1]]
        again = np.bincount(types, turn[places] != first[types]) > 0
        some = again[types]
        places, types = places[some], (np.cumsum(again) - 1)[types[some]]
        if len(places):
            yield places, types
        follows = np.flatnonzero((np.diff(places) == 1) & (np.diff(turn[places]) == 0))
        longer = types[follows] * (int(types.max(initial=0)) + 1) + types[follows + 1]
        places, types = places[follows], np.unique(longer, return_inverse=True)[1]


@dataclass(frozen=True, slots=True, eq=False)
class TurnNgrams:
    """The tokens of turns, and the n-grams that begin at each token and stand in other turns too.

    Attributes
    ----------
    offsets : int64 array (n_turns + 1,)
        Turn ``i`` owns tokens ``offsets[i]:offsets[i + 1]``.
    words : bool array (n_tokens,)
        Which tokens have a letter or digit.
    starts : int64 array (n_tokens + 1,)
        At token ``i`` begin the n-grams ``types[starts[i]:starts[i + 1]]``, of 1, 2, ... tokens.
    types : int64 array (n_ngrams,)
        Which n-gram each is, a number from 0.
    sizes : int64 array (n_types,)
        Tokens of each type of n-gram.
    """

    offsets: Ints
    words: Bools
    starts: Ints
    types: Ints
    sizes: Ints

    def __getitem__(self, turns: Ints) -> TurnNgrams:
        """Return some of the turns."""
        n_tokens = np.diff(self.offsets)[turns]
        tokens, _ = consecutive(self.offsets[turns], n_tokens)
        n_ngrams = np.diff(self.starts)[tokens]
        ngrams, _ = consecutive(self.starts[tokens], n_ngrams)
        offsets, starts = (np.append(0, np.cumsum(n)) for n in (n_tokens, n_ngrams))
        return TurnNgrams(offsets, self.words[tokens], starts, self.types[ngrams], self.sizes)


def ngrams_in(tokens: TokenRows) -> TurnNgrams:
    """Find the n-grams of turns that stand in two turns or more; see `tokens_of`."""
    places, types, sizes = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], np.zeros(0, dtype=np.int64)
    for length, (at, which) in enumerate(repeated_ngrams(tokens.values[:, 0], tokens.turn), start=1):
        places.append(at)
        types.append(len(sizes) + which)
        sizes = np.append(sizes, np.full(int(which.max()) + 1, length))
    place = np.concatenate(places)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(tokens.values) + 1))
    return TurnNgrams(tokens.offsets, tokens.values[:, 1] > 0, starts, np.concatenate(types)[order], sizes)
