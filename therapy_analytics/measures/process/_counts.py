"""Codes counted: which turns have one, and which came after which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures._turns import last_of, next_of

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CUES = "conversation.advice_cues"
SOLUTIONS = ("bolt_problem_solving", "bolt_planning")


def given(session: AnnotatedSession, codes: Sequence[str]) -> tuple[Floats, Bools]:
    """Return for each turn the largest probability of some codes (nan: not given), and whether it has any of them."""
    if not session.has(*codes):
        return np.full(len(session), np.nan), np.zeros(len(session), np.bool_)
    if len(codes) == 1:
        return session.probabilities[codes[0]], session.decided(codes[0])
    likely: Floats = np.max([session.probabilities[code] for code in codes], axis=0)
    return likely, np.any([session.decided(code) for code in codes], axis=0)


def advised(session: AnnotatedSession) -> tuple[Bools, Bools]:
    """Return which therapist turns give advice, and of which it is known; both bool (n_turns,).

    A turn advises if it brings in something of the therapist's own (``mi_input``) and either offers or plans a solution
    (``bolt_problem_solving``, ``bolt_planning``) or has an advice cue. Of ten definitions tried on recordings that the
    tagger had not seen, this one agrees best or nearly so with human coders, and no better than moderately
    (docs/validity.md); where the run's coder does not give ``mi_input``, the two codes of solutions stand alone.
    """
    likely, solves = given(session, SOLUTIONS)
    if session.has("mi_input"):
        brings, inputs = given(session, ("mi_input",))
        solves = inputs & (solves | (session.count(_CUES) > 0))
        likely = brings
    known = session.spoken_by("therapist") & ~np.isnan(likely) & (session.n_words > 0)
    return np.asarray(solves & known), np.asarray(known)


def replies(session: AnnotatedSession) -> tuple[Ints, Ints]:
    """Return the client turns that the therapist answers, and the answers: two arrays of places, one pair a reply.

    The answer is the therapist's next turn with words, unless the client speaks again before it (after somebody else).
    """
    return session.cached(_replies)


def _replies(session: AnnotatedSession) -> tuple[Ints, Ints]:
    client = np.flatnonzero(session.spoken_by("client") & (session.n_words > 0))
    answer = next_of(session, "therapist")[client]
    answered = answer >= 0
    client, answer = client[answered], answer[answered]
    last = last_of(session, "client")[answer] == client
    return client[last], answer[last]
