"""Rates of sessions by the machine less those by people: Bland and Altman's plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._blocks import MOST, Block, blocks, frame, head
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

COLOUR = "#0072B2"
REACH = 1.96
FEWEST = 5
"""Of fewer sessions no limits are drawn: they would say nothing of others."""


@plot(needs=("code", "human", "machine"))
def limits_of_agreement(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw for each rate the machine's value less that of people, against the mean of both, a point a session.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.agreement.Agreement` has it in ``rates``: a row a code and session.
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
    names = list(dict.fromkeys(table["code"].astype(str)))[:MOST]
    if not names:
        return say_instead(ax, "no differences: no session has rates by people and the machine")
    parts = {name: table[table["code"].astype(str) == name] for name in names}
    reach = _reach(list(parts.values()))
    placed, font = blocks(ax, names)
    for block in placed:
        _sessions(ax, block, parts[block.name], reach, font)
    said = "Across: mean of both rates. Up: machine less people. Solid: mean. Dashed: 95% of sessions lie between."
    head(ax, "Rates of sessions, by the machine and by people", said)
    return ax


def _reach(parts: list[DataFrame]) -> float:
    """Return how far the axis must go to hold all differences and limits, in tenths."""
    ends = [0.1]
    for own in parts:
        difference = numbers(own, "machine") - numbers(own, "human")
        ends.append(float(np.abs(difference).max(initial=0)))
        if len(difference) >= FEWEST:
            ends.append(float(abs(difference.mean()) + REACH * difference.std(ddof=1)))
    return float(np.ceil(10 * np.nanmax(ends) - 1e-9) / 10)


def _sessions(ax: Axes, block: Block, own: DataFrame, reach: float, font: float) -> None:
    human, machine = numbers(own, "human"), numbers(own, "machine")
    difference, middle = machine - human, (machine + human) / 2
    frame(ax, block)
    ax.plot(block.x(np.array([0.0, 1])), block.y(np.array([0.5, 0.5])), c="0.75", lw=0.8, zorder=1)
    dots: dict[str, Any] = {
        "ls": "",
        "marker": "o",
        "ms": 0.3 * font,
        "mfc": "none",
        "mec": COLOUR,
        "mew": 0.07 * font,
        "zorder": 2,
    }
    ax.plot(block.x(middle), block.y(0.5 + difference / reach / 2), **dots)
    if len(difference) >= FEWEST:
        mean, sd = difference.mean(), difference.std(ddof=1)
        for value, style in ((mean, "-"), (mean - REACH * sd, "--"), (mean + REACH * sd, "--")):
            height = 0.5 + value / reach / 2
            ax.plot(block.x(np.array([0.0, 1])), block.y(np.array([height] * 2)), c="k", lw=0.9, ls=style, zorder=3)
    for at in (0, 0.5, 1):
        ax.text(block.left + at, block.bottom - 0.03, f"{at:g}", fontsize=0.8 * font, ha="center", va="top")
        said = f"{(2 * at - 1) * reach:+.1f}".replace("+0.0", "0")
        ax.text(block.left - 0.03, block.bottom + at, said, fontsize=0.8 * font, ha="right", va="center")
