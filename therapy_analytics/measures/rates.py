"""Rates: how many of the turns that could have something have it, with their interval, and the columns of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.codebook import DEFAULT_CORRELATION
from therapy_analytics.measures.base import Column, Statistic, count_name, total_name
from therapy_analytics.measures.intervals import wilson


def rate(
    name: str, hits: NDArray[np.bool_], among: NDArray[np.bool_], *, correlation: float = DEFAULT_CORRELATION
) -> dict[str, float]:
    """Return a rate with its count and its 95% interval (`therapy_analytics.measures.intervals.wilson`).

    Parameters
    ----------
    name : str
        Column of the rate; the others are ``name_lo``, ``name_hi``, `count_name` and `total_name`.
    hits, among : bool array (n_turns,)
        Turns that have it, among turns that could.
    correlation : float
        How alike turns are; see `therapy_analytics.codes.Code`.
    """
    return counted_rate(
        name, float(np.count_nonzero(hits & among)), float(np.count_nonzero(among)), correlation=correlation
    )


def counted_rate(
    name: str, k: float, n: float, *, per: float = 1.0, correlation: float = DEFAULT_CORRELATION
) -> dict[str, float]:
    """Return ``k`` of ``n``, times `per`, as `rate` does, from the counts themselves."""
    low, high = wilson(k, n, correlation)
    value, count = (k / n, k) if n else (float("nan"), float("nan"))
    return {
        name: per * value,
        f"{name}_lo": per * low,
        f"{name}_hi": per * high,
        count_name(name): count,
        total_name(name): n,
    }


INTERVAL = (
    "95% Wilson score interval over as many independent units as tell as much (docs/validity.md): where the rate of "
    "this pair would lie had the session gone on; not the tagger's own error"
)
"""What the ends of a rate's interval are."""


def rate_columns(column: Column, *, counted: str) -> list[Column]:
    """Return the column of a rate with those of its interval, its count and what that is out of.

    Parameters
    ----------
    column : Column
        The rate itself.
    counted : str
        What is counted, for the meaning of ``n_...``.
    """
    column = replace(column, measure=column.name)
    low, high = interval_columns(column, INTERVAL, source="Wilson (1927)")
    count = replace(
        column,
        name=count_name(column.name),
        meaning=f"{counted} (what {column.name} counts)",
        unit="count",
        low=0,
        high=np.inf,
        high_means="as the rate",
        formula="count",
        statistic="n",
        page=None,
    )
    total = replace(
        count,
        name=total_name(column.name),
        meaning=f"What {column.name} is out of: {column.formula}",
        statistic="out_of",
        core=False,
    )
    return [column, low, high, count, total]


def interval_columns(column: Column, formula: str, *, source: str = "") -> tuple[Column, Column]:
    """Return the columns of the ends of a measure's 95% interval, by its formula and source (the measure's)."""
    ends: tuple[tuple[Statistic, str], ...] = (("lo", "Lower"), ("hi", "Upper"))
    low, high = (
        replace(
            column,
            name=f"{column.name}_{end}",
            meaning=f"{word} end of the 95% interval of {column.name}",
            high_means="as the measure itself",
            formula=formula,
            source=source or column.source,
            measure=column.name,
            statistic=end,
            page=None,
        )
        for end, word in ends
    )
    return low, high


def mark_column(rate: Column, name: str, meaning: str, *, empty: str = "turns that cannot") -> Column:
    """Return the column of turns that shows which of them a rate counts: 1, 0, or nan (`empty`)."""
    return replace(
        rate,
        name=name,
        meaning=meaning,
        unit="0 or 1",
        low=0,
        high=1,
        high_means="1: it does",
        formula=f"1 where the turn counts for {rate.name}, else 0; empty for {empty}",
        level="turn",
        core=False,
        page=None,
    )


def marks(counted: NDArray[np.bool_], hits: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 for turns with a hit, 0 for others that are counted, nan elsewhere; float64 (n_turns,)."""
    return np.where(counted, hits.astype(np.float64), np.nan)


def mean_column(values: NDArray[np.float64] | NDArray[np.int64]) -> float:
    """Return the mean of the values that are defined, or nan when none is."""
    defined = np.asarray(values, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    # As ndarray.mean does, whose checks take longer than the sum of a session's turns
    return float(np.add.reduce(defined)) / len(defined) if len(defined) else float("nan")
