"""Adjacent-turn measures: how alike is a reply to the turn before it, over the session and along it.

How to add a measure: say what it needs of each turn (`represent`), and how alike a reply is to the turn before
(`score`); hand an `AdjacentTurnMeasure` to `adjacent_turn_measure`. Who follows whom, thirds, windows, slope, shuffles,
surrogate pairs, columns and rows of the tables follow from these. Shuffles and surrogate pairs call `score` on other
turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from therapy_analytics.core.registry import Registry
from therapy_analytics.core.session import CLIENT, THERAPIST
from therapy_analytics.measures.base import Direction, Evidence
from therapy_analytics.measures.null.summary import (
    FEWEST_PAIRS,
    Closer,
    NullSummary,
    beside_shuffles,
    beside_surrogates,
    permutations,
)
from therapy_analytics.measures.null.surrogates import pool_of, pooled
from therapy_analytics.measures.turns import THIRDS, Floats, Ints
from therapy_analytics.text import AnnotatedSession, Extra

DIRECTIONS: tuple[Direction, ...] = ("both", "therapist", "client", "difference")
"""Who replies; both is the mean of the two, difference the therapist's replies less the client's."""
WHOLE, WINDOW_NAME, SLOPE = "whole", "window", "slope"
WINDOW, STEP = 20, 5
"""Turns of a sliding window, and between the beginnings of two."""
_MOST_NUMBERS = 1_000_000
"""About so many numbers, of the rows of pairs of turns, are scored at a time, which bounds the memory."""


def mean_of_defined(values: Floats) -> Floats:
    """Return the means over the first axis of the values that are defined, (n, ...) to (...); nan where none is.

    Examples
    --------
    >>> mean_of_defined(np.array([[1.0, nan], [2.0, nan], [nan, 5.0]])).tolist()
    [1.5, 5.0]
    """
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    return np.where(n > 0, np.where(defined, values, 0.0).sum(axis=0) / np.maximum(n, 1), nan)


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
    encode : callable or None
        What becomes of the rows of all turns at once before they are scored, where that takes all of them: the counts
        of n-grams of `TokenRows`.
    score : callable
        ``score(a, b)``: how alike replies (rows of b) are to the turns before (rows of a), (n_pairs,), nan where
        undefined; or several numbers of each pair, (n_pairs, ...), where the value of several replies is not the mean
        of their values.
    over : callable
        The value of several replies, by default the mean: scores (n_pairs, n_draws, ...) to (n_draws,).
    each : callable or None
        The value of each reply: scores (n_pairs, n_draws, ...) to (n_pairs, n_draws); None where the score is that.
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
    score: Callable[[Any, Any], Floats]
    encode: Callable[[Any], Any] | None = None
    over: Callable[[Floats], Floats] = mean_of_defined
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
    """Return the turns of a role right after one of the other, and the turns that they are compared with.

    Both have words, and the turns between them are of these two alternately.

    Returns
    -------
    anchors, replies : int64 array (n_pairs,)
        Positions in the session, in order.
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
        Positions in the `TurnPool` of the turns before, and of the replies. The first draws are each therapist with
        each client, (1 + n_donors) ** 2, the client changing first; so draw 0 is the session itself. Shuffles of the
        replies follow.
    """

    turns: Ints
    anchors: Ints
    replies: Ints


def replies_of(session: AnnotatedSession, delay: int = 1) -> tuple[Replies, Replies]:
    """Return the therapist's replies to the client, and the client's to the therapist; drawn once a session."""
    return session.cached(lambda one: _replies_of(one, delay), key=(replies_of, delay))


def _replies_of(session: AnnotatedSession, delay: int) -> tuple[Replies, Replies]:
    speakers, generator = pool_of(session).speakers, session.generator()
    size = len(speakers[THERAPIST])
    who = np.divmod(np.arange(size * size), size)  # the therapist, and the client, of each pair of speakers

    def in_pairs(role: int, turns: Ints) -> Ints:
        """Return what stands for turns of the session's own speaker in each pair of speakers, (size * size, n)."""
        return speakers[role][who[role]][:, np.searchsorted(speakers[role][0], turns)]

    found = []
    for role, other in ((THERAPIST, CLIENT), (CLIENT, THERAPIST)):
        anchors, replies = pairs_of(session, role, delay)
        shuffled = permutations(replies, generator)
        all_anchors = np.concatenate([in_pairs(other, anchors), np.broadcast_to(anchors, shuffled.shape)])
        all_replies = np.concatenate([in_pairs(role, replies), shuffled])
        found.append(Replies(replies, all_anchors.T, all_replies.T))
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


# ---- values


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
        The values beside shuffles, and beside surrogate pairs, of the same shape.
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
    rows = pooled(session, kind.represent)
    rows = kind.encode(rows) if kind.encode else rows
    segments, series = segments_of(len(session)), np.full(len(session), nan)
    by_role, n_by_role = [], []
    for replies in replies_of(session, kind.delay):
        begin = np.searchsorted(replies.turns, [one.first for one in segments])
        end = np.searchsorted(replies.turns, [one.last for one in segments], side="right")
        within = [slice(*ends) for ends in zip(begin.tolist(), end.tolist(), strict=True)]
        values, of_turns = _of_draws(kind, rows, replies, within)
        series[replies.turns] = of_turns
        by_role.append(values)
        n_by_role.append(np.array([np.count_nonzero(~np.isnan(of_turns[one])) for one in within], dtype=np.float64))
    (therapist, client), (n_therapist, n_client) = by_role, n_by_role
    values = np.stack([mean_of_defined(np.stack(by_role)), therapist, client, therapist - client])
    # A difference is as sure as the rarer of the two
    n_pairs = np.stack([n_therapist + n_client, n_therapist, n_client, np.minimum(n_therapist, n_client)])

    size = len(pool_of(session).speakers[THERAPIST])
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


def _of_draws(kind: AdjacentTurnMeasure, rows: Any, replies: Replies, within: list[slice]) -> tuple[Floats, Floats]:
    """Return the value of each segment and draw, (n_segments, n_draws), and of each reply, (n_pairs,)."""
    n_pairs, n_draws = replies.replies.shape
    values, of_turns = np.empty((len(within), n_draws)), np.empty(0)
    numbers_per_turn = rows.size / max(rows.shape[0], 1)
    at_a_time = int(max(1, _MOST_NUMBERS // max(n_pairs * numbers_per_turn, 1)))
    for first in range(0, n_draws, at_a_time):
        draws = slice(first, first + at_a_time)
        anchors, answers = replies.anchors[:, draws], replies.replies[:, draws]
        scores = kind.score(rows[anchors.ravel()], rows[answers.ravel()])
        scores = scores.reshape(*anchors.shape, *scores.shape[1:])
        each = kind.each(scores) if kind.each else scores
        values[:-1, draws] = [kind.over(scores[segment]) for segment in within[:-1]]
        values[-1, draws] = slopes(each)
        of_turns = each[:, 0] if first == 0 else of_turns
    return values, of_turns
