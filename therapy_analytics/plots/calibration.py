"""Whether probabilities mean what they say: reliability diagrams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection

from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._blocks import MOST, Block, blocks, frame, head
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

COLOUR = "#0072B2"


@plot(needs=("code", "p_mean", "observed"))
def calibration_curve(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw for each code what share of turns people gave it, against the probability that the machine had said.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.agreement.Agreement` has it in ``calibration``; with ``observed_lo`` and
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
    names = list(dict.fromkeys(known["code"].astype(str)))[:MOST]
    if not names:
        return say_instead(ax, "no calibration curve: no probability stands beside a code by people")
    placed, font = blocks(ax, names)
    for block in placed:
        _curve(ax, block, known[known["code"].astype(str) == block.name], font)
    said = "Across: the machine's probability. Up: share that most people coded, 95% interval. Dashed: as it should be."
    head(ax, "What the machine's probabilities are worth", said)
    return ax


def _curve(ax: Axes, block: Block, own: DataFrame, font: float) -> None:
    p, observed = numbers(own, "p_mean"), numbers(own, "observed")
    low, high = numbers(own, "observed_lo"), numbers(own, "observed_hi")
    frame(ax, block)
    ax.plot(block.x(np.array([0.0, 1])), block.y(np.array([0.0, 1])), c="0.45", lw=0.8, ls=(0, (4, 2)), zorder=2)
    ends = [
        [(x, a), (x, b)]
        for x, a, b in zip(block.x(p).tolist(), block.y(low).tolist(), block.y(high).tolist(), strict=True)
        if not np.isnan([a, b]).any()
    ]
    ax.add_collection(LineCollection(ends, colors=COLOUR, lw=0.12 * font, alpha=0.8), autolim=False)
    ax.plot(block.x(p), block.y(observed), c=COLOUR, lw=0.1 * font, marker="o", ms=0.38 * font, zorder=3)
    for at in (0, 0.5, 1):
        ax.text(block.left + at, block.bottom - 0.03, f"{at:g}", fontsize=0.8 * font, ha="center", va="top")
        ax.text(block.left - 0.03, block.bottom + at, f"{at:g}", fontsize=0.8 * font, ha="right", va="center")
