"""How what therapist and client do moves from the first to the last third of a session: a small picture a behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from therapy_analytics.plots import FONT, axes_or_new, plot, remembered, say_instead
from therapy_analytics.plots._board import EDGE, FAINT, draw_keys, keys_height, open_board
from therapy_analytics.plots._codes import (
    ROLES,
    WEAK,
    behaviours,
    rates,
    role_keys,
    role_name,
    sessions_of,
)
from therapy_analytics.plots._colours import ROLES as COLOURS
from therapy_analytics.plots._colours import SIGNS
from therapy_analytics.plots._outlines import ADVANCE, BOLD, NUMBERS, cut

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
TALL, HEADING = 50.0, 14.0
"""Height of a picture, and of the line above each role's pictures, in points."""
WIDE, NARROW, PAGE = 100.0, 66.0, 640.0
"""Points that a picture needs across for whole names, and for names that are cut; and what a page holds."""
_NAME, _COUNT, _MARGIN = 10.5, 10.5, 21.0
"""Points for the name above a picture, the counts below it, and the scale left of a row."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _ThirdsShown:
    """What is drawn: the rows of thirds, the behaviours that occur, and their rates."""

    rows: DataFrame
    found: list[Behaviour]
    values: Rates

    @property
    def sections(self) -> dict[str, NDArray[np.int64]]:
        """Return the places of each role's behaviours."""
        every = {role: np.array([i for i, one in enumerate(self.found) if one.role == role]) for role in ROLES}
        return {role: own for role, own in every.items() if len(own)}

    def across(self, width: float) -> int:
        """Return how many pictures stand beside one another at a width in points."""
        longest = max(len(text) for text in _counts(self.values).ravel())
        least = 3 * (longest * ADVANCE + 0.7) * FONT
        sizes = [len(own) for own in self.sections.values()]
        wide, narrow = (int(np.clip((width - _MARGIN) / max(one, least), 1, max(sizes))) for one in (WIDE, NARROW))
        return wide if sum(ceil(size / wide) for size in sizes) * TALL <= PAGE else narrow


@remembered
def _shown(table: DataFrame) -> _ThirdsShown | None:
    rows = table[table["part"].astype(str).isin(THIRDS)]
    occurring = rows.loc[rows["n"] > 0, "code"].astype(str).unique()
    if not len(occurring):
        return None
    found = list(behaviours(occurring).values())[:MOST]
    return _ThirdsShown(rows=rows, found=found, values=rates(rows, [one.code for one in found], THIRDS))


def _height(table: DataFrame, width: float) -> float:
    shown = _shown(table)
    if shown is None:
        return 60.0
    across, keys = shown.across(width - 2 * EDGE), role_keys(shown.found, KEY)
    rows = [ceil(len(own) / across) for own in shown.sections.values()]
    return 2 * EDGE + keys_height(keys, width) + len(rows) * HEADING + sum(rows) * TALL


def _caption(table: DataFrame) -> str:
    shown = _shown(table)
    if shown is None:
        return ""
    whose, over = sessions_of(shown.rows)
    about = (
        f"Rates by thirds of the session, {whose}. Each panel, from left to right: first, middle and last third, with "
        f"95% intervals over {over}; below, turns with the code / turns of the role. Where intervals overlap much, a "
        "rise or a fall may be noise."
    )
    parts = [about]
    parts += [f"{WEAK}."] if any(one.weak for one in shown.found) else []
    left_out = shown.rows["code"].nunique() - len(shown.found)
    parts += [f"{left_out} more codes never occur."] if left_out > 0 and len(shown.found) < MOST else []
    return " ".join(parts)


KEY = ": rate, 95% interval"


@plot(needs=("session_id", "code", "part", "n", "n_turns"), takes="profile", run=2, height=_height, caption=_caption)
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
    shown = _shown(table)
    if shown is None:
        return say_instead(ax, "no behaviour in any third: the table holds none that occurs")
    board = open_board(ax, _height(table, ax.bbox.width * 72 / ax.figure.dpi))
    top = draw_keys(board, role_keys(shown.found, KEY), board.height)
    grid = _grid(board, shown)
    for role, own in shown.sections.items():
        name = role_name(role) if role == "other" else f"{role} codes"
        board.write([(0.0, top - 0.6 * grid.heading, name[:1].upper() + name[1:], "left")], font=BOLD)
        top -= grid.heading
        _pictures(board, grid, [shown.found[i] for i in own], shown.values, own, top)
        top -= ceil(len(own) / grid.across) * grid.height
    board.close()
    return ax


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """Sizes in points: of a picture, of text and headings; pictures in a row; the end of the scale; the margin."""

    across: int
    width: float
    height: float
    heading: float
    font: float
    most: float
    margin: float


