"""All figures of one session, and those of a run, each in every format that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from therapy_analytics.errors import BadOptionError
from therapy_analytics.plots import PLOTS, Plot, each_table_once

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pandas import DataFrame

FORMATS = ("png", "svg", "pdf")
WIDTHS_MM = (80, 300)
"""The narrowest and the widest figure."""


def session_figures() -> list[Plot]:
    """Return the plots that a run draws of each session, in their order."""
    return sorted((one for one in PLOTS if one.session), key=lambda one: one.session)


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


def write_figures(
    plots: Iterable[Plot],
    tables: Mapping[str, DataFrame],
    folder: Path | str,
    *,
    formats: Iterable[str] = ("png",),
    width_mm: float | None = None,
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
        Their width in print; by default what each is best at.

    Returns
    -------
    list of pathlib.Path
        The files: ``timeline.png`` and so on; the same bytes in every run.

    Raises
    ------
    BadOptionError
        A format is not known.
    """
    from therapy_analytics.plots._save import draw, package_style, write  # noqa: PLC0415 (matplotlib is slow)

    asked = check_formats(formats)
    wanted = [one for one in plots if asked and one.takes in tables and set(one.needs) <= set(tables[one.takes])]
    found: list[Path] = []
    with package_style(), each_table_once():
        for one in wanted:
            table = tables[one.takes]
            figure = draw(one, table, width_mm=width_mm)
            paths = [Path(folder) / f"{one.__name__}.{kind}" for kind in asked]
            found += write(figure, paths, one.caption(table))
    return found
