"""Shared expressions by the rule of dialign_python: each turn is held against each turn before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.measures.synchrony._expressions import Ints, entropy_of, longest_repeats, order_turns, stretch
from therapy_analytics.measures.synchrony._expressions_of_dialogue import Sides
from therapy_analytics.session import CLIENT, THERAPIST

_MARKS = frozenset(".,!?")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPairExpressions:
    """What `expressions_by_turn_pairs` gives; names and order as in dialign_python; undefined values are nan."""

    variety: float
    repetition: float
    entropy: float
    mean_length: float
    max_length: float
    establishment: float
    self_repetition: float
    repetition_by: Sides
    initiated: Sides


def expressions_by_turn_pairs(
    ids: NDArray[np.integer], offsets: Ints, roles: NDArray[np.integer], *, spellings: Sequence[str]
) -> TurnPairExpressions:
    """Measure shared expressions by the rule of dialign_python, to compare with figures from it.

    Parameters
    ----------
    ids, offsets, roles
        As in `expressions_of_dialogue`.
    spellings : sequence of str
        The token type of each id.

    Notes
    -----
    Not the papers' rule, from which it departs so:

    - Each turn is held against each turn before. A sequence is shared when it stands free in one such pair, that is,
      unless a longer one of the pair holds it and occurs as often in both turns.
    - "Holds" is a matter of letters: the word "a" counts as inside the word "what".
    - The initiator is the speaker of the earlier turn of that pair, even where the other had used it before.
    - Lengths (mean, and entropy, in nats) are those of the lexicon, each expression once, not of instances.
    - A turn's tokens are counted with the expressions known by then; expressions are laid over the turn from the
      longest down, each only where its first token is still bare. Among those of one length the original goes by the
      order of a set of strings, so that its repetition, establishment and self-repetition change by a token or two
      from run to run. Here that order is fixed; the other values are the same to the last digit.
    - Only ``. , ! ?`` alone are no expressions. A self-repetition counts from the second use on, over both speakers.

    Time grows with the square of the number of turns, and of the length of a repeat.

    Examples
    --------
    "a" and "b" are taken up one by one, then "b" is said again.

    >>> ids, offsets = np.array([0, 1, 0, 2, 1]), np.array([0, 2, 4, 5])
    >>> found = expressions_by_turn_pairs(ids, offsets, np.array([0, 1, 1]), spellings=["a", "b", "c"])
    >>> found.variety, found.repetition, found.repetition_by[0], found.initiated
    (0.4, 0.4, 0.0, (1.0, 0.0))
    """
    turns = [turn for turn in spell_out(ids, offsets, spellings, roles) if turn.side in (THERAPIST, CLIENT)]
    shared: dict[str, int] = {}
    own: tuple[dict[str, int], ...] = ({}, {})
    laid: list[tuple[int, ...]] = []
    for now, turn in enumerate(turns):
        known = len(shared)
        for before in turns[:now]:
            lexicon = own[turn.side] if before.side == turn.side else shared
            for expression in free_in_both(turn.places, before.places):
                if expression not in _MARKS:
                    lexicon.setdefault(expression, before.side)
        new = list(shared)[known:]
        covered = lay_over(turn, shared), lay_over(turn, new, once=True), lay_over(turn, own[turn.side])
        laid.append((turn.side, turn.n_tokens, *covered))
    return _by_turn_pairs(np.array(laid, dtype=np.int64).reshape(-1, 5), shared)


def _by_turn_pairs(laid: Ints, shared: Mapping[str, int]) -> TurnPairExpressions:
    """Sum up the columns side, tokens, in shared ones, in new ones, in own ones."""
    total = laid[:, 1:].sum(axis=0)
    by_side = [laid[laid[:, 0] == side, 1:3].sum(axis=0).tolist() for side in (THERAPIST, CLIENT)]
    sizes = np.array([one.count(" ") + 1 for one in shared], dtype=np.int64)
    repetition, new, own = (total[1:] / total[0]).tolist() if total[0] else (nan, nan, nan)
    begun = Counter(shared.values())
    therapist, client = (begun[side] / len(shared) if shared else nan for side in (THERAPIST, CLIENT))
    of_therapist, of_client = (hits / n if n else nan for n, hits in by_side)
    return TurnPairExpressions(
        variety=len(shared) / int(total[0]) if total[0] else nan,
        repetition=repetition,
        entropy=entropy_of(sizes) if shared else nan,
        mean_length=float(sizes.mean()) if shared else nan,
        max_length=float(sizes.max()) if shared else nan,
        establishment=new,
        self_repetition=own,
        repetition_by=(of_therapist, of_client),
        initiated=(therapist, client),
    )


@dataclass(frozen=True, slots=True)
class SpeltTurn:
    """A turn and the places in it of all sequences that also stand in another turn, as `spell_out` finds them."""

    side: int
    n_tokens: int
    places: Mapping[str, Sequence[int]]


def spell_out(
    ids: NDArray[np.integer], offsets: Ints, spellings: Sequence[str], roles: NDArray[np.integer]
) -> list[SpeltTurn]:
    """Return the sequences of each turn that also stand in another, with their places, as strings."""
    order = order_turns(ids, offsets)
    talk = stretch(order, np.arange(len(roles)))
    longest = longest_repeats(order, talk, talk.turn).tolist()
    turns = []
    for side, (begin, end) in zip(roles.tolist(), pairwise(order.offsets.tolist()), strict=True):
        said = [spellings[i] for i in ids[offsets[0] + begin : offsets[0] + end].tolist()]
        places = defaultdict(list)
        for place in range(len(said)):
            for size in range(1, longest[begin + place] + 1):
                places[" ".join(said[place : place + size])].append(place)
        turns.append(SpeltTurn(side, len(said), places))
    return turns


def free_in_both(a: Mapping[str, Sequence[int]], b: Mapping[str, Sequence[int]]) -> list[str]:
    """Return what two turns have in common but for what lies in a longer common sequence that is as frequent."""
    free: dict[tuple[int, int], str] = defaultdict(str)
    found = []
    for expression in sorted(a.keys() & b.keys(), key=lambda one: (-len(one), one)):
        frequent = len(a[expression]), len(b[expression])
        if expression not in free[frequent]:
            free[frequent] += f"\n{expression}"
            found.append(expression)
    return found


def lay_over(turn: SpeltTurn, lexicon: Iterable[str], *, once: bool = False) -> int:
    """Lay expressions over a turn, longest first, each where its first token is bare; return the tokens covered."""
    bare = np.ones(turn.n_tokens, dtype=np.bool_)
    present = [one for one in lexicon if one in turn.places]
    for expression in sorted(present, key=lambda one: -one.count(" ")):
        for place in turn.places[expression]:
            if bare[place]:
                bare[place : place + expression.count(" ") + 1] = False
                if once:
                    break
    return int(turn.n_tokens - bare.sum())
