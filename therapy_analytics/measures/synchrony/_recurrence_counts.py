"""Recurrence of a session and of many others like it, from counts of runs of words that both have.

A diagonal line of L points is a run of L words that both say. Of runs of one, two and three words in reach of each
other there are B1, B2 and B3: B1 points, of which 2 * B2 - B3 have a neighbour on their diagonal, on B2 - B3 lines. So
no line is ever followed, and every order of the turns is a sum over pairs of turns. Lines end with the turn.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.measures.synchrony._recurrence_runs import LONGEST, Ints, Runs, kind_of, words_of
from therapy_analytics.measures.synchrony._recurrence_values import Floats, ratio
from therapy_analytics.measures.synchrony._whole import Side

SECTION = 250
"""Turns of the client that are put in another order among themselves."""
NAMES = ("rate", "determinism", "mean_line", "balance")
"""Values that follow from the counts of runs."""
_CELLS = 1 << 20  # numbers of a shelf for which runs are counted beforehand, 8 MB; beyond, they are searched


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """One side's runs by what they say and then by turn, as far as others have them: to be looked up many times over.

    Attributes
    ----------
    number : int32 array (n_types + 1,)
        For each type of the others' runs where it stands on the shelf; -1 for those that this side never says, and
        for the -1 that stands for no run.
    edges : int64 array (3, n_places)
        For each place of the session, of this side's n turns the first in reach, the first after it, and the first
        after it out of reach.
    keys : int64 array (n_runs,)
        Each run as type * (n + 1) + turn; in order if `before` is None.
    before : int64 array (n_common * (n + 1) + 1,) or None
        How many runs stand before each such number; None where that is too much to hold.
    words : int64 array (n + 1,)
        How many words this side says before each of its turns.
    """

    number: NDArray[np.int32]
    edges: Ints
    keys: Ints
    before: Ints | None
    words: Ints

    def n_before(self, wanted: Ints) -> Ints:
        """Return how many runs stand before each of some numbers, (3, k)."""
        if self.before is not None:
            return self.before.take(wanted)
        # In order, looking up goes through memory from one end to the other.
        order = np.argsort(wanted[0])
        found = np.empty_like(wanted)
        for row in range(len(wanted)):
            found[row, order] = np.searchsorted(self.keys, wanted[row, order])
        return found


def _shelf(side: Side, other: Side, reach: int) -> Shelf:
    """Return the shelf of one side for what the other, many times over or once, is looked up on it."""
    runs: Runs = side.represented
    others: Runs = other.represented
    types, at = _said(runs, side.turns)
    types = runs.types_among(others)[types]
    both = (types >= 0).nonzero()[0]
    types, at = types[both], at[both]
    said = np.zeros(len(others.types), dtype=np.bool_)
    said[types] = True
    mine = said.nonzero()[0]
    number = np.full(len(others.types) + 1, -1, dtype=np.int32)
    number[mine] = np.arange(len(mine))
    wide = len(side.at) + 1
    keys, n_cells = number[types] * np.int64(wide) + at, len(mine) * wide
    before = None
    if n_cells <= _CELLS:
        before = np.zeros(n_cells + 1, dtype=np.int64)
        np.cumsum(np.bincount(keys, minlength=n_cells), out=before[1:])
    else:
        keys.sort()
    n_places = int(other.at.max(initial=-1)) + 1
    edges = np.searchsorted(side.at, np.arange(n_places) + np.array([[-reach], [0], [reach + 1]]))
    words = np.zeros(wide, dtype=np.int64)
    np.cumsum(runs.n_words(side.turns), out=words[1:])
    return Shelf(number, edges, keys, before, words)


def _said(runs: Runs, turns: Ints) -> tuple[NDArray[np.int32], Ints]:
    """Return the types of all runs of turns, kind by kind, and which of the turns says each."""
    words, owner = words_of(runs, turns)
    ids = runs.ids[:, words].ravel()
    there = (ids >= 0).nonzero()[0]
    return ids[there], owner[there % max(len(words), 1)]


def counts_of(therapist: Side, client: Side, *, reach: int) -> Floats:
    """Return pairs of words in reach, and for each kind of run pairs of equal ones.

    The turns of one side may be those of several speakers, with a row for each dialogue.

    Returns
    -------
    float64 array (2, 1 + n_kinds) or (2, 1 + n_kinds, n_dialogues)
        Where the client's turn comes earlier, and where it comes later.
    """
    if therapist.turns.ndim == 1:
        return _looked_up(client, _shelf(therapist, client, reach))[::-1]
    return _looked_up(therapist, _shelf(client, therapist, reach))


def _looked_up(side: Side, shelf: Shelf) -> Floats:
    """Return the counts where the turn on the shelf comes earlier, and where it comes later."""
    runs: Runs = side.represented
    turns = np.atleast_2d(side.turns)
    n_dialogues, n_kinds = len(turns), len(runs.ids)
    rank, owner, bounds = _on_shelf(runs, turns, shelf)
    edges = shelf.edges.take(side.at, axis=1)
    wanted = np.tile(edges, n_dialogues).take(owner, axis=1)
    wanted += rank * np.int64(len(shelf.words))
    running = np.zeros((3, len(owner) + 1), dtype=np.int64)
    np.cumsum(shelf.n_before(wanted), axis=1, out=running[:, 1:])
    sums = np.diff(running.take(bounds, axis=1), axis=-1)
    words = shelf.words[edges]
    found = np.empty((2, 1 + n_kinds, n_dialogues))
    found[:, 0] = (words[1:] - words[:-1]) @ runs.n_words(turns).T
    found[:, 1:] = sums[1:] - sums[:-1]
    return found if side.turns.ndim > 1 else found[..., 0]


def _on_shelf(runs: Runs, turns: Ints, shelf: Shelf) -> tuple[NDArray[np.int32], Ints, Ints]:
    """Return the runs that the turns of dialogues have in common with a shelf, kind by kind, dialogue by dialogue.

    Whoever has a run of two words has its first word, so that longer ones are looked for among these only.

    Returns
    -------
    rank, owner : int array (k,)
        Where each stands on the shelf, and whose turn's it is.
    bounds : int64 array (n_kinds, n_dialogues + 1)
        Where the runs of each kind and dialogue begin.
    """
    words, owner = words_of(runs, turns.ravel())
    ends = np.arange(len(turns) + 1) * turns.shape[1]
    ranks, owners, bounds = [], [], np.empty((len(runs.ids), len(ends)), dtype=np.int64)
    n = 0
    for kind, ids in enumerate(runs.ids):
        if kind % LONGEST == 0:
            here, whose = words, owner
        rank = shelf.number[ids.take(here)]
        there = (rank >= 0).nonzero()[0]
        here, whose = here.take(there), whose.take(there)
        ranks.append(rank.take(there))
        owners.append(whose)
        bounds[kind] = n + whose.searchsorted(ends)
        n += len(whose)
    return np.concatenate(ranks), np.concatenate(owners), bounds


def counts_in_orders(
    therapist: Side, client: Side, generator: np.random.Generator, *, reach: int, draws: int
) -> Floats:
    """Return `counts_of` the two of a session as they are, and with the client's turns in random orders.

    The client's turns change places among themselves within sections of `SECTION`, so that cost goes with length.

    Returns
    -------
    float64 array (2, 1 + n_kinds, 1 + draws)
    """
    total = np.zeros((2, 1 + len(therapist.represented.ids), 1 + draws))
    for part in np.array_split(client.turns, max(-(-len(client.turns) // SECTION), 1)):
        if len(part):
            near = slice(*np.searchsorted(therapist.at, [part[0] - reach, part[-1] + reach + 1]).tolist())
            turns = therapist.turns[near]
            orders = np.tile(np.arange(len(part)), (1 + draws, 1))
            orders[1:] = generator.permuted(orders[1:], axis=1)
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
    float64 array (2, 1 + n_kinds, P)
    """
    m, tables = len(y.turns), _tables(x, y)
    running = np.zeros((len(tables), len(x.turns) + 1, m))
    np.cumsum(tables, axis=1, out=running[:, 1:])
    from_, at, to = np.searchsorted(x.at, y.at + np.array([[-reach], [0], [reach + 1]]))
    # The client's turn comes later where the therapist's stands before it.
    before = running.take(np.stack([to, at, from_]), axis=1)
    added = (before[:, :2] - before[:, 1:]).transpose(2, 3, 1, 0).reshape(m, m, 2 * len(tables))
    total = np.zeros((len(orders), 2 * len(tables)))
    for by_turn, turns in zip(added, orders.T, strict=True):
        total += by_turn.take(turns, axis=0)
    return total.T.reshape(2, len(tables), len(orders))


