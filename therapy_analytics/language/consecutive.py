"""Many stretches of an array at once, and what occurs in one that is nearly in order."""

from __future__ import annotations

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
    found: Ints = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return found
