"""Figures as files, the same bytes in every run."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from therapy_analytics.plots import FIGSIZE, Plot, inner_box

if TYPE_CHECKING:
    from pandas import DataFrame


def save(
    plot: Plot,
    table: DataFrame,
    path: Path | str,
    *,
    figsize: tuple[float, float] = FIGSIZE,
    dpi: float = 110,
) -> Path:
    """Write one plot as a PNG, without pyplot and whatever style the user has set.

    Parameters
    ----------
    plot : Plot
        As in ``plots.timeline``.
    table : pandas.DataFrame
        What the plot takes.
    path : pathlib.Path or str
        The file to write; its folder must be there.
    figsize : tuple of float
        Width and height in inches.
    dpi : float
        Pixels an inch.

    Returns
    -------
    pathlib.Path
        The file.
    """
    with mpl.rc_context(), warnings.catch_warnings():
        # Ids in scripts that the font lacks are drawn as boxes; a warning for each letter helps nobody.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        # A matplotlibrc or a style of the notebook must not change what a report shows.
        mpl.rcdefaults()
        figure = Figure(figsize=figsize, dpi=dpi)
        FigureCanvasAgg(figure)
        plot(table, ax=figure.add_axes(inner_box(*figsize)))
        # "Software" would hold matplotlib's version; low compression is twice as fast, 10% larger.
        figure.savefig(path, format="png", dpi=dpi, metadata={"Software": None}, pil_kwargs={"compress_level": 3})
    return Path(path)
