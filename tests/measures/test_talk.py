"""Counting turns, words and seconds."""

from __future__ import annotations

import math

import pytest

from therapy_analytics.measures.process.talk import talk

# T says 4 words, C says 6, T says 2: 6 of 12 words are the therapist's.
DIALOGUE = [("T", "How are you today?"), ("C", "I don't know. Tired, I guess."), ("T", "Tired. Mm-")]


def test_counts_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = talk(make(DIALOGUE))
    assert values["n_turns"] == 3
    assert (values["n_turns_therapist"], values["n_turns_client"]) == (2, 1)
    assert (values["n_words_therapist"], values["n_words_client"]) == (6, 6)
    assert values["therapist_talk_share"] == 0.5
    assert (values["therapist_words_per_turn"], values["client_words_per_turn"]) == (3, 6)
    assert math.isnan(values["duration_s"])


def test_duration_is_from_first_to_last(make) -> None:  # type: ignore[no-untyped-def]
    values = talk(make(DIALOGUE, times=[(10, 12), (12.5, 30), (31, 40.25)]))
    assert values["duration_s"] == pytest.approx(30.25)


def test_talk_of_others_is_nobodys_share(make) -> None:  # type: ignore[no-untyped-def]
    values = talk(make([("O", "System words here"), ("T", "Hello there"), ("C", "Hi")]))
    assert values["therapist_talk_share"] == pytest.approx(2 / 3)
    assert values["n_turns"] == 3


def test_a_session_without_a_client(make) -> None:  # type: ignore[no-untyped-def]
    values = talk(make([("T", "Anybody there?")]))
    assert values["n_turns_client"] == 0
    assert math.isnan(values["client_words_per_turn"])
    assert values["therapist_talk_share"] == 1
