"""Rows of sparse counts: some of them, with some of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.language.integers import consecutive

Sparse: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
Ints: TypeAlias = NDArray[np.integer]
Floats: TypeAlias = NDArray[np.float64]

_FEW = 1 << 15  # numbers of rows that are rather laid out in full than made a sparse array


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Some rows of counts, with no columns but some.

    Attributes
    ----------
    numbers : float64 array (n_entries,)
        The counts, row after row.
    columns, rows : int array (n_entries,)
        Where each stands.
    bounds : int array (n_rows + 1,)
        Row ``i`` owns the entries ``bounds[i]:bounds[i + 1]``.
    width : int
        How many columns there are.
    """

    numbers: Floats
    columns: Ints
    rows: Ints
    bounds: Ints
    width: int

    @classmethod
    def of(cls, numbers: Floats, columns: Ints, rows: Ints, shape: tuple[int, int]) -> Chosen:
        """Return counts of which the row and the column of each are known; rows rise."""
        bounds = np.zeros(shape[0] + 1, dtype=np.int32)
        np.cumsum(np.bincount(rows, minlength=shape[0]), out=bounds[1:])
        return cls(numbers, columns, rows, bounds, shape[1])

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def part(self, rows: slice) -> Chosen:
        """Return some of the rows."""
        if (rows.start, rows.stop) == (0, len(self)):
            return self
        at = slice(self.bounds[rows.start], self.bounds[rows.stop])
        bounds = self.bounds[rows.start : rows.stop + 1] - at.start
        return Chosen(self.numbers[at], self.columns[at], self.rows[at] - rows.start, bounds, self.width)

    def sparse(self) -> Sparse:
        """Return them as a sparse array."""
        return sparse.csr_array((self.numbers, self.columns, self.bounds), shape=(len(self), self.width))

    def laid_out(self) -> Floats:
        """Return them with a column a row: sparse rows times these are the products of each with each."""
        found = np.zeros((self.width, len(self)))
        found[self.columns, self.rows] = self.numbers
        return found


def products(one: Chosen, other: Chosen) -> Floats:
    """Return the products of each row of the one with each row of the other, which have the same columns."""
    if len(one) > len(other):
        return products(other, one).T
    # The fewer rows are laid out in full; the others only where they are so few that this is less work.
    if len(other) * one.width <= _FEW:
        return one.laid_out().T @ other.laid_out()
    return np.asarray(other.sparse() @ one.laid_out()).T


def chosen(counts: Sparse, rows: Ints, columns: Ints) -> Chosen:
    """Return rows with no columns but some, which are given in rising order."""
    at, of_row = entries_of(counts.indptr, rows)
    places, width = counts.indices.take(at), len(columns)
    if width < counts.shape[1]:
        to = np.full(counts.shape[1], -1, dtype=np.int32)
        to[columns] = np.arange(width)
        places = to.take(places)
        kept = np.flatnonzero(places >= 0)
        at, places, of_row = at.take(kept), places.take(kept), of_row.take(kept)
    return Chosen.of(counts.data.take(at), places, of_row, (len(rows), width))


def entries_of(bounds: Ints, rows: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which entries rows have, row after row, and for each the place of its row among those rows.

    Examples
    --------
    >>> [found.tolist() for found in entries_of(np.array([0, 2, 3, 5]), np.array([2, 0]))]
    [[3, 4, 0, 1], [0, 0, 1, 1]]
    """
    return consecutive(bounds[rows], bounds[rows + 1] - bounds[rows])


def row_of(counts: Sparse) -> NDArray[np.int64]:
    """Return the row of each entry."""
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))


def squares_of(counts: Sparse) -> Floats:
    """Return the squared length of each row."""
    weights = np.square(counts.data)
    return np.bincount(row_of(counts), weights=weights, minlength=counts.shape[0]).astype(np.float64)


def part(counts: Sparse, rows: slice) -> Sparse:
    """Return some rows; without a copy where these are all."""
    return counts if (rows.start, rows.stop) == (0, counts.shape[0]) else counts[rows]
