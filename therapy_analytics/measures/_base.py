"""What a measure and its columns are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours import Code
from therapy_analytics.behaviours.codebook import DEFAULT_CORRELATION
from therapy_analytics.errors import DuplicateNameError
from therapy_analytics.language import AnnotatedSession, Extra, Lexicon
from therapy_analytics.measures._intervals import wilson
from therapy_analytics.registry import Registry

Value = float | NDArray[np.float64]
Compute = Callable[[AnnotatedSession], Mapping[str, Value]]
Evidence = Literal["supported", "weak", "untested", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What a column of a table means; it becomes a row of ``codebook.csv``.

    Attributes
    ----------
    name : str
        snake_case, unique over all measures.
    meaning : str
        One line that a clinician understands.
    unit : str
        ``proportion``, ``words``, ``turns``, ``seconds``, ``ratio``, ``per 100 words``, ...
    low, high : float
        The range of possible values; infinite where there is no bound.
    direction : str
        What a high value means.
    formula : str
        How it is computed.
    misleads : str
        When not to trust it.
    source : str
        The publication, or "This package's own".
    level : {"session", "turn"}
        The table that it stands in.
    evidence : {"supported", "weak", "untested", ""}
        Whether a check on real sessions bears out that it measures what its name says (docs/validity.md has the
        figure): it did; it did little or no better than a count of keywords; or none was made. Empty
        for what is no measure.
    """

    name: str
    meaning: str
    unit: str
    low: float
    high: float
    direction: str
    formula: str
    misleads: str
    source: str
    level: Literal["session", "turn"] = "session"
    evidence: Evidence = "untested"


Columns = Sequence[Column] | Callable[[Sequence[Lexicon], Sequence[Code]], Sequence[Column]]


@dataclass(frozen=True, slots=True)
class Measure:
    """A registered measure: name, family (the folder of its file), columns, function, and whether it is an extra."""

    name: str
    family: str
    columns: Columns
    compute: Compute
    extra: Extra | None = None

    def columns_for(self, lexicons: Sequence[Lexicon], codes: Sequence[Code] = ()) -> Sequence[Column]:
        """Return its columns, given the lexicons of the run and the codes to be rated (few depend on them)."""
        return self.columns(lexicons, codes) if callable(self.columns) else self.columns


_FAMILY_ORDER = {"process": 0, "synchrony": 1, "alliance": 2}
MEASURES: Registry[Measure] = Registry("measure", package="therapy_analytics.measures")


def measure(*, columns: Columns, extra: Extra | None = None) -> Callable[[Compute], Compute]:
    """Register a function as the measure that makes these columns.

    Parameters
    ----------
    columns : sequence of Column, or callable
        What it makes.
    extra : str, optional
        What must be asked for, because it is costly; runs without it leave the measure out.
    """

    def register(compute: Compute) -> Compute:
        name = getattr(compute, "__name__", "measure")
        family = compute.__module__.split(".")[-2] if "." in compute.__module__ else "user"
        MEASURES.add(name, Measure(name, family, columns, compute, extra), module=compute.__module__)
        return compute

    return register


def all_columns(
    lexicons: Sequence[Lexicon], codes: Sequence[Code] = (), *, extras: Collection[Extra] = ()
) -> list[tuple[Measure, Column]]:
    """Return every column of every measure: by family, talk and behaviour first, then by measure.

    Those of costly measures are among them where `extras` says so.

    Raises
    ------
    DuplicateNameError
        Two measures claim one column.
    """
    owners: dict[str, str] = {}
    found = []
    for one in sorted(MEASURES, key=lambda one: (_FAMILY_ORDER.get(one.family, 9), one.family, one.name)):
        for column in one.columns_for(lexicons, codes) if one.extra is None or one.extra in extras else ():
            if owners.setdefault(column.name, one.name) != one.name:
                raise DuplicateNameError("column", column.name, owners[column.name], one.name)
            found.append((one, column))
    return found


def values_of(session: AnnotatedSession) -> dict[str, Value]:
    """Compute all measures of a session: column name to value.

    Values that a session cannot have are nan.
    """
    values: dict[str, Value] = {}
    for one in MEASURES:
        if one.extra is None or one.extra in session.extras:
            values.update(one.compute(session))
    return values


