"""A page of strips over one session: rows down the y-axis, the session along the x-axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from therapy_analytics.plots import FONT
from therapy_analytics.plots._canvas import Canvas, Frame, draw_axis, open_frame
from therapy_analytics.plots._outlines import BOLD, cut, length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from therapy_analytics.plots._turns import Floats, Spans

ROW = 10.5
"""Height of a row, in points."""
GAP, FOOT, HEAD = 4.0, 24.0, 4.0
"""Points between names and the session, beneath it for its scale, and above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strips(Canvas):
    """A canvas of which one unit of the y-axis is the height of a row.

    Attributes
    ----------
    spans : Spans
        Where the turns lie on the x-axis.
    left, right : float
        Where the session begins and ends there.
    floor, top : float
        The lowest and the highest level.
    mark : float
        Width of the marks, in points.
    """

    spans: Spans
    left: float
    right: float
    floor: float
    top: float
    mark: float
    clip: bool = False


@dataclass(frozen=True, slots=True)
class StripRow:
    """What stands left and right of a row: a name, and how much there is in it; a heading has the left to itself."""

    level: float
    name: str
    count: str = ""
    heading: bool = False
    line: bool = True


def page_height(top: float, floor: float) -> float:
    """Return how many points high a page with such levels is."""
    return (top - floor) * ROW + FOOT + HEAD


def open_page(ax: Axes, spans: Spans, rows: Sequence[StripRow], *, top: float, floor: float) -> Strips:
    """Set the limits so that what stands beside the rows has its place, write it, and draw the scale."""
    width = ax.bbox.width * 72 / ax.figure.dpi
    named = [row for row in rows if not row.heading]
    names = min(max(length(row.name) for row in named) * FONT, 0.38 * width)
    counts = max(length(row.count) for row in named) * FONT
    left, right = float(spans.start.min()), float(spans.end.max())
    right = right if right > left else left + 1
    frame = Frame(x=(left, right), y=(floor, top), left=names + GAP + 2, right=counts + GAP + 2, bottom=FOOT, top=HEAD)
    inner = open_frame(ax, frame, page_height(top, floor))
    mark = float(np.clip(0.9 * (right - left) / inner.point / len(spans.start), 0.6, 2.6))
    page = Strips(
        ax=ax, point=inner.point, row=inner.row, font=inner.font,
        spans=spans, left=left, right=right, floor=floor, top=top, mark=mark,
    )  # fmt: skip
    _write_rows(page, rows, names)
    _draw_scale(page, [row.level for row in named if row.name and row.line])
    return page


def _write_rows(page: Strips, rows: Iterable[StripRow], names: float) -> None:
    gap = GAP * page.point
    edge = page.ax.get_xlim()[0] + 2 * page.point
    for row in rows:
        if row.heading:
            page.write([(edge, row.level, row.name, "left")], font=BOLD)
            continue
        page.write([(page.left - gap, row.level, cut(row.name, names / FONT), "right")])
        page.write([(page.right + gap, row.level, row.count, "left")], alpha=0.8)


def _draw_scale(page: Strips, levels: Iterable[float]) -> None:
    """Draw faint lines, and under them what the x-axis is, which ends where the session does."""
    left, right, floor, top = page.left, page.right, page.floor, page.top
    places = ticks(left, right, page.point * page.font).tolist()
    page.lines(
        [(left, y, right, y) for y in levels] + [(x, floor, x, top) for x in places],
        ec="0.5", alpha=0.25, lw=0.5, zorder=0.5,
    )  # fmt: skip
    draw_axis(page, places, [f"{x:,g}" for x in places], floor, (left, right))
    begin, end = page.ax.get_xlim()
    label = cut(sentence(page.spans.label), (end - begin) / page.point / page.font - 1)
    half = length(label) * page.font * page.point / 2
    middle = min(max((left + right) / 2, begin + half + 3 * page.point), end - half - 3 * page.point)
    page.write([(middle, floor - (3 + 1.9 * page.font) * page.row, label, "center")])


def ticks(left: float, right: float, em: float, *, integer: bool = False) -> Floats:
    """Return round numbers between two ends, which are so far apart that their labels fit; `em` is the font's size."""
    most = int(np.clip((right - left) / (4.2 * em), 2, 10))
    places = np.asarray(MaxNLocator(most, steps=[1, 2, 5, 10], integer=integer).tick_values(left, right))
    found: Floats = places[(places >= left) & (places <= right)]
    return found


def sentence(name: str) -> str:
    """Return a name with a capital at its beginning."""
    return name[:1].upper() + name[1:]
