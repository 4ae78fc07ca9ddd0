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

from therapy_analytics.language.integers import differs, occurring
from therapy_analytics.measures.synchrony._expressions import Ints, bare
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
        return Runs(self.ones.take(tokens), self.twos.take(tokens))


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """The tokens of one side, turn by turn: of one speaker, or of several who say as many turns each.

    Attributes
    ----------
    runs : Runs
        (n_tokens,) each, in the same vocabulary as those of the other side.
    words : bool array (n_tokens,)
        Which tokens have a letter or digit.
    turn : int64 array (n_tokens,)
        The turn of each token, counted over all who speak.
    at : int64 array (n_turns,)
        Where in the dialogue the turns of each of them stand.
    """

    runs: Runs
    words: Bools
    turn: Ints
    at: Ints

    def stands(self, turns: Ints) -> tuple[Ints, Ints]:
        """Return in which dialogue turns stand, counted over all who speak, and where in that."""
        dialogue = turns // len(self.at)
        return dialogue, self.at.take(turns - dialogue * len(self.at))


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
        found = _known(size, mine, theirs, n)
        n = int(found.own_run.max(initial=n - 1)) + 1
        yield found
    while len(found.own):
        found = _longer(found, n)
        n = int(found.own_run.max(initial=n - 1)) + 1
        yield found


def _known(size: int, mine: Ints, theirs: Ints, n: int) -> _Shared:
    """Return the runs that both sides have, of those with numbers in the lenders' vocabulary, numbered from n."""
    said, heard = np.zeros((2, int(max(mine.max(initial=0), theirs.max(initial=0))) + 1), dtype=np.bool_)
    said[mine] = True
    said[0] = False
    there = np.flatnonzero(said.take(theirs))
    lent = theirs.take(there)
    heard[lent] = True
    kinds, here = np.flatnonzero(heard), np.flatnonzero(heard.take(mine))
    number = np.empty(len(said), dtype=np.int64)
    number[kinds] = np.arange(n, n + len(kinds))
    return _Shared(size, here, number.take(mine.take(here)), there, number.take(lent))


def _longer(found: _Shared, n: int) -> _Shared:
    """Return the shared runs of one token more, numbered from n."""
    own, own_pair = _overlapping(found.own, found.own_run, n)
    lent, lent_pair = _overlapping(found.lent, found.lent_run, n)
    kinds = occurring(own_pair)
    theirs = _numbered(kinds, lent_pair)
    heard = np.zeros(len(kinds) + 1, dtype=np.bool_)
    heard[theirs] = True
    heard[0] = False
    number = n - 1 + np.cumsum(heard)
    mine = np.searchsorted(kinds, own_pair) + 1
    here, there = np.flatnonzero(heard.take(mine)), np.flatnonzero(theirs)
    own_run, lent_run = number.take(mine.take(here)), number.take(theirs.take(there))
    return _Shared(found.size + 1, own.take(here), own_run, lent.take(there), lent_run)


