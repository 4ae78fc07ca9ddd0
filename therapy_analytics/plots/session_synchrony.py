"""Synchrony along one session: windows in lanes, whole dialogues on a scale of z, numbers beside both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgba

from therapy_analytics.plots import FIGSIZE, MARGINS_IN, axes_or_new, inner_box, plot, say_instead
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
    write_names,
    write_table,
)
from therapy_analytics.plots._synchrony import BEYOND, MARKS, WHO, Found, apart, decimals, measures, number
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._synchrony import Windows
    from therapy_analytics.plots._turns import Floats

LANE, GAP, HEAD, SCALE, SECTION = 3.0, 0.8, 2.6, 1.6, 2.0
"""Heights in rows of text."""
HALF_STEP = 2.5
"""Turns by which a band of shuffles goes on before its first window's middle and after its last one's."""
LEGEND = {"therapist's replies": 0.0, "client's replies": 12.5, "95% of shuffles": 23.5, "outside": 34.0}
"""What the lanes show, and where it is explained, in sizes of the font."""
ROW_INCH = 0.165
NOTE = "shuffled: mean over shuffles of each one's replies; p: share of shuffles as synchronous; z: standard deviations"
NOTE_ON_LANES = "Of shuffles, 1 window in 20 lies outside its band; windows overlap. Each lane has a range of its own."


@plot(
    needs=(
        *("session_id", "measure", "direction", "part", "first_turn", "last_turn"),
        *("value", "null_mean", "null_sd", "z", "p"),
    ),
    takes="parts",
    session=4,
    single=True,
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
    ax = _new_axes(figure_size(rows)) if ax is None else ax
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


def figure_size(rows: DataFrame) -> tuple[float, float]:
    """Return the width and height in inches that the figure of a session's rows needs; for ``save(figsize=...)``."""
    found = measures(rows)
    height = _height(found) * ROW_INCH + MARGINS_IN["top"] + MARGINS_IN["bottom"]
    return FIGSIZE[0], max(height, 3.0) if found else FIGSIZE[1]


def _new_axes(size: tuple[float, float]) -> Axes:
    ax = axes_or_new(None)
    ax.get_figure(root=True).set_size_inches(*size)  # type: ignore[union-attr]
    ax.set_position(inner_box(*size))
    return ax


def _parted(found: list[Found]) -> tuple[list[Found], list[Found]]:
    """Return the measures that have windows, and the others."""
    return [one for one in found if one.windows], [one for one in found if not one.windows]


def _height(found: list[Found]) -> float:
    """Return how many rows of text high the figure is."""
    lanes, others = _parted(found)
    height = HEAD + len(lanes) * (LANE + GAP) + SCALE * bool(lanes)
    return height + (SECTION + SCALE + sum(_rows(one) for one in others)) * bool(others)


# Windows


def _lanes(page: Sheet, lanes: list[Found]) -> float:
    """Draw a lane for each measure that has windows, and the turns beneath; return the foot of all."""
    if not lanes:
        return 0.0
    tops = [-GAP / 2 - i * (LANE + GAP) for i in range(len(lanes))]
    ranges = [_range(lane) for lane in lanes]
    drawn = [
        {who: _on_page(one, ends, top) for who, one in lane.windows.items()}
        for lane, ends, top in zip(lanes, ranges, tops, strict=True)
    ]
    _write_ranges(page, ranges, tops)
    for who in WHO:
        _bands(page, who, [lane[who] for lane in drawn if who in lane])
    for who in WHO:
        _lines(page, who, [lane[who] for lane in drawn if who in lane])
    write_names(page, [(lane.label, top - LANE / 2) for lane, top in zip(lanes, tops, strict=True)])
    write_table(page, [(lane, top - (LANE - len(lane.whole) + 1) / 2) for lane, top in zip(lanes, tops, strict=True)])
    _frames(page, tops)
    foot = -len(lanes) * (LANE + GAP)
    places = ticks(0, page.last, page.em, integer=True)
    draw_scale(page, foot, places, [f"{place:,g}" for place in places])
    page.write([(-1.2 * page.em, foot - 0.75, "turn", "right")], 0.95 * page.font)
    return foot - SCALE


def _range(lane: Found) -> tuple[float, float]:
    """Return the lowest and the highest of a lane's values and bands."""
    every = np.concatenate([part for one in lane.windows.values() for part in (one.value, one.low, one.high)])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    # One value without a null distribution has no range: it goes into the middle.
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _write_ranges(page: Sheet, ranges: list[tuple[float, float]], tops: list[float]) -> None:
    """Write each lane's range at its left."""
    for (low, high), top in zip(ranges, tops, strict=True):
        places = decimals((low, high)) + (high - low < 0.2 * max(abs(low), abs(high)))
        for y, value in ((top - 0.4, high), (top - LANE + 0.4, low)):
            line = (-0.7 * page.em, y, number(value, places), "right")
            page.write([line], NUMERAL * page.font, NUMBERS, alpha=0.75)


def _on_page(one: Windows, ends: tuple[float, float], top: float) -> Windows:
    """Return the windows as heights on the page."""
    low, high = ends
    y = [top - LANE + LANE * (part - low) / (high - low) for part in (one.value, one.low, one.high)]
    return type(one)(middle=one.middle, value=y[0], low=y[1], high=y[2])


