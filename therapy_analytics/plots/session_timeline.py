"""One session from left to right: who speaks, what is done, how the styles match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._outlines import SLANTED
from therapy_analytics.plots._page import (
    StripRow,
    Strips,
    close_page,
    open_page,
    write_head,
    write_rows,
    write_sections,
)
from therapy_analytics.plots._turns import numbers, place_turns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.behaviours.lanes import Lane
    from therapy_analytics.plots._turns import Bools, Floats

# Okabe and Ito's palette; blue and orange also differ as greys. Other colours are the text's or half
# transparent, so that a notebook may be dark.
COLOURS = {"therapist": "#0072B2", "client": "#E69F00", "other": "#999999"}
POSITIVE, NEGATIVE = "#009E73", "#D55E00"
BAND = {"therapist": (0.05, 1.4), "client": (-1.4, -0.05), "other": (-0.35, 0.35)}
TOP, LSM_HEIGHT, WINDOW = 1.6, 3.4, 7


@plot(needs=("session_id", "turn", "role", "n_words"), takes="wide_turns", session=1, single=True)
def timeline(turns: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw one session: who speaks how long, which codes fall where, and style matching.

    Parameters
    ----------
    turns : pandas.DataFrame
        The rows of ``analysis.wide_turns`` for one session. Without usable ``start_s`` the x-axis is
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
    from therapy_analytics.behaviours.lanes import lanes  # noqa: PLC0415  # reads the codebooks

    ax = axes_or_new(ax)
    if turns.empty:
        return say_instead(ax, "no turns: the table holds no row for this session")
    turns = turns.sort_values("turn", kind="stable")
    shown = lanes(map(str, turns.columns))
    levels = _levels(shown)
    floor = (levels or [-1.1])[-1] - 0.6
    page = open_page(ax, place_turns(turns), top=TOP, floor=floor - (LSM_HEIGHT + 1.6) * ("lsm_turn" in turns))
    rows = _speaking(page, turns)
    rows += [_lane(page, turns, lane, level) for lane, level in zip(shown, levels, strict=True)]
    sections = {0.0: "who speaks"}
    for role in dict.fromkeys(lane.role for lane in shown):
        own = [level for level, lane in zip(levels, shown, strict=True) if lane.role == role]
        sections[float(np.mean(own))] = f"{role}\ncodes"
    if "lsm_turn" in turns:
        foot = floor - LSM_HEIGHT - 1.3
        rows += _matching(page, numbers(turns, "lsm_turn"), foot)
        sections[foot + LSM_HEIGHT / 2] = "style matching\n(LSM)"
    write_rows(page, rows)
    write_sections(page, sections)
    _head(page, turns, feelings=any(lane.down for lane in shown))
    close_page(page, [row.level for row in rows if row.name])
    return ax


def _levels(shown: list[Lane]) -> list[float]:
    """Return the middle of each lane, from the top down, with a gap above each role's first."""
    levels, level, role = list[float](), -1.1, ""
    for lane in shown:
        level -= 1 + 0.5 * (lane.role != role)
        levels.append(level)
        role = lane.role
    return levels


def _speaking(page: Strips, turns: DataFrame) -> list[StripRow]:
    """Draw the turns as bars, the therapist's above the client's, and return who spoke how much."""
    # A turn of a single word in an hour would else be thinner than any pixel.
    start = page.spans.start
    end = np.maximum(page.spans.end, start + 0.5 * page.point)
    words, rows = np.nan_to_num(numbers(turns, "n_words")), []
    for role, (low, high) in BAND.items():
        own = _of_role(turns, role)
        bars = np.column_stack([start[own], np.full(own.sum(), low), end[own], np.full(own.sum(), high)])
        page.boxes(bars, fc=COLOURS[role], gid=f"turns {role}")
        if role != "other":
            share = f"{words[own].sum() / words.sum():.0%} of words" if words.any() else "no words"
            rows.append(StripRow((low + high) / 2, role, share))
    return rows