def _overlapping(tokens: Ints, runs: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the tokens with a run at which, and at the next of which, a run begins, and a number for the two."""
    first = np.flatnonzero(tokens[1:] == tokens[:-1] + 1)
    return tokens.take(first), runs.take(first) * n + runs.take(first + 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Lexicon:
    """The runs that both sides have in some dialogue, (n_runs,) each.

    Attributes
    ----------
    sizes : int64 array (n_runs + 1,)
        Tokens of each; 0 at the end, for no run.
    worded : bool array (n_runs + 1,)
        Whether some of them has a letter or digit.
    own_first : int64 array (n_runs, 1)
        The first turn of the own side that has each.
    lent_first : int64 array (n_runs, n_dialogues)
        The first turn of each lent side that has it; `_NEVER` where there is none.
    """

    sizes: Ints
    worded: Bools
    own_first: Ints
    lent_first: Ints

    @classmethod
    def of(cls, found: list[_Shared], own: Said, lent: Said, n: int) -> _Lexicon:
        """Return the lexicon of n dialogues."""
        own_at, own_run = (np.concatenate(one) for one in zip(*((one.own, one.own_run) for one in found), strict=True))
        at, run = (np.concatenate(one) for one in zip(*((one.lent, one.lent_run) for one in found), strict=True))
        n_runs = int(own_run.max(initial=-1)) + 1
        sizes = np.zeros(n_runs + 1, dtype=np.int64)
        sizes[own_run] = np.repeat([one.size for one in found], [len(one.own) for one in found])
        words_before = np.append(0, np.cumsum(own.words))
        worded = np.zeros(n_runs + 1, dtype=np.bool_)
        worded[own_run] = words_before[own_at + sizes[own_run]] > words_before[own_at]
        dialogue, when = lent.stands(lent.turn.take(at))
        return cls(
            sizes,
            worded,
            _first(own_run, own.at[own.turn[own_at]], (n_runs, 1)),
            _first(run * n + dialogue, when, (n_runs, n)),
        )

    def longest(self, found: list[_Shared], own: Said, lent: Said) -> tuple[Ints, Ints]:
        """Return the longest shared run at each token: of the own side, (n, n_tokens), and of the lent, (1, n_tokens).

        The place at the end of `sizes` where there is none.
        """
        heard = self.lent_first < _NEVER
        mine, theirs = np.full((len(own.turn), heard.shape[1]), len(heard)), np.full((1, len(lent.turn)), len(heard))
        for one in found:
            theirs[0, one.lent] = one.lent_run
            mine[one.own] = np.where(heard.take(one.own_run, axis=0), one.own_run[:, None], mine.take(one.own, axis=0))
        return np.ascontiguousarray(mine.T), theirs

    def free(self, said: Said, longest: Ints) -> _Free:
        """Return which of the longest runs stand free on a side, as `longest` gives them, in each dialogue."""
        length, free = self.sizes.take(longest), self.worded.take(longest)
        # A run is free unless it lies in a larger one; the longest run of the token before is the only one to ask.
        free[:, 1:] &= (length[:, :-1] <= length[:, 1:]) | differs(said.turn)[1:]
        start = np.flatnonzero(free)
        row = start // longest.shape[1]
        run = longest.ravel().take(start)
        turn = row * len(said.at) + said.turn.take(start - row * longest.shape[1])
        return _Free(start, self.sizes.take(run), run, turn, *said.stands(turn), len(said.at))


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

    def covered(self, of: Bools, n: int) -> Ints:
        """Return how many tokens of each of n dialogues lie in some of these runs."""
        those = np.flatnonzero(of)
        covered = bare(self.start.take(those), self.length.take(those))
        return np.bincount(self.dialogue.take(those), covered, minlength=n).astype(np.int64)

    def lengths(self, sizes: Ints, n: int) -> Ints:
        """Return how many instances of each length there are in each of n dialogues, (n, longest + 1).

        `sizes` are those of the runs.

        An instance is a run that stands free in a turn, however often.
        """
        width = int(sizes.max()) + 1
        found = np.bincount(self.dialogue * width + self.length, minlength=n * width)
        each = np.sort(self.turn * len(sizes) + self.run, kind="stable")  # quick where turn follows turn
        again = each[1:][each[1:] == each[:-1]]
        turn = again // len(sizes)
        found -= np.bincount(turn // self.n_turns * width + sizes[again - turn * len(sizes)], minlength=n * width)
        return found.reshape(n, width)


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
    lexicon = _Lexicon.of(found, own, lent, n)
    sides = [
        lexicon.free(side, longest)
        for side, longest in zip((own, lent), lexicon.longest(found, own, lent), strict=True)
    ]
    shape = lexicon.lent_first.shape
    places = [one.run * n + one.dialogue for one in sides]
    first_free = np.minimum(*(_first(place, one.at, shape) for place, one in zip(places, sides, strict=True)))
    first = lexicon.own_first, lexicon.lent_first
    since = np.maximum(np.maximum(*first), first_free).ravel()
    hits = np.array([one.covered(one.at >= since.take(place), n) for place, one in zip(places, sides, strict=True)])
    tokens = np.array([np.full(n, len(own.turn)), np.bincount(lent.turn // len(lent.at), minlength=n)])
    free = first_free < _NEVER
    n_expressions = free.sum(axis=0)
    begun = (free & (first[role] < first[1 - role])).sum(axis=0)
    variety, repetition = n_expressions / tokens.sum(axis=0), hits.sum(axis=0) / tokens.sum(axis=0)
    initiated = np.where(n_expressions > 0, begun / np.maximum(n_expressions, 1), nan)
    by_role = (hits / tokens)[:: 1 if role == THERAPIST else -1]
    return np.stack([variety, repetition, *_lengths(sides, lexicon.sizes, n), *by_role, initiated], axis=-1)


def _first(places: Ints, at: Ints, shape: tuple[int, int]) -> Ints:
    """Return the first turn at each place of a table, of turns that come in order; `_NEVER` where there is none."""
    first = np.full(shape, _NEVER)
    first.ravel()[places[::-1]] = at[::-1]
    return first


def _lengths(sides: Iterable[_Free], sizes: Ints, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return entropy in nats and mean of the lengths of each dialogue's instances, (n,) each; nan without any."""
    mine, theirs = (one.lengths(sizes, n) for one in sides)
    counts = mine + theirs
    total = counts.sum(axis=1)
    shares = counts / np.maximum(total, 1)[:, None]
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1) + 0.0  # no negative zero
    mean = counts @ np.arange(counts.shape[1]) / np.maximum(total, 1)
    return np.where(total > 0, entropy, nan), np.where(total > 0, mean, nan)
