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
    DRAWS,
    FEWEST_PAIRS,
    Bools,
    Chance,
    Closer,
    Drawn,
    Floats,
    Ints,
    against,
    replies_of,
    stranger_turns,
    strangers_of,
)
from therapy_analytics.measures.synchrony._draws import Draws, Replies
from therapy_analytics.measures.synchrony._stretches import Part, Spans, spans_of
from therapy_analytics.measures.synchrony._sums import Stretches
from therapy_analytics.measures.synchrony._surrogates import beside_surrogates
from therapy_analytics.registry import Registry
from therapy_analytics.session import CLIENT, THERAPIST

MOST_CELLS = 4_000_000
"""So many numbers are held at a time."""
MOST_PAIRS = 100_000
"""So many pairs of turns are held at a time, each of which has a few numbers."""
DIRECTIONS = ("both", "therapist", "client", "difference")
"""Who replies; both is the mean of the two, difference the therapist's replies less the client's."""
TABLE_ADVANTAGE = 2
"""Looking a pair up costs about half of computing it."""
SMALL = 2000
"""Tables of up to so many cells are rather filled all at once than one by one."""


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


def divided(products: Floats, squares: Floats) -> Floats:
    """Return cosines, from products of vectors and the products of their squared lengths; nan where one has none."""
    found = np.sqrt(squares)
    with np.errstate(invalid="ignore"):  # where one of the two is nothing, it is 0 / 0
        np.divide(products, found, out=found)
    return np.clip(found, -1.0, 1.0, out=found)


Found: TypeAlias = Callable[[slice], tuple[Floats, Callable[[], Floats]]]
"""Some of the draws to the figures of stretches, (n_stretches, n_draws), and to what gives those of each pair,
(n_pairs, n_draws)."""


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
    products : callable or None
        For scores that are cosines: ``products(anchor_side, reply_side, draws)`` of the two turns of each of the cells
        of draws, (n_cells,). What represents turns has their ``squares``, and the measure is symmetric.
    quick : callable or None
        ``quick(anchor_side, reply_side, draws, stretches)``: what gives the figures of some of the draws, see `Found`,
        where that is less work than by `terms`. The draws are of several sessions, which the stretches tell apart.
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
    products: Callable[[Any, Any, Draws], Floats] | None = None
    quick: Callable[[Any, Any, Draws, Stretches], Found] | None = None
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
    place = session.in_batch
    whole, number = (session, 0) if place is None else (place.whole, place.number)
    group = whole.once(_groups)[number]
    found = whole.once(lambda one: _outcomes(kind, one, group, course), key=(kind, course, group))
    return found[group.index(number)]


def _groups(whole: AnnotatedSession) -> list[tuple[int, ...]]:
    """Return for each session of a batch which of them are measured with it: of one company, with as many donors."""
    groups: dict[tuple[int, int], list[list[int]]] = {}
    n_turns = np.diff(whole.bounds)
    for number, session in enumerate(whole.sessions):
        of = (id(session.company), len(strangers_of(session))) if stranger_turns(session) else (0, 0)
        of_company = groups.setdefault(of, [[]])
        if of_company[-1] and n_turns[[*of_company[-1], number]].sum() * DRAWS > MOST_PAIRS:
            of_company.append([])
        of_company[-1].append(number)
    each = {number: tuple(group) for some in groups.values() for group in some for number in group}
    return [each[number] for number in range(len(each))]


def _outcomes(kind: Pairwise, whole: AnnotatedSession, group: tuple[int, ...], course: bool) -> list[Outcome]:
    """Return what a measure finds in some sessions of a batch."""
    drawn = whole.meanwhile(lambda one: replies_of(one, group, delay=kind.delay), key=("replies", group, kind.delay))
    key = ("spans", group, kind.delay, course)
    spans = whole.meanwhile(lambda one: _spans(one, group, drawn, course), key=key)
    found, each = _figures(kind, list(_asked(kind, whole, drawn)), spans, course)
    values, counted = found[..., 0], _counts(*_n_defined(each, spans))
    chances = _chances(kind, found, drawn.shuffled.n_draws, counted >= FEWEST_PAIRS, len(group), course)
    figures = np.stack([values, counted, *(one for chance in chances for one in chance.figures)])
    series = np.full(len(whole), nan)
    series[spans.replies] = each
    outcomes = []
    for place, number in enumerate(group):
        own = figures[:, :, spans.own(place)]
        shuffled, strangers = Chance(*own[2:6]), Chance(*own[6:])
        of_turns = series[whole.bounds[number] : whole.bounds[number + 1]].copy()  # a view would keep those of all
        outcomes.append(Outcome(spans.parts[place], own[0], own[1], shuffled, strangers, of_turns))
    return outcomes


