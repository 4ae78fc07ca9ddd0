"""Arrays of whole numbers: many stretches at once, what occurs, and order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def consecutive(begin: NDArray[np.integer], length: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return the places of many stretches, stretch after stretch, and for each the number of its stretch.

    Parameters
    ----------
    begin, length : int array (n_stretches,)
        The first place of each, and how many it has.

    Examples
    --------
    >>> [found.tolist() for found in consecutive(np.array([3, 0, 7]), np.array([2, 0, 1]))]
    [[3, 4, 7], [0, 0, 2]]
    """
    which = np.repeat(np.arange(len(begin)), length)
    before = np.cumsum(length) - length
    places: Ints = (begin - before).take(which)
    places += np.arange(len(which))
    return places, which


def occurring(keys: Ints) -> Ints:
    """Return what occurs among numbers, once and in order: `numpy.unique`, faster for what is nearly in order.

    Examples
    --------
    >>> occurring(np.array([1, 0, 1, 2, 2])).tolist()
    [0, 1, 2]
    """
    keys = np.sort(keys, kind="stable")
    found: Ints = keys[differs(keys)]
    return found


def distinct(numbers: NDArray[np.integer], n: int) -> tuple[Ints, Ints]:
    """Return the different ones of numbers from 0 to below `n`, in order, and for each given one its place among them.

    Examples
    --------
    >>> [found.tolist() for found in distinct(np.array([7, 2, 7]), 9)]
    [[2, 7], [1, 0, 1]]
    """
    seen, place = np.zeros(n, dtype=np.bool_), np.empty(n, dtype=np.int64)
    seen[numbers] = True
    those = np.flatnonzero(seen)
    place[those] = np.arange(len(those))
    return those, place.take(numbers)


def numbered(values: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return numbers from 0, in the order of the values, that are alike where these are; and where each first occurs.

    Examples
    --------
    >>> [found.tolist() for found in numbered(np.array([7, 2, 7]))]
    [[1, 0, 1], [1, 0]]
    """
    order = rising(values)
    begins = differs(values[order])
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.cumsum(begins) - 1
    return found, order[begins]


def rising(*numbers: NDArray[np.integer]) -> Ints:
    """Return the order in which numbers rise: by the first, and where these are alike by the next.

    Examples
    --------
    >>> rising(np.array([1, 0, 1]), np.array([70_000, 5, -2])).tolist()
    [1, 2, 0]
    """
    follows = np.arange(len(numbers[0]))
    for one in reversed(numbers):
        for digit in _digits(one.astype(np.int64, copy=False)):
            follows = follows[np.argsort(digit[follows], kind="stable")]
    return follows


def _digits(numbers: Ints) -> Iterator[NDArray[np.uint16]]:
    """Yield numbers 16 bits at a time, the lowest first: so short, they are put in order by counting."""
    least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for low in range(0, max(1, (most - least).bit_length()), 16):
        yield ((numbers - least) >> low).astype(np.uint16)


def differs(keys: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which keys are not the one before."""
    differs = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=differs[1:])
    return differs
