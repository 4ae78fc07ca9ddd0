"""Meanings as arrays: how alike they are, and whether they come back.

Vectors of length one are held in whole steps (`STEPS` to 1). Sums of products of two of them are then whole numbers
that float64 holds exactly, in whatever order they are added: no value depends, in any bit, on what else is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.embeddings import DIMENSIONS, load_embeddings
from therapy_analytics.language.integers import distinct
from therapy_analytics.measures.synchrony._chance import Bools, Floats, Ints
from therapy_analytics.measures.synchrony._pairwise import MOST_CELLS, divided

STEPS = 2.0**16
"""Steps in which a coordinate of a unit vector is counted; a cosine moves by about 1e-5."""
_TABLE_ADVANTAGE = 32
"""A cell of a matrix product costs about so many times less than a pair computed alone, whose vectors are copied."""
_PAIRS = 4096
"""Pairs that are computed alone at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Meanings:
    """What is said, as vectors in whole steps.

    Attributes
    ----------
    vectors : float64 array (..., n, n_dimensions)
        Whole numbers; rows of 0 for what has no meaning.
    squares : float64 array (..., n)
        Their squared lengths; exact.
    """

    vectors: Floats
    squares: Floats

    @classmethod
    def of(cls, vectors: Floats) -> Meanings:
        """Return vectors that are whole numbers with their squared lengths."""
        return cls(vectors, dots(vectors, vectors))

    @classmethod
    def units(cls, vectors: Floats) -> Meanings:
        """Return any vectors, brought to length one; rows of nan or 0 have no meaning."""
        wide = np.asarray(vectors, dtype=np.float64)
        whole = np.where(np.isnan(wide), 0.0, wide)
        largest = np.abs(whole).max(axis=1, initial=0.0, keepdims=True)
        whole *= STEPS / np.where(largest > 0, largest, 1.0)
        np.rint(whole, out=whole)
        length = np.sqrt(dots(whole, whole))[:, None]
        whole *= STEPS / np.where(length > 0, length, 1.0)
        return cls.of(np.rint(whole, out=whole))

    def __len__(self) -> int:
        return len(self.squares)

    def __getitem__(self, which: Ints | Bools | slice) -> Meanings:
        return Meanings(self.vectors[which], self.squares[which])


def dots(a: Floats, b: Floats) -> Floats:
    """Return the products of vectors, row by row: (..., n_dimensions) each to (...)."""
    return np.asarray(np.vecdot(a, b))


def meanings(session: AnnotatedSession) -> Meanings:
    """Return the meaning of each turn; none where it has no words."""
    return session.by_turn(_read)


def _read(session: AnnotatedSession) -> Meanings:
    spoken = session.n_words > 0
    texts = [turn.text for turn, has in zip(session.session.turns, spoken.tolist(), strict=True) if has]
    vectors = np.zeros((len(session), DIMENSIONS))
    if texts:
        vectors[spoken] = load_embeddings().embed(texts)
    return Meanings.units(vectors)


def cosines(a: Meanings, b: Meanings, rows: Ints, columns: Ints) -> Floats:
    """Return the cosine of rows of the one with rows of the other.

    Parameters
    ----------
    a, b : Meanings
        What is compared.
    rows, columns : int64 array, shapes that broadcast
        Positions in them.

    Returns
    -------
    float64 array of the broadcast shape
        -1 to 1; nan where one has no meaning.

    Examples
    --------
    >>> one = Meanings.units(np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]]))
    >>> cosines(one, one, np.array([0, 0, 0]), np.array([0, 1, 2])).round(3).tolist()
    [1.0, 0.0, 0.707]
    """
    return divided(products(a, b, rows, columns), a.squares[rows] * b.squares[columns])


def products(one: Meanings, other: Meanings, rows: Ints, columns: Ints) -> Floats:
    """Return the products of rows of the one with rows of the other, as `cosines` does what these come to.

    Looked up in one matrix product of all that occur, or computed one by one, whichever is less work.
    """
    a, b = one.vectors, other.vectors
    if rows.shape[1:] == (1,) and columns.shape[:-1] == (1,):
        return np.asarray(a[rows[:, 0]] @ b[columns[0]].T)
    shape = np.broadcast_shapes(rows.shape, columns.shape)
    n_pairs = int(np.prod(shape))
    (those, row_at), (these, column_at) = distinct(rows, len(a)), distinct(columns, len(b))
    if len(those) * len(these) <= min(_TABLE_ADVANTAGE * n_pairs, MOST_CELLS):
        table = a[those] @ b[these].T
        return np.asarray(table[row_at, column_at])
    first, second = (np.broadcast_to(at, shape).ravel() for at in (rows, columns))
    found = np.empty(n_pairs)
    for start in range(0, n_pairs, _PAIRS):
        part = slice(start, start + _PAIRS)
        found[part] = dots(a[first[part]], b[second[part]])
    return found.reshape(shape)


def returns(alike: Floats) -> Floats:
    """Return how much nearer stretches of talk are to one left behind than to the last one.

    Parameters
    ----------
    alike : float64 array (n, n, ...)
        Cosine of what the one says in a stretch (row) with what the other says in a stretch (column); nan if undefined.

    Returns
    -------
    float64 array (...)
        The highest cosine with a stretch before the last one, less that with the last one; mean over stretches from
        the third on. -2 to 2; nan under three stretches.

    Examples
    --------
    Topic A, then B, then A again (1 - 0); and A, B, C (0 - 0).

    >>> float(returns(np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 1]]))), float(returns(np.eye(3)))
    (1.0, 0.0)
    """
    return np.asarray(returns_in_orders(alike, np.arange(len(alike))[:, None])[0])


def returns_in_orders(alike: Floats, orders: Ints) -> Floats:
    """Return `returns` as if stretches had come in other orders, (n, n, ...) and (n, n_orders) to (n_orders, ...)."""
    n, *more = len(alike), *alike.shape[2:]
    shape = (max(n - 2, 0), orders.shape[1], *more)
    nearest, last = np.empty(shape), np.empty(shape)
    cells = np.where(np.isnan(alike), -np.inf, alike).reshape(n * n, *more)
    for place in range(2, n):
        near = cells.take(orders[place] * n + orders[:place], axis=0)
        near[:-1].max(axis=0, out=nearest[place - 2])
        last[place - 2] = near[-1]
    undefined = np.isinf(nearest) | np.isinf(last)
    nearest[undefined], last[undefined] = nan, 0.0
    return means(nearest - last)


def means(values: Floats) -> Floats:
    """Return the means of those that are defined, (n, ...) to (...); nan of none."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    return np.where(n > 0, np.where(defined, values, 0.0).sum(axis=0) / np.maximum(n, 1), nan)
