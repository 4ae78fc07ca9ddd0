"""One session from left to right: who speaks, what is done, how the styles match."""

from __future__ import annotations

import functools
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from therapy_analytics.errors import BadOptionError
from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._artists import Dots, boxes, strokes
from therapy_analytics.plots._outlines import BOLD, SLANTED, length
from therapy_analytics.plots._page import (
    Page,
    Row,
    close_page,
    open_page,
    shorten,
    write_rows,
    write_sections,
)
from therapy_analytics.plots._turns import LANES, Lane, Marks, marks, numbers, place_turns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._outlines import Line
    from therapy_analytics.plots._turns import Bools, Floats

# Okabe and Ito's palette; blue and orange also differ as greys. Other colours are the text's or half
# transparent, so that a notebook may be dark.
COLOURS = {"therapist": "#0072B2", "client": "#E69F00", "other": "#999999"}
POSITIVE, NEGATIVE = "#009E73", "#D55E00"
BAND = {"therapist": (0.05, 1.4), "client": (-1.4, -0.05), "other": (-0.35, 0.35)}
TOP, LSM_HEIGHT, WINDOW = 1.6, 3.4, 7


@plot(needs=("session_id", "turn", "role", "n_words"), takes="wide_turns", session=1)
def timeline(turns: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw one session: who speaks how long, which codes fall where, and style matching.

    Parameters
    ----------
    turns : pandas.DataFrame
        The rows of ``turns.csv`` for one session. Without usable ``start_s`` the x-axis is
        the words spoken so far; lanes and style matching need their columns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its y-axis counts lanes; only the ticks of style matching are values.

    Raises
    ------
    BadOptionError
        A column is missing, or the table holds more than one session.

    Notes
    -----
    A mark is one turn that has the code, whatever its length; ``n of m`` counts the turns of
    that role for which the code is given. Style matching is no quality score: it grows with
    the length of turns.
    """
    n_sessions = turns["session_id"].nunique()
    if n_sessions > 1:
        problem = f"a timeline shows one session and the table holds {n_sessions}"
        option = "table"
        raise BadOptionError(option, problem, "Select one: turns[turns.session_id == '...']")
    ax = axes_or_new(ax)
    if turns.empty:
        return say_instead(ax, "no turns: the table holds no row for this session")
    turns = _in_order(turns)
    found = [(lane, these) for lane in LANES if (these := marks(turns, lane)) is not None]
    levels = _levels([lane for lane, _ in found])
    floor = levels[-1] - 0.6
    page = open_page(ax, place_turns(turns), top=TOP, floor=floor - (LSM_HEIGHT + 1.6) * ("lsm_turn" in turns))
    rows = _speaking(page, turns)
    lanes = [(lane, these, level) for (lane, these), level in zip(found, levels[1:], strict=True)]
    rows += [_row(*one) for one in lanes]
    _ticks(page, lanes)
    sections = _sections([lane.role for lane, _ in found], levels)
    if "lsm_turn" in turns:
        foot = floor - LSM_HEIGHT - 1.3
        rows += _matching(page, numbers(turns, "lsm_turn"), foot)
        sections[foot + LSM_HEIGHT / 2] = "style matching\n(LSM)"
    write_rows(page, rows)
    write_sections(page, sections)
    close_page(page, [row.level for row in rows if row.name])
    _head(page, turns, feelings=any(lane.below for lane, _ in found))
    page.texts.put_on(ax, page.ink)
    return ax


def _in_order(turns: DataFrame) -> DataFrame:
    """Return the turns from the first to the last, with no columns but those that are drawn."""
    turns = turns[_drawn(tuple(turns.columns))].copy(deep=False)
    turns["role"] = turns["role"].astype(object)
    return turns if turns["turn"].is_monotonic_increasing else turns.sort_values("turn", kind="stable")


@functools.lru_cache(maxsize=8)
def _drawn(columns: tuple[str, ...]) -> list[str]:
    """Return the columns that are drawn: most are not, and to look at all of them for each lane takes its time."""
    asked = [part for lane in LANES for entry in (*lane.columns, *lane.below) for part in entry.split()]
    asked += ["session_id", "turn", "role", "start_s", "end_s", "n_words", "lsm_turn"]
    return [name for name in columns if any(fnmatchcase(str(name), one) for one in asked)]


def _levels(lanes: list[Lane]) -> list[float]:
    """Return the foot of the band of turns, then the middle of each lane, from the top down."""
    levels, role = [-1.1], ""
    for lane in lanes:
        levels.append(levels[-1] - 1 - 0.5 * (lane.role != role))
        role = lane.role
    return levels


def _speaking(page: Page, turns: DataFrame) -> list[Row]:
    """Draw the turns as bars, the therapist's above the client's, and return who spoke how much."""
    # A turn of a single word in an hour would else be thinner than any pixel.
    start = page.spans.start
    end = np.maximum(page.spans.end, start + 0.5 * page.point)
    words, rows = np.nan_to_num(numbers(turns, "n_words")), []
    whose = turns["role"].to_numpy(dtype=object)
    for role, (low, high) in BAND.items():
        own = whose == role
        if own.any():
            bars = np.column_stack([start[own], np.full(own.sum(), low), end[own], np.full(own.sum(), high)])
            page.ax.add_artist(boxes(bars, fc=COLOURS[role], gid=f"turns {role}"))
        if role != "other":
            share = f"{words[own].sum() / words.sum():.0%} of words" if words.any() else "no words"
            rows.append(Row((low + high) / 2, role, share))
    return rows


def _row(lane: Lane, these: Marks, level: float) -> Row:
    """Return what a lane is called and how many marks it has."""
    if lane.below:
        return Row(level, lane.label, f"+{these.hit.sum()} -{these.below.sum()} of {these.n}")
    return Row(level, lane.label, f"{these.hit.sum()} of {these.n}")


def _ticks(page: Page, lanes: list[tuple[Lane, Marks, float]]) -> None:
    """Draw the marks of all lanes, those of one colour as one path."""
    drawn: dict[str, list[Floats]] = {}
    for lane, these, level in lanes:
        if lane.below:
            drawn.setdefault(POSITIVE, []).append(_upright(page, these.hit, (level, level + 0.42)))
            drawn.setdefault(NEGATIVE, []).append(_upright(page, these.below, (level - 0.42, level)))
        else:
            ends = _upright(page, these.hit, (level - 0.34, level + 0.34))
            drawn.setdefault(COLOURS[lane.role], []).append(ends)
    for colour, lines in drawn.items():
        page.ax.add_artist(strokes(np.concatenate(lines), ec=colour, lw=page.mark, gid=f"codes {colour}"))


def _upright(page: Page, which: Bools, reach: tuple[float, float]) -> Floats:
    """Return lines in the middle of turns, (n, 4): x and y of both ends."""
    x = page.spans.middle[which]
    low, high = (np.full(len(x), y) for y in reach)
    return np.column_stack([x, low, x, high])


def _sections(roles: list[str], levels: list[float]) -> dict[float, str]:
    """Return what is written left of the rows, by height."""
    found = {0.0: "who speaks"}
    for role in dict.fromkeys(roles):
        own = [level for level, whose in zip(levels[1:], roles, strict=True) if whose == role]
        found[float(np.mean(own))] = f"{role}\ncodes"
    return found


def _matching(page: Page, lsm: Floats, foot: float) -> list[Row]:
    """Draw style matching turn by turn with its running median."""
    defined = ~np.isnan(lsm)
    x, y = page.spans.middle[defined], foot + LSM_HEIGHT * lsm[defined]
    size = 0.24 * page.font + page.mark / 2
    page.ax.add_artist(Dots(x, y, ls="", marker="o", ms=size, mfc="0.55", mec="none", alpha=0.6, gid="lsm turns"))
    said = f"no line for fewer than {WINDOW}"
    if len(y) >= WINDOW:
        running = np.median(np.lib.stride_tricks.sliding_window_view(y, WINDOW), axis=1)
        inner = x[WINDOW // 2 : -(WINDOW // 2)]
        page.ax.add_artist(Dots(inner, running, color=page.ink, lw=0.16 * page.font, gid="lsm running"))
        said = f"line: running median of {WINDOW}"
    said = f"dots: a turn with the one before it; {said}. Not a quality score."
    note: Line = (page.left, foot + LSM_HEIGHT + 0.55, said, "left")
    page.write([note], size=-0.5, font=SLANTED, alpha=0.75)
    return _scale(lsm, foot)


def _scale(lsm: Floats, foot: float) -> list[Row]:
    """Return the scale of style matching, its median, and for how many turns there is any."""
    middle, defined = foot + LSM_HEIGHT / 2, ~np.isnan(lsm)
    rows = [Row(foot, "0"), Row(middle, "0.5"), Row(foot + LSM_HEIGHT, "1")]
    counts = [f"{defined.sum()} of {len(lsm)} turns"]
    if defined.any():
        counts.insert(0, f"median {np.median(lsm[defined]):.2f}")
    places = middle + 0.9 * (np.arange(len(counts))[::-1] - (len(counts) - 1) / 2)
    return rows + [Row(float(place), "", count) for place, count in zip(places, counts, strict=True)]


def _head(page: Page, turns: DataFrame, *, feelings: bool) -> None:
    """Write the session's name and size, and what the colours mean."""
    size = page.font + 2
    name = shorten(str(turns["session_id"].iloc[0]), size, page.ax)
    page.write([(page.left, page.above(5 + 1.4 * page.font + 0.5 * size), name, "left")], size=2, font=BOLD)
    n_words = int(np.nansum(numbers(turns, "n_words")))
    text = f"{len(turns):,} turns, {n_words:,} words"
    page.write([(page.left, page.above(5 + 0.36 * page.font), text, "left")])
    shown = {role: COLOURS[role] for role in COLOURS if role != "other" or (turns["role"] == role).any()}
    if feelings:
        shown |= {"positive feeling (up)": POSITIVE, "negative feeling (down)": NEGATIVE}
    _legend(page, shown)


def _legend(page: Page, colours: dict[str, str]) -> None:
    """Put above the axes, at the right end, on one line, what colours mean; a legend of matplotlib is laid out anew."""
    em, y = page.font * page.point, page.above(5 + 0.36 * page.font)
    x, high = page.ax.get_xlim()[1], 0.36 * page.font * page.row
    lines: list[Line] = []
    for label in reversed(colours):
        x -= length(label) * em
        lines.append((x, y, label, "left"))
        x -= 1.6 * em
        key = (x, y - high, x + em, y + high)
        page.ax.add_artist(boxes([key], fc=colours[label], clip_on=False, gid=f"key {label}"))
        x -= 1.4 * em
    page.write(lines)
