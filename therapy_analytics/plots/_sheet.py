"""The sheet that synchrony of one session is drawn on: lanes and rows at the left, a table of numbers at the right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams

from therapy_analytics.plots._artists import Dots, strokes
from therapy_analytics.plots._outlines import ADVANCE, BOLD, NUMBERS, WORDS, Font, Line, Texts, length
from therapy_analytics.plots._synchrony import MARKS, WHO, Found, decimals, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from therapy_analytics.plots._turns import Floats

# The timeline's colours: blue and orange also differ as greys, and marks and dashes tell them apart as well.
COLOURS = {"therapist": "#0072B2", "client": "#E69F00"}
STROKES = {"therapist": "-", "client": (0, (3.5, 1.2)), "both": "-"}
MOST = 3.5
"""So many standard deviations from the null mean are drawn; what lies further is put at the end, as an arrow."""
TABLE = 35.3
"""Width, in sizes of the font, of the numbers at the right end of the axes."""
NUMERAL = 0.9
"""Size of numbers, in sizes of the font."""
INSET = 3.0
"""Width of the left end of the axes, which the names have in addition to the margin."""
COLUMNS = {"replies of": -10, "value": 9, "shuffled": 9, "z": 6, "p": 7, "surrogate": 11, "z ": 7}
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
    texts : Texts
        What is to be written.
    """

    ax: Axes
    last: float
    point: float
    row: float
    font: float
    ink: str
    texts: Texts = field(default_factory=Texts)

    def mark(self, x: Sequence[float] | Floats, y: Sequence[float] | Floats, who: str, **style: Any) -> None:
        """Put a direction's marks somewhere; lines made here need not be fitted to the limits."""
        if len(x) == 0:
            return
        style = {"marker": MARKS[who], "color": self.colour(who), "ls": "", "clip_on": False} | style
        self.ax.add_artist(Dots(x, y, **style))  # type: ignore[arg-type]

    def outline(
        self,
        lines: Iterable[Line],
        *,
        size: float = NUMERAL,
        said: bool = False,
        font: Font = WORDS,
        alpha: float = 1.0,
    ) -> None:
        """Write numbers, or sentences (`said`); `size` is in sizes of the sheet's font."""
        height = size * self.font
        where = (height * self.point, height * self.row)
        self.texts.add(lines, where, font if said else NUMBERS, alpha=alpha)

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
    point = last / max(width - (TABLE + INSET) * font, width / 3)
    ax.set(xlim=(-INSET * font * point, point * (width - INSET * font)), ylim=(top - height, top))
    ax.set_axis_off()
    row = height / high
    return Sheet(ax=ax, last=last, point=point, row=row, font=font, ink=rcParams["text.color"])


def write_names(page: Sheet, names: Iterable[tuple[str, float]]) -> None:
    """Write names left of rows; smaller where they are long, cut where that does not do."""
    room = page.ax.bbox.x0 * 72 / page.ax.figure.dpi / page.font + INSET - 1.1
    drawn: dict[float, list[Line]] = {}
    for name, y in names:
        label, size = _fitted(name, room)
        drawn.setdefault(size, []).append((-0.7 * page.font * page.point, y, label, "right"))
    for size, lines in drawn.items():
        page.outline(lines, size=size, said=True)


def _fitted(name: str, room: float) -> tuple[str, float]:
    """Return a name and its size, in sizes of the font, so that it has so much room."""
    label, least = name, 0.9
    while length(label) * least > room:
        name = name[:-1]
        label = f"{name.rstrip()}…"
    # Of few sizes each is one path.
    return label, next(size for size in (1.0, 0.95, least) if length(label) * size <= room or size == least)


def draw_scale(page: Sheet, y: float, places: Floats, labels: list[str]) -> None:
    lines = [(0, y, page.last, y), *((x, y, x, y - 0.2) for x in places.tolist())]
    page.ax.add_artist(strokes(lines, ec="0.5", lw=0.7, clip_on=False))
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
    page.outline(lines)
    for who in WHO:
        y = [level for whose, level in keys if whose == who]
        page.mark([page.last + 1.5 * page.font * page.point] * len(y), y, who, ms=0.45 * page.font, gid=f"key {who}")


def _numbers(figures: Floats, places: int) -> list[str]:
    value, null, z, p, surrogate, surrogate_z = figures.tolist()
    others = [number(surrogate, places), number(surrogate_z, 1, sign=True)]
    return [*(number(one, places) for one in (value, null)), number(z, 1, sign=True), number(p, 3), *others]


def _cells(cells: Iterable[str]) -> str:
    """Return a row of the table: words begin, and numbers end, where those above do."""
    padded = zip(cells, COLUMNS.values(), strict=True)
    return "".join(cell.ljust(-width) if width < 0 else cell.rjust(width) for cell, width in padded)


def write_heads(page: Sheet, top: float) -> None:
    """Write what the columns of numbers are, each over the end of its column."""
    left, width = page.last + 2.2 * page.font * page.point, ADVANCE * NUMERAL * page.font * page.point
    page.outline([(left, top - 0.85, "the whole session", "left")], said=True, size=1.0, font=BOLD, alpha=0.75)
    lines: list[Line] = [(left, top - 1.95, next(iter(COLUMNS)), "left")]
    ends = np.cumsum(np.abs(list(COLUMNS.values()))) * width + left
    lines += [(x, top - 1.95, head.strip(), "right") for x, head in list(zip(ends.tolist(), COLUMNS, strict=True))[1:]]
    page.outline(lines, said=True, size=0.9, alpha=0.8)