def _chances(
    kind: Pairwise, found: Floats, n_shuffled: int, enough: Bools, n_slopes: int, course: bool
) -> Iterator[Chance]:
    """Yield what shuffles give, and surrogate pairs, for figures (4, n_parts, n_draws), the last of them slopes.

    Without the course, no table shows more of surrogate pairs than the wholes of both directions.
    """
    ends, shown = np.zeros((2, *enough.shape), dtype=np.bool_)
    ends[-1] = ends[:, -n_slopes:] = True
    shown[:] = course
    shown[0, :-n_slopes] = True
    shuffles, others = found[..., 1:n_shuffled].transpose(2, 0, 1), found[..., n_shuffled:].transpose(2, 0, 1)
    yield against(found[..., 0], shuffles, enough, closer=kind.closer, two_sided=ends)
    yield beside_surrogates(found[..., 0], others, enough & shown, closer=kind.closer, two_sided=ends)


def _spans(whole: AnnotatedSession, group: tuple[int, ...], drawn: Drawn, course: bool) -> Spans:
    sessions, firsts = [whole.sessions[number] for number in group], whole.bounds[list(group)].tolist()
    return spans_of(sessions, drawn.turns, firsts, course=course)


def _asked(kind: Pairwise, whole: AnnotatedSession, drawn: Drawn) -> Iterator[tuple[tuple[Any, Any], Replies]]:
    """Yield the draws of sessions, with what stands for their turns: of the therapist's replies the turns before first.

    First the sessions as they are and their shuffles, then the surrogate dialogues, see `EXCHANGES`.
    """
    own = (whole.once if whole.parts else whole.meanwhile)(kind.represent)
    yield (own, own), drawn.shuffled
    if drawn.company is not None:
        theirs = drawn.company.whole.once(kind.represent)
        for whose, replies in drawn.exchanged.items():
            therapist, client = (theirs if role in whose else own for role in (THERAPIST, CLIENT))
            yield (client, therapist), replies


def _n_defined(each: Floats, spans: Spans) -> Floats:
    """Return the pairs with a value of each part, the slopes' as the wholes': the therapists', and the clients'."""
    n = spans.of_both.counts(~np.isnan(each)).reshape(2, -1)
    return np.concatenate([n, n[:, spans.starts[:-1]]], axis=1).astype(np.float64)


