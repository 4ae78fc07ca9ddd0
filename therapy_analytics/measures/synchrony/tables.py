"""What synchrony adds to the tables: columns of sessions and turns, and a row a measure, direction and segment."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.errors import UnknownNameError
from therapy_analytics.language import AnnotatedSession, Extra
from therapy_analytics.measures import Column
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.null.shuffles import DRAWS
from therapy_analytics.measures.null.summary import Floats, NullSummary
from therapy_analytics.measures.null.surrogates import FEWEST_FOR_P, MOST_DONORS, Ints, donors_of
from therapy_analytics.measures.synchrony.adjacent_turns import (
    ADJACENT,
    DIRECTIONS,
    SLOPE,
    STEP,
    THIRDS,
    WHOLE,
    WINDOW,
    WINDOW_NAME,
    AdjacentTurnMeasure,
    adjacent_result,
    segments_of,
)
from therapy_analytics.measures.synchrony.whole_session import SESSION_MEASURES, SessionMeasure, session_result
from therapy_analytics.session import OTHER

Kind = AdjacentTurnMeasure | SessionMeasure

# ---- columns of the sessions and turns tables

_ALL = ("null", "z", "p", "strangers", "strangers_z", "strangers_p")
SHOWN: Mapping[str, tuple[int, int, tuple[str, ...]]] = {
    "": (0, 0, _ALL),
    "_therapist": (DIRECTIONS.index("therapist"), 0, ("null", "z")),
    "_client": (DIRECTIONS.index("client"), 0, ("null", "z")),
    "_difference": (DIRECTIONS.index("difference"), 0, ("z",)),
    "_slope": (0, -1, ("z",)),
}
"""Ends of the names of columns: direction, segment, and which statistics stand beside the value."""
SHUFFLES = f"{DRAWS} seeded shuffles of each speaker's replies within the session"
SURROGATES = (
    f"up to {MOST_DONORS} therapists and {MOST_DONORS} clients of other sessions of the run that are alike in words "
    "per turn, whose turns stand for those of the session, each for one of about its length and place"
)


def adjacent_columns(kind: AdjacentTurnMeasure) -> list[Column]:
    """Return the columns that `adjacent_values` fills."""
    value = Column(
        name=kind.name,
        meaning=f"{kind.meaning}; mean of the therapist's and the client's replies",
        unit=kind.unit,
        low=kind.low,
        high=kind.high,
        direction=f"{kind.closer} is more alike",
        formula=kind.formula,
        misleads=kind.misleads,
        source=kind.source,
        evidence=kind.evidence,
    )
    found = []
    for end, (_, _, statistics) in SHOWN.items():
        own = replace(value, name=kind.name + end, **_said_of(end, kind))
        found += [own, *null_columns(own, statistics)]
    each = replace(value, name=kind.series, meaning=f"{kind.meaning}: this turn and the turn before", level="turn")
    return [*found, each]


def _said_of(end: str, kind: AdjacentTurnMeasure) -> dict[str, Any]:
    span = kind.high - kind.low
    more = (
        "the therapist follows the client more" if kind.closer == "higher" else "the client follows the therapist more"
    )
    about: dict[str, dict[str, Any]] = {
        "": {},
        "_therapist": {"meaning": f"{kind.meaning}; replies of the therapist"},
        "_client": {"meaning": f"{kind.meaning}; replies of the client"},
        "_difference": {
            "meaning": f"{kind.name}: how far the therapist's replies exceed the client's",
            "low": -span,
            "high": span,
            "direction": f"above 0: {more}",
            "formula": f"{kind.name}_therapist - {kind.name}_client",
        },
        "_slope": {
            "meaning": f"How {kind.series} changes from the first reply of the session to the last",
            "low": -inf,
            "high": inf,
            "direction": "above 0: rises over the session",
            "formula": f"slope of least squares of {kind.series} on the reply's place (first 0, last 1), mean of both",
        },
    }
    return about[end]


def null_columns(of: Column, statistics: Sequence[str], *, shuffles: str = SHUFFLES) -> list[Column]:
    """Return the columns of statistics of chance that stand beside another column.

    Parameters
    ----------
    of : Column
        The value.
    statistics : sequence of str
        ``null`` (the mean of shuffles), ``z``, ``p``; ``strangers`` (what surrogate pairs lead one to expect),
        ``strangers_z``, ``strangers_p``.
    shuffles : str
        What is shuffled, for the formulas.
    """
    return [_null_column(of, one, shuffles) for one in statistics]


def _null_column(of: Column, statistic: str, draws: str) -> Column:
    about: dict[str, dict[str, Any]] = {
        "null": {"meaning": f"What {of.name} is by chance", "formula": f"mean over {draws}"},
        "z": {
            "meaning": f"How far {of.name} lies from chance",
            "unit": "standard deviations",
            "low": -inf,
            "high": inf,
            "formula": f"({of.name} - mean) / standard deviation, over {draws}",
        },
        "p": {
            "meaning": f"How often chance is at least as far on its side as {of.name}",
            "unit": "probability",
            "low": 0,
            "high": 1,
            "direction": "low: more than chance gives",
            "formula": f"share of {draws}, with the session itself",
        },
        "strangers": {
            "meaning": f"What {of.name} would be if these two were no more to each other than to others",
            "formula": "mean of the therapist with other clients + mean of the client with other therapists - mean of "
            f"surrogate pairs of these others, from {SURROGATES}",
            "low": -inf,  # a sum of effects may lie a little outside the range of the values
            "high": inf,
        },
    }
    about["strangers_z"] = about["z"] | {
        "meaning": f"How far {of.name} lies from what surrogate pairs lead one to expect",
        "formula": f"({of.name} - {of.name}_strangers) / standard deviation of what such an expectation misses, from "
        f"{SURROGATES}",
    }
    about["strangers_p"] = about["p"] | {
        "meaning": f"How often surrogate pairs exceed what is expected of them as far as the session does ({of.name})",
        "formula": "share of all pairs of these therapists and clients, the session itself among them, whose residual "
        f"(value less effect of the therapist and effect of the client) is at least as high; {SURROGATES}",
    }
    return replace(of, name=f"{of.name}_{statistic}", **about[statistic])


def _statistic(shuffled: NullSummary, surrogate: NullSummary, name: str) -> Floats:
    """Return a statistic of a null distribution by the end of its column's name."""
    summary = surrogate if name.startswith("strangers") else shuffled
    return {"z": summary.z, "p": summary.p}.get(name.rpartition("_")[2], summary.mean)


