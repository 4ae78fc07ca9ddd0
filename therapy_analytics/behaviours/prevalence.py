"""How common a code is in a session, and what that says of each of its turns.

A model that learnt from sessions in which one turn in fifty has a code will find too few where four in five have it.
The share of the session is estimated from the model's own probabilities by the expectation-maximisation of Saerens,
Latinne & Decaestecker (2002, Neural Computation 14(1)), held back by the share in training, which counts as much as
`HELD` turns.
"""

from __future__ import annotations

from math import isnan, log

import numpy as np
from numpy.typing import NDArray

HELD = 6.0
"""How many turns the share in training counts for."""
STEPS = 8
_LOWEST, _HIGHEST = 1e-4, 0.98


def with_prevalence(scores: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return the log-odds of a code in the turns of a session, shifted by how common it seems there.

    Parameters
    ----------
    scores : float64 array (n_turns,)
        Log-odds by a model; nan for turns without any.
    share : float
        Share of turns that had the code in training; nan leaves the scores as they are.

    Returns
    -------
    float64 array (n_turns,)

    Examples
    --------
    >>> with_prevalence(np.array([-1.0, -1.0, -1.0, -1.0]), 0.05).round(2)
    array([1.3, 1.3, 1.3, 1.3])
    >>> with_prevalence(np.array([-1.0, -6.0, -6.0, -6.0]), 0.05).round(2)
    array([-0.76, -5.76, -5.76, -5.76])
    """
    known = scores[~np.isnan(scores)]
    if isnan(share) or not len(known):
        return scores
    before = log(share / (1 - share))
    now, shift = share, 0.0
    for _ in range(STEPS):
        shift = log(now / (1 - now)) - before
        likely = 1.0 / (1.0 + np.exp(-(known + shift)))
        now = float(np.clip((likely.sum() + HELD * share) / (len(known) + HELD), _LOWEST, _HIGHEST))
    return scores + shift
