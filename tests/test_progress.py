"""What a long run says where there is no terminal: how far it is, and how long it will take."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from therapy_analytics.cli import app, progress
from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.run import InputFile


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_lines_come_at_steps_and_go_by_the_last_of_them(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    shown = progress.Progress()
    shown.total(1000)
    shown.sessions(400)  # done by an earlier run: no measure of how fast it goes
    for seconds, n in ((60, 30), (60, 30), (60, 540)):
        clock[0] += seconds
        shown.sessions(n)
    assert capsys.readouterr().err.splitlines() == [
        "400 of 1,000 sessions measured, less than two minutes to go",
        "460 of 1,000 sessions measured, about 18 minutes to go",
    ]


def test_long_times_are_told_in_hours(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    shown = progress.Progress()
    shown.total(1000)
    clock[0] += 3600
    shown.sessions(100)
    assert capsys.readouterr().err.splitlines() == ["100 of 1,000 sessions measured, about 9 hours to go"]


def test_few_files_are_named_and_many_counted(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    shown = progress.Progress()
    shown.files(2000)
    for number in range(200):
        shown.file(InputFile(f"{number}.txt", reader="labelled_text", sessions=1, n_turns=4))
    shown.file(InputFile("last.txt", problem=UnreadableFileError("last.txt", None, "it breaks off", "Save it again")))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Read 0.txt: 1 session (labelled_text)"
    assert sum(line.startswith("Read ") for line in lines) == progress.NAMED_FILES
    assert [line for line in lines if " of 2,000 " in line] == [
        "100 of 2,000 files read, less than two minutes to go",
        "200 of 2,000 files read, less than two minutes to go",
    ]
    assert lines[-1] == "Not read: last.txt: it breaks off. Save it again."


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--output-format", "xlsx"), "Known: csv, parquet"),
        (("--engine", "ray"), "Known: local, dask"),
        (("--scheduler", "tcp://127.0.0.1:1"), "--scheduler ADDRESS"),
        (("--output-format", "parquet", "--report"), "the page is made from tables in CSV"),
        (("--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "--tagger", "llm", "--model", "m",
          "--endpoint", "http://127.0.0.1:1"), "a cluster cannot be used with --tagger llm"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_in_words(words: tuple[str, ...], says: str, samples: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", str(samples / "nair_yuki.txt"), "--out", str(tmp_path / "r"), *words])
    assert done.exit_code == 2
    assert says in " ".join(done.output.replace("│", " ").split())
    assert not (tmp_path / "r").exists()
