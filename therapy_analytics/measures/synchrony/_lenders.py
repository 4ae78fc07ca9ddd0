"""Turns that donors lend in the place of a session's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language.annotate import Company

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_STEPS = 1_000_000
"""Costs are whole numbers of so many parts, so that ties are ties on every machine."""


def turns_like(wanted: Ints, company: Company, role: int, others: Ints) -> Ints:
    """Return turns of donors like a session's own in length and place, (n_others, n_turns), in `Company.whole`.

    Sessions open and close alike: two speakers would seem to go along with each other for that alone if the turns of
    donors came from anywhere. Of all ways to give each turn one of a donor's, the one is taken in which the turns
    differ least, on the sum of two differences: that of the logarithms of (words + 1), and that of the places, as
    shares of all turns of the role. A turn from the other end of the session so costs as much as one 2.7 times as long.
    Of one donor no turn is taken twice, unless the donor has fewer: a dialogue in which the same turns recur would be
    less rich than any real one. There is nothing random in it.

    Parameters
    ----------
    wanted : int64 array (n_turns,)
        The words of the session's turns of one role.
    company : Company
        The donors.
    role : int
        Whose turns they lend, `THERAPIST` or `CLIENT`.
    others : int64 array (n_others,)
        Which of them lend.

    References
    ----------
    Crouse, D. F. (2016). On implementing 2D rectangular assignment algorithms. IEEE Transactions on Aerospace and
    Electronic Systems, 52(4), 1679-1696.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 (slow to import)

    found = np.empty((len(others), len(wanted)), dtype=np.int64)
    for at, other in enumerate(others.tolist()):
        turns = company.spoken[other, role]
        cost = _apart(np.log1p(wanted), np.log1p(company.whole.n_words[turns]))
        cost += _apart(_places(len(wanted)), _places(len(turns)))
        # Whoever has too few turns is asked several times, each time for turns from all over the session.
        times = -(-len(wanted) // len(turns))
        for time in range(times):
            found[at, time::times] = turns[linear_sum_assignment(cost[time::times])[1]]
    return found


def _places(n: int) -> Floats:
    return (np.arange(n) + 0.5) / n


def _apart(own: Floats, lent: Floats) -> Floats:
    apart: Floats = np.rint(np.abs(own[:, None] - lent) * _STEPS)
    return apart
