"""A machine's codes beside those of people: counts, probabilities, and rates of sessions, a small picture a code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from therapy_analytics.plots import FONT, axes_or_new, plot, say_instead
from therapy_analytics.plots._blocks import MOST, SIDE, Block, PictureGrid, blocks, names_of
from therapy_analytics.plots._codes import known_codes
from therapy_analytics.plots._colours import BLUE as COLOUR
from therapy_analytics.plots._outlines import cut, length
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

WORDS = {"0": "no", "1": "yes"}
DARK = 0.65
"""From this share of a row on, the cell is so dark that its writing is white."""
REACH = 1.96
FEWEST = 5
"""Of fewer sessions no limits are drawn: they would say nothing of others."""


CELL, LONGEST = 28.0, 9.0
"""Least side of a cell, in points, and the longest name of a value, in sizes of the font."""


def _grid(table: DataFrame) -> PictureGrid:
    """Return how large pictures must be for counts and names in them, of codes with most values."""
    shown = table[table["code"].astype(str).isin(names_of(table))]
    most = int(shown.groupby(shown["code"].astype(str))["human"].nunique().max()) if len(shown) else 2
    if most <= len(WORDS):
        return PictureGrid()
    names = max(length(_value(one)) for one in shown["human"].astype(str).unique())
    return PictureGrid(side=max(SIDE, CELL * most), names=min(names, LONGEST) * FONT)


def _value(value: str) -> str:
    """Return what a value is called."""
    return WORDS.get(value, value.partition("_")[2] if value in known_codes() else value).replace("_", " ")


def _sheet_height(table: DataFrame, width: float) -> float:
    return PictureGrid().height(min(len(names_of(table)), MOST), width)


def _matrices_height(table: DataFrame, width: float) -> float:
    return _grid(table).height(len(names_of(table)), width)


def _confusion_caption(_: DataFrame) -> str:
    return (
        "Where people and the machine agree. Rows: what most people coded; columns: the machine; in each cell the "
        "number of turns and the per cent of its row (the darker, the more)."
    )


def _calibration_caption(_: DataFrame) -> str:
    return (
        "Calibration of the machine's probabilities. Across: the machine's probability; up: share of turns to which "
        "most people gave the code, with its 95% interval. Dashed: perfect calibration."
    )


def _limits_caption(_: DataFrame) -> str:
    return (
        "Limits of agreement (Bland and Altman) of rates of sessions. Across: mean of both rates; up: machine less "
        "people. Solid: mean difference; dashed: limits between which 95% of differences lie."
    )


@plot(needs=("code", "human", "machine", "n"), takes="confusion", height=_matrices_height, caption=_confusion_caption)
def confusion_matrix(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
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
        Rows are people's values, columns the machine's; the darker a cell, the more of its row.
    """
    ax = axes_or_new(ax)
    if not names_of(table):
        return say_instead(ax, "no confusion matrix: no code was given by people and the machine")
    for block, own in blocks(ax, table, _grid(table)):
        _matrix(block, own)
    return ax


