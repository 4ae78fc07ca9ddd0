"""Expressions that one speaker shares with each of many who stand in the other's place.

All dialogues have one side in common. What a lent turn shares with it is the same in whichever dialogue the turn
stands, and the runs to look for are those of that one side: few enough that each has a number, and what is asked of a
run in a dialogue is a place in a table. Runs of three tokens or more are put together of two that overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.measures.synchrony._expressions import Ints
from therapy_analytics.session import THERAPIST

Bools = NDArray[np.bool_]

_NEVER = 1 << 40
"""Beyond all turns."""


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Tokens of strangers, and what stands beside each other in a turn of theirs.

    Attributes
    ----------
    keys : uint64 array
        The different tokens, ascending.
    pairs : int64 array
        The different pairs of neighbours, ascending, see `_pair_keys`.
    """

    keys: NDArray[np.uint64]
    pairs: Ints

    @classmethod
    def of(cls, keys: NDArray[np.uint64], offsets: Ints) -> Vocabulary:
        """Return the vocabulary of turns, of which turn ``i`` owns tokens ``offsets[i]:offsets[i + 1]``."""
        known = np.unique(keys)
        pairs = np.unique(_pair_keys(_numbered(known, keys), offsets, len(known)))
        return cls(known, pairs[pairs > 0])

    def runs(self, keys: NDArray[np.uint64], offsets: Ints) -> Runs:
        """Return what turns have of the vocabulary."""
        ones = _numbered(self.keys, keys)
        return Runs(ones, _numbered(self.pairs, _pair_keys(ones, offsets, len(self.keys))))


def _numbered(known: NDArray[np.integer], keys: NDArray[np.integer]) -> Ints:
    """Return the place of each key among those known, counted from 1; 0 where it is not among them."""
    if not len(known):
        return np.zeros(len(keys), dtype=np.int64)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, place + 1, 0)


