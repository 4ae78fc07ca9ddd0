"""A board measured in points over one Axes and the margins round it: names, numbers and marks where they are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams

from therapy_analytics.plots import MARGINS_IN
from therapy_analytics.plots._artists import Dots, Shape, boxes, strokes
from therapy_analytics.plots._outlines import BOLD, WORDS, length, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from therapy_analytics.plots._outlines import Font, Line
    from therapy_analytics.plots._turns import Floats

EDGE = 5.0
"""Points that stay free at the edges of the figure."""
Style = dict[str, Any]
FAINT: Style = {"alpha": 0.8}


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The axes with their margins; one unit of x and of y is a point (1/72 inch), from the lower left corner.

    Attributes
    ----------
    ax : matplotlib.axes.Axes
        Where all is drawn.
    width, height : float
        How far one may draw, in points.
    font : float
        Size of text that is written along the whole width.
    ink : str
        Colour of what belongs to neither speaker.
    texts, drawn : dict
        What is written, by its kind, size and font and whether it is turned, and what else is drawn, by its style,
        until `close` puts it on the axes: all of one look as one artist, for each costs a third of a millisecond.
    """

    ax: Axes
    width: float
    height: float
    font: float
    ink: str
    texts: dict[tuple[str, float, Font, bool], list[Line]] = field(default_factory=dict)
    drawn: dict[tuple[str, tuple[tuple[str, Any], ...]], list[Floats]] = field(default_factory=dict)

    def write(self, lines: Iterable[Line], size: float, kind: str, font: Font = WORDS, *, turned: bool = False) -> None:
        """Write text; `size` is the font's, in points."""
        self.texts.setdefault((kind, round(size, 6), font, turned), []).extend(lines)

    def boxes(self, corners: Floats, **style: Any) -> None:
        """Draw boxes of one style, (n, 4): left, bottom, right, top of each; none where one is nan."""
        self._draw("boxes", corners, 4, style)

    def lines(self, ends: Floats, **style: Any) -> None:
        """Draw lines of one style, (n, 4): x and y of both ends of each; none where one is nan."""
        self._draw("lines", ends, 4, style)

    def marks(self, places: Floats, **style: Any) -> None:
        """Draw markers of one style, (n, 2): x and y of each; none where one is nan."""
        self._draw("marks", places, 2, style)

    def _draw(self, what: str, rows: Floats, n: int, style: Style) -> None:
        rows = np.reshape(rows, (-1, n))
        rows = rows[~np.isnan(rows).any(axis=1)]
        if len(rows):
            self.drawn.setdefault((what, tuple(style.items())), []).append(rows)

    def close(self, **looks: Style) -> None:
        """Put all on the axes; `looks` are styles of kinds of text."""
        for (what, style), rows in self.drawn.items():
            self._put(what, np.concatenate(rows), {"clip_on": False, **dict(style)})
        for (kind, size, font, turned), lines in self.texts.items():
            path = sentences(lines, (size, size), font=font, turned=turned)
            usual: Style = {"fc": self.ink, "lw": 0, "clip_on": False, "gid": kind}
            self.ax.add_artist(Shape(path, **(usual | looks.get(kind, {}))))

    def _put(self, what: str, rows: Floats, style: Style) -> None:
        if what == "boxes":
            self.ax.add_artist(boxes(rows, **style))
        elif what == "lines":
            self.ax.add_artist(strokes(rows, **({"ec": self.ink, "snap": None} | style)))
        else:
            usual: Style = {"ls": "", "mew": 0, "color": self.ink}
            self.ax.add_artist(Dots(rows[:, 0], rows[:, 1], **(usual | style)))


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
    there = (box.x0 - page.x0, page.x1 - box.x1, box.y0 - page.y0, page.y1 - box.y1)
    sides = zip(there, ("left", "right", "bottom", "top"), strict=True)
    left, right, bottom, top = (max(min(room * inch, 72 * MARGINS_IN[side]) - EDGE, 0) for room, side in sides)
    width, height = box.width * inch, box.height * inch
    ax.set(xlim=(left, left + width), ylim=(bottom, bottom + height))
    ax.set_axis_off()
    whole = left + width + right
    font = float(np.clip(whole / 95, 3.2, 8.5))
    return Board(ax=ax, width=whole, height=bottom + height + top, font=font, ink=rcParams["text.color"])


def head(board: Board, title: str, said: Sequence[str], keys: Sequence[Key] = ()) -> float:
    """Write a title, a line of sentences that many figures share, and what signs mean; return where the rest begins."""
    font, y = board.font, board.height - 0.75 * (board.font + 2)
    size = font + 2
    board.write([(0, y, _cut(title, board.width / size, BOLD), "left")], size, "title", BOLD)
    y -= 1.8 * font
    wide = sum(length(one) + 0.5 for one in said) * font
    size = font * min(1.0, board.width / max(wide, 1.0))
    x = 0.0
    for one in said:
        board.write([(x, y, one, "left")], size, "said")
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
        board.write([(x + 2.3 * font, y, key.words, "left")], font, "key")
        x += wide
    return y - 0.75 * font if keys else y + 0.9 * font


def _sign(board: Board, key: Key, x: float, y: float) -> None:
    wide, high = 1.9 * board.font, 0.32 * board.font
    if key.box:
        board.boxes(np.array([x, y - high, x + wide, y + high]), **key.box)
    if key.line:
        board.lines(np.array([x, y, x + wide, y]), **key.line)
    if key.mark:
        board.marks(np.array([x + wide / 2, y]), **({"ms": 0.65 * board.font} | key.mark))


def fitted(name: str, room: float, font: float) -> tuple[str, float]:
    """Return a name and a size at which it fits into so many points: smaller down to 3/4, then cut."""
    size = font * min(1.0, max(room / (length(name) * font), 0.75))
    return _cut(name, room / size), size


def _cut(name: str, fits: float, font: Font = WORDS) -> str:
    """Leave out the end of a name that is wider than so many sizes of the font."""
    name = " ".join(name.split())
    if length(name, font) <= fits * 1.001:
        return name
    n = max(int(len(name) * fits / length(name, font)), 1)
    while n > 1 and length(f"{name[:n]}…", font) > fits:
        n -= 1
    return f"{name[:n]}…"
