"""How far sessions lie from those that the tagger learnt from."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from talks import session

import therapy_analytics as ta
from therapy_analytics.run.summary import checks
from therapy_analytics.text.training_talk import N_DIRECTIONS, N_NUMBERS, N_VECTOR, TrainingTalk, training_talk


def _talk() -> TrainingTalk:
    """A description by hand: directions along the first axes, all numbers usual at 0 and worth the same."""
    directions = np.stack([np.eye(N_DIRECTIONS, N_VECTOR)] * 2)
    return TrainingTalk(
        np.zeros((2, N_VECTOR)), directions, np.zeros(N_NUMBERS), np.eye(N_NUMBERS), np.array([1.0, 6.0])
    )


def test_numbers_and_distance_by_hand() -> None:
    vectors, words = np.zeros((3, N_VECTOR)), np.array([1, 1, 1])
    vectors[:, 2], vectors[:, N_DIRECTIONS] = 3.0, np.e
    side, longer = (vectors, words), (vectors, np.array([1, 1, 1]) * 10)
    numbers = _talk().numbers([side, longer])
    assert numbers is not None
    expected = [0, 0, 3, 0, 0, 0, 0, 0, 1]
    np.testing.assert_allclose(numbers, [*expected, 0, *expected, np.log(10)])
    squared = 2 * (9 + 1) + np.log(10) ** 2
    assert _talk().distance([side, longer]) == pytest.approx(sqrt(squared / N_NUMBERS / (1 + 6 / 6)))


def test_few_turns_have_no_distance() -> None:
    vectors = np.ones((2, N_VECTOR))
    side = (vectors, np.array([4, 5]))
    assert _talk().numbers([side, side]) is None
    assert isnan(_talk().distance([side, side]))


def _distance(sessions: Iterable[ta.Session]) -> float:
    table = ta.analyze(sessions, tagger=ta.TaggerOptions(kind="fast")).sessions
    return float(table["distance_from_training"].iloc[0])


def test_counseling_lies_near_and_talk_of_something_else_lies_far(samples: Path) -> None:
    near = _distance(ta.read(samples / "boyle_lucia.txt"))
    manual = "Tighten the four bolts of the gearbox, then fill in oil up to the mark and run the engine for an hour. "
    far = _distance([session(*[manual * 8] * 30)])
    assert 0 < near < 1
    assert far > 2


def test_the_summary_says_how_many_sessions_are_unlike() -> None:
    assert isinstance(training_talk(), TrainingTalk)
    usual = {"role_method": "label", "role_pronoun_margin": 9.0, "notes": ""}
    rows = pd.DataFrame([usual | {"distance_from_training": far} for far in (0.4, 1.3, float("nan"), 2.0) * 2])
    assert checks(rows) == (
        "Check: 4 sessions unlike those that the tagger learnt from: rates may be off by more than their intervals."
    )
