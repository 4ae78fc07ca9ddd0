"""How many reflections for each question."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np

from therapy_analytics.measures import Column, measure
from therapy_analytics.measures.base import OnPage, Shown
from therapy_analytics.measures.intervals import ratio
from therapy_analytics.measures.rates import interval_columns
from therapy_analytics.text import AnnotatedSession

RATIO_CORRELATION = 0.02
"""How alike two turns that reflect or ask are in which of the two they do, by ``benchmarks/turn_rates.py``."""
_NAME = "reflection_to_question_ratio"
_MISLEADS = (
    "Unstable in one session: with 24 therapist turns and a true ratio of 1, 95% of sampled ratios lie between 0.3 and "
    "3.5; rates beat ratios. MITI bands (fair 1, good 2) are printed only where the interval lies on one side"
)
_ENDS = "odds of the interval of the share of reflections in both, widened for how alike turns are"
_SOURCE = "Moyers, T. B., et al. (2016). The Motivational Interviewing Treatment Integrity code (MITI 4). JSAT 65"


_RATIO = Column(
    name=_NAME,
    meaning="Therapist turns with a reflection for each turn with a question (R:Q)",
    unit="ratio",
    low=0,
    high=inf,
    high_means="more reflecting than asking",
    formula="n_therapist_reflection / n_therapist_question; undefined without a question",
    misleads=_MISLEADS,
    source=_SOURCE,
    evidence="supported",
    compare="shown",
)


_PAGE: dict[str, Shown] = {
    "reflection_to_question_ratio": OnPage("therapist", "Reflections for each question", strip=5),
}


@measure(columns=[replace(_RATIO, core=True), *interval_columns(_RATIO, _ENDS)], core=4, page=_PAGE)
def reflection_to_question(session: AnnotatedSession) -> dict[str, float]:
    """Divide the turns that reflect by the turns that ask (R:Q, unit: the volley).

    High means more reflecting than asking. Four turns that reflect and two that ask:

    >>> from therapy_analytics.measures.intervals import ratio
    >>> [round(value, 2) for value in ratio(4, 2)]
    [2.0, 0.43, 9.33]

    Notes
    -----
    A turn that does both counts on both sides. Over zero questions the ratio is undefined, not
    infinite. The interval treats the turns as a sample of what the two would go on to do.

    References
    ----------
    Moyers, T. B., Rowell, L. N., Manuel, J. K., Ernst, D., & Houck, J. M. (2016). The
    Motivational Interviewing Treatment Integrity code (MITI 4). Journal of Substance Abuse
    Treatment, 65, 36-42.
    """
    if not session.has("mi_reflection", "mi_question"):
        return dict.fromkeys((_NAME, f"{_NAME}_lo", f"{_NAME}_hi"), nan)
    value, low, high = ratio(
        float(np.count_nonzero(session.decided("mi_reflection"))),
        float(np.count_nonzero(session.decided("mi_question"))),
        RATIO_CORRELATION,
    )
    return {_NAME: value, f"{_NAME}_lo": low, f"{_NAME}_hi": high}
