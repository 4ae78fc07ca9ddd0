"""Counts of the n-grams of many turns as sparse arrays, and values of chosen pairs of turns.

The two turns of a pair may stand in two sets of turns that were made apart (a session and its strangers): types of
n-grams are known by keys that are the same everywhere. Products need only the types that both sets have: the rows asked
for are renumbered as those.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.integers import consecutive, distinct
from therapy_analytics.measures.synchrony._draws import Draws
from therapy_analytics.measures.synchrony._sparse_rows import (
    Chosen,
    Floats,
    Ints,
    Sparse,
    chosen,
    entries_of,
    row_of,
    squares_of,
)

Keys: TypeAlias = NDArray[np.uint64]

_ENTRIES = 1 << 19  # entries of a chunk of pairs: some 6 MB an array, small enough to stay near the processor
_CELLS = 1 << 20  # numbers of a part of a table of all pairs, and of what it is made from
_EVERY = 8  # all pairs are computed at once when they are at most so many times the pairs asked for


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Links:
    """Where the types of a set of turns, and of all parts of it, stand among those of other sets; see `in_common`.

    Attributes
    ----------
    found : mapping of Links to two int arrays
        For other sets, as long as these live.
    placed : mapping of Links to int array
        The same for other sets, as `placed_in` says it.
    """

    found: WeakKeyDictionary[Links, tuple[Ints, Ints]] = field(default_factory=WeakKeyDictionary, repr=False)
    placed: WeakKeyDictionary[Links, Ints] = field(default_factory=WeakKeyDictionary, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class NGrams:
    """How often each n-gram occurs in each turn.

    Attributes
    ----------
    types : uint64 array (n_types,)
        A key of each n-gram that occurs, the same in every set of turns; rising.
    counts : sparse array (n_rows, n_types)
        How often each occurs, in these turns and maybe others.
    squares : float64 array (n_turns,)
        Squared length of each turn's row.
    links : Links
        Of the types.
    first : int
        The row of the first turn.
    """

    types: Keys
    counts: Sparse
    squares: Floats
    links: Links = field(default_factory=Links, repr=False)
    first: int = 0

    def between(self, start: int, stop: int) -> NGrams:
        """Return those of turns ``start:stop``, with the types and the counts of all."""
        return NGrams(self.types, self.counts, self.squares[start:stop], self.links, self.first + start)

    def entries(self, turns: Ints) -> tuple[Ints, Floats, Ints]:
        """Return the types that turns have, turn after turn, how often, and for each the place of its turn."""
        at, of_turn = entries_of(self.counts.indptr, self.first + turns)
        return self.counts.indices.take(at), self.counts.data.take(at), of_turn

    def chosen(self, turns: Ints, types: Ints) -> Chosen:
        """Return the counts of turns, of no types but some, which are given in rising order."""
        return chosen(self.counts, self.first + turns, types)


@dataclass(frozen=True, slots=True, eq=False)
class TaggedNGrams:
    """Which n-grams of (word, tag) each turn has, each counted once however often it is said.

    Attributes
    ----------
    types : uint64 array (n_types,)
        As for `NGrams`; the highest bits are the n-gram of tags, so those of like tags stand together.
    tag_of : int64 array (n_types,)
        The n-gram of tags of each.
    words : sparse array (n_turns, n_types)
        Where the turn has the n-gram of (word, tag): how many of its n-grams have these tags.
    tags : sparse array (n_turns, n_tags ** n)
        How many different n-grams of (word, tag) the turn has for each n-gram of tags.
    squares : float64 array (n_turns,)
        Squared length of each row of `tags`.
    links : Links
        As for `NGrams`.
    """

    types: Keys
    tag_of: NDArray[np.int64]
    words: Sparse
    tags: Sparse
    squares: Floats
    links: Links = field(default_factory=Links, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """How values of pairs of some rows and columns are computed.

    Attributes
    ----------
    table : callable
        Of slices of the rows and of the columns: the values of each with each.
    pairs : callable
        Of places among the rows and the columns, (k,) both: (k,) values.
    sizes : two int arrays
        Entries of each row and of each column: what bounds a part.
    width : int
        Types of n-grams that enter.
    """

    table: Callable[[slice, slice], Floats]
    pairs: Callable[[Ints, Ints], Floats]
    sizes: tuple[Ints, Ints]
    width: int

    def turned(self) -> Kernel:
        """Return the same with rows and columns exchanged."""
        return Kernel(
            lambda rows, columns: self.table(columns, rows).T,
            lambda rows, columns: self.pairs(columns, rows),
            self.sizes[::-1],
            self.width,
        )


def words_of(session: AnnotatedSession) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the words of a session's turns stand among the tokens of its batch, without punctuation.

    Returns
    -------
    places : int64 array (n_words,)
        Pieces of a contraction ("do", "n't") are two.
    offsets : int64 array (n_turns + 1,)
        Turn ``i`` owns ``places[offsets[i]:offsets[i + 1]]``.
    """
    tokens, offsets = session.turns.tokens, session.turns.offsets
    verbal = tokens.verbal[tokens.ids[offsets[0] : offsets[-1]]]
    before = np.concatenate([[0], np.cumsum(verbal)])
    return offsets[0] + np.flatnonzero(verbal), before[offsets - offsets[0]]


