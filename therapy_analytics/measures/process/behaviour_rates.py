"""How often therapist and client do what the codes name."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from therapy_analytics.behaviours.codebook import correlation_of
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, mean_column, measure, rate, rate_columns
from therapy_analytics.measures._base import Evidence, Value
from therapy_analytics.measures.process._counts import given
from therapy_analytics.session import Role

_MISLEADS = (
    "Each code is a prediction of the tagger (docs/tagger.md says how good); under about 20 turns the interval is wide"
)


@dataclass(frozen=True, slots=True)
class _Behaviour:
    """A rate: whose turns, what they do, the codes of which any counts, and what a check of it showed."""

    name: str
    role: Role
    doing: str
    codes: tuple[str, ...]
    source: str
    evidence: Evidence = "untested"

    @property
    def column(self) -> str:
        return f"{self.role}_{self.name}_rate"


_MI = "Codes: AnnoMI (Wu et al. 2022)"
_BOLT = "Codes: BOLT (Chiu et al. 2024)"


def _bolt(role: Role, code: str, doing: str) -> _Behaviour:
    return _Behaviour(code, role, doing, (f"bolt_{code}",), _BOLT)


_IMPLIED = {
    "needs": "a need or wish that the client implied",
    "emotions": "a feeling of the client",
    "values": "what matters to the client",
    "consequences": "an outcome of what the client does",
    "conflicts": "two things of the client's that pull against each other",
    "strengths": "an ability, effort or support of the client",
}
_SOUGHT = {
    "experiences": "ask for a concrete account",
    "perspectives": "ask for another way to look at it",
    "emotions": "ask how something of the session feels right now",
}
_BEHAVIOURS = (
    _Behaviour("question", "therapist", "ask a question", ("mi_question",), _MI, "supported"),
    _Behaviour(
        "reflection", "therapist", "reflect what the client said or meant", ("mi_reflection",), _MI, "supported"
    ),
    _Behaviour("input", "therapist", "give advice, information or options", ("mi_input",), _MI, "supported"),
    *(_bolt("therapist", f"reflections_on_{what}", f"put into words {this}") for what, this in _IMPLIED.items()),
    *(_bolt("therapist", f"questions_on_{what}", doing) for what, doing in _SOUGHT.items()),
    _Behaviour(
        "advice",
        "therapist",
        "offer or plan solutions (problem-solving, planning)",
        ("bolt_problem_solving", "bolt_planning"),
        _BOLT,
        "weak",
    ),
    _bolt("therapist", "problem_solving", "offer a solution"),
    _bolt("therapist", "planning", "work out a plan of action with the client"),
    _bolt("therapist", "normalizing", "call the experience normal or expectable"),
    _bolt("therapist", "psychoeducation", "explain psychological principles"),
    _Behaviour("change", "client", "speak for change", ("mi_change",), _MI, "weak"),
    _Behaviour("sustain", "client", "speak against change", ("mi_sustain",), _MI, "weak"),
    _bolt("client", "changing", "intend or act to change an unhealthy behaviour"),
    _bolt("client", "sustaining", "intend or act to keep an unhealthy behaviour"),
    _bolt("client", "negative_feeling", "share a negative feeling"),
    _bolt("client", "positive_feeling", "share a positive feeling"),
    _bolt("client", "gained_insight", "say what they have come to understand"),
    _bolt("client", "life_event", "tell of a life event or situation"),
)


def _columns(behaviour: _Behaviour) -> list[Column]:
    either = " or ".join(behaviour.codes)
    main = Column(
        name=behaviour.column,
        meaning=f"Share of {behaviour.role} turns that {behaviour.doing}",
        unit="proportion",
        low=0,
        high=1,
        direction=f"more {behaviour.role} turns that {behaviour.doing}",
        formula=f"{behaviour.role} turns with {either} / {behaviour.role} turns",
        misleads=_MISLEADS,
        source=behaviour.source,
        evidence=behaviour.evidence,
    )
    expected = replace(
        main,
        name=f"{behaviour.column}_expected",
        meaning=f"{behaviour.column} as the tagger's probabilities imply it: the gap shows its own error",
        direction="as the rate",
        formula=f"mean over {behaviour.role} turns of the probability of {either} (the larger one)",
    )
    return [*rate_columns(main, counted=f"{behaviour.role.title()} turns that {behaviour.doing}"), expected]


@measure(columns=[column for behaviour in _BEHAVIOURS for column in _columns(behaviour)])
def behaviour_rates(session: AnnotatedSession) -> dict[str, Value]:
    """Count the turns of a role that have a code, over all turns of the role.

    High means that the behaviour is frequent. Each rate stands beside its count, its 95%
    interval, and the rate that the tagger's probabilities imply.

    Notes
    -----
    The interval speaks of the pair's way of talking: where the rate would lie had the session gone on. It is widened
    for how alike the turns of a session are (`Code.turn_correlation`). The tagger's error comes on top; where the rate
    and its ``_expected`` lie far apart, trust neither. Turns that an outside coder did not code are left out of the
    rates; codes that it was not asked for leave them undefined.

    References
    ----------
    Wu, Z., et al. (2022). AnnoMI. ICASSP. Chiu, Y. Y., et al. (2024). A computational framework
    for behavioral assessment of LLM therapists. arXiv:2401.00820.
    """
    values: dict[str, Value] = {}
    for behaviour in _BEHAVIOURS:
        likely, hits = given(session, behaviour.codes)
        of = session.of(behaviour.role) & ~np.isnan(likely)
        values |= rate(behaviour.column, hits, of, correlation=correlation_of(*behaviour.codes))
        values[f"{behaviour.column}_expected"] = mean_column(likely[of])
    return values
