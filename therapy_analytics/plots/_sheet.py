"""The sheet that synchrony of one session is drawn on: lanes and rows at the left, a table of numbers at the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from therapy_analytics.plots._canvas import Canvas
from therapy_analytics.plots._outlines import ADVANCE, BOLD, NUMBERS, length
from therapy_analytics.plots._synchrony import MARKS, MeasureShown, decimals, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from therapy_analytics.plots._turns import Floats

# The timeline's colours: blue and orange also differ as greys, and marks and dashes tell them apart as well.
COLOURS = {"therapist": "#0072B2", "client": "#E69F00"}
STROKES = {"therapist": "-", "client": (0, (3.5, 1.2)), "both": "-"}
MOST = 3.5
"""So many standard deviations from the null mean are drawn; what lies further is put at the end, as an arrow."""
TABLE = 35.3
"""Width, in sizes of the font, of the numbers at the right end of the axes."""
NUMERAL = 0.9
"""Size of numbers, in sizes of the font."""
INSET = 3.0
"""Width of the left end of the axes, which the names have in addition to the margin."""
HEADS = {"replies of": 10, "value": 9, "shuffled": 9, "z": 6, "p": 7, "surrogate": 11, "z ": 7}
"""Heads of the columns of numbers and their widths in letters; the first column is words, which begin at its left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet(Canvas):
    """A canvas of which x counts turns, and y rows of text from the foot of the head (0) down.

    Attributes
    ----------
    last : float
        The last turn: where lanes end.
    """

    last: float

    @property
    def em(self) -> float:
        """Return the size of the font on the x-axis."""
        return self.font * self.point

    def mark(self, places: ArrayLike, who: str, **style: Any) -> None:
        """Put a direction's marks, (n, 2), somewhere."""
        usual = {"marker": MARKS[who], "color": self.colour(who), "mew": 1, "clip_on": False}
        self.marks(places, **(usual | style))

    def colour(self, who: str) -> str:
        """Return a direction's colour."""
        return COLOURS.get(who, self.ink)

    def at(self, z: Floats) -> Floats:
        """Return where standard deviations lie on the x-axis; `MOST` at its ends."""
        return self.last * (np.clip(z, -MOST, MOST) + MOST) / (2 * MOST)


def open_sheet(ax: Axes, *, top: float, height: float, last: float) -> Sheet:
    """Set the limits, rows from `top` down, and find a size at which the text fits the axes as they are now."""
    inch, height, last = 72 / ax.figure.dpi, max(height, 1.0), max(last, 1.0)
    width, high = ax.bbox.width * inch, ax.bbox.height * inch
    font = float(np.clip(min(0.66 * high / height, width / 80), 3.5, 8.5))
    point = last / max(width - (TABLE + INSET) * font, width / 3)
    ax.set(xlim=(-INSET * font * point, point * (width - INSET * font)), ylim=(top - height, top))
    ax.set_axis_off()
    return Sheet(ax=ax, last=last, point=point, row=height / high, font=font)


def write_name(page: Sheet, name: str, y: float) -> None:
    """Write a name left of a row; smaller where it is long, cut where that does not do."""
    space = page.ax.bbox.x0 * 72 / page.ax.figure.dpi / page.font + INSET - 1.1
    label, size = _fitted(name, space)
    page.write([(-0.7 * page.em, y, label, "right")], size * page.font)


def _fitted(name: str, space: float) -> tuple[str, float]:
    """Return a name and its size, in sizes of the font, so that it has so much space; of few sizes each is one path."""
    label, least = name, 0.9
    while length(label) * least > space:
        name = name[:-1]
        label = f"{name.rstrip()}…"
    return label, next(size for size in (1.0, 0.95, least) if length(label) * size <= space or size == least)


def draw_scale(page: Sheet, y: float, places: Floats, labels: list[str]) -> None:
    """Draw the scale under lanes or rows, with its numbers."""
    lines = [(0, y, page.last, y), *((x, y, x, y - 0.2) for x in places.tolist())]
    page.lines(lines, ec="0.5", lw=0.7, clip_on=False)
    written = zip(places.tolist(), labels, strict=True)
    page.write([(x, y - 0.75, label, "center") for x, label in written], 0.95 * page.font, NUMBERS)


def write_table(page: Sheet, one: MeasureShown, top: float) -> None:
    """Write the numbers of the whole session, a row for each direction, the first at this height."""
    left, *ends = _columns(page)
    places = decimals(row[i] for row in one.whole.values() for i in (0, 1, 4))
    for i, (who, row) in enumerate(one.whole.items()):
        value, null, z, p, surrogate, surrogate_z = row.tolist()
        cells = [number(value, places), number(null, places), number(z, 1, sign=True), number(p, 3)]
        cells += [number(surrogate, places), number(surrogate_z, 1, sign=True)]
        page.write([(left, top - i, who, "left")], NUMERAL * page.font, NUMBERS)
        written = zip(ends, cells, strict=True)
        page.write([(x, top - i, cell, "right") for x, cell in written], NUMERAL * page.font, NUMBERS)
        page.mark([left - 0.7 * page.em, top - i], who, ms=0.45 * page.font, gid=f"key {who}")


def write_heads(page: Sheet, top: float) -> None:
    """Write what the columns of numbers are, each over the end of its column."""
    left, *ends = _columns(page)
    page.write([(left, top - 0.85, "the whole session", "left")], font=BOLD, alpha=0.75)
    first, *others = HEADS
    page.write([(left, top - 1.95, first, "left")], 0.9 * page.font, alpha=0.8)
    written = zip(ends, others, strict=True)
    page.write([(x, top - 1.95, head.strip(), "right") for x, head in written], 0.9 * page.font, alpha=0.8)


def _columns(page: Sheet) -> list[float]:
    """Return where the first column of the table begins, and where each of the others ends."""
    first, *widths = HEADS.values()
    ends = (first + np.cumsum(widths)) * ADVANCE * NUMERAL
    return [page.last + (2.2 + end) * page.em for end in (0, *ends.tolist())]
