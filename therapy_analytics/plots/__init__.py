"""Plots: each takes a table of the package and draws it on one Axes.

>>> from therapy_analytics import plots
>>> plots.timeline.needs
('session_id', 'turn', 'role', 'n_words')

How to add a plot:

1. Make a new file in this folder. Give it another name than the plot has, as
   ``session_timeline.py`` holds ``timeline``: one name cannot be both.
2. In it write ``f(table, *, ax=None) -> Axes`` under ``@plot(needs=("column", ...), takes="parts", session=9)``:
   the columns it cannot do without, the table of an `Analysis` that it draws, and, where a run shall draw it of each
   session or of all together, its place among those figures. ``caption`` says in words what the figure shows, and
   ``height`` how high it must be at some width. Draw on `ax` alone, inside its edges, in letters of `FONT` points
   where there is space. A table without rows must give a picture that says so (`say_instead`).
3. Run ``pytest tests/plots``: it looks at every plot there is. ``plots.f(table)`` and ``plots.f(analysis)`` work at
   once, and a run writes ``f.png``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.registry import Registry
from therapy_analytics.core.verbs import no_attribute

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

FONT = 7.2
"""Size of letters, in points: journals ask for at least 7 in print."""
WIDTH_MM = 174.0
"""Two columns of a journal: the width of a figure of which nothing else is said."""
INCH_MM, INCH_PT = 25.4, 72.0

Found = TypeVar("Found")


class Plot(Protocol):
    """A registered plot.

    ``plot.caption(table)`` returns the words for beneath the figure, and ``plot.size(table, width_mm)`` its width and
    height in inches.
    """

    __name__: str
    needs: tuple[str, ...]
    takes: str
    session: int
    run: int
    width_mm: float
    height: Callable[[Any, float], float]
    caption: Callable[[Any], str]
    size: Callable[..., tuple[float, float]]

    def __call__(self, table: Any, /, *, ax: Axes | None = None) -> Axes:
        """Draw the table, or that of a result, on `ax` or on a new pyplot figure, and return the Axes."""
        ...


PLOTS: Registry[Plot] = Registry("plot", package="therapy_analytics.plots")


def usual_height(_: Any, width: float) -> float:
    """Return a height, in points, that goes with a width whatever the table holds."""
    return 0.5 * width


def plot(  # noqa: PLR0913  # what is said of a plot is said where it is defined
    *,
    needs: tuple[str, ...],
    caption: Callable[[Any], str] | None = None,
    takes: str = "",
    session: int = 0,
    run: int = 0,
    single: bool = False,
    width_mm: float = WIDTH_MM,
    height: Callable[[Any, float], float] = usual_height,
) -> Callable[[Callable[..., Axes]], Plot]:
    """Register a plot under its function's name.

    Parameters
    ----------
    needs : tuple of str
        Columns that the table must have; a call without them is a `BadOptionError`.
    caption : function, optional
        From a table to the words that belong beneath its figure: what is shown, and what the marks mean. By default
        the first line of the docstring.
    takes : str, optional
        The attribute that it draws where it is given a result (an `Analysis`, a `Comparison`, ...) and not a table.
    session, run : int, optional
        Its place, from 1, among the figures that a run writes of each session, and of all sessions together; 0 where
        it is none of them.
    single : bool, optional
        Whether it shows one session; a table of several is then a `BadOptionError`.
    width_mm : float, optional
        The width at which it is best printed.
    height : function, optional
        The height in points that the figure of a table needs at a width in points.
    """

    def register(draw: Callable[..., Axes]) -> Plot:
        def rows_of(table: Any) -> DataFrame:
            held_in = getattr(table, takes, None) if takes else None
            rows: DataFrame | None = table if hasattr(table, "columns") else held_in
            if rows is None:
                problem = f"the plot {name!r} does not draw an object of type {type(table).__name__}"
                held = f", or what has it as .{takes}" if takes else ""
                raise BadOptionError("table", problem, f"Give it a table with columns {', '.join(needs)}{held}")
            _check(rows, needs, name, single=single)
            return rows

        def size(table: Any, width_mm: float | None = None) -> tuple[float, float]:
            width = (width_mm or found.width_mm) / INCH_MM
            return width, height(rows_of(table), width * INCH_PT) / INCH_PT

        @functools.wraps(draw)
        def checked(table: Any, /, *, ax: Axes | None = None) -> Axes:
            rows = rows_of(table)
            with each_table_once():
                return draw(rows, ax=axes_or_new(None, size(rows)) if ax is None else ax)

        name = draw.__name__
        found = cast(Plot, checked)
        found.needs, found.takes, found.session, found.run = needs, takes, session, run
        found.width_mm, found.height, found.size = width_mm, height, size
        first_line = (draw.__doc__ or "").strip().partition("\n")[0]
        found.caption = lambda table: caption(rows_of(table)) if caption and len(rows_of(table)) else first_line
        PLOTS.add(name, found, module=draw.__module__)
        return found

    return register


def _check(table: DataFrame, needs: tuple[str, ...], name: str, *, single: bool) -> None:
    """Refuse a table that lacks columns, or has more sessions than the plot can show."""
    option, missing = "table", [column for column in needs if column not in table.columns]
    if missing:
        problem = f"the table for plot {name!r} has no column {', '.join(missing)}"
        raise BadOptionError(option, problem, f"It needs {', '.join(needs)}")
    if single and table["session_id"].nunique() > 1:
        problem = f"the plot {name!r} shows one session and the table holds {table['session_id'].nunique()}"
        raise BadOptionError(option, problem, "Select one: table[table.session_id == '...']")


_FOUND: ContextVar[dict[Any, Any] | None] = ContextVar("found", default=None)


@contextmanager
def each_table_once() -> Iterator[None]:
    """Have functions that are `remembered` read each table once for a while, in which tables must not change."""
    if _FOUND.get() is not None:
        yield
        return
    token = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(token)


def remembered(read: Callable[[Any], Found]) -> Callable[[Any], Found]:
    """Have what is read from a table serve for the height, the caption and the drawing of its figure."""

    @functools.wraps(read)
    def found(table: Any) -> Found:
        known = _FOUND.get()
        if known is None:
            return read(table)
        key = read, id(table)
        if key not in known:
            known[key] = table, read(table)
        return cast(Found, known[key][1])

    return found


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (WIDTH_MM / INCH_MM, 3.5)) -> Axes:
    """Return `ax`, or the Axes that fill a new pyplot figure of so many inches, which a notebook shows by itself."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt  # noqa: PLC0415  # slow, and only a notebook needs it

    return plt.figure(figsize=size).add_axes((0, 0, 1, 1))


def say_instead(ax: Axes, message: str) -> Axes:
    """Leave `ax` empty but for a sentence that says why."""
    from textwrap import fill  # noqa: PLC0415

    ax.set_axis_off()
    message = fill(message, max(int(ax.bbox.width * INCH_PT / ax.figure.dpi / (0.6 * FONT)), 12))
    ax.text(0.5, 0.5, message, transform=ax.transAxes, ha="center", va="center", alpha=0.75, fontsize=FONT)
    return ax


def __getattr__(name: str) -> Plot:
    # Only names that a plot can have: inspect, doctest and the like ask for many others.
    if name.startswith("_") or name not in PLOTS.names():
        known = () if name.startswith("_") else PLOTS.names()
        raise AttributeError(no_attribute(__name__, name, known))
    return PLOTS[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *PLOTS.names()})
