"""The client's change talk and sustain talk along one session, as a model estimates them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._colours import NEGATIVE, POSITIVE
from therapy_analytics.plots._page import StripRow, Strips, open_page, page_height
from therapy_analytics.plots._turns import numbers, place_turns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._turns import Bools, Floats

HIGH = 4.0
"""Rows from probability 0 to 1."""
TURNING, TOP, FLOOR = HIGH + 1.1, HIGH + 1.7, -HIGH - 0.4
DOTTED = 100
"""Up to so many turns have a dot each on the line."""
COLUMNS = ("session_id", "turn", "role", "n_words", "state_change", "state_sustain", "state_balance")
_POINTS = "turning_point_turn"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _State:
    """The client's turns that have an estimate, (n,) each, and whether these are they, (n_turns,)."""

    there: Bools
    change: Floats
    sustain: Floats
    balance: Floats
    points: Floats


def _height(turns: DataFrame, _: float) -> float:
    return page_height(TOP, FLOOR) if _state(turns).there.any() else 60.0


def _caption(turns: DataFrame) -> str:
    return (
        f"Session {turns['session_id'].iloc[0]}: how probable it is that a turn of the client is change talk (bars up, "
        "green) or sustain talk (bars down, vermilion), as estimated when the turn was said. Line: change talk minus "
        "sustain talk, estimated from the whole session. Triangles and dashed lines: turning points. All are a model's "
        "estimates, not facts."
    )


@plot(
    needs=(*COLUMNS, _POINTS),
    takes="wide_turns",
    session=3,
    single=True,
    height=_height,
    caption=_caption,
)
def client_state(turns: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw how surely each turn of the client's is change or sustain talk, and where the talk turns.

    Parameters
    ----------
    turns : pandas.DataFrame
        The rows of ``turns.csv`` for one session. The x-axis is as in `timeline`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its y-axis counts rows of text: 4 of them are a probability of 1.

    Raises
    ------
    BadOptionError
        A column is missing, or the table holds more than one session.

    Notes
    -----
    Bars are ``state_change`` and ``state_sustain``: what could be said when the turn was said. The line is
    ``state_balance``, for less against as seen from the whole session. All are a model's estimates from the tagger's
    probabilities, no facts; turning points are few, and many of them are noise.
    """
    ax = axes_or_new(ax)
    if turns.empty:
        return say_instead(ax, "no turns: the table holds no row for this session")
    turns = turns.sort_values("turn", kind="stable")
    state = _state(turns)
    if not state.there.any():
        return say_instead(ax, "no client state: no turn of the client was coded for change and sustain talk")
    page = open_page(ax, place_turns(turns), _rows(state), top=TOP, floor=FLOOR)
    _bars(page, state)
    _line(page, state)
    _turning(page, state)
    page.close()
    return ax


def _state(turns: DataFrame) -> _State:
    change, sustain, balance, points = (numbers(turns, name) for name in (*COLUMNS[-3:], _POINTS))
    there = ~np.isnan(change) & ~np.isnan(sustain)
    return _State(
        there=there,
        change=change[there],
        sustain=sustain[there],
        balance=balance[there],
        points=np.nan_to_num(points[there]),
    )


def _bars(page: Strips, state: _State) -> None:
    """Draw a bar up and a bar down for each turn, as wide as the turn is long."""
    start = page.spans.start[state.there]
    end = np.maximum(page.spans.end[state.there], start + 0.3 * page.point)
    for kind, height, colour in (("change", state.change, POSITIVE), ("sustain", -state.sustain, NEGATIVE)):
        bars = np.column_stack([start, np.zeros(len(start)), end, HIGH * height])
        page.boxes(bars, fc=colour, alpha=0.75, gid=f"bars {kind}")


def _line(page: Strips, state: _State) -> None:
    """Draw the balance, seen from the whole session."""
    x = page.spans.middle[state.there]
    marker = "o" if len(x) <= DOTTED else ""
    style = {"marker": marker, "ms": 1.8, "mew": 0, "lw": 0.9, "solid_capstyle": "butt"}
    page.marks(np.column_stack([x, HIGH * state.balance]), ls="-", gid="balance", **style)


def _turning(page: Strips, state: _State) -> None:
    """Draw where the talk goes over to the other side: a triangle above, and a line down to the foot."""
    x = page.spans.middle[state.there]
    for kind, sign, marker in (("change", 1, "^"), ("sustain", -1, "v")):
        own = x[state.points == sign]
        places = np.column_stack([own, np.full(len(own), TURNING)])
        page.marks(places, marker=marker, ms=4.5, gid=f"turning to {kind}")
    own = x[state.points != 0]
    ends = np.column_stack([own, np.full(len(own), -HIGH), own, np.full(len(own), TURNING)])
    page.lines(ends, alpha=0.5, lw=0.6, ls=(0, (4, 3)))


def _rows(state: _State) -> list[StripRow]:
    """Return what stands beside the scale of probabilities, with means and numbers of turns."""
    up, down = (int((state.points == sign).sum()) for sign in (1, -1))
    beside = {0.5: f"mean {state.change.mean():.2f}", -0.5: f"mean {state.sustain.mean():.2f}"}
    beside[0] = f"{len(state.change):,} turns"
    rows = [StripRow(level * HIGH, f"{abs(level):g}", beside.get(level, "")) for level in (1, 0.5, 0, -0.5, -1)]
    rows += [
        StripRow(side * 0.75 * HIGH, name, line=False) for side, name in ((1, "Change talk"), (-1, "Sustain talk"))
    ]
    return [*rows, StripRow(TURNING, "Turning points", f"{up} up, {down} down")]
