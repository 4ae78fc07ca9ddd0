"""Measures as rows of the long tables: a measure, whose replies, which part of the session, and its statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from therapy_analytics.measures.base import STATISTICS, Column, Value

Row = dict[str, object]
"""A row of ``measures.csv``, by its columns; statistics that a measure has not are left out."""


def row_column(name: str, meaning: str, unit: str = "text", *, low: float = -np.inf, high: float = np.inf) -> Column:
    """Return what a column of rows means, of a table whose columns are always the same."""
    return Column(
        name=name,
        meaning=meaning,
        unit=unit,
        low=low,
        high=high,
        high_means="",
        formula="as the meaning says",
        misleads="",
        source="This package's own",
        evidence="",
    )


_PLACE = (
    row_column("session_id", "The session"),
    row_column("measure", "The measure; the codebook says what it means, its unit and when it misleads"),
    row_column(
        "direction",
        "Of a measure of synchrony, whose replies: of the therapist, of the client, both (mean of the two), or the "
        "difference (therapist less client); empty for other measures",
    ),
)
_PART = (
    row_column(
        "part",
        "Which part of the session: whole; third_1 to third_3, by turns; window, a sliding window of turns",
    ),
    row_column("first_turn", "The first turn of the part, as in turns.csv", "count", low=0),
    row_column("last_turn", "The last turn of the part", "count", low=0),
)
_MEANINGS = {
    "value": ("The value of the measure, in its unit", "as the measure"),
    "n": ("Of a rate, how many were counted", "count"),
    "out_of": ("Of a rate, out of how many; of a measure of synchrony, the pairs of turns that it rests on", "count"),
    "lo": ("Lower end of the 95% interval of the value", "as the measure"),
    "hi": ("Upper end of the 95% interval of the value", "as the measure"),
    "null_mean": ("Mean of the value over shuffles of the session: its null distribution", "as the measure"),
    "null_sd": ("Standard deviation of the value over the shuffles", "as the measure"),
    "z": ("(value - null_mean) / null_sd", "standard deviations"),
    "p": ("Share of shuffles at least as synchronous, the session among them", "probability"),
    "surrogate_mean": ("What surrogate pairs of speakers of other sessions lead one to expect", "as the measure"),
    "surrogate_sd": ("Standard deviation of what such an expectation misses", "as the measure"),
    "excess": (
        "value - surrogate_mean: what sessions and groups are compared by, as values grow with the length of turns",
        "as the measure",
    ),
    "surrogate_z": ("excess / surrogate_sd", "standard deviations"),
    "surrogate_p": ("Share of surrogate pairs that exceed what is expected of them as far", "probability"),
}
_NUMBERS = tuple(row_column(name, *_MEANINGS[name]) for name in STATISTICS)
MEASURE_COLUMNS = (*_PLACE, *_NUMBERS)
"""The columns of ``measures.csv`` of a run: whole sessions."""
PART_COLUMNS = (*_PLACE, *_PART, *_NUMBERS)
"""The columns of ``measures.csv`` of a session: the whole and its parts."""


def measure_rows(columns: Iterable[Column], values: Mapping[str, Value]) -> list[Row]:
    """Return a row for each measure and direction of some columns, with the values of all its statistics.

    Examples
    --------
    >>> from dataclasses import replace
    >>> rate = row_column("open_rate", "Share of open questions", "proportion")
    >>> columns = [rate, replace(rate, name="n_open", measure="open_rate", statistic="n")]
    >>> measure_rows(columns, {"open_rate": 0.5, "n_open": 3.0})
    [{'measure': 'open_rate', 'direction': '', 'value': 0.5, 'n': 3.0}]
    """
    rows: dict[tuple[str, str], Row] = {}
    for column in columns:
        if column.level == "session":
            measure, direction = column.row
            row = rows.setdefault(column.row, {"measure": measure, "direction": direction})
            row[column.statistic] = values[column.name]
    return list(rows.values())


def as_part(row: Row, part: str, first: int, last: int) -> Row:
    """Return a row as that of a part of the session, from the first turn to the last."""
    return {**row, "part": part, "first_turn": first, "last_turn": last}
