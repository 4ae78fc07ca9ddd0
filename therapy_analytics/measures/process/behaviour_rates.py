"""How often therapist and client do what the codes name."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from therapy_analytics.behaviours.codebook import correlation_of
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, mean_column, measure, rate, rate_columns
from therapy_analytics.measures._base import Compared, Evidence, OnPage, Shown, Value
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


_CORE = (
    *(f"therapist_{name}_rate" for name in ("question", "reflection", "input", "advice")),
    *(f"client_{name}_rate" for name in ("change", "sustain")),
    *(f"n_client_{name}_feeling" for name in ("negative", "positive")),
)
"""What stands in ``sessions.csv``: rates with interval and count; of feelings, which no check bears out, the count."""


_COMPARED: dict[str, Compared] = {"question": "tested", "reflection": "tested", "input": "tested", "advice": "shown"}
"""What `compare` tests unless it is told otherwise: how often the therapist asks, reflects, and advises or informs.
Their evidence is "supported", and none repeats another. Each further one would take power from these: of 1.5 standard
deviations between six sessions and six, four measures find .38, three .45, and one alone .62."""


def measure_of_code(code: str) -> str:
    """Return the measure that is the rate of a code.

    Examples
    --------
    >>> measure_of_code("mi_question"), measure_of_code("mi_question_open")
    ('therapist_question_rate', 'mi_question_open_rate')
    """
    known = {one.codes[0]: one.column for one in _BEHAVIOURS if len(one.codes) == 1}
    return known.get(code, f"{code}_rate")


def code_of_measure(measure: str) -> str:
    """Return the code whose rate a measure is, as `measure_of_code` names it."""
    known = {one.column: one.codes[0] for one in _BEHAVIOURS if len(one.codes) == 1}
    return known.get(measure, measure.removesuffix("_rate"))


def _columns(behaviour: _Behaviour) -> list[Column]:
    either = " or ".join(behaviour.codes)
    main = Column(
        name=behaviour.column,
        meaning=f"Share of {behaviour.role} turns that {behaviour.doing}",
        unit="proportion",
        low=0,
        high=1,
        high_means=f"more {behaviour.role} turns that {behaviour.doing}",
        formula=f"{behaviour.role} turns with {either} / {behaviour.role} turns",
        misleads=_MISLEADS,
        source=behaviour.source,
        evidence=behaviour.evidence,
        core=behaviour.column in _CORE,
        compare=_COMPARED.get(behaviour.name, "") if behaviour.role == "therapist" else "",
    )
    expected = replace(
        main,
        name=f"{behaviour.column}_expected",
        meaning=f"{behaviour.column} as the tagger's probabilities imply it: the gap shows its own error",
        high_means="as the rate",
        core=False,
        compare="no",
        formula=f"mean over {behaviour.role} turns of the probability of {either} (the larger one)",
    )
    columns = rate_columns(main, counted=f"{behaviour.role.title()} turns that {behaviour.doing}")
    return [*(replace(one, core=True) if one.name in _CORE else one for one in columns), expected]


_PAGE: dict[str, Shown] = {
    "therapist_question_rate": OnPage("therapist", "Asks", "asks", first=True),
    "therapist_reflection_rate": OnPage("therapist", "Reflects", "reflects", first=True),
    "therapist_input_rate": OnPage("therapist", "Advises or informs", "advises or informs", first=True),
    "therapist_reflections_on_needs_rate": OnPage("therapist", "Reflects needs", "reflects a need"),
    "therapist_reflections_on_emotions_rate": OnPage("therapist", "Reflects feelings", "reflects a feeling"),
    "therapist_reflections_on_values_rate": OnPage(
        "therapist", "Reflects values", "reflects what matters to the client"
    ),
    "therapist_reflections_on_consequences_rate": OnPage(
        "therapist", "Reflects consequences", "reflects a consequence"
    ),
    "therapist_reflections_on_conflicts_rate": OnPage(
        "therapist", "Reflects conflicts", "reflects two sides that conflict"
    ),
    "therapist_reflections_on_strengths_rate": OnPage("therapist", "Reflects strengths", "reflects a strength"),
    "therapist_questions_on_experiences_rate": OnPage("therapist", "Asks about experiences", "asks about experiences"),
    "therapist_questions_on_perspectives_rate": OnPage("therapist", "Asks for another view", "asks for another view"),
    "therapist_questions_on_emotions_rate": OnPage(
        "therapist", "Asks about feelings", "asks about feelings of the moment"
    ),
    "therapist_problem_solving_rate": OnPage("therapist", "Offers solutions", "offers a solution"),
    "therapist_planning_rate": OnPage("therapist", "Plans with the client", "plans with the client"),
    "therapist_normalizing_rate": OnPage("therapist", "Normalizing", "normalizes"),
    "therapist_psychoeducation_rate": OnPage("therapist", "Psychoeducation", "teaches psychology"),
    "therapist_advice_rate": OnPage("therapist", "Advises (solutions or plans)"),
    "client_change_rate": OnPage("client", "Change talk", "says change talk", first=True),
    "client_sustain_rate": OnPage("client", "Sustain talk", "says sustain talk"),
    "client_changing_rate": OnPage("client", "Acts or intends to change", "acts or intends to change"),
    "client_sustaining_rate": OnPage("client", "Acts or intends to keep on", "acts or intends to keep on"),
    "client_negative_feeling_rate": OnPage("client", "Shares a negative feeling", "shares a negative feeling"),
    "client_positive_feeling_rate": OnPage("client", "Shares a positive feeling", "shares a positive feeling"),
    "client_gained_insight_rate": OnPage("client", "Gains insight", "tells of an insight"),
    "client_life_event_rate": OnPage("client", "Tells of life events", "tells of a life event"),
}


@measure(columns=[column for behaviour in _BEHAVIOURS for column in _columns(behaviour)], core=2, page=_PAGE)
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
        of = session.spoken_by(behaviour.role) & ~np.isnan(likely)
        values |= rate(behaviour.column, hits, of, correlation=correlation_of(*behaviour.codes))
        values[f"{behaviour.column}_expected"] = mean_column(likely[of])
    return values
