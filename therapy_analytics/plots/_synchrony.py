"""What plots of a synchrony table read from it: windows, whole sessions, and numbers as text."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import floor, isnan, log10
from typing import TYPE_CHECKING

import numpy as np

from therapy_analytics.plots import remembered
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    from therapy_analytics.plots._turns import Bools, Floats

WHO = ("therapist", "client", "both")
"""Directions that are drawn: whose replies."""
STATISTICS = ("value", "null_mean", "z", "p", "surrogate_mean", "surrogate_z")
BEYOND = 1.96
"""So many standard deviations to each side hold 95 of 100 shuffles."""
SMALL = 0.001
SLOPE = "_slope"
"""The ending of a measure that is the change of another one over the session: figures show its course instead."""
CORE = {
    "lsm_turn_mean": "Style matching, adjacent turns (LSM)",
    "rlsm": "Reciprocal style matching (rLSM)",
    "semantic_similarity": "Semantic similarity of adjacent turns",
    "lexical_alignment": "Lexical alignment of adjacent turns",
    "coordination": "Linguistic coordination",
    "lsm": "Style matching, whole session (LSM)",
}
"""The measures that are best known in the literature, with the names that they have there."""
MARKS = {"therapist": "o", "client": "s", "both": "D"}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Windows:
    """The windows of one measure and one direction, (n_windows,) each.

    Attributes
    ----------
    middle : array of float
        The middle of the window, in turns.
    value, low, high : array of float
        Its value, and where 95 of 100 shuffles of it lie; nan where undefined.
    """

    middle: Floats
    value: Floats
    low: Floats
    high: Floats

    @property
    def outside(self) -> Bools:
        """Return which values the shuffles do not reach."""
        return (self.value < self.low) | (self.value > self.high)


@dataclass(frozen=True, slots=True, eq=False)
class MeasureShown:
    """What a session's table says of one measure.

    Attributes
    ----------
    name : str
        The measure.
    whole : dict of str to array of float
        For each of `WHO` that has a value: the numbers of the whole session, as `STATISTICS`, (6,).
    windows : dict of str to Windows
        For the speakers' replies, else for both; empty where no window has a value.
    """

    name: str
    whole: dict[str, Floats]
    windows: dict[str, Windows]


def full_names(names: Iterable[str]) -> dict[str, str]:
    """Return what measures are called in words, each differently.

    >>> full_names(["rlsm", "nclid", "my_own"])["my_own"]
    'my own'
    """
    names = list(names)
    others = {} if set(names) <= set(CORE) else _meanings()
    found = {name: CORE.get(name) or others.get(name, "").split(";")[0].split(":")[0] for name in names}
    shown = list(found.values())
    return {
        name: words if words and shown.count(words) == 1 else name.replace("_", " ") for name, words in found.items()
    }


@functools.cache
def _meanings() -> dict[str, str]:
    """Return what the measures of synchrony are, as the codebook says."""
    from therapy_analytics.measures import MEASURES  # noqa: PLC0415  # reads all measures

    named = [kind.columns for kind in MEASURES if kind.family == "synchrony" and not callable(kind.columns)]
    columns = [one for some in named for one in some]
    return {one.measure: one.meaning for one in columns if one.statistic == "value" and one.direction == "both"}


@remembered
def measures(rows: pd.DataFrame) -> list[MeasureShown]:
    """Return the measures that have a value in one session's table, in its order; not their slopes."""
    values = np.column_stack([numbers(rows, name) for name in STATISTICS])
    spread, first, last = (numbers(rows, name) for name in ("null_sd", "first_turn", "last_turn"))
    course = np.column_stack([(first + last) / 2, values[:, 0], BEYOND * spread, values[:, 1]])
    # For each measure, the rows of each of its directions and parts.
    places: dict[str, dict[tuple[str, str], list[int]]] = {}
    keys = zip(*(rows[name].astype(str) for name in ("measure", "direction", "part")), strict=True)
    for i, (name, who, part) in enumerate(keys):
        places.setdefault(name, {}).setdefault((who, part), []).append(i)
    found = []
    for name, at in places.items():
        if name.endswith(SLOPE) and name.removesuffix(SLOPE) in places:
            continue
        whole = {who: values[at[who, "whole"][0]] for who in WHO if (who, "whole") in at}
        windows = {who: _windows(course[at[who, "window"]]) for who in WHO if (who, "window") in at}
        defined = {who: one for who, one in windows.items() if not np.isnan(one.value).all()}
        # The mean of the two is not drawn beside the two.
        speakers = {who: one for who, one in defined.items() if who != "both"} or defined
        found.append(MeasureShown(name, {who: one for who, one in whole.items() if not isnan(one[0])}, speakers))
    return [one for one in found if one.whole or one.windows]


def _windows(course: Floats) -> Windows:
    middle, value, reach, null = course[np.argsort(course[:, 0], kind="stable")].T
    return Windows(middle=middle, value=value, low=null - reach, high=null + reach)


def decimals(values: Iterable[float]) -> int:
    """Return how many decimals show two digits of the largest of some values; three at most, but for tiny ones.

    >>> [decimals([value]) for value in (0.0, 120.0, 12.0, 3.1, 0.46, 0.052, 0.0042, 0.00042)]
    [2, 0, 1, 2, 2, 3, 3, 5]
    """
    largest = max((abs(value) for value in values if np.isfinite(value)), default=0.0)
    if largest == 0:
        return 2
    digits = 2 - floor(log10(largest)) - (largest < 1)
    return min(max(digits, 0), 3 if largest >= SMALL else 6)


def number(value: float, places: int, *, sign: bool = False) -> str:
    """Return a number as text, a dash where it is undefined, no sign before a zero.

    >>> number(-0.04, 1), number(1.25, 1, sign=True), number(float("nan"), 2)
    ('0.0', '+1.2', '-')
    """
    if isnan(value):
        return "-"
    value = round(value, places) + 0.0
    return f"{value:{'+' if sign and value else ''}.{places}f}"


def apart(where: Bools) -> list[NDArray[np.int64]]:
    """Return the positions of each unbroken run of True."""
    at = np.flatnonzero(where)
    return [run for run in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1) if len(run)]
