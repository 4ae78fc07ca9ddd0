"""Groups side by side: a small panel a measure, with a dot and an interval a group, and reference bands behind."""

from __future__ import annotations

from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, MaxNLocator

from therapy_analytics.plots import _style as style
from therapy_analytics.plots import axes_or_new, plot, say_instead

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from therapy_analytics.plots import Drawn

MOST_MEASURES, MOST_GROUPS = 12, 40
"""So many groups can be told apart in a panel: the largest."""
ROW, HEAD, FOOT, GAP = 9.4, 14.0, 20.0, 14.0
"""Points of a group, of the measure's name, of the scale beneath, and between two columns."""
TWO_COLUMNS, PAGE = 360.0, 690.0
"""From so many points on there are two columns; and the height of a printed page, which a figure does not exceed."""
BANDS: dict[str, tuple[str, dict[str, Any]]] = {
    "human_high": ("People, high quality", {"fc": style.SKY, "ec": "none", "alpha": 0.4}),
    "human_low": ("People, low quality", {"fc": "none", "ec": "#8C5A2B", "hatch": "////"}),
}
"""References behind the dots: one filled, one hatched, so that they can be told apart in grey."""


def _shape(table: pd.DataFrame, width: float) -> tuple[list[str], list[str], int]:
    """Return the groups and measures that are drawn at a width in points, and in how many columns.

    Groups are by name from top to bottom; of very many, the largest.
    """
    own = table[(table["kind"] == "group") & np.isfinite(style.numbers(table, "mean"))]
    largest = own.groupby("group")["n_sessions"].max().sort_values(ascending=False, kind="stable")
    names = sorted(map(str, largest.index[:MOST_GROUPS]))
    every = list(dict.fromkeys(own["measure"].astype(str)))[:MOST_MEASURES]
    columns = min(2 if width >= TWO_COLUMNS else 1, max(len(every), 1))
    return names, every[: columns * max(int(PAGE // _panel_height(len(names))), 1)], columns


def _panel_height(n_groups: int) -> float:
    return HEAD + FOOT + (n_groups + 0.6) * ROW


def _keys(table: pd.DataFrame) -> dict[str, Any]:
    there = set(table.loc[table["kind"] == "reference", "group"])
    return {words: style.box(**look, lw=0) for name, (words, look) in BANDS.items() if name in there}


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


@plot(
    needs=("kind", "group", "measure", "unit", "n_sessions", "mean", "mean_lo", "mean_hi", "q25", "q75"),
    takes="groups", caption=_caption,
)  # fmt: skip
def comparison(table: pd.DataFrame, /, *, ax: Axes | None = None) -> Drawn:
    """Draw each measure as a small panel: a dot and a 95% interval a group, with reference bands behind.

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
        It holds the axes of the measures.
    """
    ax = axes_or_new(ax)
    names, measures, columns = _shape(table, style.width_of(ax))
    if not measures:
        return say_instead(ax, "no comparison: no group has a mean")
    page = style.Layout(ax)
    top, high = page.legend(_keys(table)), _panel_height(len(names))
    space = min(max(map(style.text_width, names)) + 2, (0.28 if columns == 2 else 0.4) * page.width)
    wide = (page.width - 2 * style.EDGE - space - 8 - GAP * (columns - 1)) / columns
    for i, measure in enumerate(measures):
        row, column = divmod(i, columns)
        left = style.EDGE + space + 3 + column * (wide + GAP)
        axes = page.panel(left, top + row * high + HEAD, wide, high - HEAD - FOOT)
        _measure(axes, table[table["measure"] == measure], names)
        unit = str(table.loc[table["measure"] == measure, "unit"].iloc[0])
        unit = "%" if unit == "proportion" else unit
        title = style.sentence(measure.replace("_", " "))
        axes.set_title(style.fitted(f"{title} ({unit})" if unit else title, wide, bold=True))
        if column == 0:
            axes.set_yticklabels([style.fitted(name, space, ends=True) for name in names])
        else:
            axes.tick_params(labelleft=False)
    return ax, top + ceil(len(measures) / columns) * high


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
    size = np.abs(style.numbers(comparisons, "hedges_g"))
    surely = (comparisons["finding"] == "differs").to_numpy(dtype=bool)
    known = comparisons["measure"].isin(common).to_numpy(dtype=bool)
    rank = np.where(surely, 1e6, 0) + np.where(known, 1e3, 0) + np.nan_to_num(size)
    ranked = pd.DataFrame({"measure": comparisons["measure"], "rank": rank})
    largest = ranked.groupby("measure")["rank"].max()
    place = -groups["measure"].map(largest).fillna(0.0)
    return groups.loc[place.sort_values(kind="stable").index]


def _measure(axes: Axes, table: pd.DataFrame, names: list[str]) -> None:
    """Draw one measure of the groups, in the order of their names."""
    own = table[(table["kind"] == "group") & table["group"].astype(str).isin(names)]
    y = np.array([names.index(str(name)) for name in own["group"]])
    mean, low, high = (style.numbers(own, key) for key in ("mean", "mean_lo", "mean_hi"))
    ends = [*mean, *low, *high]
    for name, (_, look) in BANDS.items():
        reference = table[(table["kind"] == "reference") & (table["group"] == name)]
        band = (
            [float(style.numbers(reference, key)[0]) for key in ("q25", "q75")] if len(reference) else [np.nan, np.nan]
        )
        if isfinite(band[0]) and isfinite(band[1]):
            axes.axvspan(*band, **look, lw=0, zorder=0.5, label=name)
            ends += band
    known = [float(value) for value in ends if isfinite(value)]
    space = 0.06 * (max(known) - min(known)) or max(abs(min(known)) * 0.1, 0.05)
    axes.set(xlim=(min(known) - space, max(known) + space), ylim=(len(names) - 0.3, -0.7))
    axes.axvline(float(np.nanmean(mean)), c="k", lw=0.6, alpha=0.45, ls=(0, (4, 2)), zorder=1, label="mean of groups")
    axes.hlines(y, low, high, colors=style.DATA, lw=1.1, zorder=2, label="interval")
    axes.plot(mean, y, ls="", marker="o", ms=3.4, mfc=style.DATA, mec="w", mew=0.6, zorder=3, label="mean")
    axes.set_yticks(range(len(names)))
    axes.tick_params("y", length=0, pad=3)
    most = int(np.clip(style.width_of(axes) / 36, 2, 5))
    axes.set_xticks(style.between(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]), axes.get_xlim()))
    if table["unit"].iloc[0] == "proportion":
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}"))
    axes.spines["left"].set_visible(False)
