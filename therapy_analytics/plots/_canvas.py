"""Axes that are drawn on in few artists, each of many lines, boxes, marks or letters: every artist takes 0.3 ms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from therapy_analytics.plots import FONT, INCH_PT
from therapy_analytics.plots._outlines import WORDS, Font, Line, Side, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from therapy_analytics.plots._turns import Floats

    Look = tuple[float, Font, bool, tuple[tuple[str, Any], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """Axes, measured once.

    Attributes
    ----------
    ax : matplotlib.axes.Axes
        Where all is drawn.
    point, row : float
        What one point (1/72 inch) is on the x-axis, and on the y-axis.
    font : float
        Size of the text, in points.
    clip : bool
        Whether shapes end at the edges of the axes, and lines lie on whole pixels.
    ink : str
        Colour of what belongs to neither speaker.
    """

    ax: Axes
    point: float = 1.0
    row: float = 1.0
    font: float
    clip: bool = True
    ink: str = field(default_factory=lambda: str(rcParams["text.color"]))
    _texts: dict[Look, list[Line]] = field(default_factory=dict)

    def write(
        self, lines: Iterable[Line], size: float = 0.0, font: Font = WORDS, *, turned: bool = False, **style: Any
    ) -> None:
        """Write text when the canvas is closed; `size` is the font's, in points (0: the canvas's own)."""
        look = (round(size or self.font, 6), font, turned, tuple(style.items()))
        self._texts.setdefault(look, []).extend(lines)

    def close(self) -> None:
        """Put the text on the axes, all of one look as one path."""
        for (size, font, turned, style), lines in self._texts.items():
            path = sentences(lines, (size * self.point, size * self.row), font=font, turned=turned)
            self.ax.add_artist(PathPatch(path, **{"fc": self.ink, "lw": 0, "clip_on": False, **dict(style)}))
        self._texts.clear()

    def boxes(self, sides: ArrayLike, **style: Any) -> None:
        """Draw filled boxes, (n, 4): left, bottom, right, top of each; none where one is nan."""
        corners = _defined(sides, 4)[:, [0, 1, 0, 3, 2, 3, 2, 1, 0, 1]].reshape(-1, 5, 2)
        self._draw(list(corners), closed=True, **{"lw": 0, **style})

    def lines(self, ends: ArrayLike, **style: Any) -> None:
        """Draw straight lines, (n, 4): x and y of both ends of each; none where one is nan."""
        usual: dict[str, Any] = {"ec": self.ink, "fill": False, "capstyle": "butt", "snap": self.clip or None}
        self._draw(list(_defined(ends, 4).reshape(-1, 2, 2)), **(usual | style))

    def courses(self, lines: Sequence[Floats], *, closed: bool = False, **style: Any) -> None:
        """Draw lines of many corners, (n, 2) each; `closed` ones are filled."""
        lines = [np.concatenate([line, line[:1]]) for line in lines] if closed else lines
        self._draw(lines, closed=closed, **{"fill": closed, "capstyle": "butt", "joinstyle": "round", **style})

    def marks(self, places: ArrayLike, **style: Any) -> None:
        """Draw markers, (n, 2): x and y of each; none where one is nan."""
        x, y = _defined(places, 2).T
        usual: dict[str, Any] = {"ls": "", "mew": 0, "color": self.ink, "clip_on": self.clip}
        if len(x):
            self.ax.add_artist(Line2D(x, y, **(usual | style)))

    def text_lines(self, lines: Sequence[str], x: float, y: float, side: Side = "left", **style: Any) -> None:
        """Write lines beneath each other, the middle of all at `y`."""
        step = 1.15 * self.font * self.row
        top = y + step * (len(lines) - 1) / 2
        self.write([(x, top - step * i, line, side) for i, line in enumerate(lines)], **style)

    def _draw(self, lines: Sequence[Floats], *, closed: bool = False, **style: Any) -> None:
        """Draw lines as one path, for a path each takes a thousand times longer."""
        if not lines:
            return
        begins = np.cumsum([0, *(len(line) for line in lines)])
        codes: NDArray[np.uint8] = np.full(begins[-1], Path.LINETO, dtype=np.uint8)
        codes[begins[:-1]] = Path.MOVETO
        if closed:
            codes[begins[1:] - 1] = Path.CLOSEPOLY
        path = Path(np.concatenate(lines), codes)
        path.should_simplify = False
        self.ax.add_artist(PathPatch(path, **{"clip_on": self.clip, **style}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where data lie on axes: the ends of both of their scales, and the points around them that are for writing."""

    x: tuple[float, float]
    y: tuple[float, float]
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0


def open_frame(ax: Axes, frame: Frame, needed: float) -> Canvas:
    """Set the limits of axes so that data fill the frame, and return a canvas in the units of the data.

    Letters, and what is kept free for them, are smaller where the axes are less high than `needed`, in points.
    """
    width, height = (side * INCH_PT / ax.figure.dpi for side in (ax.bbox.width, ax.bbox.height))
    scale = float(np.clip((height + 0.5) / needed, 0.3, 1.0))
    wide = max(width - scale * (frame.left + frame.right), width / 6)
    high = max(height - scale * (frame.bottom + frame.top), height / 6)
    point, row = (frame.x[1] - frame.x[0]) / wide, (frame.y[1] - frame.y[0]) / high
    left, bottom = frame.x[0] - scale * frame.left * point, frame.y[0] - scale * frame.bottom * row
    ax.set(xlim=(left, left + width * point), ylim=(bottom, bottom + height * row))
    ax.set_axis_off()
    return Canvas(ax=ax, point=point, row=row, font=scale * FONT, clip=False)


def draw_axis(
    page: Canvas, places: Sequence[float], labels: Sequence[str], y: float, ends: tuple[float, float]
) -> None:
    """Draw a scale at a height, between two ends, with ticks and their labels beneath."""
    page.lines([(ends[0], y, ends[1], y), *((x, y, x, y - 2 * page.row) for x in places)], ec="0.4", lw=0.6)
    level = y - (3 + 0.6 * page.font) * page.row
    page.write([(x, level, label, "center") for x, label in zip(places, labels, strict=True)])


def _defined(rows: ArrayLike, n: int) -> Floats:
    """Return rows of n numbers without those that hold nan."""
    found = np.asarray(rows, dtype=np.float64).reshape(-1, n)
    return found[~np.isnan(found).any(axis=1)]
