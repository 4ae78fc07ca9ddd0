"""Session measures: how alike is all that one says to all that the other says.

How to add a measure: say what it needs of each turn (`represent`), and what it finds in the dialogue of each therapist
with each client (`values`); hand a `SessionMeasure` to `session_measure`. It is set beside surrogate pairs, and where
the order of turns enters (`shuffled`), beside shuffles of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from therapy_analytics.language import AnnotatedSession, Extra
from therapy_analytics.measures import Column
from therapy_analytics.measures.null.shuffles import FEWEST_PAIRS
from therapy_analytics.measures.null.summary import (
    Closer,
    Floats,
    NullSummary,
    beside_shuffles,
    beside_surrogates,
    beside_surrogates_by_factors,
    no_summary,
)
from therapy_analytics.measures.null.surrogates import Ints, Pool, pool_of, pooled
from therapy_analytics.registry import Registry
from therapy_analytics.session import CLIENT, THERAPIST


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The turns of several speakers of one role: the session's own, then donors who stand in for them.

    Attributes
    ----------
    turns : int64 array (n_speakers, n_turns)
        Positions in the `Pool`, for each speaker in the places of the session's own turns.
    at : int64 array (n_turns,)
        Where in the session each stands, from 0; in order.
    """

    turns: Ints
    at: Ints

    @property
    def own(self) -> Side:
        """The session's own speaker alone."""
        return Side(self.turns[:1], self.at)


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
    values : callable
        ``values(turns, therapists, clients)``, of what `represent` made of all turns of the `Pool` and of two `Side`:
        the values of each therapist with each client, (n_therapists, n_clients, n_columns).
    shuffled : callable or None
        ``shuffled(turns, therapists, clients, generator)``: the values of the session's own two under shuffles of the
        turns, (n_draws, n_columns); None where their order does not enter.
    surrogates : bool
        Whether it is set beside surrogate pairs.
    two_sided : tuple of str
        Columns of which both ends count: those that say who leads.
    factors : tuple of str
        Columns on which speakers act as factors: set beside surrogate pairs by their logarithms.
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
    values: Callable[[Any, Side, Side], Floats]
    shuffled: Callable[[Any, Side, Side, np.random.Generator], Floats] | None = None
    surrogates: bool = True
    two_sided: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
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


@dataclass(frozen=True, slots=True, eq=False)
class SessionResult:
    """What a measure finds in a session, (n_columns,) each."""

    values: Floats
    shuffled: NullSummary
    surrogate: NullSummary


def session_result(kind: SessionMeasure, session: AnnotatedSession) -> SessionResult:
    """Return what a measure finds in a session; computed once."""
    return session.cached(lambda one: _result(kind, one), key=kind)


def sides_of(pool: Pool) -> tuple[Side, Side]:
    """Return the therapists and the clients of a session and its surrogate pairs."""
    therapists, clients = (Side(pool.of_role(role), pool.of_role(role)[0]) for role in (THERAPIST, CLIENT))
    return therapists, clients


def _result(kind: SessionMeasure, session: AnnotatedSession) -> SessionResult:
    n_columns, (therapists, clients) = len(kind.columns), sides_of(pool_of(session))
    none, fewest = no_summary((n_columns,)), min(len(therapists.at), len(clients.at))
    if not fewest:
        return SessionResult(np.full(n_columns, nan), none, none)
    if kind.surrogates and fewest >= FEWEST_PAIRS:
        turns = pooled(session, kind.represent)
    else:
        turns, therapists, clients = kind.represent(session), therapists.own, clients.own
    tables = np.moveaxis(kind.values(turns, therapists, clients), -1, 0)
    values = tables[:, 0, 0]
    if fewest < FEWEST_PAIRS:
        return SessionResult(values, none, none)
    asked = ~np.isnan(values)
    two_sided, factors = (
        np.array([one.name in names for one in kind.columns]) for names in (kind.two_sided, kind.factors)
    )
    shuffled = none
    if kind.shuffled is not None and asked.any():
        draws = kind.shuffled(turns, therapists.own, clients.own, session.generator(3))
        shuffled = beside_shuffles(values, draws.T, asked, closer=kind.closer, two_sided=two_sided)
    plain = beside_surrogates(tables, asked & ~factors, closer=kind.closer, two_sided=two_sided)
    scaled = beside_surrogates_by_factors(tables, asked & factors, closer=kind.closer, two_sided=two_sided)
    figures = zip((plain.mean, plain.sd, plain.z, plain.p), (scaled.mean, scaled.sd, scaled.z, scaled.p), strict=True)
    return SessionResult(values, shuffled, NullSummary(*(np.where(factors, two, one) for one, two in figures)))
