"""What therapist and client do, each behaviour beside how often people and language models of reference do it."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.plots import axes_or_new, plot, say_instead
from therapy_analytics.plots._board import FAINT, Key, fitted, head, open_board
from therapy_analytics.plots._codes import COLOURS, SIGNS, WEAK, behaviours, rates, role_keys, sessions_of
from therapy_analytics.plots._outlines import ADVANCE, NUMBERS, length

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
    "human_high": ("people, high quality", {"fc": "#7FBFE6", "ec": "#2B6E99"}),
    "human_low": ("people, low quality", {"fc": "none", "ec": "#8C5A2B"}),
}
"""References that have bands: one filled, one a frame, so that they can be told apart in grey."""
QUANTILES = ("q05", "q25", "median", "q75", "q95")
MEDIAN = QUANTILES.index("median")
LANES = {"dot": 0.24, "human_high": 0.5, "human_low": 0.67, "models": 0.84}
"""How far down in its row each thing lies, as shares of the row."""
HIGH = 0.06
"""Half the height of a band, as a share of the row."""


@plot(needs=("session_id", "code", "part", "n", "n_turns"), takes="profile", session=2, run=1)
def profile(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
    """Draw how often therapist and client do what the codes name, beside people and language models of reference.

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
    sampling error alone; the tick, the rate that the tagger's probabilities imply, hints at the tagger's own.
    Bands are sessions of reference: thick the middle half, thin all but the outer tenth. They differ in topics
    and clients, too: outside of a band is unlike them, and not thereby worse.

    References
    ----------
    Korn, E. L., & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology, 24, 193-201.
    """
    ax = axes_or_new(ax)
    rows = table[(table["part"].astype(str) == "whole") & (table["n_turns"] > 0)]
    if rows.empty:
        return say_instead(ax, "no profile: the table holds no code for any turn")
    found = behaviours(rows["code"].astype(str))
    values = rates(rows, found, ("whole",))
    tagger: Literal["accurate", "fast"] = "fast" if table.attrs.get("tagger") == "fast" else "accurate"
    known = [_references(tagger).get(measure_of_code(one), {}) for one in found]
    board = open_board(ax)
    top = _head(board, rows, list(found.values()), known, tagger)
    _panels(board, list(found.values()), values, known, top)
    board.close()
    return ax


@functools.cache
def _references(tagger: Literal["accurate", "fast"]) -> Mapping[str, Mapping[str, Floats]]:
    """Return for each measure the groups of reference with their quantiles."""
    from therapy_analytics.references import reference_profiles  # noqa: PLC0415  # reads a file

    whole = reference_profiles(tagger)
    found: dict[str, dict[str, Floats]] = {}
    quantiles = whole[list(QUANTILES)].to_numpy(dtype=np.float64)
    for measure, group, row in zip(whole["measure"], whole["group"], quantiles, strict=True):
        found.setdefault(str(measure), {})[str(group)] = row
    return found


def _head(
    board: Board, rows: DataFrame, found: list[Behaviour], known: list[Mapping[str, Floats]], tagger: str
) -> float:
    whose, over = sessions_of(rows)
    notes = ["Share of a role's turns with each code, and n of m turns."]
    notes += [WEAK + "."] if any(one.weak for one in found) else []
    notes += ["Outside of a band is unlike these sessions, not worse."] if any(known) else []
    keys = role_keys(found, f", 95% interval over {over}")
    if "expected" in rows:
        keys.append(Key(words="rate that the tagger's probabilities imply", mark={"marker": "|", "mew": 1}))
    return head(board, f"What they do: {whose}", notes, [*keys, *_reference_keys(known, tagger)])


def _reference_keys(known: list[Mapping[str, Floats]], tagger: str) -> list[Key]:
    groups = {group for one in known for group in one}
    keys = [
        Key(
            words=f"{words}: middle half of sessions (line: 90%)",
            box=style | {"lw": 0.8},
            line={"ec": style["ec"], "lw": 0.8},
        )
        for group, (words, style) in PEOPLE.items()
        if group in groups
    ]
    models = len(groups - set(PEOPLE))
    words = f"{models} language models, the median of each ({tagger} tagger)"
    return [*keys, Key(words=words, mark={"marker": "D", "ms": 3})] if models else keys


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    """One role's part of the board: where its scale lies, and the height and the foot of each row, in points."""

    board: Board
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
        found: Floats = self.feet + self.pitch * (1 - LANES[lane])
        return found


def _panels(board: Board, found: list[Behaviour], values: Rates, known: list[Mapping[str, Floats]], top: float) -> None:
    """Draw the therapist's behaviours at the left, the client's and others at the right, on scales of one length."""
    sides = [
        np.array([i for i, one in enumerate(found) if (one.role == "therapist") == left]) for left in (True, False)
    ]
    sides = [side for side in sides if len(side)]
    places = [_places([found[i] for i in side]) for side in sides]
    pitch = min(top / max(place[-1] + 2.7 for place in places), 24.0)
    font = float(np.clip(0.58 * pitch, 2.0, board.font))
    wide = (board.width - 2 * font * (len(sides) - 1)) / len(sides)
    for i, (side, place) in enumerate(zip(sides, places, strict=True)):
        own, counts, left = [found[j] for j in side], _counts(values, side), i * (wide + 2 * font)
        names = min(max(length(one.name) for one in own) * font, 0.4 * wide)
        panel = _Panel(
            board=board,
            begin=left,
            names_end=left + names,
            left=left + names + 0.8 * font,
            right=left + wide - (max(map(len, counts)) * ADVANCE * 0.9 + 1.2) * font,
            most=_most(values, known),
            font=font,
            pitch=pitch,
            feet=top - 1.6 * font - pitch * (place + 1),
        )
        board.write([(left, top - 0.7 * font, _heading(own), "left")], font)
        _fill(panel, own, counts, [known[j] for j in side])
        _dots(panel, own, values, side)