def _grid(board: Board, shown: _ThirdsShown) -> _Grid:
    scale = board.font / FONT
    across = shown.across(board.width)
    margin = _MARGIN * scale
    return _Grid(
        across=across,
        width=min((board.width - margin) / across, 120.0),
        height=TALL * scale,
        heading=HEADING * scale,
        font=board.font,
        most=float(np.clip(np.ceil(np.nanmax(shown.values.high) * 5 - 1e-9) / 5, 0.2, 1)),
        margin=margin,
    )


def _counts(values: Rates) -> NDArray[np.str_]:
    cells = zip(values.n.ravel().tolist(), values.n_turns.ravel().tolist(), strict=True)
    return np.array([f"{n:,.0f}/{total:,.0f}" for n, total in cells]).reshape(values.n.shape)


def _pictures(
    board: Board, grid: _Grid, own: list[Behaviour], values: Rates, at: NDArray[np.int64], top: float
) -> None:
    """Draw a role's pictures: counts at the foot, the scale above them, the name at the head."""
    font, place = grid.font, np.arange(len(own))
    left = grid.margin + (place % grid.across) * grid.width
    scale = font / FONT
    bottom = top - (place // grid.across + 1) * grid.height + (_COUNT + 3) * scale
    high = grid.height - (_NAME + _COUNT + 6) * scale
    inner = grid.width - 0.6 * font
    x = left[:, None] + inner * (np.arange(3) + 0.5) / 3
    _frames(board, grid, np.column_stack([left, bottom, left + inner, bottom + high]))
    low, rate, top_end = (
        bottom[:, None] + high * one[at] / grid.most for one in (values.low, values.rate, values.high)
    )
    role = own[0].role
    colour = COLOURS[role]
    board.lines(np.stack([x, low, x, top_end], axis=-1), ec=colour, lw=1.1, zorder=2, gid=f"interval {role}")
    steps = np.stack([x[:, :-1], rate[:, :-1], x[:, 1:], rate[:, 1:]], axis=-1)
    board.lines(steps, ec=colour, lw=0.7, alpha=0.8, zorder=1.5, gid=f"slope {role}")
    board.marks(np.stack([x, rate], axis=-1), marker=SIGNS[role], color=colour, ms=3.8, zorder=3, gid=f"rate {role}")
    names = [cut(one.name, inner / font) for one in own]
    heads = zip(left.tolist(), (bottom + high + 0.85 * font).tolist(), names, strict=True)
    board.write([(x0, y, name, "left") for x0, y, name in heads], font)
    feet = np.repeat(bottom - 0.75 * font, 3).tolist()
    cells = zip(x.ravel().tolist(), feet, _counts(values)[at].ravel().tolist(), strict=True)
    board.write([(x0, y, text, "center") for x0, y, text in cells], font, NUMBERS, alpha=FAINT)


def _frames(board: Board, grid: _Grid, boxes: Floats) -> None:
    """Draw the ground of each picture, and name the ends of the scale at the first of each row."""
    left, bottom, right, top = boxes.T
    board.boxes(boxes, fc="0.5", alpha=0.08, zorder=0.3, gid="frames")
    for share in (0.0, 0.5, 1.0):
        y = bottom + share * (top - bottom)
        board.lines(np.column_stack([left, y, right, y]), ec="0.5", alpha=0.5, lw=0.5, zorder=0.5)
        first = slice(None, None, grid.across)
        text = f"{100 * share * grid.most:.0f}%"
        ends: list[Line] = [
            (x - 0.3 * grid.font, at, text, "right") for x, at in zip(left[first], y[first], strict=True)
        ]
        board.write(ends, grid.font, alpha=FAINT)