def _tables(x: Side, y: Side) -> Floats:
    """Return pairs of words, and of equal runs of each kind, for each pair of turns, (1 + n_kinds, n, m)."""
    runs: Runs = x.represented
    said = [_said(runs, one.turns) for one in (x, y)]
    heard = np.zeros((2, len(runs.types)), dtype=np.bool_)
    for row, (types, _) in enumerate(said):
        heard[row, types] = True
    both = (heard[0] & heard[1]).nonzero()[0]
    number = np.full(len(runs.types), -1, dtype=np.int32)
    number[both] = np.arange(len(both))
    spread = []
    for (types, turn), side in zip(said, (x, y), strict=True):
        rank = number.take(types)
        there = (rank >= 0).nonzero()[0]
        n = np.bincount(turn.take(there) * len(both) + rank.take(there), minlength=len(side.turns) * len(both))
        spread.append(n.reshape(len(side.turns), len(both)).astype(np.float64))
    edges = np.searchsorted(kind_of(runs.types[both]), np.arange(len(runs.ids) + 1)).tolist()
    alike = [spread[0][:, a:b] @ spread[1][:, a:b].T for a, b in pairwise(edges)]
    return np.stack([np.outer(*(runs.n_words(one.turns) for one in (x, y))), *alike])


def values_of_counts(counts: Floats) -> Floats:
    """Return the values `NAMES` from `counts_of`: (2, 1 + n_kinds, ...) to (4, ...), or (4 * n_series, ...).

    Examples
    --------
    20 pairs of words, all with the client later; 6 points, of which a run of three makes one line:

    >>> values_of_counts(np.array([[0, 0, 0, 0], [20, 6, 2, 1.0]])).tolist()
    [0.3, 0.5, 3.0, nan]
    """
    n_series = (counts.shape[1] - 1) // LONGEST
    sums = _sums(n_series) @ counts.reshape(2 * counts.shape[1], -1)
    parts, wholes = sums.reshape(2, n_series, len(NAMES) + 1, *counts.shape[2:])
    found = ratio(parts, wholes)
    found[:, 3] = found[:, 4] - found[:, 3]
    return found[:, :4].reshape(-1, *counts.shape[2:])


@functools.cache
def _sums(n_series: int) -> Floats:
    """Return the sums of counts, earlier and later, that are divided (for each series 5), and by what."""
    n = 1 + LONGEST * n_series
    parts, wholes = [], []
    for series in range(n_series):
        words, points, on_lines, lines, none = np.zeros((5, n))
        words[0] = 1
        points[1 + LONGEST * series] = 1
        on_lines[2 + LONGEST * series : 4 + LONGEST * series] = (2, -1)
        lines[2 + LONGEST * series : 4 + LONGEST * series] = (1, -1)
        # Rate, determinism, mean line, and the rate of each side.
        parts += [*(np.tile(one, 2) for one in (points, on_lines, on_lines)), [*points, *none], [*none, *points]]
        wholes += [*(np.tile(one, 2) for one in (words, points, lines)), [*words, *none], [*none, *words]]
    return np.array([*parts, *wholes])
