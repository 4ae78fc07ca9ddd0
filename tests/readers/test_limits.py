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
from therapy_analytics.readers._limits import LARGEST_FILE, LARGEST_SESSION, MB
from therapy_analytics.readers.base import READERS

TALK = "Therapist: How did you sleep?\nClient: I slept well, for once.\n"
OF_ONE = {
    "chat_template", "elan", "labelled_text", "messenger_export", "open_document", "pdf_document", "rich_text", "srt",
    "substation", "talkbank_chat", "textgrid", "ttml", "web_page", "webvtt", "word_document",
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
    large = large_files.took("read", large_files.make(form, 4 * MB, tmp_path), package)
    assert (small.spoken, large.spoken) == ("", "")
    assert 0 < large.peak_mb - small.peak_mb < 12 * 4


def test_what_is_too_large_is_refused_with_its_size_the_limit_and_what_to_do(tmp_path: Path) -> None:
    long_text(tmp_path / "a.txt"), large_table(tmp_path / "b.csv")
    text, table = (str(one.problem) for one in read_files([tmp_path]))
    assert text.endswith(
        "a.txt: the file has 25 MB; at most 24 MB of a file in this format, which is one "
        "session, are read. Split it into several files, one a session."
    )
    assert table.endswith(
        "b.csv: the file has 201 MB; at most 200 MB of a file are read. Split it into several files, each with whole "
        "sessions."
    )


def test_a_file_of_which_nobody_knows_the_size_is_read_no_further_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_limits, "size", lambda _: 0)
    monkeypatch.setattr(_limits, "LARGEST_FILE", 2 * MB)
    (tmp_path / "a.txt").write_bytes(TALK.encode() * (2 * MB // len(TALK) + 1))
    (one,) = read_files([tmp_path])
    assert "at most 2 MB of a file are read" in str(one.problem)


def test_a_file_of_empty_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "MOST_LINES", 1_000_000)
    (tmp_path / "a.txt").write_bytes(TALK.encode() + b"\n" * 1_000_000)
    (one,) = read_files([tmp_path])
    assert "the file has more than 1 million lines, the most that are read" in str(one.problem)


MESSAGES = "".join(f'{{"speaker": "{who}", "text": "{TALK[11:28] * 3}"}}\n' for who in ("Therapist", "Client"))
ROWS = "Therapist,Hm.\nClient,Yes.\n"


def write(path: Path, head: str, unit: str, n_bytes: int, end: str = "") -> Path:
    path.write_text(f"{head}{unit * ((n_bytes - len(head)) // len(unit))}{end}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "head", "unit", "n_bytes"),
    [
        ("a.txt", TALK, "\n", 4_700_000),
        ("a.txt", TALK, "Therapist:\nClient:\n", 12_000_000),
        (
            "a.srt",
            "1\n00:00:01,000 --> 00:00:02,000\nA: Hello.\n\n",
            "2\n00:00:03,000 --> 00:00:04,000\n\n",
            24_000_000,
        ),
        ("a.html", "<html><body><p>A: Hello.</p><p>B: Hi.</p>", "<", 20_000_000),
        ("a.rtf", "{\\rtf1 A: Hello.\\par B: Hi.\\par ", "{", 20_000_000),
        ("a.jsonl", "", MESSAGES, 60_000_000),
        ("a.csv", "speaker,text\n", ROWS, 40_000_000),
    ],
    ids=lambda value: value if str(value).startswith("a.") else "",
)
@pytest.mark.skipif(sys.platform == "win32", reason="the memory of a process is not told there")
def test_what_is_past_the_limits_is_refused_before_it_takes_much_memory(
    name: str, head: str, unit: str, n_bytes: int, tmp_path: Path
) -> None:
    package = Path(large_files.__file__).resolve().parents[1]
    (tmp_path / "small.txt").write_text(TALK * 4)
    small = large_files.took("read", tmp_path / "small.txt", package)
    large = large_files.took("read", write(tmp_path / name, head, unit, n_bytes), package)
    assert "at most" in large.spoken or "the most" in large.spoken
    assert large.peak_mb - small.peak_mb < 400


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.txt", TALK + "\n" * 1_000, "the file has more than 1,000 lines or elements, the most of a session"),
        ("a.html", f"<p>{TALK[:28]}</p><p>{TALK[29:]}</p>" + "<i>" * 2_001, "the file has more than 1,000 lines or"),
        (
            "a.csv",
            "speaker,text\n" + ROWS * 501,
            "session a has more than 1,000 rows and 1 MB of words, and is not read",
        ),
        ("a.jsonl", MESSAGES * 501, "more than 1,000 messages stand in one list, the most of a session that are read"),
        ("a.json", json.dumps([{"speaker": "A", "text": "Hm."}] * 1_001), "more than 1,000 messages stand in one list"),
        ("a.srt", "".join(f"{n}\n00:00:01,000 --> 00:00:02,000\n\n" for n in range(400)), "more than 1,000 lines"),
    ],
    ids=lambda value: value if str(value).startswith("a.") else "",
)
def test_rows_of_one_session_are_collected_up_to_a_limit(
    name: str, text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_limits, "MOST_ROWS", 1_000)
    (tmp_path / name).write_text(text, encoding="utf-8")
    (one,) = read_files([tmp_path / name])
    assert said in str(one.problem)
    assert not one.sessions


def test_many_sessions_in_one_file_may_have_more_rows_than_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "MOST_ROWS", 100)
    messages = [{"speaker": who, "text": "Well."} for who in ("Therapist", "Client") * 20]
    (tmp_path / "a.json").write_text(json.dumps([{"id": at, "messages": messages} for at in range(9)]))
    (tmp_path / "b.csv").write_text(
        "session,speaker,text\n" + "".join(f"s{at // 40},{'AB'[at % 2]},Well.\n" for at in range(400))
    )
    assert [(len(one.sessions), one.problem) for one in read_files([tmp_path])] == [(9, None), (10, None)]


def test_a_turn_without_end_is_refused_and_the_other_sessions_are_read(tmp_path: Path) -> None:
    sessions = [
        {"id": name, "messages": [{"speaker": "Therapist", "text": "Go on."}, {"speaker": "Client", "text": text}]}
        for name, text in (("short", "I see."), ("endless", "word " * (LARGEST_SESSION // 5)), ("last", "Yes."))
    ]
    (tmp_path / "a.json").write_text(json.dumps(sessions))
    (one,) = read_files([tmp_path])
    assert "session endless has 2 rows and 25 MB of words, and is not read" in str(one.problem)
    assert [session.id for session in one.sessions] == ["short", "last"]


@pytest.mark.parametrize("words", [["inspect"], ["convert", "--to", "csv", "--out"]])
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
        "session long has 1,001 turns and 1 MB of words, and is not read: a session may have 1,000 turns and "
        "8 MB at most"
    )
    with (out / "sessions.csv").open(newline="") as file:
        assert [row["session_id"] for row in csv.DictReader(file)] == ["short"]
    assert json.loads((out / "run.json").read_text())["inputs"][-1]["sessions"] == 1
