"""Rows to turns, and ids that are safe everywhere."""

from __future__ import annotations

import re
import time
import tracemalloc

import pytest

from therapy_analytics.core.ids import MAX_ID, safe_id, unique_id
from therapy_analytics.core.session import Session
from therapy_analytics.readers import RawSession, ReadOptions, Row
from therapy_analytics.readers.build import build_session, fingerprint

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""


def built(*rows: Row) -> Session:
    return build_session(RawSession("x", list(rows)), "x", "x.txt", {}, ReadOptions())


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
    taken: dict[str, int] = {}
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
    taken: dict[str, int] = {}
    assert [unique_id(name, "a", taken) for name in ["a", "a-2", "a"]] == ["a", "a-2", "a-3"]


def test_a_very_long_turn_takes_little_more_memory_than_its_words() -> None:
    rows = [Row("T", "so it was a hard week " * 100_000, 1), Row("C", "Hm.", 2)]
    tracemalloc.start()
    fingerprint(built(*rows))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 * len(rows[0].text)


def test_many_marks_in_one_turn_take_time_with_their_number_and_not_its_square() -> None:
    begin = time.process_time()
    turn = built(Row("T", "so it was a hard week [sigh] " * 30_000, 1)).turns[0]
    assert (len(turn.marks), turn.marks[1].at) == (30_000, 44)
    assert time.process_time() - begin < HANG_S / 4


@pytest.mark.parametrize("space", [" ", "\n", "  ", "\u2003"])
def test_a_twin_may_break_its_lines_elsewhere(space: str) -> None:
    words = "So it was a hard week. " * 10_000
    assert fingerprint(built(Row("T", words, 1))) == fingerprint(built(Row("T", words.lower().replace(" ", space), 7)))
    assert fingerprint(built(Row("T", words, 1))) != fingerprint(built(Row("T", words.replace("a hard", "ahard"), 1)))
    assert fingerprint(built(Row("T", words, 1))) == fingerprint(built(Row("C", words, 1)))
    turns = [Row("T", "One", 1), Row("C", "two.", 2)]
    assert fingerprint(built(*turns)) != fingerprint(built(Row("T", "One two.", 1)))
