"""What therapist and client do, each behaviour beside how often people and language models of reference do it."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.ticker import FuncFormatter

from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.plots import FONT, axes_or_new, plot, say_instead
from therapy_analytics.plots import _style as style
from therapy_analytics.plots._codes import WEAK, behaviours, rates, role_keys, sessions_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots import Drawn
    from therapy_analytics.plots._codes import Behaviour, Rates
    from therapy_analytics.plots._style import Floats

PEOPLE: dict[str, tuple[str, dict[str, Any]]] = {
    "human_high": ("People, high quality", {"fc": "0.78", "ec": "0.45"}),
    "human_low": ("People, low quality", {"fc": "none", "ec": "#8C5A2B"}),
}
"""References that have bands: one filled, one a frame, so that they can be told apart in grey."""
QUANTILES = ("q05", "q25", "median", "q75", "q95")
TWO_COLUMNS = 360.0
"""From so many points on, the client's codes stand beside the therapist's, not beneath them."""
HEAD, SCALE, APART = 14.0, 13.0, 12.0
"""Points of a heading, of the scale beneath a role's rows, and between the two roles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Detail:
    """How much is drawn: height of a row in points, and how far down in its row each thing lies.

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


SIMPLE = _Detail(pitch=10.8, lanes={"dot": 0.5, "human_high": 0.5}, half=0.3, all=False)
FULL = _Detail(
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
    def sides(self) -> list[list[int]]:
        """Return the places of the therapist's behaviours, and of the client's and others."""
        sides = [[i for i, one in enumerate(self.found) if (one.role == "therapist") == left] for left in (True, False)]
        return [side for side in sides if side]

    @property
    def counts(self) -> list[str]:
        """Return turns with the code / turns that were coded, of each behaviour."""
        n = zip(self.values.n[:, 0], self.values.n_turns[:, 0], strict=True)
        return [f"{with_code:,.0f}/{turns:,.0f}" for with_code, turns in n]


def _shown(table: DataFrame) -> _ProfileShown | None:
    rows = table[(table["part"].astype(str) == "whole") & (table["n_turns"] > 0)]
    if rows.empty:
        return None
    found = behaviours(rows["code"].astype(str))
    tagger: Literal["accurate", "fast"] = "fast" if table.attrs.get("tagger") == "fast" else "accurate"
    known = [_references(tagger).get(measure_of_code(one), {}) for one in found]
    values = rates(rows, found, ("whole",))
    return _ProfileShown(rows=rows, found=list(found.values()), values=values, known=known, tagger=tagger)


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


def _keys(shown: _ProfileShown, detail: _Detail) -> dict[str, Any]:
    groups = {group for one in shown.known for group in one}
    keys: dict[str, Any] = {**role_keys(shown.found)}
    if detail.all and "expected" in shown.rows:
        keys["Rate that the tagger's probabilities imply"] = style.dot("k", "|", mew=1)
    for group in detail.people:
        words, look = PEOPLE[group]
        if group in groups:
            keys[f"{words}: middle half (line: 90%)"] = (style.box(**look), style.dot(look["ec"], "", "-", lw=0.7))
    if (models := len(groups - set(PEOPLE))) and detail.all:
        keys[f"{models} language models, the median of each"] = style.dot("k", "D", ms=3)
    return keys


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


NEEDS = ("session_id", "code", "part", "n", "n_turns")


@plot(needs=NEEDS, takes="profile", session=2, run=1, caption=_caption)
def profile(table: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
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
        It holds the axes of the therapist's codes, and of the client's.

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


@plot(needs=NEEDS, takes="profile", caption=_caption)
def profile_references(table: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
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


def _draw(table: DataFrame, ax: Axes, detail: _Detail) -> Drawn:
    """Draw the therapist's behaviours, and the client's and others beside or beneath them, on scales of one length."""
    shown = _shown(table)
    if shown is None:
        return say_instead(ax, "no profile: the table holds no code for any turn")
    page = style.Layout(ax)
    beside = page.width >= TWO_COLUMNS
    left, top = style.EDGE, page.legend(_keys(shown, detail)) + 2
    foot, room = top, page.width - 2 * style.EDGE
    wide = (room - APART) / 2 if beside else room
    names = min(max(style.text_width(one.name) for one in shown.found), 0.46 * wide)
    counts = max(map(style.text_width, shown.counts))
    for side in shown.sides:
        page.write(left, top + 0.4 * HEAD, _heading(shown, side), fontweight="bold")
        high = detail.pitch * float(_levels([shown.found[i] for i in side])[-1] + 1)
        axes = page.panel(left + names + 6, top + HEAD, wide - names - counts - 13, high)
        _rows(axes, shown, side, detail, names)
        _bands(axes, shown, side, detail)
        _dots(axes, shown, side, detail)
        foot = max(foot, top + HEAD + high + SCALE)
        left, top = (left + wide + APART, top) if beside else (left, foot + APART)
    return ax, foot


def _heading(shown: _ProfileShown, side: list[int]) -> str:
    roles = dict.fromkeys(shown.found[i].role for i in side)
    return style.sentence(" and ".join(f"{one} codes" if one != "other" else "own codes" for one in roles))


def _levels(own: list[Behaviour]) -> Floats:
    """Return how many rows lie above each behaviour; half a row parts codebooks and roles."""
    parts = [(one.role, one.place[0]) for one in own]
    breaks = [0.0, *(0.45 * (one != before) for before, one in itertools.pairwise(parts))]
    found: Floats = np.arange(len(own)) + np.cumsum(breaks)
    return found


def _rows(axes: Axes, shown: _ProfileShown, side: list[int], detail: _Detail, names: float) -> None:
    """Set the scales, name the rows, and write counts beside them; every second row has a faint ground."""
    own = [shown.found[i] for i in side]
    levels, most = _levels(own), _most(shown, detail)
    axes.set(xlim=(0, most), ylim=(levels[-1] + 1, 0))
    for level in levels[::2]:
        axes.axhspan(level, level + 1, fc="0.5", alpha=0.07, lw=0, zorder=0.3)
    middle = levels + detail.lanes["dot"]
    axes.set_yticks(middle, [style.fitted(one.name, names) for one in own])
    axes.tick_params("y", length=0, pad=6)
    wide = style.width_of(axes)
    for i, y in zip(side, middle, strict=True):
        axes.text(1 + 7 / wide, y, shown.counts[i], transform=axes.get_yaxis_transform(), va="center_baseline")
    space = 3.6 * FONT * most / wide
    step = next((one for one in (0.1, 0.2, 0.5, most) if one >= space), most)
    axes.set_xticks(np.arange(0, most + 1e-9, step))
    axes.xaxis.set_major_formatter(FuncFormatter(style.per_cent))
    axes.tick_params("x", length=0)
    axes.grid(axis="x", c="0.5", alpha=0.35, lw=0.5)
    axes.spines[["left", "bottom"]].set_visible(False)


def _most(shown: _ProfileShown, detail: _Detail) -> float:
    """Return the end of all scales: the largest thing that is drawn, in fifths."""
    values = shown.values
    ends = [*values.high[:, 0], *values.rate[:, 0]]
    ends += [float(groups[group].max()) for groups in shown.known for group in detail.people if group in groups]
    if detail.all:
        ends += [*values.expected[:, 0]]
        ends += [float(row[2]) for groups in shown.known for row in groups.values()]
    return style.fifths(ends)


def _bands(axes: Axes, shown: _ProfileShown, side: list[int], detail: _Detail) -> None:
    """Draw the groups of people as bands, and the language models as diamonds."""
    known, levels = [shown.known[i] for i in side], _levels([shown.found[i] for i in side])
    for group in detail.people:
        look, at = PEOPLE[group][1], np.array([group in groups for groups in known])
        ends = np.array([groups[group] for groups in known if group in groups]).reshape(-1, len(QUANTILES))
        y = levels[at] + detail.lanes[group]
        axes.hlines(y, ends[:, 0], ends[:, -1], colors=look["ec"], lw=0.6, zorder=1)
        # A middle half of no width is still there.
        least = 0.8 * axes.get_xlim()[1] / (style.width_of(axes))
        widths = np.maximum(ends[:, 3] - ends[:, 1], least)
        axes.barh(y, widths, 2 * detail.half, ends[:, 1], **look, lw=0.6 * detail.all, zorder=1.5, label=group)
    if detail.all:
        models = [
            (float(row[2]), level + detail.lanes["models"])
            for groups, level in zip(known, levels, strict=True)
            for group, row in groups.items()
            if group not in PEOPLE
        ]
        x, y = np.array(models).reshape(-1, 2).T
        axes.plot(x, y, ls="", marker="D", ms=2.4, mew=0, c="k", clip_on=False, label="models")


def _dots(axes: Axes, shown: _ProfileShown, side: list[int], detail: _Detail) -> None:
    """Draw rates with their intervals."""
    own, levels = [shown.found[i] for i in side], _levels([shown.found[i] for i in side])
    low, rate, high, expected = (
        one[side, 0] for one in (shown.values.low, shown.values.rate, shown.values.high, shown.values.expected)
    )
    y = levels + detail.lanes["dot"]
    for role in dict.fromkeys(one.role for one in own):
        at = np.array([one.role == role for one in own])
        axes.hlines(y[at], low[at], high[at], colors=style.ROLES[role], lw=1.2, zorder=2, label=f"interval of {role}")
        look: dict[str, Any] = {
            "ls": "",
            "marker": style.SIGNS[role],
            "c": style.ROLES[role],
            "ms": 4.0,
            "mew": 0,
            "zorder": 3,
        }
        axes.plot(rate[at], y[at], clip_on=False, label=f"rate of {role}", **look)
    if detail.all:
        axes.vlines(expected, y - 0.13, y + 0.13, colors="k", lw=0.7, zorder=2.5, label="expected")
