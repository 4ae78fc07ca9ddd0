"""What is known of a session from several sources, and sessions that come twice."""

from __future__ import annotations

from pathlib import Path

import pytest

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.readers import ReadOptions, read, read_files
from therapy_analytics.readers._metadata import from_name
from therapy_analytics.run import Writing

TALK = "T: How are you today?\nC: I am well, I think.\n"


def test_names_of_files_say_what_the_pattern_says(tmp_path: Path) -> None:
    (tmp_path / "lee_p01_2025-03-04.txt").write_text(TALK)
    (tmp_path / "odd.txt").write_text(TALK + "T: Good.\n")
    first, second = read(tmp_path, options=ReadOptions(pattern="{counselor}_{client}_{date}"))
    assert dict(first.metadata) == {"counselor": "lee", "client": "p01", "date": "2025-03-04"}
    assert dict(second.metadata) == {}


@pytest.mark.parametrize(
    ("pattern", "name", "facts"),
    [
        ("{client}", "p01", {"client": "p01"}),
        ("session {number} ({counselor})", "session 3 (Lee)", {"number": "3", "counselor": "Lee"}),
        ("{clinician}.{x}", "Lee.7", {"counselor": "Lee", "x": "7"}),
        ("{a}-{b}", "1-2-3", {"a": "1", "b": "2-3"}),
        ("{a}+{b}", "1-2", {}),
    ],
)
def test_patterns(pattern: str, name: str, facts: dict[str, str]) -> None:
    assert from_name(name, pattern) == facts


@pytest.mark.parametrize("pattern", ["plain", "", "{a}_{a}", "{A}", "{a}_{"])
def test_a_pattern_that_names_nothing_is_an_error_before_any_file_is_read(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TALK)
    with pytest.raises(BadOptionError, match="--pattern"):
        read(tmp_path, options=ReadOptions(pattern=pattern))


def test_where_sources_differ_the_table_wins_and_a_note_says_so(tmp_path: Path) -> None:
    (tmp_path / "lee.csv").write_text("session,speaker,text,counselor\n1,T,How are you?,Old\n1,C,Well.,Old\n")
    (tmp_path / "sessions.csv").write_text("session_id,counselor\n1,New\n")
    (session,) = read(tmp_path, options=ReadOptions(pattern="{counselor}"))
    assert session.metadata["counselor"] == "New"
    assert session.notes == ("Sources differ on counselor; the table about the sessions or the file's name was taken.",)


def test_sources_that_agree_leave_no_note(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("session,speaker,text,counselor\n1,T,How are you?,Lee\n1,C,Well.,Lee\n")
    (tmp_path / "sessions.csv").write_text("session_id,counselor\n1,Lee\n")
    (session,) = read(tmp_path)
    assert session.notes == ()


def test_the_same_session_under_another_name_and_in_another_form_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TALK)
    (tmp_path / "b.csv").write_text('speaker,text\ntherapist,How are YOU  today?\nclient,"I am well, I think."\n')
    (tmp_path / "c.txt").write_text(TALK.replace("well", "tired"))
    first, second, third = read(tmp_path)
    assert first.notes == third.notes == ()
    assert second.notes == ("The same words as in session a.",)


def test_the_same_words_with_the_roles_turned_around_are_noticed_and_those_with_other_turns_are_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("T: Hello.\nC: Hello.\nT: Bye now.\n")
    (tmp_path / "b.txt").write_text("C: Hello.\nT: Hello.\nC: Bye now.\n")
    (tmp_path / "c.txt").write_text("T: Hello. Hello.\nC: Bye now.\n")
    assert [one.notes for one in read(tmp_path)] == [(), ("The same words as in session a.",), ()]


def test_human_codes_become_columns_of_their_own_session_alone(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text(TALK)
    (folder / "b.csv").write_text(
        "speaker,text,code\nT,Why?,question\nC,Because.,neutral\nT,I see.,other\nC,Yes I do.,neutral\nT,How?,question\n"
    )
    ta.run([folder], tmp_path / "out", writing=Writing(figures=(), report=False))
    plain = (tmp_path / "out" / "sessions" / "a" / "turns.csv").read_text()
    coded = (tmp_path / "out" / "sessions" / "b" / "turns.csv").read_text()
    assert "gold_" not in plain
    assert "gold_code" in coded
    assert "gold_code" in (tmp_path / "out" / "codebook.csv").read_text()
    assert next(iter(read_files([folder / "b.csv"]))).sessions[0].turns[0].gold == {"code": "question"}
