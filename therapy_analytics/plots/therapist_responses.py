"""What the therapist does next after each thing that the client does: counts, the darker, the more often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import QuadMesh

from therapy_analytics.measures.process.responses import ANSWERS, EVENTS
from therapy_analytics.measures.response_rows import COUNTS, pooled_responses
from therapy_analytics.plots import FONT, INCH_PT, axes_or_new, plot, remembered, say_instead
from therapy_analytics.plots._board import EDGE, FAINT, Key, draw_keys, in_lines, keys_height, open_board
from therapy_analytics.plots._codes import WEAK, Behaviour, behaviours
from therapy_analytics.plots._outlines import ADVANCE, NUMBERS, cut, length
from therapy_analytics.plots._turns import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from therapy_analytics.plots._board import Board
    from therapy_analytics.plots._outlines import Line
    from therapy_analytics.plots._turns import Bools, Floats

FEW = 5
"""Of fewer client turns neither shading nor marks are drawn: one of one would look like always."""
DEEP = (0.043, 0.235, 0.365)
"""The colour of all: one hue, from white, so that it prints in grey."""
_ROWS, _COLUMNS = ([code for act in acts.values() for code in act.codes] for acts in (EVENTS, ANSWERS))
"""The codes that are drawn: those of which `therapy_analytics.measures.process.responses` has measures."""
ANY = Behaviour((-1, 0), "any", "Any client turn", "client")
DARK = 0.66
ROW, LONGEST = 13.5, 14.0
"""Height of a row, in points, and length of the names of columns at most, in sizes of the font."""
"""From this share on, the cell is so dark that its writing is white."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _ResponseCells:
    """What is drawn.

    Attributes
    ----------
    client, therapist : list of Behaviour
        Their codes, in the order of rows and columns.
    n, both : float array (n_client_codes, n_therapist_codes)
        Client turns with the code that are answered, and those of them whose answer has the other.
    any_n, any_both : float array (n_therapist_codes,)
        The same for all client turns, whatever their codes.
    above, below : bool array (n_client_codes, n_therapist_codes)
        Where the interval of the difference from other client turns lies wholly above, or below, 0.
    """

    client: list[Behaviour]
    therapist: list[Behaviour]
    n: Floats
    both: Floats
    any_n: Floats
    any_both: Floats
    above: Bools
    below: Bools


@remembered
def _shown(table: DataFrame) -> _ResponseCells:
    table = table[table["client_code"].isin(_ROWS) & table["therapist_code"].isin(_COLUMNS)]
    several = "session_id" in table and table["session_id"].nunique() > 1
    return _cells(pooled_responses(table) if several else table)


def _height(table: DataFrame, width: float) -> float:
    cells = _shown(table)
    if not cells.any_n.any():
        return 60.0
    return 2 * EDGE + keys_height(_keys(cells), width) + _heads(cells, width - 2 * EDGE)[2] + _rows_height(cells) + 4


def _heads(cells: _ResponseCells, width: float) -> tuple[bool, list[list[str]], float]:
    """Return whether names of columns are written upwards, the lines of each, and their height in points.

    Names stand upright where their longest words fit over the cells.
    """
    names = [one.name for one in cells.therapist]
    fits = (_edges_of(cells, width, FONT)[1] - 3) / FONT
    if max(length(word) for name in names for word in name.split()) > fits:
        return True, [[cut(name, LONGEST)] for name in names], min(max(map(length, names)), LONGEST) * FONT + 6
    lines = [in_lines(name, fits, 3) for name in names]
    return False, lines, max(map(len, lines)) * 1.15 * FONT + 6


def _edges_of(cells: _ResponseCells, width: float, font: float) -> tuple[float, float, float, float]:
    """Return left end and width of the columns, and where names and counts of the rows end, in points."""
    counts = (len(f"{max(cells.n.max(), cells.any_n.max()):,.0f}") * ADVANCE + 1.0) * font
    # Cells need at least space for a share.
    space = width - counts - 0.4 * font - 2.1 * font * len(cells.therapist)
    names = min(max(length(one.name) for one in (*cells.client, ANY)) * font, max(space, 0.2 * width))
    left = names + counts + 0.4 * font
    return left, min((width - left) / len(cells.therapist), 62.0), names, names + counts


def _rows_height(cells: _ResponseCells) -> float:
    return ROW * (len(cells.client) + 1.3)


def _caption(table: DataFrame) -> str:
    cells = _shown(table)
    if not cells.any_n.any():
        return ""
    names: list[str] = table["session_id"].astype(str).unique().tolist() if "session_id" in table else []
    n = len(names) or int(np.nan_to_num(numbers(table, "n_sessions")).max(initial=0))
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


