"""A page of strips over one session: rows down the y-axis, the session along the x-axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from therapy_analytics.plots._canvas import Canvas
from therapy_analytics.plots._outlines import BOLD, length

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes

    from therapy_analytics.plots._turns import Floats, Spans

COUNTS_WIDTH = 11.5
"""Width, in sizes of the font, of the right end of the axes: counts have it to themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strips(Canvas):
    """A canvas of which one unit of the y-axis is the height of a row of text.

    Attributes
    ----------
    spans : Spans
        Where the turns lie on the x-axis.
    left, right : float
        Where the session begins and ends there.
    mark : float
        Width of the marks, in points.
    """

    spans: Spans
    left: float
    right: float
    mark: float


@dataclass(frozen=True, slots=True)
class StripRow:
    """What stands left and right of a row: a name, and how much there is in it."""

    level: float
    name: str
    count: str = ""


def open_page(ax: Axes, spans: Spans, *, top: float, floor: float) -> Strips:
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
    return Strips(ax=ax, spans=spans, left=left, right=right, point=point, row=row, font=font, mark=mark)


def write_head(page: Strips, name: str, text: str, colours: Mapping[str, str], alpha: float = 1.0) -> None:
    """Write above the axes the session's name and a line about it, and at the right end what colours mean."""
    font, em = page.font, page.font * page.point
    top, (_, right) = page.ax.get_ylim()[1], page.ax.get_xlim()
    name = shorten(name, font + 2, page.ax)
    page.write([(page.left, top + (5 + 1.4 * font + 0.5 * (font + 2)) * page.row, name, "left")], font + 2, BOLD)
    y, high = top + (5 + 0.36 * font) * page.row, 0.36 * font * page.row
    page.write([(page.left, y, text, "left")])
    x = right
    for label, colour in reversed(list(colours.items())):
        x -= length(label) * em
        page.write([(x, y, label, "left")])
        x -= 1.6 * em
        page.boxes([x, y - high, x + em, y + high], fc=colour, alpha=alpha, clip_on=False, gid=f"key {label}")
        x -= 1.4 * em


def write_rows(page: Strips, rows: Iterable[StripRow]) -> None:
    """Write what stands beside each row."""
    gap = page.font * page.point
    for row in rows:
        page.write([(page.left - 0.45 * gap, row.level, row.name, "right")])
        page.write([(page.right + gap, row.level, row.count, "left")], alpha=0.75)


def write_sections(page: Strips, sections: Mapping[float, str]) -> None:
    """Write left of the names, of which the longest has 15 letters, what the rows are about; a line end parts lines."""
    for level, text in sections.items():
        for i, line in enumerate(reversed(text.split("\n"))):
            page.write([(page.left - (10.3 + 1.2 * i) * page.font * page.point, level, line, "center")], turned=True)


def close_page(page: Strips, levels: Iterable[float]) -> None:
    """Draw faint lines, and under them what the x-axis is, which ends where the session does; write the text."""
    left, right, (floor, top) = page.left, page.right, page.ax.get_ylim()
    places = ticks(left, right, page.point * page.font).tolist()
    page.lines(
        [(left, y, right, y) for y in levels] + [(x, floor, x, top) for x in places],
        ec="0.5",
        alpha=0.2,
        lw=0.7,
        zorder=0.5,
    )
    page.lines([left, floor, right, floor], ec="0.5", lw=0.8)
    page.write([(x, floor - 0.95 * page.font * page.row, f"{x:,g}", "center") for x in places])
    page.write([((left + right) / 2, floor - 2.6 * page.font * page.row, page.spans.label, "center")])
    page.close()


def ticks(left: float, right: float, em: float, *, integer: bool = False) -> Floats:
    """Return round numbers between two ends, which are so far apart that their labels fit; `em` is the font's size."""
    most = int(np.clip((right - left) / (7 * em), 2, 10))
    places = np.asarray(MaxNLocator(most, steps=[1, 2, 5, 10], integer=integer).tick_values(left, right))
    found: Floats = places[(places >= left) & (places <= right)]
    return found


def shorten(text: str, size: float, ax: Axes) -> str:
    """Return `text` on one line, its middle left out where at this font size it is wider than `ax`."""
    text = " ".join(text.split())
    fits = int(ax.bbox.width * 72 / ax.figure.dpi / (0.68 * size))
    return text if len(text) <= fits else f"{text[: fits // 2 - 1]}…{text[-(fits // 2) :]}"
