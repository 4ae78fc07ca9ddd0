"""Groups side by side: a small picture a measure, with a dot and an interval a group, and reference bands behind."""

from __future__ import annotations

from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from therapy_analytics.plots import MARGINS_IN, axes_or_new, plot, say_instead
from therapy_analytics.plots._outlines import BOLD, cut, length
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MEASURES, COLUMNS = 12, 3
MOST_GROUPS, MANY_GROUPS = 40, 15
"""So many groups can be told apart in a picture: the largest. Of more than 15, half as many measures are drawn."""
FONT = 8.0
ROW_IN, HEAD_IN, FOOT_IN, GAP_IN = 0.17, 0.42, 0.3, 0.15
WIDTH_IN = 12.0
BANDS: dict[str, dict[str, Any]] = {
    "human_high": {"facecolor": "#56B4E9", "alpha": 0.35, "hatch": "", "words": "human, high quality"},
    "human_low": {"facecolor": "none", "edgecolor": "#8C5A2B", "hatch": "////", "words": "human, low quality"},
}
"""References behind the dots: one filled, one hatched, so that they can be told apart in grey."""
DOT = "#0B3C5D"
NEEDS = ("kind", "group", "measure", "unit", "n_sessions", "mean", "mean_lo", "mean_hi", "q25", "q75")


def figure_size(table: pd.DataFrame) -> tuple[float, float]:
    """Return width and height, in inches, of a figure in which every group has its line."""
    own = table[table["kind"] == "group"]
    n = min(max(own["group"].nunique(), 2), MOST_GROUPS)
    shown = min(max(own["measure"].nunique(), 1), _most(n))
    rows = ceil(shown / COLUMNS)
    return WIDTH_IN, rows * (HEAD_IN + FOOT_IN + (n + 1) * ROW_IN) + MARGINS_IN["top"] + MARGINS_IN["bottom"]


