"""All figures of one session, and those of a run, each in every format that is asked for."""

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
    {"timeline": "turns", "profile": "profile", "client_state": "turns", "synchrony": "synchrony"}
)
"""The plots that are made of one session, and the table that each of them takes."""
RUN_FIGURES: Mapping[str, str] = MappingProxyType({"profile": "profile", "thirds": "profile", "responses": "responses"})
"""The plots that are made of all sessions of a run together: of one, thirds and responses rest on few turns."""


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
        ``turns``, ``synchrony`` and ``profile`` of one session, as in the files of these names.
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
    return _write(FIGURES, tables, Path(folder), check_formats(formats))


def write_run_figures(
    tables: Mapping[str, DataFrame], folder: Path | str, *, formats: Iterable[str] = ("png",)
) -> list[Path]:
    """Write the figures of all sessions of a run, pooled; parameters, files and errors as of `write_figures`.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        ``profile`` of all sessions, a row for each session, code and part, as `Analysis.profile`: how sessions differ
        goes into the intervals; and ``responses``, as in the ``responses.csv`` of the run.

    Returns
    -------
    list of pathlib.Path
        The files: ``profile.png`` and so on, in the order of `RUN_FIGURES`.
    """
    return _write(RUN_FIGURES, tables, Path(folder), check_formats(formats))


def _write(
    figures: Mapping[str, str], tables: Mapping[str, DataFrame], folder: Path, formats: tuple[str, ...]
) -> list[Path]:
    from therapy_analytics.plots._save import draw, easel, house_style, write  # noqa: PLC0415 (matplotlib is slow)

    wanted = {name: tables[of] for name, of in figures.items() if of in tables and formats}
    found: list[Path] = []
    with house_style(), easel() as figure:
        for name, table in wanted.items():
            draw(PLOTS[name], table, figsize=figure_size(PLOTS[name], table), on=figure)
            found += write(figure, [folder / f"{name}.{one}" for one in formats])
    return found


def figure_size(plot: Plot, table: DataFrame) -> tuple[float, float]:
    """Return the inches that a plot of this table needs: what ``figure_size`` in its file says, else the usual ones."""
    asked = getattr(import_module(plot.__module__), "figure_size", None)
    return FIGSIZE if asked is None else asked(table)
