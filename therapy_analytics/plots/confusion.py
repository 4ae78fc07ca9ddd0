"""What people said where the machine said something: matrices of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle

from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._blocks import MOST, Block, blocks, frame, head

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

WORDS = {"0": "no", "1": "yes"}
DARK = 0.65
"""From this share of a row on, the cell is so dark that its writing is white."""


@plot(needs=("code", "human", "machine", "n"))
def confusion_matrix(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw for each code how often the machine gave each value where most people gave one.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.agreement.Agreement` has it in ``confusion``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        Rows are people's values, columns the machine's; the darker a cell, the more of its row.
    """
    ax = axes_or_new(ax)
    names = list(dict.fromkeys(table["code"].astype(str)))[:MOST]
    if not names:
        return say_instead(ax, "no confusion matrix: no code was given by people and the machine")
    placed, font = blocks(ax, names)
    for block in placed:
        _matrix(ax, block, table[table["code"].astype(str) == block.name], font)
    said = "Rows: most people. Columns: the machine. Number of turns, and per cent of the row: the darker, the more."
    head(ax, "Where people and the machine agree", said)
    return ax


def _matrix(ax: Axes, block: Block, own: DataFrame, font: float) -> None:
    values = list(dict.fromkeys(own["human"].astype(str)))
    k = len(values)
    counts = np.zeros((k, k))
    for human, machine, n in zip(own["human"].astype(str), own["machine"].astype(str), own["n"], strict=True):
        counts[values.index(human), values.index(machine)] = n
    total = counts.sum(axis=1)
    for (i, j), n in np.ndenumerate(counts):
        share = n / total[i] if total[i] else 0.0
        corner = (block.left + j / k, block.bottom + 1 - (i + 1) / k)
        ax.add_patch(Rectangle(corner, 1 / k, 1 / k, fc=str(1 - 0.8 * share), ec="0.5", lw=0.6))
        said = f"{n:,.0f}\n{share:.0%}" if total[i] else f"{n:,.0f}"
        middle = (corner[0] + 0.5 / k, corner[1] + 0.5 / k)
        size = font if k == 2 else 0.8 * font
        ax.text(*middle, said, fontsize=size, ha="center", va="center", c="w" if share > DARK else "k")
    _sides(ax, block, values, font)
    frame(ax, block)


def _sides(ax: Axes, block: Block, values: list[str], font: float) -> None:
    k = len(values)
    for i, value in enumerate(values):
        said = WORDS.get(value, value.removeprefix("mi_"))
        at = (i + 0.5) / k
        size = 0.9 * font if k == 2 else 0.6 * font
        ax.text(block.left - 0.02, block.bottom + 1 - at, said, fontsize=size, ha="right", va="center", rotation=90)
        ax.text(block.left + at, block.bottom - 0.02, said, fontsize=size, ha="center", va="top")
