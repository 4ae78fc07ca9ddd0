"""Matplotlib's artists, less dear: a clip path is a fifth of a millisecond for each, and axes are only ever boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.artist import Artist
    from numpy.typing import NDArray

    from therapy_analytics.plots._turns import Floats


class Shape(PathPatch):
    """A patch that the box of its axes clips, or nothing where ``clip_on`` is off."""

    def set_clip_path(self, path: Any, transform: Any = None) -> None:
        """Clip to the axes, which ask for it, by their box; to anything else as usual."""
        if not _boxed(self, path):
            super().set_clip_path(path, transform)


class Dots(Line2D):
    """A line, or markers, that the box of its axes clips, or nothing where ``clip_on`` is off."""

    def set_clip_path(self, path: Any, transform: Any = None) -> None:
        """Clip to the axes, which ask for it, by their box; to anything else as usual."""
        if not _boxed(self, path):
            super().set_clip_path(path, transform)


def _boxed(artist: Artist, path: Any) -> bool:
    ax = artist.axes
    if ax is None or path is not ax.patch:
        return False
    if artist.get_clip_on():
        artist.set_clip_box(ax.bbox)
    return True


def strokes(ends: Iterable[Sequence[float]] | Floats, **style: Any) -> Shape:
    """Return straight lines, (n, 4): x and y of both ends; as one path, for a path each takes a thousand times longer.

    Parameters
    ----------
    **style
        As of a patch: ``ec``, ``lw`` and so on.
    """
    corners = np.reshape(_rows(ends), (-1, 2))
    codes = np.full(len(corners), Path.LINETO, dtype=np.uint8)
    codes[::2] = Path.MOVETO
    # Lines of one path are put onto whole pixels only where there are few of them or it is asked for.
    return Shape(_whole(corners, codes), **({"fill": False, "capstyle": "butt", "snap": True} | style))


def boxes(sides: Iterable[Sequence[float]] | Floats, **style: Any) -> Shape:
    """Return filled boxes, (n, 4): left, bottom, right, top; as one path."""
    corners = np.reshape(_rows(sides), (-1, 4))[:, [0, 1, 0, 3, 2, 3, 2, 1, 0, 1]].reshape(-1, 2)
    codes = np.full(len(corners), Path.LINETO, dtype=np.uint8)
    codes[::5], codes[4::5] = Path.MOVETO, Path.CLOSEPOLY
    return Shape(_whole(corners, codes), **({"lw": 0} | style))


def courses(lines: Sequence[Floats], *, closed: bool = False, **style: Any) -> Shape:
    """Return lines of many corners, (n, 2) each, as one path; `closed` ones are filled."""
    if closed:
        lines = [np.concatenate([line, line[:1]]) for line in lines]
    lengths = np.array([len(line) for line in lines], dtype=np.int64)
    ends = np.cumsum(lengths)
    corners = np.concatenate([np.zeros((0, 2)), *lines])
    codes = np.full(len(corners), Path.LINETO, dtype=np.uint8)
    codes[ends - lengths] = Path.MOVETO
    if closed:
        codes[ends - 1] = Path.CLOSEPOLY
    return Shape(_whole(corners, codes), **({"fill": closed, "capstyle": "butt", "joinstyle": "round"} | style))


def _rows(rows: Iterable[Sequence[float]] | Floats) -> Floats:
    return np.asarray(rows if isinstance(rows, np.ndarray) else list(rows), dtype=np.float64)


def _whole(corners: Floats, codes: NDArray[np.uint8]) -> Path:
    path = Path(corners, codes)
    path.should_simplify = False
    return path
