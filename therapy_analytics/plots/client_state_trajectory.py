"""The client's change talk and sustain talk along one session, as a model estimates them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._outlines import SLANTED
from therapy_analytics.plots._page import (
    StripRow,
    Strips,
    close_page,
    open_page,
    write_head,
    write_rows,
    write_sections,
)
from therapy_analytics.plots._turns import numbers, place_turns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._turns import Bools, Floats

# Okabe and Ito's; up and down tell them apart in grey.
CHANGE, SUSTAIN = "#009E73", "#D55E00"
HIGH = 4.0
"""Rows of text from probability 0 to 1."""
TURNING, NOTE, TOP, FLOOR = HIGH + 1.1, HIGH + 2.3, HIGH + 3.0, -HIGH - 0.6
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


@plot(needs=(*COLUMNS, _POINTS), takes="wide_turns", session=3, single=True)
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
    page = open_page(ax, place_turns(turns), top=TOP, floor=FLOOR)
    _bars(page, state)
    _line(page, state)
    _turning(page, state)
    _sides(page, state)
    colours = {"for change (up)": CHANGE, "against change (down)": SUSTAIN}
    about = "Is the client for change? A model's estimate, not a fact."
    write_head(page, str(turns["session_id"].iloc[0]), about, colours, alpha=0.75)
    close_page(page, [row.level for row in _scale(state)])
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
    end = np.maximum(page.spans.end[state.there], start + 0.5 * page.point)
    for kind, height, colour in (("change", state.change, CHANGE), ("sustain", -state.sustain, SUSTAIN)):
        bars = np.column_stack([start, np.zeros(len(start)), end, HIGH * height])
        page.boxes(bars, fc=colour, alpha=0.75, gid=f"bars {kind}")


def _line(page: Strips, state: _State) -> None:
    """Draw the balance, seen from the whole session."""
    x = page.spans.middle[state.there]
    marker = "o" if len(x) <= DOTTED else ""
    style = {"marker": marker, "ms": 0.3 * page.font, "mew": 1, "lw": 0.16 * page.font, "solid_capstyle": "butt"}
    page.marks(np.column_stack([x, HIGH * state.balance]), ls="-", gid="balance", **style)


def _turning(page: Strips, state: _State) -> None:
    """Draw where the talk goes over to the other side: a triangle above, and a line down to the foot."""
    x = page.spans.middle[state.there]
    for kind, sign, marker in (("change", 1, "^"), ("sustain", -1, "v")):
        own = x[state.points == sign]
        places = np.column_stack([own, np.full(len(own), TURNING)])
        page.marks(places, marker=marker, ms=0.75 * page.font, gid=f"turning to {kind}")
    own = x[state.points != 0]
    ends = np.column_stack([own, np.full(len(own), -HIGH), own, np.full(len(own), TURNING)])
    page.lines(ends, alpha=0.5, lw=0.08 * page.font, ls=(0, (4, 3)))


def _scale(state: _State) -> list[StripRow]:
    """Return the rows of the scale of probabilities, with means and the number of turns."""
    beside = {0.5: f"mean {state.change.mean():.2f}", -0.5: f"mean {state.sustain.mean():.2f}"}
    beside[0] = f"{len(state.change):,} client turns"
    return [StripRow(level * HIGH, f"{abs(level):g}", beside.get(level, "")) for level in (1, 0.5, 0, -0.5, -1)]


def _sides(page: Strips, state: _State) -> None:
    """Write beside the rows what they are."""
    up, down = (int((state.points == sign).sum()) for sign in (1, -1))
    write_rows(page, [*_scale(state), StripRow(TURNING, "turning points", f"{up} up, {down} down")])
    write_sections(page, {0.5 * HIGH: "probability:\nfor change", -0.5 * HIGH: "probability:\nagainst it"})
    note = (
        "bars: as it stood when it was said; line: up less down, seen from the whole session; triangles: where it turns"
    )
    page.write([(page.left, NOTE, note, "left")], page.font - 0.5, SLANTED, alpha=0.75)