def adjacent_values(kind: AdjacentTurnMeasure, session: AnnotatedSession) -> dict[str, Value]:
    """Return what a measure finds in a session, by column."""
    found = adjacent_result(kind, session)
    values: dict[str, Value] = {kind.series: found.series}
    for end, (direction, part, statistics) in SHOWN.items():
        name, at = kind.name + end, (direction, part)
        values[name] = float(found.values[at])
        values |= {f"{name}_{one}": float(_statistic(found.shuffled, found.surrogate, one)[at]) for one in statistics}
    return values


def session_columns(kind: SessionMeasure) -> list[Column]:
    """Return the columns that `session_values` fills."""
    return [one for of in kind.columns for one in (of, *null_columns(of, _shown(kind)))]


def _shown(kind: SessionMeasure) -> tuple[str, ...]:
    """Return which statistics of null distributions stand beside each value."""
    return ("null", "z", "p") * bool(kind.shuffled) + ("strangers", "strangers_z", "strangers_p") * kind.surrogates


def session_values(kind: SessionMeasure, session: AnnotatedSession) -> dict[str, Value]:
    """Return what a measure finds in a session, by column."""
    found = session_result(kind, session)
    values: dict[str, Value] = {}
    for at, column in enumerate(kind.columns):
        values[column.name] = float(found.values[at])
        values |= {
            f"{column.name}_{one}": float(_statistic(found.shuffled, found.surrogate, one)[at]) for one in _shown(kind)
        }
    return values


# ---- rows of the synchrony table

