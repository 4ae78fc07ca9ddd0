"""Where the client says little."""

from __future__ import annotations

import math

import pytest

from tests.undefined import without_totals
from therapy_analytics.measures.alliance.minimal_responses import minimal_responses

SAID = [
    ("T", "How are you?"),  # asks; first third: turns 0 to 3
    ("C", "I slept badly."),
    ("T", "Sleep matters for the heart."),  # informs
    ("C", "Yeah."),
    ("T", "You are tired."),  # neither
    ("C", "Okay."),
    ("T", "Shall I tell you more? Sleep heals."),  # asks and informs
    ("C", "Mm-hmm."),
    ("T", "..."),  # no words; last third: turns 8 to 11
    ("C", "Yes."),
    ("T", "You want to rest."),  # neither
    ("C", "No, I want to run a long way."),
]
CODES = {"mi_question": [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], "mi_input": [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0]}


def test_rates_by_place(make) -> None:  # type: ignore[no-untyped-def]
    values = minimal_responses(make(SAID, CODES))
    assert values["client_minimal_response_first_third_rate"] == pytest.approx(1 / 2)  # of turns 1, 3
    assert values["client_minimal_response_last_third_rate"] == pytest.approx(1 / 2)  # of 9, 11
    assert values["client_minimal_response_change"] == 0
    assert values["client_minimal_response_after_question_rate"] == pytest.approx(1 / 2)  # of 1, 7
    assert values["client_minimal_response_after_input_rate"] == 1  # 3, 7
    assert values["client_minimal_response_otherwise_rate"] == pytest.approx(1 / 2)  # of 5, 11


def test_change_is_last_less_first(make) -> None:  # type: ignore[no-untyped-def]
    said = [("C", "I ran home."), ("C", "Well I ran."), ("C", "Yeah.")]
    assert minimal_responses(make(said))["client_minimal_response_change"] == 1


def test_without_the_client_undefined(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("T", "How are you?")], [("T", "Hm."), ("C", "...")]):
        assert all(map(math.isnan, without_totals(minimal_responses(make(said))).values()))
