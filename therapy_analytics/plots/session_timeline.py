"""One session from left to right: who speaks, what is done, how the styles match."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from therapy_analytics.errors import BadOptionError
from therapy_analytics.plots import axes_or_new, plot, say_instead

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

# Okabe and Ito's palette; blue and orange also differ as greys.
COLOURS = {"therapist": "#0072B2", "client": "#E69F00", "other": "#999999"}
BAND = {"therapist": (0.05, 1.4), "client": (-1.4, -0.05), "other": (-0.35, 0.35)}
FEELINGS = {"positive feeling (up)": "#009E73", "negative feeling (down)": "#D55E00"}
TOP, LSM_HEIGHT, WINDOW = 1.6, 3.4, 7
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
    Lane("feeling + / −", "client", ("bolt_positive_feeling",), below=("bolt_negative_feeling",)),
    Lane("insight", "client", ("bolt_gained_insight",)),
    Lane("event", "client", ("bolt_life_event",)),
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The axes in the units of the drawing.

    Attributes
    ----------
    left, right : float
        Where the session begins and ends on the x-axis.
    floor : float
        Where the lowest thing stands on the y-axis; one unit is the height of a lane.
    point : float
        What one point (1/72 inch) is on the x-axis.
    font : float
        Size of the text in points, small enough for a lane.
    spacing : float
        Points of width there are for a turn.
    """

    left: float
    right: float
    floor: float
    point: float
    font: float
    spacing: float


@plot(needs=("session_id", "turn", "role", "n_words"))
def timeline(turns: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw one session: who speaks how long, which codes fall where, and style matching.

    Parameters
    ----------
    turns : pandas.DataFrame
        The rows of ``turns.csv`` for one session. Without usable ``start_s`` the x-axis is
        the words spoken so far; lanes and style matching need their columns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its y-axis counts lanes; only the ticks of style matching are values.

    Raises
    ------
    BadOptionError
        A column is missing, or the table holds more than one session.

    Notes
    -----
    A mark is one turn that has the code, whatever its length; ``n of m`` counts the turns of
    that role for which the code is given. Style matching is no quality score: it grows with
    the length of turns.
    """
    if turns["session_id"].nunique() > 1:
        problem = f"a timeline shows one session, and the table holds {turns['session_id'].nunique()}"
        raise BadOptionError("table", problem, "Select one, as in turns[turns.session_id == '...']")
    ax = axes_or_new(ax)
    if turns.empty:
        return say_instead(ax, "no turns: there is nothing to draw for this session")
    turns = turns.sort_values("turn", kind="stable")
    spans, lanes = place_turns(turns), [lane for lane in LANES if _has(turns, lane)]
    levels = _levels(lanes)
    page = _page(ax, spans, floor=levels[-1] - 0.6 - (LSM_HEIGHT + 1.5) * ("lsm_turn" in turns))
    ticks = _speaking(ax, page, spans, turns)
    for lane, level in zip(lanes, levels[1:], strict=True):
        ticks |= _lane(ax, page, spans, turns, (lane, level))
    if "lsm_turn" in turns:
        ticks |= _matching(ax, page, spans.middle, _numbers(turns, "lsm_turn"))
    _sections(ax, page, lanes, levels)
    _frame(ax, page, spans.label, ticks)
    _head(ax, page, turns, lanes)
    return ax


def place_turns(turns: pd.DataFrame) -> Spans:
    """Return the span of each turn, in minutes where the times can be used, else in words."""
    start = _numbers(turns, "start_s")
    problem = _clock_problem(start, turns["turn"].to_numpy())
    if problem is None:
        return Spans(start=start / 60, end=_ends(start, _numbers(turns, "end_s")) / 60, label="minutes")
    words = np.nan_to_num(_numbers(turns, "n_words"))
    if not words.any():
        words, label = np.ones(len(turns)), "turns"
    else:
        label = "words spoken so far"
    end = np.cumsum(words)
    return Spans(start=end - words, end=end, label=label + problem)


def _clock_problem(start: Floats, turn: NDArray[np.generic]) -> str | None:
    """Return why the times cannot be used; "" when there are none, None when all is well."""
    missing = int(np.isnan(start).sum())
    if missing == len(start):
        return ""
    if missing:
        return f" (no time for {missing} of {len(start)} turns)"
    back = np.flatnonzero(np.diff(start) < -OVERLAP_S)
    if back.size:
        return f" (times run backwards at turn {turn[back[0] + 1]})"
    return " (all times are the same)" if start.max() == start.min() else None


def _ends(start: Floats, end: Floats) -> Floats:
    """Return the ends, where need be the next start; for the last turn what is usual."""
    until_next = np.append(start[1:], np.nan)
    with np.errstate(invalid="ignore"):
        found = np.where(end >= start, end, until_next)
    if np.isnan(found[-1]):
        found[-1] = start[-1] + np.median(np.maximum(found[:-1] - start[:-1], 0))
    return np.maximum(found, start)


def _numbers(turns: pd.DataFrame, name: str) -> Floats:
    if name not in turns:
        return np.full(len(turns), np.nan)
    return pd.to_numeric(turns[name], errors="coerce").to_numpy(dtype=float, na_value=np.nan)


def _columns(turns: pd.DataFrame, entries: tuple[str, ...]) -> list[str]:
    for entry in entries:
        found = [name for name in turns.columns if any(fnmatchcase(name, part) for part in entry.split())]
        if found:
            return found
    return []


def _has(turns: pd.DataFrame, lane: Lane) -> bool:
    return bool(_columns(turns, lane.columns) or _columns(turns, lane.below))


def _levels(lanes: list[Lane]) -> list[float]:
    """Return the foot of the band of turns, then the middle of each lane, top down."""
    levels, role = [-1.4], ""
    for lane in lanes:
        levels.append(levels[-1] - 1 - 0.45 * (lane.role != role))
        role = lane.role
    return levels
