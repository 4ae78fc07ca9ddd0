"""Synchrony of one session: windows along its turns, and the whole session beside shuffles and surrogate pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgba

from therapy_analytics.plots import FONT, INCH_PT, axes_or_new, plot, say_instead
from therapy_analytics.plots._board import EDGE, Key, draw_keys, in_lines, keys_height, open_board
from therapy_analytics.plots._canvas import draw_axis
from therapy_analytics.plots._colours import ROLES
from therapy_analytics.plots._outlines import BOLD, MINUS, NUMBERS, cut
from therapy_analytics.plots._page import ticks
from therapy_analytics.plots._synchrony import (
    BEYOND,
    CORE,
    MARKS,
    MeasureShown,
    apart,
    decimals,
    full_names,
    measures,
    number,
)
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._board import Board
    from therapy_analytics.plots._turns import Bools, Floats

MOST_SHOWN, MOST_Z, LEAST_Z = 6, 6.0, 3.0
"""Measures that are drawn; and where the scale of z ends at most and at least: what lies further is an arrow."""
NAME, ROW, GAP, AXIS, HEADS = 12.0, 11.5, 7.0, 23.0, 12.0
"""Points for a measure's name, a direction, the space beneath a measure, the scale at the foot, the heads."""
VALUE, WHO, RANGE = 27.0, 40.0, 24.0
"""Points for a value, for whose replies it is of, and for the range of a lane."""
HALF_STEP = 2.5
"""Turns by which a band of shuffles goes on before its first window's middle and after its last one's."""
STROKES: dict[str, Any] = {"therapist": "-", "client": (0, (3.5, 1.2)), "both": "-"}
NEEDS = (
    *("session_id", "measure", "direction", "part", "first_turn", "last_turn"),
    *("value", "null_mean", "null_sd", "z", "p"),
)
NOTE = "Synchrony is not a quality score: it grows with the number of words per turn."
KEYS = (
    Key(words="z from shuffles", mark={"marker": "D", "mfc": "0.3", "mec": "0.3", "ms": 4}),
    Key(words="z from surrogate pairs", mark={"marker": "D", "mfc": "none", "mec": "0.3", "mew": 0.9, "ms": 4}),
)


def _core(rows: DataFrame) -> list[MeasureShown]:
    """Return the core measures that have a value; where there are none, the first of others."""
    found = {one.name: one for one in measures(rows)}
    return [found[name] for name in CORE if name in found] or list(found.values())[:MOST_SHOWN]


def _window_keys(found: list[MeasureShown]) -> list[Key]:
    """Return what the signs of lanes mean."""
    drawn = {who for one in found for who in one.windows}
    words = {"therapist": "Therapist's replies", "client": "Client's replies", "both": "Replies of both"}
    keys = [
        Key(
            words=words[who],
            mark={"marker": MARKS[who], "color": _colour(who)},
            line={"ec": _colour(who), "ls": STROKES[who], "lw": 1.1},
        )
        for who in STROKES
        if who in drawn
    ]
    keys += [Key(words="95% of shuffles", box={"fc": to_rgba("0.5", 0.3)})] if drawn else []
    return keys


def _height(rows: DataFrame, width: float, *, every: bool) -> float:
    found = measures(rows) if every else _core(rows)
    if not found:
        return 60.0
    blocks = sum(_block(one, every=every) for one in found)
    keys = list(KEYS) if every else [*_window_keys(found), *KEYS]
    return 2 * EDGE + keys_height(keys, width) + HEADS + blocks + AXIS - GAP * (not every)


def _block(one: MeasureShown, *, every: bool) -> float:
    """Return how many points high a measure is."""
    if every:
        return 2 * ROW
    return NAME + max(len(one.whole), 3 * bool(one.windows), 1) * ROW + GAP


