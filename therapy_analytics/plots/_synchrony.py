"""What plots of a synchrony table read from it, and how they draw windows."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgba

from therapy_analytics.plots._style import ROLES, SIGNS, decimals, fitted, number, numbers, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd
    from matplotlib.axes import Axes

    from therapy_analytics.plots._style import Bools, Floats

NEEDS = (
    *("session_id", "measure", "direction", "part", "first_turn", "last_turn"),
    *("value", "null_mean", "null_sd", "z", "p"),
)
WHO = ("therapist", "client", "both")
"""Directions that are drawn: whose replies."""
REPLIES = {"therapist": "Therapist's replies", "client": "Client's replies", "both": "Replies of both"}
STROKES: dict[str, Any] = {"therapist": "-", "client": (0, (3.5, 1.2)), "both": "-"}
STATISTICS = ("value", "null_mean", "z", "p", "surrogate_mean", "surrogate_z")
BEYOND = 1.96
"""So many standard deviations to each side hold 95 of 100 shuffles."""
SHUFFLED = {"fc": to_rgba("0.5", 0.3)}
SLOPE = "_slope"
"""The ending of a measure that is the change of another one over the session: figures show its course instead."""
NOTE = "Synchrony is not a quality score: it grows with the number of words per turn."
CORE = {
    "lsm_turn_mean": "Style matching, adjacent turns (LSM)",
    "rlsm": "Reciprocal style matching (rLSM)",
    "semantic_similarity": "Semantic similarity of adjacent turns",
    "lexical_alignment": "Lexical alignment of adjacent turns",
    "coordination": "Linguistic coordination",
    "lsm": "Style matching, whole session (LSM)",
}
"""The measures that are best known in the literature, with the names that they have there."""


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
        windows = {}
        for who in WHO:
            own = course[at.get((who, "window"), [])]
            middle, value, reach, null = own[np.argsort(own[:, 0], kind="stable")].T
            if not np.isnan(value).all():
                windows[who] = Windows(middle=middle, value=value, low=null - reach, high=null + reach)
        # The mean of the two is not drawn beside the two.
        speakers = {who: one for who, one in windows.items() if who != "both"} or windows
        found.append(MeasureShown(name, {who: one for who, one in whole.items() if not isnan(one[0])}, speakers))
    return [one for one in found if one.whole or one.windows]


def core_of(found: list[MeasureShown], most: int) -> list[MeasureShown]:
    """Return the core measures; where there are none, at most so many of the others."""
    core = {one.name: one for one in found}
    return [core[name] for name in CORE if name in core] or found[:most]


def draw_windows(ax: Axes, windows: dict[str, Windows], place: Callable[[Floats], Floats], also: Any = ()) -> None:
    """Draw the windows of a measure: lines, bands of shuffles, and large marks on windows outside their band.

    `place` says where turns lie on the x-axis, whose limits are set; `also` are further values that are to fit.
    """
    every = np.concatenate([np.asarray(also, dtype=float), *(np.r_[one.value, one.low, one.high]
                            for one in windows.values())])  # fmt: skip
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    # One value without a null distribution has no range: it goes into the middle.
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    places = decimals((low, high)) + (high - low < 0.2 * max(abs(low), abs(high)))
    ax.set(ylim=(low - 0.04 * (high - low), high + 0.04 * (high - low)))
    ax.set_yticks((low, high), [fitted(number(end, places), 23) for end in (low, high)])
    ax.get_yticklabels()[0].set_verticalalignment("bottom")
    ax.get_yticklabels()[1].set_verticalalignment("top")
    for who, one in windows.items():
        ends, step = (one.middle[0] - 2.5, one.middle[-1] + 2.5), np.diff(one.middle).min(initial=5)
        x = place(np.r_[ends[0], one.middle, ends[1]])
        edges = {"ec": to_rgba(ROLES[who], 0.6), "ls": STROKES[who], "lw": 0.5}
        band = (np.r_[y[:1], y, y[-1:]] for y in (one.low, one.high))
        ax.fill_between(x, *band, fc=to_rgba("0.5", 0.2), label=f"shuffles of {who}", **edges)
        x = place(one.middle)
        look: dict[str, Any] = {"c": ROLES[who], "marker": SIGNS[who], "clip_on": False}
        ax.plot(x, one.value, ls=STROKES[who], lw=1.1, ms=1.6, mew=0, label=f"windows of {who}", **look)
        between = (place(one.middle[:1] + step) - place(one.middle[:1]))[0] / np.ptp(ax.get_xlim())
        large = float(np.clip(0.8 * between * width_of(ax), 2.4, 4.4))
        outside = {"ls": "", "ms": large, "mec": "k", "mew": 0.5, "zorder": 3, "label": f"outside of {who}"}
        ax.plot(x[one.outside], one.value[one.outside], **(look | outside))
