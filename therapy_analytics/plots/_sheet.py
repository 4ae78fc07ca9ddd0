"""The sheet that synchrony of one session is drawn on: lanes and rows at the left, a table of numbers at the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch

from therapy_analytics.plots import MARGINS_IN
from therapy_analytics.plots._outlines import ADVANCE, Line, length, outlines, sentences
from therapy_analytics.plots._synchrony import MARKS, WHO, Found, decimals, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from therapy_analytics.plots._turns import Floats

# The timeline's colours: blue and orange also differ as greys, and marks and dashes tell them apart as well.
COLOURS = {"therapist": "#0072B2", "client": "#E69F00"}
STROKES = {"therapist": "-", "client": (0, (3.5, 1.2)), "both": "-"}
MOST = 3.5
"""So many standard deviations from chance are drawn; what lies further is put at the end, as an arrow."""
TABLE = 32.5
"""Width, in sizes of the font, of the numbers at the right end of the axes."""
COLUMNS = {"replies of": -10, "value": 8, "chance": 8, "z": 6, "p": 7, "strangers": 11, "z ": 7}
"""Heads and widths, in letters, of the numbers; words begin where their column does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The axes, measured once: x counts turns, y rows of text from the foot of the head (0) down.

    Attributes
    ----------
    ax : matplotlib.axes.Axes
        Where all is drawn.
    last : float
        The last turn: where lanes end.
    point, row : float
        What one point (1/72 inch) is on the x-axis, and on the y-axis.
    font : float
        Size of the text in points.
    ink : str
        Colour of what belongs to neither speaker.
    """

    ax: Axes
    last: float
    point: float
    row: float
    font: float
    ink: str

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        """Write at a turn and a row; ids and names are no formulas."""
        usual: dict[str, Any] = {"fontsize": self.font, "va": "center", "parse_math": False}
        self.ax.text(x, y, text, **(usual | style))

    def mark(self, x: Sequence[float] | Floats, y: Sequence[float] | Floats, who: str, **style: Any) -> None:
        """Put a direction's marks somewhere; lines made here need not be fitted to the limits."""
        style = {"marker": MARKS[who], "color": self.colour(who), "ls": "", "clip_on": False} | style
        self.ax.add_line(Line2D(x, y, **style))  # type: ignore[arg-type]

    def outline(self, lines: Iterable[Line], *, size: float = 0.85, said: bool = False, **style: Any) -> None:
        """Write numbers, or sentences that all figures share, as one path."""
        height = size * self.font
        path = (sentences if said else outlines)(lines, (height * self.point, height * self.row))
        self.ax.add_artist(PathPatch(path, fc=self.ink, lw=0, clip_on=False, **style))

    def colour(self, who: str) -> str:
        return COLOURS.get(who, self.ink)

    def at(self, z: Floats) -> Floats:
        """Return where standard deviations lie on the x-axis; `MOST` at its ends."""
        return self.last * (np.clip(z, -MOST, MOST) + MOST) / (2 * MOST)


def open_sheet(ax: Axes, *, top: float, height: float, last: float) -> Sheet:
    """Set the limits, rows from `top` down, and find a size at which the text fits the axes as they are now."""
    inch, height, last = 72 / ax.figure.dpi, max(height, 1.0), max(last, 1.0)
    width, high = ax.bbox.width * inch, ax.bbox.height * inch
    font = float(np.clip(min(0.66 * high / height, width / 80), 3.5, 8.5))
    point = last / max(width - TABLE * font, width / 3)
    ax.set(xlim=(0, point * width), ylim=(top - height, top), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    row = height / high
    return Sheet(ax=ax, last=last, point=point, row=row, font=font, ink=rcParams["text.color"])


def write_name(page: Sheet, label: str, y: float) -> None:
    """Write a name left of a row; smaller where it is long, cut where that does not do."""
    room, least = MARGINS_IN["left"] * 72 / page.font - 1.5, 0.75
    fits = int(len(label) * room / (least * length(label)))
    label = label if len(label) <= fits else label[: fits - 1] + "…"
    size = min(room / length(label), 1.0)
    page.outline([(-0.7 * page.font * page.point, y, label, "right")], size=size, said=True, gid=f"name {label}")


def draw_scale(page: Sheet, y: float, places: Floats, labels: list[str]) -> None:
    lines = [[(0, y), (page.last, y)], *([(x, y), (x, y - 0.2)] for x in places)]
    page.ax.add_collection(LineCollection(lines, colors="0.5", lw=0.7, capstyle="butt"), autolim=False)
    page.outline([(x, y - 0.75, label, "center") for x, label in zip(places.tolist(), labels, strict=True)], size=0.95)


def write_table(page: Sheet, found: list[tuple[Found, float]]) -> None:
    """Write the figures of the whole session, a row for each direction, at the height of each measure's first row."""
    lines: list[Line] = []
    keys: list[tuple[str, float]] = []
    left = page.last + 2.2 * page.font * page.point
    for one, top in found:
        places = decimals(figures[i] for figures in one.whole.values() for i in (0, 1, 4))
        for i, (who, figures) in enumerate(one.whole.items()):
            lines.append((left, top - i, _cells([who, *_numbers(figures, places)]), "left"))
            keys.append((who, top - i))
    page.outline(lines, gid="table")
    for who in WHO:
        y = [level for whose, level in keys if whose == who]
        page.mark([page.last + 1.5 * page.font * page.point] * len(y), y, who, ms=0.45 * page.font, gid=f"key {who}")


def _numbers(figures: Floats, places: int) -> list[str]:
    value, null, z, p, strangers, strangers_z = figures.tolist()
    others = [number(strangers, places), number(strangers_z, 1, sign=True)]
    return [*(number(one, places) for one in (value, null)), number(z, 1, sign=True), number(p, 3), *others]


def _cells(cells: Iterable[str]) -> str:
    """Return a row of the table: words begin, and numbers end, where those above do."""
    padded = zip(cells, COLUMNS.values(), strict=True)
    return "".join(cell.ljust(-width) if width < 0 else cell.rjust(width) for cell, width in padded)


def write_heads(page: Sheet, top: float) -> None:
    """Write what the columns of numbers are, each over the end of its column."""
    left, width = page.last + 2.2 * page.font * page.point, ADVANCE * 0.85 * page.font * page.point
    page.write(left, top - 0.85, "the whole session", fontweight="bold", alpha=0.75)
    lines: list[Line] = [(left, top - 1.95, next(iter(COLUMNS)), "left")]
    ends = np.cumsum(np.abs(list(COLUMNS.values()))) * width + left
    lines += [(x, top - 1.95, head.strip(), "right") for x, head in list(zip(ends.tolist(), COLUMNS, strict=True))[1:]]
    page.outline(lines, said=True, size=0.9, alpha=0.8)
