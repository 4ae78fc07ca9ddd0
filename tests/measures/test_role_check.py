"""The pronoun margin by hand."""

from __future__ import annotations

import math

import pytest

from therapy_analytics.measures.process.role_check import role_check


def test_a_margin_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = role_check(make([("T", "How do you feel"), ("C", "I am fine")]))
    assert values["role_pronoun_margin"] == pytest.approx(100 * (1 / 4 - -1 / 3))


def test_swapped_labels_turn_the_sign(make) -> None:  # type: ignore[no-untyped-def]
    one = role_check(make([("T", "How do you feel"), ("C", "I am fine")]))["role_pronoun_margin"]
    two = role_check(make([("C", "How do you feel"), ("T", "I am fine")]))["role_pronoun_margin"]
    assert two == pytest.approx(-one)


def test_without_one_of_the_two_undefined(make) -> None:  # type: ignore[no-untyped-def]
    assert math.isnan(role_check(make([("T", "How do you feel")]))["role_pronoun_margin"])
