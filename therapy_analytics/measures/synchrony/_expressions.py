"""Sequences of words that come again, found on arrays.

What is said from each token on to the end of its turn is put in order once (`order_turns`: classes of runs of 1, 2, 4,
8, ... tokens, each made of two of the half length), with how much neighbours in that order have in common. The longest
run that a token shares with the other speaker is then that with the nearest of the other's: no run is spelt out, and
any dialogue of ordered turns is asked without putting them in order again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language.integers import differs, numbered, rising
from therapy_analytics.measures.synchrony._sparse_rows import entries_of

Ints = NDArray[np.int64]
Lengths = tuple[float, float, float]
"""Of instances of expressions: Shannon entropy in bits, mean and maximum of their tokens."""


SHORT = 8
"""Where runs of up to so many tokens begin is kept with an order; of longer ones it is found when asked for."""


_NEVER = 1 << 30


@dataclass(frozen=True, slots=True, eq=False)
class TurnOrder:
    """Turns whose runs of tokens can be compared at once; made by `order_turns`.

    Attributes
    ----------
    offsets : int64 array (n_turns + 1,)
        Turn ``i`` owns tokens ``offsets[i]:offsets[i + 1]``.
    rank : int32 array (n_tokens,)
        Place of each token in the order of what is said from it on to the end of its turn.
    fewest : int32 array (n_levels, n_tokens)
        Row 0: how many tokens each in that order has in common with the one before. Row ``k``: the fewest of the
        ``2**k`` from there on.
    wide, row : int arrays (n_tokens + 1,)
        The largest power of two up to each number; of a power of two, where its row of `fewest` begins.
    edges : tuple of int64 array
        Of length 1, 2, ...: where in that order those begin who have so many tokens in common, and the end of all.
    words_before : int64 array (n_tokens + 1,)
        How many tokens with a letter or digit come before.
    """

    offsets: Ints
    rank: NDArray[np.int32]
    fewest: NDArray[np.int32]
    wide: NDArray[np.int32]
    row: Ints
    edges: tuple[Ints, ...]
    words_before: Ints

    def common(self, low: Ints, high: Ints) -> Ints:
        """Return how many tokens two places of the order have in common, the lower one first."""
        wide = self.wide[high - low]
        row = self.row[wide]
        flat = self.fewest.ravel()
        return np.asarray(np.minimum(flat[row + low + 1], flat[row + high - wide + 1]))

    def same(self, places: Ints, length: Ints) -> tuple[Ints, Ints]:
        """Return where in the order those begin, and end, who begin with the same run as these places."""
        low, high = np.empty((2, len(places)), dtype=np.int64)
        for size in np.flatnonzero(np.bincount(length)).tolist():
            at = np.flatnonzero(length == size)
            edges = self.edges[size - 1] if size <= len(self.edges) else _edges(self.fewest[0], size)
            end = np.searchsorted(edges, places.take(at), side="right")
            low[at], high[at] = edges.take(end - 1), edges.take(end)
        return low, high


def _edges(common: NDArray[np.int32], length: int) -> Ints:
    return np.append(np.flatnonzero(common < length), len(common))


def order_turns(ids: NDArray[np.integer], offsets: Ints, words: NDArray[np.bool_] | None = None) -> TurnOrder:
    """Make turns comparable run by run.

    Parameters
    ----------
    ids : int array (n,)
        Token ids, any numbers; two tokens are the same when their ids are.
    offsets : int array (n_turns + 1,)
        Turn ``i`` owns tokens ``offsets[i]:offsets[i + 1]``.
    words : bool array (n,), optional
        Which tokens are more than punctuation; all of them by default.
    """
    first, last = int(offsets[0]), int(offsets[-1])
    offsets = np.asarray(offsets, dtype=np.int64) - first
    n_tokens = last - first
    ends = np.repeat(offsets[1:], np.diff(offsets))
    before = np.arange(n_tokens + 1) if words is None else np.concatenate([[0], np.cumsum(words[first:last])])
    follows, common = _ordered(np.asarray(ids[first:last], dtype=np.int64), ends)
    rank = np.empty(n_tokens, dtype=np.int32)
    rank[follows] = np.arange(n_tokens, dtype=np.int32)
    edges = tuple(_edges(common, length + 1) for length in range(min(SHORT, int(common.max(initial=0)))))
    return TurnOrder(offsets, rank, *_fewest(common), edges, before.astype(np.int64))


def _ordered(ids: Ints, ends: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Return tokens in the order of what is said from them on, and how many each has in common with the one before.

    Tokens are put in order by one token, then by 2, 4, 8, ... of them, cut off where the turn ends: each time only
    those that are not told apart yet, among themselves.
    """
    n = len(ids)
    follows = rising(ids)
    begins = differs(ids[follows])
    open_ = np.arange(n)
    # At which step each place of the order was told apart from the one before
    apart = np.where(begins, 0, _NEVER)
    classes = [_numbered(np.zeros(n + 1, dtype=np.int32), follows, open_, begins)]
    while True:
        open_ = open_[~(begins & np.append(begins[1:], True))]
        follows[open_], begins = _told_apart(classes[-1], follows[open_], ends, 1 << (len(classes) - 1))
        new = open_[begins & (apart[open_] == _NEVER)]
        if not len(new):
            return follows, _in_common(classes, ends, follows, apart)
        apart[new] = len(classes)
        classes.append(_numbered(classes[-1].copy(), follows[open_], open_, begins))