PARTS = (WHOLE, *THIRDS, WINDOW_NAME, SLOPE)
_STATISTICS = (
    "n_pairs",
    "value",
    "null",
    "null_sd",
    "z",
    "p",
    "strangers",
    "strangers_sd",
    "strangers_z",
    "strangers_p",
)


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
    known: dict[str, Kind] = {one.name: one for registry in (SESSION_MEASURES, ADJACENT) for one in registry}
    if names is None:
        return [one for one in known.values() if one.extra is None or one.extra in extras]
    for name in names:
        if isinstance(name, str) and name not in known:
            raise UnknownNameError("measure of synchrony", name, known)
    return [known[name] if isinstance(name, str) else name for name in names]


def rows_of(sessions: Sequence[AnnotatedSession], asked: Sequence[Kind]) -> Rows:
    """Return the rows of sessions, at least one, as columns of one length, by the names of `ROW_COLUMNS`."""
    names = [[one.name for one in kind.columns] if isinstance(kind, SessionMeasure) else [kind.name] for kind in asked]
    starts = np.cumsum([0, *map(len, names)]).tolist()
    blocks = [np.zeros((6, 0), dtype=np.int64)]
    statistics = [np.zeros((len(_STATISTICS), 0))]
    for at, session in enumerate(sessions):
        for kind, start in zip(asked, starts, strict=False):
            places, found = (
                _session_rows(kind, session) if isinstance(kind, SessionMeasure) else _adjacent_rows(kind, session)
            )
            blocks.append(np.stack([np.full(places.shape[1], at), places[0] + start, *places[1:]]))
            statistics.append(found)
    at_session, measure, direction, part, first, last = np.concatenate(blocks, axis=1)
    columns: dict[str, Labels | NDArray[np.generic]] = {
        "session_id": Labels([one.session.id for one in sessions], at_session),
        "measure": Labels([name for those in names for name in those], measure),
        "direction": Labels(DIRECTIONS, direction),
        "part": Labels(PARTS, part),
        "first_turn": first,
        "last_turn": last,
        "words_per_turn": _words_per_turn(sessions, at_session, first, last),
        "n_strangers": np.array([len(donors_of(one)) for one in sessions], dtype=np.int64)[at_session],
        **dict(zip(_STATISTICS, np.concatenate(statistics, axis=1), strict=True)),
    }
    return {name: columns[name] for name in _ABOUT}


def _adjacent_rows(kind: AdjacentTurnMeasure, session: AnnotatedSession) -> tuple[Ints, Floats]:
    """Return the rows of a measure: which of its names, direction, part, first and last turn; and its statistics."""
    found, n = adjacent_result(kind, session), len(DIRECTIONS)
    one = np.array([(PARTS.index(part.name), part.first, part.last) for part in segments_of(len(session))]).T
    directions = np.repeat(np.arange(n), one.shape[1])
    places = np.stack([np.zeros_like(directions), directions, *np.tile(one, n)])
    return places, _statistics(found.values, found.n_pairs, found.shuffled, found.surrogate)


def _session_rows(kind: SessionMeasure, session: AnnotatedSession) -> tuple[Ints, Floats]:
    """Return the same of a measure of whole sessions."""
    found, n = session_result(kind, session), len(kind.columns)
    places = np.zeros((5, n), dtype=np.int64)
    places[0], places[-1] = np.arange(n), len(session) - 1
    return places, _statistics(found.values, np.full(n, nan), found.shuffled, found.surrogate)


def _statistics(values: Floats, n_pairs: Floats, shuffled: NullSummary, surrogate: NullSummary) -> Floats:
    """Return what `_STATISTICS` names, (n_statistics, n_rows)."""
    beside = [each for one in (shuffled, surrogate) for each in (one.mean, one.sd, one.z, one.p)]
    return np.array([n_pairs, values, *beside]).reshape(len(_STATISTICS), -1)


def _words_per_turn(sessions: Sequence[AnnotatedSession], of_session: Ints, first: Ints, last: Ints) -> Floats:
    """Return the mean words of the turns from first to last, each of its session."""
    starts = np.cumsum([0, *map(len, sessions)])[of_session]
    said = np.concatenate([np.where(one.turns.roles == OTHER, 0, one.n_words) for one in sessions])
    words, turns = np.append(0, np.cumsum(said)), np.append(0, np.cumsum(said > 0))
    start, stop = starts + first, starts + last + 1
    n = turns[stop] - turns[start]
    return np.where(n > 0, (words[stop] - words[start]) / np.maximum(n, 1), nan)