@plot(needs=("code", "p_mean", "observed"), takes="calibration", height=_sheet_height, caption=_calibration_caption)
def calibration_curve(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
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
        Points on the dashed line: of the turns given 70 %, people gave the code to 70 %.
    """
    ax = axes_or_new(ax)
    known = table[~np.isnan(numbers(table, "p_mean"))]
    if not names_of(known):
        return say_instead(ax, "no calibration curve: no probability stands beside a code by people")
    for block, own in blocks(ax, known, PictureGrid()):
        _curve(block, own)
    return ax


@plot(needs=("code", "human", "machine"), takes="rates", height=_sheet_height, caption=_limits_caption)
def limits_of_agreement(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
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
        Solid line: mean difference. Dashed: limits between which 95 % of differences lie.

    References
    ----------
    Bland, J. M., & Altman, D. G. (1986). Statistical methods for assessing agreement between two methods of clinical
    measurement. The Lancet, 327, 307-310.
    """
    ax = axes_or_new(ax)
    if not names_of(table):
        return say_instead(ax, "no differences: no session has rates by people and the machine")
    shown = table[table["code"].astype(str).isin(names_of(table))]
    reach = max(_reach(own) for _, own in shown.groupby(shown["code"].astype(str)))
    for block, own in blocks(ax, table, PictureGrid()):
        _sessions(block, own, float(np.ceil(10 * max(reach, 0.1) - 1e-9) / 10))
    return ax


def _matrix(block: Block, own: DataFrame) -> None:
    """Draw the cells of a code, and what each row and column is."""
    ax = block.ax
    values = list(dict.fromkeys(own["human"].astype(str)))
    k = len(values)
    counts = np.zeros((k, k))
    for human, machine, n in zip(own["human"].astype(str), own["machine"].astype(str), own["n"], strict=True):
        counts[values.index(human), values.index(machine)] = n
    total = counts.sum(axis=1)
    for (i, j), n in np.ndenumerate(counts):
        share = n / total[i] if total[i] else 0.0
        left, bottom = block.left + j / k, block.bottom + 1 - (i + 1) / k
        ax.add_patch(Rectangle((left, bottom), 1 / k, 1 / k, fc=str(1 - 0.8 * share), ec="0.5", lw=0.6))
        text = f"{n:,.0f}\n{share:.0%}" if total[i] else f"{n:,.0f}"
        style: dict[str, Any] = {"ha": "center", "va": "center", "linespacing": 1.0}
        block.write((j + 0.5) / k, 1 - (i + 0.5) / k, text, c="w" if share > DARK else "k", **style)
    gap = 2.5 / block.side
    few = k <= len(WORDS)
    for i, value in enumerate(values):
        text, at = cut(_value(value), LONGEST), (i + 0.5) / k
        block.write(-gap, 1 - at, text, ha="right", va="center", rotation=90 if few else 0)
        block.write(at, -gap, text, ha="center", va="top", rotation=0 if few else 90)


def _curve(block: Block, own: DataFrame) -> None:
    """Draw the observed shares of a code with their intervals."""
    p, observed, low, high = (numbers(own, name) for name in ("p_mean", "observed", "observed_lo", "observed_hi"))
    block.plot([0, 1], [0, 1], c="0.45", lw=0.8, ls=(0, (4, 2)), zorder=2)
    ends = np.stack([p, low, p, high], axis=1)[~np.isnan(low + high)].reshape(-1, 2, 2)
    ends += np.array([block.left, block.bottom])
    block.ax.add_collection(LineCollection(list(ends), colors=COLOUR, lw=1.0, alpha=0.8), autolim=False)
    block.plot(p, observed, c=COLOUR, lw=0.8, marker="o", ms=2.8, zorder=3)
    for at in (0, 0.5, 1):
        block.tick(at, f"{at:g}", f"{at:g}")


def _reach(own: DataFrame) -> float:
    """Return the largest of all differences and limits of a code."""
    difference = numbers(own, "machine") - numbers(own, "human")
    limits = difference.mean() + REACH * difference.std(ddof=1) * np.array([-1, 1]) if len(own) >= FEWEST else []
    return float(np.nanmax(np.abs([*difference, *limits]), initial=0))


def _sessions(block: Block, own: DataFrame, reach: float) -> None:
    """Draw the differences of a code, (`-reach`, `reach`) from foot to top, their mean and limits."""
    difference = numbers(own, "machine") - numbers(own, "human")
    block.plot([0, 1], [0.5, 0.5], c="0.75", lw=0.8, zorder=1)
    dots: dict[str, Any] = {"marker": "o", "ms": 2.4, "mfc": "none", "mec": COLOUR, "mew": 0.6}
    block.plot(numbers(own, "human") + difference / 2, 0.5 + difference / reach / 2, ls="", zorder=2, **dots)
    if len(difference) >= FEWEST:
        mean, sd = difference.mean(), difference.std(ddof=1)
        for value, style in ((mean, "-"), (mean - REACH * sd, "--"), (mean + REACH * sd, "--")):
            block.plot([0, 1], [0.5 + value / reach / 2] * 2, c="k", lw=0.8, ls=style, zorder=3)
    for at in (0, 0.5, 1):
        block.tick(at, f"{at:g}", f"{(2 * at - 1) * reach:+.1f}".replace("+0.0", "0"))
