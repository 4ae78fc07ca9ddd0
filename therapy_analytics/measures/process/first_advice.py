"""Advice before exploration: what went before the first advice, where it came, and whether it was invited."""

from __future__ import annotations

from math import nan

import numpy as np

from therapy_analytics.measures import columns_of, measure, rate
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.turns import given, spoken
from therapy_analytics.text import AnnotatedSession

_OF_THE_FIRST = (
    "client_turns_before_advice",
    "exploration_before_advice",
    "first_advice_place",
    "first_advice_invited",
)


@measure(columns=lambda *_: columns_of(__file__), core=9)
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
    values: dict[str, Value] = {"advice_given": float(advice.any()) if known.any() else nan}
    values |= rate("unasked_advice_rate", advice & ~invited, known & ~np.isnan(likely_invited))
    if not advice.any():
        return values | dict.fromkeys(_OF_THE_FIRST, nan)
    first, client = int(np.argmax(advice)), spoken(session, "client")
    could_explore, explores = given(session, ("mi_question", "mi_reflection"))
    of_the_first = (
        float(np.count_nonzero(client[:first])) if client.any() else nan,
        nan if np.isnan(could_explore[first]) else float(np.count_nonzero(explores[:first])),
        first / len(session),
        nan if np.isnan(likely_invited[first]) else float(invited[first]),
    )
    return values | dict(zip(_OF_THE_FIRST, of_the_first, strict=True))
