"""What clients disclose after replies in synchrony, beside before them and beside shuffles, as a forest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from therapy_analytics.plots import MARGINS_IN, axes_or_new, plot, say_instead
from therapy_analytics.plots._outlines import BOLD, cut
from therapy_analytics.plots._synchrony import BEYOND
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._turns import Floats

STYLES: dict[str, dict[str, Any]] = {
    "after": {"marker": "o", "c": "#0072B2", "ls": "-", "words": "disclosure in the turn after the reply"},
    "after_beyond_before": {"marker": "D", "c": "#7A4B94", "ls": "-", "words": "the same, beyond that before it"},
    "before": {"marker": "s", "c": "#B35900", "ls": (0, (3, 1.2)), "words": "in the turn before (control)"},
}
"""How each direction is drawn: shapes, filling and dashes tell them apart without colour, too."""
OFFSETS = {"after": 0.27, "after_beyond_before": 0.0, "before": -0.27}
FIGURES = ("estimate", "lo", "hi", "null", "null_sd")
LEAST = 0.1
"""So far, in standard deviations, the scale reaches at least."""


@plot(needs=("synchrony", "disclosure", "direction", "n_sessions", "n_turns", *FIGURES), takes="associations")
def association(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw for each measure of synchrony how disclosure after and before a reply goes with it, beside shuffles.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.association.disclosure_after_synchrony` returns it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its x-axis counts standard deviations of disclosure for one of synchrony.

    Notes
    -----
    The grey bar behind an estimate holds 95 of 100 shuffles of synchrony within sessions. An association that is
    as strong before the reply as after it says nothing of what the reply brings about.
    """
    ax = axes_or_new(ax)
    figures = np.column_stack([numbers(table, name) for name in FIGURES])
    keys = table[["synchrony", "disclosure", "direction"]].astype(str).to_numpy(dtype=object)
    there = ~np.isnan(figures[:, 0])
    levels = _levels(keys)
    if not there.any():
        return say_instead(ax, "no association: no row has an estimate (the table's notes say why)")
    font = _open(ax, len(levels), figures[there])
    for direction in STYLES:
        own = there & (keys[:, 2] == direction)
        y = np.array([levels[one[1], one[0]] for one in keys[own]]) + OFFSETS[direction]
        _rows(ax, np.column_stack([figures[own], y]), direction, font)
    _names(ax, levels, font)
    _undefined(ax, {levels[one[1], one[0]] for one in keys} - {levels[one[1], one[0]] for one in keys[there]}, font)
    _head(ax, table, font)
    return ax


def _levels(keys: np.ndarray) -> dict[tuple[str, str], float]:
    """Return the height of each row by disclosure and synchrony, of ("...", "") for the name of a disclosure."""
    found: dict[tuple[str, str], float] = {}
    for disclosure in dict.fromkeys(keys[:, 1].tolist()):
        for name in ("", *dict.fromkeys(keys[keys[:, 1] == disclosure, 0].tolist())):
            found[disclosure, name] = -float(len(found))
    return found


def _open(ax: Axes, n: int, figures: Floats) -> float:
    """Set the limits, and return the size of font that fits a row."""
    inch = 72 / ax.figure.dpi
    width, height = ax.bbox.width * inch, ax.bbox.height * inch
    ends = np.column_stack([figures[:, :3], figures[:, 3:4] + BEYOND * figures[:, 4:] * np.array([[-1, 1]])])
    reach = max(1.08 * float(np.nanmax(np.abs(ends))), LEAST)
    ax.set(xlim=(-reach, reach), ylim=(0.5 - n, 0.5))
    ax.spines[["left", "right", "top"]].set_visible(False)
    # No label may stand out of the figure: none near the ends.
    places = MaxNLocator(8, steps=[1, 2, 5, 10]).tick_values(-reach, reach)
    ax.set_xticks([place for place in places if abs(place) < 0.95 * reach])
    return float(np.clip(min(0.6 * height / n, width / 75), 4, 8.5))


