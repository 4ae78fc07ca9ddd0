"""Tables about sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.readers import FileReading, ReadOptions, TablesWarning, find_files, read, read_files
from therapy_analytics.readers._metadata import is_metadata, load_metadata

CHAT = "Ann: Hello.\nBob: Hi.\n" * 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with one transcript, a.txt."""
    (tmp_path / "a.txt").write_text(CHAT, encoding="utf-8")
    return tmp_path


def table(folder: Path, content: str | bytes, name: str = "sessions.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def about(folder: Path, **options: Path) -> dict[str, str]:
    (one,) = read(folder, options=ReadOptions(**options))
    return dict(one.metadata)


@pytest.mark.parametrize(
    "content",
    [
        "session_id,counselor,mood\na,Ann,4\n",
        "session_id;counselor;mood\na;Ann;4\n",
        "session_id\tcounselor\tmood\na\tAnn\t4\n",
        "\ufeffsession_id,counselor,mood\na,Ann,4\n",
        '\ufeff"Session ID","Counselor","Mood"\r\n"a","Ann","4"\r\n',
        "session_id,counselor,mood\na,Ann,4\n".encode("utf-16"),
        "Session ID , Counsellor,MOOD\n a , Ann , 4 \n",
        "id,therapist,mood\nA,Ann,4\n",
        "file,clinician,mood\na.txt,Ann,4\n",
        "File Name,Provider,mood\nsub\\a.TXT,Ann,4\n",
        "transcript,counselor,mood\nsub/a.txt,Ann,4\n",
        "session_id,counselor,mood\na,Ann,4\n,,\n\n,,\n",
        "session_id,counselor,mood,empty\na,Ann,4\n",
        "session_id,counselor,mood,,\na,Ann,4,,x,y\n",
    ],
)
def test_ways_to_write_the_table(content: str | bytes, folder: Path) -> None:
    table(folder, content)
    assert about(folder) == {"counselor": "Ann", "mood": "4"}


def test_the_counselor_of_the_table_is_the_therapist(folder: Path) -> None:
    table(folder, "session_id,counselor,patient\na,Bob Lee,Ann\n")
    (one,) = read(folder)
    assert [turn.role for turn in one.turns] == ["client", "therapist"] * 2
    assert one.role_method == "metadata"
    assert one.metadata["client"] == "Ann"


def test_ids_may_have_dots(folder: Path) -> None:
    (folder / "a.txt").rename(folder / "ann.2025.01.txt")
    (folder / "ann.2025.02.txt").write_text(CHAT, encoding="utf-8")
    table(folder, "session_id,mood\nann.2025.01,4\nann.2025.02,5\n")
    assert [one.metadata["mood"] for one in read(folder)] == ["4", "5"]


def test_sessions_of_one_file_by_their_final_ids(folder: Path) -> None:
    chat = '[{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]\n'
    (folder / "a.txt").write_text(chat * 3, encoding="utf-8")
    table(folder, "session_id,mood\na,1\na-2,2\n")
    assert [(one.id, one.metadata["mood"]) for one in read(folder)] == [("a", "1"), ("a-2", "2"), ("a-3", "1")]


def test_the_users_own_table_comes_last_and_is_no_transcript(folder: Path) -> None:
    table(folder, "session_id,mood,site\na,4,X\n")
    own = table(folder, "session_id,mood\na,5\n", "own.csv")
    readings = list(read_files([folder], options=ReadOptions(metadata=own)))
    assert [reading.path.name for reading in readings] == ["a.txt"]
    assert about(folder, metadata=own) == {"mood": "5", "site": "X"}


def test_a_table_speaks_about_its_own_folder_only(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "b.txt").write_text(CHAT, encoding="utf-8")
    table(folder, "session_id,mood\na,4\nb,4\n")
    with pytest.warns(TablesWarning, match=r"line 3: the row about 'b' is about no session"):
        sessions = read(folder)
    assert [dict(one.metadata) for one in sessions] == [{"mood": "4"}, {}]


@pytest.mark.parametrize(
    "header", ["speaker,text", "session_id,interlocutor,utterance_text", "conv_id,speaker,vol_text"]
)
def test_a_table_of_words_called_sessions_is_a_transcript(header: str, folder: Path) -> None:
    n = header.count(",") - 1
    path = table(folder, f"{header}\n{'x,' * n}T,\n{'x,' * n}T,Hello.\n{'x,' * n}C,Hi.\n")
    assert not is_metadata(path)
    assert path in find_files([folder])
    assert len(read(path)[0].turns) == 2


def problems(folder: Path) -> list[FileReading]:
    return [reading for reading in read_files([folder]) if reading.problem is not None]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("session_id,mood\na,4\nb,1\na,5\n", "two rows are about the session 'a'"),
        ("session_id,mood\na,4\nA,5\n", "two rows are about the session 'A'"),
        ("file,mood\na.txt,4\na.vtt,5\n", "two rows are about the session 'a.vtt'"),
        ("name,mood\na,4\n", "no column says which session a row is about"),
        ("session_id,mood\na,4\n,5\n", "data row 2 does not say which session it is about"),
        ("", "cannot be read"),
        (b"PK\x03\x04", "cannot be read"),
    ],
)
def test_a_bad_table_is_named(content: str | bytes, what: str, folder: Path) -> None:
    path = table(folder, content)
    (one,) = problems(folder)
    assert one.problem is not None
    assert one.problem.path == str(path)
    assert what in one.problem.problem
    with pytest.raises(BadDataFileError):
        load_metadata(path)
