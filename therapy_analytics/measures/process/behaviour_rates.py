"""How often therapist and client do what the codes of the shipped codebooks name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import Column, mean_column, measure, rate, rate_columns
from therapy_analytics.measures._codes import given, main_codes
from therapy_analytics.measures.base import Compared, Evidence, OnPage, Shown, Value
from therapy_analytics.text import AnnotatedSession, Lexicon

_MISLEADS = (
    "Each code is a prediction of the tagger (docs/tagger.md says how good); few turns give a wide interval; "
    "undefined where the run's coder does not give the code"
)
EXPECTED = "_expected"
"""The ending of the measure that is the mean probability of a code, beside that of its rate."""
_EVIDENCE: dict[str, Evidence] = {
    "mi_question": "supported",
    "mi_reflection": "supported",
    "mi_input": "supported",
    "process_advice": "supported",
    "process_feeling_expressed": "supported",
    "process_feeling_negative": "supported",
    "mi_change": "weak",
    "mi_sustain": "weak",
    "process_risk_own": "weak",
    "process_risk_help": "weak",
}
"""What checks on real sessions showed (docs/validity.md); of all others none was made."""
_CORE = ("mi_question", "mi_reflection", "mi_input", "process_advice", "mi_change", "mi_sustain")
_CORE_COUNTS = ("process_feeling_negative", "bolt_positive_feeling")
"""What stands in ``sessions.csv``: rates with interval and count; of feelings the count."""
_COMPARED: dict[str, Compared] = {
    "mi_question": "tested",
    "mi_reflection": "tested",
    "mi_input": "tested",
    "process_advice": "tested",
}
"""What `compare` tests unless it is told otherwise: how often the therapist asks, reflects, advises or informs, and
advises, which is the strongest contrast between skilled and unskilled people. Each further one would take power from
these: of 1.5 standard deviations between six sessions and six, four measures find .38, and one alone .62."""
_SHOWN: dict[str, OnPage] = {
    "mi_question": OnPage("therapist", "Asks", "asks", first=True, strip=2),
    "mi_reflection": OnPage("therapist", "Reflects", "reflects", first=True, strip=4),
    "mi_input": OnPage("therapist", "Advises or informs", "advises or informs", first=True, strip=6),
    "bolt_reflections_on_needs": OnPage("therapist", "Reflects needs", "reflects a need"),
    "bolt_reflections_on_emotions": OnPage("therapist", "Reflects feelings", "reflects a feeling"),
    "bolt_reflections_on_values": OnPage("therapist", "Reflects values", "reflects what matters to the client"),
    "bolt_reflections_on_consequences": OnPage("therapist", "Reflects consequences", "reflects a consequence"),
    "bolt_reflections_on_conflicts": OnPage("therapist", "Reflects conflicts", "reflects two sides that conflict"),
    "bolt_reflections_on_strengths": OnPage("therapist", "Reflects strengths", "reflects a strength"),
    "bolt_questions_on_experiences": OnPage("therapist", "Asks about experiences", "asks about experiences"),
    "bolt_questions_on_perspectives": OnPage("therapist", "Asks for another view", "asks for another view"),
    "bolt_questions_on_emotions": OnPage("therapist", "Asks about feelings", "asks about feelings of the moment"),
    "bolt_problem_solving": OnPage("therapist", "Offers solutions", "offers a solution"),
    "bolt_planning": OnPage("therapist", "Plans with the client", "plans with the client"),
    "bolt_normalizing": OnPage("therapist", "Normalizing", "normalizes"),
    "bolt_psychoeducation": OnPage("therapist", "Psychoeducation", "teaches psychology"),
    "process_advice": OnPage("therapist", "Advises"),
    "mi_change": OnPage("client", "Change talk", "says change talk", first=True, strip=7),
    "mi_sustain": OnPage("client", "Sustain talk", "says sustain talk", strip=8),
    "bolt_changing": OnPage("client", "Acts or intends to change", "acts or intends to change"),
    "bolt_sustaining": OnPage("client", "Acts or intends to keep on", "acts or intends to keep on"),
    "bolt_negative_feeling": OnPage("client", "Shares a negative feeling (BOLT)", "shares a negative feeling"),
    "bolt_positive_feeling": OnPage("client", "Shares a positive feeling (BOLT)", "shares a positive feeling"),
    "bolt_gained_insight": OnPage("client", "Gains insight", "tells of an insight"),
    "bolt_life_event": OnPage("client", "Tells of life events", "tells of a life event"),
    "process_feeling_negative": OnPage("client", "Shows a negative feeling", strip=9),
    "process_feeling_expressed": OnPage("therapist", "Names an expressed feeling", strip=10),
}
"""What the page calls a code where its name in the codebook would not do."""


@cache
def _measures() -> dict[str, str]:
    return {code.column: f"{code.role}_{code.id}_rate" for code in main_codes()}


def measure_of_code(code: str) -> str:
    """Return the measure that is the rate of a code.

    Examples
    --------
    >>> measure_of_code("mi_question"), measure_of_code("process_advice"), measure_of_code("mi_question_open")
    ('therapist_question_rate', 'therapist_advice_rate', 'mi_question_open_rate')
    """
    return _measures().get(code, f"{code}_rate")


def code_of_measure(measure: str) -> str:
    """Return the code whose rate a measure is, as `measure_of_code` names it."""
    codes = {name: code for code, name in _measures().items()}
    return codes.get(measure, measure.removesuffix("_rate"))


def _shown(code: Code) -> Shown | None:
    if code.parent or code.role == "other":
        return None
    return _SHOWN.get(code.column) or OnPage("review" if code.group == "risk" else code.role, code.name)


def rate_and_expected(code: Code) -> tuple[Column, Column]:
    """Return what the rate of a code is, and the rate that its probabilities imply."""
    main = Column(
        name=measure_of_code(code.column),
        meaning=f"Share of {code.role} turns with the code {code.column}: {code.name}",
        unit="proportion",
        low=0,
        high=1,
        high_means=f"more {code.role} turns with the code",
        formula=f"{code.role} turns with {code.column} / {code.role} turns that were coded",
        misleads=_MISLEADS,
        source=code.source,
        evidence=_EVIDENCE.get(code.column, "untested"),
        core=code.column in _CORE,
        compare=_COMPARED.get(code.column, ""),
        page=_shown(code),
    )
    expected = replace(
        main,
        name=f"{main.name}{EXPECTED}",
        meaning=f"{main.name} as the tagger's probabilities imply it: the gap shows its own error",
        high_means="as the rate",
        formula=f"mean over {code.role} turns of the probability of {code.column}",
        core=False,
        compare="no",
        page=None,
    )
    return main, expected


def _columns_of(code: Code) -> list[Column]:
    main, expected = rate_and_expected(code)
    columns = rate_columns(main, counted=f"{code.role.title()} turns with {code.column}")
    kept = code.column in _CORE_COUNTS
    return [*(replace(one, core=True) if kept and one.statistic == "n" else one for one in columns), expected]


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    return [column for code in main_codes() for column in _columns_of(code)]


@measure(columns=_columns, core=2)
def behaviour_rates(session: AnnotatedSession) -> dict[str, Value]:
    """Count the turns of a role that have a code, over all turns of the role, for each code of the shipped codebooks.

    High means that the behaviour is frequent. Each rate stands beside its count, its 95%
    interval, and the rate that the tagger's probabilities imply.

    Notes
    -----
    The interval speaks of the pair's way of talking: where the rate would lie had the session gone on. It is widened
    for how alike the turns of a session are (`Code.turn_correlation`). The tagger's error comes on top; where the rate
    and its ``_expected`` lie far apart, trust neither. Turns that an outside coder did not code are left out of the
    rates; codes that it was not asked for leave them undefined. Kinds of other codes, and codes of books that overlap
    another, have rates of their own in the long table where they are given.

    References
    ----------
    Wu, Z., et al. (2022). AnnoMI. ICASSP. Chiu, Y. Y., et al. (2024). A computational framework
    for behavioral assessment of LLM therapists. arXiv:2401.00820.
    """
    values: dict[str, Value] = {}
    for code in main_codes():
        name = measure_of_code(code.column)
        likely, hits = given(session, (code.column,))
        among = session.spoken_by(code.role) & ~np.isnan(likely)
        values |= rate(name, hits, among, correlation=correlation_of(code.column))
        values[f"{name}{EXPECTED}"] = mean_column(likely[among])
    return values
