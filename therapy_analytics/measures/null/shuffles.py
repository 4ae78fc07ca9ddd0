"""Shuffles: what a value would be if each speaker said the same turns in another order.

A shuffle keeps who says what and how much, and breaks only what stands beside what. Orders come from a generator that
depends on the run's seed and the session's words (`AnnotatedSession.generator`), so they are the same in every run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

DRAWS = 200
"""Shuffles that a value is set beside."""
FEWEST_PAIRS = 4
"""With fewer pairs of turns there is no null distribution."""


def permutations(turns: Ints, generator: np.random.Generator, draws: int = DRAWS) -> Ints:
    """Return turns in random orders.

    Parameters
    ----------
    turns : int64 array (n,)
        Anything to be put in another order.
    generator : numpy.random.Generator
        Where the orders come from.
    draws : int
        How many orders.

    Returns
    -------
    int64 array (draws, n)
        Each row has the same numbers as `turns`.

    Examples
    --------
    >>> orders = permutations(np.array([3, 5, 8]), np.random.default_rng(0), draws=2)
    >>> orders.shape, np.sort(orders).tolist()
    ((2, 3), [[3, 5, 8], [3, 5, 8]])
    """
    return generator.permuted(np.tile(turns, (draws, 1)), axis=1)
