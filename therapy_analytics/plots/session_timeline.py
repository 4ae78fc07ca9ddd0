"""One session from left to right: who speaks, what is done, how the styles match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rcParams
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Patch

from therapy_analytics.errors import BadOptionError
from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._page import Page, close_page, open_page, shorten, write_count, write_section
from therapy_analytics.plots._turns import LANES, Lane, Marks, marks, numbers, place_turns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._turns import Bools, Floats

# Okabe and Ito's palette; blue and orange also differ as greys. Other colours are the text's or half
# transparent, so that a notebook may be dark.
COLOURS = {"therapist": "#0072B2", "client": "#E69F00", "other": "#999999"}
POSITIVE, NEGATIVE = "#009E73", "#D55E00"
BAND = {"therapist": (0.05, 1.4), "client": (-1.4, -0.05), "other": (-0.35, 0.35)}
TOP, LSM_HEIGHT, WINDOW = 1.6, 3.4, 7


@plot(needs=("session_id", "turn", "role", "n_words"))
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
    turns = turns.sort_values("turn", kind="stable")
    found = [(lane, these) for lane in LANES if (these := marks(turns, lane)) is not None]
    levels = _levels([lane for lane, _ in found])
    floor = levels[-1] - 0.6
    page = open_page(ax, place_turns(turns), top=TOP, floor=floor - (LSM_HEIGHT + 1.6) * ("lsm_turn" in turns))
    rows = _speaking(page, turns)
    for (lane, these), level in zip(found, levels[1:], strict=True):
        rows[level] = _lane(page, lane, these, level)
    _sections(page, [lane.role for lane, _ in found], levels)
    if "lsm_turn" in turns:
        rows |= _matching(page, numbers(turns, "lsm_turn"), floor - LSM_HEIGHT - 1.3)
    close_page(page, rows)
    _head(page, turns, feelings=any(lane.below for lane, _ in found))
    return ax


def _levels(lanes: list[Lane]) -> list[float]:
    """Return the foot of the band of turns, then the middle of each lane, from the top down."""
    levels, role = [-1.1], ""
    for lane in lanes:
        levels.append(levels[-1] - 1 - 0.5 * (lane.role != role))
        role = lane.role
    return levels


def _speaking(page: Page, turns: DataFrame) -> dict[float, str]:
    """Draw the turns as bars, the therapist's above the client's, and who spoke how much."""
    # A turn of a single word in an hour would else be thinner than any pixel.
    start = page.spans.start
    end = np.maximum(page.spans.end, start + 0.5 * page.point)
    words, rows = np.nan_to_num(numbers(turns, "n_words")), {}
    for role, (low, high) in BAND.items():
        own = (turns["role"] == role).to_numpy(dtype=bool)
        _bars(page, start[own], end[own], role)
        if role != "other":
            rows[(low + high) / 2] = role
            share = f"{words[own].sum() / words.sum():.0%} of words" if words.any() else "no words"
            write_count(page, (low + high) / 2, share)
    return rows


def _bars(page: Page, start: Floats, end: Floats, role: str) -> None:
    low, high = BAND[role]
    corners = [(start, low), (start, high), (end, high), (end, low)]
    bars = np.stack([np.column_stack([x, np.full(len(x), y)]) for x, y in corners], axis=1)
    drawn = PolyCollection(list(bars), fc=COLOURS[role], lw=0, gid=f"turns {role}")
    page.ax.add_collection(drawn, autolim=False)


def _lane(page: Page, lane: Lane, these: Marks, level: float) -> str:
    """Draw the marks of one lane and its count, and return its label."""
    count = f"{these.hit.sum()} of {these.n}"
    if not lane.below:
        _ticks(page, these.hit, (level - 0.34, level + 0.34), COLOURS[lane.role], lane.label)
    else:
        _ticks(page, these.hit, (level, level + 0.42), POSITIVE, f"{lane.label} up")
        _ticks(page, these.below, (level - 0.42, level), NEGATIVE, f"{lane.label} down")
        count = f"+{these.hit.sum()} -{these.below.sum()} of {these.n}"
    write_count(page, level, count)
    return lane.label


def _ticks(page: Page, which: Bools, reach: tuple[float, float], colour: str, name: str) -> None:
    x = page.spans.middle[which]
    lines = np.stack([np.column_stack([x, np.full(len(x), y)]) for y in reach], axis=1)
    drawn = LineCollection(list(lines), colors=colour, lw=page.mark, capstyle="butt", gid=f"code {name}")
    page.ax.add_collection(drawn, autolim=False)


def _sections(page: Page, roles: list[str], levels: list[float]) -> None:
    """Write left of the rows what they are about."""
    write_section(page, 0, "who speaks")
    for role in dict.fromkeys(roles):
        own = [level for level, whose in zip(levels[1:], roles, strict=True) if whose == role]
        write_section(page, float(np.mean(own)), f"{role}\ncodes")


def _matching(page: Page, lsm: Floats, foot: float) -> dict[float, str]:
    """Draw style matching turn by turn with its running median."""
    defined = ~np.isnan(lsm)
    x, y = page.spans.middle[defined], foot + LSM_HEIGHT * lsm[defined]
    size = 0.24 * page.font + page.mark / 2
    page.ax.plot(x, y, "o", ms=size, mfc="0.55", mec="none", alpha=0.6, gid="lsm turns")
    line = f"no line for fewer than {WINDOW}"
    if len(y) >= WINDOW:
        running = np.median(np.lib.stride_tricks.sliding_window_view(y, WINDOW), axis=1)
        inner = x[WINDOW // 2 : -(WINDOW // 2)]
        page.ax.plot(inner, running, color=rcParams["text.color"], lw=0.16 * page.font, gid="lsm running")
        line = f"line: running median of {WINDOW}"
    _note(page, foot + LSM_HEIGHT + 0.55, f"dots: a turn with the one before it; {line}. Not a quality score.")
    write_section(page, foot + LSM_HEIGHT / 2, "style matching\n(LSM)")
    middle = f"median {np.median(lsm[defined]):.2f}\n" if defined.any() else ""
    write_count(page, foot + LSM_HEIGHT / 2, f"{middle}{defined.sum()} of {len(lsm)} turns")
    return {foot: "0", foot + LSM_HEIGHT / 2: "0.5", foot + LSM_HEIGHT: "1"}


def _note(page: Page, level: float, text: str) -> None:
    page.ax.text(page.left, level, text, fontsize=page.font - 0.5, va="center", style="italic", alpha=0.75)


def _head(page: Page, turns: DataFrame, *, feelings: bool) -> None:
    """Write the session's name and size, and what the colours mean."""
    ax, size = page.ax, page.font + 2
    name = shorten(str(turns["session_id"].iloc[0]), size, ax)
    # A $ in a file name is not a formula.
    title = {"fontsize": size, "fontweight": "bold"}
    ax.set_title(name, title, loc="left", y=1, pad=2.2 * page.font, parse_math=False)
    n_words = int(np.nansum(numbers(turns, "n_words")))
    text = f"{len(turns):,} turns, {n_words:,} words"
    ax.annotate(text, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", fontsize=page.font)
    shown = {role: COLOURS[role] for role in COLOURS if role != "other" or (turns["role"] == role).any()}
    if feelings:
        shown |= {"positive feeling (up)": POSITIVE, "negative feeling (down)": NEGATIVE}
    _legend(page, [Patch(fc=colour, label=label) for label, colour in shown.items()])


def _legend(page: Page, handles: list[Patch]) -> None:
    """Put the legend above the axes, at the right end, on one line."""
    page.ax.legend(
        handles=handles,
        ncols=len(handles),
        loc="lower right",
        bbox_to_anchor=(1, 1),
        frameon=False,
        fontsize=page.font,
        borderaxespad=0.1,
        handlelength=1,
        columnspacing=1.2,
    )
