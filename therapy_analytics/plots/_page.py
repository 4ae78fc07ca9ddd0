"""A page of strips over one session: rows down the y-axis, the session along the x-axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    point : float
        What one point (1/72 inch) is there.
    font, mark : float
        Size of the text and width of the marks, in points.
    """

    ax: Axes
    spans: Spans
    left: float
    right: float
    point: float
    font: float
    mark: float


def open_page(ax: Axes, spans: Spans, *, top: float, floor: float) -> Page:
    """Set the limits, and find sizes at which the text fits the axes as they are now."""
    inch = 72 / ax.figure.dpi
    width, height = ax.bbox.width * inch, ax.bbox.height * inch
    font = float(np.clip(min(0.66 * height / (top - floor), width / 62), 4, 8.5))
    left, right = float(spans.start.min()), float(spans.end.max())
    drawn = max(width - COUNTS_WIDTH * font, width / 2)
    point = (right - left) / drawn
    ax.set(xlim=(left, left + point * width), ylim=(floor, top))
    mark = float(np.clip(0.9 * drawn / len(spans.start), 0.12 * font, 0.36 * font))
    return Page(ax=ax, spans=spans, left=left, right=right, point=point, font=font, mark=mark)


def write_count(page: Page, level: float, text: str) -> None:
    """Write at the right end of a row how much there is in it."""
    x = page.right + page.font * page.point
    page.ax.text(x, level, text, fontsize=page.font, va="center", alpha=0.75, clip_on=True)


def write_section(page: Page, level: float, text: str) -> None:
    """Write left of the tick labels, of which the longest has 15 letters."""
    page.ax.annotate(
        text,
        xy=(0, level),
        xycoords=page.ax.get_yaxis_transform(),
        xytext=(-9.8 * page.font, 0),
        textcoords="offset points",
        fontsize=page.font,
        rotation=90,
        ha="right",
        va="center",
        multialignment="center",
    )


def close_page(page: Page, rows: dict[float, str]) -> None:
    """Set ticks, their labels and faint lines; the x-axis ends where the session does."""
    ax, left, right = page.ax, page.left, page.right
    room = int(np.clip((right - left) / page.point / (7 * page.font), 2, 10))
    places = np.asarray(MaxNLocator(room, steps=[1, 2, 5, 10]).tick_values(left, right))
    places = places[(places >= left) & (places <= right)]
    ax.set_xticks(places, [f"{place:,g}" for place in places])
    ax.set_yticks(list(rows), list(rows.values()))
    ax.tick_params(labelsize=page.font, length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.spines["bottom"].set(bounds=(left, right), color="0.5")
    floor, top = ax.get_ylim()
    lines = [[(left, y), (right, y)] for y in rows] + [[(x, floor), (x, top)] for x in places]
    ax.add_collection(LineCollection(lines, colors="0.5", alpha=0.2, lw=0.7, zorder=0.5), autolim=False)
    _label(page)


def _label(page: Page) -> None:
    """Label the x-axis; told where to be, labels need not be fitted round the ticks (a tenth of the time)."""
    ax = page.ax
    ax.set_xlabel(page.spans.label, fontsize=page.font + 0.5)
    below = -2.1 * page.font * ax.figure.dpi / 72 / ax.bbox.height
    ax.xaxis.set_label_coords((page.right - page.left) / page.point / ax.bbox.width * ax.figure.dpi / 144, below)
    ax.yaxis.set_label_coords(0, 0.5)


def shorten(text: str, size: float, ax: Axes) -> str:
    """Return `text` on one line, its middle left out where at this font size it is wider than `ax`."""
    text = " ".join(text.split())
    fits = int(ax.bbox.width * 72 / ax.figure.dpi / (0.68 * size))
    return text if len(text) <= fits else f"{text[: fits // 2 - 1]}…{text[-(fits // 2) :]}"
