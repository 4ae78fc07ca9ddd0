"""Rows to turns, and ids that are safe everywhere."""

from __future__ import annotations

import re

import pytest

from therapy_analytics.readers import RawSession, ReadOptions, Row
from therapy_analytics.readers._build import MAX_ID, Place, build_session, safe_id, unique_id
from therapy_analytics.session import Session


def built(*rows: Row) -> Session:
    return build_session(RawSession("x", list(rows)), Place("x.txt", "x"), {}, ReadOptions())


def test_rows_of_one_speaker_are_one_turn() -> None:
    one = built(
        Row(" T ", " One. ", 1, 0.0, 1.0),
        Row("t", "Two.", 2, 1.0, 2.5),
        Row("C", "\n Three.\n", 4, 3.0, None),
        Row("T", "Four.", 5),
    )
    assert [(turn.index, turn.speaker, turn.role, turn.text) for turn in one.turns] == [
        (0, "T", "therapist", "One. Two."),
        (1, "C", "client", "Three."),
        (2, "T", "therapist", "Four."),
    ]
    assert [(turn.first_row, turn.start_s, turn.end_s) for turn in one.turns] == [
        (1, 0.0, 2.5),
        (4, 3.0, None),
        (5, None, None),
    ]


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u00a0", "\u3000"])
def test_rows_without_words_part_no_turn(blank: str) -> None:
    one = built(Row("T", "One.", 1), Row("C", blank, 2), Row("T", "Two.", 3))
    assert [turn.text for turn in one.turns] == ["One. Two."]
    assert one.notes[0] == "1 row without words left out."


def test_no_rows_no_turns() -> None:
    assert built().turns == ()


def test_words_stay_out_of_reprs_and_notes() -> None:
    one = built(Row("T", "secret", 1), Row("", "secret", 2), Row("C", "", 3))
    assert "secret" not in repr(one)
    assert "secret" not in repr(RawSession("x", [Row("T", "secret", 1)]))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dana_1", "dana_1"),
        ("..", "session"),
        (".", "session"),
        ("...hidden", "hidden"),
        ("", "session"),
        ("   ", "session"),
        ("a/b", "a-b"),
        ("a\\b", "a-b"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\temp\\x", "C-temp-x"),
        ("a\0b", "a-b"),
        ("a\nb", "a-b"),
        ("trailing. ", "trailing"),
        ("CON", "CON-"),
        ("nul.txt", "nul.txt-"),
        ("LPT1", "LPT1-"),
        ("console", "console"),
        ("\U0001f600", "session"),
        ("Dana \U0001f600 3", "Dana-3"),
        ("\u200fabc\u200e", "abc"),
        ("ab\u202ecd", "ab-cd"),
        ("Zo\u00eb", "Zo\u00eb"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("\u5f20\u4e09", "\u5f20\u4e09"),
        ("=1+2", "1-2"),
        ("half \ud83d", "half"),
    ],
)
def test_safe_ids(name: str, expected: str) -> None:
    assert safe_id(name) == expected
    assert safe_id(expected) == expected


@pytest.mark.parametrize(
    "name", ["a" * 300, "\u5f20" * 300, "a" * 79 + "\u00eb", "x." * 150, "half \ud83d" + "z" * 300]
)
def test_long_ids_are_cut_and_stay_distinct(name: str) -> None:
    one, two = safe_id(name), safe_id(name + "2")
    assert len(one.encode()) <= MAX_ID
    assert one != two
    assert re.fullmatch(r"[\w.-]+", one)


def test_ids_are_unique_whatever_the_case() -> None:
    taken: set[str] = set()
    assert [unique_id(name, "file", taken) for name in ["x", "X", "x", "x", "file", "file", "FILE"]] == [
        "x",
        "file-X",
        "x-2",
        "x-3",
        "file",
        "file-2",
        "file-FILE",
    ]
    assert len(taken) == 7


def test_an_id_that_looks_numbered_is_not_taken_twice() -> None:
    taken: set[str] = set()
    assert [unique_id(name, "a", taken) for name in ["a", "a-2", "a"]] == ["a", "a-2", "a-3"]
