"""How what therapist and client do moves from the first to the last third of a session: a small panel a behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter

from therapy_analytics.plots import _style as style
from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._codes import ROLES, WEAK, behaviours, rates, role_keys, role_name, sessions_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots import Drawn
    from therapy_analytics.plots._codes import Behaviour, Rates

THIRDS = ("third_1", "third_2", "third_3")
MOST = 40
"""So many behaviours are drawn: the first of the codebooks."""
TALL, HEADING, LEFT = 50.0, 14.0, 21.0
"""Points of a panel with its name and counts, of the line above each role's panels, and of the scale beside a row."""
WIDE, NARROW, PAGE = 100.0, 66.0, 640.0
"""Points that a panel needs across for whole names, and for names that are cut; and what a page holds."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _ThirdsShown:
    """What is drawn: the rows of thirds, the behaviours that occur, and their rates."""

    rows: DataFrame
    found: list[Behaviour]
    values: Rates

    @property
    def sections(self) -> dict[str, list[int]]:
        """Return the places of each role's behaviours."""
        every = {role: [i for i, one in enumerate(self.found) if one.role == role] for role in ROLES}
        return {role: own for role, own in every.items() if own}

    def counts(self, i: int) -> list[str]:
        """Return turns with the code / turns of the role, of each third."""
        cells = zip(self.values.n[i], self.values.n_turns[i], strict=True)
        return [f"{n:,.0f}/{turns:,.0f}" for n, turns in cells]

    def across(self, width: float) -> int:
        """Return how many panels stand beside one another at a width in points."""
        least = 3 * (max(style.text_width(one) for i in range(len(self.found)) for one in self.counts(i)) + 5)
        sizes = [len(own) for own in self.sections.values()]
        room = width - 2 * style.EDGE - LEFT
        wide, narrow = (int(np.clip(room / max(one, least), 1, max(sizes))) for one in (WIDE, NARROW))
        return wide if sum(ceil(size / wide) for size in sizes) * TALL <= PAGE else narrow


def _shown(table: DataFrame) -> _ThirdsShown | None:
    rows = table[table["part"].astype(str).isin(THIRDS)]
    occurring = rows.loc[rows["n"] > 0, "code"].astype(str).unique()
    if not len(occurring):
        return None
    found = list(behaviours(occurring).values())[:MOST]
    return _ThirdsShown(rows=rows, found=found, values=rates(rows, [one.code for one in found], THIRDS))


def _caption(table: DataFrame) -> str:
    shown = _shown(table)
    if shown is None:
        return ""
    whose, over = sessions_of(shown.rows)
    about = (
        f"Rates by thirds of the session, {whose}. Each panel, from left to right: first, middle and last third, with "
        f"95% intervals over {over}; below, turns with the code / turns of the role. Where intervals overlap much, a "
        "rise or a fall may be noise."
    )
    parts = [about]

    parts += [f"{WEAK}."] if any(one.weak for one in shown.found) else []
    left_out = shown.rows["code"].nunique() - len(shown.found)
    parts += [f"{left_out} more codes never occur."] if left_out > 0 and len(shown.found) < MOST else []
    return " ".join(parts)


@plot(needs=("session_id", "code", "part", "n", "n_turns"), takes="profile", run=2, caption=_caption)
def thirds(table: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
    """Draw the rate of each behaviour that occurs in the first, the middle and the last third of the session.

    Parameters
    ----------
    table : pandas.DataFrame
        ``profile.csv`` of a session, or ``analysis.profile`` of several, which are pooled.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the axes of the behaviours, all on one scale.

    Notes
    -----
    Intervals as in `profile`. A third of a session is few turns: where intervals overlap much, a rise or a fall may be
    random. With many behaviours some seem to move in every session. At most 40 are drawn.
    """
    ax = axes_or_new(ax)
    shown = _shown(table)
    if shown is None:
        return say_instead(ax, "no behaviour in any third: the table holds none that occurs")
    page, across = style.Layout(ax), shown.across(style.width_of(ax))
    top = page.legend(role_keys(shown.found))
    wide = min((page.width - 2 * style.EDGE - LEFT) / across, 120.0)
    most = style.fifths(shown.values.high.ravel().tolist())
    for role, own in shown.sections.items():
        name = role_name(role) if role == "other" else f"{role} codes"
        page.write(style.EDGE, top + 0.6 * HEADING, style.sentence(name), fontweight="bold")
        top += HEADING
        for k, i in enumerate(own):
            row, column = divmod(k, across)
            left, head = style.EDGE + LEFT + column * wide, top + row * TALL
            page.write(left, head + 7, style.fitted(shown.found[i].name, wide - 5))
            axes = page.panel(left, head + 13, wide - 5, TALL - 28)
            axes.set(xlim=(-0.5, 2.5), ylim=(0, most))
            _third(axes, shown, i, role)
            axes.tick_params(labelleft=column == 0)
        top += ceil(len(own) / across) * TALL
    return ax, top


def _third(axes: Axes, shown: _ThirdsShown, i: int, role: str) -> None:
    """Draw the rates of a behaviour, with their counts beneath."""
    values, x, colour = shown.values, np.arange(3), style.ROLES[role]
    most = axes.get_ylim()[1]
    axes.set_facecolor("0.965")
    axes.patch.set_visible(True)
    axes.set_yticks((0, most / 2, most))
    axes.yaxis.set_major_formatter(FuncFormatter(style.per_cent))
    axes.grid(axis="y", c="0.5", alpha=0.5, lw=0.5)
    axes.vlines(x, values.low[i], values.high[i], colors=colour, lw=1.1, zorder=2, label="interval")
    axes.plot(x, values.rate[i], c=colour, lw=0.7, alpha=0.8, zorder=2, label="slope")
    look: dict[str, Any] = {
        "ls": "",
        "marker": style.SIGNS[role],
        "ms": 3.8,
        "mew": 0,
        "c": colour,
        "clip_on": False,
        "zorder": 3,
    }
    axes.plot(x, values.rate[i], label="rate", **look)
    axes.set_xticks(x, shown.counts(i))
    axes.tick_params(length=0)
    axes.tick_params("x", pad=4)
    axes.spines[["left", "bottom"]].set_visible(False)
