"""Arrays of whole numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def consecutive(begin: NDArray[np.integer], length: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return the positions that several ranges cover, range after range.

    Parameters
    ----------
    begin, length : int array (n_ranges,)
        First position and length of each range.

    Returns
    -------
    positions, which : int64 array (length.sum(),)
        Each position, and the number of its range.

    Examples
    --------
    >>> [found.tolist() for found in consecutive(np.array([3, 0, 7]), np.array([2, 0, 1]))]
    [[3, 4, 7], [0, 0, 2]]
    """
    which = np.repeat(np.arange(len(begin)), length)
    before = np.cumsum(length) - length
    return (begin - before)[which] + np.arange(len(which)), which
