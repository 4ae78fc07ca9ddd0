"""Advice that comes before exploration: what went before the first of it, and whether leave was asked."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Value
from therapy_analytics.measures._turns import last_of
from therapy_analytics.measures.process._counts import Bools, advised

_SOURCE = "This package's own; construct: Miller & Rollnick (2013), Motivational interviewing, 3rd ed."
_DEFINITION = "mi_input with bolt_problem_solving, bolt_planning or an advice cue"
_MISLEADS = (
    "Advice is predicted, and coders hardly agree on what is advice; one turn taken for it early on moves much. "
    "Advice can be right at once: in an emergency, or because the client asks for it"
)
_EXPLORES = ("mi_question", "mi_reflection")
_OPENING = 25
"""Words at the beginning of a turn in which asking permission precedes the advice of the same turn."""
_LEAVE = "a phrase of [phrases.permission] of lexicons/alliance.toml"
_PLAIN = Column(
    name="advice_given",
    meaning="Whether the therapist gives advice at all (0 or 1); without it the columns about the first are empty",
    unit="0 or 1",
    low=0,
    high=1,
    high_means="1: at least one turn with advice",
    formula=f"1 if a therapist turn has {_DEFINITION}",
    misleads=_MISLEADS,
    source=_SOURCE,
    evidence="weak",
)
_FIRST = {
    "client_turns_before_advice": (
        "Client turns before the therapist's first advice",
        "the client speaks more often before advice comes",
        "client turns with words before the first turn with advice; empty without advice",
    ),
    "exploration_before_advice": (
        "Therapist turns that ask or reflect before the first advice",
        "more exploring before advice comes",
        "therapist turns with mi_question or mi_reflection before the first turn with advice; empty without advice",
    ),
}
_PLACE = replace(
    _PLAIN,
    name="first_advice_place",
    meaning="Where in the session the first advice comes: 0 at its beginning, towards 1 at its end",
    unit="proportion",
    high_means="advice comes later",
    formula="turns before the first turn with advice / turns of the session; empty without advice",
    misleads=f"{_MISLEADS}. In short sessions late advice can still be premature: it did not differ by quality",
)
_RATES = {
    "advice_before_reflection_rate": (
        "Share of advice that comes before the therapist has reflected anything",
        "Advice before any reflection",
        "more advice ahead of understanding",
        "turns with advice before the first turn with mi_reflection, none in the turn itself / turns with advice",
    ),
    "advice_with_permission_rate": (
        "Share of advice with permission asked for it",
        "Advice with permission asked",
        "more advice after asking",
        f"advice after {_LEAVE} in the therapist's turn before or its own first {_OPENING} words / turns with advice",
    ),
    "unasked_advice_rate": (
        "Share of therapist turns with advice for which no leave was asked",
        "Therapist turns with advice, no permission asked",
        "more unasked advice",
        "turns with advice and without permission asked (see advice_with_permission_rate) / therapist turns with words",
    ),
}
_KIND = replace(
    _PLAIN,
    name="advice_turn_kind",
    meaning="Kind of advice in the therapist's turn: 0 none, 1 with permission asked, 2 with permission asked but "
    "before any reflection, 3 no permission asked, 4 no permission asked and before any reflection",
    unit="code, 0 to 4",
    high=4,
    high_means="4: advice that looks most premature",
    formula=f"advice is {_DEFINITION}; empty for turns of others",
    level="turn",
)


def _count_column(name: str) -> Column:
    meaning, direction, formula = _FIRST[name]
    plain = replace(_PLAIN, name=name, meaning=meaning, high_means=direction, formula=formula)
    return replace(plain, unit="turns", high=inf, misleads=f"{_MISLEADS}. Longer sessions can have more before it")


def _rate_columns(name: str) -> list[Column]:
    meaning, counted, direction, formula = _RATES[name]
    main = replace(_PLAIN, name=name, meaning=meaning, unit="proportion", high_means=direction, formula=formula)
    return rate_columns(replace(main, evidence="supported" if name.startswith("unasked") else "weak"), counted=counted)


@measure(
    columns=[
        _PLAIN,
        *map(_count_column, _FIRST),
        _PLACE,
        *(column for name in _RATES for column in _rate_columns(name)),
        _KIND,
    ]
)
def premature_advice(session: AnnotatedSession) -> dict[str, Value]:
    """Look at what comes before advice: the client's turns, exploration, a reflection, asking permission.

    Few turns before the first advice, and much advice unasked or before any reflection, mean that solutions come ahead
    of understanding.

    Notes
    -----
    Where no advice is found, what comes before it is undefined, not 0; ``advice_given`` says so. Sessions are compared
    best by ``unasked_advice_rate``, which all have.

    References
    ----------
    Miller, W. R., & Rollnick, S. (2013). Motivational interviewing (3rd ed.). Guilford.
    """
    advice, known = advised(session)
    asked, early = advice & _permission_asked(session), advice & _before_reflecting(session)
    kinds = np.where(advice, 1.0 + early + 2.0 * ~asked, 0.0)
    values: dict[str, Value] = {
        _PLAIN.name: float(advice.any()) if known.any() else nan,
        _KIND.name: np.where(known, kinds, nan),
        **_before_the_first(session, advice),
    }
    values |= rate("advice_before_reflection_rate", early, advice & _knows(session, "mi_reflection"))
    values |= rate("advice_with_permission_rate", asked, advice)
    return values | rate("unasked_advice_rate", advice & ~asked, known)


def _before_the_first(session: AnnotatedSession, advice: Bools) -> dict[str, Value]:
    names = (*_FIRST, _PLACE.name)
    if not advice.any():
        return dict.fromkeys(names, nan)
    first = int(np.argmax(advice))
    client = session.spoken_by("client") & (session.n_words > 0)
    explores = np.any([session.decided(code) for code in _EXPLORES if session.has(code)], axis=0)
    counts = (
        float(np.count_nonzero(client[:first])) if client.any() else nan,
        float(np.count_nonzero(explores[:first])) if session.has(*_EXPLORES) else nan,
    )
    return dict(zip(names, (*counts, first / len(session)), strict=True))


def _knows(session: AnnotatedSession, code: str) -> Bools:
    return ~np.isnan(session.probabilities[code]) if session.has(code) else np.zeros(len(session), dtype=np.bool_)


def _before_reflecting(session: AnnotatedSession) -> Bools:
    """Return the turns up to which, themselves included, the therapist has reflected nothing."""
    if not session.has("mi_reflection"):
        return np.zeros(len(session), dtype=np.bool_)
    return ~np.logical_or.accumulate(session.decided("mi_reflection"))


def _permission_asked(session: AnnotatedSession) -> Bools:
    """Return the turns that begin by asking permission, or follow a therapist turn that asks it."""
    asks = turns_with(session, "alliance.permission", "therapist")
    begins = turns_with(session, "alliance.permission", "therapist", first=_OPENING)
    before = last_of(session, "therapist")
    return np.asarray(begins | (asks[before] & (before >= 0)))
