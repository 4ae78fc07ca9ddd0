"""All sessions of a batch measured at once: what is counted in each, and the values cut out again.

A measure's function asks `AnnotatedSession.by_session` for its values. What computes them gets the turns of a batch, or
of one session, as arrays, and returns `of_each`. No session's values depend, in any bit, on the others: counts are
whole numbers, and other sums are added up turn by turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.codebook import DEFAULT_CORRELATION
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures._base import Value, names_of
from therapy_analytics.measures._intervals import wilsons

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def of_each(
    session: AnnotatedSession, values: Mapping[str, Floats], turns: Mapping[str, Floats] | None = None
) -> list[dict[str, Value]]:
    """Return the values of each session.

    Parameters
    ----------
    session : AnnotatedSession
        All turns of a batch, or a session.
    values : mapping of str to float64 array (n_sessions,)
        Columns of sessions.
    turns : mapping of str to float64 array (n_turns,), optional
        Columns of turns.
    """
    table = np.stack(list(values.values()), axis=1).tolist() if values else [[]] * (len(session.bounds) - 1)
    found: list[dict[str, Value]] = [dict(zip(values, row, strict=True)) for row in table]
    for one, (start, stop) in zip(found, pairwise(session.bounds.tolist()), strict=True):
        one.update((name, column[start:stop]) for name, column in (turns or {}).items())
    return found


def number_of(session: AnnotatedSession) -> Ints:
    """Return which of the sessions each turn is of, (n_turns,)."""
    return session.once(lambda one: np.repeat(np.arange(len(one.bounds) - 1), np.diff(one.bounds)), key=number_of)


def counts(session: AnnotatedSession, marks: NDArray[np.bool_] | NDArray[np.integer]) -> Floats:
    """Return what whole numbers or marks of turns add up to in each session, (..., n_turns) to (..., n_sessions)."""
    so_far = np.zeros((*marks.shape[:-1], marks.shape[-1] + 1), dtype=np.int64)
    np.cumsum(marks, axis=-1, out=so_far[..., 1:])
    return np.diff(so_far[..., session.bounds]).astype(np.float64)


def counts_at(session: AnnotatedSession, turns: Ints) -> Floats:
    """Return how many things each session has, of which the turns are known, (n_things,) to (n_sessions,)."""
    return np.bincount(number_of(session)[turns], minlength=len(session.bounds) - 1).astype(np.float64)


def sums(session: AnnotatedSession, values: Floats) -> Floats:
    """Return what values of turns (n_turns,) add up to in each session, (n_sessions,)."""
    return np.bincount(number_of(session), values, len(session.bounds) - 1).astype(np.float64)


def means(session: AnnotatedSession, values: Floats, of: Bools) -> Floats:
    """Return the mean of some turns' values in each session, (n_sessions,); nan where there are none."""
    n = counts(session, of)
    return np.where(n > 0, sums(session, np.where(of, values, 0.0)) / np.maximum(n, 1), np.nan)


def slopes(places: Floats, values: Floats, row: Ints, n: int) -> Floats:
    """Return the slopes of least squares of values on places, for each session.

    Parameters
    ----------
    places, values : float64 arrays (n_turns,) and (n_turns, n_columns)
        What changes along what.
    row : int64 array (n_turns,)
        Which of the sessions each turn is of.
    n : int
        How many sessions there are.

    Returns
    -------
    float64 array (n, n_columns)
        Nan where all places are one.

    Examples
    --------
    Half a point more at the end than at the begin, and no change; then a session of one turn:

    >>> places, values = np.array([0.0, 0.2, 0.8, 1.0, 0.0]), np.array([[0.0, 1], [0.1, 1], [0.4, 1], [0.5, 1], [2, 2]])
    >>> slopes(places, values, np.array([0, 0, 0, 0, 1]), 2).round(3).tolist()
    [[0.5, 0.0], [nan, nan]]
    """

    def totals(values: Floats) -> Floats:
        return np.stack([np.bincount(row, one, n) for one in values.T], axis=1)

    size = np.maximum(np.bincount(row, minlength=n), 1)[:, None]
    off = places[:, None] - (totals(places[:, None]) / size)[row]
    spread = totals(off**2)
    return np.asarray(totals(off * (values - (totals(values) / size)[row])) / np.where(spread > 0, spread, np.nan))


def rates(
    session: AnnotatedSession,
    named: Mapping[str, tuple[Bools, Bools]],
    correlations: Mapping[str, float] | None = None,
) -> dict[str, Floats]:
    """Return rates of turns with their intervals and counts, as `rate` does, for each session.

    Parameters
    ----------
    session : AnnotatedSession
        All turns of a batch, or a session.
    named : mapping of str to two bool arrays (n_turns,)
        The column of each rate; turns that have it, among turns that could.
    correlations : mapping of str to float, optional
        How alike turns are, for rates that it is known of; see `therapy_analytics.behaviours.Code`.
    """
    of = np.array([could for _, could in named.values()])
    hits = np.array([one for one, _ in named.values()]) & of
    known = correlations or {}
    correlation = np.array([[known.get(name, DEFAULT_CORRELATION)] for name in named])
    return counted_rates(tuple(named), counts(session, hits), counts(session, of), correlation=correlation)


def counted_rates(
    names: tuple[str, ...],
    k: Floats,
    n: Floats,
    *,
    per: float = 1.0,
    correlation: float | Floats = DEFAULT_CORRELATION,
) -> dict[str, Floats]:
    """Return rates ``k`` of ``n`` as `counted_rate` does, from counts (n_rates, n_sessions).

    `correlation` is one number, or an array (n_rates, 1).

    Examples
    --------
    >>> k, n = np.array([[5.0, 0.0]]), np.array([[10.0, 0.0]])
    >>> found = counted_rates(("client_yes_rate",), k, n, correlation=0.0)
    >>> {name: value.round(3).tolist() for name, value in found.items()}
    {'client_yes_rate': [0.5, nan], 'client_yes_rate_lo': [0.237, nan], 'client_yes_rate_hi': [0.763, nan], 'n_client_yes': [5.0, nan]}
    """  # noqa: E501
    share, low, high = (per * one for one in wilsons(k, n, correlation))
    count = np.where(n > 0, k, np.nan)
    found: dict[str, Floats] = {}
    for i, name in enumerate(names):
        found.update(zip(names_of(name), (share[i], low[i], high[i], count[i]), strict=True))
    return found
