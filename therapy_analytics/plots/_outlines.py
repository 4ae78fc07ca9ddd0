"""Many short texts as one path: a text artist costs 0.07 ms a letter, spaces too, and a table has thousands."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.uint8]

ADVANCE = 0.602
"""Width of a letter of the monospaced font, in sizes of the font."""
CAPITAL = 0.73
"""Height of digits and capitals."""
# By name, not as "monospace": it comes with matplotlib, and outlines that are kept must not depend on a style.
NUMBERS, WORDS = "DejaVu Sans Mono", "DejaVu Sans"
SHIFTS = {"left": 0.0, "center": 0.5, "right": 1.0}

Line = tuple[float, float, str, Literal["left", "center", "right"]]
"""Where on the x-axis, the middle of its height, what to write, and which end of it stands there."""


def outlines(lines: Iterable[Line], size: tuple[float, float]) -> Path:
    """Return monospaced text, as numbers in columns, as one path to be filled.

    Parameters
    ----------
    lines : iterable of Line
        What to write where.
    size : (float, float)
        Size of the font in the units of the x-axis, and of the y-axis.
    """
    width, height = size
    places: dict[str, list[tuple[float, float]]] = {}
    for x, middle, text, side in lines:
        left = x - SHIFTS[side] * len(text) * ADVANCE * width
        for i, letter in enumerate(text):
            if letter != " ":
                places.setdefault(letter, []).append((left + i * ADVANCE * width, middle - CAPITAL * height / 2))
    return _joined([(*_outline(letter, NUMBERS), np.array(at)) for letter, at in places.items()], size)


def sentences(lines: Iterable[Line], size: tuple[float, float]) -> Path:
    """Return what is written in many figures, as one path to be filled; parameters as of `outlines`."""
    drawn = []
    for x, middle, text, side in lines:
        left = x - SHIFTS[side] * length(text) * size[0]
        drawn.append((*_outline(text, WORDS), np.array([[left, middle - CAPITAL * size[1] / 2]])))
    return _joined(drawn, size)


def length(sentence: str) -> float:
    """Return the width of a sentence in sizes of the font."""
    return float(_outline(sentence, WORDS)[0][:, 0].max())


@functools.lru_cache(maxsize=512)
def _outline(text: str, family: str) -> tuple[Floats, Codes]:
    # Made once for all figures of a run: half a millisecond for a word.
    # A $ in a name is not a formula; a name of blanks has no outline.
    made = TextPath((0, 0), (text.strip() or "-").replace("$", r"\$"), size=1, prop=FontProperties(family=[family]))
    return np.array(made.vertices, dtype=np.float64), np.array(made.codes, dtype=np.uint8)


def _joined(drawn: list[tuple[Floats, Codes, Floats]], size: tuple[float, float]) -> Path:
    """Return each outline at each of its places, (n, 2), as one path."""
    corners: list[Floats] = [np.zeros((0, 2))]
    codes: list[Codes] = [np.zeros(0, dtype=np.uint8)]
    for outline, strokes, at in drawn:
        corners.append((at[:, None] + outline * np.array(size)).reshape(-1, 2))
        codes.append(np.tile(strokes, len(at)))
    return Path(np.concatenate(corners), np.concatenate(codes))