def _bands(page: Sheet, who: str, drawn: list[Windows]) -> None:
    """Draw where 95 of 100 shuffles lie; the edges say whose, and two bands on another are darker."""
    corners = []
    for one in drawn:
        for run in apart(~np.isnan(one.low + one.high)):
            x = one.middle[run]
            x = np.clip(np.concatenate([[x[0] - HALF_STEP], x, [x[-1] + HALF_STEP]]), 0, page.last)
            low, high = (np.concatenate([y[run[:1]], y[run], y[run[-1:]]]) for y in (one.low, one.high))
            corners.append(np.column_stack([np.append(x, x[::-1]), np.append(low, high[::-1])]))
    edge: dict[str, Any] = {"ec": to_rgba(page.colour(who), 0.55), "ls": STROKES[who], "lw": 0.075 * page.font}
    page.courses(corners, closed=True, fc=to_rgba("0.5", 0.2), gid="null", **edge)


def _lines(page: Sheet, who: str, drawn: list[Windows]) -> None:
    """Draw the windows of all lanes for one direction; large marks are those outside their band."""
    if not drawn:
        return
    runs = [(one, run) for one in drawn for run in apart(~np.isnan(one.value))]
    paths = [np.column_stack([one.middle[run], one.value[run]]) for one, run in runs]
    style: dict[str, Any] = {"ec": page.colour(who), "ls": STROKES[who], "lw": 0.15 * page.font, "zorder": 2}
    page.courses(paths, gid=f"windows {who}", **style)
    outside = np.concatenate([one.outside for one in drawn])
    points = np.concatenate([np.column_stack([one.middle, one.value]) for one in drawn])
    page.mark(points, who, ms=0.22 * page.font, mew=0, gid=f"points {who}")
    between = np.diff(np.unique(points[:, 0])).min(initial=np.inf) / page.em
    large = {"ms": float(np.clip(between, 0.36, 0.6)) * page.font, "mec": page.ink, "mew": 0.07 * page.font}
    page.mark(points[outside], who, gid=f"outside {who}", **large)


def _frames(page: Sheet, tops: list[float]) -> None:
    """Draw the ends of each lane's range as faint lines."""
    lines = [(0, y, page.last, y) for top in tops for y in (top, top - LANE)]
    page.lines(lines, ec="0.5", alpha=0.35, lw=0.6, zorder=0.5)


# Whole dialogues


def _dots(page: Sheet, others: list[Found], foot: float) -> None:
    """Draw the measures without windows: how far each is from shuffles and surrogate pairs, in standard deviations."""
    if not others:
        return
    top = foot - SECTION
    tops = top - 0.5 - np.cumsum([0, *(_rows(one) for one in others)])
    end = float(tops[-1]) + 0.5
    text = "the whole session, in standard deviations: from the mean of shuffles (filled), of surrogate pairs (open)"
    page.write([(0, top + 0.8, text, "left")], 0.95 * page.font, alpha=0.8)
    placed = list(zip(others, tops.tolist(), strict=False))
    write_names(page, [(one.label, y - (len(one.whole) - 1) / 2) for one, y in placed])
    write_table(page, placed)
    levels = [(y - i, *pair) for one, y in placed for i, pair in enumerate(one.whole.items())]
    _backdrop(page, [top, *(level for level, _, _ in levels), end])
    for who in WHO:
        own = [(level, figures[2], figures[5]) for level, whose, figures in levels if whose == who]
        _distances(page, who, np.array(own).reshape(-1, 3))
    places = np.arange(-3.0, 4.0)
    draw_scale(page, end, page.at(places), [f"{place:+.0f}" if place else "0" for place in places])


def _rows(one: Found) -> float:
    """Return how many rows a measure takes: three need some room around them, to be seen as one."""
    return len(one.whole) + 0.6 * (len(one.whole) > 1)


def _backdrop(page: Sheet, levels: list[float]) -> None:
    """Draw where 95 of 100 draws of the null lie, its mean, and a faint line at each level but the ends."""
    top, *inner, foot = levels
    low, middle, high = page.at(np.array([-BEYOND, 0, BEYOND])).tolist()
    page.boxes([low, foot, high, top], fc="0.5", alpha=0.22, gid="null of all")
    lines = [(middle, top, middle, foot), *((0, y, page.last, y) for y in inner)]
    page.lines(lines, ec="0.5", alpha=0.35, lw=0.6, zorder=0.5)


def _distances(page: Sheet, who: str, levels: Floats) -> None:
    """Draw rows of height, z of shuffles and z of surrogate pairs; arrows at the ends are further away."""
    for column, name, fill in ((2, "surrogates", "none"), (1, "shuffles", page.colour(who))):
        y, z = levels[~np.isnan(levels[:, column])][:, [0, column]].T
        for own, mark in ((abs(z) <= MOST, MARKS[who]), (z > MOST, ">"), (z < -MOST, "<")):
            style = {"marker": mark, "ms": 0.6 * page.font, "mfc": fill, "mew": 0.12 * page.font}
            # Two arrows at one end are put beside one another.
            inward = page.em * (name == "surrogates") * (abs(z[own]) > MOST) * np.sign(z[own])
            page.mark(np.column_stack([page.at(z[own]) - inward, y[own]]), who, gid=f"{name} {who}", **style)


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
