"""Synchrony of many sessions beside shuffles and surrogate pairs: how far from them, and how many beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from therapy_analytics.measures.intervals import wilson
from therapy_analytics.plots import INCH_PT, axes_or_new, plot, say_instead
from therapy_analytics.plots._board import EDGE, Key, draw_keys, in_lines, keys_height
from therapy_analytics.plots._canvas import Frame, draw_axis, open_frame
from therapy_analytics.plots._colours import NULLS as COLOURS
from therapy_analytics.plots._outlines import MINUS, NUMBERS
from therapy_analytics.plots._synchrony import BEYOND, SLOPE, full_names
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._canvas import Canvas
    from therapy_analytics.plots._turns import Floats

SIGNS = {"shuffles": "o", "surrogates": "s"}
OFFSETS = {"shuffles": 0.22, "surrogates": -0.22}
COLUMNS = {"shuffles": ("z", "p"), "surrogates": ("surrogate_z", "surrogate_p")}
WIDE = 360.0
"""From so many points on, the scale of shares has a tick in the middle."""
LIMIT, LEVEL = 4.0, 0.05
"""Standard deviations that are drawn, further ones at the end; and the p below which a session is counted."""
SHARES = (6.4, 10.4)
"""Where on the x-axis, in standard deviations, shares of 0 and 1 are."""


ROW, HEAD, FOOT, NAMES, COUNT = 22.0, 8.0, 28.0, 0.37, 36.0
"""Points of a measure, of the heads, of the scales; the share of the width that names have; points of a count."""
KEYS = [
    Key(words="Upper: shuffles", mark={"marker": "o", "color": COLOURS["shuffles"]}, line={"ec": COLOURS["shuffles"]}),
    Key(
        words="Lower: surrogate pairs",
        mark={"marker": "s", "color": COLOURS["surrogates"]},
        line={"ec": COLOURS["surrogates"]},
    ),
    Key(words="Median", mark={"marker": "|", "mew": 1.6, "ms": 7}),
]


def _measures(rows: DataFrame) -> list[str]:
    """Return the measures of whole sessions, both directions, that have a z; not their slopes."""
    shown = _whole(rows)
    there = ~np.isnan(np.column_stack([numbers(shown, z) for z, _ in COLUMNS.values()])).all(axis=1)
    every = dict.fromkeys(shown["measure"].to_numpy(dtype=object)[there].tolist())
    return [name for name in every if not name.endswith(SLOPE) or name.removesuffix(SLOPE) not in every]


def _whole(rows: DataFrame) -> DataFrame:
    return rows[((rows["part"] == "whole") & (rows["direction"] == "both")).to_numpy(dtype=bool)]


def _height(rows: DataFrame, width: float) -> float:
    n = len(_measures(rows))
    return n * ROW + HEAD + FOOT + keys_height(KEYS, width) + 2 * EDGE if n else 60.0


def _caption(rows: DataFrame) -> str:
    return (
        f"Synchrony beside shuffles and surrogate pairs, {_whole(rows)['session_id'].nunique():,} sessions. Left: z, "
        "standard deviations from the mean of the null distribution (grey: 95% of it); a dot is a session, the bar "
        "their median; what lies beyond 4 stands at the end. Right: share of sessions with p < .05, with its 95% "
        "interval; 5% are expected by chance (dashed). Synchrony is not a quality score: it grows with words per turn."
    )


@plot(
    needs=("session_id", "measure", "direction", "part", "z", "p", "surrogate_z", "surrogate_p"),
    takes="parts",
    height=_height,
    caption=_caption,
)
def synchrony_overview(rows: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw for each measure of synchrony how far the sessions are from shuffles and surrogate pairs.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of ``analysis.parts`` (``measures.csv``) of many sessions, or of `therapy_analytics.synchrony`. Only whole
        sessions, direction ``both``, are shown.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its x-axis counts standard deviations; right of them it is a second scale, of shares.

    Notes
    -----
    What lies beyond four standard deviations is at the ends of the scale. For a measure of which low
    values are more alike, z below 0 is more than shuffles give; p counts the right way by itself.
    Were nobody to follow anybody, z would be about 0 in the middle and p below .05 in one
    session of twenty: the dashed line. Intervals of shares are Wilson's, at 95%.
    """
    ax = axes_or_new(ax)
    shown, measures = _whole(rows), _measures(rows)
    if not measures:
        return say_instead(ax, "no synchrony: no measure of a whole session has a z")
    figures = {kind: np.column_stack([numbers(shown, name) for name in COLUMNS[kind]]) for kind in COLUMNS}
    names = shown["measure"].to_numpy(dtype=object)
    page = _open(ax, rows, measures)
    for kind in COLUMNS:
        own = {name: figures[kind][(names == name) & ~np.isnan(figures[kind][:, 0])] for name in measures}
        _sessions(ax, [one[:, 0] for one in own.values()], kind)
        _shares(page, [one[:, 1] for one in own.values()], kind)
    page.close()
    return ax


