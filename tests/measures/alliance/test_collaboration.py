"""Sharing the lead: phrases that a reader can count."""

from __future__ import annotations

import math

import pytest

from tests.undefined import without_totals
from therapy_analytics.measures.alliance.collaboration import collaboration

KINDS = {
    "permission": [
        "Is it okay if I share an idea?",
        "Would it be all right if we came back to that?",
        "Can I ask you about your sleep?",
        "Do you mind if I write this down?",
        "Would you be open to a suggestion?",
    ],
    "autonomy": [
        "It's really up to you.",
        "This is your choice.",
        "You know yourself best.",
        "I'm not here to tell you what to do.",
        "We can talk whenever you feel ready.",
    ],
}
NOTHING = [
    "Where did you feel most comfortable?",
    "What would you be willing to do?",
    "You are the person who cares for her.",
    "You had options.",
    "He plays tennis and he has a choice of rackets.",
    "The okay sign is lit.",
    "She said it is up to you.",
    "What does she think about him?",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in KINDS.items() for text in texts])
def test_each_is_counted_under_its_kind_alone(make, kind: str, text: str) -> None:  # type: ignore[no-untyped-def]
    values = collaboration(make([("T", text), ("C", text), ("T", "Mm.")]))
    assert values[f"n_therapist_{kind}"] == 1
    assert values[f"therapist_{kind}_rate"] == pytest.approx(1 / 2)
    assert sum(values[f"n_therapist_{one}"] for one in KINDS) == 1


@pytest.mark.parametrize("text", NOTHING)
def test_words_alone_and_reported_speech_are_nothing(make, text: str) -> None:  # type: ignore[no-untyped-def]
    values = collaboration(make([("T", text)]))
    assert [kind for kind in KINDS if values[f"n_therapist_{kind}"]] == []


def test_a_turn_counts_once_a_kind_and_under_several(make) -> None:  # type: ignore[no-untyped-def]
    said = "It's up to you. It is your choice. Can I ask you about your sleep?"
    values = collaboration(make([("T", said), ("T", "...")]))
    assert values["therapist_autonomy_rate"] == 1
    assert values["therapist_permission_rate"] == 1


def test_without_words_of_the_therapist_undefined(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("T", "...")], [("C", "It is up to you.")]):
        assert all(map(math.isnan, without_totals(collaboration(make(said))).values()))
