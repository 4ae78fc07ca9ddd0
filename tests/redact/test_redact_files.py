"""The copies, the review list and the key as files."""

from __future__ import annotations

import csv
import re
import stat
from dataclasses import replace
from pathlib import Path

import pytest

import therapy_analytics as ta
from therapy_analytics.errors import BadOptionError, NothingToReadError, UnknownNameError
from therapy_analytics.redact import RedactOptions, redact, redact_session
from therapy_analytics.redact._files import Ids, redact_about
from therapy_analytics.session import Session, SpeechMark, Turn

TALK = """Dr. Lindqvist: Hi Dana, is 914-555-0123 still your number? [Dana nods]
Dana: It is. My sister Zorblat moved to Yonkers on March 3rd, 2021. [laughs]
Dr. Lindqvist: And Zorblat, near Quuxly. You drove 450 miles to see them?
Dana: =yes, Zorblat said so.
"""
SECRET = re.compile("dana|lindqvist|zorblat|yonkers|555|march|reyes", re.IGNORECASE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a session whose file, table and words hold names."""
    place = tmp_path / "in"
    place.mkdir()
    (place / "lindqvist_dana.txt").write_text(TALK)
    (place / "sessions.csv").write_text(
        "session_id,counselor,client,date,age,phone,problem,session_number\n"
        "lindqvist_dana,Ruth Lindqvist,Dana Reyes,2025-03-04,91,914-555-0123,Dana drinks,1\n"
    )
    return place


def rows(path: Path) -> list[dict[str, str]]:
    """Read a CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("to", ["chat", "csv", "docx", "jsonl", "vtt"])
def test_every_form_is_read_back_without_names(folder: Path, tmp_path: Path, to: str) -> None:
    done = redact([folder], tmp_path / "out", options=RedactOptions(to=to))
    assert not done.problems
    (copy,) = ta.read(tmp_path / "out" / "transcripts")
    assert [turn.role for turn in copy.turns] == ["therapist", "client"] * 2
    assert copy.turns[1].text == "It is. My sister [NAME_3] moved to [PLACE_1] on [DATE_1] 2021."
    assert [mark.kind for turn in copy.turns for mark in turn.marks] == ["event", "laughter"]
    assert [turn.speaker for turn in copy.turns[:2]] == ["Dr. [NAME_1]", "[NAME_2]"]
    assert copy.id == "session_00001"
    assert dict(copy.metadata) == {
        "counselor": "counselor_001",
        "client": "client_001",
        "date": "2025",
        "age": "[AGE_OVER_89]",
        "phone": "[REMOVED]",
        "problem": "[NAME] drinks",
        "session_number": "1",
    }


def test_no_word_of_it_is_in_any_file_or_file_name(folder: Path, tmp_path: Path) -> None:
    redact([folder], tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        assert not SECRET.search(path.name)
        assert path.is_dir() or not SECRET.search(path.read_text())


def test_files_are_private(folder: Path, tmp_path: Path) -> None:
    redact([folder], tmp_path / "out", options=RedactOptions(key=tmp_path / "key.csv"))
    for path in [tmp_path / "out", *(tmp_path / "out").rglob("*"), tmp_path / "key.csv"]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_the_review_list_points_at_the_copy(folder: Path, tmp_path: Path) -> None:
    redact([folder], tmp_path / "out", options=RedactOptions(quotes=True))
    (copy,) = ta.read(tmp_path / "out" / "transcripts")
    words = [row for row in rows(tmp_path / "out" / "review.csv") if row["where"] == "words"]
    assert len(words) == 9
    for row in words:
        there = copy.turns[int(row["turn"])].text[int(row["start"]) : int(row["end"])]
        assert there == (row["placeholder"] or row["words"])
    assert [(row["kind"], row["words"]) for row in words if not row["placeholder"]] == [("NUMBER", "450")]
    assert {row["words"] for row in words} >= {"Dana", "914-555-0123", "March 3rd, 2021", "Yonkers", "Quuxly"}


def test_without_quotes_the_review_list_holds_no_words(folder: Path, tmp_path: Path) -> None:
    redact([folder], tmp_path / "out")
    found = rows(tmp_path / "out" / "review.csv")
    assert list(found[0]) == ["session_id", "turn", "where", "start", "end", "kind", "placeholder", "sure", "rule"]
    assert {row["kind"] for row in found if not row["placeholder"]} == {"NUMBER"}


def test_the_key_is_written_only_when_it_is_named(folder: Path, tmp_path: Path) -> None:
    redact([folder], tmp_path / "out")
    assert not list(tmp_path.rglob("key*.csv"))
    redact([folder], tmp_path / "out2", options=RedactOptions(key=tmp_path / "safe" / "key.csv"))
    assert [tuple(row.values()) for row in rows(tmp_path / "safe" / "key.csv")] == [
        ("session", "lindqvist_dana", "session_00001"),
        ("counselor", "Ruth Lindqvist", "counselor_001"),
        ("client", "Dana Reyes", "client_001"),
    ]
    with pytest.raises(BadOptionError, match="beside the copies"):
        redact([folder], tmp_path / "out3", options=RedactOptions(key=tmp_path / "out3" / "key.csv"))


def test_copies_redacted_again_are_the_same(folder: Path, tmp_path: Path) -> None:
    redact([folder], tmp_path / "one")
    redact([tmp_path / "one" / "transcripts"], tmp_path / "two")
    for name in ("session_00001.jsonl", "sessions.csv"):
        assert (tmp_path / "one" / "transcripts" / name).read_bytes() == (
            tmp_path / "two" / "transcripts" / name
        ).read_bytes()


def test_nothing_is_overwritten_and_nothing_is_made_for_nothing(folder: Path, tmp_path: Path) -> None:
    redact([folder], tmp_path / "out")
    with pytest.raises(BadOptionError, match="is there already"):
        redact([folder], tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingToReadError):
        redact([tmp_path / "empty"], tmp_path / "out2")
    with pytest.raises(UnknownNameError):
        redact([folder], tmp_path / "out2", options=RedactOptions(to="pdf"))
    assert not (tmp_path / "out2").exists()


def test_counselors_keep_one_number_through_a_run() -> None:
    ids = Ids()
    given = [redact_about({"counselor": name}, ids, str)["counselor"] for name in ("Ann", "Bob", "Ann")]
    assert given == ["counselor_001", "counselor_002", "counselor_001"]


def test_marks_and_codes_lose_names_and_stay_what_they_are() -> None:
    mark = SpeechMark(kind="event", at=9, written="[Dana leaves]")
    turn = Turn(
        index=0,
        speaker="Dana",
        role="client",
        text="I am off now",
        first_row=1,
        marks=(mark,),
        gold={"code_dana": "a;b"},
    )
    copy = redact_session(Session(id="s", source_file="s", turns=(turn,))).session.turns[0]
    assert (copy.marks[0].written, copy.marks[0].at) == ("[NAME_1 leaves]", 9)
    assert copy.gold == {"code_[NAME_1]": "a;b"}


def test_the_session_that_was_read_is_not_changed(folder: Path) -> None:
    (session,) = ta.read(folder)
    before = replace(session)
    redact_session(session)
    assert session == before
    assert "Dana" not in repr(redact_session(session).notes)