def _pair_keys(ones: Ints, offsets: Ints, n: int) -> Ints:
    """Return a number for each token and the one behind it; 0 where either is unknown, or a turn ends between them."""
    pairs = np.zeros(len(ones), dtype=np.int64)
    pairs[:-1] = (ones[:-1] * (n + 1) + ones[1:]) * ((ones[:-1] > 0) & (ones[1:] > 0))
    pairs[offsets[1:][offsets[1:] > 0] - 1] = 0
    return pairs


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Numbers of the tokens of some turns, and of the pairs that begin with each, in a `Vocabulary`; 0 for none."""

    ones: Ints
    twos: Ints

    def at(self, tokens: Ints) -> Runs:
        """Return those of some tokens."""
        return Runs(self.ones[tokens], self.twos[tokens])


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """The tokens of one side, turn by turn: of one speaker, or of several who say as many turns each.

    Attributes
    ----------
    runs : Runs
        (n_tokens,) each, in the same vocabulary as those of the other side.
    tokens : int64 array (n_tokens,)
        Where each stands in the transcripts.
    words_before : int64 array
        Of the transcripts: how many tokens with a letter or digit come before each.
    turn : int64 array (n_tokens,)
        The turn of each token, counted over all who speak.
    at : int64 array (n_turns,)
        Where in the dialogue the turns of each of them stand.
    """

    runs: Runs
    tokens: Ints
    words_before: Ints
    turn: Ints
    at: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """Runs of so many tokens that both sides have: at which tokens of each they begin, and the number of each."""

    size: int
    own: Ints
    own_run: Ints
    lent: Ints
    lent_run: Ints


def _shared(own: Runs, lent: Runs) -> Iterator[_Shared]:
    """Yield the runs of one token that both sides have, of two, ..., each run with a number of its own, from 0."""
    n = 0
    for size, mine, theirs in ((1, own.ones, lent.ones), (2, own.twos, lent.twos)):
        # Only what is known to the lenders' vocabulary has a number above 0.
        run = np.full(int(max(mine.max(initial=0), theirs.max(initial=0))) + 1, -1)
        run[mine] = 0
        run[0] = -1
        kinds = np.flatnonzero(run == 0)
        run[kinds] = np.arange(n, n + len(kinds))
        n += len(kinds)
        here, there = (np.flatnonzero(run[one] >= 0) for one in (mine, theirs))
        found = _Shared(size, here, run[mine[here]], there, run[theirs[there]])
        yield found
    while len(found.lent):
        found = _longer(found, n)
        n = int(found.own_run.max(initial=n - 1)) + 1
        yield found


def _longer(found: _Shared, n: int) -> _Shared:
    """Return the shared runs of one token more, numbered from n."""
    own, own_pair = _overlapping(found.own, found.own_run, n)
    lent, lent_pair = _overlapping(found.lent, found.lent_run, n)
    kinds = _kinds(own_pair)
    theirs = _numbered(kinds, lent_pair)
    heard = np.zeros(len(kinds) + 1, dtype=np.bool_)
    heard[theirs] = True
    heard[0] = False
    number = n - 1 + np.cumsum(heard)
    mine = np.searchsorted(kinds, own_pair) + 1
    here, there = heard[mine], theirs > 0
    return _Shared(found.size + 1, own[here], number[mine[here]], lent[there], number[theirs[there]])


def _kinds(keys: Ints) -> Ints:
    """Return the different ones of some keys, ascending."""
    keys = np.sort(keys)
    return keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]


def _overlapping(tokens: Ints, runs: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the tokens with a run at which, and at the next of which, a run begins, and a number for the two."""
    first = np.flatnonzero(tokens[1:] == tokens[:-1] + 1)
    return tokens[first], runs[first] * n + runs[first + 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Free:
    """Where shared runs stand free (in no longer one) on one side, dialogue by dialogue, in the order of tokens.

    Attributes
    ----------
    start, length, run : int64 array
        First token, counted over all dialogues, tokens, and which run it is.
    turn, dialogue, at : int64 array
        Its turn, counted over all dialogues, the dialogue, and where in that the turn stands.
    n_turns : int
        Turns of the side in each dialogue.
    """

    start: Ints
    length: Ints
    run: Ints
    turn: Ints
    dialogue: Ints
    at: Ints
    n_turns: int

    @classmethod
    def of(cls, said: Said, longest: Ints, sizes: Ints, n: int) -> _Free:
        """Return the free ones among the longest runs that begin at each token.

        Those are given as (1, n_tokens) or, for a side that each of n dialogues has, (n, n_tokens); -1 for none.
        """
        length = sizes[longest]
        free = length > 0
        # A run is free unless it lies in a larger one; the longest run of the token before is the only one to ask.
        free[:, 1:] &= (length[:, :-1] <= length[:, 1:]) | (said.turn[1:] != said.turn[:-1])
        start = np.flatnonzero(free)
        row = start // longest.shape[1]
        token = start - row * longest.shape[1]
        begin = said.tokens[token]
        worded = said.words_before[begin + length.ravel()[start]] > said.words_before[begin]
        start, turn = start[worded], (row * len(said.at) + said.turn[token])[worded]
        run = longest.ravel()[start]
        dialogue, at = np.repeat(np.arange(n), len(said.at)), np.tile(said.at, n)
        return cls(start, sizes[run], run, turn, dialogue[turn], at[turn], len(said.at))

    def instances(self, sizes: Ints) -> tuple[Ints, Ints]:
        """Return the dialogue and the tokens of each run that stands free in a turn, once for each turn."""
        each = _kinds(self.turn * len(sizes) + self.run)
        turn = each // len(sizes)
        return turn // self.n_turns, sizes[each - turn * len(sizes)]

    def covered(self, of: Bools, n: int) -> Ints:
        """Return how many tokens of each of n dialogues lie in some of these runs."""
        start, end = self.start[of], (self.start + self.length)[of]
        # Of two that stand free, the one that begins later also ends later.
        bare = end - np.maximum(start, np.append(0, end)[:-1])
        return np.bincount(self.dialogue[of], bare, minlength=n).astype(np.int64)


def expressions_with_each(own: Said, lent: Said, n: int, *, role: int) -> NDArray[np.float64]:
    """Return what is said of n dialogues in which both sides speak, (n, 7).

    Variety, repetition, entropy (in nats) and mean length, repetition of the therapist and of the client, and the
    share of expressions that the therapist initiated; see `SharedExpressions`.

    Parameters
    ----------
    own : Said
        The side that is the same in all of them.
    lent : Said
        The other side of each.
    n : int
        How many they are.
    role : int
        Whose the own side is, `THERAPIST` or `CLIENT`.
    """
    found = list(_shared(own.runs, lent.runs))
    sizes = _sizes(found)
    shape = n, len(sizes) - 1
    first = _first_own(found, own, shape[1]), _first_lent(found, lent, shape)
    own_longest, lent_longest = _longest(found, first[1], own, lent)
    sides = _Free.of(own, own_longest, sizes, n), _Free.of(lent, lent_longest, sizes, n)
    places = [one.dialogue * shape[1] + one.run for one in sides]
    first_free = np.minimum(*(_first(place, one.at, shape) for place, one in zip(places, sides, strict=True)))
    since = np.maximum(np.maximum(*first), first_free).ravel()
    hits = np.array([one.covered(one.at >= since[place], n) for place, one in zip(places, sides, strict=True)])
    tokens = np.array([np.full(n, len(own.turn)), np.bincount(lent.turn // len(lent.at), minlength=n)])
    free = first_free < _NEVER
    n_expressions = np.count_nonzero(free, axis=1)
    begun = np.count_nonzero(free & (first[role] < first[1 - role]), axis=1)
    variety, repetition = n_expressions / tokens.sum(axis=0), hits.sum(axis=0) / tokens.sum(axis=0)
    initiated = np.where(n_expressions > 0, begun / np.maximum(n_expressions, 1), nan)
    by_role = (hits / tokens)[:: 1 if role == THERAPIST else -1]
    return np.stack([variety, repetition, *_lengths(sides, sizes, n), *by_role, initiated], axis=-1)


def _sizes(found: list[_Shared]) -> Ints:
    """Return how many tokens each run has; 0 at the end, for no run."""
    counts = [len(one.own) and int(one.own_run.max()) + 1 for one in found]
    upto = np.maximum.accumulate(counts)
    return np.append(np.repeat([one.size for one in found], np.diff(upto, prepend=0)), 0)


def _first(places: Ints, at: Ints, shape: tuple[int, int]) -> Ints:
    """Return the first turn at each place of a table, of turns that come in order; `_NEVER` where there is none."""
    first = np.full(shape, _NEVER)
    first.ravel()[places[::-1]] = at[::-1]
    return first


def _first_own(found: list[_Shared], own: Said, n_runs: int) -> Ints:
    """Return the first turn of the own side that has each run, (1, n_runs)."""
    tokens, runs = (np.concatenate(one) for one in zip(*((one.own, one.own_run) for one in found), strict=True))
    return _first(runs, own.at[own.turn[tokens]], (1, n_runs))


def _first_lent(found: list[_Shared], lent: Said, shape: tuple[int, int]) -> Ints:
    """Return the first turn of each lent side that has each run, (n_dialogues, n_runs)."""
    tokens, runs = (np.concatenate(one) for one in zip(*((one.lent, one.lent_run) for one in found), strict=True))
    turn = lent.turn[tokens]
    dialogue = turn // len(lent.at)
    return _first(dialogue * shape[1] + runs, lent.at[turn - dialogue * len(lent.at)], shape)


def _longest(found: list[_Shared], lent_first: Ints, own: Said, lent: Said) -> tuple[Ints, Ints]:
    """Return the longest shared run at each token of the own side, (n, n_tokens), and of the lent one, (1, n_tokens).

    -1 where there is none.
    """
    mine, theirs = np.full((len(lent_first), len(own.turn)), -1), np.full((1, len(lent.turn)), -1)
    for one in found:
        theirs[0, one.lent] = one.lent_run
        heard = lent_first[:, one.own_run] < _NEVER
        mine[:, one.own] = np.where(heard, one.own_run, mine[:, one.own])
    return mine, theirs


def _lengths(sides: Iterable[_Free], sizes: Ints, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return entropy in nats and mean of the lengths of each dialogue's instances, (n,) each; nan without any.

    An instance is a run that stands free in a turn, however often.
    """
    dialogue, length = (np.concatenate(one) for one in zip(*(one.instances(sizes) for one in sides), strict=True))
    total = np.bincount(dialogue, minlength=n)
    width = int(length.max(initial=0)) + 1
    counts = np.bincount(dialogue * width + length, minlength=n * width).reshape(n, width)
    shares = counts / np.maximum(total, 1)[:, None]
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1) + 0.0  # no negative zero
    mean = counts @ np.arange(width) / np.maximum(total, 1)
    return np.where(total > 0, entropy, nan), np.where(total > 0, mean, nan)
