"""The course of the session: what therapist and client do more or less towards its end, and what they are locked in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.measures import Column, columns_of, measure
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.intervals import wilsons
from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.measures.turns import (
    FEWEST_FOR_SLOPE,
    Floats,
    given,
    lengths_of_runs,
    main_codes,
    slope,
    spoken,
    third_of,
)
from therapy_analytics.text import AnnotatedSession, Lexicon

FEWEST = 3
"""Turns in each of the two thirds under which nothing is said."""
SHUFFLES = 200
_ENDS = ("", "_lo", "_hi")
_CHECKED = ("mi_question", "mi_reflection", "mi_input", "mi_change", "mi_sustain")
"""Codes whose change was held against that of codes of people (docs/validity.md)."""
_ON_PAGE = {
    "mi_question": "Asks",
    "mi_reflection": "Reflects",
    "mi_input": "Advises or informs",
    "process_advice": "Advises",
    "process_goes_along": "Goes along with claims",
    "process_challenges": "Challenges claims",
}
"""Codes whose change the page shows, and that have a slope as well."""


def _stem(code: Code) -> str:
    return measure_of_code(code.column).removesuffix("_rate")


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    found = []
    for code in main_codes():
        label = _ON_PAGE.get(code.column, "")
        words = {"stem": _stem(code), "role": code.role, "code": code.column, "meaning": code.name, "label": label}
        words |= {"evidence": "weak" if code.column in _CHECKED else "untested"}
        drift = columns_of(__file__, "drift", FEWEST=FEWEST, **words)
        found += drift if label else [replace(one, page=None) for one in drift]
        found += columns_of(__file__, "slope", FEWEST_FOR_SLOPE=FEWEST_FOR_SLOPE, **words) if label else []
    return found + columns_of(__file__, SHUFFLES=SHUFFLES)


@measure(columns=_columns)
def course(session: AnnotatedSession) -> dict[str, Value]:
    """Give the change of each code's rate over the session, and the longest run of turns that go along with claims.

    Above 0 there is more of it at the end than at the beginning.

    Notes
    -----
    The rates of each third stand in the table of parts; here are only the changes.

    References
    ----------
    Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions. Statistics in
    Medicine, 17, 873-890. Newey, W. K., & West, K. D. (1987). A simple, positive semi-definite, heteroskedasticity and
    autocorrelation consistent covariance matrix. Econometrica, 55(3), 703-708.
    """
    values: dict[str, Value] = {}
    third = third_of(session)
    for code in main_codes():
        likely, hits = given(session, (code.column,))
        turns = spoken(session, code.role) & ~np.isnan(likely)
        k, n = (
            np.array([np.count_nonzero(one & (third == i)) for i in (0, 2)], float) for one in (hits & turns, turns)
        )
        found = {"drift": change(k, n)}
        if code.column in _ON_PAGE:
            found["slope"] = slope(hits[turns].astype(np.float64))
        for name, three in found.items():
            values |= {f"{_stem(code)}_{name}{end}": value for end, value in zip(_ENDS, three, strict=True)}
    likely, hits = given(session, ("process_goes_along",))
    own, random = hits[spoken(session, "therapist") & ~np.isnan(likely)], session.generator(7)
    orders = [own, *(random.permutation(own) for _ in range(SHUFFLES))] if len(own) else []
    longest, *by_chance = [float(lengths_of_runs(one).max(initial=0)) for one in orders] or [nan, nan]
    return {**values, "goes_along_longest": longest, "goes_along_longest_null_mean": float(np.mean(by_chance))}


def change(k: Floats, n: Floats) -> tuple[float, float, float]:
    """Return the last share less the first, with Newcombe's hybrid score interval.

    Parameters
    ----------
    k, n : float64 arrays (2,)
        What is counted, and of how many: in the first third, and in the last.

    Examples
    --------
    2 of 10 turns, then 7 of 10:

    >>> [round(one, 3) for one in change(np.array([2.0, 7.0]), np.array([10.0, 10.0]))]
    [0.5, 0.066, 0.74]

    References
    ----------
    Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions: Comparison of eleven
    methods. Statistics in Medicine, 17, 873-890 (method 10).
    """
    if n.min() < FEWEST:
        return nan, nan, nan
    (a, b), (a_low, b_low), (a_high, b_high) = (one.tolist() for one in wilsons(k, n))
    low, high = np.hypot(b - b_low, a_high - a), np.hypot(b_high - b, a - a_low)
    return b - a, float(b - a - low), float(b - a + high)
