"""What plots of a turns table read from it: numbers, places on an x-axis, lanes of codes."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

OVERLAP_S = 2.0
"""People talk into each other's turns: a start so far before the last one is no broken clock."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A group of codes of one role.

    Attributes
    ----------
    label, role : str
        What the lane is called and whose turns it shows.
    columns : tuple of str
        Column patterns, parted by spaces. The first entry of which the table has a column is
        taken: the code that means the group itself before those that are parts of it.
    below : tuple of str
        The same for an opposite code, whose marks point down while the others point up.
    """

    label: str
    role: str
    columns: tuple[str, ...]
    below: tuple[str, ...] = ()


LANES = (
    Lane("question", "therapist", ("mi_question", "bolt_questions_on_*")),
    Lane("reflection", "therapist", ("mi_reflection", "bolt_reflections_on_*")),
    Lane("advice, input", "therapist", ("mi_input", "bolt_problem_solving bolt_planning")),
    Lane("normalizing", "therapist", ("bolt_normalizing",)),
    Lane("psychoeducation", "therapist", ("bolt_psychoeducation",)),
    Lane("change", "client", ("mi_change", "bolt_changing")),
    Lane("sustain", "client", ("mi_sustain", "bolt_sustaining")),
    Lane("feeling +/-", "client", ("bolt_positive_feeling",), below=("bolt_negative_feeling",)),
    Lane("insight", "client", ("bolt_gained_insight",)),
    Lane("event", "client", ("bolt_life_event",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Which turns a lane marks.

    Attributes
    ----------
    hit, below : array of bool
        Turns that have the lane's code, and those that have its opposite.
    n : int
        Turns of the lane's role for which the code is given at all.
    """

    hit: Bools
    below: Bools
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Where each turn lies on the x-axis, and what that axis is."""

    start: Floats
    end: Floats
    label: str

    @property
    def middle(self) -> Floats:
        """Return where the marks of each turn go."""
        return (self.start + self.end) / 2


def numbers(turns: pd.DataFrame, name: str) -> Floats:
    """Return a column as floats, nan where it is empty or not there."""
    if name not in turns:
        return np.full(len(turns), np.nan)
    column = turns[name]
    if column.dtype.kind not in "iufb":
        column = pd.to_numeric(column, errors="coerce")
    return column.to_numpy(dtype=float, na_value=np.nan)


def marks(turns: pd.DataFrame, lane: Lane) -> Marks | None:
    """Return the marks of a lane, or None when the table has no column for it."""
    names = tuple(turns.columns)
    columns, below = (_columns(names, entries) for entries in (lane.columns, lane.below))
    if not columns and not below:
        return None
    own: Bools = turns["role"].to_numpy(dtype=object) == lane.role
    hit, known = _flags(turns, columns)
    opposite, also_known = _flags(turns, below)
    return Marks(hit=hit & own, below=opposite & own, n=int(((known | also_known) & own).sum()))


@functools.lru_cache(maxsize=64)
def _columns(names: tuple[str, ...], entries: tuple[str, ...]) -> list[str]:
    for entry in entries:
        parts = entry.split()
        found = [str(name) for name in names if any(fnmatchcase(str(name), part) for part in parts)]
        if found:
            return found
    return []


def _flags(turns: pd.DataFrame, columns: list[str]) -> tuple[Bools, Bools]:
    """Return which turns have one of the codes, and for which any is given."""
    values = np.array([numbers(turns, name) for name in columns]).reshape(len(columns), len(turns))
    return (values == 1).any(axis=0), (~np.isnan(values)).any(axis=0)


def place_turns(turns: pd.DataFrame) -> Spans:
    """Return the span of each turn, in minutes where the times can be used, else in words."""
    start = numbers(turns, "start_s")
    problem = _clock_problem(start, turns["turn"].tolist())
    if problem is None:
        return Spans(start=start / 60, end=_ends(start, numbers(turns, "end_s")) / 60, label="minutes")
    words = np.maximum(np.nan_to_num(numbers(turns, "n_words")), 0)
    unit = "words spoken so far" if words.any() else "turns"
    end = np.cumsum(words if words.any() else np.ones(len(turns)))
    return Spans(start=np.append(0, end[:-1]), end=end, label=unit + problem)


def _clock_problem(start: Floats, turn: list[int]) -> str | None:
    """Return why the times cannot be used: "" when there are none, None when they can."""
    missing = int(np.isnan(start).sum())
    if missing == len(start):
        return ""
    if missing:
        return f" (no time for {missing} of {len(start)} turns)"
    back = np.flatnonzero(np.diff(start) < -OVERLAP_S)
    if back.size:
        return f" (times run backwards at turn {turn[back[0] + 1]})"
    if start.max() <= start.min():
        return " (all turns start at one time)" if len(start) > 1 else ""
    return None


def _ends(start: Floats, end: Floats) -> Floats:
    """Return the ends: where need be the next start, for the last turn what is usual."""
    until_next = np.append(start[1:], np.nan)
    found = np.where(end >= start, end, until_next)
    if np.isnan(found[-1]):
        found[-1] = start[-1] + np.median(np.maximum(found[:-1] - start[:-1], 0))
    return np.maximum(found, start)
