"""Synchrony of a session as rows: a measure, who replies, a stretch of the session, the value and its baselines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.errors import UnknownNameError
from therapy_analytics.language import AnnotatedSession, Extra
from therapy_analytics.measures import Column
from therapy_analytics.measures.synchrony._chance import DRAWS, Chance, Floats, strangers_of
from therapy_analytics.measures.synchrony._pairwise import DIRECTIONS, PAIRWISE, Pairwise, outcome
from therapy_analytics.measures.synchrony._stretches import STEP, WINDOW
from therapy_analytics.measures.synchrony._whole import MOST_DIALOGUES, WHOLE, Whole, whole_outcome
from therapy_analytics.session import OTHER

Kind = Pairwise | Whole
Rows = Mapping[str, NDArray[np.generic]]


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
        f"Mean of the value over {DRAWS} dialogues with strangers alike in words per turn, turns exchanged for turns "
        f"of about their length ({MOST_DIALOGUES} for measures of whole dialogues)"
    ),
    "strangers_sd": _About("Standard deviation over the dialogues with strangers", low=0),
    "strangers_z": _About("(value - strangers) / strangers_sd", "standard deviations"),
    "strangers_p": _About("As p, of dialogues with strangers", "probability", 0, 1),
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


def rows_of(session: AnnotatedSession, asked: Sequence[Kind]) -> Rows:
    """Return the rows of a session as columns of one length, by the names of `ROW_COLUMNS`."""
    blocks = [_pairwise_rows(one, session) if isinstance(one, Pairwise) else _whole_rows(one, session) for one in asked]
    names = [name for name in _ABOUT if name not in ("session_id", "n_strangers")]
    rows = {name: np.concatenate([block[name] for block in blocks]) if blocks else np.zeros(0) for name in names}
    n = len(rows["value"])
    rows["words_per_turn"] = _words_per_turn(session, rows["first_turn"], rows["last_turn"])
    ends = {
        "session_id": np.full(n, session.session.id, dtype=object),
        "n_strangers": np.full(n, len(strangers_of(session)), dtype=np.int64),
    }
    return {name: (rows | ends)[name] for name in _ABOUT}


def _pairwise_rows(kind: Pairwise, session: AnnotatedSession) -> dict[str, NDArray[np.generic]]:
    found = outcome(kind, session)
    n_parts = len(found.parts)
    return {
        **_named(kind.name, np.repeat(np.array(DIRECTIONS, dtype=object), n_parts)),
        "part": np.tile(np.array([part.name for part in found.parts], dtype=object), len(DIRECTIONS)),
        "first_turn": np.tile([part.first for part in found.parts], len(DIRECTIONS)),
        "last_turn": np.tile([part.last for part in found.parts], len(DIRECTIONS)),
        "n_pairs": found.n_pairs.ravel(),
        "value": found.values.ravel(),
        **_chance(found.shuffled, found.strangers),
    }


def _whole_rows(kind: Whole, session: AnnotatedSession) -> dict[str, NDArray[np.generic]]:
    found = whole_outcome(kind, session)
    n = len(kind.columns)
    none = np.full(n, nan)
    return {
        **_named("", np.full(n, "both", dtype=object)),
        "measure": np.array([column.name for column in kind.columns], dtype=object),
        "part": np.full(n, "whole", dtype=object),
        "first_turn": np.zeros(n, dtype=np.int64),
        "last_turn": np.full(n, len(session) - 1),
        "n_pairs": none,
        "value": found.values,
        **_chance(found.shuffled, found.strangers),
    }


def _named(name: str, direction: NDArray[np.object_]) -> dict[str, NDArray[np.generic]]:
    nothing = np.zeros(len(direction))  # words per turn are filled in for all rows at once
    return {"measure": np.full(len(direction), name, dtype=object), "direction": direction, "words_per_turn": nothing}


def _chance(shuffled: Chance, strangers: Chance) -> dict[str, Floats]:
    return {
        "null": shuffled.mean.ravel(),
        "null_sd": shuffled.sd.ravel(),
        "z": shuffled.z.ravel(),
        "p": shuffled.p.ravel(),
        "strangers": strangers.mean.ravel(),
        "strangers_sd": strangers.sd.ravel(),
        "strangers_z": strangers.z.ravel(),
        "strangers_p": strangers.p.ravel(),
    }


def _words_per_turn(session: AnnotatedSession, first: NDArray[np.generic], last: NDArray[np.generic]) -> Floats:
    spoken = (session.n_words > 0) & (session.turns.roles != OTHER)
    words = np.concatenate([[0], np.cumsum(np.where(spoken, session.n_words, 0))])
    turns = np.concatenate([[0], np.cumsum(spoken)])
    start, stop = first.astype(np.int64), last.astype(np.int64) + 1
    n = turns[stop] - turns[start]
    return np.where(n > 0, (words[stop] - words[start]) / np.maximum(n, 1), nan)
