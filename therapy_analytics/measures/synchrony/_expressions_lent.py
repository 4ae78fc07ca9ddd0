"""Expressions that one speaker shares with each of many who stand in the other's place.

All dialogues of an exchange have one side in common. What a lent turn shares with it is the same in whichever dialogue
the turn stands, and the runs to look for are those of that one side: few enough that each has a number, and what is
asked of a run in a dialogue is a place in a table. Runs of two tokens or more are put together of two that overlap.
Exchanges of a session, of the one side and of the other, are measured together: what is said in each has numbers of its
own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language.integers import differs, occurring, rising
from therapy_analytics.measures.synchrony._expressions import Ints, bare
from therapy_analytics.measures.synchrony._sparse_rows import entries_of
from therapy_analytics.session import THERAPIST

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_NEVER = 1 << 40
"""Beyond all turns."""
_CELLS = 1 << 20
"""Numbers of runs that are looked up in a table; of more, those that one side has are numbered anew before."""


def numbered_among(known: NDArray[np.integer], keys: NDArray[np.integer]) -> Ints:
    """Return the place of each key among those known, which rise, counted from 1; 0 where it is not among them.

    Examples
    --------
    >>> numbered_among(np.array([3, 5]), np.array([5, 4, 3])).tolist()
    [2, 0, 1]
    """
    if not len(known):
        return np.zeros(len(keys), dtype=np.int64)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, place + 1, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """The tokens of turns, of one session or of many.

    Attributes
    ----------
    numbers : int64 array (n_tokens,)
        What each is, from 1, by the same numbers as what is said by others; 0 for what only these can have.
    worded : int64 array (n_tokens,)
        How many tokens it takes from each on until one has a letter or digit; see `until_word`.
    again : bool array (n_tokens,)
        Which are said more than once in their turn; see `said_again`.
    offsets : int64 array (n_turns + 1,)
        Turn ``i`` owns tokens ``offsets[i]:offsets[i + 1]``.
    most : int
        The greatest number that a token can have.
    """

    numbers: Ints
    worded: Ints
    again: Bools
    offsets: Ints
    most: int


def until_word(words: Bools) -> Ints:
    """Return how many tokens it takes from each on until one is a word; more than there are where none follows.

    Examples
    --------
    >>> until_word(np.array([True, False, False, True, False])).tolist()
    [1, 3, 2, 1, 7]
    """
    places = np.arange(len(words))
    following = np.where(words, places, 2 * len(words))
    return np.asarray(np.minimum.accumulate(following[::-1])[::-1] - places + 1)


def said_again(ids: Ints, offsets: Ints) -> Bools:
    """Return which tokens are said more than once in their turn; turn ``i`` owns ``offsets[i]:offsets[i + 1]``.

    Examples
    --------
    >>> said_again(np.array([7, 5, 7, 5]), np.array([0, 3, 4])).tolist()
    [True, False, True, False]
    """
    turn, order = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), rising(ids)
    same = np.flatnonzero(~(differs(ids[order]) | differs(turn[order])))
    found = np.zeros(len(ids), dtype=np.bool_)
    found[order[same]] = found[order[same - 1]] = True
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Dialogues in which others stand in one's place.

    Attributes
    ----------
    own, lent : int64 array (n_turns,) and (n_dialogues, n_lent)
        The turns of the side that is the same in all of them, and those of the other side of each.
    own_at, lent_at : int64 array (n_turns,) and (n_lent,)
        Where in the dialogue they stand, in order.
    role : int
        Whose the own side is, `THERAPIST` or `CLIENT`.
    """

    own: Ints
    lent: Ints
    own_at: Ints
    lent_at: Ints
    role: int


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One side of some exchanges, its turns one behind the other.

    Attributes
    ----------
    numbers, worded, again, turn : array (n_tokens,)
        As in `Spoken`, but what is said in two exchanges has two numbers; and the turn of each token.
    at, dialogue : int64 array (n_turns,)
        Where in its dialogue each turn stands; and in which dialogue, the first one if it stands in all of an exchange.
    """

    numbers: Ints
    worded: Ints
    again: Bools
    turn: Ints
    at: Ints
    dialogue: Ints

    @classmethod
    def of(cls, said: Spoken, turns: Sequence[Ints], at: Sequence[Ints], *, span: int, n: int) -> _Side:
        """Return what is said in turns of each exchange, (n_dialogues, n_turns), where exchanges have n dialogues."""
        tokens, turn = entries_of(said.offsets, np.concatenate([some.ravel() for some in turns]))
        numbers = said.numbers.take(tokens)
        for first in turn.searchsorted(np.cumsum([some.size for some in turns[:-1]])).tolist():
            numbers[first:] += span
        dialogues = [np.arange(i * n, i * n + len(some)).repeat(some.shape[1]) for i, some in enumerate(turns)]
        return cls(
            numbers,
            said.worded.take(tokens),
            said.again.take(tokens),
            turn,
            np.concatenate([np.tile(places, len(some)) for places, some in zip(at, turns, strict=True)]),
            np.concatenate(dialogues),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Begun:
    """Runs that begin on one side: at which tokens, and the number of each."""

    tokens: Ints
    run: Ints

    def overlapping(self, place: Ints, first: int, n: int) -> _Begun:
        """Return where one begins at a token and at the next, with a number for the two, of n numbers from the first.

        Parameters
        ----------
        place : int64 array
            Where each token stands, with one place more between turns, so that no run goes on into the next.
        first, n : int
            The least of the numbers, and how many there are.
        """
        there = place.take(self.tokens)
        both = np.flatnonzero(there[1:] == there[:-1] + 1)
        return _Begun(self.tokens.take(both), self.run.take(both) * n + self.run.take(both + 1) - first * (n + 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """Runs of so many tokens that both sides have: where they begin on each, with `n` numbers from `first` on."""

    own: _Begun
    lent: _Begun
    first: int
    n: int


def _shared(own: _Side, lent: _Side, span: int) -> list[_Shared]:
    """Return the runs of one token that both sides have, of two, ..."""
    known = np.flatnonzero(own.numbers % span)
    sides = _Begun(known, own.numbers.take(known)), _Begun(np.arange(len(lent.numbers)), lent.numbers)
    places = [np.arange(len(side.turn)) + side.turn for side in (own, lent)]
    found = [_alike(*sides, 0)]
    while (last := found[-1]).n:
        sides = (
            last.own.overlapping(places[0], last.first, last.n),
            last.lent.overlapping(places[1], last.first, last.n),
        )
        found.append(_alike(*sides, last.first + last.n))
    return found


def _alike(own: _Begun, lent: _Begun, first: int) -> _Shared:
    """Return the runs that both sides have, numbered anew from the first number on."""
    mine, theirs, size = own.run, lent.run, int(own.run.max(initial=-1)) + 1
    if size > _CELLS:
        kinds = occurring(mine)
        mine, theirs, size = numbered_among(kinds, mine), numbered_among(kinds, theirs), len(kinds) + 1
    said, heard = np.zeros((2, size + 1), dtype=np.bool_)
    said[mine] = True
    there = np.flatnonzero(said.take(theirs, mode="clip"))  # the last is not said, nor what is beyond
    theirs = theirs.take(there)
    heard[theirs] = True
    here, kinds = np.flatnonzero(heard.take(mine)), np.flatnonzero(heard)
    number = np.empty(size, dtype=np.int64)
    number[kinds] = np.arange(first, first + len(kinds))
    return _Shared(
        _Begun(own.tokens.take(here), number.take(mine.take(here))),
        _Begun(lent.tokens.take(there), number.take(theirs)),
        first,
        len(kinds),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """The shared runs that begin on one side.

    Attributes
    ----------
    tokens, run, sizes : int64 array (n_begun,)
        Where they begin, which they are, and of how many tokens: first all of one token, then those of two, ...
    n : int64 array (n_tokens,)
        How many begin at each token. Whoever has a run has those that it begins with, so that the longest is as long.
    """

    tokens: Ints
    run: Ints
    sizes: Ints
    n: Ints

    @classmethod
    def of(cls, side: _Side, levels: Sequence[_Begun]) -> _Runs:
        """Return runs of one token, of two, ... of one side."""
        sizes = np.repeat(np.arange(1, len(levels) + 1), [len(one.run) for one in levels])
        tokens, run = (np.concatenate(each) for each in zip(*((one.tokens, one.run) for one in levels), strict=True))
        return cls(tokens, run, sizes, np.bincount(tokens, minlength=len(side.turn)))

    def looked_up(self, tokens: Ints, lengths: Ints) -> Ints:
        """Return the runs of these lengths that begin at tokens."""
        before = np.cumsum(self.n) - self.n - 1
        by_token = np.empty(len(self.run), dtype=np.int64)
        by_token[before.take(self.tokens) + self.sizes] = self.run
        return by_token.take(before.take(tokens) + lengths)


@dataclass(frozen=True, slots=True, eq=False)
class _Lexicon:
    """The runs that both sides have in some dialogue.

    Attributes
    ----------
    sizes : int64 array (n_runs,)
        Tokens of each.
    row : int64 array (n_runs,)
        Where the row of each begins in a table with a column for each dialogue of an exchange, less the first dialogue
        of its exchange.
    own_first : int64 array (n_runs, 1)
        The first turn of the own side that has each.
    lent_first : int64 array (n_runs, n_dialogues)
        The first turn of each lent side that has it; `_NEVER` where there is none.
    """

    sizes: Ints
    row: Ints
    own_first: Ints
    lent_first: Ints

    @classmethod
    def of(cls, found: Sequence[_Shared], mine: _Runs, theirs: _Runs, own: _Side, lent: _Side, n: int) -> _Lexicon:
        """Return the lexicon of exchanges of up to n dialogues."""
        sizes = np.repeat(np.arange(1, len(found) + 1), [one.n for one in found])
        own_turn, lent_turn = own.turn.take(mine.tokens), lent.turn.take(theirs.tokens)
        row = np.empty(len(sizes), dtype=np.int64)
        row[mine.run] = mine.run * n - own.dialogue.take(own_turn)
        own_first = _first(mine.run, own.at.take(own_turn), (len(sizes), 1))
        places = row.take(theirs.run) + lent.dialogue.take(lent_turn)
        return cls(sizes, row, own_first, _first(places, lent.at.take(lent_turn), (len(sizes), n)))


@dataclass(frozen=True, slots=True, eq=False)
class _Free:
    """Where shared runs stand free (in no longer one), dialogue by dialogue, in the order of tokens.

    Attributes
    ----------
    start, length : int64 array
        First token, counted over all dialogues, and tokens.
    place : int64 array
        Which run it is in which dialogue, as place in a table of the lexicon.
    dialogue, at : int64 array
        The dialogue, and where in that its turn stands.
    again : bool array
        Whether the first token is said more than once in the turn.
    """

    start: Ints
    length: Ints
    place: Ints
    dialogue: Ints
    at: Ints
    again: Bools

    @classmethod
    def of(cls, side: _Side, longest: Ints, runs: _Runs, row: Ints) -> _Free:
        """Return those of one side.

        Parameters
        ----------
        side : _Side
            The side.
        longest : int array (n, n_tokens)
            How long the longest shared run is that begins at each token: in its dialogue, or in n of them.
        runs : _Runs
            Those of this side.
        row : int64 array (n_runs,)
            See `_Lexicon`.
        """
        free = longest >= side.worded
        # A run is free unless it lies in a larger one; the longest run of the token before is the only one to ask.
        free[:, 1:] &= longest[:, 1:] >= longest[:, :-1]
        start = np.flatnonzero(free)
        column = start // max(len(side.turn), 1)
        token = start - column * len(side.turn)
        length, turn = longest.ravel().take(start).astype(np.int64), side.turn.take(token)
        dialogue = side.dialogue.take(turn) + column
        place = row.take(runs.looked_up(token, length)) + dialogue
        return cls(start, length, place, dialogue, side.at.take(turn), side.again.take(token))

    def followed_by(self, other: _Free, n_tokens: int, n_dialogues: int) -> _Free:
        """Return these, and those of another side, with its tokens and dialogues counted from so many on."""
        return _Free(
            np.concatenate([self.start, other.start + n_tokens]),
            np.concatenate([self.length, other.length]),
            np.concatenate([self.place, other.place]),
            np.concatenate([self.dialogue, other.dialogue + n_dialogues]),
            np.concatenate([self.at, other.at]),
            np.concatenate([self.again, other.again]),
        )

    def covered(self, of: Ints, n: int) -> Floats:
        """Return how many tokens of each of n dialogues lie in some of these runs."""
        covered = bare(self.start.take(of), self.length.take(of)).astype(np.float64)
        return np.bincount(self.dialogue.take(of), covered, minlength=n).astype(np.float64, copy=False)

    def lengths(self, width: int, n_places: int, n: int) -> Ints:
        """Return how many instances of each length below `width` there are in each of n dialogues, (n, width).

        An instance is a run that stands free in a turn, however often. The table of the lexicon has so many places.
        """
        some = np.flatnonzero(self.again)
        at = self.at.take(some)
        turn = self.dialogue.take(some) * (int(at.max(initial=0)) + 1) + at
        each = turn * n_places + self.place.take(some)
        order = np.argsort(each, kind="stable")  # quick where turn follows turn
        each = each.take(order)
        more = some.take(order[1:].compress(each[1:] == each[:-1]))
        cells = self.dialogue * width + self.length
        found = np.bincount(cells, minlength=n * width) - np.bincount(cells.take(more), minlength=n * width)
        return found.reshape(n, width)


def expressions_with_each(mine: Spoken, theirs: Spoken, exchanges: Sequence[Exchange]) -> list[Floats]:
    """Return what is said of dialogues in which both sides speak, (n_dialogues, 7) for each exchange.

    Variety, repetition, entropy (in nats) and mean length, repetition of the therapist and of the client, and the
    share of expressions that the therapist initiated; see `SharedExpressions`.

    Parameters
    ----------
    mine, theirs : Spoken
        What the turns of the own and of the lent side are turns of.
    exchanges : sequence of Exchange
        The dialogues.
    """
    n = max(len(one.lent) for one in exchanges)
    span = max(mine.most, theirs.most) + 1
    own = _Side.of(mine, [one.own[None] for one in exchanges], [one.own_at for one in exchanges], span=span, n=n)
    lent = _Side.of(theirs, [one.lent for one in exchanges], [one.lent_at for one in exchanges], span=span, n=n)
    found = _counted(own, lent, _shared(own, lent, span), (len(exchanges), n))
    return [found.values(i, len(one.lent), one.role) for i, one in enumerate(exchanges)]


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """What is counted in dialogues.

    Attributes
    ----------
    tokens, hits : array (2, n_exchanges, n_dialogues)
        Tokens of the own and of the lent side, and those in established expressions.
    expressions, begun : int64 array (n_exchanges, n_dialogues)
        Different expressions, and those that the own side uses first.
    lengths : int64 array (n_exchanges, n_dialogues, width)
        Instances of each length.
    widths : list of int
        One more than the tokens of the longest run that both sides have, in each exchange.
    """

    tokens: Ints
    hits: Floats
    expressions: Ints
    begun: Ints
    lengths: Ints
    widths: list[int]

    def values(self, exchange: int, n: int, role: int) -> Floats:
        """Return the values of the n dialogues of an exchange, (n, 7), in which the own side has a role."""
        tokens, hits = self.tokens[:, exchange, :n], self.hits[:, exchange, :n]
        expressions, begun = self.expressions[exchange, :n], self.begun[exchange, :n]
        variety, repetition = expressions / tokens.sum(axis=0), hits.sum(axis=0) / tokens.sum(axis=0)
        by_therapist = begun if role == THERAPIST else expressions - begun
        initiated = np.where(expressions > 0, by_therapist / np.maximum(expressions, 1), nan)
        by_role = (hits / tokens)[:: 1 if role == THERAPIST else -1]
        lengths = _lengths(self.lengths[exchange, :n, : self.widths[exchange]])
        return np.stack([variety, repetition, *lengths, *by_role, initiated], axis=-1)


def _counted(own: _Side, lent: _Side, found: Sequence[_Shared], shape: tuple[int, int]) -> _Counts:
    """Count in exchanges, so many of up to so many dialogues, what both sides have."""
    n_all, n = shape[0] * shape[1], shape[1]
    mine, theirs = _Runs.of(own, [one.own for one in found]), _Runs.of(lent, [one.lent for one in found])
    lexicon = _Lexicon.of(found, mine, theirs, own, lent, n)
    sides = (
        _Free.of(own, _heard(own, found, lexicon.lent_first < _NEVER), mine, lexicon.row),
        _Free.of(lent, theirs.n[None], theirs, lexicon.row),
    )
    first_free = np.minimum(*(_first(one.place, one.at, lexicon.lent_first.shape) for one in sides))
    since = np.maximum(np.maximum(lexicon.own_first, lexicon.lent_first), first_free).ravel()
    both = sides[0].followed_by(sides[1], len(own.turn) * n, n_all)
    free = np.flatnonzero(first_free < _NEVER)
    dialogue = free - lexicon.row.take(free // n)
    own_first = (lexicon.own_first < lexicon.lent_first).ravel().take(free)
    of_own = np.bincount(own.dialogue.take(own.turn), minlength=n_all).reshape(shape)[:, :1]
    of_lent = np.bincount(lent.dialogue.take(lent.turn), minlength=n_all).reshape(shape)
    exchange, widths = (np.arange(len(lexicon.row)) * n - lexicon.row) // n, np.ones(shape[0], dtype=np.int64)
    widths[exchange] = lexicon.sizes + 1  # that of the longest, which comes last
    return _Counts(
        tokens=np.stack([np.broadcast_to(of_own, shape), of_lent]),
        hits=both.covered(np.flatnonzero(both.at >= since.take(both.place)), 2 * n_all).reshape(2, *shape),
        expressions=np.bincount(dialogue, minlength=n_all).reshape(shape),
        begun=np.bincount(dialogue.compress(own_first), minlength=n_all).reshape(shape),
        lengths=both.lengths(int(widths.max()), since.size, 2 * n_all).reshape(2, *shape, -1).sum(axis=0),
        widths=widths.tolist(),
    )


def _heard(side: _Side, found: Sequence[_Shared], heard: Bools) -> Ints:
    """Return how long the longest run is that begins at each own token and is heard, in each dialogue."""
    longest = np.zeros((len(side.turn), heard.shape[1]), dtype=np.min_scalar_type(len(found)))
    for one in found:
        longest[one.own.tokens] += heard.take(one.own.run, axis=0)
    return np.ascontiguousarray(longest.T)


def _first(places: Ints, at: Ints, shape: tuple[int, int]) -> Ints:
    """Return the first turn at each place of a table, of turns that come in order; `_NEVER` where there is none."""
    first = np.full(shape, _NEVER)
    first.ravel()[places[::-1]] = at[::-1]
    return first


def _lengths(counts: Ints) -> tuple[Floats, Floats]:
    """Return entropy in nats and mean of the lengths of each dialogue's instances, (n,) each; nan without any."""
    total = counts.sum(axis=1)
    shares = counts / np.maximum(total, 1)[:, None]
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1) + 0.0  # no negative zero
    mean = counts @ np.arange(counts.shape[1]) / np.maximum(total, 1)
    return np.where(total > 0, entropy, nan), np.where(total > 0, mean, nan)
