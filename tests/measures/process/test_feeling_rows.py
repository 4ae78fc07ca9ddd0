"""Feelings that the therapist names, as rows: the places are those of the words, the turns those of the client."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures.process._feeling_rows import FEELING_COLUMNS, feeling_rows
from therapy_analytics.measures.process.unexpressed_feelings import unexpressed_feelings

Make = Callable[..., AnnotatedSession]


def _words(session: AnnotatedSession) -> list[str]:
    rows = feeling_rows(session)
    places = zip(rows["turn"].tolist(), rows["start"].tolist(), rows["end"].tolist(), strict=True)
    return [session.session.turns[turn].text[start:end] for turn, start, end in places]


def test_a_session_that_a_reader_can_count(make: Make) -> None:
    session = make(
        [
            ("C", "Um, um, I am a bit nervous about the talk."),
            ("T", "Hm, well... so you\u2019re terrified  of it?"),
            ("C", "It is on Monday at nine."),
            ("T", "You sound, uh, uh, angry, and left out."),
            ("C", "I cried all weekend."),
            ("T", "You feel sad."),
        ]
    )
    rows = feeling_rows(session)
    assert list(rows) == [column.name for column in FEELING_COLUMNS]
    assert _words(session) == ["terrified", "angry", "left out", "sad"]
    assert rows["turn"].tolist() == [1, 3, 3, 5]
    assert rows["family"].tolist() == ["fear", "anger", "hurt", "sadness"]
    assert rows["expressed"].tolist() == [1, 0, 0, 1]
    assert np.nan_to_num(rows["expressed_turn"], nan=-1).tolist() == [0, -1, -1, 4]


def test_what_was_said_long_ago_has_its_turn_and_is_not_expressed(make: Make) -> None:
    talk = [("C", "I am so sad about it all."), ("T", "Go on.")]
    talk += [("C", "We went to the shop again."), ("T", "And then?")] * 5
    session = make([*talk, ("C", "Then we came home by bus."), ("T", "You are sad.")])
    rows = feeling_rows(session)
    assert (rows["expressed"].tolist(), rows["expressed_turn"].tolist()) == ([0], [0.0])


def test_rows_and_turn_columns_agree(make: Make) -> None:
    session = make([("C", "I was cross with him."), ("T", "You were furious, and ashamed."), ("C", "No.")])
    rows, values = feeling_rows(session), unexpressed_feelings(session)
    assert set(rows["turn"].tolist()) == set(np.flatnonzero(np.asarray(values["named_feeling_turn"]) == 1).tolist())
    assert set(rows["turn"][rows["expressed"] == 0].tolist()) == {1}
    assert np.asarray(values["unexpressed_feeling_turn"])[1] == 1


def test_a_session_without_a_feeling_has_no_rows(make: Make) -> None:
    rows = feeling_rows(make([("T", "Hello."), ("C", "Hello.")]))
    assert {len(column) for column in rows.values()} == {0}