def ngrams(keys: Ints, offsets: Ints, n: int) -> NGrams:
    """Count the n-grams of each turn.

    Parameters
    ----------
    keys : int array (n_tokens,)
        A number of each token's type, the same in all sets of turns that are to be compared.
    offsets : int array (n_turns + 1,)
        Turn ``i`` owns ``keys[offsets[i]:offsets[i + 1]]``; no n-gram crosses from turn to turn.
    n : int
        Length of the n-grams, 1 or more.

    Returns
    -------
    NGrams
        A turn shorter than `n` has none.

    Examples
    --------
    Two turns, "so so so" and "no": the bigram "so so" occurs twice in the first.

    >>> ngrams(np.array([0, 0, 0, 1]), np.array([0, 3, 4]), 2).counts.toarray().tolist()
    [[2.0], [0.0]]
    """
    places, turns = _places(offsets, n)
    types, at = np.unique(_ngram_keys(keys, places, n), return_inverse=True)
    counts = _counted(turns, at, (len(offsets) - 1, len(types)))
    return NGrams(types, counts, squares_of(counts))


def tagged_ngrams(keys: Ints, tags: Ints, offsets: Ints, n: int, *, n_tags: int) -> TaggedNGrams:
    """Find the n-grams of (word, tag) of each turn.

    Parameters
    ----------
    keys : int array (n_tokens,)
        As for `ngrams`.
    tags : int array (n_tokens,)
        Part of speech of each token, from 0.
    offsets : int array (n_turns + 1,)
        As for `ngrams`.
    n : int
        Length of the n-grams, 1 or more.
    n_tags : int
        How many tags there are, the same in all sets of turns; ``n_tags ** n`` leaves room for
        the words in 64 bits while it is under 2 ** 24.

    Examples
    --------
    One turn, "work work hard", tagged verb, noun, adverb: three n-grams of length 1.

    >>> grams = tagged_ngrams(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0, 3]), 1, n_tags=3)
    >>> grams.words.toarray().tolist()
    [[1.0, 1.0, 1.0]]
    """
    places, turns = _places(offsets, n)
    n_kinds = n_tags**n
    low = np.uint64(64 - max(1, (n_kinds - 1).bit_length()))
    made = _mixed(_ngram_keys(keys, places, n)) >> (np.uint64(64) - low)
    made |= _tag_ngrams(tags, places, n, n_tags) << low
    types, at = np.unique(made, return_inverse=True)
    words = _counted(turns, at, (len(offsets) - 1, len(types)))
    return _tagged(types, (types >> low).astype(np.int64), words, n_kinds)


def joined(ids: Ints, offsets: Ints, groups: Ints) -> tuple[Ints, NDArray[np.int64]]:
    """Put the turns of each group behind one another as if they were one turn.

    N-grams then cross from a turn to the next turn of the group, though nobody said them.

    Parameters
    ----------
    ids : int array (n_tokens,)
        Anything that each token has.
    offsets : int array (n_turns + 1,)
        As for `ngrams`.
    groups : int array (n_turns,)
        The group of each turn, from 0; turns below 0 belong to none.

    Returns
    -------
    ids, offsets
        Of the groups.

    Examples
    --------
    >>> tokens, starts = joined(np.array([5, 6, 7, 8]), np.array([0, 1, 3, 4]), np.array([0, 1, 0]))
    >>> tokens.tolist(), starts.tolist()
    ([5, 8, 6, 7], [0, 2, 4])
    """
    group = np.repeat(groups, np.diff(offsets))
    order = np.argsort(group, kind="stable")[np.count_nonzero(group < 0) :]
    sizes = np.bincount(group[group >= 0], minlength=int(groups.max(initial=-1)) + 1)
    return ids[offsets[0] + order], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def shared_types(a: Keys, b: Keys) -> tuple[Ints, Ints]:
    """Return where the types that two sets have in common stand in the one and in the other, both rising.

    Examples
    --------
    >>> one, other = np.array([3, 5, 8], dtype=np.uint64), np.array([5, 6, 8, 9], dtype=np.uint64)
    >>> [at.tolist() for at in shared_types(one, other)]
    [[1, 2], [0, 2]]
    """
    if len(a) > len(b):
        second, first = shared_types(b, a)
        return first, second
    if not len(a):
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    at = np.minimum(np.searchsorted(b, a), len(b) - 1)
    found = np.flatnonzero(b[at] == a)
    return found, at[found]


