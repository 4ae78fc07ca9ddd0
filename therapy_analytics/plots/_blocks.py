"""Several small pictures on one Axes: a grid of unit squares with their titles."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from therapy_analytics.plots import FONT, INCH_PT
from therapy_analytics.plots._outlines import BOLD, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike
    from pandas import DataFrame

MOST = 60
"""So many pictures are drawn; a sheet with more could not be read."""
SIDE, NAME, FOOT, LEFT = 66.0, 12.0, 18.0, 27.0
"""Points: a side of a picture, its name above, what stands beneath, and what stands left of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """One picture: where its lower left corner is, and the size of the font."""

    ax: Axes
    left: float
    bottom: float
    font: float
    side: float

    def plot(self, x: ArrayLike, y: ArrayLike, **style: Any) -> None:
        """Draw a line or marks; both axes go from 0 to 1."""
        self.ax.plot(np.asarray(x) + self.left, np.asarray(y) + self.bottom, **style)

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        """Write at a place of the picture."""
        place: dict[str, Any] = {"fontsize": self.font, "parse_math": False} | style
        self.ax.text(self.left + x, self.bottom + y, text, **place)

    def tick(self, at: float, across: str, up: str) -> None:
        """Write what a place on either axis is."""
        gap = 2.5 / self.side
        sides = {0.0: "left", 1.0: "right"}
        self.write(at, -gap, across, ha=sides.get(at, "center"), va="top")
        ends = {0.0: "bottom", 1.0: "top"}
        self.write(-gap, at, up, ha="right", va=ends.get(at, "center"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureGrid:
    """How large pictures are, in points, and what is kept free left of and beneath each.

    Attributes
    ----------
    side : float
        A side of a picture.
    names : float
        What is kept free left and beneath for names of values; 0 where numbers stand there.
    """

    side: float = SIDE
    names: float = 0.0

    @property
    def pitch(self) -> tuple[float, float]:
        """Return how far pictures are apart, across and up."""
        return self.side + max(LEFT, self.names + 6) + 6, self.side + NAME + max(FOOT, self.names + 8) + 4

    def shape(self, n: int, width: float) -> tuple[int, int]:
        """Return how many of n pictures stand beside one another at a width, and beneath one another."""
        across = int(np.clip(width // self.pitch[0], 1, max(n, 1)))
        return across, ceil(n / across)

    def height(self, n: int, width: float) -> float:
        """Return how many points high a sheet of n pictures is at a width."""
        return self.shape(min(n, MOST), width)[1] * self.pitch[1] + 4 if n else 60.0


def names_of(table: DataFrame) -> list[str]:
    """Return the codes of a table in its order, as many as are drawn."""
    return list(dict.fromkeys(table["code"].astype(str)))[:MOST]


def blocks(ax: Axes, table: DataFrame, grid: PictureGrid) -> Iterator[tuple[Block, DataFrame]]:
    """Yield a framed picture with its name, and the rows of a table, for each code."""
    names = names_of(table)
    width, height = (side * INCH_PT / ax.figure.dpi for side in (ax.bbox.width, ax.bbox.height))
    across, _ = grid.shape(len(names), width)
    scale = float(np.clip((height + 0.5) / grid.height(len(names), width), 0.3, 1.0))
    side, (wide, high) = grid.side * scale, (one * scale for one in grid.pitch)
    # Where the axes are narrower than one picture, they are all of it.
    side *= min(1.0, width / wide)
    ax.set(xlim=(0, width / side), ylim=(-height / side, 0))
    ax.set_axis_off()
    left = (wide - 6 * scale - grid.side * scale) / side
    for at, name in enumerate(names):
        x, y = at % across * wide / side + left, -(at // across) * high / side - (NAME + 2) * scale / side - 1
        block = Block(ax, x, y, FONT * scale, side)
        words = cut(name.replace("_", " "), (wide - 4 * scale) / (FONT * scale), BOLD)
        block.write(-left + 2 / side, 1 + 3 / side, words, fontweight="bold", va="bottom")
        yield block, table[table["code"].astype(str) == name]
        block.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], c="0.5", lw=0.6, zorder=1)
