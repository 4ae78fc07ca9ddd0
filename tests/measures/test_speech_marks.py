"""Counting what transcribers noted."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.undefined import without_totals
from therapy_analytics.measures.process.speech_marks import speech_marks
from therapy_analytics.readers.marks import split_marks


def test_marks_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    spoken = [
        ("T", "So [laughs] tell me (pause 3s) more (pause)"),  # 1 laugh, 2 pauses of which 3 s timed
        ("C", "[silence 10s] I [inaudible] it xxx"),  # 1 silence of 10 s, 2 unclear
        ("T", "Mm."),
    ]
    annotated = make([(who, split_marks(text)[0]) for who, text in spoken])
    turns = tuple(
        replace(turn, marks=split_marks(text)[1])
        for turn, (_, text) in zip(annotated.session.turns, spoken, strict=True)
    )
    values = speech_marks(replace(annotated, session=replace(annotated.session, turns=turns)))
    assert (values["n_laughs_therapist"], values["n_pauses_therapist"], values["pause_s_therapist"]) == (1, 2, 3)
    assert (values["n_unclear_client"], values["n_pauses_client"], values["pause_s_client"]) == (2, 1, 10)
    assert (values["n_laughs_client"], values["n_unclear_therapist"]) == (0, 0)


def test_a_transcriber_who_marks_nothing_says_nothing(make) -> None:  # type: ignore[no-untyped-def]
    assert all(map(math.isnan, without_totals(speech_marks(make([("T", "One"), ("C", "two")]))).values()))
