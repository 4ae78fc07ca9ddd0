"""Figures as files, the same bytes in every run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from therapy_analytics.core import private
from therapy_analytics.plots import Plot, each_table_once
from therapy_analytics.plots._figures import check_formats
from therapy_analytics.plots._outlines import CAPITAL, Line, OutlinedText

if TYPE_CHECKING:
    from pandas import DataFrame

DPI = 300.0
STYLE: dict[Any, Any] = {
    # Ids in an SVG are made from this and from what they name, not by chance.
    "svg.hashsalt": "therapy-analytics",
    # Words stay words in an SVG: read aloud, searched, edited. A reader without the font gets another, and most
    # others are narrower than this one. A PDF brings its letters along as TrueType, which journals ask for.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def _options(kind: str, caption: str) -> dict[str, Any]:
    """Return what a file says of itself: its caption, and neither when nor by which program it was made."""
    if kind == "svg":
        return {"metadata": {"Date": None, "Creator": None, "Description": caption or None}}
    return {"metadata": {"CreationDate": None, "Creator": None, "Producer": None, "Subject": caption or None}}


def save(
    plot: Plot,
    table: DataFrame,
    path: Path | str,
    *,
    width_mm: float | None = None,
    dpi: float = DPI,
) -> Path:
    """Write one plot as PNG, SVG or PDF, without pyplot and whatever style the user has set.

    The file holds its caption: as Description in PNG and SVG, as Subject in PDF.

    Parameters
    ----------
    plot : Plot
        As in ``plots.timeline``.
    table : pandas.DataFrame
        What the plot takes.
    path : pathlib.Path or str
        The file to write; its folder must be there, and its ending is the format.
    width_mm : float, optional
        Width in millimetres: 85 for one column of a journal, 174 for two; by default what the plot is best at.
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
    with package_style(), each_table_once():
        (written,) = write(draw(plot, table, width_mm=width_mm, dpi=dpi), [Path(path)], plot.caption(table))
    return written


@contextmanager
def package_style() -> Iterator[None]:
    """Set this package's style for a while: a matplotlibrc or a notebook's style must not change what a file shows."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Ids in scripts that the font lacks are drawn as boxes; a warning for each letter helps nobody.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def draw(plot: Plot, table: DataFrame, *, width_mm: float | None = None, dpi: float = DPI) -> Figure:
    """Return a plot on a figure that pyplot does not know of."""
    figure = Figure(figsize=plot.size(table, width_mm), dpi=dpi)
    FigureCanvasAgg(figure)
    plot(table, ax=figure.add_axes((0, 0, 1, 1)))
    return figure


def write(figure: Figure, paths: Sequence[Path], caption: str = "") -> list[Path]:
    """Write one figure to files, each in the format of its ending; the figure is not to be used afterwards."""
    # Pictures first: for the others the outlines of letters give way to the letters.
    for path in sorted(paths, key=lambda path: path.suffix != ".png"):
        kind = path.suffix.lower().removeprefix(".")
        if kind == "png":
            _write_png(figure, path, caption)
            continue
        _spell_out(figure)
        figure.savefig(private.fresh(path), format=kind, **_options(kind, caption))
    # The picture is megabytes, and Python would keep it until it looks for what refers to itself.
    FigureCanvasBase(figure)
    return list(paths)


def _write_png(figure: Figure, path: Path, caption: str) -> None:
    """Write a figure as PNG with a palette of 256 colours: a third of the size, and in half the time."""
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    high, wide, _ = np.asarray(canvas.buffer_rgba()).shape
    picture = Image.frombuffer("RGBA", (wide, high), canvas.buffer_rgba(), "raw", "RGBA", 0, 1).convert("RGB")
    of_palette = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    colours: Any = of_palette.getpalette()
    background: Any = of_palette.getpixel((0, 0))
    colours[3 * background : 3 * background + 3] = picture.getpixel((0, 0))  # the palette's white is a little grey
    of_palette.putpalette(colours)
    about = PngInfo()
    if caption:
        about.add_itxt("Description", caption)
    of_palette.save(private.fresh(path), format="png", compress_level=1, dpi=(figure.dpi, figure.dpi), pnginfo=about)


def _spell_out(figure: Figure) -> None:
    """Replace outlines by the words that they show."""
    for patch in [patch for ax in figure.axes for patch in ax.patches]:
        written = patch.get_path()
        if isinstance(written, OutlinedText):
            patch.remove()
            for line in written.lines:
                figure.axes[0].add_artist(_text(line, written, patch, figure.dpi))


def _text(line: Line, written: OutlinedText, patch: Any, dpi: float) -> Text:
    """Return a line of outlines as text: on its baseline, as large as the outlines are."""
    x, y, text, side = line
    width, height = written.size
    right, down = (CAPITAL * width / 2, 0.0) if written.turned else (0.0, CAPITAL * height / 2)
    where = patch.get_data_transform()
    high = np.hypot(*(where.transform((x, y + height)) - where.transform((x, y))))
    font = written.font.properties
    font.set_size(high * 72 / dpi)
    style: dict[str, Any] = {"ha": side, "va": "baseline", "rotation_mode": "anchor", "parse_math": False}
    style |= {"rotation": 90.0 * written.turned, "color": patch.get_facecolor(), "zorder": patch.get_zorder()}
    return Text(x + right, y - down, text, transform=where, fontproperties=font, clip_on=False, **style)