def _rows(ax: Axes, rows: Floats, direction: str, font: float) -> None:
    """Draw null distributions, intervals and estimates of a direction."""
    style = STYLES[direction]
    nulls = [[(null - BEYOND * sd, y), (null + BEYOND * sd, y)] for _, _, _, null, sd, y in rows.tolist()]
    lines = [[(low, y), (high, y)] for _, low, high, _, _, y in rows.tolist()]
    grey: dict[str, Any] = {"colors": "0.5", "alpha": 0.35, "lw": 0.4 * font, "capstyle": "butt", "zorder": 1}
    ax.add_collection(LineCollection(nulls, gid=f"null {direction}", **grey), autolim=False)
    drawn = LineCollection(lines, colors=style["c"], linestyles=[style["ls"]], lw=0.15 * font, zorder=2)
    drawn.set_gid(f"interval {direction}")
    ax.add_collection(drawn, autolim=False)
    ax.add_line(Line2D(rows[:, 0], rows[:, 5], gid=f"estimate {direction}", **_mark(ax, direction, font)))


def _mark(ax: Axes, direction: str, font: float) -> dict[str, Any]:
    """Return how a point looks: those of the control are hollow."""
    style = STYLES[direction]
    face = ax.get_facecolor() if direction == "before" else style["c"]
    return {"ls": "", "marker": style["marker"], "ms": 0.5 * font, "mec": style["c"], "mfc": face, "zorder": 3}


def _undefined(ax: Axes, levels: set[float], font: float) -> None:
    for level in levels:
        ax.text(0, level, "undefined", fontsize=0.9 * font, va="center", ha="center", alpha=0.75)


def _names(ax: Axes, levels: dict[tuple[str, str], float], font: float) -> None:
    """Write what each row is, with faint lines between; names of disclosures stand over their rows."""
    space = MARGINS_IN["left"] * 72 - 1.5 * font
    rows = {level: _words(name) for (_, name), level in levels.items() if name}
    fits = {level: cut(name, space / font) for level, name in rows.items()}
    ax.set_yticks(list(fits), list(fits.values()), parse_math=False)
    ax.tick_params("y", labelsize=font, length=0)
    ax.tick_params("x", labelsize=font, length=2)
    left, right = ax.get_xlim()
    for (disclosure, name), level in levels.items():
        if not name:
            words = cut(_words(disclosure), ax.bbox.width * 72 / ax.figure.dpi / font / 2, BOLD)
            ax.text(left, level, words, fontsize=font, fontweight="bold", va="center", parse_math=False)
    lines = [[(left, level + 0.5), (right, level + 0.5)] for level in levels.values()]
    ax.add_collection(LineCollection(lines, colors="0.5", alpha=0.3, lw=0.6), autolim=False)
    ax.axvline(0, c=rcParams["text.color"], lw=0.8, alpha=0.7, zorder=1.5)


def _words(column: str) -> str:
    return column.removesuffix("_turn").replace("_", " ")


def _head(ax: Axes, table: DataFrame, font: float) -> None:
    """Write what is shown, and what the marks mean."""
    sessions, replies = (int(np.nanmax(numbers(table, name))) for name in ("n_sessions", "n_turns"))
    title = {"fontsize": font + 2, "fontweight": "bold"}
    words = f"Synchrony and disclosure, {sessions:,} sessions, {replies:,} replies of therapists"
    ax.set_title(words, title, loc="left", y=1, pad=2.9 * font)
    text = "Bars: 95% intervals. Grey: 95% of shuffles within sessions. An association in time is no proof of a cause."
    ax.annotate(text, (0, 1), (0, 1.7 * font), fontsize=font, xycoords="axes fraction", textcoords="offset points")
    handles = [
        Line2D([], [], label=style["words"], **_mark(ax, direction, font)) for direction, style in STYLES.items()
    ]
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.15, "borderpad": 0}
    ax.legend(handles=handles, ncols=3, fontsize=font, frameon=False, handletextpad=0.2, **place)
    label = (
        "standard deviations of disclosure for one of synchrony, within sessions, words and turn number held constant"
    )
    ax.set_xlabel(label, fontsize=font)
