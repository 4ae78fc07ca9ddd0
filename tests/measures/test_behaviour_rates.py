"""Rates of codes, and reflections to questions."""

from __future__ import annotations

import math

import pytest

from tests.undefined import without_totals
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import MEASURES
from therapy_analytics.measures.intervals import wilson
from therapy_analytics.measures.process.behaviour_rates import behaviour_rates, code_of_measure, measure_of_code
from therapy_analytics.measures.process.reflection_to_question import reflection_to_question
from therapy_analytics.measures.turns import shipped_codes

# T C T C T C T C: four therapist turns.
SPOKEN = [
    ("T", "One"),
    ("C", "two"),
    ("T", "three"),
    ("C", "four"),
    ("T", "five"),
    ("C", "six"),
    ("T", "a"),
    ("C", "b"),
]
CODES = {
    "mi_question": [1, 0, 1, 0, 0, 0, 0, 0],  # 2 of 4
    "mi_reflection": [0, 0, 1, 0, 1, 0, 1, 0],  # 3 of 4
    "process_advice": [0, 0, 1, 0, 0, 0, 1, 0],  # 2 of 4
    "mi_change": [0, 1, 0, 0, 0, 0, 0, 0],  # 1 of 4
}


def test_rates_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = behaviour_rates(make(SPOKEN, CODES))
    assert values["therapist_question_rate"] == 0.5
    assert values["n_therapist_question"] == 2
    assert values["therapist_reflection_rate"] == 0.75
    assert values["therapist_advice_rate"] == 0.5
    assert values["client_change_rate"] == 0.25
    assert values["client_sustain_rate"] == 0
    bounds = values["therapist_question_rate_lo"], values["therapist_question_rate_hi"]
    assert bounds == pytest.approx(wilson(2, 4, correlation_of("mi_question")))
    assert bounds[1] - bounds[0] > wilson(2, 4)[1] - wilson(2, 4)[0]


def test_the_expected_rate_is_the_mean_probability(make) -> None:  # type: ignore[no-untyped-def]
    values = behaviour_rates(make(SPOKEN, CODES))
    assert values["therapist_question_rate_expected"] == pytest.approx((0.9 + 0.9 + 0.1 + 0.1) / 4)


def test_without_turns_of_the_role_a_rate_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    values = behaviour_rates(make([("T", "Hello")], {"mi_question": [1]}))
    assert values["therapist_question_rate"] == 1
    assert math.isnan(values["client_change_rate"])
    assert math.isnan(values["n_client_change"])
    assert math.isnan(values["client_change_rate_expected"])


def test_a_code_that_the_coder_does_not_give_has_no_rate(make) -> None:  # type: ignore[no-untyped-def]
    values = behaviour_rates(make(SPOKEN, {"mi_question": CODES["mi_question"]}))
    assert values["therapist_question_rate"] == 0.5
    assert math.isnan(values["therapist_advice_rate"])
    assert math.isnan(values["n_therapist_advice"])


def test_each_code_with_a_lane_has_its_rate_and_kinds_have_theirs_in_the_profile() -> None:
    measures = {column.measure for column in MEASURES["behaviour_rates"].columns_for([])}
    for code in shipped_codes():
        name = measure_of_code(code.column)
        assert (name in measures) == bool(code.lane and not code.parent), code.column
        assert code_of_measure(name) == code.column


def test_reflections_to_questions(make) -> None:  # type: ignore[no-untyped-def]
    values = reflection_to_question(make(SPOKEN, CODES))
    assert values["reflection_to_question_ratio"] == 1.5
    assert values["reflection_to_question_ratio_lo"] < 1
    assert values["reflection_to_question_ratio_hi"] > 2


def test_without_questions_the_ratio_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    values = reflection_to_question(make(SPOKEN, {"mi_reflection": [1, 0, 1, 0, 0, 0, 0, 0]}))
    assert all(map(math.isnan, without_totals(values).values()))