def _open(ax: Axes, rows: DataFrame, measures: list[str]) -> Canvas:
    """Set the limits, write names, scales and what the colours mean, and draw where sessions without synchrony are."""
    n, width = len(measures), ax.bbox.width * INCH_PT / ax.figure.dpi
    ends = -LIMIT - 0.3, SHARES[1] + 0.2
    top = HEAD + keys_height(KEYS, width) + EDGE
    frame = Frame(x=ends, y=(0.5 - n, 0.5), left=NAMES * width, right=COUNT, bottom=FOOT, top=top)
    page = open_frame(ax, frame, _height(rows, width))
    foot, left = 0.5 - n, ax.get_xlim()[0] + EDGE * page.point
    draw_keys(page, KEYS, ax.get_ylim()[1] - EDGE * page.row, left, width - 2 * EDGE)
    for where, scale in (((-LIMIT, LIMIT), (-4, -2, 0, 2, 4)), (SHARES, (0, 0.5, 1) if width > WIDE else (0, 1))):
        places = [float(one) if where != SHARES else _share(one) for one in scale]
        labels = [
            f"{one:.0%}" if where == SHARES else f"{one:+d}".replace("-", MINUS).replace("+0", "0") for one in scale
        ]
        draw_axis(page, places, labels, foot, where)
    level = foot - (4 + 2.1 * page.font) * page.row
    page.write([(0, level, "z", "center"), (_share(0.5), level, "p < .05", "center")])
    page.boxes([-BEYOND, foot, BEYOND, 0.5], fc="0.5", alpha=0.15)
    page.lines([(x, foot, x, 0.5) for x in (0, _share(LEVEL))], ls="--", lw=0.6, alpha=0.7)
    page.lines([(x, y + 0.5, end, y + 0.5) for y in range(0, -n - 1, -1) for x, end in ((-LIMIT, LIMIT), SHARES)],
               ec="0.5", alpha=0.3, lw=0.5)  # fmt: skip
    words, space = full_names(measures), (NAMES * width - 2 * EDGE) / page.font
    for i, name in enumerate(measures):
        page.text_lines(in_lines(words[name], space), left, -float(i))
    return page


def _sessions(ax: Axes, values: list[Floats], kind: str) -> None:
    """Draw a dot a session, heaped where there are many, and the median as a bar."""
    x = np.concatenate(values)
    y = np.concatenate([_heaped(np.clip(one, -LIMIT, LIMIT)) - i for i, one in enumerate(values)]) + OFFSETS[kind]
    style: dict[str, Any] = {"ms": 2.2, "mec": "none", "alpha": 0.5}
    ax.add_line(
        Line2D(np.clip(x, -LIMIT, LIMIT), y, ls="", marker=SIGNS[kind], c=COLOURS[kind], gid=f"z {kind}", **style)
    )
    medians = [(float(np.median(one)), OFFSETS[kind] - i) for i, one in enumerate(values) if len(one)]
    bars = [[(min(max(z, -LIMIT), LIMIT), y + side) for side in (-0.18, 0.18)] for z, y in medians]
    ink = rcParams["text.color"]
    ax.add_collection(LineCollection(bars, colors=ink, lw=1.6, gid=f"median {kind}"), autolim=False)


def _heaped(z: Floats) -> Floats:
    """Return heights around 0 that keep like values apart, the same in every run."""
    bins = np.round(z / 0.12).astype(np.int64)
    order = np.argsort(bins, kind="stable")
    ordered = bins[order]
    rank = np.arange(len(z)) - np.searchsorted(ordered, ordered)
    step = 0.04 if len(z) == 0 else min(0.04, 0.34 / (rank.max() + 1))
    heights = np.empty(len(z))
    heights[order] = (rank + 1) // 2 * np.where(rank % 2, 1, -1) * step
    return heights


def _shares(page: Canvas, ps: list[Floats], kind: str) -> None:
    """Draw the share of sessions with p below .05, its interval, and its count."""
    counts = [(int((one < LEVEL).sum()), int((~np.isnan(one)).sum()), OFFSETS[kind] - i) for i, one in enumerate(ps)]
    counts = [one for one in counts if one[1]]
    ends = [(wilson(k, n), y) for k, n, y in counts]
    lines = [[(_share(low), y), (_share(high), y)] for (low, high), y in ends]
    ax, colour = page.ax, COLOURS[kind]
    ax.add_collection(LineCollection(lines, colors=colour, lw=1.1, gid=f"interval {kind}"), autolim=False)
    x, y = [_share(k / n) for k, n, _ in counts], [y for _, _, y in counts]
    ax.add_line(Line2D(x, y, ls="", marker=SIGNS[kind], ms=3.8, c=colour, gid=f"share {kind}"))
    x_count = SHARES[1] + 4 * page.point
    page.write([(x_count, level, f"{k}/{n}", "left") for k, n, level in counts], font=NUMBERS)


def _share(share: float) -> float:
    return SHARES[0] + share * (SHARES[1] - SHARES[0])
