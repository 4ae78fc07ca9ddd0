"""What synchrony adds to the tables: columns of sessions and turns, and rows for each third and window of a session."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from therapy_analytics.core.errors import UnknownNameError
from therapy_analytics.measures import Column
from therapy_analytics.measures.base import Direction, Statistic, Value, is_asked, wide_name
from therapy_analytics.measures.null.shuffles import DRAWS
from therapy_analytics.measures.null.summary import NullSummary
from therapy_analytics.measures.null.surrogates import FEWEST_FOR_P, MOST_DONORS
from therapy_analytics.measures.rows import Row, as_part, measure_rows
from therapy_analytics.measures.synchrony.adjacent_turns import (
    ADJACENT,
    DIRECTIONS,
    SLOPE,
    WHOLE,
    AdjacentResult,
    AdjacentTurnMeasure,
    adjacent_result,
)
from therapy_analytics.measures.synchrony.whole_session import SESSION_MEASURES, SessionMeasure, session_result
from therapy_analytics.text import AnnotatedSession, Extra

Kind = AdjacentTurnMeasure | SessionMeasure
SHUFFLED: tuple[Statistic, ...] = ("null_mean", "null_sd", "z", "p")
SURROGATE: tuple[Statistic, ...] = ("surrogate_mean", "surrogate_sd", "excess", "surrogate_z", "surrogate_p")
SHUFFLES = f"{DRAWS} seeded shuffles of each speaker's replies within the session"
SURROGATES = (
    f"up to {MOST_DONORS} therapists and {MOST_DONORS} clients of other sessions of the run that are alike in words "
    "per turn, whose turns stand for those of the session, each for one of about its length and place"
)
_WHOSE: dict[Direction, str] = {
    "both": "mean of the therapist's and the client's replies",
    "therapist": "replies of the therapist",
    "client": "replies of the client",
    "difference": "how far the therapist's replies exceed the client's",
}
_IN_SESSIONS: tuple[Statistic, ...] = ("value", "excess")
"""What stands in ``sessions.csv`` of a measure of the core: the value, and by how much it exceeds surrogate pairs."""


def adjacent_columns(kind: AdjacentTurnMeasure) -> list[Column]:
    """Return the columns that `adjacent_values` fills."""
    each = Column(
        name=kind.series,
        meaning=f"{kind.meaning}: this turn and the turn before",
        unit=kind.unit,
        low=kind.low,
        high=kind.high,
        high_means=f"{kind.closer} is more alike",
        formula=kind.formula,
        misleads=kind.misleads,
        source=kind.source,
        evidence=kind.evidence,
        level="turn",
    )
    return [*(one for direction in _WHOSE for one in _direction_columns(kind, each, direction)), each]


def _direction_columns(kind: AdjacentTurnMeasure, each: Column, direction: Direction) -> list[Column]:
    """Return the columns of a measure over the session, and of its slope, for the replies of one direction."""
    value = replace(
        each,
        name=wide_name(kind.name, direction),
        level="session",
        meaning=f"{kind.meaning}; {_WHOSE[direction]}",
        measure=kind.name,
        direction=direction,
        core=kind.shown and direction == "both",
        compare="" if direction == "both" and not kind.variant else "part",
        **(_of_difference(kind) if direction == "difference" else {}),
    )
    pairs = replace(
        value,
        name=wide_name(kind.name, direction, "out_of"),
        meaning=f"Pairs of neighbouring turns that {value.name} rests on",
        unit="count",
        low=0,
        high=inf,
        high_means="more pairs",
        formula="count of replies that have a value",
        statistic="out_of",
        core=False,
    )
    measure = f"{kind.name}_{SLOPE}"
    slope = replace(
        value,
        name=wide_name(measure, direction),
        measure=measure,
        meaning=f"How {kind.series} changes from the first reply of the session to the last; {_WHOSE[direction]}",
        low=-inf,
        high=inf,
        high_means="above 0: rises over the session",
        formula=f"slope of least squares of {kind.series} on the reply's place (first 0, last 1)",
        core=False,
        compare="part",
    )
    beside = (*SHUFFLED, *SURROGATE)
    return [value, *null_columns(value, beside), pairs, slope, *null_columns(slope, beside)]


def _of_difference(kind: AdjacentTurnMeasure) -> dict[str, Any]:
    follows = ("the therapist", "the client") if kind.closer == "higher" else ("the client", "the therapist")
    return {
        "low": kind.low - kind.high,
        "high": kind.high - kind.low,
        "high_means": f"above 0: {follows[0]} follows {follows[1]} more",
        "formula": f"{kind.name}_therapist - {kind.name}_client",
    }


_SHARE = {"unit": "probability", "low": 0, "high": 1, "high_means": "low: above the null"}
_DISTANCE = {"unit": "standard deviations", "low": -inf, "high": inf}
_NULL: dict[Statistic, tuple[str, str, dict[str, Any]]] = {
    "null_mean": ("Mean of {name} over shuffles", "mean over {shuffles}", {}),
    "null_sd": ("Standard deviation of {name} over shuffles", "standard deviation over {shuffles}", {"low": 0}),
    "z": (
        "How far {name} lies above its mean over shuffles",
        "(value - null_mean) / null_sd, over {shuffles}",
        _DISTANCE,
    ),
    "p": (
        "How often shuffles are at least as synchronous as {name}; two-sided for difference and slope",
        "share of {shuffles}, the session itself among them",
        _SHARE,
    ),
    "surrogate_mean": (
        "What {name} would be if these two were no more to each other than to others",
        (
            "mean of the therapist with other clients + mean of the client with other therapists - mean of surrogate "
            f"pairs of these others, from {SURROGATES}"
        ),
        {"low": -inf, "high": inf},  # a sum of effects may lie a little outside the range of the values
    ),
    "surrogate_sd": (
        "How far what surrogate pairs lead one to expect of {name} is off",
        f"standard deviation of what such an expectation misses, from {SURROGATES}",
        {"low": 0, "high": inf},
    ),
    "excess": (
        "{name} above what surrogate pairs lead one to expect: sessions and groups are compared by it",
        f"value - surrogate_mean, from {SURROGATES}",
        {"low": -inf, "high": inf},
    ),
    "surrogate_z": (
        "How far {name} lies above what surrogate pairs lead one to expect",
        f"excess / surrogate_sd, from {SURROGATES}",
        _DISTANCE,
    ),
    "surrogate_p": (
        (
            "How often surrogate pairs exceed what is expected of them as far as the session does ({name}); none with "
            f"fewer than {FEWEST_FOR_P} donors"
        ),
        (
            "share of all pairs of these therapists and clients, the session itself among them, whose residual (value "
            f"less effect of the therapist and effect of the client) is at least as high; {SURROGATES}"
        ),
        _SHARE,
    ),
}
"""Meaning, formula, unit and range of the statistics of null distributions."""


def null_columns(value: Column, statistics: Sequence[Statistic]) -> list[Column]:
    """Return the columns of statistics of null distributions that stand beside another column.

    Parameters
    ----------
    value : Column
        The value.
    statistics : sequence of str
        Some of `SHUFFLED` and `SURROGATE`.
    """
    return [_null_column(value, one) for one in statistics]


def _null_column(value: Column, statistic: Statistic) -> Column:
    meaning, formula, about = _NULL[statistic]
    return replace(
        value,
        name=wide_name(value.measure or value.name, value.direction, statistic),
        measure=value.measure or value.name,
        statistic=statistic,
        core=value.core and statistic in _IN_SESSIONS,
        meaning=meaning.format(name=value.name),
        formula=formula.format(shuffles=SHUFFLES),
        **about,
    )


def _numbers(value: float, shuffled: NullSummary, surrogate: NullSummary, at: Any) -> dict[Statistic, float]:
    """Return a value and its statistics, by name; `at` is its place among the values."""
    beside = (
        *(shuffled.mean, shuffled.sd, shuffled.z, shuffled.p),
        *(surrogate.mean, surrogate.sd, value - surrogate.mean, surrogate.z, surrogate.p),
    )
    numbers: dict[Statistic, float] = {"value": value}
    return numbers | {name: float(one[at]) for name, one in zip((*SHUFFLED, *SURROGATE), beside, strict=True)}


def _segment_values(
    kind: AdjacentTurnMeasure, found: AdjacentResult, segment: int
) -> Iterator[tuple[str, Direction, dict[Statistic, float]]]:
    """Yield measure, direction and statistics of one segment of a session."""
    slope = found.segments[segment].name == SLOPE
    measure = f"{kind.name}_{SLOPE}" if slope else kind.name
    for row, direction in enumerate(DIRECTIONS):
        at = row, segment
        numbers = _numbers(float(found.values[at]), found.shuffled, found.surrogate, at)
        yield measure, direction, numbers if slope else numbers | {"out_of": float(found.n_pairs[at])}


def adjacent_values(kind: AdjacentTurnMeasure, session: AnnotatedSession) -> dict[str, Value]:
    """Return what a measure finds in a session, by column."""
    found = adjacent_result(kind, session)
    values: dict[str, Value] = {kind.series: found.series}
    for segment in (0, len(found.segments) - 1):
        for measure, direction, numbers in _segment_values(kind, found, segment):
            values |= {wide_name(measure, direction, name): number for name, number in numbers.items()}
    return values


def session_columns(kind: SessionMeasure) -> list[Column]:
    """Return the columns that `session_values` fills."""
    return [one for value in _placed(kind) for one in (value, *null_columns(value, _beside(kind)))]


def _placed(kind: SessionMeasure) -> list[Column]:
    """Return the columns of the values; where a column does not say whose replies it is about, both are meant."""
    places = [replace(one, measure=one.measure or one.name, direction=one.direction or "both") for one in kind.columns]
    return [one if one.direction == "both" else replace(one, compare="part") for one in places]


def _beside(kind: SessionMeasure) -> tuple[Statistic, ...]:
    """Return which statistics of null distributions stand beside each value."""
    return SHUFFLED * bool(kind.shuffled) + SURROGATE * kind.surrogates


def session_values(kind: SessionMeasure, session: AnnotatedSession) -> dict[str, Value]:
    """Return what a measure finds in a session, by column."""
    found = session_result(kind, session)
    values: dict[str, Value] = {}
    for at, column in enumerate(_placed(kind)):
        numbers = _numbers(float(found.values[at]), found.shuffled, found.surrogate, at)
        values |= {wide_name(*column.row, name): numbers[name] for name in ("value", *_beside(kind))}
    return values


# ---- rows for thirds and windows


def kinds(names: Sequence[str | Kind] | None = None, *, extras: Collection[Extra] = ()) -> list[Kind]:
    """Return measures by name, in order; by default those that a run computes which asks for `extras`.

    Raises
    ------
    UnknownNameError
        A name that no measure has.
    """
    known: dict[str, Kind] = {one.name: one for registry in (SESSION_MEASURES, ADJACENT) for one in registry}
    if names is None:
        return [one for one in known.values() if is_asked(extras, core=one.core, extra=one.extra)]
    for name in names:
        if isinstance(name, str) and name not in known:
            raise UnknownNameError("measure of synchrony", name, known)
    return [known[name] if isinstance(name, str) else name for name in names]


def whole_rows(session: AnnotatedSession, asked: Sequence[Kind]) -> list[Row]:
    """Return a row for each measure and direction over the whole session, see `PART_COLUMNS`."""
    found: list[Row] = []
    for kind in asked:
        if isinstance(kind, SessionMeasure):
            found += measure_rows(session_columns(kind), session_values(kind, session))
        else:
            found += measure_rows(adjacent_columns(kind), adjacent_values(kind, session))
    return [as_part(row, WHOLE, 0, len(session) - 1) for row in found]


def part_rows(session: AnnotatedSession, asked: Sequence[Kind]) -> list[Row]:
    """Return a row for each adjacent-turn measure, direction, and third or window of the session."""
    found: list[Row] = []
    for kind in asked:
        if isinstance(kind, AdjacentTurnMeasure):
            result = adjacent_result(kind, session)
            for at, segment in enumerate(result.segments):
                if segment.name not in (WHOLE, SLOPE):
                    for measure, direction, numbers in _segment_values(kind, result, at):
                        row: Row = {"measure": measure, "direction": direction}
                        found.append(as_part(row | dict(numbers), segment.name, segment.first, segment.last))
    return found
