"""Synchrony along one session: windows in lanes, whole dialogues on a scale of z, numbers beside both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgba

from therapy_analytics.plots import FIGSIZE, MARGINS_IN, axes_or_new, plot, say_instead
from therapy_analytics.plots._outlines import BOLD, NUMBERS
from therapy_analytics.plots._page import shorten, ticks
from therapy_analytics.plots._sheet import (
    COLOURS,
    MOST,
    NUMERAL,
    STROKES,
    Sheet,
    draw_scale,
    open_sheet,
    write_heads,
    write_name,
    write_table,
)
from therapy_analytics.plots._synchrony import BEYOND, MARKS, MeasureShown, apart, decimals, measures, number
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._turns import Bools, Floats

LANE, GAP, HEAD, SCALE, SECTION = 3.0, 0.8, 2.6, 1.6, 2.0
"""Heights in rows of text."""
HALF_STEP = 2.5
"""Turns by which a band of shuffles goes on before its first window's middle and after its last one's."""
LEGEND = {"therapist's replies": 0.0, "client's replies": 12.5, "95% of shuffles": 23.5, "outside": 34.0}
"""What the lanes show, and where it is explained, in sizes of the font."""
ROW_INCH = 0.165
NOTE = "shuffled: mean over shuffles of each one's replies; p: share of shuffles as synchronous; z: standard deviations"
NOTE_ON_LANES = "Of shuffles, 1 window in 20 lies outside its band; windows overlap. Each lane has a range of its own."


def figure_size(rows: DataFrame) -> tuple[float, float]:
    """Return the width and height in inches that the figure of a session's rows needs; for ``save(figsize=...)``."""
    return _size(measures(rows))


