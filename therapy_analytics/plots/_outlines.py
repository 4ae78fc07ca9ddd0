"""Many short texts as one path: a text artist costs 0.07 ms a letter, spaces too, and a table has thousands."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath, text_to_path

from therapy_analytics.language.integers import consecutive
from therapy_analytics.plots._artists import Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.uint8]

MOST_KEPT = 2048
ADVANCE = 0.602
"""Width of a letter of the monospaced font, in sizes of the font."""
CAPITAL = 0.73
"""Height of digits and capitals."""
SHIFTS = {"left": 0.0, "center": 0.5, "right": 1.0}

Side = Literal["left", "center", "right"]
Line = tuple[float, float, str, Side]
"""Where on the x-axis, the middle of its height, what to write, and which end of it stands there."""


@dataclass(frozen=True, slots=True)
class Font:
    """A font that comes with matplotlib.

    Attributes
    ----------
    family, weight, style : str
        By name, not as "monospace": outlines that are kept must not depend on a style of the notebook.
    """

    family: str = "DejaVu Sans"
    weight: str = "normal"
    style: Literal["normal", "oblique"] = "normal"


WORDS, BOLD, SLANTED = Font(), Font(weight="bold"), Font(style="oblique")
NUMBERS = Font("DejaVu Sans Mono")


class Written(Path):
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


def outlines(lines: Iterable[Line], size: tuple[float, float]) -> Written:
    """Return monospaced text, as numbers in columns, as one path to be filled.

    Parameters
    ----------
    lines : iterable of Line
        What to write where.
    size : (float, float)
        Size of the font in the units of the x-axis, and of the y-axis.
    """
    return sentences(lines, size, font=NUMBERS)


def sentences(lines: Iterable[Line], size: tuple[float, float], *, font: Font = WORDS, turned: bool = False) -> Written:
    """Return text as one path to be filled; parameters as of `outlines`.

    Parameters
    ----------
    font : Font
        In which font.
    turned : bool
        Write from below upwards: x is then the middle of its height, and y where the named end stands.
    """
    lines, face = tuple(lines), _face(font)
    laid = face.laid([text for _, _, text, _ in lines])
    n = [len(one.letters) for one in laid]
    x, y = np.repeat([line[:2] for line in lines] or np.zeros((0, 2)), n, axis=0).T
    begins = [one.begins - SHIFTS[line[3]] * one.width for one, line in zip(laid, lines, strict=True)]
    places = np.stack([x, y, np.concatenate([np.zeros(0), *begins])])
    letters = np.concatenate([np.zeros(0, dtype=np.int64), *(one.letters for one in laid)])
    made = face.joined(letters, places, size, turned=turned)
    made.lines, made.size, made.font, made.turned = lines, size, font, turned
    return made


@dataclass(frozen=True, slots=True)
class Texts:
    """What is to be written on one Axes, gathered: all of one look becomes one path, and each path takes its time."""

    gathered: dict[tuple[tuple[float, float], Font, float, bool], list[Line]] = field(default_factory=dict)

    def add(
        self, lines: Iterable[Line], size: tuple[float, float], font: Font, *, alpha: float, turned: bool = False
    ) -> None:
        """Add text; parameters as of `sentences`."""
        self.gathered.setdefault((size, font, alpha, turned), []).extend(lines)

    def put_on(self, ax: Axes, ink: str) -> None:
        """Write on the axes what has been gathered, once all is."""
        for (size, font, alpha, turned), lines in self.gathered.items():
            path = sentences(lines, size, font=font, turned=turned)
            ax.add_artist(Shape(path, fc=ink, lw=0, alpha=alpha, clip_on=False))
        self.gathered.clear()


def length(sentence: str, font: Font = WORDS) -> float:
    """Return the width of a sentence in sizes of the font."""
    return _face(font).laid([sentence or "-"])[0].width


def properties(font: Font) -> FontProperties:
    """Return a font as matplotlib has it."""
    return FontProperties(family=[font.family], weight=font.weight, style=font.style)


@functools.cache
def _face(font: Font) -> _Face:
    return _Face(font)


@dataclass(frozen=True, slots=True, eq=False)
class _Laid:
    """A text: the numbers of its letters, without spaces, where each begins, and its width, in sizes of the font."""

    letters: NDArray[np.int64]
    begins: Floats
    width: float


class _Face:
    """What has been found of a font: made once for all figures of a run, half a millisecond for a letter."""

    def __init__(self, font: Font) -> None:
        self._properties = properties(font)
        self._properties.set_size(100)
        self._forget()

    def _forget(self) -> None:
        self._laid: dict[str, _Laid] = {}
        self._advances: dict[str, float] = {}
        self._numbers: dict[str, int] = {}
        self._drawn: list[tuple[Floats, Codes]] = []
        self._all = _Drawn.of([])

    def laid(self, texts: Sequence[str]) -> list[_Laid]:
        """Return what texts are put together from."""
        if max(len(self._laid), len(self._drawn)) > MOST_KEPT:
            self._forget()
        for text in texts:
            if text not in self._laid:
                self._laid[text] = self._lay(text)
        return [self._laid[text] for text in texts]

    def joined(self, letters: NDArray[np.int64], places: Floats, size: tuple[float, float], *, turned: bool) -> Written:
        """Return the outlines of letters at their places, (3, n): x, y, and how far along its line each begins."""
        if len(self._all.first) < len(self._drawn):
            self._all = _Drawn.of(self._drawn)
        first, n = self._all.first[letters], self._all.n[letters]
        at, of_letter = consecutive(first, n)
        (x, y, along), (across, up) = places[:, of_letter], self._all.corners[:, at]
        along += across
        found = np.empty((len(at), 2))
        found[:, 0] = x + size[0] * (-up if turned else along)
        found[:, 1] = y + size[1] * (along if turned else up)
        return Written(found, self._all.codes[at])

    def _lay(self, text: str) -> _Laid:
        if not text.isprintable():
            text = "".join(letter if letter.isprintable() else " " for letter in text)
        # Scripts that join their letters, and letters with marks of their own, are drawn whole.
        letters = list(text) if text.isascii() else [text]
        begins = list(accumulate(map(self._advance, letters), initial=0.0))
        seen = [(self._number(letter), begin) for letter, begin in zip(letters, begins, strict=False) if letter != " "]
        numbers, places = np.array([one for one, _ in seen], dtype=np.int64), np.array([one for _, one in seen])
        return _Laid(numbers, places, begins[-1])

    def _advance(self, letter: str) -> float:
        if letter not in self._advances:
            self._advances[letter] = self._width(f"|{letter}|") - self._width("||")
        return self._advances[letter]

    def _width(self, text: str) -> float:
        measure: Any = text_to_path.get_text_width_height_descent
        return float(measure(text, self._properties, ismath=False)[0]) / 100

    def _number(self, letter: str) -> int:
        """Return the place of a letter among those that have been drawn."""
        if letter not in self._numbers:
            # A $ in a name is not a formula.
            made = TextPath((0, 0), letter.replace("$", r"\$"), size=1, prop=self._properties, usetex=False)
            self._numbers[letter] = len(self._drawn)
            self._drawn.append((np.array(made.vertices, dtype=np.float64), np.array(made.codes, dtype=np.uint8)))
        return self._numbers[letter]


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """The outlines of all letters in one array: corners, (2, n), what each is, and where each letter's begin."""

    corners: Floats
    codes: Codes
    first: NDArray[np.int64]
    n: NDArray[np.int64]

    @classmethod
    def of(cls, drawn: list[tuple[Floats, Codes]]) -> _Drawn:
        n = np.array([len(codes) for _, codes in drawn], dtype=np.int64)
        corners = np.concatenate([np.zeros((0, 2)), *(one for one, _ in drawn)]).T.copy()
        # The middle of a line of text is that of its capitals.
        corners[1] -= CAPITAL / 2
        codes = np.concatenate([np.zeros(0, dtype=np.uint8), *(one for _, one in drawn)])
        return cls(corners, codes, np.cumsum(n) - n, n)
