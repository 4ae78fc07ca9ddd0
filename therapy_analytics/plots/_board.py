"""A figure measured in points: names, numbers and marks stand where they are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from therapy_analytics.plots import FONT, INCH_PT
from therapy_analytics.plots._canvas import Canvas
from therapy_analytics.plots._outlines import cut, length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

EDGE = 3.0
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


def open_board(ax: Axes, needed: float) -> Board:
    """Hide the axes and take their area for the board; letters are smaller where it is less high than `needed`."""
    width, height = (side * INCH_PT / ax.figure.dpi - 2 * EDGE for side in (ax.bbox.width, ax.bbox.height))
    ax.set(xlim=(-EDGE, width + EDGE), ylim=(-EDGE, height + EDGE))
    ax.set_axis_off()
    font = FONT * float(np.clip((height + 2 * EDGE + 0.5) / needed, 0.3, 1.0))
    return Board(ax=ax, width=width, height=height, font=font)


def keys_height(keys: Sequence[Key], width: float, font: float = FONT) -> float:
    """Return how many points `draw_keys` takes at a width of the figure."""
    return 1.6 * font * (1 + max((line for _, line, _ in _placed(keys, width - 2 * EDGE, font)), default=-1))


def draw_keys(page: Canvas, keys: Sequence[Key], top: float, left: float = 0.0, width: float = 0.0) -> float:
    """Draw signs with their words from `top` down, in as many lines as they need; return where the last line ends.

    Parameters
    ----------
    page : Canvas
        A board, or another canvas of which `left` and `top` are in its units.
    keys : sequence of Key
        The signs.
    top, left : float
        The upper left corner.
    width : float
        The points that the lines have; of a board its width.
    """
    width = width or getattr(page, "width", 0.0)
    for key, (x, line, words) in zip(keys, _placed(keys, width, page.font), strict=True):
        place = left + x * page.point, top - 1.6 * page.font * (line + 0.5) * page.row
        _sign(page, key, *place)
        page.write([(place[0] + 2.3 * page.font * page.point, place[1], words, "left")])
    return top - keys_height(keys, width + 2 * EDGE, page.font) * page.row


def _placed(keys: Sequence[Key], width: float, font: float) -> list[tuple[float, int, str]]:
    """Return where each sign begins, in points, on which line, and what is written beside it."""
    found, x, line = [], 0.0, 0
    for key in keys:
        words = cut(key.words, width / font - 2.4)
        wide = (3.9 + length(words)) * font
        if x > 0 and x + wide - 1.6 * font > width:
            x, line = 0.0, line + 1
        found.append((x, line, words))
        x += wide
    return found


def _sign(page: Canvas, key: Key, x: float, y: float) -> None:
    wide, high = 1.9 * page.font * page.point, 0.32 * page.font * page.row
    if key.box:
        page.boxes([x, y - high, x + wide, y + high], **key.box)
    if key.line:
        page.lines([x, y, x + wide, y], **key.line)
    if key.mark:
        page.marks([x + wide / 2, y], **({"ms": 0.65 * page.font} | key.mark))


def in_lines(name: str, fits: float, most: int = 2) -> list[str]:
    """Return a name on at most so many lines, each not wider than so many sizes of the font; the rest is cut."""
    lines = [""]
    for word in name.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(lines) == most or length(longer) <= fits or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return [cut(line, fits) for line in lines]
