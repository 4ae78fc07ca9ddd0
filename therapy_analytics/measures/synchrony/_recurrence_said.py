"""What is said in a session, as recurrence wants it; made once for all sessions of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.synchrony._chance import distinct, spoken_turns
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
T = TypeVar("T")
_LAGS = np.arange(-REACH, REACH + 1)


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
    runs, start = _of_batch(session, _runs)
    return runs.between(start, start + len(session))


def _runs(session: AnnotatedSession) -> Runs:
    return runs_of(*_said(session), len(session))


def _of_batch(session: AnnotatedSession, compute: Callable[[AnnotatedSession], T]) -> tuple[T, int]:
    """Return what a function makes of all turns of the batch, or of the session if it has none, and where it begins."""
    place = session.in_batch
    return (session.once(compute), 0) if place is None else (place.whole.once(compute), place.start)


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of some turns, those of words that the client says within reach of the therapist.

    Attributes
    ----------
    points : int64 array (n_turns, n_lags)
        Recurrent points of each of the therapist's turns, by how many turns later the client's is.
    diagonal, vertical : int64 array (3, n_lines)
        The therapist's turn (rising) and the client's, and how many points the line has.
    """

    points: Ints
    diagonal: Ints
    vertical: Ints


def _lines(session: AnnotatedSession) -> _Lines:
    runs = session.once(_runs)
    sides = ((*words_of(runs, turns), turns) for turns in spoken_turns(session))
    therapist, client = (Series(runs.ids[0, words].astype(np.int64), turns[owner]) for words, owner, turns in sides)
    plot = lay_out(therapist, client, reach=REACH, cut_at_turns=True)
    n_points = np.zeros(len(session) * len(_LAGS), dtype=np.int64)
    found: list[list[Ints]] = [[np.zeros((3, 0), dtype=np.int64)] for _ in (DIAGONAL, VERTICAL)]
    for i, j in points(plot):
        turns = np.stack([plot.x_turn[i], plot.y_turn[j]])
        n_points += np.bincount(turns[0] * len(_LAGS) + turns[1] - turns[0] + REACH, minlength=len(n_points))
        for of, step in zip(found, (DIAGONAL, VERTICAL), strict=True):
            first, length = lines(plot, i, j, step=step)
            of.append(np.concatenate([turns[:, first], length[None]]))
    diagonal, vertical = (np.concatenate(of, axis=1) for of in found)
    return _Lines(n_points.reshape(-1, len(_LAGS)), diagonal, vertical)


def plot_values(session: AnnotatedSession) -> Recurrence:
    """Return those values of the plot of words that lines are followed for; its rates are nan."""
    found, start = _of_batch(session, _lines)
    stop = start + len(session)
    # Turns that stand near each other in a batch may be of two sessions.
    inside = np.arange(start, stop)[:, None] + _LAGS
    n_points = found.points[start:stop][(inside >= start) & (inside < stop)].sum()
    diagonal, vertical = (_lengths(of, start, stop) for of in (found.diagonal, found.vertical))
    tall = np.array([len(vertical), vertical.sum()], dtype=np.float64)
    counts = np.bincount(diagonal).astype(np.float64)
    return values_of(Found(np.zeros(3), np.array([n_points, 0.0, 0.0]), tall, counts))


def _lengths(of: Ints, start: int, stop: int) -> Ints:
    own = of[:, slice(*np.searchsorted(of[0], [start, stop]).tolist())]
    lengths: Ints = own[2, (own[1] >= start) & (own[1] < stop)]
    return lengths
