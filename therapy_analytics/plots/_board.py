"""A figure measured in points, margins and all: names, numbers and marks stand where they are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from therapy_analytics.plots import MARGINS_IN
from therapy_analytics.plots._canvas import Canvas
from therapy_analytics.plots._outlines import BOLD, cut, length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

EDGE = 5.0
"""Points that stay free at the edges of the figure."""
FAINT = 0.8
Style = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board(Canvas):
    """A canvas of which one unit of x and of y is a point (1/72 inch), from the lower left corner.

    Attributes
    ----------
    width, height : float
        How far one may draw, in points.
    """

    width: float
    height: float
    clip: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a sign means: words, and the styles of the sign's box, line and marker, in this order upon each other."""

    words: str
    box: Style = field(default_factory=dict)
    line: Style = field(default_factory=dict)
    mark: Style = field(default_factory=dict)


def open_board(ax: Axes) -> Board:
    """Hide the axes, and take them and the margins that a figure of this package has round them for the board."""
    inch = 72 / ax.figure.dpi
    page, box = ax.figure.bbox, ax.bbox
    there = {
        "left": box.x0 - page.x0,
        "right": page.x1 - box.x1,
        "bottom": box.y0 - page.y0,
        "top": page.y1 - box.y1,
    }
    free = {side: max(min(space * inch, 72 * MARGINS_IN[side]) - EDGE, 0) for side, space in there.items()}
    width, height = box.width * inch, box.height * inch
    left, bottom = free["left"], free["bottom"]
    ax.set(xlim=(left, left + width), ylim=(bottom, bottom + height))
    ax.set_axis_off()
    whole = left + width + free["right"]
    return Board(ax=ax, width=whole, height=bottom + height + free["top"], font=float(np.clip(whole / 95, 3.2, 8.5)))


def head(board: Board, title: str, notes: Sequence[str], keys: Sequence[Key] = ()) -> float:
    """Write a title, a line of sentences that many figures share, and what signs mean; return where the rest begins."""
    font, y = board.font, board.height - 0.75 * (board.font + 2)
    size = font + 2
    board.write([(0, y, cut(title, board.width / size, BOLD), "left")], size, BOLD)
    y -= 1.8 * font
    wide = sum(length(one) + 0.5 for one in notes) * font
    size, x = font * min(1.0, board.width / max(wide, 1.0)), 0.0
    for one in notes:
        board.write([(x, y, one, "left")], size, alpha=FAINT)
        x += (length(one) + 0.5) * size
    return _keys(board, keys, y - 1.65 * font) - 0.6 * font


def _keys(board: Board, keys: Sequence[Key], y: float) -> float:
    """Draw signs with their words in as many lines as they need; return where the last line ends."""
    font, x = board.font, 0.0
    for key in keys:
        wide = (3.9 + length(key.words)) * font
        if x > 0 and x + wide - 1.6 * font > board.width:
            x, y = 0.0, y - 1.5 * font
        _sign(board, key, x, y)
        board.write([(x + 2.3 * font, y, key.words, "left")])
        x += wide
    return y - 0.75 * font if keys else y + 0.9 * font


def _sign(board: Board, key: Key, x: float, y: float) -> None:
    wide, high = 1.9 * board.font, 0.32 * board.font
    if key.box:
        board.boxes([x, y - high, x + wide, y + high], **key.box)
    if key.line:
        board.lines([x, y, x + wide, y], **key.line)
    if key.mark:
        board.marks([x + wide / 2, y], **({"ms": 0.65 * board.font} | key.mark))


def fitted(name: str, space: float, font: float) -> tuple[str, float]:
    """Return a name and a size at which it fits into so many points: smaller down to 3/4, then cut."""
    size = font * min(1.0, max(space / (length(name) * font), 0.75))
    return cut(name, space / size), size
