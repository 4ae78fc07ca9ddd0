"""Thousands of small transport problems solved together, exactly, by numpy alone.

A problem asks for the least cost of moving what m rows have to where n columns want it. Problems of
like shape stand side by side, one a lane, and take the steps of the transportation simplex together,
so that a step is a few dozen array operations for all of them.

All numbers are whole numbers, so nothing is rounded on the way and the end is a
proof: no cell has a reduced cost below zero. In the lowest bits of each cost stands the number of its
cell, so that the minimum over cells also says where it is; in those of each flow that of its arc.

The basis of a problem is a tree over its rows and columns. `_Lanes.path` holds for each of them, as
bits, which arcs lie between it and the root: the way between a row and a column is one XOR.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]

NO_CELL = 1 << 37
"""The cost of a cell that only fills a problem up to its neighbours' shape."""
_NEVER = 1 << 61
_TILT = 4096
"""Masses are multiples of it; 1 more for each row keeps all flows of a basis above zero, so no pivot is idle."""
_CELLS, _FEWEST, _MOST = 400_000, 256, 1536
_IDLE, _BUSY = 0.3, 0.5
_ONE = np.uint64(1)


@dataclass(frozen=True, slots=True)
class Problems:
    """Transport problems of m rows and n columns.

    Attributes
    ----------
    cost : int64 array (m, n, B)
        Whole numbers up to 2**28; `NO_CELL` for rows and columns that a problem does not have.
    supply, demand : int64 arrays (m, B) and (n, B)
        Whole numbers of one sum in each problem; 0 for rows and columns that it does not have, which come last.
    """

    cost: Ints
    supply: Ints
    demand: Ints


def least_costs(batches: Iterator[Problems]) -> Ints:
    """Return the least cost of each problem, in the order in which they come.

    Parameters
    ----------
    batches : iterator of Problems
        One or more, all of one shape.

    Returns
    -------
    int64 array (n_problems,)
        Sums of mass times cost.

    Notes
    -----
    Lanes whose problem is solved get a new one, so that all lanes have work until there is no more.
    """
    stock = _Stock(batches)
    work = stock.first()
    room, found = np.empty_like(work.cost).reshape(-1), [(work.problem[:0], work.problem[:0])]
    while len(work.problem):
        cells = _price(work, room)
        lowest: Ints = cells.min(axis=0)
        done = np.flatnonzero(lowest >= 0)
        if len(done) <= _IDLE * len(lowest):
            _improve(work, cells, lowest)
            continue
        found.append((work.problem[done], _moved(work, done)))
        filled = stock.fill(work, done)
        if filled < len(done):
            work = work.of(np.delete(np.arange(len(lowest)), done[filled:]))
    problem, cost = (np.concatenate(part) for part in zip(*found, strict=True))
    return np.asarray(cost[np.argsort(problem)])


@dataclass(frozen=True, slots=True)
class _Lanes:
    """Transport problems of m rows and n columns side by side in B lanes, each with a basic solution.

    A basis has S = m + n - 1 arcs and N = m + n nodes: the rows, then the columns.

    `problem` (B,) says whose they are. `cost` (m, n, B) is a multiple of a power of two, `unit`, plus the
    number of the cell. `path` (words of 64 bits, N, B) has the arcs from a node to the root, `from_row`
    (words of 64 bits, B) the arcs whose far end is a row. `potential` (N, B): the reduced cost of a cell is
    its cost minus the row's plus the column's. `flow` (S, B) is a multiple of `step` plus the number
    of the arc, `cell` (S, B) the arc's cell.
    """

    problem: Ints
    cost: Ints
    path: Bits
    from_row: Bits
    potential: Ints
    flow: Ints
    cell: Ints

    @property
    def unit(self) -> int:
        return _unit(*self.cost.shape[:2])

    @property
    def step(self) -> int:
        return 1 << len(self.flow).bit_length()

    def of(self, lanes: Ints) -> _Lanes:
        """Return some lanes."""
        return _Lanes(*(getattr(self, one.name).take(lanes, axis=-1) for one in fields(self)))

    def put(self, at: Ints, lanes: _Lanes, start: int) -> None:
        """Overwrite lanes by those of another set, from `start` on."""
        for one in fields(self):
            getattr(self, one.name)[..., at] = getattr(lanes, one.name)[..., start : start + len(at)]


