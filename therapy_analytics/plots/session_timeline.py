"""One session from left to right: who speaks, what is done, how the styles match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._codes import known_codes
from therapy_analytics.plots._colours import NEGATIVE, POSITIVE, ROLES
from therapy_analytics.plots._outlines import MINUS
from therapy_analytics.plots._page import StripRow, Strips, open_page, page_height, sentence
from therapy_analytics.plots._turns import numbers, place_turns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.codes.lanes import Lane
    from therapy_analytics.plots._turns import Bools, Floats

BAND = {"therapist": (0.05, 1.4), "client": (-1.4, -0.05), "other": (-0.35, 0.35)}
TOP, MATCHING, WINDOW = 1.6, 3.4, 7
"""The highest level, the height of style matching, both in rows, and the turns of its running median."""


def _height(turns: DataFrame, _: float) -> float:
    if turns.empty:
        return 60.0
    return page_height(TOP, _levels(_lanes(turns), matching="lsm_turn" in turns)[-1])


def _caption(turns: DataFrame) -> str:
    name, words = turns["session_id"].iloc[0], numbers(turns, "n_words")
    counted = "" if np.isnan(words).all() else f", {int(np.nansum(words)):,} words"
    shown = _lanes(turns)
    parts = [
        f"Session {name}: {len(turns):,} turns{counted}.",
        "Bars: who speaks, and how long each turn is (therapist above, client below"
        + ("; grey: others)." if _of_role(turns, "other").any() else ")."),
    ]
    if shown:
        parts.append(
            "Marks: turns that have the code; n of m: turns of that role with the code, of all that were coded."
        )
    if any(lane.down for lane in shown):
        parts.append("Feelings: positive above the line (green), negative below it (vermilion).")
    if "lsm_turn" in turns:
        parts.append(
            f"Style matching (LSM): dots, a turn with the turn before it; line, running median of {WINDOW} turns. It "
            "is not a quality score and grows with the length of turns."
        )
    return " ".join(parts)


@plot(
    needs=("session_id", "turn", "role", "n_words"),
    takes="wide_turns",
    session=1,
    single=True,
    height=_height,
    caption=_caption,
)
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
    the length of turns. The caption says so: ``timeline.caption(turns)``.
    """
    ax = axes_or_new(ax)
    if turns.empty:
        return say_instead(ax, "no turns: the table holds no row for this session")
    turns = turns.sort_values("turn", kind="stable")
    shown, matching = _lanes(turns), "lsm_turn" in turns
    *levels, floor = _levels(shown, matching=matching)
    rows = _speakers(turns)
    for lane, level, before in zip(shown, levels, ["", *(one.role for one in shown)], strict=False):
        heading = [StripRow(level + 1.05, f"{sentence(lane.role)} codes", heading=True)]
        rows += heading * (lane.role != before) + [_row(turns, lane, level)]
    lsm = numbers(turns, "lsm_turn")
    rows += _matching_rows(lsm, floor + 0.3) if matching else []
    page = open_page(ax, place_turns(turns), rows, top=TOP, floor=floor)
    _speaking(page, turns)
    for lane, level in zip(shown, levels, strict=True):
        _lane(page, turns, lane, level)
    if matching:
        _matching(page, lsm, floor + 0.3)
    page.close()
    return ax


def _lanes(turns: DataFrame) -> list[Lane]:
    from therapy_analytics.codes.lanes import lanes  # noqa: PLC0415  # reads the codebooks

    return lanes(map(str, turns.columns))


def _levels(shown: list[Lane], *, matching: bool) -> list[float]:
    """Return the middle of each lane, from the top down, with a heading above each role's first; then the floor."""
    levels, level, role = list[float](), -1.2, ""
    for lane in shown:
        level -= 1 + 1.2 * (lane.role != role)
        levels.append(level)
        role = lane.role
    return [*levels, level - 0.6 - (MATCHING + 1.8) * matching]


def _speakers(turns: DataFrame) -> list[StripRow]:
    """Return who speaks how much."""
    found = numbers(turns, "n_words")
    words, rows, none = np.nan_to_num(found), [], "words not counted" if np.isnan(found).all() else "no words"
    for role in ("therapist", "client"):
        own = words[_of_role(turns, role)].sum()
        share = f"{own / words.sum():.0%} of words" if words.any() else none
        rows.append(StripRow(sum(BAND[role]) / 2, sentence(role), share))
    return rows


