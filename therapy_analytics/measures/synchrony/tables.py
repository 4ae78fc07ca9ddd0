"""What synchrony adds to the tables: columns of sessions and turns, and rows for each third and window of a session."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from therapy_analytics.core.errors import UnknownNameError
from therapy_analytics.measures.base import (
    Column,
    Compared,
    Direction,
    Statistic,
    Value,
    filled,
    is_asked,
    texts_beside,
    wide_name,
)
from therapy_analytics.measures.null.summary import DRAWS, NullSummary
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
_IN_SESSIONS: tuple[Statistic, ...] = ("value", "excess")
"""What stands in ``sessions.csv`` of a measure of the core: the value, and by how much it exceeds surrogate pairs."""


# ---- columns


def value_column(kind: AdjacentTurnMeasure, name: str, **about: Any) -> Column:
    """Return the column of a value of a measure: its unit, range, source and so on, but for what is given."""
    fields: dict[str, Any] = {
        "meaning": kind.meaning,
        "unit": kind.unit,
        "low": kind.low,
        "high": kind.high,
        "high_means": f"{kind.closer} is more alike",
        "formula": kind.formula,
        "misleads": kind.misleads,
        "source": kind.source,
        "evidence": kind.evidence,
    }
    return Column(name=name, **fields | about)


def adjacent_columns(kind: AdjacentTurnMeasure) -> list[Column]:
    """Return the columns that `adjacent_values` fills."""
    each = value_column(kind, kind.series, meaning=f"{kind.meaning}: this turn and the turn before", level="turn")
    return [*(one for direction in DIRECTIONS for one in _direction_columns(kind, direction)), each]


def _direction_columns(kind: AdjacentTurnMeasure, direction: Direction) -> list[Column]:
    """Return the columns of a measure over the session, and of its slope, for the replies of one direction."""
    whose = texts_beside(__file__)["whose"][direction]
    leads, follows = ("client", "therapist") if kind.closer == "higher" else ("therapist", "client")
    of_difference: dict[str, Any] = {
        "low": kind.low - kind.high,
        "high": kind.high - kind.low,
        "high_means": f"above 0: the {follows} follows the {leads} more",
        "formula": f"{kind.name}_therapist - {kind.name}_client",
    }
    compare: Compared = "" if direction == "both" and not kind.variant else "part"
    value = value_column(
        kind,
        wide_name(kind.name, direction),
        meaning=f"{kind.meaning}; {whose}",
        measure=kind.name,
        direction=direction,
        core=kind.shown and direction == "both",
        compare=compare,
        **(of_difference if direction == "difference" else {}),
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
    slope = replace(
        value,
        name=wide_name(f"{kind.name}_{SLOPE}", direction),
        measure=f"{kind.name}_{SLOPE}",
        meaning=f"How {kind.series} changes from the first reply of the session to the last; {whose}",
        low=-inf,
        high=inf,
        high_means="above 0: rises over the session",
        formula=f"slope of least squares of {kind.series} on the reply's place (first 0, last 1)",
        core=False,
        compare="part",
    )
    beside = (*SHUFFLED, *SURROGATE)
    return [value, *null_columns(value, beside), pairs, slope, *null_columns(slope, beside)]


def null_columns(value: Column, statistics: Sequence[Statistic]) -> list[Column]:
    """Return the columns of statistics of null distributions that stand beside another column.

    Parameters
    ----------
    value : Column
        The value.
    statistics : sequence of str
        Some of `SHUFFLED` and `SURROGATE`.
    """
    texts = texts_beside(__file__)
    words: dict[str, object] = {"DRAWS": DRAWS, "MOST_DONORS": MOST_DONORS, "FEWEST_FOR_P": FEWEST_FOR_P}
    words |= {word: text.format(**words) for word, text in texts["words"].items()} | {"name": value.name}
    return [
        replace(
            value,
            name=wide_name(value.measure, value.direction, one),
            statistic=one,
            core=value.core and one in _IN_SESSIONS,
            **filled(texts["null"][one], words),
        )
        for one in statistics
    ]


def session_columns(kind: SessionMeasure, columns: Sequence[Column]) -> list[Column]:
    """Return the columns that `session_values` fills: those of the values, each with its null distributions."""
    found = []
    for column in columns:
        value = replace(column, measure=column.name, direction="both")
        found += [value, *null_columns(value, _beside(kind))]
    return found


def _beside(kind: SessionMeasure) -> tuple[Statistic, ...]:
    """Return which statistics of null distributions stand beside each value."""
    return SHUFFLED * bool(kind.shuffled) + SURROGATE * kind.surrogates


# ---- values


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


def session_values(kind: SessionMeasure, session: AnnotatedSession) -> dict[str, Value]:
    """Return what a measure finds in a session, by column."""
    values: dict[str, Value] = {}
    for value, numbers in _session_numbers(kind, session):
        values |= {wide_name(value, "both", name): number for name, number in numbers.items()}
    return values


def _session_numbers(kind: SessionMeasure, session: AnnotatedSession) -> Iterator[tuple[str, dict[Statistic, float]]]:
    """Yield each value's name, and its statistics."""
    found = session_result(kind, session)
    for at, value in enumerate(kind.values):
        numbers = _numbers(float(found.values[at]), found.shuffled, found.surrogate, at)
        yield value, {name: numbers[name] for name in ("value", *_beside(kind))}


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
            for value, numbers in _session_numbers(kind, session):
                row: Row = {"measure": value, "direction": "both"}
                found.append(row | dict(numbers))
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
