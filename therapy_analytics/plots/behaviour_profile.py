"""What therapist and client do, each behaviour beside how often people and language models of reference do it."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.plots import FONT, axes_or_new, plot, remembered, say_instead
from therapy_analytics.plots._board import EDGE, FAINT, Key, draw_keys, keys_height, open_board
from therapy_analytics.plots._codes import WEAK, behaviours, rates, role_keys, sessions_of
from therapy_analytics.plots._colours import ROLES as COLOURS
from therapy_analytics.plots._colours import SIGNS
from therapy_analytics.plots._outlines import ADVANCE, BOLD, NUMBERS, cut, length

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from pandas import DataFrame

    from therapy_analytics.plots._board import Board
    from therapy_analytics.plots._codes import Behaviour, Rates
    from therapy_analytics.plots._outlines import Line
    from therapy_analytics.plots._turns import Floats

PEOPLE: dict[str, tuple[str, dict[str, Any]]] = {
    "human_high": ("People, high quality", {"fc": "0.78", "ec": "0.45"}),
    "human_low": ("People, low quality", {"fc": "none", "ec": "#8C5A2B"}),
}
"""References that have bands: one filled, one a frame, so that they can be told apart in grey."""
QUANTILES = ("q05", "q25", "median", "q75", "q95")
MEDIAN = QUANTILES.index("median")
TWO_COLUMNS = 360.0
"""From so many points on, the client's codes stand beside the therapist's, not beneath them."""
APART = 12.0
"""Points between the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """How much is drawn: height of a row in points, the references, and how far down in its row each thing lies.

    Attributes
    ----------
    half : float
        Half the height of a band, as a share of the row.
    all : bool
        Whether the rates that the tagger's probabilities imply and language models are drawn.
    """

    pitch: float
    lanes: Mapping[str, float]
    half: float
    all: bool

    @property
    def people(self) -> list[str]:
        """Return the references that have bands."""
        return [name for name in PEOPLE if name in self.lanes]


