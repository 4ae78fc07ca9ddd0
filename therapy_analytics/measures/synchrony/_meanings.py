"""Meanings as arrays: how alike they are, how far they move on, whether they come back.

Vectors of length one are held in whole steps (`STEPS` to 1). Sums of products of two of them are then whole numbers
that float64 holds exactly, in whatever order they are added: no value depends, in any bit, on what else is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.embeddings import DIMENSIONS, load_embeddings
from therapy_analytics.measures.synchrony._chance import FEWEST_PAIRS, Bools, Floats, Ints, distinct
from therapy_analytics.measures.synchrony._pairwise import MOST_CELLS

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

    def __getitem__(self, which: Ints | Bools) -> Meanings:
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
    return divided(_products(a.vectors, b.vectors, rows, columns), a.squares[rows] * b.squares[columns])


def divided(products: Floats, squares: Floats) -> Floats:
    """Return cosines, from products of vectors and the products of their squared lengths; nan where one has none."""
    found = np.full(products.shape, nan)
    np.divide(products, np.sqrt(squares), out=found, where=squares > 0)
    return np.clip(found, -1.0, 1.0, out=found)


def _products(a: Floats, b: Floats, rows: Ints, columns: Ints) -> Floats:
    """Look pairs up in one matrix product of all that occur, or compute them one by one, whichever is less work."""
    if rows.shape[1:] == (1,) and columns.shape[:-1] == (1,):
        return np.asarray(a[rows[:, 0]] @ b[columns[0]].T)
    shape = np.broadcast_shapes(rows.shape, columns.shape)
    n_pairs = int(np.prod(shape))
    (those, row_at), (these, column_at) = distinct(rows, len(a)), distinct(columns, len(b))
    if len(those) * len(these) <= min(_TABLE_ADVANTAGE * n_pairs, MOST_CELLS):
        table = a[those] @ b[these].T
        return np.asarray(table[row_at, column_at])
    one, other = (np.broadcast_to(at, shape).ravel() for at in (rows, columns))
    found = np.empty(n_pairs)
    for start in range(0, n_pairs, _PAIRS):
        part = slice(start, start + _PAIRS)
        found[part] = dots(a[one[part]], b[other[part]])
    return found.reshape(shape)


def contexts(turns: Meanings, before: Ints) -> Meanings:
    """Return the sum of the meanings of the first so many turns, which points where their mean does.

    Parameters
    ----------
    turns : Meanings
        In order; of many dialogues at once, (n_turns, n_dialogues).
    before : int64 array (n,)
        How many of them, 0 to as many as there are; none have no meaning.

    Examples
    --------
    >>> one = Meanings.units(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> (contexts(one, np.array([0, 1, 2])).vectors / STEPS).tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    """
    return Meanings.of(_sums_so_far(turns.vectors)[before])


def in_context(turns: Meanings, others: Meanings, before: Ints) -> Floats:
    """Return the cosine of each turn with the mean of what another has said so far.

    Parameters
    ----------
    turns, others : Meanings
        In order, (n_turns, n_dialogues); one of the two may have several dialogues, the other then has 1.
    before : int64 array (n_turns,)
        How many of the other's turns come before each, never falling.

    Returns
    -------
    float64 array (n_turns, n_dialogues)
        -1 to 1; nan where either has no meaning.
    """
    if others.squares.shape[1] == 1:
        heard = contexts(others, before)
        return divided(dots(turns.vectors, heard.vectors), turns.squares * heard.squares)
    products, squares = np.empty((2, len(before), others.squares.shape[1]))
    total, said = np.zeros(others.vectors.shape[1:]), 0  # one sum that stays at hand is quicker than all of them
    for i, n in enumerate(before.tolist()):
        for vectors in others.vectors[said:n]:
            total += vectors
        said = n
        np.dot(total, turns.vectors[i, 0], out=products[i])
        np.vecdot(total, total, out=squares[i])
    return divided(products, turns.squares * squares)


def _sums_so_far(vectors: Floats) -> Floats:
    """Return the sums of the first 0, 1, ... of some vectors, (n, ...) to (n + 1, ...)."""
    sums = np.empty((len(vectors) + 1, *vectors.shape[1:]))
    sums[0] = 0.0
    for i, vector in enumerate(vectors):  # numpy's cumsum goes down one dimension after the other, and takes far longer
        np.add(sums[i], vector, out=sums[i + 1])
    return sums


def forward_flow(turns: Meanings) -> Floats:
    """Return how far each turn lies from all before it, on average.

    Parameters
    ----------
    turns : Meanings
        In order.

    Returns
    -------
    float64 array (n,)
        Mean of 1 - cosine, 0 to 2; nan for the first and for those without meaning, which also count for nothing
        in those after them.

    Examples
    --------
    The second is as the first (0); the third at a right angle to both (1); the fourth as the third (1, 1, 0).

    >>> said = Meanings.units(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    >>> forward_flow(said).round(3).tolist()
    [nan, 0.0, 1.0, 0.667]
    """
    so_far = _sums_so_far(turns.vectors)[:-1]
    has = turns.squares > 0
    n_before: Ints = np.cumsum(has) - has
    near = dots(turns.vectors, so_far) / (STEPS**2 * np.maximum(n_before, 1))
    return np.where(has & (n_before > 0), np.clip(1.0 - near, 0.0, 2.0), nan)


def flow_by_chance(turns: Meanings) -> tuple[float, float]:
    """Return mean and standard deviation of the mean `forward_flow` over all orders of the turns; exact, not drawn.

    Notes
    -----
    The mean forward flow is the sum of all distances, each weighed by the later of its two places. Sums of that form
    over all n! orders have known moments, for which the sum, the squares and the row sums of the distances are enough.

    References
    ----------
    Mantel, N. (1967). The detection of disease clustering and a generalized regression approach. Cancer Research, 27.
    """
    has = turns.squares > 0
    vectors, own = turns.vectors[has] / STEPS, turns.squares[has] / STEPS**2
    n = len(vectors)
    if n < FEWEST_PAIRS:
        return nan, nan
    rows = (n - 1.0) - (vectors @ vectors.sum(axis=0) - own)
    average = rows.sum() / (n * (n - 1))
    small = vectors.T @ vectors if n > vectors.shape[1] else vectors @ vectors.T
    # Distances less their average, so that little is lost when large sums are taken from one another
    off = (small**2).sum() - own @ own
    squares = off - 2 * (1 - average) * (n * (n - 1) - rows.sum()) + n * (n - 1) * (1 - average) ** 2
    variance = _variance(rows - (n - 1) * average, max(float(squares), 0.0))
    return float(average), float(np.sqrt(max(variance, 0.0)))


def _variance(rows: Floats, squares: float) -> float:
    """Return the variance over orders, from the row sums and the sum of squares of distances whose mean is 0."""
    n = len(rows)
    places = np.arange(1, n)
    later = np.append(np.cumsum((1.0 / places)[::-1])[::-1], 0.0)
    weights = (np.arange(n) > 0) + later
    scale = 2.0 * (n - 1)
    total, row_squares, square = 1.0, float((weights**2).sum()) / scale**2, 2.0 * float((1.0 / places).sum()) / scale**2
    own = float((rows**2).sum())
    pairs, triples = n * (n - 1), n * (n - 1) * (n - 2)
    return float(
        2 * square * squares / pairs
        + 4 * (row_squares - square) * (own - squares) / triples
        + (total + 2 * square - 4 * row_squares) * (2 * squares - 4 * own) / (triples * (n - 3))
    )


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
