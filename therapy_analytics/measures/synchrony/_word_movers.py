"""Exact word mover's distances between the turns of a session, or of many sessions at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import cores
from therapy_analytics.measures.synchrony._transport import NO_CELL, Problems, least_costs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEPS = 1 << 28
"""Steps in which the largest possible distance is counted: rounding moves a result by 4e-9 at most."""
_PART, _BATCH_CELLS = 12_000, 1_600_000
_LIKE = ((300_000, 1.33), (3_000, 1.5), (0, 2.0))
"""From so many pairs on, problems share lanes if their sides differ by less than this factor."""


def word_movers(bags: Sequence[Ints], vectors: NDArray[np.floating], *, threads: int | None = None) -> Floats:
    """Return the word mover's distance between every two bags of words.

    Parameters
    ----------
    bags : sequence of int array
        The words of each turn, as rows of `vectors`; a word said twice stands twice.
    vectors : array (n_words, n_dimensions)
        Word vectors; they are brought to unit length.
    threads : int, optional
        How many work at once; one a core if not given.

    Returns
    -------
    float64 array (n_bags, n_bags)
        Symmetric, 0 to 2; 0 between bags of the same proportions, nan where a bag is empty.
        A value does not depend on the other bags.

    Notes
    -----
    Exact but for word distances counted in steps of 7.5e-9.

    References
    ----------
    Kusner, M. J., Sun, Y., Kolkin, N. I., & Weinberger, K. Q. (2015). From word embeddings to
    document distances. ICML.

    Examples
    --------
    One word against two halves, at distance 0 and at a right angle (the square root of 2):

    >>> word_movers([np.array([0]), np.array([0, 1])], np.eye(2)).round(4)
    array([[0.    , 0.7071],
           [0.7071, 0.    ]])
    """
    return word_movers_of_many([bags], vectors, threads=threads)[0]


def word_movers_of_many(
    sessions: Sequence[Sequence[Ints]], vectors: NDArray[np.floating], *, threads: int | None = None
) -> list[Floats]:
    """Return `word_movers` of each of several sessions; faster than one after the other."""
    documents = _documents(sessions, np.asarray(vectors))
    first, second = pairs = _pairs(documents)
    parts = list(_parts(documents.length[first], documents.length[second]))
    with ThreadPoolExecutor(threads or cores.threads()) as pool:
        found = pool.map(lambda part: _distances(documents, first[part], second[part]), parts)
        distance = np.empty(len(first))
        for part, values in zip(parts, found, strict=True):
            distance[part] = values
    return _spread(documents, pairs, distance)


@dataclass(frozen=True, slots=True)
class _Documents:
    """The different bags of words of all sessions; a column each.

    `words` (longest, n) are places in the session's own table of word distances, whose last place
    stands for no word; `counts` say how often. `tables` are all tables one after the other; that of
    a document starts at `begin` and is `width` wide. `which` tells for each bag of each session
    which document it is (-1: empty), `owner` for each document of which session it is.
    """

    words: Ints
    counts: Ints
    length: Ints
    total: Ints
    begin: Ints
    width: Ints
    tables: Ints
    owner: Ints
    which: tuple[Ints, ...]


def _documents(sessions: Sequence[Sequence[Ints]], vectors: NDArray[np.floating]) -> _Documents:
    """Find and number the different bags of words, session by session."""
    known: dict[tuple[int, bytes, bytes], tuple[int, Ints, Ints]] = {}
    which, tables = [], []
    for owner, bags in enumerate(sessions):
        vocabulary = np.unique(np.concatenate([np.zeros(0, np.int64), *bags])).astype(np.int64)
        tables.append(_word_distances(vectors[vocabulary]))
        which.append(np.array([_number(bag, vocabulary, owner, known) for bag in bags], dtype=np.int64))
    owner_of = np.array([key[0] for key in known], dtype=np.int64)
    width = np.array([len(table) for table in tables], dtype=np.int64)
    length = np.array([len(own) for _, own, _ in known.values()], dtype=np.int64)
    shape = (max(length, default=0), len(known))
    words, counts = np.tile(width[owner_of] - 1, (shape[0], 1)), np.zeros(shape, dtype=np.int64)
    for column, own, times in known.values():
        words[: len(own), column], counts[: len(own), column] = own, times
    return _Documents(
        words=words,
        counts=counts,
        length=length,
        total=counts.sum(axis=0),
        begin=(np.cumsum(width**2) - width**2)[owner_of],
        width=width[owner_of],
        tables=np.concatenate([np.zeros(0, np.int64), *(table.ravel() for table in tables)]),
        owner=owner_of,
        which=tuple(which),
    )


def _number(
    bag: Ints, vocabulary: Ints, owner: int, known: dict[tuple[int, bytes, bytes], tuple[int, Ints, Ints]]
) -> int:
    """Return the number of a bag among the documents, a new one if its proportions are new; -1 if empty."""
    if not len(bag):
        return -1
    words, counts = np.unique(np.searchsorted(vocabulary, bag), return_counts=True)
    counts //= np.gcd.reduce(counts)
    key = (owner, words.tobytes(), counts.tobytes())
    number, _, _ = known.setdefault(key, (len(known), words, counts))
    return number


def _word_distances(vectors: NDArray[np.floating]) -> Ints:
    """Return distances between unit vectors in whole steps, with a last row and column for no word."""
    table = np.full((len(vectors) + 1, len(vectors) + 1), NO_CELL, dtype=np.int64)
    wide = vectors.astype(np.float64)
    wide /= np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    squares = (wide**2).sum(axis=1)
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * wide @ wide.T, 0.0))
    np.fill_diagonal(apart, 0.0)
    table[:-1, :-1] = np.rint(apart * (_STEPS / 2))
    return table


def _pairs(documents: _Documents) -> tuple[Ints, Ints]:
    """Return every two documents of a session, the one with fewer words first."""
    sizes = np.bincount(documents.owner)
    starts = np.cumsum(sizes) - sizes
    both = [np.array(np.tril_indices(size, -1)) + start for size, start in zip(sizes, starts, strict=True)]
    one, other = np.concatenate([np.zeros((2, 0), np.int64), *both], axis=1)
    swap = documents.length[one] > documents.length[other]
    return np.where(swap, other, one), np.where(swap, one, other)


def _spread(documents: _Documents, pairs: tuple[Ints, Ints], distance: Floats) -> list[Floats]:
    """Return a matrix of bags by bags for each session."""
    sizes = np.bincount(documents.owner, minlength=len(documents.which))
    results, start, place = [], 0, 0
    for which, size in zip(documents.which, sizes, strict=True):
        end = place + size * (size - 1) // 2
        matrix = np.full((size + 1, size + 1), nan)  # the last row and column: empty bags
        matrix[:size, :size] = 0.0
        one, other = pairs[0][place:end] - start, pairs[1][place:end] - start
        matrix[one, other] = matrix[other, one] = distance[place:end]
        own = np.where(which < 0, size, which - start)
        results.append(matrix[np.ix_(own, own)])
        start, place = start + size, end
    return results


def _parts(rows: Ints, columns: Ints) -> Iterator[Ints]:
    """Yield sets of problems of like shape, the largest first.

    Fewer problems are sorted into coarser shapes: their cost is then in the number of steps, not of cells.
    """
    ratio = next(ratio for least, ratio in _LIKE if len(rows) >= least)
    shape = np.ceil(np.log(np.stack([rows, columns])) / np.log(ratio)).astype(np.int64)
    key = shape[0] * 1000 + shape[1]
    order = np.argsort(-key, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
        if len(group):
            yield from np.split(group, np.arange(_PART, len(group), _PART))


def _distances(documents: _Documents, first: Ints, second: Ints) -> Floats:
    """Return the distance of each first document to its second."""
    m, n = int(documents.length[first].max()), int(documents.length[second].max())
    size = int(np.clip(_BATCH_CELLS // (m * n), 256, 1536))
    parts = np.split(np.arange(len(first)), np.arange(size, len(first), size))
    moved = least_costs(_problems(documents, first[part], second[part], (m, n)) for part in parts)
    return np.asarray(moved / (documents.total[first] * documents.total[second]) / (_STEPS / 2))


def _problems(documents: _Documents, first: Ints, second: Ints, shape: tuple[int, int]) -> Problems:
    """Return the transport problems, masses as counts times the other's number of words."""
    rows, columns = documents.words[: shape[0], first], documents.words[: shape[1], second]
    at = rows * documents.width[first] + documents.begin[first]
    return Problems(
        cost=documents.tables.take(at[:, None] + columns),
        supply=documents.counts[: shape[0], first] * documents.total[second],
        demand=documents.counts[: shape[1], second] * documents.total[first],
    )
