"""How what therapist and client do moves from the first to the last third of a session: a small picture a behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._board import FAINT, fitted, head, open_board
from therapy_analytics.plots._codes import (
    COLOURS,
    ROLES,
    SIGNS,
    WEAK,
    behaviours,
    rates,
    role_keys,
    role_name,
    sessions_of,
)
from therapy_analytics.plots._outlines import ADVANCE, NUMBERS, length

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from pandas import DataFrame

    from therapy_analytics.plots._board import Board
    from therapy_analytics.plots._codes import Behaviour, Rates
    from therapy_analytics.plots._outlines import Line
    from therapy_analytics.plots._turns import Floats

THIRDS = ("third_1", "third_2", "third_3")
MOST = 40
"""So many behaviours are drawn: the first of the codebooks."""
TALL, HEADING = 7.5, 1.9
"""Least height of a picture, and height of the line above each role's pictures, in sizes of the font."""
SMALL = 0.86
"""Size of counts and of the scale, in sizes of the font."""
LONG = 18.0
"""Longer names, in sizes of the font, are cut."""
_NAME, _COUNT = 1.5, 1.4
"""Height of the name above a picture and of the counts below, in sizes of the font."""


@plot(needs=("session_id", "code", "part", "n", "n_turns"), takes="profile", run=2)
def thirds(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw the rate of each behaviour that occurs in the first, the middle and the last third of the session.

    Parameters
    ----------
    table : pandas.DataFrame
        ``profile.csv`` of a session, or ``analysis.profile`` of several, which are pooled.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the small pictures, all on one scale; one unit is a point (1/72 inch).

    Notes
    -----
    Intervals as in `profile`. A third of a session is few turns: where intervals overlap much, a rise or a fall may be
    random. With many behaviours some seem to move in every session. At most 40 are drawn.
    """
    ax = axes_or_new(ax)
    rows = table[table["part"].astype(str).isin(THIRDS)]
    occurring = rows.loc[rows["n"] > 0, "code"].astype(str).unique()
    if not len(occurring):
        return say_instead(ax, "no behaviour in any third: the table holds none that occurs")
    found = list(behaviours(occurring).values())[:MOST]
    values = rates(rows, [one.code for one in found], THIRDS)
    board = open_board(ax)
    top = _head(board, rows, found)
    _sections(board, found, values, top)
    board.close()
    return ax


def _head(board: Board, rows: DataFrame, found: list[Behaviour]) -> float:
    whose, over = sessions_of(rows)
    notes = [
        "Each picture, from left to right: first, middle and last third; below, turns with the code / the role's turns."
    ]
    notes += ["Where intervals overlap much, it may be noise."]
    notes += [WEAK + "."] if any(one.weak for one in found) else []
    left_out = rows["code"].nunique() - len(found)
    notes += [f"{left_out} more never occur."] if left_out > 0 and len(found) < MOST else []
    return head(
        board, f"By thirds of the session: {whose}", notes, role_keys(found, f": rate, 95% interval over {over}")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """Sizes in points: of a picture, of text and of names; pictures in a row; the end of the scale; the margin."""

    across: int
    width: float
    height: float
    font: float
    name: float
    most: float
    margin: float


def _sections(board: Board, found: list[Behaviour], values: Rates, top: float) -> None:
    """Draw each role's pictures beneath each other's."""
    sections = {role: np.array([i for i, one in enumerate(found) if one.role == role]) for role in ROLES}
    sections = {role: own for role, own in sections.items() if len(own)}
    grid = _grid(board, found, values, top)
    for role, own in sections.items():
        name = role_name(role) if role == "other" else f"what the {role} does"
        board.write([(0.0, top - 1.0 * grid.font, name, "left")], grid.font)
        top -= HEADING * grid.font
        _pictures(board, grid, [found[i] for i in own], values, own, top)
        top -= ceil(len(own) / grid.across) * grid.height


def _grid(board: Board, found: list[Behaviour], values: Rates, top: float) -> _Grid:
    """Return the grid in which the text is about as large as can be, and the pictures high."""
    sizes = [sum(one.role == role for one in found) for role in ROLES if any(one.role == role for one in found)]
    longest, name = max(len(text) for text in _counts(values).ravel()), max(length(one.name) for one in found)
    wide = max(3 * (longest * ADVANCE * SMALL + 0.5) + 0.6, 0.8 * min(name, LONG) + 0.7)
    margin = 2.6
    fonts = {}
    for across in range(1, max(sizes) + 1):
        rows = sum(ceil(size / across) for size in sizes)
        space = board.width / (across * wide + margin), top / (rows * TALL + HEADING * len(sizes))
        fonts[rows, across] = min(*space, board.font)
    # A little smaller text for taller pictures.
    rows, across = min(shape for shape, size in fonts.items() if size >= 0.9 * max(fonts.values()))
    font = fonts[rows, across]
    height = min((top - HEADING * font * len(sizes)) / rows, 110.0)
    most = float(np.clip(np.ceil(np.nanmax(values.high) * 5 - 1e-9) / 5, 0.2, 1))
    width = min((board.width - margin * font) / across, 170.0)
    size = min(fitted(one.name, width - 0.6 * font, font)[1] for one in found)
    return _Grid(across=across, width=width, height=height, font=font, name=size, most=most, margin=margin * font)


def _counts(values: Rates) -> NDArray[np.str_]:
    cells = zip(values.n.ravel().tolist(), values.n_turns.ravel().tolist(), strict=True)
    return np.array([f"{n:,.0f}/{total:,.0f}" for n, total in cells]).reshape(values.n.shape)


def _pictures(
    board: Board, grid: _Grid, own: list[Behaviour], values: Rates, at: NDArray[np.int64], top: float
) -> None:
    """Draw a role's pictures: counts at the foot, the scale above them, the name at the head."""
    font, place = grid.font, np.arange(len(own))
    left = grid.margin + (place % grid.across) * grid.width
    bottom = top - (place // grid.across + 1) * grid.height + _COUNT * font
    high = grid.height - (_NAME + _COUNT + 0.8) * font
    inner = grid.width - 0.6 * font
    x = left[:, None] + inner * (np.arange(3) + 0.5) / 3
    _frames(board, grid, np.column_stack([left, bottom, left + inner, bottom + high]))
    low, rate, top_end = (
        bottom[:, None] + high * one[at] / grid.most for one in (values.low, values.rate, values.high)
    )
    role = own[0].role
    colour = COLOURS[role]
    board.lines(np.stack([x, low, x, top_end], axis=-1), ec=colour, lw=0.16 * font, zorder=2, gid=f"interval {role}")
    steps = np.stack([x[:, :-1], rate[:, :-1], x[:, 1:], rate[:, 1:]], axis=-1)
    board.lines(steps, ec=colour, lw=0.09 * font, alpha=0.8, zorder=1.5, gid=f"slope {role}")
    board.marks(
        np.stack([x, rate], axis=-1), marker=SIGNS[role], color=colour, ms=0.55 * font, zorder=3, gid=f"rate {role}"
    )
    names = [fitted(one.name, inner, font) for one in own]
    heads = zip(left.tolist(), (bottom + high + 0.85 * font).tolist(), names, strict=True)
    board.write([(x0, y, name, "left") for x0, y, (name, _) in heads], grid.name)
    feet = np.repeat(bottom - 0.75 * font, 3).tolist()
    cells = zip(x.ravel().tolist(), feet, _counts(values)[at].ravel().tolist(), strict=True)
    board.write([(x0, y, text, "center") for x0, y, text in cells], SMALL * font, NUMBERS, alpha=FAINT)


def _frames(board: Board, grid: _Grid, boxes: Floats) -> None:
    """Draw the ground of each picture, and name the ends of the scale at the first of each row."""
    left, bottom, right, top = boxes.T
    board.boxes(boxes, fc="0.5", alpha=0.08, zorder=0.3, gid="frames")
    for share in (0.0, 0.5, 1.0):
        y = bottom + share * (top - bottom)
        board.lines(np.column_stack([left, y, right, y]), ec="0.5", alpha=0.5, lw=0.07 * grid.font, zorder=0.5)
        first = slice(None, None, grid.across)
        text = f"{100 * share * grid.most:.0f}%"
        ends: list[Line] = [
            (x - 0.3 * grid.font, at, text, "right") for x, at in zip(left[first], y[first], strict=True)
        ]
        board.write(ends, SMALL * grid.font, alpha=FAINT)