def _fill(panel: _Panel, own: list[Behaviour], counts: list[str], known: list[Mapping[str, Floats]]) -> None:
    """Draw what stands round and beneath the dots."""
    _scale(panel)
    _names(panel, own, counts)
    _bands(panel, known)


def _places(own: list[Behaviour]) -> Floats:
    """Return how many rows lie above each behaviour; half a row parts codebooks and roles."""
    parts = [(one.role, one.place[0]) for one in own]
    breaks = [0.0, *(0.45 * (one != before) for before, one in itertools.pairwise(parts))]
    found: Floats = np.arange(len(own)) + np.cumsum(breaks)
    return found


def _most(values: Rates, known: list[Mapping[str, Floats]]) -> float:
    """Return the end of all scales: the largest thing that is drawn, in fifths."""
    ends = [values.high.max(initial=0), values.expected.max(initial=0, where=~np.isnan(values.expected))]
    ends += [float(groups[group].max()) for groups in known for group in PEOPLE if group in groups]
    ends += [float(row[MEDIAN]) for groups in known for row in groups.values()]
    return float(np.clip(np.ceil(max(ends) * 5 - 1e-9) / 5, 0.2, 1))


def _counts(values: Rates, side: NDArray[np.int64]) -> list[str]:
    return [f"{n:,.0f} of {total:,.0f}" for n, total in zip(values.n[side, 0], values.n_turns[side, 0], strict=True)]


def _heading(own: list[Behaviour]) -> str:
    return " and ".join(f"what the {one} does" for one in dict.fromkeys(one.role for one in own))


def _scale(panel: _Panel) -> None:
    """Draw a faint ground for every second row, lines through all rows, and per cent beneath."""
    every, last = panel.feet[::2], panel.right + 0.6 * panel.font
    ground = np.column_stack([every * 0 + panel.begin, every, every * 0 + last, every + panel.pitch])
    panel.board.boxes(ground, fc="0.5", alpha=0.09, zorder=0.3)
    top, bottom = panel.feet[0] + panel.pitch, panel.feet[-1]
    steps = np.arange(0, panel.most + 1e-9, 0.2 if panel.most > 0.4 else 0.1)
    x = panel.x(steps)
    panel.board.lines(
        np.column_stack([x, 0 * x + bottom, x, 0 * x + top]), ec="0.5", alpha=0.3, lw=0.07 * panel.font, zorder=0.4
    )
    size = 0.9 * panel.font
    labels = [f"{100 * step:.0f}%" for step in steps]
    lines: list[Line] = [
        (at, bottom - 0.85 * size, text, "center") for at, text in zip(x.tolist(), labels, strict=True)
    ]
    panel.board.write(lines, size, NUMBERS, alpha=FAINT)


def _names(panel: _Panel, own: list[Behaviour], counts: list[str]) -> None:
    middles = panel.y("dot").tolist()
    for one, y in zip(own, middles, strict=True):
        name, size = fitted(one.name, panel.names_end - panel.begin, panel.font)
        panel.board.write([(panel.names_end, y, name, "right")], size)
    x = panel.right + 1.2 * panel.font
    lines: list[Line] = [(x, y, text, "left") for y, text in zip(middles, counts, strict=True)]
    panel.board.write(lines, 0.9 * panel.font, NUMBERS, alpha=FAINT)


def _bands(panel: _Panel, known: list[Mapping[str, Floats]]) -> None:
    """Draw the groups of people as bands, and the language models as ticks."""
    for group, (_, style) in PEOPLE.items():
        at = np.array([group in groups for groups in known])
        ends = np.array([groups[group] for groups in known if group in groups]).reshape(-1, len(QUANTILES))
        x, y, half = panel.x(ends), panel.y(group)[at], HIGH * panel.pitch
        lw = min(0.05 * panel.pitch, 0.7)
        panel.board.lines(np.column_stack([x[:, 0], y, x[:, -1], y]), ec=style["ec"], lw=lw, zorder=1)
        # A middle half of no width is still there.
        left, right = x[:, 1], np.maximum(x[:, 3], x[:, 1] + 0.8)
        shape = np.column_stack([left, y - half, right, y + half])
        panel.board.boxes(shape, zorder=1.5, lw=lw, gid=f"band {group}", **style)
    ticks = [
        (float(panel.x(row[MEDIAN])), y)
        for groups, y in zip(known, panel.y("models").tolist(), strict=True)
        for group, row in groups.items()
        if group not in PEOPLE
    ]
    panel.board.marks(np.array(ticks), marker="D", ms=0.12 * panel.pitch, zorder=2, gid="models")


def _dots(panel: _Panel, own: list[Behaviour], values: Rates, side: NDArray[np.int64]) -> None:
    y, lw = panel.y("dot"), max(0.08 * panel.pitch, 0.4)
    low, rate, high, expected = (
        panel.x(one[side, 0]) for one in (values.low, values.rate, values.high, values.expected)
    )
    for role in dict.fromkeys(one.role for one in own):
        at = np.array([one.role == role for one in own])
        colour = COLOURS[role]
        panel.board.lines(np.column_stack([low, y, high, y])[at], ec=colour, lw=lw, zorder=2, gid=f"interval {role}")
        style: dict[str, Any] = {"marker": SIGNS[role], "color": colour, "ms": 0.3 * panel.pitch, "zorder": 3}
        panel.board.marks(np.column_stack([rate, y])[at], gid=f"rate {role}", **style)
    half = 0.13 * panel.pitch
    panel.board.lines(
        np.column_stack([expected, y - half, expected, y + half]), lw=0.6 * lw, zorder=2.5, gid="expected"
    )
