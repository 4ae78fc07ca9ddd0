"""The course of the session: what therapist and client do more or less towards its end, and what they are locked in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._codes import (
    NOT_GIVEN,
    PREDICTED,
    SOURCE,
    Bools,
    Floats,
    given,
    lengths_of_runs,
    main_codes,
    spoken,
)
from therapy_analytics.measures.base import OnPage, Value
from therapy_analytics.measures.intervals import wilsons
from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.measures.rates import interval_columns
from therapy_analytics.measures.turns import FEWEST_FOR_SLOPE, slope, third_of
from therapy_analytics.text import AnnotatedSession, Lexicon

FEWEST = 3
"""Turns in each of the two thirds under which nothing is said."""
SHUFFLES = 200
_ENDS = ("", "_lo", "_hi")
_MISLEADS = (
    "Sessions end otherwise than they begin (greeting, summing up, planning), so that a change is no fault as such. "
    "The interval speaks of these turns, taken as independent; the tagger's own error is not in it. Among so many "
    f"codes some intervals leave out 0 by chance. {PREDICTED}; {NOT_GIVEN}"
)
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


def _columns_of(code: Code) -> list[Column]:
    label = _ON_PAGE.get(code.column, "")
    change = Column(
        name=f"{_stem(code)}_drift",
        meaning=f"Share of {code.role} turns with {code.column} ({code.name}): last third less the first",
        unit="proportion",
        low=-1,
        high=1,
        high_means="more of it at the end than at the beginning (0: the same)",
        formula=f"share of {code.role} turns with {code.column} in the last third of the turns - that in the first; "
        f"undefined under {FEWEST} such turns in either",
        misleads=f"Thirds are by turns, not by time. {_MISLEADS}",
        source="This package's own; interval: Newcombe (1998), method 10",
        evidence="weak" if code.column in _CHECKED else "untested",
        compare="part",
        page=OnPage("course", f"{label}: last third less first") if label else None,
    )
    if not label:
        return [change, *interval_columns(change, change.formula)]
    line = replace(
        change,
        name=f"{_stem(code)}_slope",
        meaning=f"How the share of {code.role} turns with {code.column} ({code.name}) moves from the first to the last",
        low=-inf,
        high=inf,
        high_means="above 0: rises along the session",
        formula=f"slope of least squares of 1 (has the code) or 0 on the place among the {code.role}'s turns, 0 to 1; "
        f"from {FEWEST_FOR_SLOPE} turns on",
        misleads=f"A straight line hides a fall and rise. {_MISLEADS}",
        source="This package's own; interval: Newey & West (1987)",
        evidence="untested",
        page=None,
    )
    return [one for main in (change, line) for one in (main, *interval_columns(main, main.formula))]


_LOCKED = Column(
    name="goes_along_longest",
    meaning="Most therapist turns in a row that each go along with a claim of the client",
    unit="turns",
    low=0,
    high=inf,
    high_means="the therapist is locked in going along",
    formula="length of the longest run of therapist turns with process_goes_along, turns of others between them not "
    "counted; 0 without any",
    misleads=f"{PREDICTED}; {NOT_GIVEN}. One turn that is missed cuts a run in two. It grows with how often the "
    "therapist goes along: set it beside its null distribution",
    source=SOURCE,
    page=OnPage("course", "Goes along: most turns in a row"),
)
_LOCKED_BY_CHANCE = replace(
    _LOCKED,
    name="goes_along_longest_null_mean",
    measure="goes_along_longest",
    statistic="null_mean",
    meaning="What goes_along_longest would be if the same number of turns went along, at random places",
    formula=f"mean of goes_along_longest over {SHUFFLES} shuffles of the therapist's turns",
    page=None,
)


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    return [*(one for code in main_codes() for one in _columns_of(code)), _LOCKED, _LOCKED_BY_CHANCE]


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
    return {**values, **_locked_in(session)}


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


def _locked_in(session: AnnotatedSession) -> dict[str, Value]:
    likely, hits = given(session, ("process_goes_along",))
    turns = spoken(session, "therapist") & ~np.isnan(likely)
    if not turns.any():
        return {_LOCKED.name: nan, _LOCKED_BY_CHANCE.name: nan}
    own, random = hits[turns], session.generator(7)
    return {
        _LOCKED.name: _longest(own),
        _LOCKED_BY_CHANCE.name: float(np.mean([_longest(random.permutation(own)) for _ in range(SHUFFLES)])),
    }


def _longest(hits: Bools) -> float:
    return float(lengths_of_runs(hits).max(initial=0))