def _told_apart(numbers: NDArray[np.int32], tokens: Ints, ends: Ints, size: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return tokens in the order of runs of twice the size that has numbers, and which differ from those before."""
    reach = tokens + size
    second = np.where(reach < ends[tokens], numbers[np.minimum(reach, len(ends))], 0)
    first = numbers[tokens]
    order = rising(first, second)
    return tokens[order], differs(first[order]) | differs(second[order])


def _numbered(numbers: NDArray[np.int32], tokens: Ints, places: Ints, begins: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Give tokens that are alike the number of the first place in the order that one of them has, counted from 1."""
    numbers[tokens] = places[np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))] + 1
    return numbers


def _in_common(classes: list[NDArray[np.int32]], ends: Ints, follows: Ints, apart: Ints) -> NDArray[np.int32]:
    """Return how many tokens each in the order has in common with the one before, within their turns."""
    common = np.zeros(len(follows), dtype=np.int32)
    alike = np.flatnonzero(apart)
    if not len(alike):
        return common
    a, b, step = follows[alike - 1], follows[alike], apart[alike]
    left = np.minimum(ends[a] - a, ends[b] - b)
    # Told apart at step k: the first half of that length is the same, and all of it is inside both turns.
    length = np.where(step == _NEVER, left, 1 << np.minimum(step, len(classes)) - 1)
    for level in range(len(classes) - 3, -1, -1):
        some = np.flatnonzero((step > level + 1) & (step != _NEVER))
        so_far = length[some]
        same = classes[level][a[some] + so_far] == classes[level][b[some] + so_far]
        # A class says nothing of tokens beyond the end of a turn, and behind it stands another turn.
        same &= so_far + (1 << level) <= left[some]
        length[some] += same.astype(np.int64) << level
    common[alike] = length
    return common


def _fewest(common: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32], Ints]:
    """Return `fewest`, `wide` and `row` of a `TurnOrder`."""
    n = len(common)
    fewest = np.zeros((max(1, n.bit_length()), n), dtype=np.int32)
    fewest[0] = common
    wide, row = np.ones(n + 1, dtype=np.int32), np.zeros(n + 1, dtype=np.int64)
    for level in range(1, len(fewest)):
        step = 1 << (level - 1)
        fewest[level, :-step] = np.minimum(fewest[level - 1, :-step], fewest[level - 1, step:])
        wide[2 * step :], row[2 * step] = 2 * step, level * n
    return fewest, wide, row


