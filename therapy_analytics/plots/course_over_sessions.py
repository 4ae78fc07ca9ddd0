"""The course over the sessions of a client, or of a counselor: scores above, measures of the talk below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.ticker import FuncFormatter, MaxNLocator

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.plots import FONT, INCH_PT, axes_or_new, plot, say_instead
from therapy_analytics.plots._colours import BAND, DANGER, DATA
from therapy_analytics.plots._outlines import BOLD, cut, length
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDS = ("who", "client", "number", "kind", "name", "label", "unit", "value", "lo", "hi")
PANEL, HEAD, FOOT, LEFT, RIGHT = 62.0, 15.0, 25.0, 28.0, 8.0
"""Points: height of a panel, its name above it, the scale at the foot, scales at the left, the right edge."""
MOST_PANELS, MOST_NAMED = 8, 12


def _height(table: pd.DataFrame, _: float) -> float:
    return min(len(_panels(table)), MOST_PANELS) * (HEAD + PANEL) + FOOT + 8 if _panels(table) else 60.0


def _caption(table: pd.DataFrame) -> str:
    name = " ".join(str(table["who"].iloc[0]).split())
    n = len(set(table.loc[table["kind"].isin(["scale", "measure"]), "number"]))
    clients = table["client"].nunique()
    of = f", {clients} clients" if clients > 1 else ""
    known = np.isfinite(numbers(table, "lo"))
    parts = [f"Course of {name}: {n} session{'' if n == 1 else 's'}{of}."]
    if ((table["kind"] == "scale") & known).any():
        parts.append("Band: no reliable change since the first score.")
    if (table["kind"] == "cutoff").any():
        parts.append("Dashed: cutoff.")
    if ((table["kind"] == "measure") & known).any():
        parts.append("Bars: 95% interval of a session's rate.")
    if clients > 1 and (table["kind"] == "measure").any():
        parts.append("Dotted: mean.")
    if (table["kind"] == "danger").any():
        parts.append("Triangle and dashed line: session with turns that may be about danger, to be read.")
    return " ".join(parts)


@plot(needs=NEEDS, takes="lines", height=_height, caption=_caption)
def client_course(table: pd.DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw the course of a client, or of a counselor, over sessions: a panel a score, below it a panel a measure.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of `therapy_analytics.stats.outcomes.Outcomes.lines` of one ``who``. At most 8 panels are drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the panels.

    Raises
    ------
    BadOptionError
        A column is missing, or the table is of several people.

    Notes
    -----
    A band behind scores is where the score has not changed reliably since the client's first; the dashed line is the
    cutoff of the scale. Bars at measures are their 95% intervals: sampling noise of a session, without the error of the
    codes. Triangles mark sessions with client turns that may be about danger: turns to read, no assessment.
    """
    names = list(dict.fromkeys(table["who"].astype(str)))
    if len(names) > 1:
        option = "table"
        problem = f"the plot 'client_course' shows one person and the table holds {len(names)}"
        raise BadOptionError(option, problem, "Select one: lines[lines.who == '...']")
    ax = axes_or_new(ax)
    table = table[np.isfinite(numbers(table, "number"))]
    panels = _panels(table)[:MOST_PANELS]
    if not panels:
        return say_instead(ax, "no course: no session has a number with a score or a measure")
    ax.set_axis_off()
    width, height = (side * INCH_PT / ax.figure.dpi for side in (ax.bbox.width, ax.bbox.height))
    step = (height - FOOT - 8) / len(panels)
    known = numbers(table, "number")
    span = (float(np.nanmin(known)), float(np.nanmax(known)))
    right = RIGHT + _names_width(table)
    for i, name in enumerate(panels):
        bottom = height - 8 - (i + 1) * step
        box = (LEFT / width, bottom / height, (width - LEFT - right) / width, max(step - HEAD, step / 3) / height)
        panel = ax.inset_axes(box)
        _panel(panel, table[table["name"] == name], span, cut_to=(width - 4) / FONT)
        _danger(panel, table[table["kind"] == "danger"], mark=i == 0)
        panel.tick_params(labelbottom=i == len(panels) - 1)
    panel.set_xlabel("Session", fontsize=FONT, labelpad=1)
    return ax


def _names_width(table: pd.DataFrame) -> float:
    """Return the points that the names of clients need right of the panels."""
    scores = table[table["kind"] == "scale"]
    named = 1 < scores["client"].nunique() <= MOST_NAMED
    return max(length(cut(name, 8)) for name in scores["client"].astype(str)) * FONT + 4 if named else 0.0


def _panels(table: pd.DataFrame) -> list[str]:
    """Return the scores and measures that have a value, scores first."""
    drawn = table[table["kind"].isin(["scale", "measure"]) & np.isfinite(numbers(table, "value"))]
    order = drawn["kind"].map({"scale": 0, "measure": 1}).sort_values(kind="stable").index
    return list(dict.fromkeys(drawn.loc[order, "name"].astype(str)))


