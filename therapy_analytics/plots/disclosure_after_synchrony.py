"""What clients disclose after replies in synchrony, beside before them and beside shuffles, as a forest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from therapy_analytics.plots import INCH_PT, axes_or_new, plot, say_instead
from therapy_analytics.plots._board import EDGE, Key, draw_keys, in_lines, keys_height
from therapy_analytics.plots._canvas import Frame, draw_axis, open_frame
from therapy_analytics.plots._colours import BLUE, ORANGE
from therapy_analytics.plots._outlines import BOLD, MINUS, cut
from therapy_analytics.plots._page import sentence
from therapy_analytics.plots._synchrony import BEYOND
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._canvas import Canvas
    from therapy_analytics.plots._turns import Floats

STYLES: dict[str, dict[str, Any]] = {
    "after": {"marker": "o", "c": BLUE, "ls": "-", "words": "In the turn after the reply"},
    "after_beyond_before": {"marker": "D", "c": "#111111", "ls": "-", "words": "After it, beyond that before it"},
    "before": {"marker": "s", "c": ORANGE, "ls": (0, (3, 1.2)), "words": "In the turn before it (control)"},
}
"""How each direction is drawn: shapes, filling and dashes tell them apart without colour, too."""
OFFSETS = {"after": 0.27, "after_beyond_before": 0.0, "before": -0.27}
FIGURES = ("estimate", "lo", "hi", "null", "null_sd")
LEAST = 0.1
"""So far, in standard deviations, the scale reaches at least."""


ROW, FOOT = 19.0, 34.0
"""Height of a row, and of the scale with its label, in points."""
NAMES = 0.36
"""The share of the width that names have."""
LABEL = "SD of disclosure for one SD of synchrony"


def _keys() -> list[Key]:
    keys = [
        Key(words=look["words"], line={"ec": look["c"], "ls": look["ls"], "lw": 1.1}, mark=_mark(name))
        for name, look in STYLES.items()
    ]
    return [*keys, Key(words="95% of shuffles", box={"fc": "0.5", "alpha": 0.35})]


def _height(table: DataFrame, width: float) -> float:
    levels = _levels(table[["synchrony", "disclosure", "direction"]].astype(str).to_numpy(dtype=object))
    return len(levels) * ROW + FOOT + keys_height(_keys(), width) + 4 if len(table) else 60.0


def _caption(table: DataFrame) -> str:
    n = [numbers(table, name) for name in ("n_sessions", "n_turns")]
    sessions, replies = (int(np.nan_to_num(one).max()) for one in n)
    return (
        f"Synchrony and disclosure, {sessions:,} sessions, {replies:,} replies of therapists: standard deviations of "
        "the client's disclosure for one standard deviation of synchrony of the therapist's reply, within sessions, "
        "words and turn number held constant. Lines: 95% intervals. Grey: 95% of shuffles within sessions. An "
        "association in time is no proof of a cause."
    )


@plot(
    needs=("synchrony", "disclosure", "direction", "n_sessions", "n_turns", *FIGURES),
    takes="associations",
    height=_height,
    caption=_caption,
)
def association(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw for each measure of synchrony how disclosure after and before a reply goes with it, beside shuffles.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.measures.association.disclosure_after_synchrony` returns it.
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
    page = _open(ax, len(levels), figures[there], table)
    for direction in STYLES:
        own = there & (keys[:, 2] == direction)
        y = np.array([levels[one[1], one[0]] for one in keys[own]]) + OFFSETS[direction]
        _rows(ax, np.column_stack([figures[own], y]), direction)
    _names(page, levels)
    undefined = {levels[one[1], one[0]] for one in keys} - {levels[one[1], one[0]] for one in keys[there]}
    page.write([(0, level, "undefined", "center") for level in undefined], alpha=0.75)
    page.close()
    return ax


def _levels(keys: np.ndarray) -> dict[tuple[str, str], float]:
    """Return the height of each row by disclosure and synchrony, of ("...", "") for the name of a disclosure."""
    found: dict[tuple[str, str], float] = {}
    for disclosure in dict.fromkeys(keys[:, 1].tolist()):
        for name in ("", *dict.fromkeys(keys[keys[:, 1] == disclosure, 0].tolist())):
            found[disclosure, name] = -float(len(found))
    return found


def _open(ax: Axes, n: int, figures: Floats, table: DataFrame) -> Canvas:
    """Set the limits, draw the scale, and write what the marks mean."""
    width = ax.bbox.width * INCH_PT / ax.figure.dpi
    ends = np.column_stack([figures[:, :3], figures[:, 3:4] + BEYOND * figures[:, 4:] * np.array([[-1, 1]])])
    reach = max(1.08 * float(np.nanmax(np.abs(ends))), LEAST)
    top = keys_height(_keys(), width) + EDGE
    frame = Frame(x=(-reach, reach), y=(0.5 - n, 0.5), left=NAMES * width, right=10, bottom=FOOT, top=top)
    page = open_frame(ax, frame, _height(table, width))
    most = int(np.clip((1 - NAMES) * width / 34, 2, 8))
    places = [one for one in MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(-reach, reach) if abs(one) <= reach]
    draw_axis(page, places, [f"{one:g}".replace("-", MINUS) for one in places], 0.5 - n, (-reach, reach))
    label = cut(LABEL, 0.62 * width / page.font)
    page.write([(0, 0.5 - n - (4 + 2.2 * page.font) * page.row, label, "center")])
    left = ax.get_xlim()[0] + EDGE * page.point
    draw_keys(page, _keys(), ax.get_ylim()[1] - EDGE * page.row, left, width - 2 * EDGE)
    return page


def _rows(ax: Axes, rows: Floats, direction: str) -> None:
    """Draw null distributions, intervals and estimates of a direction."""
    style = STYLES[direction]
    nulls = [[(null - BEYOND * sd, y), (null + BEYOND * sd, y)] for _, _, _, null, sd, y in rows.tolist()]
    lines = [[(low, y), (high, y)] for _, low, high, _, _, y in rows.tolist()]
    grey: dict[str, Any] = {"colors": "0.5", "alpha": 0.35, "lw": 3.4, "capstyle": "butt", "zorder": 1}
    ax.add_collection(LineCollection(nulls, gid=f"null {direction}", **grey), autolim=False)
    drawn = LineCollection(lines, colors=style["c"], linestyles=[style["ls"]], lw=1.1, zorder=2)
    drawn.set_gid(f"interval {direction}")
    ax.add_collection(drawn, autolim=False)
    ax.add_line(Line2D(rows[:, 0], rows[:, 5], gid=f"estimate {direction}", **_mark(direction)))


def _mark(direction: str) -> dict[str, Any]:
    """Return how a point looks: those of the control are hollow."""
    style = STYLES[direction]
    face = "white" if direction == "before" else style["c"]
    return {"ls": "", "marker": style["marker"], "ms": 3.6, "mec": style["c"], "mew": 0.8, "mfc": face, "zorder": 3}


def _names(page: Canvas, levels: dict[tuple[str, str], float]) -> None:
    """Write what each row is, with faint lines between; names of disclosures stand over their rows."""
    left, right = page.ax.get_xlim()
    begin, space = left + EDGE * page.point, NAMES * (right - left) / page.point - 2 * EDGE
    for (disclosure, name), level in levels.items():
        if not name:
            words = cut(_words(disclosure), (right - left) / page.point / page.font - 1, BOLD)
            page.write([(begin, level, words, "left")], font=BOLD)
        else:
            page.text_lines(in_lines(_words(name), space / page.font), begin, level)
    page.lines([(left, y + 0.5, right, y + 0.5) for y in levels.values()], ec="0.5", alpha=0.3, lw=0.5)
    page.lines([0, 0.5, 0, 0.5 - len(levels)], lw=0.6, alpha=0.7, zorder=1.5)


def _words(column: str) -> str:
    return sentence(column.removesuffix("_turn").replace("_", " "))
