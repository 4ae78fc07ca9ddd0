"""Counts of codes: which turns have one, which came after which, and what follows from counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures._intervals import Z95
from therapy_analytics.measures._turns import last_of, next_of

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CUES = "conversation.advice_cues"
_SOLUTIONS = ("bolt_problem_solving", "bolt_planning")


def given(session: AnnotatedSession, codes: Sequence[str]) -> tuple[Floats, Bools]:
    """Return for each turn the largest probability of some codes (nan: not given), and whether it has any of them."""
    if not session.has(*codes):
        return np.full(len(session), np.nan), np.zeros(len(session), np.bool_)
    likely: Floats = np.max([session.probabilities[code] for code in codes], axis=0)
    return likely, np.any([session.decided(code) for code in codes], axis=0)


def advised(session: AnnotatedSession) -> tuple[Bools, Bools]:
    """Return which therapist turns give advice, and of which it is known; both bool (n_turns,).

    A turn advises if it brings in something of the therapist's own (``mi_input``) and either offers or plans a solution
    (``bolt_problem_solving``, ``bolt_planning``) or has an advice cue. Of ten definitions tried on recordings that the
    tagger had not seen, this one agrees best or nearly so with human coders, and no better than moderately
    (docs/validity.md); where the run's coder does not give ``mi_input``, the two codes of solutions stand alone.
    """
    likely, solves = given(session, _SOLUTIONS)
    if session.has("mi_input"):
        brings, inputs = given(session, ("mi_input",))
        solves = inputs & (solves | (session.count(_CUES) > 0))
        likely = brings
    known = session.of("therapist") & ~np.isnan(likely) & (session.n_words > 0)
    return np.asarray(solves & known), np.asarray(known)


def replies(session: AnnotatedSession) -> tuple[Ints, Ints]:
    """Return the client turns that the therapist answers, and the answers: two arrays of places, one pair a reply.

    The answer is the therapist's next turn with words, unless the client speaks again before it (after somebody else).
    """
    client = np.flatnonzero(session.of("client") & (session.n_words > 0))
    answer = next_of(session, "therapist")[client]
    answered = answer >= 0
    client, answer = client[answered], answer[answered]
    last = last_of(session, "client")[answer] == client
    return client[last], answer[last]


def wilsons(k: Floats, n: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the rates ``k / n`` with their 95% Wilson score intervals, for arrays; nan where n is 0.

    Examples
    --------
    >>> [round(float(value[0]), 3) for value in wilsons(np.array([5.0]), np.array([10.0]))]
    [0.5, 0.237, 0.763]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(n > 0, k / n, np.nan)
        spread = Z95 * np.sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
        centre, scale = share + Z95**2 / (2 * n), 1 + Z95**2 / n
        low = np.where(k > 0, (centre - spread) / scale, np.where(n > 0, 0.0, np.nan))
        high = np.where(k < n, (centre + spread) / scale, np.where(n > 0, 1.0, np.nan))
    return share, low, high


def odds_ratios(k: Floats, n: Floats, k_other: Floats, n_other: Floats) -> tuple[Floats, Floats, Floats]:
    """Return odds ratios of ``k`` of ``n`` against ``k_other`` of ``n_other``, with their 95% intervals, for arrays.

    Half a case is added to each of the four cells. Nan where a row or a column of the table is empty: then nothing was
    compared.

    Examples
    --------
    >>> [round(float(value[0]), 2) for value in odds_ratios(*(np.array([x]) for x in (3.0, 4.0, 1.0, 8.0)))]
    [11.67, 0.87, 156.22]

    References
    ----------
    Haldane, J. B. S. (1956). Annals of Human Genetics, 20, 309-311. Anscombe, F. J. (1956). Biometrika, 43, 461-464.
    """
    total = k + k_other
    told = (n > 0) & (n_other > 0) & (total > 0) & (total < n + n_other)
    cells = np.stack([k, n - k, k_other, n_other - k_other]) + 0.5
    log = np.where(told, np.log(cells[0] * cells[3] / (cells[1] * cells[2])), np.nan)
    error = Z95 * np.sqrt((1 / cells).sum(axis=0))
    return np.exp(log), np.exp(log - error), np.exp(log + error)
