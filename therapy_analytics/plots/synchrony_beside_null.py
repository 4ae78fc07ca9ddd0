"""Synchrony of many sessions beside shuffles and surrogate pairs: how far from them, and how many beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from therapy_analytics.measures._intervals import wilson
from therapy_analytics.plots import MARGINS_IN, axes_or_new, plot, say_instead
from therapy_analytics.plots._outlines import cut, length
from therapy_analytics.plots._synchrony import BEYOND, SLOPE
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._turns import Floats

COLOURS = {"shuffles": "#0072B2", "surrogates": "#D55E00"}
OFFSETS = {"shuffles": 0.2, "surrogates": -0.2}
COLUMNS = {"shuffles": ("z", "p"), "surrogates": ("surrogate_z", "surrogate_p")}
LIMIT, LEVEL = 4.0, 0.05
"""Standard deviations that are drawn, further ones at the end; and the p below which a session is counted."""
LEAST = 0.7
"""Long names are written so much smaller than others at most."""
SHARES = (5.6, 9.6)
"""Where on the x-axis, in standard deviations, shares of 0 and 1 are."""


@plot(needs=("session_id", "measure", "direction", "part", "z", "p", "surrogate_z", "surrogate_p"), takes="parts")
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
    asked = (rows["part"] == "whole") & (rows["direction"] == "both")
    shown = rows[asked.to_numpy(dtype=bool)]
    figures = {kind: np.column_stack([numbers(shown, name) for name in COLUMNS[kind]]) for kind in COLUMNS}
    names = shown["measure"].to_numpy(dtype=object)
    there = ~np.isnan(np.column_stack([one[:, 0] for one in figures.values()])).all(axis=1)
    every = dict.fromkeys(names[there].tolist())
    measures = [name for name in every if not name.endswith(SLOPE) or name.removesuffix(SLOPE) not in every]
    if not measures:
        return say_instead(ax, "no synchrony: no measure of a whole session has a z")
    font = _open(ax, len(measures))
    for kind in COLUMNS:
        own = {name: figures[kind][(names == name) & ~np.isnan(figures[kind][:, 0])] for name in measures}
        _sessions(ax, [one[:, 0] for one in own.values()], kind, font)
        _shares(ax, [one[:, 1] for one in own.values()], kind, font)
    _head(ax, [str(name) for name in measures], shown["session_id"].nunique(), font)
    return ax


def _open(ax: Axes, n: int) -> float:
    """Set the limits, and return the size of font that fits a row."""
    inch = 72 / ax.figure.dpi
    width, height = ax.bbox.width * inch, ax.bbox.height * inch
    ax.set(xlim=(-LIMIT - 0.3, SHARES[1] + 1.6), ylim=(0.4 - n, 1.0), yticks=[])
    ax.spines[:].set_visible(False)
    return float(np.clip(min(0.3 * height / (n + 0.6), width / 75), 4, 8.5))


def _sessions(ax: Axes, values: list[Floats], kind: str, font: float) -> None:
    """Draw a dot a session, heaped where there are many, and the median as a bar."""
    x = np.concatenate(values)
    y = np.concatenate([_heaped(np.clip(one, -LIMIT, LIMIT)) - i for i, one in enumerate(values)]) + OFFSETS[kind]
    style: dict[str, Any] = {"ms": 0.3 * font, "mec": "none", "alpha": 0.5}
    ax.add_line(Line2D(np.clip(x, -LIMIT, LIMIT), y, ls="", marker="o", c=COLOURS[kind], gid=f"z {kind}", **style))
    medians = [(float(np.median(one)), OFFSETS[kind] - i) for i, one in enumerate(values) if len(one)]
    bars = [[(min(max(z, -LIMIT), LIMIT), y + side) for side in (-0.18, 0.18)] for z, y in medians]
    ink = rcParams["text.color"]
    ax.add_collection(LineCollection(bars, colors=ink, lw=0.25 * font, gid=f"median {kind}"), autolim=False)


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


def _shares(ax: Axes, ps: list[Floats], kind: str, font: float) -> None:
    """Draw the share of sessions with p below .05, its interval, and its count."""
    counts = [(int((one < LEVEL).sum()), int((~np.isnan(one)).sum()), OFFSETS[kind] - i) for i, one in enumerate(ps)]
    counts = [one for one in counts if one[1]]
    ends = [(wilson(k, n), y) for k, n, y in counts]
    lines = [[(_share(low), y), (_share(high), y)] for (low, high), y in ends]
    colour = COLOURS[kind]
    ax.add_collection(LineCollection(lines, colors=colour, lw=0.15 * font, gid=f"interval {kind}"), autolim=False)
    x, y = [_share(k / n) for k, n, _ in counts], [y for _, _, y in counts]
    ax.add_line(Line2D(x, y, ls="", marker="o", ms=0.6 * font, c=colour, gid=f"share {kind}"))
    for k, n, level in counts:
        ax.text(SHARES[1] + 0.2, level, f"{k} of {n}", fontsize=0.9 * font, va="center", color=colour)


def _share(share: float) -> float:
    return SHARES[0] + share * (SHARES[1] - SHARES[0])


def _head(ax: Axes, measures: Sequence[str], n_sessions: int, font: float) -> None:
    """Write names, scales, what the colours mean, and draw where sessions without synchrony would be."""
    _ticks(ax, measures, font)
    foot, ink = ax.get_ylim()[0], rcParams["text.color"]
    lines = [[(x, foot), (x, 0.5)] for x in (0, _share(LEVEL))]
    ax.add_collection(LineCollection(lines, colors=ink, linestyles="--", lw=0.8, alpha=0.7), autolim=False)
    ax.axvspan(-BEYOND, BEYOND, ymax=(0.5 - foot) / (1 - foot), fc="0.5", alpha=0.15, lw=0)
    style: dict[str, Any] = {"fontsize": font, "va": "center", "ha": "center"}
    ax.text(0, 0.75, "z: standard deviations from the null mean (grey: 95%)", **style)
    ax.text(_share(0.5), 0.75, "share of sessions with p < .05 (dashed: 5%)", **style)
    title = {"fontsize": font + 2, "fontweight": "bold"}
    ax.set_title(
        f"Synchrony beside shuffles and surrogate pairs, {n_sessions:,} sessions",
        title,
        loc="left",
        y=1,
        pad=2.2 * font,
    )
    text = "A dot is a session, the bar their median. Synchrony is no quality score: it grows with words per turn."
    style = {"fontsize": font, "xycoords": "axes fraction", "textcoords": "offset points"}
    ax.annotate(text, (0, 1), (0, 0.5 * font), **style)
    keys = {"shuffles": "upper: shuffles within the session", "surrogates": "lower: surrogate pairs"}
    for i, (kind, words) in enumerate(keys.items()):
        end: dict[str, Any] = {"color": COLOURS[kind], "ha": "right"}
        ax.annotate(words, (1, 1), (0, (0.5 + 1.6 * (1 - i)) * font), **style, **end)


def _ticks(ax: Axes, measures: Sequence[str], font: float) -> None:
    places = {float(z): f"{z:+d}" if z else "0" for z in (-4, -2, 0, 2, 4)}
    places |= {_share(share): f"{share:.0%}" for share in (0, 0.5, 1)}
    ax.set_xticks(list(places), list(places.values()))
    space = MARGINS_IN["left"] * 72 - 1.5 * font
    labels = [cut(name.replace("_", " "), space / (LEAST * font)) for name in measures]
    size = min(font, space / max(length(label) for label in labels))
    ax.set_yticks(-np.arange(len(measures)), labels)
    ax.tick_params("y", labelsize=size, length=0)
    ax.tick_params("x", labelsize=font, length=2)
    lines = [[(x, 0.5 - i), (y, 0.5 - i)] for i in range(len(measures) + 1) for x, y in ((-LIMIT, LIMIT), SHARES)]
    ax.add_collection(LineCollection(lines, colors="0.5", alpha=0.3, lw=0.6), autolim=False)
