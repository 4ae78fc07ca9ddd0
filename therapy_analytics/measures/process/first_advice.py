"""Advice before exploration: what went before the first advice, where it came, and whether it was invited."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np

from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._codes import NOT_GIVEN, PREDICTED, Bools, given, spoken
from therapy_analytics.measures.base import OnPage, Shown, Value
from therapy_analytics.text import AnnotatedSession

_SOURCE = "This package's own; construct: Miller & Rollnick (2013), Motivational interviewing, 3rd ed."
_MISLEADS = (
    f"{PREDICTED}; {NOT_GIVEN}. One turn taken for advice early on moves much. Advice can be right at once: in an "
    "emergency, or because the client asks for it"
)
_EXPLORES = ("mi_question", "mi_reflection")
_GIVEN = Column(
    name="advice_given",
    meaning="Whether the therapist gives advice at all (0 or 1); without it the columns about the first are empty",
    unit="0 or 1",
    low=0,
    high=1,
    high_means="1: at least one turn with advice",
    formula="1 if a therapist turn has process_advice",
    misleads=_MISLEADS,
    source=_SOURCE,
)
_CLIENT_TURNS = replace(
    _GIVEN,
    name="client_turns_before_advice",
    meaning="Client turns before the therapist's first advice",
    unit="turns",
    high=inf,
    high_means="the client speaks more often before advice comes",
    formula="client turns with words before the first turn with process_advice; empty without advice",
    misleads=f"{_MISLEADS}. Longer sessions can have more before it",
)
_EXPLORED = replace(
    _CLIENT_TURNS,
    name="exploration_before_advice",
    meaning="Therapist turns that ask or reflect before the first advice",
    high_means="more exploring before advice comes",
    formula="therapist turns with mi_question or mi_reflection before the first turn with process_advice; empty "
    "without advice",
)
_PLACE = replace(
    _GIVEN,
    name="first_advice_place",
    meaning="Where in the session the first advice comes: 0 at its beginning, towards 1 at its end",
    unit="proportion",
    high_means="advice comes later",
    formula="turns before the first turn with process_advice / turns of the session; empty without advice",
    misleads=f"{_MISLEADS}. In short sessions late advice can still be premature",
)
_INVITED = replace(
    _GIVEN,
    name="first_advice_invited",
    meaning="Whether the client asked for the first advice or agreed to hear it (0 or 1)",
    high_means="1: the first advice was invited",
    formula="1 if the first turn with process_advice has process_advice_invited; empty without advice",
)
_UNASKED = replace(
    _GIVEN,
    name="unasked_advice_rate",
    meaning="Share of therapist turns with advice that the client neither asked for nor agreed to hear",
    unit="proportion",
    high_means="more unasked advice",
    formula="therapist turns with process_advice and not process_advice_invited / therapist turns that were coded",
)
_PAGE: dict[str, Shown] = {
    "client_turns_before_advice": OnPage("course", "Client turns before the first advice"),
    "first_advice_place": OnPage("course", "Where the first advice comes (0 start, 1 end)"),
    "unasked_advice_rate": OnPage("therapist", "Advises unasked"),
}


@measure(
    columns=[
        _GIVEN, _CLIENT_TURNS, _EXPLORED, _PLACE, _INVITED, *rate_columns(_UNASKED, counted="Turns with such advice")
    ],
    core=9,
    page=_PAGE,
)  # fmt: skip
def first_advice(session: AnnotatedSession) -> dict[str, Value]:
    """Look at what comes before the first advice: the client's turns, exploration, an invitation.

    Few turns before the first advice, and much advice unasked, mean that solutions come ahead of understanding.

    Notes
    -----
    Where no advice is found, what comes before it is undefined, not 0; ``advice_given`` says so. Sessions are compared
    best by ``unasked_advice_rate``, which all have.

    References
    ----------
    Miller, W. R., & Rollnick, S. (2013). Motivational interviewing (3rd ed.). Guilford.
    """
    likely, advice = given(session, ("process_advice",))
    likely_invited, invited = given(session, ("process_advice_invited",))
    known = spoken(session, "therapist") & ~np.isnan(likely)
    advice &= known
    values: dict[str, Value] = {_GIVEN.name: float(advice.any()) if known.any() else nan}
    values |= rate(_UNASKED.name, advice & ~invited, known & ~np.isnan(likely_invited))
    return values | _before_the_first(session, advice, np.where(np.isnan(likely_invited), nan, invited))


def _before_the_first(session: AnnotatedSession, advice: Bools, invited: np.ndarray) -> dict[str, Value]:
    names = (_CLIENT_TURNS.name, _EXPLORED.name, _PLACE.name, _INVITED.name)
    if not advice.any():
        return dict.fromkeys(names, nan)
    first, client = int(np.argmax(advice)), spoken(session, "client")
    likely, explores = given(session, _EXPLORES)
    found = (
        float(np.count_nonzero(client[:first])) if client.any() else nan,
        nan if np.isnan(likely[first]) else float(np.count_nonzero(explores[:first])),
        first / len(session),
        float(invited[first]),
    )
    return dict(zip(names, found, strict=True))
