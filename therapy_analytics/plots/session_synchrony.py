"""Synchrony of one session: windows along its turns, and the whole session beside shuffles and surrogate pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from therapy_analytics.plots import FONT, axes_or_new, plot, say_instead
from therapy_analytics.plots import _style as style
from therapy_analytics.plots._synchrony import (
    BEYOND,
    NEEDS,
    NOTE,
    REPLIES,
    SHUFFLED,
    STROKES,
    MeasureShown,
    core_of,
    draw_windows,
    full_names,
    measures,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots import Drawn
    from therapy_analytics.plots._style import Floats

MOST_SHOWN, MOST_Z, LEAST_Z = 6, 6.0, 3.0
"""Measures that are drawn; and where the scale of z ends at most and at least: what lies further is an arrow."""
NAME, ROW, GAP, AXIS, HEADS = 12.0, 11.5, 7.0, 23.0, 12.0
"""Points for a measure's name, a direction, the space beneath a measure, the scale at the foot, the heads."""
VALUE, WHO, RANGE = 30.0, 40.0, 26.0
"""Points for a value, for whose replies it is of, and for the range of a lane."""


def _keys(found: list[MeasureShown], *, lanes: bool) -> dict[str, Any]:
    drawn = {who for one in found for who in one.windows} if lanes else set()
    lines = {
        REPLIES[who]: style.dot(style.ROLES[who], style.SIGNS[who], STROKES[who]) for who in STROKES if who in drawn
    }
    bands = {"95% of shuffles": style.box(**SHUFFLED)} if drawn else {}
    signs = {"z from shuffles": "0.3", "z from surrogate pairs": "none"}
    return {**lines, **bands, **{said: style.dot("0.3", "D", mfc=face, mew=0.9, ms=4) for said, face in signs.items()}}


def _caption(rows: DataFrame, *, every: bool) -> str:
    name, last = rows["session_id"].iloc[0], float(np.nan_to_num(style.numbers(rows, "last_turn")).max())
    windows = rows[(rows["part"] == "window").to_numpy(dtype=bool)]
    parts = [f"Linguistic synchrony, session {name} ({last + 1:,.0f} turns)."]
    if len(windows) and not every:
        size = np.nanmax(style.numbers(windows, "last_turn") - style.numbers(windows, "first_turn")) + 1
        parts.append(
            f"Left: overlapping windows of {size:.0f} turns, each measure on a range of its own; bands hold 95% of "
            "shuffles of the speaker's replies within the session, so that 1 window in 20 lies outside if replies are "
            "in random order; large marks lie outside."
        )
    parts.append(
        f"{'The' if every else 'Right: the'} whole session, in standard deviations (z) from the mean of shuffles "
        "(filled) and from what surrogate pairs, of therapist and client of different sessions, lead one to expect "
        f"(open); shaded: 95% of the null distribution; triangles lie beyond the scale. {NOTE}"
    )
    return " ".join(parts)


