"""One session from left to right: who speaks, what is done, how alike the speakers are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from therapy_analytics.plots import FONT, axes_or_new, plot, say_instead
from therapy_analytics.plots import _style as style
from therapy_analytics.plots._codes import known_codes
from therapy_analytics.plots._synchrony import (
    CORE,
    NEEDS,
    REPLIES,
    SHUFFLED,
    STROKES,
    MeasureShown,
    draw_windows,
    full_names,
    measures,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.codes.lanes import Lane
    from therapy_analytics.plots import Drawn
    from therapy_analytics.plots._style import Bools, Floats

BAND = {"therapist": (0.05, 1.4), "client": (-1.4, -0.05), "other": (-0.35, 0.35)}
"""Between which levels each role's bars lie, in rows."""
TOP, ROW, STRIP, FOOT = 1.6, 10.5, 40.0, 17.0
"""The highest level, in rows; points of a row, of a strip of synchrony with what parts it, and of the scale."""
GAP, SCALE, STRIP_NAME = 4.0, 26.0, 96.0
"""Points between names and the session, for the numbers beside a strip, and for both and its name."""
RUNNING, OVERLAP_S = 7, 2.0
"""Turns of the running median; and the seconds that people talk into each other's turns: that is no broken clock."""


def _strips(turns: DataFrame, parts: DataFrame | None) -> list[MeasureShown]:
    """Return the measures of synchrony of which there is something to draw along the session."""
    found = {}
    if parts is not None and set(NEEDS) <= set(parts):
        core = measures(parts[parts["measure"].isin(CORE).to_numpy(dtype=bool)])
        found = {one.name: one for one in core if one.windows}
    if "lsm_turn" in turns:
        found.setdefault("lsm_turn_mean", MeasureShown("lsm_turn_mean", {}, {}))
    return [found[name] for name in CORE if name in found]


def _keys(strips: list[MeasureShown]) -> dict[str, Any]:
    drawn = {who for one in strips for who in one.windows}
    keys: dict[str, Any] = {
        REPLIES[who]: style.dot(style.ROLES[who], style.SIGNS[who], STROKES[who], ms=3.6)
        for who in STROKES
        if who in drawn
    }
    return {**keys, "95% of shuffles": style.box(**SHUFFLED)} if drawn else {}


def _caption(turns: DataFrame, parts: DataFrame | None) -> str:
    words, shown, strips = style.numbers(turns, "n_words"), _lanes(turns), _strips(turns, parts)
    counted = "" if np.isnan(words).all() else f", {int(np.nansum(words)):,} words"
    sentences = [
        f"Session {turns['session_id'].iloc[0]}: {len(turns):,} turns{counted}.",
        "Bars: who speaks, and how long each turn is (therapist above, client below"
        + ("; grey: others)." if _of_role(turns, "other").any() else ")."),
    ]
    if shown:
        sentences.append(
            "Marks: turns that have the code; n of m: turns of that role with the code, of all that were coded."
        )
    if any(lane.down for lane in shown):
        sentences.append("Feelings: positive above the line (green), negative below it (vermilion).")
    if parts is not None and any(one.windows for one in strips):
        windows = parts[(parts["part"] == "window").to_numpy(dtype=bool)]
        length = np.nanmax(style.numbers(windows, "last_turn") - style.numbers(windows, "first_turn")) + 1
        sentences.append(
            f"Synchrony: overlapping windows of {length:.0f} turns, each measure on a range of its own; bands hold "
            "95% of shuffles of the speaker's replies within the session, so that 1 window in 20 lies outside if "
            "replies are in random order; large marks lie outside. Right: standard deviations (z) of the whole session "
            "from the mean of shuffles, and from what surrogate pairs lead one to expect."
        )
    if "lsm_turn" in turns:
        line = "" if any(one.windows for one in strips if one.name == "lsm_turn_mean") else (
            f"; line, running median of {RUNNING} turns"
        )  # fmt: skip
        sentences.append(f"Style matching (LSM): grey dots, a turn with the turn before it{line}.")
    if strips:
        sentences.append("Synchrony is not a quality score and grows with the length of turns.")
    return " ".join(sentences)


