"""Speech marks: out of the words, kept as data, and back again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from therapy_analytics.core.session import Session
from therapy_analytics.readers import RawSession, ReadOptions, Row
from therapy_analytics.readers.build import build_session
from therapy_analytics.readers.marks import join_marks, split_marks

# text, words, (kind, place in the words, seconds) of each mark
CASES = [
    ("[laughs]", "", [("laughter", 0, None)]),
    ("Yes [pause].", "Yes.", [("pause", 3, None)]),
    ("(2.5) well", "well", [("pause", 0, 2.5)]),
    ("so (3 sec) no", "so no", [("pause", 3, 3.0)]),
    ("[silence 5s] I", "I", [("silence", 0, 5.0)]),
    ("(long pause) I", "I", [("pause", 0, None)]),
    ("I [inaudible 00:12] you", "I you", [("unclear", 2, None)]),
    ("I xxx you", "I you", [("unclear", 2, None)]),
    ("(laughter) ok [crying]", "ok", [("laughter", 0, None), ("crying", 2, None)]),
    ("*sighs* ok", "ok", [("sigh", 0, None)]),
    ("a [laughs] [cries] b", "a b", [("laughter", 2, None), ("crying", 2, None)]),
    ("[crosstalk] no", "no", [("overlap", 0, None)]),
    ("[door closes] go on", "go on", [("event", 0, None)]),
    ("[00:01:02] go on", "go on", [("time", 0, None)]),
    # speech, not marks
    ("She (my sister) said", "She (my sister) said", []),
    ("(1) sleep (2) eat", "(1) sleep (2) eat", []),
    ("see [this](https://a.b)", "see [this](https://a.b)", []),
    ("[NAME_1] came", "[NAME_1] came", []),
    ("**bold** and 2 * 3 * 4", "**bold** and 2 * 3 * 4", []),
    ("she was laughing", "she was laughing", []),
]


@pytest.mark.parametrize(("text", "words", "marks"), CASES, ids=[case[0] for case in CASES])
def test_marks(text: str, words: str, marks: list[tuple[str, int, float | None]]) -> None:
    found_words, found = split_marks(text)
    assert found_words == words
    assert [(mark.kind, mark.at, mark.seconds) for mark in found] == marks


_PARTS = st.sampled_from(
    ["yes", "no.", "I", "well,", "[laughs]", "(pause 2s)", "xxx", "[inaudible]", "(.)", "?", "it's", "(so)", '"so"']
)


@given(st.lists(_PARTS, max_size=12).map(" ".join))
def test_put_back_and_taken_out_again_is_the_same(text: str) -> None:
    words, marks = split_marks(text)
    assert split_marks(join_marks(words, marks)) == (words, marks)


@given(st.text(max_size=80))
def test_any_text_is_words_and_marks_within_them(text: str) -> None:
    words, marks = split_marks(text)
    assert all(0 <= mark.at <= len(words) for mark in marks)
    assert [mark.at for mark in marks] == sorted(mark.at for mark in marks)


def _session(*rows: Row) -> Session:
    return build_session(RawSession("", list(rows)), "a", "a.txt", {}, ReadOptions())


def test_marks_move_along_when_rows_become_a_turn() -> None:
    session = _session(
        Row("T", "So [laughs] you", 1), Row("T", "[pause]", 2), Row("T", "know (2s) it", 3), Row("C", "yes", 4)
    )
    first = session.turns[0]
    assert first.text == "So you know it"
    assert [(mark.kind, first.text[mark.at :]) for mark in first.marks] == [
        ("laughter", "you know it"),
        ("pause", " know it"),
        ("pause", "it"),
    ]


def test_a_turn_of_marks_alone_stays_a_turn() -> None:
    session = _session(Row("T", "And then?", 1), Row("C", "[silence 10s]", 2), Row("T", "Take your time.", 3))
    assert [turn.role for turn in session.turns] == ["therapist", "client", "therapist"]
    assert session.turns[1].text == ""
    assert session.turns[1].marks[0].seconds == 10


def test_words_of_marks_stand_in_no_repr() -> None:
    session = _session(Row("T", "So [coughs loudly]", 1), Row("C", "yes", 2))
    assert "coughs" not in repr(session)
    assert session.turns[0].marks[0].written == "[coughs loudly]"


def test_codes_of_people_are_kept_and_joined() -> None:
    rows = [
        Row("T", "one", 1, gold={"code": "question"}),
        Row("T", "two", 2, gold={"code": "question;reflection", "coder": "a"}),
        Row("C", "three", 3),
    ]
    session = _session(*rows)
    assert dict(session.turns[0].gold) == {"code": "question;reflection", "coder": "a"}
    assert dict(session.turns[1].gold) == {}


def test_times_that_run_back_are_told() -> None:
    session = _session(Row("T", "one", 1, 10.0), Row("C", "two", 2, 5.0), Row("T", "three", 3, 20.0))
    assert session.notes == ("Times run back at 1 place; the order of the file was kept.",)


def test_roles_that_the_file_tells_go_before_labels() -> None:
    session = _session(Row("Ann", "one", 1, role="client"), Row("Bo", "two", 2, role="therapist"))
    assert [turn.role for turn in session.turns] == ["client", "therapist"]
    assert session.role_method == "file"
