"""A machine's codes beside those of people: counts, probabilities, and rates of sessions, a small panel a code."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from therapy_analytics.plots import _style as style
from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._codes import known_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots import Drawn
    from therapy_analytics.plots._style import Floats

MOST = 60
"""So many panels are drawn; a sheet with more could not be read."""
NAME, FOOT, LEFT = 14.0, 16.0, 27.0
"""Points: a panel's name above it, what stands beneath, and what stands left of it."""
CELL, LONGEST = 28.0, 65.0
"""Least side of a cell, and the longest name of a value, in points."""
WORDS = {"0": "no", "1": "yes"}
DARK = 0.65
"""From this share of a row on, the cell is so dark that its writing is white."""
REACH, FEWEST = 1.96, 5
"""Standard deviations to the limits of agreement; and of how many sessions there must be for them."""


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Panels beside and beneath one another: a panel's side, and what is free left of and below it, in points."""

    side: float = 66.0
    left: float = LEFT
    foot: float = FOOT

    def panels(self, ax: Axes, table: DataFrame) -> tuple[list[tuple[Axes, DataFrame]], float]:
        """Return named axes and the rows of a table for each code, and how high all is."""
        page, names = style.Layout(ax), _names(table)
        side = min(self.side, page.width - self.left - 6)
        wide, high = self.left + self.side + 6, NAME + self.side + self.foot + 6
        across, found = int(np.clip(page.width // wide, 1, len(names))), []
        for i, name in enumerate(names):
            left, top = i % across * wide, i // across * high
            title = style.fitted(name.replace("_", " "), self.side + self.left, bold=True)
            page.write(left + 3, top + NAME / 2, title, fontweight="bold")
            axes = page.panel(left + self.left, top + NAME, side, side)
            axes.spines[:].set_visible(True)
            axes.spines[:].set_color("0.5")
            axes.tick_params(length=0, pad=2.5)
            found.append((axes, table[table["code"].astype(str) == name]))
        return found, ceil(len(names) / across) * high


def _names(table: DataFrame) -> list[str]:
    """Return the codes of a table in its order, as many as are drawn."""
    return list(dict.fromkeys(table["code"].astype(str)))[:MOST]


def _value(value: str) -> str:
    """Return what a value is called."""
    name = WORDS.get(value, value.partition("_")[2] if value in known_codes() else value).replace("_", " ")
    return style.fitted(name, LONGEST)


def _matrices(table: DataFrame) -> _Sheet:
    """Return how large panels must be for the counts and names of the code with most values."""
    shown = table[table["code"].astype(str).isin(_names(table))]
    most = int(shown.groupby(shown["code"].astype(str))["human"].nunique().max()) if len(shown) else 2
    if most <= len(WORDS):
        return _Sheet()
    names = max(style.text_width(_value(one)) for one in shown["human"].astype(str).unique())
    return _Sheet(max(66.0, CELL * most), max(LEFT, names + 6), max(FOOT, names + 6))


@plot(
    needs=("code", "human", "machine", "n"), takes="confusion",
    caption=lambda _: (
        "Where people and the machine agree. Rows: what most people coded; columns: the machine; in each cell the "
        "number of turns and the per cent of its row (the darker, the more)."
    ),
)  # fmt: skip
def confusion_matrix(table: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
    """Draw for each code how often the machine gave each value where most people gave one.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.stats.agreement.Agreement` has it in ``confusion``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the axes of the codes. Rows are people's values, columns the machine's; the darker a cell, the more of
        its row.
    """
    ax = axes_or_new(ax)
    if not _names(table):
        return say_instead(ax, "no confusion matrix: no code was given by people and the machine")
    panels, high = _matrices(table).panels(ax, table)
    for axes, own in panels:
        human, machine = own["human"].astype(str), own["machine"].astype(str)
        values = list(dict.fromkeys(human))
        counts = np.zeros((len(values), len(values)))
        counts[[values.index(one) for one in human], [values.index(one) for one in machine]] = own["n"]
        total = counts.sum(axis=1, keepdims=True)
        share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
        axes.pcolormesh(1 - 0.8 * share, cmap="gray", vmin=0, vmax=1, ec="0.5", lw=0.6)
        axes.invert_yaxis()
        for (i, j), n in np.ndenumerate(counts):
            words = f"{n:,.0f}\n{share[i, j]:.0%}" if total[i] else f"{n:,.0f}"
            ink = "w" if share[i, j] > DARK else "k"
            axes.text(j + 0.5, i + 0.5, words, ha="center", va="center", color=ink, linespacing=1.1)
        few = len(values) <= len(WORDS)
        names, places = [_value(one) for one in values], np.arange(len(values)) + 0.5
        axes.set_xticks(places, names, rotation=0 if few else 90)
        axes.set_yticks(places, names, rotation=90 if few else 0, va="center")
    return ax, high


@plot(
    needs=("code", "p_mean", "observed"), takes="calibration",
    caption=lambda _: (
        "Calibration of the machine's probabilities. Across: the machine's probability; up: share of turns to which "
        "most people gave the code, with its 95% interval. Dashed: perfect calibration."
    ),
)  # fmt: skip
def calibration_curve(table: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
    """Draw for each code what share of turns people gave it, against the probability that the machine had said.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.stats.agreement.Agreement` has it in ``calibration``; with ``observed_lo`` and
        ``observed_hi`` the intervals are drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the axes of the codes. Points on the dashed line: of the turns given 70 %, people gave the code to
        70 %.
    """
    ax = axes_or_new(ax)
    known = table[~np.isnan(style.numbers(table, "p_mean"))]
    if not _names(known):
        return say_instead(ax, "no calibration curve: no probability stands beside a code by people")
    panels, high = _Sheet().panels(ax, known)
    for axes, own in panels:
        p, observed, low, top = (
            style.numbers(own, name) for name in ("p_mean", "observed", "observed_lo", "observed_hi")
        )
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.plot([0, 1], [0, 1], c="0.45", lw=0.8, ls=(0, (4, 2)), label="perfect")
        axes.vlines(p, low, top, colors=style.BLUE, lw=1.0, alpha=0.8, clip_on=False, label="interval")
        axes.plot(p, observed, c=style.BLUE, lw=0.8, marker="o", ms=2.8, clip_on=False, label="observed")
        _scales(axes, (0, 0.5, 1), ("0", "0.5", "1"))
    return ax, high


@plot(
    needs=("code", "human", "machine"), takes="rates",
    caption=lambda _: (
        "Limits of agreement (Bland and Altman) of rates of sessions. Across: mean of both rates; up: machine less "
        "people. Solid: mean difference; dashed: limits between which 95% of differences lie."
    ),
)  # fmt: skip
def limits_of_agreement(table: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
    """Draw for each rate the machine's value less that of people, against the mean of both, a point a session.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.stats.agreement.Agreement` has it in ``rates``: a row a code and session.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the axes of the codes. Solid line: mean difference. Dashed: limits between which 95 % of differences
        lie.

    References
    ----------
    Bland, J. M., & Altman, D. G. (1986). Statistical methods for assessing agreement between two methods of clinical
    measurement. The Lancet, 327, 307-310.
    """
    ax = axes_or_new(ax)
    if not _names(table):
        return say_instead(ax, "no differences: no session has rates by people and the machine")
    shown = table[table["code"].astype(str).isin(_names(table))]
    drawn = [np.r_[_differences(own), _limits(own)] for _, own in shown.groupby(shown["code"].astype(str))]
    reach = float(np.nanmax(np.abs(np.concatenate(drawn)), initial=0.1))
    reach = ceil(10 * reach - 1e-9) / 10
    panels, high = _Sheet().panels(ax, table)
    for axes, own in panels:
        difference = _differences(own)
        axes.set(xlim=(0, 1), ylim=(-reach, reach))
        axes.axhline(0, c="0.75", lw=0.8)
        dots: dict[str, Any] = {
            "ls": "",
            "marker": "o",
            "ms": 2.4,
            "mfc": "none",
            "mec": style.BLUE,
            "mew": 0.6,
            "clip_on": False,
        }
        axes.plot(style.numbers(own, "human") + difference / 2, difference, label="sessions", **dots)
        for value, line in zip(_limits(own), ("-", "--", "--"), strict=False):
            axes.axhline(value, c="k", lw=0.8, ls=line, label="limits")
        _scales(
            axes, (-reach, 0, reach), [style.number(one, 1, sign=True) if one else "0" for one in (-reach, 0, reach)]
        )
    return ax, high


def _differences(own: DataFrame) -> Floats:
    found: Floats = style.numbers(own, "machine") - style.numbers(own, "human")
    return found


def _limits(own: DataFrame) -> Floats:
    """Return the mean difference and the limits around it; nothing where there are few sessions."""
    difference = _differences(own)
    if len(difference) < FEWEST:
        return np.zeros(0)
    found: Floats = difference.mean() + REACH * difference.std(ddof=1) * np.array([0.0, -1.0, 1.0])
    return found


def _scales(axes: Axes, up: tuple[float, float, float], words: Sequence[str]) -> None:
    """Name both ends and the middle of both scales, inside the panel's width and height."""
    axes.set_xticks((0, 0.5, 1), ("0", "0.5", "1"))
    axes.set_yticks(up, words)
    for labels, sides in ((axes.get_xticklabels(), ("left", "right")), (axes.get_yticklabels(), ("bottom", "top"))):
        for label, side in zip(labels[::2], sides, strict=True):
            label.set(**{"ha" if side in ("left", "right") else "va": side})
