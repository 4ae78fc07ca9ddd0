"""Attributions: what a reader can check, and what was planted in real sessions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.attributions import CORPORA, DEVELOPED_ON, in_order, neighbours, outcomes, plant
from tests.undefined import without_totals
from therapy_analytics.measures.process.attributions import attributions

NAN = math.nan
TOLD = [
    ("T", "What brings you here?"),
    ("C", "My daughter moved to Chicago and since then I drink wine every evening in the kitchen."),
    ("T", "Mm."),
    ("C", "I work nights as a nurse at the hospital, so I sleep badly."),
]


@pytest.mark.parametrize(
    "text",
    [
        "You mentioned that your daughter moved to Chicago.",
        "As you said, you drink wine in the evenings.",
        "You told me earlier about working nights as a nurse.",
        "Working nights in the hospital, like you said.",
    ],
)
def test_what_was_said_is_borne_out(make, text: str) -> None:  # type: ignore[no-untyped-def]
    values = attributions(make([*TOLD, ("T", text)]))
    np.testing.assert_equal(values["false_attribution_turn"], [NAN, NAN, NAN, NAN, 0])
    assert values["attribution_rate"] == pytest.approx(1 / 3)  # 3 therapist turns
    assert values["unsupported_attribution_rate"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "You mentioned that your brother crashed the motorcycle.",
        "As you described, the lawyer wants more money for the divorce.",
        "You also said you gamble on football matches.",
    ],
)
def test_what_was_not_said_is_a_candidate(make, text: str) -> None:  # type: ignore[no-untyped-def]
    values = attributions(make([*TOLD, ("T", text)]))
    assert np.asarray(values["false_attribution_turn"])[-1] == 1
    assert values["n_unsupported_attribution"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "Did you say that your brother crashed the motorcycle?",
        "If you told your boss about the motorcycle, what would he do?",
        "You told him that the motorcycle crashed.",
        "You talked to your wife about the motorcycle.",
        "She mentioned that the motorcycle crashed.",
        "What would you like to have said?",
    ],
)
def test_no_attributions(make, text: str) -> None:  # type: ignore[no-untyped-def]
    assert attributions(make([*TOLD, ("T", text)]))["attribution_rate"] == 0


@pytest.mark.parametrize(
    "text", ["Last week you mentioned that your brother crashed the motorcycle.", "Thank you for what you said."]
)
def test_what_cannot_be_judged(make, text: str) -> None:  # type: ignore[no-untyped-def]
    values = attributions(make([*TOLD, ("T", text)]))
    assert values["attribution_rate"] == pytest.approx(1 / 3)
    assert math.isnan(values["unsupported_attribution_rate"])  # type: ignore[arg-type]


def test_only_earlier_words_of_the_client_count(make) -> None:  # type: ignore[no-untyped-def]
    claim, said = ("T", "You said that you gamble on football matches."), ("C", "I gamble on football matches.")
    assert np.asarray(attributions(make([*TOLD, claim, said]))["false_attribution_turn"])[-2] == 1
    assert np.asarray(attributions(make([*TOLD, said, claim]))["false_attribution_turn"])[-1] == 0


def test_undefined_without_both(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("C", "You said that it rains.")], [("T", "...")]):
        for name, value in without_totals(attributions(make(said))).items():
            assert np.isnan(np.asarray(value, dtype=float)).all(), name


def test_planted_in_real_sessions(corpora: Path) -> None:
    """Twenty of the fifty sessions of benchmarks/attributions.py, which nothing was chosen on."""
    sessions = {name: in_order(corpora, name)[DEVELOPED_ON : DEVELOPED_ON + 4] for name in CORPORA}
    near = neighbours([one for some in sessions.values() for one in some])
    random = np.random.default_rng(1)
    planted = [plant(one, name, sessions, False, near, random) for name in CORPORA for one in sessions[name]]
    found = {
        method: np.array([(false, called) for _, false, called in hits]).T for method, hits in outcomes(planted).items()
    }
    false, called = found["form and meaning"]
    assert called[false].mean() >= 0.75
    assert false[called].mean() >= 0.8
    assert false[called].mean() > found["exact words"][0][found["exact words"][1]].mean()