def in_common(a: NGrams | TaggedNGrams, b: NGrams | TaggedNGrams) -> tuple[Ints, Ints]:
    """Return `shared_types` of two sets of turns, looked up once for them and all parts of them."""
    known = b.links.found
    if a.links not in known:
        known[a.links] = shared_types(a.types, b.types)
    return known[a.links]


def placed_in(a: NGrams, b: NGrams) -> Ints:
    """Return where each type of a set of turns stands among those of another, (n_types,); -1 for none."""
    known = a.links.placed
    if b.links not in known:
        of_a, of_b = in_common(a, b)
        known[b.links] = np.full(len(a.types), -1)
        known[b.links][of_a] = of_b
    return known[b.links]


def chosen_in_common(a: NGrams, turns: Ints, b: NGrams) -> tuple[Chosen, Ints]:
    """Return the counts of turns of a set, of the types that another set has too, and which types of that these are."""
    types, numbers, of_turn = a.entries(turns)
    places = placed_in(a, b).take(types)
    kept = np.flatnonzero(places >= 0)
    said, at = distinct(places.take(kept), len(b.types))
    return Chosen.of(numbers.take(kept), at, of_turn.take(kept), (len(turns), len(said))), said


def products_of_few(a: NGrams, b: NGrams, draws: Draws) -> Floats:
    """Return the products of the counts of the two turns of each of the cells of draws, (n_cells,).

    Added up from what the turns of each session share: quick where most pairs share nothing.
    """
    places, sessions, turns = draws.rows_and_columns(), draws.sessions(), (draws.anchors, draws.replies)
    few = int(len(draws.replies) < len(draws.anchors))
    known = _Lists.of((a, b)[few], turns[few], places[few], sessions[few], draws.sizes.shape[1])
    return known.products((b, a)[few], turns[1 - few], places[1 - few], sessions[1 - few], draws.n_cells)


@dataclass(frozen=True, slots=True, eq=False)
class _Lists:
    """Which turns of a session have a type, of each session and type.

    Attributes
    ----------
    grams : NGrams
        Of the turns.
    number : int64 array (n_types + 1,)
        The number, from 0, of each type that one of the turns has; of all others, and of -1, one more than the last.
    begin, n : int64 array (n_sessions * (n_numbers + 1),)
        Where the list of each session and number begins, and how long it is.
    places, counts : array (n_entries,)
        For each turn in the lists its place, and how often it has the type.
    """

    grams: NGrams
    number: Ints
    begin: Ints
    n: Ints
    places: Ints
    counts: Floats

    @classmethod
    def of(cls, grams: NGrams, turns: Ints, places: Ints, sessions: Ints, n_sessions: int) -> _Lists:
        """Return the lists of turns with these places, of so many sessions."""
        types, counts, of_turn = grams.entries(turns)
        said, at = distinct(types, len(grams.types))
        number = np.full(len(grams.types) + 1, len(said))
        number[said] = np.arange(len(said))
        lists = sessions.take(of_turn) * (len(said) + 1) + at
        order = np.argsort(lists, kind="stable")
        n = np.bincount(lists, minlength=n_sessions * (len(said) + 1))
        return cls(grams, number, np.cumsum(n) - n, n, places.take(of_turn.take(order)), counts.take(order))

    def products(self, others: NGrams, turns: Ints, places: Ints, sessions: Ints, n_cells: int) -> Floats:
        """Return the products with other turns; the cell of a pair is the sum of their two places."""
        types, counts, of_turn = others.entries(turns)
        number = self.number.take(placed_in(others, self.grams).take(types))
        lists = sessions.take(of_turn) * (int(self.number[-1]) + 1) + number
        n = self.n.take(lists)
        there = np.flatnonzero(n)

        def added(part: slice) -> Floats:
            some = there[part]
            at, which = consecutive(self.begin.take(lists.take(some)), n.take(some))
            cells = places.take(of_turn.take(some)).take(which) + self.places.take(at)
            products = counts.take(some).take(which) * self.counts.take(at)
            return np.bincount(cells, products, n_cells).astype(np.float64, copy=False)

        return functools.reduce(np.add, map(added, _portions(n.take(there), _ENTRIES)))