def _of_role(turns: DataFrame, role: str) -> Bools:
    found: Bools = (turns["role"].astype(object) == role).to_numpy(dtype=bool)
    return found


def _lane(page: Strips, turns: DataFrame, lane: Lane, level: float) -> StripRow:
    """Draw the marks of a lane, and return what it is called and how many it has."""
    own = _of_role(turns, lane.role)
    (up, known), (down, also_known) = (_coded(turns, columns) for columns in (lane.up, lane.down))
    total = f"of {((known | also_known) & own).sum()}"
    if lane.down:
        _ticks(page, up & own, (level, level + 0.42), POSITIVE)
        _ticks(page, down & own, (level - 0.42, level), NEGATIVE)
        return StripRow(level, lane.name, f"+{(up & own).sum()} -{(down & own).sum()} {total}")
    _ticks(page, up & own, (level - 0.34, level + 0.34), COLOURS[lane.role])
    return StripRow(level, lane.name, f"{(up & own).sum()} {total}")


def _coded(turns: DataFrame, columns: tuple[str, ...]) -> tuple[Bools, Bools]:
    """Return which turns have one of the codes, and for which any is given, (n_turns,) each."""
    values = np.array([numbers(turns, name) for name in columns]).reshape(len(columns), len(turns))
    return (values == 1).any(axis=0), (~np.isnan(values)).any(axis=0)


def _ticks(page: Strips, which: Bools, reach: tuple[float, float], colour: str) -> None:
    """Draw upright lines in the middle of turns."""
    x = page.spans.middle[which]
    low, high = (np.full(len(x), y) for y in reach)
    page.lines(np.column_stack([x, low, x, high]), ec=colour, lw=page.mark, gid=f"codes {colour}")


def _matching(page: Strips, lsm: Floats, foot: float) -> list[StripRow]:
    """Draw style matching turn by turn with its running median; return its scale, median and number of turns."""
    defined = ~np.isnan(lsm)
    x, y = page.spans.middle[defined], foot + LSM_HEIGHT * lsm[defined]
    size = 0.24 * page.font + page.mark / 2
    page.marks(np.column_stack([x, y]), marker="o", ms=size, mew=1, mfc="0.55", mec="none", alpha=0.6, gid="lsm turns")
    line = f"no line for fewer than {WINDOW}"
    if len(y) >= WINDOW:
        running = np.median(np.lib.stride_tricks.sliding_window_view(y, WINDOW), axis=1)
        inner = x[WINDOW // 2 : -(WINDOW // 2)]
        page.marks(np.column_stack([inner, running]), ls="-", lw=0.16 * page.font, gid="lsm running")
        line = f"line: running median of {WINDOW}"
    note = f"dots: a turn with the one before it; {line}. Not a quality score."
    page.write([(page.left, foot + LSM_HEIGHT + 0.55, note, "left")], page.font - 0.5, SLANTED, alpha=0.75)
    scale = [StripRow(foot, "0"), StripRow(foot + LSM_HEIGHT / 2, "0.5"), StripRow(foot + LSM_HEIGHT, "1")]
    counts = [f"median {np.median(lsm[defined]):.2f}"] if defined.any() else []
    counts += [f"{defined.sum()} of {len(lsm)} turns"]
    places = foot + LSM_HEIGHT / 2 + 0.9 * (np.arange(len(counts))[::-1] - (len(counts) - 1) / 2)
    return scale + [StripRow(place, "", count) for place, count in zip(places.tolist(), counts, strict=True)]


def _head(page: Strips, turns: DataFrame, *, feelings: bool) -> None:
    """Write the session's name and size, and what the colours mean."""
    text = f"{len(turns):,} turns, {int(np.nansum(numbers(turns, 'n_words'))):,} words"
    shown = {role: colour for role, colour in COLOURS.items() if role != "other" or _of_role(turns, role).any()}
    if feelings:
        shown |= {"positive feeling (up)": POSITIVE, "negative feeling (down)": NEGATIVE}
    write_head(page, str(turns["session_id"].iloc[0]), text, shown)
