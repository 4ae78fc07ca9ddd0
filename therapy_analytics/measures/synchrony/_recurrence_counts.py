"""Recurrence of a session and of many others like it, from counts of runs of words that both have.

A diagonal line of L points is a run of L words that both say. Of runs of one, two and three words in reach of each
other there are B1, B2 and B3: B1 points, of which 2 * B2 - B3 have a neighbour on their diagonal, on B2 - B3 lines. So
no line is ever followed, and every order of the turns is a sum over pairs of turns. Lines end with the turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.measures.synchrony._recurrence_values import Floats, ratio
from therapy_analytics.measures.synchrony._whole import Side

Ints = NDArray[np.int64]
_Shelves: TypeAlias = "WeakKeyDictionary[Runs, dict[tuple[int, bytes], Shelf]]"
LONGEST = 3
"""Words of the longest run that is counted."""
SECTION = 250
"""Turns of the client that are put in another order among themselves."""
NAMES = ("rate", "determinism", "mean_line", "balance")
"""Values that follow from the counts of runs."""
_NONE, _WORDS, _POINTS, _ON_LINES, _LINES = np.array(
    [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, -1], [0, 0, 1, -1.0]]
)
_SUMS = np.array(
    [
        # Divided: rate, determinism, mean line, and the rate of each side; earlier and later counts.
        *(np.tile(one, 2) for one in (_POINTS, _ON_LINES, _ON_LINES)),
        *([*_POINTS, *_NONE], [*_NONE, *_POINTS]),
        # By what.
        *(np.tile(one, 2) for one in (_WORDS, _POINTS, _LINES)),
        *([*_WORDS, *_NONE], [*_NONE, *_WORDS]),
    ]
)
_MIX, _SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_HASH_BITS = 61
_CELLS = 1 << 21  # numbers of a shelf for which runs are counted beforehand, 8 MB; beyond, they are searched


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Runs:
    """The runs of one to three words in each of some turns.

    Attributes
    ----------
    types : int64 array (n_types,)
        What the different runs say, rising: 61 bits of a hash, the same in every session, and above them the words of
        the run less 1.
    ids : int64 array (n_runs,)
        Of each run, which of the types it is; turn by turn.
    starts : int64 array (n_turns + 1,)
        Turn ``t`` owns runs ``starts[t]:starts[t + 1]``.
    n_words : int64 array (n_turns,)
        All words of each turn, also those that are never alike.
    shelves : mapping
        What `_shelf_of` made for other runs, for as long as these live.
    """

    types: Ints
    ids: Ints
    starts: Ints
    n_words: Ints
    shelves: _Shelves = field(default_factory=WeakKeyDictionary, repr=False)


def runs_of(keys: NDArray[np.uint64], turn: Ints, n_turns: int) -> Runs:
    """Return the runs of words.

    Parameters
    ----------
    keys : uint64 array (n_words,)
        What each word is, the same number in every session; 0 for words that are never alike.
    turn : int64 array (n_words,)
        Position of its turn, never falling.
    n_turns : int
        How many turns there are.

    Examples
    --------
    Words a b in a turn, and a in the next: runs a, b, a b; and a.

    >>> found = runs_of(np.array([7, 8, 7], dtype=np.uint64), np.array([0, 0, 1]), 2)
    >>> size_of(found.types[found.ids]).tolist(), found.starts.tolist(), bool(found.ids[0] == found.ids[3])
    ([0, 0, 1, 0], [0, 3, 4], True)
    """
    codes, places = [], []
    run = keys
    at: Ints = np.flatnonzero(keys)
    for size in range(LONGEST):
        if size:
            at = at[at + size < len(keys)]
            at = at[(keys[at + size] != 0) & (turn[at] == turn[at + size])]
            longer = np.zeros_like(keys)
            longer[at] = (run[at] ^ (run[at] >> np.uint64(29))) * _MIX + keys[at + size]
            run = longer
        codes.append((run[at] * _SPREAD >> np.uint64(64 - _HASH_BITS)).astype(np.int64) | size << _HASH_BITS)
        places.append(at)
    owner = turn[np.concatenate(places)]
    order = np.argsort(owner, kind="stable")
    types, ids = np.unique(np.concatenate(codes)[order], return_inverse=True)
    starts = np.searchsorted(owner[order], np.arange(n_turns + 1))
    return Runs(types, ids, starts, np.bincount(turn, minlength=n_turns))


def size_of(types: Ints) -> Ints:
    """Return the words of runs, less 1."""
    return types >> _HASH_BITS


def _runs_at(runs: Runs, turns: Ints) -> tuple[Ints, Ints]:
    """Return which types of run turns say, one after the other, and which of the turns says each."""
    begin = runs.starts[turns]
    n = runs.starts[turns + 1] - begin
    end = np.cumsum(n)
    owner = np.repeat(np.arange(len(turns)), n)
    return runs.ids[np.arange(len(owner)) + (begin - end + n)[owner]], owner


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """One side's runs by what they say and then by turn, as far as others have them: to be looked up many times over.

    Attributes
    ----------
    number : int64 array (n_types,)
        For each type of the others' runs where it stands on the shelf; -1 for those that this side never says.
    sizes : int64 array (n_common,)
        Words of each type on the shelf, less 1.
    edges : int64 array (3, n_places)
        For each place of the session, of this side's n turns the first in reach, the first after it, and the first
        after it out of reach.
    keys : int64 array (n_runs,)
        Each run as type * (n + 1) + turn, rising.
    before : int32 array (n_common * (n + 1) + 1,) or None
        How many runs stand before each such number; None where that is too much to hold.
    words : int64 array (n + 1,)
        How many words this side says before each of its turns.
    """

    number: Ints
    sizes: Ints
    edges: Ints
    keys: Ints
    before: NDArray[np.int32] | None
    words: Ints

    def n_before(self, wanted: Ints) -> Ints | NDArray[np.int32]:
        """Return how many runs stand before each of some numbers, (3, k)."""
        if self.before is not None:
            return self.before[wanted]
        # In order, looking up goes through memory from one end to the other.
        order = np.argsort(wanted[0])
        found = np.empty_like(wanted)
        for row in range(len(wanted)):
            found[row, order] = np.searchsorted(self.keys, wanted[row, order])
        return found


def _shelf_of(side: Side, other: Side, reach: int) -> Shelf:
    """Return the shelf of one side for what the other stands in; made once for all turns of that."""
    runs: Runs = side.represented
    made, key = runs.shelves.setdefault(other.represented, {}), (reach, side.turns.tobytes())
    if key not in made:
        made[key] = _shelf(side, other.represented, reach)
    return made[key]


def _shelf(side: Side, others: Runs, reach: int) -> Shelf:
    runs: Runs = side.represented
    ids, at = _runs_at(runs, side.turns)
    said = np.zeros(len(runs.types), dtype=np.bool_)
    said[ids] = True
    mine = np.flatnonzero(said)
    theirs = np.searchsorted(others.types, runs.types[mine])
    both = np.append(others.types, -1)[theirs] == runs.types[mine]
    own, number = np.full(len(runs.types), -1), np.full(len(others.types), -1)
    own[mine[both]] = number[theirs[both]] = np.arange(np.count_nonzero(both))
    rank = own[ids]
    wide, n_common = len(side.at) + 1, np.count_nonzero(both)
    keys = np.sort((rank * wide + at)[rank >= 0])
    before = None
    if n_common * wide <= _CELLS:
        before = np.repeat(np.arange(len(keys) + 1, dtype=np.int32), np.diff(keys, prepend=-1, append=n_common * wide))
    places = np.arange(len(runs.n_words)) + np.array([[-reach], [0], [reach + 1]])
    edges, words = np.searchsorted(side.at, places), np.append(0, np.cumsum(runs.n_words[side.turns]))
    return Shelf(number, size_of(runs.types[mine[both]]), edges, keys, before, words)


def counts_of(therapist: Side, client: Side, *, reach: int) -> Floats:
    """Return pairs of words in reach, and pairs of equal runs of one, two and three words.

    At least one side's turns stand where they do in what represents it: those of the session itself. The other's may
    be those of strangers, many times over, with a row for each dialogue.

    Returns
    -------
    float64 array (2, 4) or (2, 4, n_dialogues)
        Where the client's turn comes earlier, and where it comes later.
    """
    if therapist.turns is therapist.at or np.array_equal(therapist.turns, therapist.at):
        return _looked_up(client, _shelf_of(therapist, client, reach))[::-1]
    return _looked_up(therapist, _shelf_of(client, therapist, reach))


def _looked_up(side: Side, shelf: Shelf) -> Floats:
    """Return the counts where the turn on the shelf comes earlier, and where it comes later."""
    turns = np.atleast_2d(side.turns)
    ids, owner = _runs_at(side.represented, turns.ravel())
    rank = shelf.number[ids]
    there = (rank >= 0).nonzero()[0]
    rank, (dialogue, at) = rank[there], np.divmod(owner[there], turns.shape[1])
    edges = shelf.edges.take(side.at, axis=1)
    runs = shelf.n_before(rank * len(shelf.words) + edges.take(at, axis=1))
    words = shelf.words[edges]
    cell = dialogue * LONGEST + shelf.sizes[rank]
    found = np.empty((2, 1 + LONGEST, len(turns)))
    found[:, 0] = (words[1:] - words[:-1]) @ side.represented.n_words[turns].T
    for row in (0, 1):
        n = np.bincount(cell, weights=runs[row + 1] - runs[row], minlength=len(turns) * LONGEST)
        found[row, 1:] = n.reshape(-1, LONGEST).T
    return found if side.turns.ndim > 1 else found[..., 0]


def shuffled_counts(therapist: Side, client: Side, generator: np.random.Generator, *, reach: int, draws: int) -> Floats:
    """Return `counts_of` the two with the client's turns in random orders, (2, 4, draws).

    The client's turns change places among themselves within sections of `SECTION`, so that cost goes with length.
    """
    total = np.zeros((2, 1 + LONGEST, draws))
    for part in np.array_split(client.turns, max(-(-len(client.turns) // SECTION), 1)):
        if len(part):
            near = slice(*np.searchsorted(therapist.at, [part[0] - reach, part[-1] + reach + 1]).tolist())
            turns = therapist.turns[near]
            orders = generator.permuted(np.tile(np.arange(len(part)), (draws, 1)), axis=1)
            x, y = (Side(therapist.represented, one, one) for one in (turns, part))
            total += counts_in_order(x, y, orders, reach=reach)
    return total


def counts_in_order(x: Side, y: Side, orders: Ints, *, reach: int) -> Floats:
    """Return `counts_of` the two for orders of the client's turns.

    First what each turn of the client would add at each place, by the therapist's turns in reach of the place
    (neighbours, so a difference of running sums); an order is then one look-up and a sum.

    Parameters
    ----------
    x, y : Side
        The therapist and the client, of one session; memory goes with the product of their turns.
    orders : int64 array (P, m)
        In each row, which of the client's turns (0 to m - 1) stands at each of their places.

    Returns
    -------
    float64 array (2, 4, P)
    """
    m = len(y.turns)
    running = np.zeros((1 + LONGEST, len(x.turns) + 1, m))
    np.cumsum(_tables(x, y), axis=1, out=running[:, 1:])
    from_, at, to = np.searchsorted(x.at, y.at + np.array([[-reach], [0], [reach + 1]]))
    # The client's turn comes later where the therapist's stands before it.
    added = np.stack([running[:, to] - running[:, at], running[:, at] - running[:, from_]])
    by_place = added.reshape(2, 1 + LONGEST, m * m)
    return np.asarray(np.take(by_place, orders + m * np.arange(m), axis=2).sum(axis=-1))


def _tables(x: Side, y: Side) -> Floats:
    """Return pairs of words and of equal runs for each pair of turns, (4, n, m)."""
    runs: Runs = x.represented
    said = [_runs_at(runs, one.turns) for one in (x, y)]
    heard = [np.bincount(ids, minlength=len(runs.types)) > 0 for ids, _ in said]
    both = np.flatnonzero(heard[0] & heard[1])
    number = np.full(len(runs.types), -1)
    number[both] = np.arange(len(both))
    spread = []
    for (ids, row), side in zip(said, (x, y), strict=True):
        cell = (row * len(both) + number[ids])[number[ids] >= 0]
        n = np.bincount(cell, minlength=len(side.turns) * len(both)).astype(np.float64)
        spread.append(n.reshape(len(side.turns), len(both)))
    edges = np.searchsorted(size_of(runs.types[both]), np.arange(LONGEST + 1)).tolist()
    alike = [spread[0][:, a:b] @ spread[1][:, a:b].T for a, b in pairwise(edges)]
    return np.stack([np.outer(*(one.represented.n_words[one.turns] for one in (x, y))), *alike])


def values_of_counts(counts: Floats) -> Floats:
    """Return the values `NAMES` from `counts_of`: (2, 4, ...) to (4, ...).

    Examples
    --------
    20 pairs of words, all with the client later; 6 points, of which a run of three makes one line:

    >>> values_of_counts(np.array([[0, 0, 0, 0], [20, 6, 2, 1.0]])).tolist()
    [0.3, 0.5, 3.0, nan]
    """
    sums = (_SUMS @ counts.reshape(_SUMS.shape[1], -1)).reshape(2, -1, *counts.shape[2:])
    found = ratio(sums[0], sums[1])
    found[3] = found[4] - found[3]
    return found[:4]
