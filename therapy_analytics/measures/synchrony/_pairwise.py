"""Synchrony of neighbouring turns: value, direction, course over the session, and chance.

How to add a measure: say what it needs of a turn (`represent`), and what a reply and the turn before add to the
figures that it is made of (`terms`); hand a `Pairwise` to `pairwise`. All that stands beside the value (who follows
whom, thirds, windows, slope, shuffles, strangers, columns and rows of the tables) follows from these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from scipy import sparse

from therapy_analytics.language import AnnotatedSession, Extra
from therapy_analytics.measures._base import Evidence
from therapy_analytics.measures.synchrony._chance import (
    FEWEST_PAIRS,
    Bools,
    Chance,
    Closer,
    Direction,
    Draws,
    Floats,
    Ints,
    against,
    directions,
    without_p,
)
from therapy_analytics.registry import Registry
from therapy_analytics.session import CLIENT, THERAPIST

MOST_CELLS = 4_000_000
"""So many numbers are held at a time."""
DIRECTIONS = ("both", "therapist", "client", "difference")
"""Who replies; both is the mean of the two, difference the therapist's replies less the client's."""
WHOLE, SLOPE = "whole", "slope"
THIRDS = ("third_1", "third_2", "third_3")
WINDOW, STEP = 20, 5
"""Turns of a sliding window, and between the beginnings of two."""
TABLE_ADVANTAGE = 2
"""Looking a pair up costs about half of computing it."""


def scores(values: Floats) -> Floats:
    """Return the terms of pairs whose figure is one number: the number and 1, or 0 and 0 where it is nan.

    The terms of a mean: (...) to (..., 2). `mean` makes the mean of their sums.
    """
    defined = ~np.isnan(values)
    return np.stack([np.where(defined, values, 0.0), defined], axis=-1)


def mean(sums: Floats) -> Floats:
    """Return the mean from sums of `scores`, (..., 2) to (...); nan of nothing."""
    total, n = sums[..., 0], sums[..., 1]
    return np.where(n > 0, total / np.maximum(n, 1), nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairwise:
    """A measure of neighbouring turns.

    Attributes
    ----------
    name, series : str
        Columns of the sessions table (over the session) and the turns table (each reply).
    meaning, unit, formula, misleads, source : str
        As in `Column`, of one pair of turns.
    represent : callable
        What the measure needs of each turn, for a session or for all strangers at once.
    terms : callable
        ``terms(anchor_side, reply_side, anchors, replies)``: what pairs add up, (..., n_terms),
        for turn positions (int64, shapes that broadcast to ...) in the two representations;
        never nan: see `scores`.
    over : callable
        What sums of terms over pairs come to: (..., n_terms) to (...).
    each : callable or None
        What the terms of each pair of a dialogue, (n_pairs, ..., n_terms), come to; None where `over` says it.
    low, high : float
        Range of the value.
    closer : {"higher", "lower"}
        Which values mean more synchrony.
    extra : str or None
        What must be asked for, because it is costly; see `Extra`.
    delay : int
        Which of the other's turns a reply is compared with: 1 the turn before, 2 the other's turn before that, ...
    evidence : str
        As in `Column`.
    """

    name: str
    series: str
    meaning: str
    unit: str
    formula: str
    misleads: str
    source: str
    represent: Callable[[AnnotatedSession], Any]
    terms: Callable[[Any, Any, Ints, Ints], Floats]
    over: Callable[[Floats], Floats] = mean
    each: Callable[[Floats], Floats] | None = None
    low: float = 0.0
    high: float = 1.0
    closer: Closer = "higher"
    extra: Extra | None = None
    delay: int = 1
    evidence: Evidence = "supported"


PAIRWISE: Registry[Pairwise] = Registry("measure of neighbouring turns", package="therapy_analytics.measures.synchrony")


def pairwise(kind: Pairwise) -> Pairwise:
    """Register a measure of neighbouring turns, so that `synchrony` finds it by its name."""
    PAIRWISE.add(kind.name, kind, module=kind.represent.__module__)
    return kind


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a session: turns ``first`` to ``last``, both in it."""

    name: str
    first: int
    last: int


