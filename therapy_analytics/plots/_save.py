"""Figures as files, the same bytes in every run."""

from __future__ import annotations

import functools
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.text import Text

from therapy_analytics import private
from therapy_analytics.plots import FIGSIZE, Plot, inner_box
from therapy_analytics.plots._figures import check_formats
from therapy_analytics.plots._outlines import ADVANCE, CAPITAL, NUMBERS, SHIFTS, Line, Written, properties

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

DPI = 100.0
STYLE: dict[Any, Any] = {
    # Ids in an SVG are made from this and from what they name, not by chance.
    "svg.hashsalt": "therapy-analytics",
    # Words stay words in an SVG: read aloud, searched, edited. A reader without the font gets another, and most
    # others are narrower than this one. A PDF brings its letters along: of type 3, as type 42 takes
    # three times as long for the same size.
    "svg.fonttype": "none",
    "pdf.fonttype": 3,
}
NAMELESS: dict[str, dict[str, None]] = {
    # When, and by which version of matplotlib.
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
HUES = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442")
"""Okabe and Ito's colours, which every PNG keeps however few dots have them."""
WHITE, BINS = 0xFFFFFFFF, 2**18
AREA = 16
"""So many dots of one colour on end are no edge of a letter."""


def save(
    plot: Plot,
    table: DataFrame,
    path: Path | str,
    *,
    figsize: tuple[float, float] = FIGSIZE,
    dpi: float = DPI,
) -> Path:
    """Write one plot as PNG, SVG or PDF, without pyplot and whatever style the user has set.

    Parameters
    ----------
    plot : Plot
        As in ``plots.timeline``.
    table : pandas.DataFrame
        What the plot takes.
    path : pathlib.Path or str
        The file to write; its folder must be there, and its ending is the format.
    figsize : tuple of float
        Width and height in inches.
    dpi : float
        Pixels an inch.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    BadOptionError
        The file's ending is no known format.
    """
    check_formats([Path(path).suffix])
    with house_style():
        (written,) = write(draw(plot, table, figsize=figsize, dpi=dpi), [Path(path)])
    return written


@contextmanager
def house_style() -> Iterator[None]:
    """Set this package's style for a while: a matplotlibrc or a notebook's style must not change what a file shows."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Ids in scripts that the font lacks are drawn as boxes; a warning for each letter helps nobody.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def draw(
    plot: Plot,
    table: DataFrame,
    *,
    figsize: tuple[float, float] = FIGSIZE,
    dpi: float = DPI,
    on: Figure | None = None,
) -> Figure:
    """Return a plot on a figure that pyplot does not know of: `on`, of which all that is drawn is taken off, or new."""
    figure = Figure(figsize=figsize, dpi=dpi) if on is None else on
    if on is None:
        FigureCanvasAgg(figure)
        figure.add_axes(inner_box(*figsize))
    else:
        _wipe(figure, figsize)
    (ax,) = figure.axes
    plot(table, ax=ax)
    return figure


@contextmanager
def easel(dpi: float = DPI) -> Iterator[Figure]:
    """Make a figure on which one plot after the other is drawn: to make one anew takes as long as a plot."""
    figure = Figure(figsize=FIGSIZE, dpi=dpi)
    canvas: Any = FigureCanvasAgg(figure)
    figure.add_axes(_Plain(figure, inner_box(*FIGSIZE)))
    yield figure
    # The picture is megabytes, and Python would keep it until it looks for what refers to itself.
    canvas.renderer = None


class _Plain(Axes):
    """Axes that never have a grid: to say that there is none makes all their ticks."""

    def grid(self, *_: Any, **__: Any) -> None:
        """Do nothing."""


def _wipe(figure: Figure, figsize: tuple[float, float]) -> None:
    """Make a figure as new; enough for plots that change of their axes the limits and whether they are seen."""
    (ax,) = figure.axes
    for artist in (*ax.patches, *ax.lines, *ax.collections, *ax.texts):
        artist.remove()
    if tuple(figure.get_size_inches()) != figsize:
        figure.set_size_inches(*figsize)
        ax.set_position(inner_box(*figsize))
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set_axis_on()


def write(figure: Figure, paths: Sequence[Path]) -> list[Path]:
    """Write one figure to files, each in the format of its ending; the figure is not to be used afterwards."""
    # Pictures first: for the others the outlines of letters give way to the letters.
    order = sorted(paths, key=lambda path: path.suffix != ".png")
    for i, path in enumerate(order):
        kind = path.suffix.lower().removeprefix(".")
        if kind == "png":
            private.write(path, _png(figure))
            continue
        if i == 0 or order[i - 1].suffix == ".png":
            _spell_out(figure)
        figure.savefig(private.fresh(path), format=kind, metadata=NAMELESS[kind])
    return list(paths)


# PNG


def _png(figure: Figure) -> bytes:
    """Return a figure as PNG of 256 colours: a third of the size and of the time of all colours."""
    from PIL import Image  # noqa: PLC0415  # matplotlib brings it

    canvas: Any = figure.canvas
    canvas.draw()
    places, colours = _painted(np.asarray(canvas.buffer_rgba()))
    image, file = Image.fromarray(places), BytesIO()
    image.putpalette(colours.tobytes())
    # Most rows are runs of one colour: nothing else is looked for.
    image.save(file, "png", compress_level=1, compress_type=zlib.Z_RLE, dpi=(figure.dpi, figure.dpi))
    return file.getvalue()


def _painted(drawn: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return a picture as places in a palette, (height, width), and the palette, (n, 3): white comes first.

    It has `_core` and the most frequent other colours; what is not in it gets the nearest.
    """
    # Neighbours of one colour are looked up once: nine dots in ten are like the one before.
    dots = np.ascontiguousarray(drawn).view(np.uint32).ravel()
    begins = np.concatenate([[0], np.flatnonzero(dots[1:] != dots[:-1]) + 1])
    ink, runs = dots[begins], np.diff(begins, append=len(dots))
    # Six of the eight bits of each colour make a bin; bytes are red, green, blue from the lowest.
    bins = ((ink >> 2 & 0x3F) | (ink >> 4 & 0xFC0) | (ink >> 6 & 0x3F000)).astype(np.int64)
    found, used = _one_each(bins, ink, runs)
    often, core = np.bincount(bins, weights=runs, minlength=BINS)[used], _core()
    most = np.argsort(-often, kind="stable")[: 256 - len(core)]
    palette = np.concatenate([core, found[most]])
    nearest = np.zeros(BINS, dtype=np.uint8)
    nearest[used] = _nearest(found, palette)
    return np.repeat(nearest[bins], runs).reshape(drawn.shape[:2]), palette


def _one_each(
    bins: NDArray[np.int64], ink: NDArray[np.uint32], runs: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return a colour of each bin that has any, (n, 3), and these bins: white, else one of an area, else any."""
    one, used = np.zeros(BINS, dtype=np.uint32), np.zeros(BINS, dtype=np.bool_)
    used[bins] = True
    one[bins] = ink
    areas = np.flatnonzero(runs > AREA)
    one[bins[areas]] = ink[areas]
    # Paper is white, and white is the last bin's.
    one[-1] = WHITE
    return one[used].view(np.uint8).reshape(-1, 4)[:, :3], np.flatnonzero(used)


def _nearest(colours: NDArray[np.uint8], palette: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return for each colour, (n, 3), where in the palette the one nearest to it is."""
    own, those = colours.astype(np.float32), palette.astype(np.float32)
    # Squares of distances, less what is the same for all of the palette.
    squares = (those**2).sum(axis=1) - 2 * own @ those.T
    nearest: NDArray[np.int64] = np.argmin(squares, axis=1)
    return nearest


@functools.cache
def _core() -> NDArray[np.uint8]:
    """Return white, greys, and `HUES` with white mixed in, (n, 3)."""
    greys = np.repeat(np.linspace(1, 0, 52)[:, None], 3, axis=1)
    hues = np.array([to_rgb(one) for one in HUES])
    mixed = [1 - (1 - hues) * part for part in (1, 0.75, 0.5, 0.25)]
    return np.round(255 * np.concatenate([greys, *mixed])).astype(np.uint8)


# SVG and PDF


def _spell_out(figure: Figure) -> None:
    """Replace outlines by the words that they show."""
    patches: list[Any] = [patch for ax in figure.axes for patch in ax.patches if isinstance(patch, PathPatch)]
    for patch in patches:
        written = patch.get_path()
        if isinstance(written, Written):
            patch.set_visible(False)
            for line in written.lines:
                for part in _parts(line, written) if written.font == NUMBERS else [line]:
                    patch.axes.add_artist(_text(part, written, patch))


def _parts(line: Line, written: Written) -> list[Line]:
    """Return the cells of a row of numbers, each where it begins: an SVG makes one of many spaces."""
    x, y, text, side = line
    if "  " not in text:
        return [line]
    em = ADVANCE * written.size[0]
    left, at, found = x - SHIFTS[side] * len(text) * em, 0, list[Line]()
    for cell in text.split("  "):
        begin = at + len(cell) - len(cell.lstrip())
        if cell.strip():
            found.append((left + begin * em, y, cell.strip(), "left"))
        at += len(cell) + 2
    return found


def _text(line: Line, written: Written, patch: Any) -> Text:
    x, y, text, side = line
    width, height = written.size
    drop = (CAPITAL * width / 2, 0.0) if written.turned else (0.0, -CAPITAL * height / 2)
    where = patch.get_transform()
    high = np.hypot(*(where.transform((x, y + height)) - where.transform((x, y))))
    style: dict[str, Any] = {"ha": side, "va": "baseline", "rotation_mode": "anchor", "parse_math": False}
    style |= {"rotation": 90.0 * written.turned, "color": patch.get_facecolor(), "zorder": patch.get_zorder()}
    font = properties(written.font)
    font.set_size(high * 72 / patch.axes.figure.dpi)
    return Text(x + drop[0], y + drop[1], text, transform=where, fontproperties=font, clip_on=False, **style)
