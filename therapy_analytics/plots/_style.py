"""What figures share: colours and signs, panels on an Axes, legends that fit, and text that fits."""

from __future__ import annotations

import functools
from math import ceil, floor, isnan, log10
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2D, ScaledTranslation

from therapy_analytics.plots import FONT, INCH_PT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.ticker import MaxNLocator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

# Okabe and Ito's colours, which people who do not see red or green can tell apart. What stands side by side also
# differs as grey, or in shape, filling or place: figures are printed in grey, too.
BLUE, ORANGE, SKY, GREEN, VERMILION, GREY = "#0072B2", "#E69F00", "#56B4E9", "#009E73", "#D55E00", "#777777"
ROLES = {"therapist": BLUE, "client": ORANGE, "other": GREY, "both": "0.15"}
"""Who speaks, or whose replies."""
SIGNS = {"therapist": "o", "client": "s", "other": "D", "both": "D"}
DATA = "#0B3C5D"
MINUS = "\N{MINUS SIGN}"
"""As long as a plus, which a hyphen is not."""
EDGE = 3.0
"""Points that stay free at the edges of a figure."""
KEY = 1.58 * FONT
"""Points that a line of a legend takes."""


class Layout:
    """Axes that hold others: panels, words and legends at so many points from their upper left corner."""

    def __init__(self, ax: Axes) -> None:
        ax.set_axis_off()
        self.ax, self.width = ax, width_of(ax)
        corner: Any = ScaledTranslation(0, 1, ax.transAxes)  # type: ignore[arg-type]  # any transform will do
        self._points = Affine2D().scale(1 / 72, -1 / 72) + ax.figure.dpi_scale_trans + corner

    def panel(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return new axes without a ground of their own."""
        found = self.ax.inset_axes((left, top, max(width, 1), max(height, 1)), transform=self._points)
        found.patch.set_visible(False)
        return found

    def write(self, x: float, y: float, words: str, **look: Any) -> None:
        """Write with the middle of the letters at a height."""
        self.ax.text(x, y, words, **{"va": "center_baseline", "transform": self._points, **look})

    def mark(self, x: float, y: float, sign: Line2D) -> None:
        """Put a sign at a place."""
        sign.set_data((x,), (y,))
        sign.set_transform(self._points)
        self.ax.add_artist(sign)

    def rule(self, y: float) -> None:
        """Draw a faint line across."""
        self.ax.plot((0, self.width), (y, y), transform=self._points, c="0.5", alpha=0.3, lw=0.5)

    def legend(self, keys: Mapping[str, Any], *, top: float = EDGE, width: float = 0.0) -> float:
        """Explain signs, each by its words, in lines that fit the width, and return where the last one ends."""
        lines, width = list[list[str]](), width or self.width
        used = width
        for words in keys:
            needed = text_width(words) + 4.4 * FONT
            if used + needed - 1.8 * FONT > width - EDGE:
                lines.append([])
                used = 0.0
            lines[-1].append(words)
            used += needed
        for i, line in enumerate(lines):
            found = Legend(
                self.ax, [keys[words] for words in line], line, ncols=len(line), loc="upper left",
                bbox_to_anchor=(EDGE, top + i * KEY), bbox_transform=self._points, borderaxespad=0, borderpad=0.25,
                handlelength=2, handletextpad=0.6, columnspacing=1.8,
            )  # fmt: skip
            self.ax.add_artist(found)
        return top + KEY * len(lines) + 2 * bool(lines)


def width_of(ax: Axes) -> float:
    """Return how many points wide axes are."""
    return float(ax.bbox.width * INCH_PT / ax.figure.dpi)


def dot(colour: str, marker: str = "o", line: Any = "", **style: Any) -> Line2D:
    """Return a sign of a legend: a marker, on a line where there is one."""
    return Line2D([], [], **{"c": colour, "marker": marker, "ls": line, "ms": 4.5, "lw": 1.2, **style})


def box(**style: Any) -> Patch:
    """Return a box of a legend."""
    return Patch(**{"lw": 0.6, **style})


@functools.lru_cache(maxsize=4096)
def text_width(words: str, *, bold: bool = False) -> float:
    """Return how many points wide a text is in letters of a figure."""
    font = FontProperties(family=["DejaVu Sans"], weight="bold" if bold else "normal", size=100)
    return float(text_to_path.get_text_width_height_descent(words, font, ismath=False)[0]) * FONT / 100


def fitted(name: str, width: float, *, bold: bool = False, ends: bool = False) -> str:
    """Leave out the end of a name that is wider than so many points; or its middle, where names differ at their `ends`.

    >>> fitted("Names an expressed feeling", 60.0), fitted("counselor of the north 17", 60.0, ends=True)
    ('Names an exp…', 'counselor…h 17')
    """
    name = "".join(letter if letter.isprintable() else " " for letter in name)
    shown, n = (name := " ".join(name.split())), len(name)
    while text_width(shown, bold=bold) > 1.001 * width and n > 1:
        n = min(n - 1, max(int(n * width / text_width(shown, bold=bold)), 1))
        shown = f"{name[: n - n // 3]}…{name[len(name) - n // 3 :]}" if ends and n > 2 else f"{name[:n]}…"
    return shown


def in_lines(name: str, width: float, most: int = 2) -> str:
    """Return a name on at most so many lines, each not wider than so many points; the rest is cut."""
    lines = [""]
    for word in name.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(lines) == most or text_width(longer) <= 1.001 * width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(fitted(line, width) for line in lines)


def between(locator: MaxNLocator, ends: tuple[float, float]) -> list[float]:
    """Return the ticks of an axis that lie between its ends."""
    space = 1e-9 * (ends[1] - ends[0])
    return [float(one) for one in locator.tick_values(*ends) if ends[0] - space <= one <= ends[1] + space]


def numbers(table: pd.DataFrame, name: str) -> Floats:
    """Return a column as floats, nan where it is empty or not there."""
    if name not in table:
        return np.full(len(table), np.nan)
    return pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=float, na_value=np.nan)


def decimals(values: Iterable[float]) -> int:
    """Return how many decimals show two digits of the largest of some values; three at most, but for tiny ones.

    >>> [decimals([value]) for value in (0.0, 120.0, 12.0, 3.1, 0.46, 0.052, 0.0042, 0.00042)]
    [2, 0, 1, 2, 2, 3, 3, 5]
    """
    largest = max((abs(value) for value in values if np.isfinite(value)), default=0.0)
    if largest == 0:
        return 2
    digits = 2 - floor(log10(largest)) - (largest < 1)
    return min(max(digits, 0), 3 if largest >= 0.001 else 6)


def number(value: float, places: int, *, sign: bool = False) -> str:
    """Return a number as text, a dash where it is undefined, no sign before a zero.

    >>> number(-0.04, 1), number(1.25, 1, sign=True), number(float("nan"), 2)
    ('0.0', '+1.2', '-')
    """
    if isnan(value):
        return "-"
    value = round(value, places) + 0.0
    return f"{value:{'+' if sign and value else ''}.{places}f}".replace("-", MINUS)


def per_cent(value: float, _place: Any = None) -> str:
    """Return a share in per cent, for a scale."""
    return f"{100 * value:.3g}%"


def fifths(values: Sequence[float]) -> float:
    """Return the end of a scale of shares: the next fifth above the largest value, at least .2 and at most 1."""
    known = [value for value in values if np.isfinite(value)]
    return min(max(ceil(max(known, default=0.0) * 5 - 1e-9), 1), 5) / 5


def sentence(name: str) -> str:
    """Return a name with a capital at its beginning."""
    return name[:1].upper() + name[1:]
