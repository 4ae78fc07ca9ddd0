"""Transcripts as they are found: each can be read by itself, anywhere, with the tables beside it."""

from __future__ import annotations

import gc
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from therapy_analytics.core.errors import BadDataFileError, NothingToReadError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import ReadOptions, choose_reader, read_files, transcript_reading
from therapy_analytics.readers.transcript_reading import Names, read_named, read_transcript
from therapy_analytics.readers.transcripts import Transcript, find_transcripts

pytestmark = pytest.mark.filterwarnings("ignore::therapy_analytics.readers.TablesWarning")
"""The tables beside these transcripts tell of other sessions as well."""

CHAT = "T: How are you?\nC: Well, I think.\n"


def test_a_transcript_travels_and_is_read_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(CHAT)
    monkeypatch.chdir(tmp_path)
    (transcript,) = find_transcripts(["in"])
    assert (transcript.path, transcript.place) == (str(Path("in", "a.txt")), str(tmp_path / "in" / "a.txt"))
    sent = pickle.dumps(transcript)
    assert len(sent) < 500
    monkeypatch.chdir("/")
    reading = read_transcript(pickle.loads(sent), ReadOptions())
    assert reading.sessions[0].source_file == "a.txt"
    (copy,) = pickle.loads(pickle.dumps(reading)).sessions
    assert without_margin(copy) == without_margin(reading.sessions[0])


def test_transcripts_are_found_one_after_the_other(tmp_path: Path) -> None:
    for at in range(3):
        (tmp_path / f"{at}.txt").write_text(CHAT)
    transcripts = find_transcripts([tmp_path])
    assert next(transcripts).path.endswith("0.txt")
    (tmp_path / "1.txt").unlink()
    assert [read_transcript(transcript, ReadOptions()).problem is None for transcript in transcripts] == [False, True]


def test_what_is_asked_of_the_options_is_asked_first(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CHAT)
    with pytest.raises(BadDataFileError, match="no such table"):
        next(find_transcripts([tmp_path], options=ReadOptions(metadata=tmp_path / "b.csv")))
    with pytest.raises(NothingToReadError):
        next(find_transcripts([]))


def test_ids_are_given_and_find_their_rows_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CHAT)
    (tmp_path / "sessions.csv").write_text("session_id,site\na,North\na-2,South\n")
    (transcript,) = find_transcripts([tmp_path])
    wanted, given = read_transcript(transcript, ReadOptions()), read_transcript(transcript, ReadOptions(), ["a-2"])
    assert wanted.by_name
    assert [(one.id, dict(one.metadata)) for one in (*wanted.sessions, *given.sessions)] == [
        ("a", {"site": "North"}), ("a-2", {"site": "South"}),
    ]  # fmt: skip
    odd = read_transcript(transcript, ReadOptions(), ["a", "b"])
    assert odd.problem is not None
    assert "changed while it was read" in odd.problem.problem


def test_names_are_settled_over_a_run() -> None:
    names = Names()
    assert names.settle("a", "x", b"1") == ("a", ())
    assert names.settle("A", "x", b"2") == ("x-A", ())
    assert names.settle("b", "b", b"1") == ("b", ("The same words as in session a.",))


def test_sessions_are_named_over_a_run_and_looked_up_by_these_names(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text(CHAT)
        (tmp_path / folder / "sessions.csv").write_text("session_id,site\na,North\na-2,South\n")
    names = Names()
    found = [read_named(one, ReadOptions(), names) for one in find_transcripts([tmp_path])]
    assert [(reading.sessions[0].id, reading.sessions[0].metadata["site"], ids) for reading, ids in found] == [
        ("a", "North", None), ("a-2", "South", ("a-2",)),
    ]  # fmt: skip
    assert found[1][0].sessions[0].notes == ("The same words as in session a.",)


def test_too_little_memory_for_a_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    (tmp_path / "a.txt").write_text(CHAT)
    monkeypatch.setattr(transcript_reading, "load_source", full)
    problem = read_transcript(Transcript("a.txt", str(tmp_path / "a.txt")), ReadOptions()).problem
    assert problem is not None
    assert "not enough memory" in problem.problem
    assert "split the file" in problem.remedy


def site(folder: Path) -> str | None:
    (reading,) = read_files([folder / "a.txt"])
    return reading.sessions[0].metadata.get("site")


def test_a_table_about_sessions_that_was_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CHAT)
    table = tmp_path / "sessions.csv"
    assert site(tmp_path) is None
    table.write_text("session_id,site\na,North\n")
    assert site(tmp_path) == "North"
    kept = table.stat()
    table.write_text("session_id,site\na,South\n")
    os.utime(table, ns=(kept.st_atime_ns, kept.st_mtime_ns + 1))
    assert site(tmp_path) == "South"
    table.unlink()
    assert site(tmp_path) is None


def test_a_table_about_sessions_is_read_once_for_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from therapy_analytics.readers import _metadata

    read: list[str] = []
    rows = _metadata._rows

    def counted(path: str, place: str) -> Any:
        read.append(path)
        return rows(path, place)

    monkeypatch.setattr(_metadata, "_rows", counted)
    for content in ("session_id,site\na,North\n", "name,site\na,North\n"):
        read.clear()
        (tmp_path / "sessions.csv").write_text(content)
        for at in range(20):
            (tmp_path / f"{at}.txt").write_text(CHAT)
        assert len(list(read_files([tmp_path]))) == 20
        assert len(read) <= 4


def without_margin(session: Session) -> Session:
    return replace(session, role_margin=0.0)


@pytest.mark.parametrize("content", [CHAT, ""], ids=["a transcript", "an empty file"])
def test_the_garbage_collector_waits_for_a_file_and_then_is_as_it_was(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text(content)
    seen: list[bool] = []
    monkeypatch.setattr(
        transcript_reading, "choose_reader", lambda source: seen.append(gc.isenabled()) or choose_reader(source)
    )
    for on in (False, True):
        (gc.enable if on else gc.disable)()
        list(read_files([tmp_path]))
        assert gc.isenabled() is on
    assert not any(seen)
