"""Plots: each takes a table of the package and draws it on one Axes.

>>> from therapy_analytics import plots
>>> plots.timeline.needs
('session_id', 'turn', 'role', 'n_words')

How to add a plot:

1. Make a new file in this folder. Give it another name than the plot has, as
   ``session_timeline.py`` holds ``timeline``: one name cannot be both.
2. In it write ``f(table, *, ax=None) -> Axes`` under ``@plot(needs=("column", ...), takes="parts", session=9)``:
   the columns it cannot do without, the table of an `Analysis` that it draws, and, where a run shall draw it of each
   session or of all together, its place among those figures. Check the table first, then say ``ax = axes_or_new(ax)``,
   and draw on that alone. A table without rows must give a picture that says so (`say_instead`).
3. Run ``pytest tests/plots``: it looks at every plot there is. ``plots.f(table)`` and ``plots.f(analysis)`` work at
   once, and a run writes ``f.png``.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Protocol, cast

from therapy_analytics.errors import BadOptionError
from therapy_analytics.registry import Registry
from therapy_analytics.verbs import no_attribute

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from pandas import DataFrame

FIGSIZE = (11.0, 5.0)
MARGINS_IN = {"left": 1.55, "right": 0.15, "bottom": 0.5, "top": 0.6}
"""Inches around the axes. Fixed, because fitting them to the text costs a second drawing."""


class Plot(Protocol):
    """A registered plot."""

    __name__: str
    needs: tuple[str, ...]
    takes: str
    session: int
    run: int
    size: Callable[[Any], tuple[float, float]]

    def __call__(self, table: Any, /, *, ax: Axes | None = None) -> Axes:
        """Draw the table, or that of an analysis, on `ax` or on a new pyplot figure, and return the Axes."""
        ...


PLOTS: Registry[Plot] = Registry("plot", package="therapy_analytics.plots")


def usual_size(_: Any) -> tuple[float, float]:
    """Return the inches of most figures, whatever their tables hold."""
    return FIGSIZE


def plot(
    *,
    needs: tuple[str, ...],
    takes: str = "",
    session: int = 0,
    run: int = 0,
    single: bool = False,
    size: Callable[[Any], tuple[float, float]] = usual_size,
) -> Callable[[Callable[..., Axes]], Plot]:
    """Register a plot under its function's name.

    Parameters
    ----------
    needs : tuple of str
        Columns that the table must have; a call without them is a `BadOptionError`.
    takes : str, optional
        The attribute of `Analysis` that it draws where it is given an analysis; empty where it draws something else.
    session, run : int, optional
        Its place, from 1, among the figures that a run writes of each session, and of all sessions together; 0 where
        it is none of them.
    single : bool, optional
        Whether it shows one session; a table of several is then a `BadOptionError`.
    size : function, optional
        Width and height in inches that the figure of a table needs.
    """

    def register(draw: Callable[..., Axes]) -> Plot:
        @functools.wraps(draw)
        def checked(table: Any, /, *, ax: Axes | None = None) -> Axes:
            rows: Any = table if hasattr(table, "columns") else getattr(table, takes, None) if takes else None
            if rows is None:
                problem = f"the plot {name!r} does not draw an object of type {type(table).__name__}"
                held = f", or what has it as .{takes}" if takes else ""
                raise BadOptionError("table", problem, f"Give it a table with columns {', '.join(needs)}{held}")
            _check(rows, needs, name, single=single)
            return draw(rows, ax=ax)

        name = draw.__name__
        found = cast(Plot, checked)
        found.needs, found.takes, found.session, found.run, found.size = needs, takes, session, run, size
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


def axes_or_new(ax: Axes | None, size: tuple[float, float] = FIGSIZE) -> Axes:
    """Return `ax`, or the Axes of a new pyplot figure of so many inches, which a notebook shows by itself."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt  # noqa: PLC0415  # slow, and only a notebook needs it

    return plt.figure(figsize=size).add_axes(inner_box(*size))


def inner_box(width: float, height: float) -> tuple[float, float, float, float]:
    """Return left, bottom, width, height of the axes, as shares of a figure measured in inches."""
    margin = MARGINS_IN
    inner_width = max(width - margin["left"] - margin["right"], width / 4)
    inner_height = max(height - margin["bottom"] - margin["top"], height / 4)
    return margin["left"] / width, margin["bottom"] / height, inner_width / width, inner_height / height


def say_instead(ax: Axes, message: str) -> Axes:
    """Leave `ax` empty but for a sentence that says why."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, message, transform=ax.transAxes, ha="center", va="center", alpha=0.75, fontsize=10)
    return ax


def __getattr__(name: str) -> Plot:
    # Only names that a plot can have: inspect, doctest and the like ask for many others.
    if name.startswith("_") or name not in PLOTS.names():
        known = () if name.startswith("_") else PLOTS.names()
        raise AttributeError(no_attribute(__name__, name, known))
    return PLOTS[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *PLOTS.names()})
