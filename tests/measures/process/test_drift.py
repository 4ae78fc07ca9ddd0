"""Drift: changes that a reader can count, and intervals that do not cry wolf."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.drift import coded, shuffled
from therapy_analytics import read
from therapy_analytics.measures.process._change_of_thirds import changes_of_means, changes_of_ratios, changes_of_shares
from therapy_analytics.measures.process.drift import drift

NAN = math.nan


def _said(therapist: list[str]) -> list[tuple[str, str]]:
    return [turn for text in therapist for turn in (("T", text), ("C", "yes it is"))]


def test_a_session_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    # 18 turns: thirds of 6, with 3 turns of each. Questions: 2 of 3, then 0 of 3. Words: 2 a turn, then 4.
    said = _said(["one two"] * 6 + ["one two three four"] * 3)
    values = drift(make(said, {"mi_question": [1, 0, 1, 0, 0, 0] + [0] * 12}))
    assert values["therapist_question_drift"] == pytest.approx(-2 / 3)
    assert values["therapist_words_drift"] == 2
    assert values["client_words_drift"] == 0
    assert values["therapist_word_share_drift"] == pytest.approx(4 / 7 - 2 / 5)
    assert values["therapist_question_drift_lo"] < -2 / 3 < values["therapist_question_drift_hi"]


def test_nothing_is_said_of_short_sessions(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("T", "Hello."), ("C", "Hi.")] * 7, [("C", "Hi.")] * 30):  # of 14 turns, 2 of each at the end
        values = drift(make(said))
        assert all(math.isnan(value) for name, value in values.items() if name.startswith("therapist"))


def test_newcombes_own_example() -> None:
    """56 of 70 against 48 of 80: .20, from .0524 to .3339 (Newcombe 1998, table II, method 10, contrast a)."""
    found = changes_of_shares(np.array([48.0, 56.0]), np.array([80.0, 70.0]))
    assert found == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_intervals_hold_as_often_as_they_say() -> None:
    generator = np.random.default_rng(0)
    means = generator.normal(size=(400, 2, 12))
    pairs = generator.integers(1, 20, size=(400, 2, 12, 2))
    pairs[..., 1] += pairs[..., 0]
    for changes, thirds in ((changes_of_means, means), (changes_of_ratios, pairs)):
        ends = [changes(first, last)[1:] for first, last in thirds]
        assert 0.92 <= np.mean([low <= 0 <= high for low, high in ends]) <= 0.98


def test_without_codes_there_are_words(make) -> None:  # type: ignore[no-untyped-def]
    from dataclasses import replace

    values = drift(replace(make(_said(["one two"] * 9)), decisions={}, probabilities={}))
    assert math.isnan(values["therapist_question_drift"])
    assert values["therapist_words_drift"] == 0


def test_shuffled_turns_do_not_drift(corpora: Path) -> None:
    rows = shuffled(list(coded(read(corpora / "annomi")[:40])))
    by_chance = [float(row[3].removesuffix("%")) for row in rows[1:]]
    assert np.mean(by_chance) <= 7