def _figures(
    kind: Pairwise, asked: Sequence[tuple[tuple[Any, Any], Replies]], spans: Spans, course: bool
) -> tuple[Floats, Floats]:
    """Return the figures of all draws, (4, n_parts, n_draws); and what each pair of the first draw comes to.

    The parts of all sessions but the slopes, and then these: with strangers only where the course is asked for.
    """
    n_pairs, n_parts, n_draws = len(spans.replies), spans.starts[-1], sum(replies.n_draws for _, replies in asked)
    found, each = np.full((len(DIRECTIONS), n_parts + len(spans.parts), n_draws), nan), np.empty(n_pairs)
    both, therapist, client, difference = found
    drawn = _by_quick if kind.quick else _by_score if kind.score else _by_terms
    most, start = max(1, MOST_PAIRS // max(n_pairs, 1)), 0
    for sides, replies in asked:
        some = drawn(kind, sides, replies, spans)
        for first in range(0, replies.n_draws, most):
            part = slice(first, min(first + most, replies.n_draws))
            at = slice(start + part.start, start + part.stop)
            of_parts, of_each = some(part)
            found[1:3, :n_parts, at] = of_parts.reshape(2, n_parts, -1)
            if course or not start:
                values = of_each()
                found[1:3, n_parts:, at] = spans.slopes.of(values).reshape(2, len(spans.parts), -1)
            if not at.start:
                each[:] = values[:, 0]
        start += replies.n_draws
    np.subtract(therapist, client, out=difference)
    both[:] = _of_both(therapist, client)
    return found, each


def _by_terms(kind: Pairwise, sides: tuple[Any, Any], replies: Replies, spans: Spans) -> Found:
    """Return the figures by what pairs add up."""

    def computed(one: Any, other: Any, before: Ints, after: Ints) -> tuple[Floats, ...]:
        terms = kind.terms(one, other, before, after)
        # What a pair comes to by `kind.each` may depend on the others of its dialogue.
        return (terms, kind.over(terms)) if kind.each is None else (terms,)

    def each(terms: Floats) -> Floats:
        assert kind.each is not None  # noqa: S101 (asked only of those)
        by_dialogue = (terms[first:stop] for first, stop in spans.of_both.of_sessions if stop > first)
        return np.concatenate([np.zeros((0, terms.shape[1])), *map(kind.each, by_dialogue)])

    found = looked_up(computed, kind, sides, replies)

    def drawn(part: slice) -> tuple[Floats, Callable[[], Floats]]:
        terms, *alone = found(part)
        return kind.over(spans.of_both.sums(terms)), lambda: alone[0] if alone else each(terms)

    return drawn


def _by_score(kind: Pairwise, sides: tuple[Any, Any], replies: Replies, spans: Spans) -> Found:
    """Return the figures that are means of one number."""
    score = kind.score
    assert score is not None  # noqa: S101 (asked only of those)
    if kind.products is not None and replies.at.size < replies.each[0].n_cells and _in_tables(kind, replies):
        found = _cosines(kind.products(*sides, replies.each[0]), sides, replies)
    else:
        found = looked_up(lambda *of: (score(*of),), kind, sides, replies)

    def drawn(part: slice) -> tuple[Floats, Callable[[], Floats]]:
        (values,) = found(part)
        return spans.of_both.means(values), lambda: values

    return drawn


def _cosines(table: Floats, sides: tuple[Any, Any], replies: Replies) -> Callable[[slice], tuple[Floats, ...]]:
    """Return what `looked_up` does for cosines, from the products of all cells: divided only where they are asked for.

    Less work where cells are more than pairs: with strangers, most are of turns that never stand beside each other.
    """
    ways = [
        (draws, one.squares.take(draws.anchors), other.squares.take(draws.replies))
        for draws, (one, other) in zip(replies.each, (sides, sides[::-1]), strict=True)
    ]

    def found(part: slice) -> tuple[Floats, ...]:
        at = [(draws.some(part), before, after) for draws, before, after in ways]
        squares = [before.take(anchor_at) * after.take(reply_at) for (anchor_at, reply_at), before, after in at]
        return (divided(table.take(replies.at[:, part]), np.concatenate(squares)),)

    return found


def _by_quick(kind: Pairwise, sides: tuple[Any, Any], replies: Replies, spans: Spans) -> Found:
    """Return the figures by the measure's own way."""
    quick = kind.quick
    assert quick is not None  # noqa: S101 (asked only of those)
    ways = zip((sides, sides[::-1]), replies.each, spans.of_each, strict=True)
    asked = [quick(*those, draws, stretches) for those, draws, stretches in ways]

    def drawn(part: slice) -> tuple[Floats, Callable[[], Floats]]:
        of_parts, of_each = zip(*(one(part) for one in asked), strict=True)
        return np.concatenate(of_parts), lambda: np.concatenate([each() for each in of_each])

    return drawn


def looked_up(
    compute: Callable[[Any, Any, Ints, Ints], tuple[Floats, ...]],
    kind: Pairwise,
    sides: tuple[Any, Any],
    replies: Replies,
) -> Callable[[slice], tuple[Floats, ...]]:
    """Return what gives values of the pairs of some draws, (n_pairs, n_draws, ...): the therapists', then the clients'.

    Looked up in tables of all pairs, where that is less work; see `Pairwise.tables`.
    """
    therapists, clients = replies.each
    ways = [(sides, therapists), (sides, clients.turned()) if kind.symmetric else (sides[::-1], clients)]
    if not _in_tables(kind, replies):

        def computed(part: slice) -> tuple[Floats, ...]:
            each = (compute(*those, *draws.turns(part)) for those, draws in ways)
            return tuple(map(np.concatenate, zip(*each, strict=True)))

        return computed
    asked = ways[:1] if kind.symmetric else ways
    each = [_table(partial(compute, *those), draws, at_once=kind.tables == 1) for those, draws in asked]
    table = each[0] if kind.symmetric else [np.concatenate(one) for one in zip(*each, strict=True)]
    at = replies.at if kind.symmetric else np.concatenate([therapists.at(), therapists.n_cells + clients.at()])
    return lambda part: tuple(one.take(at[:, part], axis=0) for one in table)


def _in_tables(kind: Pairwise, replies: Replies) -> bool:
    """Whether it is less work to compute all cells and look pairs up."""
    n_cells = replies.each[0].n_cells * (1 if kind.symmetric else 2)
    return n_cells <= TABLE_ADVANTAGE * kind.tables * replies.at.size


def of_cells(compute: Callable[[Ints, Ints], Floats], draws: Draws) -> Floats:
    """Return the values of all cells of draws, (n_cells,), of which a table costs less than its pairs one by one."""
    (found,) = _table(lambda *of: (compute(*of),), draws, at_once=False)
    return found


def _table(compute: Callable[[Ints, Ints], tuple[Floats, ...]], draws: Draws, *, at_once: bool) -> Sequence[Floats]:
    """Return the values of all cells of draws: at once, or table by table where that is less work."""
    if at_once or draws.n_cells <= SMALL * draws.sizes.shape[1]:
        anchor, reply = draws.cells()
        return compute(draws.anchors.take(anchor), draws.replies.take(reply))
    each = ([one.reshape(-1, *one.shape[2:]) for one in compute(*those)] for those in draws.tables())
    return [np.concatenate(one) for one in zip(*each, strict=True)]


def _of_both(therapist: Floats, client: Floats) -> Floats:
    """Return the mean of the two, or the one that there is."""
    both = (therapist + client) / 2
    if np.isnan(both).any():
        return np.where(np.isnan(therapist), client, np.where(np.isnan(client), therapist, both))
    return both


def _counts(therapist: Floats, client: Floats) -> Floats:
    """Return the pairs behind both, each, and the difference, which is as sure as the rarer of the two."""
    return np.stack([therapist + client, therapist, client, np.minimum(therapist, client)])
