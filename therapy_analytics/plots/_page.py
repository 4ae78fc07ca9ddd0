"""A page of strips over one session: rows down the y-axis, the session along the x-axis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rcParams
from matplotlib.ticker import MaxNLocator

from therapy_analytics.plots._artists import strokes
from therapy_analytics.plots._outlines import WORDS, Texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes

    from therapy_analytics.plots._outlines import Font, Line
    from therapy_analytics.plots._turns import Spans

COUNTS_WIDTH = 11.5
"""Width, in sizes of the font, of the right end of the axes: counts have it to themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The axes, measured once.

    Attributes
    ----------
    ax : matplotlib.axes.Axes
        One unit of its y-axis is the height of a row of text.
    spans : Spans
        Where the turns lie on the x-axis.
    left, right : float
        Where the session begins and ends there.
    point, row : float
        What one point (1/72 inch) is there, and on the y-axis.
    font, mark : float
        Size of the text and width of the marks, in points.
    ink : str
        Colour of what belongs to neither speaker.
    texts : Texts
        What is to be written.
    """

    ax: Axes
    spans: Spans
    left: float
    right: float
    point: float
    row: float
    font: float
    mark: float
    ink: str
    texts: Texts = field(default_factory=Texts)

    def write(
        self, lines: Iterable[Line], *, size: float = 0.0, font: Font = WORDS, alpha: float = 1.0, turned: bool = False
    ) -> None:
        """Write text; `size` is added to the font's, in points."""
        high = self.font + size
        self.texts.add(lines, (high * self.point, high * self.row), font, alpha=alpha, turned=turned)

    def above(self, points: float) -> float:
        """Return the height so many points above the axes."""
        return self.ax.get_ylim()[1] + points * self.row


@dataclass(frozen=True, slots=True)
class Row:
    """What stands left and right of a row: a name, and how much there is in it."""

    level: float
    name: str
    count: str = ""


def open_page(ax: Axes, spans: Spans, *, top: float, floor: float) -> Page:
    """Set the limits, and find sizes at which the text fits the axes as they are now."""
    inch = 72 / ax.figure.dpi
    width, height = ax.bbox.width * inch, ax.bbox.height * inch
    font = float(np.clip(min(0.66 * height / (top - floor), width / 62), 4, 8.5))
    left, right = float(spans.start.min()), float(spans.end.max())
    drawn = max(width - COUNTS_WIDTH * font, width / 2)
    point, row = (right - left) / drawn, (top - floor) / height
    ax.set(xlim=(left, left + point * width), ylim=(floor, top))
    # Its own axes would be laid out anew for every figure, which takes longer than all the rest.
    ax.set_axis_off()
    mark = float(np.clip(0.9 * drawn / len(spans.start), 0.12 * font, 0.36 * font))
    ink = rcParams["text.color"]
    return Page(ax=ax, spans=spans, left=left, right=right, point=point, row=row, font=font, mark=mark, ink=ink)


def write_rows(page: Page, rows: Iterable[Row]) -> None:
    """Write what stands beside each row."""
    rows, gap = list(rows), page.font * page.point
    page.write([(page.left - 0.45 * gap, row.level, row.name, "right") for row in rows])
    counted: list[Line] = [(page.right + gap, row.level, row.count, "left") for row in rows if row.count]
    page.write(counted, alpha=0.75)


def write_sections(page: Page, sections: Mapping[float, str]) -> None:
    """Write left of the names, of which the longest has 15 letters, what the rows are about; a line end parts lines."""
    found: list[Line] = []
    for level, text in sections.items():
        lines = text.split("\n")
        for i, line in enumerate(lines):
            x = page.left - (10.3 + 1.2 * (len(lines) - 1 - i)) * page.font * page.point
            found.append((x, level, line, "center"))
    page.write(found, turned=True)


def close_page(page: Page, levels: Iterable[float]) -> None:
    """Draw faint lines, and under them what the x-axis is; it ends where the session does."""
    ax, left, right = page.ax, page.left, page.right
    room = int(np.clip((right - left) / page.point / (7 * page.font), 2, 10))
    places = np.asarray(MaxNLocator(room, steps=[1, 2, 5, 10]).tick_values(left, right))
    places = places[(places >= left) & (places <= right)]
    floor, top = ax.get_ylim()
    lines = [(left, y, right, y) for y in levels] + [(x, floor, x, top) for x in places.tolist()]
    ax.add_artist(strokes(lines, ec="0.5", alpha=0.2, lw=0.7, zorder=0.5))
    ax.add_artist(strokes([(left, floor, right, floor)], ec="0.5", lw=0.8))
    page.write([(float(x), floor - 0.95 * page.font * page.row, f"{x:,g}", "center") for x in places])
    page.write([((left + right) / 2, floor - 2.6 * page.font * page.row, page.spans.label, "center")])


def shorten(text: str, size: float, ax: Axes) -> str:
    """Return `text` on one line, its middle left out where at this font size it is wider than `ax`."""
    text = " ".join(text.split())
    fits = int(ax.bbox.width * 72 / ax.figure.dpi / (0.68 * size))
    return text if len(text) <= fits else f"{text[: fits // 2 - 1]}…{text[-(fits // 2) :]}"
