"""Many short texts as one path: a text artist takes 0.07 ms a letter, and a figure has thousands of letters."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath, text_to_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.uint8]

ADVANCE = 0.602
"""Width of a letter of the monospaced font, in sizes of the font."""
CAPITAL = 0.73
"""Height of digits and capitals, in sizes of the font."""
MINUS = "\N{MINUS SIGN}"
"""As long as a plus, which a hyphen is not."""
SHIFTS = {"left": 0.0, "center": 0.5, "right": 1.0}

Side = Literal["left", "center", "right"]
Line = tuple[float, float, str, Side]
"""Place on the x-axis, place of its middle on the y-axis, what to write, and which end of it stands there."""


@dataclass(frozen=True, slots=True)
class Font:
    """A font that comes with matplotlib, by name, so that a style of the notebook does not change it."""

    family: str = "DejaVu Sans"
    weight: str = "normal"
    style: Literal["normal", "oblique"] = "normal"

    @property
    def properties(self) -> FontProperties:
        """Return the font as matplotlib has it."""
        return FontProperties(family=[self.family], weight=self.weight, style=self.style)


WORDS, BOLD, SLANTED = Font(), Font(weight="bold"), Font(style="oblique")
NUMBERS = Font("DejaVu Sans Mono")


class OutlinedText(Path):
    """Outlines that still know what they say: a PNG fills them, an SVG or a PDF gets the words themselves.

    Attributes
    ----------
    lines : tuple of Line
        What is written where.
    size : (float, float)
        Size of the font in the units of the x-axis, and of the y-axis.
    font : Font
        The font.
    turned : bool
        Whether it is written from below upwards.
    """

    lines: tuple[Line, ...] = ()
    size: tuple[float, float] = (1.0, 1.0)
    font: Font = WORDS
    turned: bool = False


def sentences(
    lines: Iterable[Line], size: tuple[float, float], *, font: Font = WORDS, turned: bool = False
) -> OutlinedText:
    """Return text as one path to be filled.

    Parameters
    ----------
    lines : iterable of Line
        What to write where.
    size : (float, float)
        Size of the font in the units of the x-axis, and of the y-axis.
    font : Font
        In which font.
    turned : bool
        Write from below upwards: x is then the middle of its height, and y where the named end stands.
    """
    lines = tuple(lines)
    corners, codes = [np.zeros((0, 2))], [np.zeros(0, dtype=np.uint8)]
    for x, y, text, side in lines:
        shape, own, width = _laid(text, font)
        along, up = shape[:, 0] - SHIFTS[side] * width, shape[:, 1]
        across, high = (-up, along) if turned else (along, up)
        corners.append(np.column_stack([x + size[0] * across, y + size[1] * high]))
        codes.append(own)
    found = OutlinedText(np.concatenate(corners), np.concatenate(codes))
    found.lines, found.size, found.font, found.turned = lines, size, font, turned
    return found


def length(sentence: str, font: Font = WORDS) -> float:
    """Return the width of a sentence in sizes of the font."""
    return _laid(sentence or "-", font)[2]


def cut(name: str, fits: float, font: Font = WORDS) -> str:
    """Leave out the end of a name that is wider than so many sizes of the font."""
    name = " ".join(name.split())
    if length(name, font) <= fits * 1.001:
        return name
    n = max(int(len(name) * fits / length(name, font)), 1)
    while n > 1 and length(f"{name[:n]}…", font) > fits:
        n -= 1
    return f"{name[:n]}…"


@functools.lru_cache(maxsize=2048)
def _laid(text: str, font: Font) -> tuple[Floats, Codes, float]:
    """Return the outline of a text, corners (n, 2) and codes (n,), and its width, all in sizes of the font."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    corners, codes, at = [np.zeros((0, 2))], [np.zeros(0, dtype=np.uint8)], 0.0
    # Scripts that join their letters, and letters with marks of their own, are drawn whole.
    for letter in text if text.isascii() else [text]:
        shape, own, advance = _glyph(letter, font)
        corners.append(shape + np.array([at, 0.0]))
        codes.append(own)
        at += advance
    return np.concatenate(corners), np.concatenate(codes), at


@functools.lru_cache(maxsize=2048)
def _glyph(letter: str, font: Font) -> tuple[Floats, Codes, float]:
    """Return the outline of a letter around the middle of the height of capitals, and how far on the next begins."""
    advance = _width(f"|{letter}|", font) - _width("||", font)
    if not letter.strip():
        return np.zeros((0, 2)), np.zeros(0, dtype=np.uint8), advance
    # A $ in a name is not a formula.
    path = TextPath((0, 0), letter.replace("$", r"\$"), size=1, prop=font.properties, usetex=False)
    corners = np.array(path.vertices, dtype=np.float64) - np.array([0, CAPITAL / 2])
    return corners, np.array(path.codes, dtype=np.uint8), advance


def _width(text: str, font: Font) -> float:
    face, measure = font.properties, text_to_path.get_text_width_height_descent
    face.set_size(100)
    width: Any = measure(text, face, ismath=False)[0]
    return float(width) / 100
