"""All figures of one session, and those of a run, each in every format that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from therapy_analytics.core.errors import BadOptionError, place_of
from therapy_analytics.core.folders import DISK_FULL
from therapy_analytics.plots import PLOTS, Plot, each_table_once
from therapy_analytics.readers.account import Remark

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
        Their width in print; by default what each is best at.
    failed : list of Remark, optional
        Filled with why figures could not be drawn, which stops no other; by default the error is raised.

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
            paths = [Path(folder) / f"{one.__name__}.{kind}" for kind in asked]
            with nullcontext() if failed is None else tables_first(failed, *paths):
                table = tables[one.takes]
                found += write(draw(one, table, width_mm=width_mm), paths, one.caption(table))
    return found
