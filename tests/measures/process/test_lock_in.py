"""Lock-in: repeats that a reader can count."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.undefined import without_totals
from therapy_analytics.measures.process._repeats import seen_often
from therapy_analytics.measures.process.lock_in import lock_in

NAN = math.nan
SAID = [
    ("T", "You should walk for half an hour every evening after dinner."),  # 0: advice
    ("C", "Maybe."),
    ("T", "Keep your telephone and computer outside the bedroom at night."),  # 2: another
    ("C", "Hm."),
    ("T", "Write three worries into a notebook before sleeping."),  # 4: another
    ("C", "Hm."),
    ("T", "An evening walk of half an hour after dinner helps you."),  # 6: that of 0 again
    ("C", "So you said."),
    ("T", "An evening walk of half an hour after dinner helps you."),  # 8: no advice, by its codes
]
CODES = {"mi_input": [1, 0, 1, 0, 1, 0, 1, 0, 0]}


def test_advice_that_comes_again(make) -> None:  # type: ignore[no-untyped-def]
    values = lock_in(make(SAID, CODES))
    assert values["n_repeated_advice"] == 1  # of 4
    assert values["repeated_advice_rate"] == pytest.approx(1 / 4)
    np.testing.assert_equal(values["repeated_advice_turn"], [0, NAN, 0, NAN, 0, NAN, 1, NAN, NAN])


def test_questions_and_one_turn_alone_repeat_nothing(make) -> None:  # type: ignore[no-untyped-def]
    twice = "You should walk every evening after dinner. Walk every evening after dinner with friends."
    assert lock_in(make([("T", twice)], {"mi_input": [1]}))["repeated_advice_rate"] == 0
    asked = [("T", "Could you walk every evening after dinner?"), ("C", "No.")] * 2
    assert math.isnan(lock_in(make(asked, {"mi_input": [1, 0, 1, 0]}))["repeated_advice_rate"])  # type: ignore[arg-type]


OPENS = ["It sounds like", "Okay, it sounds like", "I hear that", "So, it sounds like", "It sounds like", "Yes."]


def test_openings_that_come_again(make) -> None:  # type: ignore[no-untyped-def]
    said = [turn for text in OPENS for turn in (("T", f"{text} rain." if text != "Yes." else text), ("C", "Yes."))]
    values = lock_in(make(said))
    # "it sounds like" in turns 0, 2, 6, 8: only 8 has three before it; "Yes." has no three words
    assert values["n_repeated_opening"] == 1
    assert values["repeated_opening_rate"] == pytest.approx(1 / 5)
    np.testing.assert_equal(np.asarray(values["repeated_opening_turn"])[::2], [0, 0, 0, 0, 1, NAN])
    assert 0 <= values["repeated_opening_rate_null_mean"] <= values["repeated_opening_rate"]


def test_order_of_frames_alone_says_when() -> None:
    frames = np.array([[1, 2, 3]] * 6 + [[4, 5, 6]] * 2)
    for seed in range(5):
        # Whatever the order, three of the six have three or more before them
        assert seen_often(np.random.default_rng(seed).permutation(frames)).sum() == 3


def test_undefined_without_a_therapist(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("C", "It sounds like rain.")], [("T", "...")]):
        for name, value in without_totals(lock_in(make(said))).items():
            assert np.isnan(np.asarray(value, dtype=float)).all(), name
