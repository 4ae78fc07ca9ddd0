"""What comes before the first advice, counted by hand."""

from __future__ import annotations

import math

import numpy as np

from tests.undefined import without_totals
from therapy_analytics.measures.process.first_advice import first_advice

# T C T C T C T C T C
SAID = [("TC"[at % 2], f"turn {at}") for at in range(10)]
CODES = {
    "mi_question": [1, 0, 0, 0, 0, 0, 0, 0, 1, 0],
    "mi_reflection": [0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
    "process_advice": [0, 0, 0, 0, 1, 0, 1, 0, 0, 0],
    "process_advice_invited": [0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
}


def test_what_comes_before_the_first_advice(make) -> None:  # type: ignore[no-untyped-def]
    values = first_advice(make(SAID, CODES))
    assert values["advice_given"] == 1
    assert values["client_turns_before_advice"] == 2  # turns 1 and 3
    assert values["exploration_before_advice"] == 2  # a question and a reflection
    assert values["first_advice_place"] == 4 / 10
    assert values["first_advice_invited"] == 1
    assert values["unasked_advice_rate"] == 1 / 5  # turn 6 of five therapist turns
    assert values["n_unasked_advice"] == 1


def test_without_advice_what_comes_before_it_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    values = first_advice(make(SAID, {**CODES, "process_advice": [0] * 10, "process_advice_invited": [0] * 10}))
    assert values["advice_given"] == values["unasked_advice_rate"] == 0
    names = ("client_turns_before_advice", "exploration_before_advice", "first_advice_place", "first_advice_invited")
    assert all(math.isnan(values[name]) for name in names)


def test_without_the_codes_all_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    for session in (make([]), make(SAID, {"mi_question": CODES["mi_question"]})):
        for name, value in without_totals(first_advice(session)).items():
            assert np.isnan(value), name