def _unit(m: int, n: int) -> int:
    """Return the power of two that leaves room for the number of a cell."""
    return 1 << (m * n - 1).bit_length()


class _Stock:
    """Problems with a first basis, made a batch at a time and handed out a few at a time."""

    def __init__(self, batches: Iterator[Problems]) -> None:
        self._batches = batches
        self._batch: _Lanes
        self._used = self._made = 0
        self._next()

    def _next(self) -> None:
        """Make the next batch; the last one stays, all used."""
        problems = next(self._batches, None)
        if problems is not None:
            numbers = np.arange(self._made, self._made + problems.cost.shape[2])
            self._batch, self._used, self._made = _first_basis(problems, numbers), 0, self._made + len(numbers)

    def first(self) -> _Lanes:
        """Return some problems as lanes of their own."""
        m, n, size = self._batch.cost.shape
        self._used = min(size, int(np.clip(_CELLS // (m * n), _FEWEST, _MOST)))
        return self._batch.of(np.arange(self._used))

    def fill(self, work: _Lanes, at: Ints) -> int:
        """Put new problems into the lanes `at`, and return how many there were."""
        filled = 0
        while filled < len(at):
            if self._used == len(self._batch.problem):
                self._next()
            lanes = at[filled : filled + len(self._batch.problem) - self._used]
            if not len(lanes):
                break
            work.put(lanes, self._batch, self._used)
            filled, self._used = filled + len(lanes), self._used + len(lanes)
        return filled


def _moved(work: _Lanes, lanes: Ints) -> Ints:
    """Return mass times cost of lanes that are solved."""
    cell, flow = work.cell[:, lanes], work.flow[:, lanes] // work.step
    cost = work.cost.reshape(-1).take(cell * len(work.problem) + lanes) // work.unit
    return np.asarray(((flow + _TILT // 2) // _TILT * cost).sum(axis=0))


def _price(work: _Lanes, room: Ints) -> Ints:
    """Return the least reduced cost in each row, with the number of its cell in the lowest bits, (m, B)."""
    m = len(work.cost)
    reduced = room[: work.cost.size].reshape(work.cost.shape)
    np.subtract(work.cost, work.potential[:m, None], out=reduced)
    reduced += work.potential[m:]
    return np.asarray(reduced.min(axis=1))


def _improve(work: _Lanes, cells: Ints, lowest: Ints) -> None:
    """Pivot on the cells that `_price` found, the cheapest first, while most problems have one below 0."""
    m, n, size = work.cost.shape
    column: Ints = ((cells & (work.unit - 1)) % n + m) * size + np.arange(size)
    cost = cells + work.potential[:m]
    cost -= work.potential.take(column)
    while True:
        _pivot(work, lowest)
        left = cost - work.potential[:m]
        left += work.potential.take(column)
        lowest = left.min(axis=0)
        if np.count_nonzero(lowest < 0) < _BUSY * size:
            return


def _pivot(work: _Lanes, lowest: Ints) -> None:
    """Bring the cheapest cell of each problem into its basis; leave alone the problems without one below 0."""
    size = len(lowest)
    open_, here = lowest < 0, np.arange(size)
    code = lowest & (work.unit - 1)
    reduced = np.where(open_, lowest - code, 0)
    m, n, _ = work.cost.shape
    row, column = np.divmod(code, n)
    paths = work.path.reshape(len(work.path), -1)
    up_row = paths.take(row * size + here, axis=1)
    up_column = paths.take((column + m) * size + here, axis=1)
    circle = (up_row ^ up_column) * open_
    arc, left = _shift(work, circle, up_row, code)
    _hang(work, circle, (up_row, up_column), (arc, left), reduced)


def _shift(work: _Lanes, circle: Bits, up_row: Bits, code: Ints) -> tuple[Bits, Ints]:
    """Send flow round the circle until an arc is empty, and give its place to the new cell.

    Returns
    -------
    The number of the arc, and the cell that it had, (B,) each.
    """
    n_arcs, size = work.flow.shape
    gains = circle & (up_row ^ work.from_row)
    loses = _as_rows(circle ^ gains, n_arcs)
    # what is not on the losing side is set to the largest number there is
    least = (work.flow.view(np.uint64) | (loses - _ONE)).min(axis=0).view(np.int64)
    arc = least & (work.step - 1)
    change = _as_rows(gains, n_arcs).view(np.int64)
    change -= loses.view(np.int64)
    change *= least - arc
    np.add(work.flow, change, out=work.flow)
    now = np.flatnonzero(circle.any(axis=0))
    arc, places = np.zeros(size, dtype=np.int64), arc[now]
    arc[now] = places
    left = work.cell[arc, np.arange(size)]
    work.flow[places, now] = least[now]
    work.cell[places, now] = code[now]
    return arc.astype(np.uint64), left


def _as_rows(bits: Bits, n: int) -> Bits:
    """Return bits (words, B) as zeros and ones (n, B)."""
    rows = np.empty((n, bits.shape[1]), dtype=np.uint64)
    for k, word in enumerate(bits):
        part = rows[64 * k : 64 * (k + 1)]
        np.right_shift(word, np.arange(len(part), dtype=np.uint64)[:, None], out=part)
    rows &= _ONE
    return rows


def _hang(work: _Lanes, circle: Bits, ups: tuple[Bits, Bits], leaves: tuple[Bits, Ints], reduced: Ints) -> None:
    """Cut off the branch behind the arc that leaves and hang it on the arc that enters."""
    path, (m, n, size), (arc, left) = work.path, work.cost.shape, leaves
    at = _bit_of(arc, len(path))
    cut = _across(path, arc)
    far_is_row = ((work.from_row & at) != 0).any(axis=0)
    far = np.where(far_is_row, left // n, left % n + m)
    below = ~path.reshape(len(path), -1).take(far * size + np.arange(size), axis=1)
    row_moves = ((ups[0] & at) != 0).any(axis=0)
    rest = circle & ~at
    # arcs between the branch's old and new end turn round
    turned = rest & np.where(row_moves, *ups) & below
    np.bitwise_xor(work.from_row, turned, out=work.from_row)
    np.copyto(work.from_row, np.where(row_moves, work.from_row | at, work.from_row & ~at), where=circle.any(axis=0))
    np.negative(cut, out=cut)  # all bits set inside the branch, none outside
    change = cut.view(np.int64) & np.where(far_is_row, reduced, -reduced)
    np.add(work.potential, change, out=work.potential)
    for k, word in enumerate(rest):
        path[k] ^= np.bitwise_and(cut, word, out=change.view(np.uint64))


def _bit_of(arc: Bits, n_words: int) -> Bits:
    """Return (words, B) with the arc's bit set."""
    bit = _ONE << (arc & np.uint64(63))
    return np.where((arc >> np.uint64(6)) == np.arange(n_words, dtype=np.uint64)[:, None], bit, np.uint64(0))


def _across(path: Bits, arc: Bits) -> Bits:
    """Return (N, B): 1 for the nodes whose way to the root takes the arc."""
    if len(path) == 1:
        found = path[0] >> arc
    else:
        word = (arc >> np.uint64(6)).astype(np.int64)
        found = np.take_along_axis(path, word[None, None], axis=0)[0] >> (arc & np.uint64(63))
    found &= _ONE
    return np.asarray(found)


def _first_basis(problems: Problems, problem: Ints) -> _Lanes:
    """Serve the columns one by one, those with most to lose first, each from its relatively cheapest rows."""
    problems, unit, exists = _tilted(problems)
    m, n, size = problems.cost.shape
    here, n_arcs = np.arange(size), m + n - 1
    bias, order = _order(problems, unit)
    costs, supply, demand = problems.cost.reshape(m, -1), problems.supply.reshape(-1), problems.demand.reshape(-1)
    used, turn, last = bias.reshape(-1), here.copy(), (n - 1) * size + here
    near, far, cell = (np.empty((n_arcs, size), dtype=np.int64) for _ in range(3))
    flow, room = np.empty_like(cell), np.empty((m, size), dtype=np.int64)
    for arc in range(n_arcs):
        column = order.take(turn)
        np.take(costs, column, axis=1, out=room, mode="clip")
        room += bias
        cell[arc] = room.min(axis=0) & (unit - 1)
        row = cell[arc] // n * size + here
        has, wants = supply.take(row), demand.take(column)
        served = wants <= has
        flow[arc] = np.where(served, wants, has)
        supply[row], demand[column] = has - flow[arc], wants - flow[arc]
        used[row] += np.where(served, 0, _NEVER)
        column += m * size
        far[arc], near[arc] = np.where(served, column, row), np.where(served, row, column)
        turn = np.minimum(turn + size * served, last)
    far[~exists] = near[~exists] = (m + n) * size  # hung on a node of no use
    path, from_row, potential = _grown(problems.cost, far, near, cell)
    flow = flow * exists * (1 << n_arcs.bit_length()) + np.arange(n_arcs)[:, None]
    return _Lanes(problem, problems.cost, path, from_row, potential, flow, cell)


def _order(problems: Problems, unit: int) -> tuple[Ints, Ints]:
    """Return what to add to a row's costs so that all rows are alike dear, and the columns' turns as flat places."""
    cost = problems.cost
    rows, columns = problems.supply > 0, problems.demand > 0
    mean = np.einsum("mnb,nb->mb", cost, columns.astype(np.int64)) // columns.sum(axis=0)
    bias = np.where(rows, -(mean & -unit), _NEVER)
    fair = cost + bias[:, None]
    regret = np.einsum("mnb,mb->nb", fair, rows.astype(np.int64)) // rows.sum(axis=0) - fair.min(axis=0)
    regret[~columns] = -_NEVER
    order = np.argsort(-regret, axis=0)
    return bias, order * cost.shape[2] + np.arange(cost.shape[2])


def _grown(cost: Ints, far: Ints, near: Ints, cell: Ints) -> tuple[Bits, Bits, Ints]:
    """Return `path`, `from_row` and `potential` of the basis whose arcs were found twigs first, the root last."""
    m, n, size = cost.shape
    n_arcs, unit = len(far), _unit(m, n)
    rise = cost.reshape(-1).take(cell * size + np.arange(size)) & -unit
    from_row = far < m * size
    rise = np.where(from_row, rise, -rise)
    n_words = -(-n_arcs // 64)
    path = np.zeros((n_words, (m + n + 1) * size), dtype=np.uint64)
    potential = np.zeros((m + n + 1) * size, dtype=np.int64)
    bits = np.zeros((n_words, size), dtype=np.uint64)
    for arc in range(n_arcs - 1, -1, -1):
        word, bit = arc // 64, np.uint64(1 << arc % 64)
        for k, ways in enumerate(path):
            ways[far[arc]] = ways.take(near[arc]) | (bit if k == word else np.uint64(0))
        potential[far[arc]] = potential.take(near[arc]) + rise[arc]
        bits[word] |= from_row[arc] * bit
    path = path.reshape(n_words, -1, size)[:, :-1].copy()
    return path, bits, potential.reshape(-1, size)[:-1].copy()


def _tilted(problems: Problems) -> tuple[Problems, int, NDArray[np.bool_]]:
    """Return the problems with numbered cells and tilted masses, the unit, and which arcs of a basis exist."""
    m, n, size = problems.cost.shape
    unit = _unit(m, n)
    cost = problems.cost * unit
    cost += np.arange(m * n).reshape(m, n, 1)
    supply, demand = problems.supply * _TILT, problems.demand * _TILT
    rows, columns = np.count_nonzero(supply, axis=0), np.count_nonzero(demand, axis=0)
    supply += supply > 0
    demand[columns - 1, np.arange(size)] += rows
    return Problems(cost, supply, demand), unit, np.arange(m + n - 1)[:, None] < rows + columns - 1