SIMPLE = _Style(pitch=10.8, lanes={"dot": 0.5, "human_high": 0.5}, half=0.3, all=False)
FULL = _Style(
    pitch=20.0, lanes={"dot": 0.24, "human_high": 0.5, "human_low": 0.67, "models": 0.84}, half=0.07, all=True
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _ProfileShown:
    """What a table holds: behaviours, their rates, and their references by group (quantiles, (5,))."""

    rows: DataFrame
    found: list[Behaviour]
    values: Rates
    known: list[Mapping[str, Floats]]
    tagger: str

    @property
    def sides(self) -> list[NDArray[np.int64]]:
        """Return the places of the therapist's behaviours, and of the client's and others."""
        sides = [[i for i, one in enumerate(self.found) if (one.role == "therapist") == left] for left in (True, False)]
        return [np.array(side) for side in sides if side]


@remembered
def _shown(table: DataFrame) -> _ProfileShown | None:
    rows = table[(table["part"].astype(str) == "whole") & (table["n_turns"] > 0)]
    if rows.empty:
        return None
    found = behaviours(rows["code"].astype(str))
    tagger: Literal["accurate", "fast"] = "fast" if table.attrs.get("tagger") == "fast" else "accurate"
    known = [_references(tagger).get(measure_of_code(one), {}) for one in found]
    values = rates(rows, found, ("whole",))
    return _ProfileShown(rows=rows, found=list(found.values()), values=values, known=known, tagger=tagger)


def _keys(shown: _ProfileShown, style: _Style) -> list[Key]:
    groups = {group for one in shown.known for group in one}
    keys = role_keys(shown.found, ": rate, 95% interval")
    if style.all and "expected" in shown.rows:
        keys.append(Key(words="Rate that the tagger's probabilities imply", mark={"marker": "|", "mew": 1}))
    for group in style.people:
        words, look = PEOPLE[group]
        if group in groups:
            line = {"ec": look["ec"], "lw": 0.7}
            keys.append(Key(words=f"{words}: middle half (line: 90%)", box=look | {"lw": 0.6}, line=line))
    models = len(groups - set(PEOPLE)) * style.all
    words = f"{models} language models, the median of each"
    return [*keys, Key(words=words, mark={"marker": "D", "ms": 3})] if models else keys


def _height(table: DataFrame, width: float, style: _Style) -> float:
    shown = _shown(table)
    if shown is None:
        return 60.0
    sides = [_side_height([shown.found[i] for i in side], style) for side in shown.sides]
    rows = max(sides) if width >= TWO_COLUMNS else sum(sides) + APART * (len(sides) - 1)
    return 2 * EDGE + keys_height(_keys(shown, style), width) + rows + 4


def _side_height(own: list[Behaviour], style: _Style) -> float:
    """Return the height of a role's part, in points: its heading, its rows and its scale."""
    return float(style.pitch * (_places(own)[-1] + 1) + 3.2 * FONT)


def _caption(table: DataFrame) -> str:
    shown = _shown(table)
    if shown is None:
        return ""
    whose, over = sessions_of(shown.rows)
    about = (
        f"Behaviour profile, {whose}: share of a role's turns that have each code, with its 95% interval over {over}, "
        "and turns with the code / turns that were coded."
    )
    parts = [about]
    if any(shown.known):
        parts.append(
            f"References: sessions coded by the {shown.tagger} tagger; boxes, the middle half of sessions of "
            "counseling by people; thin lines, the central 90%. A rate outside is unlike these sessions, not worse."
        )
    parts += [f"{WEAK}."] if any(one.weak for one in shown.found) else []
    return " ".join(parts)


def _of(style: _Style) -> dict[str, Any]:
    """Return how high a figure of a style is, and its caption."""
    return {"height": partial(_height, style=style), "caption": _caption}


NEEDS = ("session_id", "code", "part", "n", "n_turns")


@plot(needs=NEEDS, takes="profile", session=2, run=1, **_of(SIMPLE))
def profile(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw how often therapist and client do what the codes name, beside sessions of people of high quality.

    Parameters
    ----------
    table : pandas.DataFrame
        ``analysis.profile`` of a session, or of several, which are pooled. Where ``table.attrs`` has
        "tagger" ("accurate" or "fast"), references coded by it are taken; else by the accurate one.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        One unit is a point (1/72 inch); the scales of the rates are drawn.

    Notes
    -----
    Interval: Wilson's over turns for one session; for several, one that allows for how sessions differ. It holds
    sampling error alone, not the error of the codes. Bands are sessions of reference: the middle half, and a line to
    all but the outer tenth. They differ in topics and clients, too: outside of a band is unlike them, and not thereby
    worse. `profile_references` draws people of low quality and language models as well.

    References
    ----------
    Korn, E. L., & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology, 24, 193-201.
    """
    return _draw(table, axes_or_new(ax), SIMPLE)


@plot(needs=NEEDS, takes="profile", **_of(FULL))
def profile_references(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw the behaviour profile beside all references: people of high and of low quality, and language models.

    Parameters
    ----------
    table : pandas.DataFrame
        As in `profile`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        As of `profile`.

    Notes
    -----
    The tick is the rate that the tagger's probabilities imply: far from the dot, trust neither. The rest is as in
    `profile`.
    """
    return _draw(table, axes_or_new(ax), FULL)


def _draw(table: DataFrame, ax: Axes, style: _Style) -> Axes:
    shown = _shown(table)
    if shown is None:
        return say_instead(ax, "no profile: the table holds no code for any turn")
    board = open_board(ax, _height(table, ax.bbox.width * 72 / ax.figure.dpi, style))
    top = draw_keys(board, _keys(shown, style), board.height) - 4
    _panels(board, shown, style, top)
    board.close()
    return ax


@functools.cache
def _references(tagger: Literal["accurate", "fast"]) -> Mapping[str, Mapping[str, Floats]]:
    """Return for each measure the groups of reference with their quantiles."""
    from therapy_analytics.results.references import reference_profiles  # noqa: PLC0415  # reads a file

    whole = reference_profiles(tagger)
    found: dict[str, dict[str, Floats]] = {}
    quantiles = whole[list(QUANTILES)].to_numpy(dtype=np.float64)
    for measure, group, row in zip(whole["measure"], whole["group"], quantiles, strict=True):
        found.setdefault(str(measure), {})[str(group)] = row
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    """One role's part of the board: where its scale lies, and the height and the foot of each row, in points."""

    board: Board
    style: _Style
    begin: float
    left: float
    right: float
    names_end: float
    most: float
    font: float
    pitch: float
    feet: Floats

    def x(self, share: Floats) -> Floats:
        found: Floats = self.left + (self.right - self.left) * share / self.most
        return found

    def y(self, lane: str) -> Floats:
        found: Floats = self.feet + self.pitch * (1 - self.style.lanes[lane])
        return found


def _panels(board: Board, shown: _ProfileShown, style: _Style, top: float) -> None:
    """Draw the therapist's behaviours, and the client's and others beside or beneath them, on scales of one length."""
    font, sides = board.font, shown.sides
    scale = font / FONT
    beside = board.width + 2 * EDGE >= TWO_COLUMNS
    wide = (board.width - APART) / 2 if beside else board.width
    counts = _counts(shown.values)
    left = 0.0
    for side in sides:
        own = [shown.found[j] for j in side]
        names = min(max(length(one.name) for one in shown.found) * font, 0.46 * wide)
        panel = _Panel(
            board=board,
            style=style,
            begin=left,
            names_end=left + names,
            left=left + names + 0.8 * font,
            right=left + wide - (max(map(len, counts)) * ADVANCE + 1.0) * font,
            most=_most(shown, style),
            font=font,
            pitch=style.pitch * scale,
            feet=top - 1.6 * font - style.pitch * scale * (_places(own) + 1),
        )
        board.write([(left, top - 0.7 * font, _heading(own), "left")], font, BOLD)
        _scale(panel)
        _names(panel, own, [counts[j] for j in side])
        _bands(panel, [shown.known[j] for j in side])
        _dots(panel, own, shown.values, side)
        if beside:
            left += wide + APART
        else:
            top -= _side_height(own, style) * scale + APART


def _places(own: list[Behaviour]) -> Floats:
    """Return how many rows lie above each behaviour; half a row parts codebooks and roles."""
    parts = [(one.role, one.place[0]) for one in own]
    breaks = [0.0, *(0.45 * (one != before) for before, one in itertools.pairwise(parts))]
    found: Floats = np.arange(len(own)) + np.cumsum(breaks)
    return found


def _most(shown: _ProfileShown, style: _Style) -> float:
    """Return the end of all scales: the largest thing that is drawn, in fifths."""
    values = shown.values
    ends = [float(np.nanmax([values.high, values.rate], initial=0))]
    ends += [float(groups[group].max()) for groups in shown.known for group in style.people if group in groups]
    if style.all:
        ends += [values.expected.max(initial=0, where=~np.isnan(values.expected))]
        ends += [float(row[MEDIAN]) for groups in shown.known for row in groups.values()]
    return float(np.clip(np.ceil(max(ends) * 5 - 1e-9) / 5, 0.2, 1))


def _counts(values: Rates) -> list[str]:
    return [f"{n:,.0f}/{total:,.0f}" for n, total in zip(values.n[:, 0], values.n_turns[:, 0], strict=True)]


def _heading(own: list[Behaviour]) -> str:
    names = [f"{one} codes" if one != "other" else "own codes" for one in dict.fromkeys(one.role for one in own)]
    text = " and ".join(names)
    return text[:1].upper() + text[1:]


def _scale(panel: _Panel) -> None:
    """Draw a faint ground for every second row, lines through all rows, and per cent beneath."""
    every, last = panel.feet[::2], panel.right + 0.4 * panel.font
    ground = np.column_stack([every * 0 + panel.begin, every, every * 0 + last, every + panel.pitch])
    panel.board.boxes(ground, fc="0.5", alpha=0.07, zorder=0.3)
    top, bottom = panel.feet[0] + panel.pitch, panel.feet[-1]
    space = 3.6 * panel.font * panel.most / (panel.right - panel.left)
    step = next((one for one in (0.1, 0.2, 0.5, panel.most) if one >= space), panel.most)
    steps = np.arange(0, panel.most + 1e-9, step)
    x = panel.x(steps)
    panel.board.lines(np.column_stack([x, 0 * x + bottom, x, 0 * x + top]), ec="0.5", alpha=0.35, lw=0.5, zorder=0.4)
    labels = [f"{100 * one:.0f}%" for one in steps]
    lines: list[Line] = [
        (at, bottom - 0.95 * panel.font, text, "center") for at, text in zip(x.tolist(), labels, strict=True)
    ]
    panel.board.write(lines, panel.font)


def _names(panel: _Panel, own: list[Behaviour], counts: list[str]) -> None:
    middles = panel.y("dot").tolist()
    for one, y in zip(own, middles, strict=True):
        name = cut(one.name, (panel.names_end - panel.begin) / panel.font)
        panel.board.write([(panel.names_end, y, name, "right")], panel.font)
    x = panel.right + 0.8 * panel.font
    lines: list[Line] = [(x, y, text, "left") for y, text in zip(middles, counts, strict=True)]
    panel.board.write(lines, panel.font, NUMBERS, alpha=FAINT)


def _bands(panel: _Panel, known: list[Mapping[str, Floats]]) -> None:
    """Draw the groups of people as bands, and the language models as diamonds."""
    style = panel.style
    for group in style.people:
        look = PEOPLE[group][1]
        at = np.array([group in groups for groups in known])
        ends = np.array([groups[group] for groups in known if group in groups]).reshape(-1, len(QUANTILES))
        x, y, half = panel.x(ends), panel.y(group)[at], style.half * panel.pitch
        panel.board.lines(np.column_stack([x[:, 0], y, x[:, -1], y]), ec=look["ec"], lw=0.6, zorder=1)
        # A middle half of no width is still there.
        left, right = x[:, 1], np.maximum(x[:, 3], x[:, 1] + 0.8)
        shape = np.column_stack([left, y - half, right, y + half])
        panel.board.boxes(shape, zorder=1.5, gid=f"band {group}", **(look | {"lw": 0.6 * style.all}))
    if not style.all:
        return
    ticks = [
        (float(panel.x(row[MEDIAN])), y)
        for groups, y in zip(known, panel.y("models").tolist(), strict=True)
        for group, row in groups.items()
        if group not in PEOPLE
    ]
    panel.board.marks(np.array(ticks), marker="D", ms=2.4, zorder=2, gid="models")


def _dots(panel: _Panel, own: list[Behaviour], values: Rates, side: NDArray[np.int64]) -> None:
    y, lw = panel.y("dot"), 1.2
    low, rate, high, expected = (
        panel.x(one[side, 0]) for one in (values.low, values.rate, values.high, values.expected)
    )
    for role in dict.fromkeys(one.role for one in own):
        at = np.array([one.role == role for one in own])
        colour = COLOURS[role]
        panel.board.lines(np.column_stack([low, y, high, y])[at], ec=colour, lw=lw, zorder=2, gid=f"interval {role}")
        style: dict[str, Any] = {"marker": SIGNS[role], "color": colour, "ms": 4.0, "zorder": 3}
        panel.board.marks(np.column_stack([rate, y])[at], gid=f"rate {role}", **style)
    if not panel.style.all:
        return
    half = 0.13 * panel.pitch
    panel.board.lines(
        np.column_stack([expected, y - half, expected, y + half]), lw=0.6 * lw, zorder=2.5, gid="expected"
    )
