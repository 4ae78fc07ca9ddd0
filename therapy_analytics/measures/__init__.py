"""Measures: numbers of sessions (``measures.csv``) and of turns (``turn_measures.csv``), computed from arrays.

How to add a measure:

1. Write one file in ``process/``, ``synchrony/`` or ``alliance/``; the folder is its family.
   It holds one function that takes an `AnnotatedSession` and returns a value for each of
   its columns: a float for a session column, an array (n_turns,) for a turn column.
2. Decorate it with ``@measure(columns=[Column(...), ...])``. A column says its unit, range,
   what a high value means, formula, when it misleads and its source; a rate brings its count and
   interval (`rate_columns`, `rate`). ``core=PLACE`` has every run compute it, ``Column(core=True)``
   puts it into ``sessions.csv``, ``page={name: OnPage(...)}`` shows it in the page.
3. Give the formula as a doctest on a few turns. Undefined is ``nan``, never 0.

The contract tests find the measure by themselves. No file but the new one is edited.
"""

from therapy_analytics.measures.base import (
    MEASURES,
    Column,
    Curve,
    KindOf,
    Mark,
    Measure,
    OnPage,
    columns_of,
    measure,
    rate_columns,
    values_of,
)
from therapy_analytics.measures.rates import mean_column, rate

__all__ = [
    "MEASURES",
    "Column",
    "Curve",
    "KindOf",
    "Mark",
    "Measure",
    "OnPage",
    "columns_of",
    "mean_column",
    "measure",
    "rate",
    "rate_columns",
    "values_of",
]
