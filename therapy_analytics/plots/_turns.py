"""What plots read from tables: numbers, and where the turns of a session lie on an x-axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

OVERLAP_S = 2.0
"""People talk into each other's turns: a start so far before the last one is no broken clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Where each turn begins and ends on the x-axis, (n_turns,) each, and what that axis is."""

    start: Floats
    end: Floats
    label: str

    @property
    def middle(self) -> Floats:
        """Return where the marks of each turn go."""
        return (self.start + self.end) / 2


def numbers(table: pd.DataFrame, name: str) -> Floats:
    """Return a column as floats, nan where it is empty or not there."""
    if name not in table:
        return np.full(len(table), np.nan)
    return pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=float, na_value=np.nan)


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
