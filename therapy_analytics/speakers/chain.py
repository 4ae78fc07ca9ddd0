"""Utterances without speakers as a chain of two states, therapist and client (Rabiner, 1989).

How often the speaker changes between two utterances is not assumed: where a recogniser cut turns into sentences, it is
seldom; where each row is a turn, it is always. The chain is run for several rates, and each counts by how well it
explains the session.

References
----------
Rabiner, L. R. (1989). A tutorial on hidden Markov models. Proceedings of the IEEE, 77, 257-286. doi:10.1109/5.18626
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RATES = (0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 0.997)
"""Rates of change that are tried."""


def therapist_probabilities(voice: Floats, change: Floats) -> Floats:
    """Return the probability of each utterance to be the therapist's, (n,).

    Parameters
    ----------
    voice : float64 array (n,)
        The log-odds of each utterance, by itself, to be the therapist's.
    change : float64 array (n - 1,)
        Log-odds of a change of speaker behind each utterance, beside the session's rate of change.

    Examples
    --------
    Two clear utterances tell whose the short one between them is:

    >>> therapist_probabilities(np.array([4.0, 0.0, 4.0]), np.array([1.0, 1.0])).round(1).tolist()
    [1.0, 0.1, 1.0]
    """
    if not len(voice):
        return np.zeros(0)
    rates = np.array(RATES)
    log_odds = change[:, None] + np.log(rates / (1.0 - rates))
    changes, stays = -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)
    spoken = np.stack([-voice / 2, voice / 2])[:, :, None]
    forward = np.zeros((len(voice), 2, len(rates)))
    backward = np.zeros_like(forward)
    forward[0] = spoken[:, 0]
    for at in range(1, len(voice)):
        forward[at] = _step(forward[at - 1], stays[at - 1], changes[at - 1]) + spoken[:, at]
    for at in range(len(voice) - 2, -1, -1):
        backward[at] = _step(backward[at + 1] + spoken[:, at + 1], stays[at], changes[at])
    both = forward + backward
    likelihood = np.logaddexp(forward[-1, 0], forward[-1, 1])
    weights = np.exp(likelihood - likelihood.max())
    therapist = np.exp(-np.logaddexp(0.0, both[:, 0] - both[:, 1]))
    return np.asarray(therapist @ (weights / weights.sum()))


def _step(states: Floats, stays: Floats, changes: Floats) -> Floats:
    """Go on by one utterance: (2, n_rates), with the log-probabilities that the speaker stays or changes (n_rates,)."""
    return np.logaddexp(states + stays, states[::-1] + changes)
