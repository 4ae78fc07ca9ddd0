"""Markers that a reader can count."""

from __future__ import annotations

import math

import pytest

from therapy_analytics.measures.alliance.togetherness import togetherness

SAID = [
    ("T", "Shall we look at our plan together?"),  # 7 words; we, our
    ("C", "Yeah."),  # minimal, agrees
    ("T", "Exactly, let us begin."),  # agrees; us ("let us" has one us)
    ("C", "Okay, mm-hmm."),  # minimal
    ("T", "What would help?"),
    ("C", "No, I did that with my sister and we fought."),  # 10 words; we
    ("T", "..."),  # no words: no base
    ("C", "That's right, I need sleep."),  # agrees
]


def test_markers_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = togetherness(make(SAID))
    assert values["n_therapist_we"] == 3
    assert values["therapist_we_per_100_words"] == pytest.approx(100 * 3 / 14)
    assert values["n_client_we"] == 1
    assert values["n_client_minimal_response"] == 2
    assert values["client_minimal_response_rate"] == pytest.approx(2 / 4)
    assert values["n_therapist_agreement_opener"] == 1
    assert values["therapist_agreement_opener_rate"] == pytest.approx(1 / 3)


def test_agreement_counts_at_the_start_of_a_turn_alone(make) -> None:  # type: ignore[no-untyped-def]
    values = togetherness(make([("T", "Well"), ("C", "I thought about it and yes, exactly.")]))
    assert values["n_client_agreement_opener"] == 0


def test_without_the_client_undefined(make) -> None:  # type: ignore[no-untyped-def]
    values = togetherness(make([("T", "We are here")]))
    assert values["n_therapist_we"] == 1
    assert math.isnan(values["client_we_per_100_words"])
    assert math.isnan(values["client_minimal_response_rate"])