def _caption(rows: DataFrame, *, every: bool) -> str:
    name, last = rows["session_id"].iloc[0], float(np.nan_to_num(numbers(rows, "last_turn")).max())
    windows = rows[(rows["part"] == "window").to_numpy(dtype=bool)]
    parts = [f"Linguistic synchrony, session {name} ({last + 1:,.0f} turns)."]
    if len(windows) and not every:
        size = np.nanmax(numbers(windows, "last_turn") - numbers(windows, "first_turn")) + 1
        parts.append(
            f"Left: overlapping windows of {size:.0f} turns, each measure on a range of its own; bands hold 95% of "
            "shuffles of the speaker's replies within the session, so that 1 window in 20 lies outside if replies are "
            "in random order; large marks lie outside."
        )
    parts.append(
        f"{'The' if every else 'Right: the'} whole session, in standard deviations (z) from the mean of shuffles "
        "(filled) and from what surrogate pairs, of therapist and client of different sessions, lead one to expect "
        f"(open); shaded: 95% of the null distribution; triangles lie beyond the scale. {NOTE}"
    )
    return " ".join(parts)


def _of(*, every: bool) -> dict[str, Any]:
    return {"height": partial(_height, every=every), "caption": partial(_caption, every=every)}


@plot(needs=NEEDS, takes="parts", session=4, single=True, **_of(every=False))
def synchrony(rows: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw the core measures of synchrony of one session: along its turns, and beside shuffles and surrogate pairs.

    Parameters
    ----------
    rows : pandas.DataFrame
        The rows of ``analysis.parts`` (``measures.csv``) for one session, or of `therapy_analytics.synchrony`. Shown
        are style matching (LSM, rLSM), semantic similarity, lexical alignment and coordination, where they have a
        value; of a table without any of these, its first six measures. `synchrony_all` shows all.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its x-axis counts turns, its y-axis points; each lane has a range of its own, written at its left.

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
    ax = axes_or_new(ax)
    found = _core(rows)
    if not found:
        return _nothing(ax, rows)
    board = open_board(ax, _height(rows, ax.bbox.width * INCH_PT / ax.figure.dpi, every=False))
    top = draw_keys(board, [*_window_keys(found), *KEYS], board.height)
    columns = _columns(board, found, last=float(np.nan_to_num(numbers(rows, "last_turn")).max()))
    scale, names = board.font / FONT, full_names([one.name for one in found])
    blocks = np.cumsum([0, *(_block(one, every=False) for one in found)]) * scale
    head = top - HEADS * scale
    foot = head - blocks[-1] + GAP * scale
    _ground(columns, head, foot, lanes=any(one.windows for one in found))
    for one, block in zip(found, blocks.tolist(), strict=False):
        _one(columns, one, names[one.name], head - block)
    board.close()
    return ax


@plot(needs=NEEDS, takes="parts", single=True, **_of(every=True))
def synchrony_all(rows: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw all measures of synchrony of one session beside shuffles and surrogate pairs, each in one row.

    Parameters
    ----------
    rows : pandas.DataFrame
        As in `synchrony`; the mean of both directions is drawn, or what there is.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        One unit is a point (1/72 inch).

    Notes
    -----
    Of many measures some lie outside the shaded range by chance alone: one in twenty. Synchrony is no quality score.
    """
    ax = axes_or_new(ax)
    found = measures(rows)
    if not found:
        return _nothing(ax, rows)
    board = open_board(ax, _height(rows, ax.bbox.width * INCH_PT / ax.figure.dpi, every=True))
    head = draw_keys(board, KEYS, board.height) - HEADS * board.font / FONT
    columns = _columns(board, found, share=0.5)
    row, names = ROW * board.font / FONT, full_names([one.name for one in found])
    _ground(columns, head, head - 2 * row * len(found), lanes=False)
    for i, one in enumerate(found):
        middle, who = head - (2 * i + 1) * row, "both" if "both" in one.whole else next(iter(one.whole), "")
        board.text_lines(in_lines(names[one.name], (columns.z_left - 10) / board.font), 0, middle)
        _null(columns, middle + row, middle - row)
        if who:
            _row(columns, who, one.whole[who], middle, decimals([one.whole[who][0]]))
        board.lines([0, middle - row, board.width, middle - row], ec="0.5", alpha=0.3, lw=0.4)
    board.close()
    return ax


def _nothing(ax: Axes, rows: DataFrame) -> Axes:
    why = "no measure has a value in this session" if len(rows) else "the table holds no row for this session"
    return say_instead(ax, f"no synchrony: {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Where things lie on the x-axis, in points.

    Attributes
    ----------
    board : Board
        What is drawn on.
    left, right : float
        Where lanes begin and end: turn 0, and the last one.
    last : float
        The last turn.
    z_left, z_right : float
        Where the scale of z begins and ends.
    most : float
        The z at its ends.
    """

    board: Board
    left: float
    right: float
    last: float
    z_left: float
    z_right: float
    most: float

    def turn(self, turn: Any) -> Any:
        """Return where turns lie."""
        return self.left + (self.right - self.left) * turn / self.last

    def z(self, z: Any) -> Any:
        """Return where z lie; what is further than the scale, at its end."""
        share = (np.clip(z, -self.most, self.most) + self.most) / (2 * self.most)
        return self.z_left + share * (self.z_right - self.z_left)


def _columns(board: Board, found: list[MeasureShown], *, last: float = 1.0, share: float = 0.0) -> _Columns:
    """Lay the columns out: lanes, directions, the scale of z and values; the last two begin at a `share` if given."""
    scale, width = board.font / FONT, board.width
    z = np.array([row[i] for one in found for row in one.whole.values() for i in (2, 5)])
    most = float(np.clip(np.ceil(np.nanmax(np.abs(z), initial=0, where=~np.isnan(z)) + 0.2), LEAST_Z, MOST_Z))
    left = RANGE * scale
    right = left + 0.5 * (width - (RANGE + WHO + VALUE + 20) * scale)
    begin = share * width if share else right + (WHO + 14) * scale
    return _Columns(
        board=board, left=left, right=right, last=max(last, 1.0),
        z_left=begin, z_right=width - (VALUE + 6) * scale, most=most,
    )  # fmt: skip


def _ground(columns: _Columns, head: float, foot: float, *, lanes: bool) -> None:
    """Draw the null range of z and the scales at the foot, and write the heads."""
    board, font = columns.board, columns.board.font
    step = 1 if columns.z_right - columns.z_left > 12 * columns.most * font / 3 else 2 if columns.most % 3 else 3
    places = np.arange(-step * (columns.most // step), columns.most + 1e-9, step)
    labels = [f"{place:+.0f}".replace("-", MINUS) if place else "0" for place in places]
    draw_axis(board, columns.z(places).tolist(), labels, foot, (columns.z_left, columns.z_right))
    label = foot - 3 - 1.9 * font
    board.write([((columns.z_left + columns.z_right) / 2, label, "z from the null mean", "center")])
    level = head + 0.55 * HEADS * font / FONT
    board.write([(board.width, level, "Value", "right")])
    if not lanes:
        return
    board.write([(columns.right + 13, level, "Replies of", "left")])
    turns = ticks(0, columns.last, font * columns.last / (columns.right - columns.left), integer=True).tolist()
    draw_axis(board, columns.turn(np.array(turns)).tolist(), [f"{turn:,g}" for turn in turns], foot,
              (columns.left, columns.right))  # fmt: skip
    board.write([((columns.left + columns.right) / 2, label, "Turn", "center")])


def _null(columns: _Columns, top: float, foot: float) -> None:
    """Draw where 95 of 100 null values lie, beneath the rows of a measure."""
    low, middle, high = columns.z(np.array([-BEYOND, 0.0, BEYOND])).tolist()
    columns.board.boxes([low, foot, high, top], fc="0.5", alpha=0.18, zorder=0.4, gid="null of all")
    columns.board.lines([middle, foot, middle, top], ec="0.4", lw=0.5, zorder=0.5)


def _one(columns: _Columns, one: MeasureShown, name: str, top: float) -> None:
    """Draw a measure from `top` down: its name, its lane, and a row for each direction."""
    board, scale = columns.board, columns.board.font / FONT
    board.write([(0, top - 0.5 * NAME * scale, cut(name, board.width / board.font, BOLD), "left")], font=BOLD)
    top -= NAME * scale
    places, row = decimals(values[0] for values in one.whole.values()), ROW * scale
    _null(columns, top, top - max(len(one.whole), 3 * bool(one.windows), 1) * row)
    for i, (who, values) in enumerate(one.whole.items()):
        middle = top - (i + 0.5) * row
        board.write([(columns.right + 13 * scale, middle, who, "left")])
        _row(columns, who, values, middle, places)
    if one.windows:
        _lane(columns, one, top - 2, 3 * row - 4)


def _lane(columns: _Columns, lane: MeasureShown, top: float, high: float) -> None:
    """Draw the windows of a measure between the lowest and the highest of their values and bands."""
    board = columns.board
    every = np.concatenate([part for one in lane.windows.values() for part in (one.value, one.low, one.high)])
    low, end = float(np.nanmin(every)), float(np.nanmax(every))
    # One value without a null distribution has no range: it goes into the middle.
    low, end = (low, end) if end > low else (low - 0.5, end + 0.5)

    def height(values: Floats) -> Floats:
        return top - high + high * (values - low) / (end - low)

    places = decimals((low, end)) + (end - low < 0.2 * max(abs(low), abs(end)))
    for y, value in ((top - 3, end), (top - high + 3, low)):
        text, x = number(value, places), columns.left - 3
        board.write([(x, y, cut(text, x / board.font), "right")], alpha=0.8)
    board.lines([(columns.left, y, columns.right, y) for y in (top, top - high)], ec="0.5", alpha=0.5, lw=0.5)
    for who, one in lane.windows.items():
        _band(columns, who, one.middle, (height(one.low), height(one.high)))
    for who, one in lane.windows.items():
        _line(columns, who, np.column_stack([columns.turn(one.middle), height(one.value)]), one.outside)


def _band(columns: _Columns, who: str, middle: Floats, ends: tuple[Floats, Floats]) -> None:
    """Draw where 95 of 100 shuffles lie; the edges say whose, and two bands on another are darker."""
    corners = []
    for run in apart(~np.isnan(ends[0] + ends[1])):
        x = np.concatenate([[middle[run[0]] - HALF_STEP], middle[run], [middle[run[-1]] + HALF_STEP]])
        low, high = (np.concatenate([y[run[:1]], y[run], y[run[-1:]]]) for y in ends)
        x = columns.turn(np.clip(x, 0, columns.last))
        corners.append(np.column_stack([np.append(x, x[::-1]), np.append(low, high[::-1])]))
    edge: dict[str, Any] = {"ec": to_rgba(_colour(who), 0.6), "ls": STROKES[who], "lw": 0.5}
    columns.board.courses(corners, closed=True, fc=to_rgba("0.5", 0.2), gid="null", **edge)


def _line(columns: _Columns, who: str, points: Floats, outside: Bools) -> None:
    """Draw the windows of one direction; large marks are those outside their band."""
    board = columns.board
    paths = [points[run] for run in apart(~np.isnan(points[:, 1]))]
    board.courses(paths, ec=_colour(who), ls=STROKES[who], lw=1.1, zorder=2, gid=f"windows {who}")
    style: dict[str, Any] = {"marker": MARKS[who], "color": _colour(who), "zorder": 3}
    board.marks(points, ms=1.6, gid=f"points {who}", **style)
    between = np.diff(points[:, 0]).min(initial=np.inf)
    large = {"ms": float(np.clip(0.8 * between, 2.4, 4.4)), "mec": board.ink, "mew": 0.5}
    board.marks(points[outside], gid=f"outside {who}", **(style | large))


def _row(columns: _Columns, who: str, row: Floats, y: float, places: int) -> None:
    """Draw the z of shuffles and of surrogate pairs, a little apart, and write the value."""
    board = columns.board
    board.lines([columns.z_left, y, columns.z_right, y], ec="0.5", alpha=0.35, lw=0.5, zorder=0.5)
    for z, name, fill, up in ((row[2], "shuffles", _colour(who), 1.6), (row[5], "surrogates", "none", -1.6)):
        beyond = np.sign(z) * (abs(z) > columns.most)
        style = {"ms": 3.6, "mfc": fill, "mec": _colour(who), "mew": 0.9, "zorder": 3}
        marker = {1: ">", -1: "<"}.get(beyond, MARKS[who])
        board.marks([columns.z(z), y + up], marker=marker, gid=f"{name} {who}", **style)
    board.write([(board.width, y, number(row[0], places), "right")], font=NUMBERS)


def _colour(who: str) -> str:
    """Return a direction's colour."""
    return ROLES.get(who, "0.15")
