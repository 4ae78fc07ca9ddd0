"""What changes along a session, counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from therapy_analytics.measures.process.course import course

# 18 turns, T C T C ...: thirds of six turns, three of the therapist
SAID = [("TC"[at % 2], f"turn {at}") for at in range(18)]


def at(*places: int) -> list[int]:
    return [int(place in places) for place in range(18)]


def test_the_change_from_the_first_third_to_the_last(make) -> None:  # type: ignore[no-untyped-def]
    values = course(make(SAID, {"mi_question": at(0, 2, 12), "process_goes_along": at(8, 12, 14, 16)}))
    assert values["therapist_question_drift"] == pytest.approx(1 / 3 - 2 / 3)
    assert values["therapist_goes_along_drift"] == 1
    assert values["therapist_challenges_drift"] == 0
    for name in ("therapist_question_drift", "therapist_goes_along_slope"):
        assert values[f"{name}_lo"] < values[name] < values[f"{name}_hi"]


def test_the_slope_is_that_of_a_line_through_the_turns(make) -> None:  # type: ignore[no-untyped-def]
    values = course(make(SAID, {"mi_question": at(10, 12, 14, 16)}))
    hits = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    assert values["therapist_question_slope"] == pytest.approx(np.polyfit(np.linspace(0, 1, 9), hits, 1)[0])


def test_the_longest_run_of_turns_that_go_along(make) -> None:  # type: ignore[no-untyped-def]
    values = course(make(SAID, {"process_goes_along": at(0, 8, 10, 12)}))
    assert values["goes_along_longest"] == 3
    assert 1 < values["goes_along_longest_null_mean"] < 3
    every = course(make(SAID, {"process_goes_along": [1] * 18}))
    assert every["goes_along_longest"] == every["goes_along_longest_null_mean"] == 9


def test_too_few_turns_and_codes_that_are_not_given_are_undefined(make) -> None:  # type: ignore[no-untyped-def]
    short = course(make(SAID[:8], {"mi_question": [1, 0] * 4}))
    assert math.isnan(short["therapist_question_drift"])
    assert math.isnan(short["therapist_question_slope"])
    without = course(make(SAID, {"mi_question": at(0)}))
    assert math.isnan(without["therapist_advice_drift"])
    assert math.isnan(without["goes_along_longest"])
    assert all(math.isnan(value) for value in course(make([])).values())
