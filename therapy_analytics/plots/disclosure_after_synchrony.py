"""What clients disclose after replies in synchrony, beside before them and beside shuffles, as a forest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from therapy_analytics.plots import _style as style
from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._synchrony import BEYOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots import Drawn

STYLES: dict[str, tuple[str, float, dict[str, Any]]] = {
    "after": ("In the turn after the reply", -0.27, {"c": style.BLUE, "marker": "o", "ls": "-"}),
    "after_beyond_before": ("After it, beyond that before it", 0.0, {"c": "#111111", "marker": "D", "ls": "-"}),
    "before": (
        *("In the turn before it (control)", 0.27),
        {"c": style.ORANGE, "marker": "s", "ls": (0, (3, 1.2)), "mfc": "w"},
    ),
}
"""Of each direction its words, how far below the middle of its row it is drawn, and its sign."""
SHUFFLED: dict[str, Any] = {"fc": "0.5", "alpha": 0.35}
LEAST = 0.1
"""So far, in standard deviations, the scale reaches at least."""
ROW, FOOT, NAMES = 19.0, 27.0, 0.36
"""Points of a row, and of the scale with its label; and the share of the width that names have."""
LABEL = "SD of disclosure for one SD of synchrony"


def _keys() -> dict[str, Any]:
    keys = {words: Line2D([], [], **look, ms=3.8, mew=0.8, lw=1.1) for words, _, look in STYLES.values()}
    return {**keys, "95% of shuffles": style.box(**SHUFFLED, lw=0)}


def _rows(table: DataFrame) -> dict[tuple[str, str], int]:
    """Return the row of each disclosure and synchrony, of ("...", "") for the name of a disclosure."""
    keys = table[["disclosure", "synchrony"]].astype(str)
    found: dict[tuple[str, str], int] = {}
    for disclosure, own in keys.groupby("disclosure", sort=False)["synchrony"]:
        for name in ("", *dict.fromkeys(own)):
            found[str(disclosure), name] = len(found)
    return found


def _caption(table: DataFrame) -> str:
    n = [style.numbers(table, name) for name in ("n_sessions", "n_turns")]
    sessions, replies = (int(np.nan_to_num(one).max()) for one in n)
    return (
        f"Synchrony and disclosure, {sessions:,} sessions, {replies:,} replies of therapists: standard deviations of "
        "the client's disclosure for one standard deviation of synchrony of the therapist's reply, within sessions, "
        "words and turn number held constant. Lines: 95% intervals. Grey: 95% of shuffles within sessions. An "
        "association in time is no proof of a cause."
    )


@plot(
    needs=(
        *("synchrony", "disclosure", "direction", "n_sessions", "n_turns"),
        *("estimate", "lo", "hi", "null", "null_sd"),
    ),
    takes="associations",
    caption=_caption,
)
def association(table: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
    """Draw for each measure of synchrony how disclosure after and before a reply goes with it, beside shuffles.

    Parameters
    ----------
    table : pandas.DataFrame
        As `therapy_analytics.measures.association.disclosure_after_synchrony` returns it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the axes of the forest, which count standard deviations of disclosure for one of synchrony.

    Notes
    -----
    The grey bar behind an estimate holds 95 of 100 shuffles of synchrony within sessions. An association that is
    as strong before the reply as after it says nothing of what the reply brings about.
    """
    ax = axes_or_new(ax)
    estimate, low, high, null, sd = (style.numbers(table, name) for name in ("estimate", "lo", "hi", "null", "null_sd"))
    there = ~np.isnan(estimate)
    if not there.any():
        return say_instead(ax, "no association: no row has an estimate (the table's notes say why)")
    page, rows = style.Layout(ax), _rows(table)
    top, wide, tall = page.legend(_keys()), NAMES * page.width, len(rows) * ROW
    forest = page.panel(wide, top, page.width - wide - 10, tall)
    null_low, null_high = null - BEYOND * sd, null + BEYOND * sd
    ends = np.concatenate([one[there] for one in (estimate, low, high, null_low, null_high)])
    reach = max(1.08 * float(np.nanmax(np.abs(ends))), LEAST)
    forest.set(xlim=(-reach, reach), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    forest.set_xlabel(style.fitted(LABEL, 0.62 * page.width))
    locator = MaxNLocator(int(np.clip((page.width - wide) / 34, 2, 8)), steps=[1, 2, 5, 10])
    ticks = style.between(locator, (-reach, reach))
    forest.set_xticks(ticks, [f"{one:g}".replace("-", style.MINUS) for one in ticks])
    forest.spines["left"].set_visible(False)
    forest.axvline(0, c="k", lw=0.6, alpha=0.7)
    level = np.array([rows[key] for key in table[["disclosure", "synchrony"]].astype(str).itertuples(index=False)])
    direction = table["direction"].astype(str).to_numpy(dtype=object)
    for name, (_, down, look) in STYLES.items():
        own = there & (direction == name)
        y = level[own] + down
        forest.barh(y, (null_high - null_low)[own], 0.18, null_low[own], **SHUFFLED, lw=0, label=f"null {name}")
        forest.hlines(y, low[own], high[own], colors=look["c"], ls=look["ls"], lw=1.1, label=f"interval {name}")
        sign = {**look, "ls": "", "ms": 3.6, "mew": 0.8, "zorder": 3, "label": f"estimate {name}"}
        forest.plot(estimate[own], y, **sign)
    for (disclosure, name), row in rows.items():
        words = style.sentence((name or disclosure).removesuffix("_turn").replace("_", " "))
        space = (wide if name else page.width) - 2 * style.EDGE
        words = style.in_lines(words, space) if name else style.fitted(words, space, bold=True)
        look = {"va": "center", "linespacing": 1.1} if name else {"fontweight": "bold"}
        page.write(style.EDGE, top + (row + 0.5) * ROW, words, **look)
        page.rule(top + row * ROW)
        if name and row not in level[there]:
            forest.text(0, row, "undefined", ha="center", va="center_baseline", alpha=0.75)
    return ax, top + tall + FOOT