def parts_of(n_turns: int) -> tuple[Part, ...]:
    """Return the stretches that values are given for: the whole, its thirds, sliding windows, and last the slope.

    Examples
    --------
    >>> [(part.name, part.first, part.last) for part in parts_of(25)]  # doctest: +NORMALIZE_WHITESPACE
    [('whole', 0, 24), ('third_1', 0, 8), ('third_2', 9, 16), ('third_3', 17, 24),
     ('window', 0, 19), ('window', 5, 24), ('slope', 0, 24)]
    """
    last = n_turns - 1
    bounds = [-(-n_turns * k // 3) for k in range(4)]
    thirds = [Part(name, bounds[k], bounds[k + 1] - 1) for k, name in enumerate(THIRDS)]
    windows = [Part("window", first, first + WINDOW - 1) for first in range(0, n_turns - WINDOW + 1, STEP)]
    return (Part(WHOLE, 0, last), *thirds, *windows, Part(SLOPE, 0, last))


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a pairwise measure finds in a session: rows are `DIRECTIONS`, columns `parts_of` the session.

    Attributes
    ----------
    parts : tuple of Part
        The columns.
    values, n_pairs : float64 array (4, n_parts)
        The values, and the pairs that they rest on.
    shuffled, strangers : Chance
        The two baselines.
    each : float64 array (n_turns,)
        The value of each turn that replies; nan for the others.
    """

    parts: tuple[Part, ...]
    values: Floats
    n_pairs: Floats
    shuffled: Chance
    strangers: Chance
    each: Floats


def outcome(kind: Pairwise, session: AnnotatedSession) -> Outcome:
    """Return what a measure finds in a session; computed once."""
    return session.once(lambda one: _outcome(kind, one), key=kind)


def _outcome(kind: Pairwise, session: AnnotatedSession) -> Outcome:
    own = session.once(kind.represent)
    parts, two = parts_of(len(session)), directions(session, delay=kind.delay)
    each = np.full(len(session), nan)
    shuffled, n_pairs = [], []
    for direction in two:
        found, own_pairs = statistics(kind, (own, own), direction.shuffled, _bounds(direction, parts))
        each[direction.replies] = own_pairs
        shuffled.append(found)
        n_pairs.append(_n_defined(own_pairs, _bounds(direction, parts)))
    drawn, counted = _with_dyad(*shuffled), _counts(*n_pairs)
    beside = (drawn[1:], _among_strangers(kind, session, own))
    asked, ends = counted >= FEWEST_PAIRS, _two_sided(len(parts))
    shuffles, others = (against(drawn[0], one, asked, closer=kind.closer, two_sided=ends) for one in beside)
    return Outcome(parts, drawn[0], counted, shuffles, without_p(others, session), each)


def _among_strangers(kind: Pairwise, session: AnnotatedSession, own: Any) -> Floats:
    """Return the figures of dialogues with strangers, (n_draws, 4, n_parts): first with clients, then with therapists.

    The stranger of a dialogue is one in both directions: two strangers would be half as different as one.
    """
    parts, two = parts_of(len(session)), directions(session, delay=kind.delay)
    if session.company is None or not any(direction.exchanged for direction in two):
        return np.full((0, len(DIRECTIONS), len(parts)), nan)
    theirs = session.company.whole.once(kind.represent)
    found = []
    for stranger in (CLIENT, THERAPIST):
        sides = [(own, theirs) if stranger == direction.role else (theirs, own) for direction in two]
        figures = (_among(kind, side, one, stranger, parts) for side, one in zip(sides, two, strict=True))
        found.append(_with_dyad(*figures))
    return np.concatenate(found)


def _among(
    kind: Pairwise, sides: tuple[Any, Any], direction: Direction, stranger: int, parts: tuple[Part, ...]
) -> Floats:
    if stranger not in direction.exchanged:
        return np.full((0, len(parts)), nan)
    return statistics(kind, sides, direction.exchanged[stranger], _bounds(direction, parts))[0]


def _bounds(direction: Direction, parts: tuple[Part, ...]) -> Ints:
    """Return which pairs belong to the parts (but the slope), from and up to, (2, n_parts - 1)."""
    edges = [[part.first for part in parts[:-1]], [part.last + 1 for part in parts[:-1]]]
    return np.searchsorted(direction.replies, np.array(edges))


def _n_defined(each: Floats, bounds: Ints) -> Floats:
    so_far = np.concatenate([[0], np.cumsum(~np.isnan(each))])
    n = so_far[bounds[1]] - so_far[bounds[0]]
    return np.append(n, n[0]).astype(np.float64)


def statistics(kind: Pairwise, sides: tuple[Any, Any], draws: Draws, bounds: Ints) -> tuple[Floats, Floats]:
    """Return the figures of all draws, (n_draws, n_parts), the slope last; and those of the first draw's pairs."""
    if not len(draws.reply_at):
        return np.full((draws.n_draws, bounds.shape[1] + 1), nan), np.zeros(0)
    rows: list[Floats] = []
    first = np.zeros(0)
    for terms, each in _portions(kind, sides, draws):
        first = first if rows else each[:, 0]
        rows.append(np.concatenate([kind.over(_sums(terms, bounds)), slopes(each)[None]]).T)
    return np.concatenate(rows), first


def _portions(kind: Pairwise, sides: tuple[Any, Any], draws: Draws) -> Iterator[tuple[Floats, Floats]]:
    """Yield the terms of the draws and what each pair comes to, (n_pairs, n_draws, ...), a portion of draws at a time.

    Looked up in a table of all pairs, where that is less work.
    """
    anchors, replies, each = draws.anchors, draws.replies, kind.each or kind.over
    n_pairs = len(draws.reply_at)
    if len(anchors) * len(replies) > TABLE_ADVANTAGE * draws.n_draws * n_pairs:
        n_terms = kind.terms(*sides, anchors[:1], replies[:1]).shape[-1]
        for anchor_at, reply_at in draws.portions(max(1, MOST_CELLS // (n_pairs * n_terms))):
            terms = kind.terms(*sides, *np.broadcast_arrays(anchors[anchor_at], replies[reply_at]))
            yield terms, each(terms)
        return
    table = kind.terms(*sides, anchors[:, None], replies[None, :])
    alone = None if kind.each else kind.over(table)
    for at in draws.portions(max(1, MOST_CELLS // (n_pairs * table.shape[-1]))):
        # What a pair comes to by `kind.each` may depend on the others of its draw, and is not looked up.
        yield table[at], each(table[at]) if alone is None else alone[at]


def _sums(terms: Floats, bounds: Ints) -> Floats:
    """Add up terms (n_pairs, n_draws, n_terms) over stretches of pairs: (n_stretches, n_draws, n_terms)."""
    lengths = bounds[1] - bounds[0]
    starts = np.append(0, np.cumsum(lengths))
    pairs = np.arange(starts[-1]) + np.repeat(bounds[0] - starts[:-1], lengths)
    # A sparse matrix adds up rows many times as fast as np.add.reduceat does.
    members = sparse.csr_array((np.ones(len(pairs), terms.dtype), pairs, starts), shape=(len(lengths), len(terms)))
    return (members @ terms.reshape(len(terms), -1)).reshape(-1, *terms.shape[1:])


def slopes(each: Floats) -> Floats:
    """Return how the values of draws change from the first pair to the last, (n_pairs, n_draws) to (n_draws,).

    The slope of least squares, the first pair at 0 and the last at 1; nan under `FEWEST_PAIRS` defined values.

    Examples
    --------
    >>> slopes(np.array([[0.0], [nan], [0.2], [0.3], [0.4]])).round(6).tolist()
    [0.4]
    """
    at = np.linspace(0, 1, len(each))
    defined = ~np.isnan(each)
    y = np.where(defined, each, 0.0)
    n, x, xx = np.stack([np.ones_like(at), at, at**2]) @ defined
    spread = n * xx - x**2
    few = (n < FEWEST_PAIRS) | (spread < 1e-9)
    return np.where(few, nan, (n * (at @ y) - x * y.sum(axis=0)) / np.where(few, 1.0, spread))


def _with_dyad(therapist: Floats, client: Floats) -> Floats:
    """Put both and the difference beside the two directions: (n_draws, 4, n_parts)."""
    n = max(len(therapist), len(client))
    # Who has no reply at all has no draws either.
    therapist, client = (one if len(one) else np.full((n, one.shape[1]), nan) for one in (therapist, client))
    both = np.where(np.isnan(therapist), client, np.where(np.isnan(client), therapist, (therapist + client) / 2))
    return np.stack([both, therapist, client, therapist - client], axis=1)


def _counts(therapist: Floats, client: Floats) -> Floats:
    """Return the pairs behind both, each, and the difference, which is as sure as the rarer of the two."""
    return np.stack([therapist + client, therapist, client, np.minimum(therapist, client)])


def _two_sided(n_parts: int) -> Bools:
    """Return for which directions and parts both ends of chance count, bool (4, n_parts)."""
    ends = np.zeros((len(DIRECTIONS), n_parts), dtype=np.bool_)
    ends[-1] = ends[:, -1] = True
    return ends