@dataclass(frozen=True, slots=True)
class Expressions:
    """The lexicon of a dialogue, and where its expressions stand free.

    Attributes
    ----------
    start, length, entry : int64 arrays (n_free,)
        Free occurrences in the order of the dialogue: first token (counted over the dialogue), tokens, and which
        expression of the lexicon it is.
    turn : int64 array (n_free,)
        Their turns, counted over the dialogue.
    sizes : int64 array (n_expressions,)
        Tokens of each expression.
    first_free : int64 array (n_expressions,)
        The first turn in which each stands free.
    first_use : int64 array (2, n_expressions)
        The first turn of each side that has it, free or not; a number beyond all turns where there is none.
    """

    start: Ints
    length: Ints
    entry: Ints
    turn: Ints
    sizes: Ints
    first_free: Ints
    first_use: Ints

    @property
    def established(self) -> Ints:
        """The turn by which both sides have used an expression and it has stood free, (n_expressions,)."""
        return np.asarray(np.maximum(self.first_use.max(axis=0), self.first_free))

    def instances(self) -> tuple[Ints, Ints]:
        """Return the turn and the tokens of each instance: an expression that stands free in a turn, however often."""
        n = max(len(self.sizes), 1)
        each = np.sort(self.turn * n + self.entry, kind="stable")  # quick where turn follows turn
        turn, entry = np.divmod(each[differs(each)], n)
        return turn, self.sizes[entry]

    def covered(self, of: NDArray[np.bool_], n_tokens: int) -> NDArray[np.bool_]:
        """Return which tokens of the dialogue lie in some of the free occurrences, bool (n_tokens,)."""
        opened = np.bincount(self.start[of], minlength=n_tokens + 1)
        closed = np.bincount((self.start + self.length)[of], minlength=n_tokens + 1)
        return np.cumsum(opened - closed)[:-1] > 0


def lengths_of(sizes: Ints) -> Lengths:
    """Return what `Lengths` are of some instances; nan without any."""
    if not len(sizes):
        return nan, nan, nan
    return entropy_of(sizes) / log(2), int(sizes.sum()) / len(sizes), float(sizes.max())


def entropy_of(sizes: Ints) -> float:
    """Return the Shannon entropy of lengths, in nats."""
    n = np.bincount(sizes)
    p = n[n > 0] / len(sizes)
    return float(-(p * np.log(p)).sum()) + 0.0  # no negative zero


@dataclass(frozen=True, slots=True)
class Stretch:
    """Chosen turns, one behind the other, as tokens; of one dialogue or of many.

    Attributes
    ----------
    tokens : int64 array (n,)
        Their tokens, as places in the `TurnOrder`.
    turn : int64 array (n,)
        The turn of each, counted over the chosen ones.
    dialogue : int64 array (n,)
        The dialogue of each, from 0 and never falling.
    sorted : int64 array (n,)
        The same tokens, dialogue by dialogue, in the order of what follows them, as places in `tokens`.
    ranks : int64 array (n,)
        Where each of `sorted` stands in the `TurnOrder`.
    """

    tokens: Ints
    turn: Ints
    dialogue: Ints
    sorted: Ints
    ranks: Ints


def stretch(order: TurnOrder, turns: Ints, dialogues: Ints | None = None) -> Stretch:
    """Put turns one behind the other, (n_turns,), those of one dialogue or of the one that is given for each."""
    tokens, turn = entries_of(order.offsets, turns)
    dialogue = np.zeros(len(turn), dtype=np.int64) if dialogues is None else dialogues[turn]
    ranks = order.rank[tokens].astype(np.int64)
    follows = rising(dialogue, ranks)
    return Stretch(tokens, turn, dialogue, follows, ranks[follows])


