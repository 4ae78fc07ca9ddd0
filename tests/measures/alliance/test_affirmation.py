"""Praise, thanks and appreciation: phrases that a reader can count."""

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
APPRECIATES = [
    "Thank you.",
    "Thanks, that helps a lot.",
    "That makes sense.",
    "It's good to talk to you.",
    "I feel heard.",
]
NOT_APPRECIATES = [
    "No, thank you.",
    "My sister said thank you to him.",
    "That doesn't make sense.",
    "Does that make sense?",
    "It helps me relax.",
    "I am good, thanks.",
]


def _n(make, who: str, text: str, name: str) -> object:  # type: ignore[no-untyped-def]
    return affirmation(make([(who, text), (who, "Mm.")]))[f"n_{name}"]


@pytest.mark.parametrize("text", AFFIRMS)
def test_affirms(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert _n(make, "T", text, "therapist_affirmation") == 1


@pytest.mark.parametrize("text", NOT_AFFIRMS)
def test_negated_asked_reported_or_single_words_do_not(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert _n(make, "T", text, "therapist_affirmation") == 0


@pytest.mark.parametrize("text", ["Thank you for sharing that.", "I appreciate your honesty.", "Thanks for coming in."])
def test_thanks(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert _n(make, "T", text, "therapist_thanks") == 1


@pytest.mark.parametrize("text", ["Thanks.", "She said thank you for coming.", "Thank the nurse for her time."])
def test_thanks_need_what_the_client_gave(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert _n(make, "T", text, "therapist_thanks") == 0


@pytest.mark.parametrize("text", APPRECIATES)
def test_the_client_appreciates(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert _n(make, "C", text, "client_appreciation") == 1


@pytest.mark.parametrize("text", NOT_APPRECIATES)
def test_the_client_does_not(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert _n(make, "C", text, "client_appreciation") == 0


def test_rates_are_of_the_turns_with_words_of_the_role(make) -> None:  # type: ignore[no-untyped-def]
    said = [("T", "Well done!"), ("C", "Thank you."), ("T", "So."), ("T", "..."), ("C", "Yes."), ("C", "No.")]
    values = affirmation(make(said))
    assert values["therapist_affirmation_rate"] == pytest.approx(1 / 2)
    assert values["client_appreciation_rate"] == pytest.approx(1 / 3)


def test_without_the_role_undefined(make) -> None:  # type: ignore[no-untyped-def]
    values = affirmation(make([("T", "Well done!")]))
    assert math.isnan(values["client_appreciation_rate"])
    assert math.isnan(values["n_client_appreciation"])