@plot(needs=("client_code", "therapist_code", *COUNTS), takes="responses", run=3, height=_height, caption=_caption)
def responses(table: DataFrame, /, *, ax: Axes | None = None) -> Axes:
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
        Rows are what the client does, columns what the therapist does next; one unit is a point (1/72 inch).

    Notes
    -----
    A triangle marks where the interval of the difference lies above or below 0; among so many cells one in twenty would
    be marked if nothing were behind it. Differences of several sessions compare within sessions. An answer that has
    several codes stands in several columns. The table has rows for all other codes, too.
    """
    ax = axes_or_new(ax)
    cells = _shown(table)
    if not cells.any_n.any():
        return say_instead(ax, "no answers: the table holds no client turn that the therapist answers")
    board = open_board(ax, _height(table, ax.bbox.width * INCH_PT / ax.figure.dpi))
    _draw(board, cells, draw_keys(board, _keys(cells), board.height) - 4)
    board.close()
    return ax


def _cells(table: DataFrame) -> _ResponseCells:
    """Return the cells, without codes that the coder does not give."""
    codes = [table[name].astype(str).tolist() for name in ("client_code", "therapist_code")]
    client, therapist = (behaviours(one) for one in codes)
    rows, columns = (list(known) for known in (client, therapist))
    at = [rows.index(code) for code in codes[0]], [columns.index(code) for code in codes[1]]

    def grid(values: Floats) -> Floats:
        found = np.full((len(client), len(therapist)), np.nan)
        found[at] = values
        return found

    n, both, n_other, both_other = (np.nan_to_num(grid(numbers(table, name))) for name in COUNTS)
    low, high = (grid(numbers(table, f"difference_{end}")) for end in ("lo", "hi"))
    total = n + n_other
    rows_given, columns_given = np.flatnonzero(total.sum(axis=1)), np.flatnonzero(total.sum(axis=0))
    kept = np.ix_(rows_given, columns_given)
    # All client turns are those with and without any one code: the fullest row knows most.
    fullest = (total.argmax(axis=0), np.arange(len(therapist))) if len(client) else ((), ())
    return _ResponseCells(
        client=[client[rows[i]] for i in rows_given],
        therapist=[therapist[columns[i]] for i in columns_given],
        n=n[kept],
        both=both[kept],
        any_n=total[fullest][columns_given],
        any_both=(both + both_other)[fullest][columns_given],
        above=((n >= FEW) & (low > 0))[kept],
        below=((n >= FEW) & (high < 0))[kept],
    )


def _keys(cells: _ResponseCells) -> list[Key]:
    edge = {"ec": "0.6", "lw": 0.6}
    shares = [(share, f"{share:.0%}{' of the answers' * (share == 1)}") for share in (0.0, 0.5, 1.0)]
    keys = [Key(words=words, box={"fc": tuple(_colours(np.array(share))), **edge}) for share, words in shares]
    if (cells.n < FEW).any():
        words = f"fewer than {FEW} client turns"
        keys.append(Key(words=words, box={"fc": "none", "hatch": "////", **edge}))
    if cells.above.any():
        words = "more often than after other turns"
        keys.append(Key(words=words, mark={"marker": "^"}))
    return [*keys, Key(words="less often", mark={"marker": "v"})] if cells.below.any() else keys


def _colours(share: Floats) -> Floats:
    """Return colours (n, 4), from white to `DEEP`."""
    colours = 1 - np.multiply.outer(np.clip(share, 0, 1), 1 - np.array(DEEP))
    return np.concatenate([colours, np.ones((*np.shape(share), 1))], axis=-1)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _ResponseLayout:
    """Where things lie, in points: edges of the columns (n + 1,), ends of the rows' names and counts, sizes."""

    x: Floats
    names_end: float
    counts_end: float
    height: float
    font: float
    foot: float


def _layout(board: Board, cells: _ResponseCells, top: float) -> _ResponseLayout:
    """Return a layout in which names and counts fit."""
    font = board.font
    scale = font / FONT
    left, width, names, counts = _edges_of(cells, board.width, font)
    x: Floats = left + width * np.arange(len(cells.therapist) + 1.0)
    height = _heads(cells, board.width)[2] * scale
    return _ResponseLayout(x=x, names_end=names, counts_end=counts, height=ROW * scale, font=font, foot=top - height)


