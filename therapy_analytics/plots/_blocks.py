"""Several small pictures on one Axes: a grid of unit squares with their titles."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from therapy_analytics.plots._turns import Floats

ACROSS = 5
MOST = 60
"""So many pictures are drawn; a sheet with more could not be read."""
_GAP_X, _GAP_Y = 0.38, 0.42


@dataclass(frozen=True, slots=True)
class Block:
    """One picture: where its lower left corner is."""

    name: str
    left: float
    bottom: float

    def x(self, values: Floats | float) -> Floats:
        """Return places across for values from 0 to 1."""
        return np.asarray(values, dtype=np.float64) + self.left

    def y(self, values: Floats | float) -> Floats:
        """Return heights for values from 0 to 1."""
        return np.asarray(values, dtype=np.float64) + self.bottom


def sheet_size(n: int) -> tuple[float, float]:
    """Return width and height in inches for so many pictures."""
    across, down = _grid(min(n, MOST))
    return 2.0 + 1.75 * max(across, 3), 1.5 + 1.8 * down


def blocks(ax: Axes, names: list[str]) -> tuple[list[Block], float]:
    """Lay out a picture for each name, write the names, and return them with the size of font that fits."""
    across, down = _grid(len(names))
    ax.set(xlim=(-0.25, across * (1 + _GAP_X) - _GAP_X + 0.12), ylim=(-0.3, down * (1 + _GAP_Y) - 0.1))
    ax.set_aspect("equal", adjustable="box", anchor="NW")
    ax.set_axis_off()
    inch = 72 / ax.figure.dpi
    width = ax.bbox.width * inch / (across * (1 + _GAP_X))
    height = ax.bbox.height * inch / (down * (1 + _GAP_Y))
    font = float(np.clip(min(width, height) / 13, 3.5, 9))
    found = []
    for at, name in enumerate(names):
        left, bottom = at % across * (1 + _GAP_X), (down - 1 - at // across) * (1 + _GAP_Y)
        found.append(Block(name, left, bottom))
        ax.text(left, bottom + 1.04, _short(name), fontsize=font, fontweight="bold", va="bottom")
    return found, font


def frame(ax: Axes, block: Block) -> None:
    """Draw the edges of a picture."""
    x, y = block.left, block.bottom
    ax.plot([x, x + 1, x + 1, x, x], [y, y, y + 1, y + 1, y], c="0.5", lw=0.6, zorder=1)


def head(ax: Axes, title: str, said: str) -> None:
    """Write above the sheet what it shows."""
    font = float(np.clip(ax.bbox.width / ax.figure.dpi, 6, 9))
    ax.annotate(
        title, (0, 1), (0, 2.1 * font), "axes fraction", textcoords="offset points", fontsize=font + 2, weight="bold"
    )
    ax.annotate(said, (0, 1), (0, 0.6 * font), "axes fraction", textcoords="offset points", fontsize=font)


def _grid(n: int) -> tuple[int, int]:
    across = max(min(ACROSS, n), 1)
    return across, max(ceil(n / across), 1)


def _short(name: str) -> str:
    words = name.replace("_", " ").replace("$", r"\$")
    return words if len(words) <= 27 else f"{words[:26]}…"