def _panel(ax: Axes, own: pd.DataFrame, span: tuple[float, float], *, cut_to: float) -> None:
    """Draw one score or measure."""
    rows = own[own["kind"].isin(["scale", "measure"])]
    is_score = bool((rows["kind"] == "scale").any())
    several = rows["client"].nunique() > 1
    ends = [numbers(rows, name) for name in ("value", "lo", "hi")]
    cutoff = numbers(own[own["kind"] == "cutoff"], "value")
    _limits(ax, [*ends, cutoff], span)
    for _, line in rows.groupby("client", sort=False):
        _line(ax, line.sort_values("number", kind="stable"), is_score=is_score, several=several)
    if several and is_score and rows["client"].nunique() <= MOST_NAMED:
        _names(ax, rows)
    for value in cutoff[:1]:
        ax.axhline(float(value), c=rcParams["text.color"], lw=0.7, alpha=0.6, ls=(0, (4, 2)), zorder=1)
    if several and not is_score:
        ax.axhline(float(np.nanmean(ends[0])), c=rcParams["text.color"], lw=0.7, alpha=0.6, ls=(0, (1, 2)), zorder=1)
    _labels(ax, str(rows["label"].iloc[0]), str(rows["unit"].iloc[0]), cut_to)


def _line(ax: Axes, line: pd.DataFrame, *, is_score: bool, several: bool) -> None:
    """Draw the values of one client: of scores the band without reliable change, of measures their intervals."""
    x, value, low, high = (numbers(line, name) for name in ("number", "value", "lo", "hi"))
    some = np.isfinite(low) & np.isfinite(high)
    if is_score and some.any():
        ax.axhspan(float(low[some][0]), float(high[some][0]), fc=BAND, alpha=0.25, lw=0, zorder=0.5)
    elif not is_score:
        ax.vlines(x[some], low[some], high[some], colors=DATA, lw=1.4, alpha=0.75, zorder=2)
    joined = is_score or not several
    ax.plot(x, value, ls="-" if joined else "", c=DATA, lw=1.0, alpha=0.55 if several else 1, zorder=2.5)
    ax.plot(x, value, ls="", marker="o", ms=3.6, mfc=DATA, mec=ax.get_facecolor(), mew=0.6, zorder=3)


def _names(ax: Axes, rows: pd.DataFrame) -> None:
    """Write the names of clients right of the panel, each as near to the end of its line as there is space."""
    ends = [line.iloc[int(np.argmax(numbers(line, "number")))] for _, line in rows.groupby("client", sort=False)]
    ends = sorted((one for one in ends if np.isfinite(float(one["value"]))), key=lambda one: float(one["value"]))
    low, high = ax.get_ylim()
    step = 1.15 * FONT * (high - low) / (ax.bbox.height * INCH_PT / ax.figure.dpi)
    levels = [float(one["value"]) for one in ends]
    for i in range(1, len(levels)):
        levels[i] = max(levels[i], levels[i - 1] + step)
    # What has been pushed above the panel comes down again.
    levels = [min(level, high - step * (len(levels) - 1 - i)) for i, level in enumerate(levels)]
    for one, level in zip(ends, levels, strict=True):
        place: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "parse_math": False}
        at = (1.0, (level - low) / (high - low))
        ax.annotate(cut(str(one["client"]), 8), at, fontsize=FONT, xycoords="axes fraction", **place)


def _danger(ax: Axes, rows: pd.DataFrame, *, mark: bool) -> None:
    """Mark sessions with turns of danger: a line through all panels, and a triangle above the first."""
    x = numbers(rows, "number")
    for at in x[np.isfinite(x)]:
        ax.axvline(float(at), c=DANGER, lw=1.0, alpha=0.6, ls=(0, (2, 2)), zorder=1)
    if mark and len(x):
        top = ax.get_ylim()[1]
        ax.plot(x, np.full(len(x), top), ls="", marker="v", ms=5, c=DANGER, clip_on=False, zorder=4)


def _limits(ax: Axes, values: list[Any], span: tuple[float, float]) -> None:
    known = np.concatenate([np.asarray(one, dtype=np.float64) for one in values])
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    space = 0.08 * (high - low) or max(abs(low) * 0.1, 0.05)
    ax.set(ylim=(low - space, high + space), xlim=(span[0] - 0.4, span[1] + 0.4))


def _labels(ax: Axes, label: str, unit: str, cut_to: float) -> None:
    ax.set_yticks(_within(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]), ax.get_ylim()))
    most = int(np.clip(ax.bbox.width * INCH_PT / ax.figure.dpi / 22, 3, 10))
    ax.set_xticks(_within(MaxNLocator(most, integer=True), ax.get_xlim()))
    if unit == "proportion":
        ax.yaxis.set_major_formatter(FuncFormatter(_per_cent))
    ax.tick_params(labelsize=FONT, length=2, pad=1.5, width=0.6)
    ax.spines[["right", "top"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_linewidth(0.6)
    shown = "" if unit in ("proportion", "") else f" ({unit})"
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    name = cut(f"{label}{shown}", cut_to, BOLD)
    ax.annotate(name, (0, 1), (-LEFT + 3, 3), fontsize=FONT, fontweight="bold", parse_math=False, **place)


def _within(locator: MaxNLocator, ends: tuple[float, float]) -> list[float]:
    """Return the ticks of an axis that lie between its ends."""
    return [float(one) for one in locator.tick_values(*ends) if ends[0] <= one <= ends[1]]


def _per_cent(value: float, _place: int | None = None) -> str:
    return f"{100 * value:.3g}%"
