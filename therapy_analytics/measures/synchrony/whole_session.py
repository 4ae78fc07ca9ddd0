"""Session measures: how alike is all that one says to all that the other says.

How to add a measure: say what it needs of each turn (`represent`), what it makes of all turns of one speaker
(`speaker`), and how alike two speakers are (`score`); hand a `SessionMeasure` to `session_measure`. Surrogate pairs
call `score` on other speakers; where the order of turns enters, `shuffled` calls it on other orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from therapy_analytics.core.registry import Registry
from therapy_analytics.core.session import CLIENT, THERAPIST
from therapy_analytics.measures.null.summary import (
    FEWEST_PAIRS,
    Closer,
    NullSummary,
    beside_shuffles,
    beside_surrogates,
    beside_surrogates_by_logarithms,
    no_summary,
)
from therapy_analytics.measures.null.surrogates import pool_of, pooled
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure
from therapy_analytics.measures.turns import Floats, Ints
from therapy_analytics.text import AnnotatedSession, Extra


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """All turns of one speaker.

    Attributes
    ----------
    role : int
        `THERAPIST` or `CLIENT`.
    rows : array (n_turns, ...) or TokenRows
        What the measure needs of each turn.
    at, others_at : int64 array (n_turns,) and (n_turns_of_the_other,)
        Where in the session these turns stand, and where those of the other do, from 0; in order.
    """

    role: int
    rows: Any
    at: Ints
    others_at: Ints


def total(side: Side) -> Any:
    """Return the sum of the rows of a speaker's turns, float64 (n_turns, n) to (n,)."""
    return side.rows.sum(axis=0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionMeasure:
    """A measure of the two sides of a dialogue.

    Attributes
    ----------
    name : str
        By which `synchrony` finds it.
    values : tuple of str
        The names of its values, in the order of the scores; each is a column of sessions.
    represent : callable
        What the measure needs of each turn: an array (n_turns, ...) or `TokenRows` of a session.
    encode : callable or None
        ``encode(rows)``: what becomes of the rows of all turns of the `TurnPool` at once, where that takes all of them.
    speaker : callable or None
        What the score needs of a `Side`; None for the side itself.
    score : callable
        ``score(therapist, client)``: the values of two speakers, (n_values,), or a float.
    shuffled : callable or None
        ``shuffled(therapist, client, generator)``: the scores of the session's own two under shuffles of the turns,
        (n_draws, n_values); None where their order does not enter.
    surrogates : bool
        Whether it is set beside surrogate pairs.
    two_sided : tuple of str
        Values of which both ends count: those that say who leads.
    multiplied : tuple of str
        Values on which the effects of speakers multiply: set beside surrogate pairs by their logarithms.
    closer : {"higher", "lower"}
        Which values mean more synchrony.
    core : bool
        Whether every run computes it.
    extra : str or None
        What must be asked for, because it is costly; see `Extra`.
    """

    name: str
    values: tuple[str, ...]
    represent: Callable[[AnnotatedSession], Any]
    score: Callable[[Any, Any], Floats | float]
    speaker: Callable[[Side], Any] | None = None
    encode: Callable[[Any], Any] | None = None
    shuffled: Callable[[Any, Any, np.random.Generator], Floats] | None = None
    surrogates: bool = True
    two_sided: tuple[str, ...] = ()
    multiplied: tuple[str, ...] = ()
    closer: Closer = "higher"
    core: bool = False
    extra: Extra | None = None


SESSION_MEASURES: Registry[SessionMeasure] = Registry(
    "measure of whole sessions", package="therapy_analytics.measures.synchrony"
)


def session_measure(kind: SessionMeasure) -> SessionMeasure:
    """Register a measure of whole sessions, so that `synchrony` finds it by its name."""
    SESSION_MEASURES.add(kind.name, kind, module=kind.represent.__module__)
    return kind


def of_whole_sides(kind: AdjacentTurnMeasure, name: str) -> SessionMeasure:
    """Return the session measure that scores two whole sides as a measure of adjacent turns scores two turns."""
    return SessionMeasure(
        name=name,
        values=(name,),
        represent=kind.represent,
        encode=kind.encode,
        speaker=total,
        score=kind.score,
        core=kind.core,
        extra=kind.extra,
    )


@dataclass(frozen=True, slots=True, eq=False)
class SessionResult:
    """What a measure finds in a session, float64 arrays (n_values,)."""

    values: Floats
    shuffled: NullSummary
    surrogate: NullSummary


def session_result(kind: SessionMeasure, session: AnnotatedSession) -> SessionResult:
    """Return what a measure finds in a session; computed once."""
    return session.cached(lambda one: _result(kind, one), key=kind)


def speakers_in(kind: SessionMeasure, session: AnnotatedSession, *, surrogates: bool) -> tuple[list[Any], list[Any]]:
    """Return what the score needs of the session's therapist, and of its client, each followed by the donors."""
    rows = pooled(session, kind.represent) if surrogates else kind.represent(session)
    rows = kind.encode(rows) if kind.encode else rows
    speakers = pool_of(session).speakers
    found: tuple[list[Any], list[Any]] = ([], [])
    for role in (THERAPIST, CLIENT):
        for turns in speakers[role] if surrogates else speakers[role][:1]:
            side = Side(role, rows[turns], speakers[role][0], speakers[1 - role][0])
            found[role].append(kind.speaker(side) if kind.speaker else side)
    return found


def _result(kind: SessionMeasure, session: AnnotatedSession) -> SessionResult:
    none = no_summary((len(kind.values),))
    fewest = min(turns.shape[1] for turns in pool_of(session).speakers)
    if not fewest:
        return SessionResult(np.full(len(kind.values), nan), none, none)
    compared = fewest >= FEWEST_PAIRS
    therapists, clients = speakers_in(kind, session, surrogates=kind.surrogates and compared)
    scores = np.array([[kind.score(one, other) for other in clients] for one in therapists], dtype=np.float64)
    tables = np.moveaxis(scores.reshape(len(therapists), len(clients), len(kind.values)), -1, 0)
    values = tables[:, 0, 0]
    asked, two_sided = ~np.isnan(values) & compared, np.isin(kind.values, kind.two_sided)
    shuffled = none
    if kind.shuffled is not None and asked.any():
        draws = kind.shuffled(therapists[0], clients[0], session.generator(3))
        shuffled = beside_shuffles(values, draws.T, asked, closer=kind.closer, two_sided=two_sided)
    surrogate = beside_surrogates(tables, asked, closer=kind.closer, two_sided=two_sided)
    if kind.multiplied:
        scaled = beside_surrogates_by_logarithms(tables, asked, closer=kind.closer, two_sided=two_sided)
        surrogate = surrogate.with_those_of(scaled, np.isin(kind.values, kind.multiplied))
    return SessionResult(values, shuffled, surrogate)
