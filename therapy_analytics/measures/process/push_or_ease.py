"""Whether the therapist pushes or eases off when the client resists or opens, and what follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import turns_of, turns_with
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Value
from therapy_analytics.measures._turns import last_of, next_of
from therapy_analytics.measures.process._questions import Bools, Floats, asking

_SOURCE = (
    "Construct: Miller, Benefield & Tonigan (1993); Moyers & Martin (2006); Beutler et al. (2011), "
    "Resistance/reactance "
    "level; the rules are this package's own"
)
_PUSH = (
    "a push: advice or information (mi_input), what is not in the spirit of motivational interviewing "
    "(misc_mi_inconsistent), a leading or confronting phrase (lexicons/questions.toml)"
)
_EASE = (
    "an easing off: no push, and a reflection (mi_reflection), support (misc_complex_listening), an open question, or "
    "words that leave the choice"
)
_MISLEADS = (
    "Rests on the tagger's codes of both sides, each of which may be wrong. Over few turns the interval is wide; what "
    "follows is no proof of what caused it"
)
_HESITANT_WORDS = 6
"""A turn of hesitation has no more words."""


def _rate(name: str, meaning: str, direction: str, formula: str) -> Column:
    return Column(
        name=name,
        meaning=meaning,
        unit="proportion",
        low=0,
        high=1,
        high_means=direction,
        formula=formula,
        misleads=_MISLEADS,
        source=_SOURCE,
        evidence="weak",
    )


_RESISTS = (
    "sustain talk (mi_sustain, without mi_change) or hesitation (short turns of 'hesitation', lexicons/questions.toml)"
)
_COLUMNS = [
    _rate(
        "push_after_sustain_rate",
        "Share of client turns of sustain talk or hesitation to which the therapist answers with a push",
        "more pushing against resistance",
        f"client turns of {_RESISTS} whose next therapist turn is {_PUSH} / such turns with a therapist "
        f"turn after them",
    ),
    _rate(
        "ease_after_sustain_rate",
        "Share of client turns of sustain talk or hesitation to which the therapist answers by easing off",
        "more rolling with resistance",
        f"as push_after_sustain_rate, with {_EASE}",
    ),
    _rate(
        "push_after_change_rate",
        "Share of client turns of change talk to which the therapist answers with a push",
        "more pushing when the client opens",
        "as push_after_sustain_rate, after client turns of change talk (mi_change, without mi_sustain)",
    ),
    _rate(
        "sustain_after_push_rate",
        "Share of the therapist's pushes that are followed by sustain talk or hesitation",
        "the client resists more after pushes",
        f"therapist turns that are {_PUSH}, whose next client turn is {_RESISTS} / such turns with a client turn after",
    ),
    _rate(
        "sustain_after_ease_rate",
        "Share of the therapist's easing off that is followed by sustain talk or hesitation",
        "the client resists more after easing off; to be read beside sustain_after_push_rate",
        f"as sustain_after_push_rate, after {_EASE}",
    ),
]
_MOVE = replace(
    _COLUMNS[0],
    name="push_turn",
    meaning="Whether the therapist's turn pushes or eases off",
    unit="code",
    low=-1,
    high_means="1 push, -1 easing off, 0 neither",
    formula=f"1: {_PUSH}; -1: {_EASE}; 0: neither; empty for turns of others or without words",
    level="turn",
)


_SUPPORTED = ("push_after_sustain_rate", "ease_after_sustain_rate")
_COLUMNS = [replace(one, evidence="supported") if one.name in _SUPPORTED else one for one in _COLUMNS]
_MOVE = replace(_MOVE, evidence="weak")


@measure(
    columns=[column for one in _COLUMNS for column in rate_columns(one, counted="Turns so answered")] + [_MOVE], core=14
)
def push_or_ease(session: AnnotatedSession) -> dict[str, Value]:
    """Count pushes and easing off after sustain and change talk, and sustain talk after both.

    A high push_after_sustain_rate means that the therapist mostly argues, advises or leads when the client resists; a
    high ease_after_sustain_rate that the therapist reflects, supports or leaves the choice.

    Notes
    -----
    A turn that does both counts as a push. Undefined where the run's coder gives no codes of change and sustain talk.

    References
    ----------
    Miller, W. R., Benefield, R. G., & Tonigan, J. S. (1993). Enhancing motivation for change in problem drinking: A
    controlled comparison of two therapist styles. Journal of Consulting and Clinical Psychology, 61(3), 455-461.
    """
    if not session.has("mi_sustain", "mi_change"):
        nothing = np.zeros(len(session), dtype=np.bool_)
        found = {one.name: (nothing, nothing) for one in _COLUMNS}
        moves = np.full(len(session), np.nan)
    else:
        found, moves = _answered(session)
    values: dict[str, Value] = {"push_turn": moves}
    for name, (hits, of) in found.items():
        values |= rate(name, hits, of)
    return values


def _answered(session: AnnotatedSession) -> tuple[dict[str, tuple[Bools, Bools]], Floats]:
    """Return for each rate the turns that have it, and could; and 1 for pushes, -1 for easing off, 0 for neither."""
    resists, opens = _client_states(session)
    pushes, eases = _moves(session)
    spoken = session.n_words > 0
    answered, follows = next_of(session, "therapist"), next_of(session, "client")
    theirs, ours = (session.spoken_by(role) & spoken for role in ("client", "therapist"))
    # The client's last turn before an answer; a turn of other speakers between counts for nothing
    first = last_of(session, "client")[np.maximum(answered, 0)] == np.arange(len(session))
    heard = theirs & (answered >= 0) & first
    last = ours & (follows >= 0) & (last_of(session, "therapist")[np.maximum(follows, 0)] == np.arange(len(session)))
    found = {
        "push_after_sustain_rate": (pushes[answered], heard & resists),
        "ease_after_sustain_rate": (eases[answered], heard & resists),
        "push_after_change_rate": (pushes[answered], heard & opens),
        "sustain_after_push_rate": (resists[follows], last & pushes),
        "sustain_after_ease_rate": (resists[follows], last & eases),
    }
    return found, np.where(ours, pushes.astype(float) - eases.astype(float), np.nan)


def _client_states(session: AnnotatedSession) -> tuple[Bools, Bools]:
    """Return which client turns resist or hesitate, and which speak for change."""
    sustain, change = session.decided("mi_sustain"), session.decided("mi_change")
    short = (session.n_words > 0) & (session.n_words <= _HESITANT_WORDS)
    hesitates = short & turns_of(session, "questions.hesitation", "client")
    return (sustain | hesitates) & ~change, change & ~sustain


def _moves(session: AnnotatedSession) -> tuple[Bools, Bools]:
    """Return which therapist turns push, and which ease off."""
    phrases = {
        name: turns_with(session, f"questions.{name}", "therapist") for name in ("leading", "confronting", "easing")
    }
    pushes = phrases["leading"] | phrases["confronting"]
    eases = phrases["easing"] | (_decided(session, "mi_question_open") & asking(session))
    for code in ("mi_input", "misc_mi_inconsistent"):
        pushes |= _decided(session, code)
    for code in ("mi_reflection", "misc_complex_listening"):
        eases |= _decided(session, code)
    ours = session.spoken_by("therapist") & (session.n_words > 0)
    return pushes & ours, eases & ~pushes & ours


def _decided(session: AnnotatedSession, code: str) -> Bools:
    return session.decided(code) if session.has(code) else np.zeros(len(session), dtype=np.bool_)
