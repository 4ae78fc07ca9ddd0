"""Synchrony of neighbouring turns: value, direction, course over the session, and chance.

How to add a measure: say what it needs of a turn (`represent`), and what a reply and the turn before add to the
figures that it is made of (`terms`); hand a `Pairwise` to `pairwise`. All that stands beside the value (who follows
whom, thirds, windows, slope, shuffles, strangers, columns and rows of the tables) follows from these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any, TypeAlias

import numpy as np

from therapy_analytics.language import AnnotatedSession, Extra
from therapy_analytics.measures._base import Evidence
from therapy_analytics.measures.synchrony._chance import (
    FEWEST_PAIRS,
    Bools,
    Chance,
    Closer,
    Draws,
    Floats,
    Ints,
    Replies,
    against,
    replies_of,
    without_p,
)
from therapy_analytics.measures.synchrony._stretches import Part, Spans, Stretches, slopes, spans_of
from therapy_analytics.registry import Registry
from therapy_analytics.session import CLIENT, THERAPIST

MOST_CELLS = 4_000_000
"""So many numbers are held at a time."""
MOST_PAIRS = 20_000
"""So many pairs of turns are held at a time, each of which has a few numbers."""
DIRECTIONS = ("both", "therapist", "client", "difference")
"""Who replies; both is the mean of the two, difference the therapist's replies less the client's."""
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


Drawn: TypeAlias = Callable[[slice], tuple[Floats, Floats]]
"""Some of the draws to the figures of stretches, (n_stretches, n_draws), and of each pair, (n_pairs, n_draws)."""


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
    score : callable or None
        For measures whose figure is the mean of one number, nan where undefined: ``score(anchor_side, reply_side,
        anchors, replies)``, the numbers that `terms` are `scores` of.
    quick : callable or None
        ``quick(anchor_side, reply_side, draws, stretches)``: what gives the figures of some of the draws, see `Drawn`,
        where that is less work than by `terms`.
    low, high : float
        Range of the value.
    closer : {"higher", "lower"}
        Which values mean more synchrony.
    extra : str or None
        What must be asked for, because it is costly; see `Extra`.
    symmetric : bool
        Whether a pair comes to the same whichever of the two turns replies.
    tables : int
        How much less a value costs in a table of all pairs, as a part of what it costs in one of other measures.
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
    score: Callable[[Any, Any, Ints, Ints], Floats] | None = None
    quick: Callable[[Any, Any, Draws, Stretches], Drawn] | None = None
    low: float = 0.0
    high: float = 1.0
    closer: Closer = "higher"
    extra: Extra | None = None
    symmetric: bool = False
    tables: int = 1
    delay: int = 1
    evidence: Evidence = "supported"


PAIRWISE: Registry[Pairwise] = Registry("measure of neighbouring turns", package="therapy_analytics.measures.synchrony")


def pairwise(kind: Pairwise) -> Pairwise:
    """Register a measure of neighbouring turns, so that `synchrony` finds it by its name."""
    PAIRWISE.add(kind.name, kind, module=kind.represent.__module__)
    return kind


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


def outcome(kind: Pairwise, session: AnnotatedSession, *, course: bool = True) -> Outcome:
    """Return what a measure finds in a session, with the thirds and windows of its course or without; computed once."""
    course = course or session.course  # what will be asked for with it, is not computed without it first
    return session.once(lambda one: _outcome(kind, one, course), key=(kind, course))


def _outcome(kind: Pairwise, session: AnnotatedSession, course: bool) -> Outcome:
    key = ("spans", kind.delay, course)
    spans = session.meanwhile(lambda one: spans_of(one, kind.delay, course=course), key=key)
    asked = list(_asked(kind, session))
    found, each = _figures(kind, asked, spans)
    counted = _counts(*_n_defined(each, spans.of_both))
    series = np.full(len(session), nan)
    series[spans.replies] = each
    values, n_shuffled = found[..., 0].copy(), asked[0][1].n_draws  # a view would keep all draws
    enough, ends = counted >= FEWEST_PAIRS, _two_sided(len(spans.parts))
    draws = (one.transpose(2, 0, 1) for one in (found[..., 1:n_shuffled], found[..., n_shuffled:]))
    shuffles, others = (against(values, one, enough, closer=kind.closer, two_sided=ends) for one in draws)
    return Outcome(spans.parts, values, counted, shuffles, without_p(others, session), series)


def _asked(kind: Pairwise, session: AnnotatedSession) -> Iterator[tuple[tuple[Any, Any], Replies]]:
    """Yield the draws of a session, with what stands for its turns: of the therapist's replies the turns before first.

    First the session as it is and its shuffles, then dialogues with strangers as clients, then as therapists. The
    stranger of a dialogue is one in both directions: two strangers would be half as different as one.
    """
    own, drawn = session.meanwhile(kind.represent), replies_of(session, delay=kind.delay)
    yield (own, own), drawn.shuffled
    if session.company is not None and drawn.exchanged:
        theirs = session.company.whole.once(kind.represent)
        yield (theirs, own), drawn.exchanged[CLIENT]
        yield (own, theirs), drawn.exchanged[THERAPIST]


def _n_defined(each: Floats, stretches: Stretches) -> Floats:
    """Return the pairs with a value of each part, the slope's as the whole's: the therapist's, and the client's."""
    n = stretches.counts(~np.isnan(each)).reshape(2, -1)
    return np.concatenate([n, n[:, :1]], axis=1).astype(np.float64)


def _figures(kind: Pairwise, asked: Sequence[tuple[tuple[Any, Any], Replies]], spans: Spans) -> tuple[Floats, Floats]:
    """Return the figures of all draws, (4, n_parts, n_draws); and what each pair of the first draw comes to."""
    n_pairs, n_draws = len(spans.replies), sum(replies.n_draws for _, replies in asked)
    if not n_pairs:
        return np.full((len(DIRECTIONS), len(spans.parts), n_draws), nan), np.zeros(0)
    found, each = np.empty((len(DIRECTIONS), len(spans.parts), n_draws)), np.empty((n_pairs, n_draws))
    both, therapist, client, difference = found
    drawn = _by_quick if kind.quick else _by_score if kind.score else _by_terms
    most, start = max(1, MOST_PAIRS // n_pairs), 0
    for sides, replies in asked:
        some = drawn(kind, sides, replies, spans)
        for first in range(0, replies.n_draws, most):
            part = slice(first, min(first + most, replies.n_draws))
            at = slice(start + part.start, start + part.stop)
            of_parts, each[:, at] = some(part)
            found[1:3, :-1, at] = of_parts.reshape(2, -1, of_parts.shape[1])
        start += replies.n_draws
    therapist[-1], client[-1] = slopes(each[: spans.n_therapist]), slopes(each[spans.n_therapist :])
    np.subtract(therapist, client, out=difference)
    both[:] = _of_both(therapist, client)
    return found, each[:, 0]


def _ways(kind: Pairwise, sides: tuple[Any, Any], replies: Replies) -> list[tuple[tuple[Any, Any], Draws]]:
    """Return the sides and the draws to be asked for: the therapist's replies and the client's, or both at once."""
    if kind.symmetric:
        return [(sides, replies.together)]
    return [way for way in zip((sides, sides[::-1]), replies.each, strict=True) if way[1].n_pairs]


def _by_terms(kind: Pairwise, sides: tuple[Any, Any], replies: Replies, spans: Spans) -> Drawn:
    """Return the figures by what pairs add up."""

    def computed(one: Any, other: Any, before: Ints, after: Ints) -> tuple[Floats, ...]:
        terms = kind.terms(one, other, before, after)
        # What a pair comes to by `kind.each` may depend on the others of its dialogue.
        return (terms, kind.over(terms)) if kind.each is None else (terms,)

    ways = _ways(kind, sides, replies)
    asked = [looked_up(partial(computed, *those), draws, kind.tables) for those, draws in ways]

    def drawn(part: slice) -> tuple[Floats, Floats]:
        terms, *alone = (np.concatenate(one) for one in zip(*(one(part) for one in asked), strict=True))
        both = (terms[: spans.n_therapist], terms[spans.n_therapist :])
        each = alone[0] if kind.each is None else np.concatenate([kind.each(one) for one in both if len(one)])
        return kind.over(spans.of_both.sums(terms)), each

    return drawn


def _by_score(kind: Pairwise, sides: tuple[Any, Any], replies: Replies, spans: Spans) -> Drawn:
    """Return the figures that are means of one number."""
    score = kind.score
    assert score is not None  # noqa: S101 (asked only of those)

    def computed(one: Any, other: Any, before: Ints, after: Ints) -> tuple[Floats, ...]:
        return (score(one, other, before, after),)

    ways = _ways(kind, sides, replies)
    asked = [looked_up(partial(computed, *those), draws, kind.tables) for those, draws in ways]
    lengths = spans.of_both.bounds[1] - spans.of_both.bounds[0]

    def drawn(part: slice) -> tuple[Floats, Floats]:
        found = [one(part)[0] for one in asked]
        each = found[0] if len(found) == 1 else np.concatenate(found)
        undefined = np.isnan(each)
        any_is = bool(undefined.any())
        total = spans.of_both.sums(np.where(undefined, 0.0, each) if any_is else each)
        n = spans.of_both.counts(~undefined) if any_is else lengths[:, None]
        return np.where(n > 0, total / np.maximum(n, 1), nan), each

    return drawn


def _by_quick(kind: Pairwise, sides: tuple[Any, Any], replies: Replies, spans: Spans) -> Drawn:
    """Return the figures by the measure's own way."""
    quick, n_parts = kind.quick, len(spans.parts) - 1
    assert quick is not None  # noqa: S101 (asked only of those)
    ways = zip((sides, sides[::-1]), replies.each, spans.of_each, strict=True)
    asked = [quick(*those, draws, stretches) if draws.n_pairs else None for those, draws, stretches in ways]

    def drawn(part: slice) -> tuple[Floats, Floats]:
        n = len(range(*part.indices(replies.n_draws)))
        none = np.full((n_parts, n), nan), np.zeros((0, n))
        found = [none if one is None else one(part) for one in asked]
        of_parts, each = (np.concatenate(one) for one in zip(*found, strict=True))
        return of_parts, each

    return drawn


