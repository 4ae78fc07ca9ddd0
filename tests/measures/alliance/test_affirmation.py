"""Affirmations: phrases that a reader can count."""

from __future__ import annotations

import math

import pytest

from therapy_analytics.measures.alliance.affirmation import affirmation

AFFIRMS = [
    "You have been working really hard on this.",
    "You did a great job with the diary.",
    "That takes a lot of courage.",
    "Good for you!",
    "I really admire your patience with her.",
    "You've come such a long way.",
    "That sounds like a wonderful plan.",
]
NOT_AFFIRMS = [
    "You didn't do well.",
    "Did you do well?",
    "She said you did a great job.",
    "If you did well, tell me.",
    "You never worked hard.",
    "It is a great big house.",
    "Good. Great.",
    "The strong tea helps.",
    "You have a job at the good school.",
]


def _n(make, text: str) -> object:  # type: ignore[no-untyped-def]
    return affirmation(make([("T", text), ("T", "Mm.")]))["n_therapist_affirmation"]


@pytest.mark.parametrize("text", AFFIRMS)
def test_affirms(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert _n(make, text) == 1


@pytest.mark.parametrize("text", NOT_AFFIRMS)
def test_negated_asked_reported_or_single_words_do_not(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert _n(make, text) == 0


def test_rates_are_of_the_turns_with_words_of_the_role(make) -> None:  # type: ignore[no-untyped-def]
    said = [("T", "Well done!"), ("C", "You did great."), ("T", "So."), ("T", "..."), ("C", "Yes.")]
    values = affirmation(make(said))
    assert values["therapist_affirmation_rate"] == pytest.approx(1 / 2)
    assert values["n_therapist_affirmation"] == 1


def test_without_the_role_undefined(make) -> None:  # type: ignore[no-untyped-def]
    values = affirmation(make([("C", "Well done!")]))
    assert math.isnan(values["therapist_affirmation_rate"])
    assert math.isnan(values["n_therapist_affirmation"])