@plot(
    needs=("session_id", "turn", "role", "n_words"),
    takes="wide_turns",
    beside="parts",
    session=1,
    single=True,
    caption=_caption,
)
def session(turns: DataFrame, parts: DataFrame | None = None, /, *, ax: Axes | None = None) -> Drawn:
    """Draw one session: who speaks how long, which codes fall where, and how synchrony runs.

    Parameters
    ----------
    turns : pandas.DataFrame or Analysis
        The analysis of one session, or the rows of its ``wide_turns``. Without usable ``start_s`` the x-axis is
        the words spoken so far; lanes and style matching need their columns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the axes of the turns, and below them one of each measure of synchrony.

    Raises
    ------
    BadOptionError
        A column is missing, or the table holds more than one session.

    Notes
    -----
    A mark is one turn that has the code, whatever its length; ``n of m`` counts the turns of
    that role for which the code is given. An analysis also has windows of synchrony: of many windows one in twenty lies
    outside its band where replies are shuffled, and neighbouring windows share turns. Synchrony is no quality score: it
    grows with the length of turns. The caption says so: ``session.caption(analysis)``.
    """
    ax = axes_or_new(ax)
    if turns.empty:
        return say_instead(ax, "no turns: the table holds no row for this session")
    turns = turns.sort_values("turn", kind="stable")
    page = style.Layout(ax)
    lanes, strips, (start, end, label) = _lanes(turns), _strips(turns, parts), place_turns(turns)
    middle, named = (start + end) / 2, ["Therapist", *map(_name, lanes)]
    counts = [*(_words(turns, role) for role in ("therapist", "client")), *(_count(turns, lane) for lane in lanes)]
    names = min(max(*map(style.text_width, named), STRIP_NAME * bool(strips)), 0.4 * page.width)
    left, right = style.EDGE + names, page.width - style.EDGE - max(map(style.text_width, ["100% of words", *counts]))
    left, wide = left + GAP, right - left - 2 * GAP
    *levels, floor = _levels(lanes)
    top = 4 + (TOP - floor) * ROW
    main = page.panel(left, 4, wide, (TOP - floor) * ROW)
    main.set(xlim=(start.min(), max(end.max(), start.min() + 1e-9)), ylim=(floor, TOP))
    _draw_turns(main, turns, start, end)
    for lane, level, before in zip(lanes, levels, ["", *(lane.role for lane in lanes)], strict=False):
        _draw_lane(main, turns, middle, lane, level, _mark(wide, turns))
        if lane.role != before:
            heading = f"{style.sentence(lane.role)} codes"
            page.write(style.EDGE, 4 + (TOP - level - 1.05) * ROW, heading, fontweight="bold")
    levels = [*(sum(BAND[role]) / 2 for role in ("therapist", "client")), *levels]
    main.set_yticks(levels, [style.fitted(name, names) for name in ("Therapist", "Client", *named[1:])])
    for level, count in zip(levels, counts, strict=True):
        page.write(right, 4 + (TOP - level) * ROW, count, alpha=0.8)
    panels, foot = [main], top + FOOT
    if strips:
        places = _Places(main.get_xlim(), left, wide, right, names, top)
        under, foot = _draw_strips(page, strips, turns, middle, places)
        panels += under
    _scale(panels, page, label, left, wide)
    return ax, foot + 8 * (not strips)


def _lanes(turns: DataFrame) -> list[Lane]:
    from therapy_analytics.codes.lanes import lanes  # noqa: PLC0415  # reads the codebooks

    return lanes(map(str, turns.columns))


def _levels(shown: list[Lane]) -> list[float]:
    """Return the middle of each lane, from the top down, with a heading above each role's first; then the floor."""
    levels, level, role = list[float](), -1.2, ""
    for lane in shown:
        level -= 1 + 1.2 * (lane.role != role)
        levels.append(level)
        role = lane.role
    return [*levels, level - 0.6]


def _of_role(turns: DataFrame, role: str) -> Bools:
    found: Bools = (turns["role"].astype(object) == role).to_numpy(dtype=bool)
    return found


def _coded(turns: DataFrame, columns: tuple[str, ...]) -> tuple[Bools, Bools]:
    """Return which turns have one of the codes, and for which any is given, (n_turns,) each."""
    values = np.array([style.numbers(turns, name) for name in columns]).reshape(len(columns), len(turns))
    return (values == 1).any(axis=0), (~np.isnan(values)).any(axis=0)


def _words(turns: DataFrame, role: str) -> str:
    found = style.numbers(turns, "n_words")
    words = np.nan_to_num(found)
    none = "words not counted" if np.isnan(found).all() else "no words"
    return f"{words[_of_role(turns, role)].sum() / words.sum():.0%} of words" if words.any() else none


def _name(lane: Lane) -> str:
    codes = [*lane.up, *lane.down]
    return (
        known_codes()[codes[0]].label
        if len(codes) == 1
        else style.sentence(lane.name).replace("+/-", f"+/{style.MINUS}")
    )