def _speaking(page: Strips, turns: DataFrame) -> None:
    """Draw the turns as bars, the therapist's above the client's."""
    # A turn of a single word in an hour would else be thinner than any pixel.
    start = page.spans.start
    end = np.maximum(page.spans.end, start + 0.3 * page.point)
    for role, (low, high) in BAND.items():
        own = _of_role(turns, role)
        bars = np.column_stack([start[own], np.full(own.sum(), low), end[own], np.full(own.sum(), high)])
        page.boxes(bars, fc=ROLES[role], gid=f"turns {role}")


def _of_role(turns: DataFrame, role: str) -> Bools:
    found: Bools = (turns["role"].astype(object) == role).to_numpy(dtype=bool)
    return found


def _row(turns: DataFrame, lane: Lane, level: float) -> StripRow:
    """Return what a lane is called, and how many turns it marks."""
    own = _of_role(turns, lane.role)
    (up, known), (down, also_known) = (_coded(turns, columns) for columns in (lane.up, lane.down))
    total = f"of {((known | also_known) & own).sum()}"
    count = f"+{(up & own).sum()} {MINUS}{(down & own).sum()}" if lane.down else f"{(up & own).sum()}"
    codes = [*lane.up, *lane.down]
    name = known_codes()[codes[0]].label if len(codes) == 1 else sentence(lane.name).replace("+/-", f"+/{MINUS}")
    return StripRow(level, name, f"{count} {total}")


def _lane(page: Strips, turns: DataFrame, lane: Lane, level: float) -> None:
    """Draw the marks of a lane."""
    own = _of_role(turns, lane.role)
    up, down = (_coded(turns, columns)[0] & own for columns in (lane.up, lane.down))
    if lane.down:
        _ticks(page, up, (level, level + 0.42), POSITIVE)
        _ticks(page, down, (level - 0.42, level), NEGATIVE)
    else:
        _ticks(page, up, (level - 0.34, level + 0.34), ROLES[lane.role])


def _coded(turns: DataFrame, columns: tuple[str, ...]) -> tuple[Bools, Bools]:
    """Return which turns have one of the codes, and for which any is given, (n_turns,) each."""
    values = np.array([numbers(turns, name) for name in columns]).reshape(len(columns), len(turns))
    return (values == 1).any(axis=0), (~np.isnan(values)).any(axis=0)


def _ticks(page: Strips, which: Bools, reach: tuple[float, float], colour: str) -> None:
    """Draw upright lines in the middle of turns."""
    x = page.spans.middle[which]
    low, high = (np.full(len(x), y) for y in reach)
    page.lines(np.column_stack([x, low, x, high]), ec=colour, lw=page.mark, gid=f"codes {colour}")


def _matching(page: Strips, lsm: Floats, foot: float) -> None:
    """Draw style matching turn by turn, with its running median."""
    defined = ~np.isnan(lsm)
    x, y = page.spans.middle[defined], foot + MATCHING * lsm[defined]
    size = 1.2 + page.mark / 2
    page.marks(np.column_stack([x, y]), marker="o", ms=size, mew=0, mfc="0.55", alpha=0.7, gid="lsm turns")
    if len(y) >= WINDOW:
        running = np.median(np.lib.stride_tricks.sliding_window_view(y, WINDOW), axis=1)
        inner = x[WINDOW // 2 : -(WINDOW // 2)]
        page.marks(np.column_stack([inner, running]), ls="-", lw=1.0, gid="lsm running")


def _matching_rows(lsm: Floats, foot: float) -> list[StripRow]:
    """Return the heading, scale, median and number of turns of style matching."""
    defined = ~np.isnan(lsm)
    counts = [f"median {np.median(lsm[defined]):.2f}"] if defined.any() else []
    counts += [f"{defined.sum()} of {len(lsm)} turns"]
    places = foot + MATCHING / 2 + 1.0 * (np.arange(len(counts))[::-1] - (len(counts) - 1) / 2)
    rows = [StripRow(foot + MATCHING + 1.0, "Style matching (LSM)", heading=True)]
    rows += [StripRow(foot + share * MATCHING, f"{share:g}") for share in (0, 0.5, 1)]
    return rows + [StripRow(place, "", count) for place, count in zip(places.tolist(), counts, strict=True)]
