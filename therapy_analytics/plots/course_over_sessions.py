"""The course over the sessions of a client, or of a counselor: scores above, measures of the talk below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.plots import FONT, axes_or_new, plot, say_instead
from therapy_analytics.plots import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots import Drawn

PANEL, HEAD, FOOT, LEFT, RIGHT = 62.0, 15.0, 22.0, 28.0, 8.0
"""Points: height of a panel, its name above it, the scale at the foot, scales at the left, the right edge."""
TOP, NAME = 8.0, 60.0
"""Points above the first name, for its triangles; and of the name of a client."""
MOST_PANELS, MOST_NAMED = 8, 12


def _panels(table: DataFrame) -> list[str]:
    """Return the scores and measures that have a value, scores first; at most so many as are drawn."""
    drawn = table[table["kind"].isin(["scale", "measure"]) & np.isfinite(style.numbers(table, "value"))]
    order = drawn["kind"].map({"scale": 0, "measure": 1}).sort_values(kind="stable").index
    return list(dict.fromkeys(drawn.loc[order, "name"].astype(str)))[:MOST_PANELS]


def _caption(table: DataFrame) -> str:
    name = " ".join(str(table["who"].iloc[0]).split())
    n = len(set(table.loc[table["kind"].isin(["scale", "measure"]), "number"]))
    clients = table["client"].nunique()
    of = f", {clients} clients" if clients > 1 else ""
    known = np.isfinite(style.numbers(table, "lo"))
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


@plot(
    needs=("who", "client", "number", "kind", "name", "label", "unit", "value", "lo", "hi"),
    takes="lines", caption=_caption,
)  # fmt: skip
def client_course(table: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
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
    people = list(dict.fromkeys(table["who"].astype(str)))
    if len(people) > 1:
        option = "table"
        problem = f"the plot 'client_course' shows one person and the table holds {len(people)}"
        raise BadOptionError(option, problem, "Select one: lines[lines.who == '...']")
    ax = axes_or_new(ax)
    table = table[np.isfinite(style.numbers(table, "number"))]
    names = _panels(table)
    if not names:
        return say_instead(ax, "no course: no session has a number with a score or a measure")
    page = style.Layout(ax)
    scores = table[table["kind"] == "scale"]
    named = 1 < scores["client"].nunique() <= MOST_NAMED
    right = RIGHT + max(style.text_width(style.fitted(one, NAME)) + 4 for one in scores["client"].astype(str)) * named
    danger = style.numbers(table[table["kind"] == "danger"], "number")
    ends = float(style.numbers(table, "number").min()) - 0.4, float(style.numbers(table, "number").max()) + 0.4
    for i, name in enumerate(names):
        own, top = table[table["name"] == name], TOP + i * (HEAD + PANEL)
        axes = page.panel(LEFT, top + HEAD, page.width - LEFT - right, PANEL - 6)
        axes.set_xlim(ends)
        _draw(axes, own, named=named)
        unit = str(own["unit"].iloc[0])
        label = f"{own['label'].iloc[0]}{'' if unit in ('proportion', '') else f' ({unit})'}"
        title = style.fitted(label, page.width - 2 * style.EDGE, bold=True)
        page.write(style.EDGE, top + HEAD / 2, title, fontweight="bold")
        for at in danger:
            axes.axvline(float(at), c=style.VERMILION, lw=1.0, alpha=0.6, ls=(0, (2, 2)), zorder=1, label="danger")
        if i == 0 and len(danger):
            axes.plot(danger, np.full(len(danger), axes.get_ylim()[1]), ls="", marker="v", ms=5, c=style.VERMILION,
                      clip_on=False, zorder=4, label="danger")  # fmt: skip
        axes.tick_params(labelbottom=i == len(names) - 1)
    axes.set_xlabel("Session")
    return ax, TOP + len(names) * (HEAD + PANEL) + FOOT


def _draw(axes: Axes, own: DataFrame, *, named: bool) -> None:
    """Draw one score with its band and cutoff, or one measure with its intervals; each client is a line."""
    rows, cutoff = own[own["kind"].isin(["scale", "measure"])], style.numbers(own[own["kind"] == "cutoff"], "value")
    is_score, several = bool((rows["kind"] == "scale").any()), rows["client"].nunique() > 1
    for _, line in rows.groupby("client", sort=False):
        _line(axes, line.sort_values("number", kind="stable"), is_score=is_score, several=several)
    known = np.concatenate([cutoff, *(style.numbers(rows, name) for name in ("value", "lo", "hi"))])
    known = known[np.isfinite(known)]
    space = 0.08 * np.ptp(known) or max(abs(known.min()) * 0.1, 0.05)
    axes.set_ylim(known.min() - space, known.max() + space)
    for value in cutoff[:1]:
        axes.axhline(value, c="k", lw=0.7, alpha=0.6, ls=(0, (4, 2)), zorder=1, label="cutoff")
    if several and not is_score:
        mean = float(np.nanmean(style.numbers(rows, "value")))
        axes.axhline(mean, c="k", lw=0.7, alpha=0.6, ls=(0, (1, 2)), zorder=1, label="mean")
    if several and is_score and named:
        _names(axes, rows)
    axes.set_yticks(style.between(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]), axes.get_ylim()))
    most = int(np.clip(style.width_of(axes) / 22, 3, 10))
    axes.set_xticks([one for one in style.between(MaxNLocator(most, integer=True), axes.get_xlim()) if one % 1 == 0])
    if str(rows["unit"].iloc[0]) == "proportion":
        axes.yaxis.set_major_formatter(FuncFormatter(style.per_cent))


def _line(axes: Axes, line: DataFrame, *, is_score: bool, several: bool) -> None:
    """Draw the values of one client: of scores the band without reliable change, of measures their intervals."""
    x, value, low, high = (style.numbers(line, name) for name in ("number", "value", "lo", "hi"))
    some = np.isfinite(low) & np.isfinite(high)
    if is_score and some.any():
        axes.axhspan(
            low[some][0], high[some][0], fc=style.SKY, alpha=0.25, lw=0, zorder=0.5, label="no reliable change"
        )
    elif not is_score:
        axes.vlines(x[some], low[some], high[some], colors=style.DATA, lw=1.4, alpha=0.75, zorder=2, label="interval")
    if is_score or not several:
        axes.plot(x, value, c=style.DATA, lw=1.0, alpha=0.55 if several else 1, zorder=2.5, label="course")
    axes.plot(x, value, ls="", marker="o", ms=3.6, mfc=style.DATA, mec="w", mew=0.6, zorder=3, label="sessions")


def _names(axes: Axes, rows: DataFrame) -> None:
    """Write the names of clients right of the panel, each as near to the end of its line as there is space."""
    ends = [line.iloc[int(np.argmax(style.numbers(line, "number")))] for _, line in rows.groupby("client", sort=False)]
    ends = sorted((one for one in ends if np.isfinite(float(one["value"]))), key=lambda one: float(one["value"]))
    low, high = axes.get_ylim()
    step = 1.2 * FONT / (PANEL - 6)
    levels = [(float(one["value"]) - low) / (high - low) for one in ends]
    for i in range(1, len(levels)):
        levels[i] = max(levels[i], levels[i - 1] + step)
    # What has been pushed above the panel comes down again.
    levels = [min(level, 1 - step * (len(levels) - 1 - i)) for i, level in enumerate(levels)]
    for one, level in zip(ends, levels, strict=True):
        axes.annotate(style.fitted(str(one["client"]), NAME, ends=True), (1, level), (4, 0), "axes fraction",
                      textcoords="offset points", va="center")  # fmt: skip
