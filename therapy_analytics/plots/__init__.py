"""Plots: each takes a table of the package and draws it on one Axes; `therapy_analytics.plots.files` writes them.

>>> from therapy_analytics import plots
>>> plots.session.needs
('session_id', 'turn', 'role', 'n_words')

How to add a plot:

1. Make a new file in this folder. Give it another name than the plot has, as
   ``session_at_a_glance.py`` holds ``session``: one name cannot be both.
2. In it write ``f(table, *, ax=None) -> Axes`` under ``@plot(needs=("column", ...), takes="parts", session=9)``:
   the columns it cannot do without, the table of an `Analysis` that it draws, and, where a run shall draw it of each
   session or of all together, its place among those figures. ``caption`` says in words what the figure shows. Draw
   on `ax`; or on axes inside it, and then return `ax` and how many points high all is. A table without rows must give
   a picture that says so (`say_instead`).
3. Run ``pytest tests/plots``: it looks at every plot there is. ``plots.f(table)`` and ``plots.f(analysis)`` work at
   once, and a run writes ``f.png``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.registry import Registry
from therapy_analytics.core.verbs import no_attribute

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

    Drawn = Axes | tuple[Axes, float]

FONT = 7.2
"""Size of letters, in points: journals ask for at least 7 in print."""
WIDTH_MM = 174.0
"""Two columns of a journal: the width of a figure of which nothing else is said."""
INCH_MM, INCH_PT = 25.4, 72.0
EMPTY = 60.0
"""Height of a figure that only says why it is empty, in points."""
LOOK: dict[Any, Any] = {
    "font.size": FONT, "axes.titlesize": FONT, "axes.labelsize": FONT, "legend.fontsize": FONT,
    "xtick.labelsize": FONT, "xtick.major.size": 2, "xtick.major.pad": 2, "xtick.major.width": 0.6,
    "ytick.labelsize": FONT, "ytick.major.size": 2, "ytick.major.pad": 2, "ytick.major.width": 0.6,
    "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False, "axes.labelpad": 1,
    "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlepad": 3,
    "legend.frameon": False, "font.family": ["DejaVu Sans"],
    # A $ in a name is not a formula.
    "text.parse_math": False,
}  # fmt: skip
"""Settings of matplotlib under which all plots are drawn."""


class Plot(Protocol):
    """A registered plot; ``plot.caption(table)`` returns the words for beneath the figure."""

    __name__: str
    needs: tuple[str, ...]
    takes: str
    session: int
    run: int
    caption: Callable[[Any], str]

    def __call__(self, table: Any, /, *, ax: Axes | None = None) -> Axes:
        """Draw the table, or that of a result, on `ax` or on a new pyplot figure, and return the Axes."""
        ...


PLOTS: Registry[Plot] = Registry("plot", package="therapy_analytics.plots")


def plot(  # noqa: PLR0913  # what is said of a plot is said where it is defined
    *,
    needs: tuple[str, ...],
    caption: Callable[..., str] | None = None,
    takes: str = "",
    beside: str = "",
    session: int = 0,
    run: int = 0,
    single: bool = False,
) -> Callable[[Callable[..., Drawn]], Plot]:
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
    beside : str, optional
        The attribute with a second table. The functions of the plot get it after the first one; it is None where a
        table was given and no result.
    session, run : int, optional
        Its place, from 1, among the figures that a run writes of each session, and of all sessions together; 0 where
        it is none of them.
    single : bool, optional
        Whether it shows one session; a table of several is then a `BadOptionError`.
    """

    def register(draw: Callable[..., Drawn]) -> Plot:
        def tables_of(given: Any) -> tuple[DataFrame | None, ...]:
            rows: DataFrame | None = given if hasattr(given, "columns") else getattr(given, takes or "columns", None)
            if rows is None:
                problem = f"the plot {name!r} does not draw an object of type {type(given).__name__}"
                held = f", or what has it as .{takes}" if takes else ""
                raise BadOptionError("table", problem, f"Give it a table with columns {', '.join(needs)}{held}")
            _check(rows, needs, name, single=single)
            return (rows, None if rows is given else getattr(given, beside, None)) if beside else (rows,)

        def words(table: Any) -> str:
            first, *others = tables_of(table)
            first_line = (draw.__doc__ or "").strip().partition("\n")[0]
            return caption(first, *others) if caption and first is not None and len(first) else first_line

        @functools.wraps(draw)
        def checked(table: Any, /, *, ax: Axes | None = None) -> Axes:
            from matplotlib import rc_context  # noqa: PLC0415  # slow, and a look at the plots' names needs none

            tables, axes = (
                tables_of(table),
                axes_or_new(ax),
            )  # a notebook's backend must not be chosen inside the context
            with rc_context(LOOK):
                drawn = draw(*tables, ax=axes)
            return _fitted(*drawn) if isinstance(drawn, tuple) else _fitted(drawn)

        name = draw.__name__
        found = cast(Plot, checked)
        found.needs, found.takes, found.session, found.run, found.caption = needs, takes, session, run, words
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


def axes_or_new(ax: Axes | None, width_mm: float = WIDTH_MM) -> Axes:
    """Return `ax`, or the Axes that fill a new pyplot figure, which a notebook shows by itself."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt  # noqa: PLC0415  # slow, and only a notebook needs it

    return axes_that_fill(plt.figure(), width_mm)


def axes_that_fill(figure: Figure, width_mm: float = WIDTH_MM) -> Axes:
    """Return new axes that reach to the edges of a figure, whose height a plot then sets."""
    figure.set_size_inches(width_mm / INCH_MM, 0.5 * width_mm / INCH_MM)
    return figure.add_subplot(figure.add_gridspec(left=0, right=1, bottom=0, top=1)[0])


def _fitted(ax: Axes, high: float = EMPTY) -> Axes:
    """Make a figure that the axes fill as high as what is drawn, or make space in it for their scales."""
    figure = cast("Figure", ax.figure)
    if figure.axes[0] is ax and ax.get_position().bounds == (0, 0, 1, 1):
        if ax.axison:
            figure.set_layout_engine("constrained")
        else:
            figure.set_figheight(high / INCH_PT)
    return ax


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
