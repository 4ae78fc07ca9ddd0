"""How many reflections for each question."""

from __future__ import annotations

from math import nan

import numpy as np

from therapy_analytics.measures import columns_of, measure
from therapy_analytics.measures.intervals import ratio
from therapy_analytics.text import AnnotatedSession

RATIO_CORRELATION = 0.02
"""How alike two turns that reflect or ask are in which of the two they do, by ``benchmarks/turn_rates.py``."""


@measure(columns=lambda *_: columns_of(__file__), core=4)
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
    found = nan, nan, nan
    if session.has("mi_reflection", "mi_question"):
        n = {code: float(np.count_nonzero(session.decided(code))) for code in ("mi_reflection", "mi_question")}
        found = ratio(n["mi_reflection"], n["mi_question"], RATIO_CORRELATION)
    name = "reflection_to_question_ratio"
    return dict(zip((name, f"{name}_lo", f"{name}_hi"), found, strict=True))