@plot(needs=NEEDS, size=figure_size)
def comparison(table: pd.DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw each measure as a small picture: a dot and a 95% interval a group, with reference bands behind.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.compare.Comparison.groups`; best of one family. At most 12 measures are drawn (6 of
        many groups), in the order in which they stand, and the 40 groups with most sessions.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure. `figure_size` says how large is good.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the small pictures.

    Notes
    -----
    The vertical lines are the means of all groups. A band is the middle half of the sessions of a reference, an
    interval where the mean of such sessions may lie: that a dot is outside of a band says nothing of quality.
    """
    ax = axes_or_new(ax)
    own = table[(table["kind"] == "group") & np.isfinite(numbers(table, "mean"))]
    if own.empty:
        return say_instead(ax, "no comparison: no group has a measure that is defined")
    ax.set_axis_off()
    names = _groups(own)
    measures = list(dict.fromkeys(own["measure"].astype(str)))[: _most(len(names))]
    inch = 1 / ax.figure.dpi
    width, height = ax.bbox.width * inch, ax.bbox.height * inch
    columns = min(COLUMNS, len(measures))
    rows = ceil(len(measures) / columns)
    for i, measure in enumerate(measures):
        row, column = divmod(i, columns)
        panel = ax.inset_axes(_box(row, column, (rows, columns), (width, height)))
        _panel(panel, table[table["measure"] == measure], names, measure)
        panel.tick_params(labelleft=column == 0)
    _head(ax, table, len(measures))
    return ax


def _most(n_groups: int) -> int:
    return MOST_MEASURES if n_groups <= MANY_GROUPS else MOST_MEASURES // 2


def most_different(groups: pd.DataFrame, comparisons: pd.DataFrame, *, common: tuple[str, ...] = ()) -> pd.DataFrame:
    """Return the rows of groups: measures that differ first, then the common ones, then by the size of differences.

    Parameters
    ----------
    groups, comparisons : pandas.DataFrame
        As ``groups.csv`` and ``comparison.csv``.
    common : tuple of str, optional
        Measures that people look for.
    """
    if comparisons.empty or groups.empty:
        return groups
    size = np.abs(numbers(comparisons, "hedges_g"))
    surely = (comparisons["finding"] == "differs").to_numpy(dtype=bool)
    known = comparisons["measure"].isin(common).to_numpy(dtype=bool)
    rank = np.where(surely, 1e6, 0) + np.where(known, 1e3, 0) + np.nan_to_num(size)
    ranked = pd.DataFrame({"measure": comparisons["measure"], "rank": rank})
    largest = ranked.groupby("measure")["rank"].max()
    place = -groups["measure"].map(largest).fillna(0.0)
    return groups.loc[place.sort_values(kind="stable").index]


def _groups(own: pd.DataFrame) -> list[str]:
    """Return the groups, by name from top to bottom; the largest of very many."""
    largest = own.groupby("group")["n_sessions"].max().sort_values(ascending=False, kind="stable")
    return sorted(map(str, largest.index[:MOST_GROUPS]))


def _box(row: int, column: int, shape: tuple[int, int], size: tuple[float, float]) -> tuple[float, float, float, float]:
    """Return left, bottom, width and height of a small picture, as shares of the whole."""
    gap = GAP_IN / size[0]
    width = (1 - gap * (shape[1] - 1)) / shape[1]
    head, foot = HEAD_IN / size[1], FOOT_IN / size[1]
    full = 1 / shape[0]
    left, top = column * (width + gap), 1 - row * full - head
    return left, top - max(full - head - foot, full / 4), width, max(full - head - foot, full / 4)


def _panel(ax: Axes, table: pd.DataFrame, names: list[str], measure: str) -> None:
    """Draw one measure."""
    own = table[(table["kind"] == "group") & table["group"].astype(str).isin(names)]
    level = {name: -float(i) for i, name in enumerate(names)}
    y = np.array([level[str(name)] for name in own["group"]])
    mean, low, high = (numbers(own, key) for key in ("mean", "mean_lo", "mean_hi"))
    bands = _bands(table)
    _limits(ax, [*mean, *low, *high, *(end for _, *ends in bands for end in ends)], len(names))
    for name, low_end, high_end in bands:
        look = {key: value for key, value in BANDS[name].items() if key != "words"}
        bottom, top = ax.get_ylim()
        ax.add_patch(Rectangle((low_end, bottom), high_end - low_end, top - bottom, lw=0, zorder=0.5, **look))
    ax.axvline(float(np.nanmean(mean)), c=rcParams["text.color"], lw=0.6, alpha=0.45, ls=(0, (4, 2)), zorder=1)
    some = np.isfinite(low) & np.isfinite(high)
    ax.hlines(y[some], low[some], high[some], colors=DOT, lw=1.6, zorder=2)
    ax.plot(mean, y, ls="", marker="o", ms=4.5, mfc=DOT, mec=ax.get_facecolor(), mew=0.6, zorder=3)
    _labels(ax, names, str(table["unit"].iloc[0]), measure)


def _bands(table: pd.DataFrame) -> list[tuple[str, float, float]]:
    found = []
    for name in BANDS:
        own = table[(table["kind"] == "reference") & (table["group"] == name)]
        low, high = (float(numbers(own, key)[0]) if len(own) else float("nan") for key in ("q25", "q75"))
        found += [(name, low, high)] if isfinite(low) and isfinite(high) else []
    return found


def _limits(ax: Axes, values: list[float], n: int) -> None:
    defined = [float(value) for value in values if isfinite(value)]
    low, high = min(defined), max(defined)
    space = 0.06 * (high - low) or max(abs(low) * 0.1, 0.05)
    ax.set(xlim=(low - space, high + space), ylim=(0.7 - n, 0.7))


def _labels(ax: Axes, names: list[str], unit: str, measure: str) -> None:
    space = (MARGINS_IN["left"] * 72 - 8) / FONT
    ax.set_yticks(
        [-float(i) for i in range(len(names))], [_without_middle(name, space) for name in names], parse_math=False
    )
    ax.tick_params("y", labelsize=FONT, length=0)
    ax.tick_params("x", labelsize=FONT - 1, length=2, pad=1.5)
    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    if unit == "proportion":
        ax.xaxis.set_major_formatter(FuncFormatter(_per_cent))
    ax.spines[["left", "right", "top"]].set_visible(False)
    width = ax.bbox.width / ax.figure.dpi * 72
    title = measure.replace("_", " ")
    title = cut(title, width / FONT, BOLD)
    ax.set_title(title, fontsize=FONT, fontweight="bold", loc="left", pad=12, parse_math=False)
    shown = "%" if unit == "proportion" else unit
    note: dict[str, Any] = {"xy": (0, 1), "xytext": (0, 4), "xycoords": "axes fraction", "textcoords": "offset points"}
    ax.annotate(cut(shown, width / (FONT - 1)), fontsize=FONT - 1, alpha=0.75, parse_math=False, **note)


def _per_cent(value: float, _place: int | None = None) -> str:
    return f"{100 * value:.3g}"


def _without_middle(name: str, fits: float) -> str:
    """Leave out the middle of a long name: names of a series differ at their ends."""
    shown, n = name, len(name) - 1
    while length(shown) > 0.95 * fits and n > 1:
        n -= 1
        shown = f"{name[: n - n // 3]}…{name[len(name) - n // 3 :]}"
    return shown


def _head(ax: Axes, table: pd.DataFrame, shown: int) -> None:
    """Write what is shown and what the bands are."""
    all_of = table[table["kind"] == "group"]["measure"].nunique()
    family = str(table["family"].iloc[0]) if "family" in table and table["family"].nunique() == 1 else "all families"
    which = (
        f"{shown} of {all_of} measures: what differs, then the common ones, then the largest"
        if all_of > shown
        else "all measures"
    )
    ax.set_title(f"Groups compared, {family}: {which}", fontsize=FONT + 3, fontweight="bold", loc="left", y=1, pad=22)
    groups = table[table["kind"] == "group"]["group"].nunique()
    more = f" The {MOST_GROUPS} largest of {groups:,} groups." if groups > MOST_GROUPS else ""
    text = f"Dot and line: mean and its 95% interval. Dashed: mean of the groups.{more}"
    ax.annotate(text, (0, 1), (0, 9), fontsize=FONT, xycoords="axes fraction", textcoords="offset points")
    there = set(table.loc[table["kind"] == "reference", "group"])
    handles = [
        Patch(label=f"middle half of sessions: {look['words']}", **{k: v for k, v in look.items() if k != "words"})
        for name, look in BANDS.items()
        if name in there
    ]
    if handles:
        place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.5, "borderpad": 0}
        ax.legend(handles=handles, ncols=2, fontsize=FONT, frameon=False, **place)
