"""What the therapist does next after each thing that the client does: counts, the darker, the more often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from therapy_analytics.measures.process.responses import ANSWERS, EVENTS
from therapy_analytics.measures.response_rows import COUNTS, pooled_responses
from therapy_analytics.plots import FONT, axes_or_new, plot, say_instead
from therapy_analytics.plots import _style as style
from therapy_analytics.plots._codes import WEAK, Behaviour, behaviours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots import Drawn
    from therapy_analytics.plots._style import Bools, Floats

FEW = 5
"""Of fewer client turns neither shading nor marks are drawn: one of one would look like always."""
SHADES = LinearSegmentedColormap.from_list("responses", ["#FFFFFF", "#0B3C5D"])
"""One hue, from white, so that it prints in grey."""
DARK = 0.66
"""From this share on, the cell is so dark that its writing is white."""
ROW, LONGEST = 13.5, 101.0
"""Points of a row, and of the longest name of a column."""
_ROWS, _COLUMNS = ([code for act in acts.values() for code in act.codes] for acts in (EVENTS, ANSWERS))
"""The codes that are drawn: those of which `therapy_analytics.measures.process.responses` has measures."""
ANY = Behaviour((-1, 0), "any", "Any client turn", "client")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Cells:
    """What is drawn; the first row is all client turns, whatever their codes.

    Attributes
    ----------
    client, therapist : list of Behaviour
        Their codes, in the order of rows and columns.
    n, both : float array (n_rows, n_columns)
        Client turns with the row's code that are answered, and those of them whose answer has the column's.
    above, below : bool array (n_rows, n_columns)
        Where the interval of the difference from other client turns lies wholly above, or below, 0.
    """

    client: list[Behaviour]
    therapist: list[Behaviour]
    n: Floats
    both: Floats
    above: Bools
    below: Bools

    @property
    def share(self) -> Floats:
        """Return shares of answers; nan of fewer than `FEW`."""
        found: Floats = np.divide(self.both, self.n, out=np.full(self.n.shape, np.nan), where=self.n >= FEW)
        return found


def _cells(table: DataFrame) -> _Cells | None:
    """Return the cells, without codes that the coder does not give; None where no client turn is answered."""
    table = table[table["client_code"].isin(_ROWS) & table["therapist_code"].isin(_COLUMNS)]
    if "session_id" in table and table["session_id"].nunique() > 1:
        table = pooled_responses(table)
    codes = [table[name].astype(str).tolist() for name in ("client_code", "therapist_code")]
    client, therapist = (behaviours(one) for one in codes)
    at = [list(client).index(code) for code in codes[0]], [list(therapist).index(code) for code in codes[1]]

    def grid(values: Floats) -> Floats:
        found = np.full((len(client), len(therapist)), np.nan)
        found[at] = values
        return found

    n, both, n_other, both_other = (np.nan_to_num(grid(style.numbers(table, name))) for name in COUNTS)
    low, high = (grid(style.numbers(table, f"difference_{end}")) for end in ("lo", "hi"))
    total = n + n_other
    rows, columns = np.flatnonzero(total.sum(axis=1)), np.flatnonzero(total.sum(axis=0))
    if not len(columns):
        return None
    # All client turns are those with and without any one code: the fullest row knows most.
    fullest = total.argmax(axis=0), np.arange(len(therapist))

    def kept(any_turn: Any, own: Any) -> Any:
        return np.vstack([any_turn[columns], own[np.ix_(rows, columns)]])

    never = np.zeros(len(therapist), dtype=bool)
    return _Cells(
        client=[ANY, *(list(client.values())[i] for i in rows)],
        therapist=[list(therapist.values())[i] for i in columns],
        n=kept(total[fullest], n),
        both=kept((both + both_other)[fullest], both),
        above=kept(never, (n >= FEW) & (low > 0)),
        below=kept(never, (n >= FEW) & (high < 0)),
    )


def _sizes(cells: _Cells, width: float) -> tuple[float, float]:
    """Return how many points names and counts of the rows take, and a column."""
    counts = max(style.text_width(f"{one:,.0f}") for one in cells.n.max(axis=1))
    # Cells need at least space for a share.
    space = width - 2 * style.EDGE - counts - 14 - 2.1 * FONT * len(cells.therapist)
    left = min(max(style.text_width(one.name) for one in cells.client), max(space, 0.2 * width)) + counts + 14
    return left, min((width - 2 * style.EDGE - left) / len(cells.therapist), 62.0)


def _heads(cells: _Cells, column: float) -> tuple[bool, list[str], float]:
    """Return whether names of columns are written upwards, the lines of each, and their height in points.

    Names stand upright where their longest words fit over the cells.
    """
    names = [one.name for one in cells.therapist]
    if max(style.text_width(word) for name in names for word in name.split()) > column - 3:
        longest = min(max(map(style.text_width, names)), LONGEST)
        return True, [style.fitted(name, LONGEST) for name in names], longest + 5
    lines = [style.in_lines(name, column - 3, 3) for name in names]
    return False, lines, (1 + max(one.count("\n") for one in lines)) * 1.2 * FONT + 5


def _caption(table: DataFrame) -> str:
    cells = _cells(table)
    if cells is None:
        return ""
    names: list[str] = table["session_id"].astype(str).unique().tolist() if "session_id" in table else []
    n = len(names) or int(np.nan_to_num(style.numbers(table, "n_sessions")).max(initial=0))
    whose = f"{n:,} session{'s' * (n != 1)}, pooled" if n else "all sessions"
    whose = names[0] if len(names) == 1 else whose
    about = (
        f"What the therapist does next, {whose}. Rows: what the client did, with the number of these turns that are "
        "answered; columns: what the therapist's next turn did. In each cell, the per cent of answers that have the "
        "column's code, or answers with it / client turns, where there is space."
    )
    parts = [about]

    if (cells.above | cells.below).any():
        parts.append(
            "Triangles: more (up) or less (down) often than after other client turns (95% interval of the difference); "
            "by chance alone 1 cell in 20 would be marked."
        )
    parts += [f"{WEAK}."] if any(one.weak for one in (*cells.client, *cells.therapist)) else []
    return " ".join(parts)


def _keys(cells: _Cells) -> dict[str, Any]:
    shares = {0.0: "0%", 0.5: "50%", 1.0: "100% of the answers"}
    keys: dict[str, Any] = {words: style.box(fc=SHADES(share), ec="0.6") for share, words in shares.items()}
    if (cells.n < FEW).any():
        keys[f"fewer than {FEW} client turns"] = style.box(fc="none", ec="0.6", hatch="////")
    if cells.above.any():
        keys["more often than after other turns"] = style.dot("k", "^")
    return {**keys, "less often": style.dot("k", "v")} if cells.below.any() else keys


@plot(needs=("client_code", "therapist_code", *COUNTS), takes="responses", run=3, caption=_caption)
def responses(table: DataFrame, /, *, ax: Axes | None = None) -> Drawn:
    """Draw how the therapist answers feelings, sustain talk, untested claims, ruptures, danger and corrections.

    Parameters
    ----------
    table : pandas.DataFrame
        ``responses.csv`` of a session, or ``analysis.responses`` of one or several sessions, which are pooled.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new pyplot figure.

    Returns
    -------
    matplotlib.axes.Axes
        It holds the axes of the cells: rows are what the client does, columns what the therapist does next.

    Notes
    -----
    A triangle marks where the interval of the difference lies above or below 0; among so many cells one in twenty would
    be marked if nothing were behind it. Differences of several sessions compare within sessions. An answer that has
    several codes stands in several columns. The table has rows for all other codes, too.
    """
    ax = axes_or_new(ax)
    cells = _cells(table)
    if cells is None:
        return say_instead(ax, "no answers: the table holds no client turn that the therapist answers")
    page = style.Layout(ax)
    left, wide = _sizes(cells, page.width)
    upwards, names, heads = _heads(cells, wide)
    top = page.legend(_keys(cells)) + heads
    rows, columns = cells.n.shape
    high = ROW * (rows + 0.3)
    axes = page.panel(style.EDGE + left, top, wide * columns, high)
    # The row of all client turns stands a little apart.
    feet = [i + 0.3 * (i > 0) for i in range(rows)]
    axes.set(xlim=(0, columns), ylim=(rows + 0.3, 0))
    share = cells.share
    fits = max(style.text_width(one) for one in _counts(cells).ravel()) <= wide - 3
    words = _counts(cells) if fits else _per_cents(cells)
    for (i, j), value in np.ndenumerate(share):
        few, y, ink = np.isnan(value), feet[i], "w" if value > DARK else "k"
        look: dict[str, Any] = {"fc": "none", "hatch": "//"} if few else {"fc": SHADES(value)}
        axes.add_patch(Rectangle((j, y), 1, 1, ec="0.6", lw=0.5, clip_on=False, hatchcolor="0.75", **look))
        axes.text(j + 0.5, y + 0.5, words[i, j], ha="center", va="center_baseline", color=ink)
        for sign, there in (("^", cells.above[i, j]), ("v", cells.below[i, j])):
            if there:
                axes.plot(j + 1 - 3 / wide, y + 0.24, sign, ms=2.8, c=ink, mew=0)
    axes.set_yticks([y + 0.5 for y in feet], [f"{one:,.0f}" for one in cells.n.max(axis=1)])
    space = left - 14 - max(style.text_width(f"{one:,.0f}") for one in cells.n.max(axis=1))
    for one, y in zip(cells.client, feet, strict=True):
        name = style.fitted(one.name, space)
        axes.text(-(left - space) / (wide * columns), y + 0.5, name, transform=axes.get_yaxis_transform(),
                  ha="right", va="center_baseline")  # fmt: skip
    turned: dict[str, Any] = {"rotation": 90, "rotation_mode": "anchor", "ha": "left", "va": "center"}
    axes.set_xticks(np.arange(columns) + 0.5, names, **(turned if upwards else {"va": "bottom"}), linespacing=1.1)
    axes.tick_params("x", length=0, labeltop=True, labelbottom=False, pad=4 if upwards else 3)
    axes.tick_params("y", length=0, pad=4)
    axes.spines[["left", "bottom"]].set_visible(False)
    return ax, top + high + 4


def _counts(cells: _Cells) -> Any:
    pairs = zip(cells.both.ravel(), cells.n.ravel(), strict=True)
    return np.array([f"{k:,.0f}/{n:,.0f}" for k, n in pairs]).reshape(cells.n.shape)


def _per_cents(cells: _Cells) -> Any:
    pairs = zip(cells.both.ravel(), cells.n.ravel(), strict=True)
    return np.array([f"{100 * k / n:.0f}" if n else "" for k, n in pairs]).reshape(cells.n.shape)
