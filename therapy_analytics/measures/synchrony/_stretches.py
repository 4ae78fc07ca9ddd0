"""The parts of a session that values are given for, and sums over the pairs of turns in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures.synchrony._chance import Ints
from therapy_analytics.measures.synchrony._sums import Slopes, Stretches

WHOLE, WINDOWS, SLOPE = "whole", "window", "slope"
THIRDS = ("third_1", "third_2", "third_3")
WINDOW, STEP = 20, 5
"""Turns of a sliding window, and between the beginnings of two."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a session: turns ``first`` to ``last``, both in it."""

    name: str
    first: int
    last: int


def parts_of(n_turns: int, *, course: bool = True) -> tuple[Part, ...]:
    """Return the stretches that values are given for: the whole, its thirds, sliding windows, and last the slope.

    Without its course, the whole and the slope alone.

    Examples
    --------
    >>> [(part.name, part.first, part.last) for part in parts_of(25)]  # doctest: +NORMALIZE_WHITESPACE
    [('whole', 0, 24), ('third_1', 0, 8), ('third_2', 9, 16), ('third_3', 17, 24),
     ('window', 0, 19), ('window', 5, 24), ('slope', 0, 24)]
    """
    last = n_turns - 1
    if not course:
        return Part(WHOLE, 0, last), Part(SLOPE, 0, last)
    bounds = [-(-n_turns * k // 3) for k in range(4)]
    thirds = [Part(name, bounds[k], bounds[k + 1] - 1) for k, name in enumerate(THIRDS)]
    windows = [Part(WINDOWS, first, first + WINDOW - 1) for first in range(0, n_turns - WINDOW + 1, STEP)]
    return (Part(WHOLE, 0, last), *thirds, *windows, Part(SLOPE, 0, last))


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Which pairs belong to the parts of some sessions: all replies of the therapists, then all of the clients.

    Attributes
    ----------
    parts : tuple of tuple of Part
        Of each session, the slope last.
    starts : int64 array (n_sessions + 1,)
        Where the parts of each but the slope begin, among those of all.
    replies : int64 array (n_pairs,)
        The turns that reply, among those of the batch.
    n_therapist : int
        How many of them are the therapists'.
    of_each : two Stretches
        The parts but the slopes, among the therapists' replies, and among the clients'.
    of_both : Stretches
        The same among all replies: the therapists', then the clients'.
    slopes : Slopes
        Over all replies of each: the therapists', then the clients'.
    """

    parts: tuple[tuple[Part, ...], ...]
    starts: Ints
    replies: Ints
    n_therapist: int
    of_each: tuple[Stretches, Stretches]
    of_both: Stretches
    slopes: Slopes

    def own(self, number: int) -> Ints:
        """Return where the parts of a session stand among the parts of all, behind which stand the slopes of all."""
        return np.append(np.arange(self.starts[number], self.starts[number + 1]), self.starts[-1] + number)


def spans_of(
    sessions: Sequence[AnnotatedSession], two: Sequence[Sequence[Ints]], firsts: Sequence[int], *, course: bool
) -> Spans:
    """Return which replies of sessions belong to their parts.

    Parameters
    ----------
    sessions : sequence of AnnotatedSession
        The sessions.
    two : two sequences of int64 array
        The turns of each in which the therapist replies, and those in which the client does.
    firsts : sequence of int
        The first turn of each, among those of the batch.
    course : bool
        Whether the thirds and windows are wanted, too.
    """
    parts = tuple(parts_of(len(one), course=course) for one in sessions)
    starts = np.append(0, np.cumsum([len(some) - 1 for some in parts]))
    therapist, client = (_bounds(replies, parts) for replies in two)
    n, m = (sum(map(len, replies)) for replies in two)
    wholes, both = starts[:-1], np.concatenate([therapist, client + n], axis=1)
    of_both = Stretches.of(both, np.concatenate([wholes, starts[-1] + wholes]), n + m)
    return Spans(
        parts,
        starts,
        np.concatenate([own + first for replies in two for own, first in zip(replies, firsts, strict=True)]),
        n,
        (Stretches.of(therapist, wholes, n), Stretches.of(client, wholes, m)),
        of_both,
        Slopes.over(np.diff(of_both.of_sessions).ravel()),
    )


def _bounds(replies: Sequence[Ints], parts: Sequence[Sequence[Part]]) -> Ints:
    """Return the bounds of the parts of sessions but the slope, among the replies of one of the two."""
    before, bounds = 0, []
    for own, some in zip(replies, parts, strict=True):
        edges = np.array([[part.first for part in some[:-1]], [part.last + 1 for part in some[:-1]]])
        bounds.append(np.searchsorted(own, edges) + before)
        before += len(own)
    return np.concatenate(bounds, axis=1)
