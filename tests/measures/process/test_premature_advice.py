"""What comes before advice: sessions that a reader can count, and sessions of good and poor quality."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks._corpora import of_quality
from benchmarks.process_profile import coded
from tests.undefined import without_totals
from therapy_analytics.measures.process._counts import advised
from therapy_analytics.measures.process.premature_advice import premature_advice

NONE = [0] * 10
SAID = [
    ("T", "What brings you here?"),  # asks
    ("C", "I cannot sleep."),
    ("T", "The nights are long."),  # reflects
    ("C", "They are."),
    ("T", "Would it be okay if I shared an idea?"),  # asks permission
    ("C", "Sure."),
    ("T", "A fixed time to get up."),  # advice, permission asked the turn before
    ("C", "Well."),
    ("T", "No screens at night."),  # advice, unasked
    ("C", "Right."),
]
CODES = {
    "mi_question": [1, 0, 0, 0, 1, 0, 0, 0, 0, 0],
    "mi_reflection": [0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
    "mi_input": [0, 0, 0, 0, 0, 0, 1, 0, 1, 0],
    "bolt_problem_solving": [0, 0, 0, 0, 0, 0, 1, 0, 1, 0],
}


def test_what_comes_before_advice_can_be_counted(make) -> None:  # type: ignore[no-untyped-def]
    values = premature_advice(make(SAID, CODES))
    assert values["advice_given"] == 1
    assert values["client_turns_before_advice"] == 3  # 1, 3, 5
    assert values["exploration_before_advice"] == 3  # 0, 2, 4
    assert values["first_advice_place"] == 6 / 10
    assert values["n_advice_with_permission"] == 1
    assert values["advice_with_permission_rate"] == 1 / 2
    assert values["advice_before_reflection_rate"] == 0
    assert values["unasked_advice_rate"] == 1 / 5
    nan = math.nan
    np.testing.assert_equal(values["advice_turn_kind"], [0, nan, 0, nan, 0, nan, 1, nan, 3, nan])


def test_without_advice_what_comes_before_it_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    values = premature_advice(make(SAID, CODES | {"mi_input": NONE}))
    assert values["advice_given"] == 0
    assert values["unasked_advice_rate"] == 0
    for name in ("client_turns_before_advice", "exploration_before_advice", "first_advice_place"):
        assert math.isnan(values[name])
    for name in ("advice_before_reflection_rate", "advice_with_permission_rate", "n_advice_with_permission"):
        assert math.isnan(values[name])


def test_advice_ahead_of_any_reflection(make) -> None:  # type: ignore[no-untyped-def]
    values = premature_advice(make(SAID, CODES | {"mi_reflection": NONE}))
    assert values["advice_before_reflection_rate"] == 1
    np.testing.assert_equal(np.asarray(values["advice_turn_kind"])[[6, 8]], [2, 4])
    same = premature_advice(make(SAID, CODES | {"mi_reflection": [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]}))
    assert same["advice_before_reflection_rate"] == 0  # the first advice comes with a reflection in its own turn


def test_leave_may_be_asked_at_the_beginning_of_the_turn(make) -> None:  # type: ignore[no-untyped-def]
    codes = {"mi_input": [0, 0, 1], "bolt_planning": [0, 0, 1]}
    said = [("T", "Go on."), ("C", "It is bad.")]
    for text, kind in (
        ("Can I suggest something? Get up at seven.", 2),
        ("Get up at seven.", 4),
        ("Get up at seven each day. " * 6 + "Is it okay if I say so?", 4),
    ):
        kinds = premature_advice(make([*said, ("T", text)], codes))["advice_turn_kind"]
        assert np.asarray(kinds)[2] == kind, text


def test_a_cue_alone_is_no_advice_and_neither_is_input_alone(make) -> None:  # type: ignore[no-untyped-def]
    said = [("C", "I saw the leaflet."), ("T", "You should keep it."), ("C", "Yes."), ("T", "It is on page two.")]
    assert premature_advice(make(said))["advice_given"] == 0
    assert premature_advice(make(said, {"mi_input": [0, 0, 0, 1]}))["advice_given"] == 0
    assert premature_advice(make(said, {"mi_input": [0, 1, 0, 0]}))["advice_given"] == 1
    assert premature_advice(make(said, {"bolt_planning": [0, 0, 0, 1]}))["advice_given"] == 0


def test_other_coders_books_are_made_do_with(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, CODES)
    bolt = {code: p for code, p in session.probabilities.items() if code.startswith("bolt_")}
    given = {code: hits for code, hits in session.decisions.items() if code.startswith("bolt_")}
    values = premature_advice(replace(session, probabilities=bolt, decisions=given))
    assert values["client_turns_before_advice"] == 3
    assert math.isnan(values["exploration_before_advice"])
    assert math.isnan(values["advice_before_reflection_rate"])


def test_undefined_without_turns_or_codes(make) -> None:  # type: ignore[no-untyped-def]
    bare = replace(make(SAID), decisions={}, probabilities={})
    for session in (make([]), make([("C", "Alone.")]), make([("T", "...")]), bare):
        for name, value in without_totals(premature_advice(session)).items():
            assert np.isnan(np.asarray(value, dtype=float)).all(), name
    advice = {"mi_input": [1], "bolt_planning": [1]}
    assert math.isnan(premature_advice(make([("T", "Get up at seven.")], advice))["client_turns_before_advice"])


def test_poor_sessions_hold_more_unasked_advice_than_good_ones(corpora: Path) -> None:
    rates = {}
    for quality, sessions in of_quality(corpora, "hlqc").items():
        found = coded(sessions)
        values = [premature_advice(one) for one in found]
        rates[quality] = np.median([one["unasked_advice_rate"] for one in values])
        assert sum(advised(one)[0].sum() for one in found) > 100
    assert rates["low"] == pytest.approx(0.27, abs=0.05)
    assert rates["high"] == pytest.approx(0.09, abs=0.05)
