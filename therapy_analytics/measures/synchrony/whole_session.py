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
from therapy_analytics.measures import Column
from therapy_analytics.measures.base import Compared
from therapy_analytics.measures.null.shuffles import FEWEST_PAIRS
from therapy_analytics.measures.null.summary import (
    Closer,
    Floats,
    NullSummary,
    beside_shuffles,
    beside_surrogates,
    beside_surrogates_by_logarithms,
    no_summary,
)
from therapy_analytics.measures.null.surrogates import Ints, TurnPool, pool_of, pooled
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure
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


def whole(side: Side) -> Side:
    """Return the turns of a speaker as they are."""
    return side


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
    columns : tuple of Column
        Of its values, in their order.
    represent : callable
        What the measure needs of each turn: an array (n_turns, ...) or `TokenRows` of a session.
    encode : callable or None
        ``encode(rows, pool)``: what becomes of the rows of all turns of the `TurnPool` at once, where that takes all
        of them.
    speaker : callable
        What the score needs of a `Side`.
    score : callable
        ``score(therapist, client)``: the values of two speakers, (n_columns,), or a float.
    shuffled : callable or None
        ``shuffled(therapist, client, generator)``: the scores of the session's own two under shuffles of the turns,
        (n_draws, n_columns); None where their order does not enter.
    surrogates : bool
        Whether it is set beside surrogate pairs.
    two_sided : tuple of str
        Columns of which both ends count: those that say who leads.
    multiplied : tuple of str
        Columns on which the effects of speakers multiply: set beside surrogate pairs by their logarithms.
    closer : {"higher", "lower"}
        Which values mean more synchrony.
    core : bool
        Whether every run computes it.
    extra : str or None
        What must be asked for, because it is costly; see `Extra`.
    """

    name: str
    columns: tuple[Column, ...]
    represent: Callable[[AnnotatedSession], Any]
    score: Callable[[Any, Any], Floats | float]
    speaker: Callable[[Side], Any] = whole
    encode: Callable[[Any, TurnPool], Any] | None = None
    shuffled: Callable[[Any, Any, np.random.Generator], Floats] | None = None
    surrogates: bool = True
    two_sided: tuple[str, ...] = ()
    multiplied: tuple[str, ...] = ()
    closer: Closer = "higher"
    core: bool = False
    extra: Extra | None = None


def of_whole_sides(
    kind: AdjacentTurnMeasure,
    name: str,
    meaning: str,
    formula: str,
    *,
    misleads: str = "",
    compare: Compared = "",
) -> SessionMeasure:
    """Return the session measure that scores two whole sides as a measure of adjacent turns scores two turns.

    Parameters
    ----------
    kind : AdjacentTurnMeasure
        Its score, unit, range, source and evidence.
    name, meaning, formula, misleads, compare : str
        Of the column; it misleads as `kind` does unless stated otherwise.
    """
    column = Column(
        name=name,
        meaning=meaning,
        unit=kind.unit,
        low=kind.low,
        high=kind.high,
        high_means=f"{kind.closer} is more alike",
        formula=formula,
        misleads=misleads or kind.misleads,
        source=kind.source,
        evidence=kind.evidence,
        compare=compare,
    )
    encode = kind.encode
    return SessionMeasure(
        name=name,
        columns=(column,),
        represent=kind.represent,
        encode=(lambda rows, _: encode(rows)) if encode else None,
        speaker=total,
        score=kind.score,
        core=kind.core,
        extra=kind.extra,
    )


SESSION_MEASURES: Registry[SessionMeasure] = Registry(
    "measure of whole sessions", package="therapy_analytics.measures.synchrony"
)


def session_measure(kind: SessionMeasure) -> SessionMeasure:
    """Register a measure of whole sessions, so that `synchrony` finds it by its name."""
    SESSION_MEASURES.add(kind.name, kind, module=kind.represent.__module__)
    return kind


@dataclass(frozen=True, slots=True, eq=False)
class SessionResult:
    """What a measure finds in a session, float64 arrays (n_columns,)."""

    values: Floats
    shuffled: NullSummary
    surrogate: NullSummary


def session_result(kind: SessionMeasure, session: AnnotatedSession) -> SessionResult:
    """Return what a measure finds in a session; computed once."""
    return session.cached(lambda one: _result(kind, one), key=kind)


def speakers_in(kind: SessionMeasure, session: AnnotatedSession, *, surrogates: bool) -> tuple[list[Any], list[Any]]:
    """Return what the score needs of the session's therapist, and of its client, each followed by the donors."""
    pool = pool_of(session)
    if not surrogates:
        pool = TurnPool((pool.speakers[THERAPIST][:1], pool.speakers[CLIENT][:1]), pool.donated[:0])
    rows = pooled(session, kind.represent) if surrogates else kind.represent(session)
    rows = kind.encode(rows, pool) if kind.encode else rows
    places = [turns[0] for turns in pool.speakers]
    therapists, clients = (
        [kind.speaker(Side(role, rows[turns], places[role], places[1 - role])) for turns in pool.speakers[role]]
        for role in (THERAPIST, CLIENT)
    )
    return therapists, clients


def _result(kind: SessionMeasure, session: AnnotatedSession) -> SessionResult:
    n_columns, none = len(kind.columns), no_summary((len(kind.columns),))
    fewest = min(turns.shape[1] for turns in pool_of(session).speakers)
    if not fewest:
        return SessionResult(np.full(n_columns, nan), none, none)
    compared = fewest >= FEWEST_PAIRS
    therapists, clients = speakers_in(kind, session, surrogates=kind.surrogates and compared)
    tables = np.array([[kind.score(one, other) for other in clients] for one in therapists], dtype=np.float64)
    tables = np.moveaxis(tables.reshape(len(therapists), len(clients), n_columns), -1, 0)
    values = tables[:, 0, 0]
    asked = ~np.isnan(values) & compared
    two_sided = _named(kind, kind.two_sided)
    shuffled = none
    if kind.shuffled is not None and asked.any():
        draws = kind.shuffled(therapists[0], clients[0], session.generator(3))
        shuffled = beside_shuffles(values, draws.T, asked, closer=kind.closer, two_sided=two_sided)
    return SessionResult(values, shuffled, _beside_surrogates(kind, tables, asked, two_sided))


def _named(kind: SessionMeasure, names: tuple[str, ...]) -> Any:
    return np.array([one.name in names for one in kind.columns])


def _beside_surrogates(kind: SessionMeasure, tables: Floats, asked: Any, two_sided: Any) -> NullSummary:
    multiplied = _named(kind, kind.multiplied)
    plain = beside_surrogates(tables, asked, closer=kind.closer, two_sided=two_sided)
    if not multiplied.any():
        return plain
    scaled = beside_surrogates_by_logarithms(tables, asked, closer=kind.closer, two_sided=two_sided)
    return NullSummary(
        *(np.where(multiplied, getattr(scaled, name), getattr(plain, name)) for name in ("mean", "sd", "z", "p"))
    )
