"""The course over the sessions of a client, or of a counselor: scores above, measures of the talk below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.ticker import FuncFormatter, MaxNLocator

from therapy_analytics.errors import BadOptionError
from therapy_analytics.plots import MARGINS_IN, axes_or_new, plot, say_instead
from therapy_analytics.plots._outlines import cut
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDS = ("who", "client", "number", "kind", "name", "label", "unit", "value", "lo", "hi")
DOT, BAND, DANGER = "#0B3C5D", "#56B4E9", "#D55E00"
"""Okabe and Ito's; danger has a triangle as well, so that it can be told in grey."""
FONT = 8.0
WIDTH_IN, PANEL_IN, GAP_IN = 9.0, 1.15, 0.2
MOST_PANELS, MOST_NAMED = 8, 12


def figure_size(table: pd.DataFrame) -> tuple[float, float]:
    """Return width and height, in inches, of a figure in which every score and measure has its panel."""
    n = max(min(len(_panels(table)), MOST_PANELS), 1)
    return WIDTH_IN, n * PANEL_IN + (n - 1) * GAP_IN + MARGINS_IN["top"] + MARGINS_IN["bottom"]


@plot(needs=NEEDS, takes="lines", size=figure_size)
def client_course(table: pd.DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw the course of a client, or of a counselor, over sessions: a panel a score, below it a panel a measure.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of `therapy_analytics.outcomes.Outcomes.lines` of one ``who``. At most 8 panels are drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure. `figure_size` says how large is good.

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
    codes. Triangles mark sessions with client turns of present danger: turns to read, no assessment.
    """
    names = list(dict.fromkeys(table["who"].astype(str)))
    if len(names) > 1:
        option = "table"
        problem = f"the plot 'client_course' shows one person and the table holds {len(names)}"
        raise BadOptionError(option, problem, "Select one: lines[lines.who == '...']")
    ax = axes_or_new(ax, figure_size(table))
    panels = _panels(table)[:MOST_PANELS]
    if not panels:
        return say_instead(ax, "no course: no session has a score or a measure")
    ax.set_axis_off()
    height = ax.bbox.height / ax.figure.dpi
    gap = GAP_IN / height
    share = (1 - gap * (len(panels) - 1)) / len(panels)
    known = numbers(table, "number")
    span = (float(np.nanmin(known)), float(np.nanmax(known)))
    for i, name in enumerate(panels):
        panel = ax.inset_axes((0, 1 - (i + 1) * share - i * gap, 1, share))
        _panel(panel, table[table["name"] == name], span)
        _danger(panel, table[table["kind"] == "danger"], mark=i == 0)
        panel.tick_params(labelbottom=i == len(panels) - 1)
    panel.set_xlabel("session", fontsize=FONT, labelpad=1)
    _head(ax, table, names[0])
    return ax


def _panels(table: pd.DataFrame) -> list[str]:
    """Return the scores and measures that have a value, scores first."""
    drawn = table[table["kind"].isin(["scale", "measure"]) & np.isfinite(numbers(table, "value"))]
    order = drawn["kind"].map({"scale": 0, "measure": 1}).sort_values(kind="stable").index
    return list(dict.fromkeys(drawn.loc[order, "name"].astype(str)))


def _panel(ax: Axes, own: pd.DataFrame, span: tuple[float, float]) -> None:
    """Draw one score or measure."""
    rows = own[own["kind"].isin(["scale", "measure"])]
    is_score = bool((rows["kind"] == "scale").any())
    several = rows["client"].nunique() > 1
    ends = [numbers(rows, name) for name in ("value", "lo", "hi")]
    cutoff = numbers(own[own["kind"] == "cutoff"], "value")
    _limits(ax, [*ends, cutoff], span)
    for client, line in rows.groupby("client", sort=False):
        _line(ax, line.sort_values("number", kind="stable"), is_score=is_score, several=several)
        if several and is_score and rows["client"].nunique() <= MOST_NAMED:
            _name(ax, line, str(client))
    for value in cutoff[:1]:
        ax.axhline(float(value), c=rcParams["text.color"], lw=0.7, alpha=0.6, ls=(0, (4, 2)), zorder=1)
    if several and not is_score:
        ax.axhline(float(np.nanmean(ends[0])), c=rcParams["text.color"], lw=0.7, alpha=0.6, ls=(0, (1, 2)), zorder=1)
    _labels(ax, str(rows["label"].iloc[0]), str(rows["unit"].iloc[0]))


def _line(ax: Axes, line: pd.DataFrame, *, is_score: bool, several: bool) -> None:
    """Draw the values of one client: of scores the band without reliable change, of measures their intervals."""
    x, value, low, high = (numbers(line, name) for name in ("number", "value", "lo", "hi"))
    some = np.isfinite(low) & np.isfinite(high)
    if is_score and some.any():
        ax.axhspan(float(low[some][0]), float(high[some][0]), fc=BAND, alpha=0.25, lw=0, zorder=0.5)
    elif not is_score:
        ax.vlines(x[some], low[some], high[some], colors=DOT, lw=1.4, alpha=0.75, zorder=2)
    joined = is_score or not several
    ax.plot(x, value, ls="-" if joined else "", c=DOT, lw=1.0, alpha=0.55 if several else 1, zorder=2.5)
    ax.plot(x, value, ls="", marker="o", ms=4.5, mfc=DOT, mec=ax.get_facecolor(), mew=0.6, zorder=3)


def _name(ax: Axes, line: pd.DataFrame, client: str) -> None:
    """Write the name of a client at the end of the line."""
    last = line.iloc[int(np.argmax(numbers(line, "number")))]
    place: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "parse_math": False}
    ax.annotate(cut(client, 12), (float(last["number"]), float(last["value"])), fontsize=FONT - 1.5, **place)


def _danger(ax: Axes, rows: pd.DataFrame, *, mark: bool) -> None:
    """Mark sessions with turns of danger: a line through all panels, and a triangle above the first."""
    x = numbers(rows, "number")
    for at in x[np.isfinite(x)]:
        ax.axvline(float(at), c=DANGER, lw=1.0, alpha=0.6, ls=(0, (2, 2)), zorder=1)
    if mark and len(x):
        top = ax.get_ylim()[1]
        ax.plot(x, np.full(len(x), top), ls="", marker="v", ms=7, c=DANGER, clip_on=False, zorder=4)


def _limits(ax: Axes, values: list[Any], span: tuple[float, float]) -> None:
    known = np.concatenate([np.asarray(one, dtype=np.float64) for one in values])
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    space = 0.08 * (high - low) or max(abs(low) * 0.1, 0.05)
    ax.set(ylim=(low - space, high + space), xlim=(span[0] - 0.4, span[1] + 0.4))


def _labels(ax: Axes, label: str, unit: str) -> None:
    space = (MARGINS_IN["left"] * 72 - 34) / FONT
    ax.set_yticks(_within(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]), ax.get_ylim()))
    ax.set_xticks(_within(MaxNLocator(10, integer=True), ax.get_xlim()))
    if unit == "proportion":
        ax.yaxis.set_major_formatter(FuncFormatter(_per_cent))
    ax.tick_params(labelsize=FONT - 1, length=2, pad=1.5)
    ax.spines[["right", "top"]].set_visible(False)
    style: dict[str, Any] = {
        "xycoords": "axes fraction",
        "textcoords": "offset points",
        "ha": "right",
        "parse_math": False,
    }
    lines = _wrapped(label, space)
    for i, line in enumerate(lines):
        ax.annotate(line, (0, 0.5), (-30, 10 - 10 * i), fontsize=FONT, fontweight="bold", va="center", **style)
    shown = "" if unit in ("proportion", "") else unit
    below = (-30.0, 10.0 - 10 * len(lines))
    ax.annotate(cut(shown, space + 2), (0, 0.5), below, fontsize=FONT - 1.5, va="center", alpha=0.75, **style)


def _within(locator: MaxNLocator, ends: tuple[float, float]) -> list[float]:
    """Return the ticks of an axis that lie between its ends."""
    return [float(one) for one in locator.tick_values(*ends) if ends[0] <= one <= ends[1]]


def _wrapped(label: str, space: float) -> list[str]:
    """Return a label on at most three lines."""
    lines: list[str] = [""]
    for word in label.split():
        fits = len(lines[-1]) + len(word) + 1 <= space * 1.55
        lines = [*lines[:-1], f"{lines[-1]} {word}".strip()] if fits or not lines[-1] else [*lines, word]
    return [cut(line, space) for line in lines[:3]]


def _per_cent(value: float, _place: int | None = None) -> str:
    return f"{100 * value:.3g}%"


def _head(ax: Axes, table: pd.DataFrame, name: str) -> None:
    """Write whose course it is and what the signs mean."""
    n = len(set(table.loc[table["kind"].isin(["scale", "measure"]), "number"]))
    clients = table["client"].nunique()
    of = f", {clients} clients" if clients > 1 else ""
    title = f"Course of {cut(' '.join(name.split()), 40)}: {n} session{'' if n == 1 else 's'}{of}"
    ax.set_title(title, fontsize=FONT + 3, fontweight="bold", loc="left", y=1, pad=20, parse_math=False)
    bands = (table["kind"] == "scale") & np.isfinite(numbers(table, "lo"))
    parts = [
        *(["Band: no reliable change since the first score."] if bands.any() else []),
        *(["Dashed: cutoff."] if (table["kind"] == "cutoff").any() else []),
        *(["Bars: 95% interval."] if ((table["kind"] == "measure") & np.isfinite(numbers(table, "lo"))).any() else []),
        *(["Dotted: mean."] if clients > 1 and (table["kind"] == "measure").any() else []),
        *(["Triangle: turns of danger, to be read."] if (table["kind"] == "danger").any() else []),
    ]
    note: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "fontsize": FONT}
    ax.annotate(" ".join(parts), (0, 1), (0, 9), **note)