@plot(needs=NEEDS, takes="parts", session=3, single=True, caption=partial(_caption, every=False))
def synchrony(rows: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
    """Draw the core measures of synchrony of one session: along its turns, and beside shuffles and surrogate pairs.

    Parameters
    ----------
    rows : pandas.DataFrame
        The rows of ``analysis.parts`` (``measures.csv``) for one session, or of `therapy_analytics.synchrony`. Shown
        are style matching (LSM, rLSM), semantic similarity, lexical alignment and coordination, where they have a
        value; of a table without any of these, its first six measures. `synchrony_all` shows all.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds two axes of each measure: its windows, and z of the whole session.

    Raises
    ------
    BadOptionError
        A column is missing, or the table holds more than one session.

    Notes
    -----
    The grey bands hold 95 of 100 shuffles of each speaker's replies: of many windows one in
    twenty lies outside where replies are shuffled, and neighbouring windows share turns. Synchrony is no
    quality score: most measures grow with words per turn.
    """
    ax = axes_or_new(ax)
    found = core_of(measures(rows), MOST_SHOWN)
    if not found:
        return _nothing(ax, rows)
    page, lanes = style.Layout(ax), any(one.windows for one in found)
    top = page.legend(_keys(found, lanes=True)) + HEADS
    wide = 0.5 * (page.width - 2 * style.EDGE - RANGE - WHO - VALUE - 20)
    scale = _scale(found, page.width, style.EDGE + RANGE + wide + WHO + 14)
    page.write(page.width - style.EDGE, top - HEADS / 2, "Value", ha="right")
    if lanes:
        page.write(style.EDGE + RANGE + wide + 13, top - HEADS / 2, "Replies of")
    else:
        none = style.in_lines("Too few turns for windows", wide + RANGE)
        page.write(style.EDGE, top + NAME + ROW, none, alpha=0.75)
    last = max(float(np.nan_to_num(style.numbers(rows, "last_turn")).max()), 1.0)
    words = full_names([one.name for one in found])
    for one in found:
        foot, high = one is found[-1], ROW * max(len(one.whole), 3 * bool(one.windows), 1)
        page.write(style.EDGE, top + NAME / 2, style.fitted(words[one.name], page.width, bold=True), fontweight="bold")
        top += NAME
        if one.windows or (foot and lanes):
            _lane(page.panel(style.EDGE + RANGE, top + 2, wide, high - 4), one, last, foot=foot)
        _draw_z(page.panel(scale.left, top, scale.width, high), scale, list(one.whole.items()), foot=foot)
        places = style.decimals(values[0] for values in one.whole.values())
        for k, (who, values) in enumerate(one.whole.items()):
            level = top + (k + 0.5) * high / len(one.whole)
            page.write(scale.left - WHO - 1, level, who)
            page.write(page.width - style.EDGE, level, style.number(values[0], places), ha="right")
        top += high + GAP
    return ax, top - GAP + AXIS


@plot(needs=NEEDS, takes="parts", single=True, caption=partial(_caption, every=True))
def synchrony_all(rows: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
    """Draw all measures of synchrony of one session beside shuffles and surrogate pairs, each in one row.

    Parameters
    ----------
    rows : pandas.DataFrame
        As in `synchrony`; the mean of both directions is drawn, or what there is.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the axes of z.

    Notes
    -----
    Of many measures some lie outside the shaded range by chance alone: one in twenty. Synchrony is no quality score.
    """
    ax = axes_or_new(ax)
    found = measures(rows)
    if not found:
        return _nothing(ax, rows)
    page = style.Layout(ax)
    top = page.legend(_keys(found, lanes=False)) + HEADS
    scale = _scale(found, page.width, 0.5 * page.width)
    page.write(page.width - style.EDGE, top - HEADS / 2, "Value", ha="right")
    nothing, high = np.full(6, np.nan), 2 * ROW * len(found)
    shown = ["both" if "both" in one.whole else next(iter(one.whole), "both") for one in found]
    whole = [(who, one.whole.get(who, nothing)) for who, one in zip(shown, found, strict=True)]
    _draw_z(page.panel(scale.left, top, scale.width, high), scale, whole, foot=True)
    words = full_names([one.name for one in found])
    for i, (one, (_, values)) in enumerate(zip(found, whole, strict=True)):
        level, name = top + (2 * i + 1) * ROW, style.in_lines(words[one.name], scale.left - style.EDGE - 10)
        page.write(style.EDGE, level, name, va="center", linespacing=1.1)
        value = style.number(values[0], style.decimals([values[0]]))
        page.write(page.width - style.EDGE, level, value, ha="right")
        page.rule(level + ROW)
    return ax, top + high + AXIS


def _nothing(ax: Axes, rows: DataFrame) -> Axes:
    why = "no measure has a value in this session" if len(rows) else "the table holds no row for this session"
    return say_instead(ax, f"no synchrony: {why}")


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where the scale of z lies, in points, the z at its ends, and its ticks."""

    left: float
    width: float
    most: float
    ticks: Floats


def _scale(found: list[MeasureShown], width: float, left: float) -> _Scale:
    z = np.array([row[i] for one in found for row in one.whole.values() for i in (2, 5)])
    most = float(np.clip(np.ceil(np.nanmax(np.abs(z), initial=0, where=~np.isnan(z)) + 0.2), LEAST_Z, MOST_Z))
    width -= style.EDGE + VALUE + 6 + left
    step = 1 if width > 4 * most * FONT else 2 if most % 3 else 3
    return _Scale(left, width, most, np.arange(-step * (most // step), most + 1e-9, step))


def _lane(ax: Axes, one: MeasureShown, last: float, *, foot: bool) -> None:
    """Draw the windows of a measure between the lowest and the highest of their values and bands."""
    ax.set_xlim(0, last)
    if one.windows:
        draw_windows(ax, one.windows, lambda turn: np.clip(turn, 0, last))
        ax.grid(axis="y", c="0.5", alpha=0.5, lw=0.5)
    else:
        ax.set_yticks([])
    most = int(np.clip(style.width_of(ax) / (4.2 * FONT), 2, 10))
    ax.set_xticks(style.between(MaxNLocator(most, steps=[1, 2, 5, 10], integer=True), (0, last)))
    ax.tick_params("y", length=0, pad=3)
    ax.tick_params("x", length=2 * foot, labelbottom=foot)
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.spines["left"].set_visible(False)
    ax.spines["bottom"].set_visible(foot)
    if foot:
        ax.spines["bottom"].set_position(("outward", 2))
        ax.set_xlabel("Turn")


def _draw_z(ax: Axes, scale: _Scale, rows: list[tuple[str, Floats]], *, foot: bool) -> None:
    """Draw in each row, from the top down, the z of shuffles and of surrogate pairs, a little apart."""
    n = max(len(rows), 1)
    ax.set(xlim=(-scale.most, scale.most), ylim=(n, 0))
    ax.axvspan(-BEYOND, BEYOND, fc="0.5", alpha=0.18, lw=0)
    ax.axvline(0, c="0.4", lw=0.5)
    ax.hlines(np.arange(len(rows)) + 0.5, -scale.most, scale.most, colors="0.5", alpha=0.35, lw=0.5)
    for i, (who, values) in enumerate(rows):
        kinds = (values[2], "shuffles", style.ROLES[who], -0.14), (values[5], "surrogates", "none", 0.14)
        for z, name, fill, down in kinds:
            beyond = {1: ">", -1: "<"}.get(np.sign(z) * (abs(z) > scale.most), style.SIGNS[who])
            at = float(np.clip(z, -scale.most, scale.most)), i + 0.5 + down
            look: dict[str, Any] = {
                "ms": 3.6,
                "mew": 0.9,
                "clip_on": False,
                "zorder": 3,
                "label": f"z from {name} of {who}",
            }
            ax.plot(*at, marker=beyond, mfc=fill, mec=style.ROLES[who], ls="", **look)
    ax.set_yticks([])
    labels = [f"{place:+.0f}".replace("-", style.MINUS) if place else "0" for place in scale.ticks]
    ax.set_xticks(scale.ticks, labels)
    ax.tick_params("x", length=2 * foot, labelbottom=foot)
    ax.spines["left"].set_visible(False)
    ax.spines["bottom"].set_visible(foot)
    if foot:
        ax.set_xlabel("z from the null mean")