@plot(
    needs=(
        *("session_id", "measure", "direction", "part", "first_turn", "last_turn"),
        *("value", "null_mean", "null_sd", "z", "p"),
    ),
    takes="parts",
    session=4,
    single=True,
    size=figure_size,
)
def synchrony(rows: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw how alike the two of one session speak, along the session and beside shuffles and surrogate pairs.

    Parameters
    ----------
    rows : pandas.DataFrame
        The rows of ``analysis.parts`` (``measures.csv``) for one session, or of `therapy_analytics.synchrony`.
        Measures without any value are left out.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure, as high as `figure_size` says.

    Returns
    -------
    matplotlib.axes.Axes
        Its x-axis counts turns, its y-axis rows of text; each lane has a range of its own,
        written at its left.

    Raises
    ------
    BadOptionError
        A column is missing, or the table holds more than one session.

    Notes
    -----
    The grey bands hold 95 of 100 shuffles of each speaker's replies: of many windows one in
    twenty lies outside where replies are shuffled, and neighbouring windows share turns. Synchrony is no
    quality score: most measures grow with words per turn.
    """
    found = measures(rows)
    ax = axes_or_new(ax, _size(found))
    if not found:
        why = "no measure has a value in this session" if len(rows) else "the table holds no row for this session"
        return say_instead(ax, f"no synchrony: {why}")
    lanes, others = _parted(found)
    page = open_sheet(ax, top=HEAD, height=_height(found), last=float(np.nan_to_num(numbers(rows, "last_turn")).max()))
    foot = _lanes(page, lanes)
    _dots(page, others, foot)
    _head(page, rows, lanes=bool(lanes))
    page.close()
    return ax


def _size(found: list[MeasureShown]) -> tuple[float, float]:
    """Return the width and height in inches of a figure of these measures."""
    height = _height(found) * ROW_INCH + MARGINS_IN["top"] + MARGINS_IN["bottom"]
    return FIGSIZE[0], max(height, 3.0) if found else FIGSIZE[1]


def _parted(found: list[MeasureShown]) -> tuple[list[MeasureShown], list[MeasureShown]]:
    """Return the measures that have windows, and the others."""
    return [one for one in found if one.windows], [one for one in found if not one.windows]


def _height(found: list[MeasureShown]) -> float:
    """Return how many rows of text high the figure is."""
    lanes, others = _parted(found)
    height = HEAD + len(lanes) * (LANE + GAP) + SCALE * bool(lanes)
    return height + (SECTION + SCALE + sum(_rows(one) for one in others)) * bool(others)


# Windows


def _lanes(page: Sheet, lanes: list[MeasureShown]) -> float:
    """Draw a lane for each measure that has windows, and the turns beneath; return the foot of all."""
    if not lanes:
        return 0.0
    for i, lane in enumerate(lanes):
        _lane(page, lane, -GAP / 2 - i * (LANE + GAP))
    foot = -len(lanes) * (LANE + GAP)
    places = ticks(0, page.last, page.em, integer=True)
    draw_scale(page, foot, places, [f"{place:,g}" for place in places])
    page.write([(-1.2 * page.em, foot - 0.75, "turn", "right")], 0.95 * page.font)
    return foot - SCALE


def _lane(page: Sheet, lane: MeasureShown, top: float) -> None:
    """Draw the windows of a measure between the lowest and the highest of their values and bands."""
    every = np.concatenate([part for one in lane.windows.values() for part in (one.value, one.low, one.high)])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    # One value without a null distribution has no range: it goes into the middle.
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)

    def height(values: Floats) -> Floats:
        return top - LANE + LANE * (values - low) / (high - low)

    places = decimals((low, high)) + (high - low < 0.2 * max(abs(low), abs(high)))
    for y, value in ((top - 0.4, high), (top - LANE + 0.4, low)):
        page.write([(-0.7 * page.em, y, number(value, places), "right")], NUMERAL * page.font, NUMBERS, alpha=0.75)
    page.lines([(0, y, page.last, y) for y in (top, top - LANE)], ec="0.5", alpha=0.35, lw=0.6, zorder=0.5)
    for who, one in lane.windows.items():
        _band(page, who, one.middle, (height(one.low), height(one.high)))
    for who, one in lane.windows.items():
        _line(page, who, np.column_stack([one.middle, height(one.value)]), one.outside)
    write_name(page, lane.label, top - LANE / 2)
    write_table(page, lane, top - (LANE - len(lane.whole) + 1) / 2)


def _band(page: Sheet, who: str, middle: Floats, ends: tuple[Floats, Floats]) -> None:
    """Draw where 95 of 100 shuffles lie; the edges say whose, and two bands on another are darker."""
    corners = []
    for run in apart(~np.isnan(ends[0] + ends[1])):
        x = np.concatenate([[middle[run[0]] - HALF_STEP], middle[run], [middle[run[-1]] + HALF_STEP]])
        low, high = (np.concatenate([y[run[:1]], y[run], y[run[-1:]]]) for y in ends)
        x = np.clip(x, 0, page.last)
        corners.append(np.column_stack([np.append(x, x[::-1]), np.append(low, high[::-1])]))
    edge: dict[str, Any] = {"ec": to_rgba(page.colour(who), 0.55), "ls": STROKES[who], "lw": 0.075 * page.font}
    page.courses(corners, closed=True, fc=to_rgba("0.5", 0.2), gid="null", **edge)


def _line(page: Sheet, who: str, points: Floats, outside: Bools) -> None:
    """Draw the windows of one direction; large marks are those outside their band."""
    paths = [points[run] for run in apart(~np.isnan(points[:, 1]))]
    style: dict[str, Any] = {"ec": page.colour(who), "ls": STROKES[who], "lw": 0.15 * page.font, "zorder": 2}
    page.courses(paths, gid=f"windows {who}", **style)
    page.mark(points, who, ms=0.22 * page.font, mew=0, gid=f"points {who}")
    between = np.diff(points[:, 0]).min(initial=np.inf) / page.em
    large = {"ms": float(np.clip(between, 0.36, 0.6)) * page.font, "mec": page.ink, "mew": 0.07 * page.font}
    page.mark(points[outside], who, gid=f"outside {who}", **large)


# Whole dialogues


def _dots(page: Sheet, others: list[MeasureShown], foot: float) -> None:
    """Draw the measures without windows: how far each is from shuffles and surrogate pairs, in standard deviations."""
    if not others:
        return
    top = foot - SECTION
    text = "the whole session, in standard deviations: from the mean of shuffles (filled), of surrogate pairs (open)"
    page.write([(0, top + 0.8, text, "left")], 0.95 * page.font, alpha=0.8)
    y, levels = top - 0.5, list[float]()
    for one in others:
        write_name(page, one.label, y - (len(one.whole) - 1) / 2)
        write_table(page, one, y)
        for i, (who, row) in enumerate(one.whole.items()):
            _distances(page, who, y - i, row)
            levels.append(y - i)
        y -= _rows(one)
    low, middle, high = page.at(np.array([-BEYOND, 0, BEYOND])).tolist()
    page.boxes([low, y + 0.5, high, top], fc="0.5", alpha=0.22, gid="null of all")
    lines = [(middle, top, middle, y + 0.5), *((0, level, page.last, level) for level in levels)]
    page.lines(lines, ec="0.5", alpha=0.35, lw=0.6, zorder=0.5)
    places = np.arange(-3.0, 4.0)
    draw_scale(page, y + 0.5, page.at(places), [f"{place:+.0f}" if place else "0" for place in places])


def _rows(one: MeasureShown) -> float:
    """Return how many rows a measure takes: three need space around them, to be seen as one."""
    return len(one.whole) + 0.6 * (len(one.whole) > 1)


def _distances(page: Sheet, who: str, y: float, row: Floats) -> None:
    """Draw the z of surrogate pairs and of shuffles of a row; an arrow at the end of the scale is further away."""
    for z, name, fill in ((row[5], "surrogates", "none"), (row[2], "shuffles", page.colour(who))):
        beyond = np.sign(z) * (abs(z) > MOST)
        style = {"ms": 0.6 * page.font, "mfc": fill, "mew": 0.12 * page.font}
        # Two arrows at one end are put beside one another.
        x = page.at(z) - page.em * (name == "surrogates") * beyond
        page.mark([x, y], who, marker={1: ">", -1: "<"}.get(beyond, MARKS[who]), gid=f"{name} {who}", **style)


# What a reader must know


def _head(page: Sheet, rows: DataFrame, *, lanes: bool) -> None:
    """Write the session's name and size, what synchrony is not, what the marks mean, and heads over the numbers."""
    em, top = page.font * page.row, page.ax.get_ylim()[1]
    name = shorten(str(rows["session_id"].iloc[0]), page.font + 2, page.ax)
    page.write([(0, top + 2.2 * em + 0.36 * (em + 2 * page.row), name, "left")], page.font + 2, BOLD)
    text = f"{page.last + 1:,.0f} turns. Synchrony is no quality score: it grows with words per turn."
    page.write([(0, top + 0.96 * em, text, "left")])
    write_heads(page, HEAD)
    notes = [NOTE]
    if lanes:
        notes += [
            "Of shuffles, 1 window in 20 lies outside its band; windows overlap. Each lane has a range of its own."
        ]
        lengths = numbers(rows, "last_turn") - numbers(rows, "first_turn") + 1
        text = f"windows of {np.nanmax(lengths[(rows['part'] == 'window').to_numpy(dtype=bool)]):.0f} turns"
        _legend(page)
    else:
        few = "too few turns for windows: " * bool((rows["direction"] == "therapist").any())
        text = f"{few}values of the whole session only"
    page.write([(0, HEAD - 0.85, text, "left")], font=BOLD, alpha=0.75)
    foot = page.ax.get_ylim()[0] - 0.6
    page.write([(0, foot - 1.1 * i, note, "left") for i, note in enumerate(notes)], 0.9 * page.font, alpha=0.8)


def _legend(page: Sheet) -> None:
    """Write above the lanes what lines, bands and marks mean; a legend of matplotlib takes four times as long."""
    em, y = page.em, HEAD - 1.95
    for text, left in LEGEND.items():
        page.write([((left + 2.4) * em, y, text, "left")], 0.95 * page.font)
        x = np.array([left, left + 1, left + 2]) * em
        who = text.partition("'")[0]
        if who in COLOURS:
            style: dict[str, Any] = {"ls": STROKES[who], "lw": 0.15 * page.font, "markevery": [1]}
            page.mark(np.column_stack([x, [y] * 3]), who, ms=0.4 * page.font, **style)
        elif text == "outside":
            style = {"ms": 0.6 * page.font, "mfc": "0.6", "mec": page.ink, "mew": 0.07 * page.font}
            page.mark([x[1], y], "therapist", **style)
        else:
            page.boxes([x[0], y - 0.35, x[2], y + 0.35], fc="0.5", alpha=0.35)
