"""Synchrony of a session as rows: a measure, who replies, a stretch of the session, the value and its baselines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.errors import UnknownNameError
from therapy_analytics.language import AnnotatedSession, Extra
from therapy_analytics.measures import Column
from therapy_analytics.measures.synchrony._chance import (
    DRAWS,
    FEWEST_FOR_P,
    MOST_DONORS,
    Chance,
    Floats,
    Ints,
    strangers_of,
)
from therapy_analytics.measures.synchrony._pairwise import DIRECTIONS, PAIRWISE, Pairwise, outcome
from therapy_analytics.measures.synchrony._stretches import SLOPE, STEP, THIRDS, WINDOW, WINDOWS, parts_of
from therapy_analytics.measures.synchrony._stretches import WHOLE as WHOLE_SESSION
from therapy_analytics.measures.synchrony._whole import WHOLE, Whole, whole_outcome
from therapy_analytics.session import OTHER

Kind = Pairwise | Whole
PARTS = (WHOLE_SESSION, *THIRDS, WINDOWS, SLOPE)
_FIGURES = ("n_pairs", "value", "null", "null_sd", "z", "p", "strangers", "strangers_sd", "strangers_z", "strangers_p")
_NO_ROWS = np.zeros((5, 0), dtype=np.int64)


class Labels(NamedTuple):
    """A column of few names: the names, and for each row which of them it has."""

    names: Sequence[str]
    which: Ints


Rows = Mapping[str, Labels | NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class _About:
    """What the columns of all rows have in common."""

    meaning: str
    unit: str = "as the measure"
    low: float = -inf
    high: float = inf


_ABOUT = {
    "session_id": _About("The session", "text"),
    "measure": _About("The measure: its row in the sessions part says what it is and when it misleads", "text"),
    "direction": _About(
        "Whose replies: of therapist, of client, both (mean of the two), or the difference (therapist less client)",
        "text",
    ),
    "part": _About(
        f"Which stretch: whole, third_1 to third_3 (by turns), window ({WINDOW} turns, a new one every {STEP}), or "
        "slope: the change of the value from the first reply to the last",
        "text",
    ),
    "first_turn": _About("First turn of the stretch", "count", 0),
    "last_turn": _About("Last turn of the stretch", "count", 0),
    "n_pairs": _About("Pairs of neighbouring turns that the value rests on", "count", 0),
    "words_per_turn": _About("Mean words of the turns of the stretch; most measures grow with it", "words", 0),
    "value": _About("The value"),
    "null": _About(f"Mean of the value over {DRAWS} shuffles of each speaker's replies within the session"),
    "null_sd": _About("Standard deviation over the shuffles", low=0),
    "z": _About("(value - null) / null_sd", "standard deviations"),
    "p": _About(
        "Share of shuffles at least as synchronous, the session included; two-sided for difference and slope",
        "probability",
        0,
        1,
    ),
    "strangers": _About(
        "What the value would be if these two were no more to each other than to others: mean of the therapist with "
        "other clients + mean of the client with other therapists - mean of surrogate pairs of these others. They are "
        f"up to {MOST_DONORS} therapists and {MOST_DONORS} clients of sessions alike in words per turn, whose turns "
        "stand for turns of about their length and place in the session"
    ),
    "strangers_sd": _About("Standard deviation of what such an expectation misses, over all these pairs", low=0),
    "strangers_z": _About("(value - strangers) / strangers_sd", "standard deviations"),
    "strangers_p": _About(
        "Share of these pairs, the session among them, whose residual (value less effects of therapist and client) is "
        f"at least as synchronous; two-sided for difference and slope. None with fewer than {FEWEST_FOR_P} donors",
        "probability",
        0,
        1,
    ),
    "n_strangers": _About("Other sessions of the run that lent their turns", "count", 0),
}
ROW_COLUMNS = tuple(
    Column(
        name=name,
        meaning=about.meaning,
        unit=about.unit,
        low=about.low,
        high=about.high,
        direction="",
        formula="as the meaning says",
        misleads="",
        source="This package's own",
        evidence="",
    )
    for name, about in _ABOUT.items()
)


def kinds(names: Sequence[str | Kind] | None = None, *, extras: Collection[Extra] = ()) -> list[Kind]:
    """Return measures by name, in order; by default all but those of extras that are not there.

    Raises
    ------
    UnknownNameError
        A name that no measure has.
    """
    known: dict[str, Kind] = {one.name: one for registry in (WHOLE, PAIRWISE) for one in registry}
    if names is None:
        return [one for one in known.values() if one.extra is None or one.extra in extras]
    for name in names:
        if isinstance(name, str) and name not in known:
            raise UnknownNameError("measure of synchrony", name, known)
    return [known[name] if isinstance(name, str) else name for name in names]


def rows_of(sessions: Sequence[AnnotatedSession], asked: Sequence[Kind]) -> Rows:
    """Return the rows of sessions, at least one, as columns of one length, by the names of `ROW_COLUMNS`."""
    names = [[column.name for column in kind.columns] if isinstance(kind, Whole) else [kind.name] for kind in asked]
    starts = np.cumsum([0, *map(len, names)]).tolist()
    of_session, blocks = [], []
    for at, session in enumerate(sessions):
        everywhere = _everywhere(session)
        for kind, start in zip(asked, starts, strict=False):
            places, figures = (
                _pairwise(kind, session, everywhere) if isinstance(kind, Pairwise) else _whole(kind, session)
            )
            places = places.copy()
            places[0] += start
            of_session.append(np.full(places.shape[1], at))
            blocks.append((places, figures))
    at_session = np.concatenate([_NO_ROWS[0], *of_session])
    measure, direction, part, first, last = np.concatenate([_NO_ROWS, *(places for places, _ in blocks)], axis=1)
    figures = np.concatenate([np.zeros((len(_FIGURES), 0)), *(one for _, one in blocks)], axis=1)
    numbers = {
        "first_turn": first,
        "last_turn": last,
        "words_per_turn": _words_per_turn(sessions, at_session, first, last),
        "n_strangers": np.array([len(strangers_of(one)) for one in sessions], dtype=np.int64)[at_session],
        **dict(zip(_FIGURES, figures, strict=True)),
    }
    labels = {
        "session_id": Labels([one.session.id for one in sessions], at_session),
        "measure": Labels([name for those in names for name in those], measure),
        "direction": Labels(DIRECTIONS, direction),
        "part": Labels(PARTS, part),
    }
    return {name: (labels | numbers)[name] for name in _ABOUT}


def _everywhere(session: AnnotatedSession) -> Ints:
    """Return the rows of a measure of neighbouring turns in a session: of each direction all parts; see `_whole`."""
    parts = parts_of(len(session))
    one = np.array([(0, 0, PARTS.index(part.name), part.first, part.last) for part in parts]).T
    every = np.tile(one, len(DIRECTIONS))
    every[1] = np.repeat(np.arange(len(DIRECTIONS)), len(parts))
    return every


def _pairwise(kind: Pairwise, session: AnnotatedSession, everywhere: Ints) -> tuple[Ints, Floats]:
    found = outcome(kind, session)
    return everywhere, _figures(found.values, found.n_pairs, found.shuffled, found.strangers)


def _whole(kind: Whole, session: AnnotatedSession) -> tuple[Ints, Floats]:
    """Return the rows of a measure: which of its names, direction, part, first turn, last turn; and its figures."""
    found = whole_outcome(kind, session)
    n = len(kind.columns)
    places = np.zeros((len(_NO_ROWS), n), dtype=np.int64)
    places[0], places[-1] = np.arange(n), len(session) - 1
    return places, _figures(found.values, np.full(n, nan), found.shuffled, found.strangers)


def _figures(values: Floats, n_pairs: Floats, shuffled: Chance, strangers: Chance) -> Floats:
    """Return what `_FIGURES` names, (n_figures, n_rows)."""
    chance = [each for one in (shuffled, strangers) for each in (one.mean, one.sd, one.z, one.p)]
    return np.array([n_pairs, values, *chance]).reshape(len(_FIGURES), -1)


def _words_per_turn(sessions: Sequence[AnnotatedSession], of_session: Ints, first: Ints, last: Ints) -> Floats:
    """Return the mean words of the turns from first to last, each of its session."""
    starts = np.cumsum([0, *map(len, sessions)])[of_session]
    said = np.concatenate([np.where(one.turns.roles == OTHER, 0, one.n_words) for one in sessions])
    words, turns = np.append(0, np.cumsum(said)), np.append(0, np.cumsum(said > 0))
    start, stop = starts + first, starts + last + 1
    n = turns[stop] - turns[start]
    return np.where(n > 0, (words[stop] - words[start]) / np.maximum(n, 1), nan)