def _count(turns: DataFrame, lane: Lane) -> str:
    own = _of_role(turns, lane.role)
    (up, known), (down, also_known) = (_coded(turns, columns) for columns in (lane.up, lane.down))
    count = f"+{(up & own).sum()} {style.MINUS}{(down & own).sum()}" if lane.down else f"{(up & own).sum()}"
    return f"{count} of {((known | also_known) & own).sum()}"


def _draw_turns(main: Axes, turns: DataFrame, start: Floats, end: Floats) -> None:
    """Draw the turns as bars, the therapist's above the client's."""
    # A turn of a single word in an hour would else be thinner than any pixel.
    lengths = np.maximum(end - start, 0.3 * np.ptp(main.get_xlim()) / style.width_of(main))
    for role, (low, high) in BAND.items():
        own = _of_role(turns, role)
        bars = list(zip(start[own], lengths[own], strict=True))
        main.broken_barh(bars, (low, high - low), fc=style.ROLES[role], lw=0, clip_on=False, label=f"turns of {role}")


def _draw_lane(main: Axes, turns: DataFrame, middle: Floats, lane: Lane, level: float, mark: float) -> None:
    """Draw upright marks in the middle of the turns that have the codes of a lane."""
    own = _of_role(turns, lane.role)
    sides = [(lane.up, -0.34, 0.34, style.ROLES[lane.role])]
    if lane.down:
        sides = [(lane.up, 0.0, 0.42, style.GREEN), (lane.down, -0.42, 0.0, style.VERMILION)]
    for columns, low, high, colour in sides:
        x = middle[_coded(turns, columns)[0] & own]
        ends = [((one, level + low), (one, level + high)) for one in x]
        marks = LineCollection(ends, colors=colour, lw=mark, clip_on=False, label=" ".join(columns))
        main.add_collection(marks, autolim=False)  # ten times as fast as vlines, which look for the ends of the axis


@dataclass(frozen=True, slots=True)
class _Places:
    """The ends of the x-axis; and in points where it begins, its width, where counts begin, names' width, the top."""

    ends: tuple[float, float]
    left: float
    wide: float
    right: float
    names: float
    top: float


def _draw_strips(
    page: style.Layout, strips: list[MeasureShown], turns: DataFrame, middle: Floats, at: _Places
) -> tuple[list[Axes], float]:
    """Draw synchrony along the session, a strip a measure; return the axes, and where all ends."""
    page.write(style.EDGE, at.top + 0.9 * ROW, "Synchrony", fontweight="bold")
    pairs, keys = any(not np.isnan(row[5]) for one in strips for row in one.whole.values()), _keys(strips)
    heads = ("z of shuffles,", "of pairs") if pairs else ("z of shuffles",)
    for i, head in enumerate(heads if keys else ()):
        page.write(at.right, at.top + (0.9 + i) * ROW, head, alpha=0.8)
    top = page.legend(keys, top=at.top + 1.4 * ROW, width=at.right - GAP) + 2
    words, panels = full_names([one.name for one in strips]), []
    for one in strips:
        axes, level = page.panel(at.left, top, at.wide, STRIP - 8), top + STRIP / 2 - 4
        axes.set_xlim(at.ends)
        panels.append(axes)
        _draw_strip(axes, one, turns, middle, _mark(at.wide, turns))
        title = style.in_lines(words[one.name], at.names - SCALE, 3)
        page.write(at.left - GAP - SCALE, level, title, ha="right", va="center", linespacing=1.1)
        lines = _beside(one, turns, pairs=pairs)
        levels = [level + 1.2 * ROW * (i - (len(lines) - 1) / 2) for i in range(len(lines))]
        for line, y in zip(lines, levels, strict=True):
            page.write(at.right + 8 * bool(one.windows), y, line, alpha=0.8)
        for who, y in zip(one.windows, levels, strict=False):
            page.mark(at.right + 2, y, style.dot(style.ROLES[who], style.SIGNS[who], ms=3.6))
        top += STRIP
    return panels, top + FOOT


def _mark(wide: float, turns: DataFrame) -> float:
    """Return how wide marks are, in points."""
    return float(np.clip(0.9 * wide / len(turns), 0.6, 2.6))


