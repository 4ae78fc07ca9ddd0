"""Staying with the client's topic, in talk made for it."""

from __future__ import annotations

import math

import pytest

from tests.undefined import without_totals
from therapy_analytics.measures.alliance.topic_continuity import topic_continuity

TOPICS = {
    "I sleep badly and lie awake all night": "So your sleep at night is bad and you lie awake",
    "My boss gave me too much work at the office": "The boss and the work at the office are too much",
    "The dog ran away and the puppy barks": "You miss the dog and hear the puppy bark",
    "I owe money and the bank wants the loan back": "The bank, the loan and the money press on you",
    "I drank six beers and some wine on Friday": "Six beers and wine was what you drank on Friday",
    "We took the train to the beach and swam": "You went swimming at the beach by train",
}


def _talk(replies: list[str]) -> list[tuple[str, str]]:
    return [turn for said, reply in zip(TOPICS, replies, strict=True) for turn in (("C", said), ("T", reply))]


def test_who_takes_up_each_topic_keeps_all(make) -> None:  # type: ignore[no-untyped-def]
    values = topic_continuity(make(_talk(list(TOPICS.values()))))
    assert values["therapist_topic_kept_rate"] == 1
    assert values["n_therapist_topic_kept"] == 6


def test_who_is_three_topics_behind_keeps_few(make) -> None:  # type: ignore[no-untyped-def]
    replies = list(TOPICS.values())
    assert topic_continuity(make(_talk(replies[3:] + replies[:3])))["therapist_topic_kept_rate"] <= 0.5


def test_minimal_responses_between_change_nothing(make) -> None:  # type: ignore[no-untyped-def]
    talk = _talk(list(TOPICS.values()))
    longer = [turn for one in talk for turn in ([*[one], ("T", "Mm-hmm."), ("C", "Yeah.")] if one[0] == "C" else [one])]
    assert topic_continuity(make(longer)) == topic_continuity(make(talk))


@pytest.mark.parametrize("said", [[], [("T", "...")], [("C", "Yes.")], list(TOPICS.items())[:1]])
def test_too_little_talk_is_undefined(make, said) -> None:  # type: ignore[no-untyped-def]
    values = topic_continuity(make([("C" if i % 2 else "T", text) for i, (_, text) in enumerate(said)]))
    assert all(map(math.isnan, without_totals(values).values()))


def test_one_turn_of_the_therapist_among_few_of_the_client_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    talk = _talk(list(TOPICS.values()))[:8]
    assert math.isnan(topic_continuity(make(talk))["therapist_topic_kept_rate"])
