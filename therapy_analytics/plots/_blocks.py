"""Several small pictures on one Axes: a grid of unit squares with their titles."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike
    from pandas import DataFrame

ACROSS = 5
MOST = 60
"""So many pictures are drawn; a sheet with more could not be read."""
_GAP_X, _GAP_Y = 0.38, 0.42


@dataclass(frozen=True, slots=True)
class Block:
    """One picture: where its lower left corner is, and the size of font that fits."""

    ax: Axes
    left: float
    bottom: float
    font: float

    def plot(self, x: ArrayLike, y: ArrayLike, **style: Any) -> None:
        """Draw a line or marks; both axes go from 0 to 1."""
        self.ax.plot(np.asarray(x) + self.left, np.asarray(y) + self.bottom, **style)

    def tick(self, at: float, across: str, up: str) -> None:
        """Write what a place on either axis is."""
        size = 0.8 * self.font
        self.ax.text(self.left + at, self.bottom - 0.03, across, fontsize=size, ha="center", va="top")
        self.ax.text(self.left - 0.03, self.bottom + at, up, fontsize=size, ha="right", va="center")


def sheet_size(n: int) -> tuple[float, float]:
    """Return width and height in inches for so many pictures."""
    across, down = _grid(min(n, MOST))
    return 2.0 + 1.75 * max(across, 3), 1.5 + 1.8 * down


def names_of(table: DataFrame) -> list[str]:
    """Return the codes of a table in its order, as many as are drawn."""
    return list(dict.fromkeys(table["code"].astype(str)))[:MOST]


def blocks(ax: Axes, table: DataFrame, title: str, note: str) -> Iterator[tuple[Block, DataFrame]]:
    """Write what the sheet shows, and yield a framed picture with its name, and the rows of a table, for each code."""
    names = names_of(table)
    across, down = _grid(len(names))
    ax.set(xlim=(-0.25, across * (1 + _GAP_X) - _GAP_X + 0.12), ylim=(-0.3, down * (1 + _GAP_Y) - 0.1))
    ax.set_aspect("equal", adjustable="box", anchor="NW")
    ax.set_axis_off()
    inch = 72 / ax.figure.dpi
    width = ax.bbox.width * inch / (across * (1 + _GAP_X))
    height = ax.bbox.height * inch / (down * (1 + _GAP_Y))
    font = float(np.clip(min(width, height) / 13, 3.5, 9))
    for at, name in enumerate(names):
        left, bottom = at % across * (1 + _GAP_X), (down - 1 - at // across) * (1 + _GAP_Y)
        words = name.replace("_", " ").replace("$", r"\$")
        words = words if len(words) <= 27 else f"{words[:26]}…"
        ax.text(left, bottom + 1.04, words, fontsize=font, fontweight="bold", va="bottom")
        block = Block(ax, left, bottom, font)
        yield block, table[table["code"].astype(str) == name]
        block.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], c="0.5", lw=0.6, zorder=1)
    size = float(np.clip(ax.bbox.width / ax.figure.dpi, 6, 9))
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    ax.annotate(title, (0, 1), (0, 2.1 * size), fontsize=size + 2, weight="bold", **place)
    ax.annotate(note, (0, 1), (0, 0.6 * size), fontsize=size, **place)


def _grid(n: int) -> tuple[int, int]:
    across = max(min(ACROSS, n), 1)
    return across, max(ceil(n / across), 1)