def looked_up(
    compute: Callable[[Ints, Ints], tuple[Floats, ...]], draws: Draws, tables: int = 1
) -> Callable[[slice], tuple[Floats, ...]]:
    """Return what gives values of the pairs of some draws, (n_pairs, n_draws, ...).

    Looked up in a table of all pairs, where that is less work; see `Pairwise.tables`.
    """
    anchors, replies = draws.anchors, draws.replies

    def computed(part: slice) -> tuple[Floats, ...]:
        anchor_at, reply_at = draws.some(part)
        return compute(*np.broadcast_arrays(anchors[anchor_at], replies[reply_at]))

    if len(anchors) * len(replies) > TABLE_ADVANTAGE * tables * draws.n_draws * draws.n_pairs:
        return computed
    table = [one.reshape(-1, *one.shape[2:]) for one in compute(anchors[:, None], replies[None, :])]

    def found(part: slice) -> tuple[Floats, ...]:
        anchor_at, reply_at = draws.some(part)
        at = anchor_at * len(replies) + reply_at
        return tuple(one.take(at, axis=0) for one in table)

    return found


def _of_both(therapist: Floats, client: Floats) -> Floats:
    """Return the mean of the two, or the one that there is."""
    both = (therapist + client) / 2
    if np.isnan(both).any():
        return np.where(np.isnan(therapist), client, np.where(np.isnan(client), therapist, both))
    return both


def _counts(therapist: Floats, client: Floats) -> Floats:
    """Return the pairs behind both, each, and the difference, which is as sure as the rarer of the two."""
    return np.stack([therapist + client, therapist, client, np.minimum(therapist, client)])


def _two_sided(n_parts: int) -> Bools:
    """Return for which directions and parts both ends of chance count, bool (4, n_parts)."""
    ends = np.zeros((len(DIRECTIONS), n_parts), dtype=np.bool_)
    ends[-1] = ends[:, -1] = True
    return ends
