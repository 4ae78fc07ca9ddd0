"""Whose we, and agreement that adds something."""

from __future__ import annotations

import math

import pytest

from tests.undefined import without_totals
from therapy_analytics.measures.alliance.togetherness import togetherness

INCLUSIVE = [
    ("T", "Where shall we start today?"),
    ("T", "We've been working on this for a month."),
    ("T", "Let's make a list."),
    ("T", "We can go as slowly as you like."),
    ("C", "We talked about it last week."),
    ("C", "Can we discuss something else?"),
    ("C", "After our last session I called."),
]
EXCLUSIVE = [
    ("T", "Here at the clinic we offer a group."),
    ("T", "We all make mistakes."),
    ("T", "You and your husband feel that we never listen."),
    ("T", "Let's say you drink on Friday."),
    ("C", "We got married in June."),
    ("C", "My wife and I, we talked about it."),
    ("C", "She said we should start over."),
    ("C", "Our house is small."),
]
ADDS = ["Yes, I think I could walk there in the morning.", "Exactly, it felt like the old house was gone."]
ADDS_NOTHING = [
    "Yes.",
    "Yeah, okay, right, sure.",
    "Yeah, but I could never walk there in the morning.",
    "I think I could walk there in the morning, yes.",
]


@pytest.mark.parametrize(("who", "text"), INCLUSIVE)
def test_we_of_the_two_who_talk(make, who: str, text: str) -> None:  # type: ignore[no-untyped-def]
    role = {"T": "therapist", "C": "client"}[who]
    assert togetherness(make([(who, text)]))[f"n_{role}_inclusive_we"] == 1


@pytest.mark.parametrize(("who", "text"), EXCLUSIVE)
def test_we_of_others(make, who: str, text: str) -> None:  # type: ignore[no-untyped-def]
    role = {"T": "therapist", "C": "client"}[who]
    values = togetherness(make([(who, text)]))
    assert values[f"n_{role}_inclusive_we"] == 0
    assert values[f"n_{role}_we"] == 1


def test_rates_are_per_100_words_of_the_role(make) -> None:  # type: ignore[no-untyped-def]
    values = togetherness(make([("T", "Shall we look at our plan?"), ("C", "We moved. Can we talk?"), ("T", "I am.")]))
    assert values["therapist_inclusive_we_per_100_words"] == pytest.approx(100 * 2 / 8)
    assert values["client_inclusive_we_per_100_words"] == pytest.approx(100 * 1 / 5)
    assert values["therapist_i_per_100_words"] == pytest.approx(100 * 1 / 8)


@pytest.mark.parametrize("text", ADDS)
def test_agreement_that_adds(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert togetherness(make([("C", text), ("C", "No.")]))["client_elaborated_agreement_rate"] == pytest.approx(1 / 2)


@pytest.mark.parametrize("text", ADDS_NOTHING)
def test_agreement_that_adds_nothing(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert togetherness(make([("C", text)]))["client_elaborated_agreement_rate"] == 0


def test_without_the_role_undefined(make) -> None:  # type: ignore[no-untyped-def]
    values = togetherness(make([]))
    assert all(map(math.isnan, without_totals(values).values()))