def find_expressions(order: TurnOrder, talk: Stretch, groups: Ints, sides: Ints) -> Expressions:
    """Return the longest runs that come again in another group, as the lexicon of a dialogue.

    Parameters
    ----------
    order : TurnOrder
        Where the turns come from.
    talk : Stretch
        The turns of the dialogue.
    groups : int64 array (n,)
        Group of each token: the speaker, for what two speakers share; the turn, for what one repeats.
    sides : int64 array (n,)
        Side of each token, 0 or 1, for `Expressions.first_use`.
    """
    start, length = free_repeats(order, talk, groups)
    low, high = order.same(order.rank[talk.tokens[start]].astype(np.int64), length)
    dialogue, n = talk.dialogue[start], len(order.rank)
    entry, first = numbered((dialogue * (int(length.max(initial=0)) + 1) + length) * (n + 1) + low)
    low, high = (low + dialogue * n)[first], (high + dialogue * n)[first]
    return Expressions(
        start=start,
        length=length,
        entry=entry,
        turn=talk.turn[start],
        sizes=length[first],
        first_free=talk.turn[start[first]],
        first_use=_first_use(talk, sides, low, high, n),
    )


def free_repeats(order: TurnOrder, talk: Stretch, groups: Ints) -> tuple[Ints, Ints]:
    """Return where the longest runs that come again in another group stand free, and their lengths."""
    longest = longest_repeats(order, talk, groups)
    # A run is free unless it lies in a larger one; the longest run of the token before is the only one to ask.
    inside = ~differs(talk.turn)
    inside[1:] &= longest[:-1] > longest[1:]
    upto = talk.tokens + longest
    start = np.flatnonzero(~inside & (order.words_before[upto] > order.words_before[talk.tokens]))
    return start, longest[start]


def bare(start: Ints, length: Ints) -> Ints:
    """Return how many tokens of each of some free runs, in order, lie in none before it."""
    found = length.copy()
    # Of two that stand free, the one that begins later also ends later.
    found[1:] -= np.maximum(start[:-1] + length[:-1] - start[1:], 0)
    return found


def longest_repeats(order: TurnOrder, talk: Stretch, groups: Ints) -> Ints:
    """Return how long the longest run is that begins at each token and also stands in another group, (n,)."""
    n, ranks = len(talk.tokens), talk.ranks
    begins = np.flatnonzero(differs(groups[talk.sorted]) | differs(talk.dialogue))
    run = np.repeat(np.arange(len(begins)), np.diff(begins, append=n))
    of_one = talk.dialogue[begins[1:]] == talk.dialogue[begins[:-1]]
    # The tokens that have some of another group behind them, and before them
    early, late = np.flatnonzero(np.append(of_one, False)[run]), np.flatnonzero(np.append(False, of_one)[run])
    low = np.append(ranks[early], ranks[begins[run[late]] - 1])
    common = order.common(low, np.append(ranks[begins[run[early] + 1]], ranks[late]))
    nearest = np.zeros(n, dtype=np.int64)
    nearest[early] = common[: len(early)]
    nearest[late] = np.maximum(nearest[late], common[len(early) :])
    longest = np.empty(n, dtype=np.int64)
    longest[talk.sorted] = nearest
    return longest


def _first_use(talk: Stretch, sides: Ints, low: Ints, high: Ints, n: int) -> Ints:
    """First turn of each side that has each run, (2, n_runs).

    Runs are given as stretches of the order, which has n places; each dialogue has places of its own.
    """
    never = np.iinfo(np.int64).max
    if not len(low):
        return np.full((2, 0), never)
    bounds = np.searchsorted(talk.ranks + talk.dialogue * n, np.stack([low, high], axis=1)).ravel()
    turns = np.full((2, len(sides) + 1), never)
    turns[sides[talk.sorted], np.arange(len(sides))] = talk.turn[talk.sorted]
    return np.asarray(np.minimum.reduceat(turns, bounds, axis=1)[:, ::2])
