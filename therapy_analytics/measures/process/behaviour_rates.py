"""How often therapist and client do what the codes name."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, mean_column, measure, rate, rate_columns
from therapy_analytics.session import Role

_MISLEADS = (
    "Each code is a prediction of the tagger (docs/tagger.md says how good); under about 20 turns the interval is wide"
)


@dataclass(frozen=True, slots=True)
class _Behaviour:
    """A rate: whose turns, what they do, and the codes of which any counts."""

    name: str
    role: Role
    doing: str
    codes: tuple[str, ...]
    source: str

    @property
    def column(self) -> str:
        return f"{self.role}_{self.name}_rate"


_MI = "Codes: AnnoMI (Wu et al. 2022)"
_BOLT = "Codes: BOLT (Chiu et al. 2024)"
_BEHAVIOURS = (
    _Behaviour("question", "therapist", "ask a question", ("mi_question",), _MI),
    _Behaviour("reflection", "therapist", "reflect what the client said or meant", ("mi_reflection",), _MI),
    _Behaviour("input", "therapist", "give advice, information or options", ("mi_input",), _MI),
    _Behaviour(
        "advice",
        "therapist",
        "offer or plan solutions (problem-solving, planning)",
        ("bolt_problem_solving", "bolt_planning"),
        _BOLT,
    ),
    _Behaviour("normalizing", "therapist", "call the experience normal or expectable", ("bolt_normalizing",), _BOLT),
    _Behaviour("psychoeducation", "therapist", "explain psychological principles", ("bolt_psychoeducation",), _BOLT),
    _Behaviour("change", "client", "speak for change", ("mi_change",), _MI),
    _Behaviour("sustain", "client", "speak against change", ("mi_sustain",), _MI),
    _Behaviour("negative_feeling", "client", "share a negative feeling", ("bolt_negative_feeling",), _BOLT),
    _Behaviour("positive_feeling", "client", "share a positive feeling", ("bolt_positive_feeling",), _BOLT),
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
def behaviour_rates(session: AnnotatedSession) -> dict[str, float]:
    """Count the turns of a role that have a code, over all turns of the role.

    High means that the behaviour is frequent. Each rate stands beside its count, its 95%
    sampling interval, and the rate that the tagger's probabilities imply.

    Notes
    -----
    The interval holds sampling error alone: what another session of the same two might show.
    The tagger's error comes on top; where the rate and its ``_expected`` lie far apart, trust
    neither. Turns that an outside coder did not code are left out of the rates; codes that it
    was not asked for leave them undefined.

    References
    ----------
    Wu, Z., et al. (2022). AnnoMI. ICASSP. Chiu, Y. Y., et al. (2024). A computational framework
    for behavioral assessment of LLM therapists. arXiv:2401.00820.
    """
    values: dict[str, float] = {}
    for behaviour in _BEHAVIOURS:
        likely, hits = _given(session, behaviour.codes)
        of = session.of(behaviour.role) & ~np.isnan(likely)
        values.update(rate(behaviour.column, hits, of))
        values[f"{behaviour.column}_expected"] = mean_column(likely[of])
    return values


def _given(session: AnnotatedSession, codes: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return for each turn the largest probability of the codes (nan: not given), and whether it has any of them."""
    if not session.has(*codes):
        return np.full(len(session), np.nan), np.zeros(len(session), np.bool_)
    likely: NDArray[np.float64] = np.max([session.probabilities[code] for code in codes], axis=0)
    return likely, np.any([session.decided(code) for code in codes], axis=0)