def _draw(board: Board, cells: _ResponseCells, top: float) -> None:
    """Draw the names of the columns, the row of all client turns, and the rows of the client's codes."""
    layout = _layout(board, cells, top)
    font, foot, middles = layout.font, layout.foot, (layout.x[:-1] + layout.x[1:]) / 2
    turned, names, _ = _heads(cells, board.width)
    for x, lines in zip(middles.tolist(), names, strict=True):
        step = 1.15 * font
        heads: list[Line] = [(x, foot + 0.7 * font + step * i, line, "center") for i, line in enumerate(lines[::-1])]
        board.write([(x, foot + 0.4 * font, lines[0], "left")] if turned else heads, turned=turned)
    if cells.any_n.any():
        _rows(board, layout, [ANY], cells.any_n[None], cells.any_both[None], foot)
        foot -= 1.3 * layout.height
    _rows(board, layout, cells.client, cells.n, cells.both, foot)
    middle = foot - layout.height * (np.arange(len(cells.client)) + 0.5)
    for which, sign in ((cells.above, "^"), (cells.below, "v")):
        i, j = np.nonzero(which)
        places = np.column_stack([layout.x[j + 1] - 2.2, middle[i] + 0.5 * layout.height - 2.2])
        dark = _share(cells.both, cells.n)[i, j] > DARK
        for own, colour in ((dark, "w"), (~dark, "k")):
            board.marks(places[own], marker=sign, ms=2.8, color=colour, zorder=4, gid=f"marks {sign}")


def _share(both: Floats, n: Floats) -> Floats:
    """Return shares; nan of fewer than `FEW`."""
    found: Floats = np.divide(both, n, out=np.full(n.shape, np.nan), where=n >= FEW)
    return found


def _rows(board: Board, layout: _ResponseLayout, own: list[Behaviour], n: Floats, both: Floats, top: float) -> None:
    """Draw rows of cells from `top` down, with their names and counts."""
    font, height = layout.font, layout.height
    y: Floats = top - height * np.arange(len(own) + 1.0)
    share = _share(both, n)
    few = np.isnan(share)
    colours = np.where(few[..., None], 0.0, _colours(np.nan_to_num(share)))
    corners = np.stack(np.meshgrid(layout.x, y), axis=-1)
    cells = QuadMesh(corners, facecolors=colours.reshape(-1, 4), lw=0, clip_on=False, gid="cells", zorder=1)
    board.ax.add_collection(cells, autolim=False)
    _hatch(board, layout, y, few)
    _edges(board, layout, y)
    middles = ((y[:-1] + y[1:]) / 2).tolist()
    for one, level in zip(own, middles, strict=True):
        board.write([(layout.names_end, level, cut(one.name, layout.names_end / font), "right")], font)
    counts = [f"{most:,.0f}" for most in n.max(axis=1)]
    lines: list[Line] = [(layout.counts_end, level, text, "right") for level, text in zip(middles, counts, strict=True)]
    board.write(lines, font, NUMBERS, alpha=FAINT)
    _write(board, layout, middles, n, both)


def _write(board: Board, layout: _ResponseLayout, middles: list[float], n: Floats, both: Floats) -> None:
    """Write the counts of each cell; where there is no space for them, the per cent of the row."""
    shares = np.divide(both, n, out=np.full(n.shape, np.nan), where=n > 0).ravel()
    counts = [f"{k:,.0f}/{total:,.0f}" for k, total in zip(both.ravel(), n.ravel(), strict=True)]
    width, size = float(layout.x[1] - layout.x[0]), layout.font
    fits = max(len(one) for one in counts) * ADVANCE * size <= width - 2
    text = counts if fits else ["" if np.isnan(one) else f"{100 * one:.0f}" for one in shares]
    share = np.nan_to_num(_share(both, n)).ravel()
    middle = ((layout.x[:-1] + layout.x[1:]) / 2).tolist()
    places = [(x, y - 0.06 * layout.height) for y in middles for x in middle]
    for colour, own in (("w", share > DARK), ("k", share <= DARK)):
        lines: list[Line] = [(*places[i], text[i], "center") for i in np.flatnonzero(own).tolist()]
        board.write(lines, size, NUMBERS, fc=colour, zorder=3)


def _hatch(board: Board, layout: _ResponseLayout, y: Floats, few: Bools) -> None:
    """Draw slanting lines over cells of few turns."""
    i, j = np.nonzero(few)
    left, bottom = layout.x[j], y[i + 1]
    width, height = layout.x[1] - layout.x[0], layout.height
    for begin, end in (((0, 0.5), (0.5, 1)), ((0, 0), (1, 1)), ((0.5, 0), (1, 0.5))):
        ends = [left + width * begin[0], bottom + height * begin[1], left + width * end[0], bottom + height * end[1]]
        board.lines(np.column_stack(ends), ec="0.5", alpha=0.35, lw=0.6, zorder=1.5, gid="hatched")


def _edges(board: Board, layout: _ResponseLayout, y: Floats) -> None:
    x, same = layout.x, np.ones_like
    down = np.column_stack([x, same(x) * y[0], x, same(x) * y[-1]])
    across = np.column_stack([same(y) * x[0], y, same(y) * x[-1], y])
    board.lines(np.concatenate([down, across]), ec="0.6", lw=0.5, zorder=2)
