"""All figures of one session, each in every format that is asked for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from therapy_analytics.errors import BadOptionError
from therapy_analytics.plots import FIGSIZE, PLOTS, Plot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pandas import DataFrame

FORMATS = ("png", "svg", "pdf")
FIGURES: Mapping[str, str] = MappingProxyType(
    {
        "timeline": "turns",
        "synchrony": "synchrony",
        "profile": "profile",
        "thirds": "profile",
        "responses": "responses",
        "client_state": "turns",
    }
)
"""The plots that are made of one session, and the table that each of them takes."""


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


def write_figures(
    tables: Mapping[str, DataFrame], folder: Path | str, *, formats: Iterable[str] = ("png",)
) -> list[Path]:
    """Write the figures of one session.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        ``turns``, ``synchrony``, ``profile`` and ``responses`` of one session, as in the files of these names.
        A figure whose table is not there is left out.
    folder : pathlib.Path or str
        Where they go; it must be there.
    formats : iterable of str
        Some of `FORMATS`.

    Returns
    -------
    list of pathlib.Path
        The files: ``timeline.png`` and so on, in the order of `FIGURES`; the same bytes in every run.

    Raises
    ------
    BadOptionError
        A format is not known, or a table lacks a column.
    """
    from therapy_analytics.plots._save import draw, house_style, write  # noqa: PLC0415 (matplotlib is slow to import)

    formats, folder, found, figure = check_formats(formats), Path(folder), [], None
    with house_style():
        for name, of in FIGURES.items():
            if of in tables and formats:
                figure = draw(PLOTS[name], tables[of], figsize=figure_size(PLOTS[name], tables[of]), on=figure)
                found += write(figure, [folder / f"{name}.{one}" for one in formats])
    return found


def figure_size(plot: Plot, table: DataFrame) -> tuple[float, float]:
    """Return the inches that a plot of this table needs: what ``figure_size`` in its file says, else the usual ones."""
    asked = getattr(import_module(plot.__module__), "figure_size", None)
    return FIGSIZE if asked is None else asked(table)
