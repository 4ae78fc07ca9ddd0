"""Groups side by side: a small picture a measure, with a dot and an interval a group, and reference bands behind."""

from __future__ import annotations

import functools
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from therapy_analytics.plots import FONT, INCH_PT, axes_or_new, plot, say_instead
from therapy_analytics.plots._board import EDGE, Key, draw_keys, keys_height, open_board
from therapy_analytics.plots._colours import BAND, DATA
from therapy_analytics.plots._outlines import BOLD, cut, length
from therapy_analytics.plots._page import sentence
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MEASURES, MOST_GROUPS = 12, 40
"""So many groups can be told apart in a picture: the largest."""
ROW, HEAD, FOOT, GAP = 9.4, 14.0, 20.0, 14.0
"""Points of a group, of the measure's name, of the scale beneath, and between two columns."""
TWO_COLUMNS, PAGE = 360.0, 690.0
"""From so many points on there are two columns; and the height of a printed page, which a figure does not exceed."""
BANDS: dict[str, dict[str, Any]] = {
    "human_high": {"facecolor": BAND, "alpha": 0.4, "hatch": "", "words": "People, high quality"},
    "human_low": {"facecolor": "none", "edgecolor": "#8C5A2B", "hatch": "////", "words": "People, low quality"},
}
"""References behind the dots: one filled, one hatched, so that they can be told apart in grey."""
NEEDS = ("kind", "group", "measure", "unit", "n_sessions", "mean", "mean_lo", "mean_hi", "q25", "q75")


def _own(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["kind"] == "group") & np.isfinite(numbers(table, "mean"))]


def _shape(table: pd.DataFrame, width: float) -> tuple[list[str], list[str], int]:
    """Return the groups and measures that are drawn at a width in points, and in how many columns."""
    own = _own(table)
    names = _groups(own)
    every = list(dict.fromkeys(own["measure"].astype(str)))[:MOST_MEASURES]
    columns = min(2 if width >= TWO_COLUMNS else 1, max(len(every), 1))
    return names, every[: columns * max(int(PAGE // _panel_height(len(names))), 1)], columns


def _panel_height(n_groups: int) -> float:
    return HEAD + FOOT + (n_groups + 0.6) * ROW


def _height(table: pd.DataFrame, width: float) -> float:
    names, measures, columns = _shape(table, width)
    if not measures:
        return 60.0
    return ceil(len(measures) / columns) * _panel_height(len(names)) + keys_height(_keys(table), width) + 2 * EDGE


def _keys(table: pd.DataFrame) -> list[Key]:
    there = set(table.loc[table["kind"] == "reference", "group"])
    looks = {name: {key: value for key, value in look.items() if key != "words"} for name, look in BANDS.items()}
    return [Key(words=look["words"], box=looks[name]) for name, look in BANDS.items() if name in there]


def _caption(table: pd.DataFrame) -> str:
    shown = {len(_shape(table, width)[1]) for width in (TWO_COLUMNS - 1, TWO_COLUMNS)}
    of = table[table["kind"] == "group"]
    family = f", {table['family'].iloc[0]}" if "family" in table and table["family"].nunique() == 1 else ""
    parts = [f"Groups compared{family}: mean of each group with its 95% interval; dashed, the mean of the groups."]
    if min(shown) < of["measure"].nunique():
        parts.append(
            "Measures that differ come first, then the common ones, then the largest differences; others are left out."
        )
    if of["group"].nunique() > MOST_GROUPS:
        parts.append(f"The {MOST_GROUPS} largest of {of['group'].nunique():,} groups.")
    if _keys(table):
        parts.append("Bands: the middle half of reference sessions; a dot outside of a band says nothing of quality.")
    return " ".join(parts)


@plot(needs=NEEDS, takes="groups", height=_height, caption=_caption)
def comparison(table: pd.DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw each measure as a small picture: a dot and a 95% interval a group, with reference bands behind.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.stats.compare.Comparison.groups`; best of one family. At most 12 measures are drawn
        (as many as a page holds), in the order in which they stand, and the 40 groups with most sessions.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

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
    if _own(table).empty:
        return say_instead(ax, "no comparison: no group has a measure that is defined")
    width = ax.bbox.width * INCH_PT / ax.figure.dpi
    names, measures, columns = _shape(table, width)
    board = open_board(ax, _height(table, width))
    top = draw_keys(board, _keys(table), board.height)
    board.close()
    space = min(max(map(length, names)) * FONT / 0.93, (0.28 if columns == 2 else 0.4) * width)
    inner = (board.width - space - 8 - GAP * (columns - 1)) / columns
    high = top / ceil(len(measures) / columns)
    for i, measure in enumerate(measures):
        row, column = divmod(i, columns)
        left, bottom = space + 6 + column * (inner + GAP), top - (row + 1) * high + FOOT
        box = left, bottom, inner, max(high - HEAD - FOOT, high / 4)
        panel = ax.inset_axes(box, transform=ax.transData)
        _panel(panel, table[table["measure"] == measure], names, measure, space / FONT)
        panel.tick_params(labelleft=column == 0)
    return ax


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


def _panel(ax: Axes, table: pd.DataFrame, names: list[str], measure: str, space: float) -> None:
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
    ax.hlines(y[some], low[some], high[some], colors=DATA, lw=1.1, zorder=2)
    ax.plot(mean, y, ls="", marker="o", ms=3.4, mfc=DATA, mec=ax.get_facecolor(), mew=0.6, zorder=3)
    _labels(ax, names, str(table["unit"].iloc[0]), measure, space)


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


def _labels(ax: Axes, names: list[str], unit: str, measure: str, space: float) -> None:
    ax.set_yticks(
        [-float(i) for i in range(len(names))], [_without_middle(name, space) for name in names], parse_math=False
    )
    width = ax.bbox.width / ax.figure.dpi * INCH_PT
    ax.tick_params("y", labelsize=FONT, length=0, pad=3)
    ax.tick_params("x", labelsize=FONT, length=2, pad=1.5, width=0.6)
    low, high = ax.get_xlim()
    places = MaxNLocator(int(np.clip(width / 36, 2, 5)), steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    ax.set_xticks([one for one in places if low <= one <= high])
    if unit == "proportion":
        ax.xaxis.set_major_formatter(FuncFormatter(_per_cent))
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.spines["bottom"].set_linewidth(0.6)
    shown = "%" if unit == "proportion" else unit
    title = sentence(measure.replace("_", " "))
    title = cut(f"{title} ({shown})" if shown else title, width / FONT, BOLD)
    ax.annotate(title, (0, 1), (0, 3), "axes fraction", textcoords="offset points", fontsize=FONT, fontweight="bold",
                parse_math=False)  # fmt: skip


def _per_cent(value: float, _place: int | None = None) -> str:
    return f"{100 * value:.3g}"


@functools.lru_cache(maxsize=256)
def _without_middle(name: str, fits: float) -> str:
    """Leave out the middle of a long name: names of a series differ at their ends."""
    shown, n = name, len(name) - 1
    while length(shown) > 0.95 * fits and n > 1:
        n -= 1
        shown = f"{name[: n - n // 3]}…{name[len(name) - n // 3 :]}"
    return shown