def _draw_strip(ax: Axes, one: MeasureShown, turns: DataFrame, middle: Floats, mark: float) -> None:
    """Draw a measure along the session: its windows, and style matching of each turn; without windows its median."""
    lsm = style.numbers(turns, "lsm_turn") if one.name == "lsm_turn_mean" else np.full(len(turns), np.nan)
    defined = ~np.isnan(lsm)
    x, y = middle[defined], lsm[defined]
    dots: dict[str, Any] = {
        "marker": "o",
        "ls": "",
        "ms": 1.2 + mark / 2,
        "mew": 0,
        "c": "0.55",
        "alpha": 0.7,
        "clip_on": False,
    }
    ax.plot(x, y, label="lsm of turns", **dots)
    if one.windows:
        draw_windows(ax, one.windows, lambda turn: np.interp(turn, turns["turn"], middle), y)
        return
    ax.set(ylim=(-0.04, 1.04))
    ax.set_yticks((0, 0.5, 1), ("0", "0.5", "1"))
    if len(y) >= RUNNING:
        running = np.median(np.lib.stride_tricks.sliding_window_view(y, RUNNING), axis=1)
        ax.plot(x[RUNNING // 2 : -(RUNNING // 2)], running, c="k", lw=1.0, label="running median")


def _beside(one: MeasureShown, turns: DataFrame, *, pairs: bool) -> list[str]:
    """Return z of the whole session from shuffles, and from surrogate `pairs`; without windows, what the dots say."""
    if one.windows:
        rows = [one.whole.get(who, np.full(6, np.nan)) for who in one.windows]
        return [", ".join(style.number(row[k], 1, sign=True) for k in ((2, 5) if pairs else (2,))) for row in rows]
    lsm = style.numbers(turns, "lsm_turn")
    known = lsm[~np.isnan(lsm)]
    return [*([f"median {np.median(known):.2f}"] if len(known) else []), f"{len(known)} of {len(lsm)} turns"]


def _scale(panels: list[Axes], page: style.Layout, label: str, left: float, wide: float) -> None:
    """Draw faint lines through all panels, and a scale at the foot of the last."""
    locator = MaxNLocator(int(np.clip(wide / (4.2 * FONT), 2, 10)), steps=[1, 2, 5, 10])
    places = style.between(locator, panels[0].get_xlim())
    for axes in panels:
        axes.vlines(places, 0, 1, transform=axes.get_xaxis_transform(), colors="0.5", alpha=0.25, lw=0.5, zorder=0.5)
        axes.grid(axis="y", c="0.5", alpha=0.25, lw=0.5)
        axes.set_axisbelow(True)
        axes.tick_params("y", length=0, pad=GAP)
        axes.set_xticks(places if axes is panels[-1] else [])
        axes.spines["left"].set_visible(False)
        axes.spines["bottom"].set_visible(axes is panels[-1])
    panels[-1].xaxis.set_major_formatter("{x:,g}")
    label = style.fitted(style.sentence(label), page.width - 2 * style.EDGE)
    half = style.text_width(label) / 2 + style.EDGE
    panels[-1].set_xlabel(label, x=(min(max(left + wide / 2, half), page.width - half) - left) / wide)


def place_turns(turns: DataFrame) -> tuple[Floats, Floats, str]:
    """Return where turns begin and end, in minutes where the times can be used, else in words, and what it is."""
    start = style.numbers(turns, "start_s")
    problem = _clock_problem(start, turns["turn"].tolist())
    if problem is None:
        return start / 60, _ends(start, style.numbers(turns, "end_s")) / 60, "minutes"
    words = np.maximum(np.nan_to_num(style.numbers(turns, "n_words")), 0)
    end = np.cumsum(words if words.any() else np.ones(len(turns)))
    return np.append(0, end[:-1]), end, ("words spoken so far" if words.any() else "turns") + problem


def _clock_problem(start: Floats, turn: list[int]) -> str | None:
    """Return why the times cannot be used: "" when there are none, None when they can."""
    missing = int(np.isnan(start).sum())
    if missing == len(start):
        return ""
    if missing:
        return f" (no time for {missing} of {len(start)} turns)"
    back = np.flatnonzero(np.diff(start) < -OVERLAP_S)
    if back.size:
        return f" (times run backwards at turn {turn[back[0] + 1]})"
    if start.max() <= start.min():
        return " (all turns start at one time)" if len(start) > 1 else ""
    return None


def _ends(start: Floats, end: Floats) -> Floats:
    """Return the ends: where need be the next start, for the last turn what is usual."""
    until_next = np.append(start[1:], np.nan)
    found = np.where(end >= start, end, until_next)
    if np.isnan(found[-1]):
        found[-1] = start[-1] + np.median(np.maximum(found[:-1] - start[:-1], 0))
    return np.maximum(found, start)
