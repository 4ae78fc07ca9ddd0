"""Whether the therapist pushes or eases off when the client resists or opens, and what follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Value
from therapy_analytics.measures._codes import NOT_GIVEN, Bools, Floats, given, spoken
from therapy_analytics.measures._turns import last_of, next_of

_SOURCE = (
    "Construct: Miller, Benefield & Tonigan (1993); Moyers & Martin (2006); Beutler et al. (2011), "
    "Resistance/reactance "
    "level; the rules are this package's own"
)
_PUSH = (
    "a push: advice or information (mi_input), a leading question (process_leading_question), or persisting against "
    "the client (process_persists)"
)
_EASE = (
    "an easing off: no push, and a reflection (mi_reflection), an open question (mi_question_open) or a repair "
    "(process_repair)"
)
_MISLEADS = (
    "Rests on the tagger's codes of both sides, each of which may be wrong. Over few turns the interval is wide; what "
    f"follows is no proof of what caused it; {NOT_GIVEN}. Codes that the coder does not give count for neither"
)
_PUSHES = ("mi_input", "process_leading_question", "process_persists")
_EASES = ("mi_reflection", "mi_question_open", "process_repair")
_RUPTURES = ("process_rupture_withdrawal", "process_rupture_confrontation")


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
    "resistance: sustain talk (mi_sustain) or a rupture (process_rupture_withdrawal, process_rupture_confrontation), "
    "without mi_change"
)
_COLUMNS = [
    _rate(
        "push_after_sustain_rate",
        "Share of client turns of sustain talk or ruptures to which the therapist answers with a push",
        "more pushing against resistance",
        f"client turns of {_RESISTS}, whose next therapist turn is {_PUSH} / such turns with a therapist "
        f"turn after them",
    ),
    _rate(
        "ease_after_sustain_rate",
        "Share of client turns of sustain talk or ruptures to which the therapist answers by easing off",
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
        "Share of the therapist's pushes that are followed by sustain talk or ruptures",
        "the client resists more after pushes",
        f"therapist turns that are {_PUSH}, whose next client turn is {_RESISTS} / such turns with a client turn after",
    ),
    _rate(
        "sustain_after_ease_rate",
        "Share of the therapist's easing off that is followed by sustain talk or ruptures",
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
    if not session.has("mi_sustain", "mi_change", "mi_input", "mi_reflection"):
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
    theirs, ours = spoken(session, "client"), spoken(session, "therapist")
    change, sustain = session.decided("mi_change"), session.decided("mi_sustain")
    resists, opens = (sustain | given(session, _RUPTURES)[1]) & ~change, change & ~sustain
    pushes = given(session, _PUSHES)[1] & ours
    eases = given(session, _EASES)[1] & ours & ~pushes
    answered, follows = next_of(session, "therapist"), next_of(session, "client")
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
