"""Which categories turns have, as bits of a number, and counts of them over many pairs of turns at once."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.measures.synchrony._chance import Floats, Ints
from therapy_analytics.measures.synchrony._sums import Stretches

_BITS = 63
"""Of a number, without its sign."""


def codes_of(marks: NDArray[np.generic]) -> Ints:
    """Return marks as the bits of numbers, the first the lowest: (n, n_marks) to (n,).

    Examples
    --------
    >>> codes_of(np.array([[1, 0, 1], [0, 0, 0]])).tolist()
    [5, 0]
    """
    powers = (1 << np.arange(marks.shape[1])).astype(np.float64)
    return np.asarray(((marks != 0) @ powers).astype(np.int64))


@functools.lru_cache(maxsize=8)
def bits_of(n_marks: int) -> Floats:
    """Return the marks of each code, 0 or 1, (2 ** n_marks, n_marks)."""
    return ((np.arange(1 << n_marks)[:, None] >> np.arange(n_marks)) & 1).astype(np.float64)


def counted(codes: Ints, n_marks: int, stretches: Stretches) -> Ints:
    """Count marks over stretches of pairs.

    Several counts are held in one number, each in as many bits as none can exceed, and added at once.

    Parameters
    ----------
    codes : int64 array (n_pairs, n_draws)
        As `codes_of` gives them.
    n_marks : int
        How many marks there are.
    stretches : Stretches
        Of these pairs.

    Returns
    -------
    int64 array (n_stretches, n_marks, n_draws)

    Examples
    --------
    >>> all_of_two = Stretches.of(np.array([[0], [2]]), np.array([0]), 2)
    >>> counted(np.array([[5], [1]]), 3, all_of_two).tolist()
    [[[2], [0], [1]]]
    """
    width = int(stretches.lengths.max(initial=1)).bit_length()
    at = width * np.arange(min(_BITS // width, n_marks))[:, None]
    found = [stretches.counts(packed.take(codes))[:, None] >> at for packed in _packed(n_marks, width)]
    every = found[0] if len(found) == 1 else np.concatenate(found, axis=1)[:, :n_marks]
    every &= (1 << width) - 1
    return every


@functools.lru_cache(maxsize=32)
def _packed(n_marks: int, width: int) -> list[Ints]:
    """Return the marks of each code, in so many bits each, spread over as many arrays (2 ** n_marks,) as it takes."""
    bits, each = bits_of(n_marks).astype(np.int64), _BITS // width
    some = (bits[:, start : start + each] for start in range(0, n_marks, each))
    return [one @ (1 << width * np.arange(one.shape[1])) for one in some]