def rate(
    name: str, hits: NDArray[np.bool_], of: NDArray[np.bool_], *, correlation: float = DEFAULT_CORRELATION
) -> dict[str, float]:
    """Return a rate with its count and its 95% interval (`therapy_analytics.measures._intervals.wilson`).

    Parameters
    ----------
    name : str
        Column of the rate; the others are ``name_lo``, ``name_hi`` and `count_name`.
    hits, of : bool array (n_turns,)
        Turns that have it, among turns that could.
    correlation : float
        How alike turns are; see `therapy_analytics.behaviours.Code`.
    """
    return counted_rate(name, float(np.count_nonzero(hits & of)), float(np.count_nonzero(of)), correlation=correlation)


def counted_rate(
    name: str, k: float, n: float, *, per: float = 1.0, correlation: float = DEFAULT_CORRELATION
) -> dict[str, float]:
    """Return ``k`` of ``n``, times `per`, as `rate` does, from the counts themselves."""
    low, high = wilson(k, n, correlation)
    own, below, above, counted = names_of(name)
    value, count = (k / n, k) if n else (float("nan"), float("nan"))
    return {own: per * value, below: per * low, above: per * high, counted: count}


@functools.cache
def names_of(rate_name: str) -> tuple[str, str, str, str]:
    """Return the columns of a rate: itself, the ends of its interval, its count."""
    return rate_name, f"{rate_name}_lo", f"{rate_name}_hi", count_name(rate_name)


def count_name(rate_name: str) -> str:
    """Return the column of a rate's count.

    Examples
    --------
    >>> count_name("therapist_question_rate"), count_name("client_we_per_100_words")
    ('n_therapist_question', 'n_client_we')
    """
    return f"n_{rate_name.removesuffix('_rate').removesuffix('_per_100_words')}"


INTERVAL = (
    "95% Wilson score interval over as many independent units as tell as much (docs/validity.md): where the rate of "
    "this pair would lie had the session gone on; not the tagger's own error"
)
"""What the ends of a rate's interval are."""


def rate_columns(column: Column, *, counted: str) -> list[Column]:
    """Return the column of a rate with those of its interval and count.

    Parameters
    ----------
    column : Column
        The rate itself.
    counted : str
        What is counted, for the meaning of ``n_...``.
    """
    interval = INTERVAL
    low, high = (
        replace(
            column,
            name=f"{column.name}_{end}",
            meaning=f"{word} end of the 95% interval of {column.name}",
            direction="as the rate",
            formula=interval,
            source="Wilson (1927)",
        )
        for end, word in (("lo", "Lower"), ("hi", "Upper"))
    )
    count = replace(
        column,
        name=count_name(column.name),
        meaning=f"{counted} (what {column.name} counts)",
        unit="count",
        low=0,
        high=np.inf,
        direction="as the rate",
        formula="count",
    )
    return [column, low, high, count]


def mark_column(of: Column, name: str, meaning: str, *, empty: str = "turns that cannot") -> Column:
    """Return the column of turns that shows which of them a rate counts: 1, 0, or empty.

    Parameters
    ----------
    of : Column
        The rate.
    name, meaning : str
        Of the column of turns.
    empty : str
        For which turns it is.
    """
    return replace(
        of,
        name=name,
        meaning=meaning,
        unit="0 or 1",
        low=0,
        high=1,
        direction="1: it does",
        formula=f"1 where the turn counts for {of.name}, else 0; empty for {empty}",
        level="turn",
    )


def marks(of: NDArray[np.bool_], hits: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 for turns with a hit, 0 for the others of those that could have one, nan elsewhere; (n_turns,)."""
    return np.where(of, hits.astype(np.float64), np.nan)


def mean_column(values: NDArray[np.float64] | NDArray[np.int64]) -> float:
    """Return the mean of the values that are defined, or nan when none is."""
    defined = np.asarray(values, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    # As ndarray.mean does, whose checks take longer than the sum of a session's turns
    return float(np.add.reduce(defined)) / len(defined) if len(defined) else float("nan")


def slopes(places: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the slopes of least squares of columns of values on places, (n_columns,); nan where all places are one.

    Parameters
    ----------
    places, values : float64 arrays (n,) and (n, n_columns)
        What changes along what.

    Examples
    --------
    Half a point more at the end than at the begin, and no change:

    >>> slopes(np.array([0.0, 0.2, 0.8, 1.0]), np.array([[0.0, 1], [0.1, 1], [0.4, 1], [0.5, 1]])).round(3).tolist()
    [0.5, 0.0]
    """
    off = places - places.mean()
    spread = float(off @ off)
    return np.asarray(off @ values) / (spread or np.nan)
