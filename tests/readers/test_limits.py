"""Large files: what is read stays in bounded memory, what is too large is refused with its size and what to do."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest
from commands import tanalyze
from typer.testing import CliRunner

from benchmarks import large_files
from therapy_analytics.cli import app
from therapy_analytics.readers import _limits, read_files
from therapy_analytics.readers._base import READERS
from therapy_analytics.readers._limits import LARGEST_FILE, LARGEST_SESSION, MB

TALK = "Therapist: How did you sleep?\nClient: I slept well, for once.\n"
OF_ONE = {
    "chat_template", "elan", "exmaralda", "labelled_text", "messenger_export", "open_document", "pdf_document",
    "rich_text", "srt", "substation", "talkbank_chat", "textgrid", "transcriber", "ttml", "web_page", "webvtt",
    "word_document",
}  # fmt: skip


def long_text(path: Path) -> Path:
    path.write_bytes(TALK.encode() * (LARGEST_SESSION // len(TALK) + 1))
    return path


def large_table(path: Path) -> Path:
    """Write a file that says it is larger than it may be; it takes no space on the disk."""
    with path.open("wb") as file:
        file.write(b"session,speaker,text\n1,Therapist,Hello.\n1,Client,Hi.\n")
        file.truncate(LARGEST_FILE + 1)
    return path


def endless_session(path: Path) -> Path:
    turns = [{"speaker": ("Therapist", "Client")[at % 2], "text": "I see."} for at in range(_limits.MOST_TURNS + 1)]
    short = [{"speaker": one["speaker"], "text": f"{one['text']} {at}"} for at, one in enumerate(turns[:8])]
    sessions = [{"id": "long", "messages": turns}, {"id": "short", "messages": short}]
    path.write_text("\n".join(map(json.dumps, sessions)))
    return path


def test_formats_of_one_session_are_known() -> None:
    assert {one.name for one in READERS if one.one_session} == OF_ONE


@pytest.mark.parametrize("form", ["txt", "csv"])
@pytest.mark.skipif(sys.platform == "win32", reason="the memory of a process is not told there")
def test_reading_takes_at_most_twelve_times_the_size_of_a_file(form: str, tmp_path: Path) -> None:
    package = Path(large_files.__file__).resolve().parents[1]
    small = large_files.took("read", large_files.make(form, 20_000, tmp_path), package)
    large = large_files.took("read", large_files.make(form, 6 * MB, tmp_path), package)
    assert (small.spoken, large.spoken) == ("", "")
    assert 0 < large.peak_mb - small.peak_mb < 12 * 6


def test_what_is_too_large_is_refused_with_its_size_the_limit_and_what_to_do(tmp_path: Path) -> None:
    long_text(tmp_path / "a.txt"), large_table(tmp_path / "b.csv")
    text, table = (str(one.problem) for one in read_files([tmp_path]))
    assert text.endswith(
        "a.txt: the file has 25 MB; at most 24 MB of a file in this format, which is one "
        "session, are read. Split it into several files, one a session."
    )
    assert table.endswith(
        "b.csv: the file has 201 MB; at most 200 MB of a file are read. Split it into "
        "several files; JSON Lines with a session a line, and Parquet, may be of any size."
    )


def test_a_file_of_which_nobody_knows_the_size_is_read_no_further_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_limits, "size", lambda _: 0)
    monkeypatch.setattr(_limits, "LARGEST_FILE", 2 * MB)
    (tmp_path / "a.txt").write_bytes(TALK.encode() * (2 * MB // len(TALK) + 1))
    (one,) = read_files([tmp_path])
    assert "at most 2 MB of a file are read" in str(one.problem)


def test_a_line_of_a_large_file_that_never_ends_is_refused_and_the_other_lines_are_read(tmp_path: Path) -> None:
    turns = [{"speaker": who, "text": f"{who} said this {'word ' * 30}"} for who in ("Therapist", "Client") * 30]
    path = tmp_path / "a.jsonl"
    with path.open("w") as file:
        for at in range(1_000):
            file.write(json.dumps({"id": f"s{at}", "messages": turns}) + "\n")
        file.truncate(file.tell() + LARGEST_FILE + MB)  # a line of zeros, which takes no space on the disk
    (one,) = read_files([path])
    assert "at most 200 MB of a file are read" in str(one.problem)
    assert len(one.sessions) > 500


def test_a_file_of_empty_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "MOST_LINES", 1_000_000)
    (tmp_path / "a.txt").write_bytes(TALK.encode() + b"\n" * 1_000_000)
    (one,) = read_files([tmp_path])
    assert "the file has more than 1 million lines, the most that are read" in str(one.problem)


@pytest.mark.parametrize("words", [["inspect"], ["convert", "--to", "csv", "--out"], ["redact", "--out"]])
def test_other_commands_refuse_large_files_and_go_on(words: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    long_text(folder / "a.txt")
    (folder / "b.txt").write_text(TALK * 4)
    out = [str(tmp_path / "out")] if words[-1] == "--out" else []
    done = CliRunner().invoke(app, [words[0], str(folder), *words[1:], *out])
    spoken = " ".join(done.output.split())
    assert "the file has 25 MB" in spoken
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "session b:" in spoken if not out else any((tmp_path / "out").rglob("*"))


def test_a_run_says_of_each_large_file_why_it_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "MOST_TURNS", 1_000)
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    long_text(folder / "a.txt"), large_table(folder / "b.csv"), endless_session(folder / "c.jsonl")
    tanalyze("run", str(folder), "--out", str(out), "--tagger", "fast", "--no-plots", "--processes", "1")
    with (out / "problems.csv").open(newline="") as file:
        problems = {Path(row["file"]).name: row["problem"] for row in csv.DictReader(file)}
    assert problems["a.txt"].startswith("the file has 25 MB")
    assert problems["b.csv"].startswith("the file has 201 MB")
    assert problems["c.jsonl"] == (
        "session long has 1,001 turns and 1 MB of words, and is not measured: a session may have 1,000 turns and "
        "8 MB at most"
    )
    with (out / "sessions.csv").open(newline="") as file:
        assert [row["session_id"] for row in csv.DictReader(file)] == ["short"]
    assert json.loads((out / "run.json").read_text())["inputs"][-1]["sessions"] == 1