def over_pairs(
    kernel_of: Callable[[Ints, Ints], Kernel], anchors: ArrayLike, replies: ArrayLike, n: tuple[int, int]
) -> Floats:
    """Return a value for each pair of turns, by whichever way is the shorter.

    Shuffles ask for the same few turns over and over: then each with each is computed once and
    looked up. Otherwise the pairs are computed chunk by chunk.

    Parameters
    ----------
    kernel_of : callable
        Of distinct rows and distinct columns: how their pairs are computed.
    anchors, replies : int array, any shapes that broadcast
        Rows of the pairs in the one set of turns and in the other.
    n : (int, int)
        Turns of the two sets.
    """
    one, two = np.asarray(anchors, dtype=np.intp), np.asarray(replies, dtype=np.intp)
    if _each_with_each(one, two):
        return _table(kernel_of(one[:, 0], two[0]))
    shape = np.broadcast_shapes(one.shape, two.shape)
    (rows, row_at), (columns, column_at) = distinct(one, n[0]), distinct(two, n[1])
    n_pairs, kernel = math.prod(shape), kernel_of(rows, columns)
    if not n_pairs:
        return np.zeros(shape)
    if len(rows) * len(columns) <= _EVERY * n_pairs:
        return _table(kernel)[row_at, column_at]
    row_at, column_at = (np.broadcast_to(at, shape).ravel() for at in (row_at, column_at))
    parts = _portions(kernel.sizes[0][row_at] + kernel.sizes[1][column_at], _ENTRIES)
    return np.concatenate([kernel.pairs(row_at[part], column_at[part]) for part in parts]).reshape(shape)


def _table(kernel: Kernel) -> Floats:
    """Return the values of each with each, a part at a time: none, nor what it is made of, is large."""
    of_rows, of_columns = kernel.sizes
    blocks = []
    for columns in _portions(np.full(len(of_columns), kernel.width + 1), _CELLS):
        width = columns.stop - columns.start
        blocks.append([kernel.table(rows, columns) for rows in _portions((of_rows + 1) * width, _CELLS)])
    if len(blocks) == len(blocks[0]) == 1:
        return blocks[0][0]
    return np.concatenate([np.concatenate(block) for block in blocks], axis=1)


def _portions(sizes: Ints, most: int) -> list[slice]:
    """Cut a row of things of some size into stretches of about so much."""
    if sizes.sum() < most:
        return [slice(0, len(sizes))]
    chunk = np.cumsum(sizes, dtype=np.int64) // most
    cuts = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(sizes)]
    return [slice(start, stop) for start, stop in pairwise(cuts)]


def _places(offsets: Ints, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each n-gram begins, and in which turn."""
    turns = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    places = np.arange(offsets[0], offsets[-1])
    whole = places + n <= offsets[turns + 1]
    return places[whole], turns[whole]


def _ngram_keys(keys: Ints, places: Ints, n: int) -> Keys:
    """Return a key of each n-gram that begins at places; that of a single token is the token's own."""
    numbers: Keys = keys.astype(np.uint64)
    made = numbers[places]
    for step in range(1, n):
        made = _mixed(made) + numbers[places + step]
    return made


def _mixed(keys: Keys) -> Keys:
    """Spread keys over 64 bits (the last steps of SplitMix64), none of them onto another."""
    keys = (keys ^ (keys >> np.uint64(30)) ^ np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _tag_ngrams(tags: Ints, places: Ints, n: int, n_tags: int) -> Keys:
    """Write n-grams of tags as numbers, a tag a digit."""
    digits: Keys = tags.astype(np.uint64)
    found = digits[places]
    for step in range(1, n):
        found = found * np.uint64(n_tags) + digits[places + step]
    return found


def _counted(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Sparse:
    width = max(shape[1], 1)
    cells, sizes = np.unique(rows * width + columns, return_counts=True)
    bounds = np.searchsorted(cells, np.arange(shape[0] + 1) * width)
    return sparse.csr_array((sizes.astype(np.float64), cells % width, bounds), shape=shape)


def _tagged(types: Keys, tag_of: NDArray[np.int64], words: Sparse, n_kinds: int) -> TaggedNGrams:
    cell_of = row_of(words) * n_kinds + tag_of[words.indices]
    cells, at, sizes = np.unique(cell_of, return_inverse=True, return_counts=True)
    bounds = np.searchsorted(cells, np.arange(words.shape[0] + 1) * n_kinds)
    size = sizes.astype(np.float64)
    tags = sparse.csr_array((size, cells % n_kinds, bounds), shape=(words.shape[0], n_kinds))
    words = sparse.csr_array((size[at], words.indices, words.indptr), shape=words.shape)
    return TaggedNGrams(types, tag_of, words, tags, squares_of(tags))


def _each_with_each(one: Ints, two: Ints) -> bool:
    """Whether the pairs are a table of different turns, in order."""
    if not (one.ndim == two.ndim == 2 and one.shape[1] == two.shape[0] == 1 and one.size and two.size):
        return False
    return bool((one[1:] > one[:-1]).all()) and bool((two[0, 1:] > two[0, :-1]).all())
