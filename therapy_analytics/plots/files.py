"""Figures as files: the same bytes in every run, each with its caption.

`write_figures` writes several plots, `save` one; `draw` returns a figure that pyplot does not know of. A run draws
`session_figures` and `run_figures`. `check_formats` and `check_width` refuse what cannot be drawn, and `tables_first`
keeps a figure that fails from costing a table.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, get_args

from therapy_analytics.core import private
from therapy_analytics.core.errors import BadOptionError, place_of
from therapy_analytics.core.folders import DISK_FULL
from therapy_analytics.plots import PLOTS, WIDTH_MM, Plot, axes_that_fill
from therapy_analytics.readers.account import Remark

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.figure import Figure
    from pandas import DataFrame

FORMATS = ("png", "svg", "pdf")
WIDTHS_MM = (80, 300)
"""The narrowest and the widest figure."""
DPI = 300.0
STYLE: dict[Any, Any] = {
    # Ids in an SVG are made from this and from what they name, not by chance.
    "svg.hashsalt": "therapy-analytics",
    # Words stay words: read aloud, searched, edited. A PDF brings its letters along as TrueType, as journals ask.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
Plots = Literal["session", "all", "none"]
"""Which figures of each session a run draws: one, all, or none, and then none of the run either."""


def session_figures(which: Plots = "all") -> list[Plot]:
    """Return the plots that a run draws of each session, in their order; of ``"session"`` the first alone."""
    found = sorted((one for one in PLOTS if one.session), key=lambda one: one.session)
    return found[: {"session": 1, "all": None, "none": 0}[which]]


def run_figures() -> list[Plot]:
    """Return the plots that a run draws of all sessions together, in their order."""
    return sorted((one for one in PLOTS if one.run), key=lambda one: one.run)


def check_formats(formats: Iterable[str]) -> tuple[str, ...]:
    """Return formats of figures, each once and in the order given.

    Parameters
    ----------
    formats : iterable of str
        As in ``--figure-format``; capitals and a leading dot do not matter.

    Raises
    ------
    BadOptionError
        One is not known; the message names those that are.

    Examples
    --------
    >>> check_formats(["PNG", "svg", ".png"])
    ('png', 'svg')
    """
    found = tuple(dict.fromkeys(str(one).strip().lower().removeprefix(".") for one in formats))
    for one in found:
        if one not in FORMATS:
            option, problem = "--figure-format", f"{one!r} is no format of a figure"
            raise BadOptionError(option, problem, f"Known: {', '.join(FORMATS)}")
    return found


def check_plots(which: str) -> None:
    """Refuse what is none of `Plots`.

    Raises
    ------
    BadOptionError
        There are no such figures.
    """
    if which not in get_args(Plots):
        raise BadOptionError("--plots", f"there are no figures named {which!r}", "Known: session, all")


def check_width(width_mm: float | None) -> None:
    """Refuse a width in millimetres at which no figure can be read, or which no page has.

    Raises
    ------
    BadOptionError
        The width is not between 80 and 300 mm.
    """
    low, high = WIDTHS_MM
    if width_mm is not None and not low <= width_mm <= high:
        option, problem = "--figure-width", f"{width_mm:g} mm is no width of a figure"
        raise BadOptionError(option, problem, f"From {low} to {high} mm; a journal's column has 85, two have 174")


@contextmanager
def tables_first(failed: list[Remark], *paths: Path) -> Iterator[None]:
    """Draw a figure: if that fails, its files are removed and `failed` says why, but for a full disk, which is raised.

    No figure is worth the tables beside it, which are written before.
    """
    try:
        yield
    except Exception as error:  # its message is not told: it could quote a transcript
        for path in paths:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise
        why = error.strerror if isinstance(error, OSError) and error.strerror else place_of(error)
        remedy = "The tables are complete. The same command draws it again; if that fails too, please report this line"
        failed.append(Remark(paths[0].name, None, f"the figure could not be drawn ({why})", remedy))


def write_figures(
    plots: Iterable[Plot],
    tables: Mapping[str, DataFrame],
    folder: Path | str,
    *,
    formats: Iterable[str] = ("png",),
    width_mm: float | None = None,
    failed: list[Remark] | None = None,
) -> list[Path]:
    """Write figures.

    Parameters
    ----------
    plots : iterable of Plot
        Which: `session_figures` or `run_figures`.
    tables : mapping of str to pandas.DataFrame
        The tables that they take, by the names that `Analysis` has for them. A figure whose table is not there, or has
        not the columns that it needs, is left out: it is of measures that nobody asked for.
    folder : pathlib.Path or str
        Where they go; it must be there.
    formats : iterable of str
        Some of `FORMATS`.
    width_mm : float, optional
        Their width in print; by default 174 mm.
    failed : list of Remark, optional
        Filled with why figures could not be drawn, which stops no other; by default the error is raised.

    Returns
    -------
    list of pathlib.Path
        The files: ``session.png`` and so on; the same bytes in every run.

    Raises
    ------
    BadOptionError
        A format is not known.
    """
    asked, found = check_formats(formats), list[Path]()
    for one in plots:
        if not asked or one.takes not in tables or not set(one.needs) <= set(tables[one.takes]):
            continue
        paths = [Path(folder) / f"{one.__name__}.{kind}" for kind in asked]
        with nullcontext() if failed is None else tables_first(failed, *paths), _own_style():
            given = SimpleNamespace(**tables)
            figure, caption = draw(one, given, width_mm=width_mm), one.caption(given)
            for path in paths:
                _write(figure, path, caption)
            found += paths
    return found


def save(
    plot: Plot,
    table: Any,
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
        As in ``plots.session``.
    table : pandas.DataFrame or object
        What the plot takes: its table, or a result that has it.
    path : pathlib.Path or str
        The file to write; its folder must be there, and its ending is the format.
    width_mm : float, optional
        Width in millimetres: 85 for one column of a journal, 174 for two (the default).
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
    with _own_style():
        _write(draw(plot, table, width_mm=width_mm, dpi=dpi), Path(path), plot.caption(table))
    return Path(path)


def draw(plot: Plot, table: Any, *, width_mm: float | None = None, dpi: float = DPI) -> Figure:
    """Return a plot on a figure that pyplot does not know of."""
    from matplotlib.figure import Figure  # noqa: PLC0415  # slow, and a run without figures needs none

    with _own_style():
        figure = Figure(dpi=dpi)
        plot(table, ax=axes_that_fill(figure, width_mm or WIDTH_MM))
    return figure


@contextmanager
def _own_style() -> Iterator[None]:
    """Set this package's style for a while: a matplotlibrc or a notebook's style must not change what a file shows."""
    import matplotlib as mpl  # noqa: PLC0415  # slow

    with mpl.rc_context(), warnings.catch_warnings():
        # Ids in scripts that the font lacks are drawn as boxes; a warning for each letter helps nobody.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def _write(figure: Figure, path: Path, caption: str) -> None:
    """Write a figure in the format of its ending; the file says neither when nor by which program it was made."""
    kind = path.suffix.lower().removeprefix(".")
    if kind == "png":
        _write_png(figure, path, caption)
        return
    about: dict[str, dict[str, str | None]] = {
        "svg": {"Date": None, "Creator": None, "Description": caption or None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Subject": caption or None},
    }
    figure.savefig(private.fresh(path), format=kind, metadata=about[kind])


def _write_png(figure: Figure, path: Path, caption: str) -> None:
    """Write a figure as PNG with 256 colours, which takes less than half of the space and of the time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  # slow
    from PIL import Image  # noqa: PLC0415
    from PIL.PngImagePlugin import PngInfo  # noqa: PLC0415

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    size = canvas.get_width_height()
    picture = Image.frombuffer("RGBA", size, canvas.buffer_rgba(), "raw", "RGBA", 0, 1).convert("RGB")
    of_palette = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    colours: Any = of_palette.getpalette()
    ground: Any = of_palette.getpixel((0, 0))
    colours[3 * ground : 3 * ground + 3] = picture.getpixel((0, 0))  # the palette's white is a little grey
    of_palette.putpalette(colours)
    about = PngInfo()
    if caption:
        about.add_itxt("Description", caption)
    of_palette.save(private.fresh(path), format="png", compress_level=1, dpi=(figure.dpi, figure.dpi), pnginfo=about)
