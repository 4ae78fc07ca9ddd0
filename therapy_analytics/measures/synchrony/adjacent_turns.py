"""Adjacent-turn measures: how alike is a reply to the turn before it, over the session and along it.

How to add a measure: say what it needs of each turn (`represent`), and how alike two turns are (`score`); hand an
`AdjacentTurnMeasure` to `adjacent_turn_measure`. All that stands beside the value (who follows whom, thirds, windows,
slope, shuffles, surrogate pairs, columns and rows of the tables) follows from these. Where the value of several replies
is not the mean of one number each, the measure says what replies add up (`terms`) and what sums of them come to
(`over`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from scipy import sparse

from therapy_analytics.language import AnnotatedSession, Extra
from therapy_analytics.language.integers import consecutive, distinct
from therapy_analytics.measures._base import Direction, Evidence
from therapy_analytics.measures._turns import THIRDS
from therapy_analytics.measures.null.shuffles import FEWEST_PAIRS, permutations
from therapy_analytics.measures.null.summary import Closer, Floats, NullSummary, beside_shuffles, beside_surrogates
from therapy_analytics.measures.null.surrogates import Ints, pool_of, pooled
from therapy_analytics.registry import Registry
from therapy_analytics.session import CLIENT, THERAPIST

DIRECTIONS: tuple[Direction, ...] = ("both", "therapist", "client", "difference")
"""Who replies; both is the mean of the two, difference the therapist's replies less the client's."""
WHOLE, WINDOW_NAME, SLOPE = "whole", "window", "slope"
WINDOW, STEP = 20, 5
"""Turns of a sliding window, and between the beginnings of two."""
_MOST_PAIRS = 500_000
"""So many pairs of turns are scored at a time."""
_MOST_ROWS = 256
"""Of so many pairs, with all their draws, a table is made at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjacentTurnMeasure:
    """A measure of replies and the turns before them.

    Attributes
    ----------
    name, series : str
        Columns of the sessions table (over the session) and the turns table (each reply).
    meaning, unit, formula, misleads, source : str
        As in `Column`, of one pair of turns.
    represent : callable
        What the measure needs of each turn: an array (n_turns, ...) or `TokenRows` of a session.
    score : callable or None
        ``score(turns, anchors, replies)``: how alike replies are to the turns before, (n_pairs, n_draws), nan where
        undefined. Anchors and replies are positions among the turns, int64 (n_pairs, n_draws).
        None where `terms` say it.
    terms : callable or None
        ``terms(turns, anchors, replies)``: what pairs add up, (n_pairs, n_draws, n_terms), never nan. None where the
        value of several replies is the mean of their scores.
    over : callable or None
        What sums of terms over pairs come to, (..., n_terms) to (...).
    each : callable or None
        What the terms of all pairs of dialogues, (n_pairs, n_draws, n_terms), come to for each pair, (n_pairs,
        n_draws); `over` of each by itself if None.
    low, high : float
        Range of the value.
    closer : {"higher", "lower"}
        Which values mean more synchrony.
    extra : str or None
        What must be asked for, because it is costly; see `Extra`.
    core : bool
        Whether every run computes it.
    shown : bool
        Whether ``sessions.csv`` has its value and z.
    variant : bool
        Whether it is another form of a measure that stands for it where families of measures are compared.
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
    score: Callable[[Any, Ints, Ints], Floats] | None = None
    terms: Callable[[Any, Ints, Ints], Floats] | None = None
    over: Callable[[Floats], Floats] | None = None
    each: Callable[[Floats], Floats] | None = None
    low: float = 0.0
    high: float = 1.0
    closer: Closer = "higher"
    extra: Extra | None = None
    delay: int = 1
    core: bool = False
    shown: bool = False
    variant: bool = False
    evidence: Evidence = "supported"


ADJACENT: Registry[AdjacentTurnMeasure] = Registry(
    "measure of adjacent turns", package="therapy_analytics.measures.synchrony"
)


def adjacent_turn_measure(kind: AdjacentTurnMeasure) -> AdjacentTurnMeasure:
    """Register a measure of adjacent turns, so that `synchrony` finds it by its name."""
    ADJACENT.add(kind.name, kind, module=kind.represent.__module__)
    return kind


# ---- which turn replies to which


def pairs_of(session: AnnotatedSession, role: int, delay: int = 1) -> tuple[Ints, Ints]:
    """Return the turns of a role that stand right behind one of the other, and the turns that they are compared with.

    Both have words, and all between them are of these two in turn.

    Returns
    -------
    anchors, replies : int64 array (n_pairs,)
        In order.
    """
    roles, spoken = session.turns.roles, session.n_words > 0
    back = 2 * delay - 1
    of_role, of_other = spoken & (roles == role), spoken & (roles == (CLIENT if role == THERAPIST else THERAPIST))
    fits = of_role[back:].copy()
    for step in range(1, back + 1):
        fits &= (of_other if step % 2 else of_role)[back - step : max(len(roles) - step, 0)]
    replies = np.flatnonzero(fits) + back
    return replies - back, replies


@dataclass(frozen=True, slots=True, eq=False)
class Replies:
    """The replies of one of the two, in the session, its surrogate pairs and its shuffles.

    Attributes
    ----------
    turns : int64 array (n_pairs,)
        The turns of the session that reply.
    anchors, replies : int64 array (n_pairs, n_draws)
        Positions in the `Pool`. The first draws are each therapist with each client, (1 + n_donors) ** 2, the client
        changing first; so draw 0 is the session itself. Shuffles of the replies follow.
    """

    turns: Ints
    anchors: Ints
    replies: Ints


def replies_of(session: AnnotatedSession, delay: int = 1) -> tuple[Replies, Replies]:
    """Return the therapist's replies to the client, and the client's to the therapist; drawn once a session."""
    return session.cached(lambda one: _replies_of(one, delay), key=(replies_of, delay))


def _replies_of(session: AnnotatedSession, delay: int) -> tuple[Replies, Replies]:
    pool, generator = pool_of(session), session.generator()
    therapist, client = np.divmod(np.arange(len(pool.therapists) ** 2), len(pool.therapists))
    speakers = {THERAPIST: pool.therapists[therapist], CLIENT: pool.clients[client]}
    found = []
    for role, other in ((THERAPIST, CLIENT), (CLIENT, THERAPIST)):
        anchors, replies = pairs_of(session, role, delay)
        places = [np.searchsorted(speakers[one][0], turns) for one, turns in ((other, anchors), (role, replies))]
        shuffled = permutations(replies, generator)
        of_pairs = (speakers[other][:, places[0]], speakers[role][:, places[1]])
        both = [
            np.concatenate([of_pairs[0], np.broadcast_to(anchors, shuffled.shape)]),
            np.concatenate([of_pairs[1], shuffled]),
        ]
        found.append(Replies(replies, *(np.ascontiguousarray(one.T) for one in both)))
    return found[0], found[1]


# ---- segments of a session


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a session: turns ``first`` to ``last``, both in it."""

    name: str
    first: int
    last: int


