"""What is said in a session, as recurrence wants it; made once for all sessions of a batch."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession, builtin_lexicons
from therapy_analytics.language.integers import distinct
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.synchrony._chance import spoken_turns
from therapy_analytics.measures.synchrony._recurrence_points import (
    DIAGONAL,
    REACH,
    VERTICAL,
    Ints,
    Series,
    lay_out,
    lines,
    points,
)
from therapy_analytics.measures.synchrony._recurrence_runs import Runs, runs_of, words_of
from therapy_analytics.measures.synchrony._recurrence_values import Found, Recurrence, values_of

Keys = NDArray[np.uint64]


def word_series(session: AnnotatedSession) -> tuple[Series, Series]:
    """Return the therapist's words, and the client's; words and pieces of contractions, without punctuation."""
    return _series(session, 0)


def class_series(session: AnnotatedSession) -> tuple[Series, Series]:
    """Return the function-word class of each word of the therapist, and of the client; -1 for words of no class."""
    return _series(session, 1)


def _series(session: AnnotatedSession, which: int) -> tuple[Series, Series]:
    keys, words, turn = _said(session)
    said = keys[which][words]
    ids = np.where(said == 0, -1, np.unique(said, return_inverse=True)[1])
    mine = np.zeros((2, len(session)), dtype=np.bool_)
    for row, turns in enumerate(spoken_turns(session)):
        mine[row, turns] = True
    therapist, client = (Series(ids[side], turn[side]) for side in mine[:, turn])
    return therapist, client


def _said(session: AnnotatedSession) -> tuple[Keys, Ints, Ints]:
    """Return the keys of different words, and their function-word classes from 1 (0 for none); which is said; its turn.

    The first is (2, n_words), the others stand for one word after the other: which of those, and the turn's position.
    """
    turns, tokens = session.turns, session.turns.tokens
    turn = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
    types, which = distinct(tokens.ids[turns.offsets[0] : turns.offsets[-1]], len(tokens.norm))
    classes = np.array([_class_of(tokens.norm[one]) for one in types.tolist()], dtype=np.uint64)
    verbal = tokens.verbal[types][which]
    return np.stack([tokens.keys[types], classes]), which[verbal], turn[verbal]


@functools.lru_cache(maxsize=20_000)
def _class_of(norm: str) -> int:
    return next(iter(_function_words().columns_of(norm)), -1) + 1


@functools.cache
def _function_words() -> Matcher:
    return Matcher([one for one in builtin_lexicons() if one.name == "function_words"])


def session_runs(session: AnnotatedSession) -> Runs:
    """Return the runs of words and of function-word classes; words of no class are never alike and end a run."""
    return session.by_turn(_runs)


def _runs(session: AnnotatedSession) -> Runs:
    return runs_of(*_said(session), len(session))


def plot_values(session: AnnotatedSession) -> Recurrence:
    """Return those values of the plot of words that lines are followed for; its rates are nan."""
    return session.by_session(_plots)


def _plots(session: AnnotatedSession) -> list[Recurrence]:
    n_points, diagonal, vertical = _lines(session)
    later = np.arange(1, len(n_points))
    each = (np.split(length, np.searchsorted(number, later)) for number, length in (diagonal, vertical))
    return [_plot_of(*one) for one in zip(n_points.tolist(), *each, strict=True)]


def _lines(session: AnnotatedSession) -> tuple[Ints, Ints, Ints]:
    """Follow the lines of words that the client says within reach of the therapist.

    Returns
    -------
    n_points : int64 array (n_sessions,)
        Recurrent points of each session.
    diagonal, vertical : int64 array (2, n_lines)
        The number of each line's session (rising), and how many points it has.
    """
    runs, number = session.once(_runs), np.zeros(len(session), dtype=np.int64)
    apart = np.arange(len(session)) + number * REACH  # so that the turns of two sessions are out of reach
    number_at = np.zeros(int(apart.max(initial=0)) + 1, dtype=np.int64)
    number_at[apart] = number
    sides = ((*words_of(runs, turns), turns) for turns in spoken_turns(session))
    plot = lay_out(
        *(Series(runs.ids[0, words].astype(np.int64), apart[turns[owner]]) for words, owner, turns in sides),
        reach=REACH,
        cut_at_turns=True,
    )
    n_points = np.zeros(len(session.bounds) - 1, dtype=np.int64)
    found: list[list[Ints]] = [[np.zeros((2, 0), dtype=np.int64)] for _ in (DIAGONAL, VERTICAL)]
    for i, j in points(plot):
        of_point = number_at[plot.x_turn[i]]
        n_points += np.bincount(of_point, minlength=len(n_points))
        for of, step in zip(found, (DIAGONAL, VERTICAL), strict=True):
            first, length = lines(plot, i, j, step=step)
            of.append(np.stack([of_point[first], length]))
    diagonal, vertical = (np.concatenate(of, axis=1) for of in found)
    return n_points, diagonal, vertical


def _plot_of(n_points: int, diagonal: Ints, vertical: Ints) -> Recurrence:
    tall = np.array([len(vertical), vertical.sum()], dtype=np.float64)
    lengths = np.bincount(diagonal).astype(np.float64)
    return values_of(Found(np.zeros(3), np.array([n_points, 0.0, 0.0]), tall, lengths))
