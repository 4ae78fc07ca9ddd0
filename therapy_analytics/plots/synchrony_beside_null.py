"""Synchrony of many sessions beside shuffles and surrogate pairs: how far from them, and how many beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from therapy_analytics.measures.intervals import wilson
from therapy_analytics.plots import _style as style
from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._synchrony import BEYOND, SLOPE, full_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots import Drawn
    from therapy_analytics.plots._style import Floats

NULLS = {
    "shuffles": ("z", "p", {"c": style.BLUE, "marker": "o"}, -0.22),
    "surrogates": ("surrogate_z", "surrogate_p", {"c": style.ORANGE, "marker": "s"}, 0.22),
}
"""Of each null distribution its columns, its sign, and how far below the middle of a row it is drawn."""
WIDE = 360.0
"""From so many points on, the scale of shares has a tick in the middle."""
LIMIT, LEVEL = 4.0, 0.05
"""Standard deviations that are drawn, further ones at the end; and the p below which a session is counted."""
ROW, FOOT, NAMES, COUNT = 22.0, 28.0, 0.37, 32.0
"""Points of a measure and of the scales; the share of the width that names have; points of a count."""
KEYS = {
    "Upper: shuffles": style.dot(style.BLUE, "o", "-"),
    "Lower: surrogate pairs": style.dot(style.ORANGE, "s", "-"),
    "Median": style.dot("k", "|", mew=1.6, ms=7),
}


def _whole(rows: DataFrame) -> DataFrame:
    return rows[((rows["part"] == "whole") & (rows["direction"] == "both")).to_numpy(dtype=bool)]


def _measures(rows: DataFrame) -> list[str]:
    """Return the measures of whole sessions, both directions, that have a z; not their slopes."""
    shown = _whole(rows)
    there = ~np.isnan(np.column_stack([style.numbers(shown, z) for z, *_ in NULLS.values()])).all(axis=1)
    every = dict.fromkeys(shown["measure"].to_numpy(dtype=object)[there].tolist())
    return [name for name in every if not name.endswith(SLOPE) or name.removesuffix(SLOPE) not in every]


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
    caption=_caption,
)
def synchrony_overview(rows: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
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
        It holds two axes: z of the sessions, and shares of sessions.

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
    page = style.Layout(ax)
    left, top = NAMES * page.width, style.EDGE + page.legend(KEYS)
    room, high = page.width - left - style.EDGE - COUNT, ROW * len(measures)
    zs = page.panel(left, top, 0.55 * room, high)
    shares = page.panel(left + 0.71 * room, top, 0.29 * room, high)
    for axes in (zs, shares):
        axes.set(ylim=(len(measures) - 0.5, -0.5), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.hlines(np.arange(len(measures)) - 0.5, 0, 1, colors="0.5", alpha=0.3, lw=0.5,
                    transform=axes.get_yaxis_transform())  # fmt: skip
        axes.axvline(0 if axes is zs else LEVEL, c="k", ls="--", lw=0.6, alpha=0.7)
    zs.set(xlim=(-LIMIT, LIMIT), xlabel="z")
    zs.set_xticks((-4, -2, 0, 2, 4), (f"{style.MINUS}4", f"{style.MINUS}2", "0", "+2", "+4"))
    zs.axvspan(-BEYOND, BEYOND, fc="0.5", alpha=0.15, lw=0)
    shares.set(xlim=(0, 1), xlabel="p < .05", xticks=(0, 0.5, 1) if page.width > WIDE else (0, 1))
    shares.xaxis.set_major_formatter(style.per_cent)
    names, words = shown["measure"].to_numpy(dtype=object), full_names(measures)
    for i, name in enumerate(measures):
        said = style.in_lines(words[name], left - 2 * style.EDGE)
        page.write(style.EDGE, top + (i + 0.5) * ROW, said, linespacing=1.1, va="center")
        for kind, (z_name, p_name, look, down) in NULLS.items():
            z, p = (style.numbers(shown, one)[names == name] for one in (z_name, p_name))
            p = p[~np.isnan(z) & ~np.isnan(p)]
            _sessions(zs, z[~np.isnan(z)], i + down, kind, look)
            if len(p):
                _share(shares, int((p < LEVEL).sum()), len(p), i + down, kind, look)
    return ax, top + high + FOOT


def _sessions(axes: Axes, z: Floats, level: float, kind: str, look: dict[str, Any]) -> None:
    """Draw a dot a session, heaped where there are many, and the median as a bar."""
    z = np.clip(z, -LIMIT, LIMIT)
    heaped = {"ls": "", "ms": 2.2, "mew": 0, "alpha": 0.5, "clip_on": False, "label": f"z from {kind}"}
    axes.plot(z, level + _heights(z), **(look | heaped))
    if len(z):
        middle = float(np.median(z))
        axes.vlines(middle, level - 0.18, level + 0.18, colors="k", lw=1.6, clip_on=False, label=f"median from {kind}")


def _heights(z: Floats) -> Floats:
    """Return heights around 0 that keep like values apart, the same in every run."""
    bins = np.round(z / 0.12).astype(np.int64)
    order = np.argsort(bins, kind="stable")
    ordered = bins[order]
    rank = np.arange(len(z)) - np.searchsorted(ordered, ordered)
    step = 0.04 if len(z) == 0 else min(0.04, 0.34 / (rank.max() + 1))
    heights = np.empty(len(z))
    heights[order] = (rank + 1) // 2 * np.where(rank % 2, 1, -1) * step
    return heights


def _share(axes: Axes, k: int, n: int, level: float, kind: str, look: dict[str, Any]) -> None:
    """Draw the share of sessions with p below .05, its interval, and its count."""
    axes.hlines(level, *wilson(k, n), colors=look["c"], lw=1.1, clip_on=False, label=f"interval of {kind}")
    axes.plot(k / n, level, ls="", ms=3.8, mew=0, clip_on=False, label=f"share of {kind}", **look)
    axes.annotate(f"{k}/{n}", (1, level), (4, 0), textcoords="offset points", va="center_baseline")