def segments_of(n_turns: int) -> tuple[Segment, ...]:
    """Return the segments that values are given for: the whole, its thirds, sliding windows, and last the slope.

    Examples
    --------
    >>> [(one.name, one.first, one.last) for one in segments_of(25)]  # doctest: +NORMALIZE_WHITESPACE
    [('whole', 0, 24), ('third_1', 0, 8), ('third_2', 9, 16), ('third_3', 17, 24),
     ('window', 0, 19), ('window', 5, 24), ('slope', 0, 24)]
    """
    last = n_turns - 1
    bounds = [-(-n_turns * k // 3) for k in range(4)]
    thirds = [Segment(name, bounds[k], bounds[k + 1] - 1) for k, name in enumerate(THIRDS)]
    windows = [Segment(WINDOW_NAME, first, first + WINDOW - 1) for first in range(0, n_turns - WINDOW + 1, STEP)]
    return (Segment(WHOLE, 0, last), *thirds, *windows, Segment(SLOPE, 0, last))


def _members(turns: Ints, segments: tuple[Segment, ...]) -> sparse.csr_array:
    """Return 1 where a reply lies in a segment, else 0, (n_segments, n_pairs); sparse, as windows hold few replies."""
    first, last = (np.array(ends) for ends in zip(*((one.first, one.last) for one in segments), strict=True))
    begin, end = np.searchsorted(turns, first), np.searchsorted(turns, last, side="right")
    pair, segment = consecutive(begin, end - begin)
    return sparse.csr_array((np.ones(len(pair)), (segment, pair)), shape=(len(segments), len(turns)))


# ---- values


def mean_scores(scores: Floats, members: sparse.csr_array) -> Floats:
    """Return the means of the defined scores of each segment.

    Parameters
    ----------
    scores : float64 array (n_pairs, n_draws)
        Nan where undefined.
    members : sparse float64 array (n_segments, n_pairs)
        1 where a pair lies in a segment, else 0.

    Returns
    -------
    float64 array (n_segments, n_draws)
        Nan of nothing.
    """
    known = ~np.isnan(scores)
    n = members @ known.astype(np.float64)
    return np.where(n > 0, members @ np.where(known, scores, 0.0) / np.maximum(n, 1), nan)


def slopes(scores: Floats) -> Floats:
    """Return the slope of least squares of scores on the pair's place, 0 for the first and 1 for the last.

    Parameters
    ----------
    scores : float64 array (n_pairs, n_draws)
        Nan where undefined.

    Returns
    -------
    float64 array (n_draws,)
        Nan under `FEWEST_PAIRS` defined scores.

    Examples
    --------
    >>> slopes(np.array([[0.0], [nan], [0.2], [0.3], [0.4]])).round(6).tolist()
    [0.4]
    """
    place, known = (np.arange(len(scores)) / max(len(scores) - 1, 1))[:, None], ~np.isnan(scores)
    y = np.where(known, scores, 0.0)
    n, sum_x, sum_xx = (np.where(known, one, 0.0).sum(axis=0) for one in (1.0, place, place**2))
    spread = n * sum_xx - sum_x**2
    few = (n < FEWEST_PAIRS) | (spread < 1e-9)
    return np.where(few, nan, (n * (place * y).sum(axis=0) - sum_x * y.sum(axis=0)) / np.where(few, 1.0, spread))


def _of_draws(
    kind: AdjacentTurnMeasure, turns: Any, replies: Replies, members: sparse.csr_array
) -> tuple[Floats, Floats]:
    """Return the value of each segment and draw, (n_segments, n_draws), and of each reply of the session, (n_pairs,).

    The last of the segments is the slope.
    """
    n_pairs, n_draws = replies.replies.shape
    values, of_turns = np.empty((members.shape[0], n_draws)), np.empty(0)
    at_a_time = max(1, _MOST_PAIRS // max(n_pairs, 1))
    for first in range(0, n_draws, at_a_time):
        some = slice(first, first + at_a_time)
        pairs = turns, replies.anchors[:, some], replies.replies[:, some]
        if kind.score is not None:
            scores = kind.score(*pairs)
            values[:, some] = mean_scores(scores, members)
        else:
            assert kind.terms is not None and kind.over is not None  # noqa: S101, PT018 (a measure has the one or both)
            terms = kind.terms(*pairs)
            scores = (kind.each or kind.over)(terms)
            sums = members @ terms.reshape(n_pairs, math.prod(terms.shape[1:]))
            values[:, some] = kind.over(sums.reshape(len(values), *terms.shape[1:]))
        values[-1, some] = slopes(scores)
        of_turns = scores[:, 0] if first == 0 else of_turns
    return values, of_turns


# ---- what is found in a session


@dataclass(frozen=True, slots=True, eq=False)
class AdjacentResult:
    """What a measure of adjacent turns finds in a session: rows are `DIRECTIONS`, columns its `Segment`.

    Attributes
    ----------
    segments : tuple of Segment
        The columns.
    values, n_pairs : float64 array (4, n_segments)
        The values, and the pairs that they rest on.
    shuffled, surrogate : NullSummary
        The values beside shuffles, and beside surrogate pairs.
    series : float64 array (n_turns,)
        The value of each turn that replies; nan for the others.
    """

    segments: tuple[Segment, ...]
    values: Floats
    n_pairs: Floats
    shuffled: NullSummary
    surrogate: NullSummary
    series: Floats


def adjacent_result(kind: AdjacentTurnMeasure, session: AnnotatedSession) -> AdjacentResult:
    """Return what a measure finds in a session; computed once."""
    return session.cached(lambda one: _result(kind, one), key=kind)


def _result(kind: AdjacentTurnMeasure, session: AnnotatedSession) -> AdjacentResult:
    turns, segments = pooled(session, kind.represent), segments_of(len(session))
    series, by_role, n_by_role = np.full(len(session), nan), [], []
    for replies in replies_of(session, kind.delay):
        members = _members(replies.turns, segments)
        values, of_turns = _of_draws(kind, turns, replies, members)
        series[replies.turns] = of_turns
        by_role.append(values)
        n_by_role.append(members @ (~np.isnan(of_turns)).astype(np.float64))
    values, n_pairs = _by_direction(*by_role), _pairs_by_direction(*n_by_role)
    size = len(pool_of(session).therapists)
    tables, shuffles = np.split(values, [size * size], axis=-1)
    asked, two_sided = n_pairs >= FEWEST_PAIRS, np.zeros(n_pairs.shape, dtype=np.bool_)
    two_sided[DIRECTIONS.index("difference")] = two_sided[:, -1] = True
    return AdjacentResult(
        segments,
        values[..., 0],
        n_pairs,
        beside_shuffles(values[..., 0], shuffles, asked, closer=kind.closer, two_sided=two_sided),
        beside_surrogates(tables.reshape(*asked.shape, size, size), asked, closer=kind.closer, two_sided=two_sided),
        series,
    )


def _by_direction(therapist: Floats, client: Floats) -> Floats:
    """Return values by `DIRECTIONS`, (4, ...): both is the mean of the two, or the one that there is."""
    mean = (therapist + client) / 2
    both = np.where(np.isnan(therapist), client, np.where(np.isnan(client), therapist, mean))
    return np.stack([both, therapist, client, therapist - client])


def _pairs_by_direction(therapist: Floats, client: Floats) -> Floats:
    """Return the pairs behind values by `DIRECTIONS`; a difference is as sure as the rarer of the two."""
    return np.stack([therapist + client, therapist, client, np.minimum(therapist, client)])


def by_table(table: Callable[[Ints, Ints], Floats], n_turns: int, anchors: Ints, replies: Ints) -> Floats:
    """Score pairs by a table of each of the anchors with each of the replies.

    Shuffles and surrogate pairs ask for the same turns over and over; where a matrix product gives all of them at once,
    this is less work than to score pairs one by one.

    Parameters
    ----------
    table : callable
        Of two arrays of positions, (n_anchors,) and (n_replies,): scores (n_anchors, n_replies).
    n_turns : int
        Positions are below this.
    anchors, replies : int64 array (n_pairs, n_draws)
        The pairs.

    Returns
    -------
    float64 array (n_pairs, n_draws)
    """
    found = []
    for first in range(0, max(len(anchors), 1), _MOST_ROWS):
        some = slice(first, first + _MOST_ROWS)
        (rows, row), (columns, column) = distinct(anchors[some], n_turns), distinct(replies[some], n_turns)
        found.append(table(rows, columns)[row, column])
    return np.concatenate(found)
