"""A run that was stopped goes on where it was, and ends with the same bytes; two runs keep out of each other's way."""

from __future__ import annotations

import errno
import gc
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields
from functools import partial
from pathlib import Path

import pytest
from folders import FAST, QUICK, copied, files
from matplotlib.figure import Figure

import therapy_analytics as ta
from therapy_analytics import results
from therapy_analytics.core.errors import BadOptionError, CannotWriteError
from therapy_analytics.measures.settings import program
from therapy_analytics.results import opened
from therapy_analytics.run import executors, work


@pytest.fixture(scope="module")
def talks(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(samples, tmp_path_factory.mktemp("talks"))


@pytest.fixture(scope="module")
def finished(talks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of a run that nothing stopped; tests copy them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 60)
        out = tmp_path_factory.mktemp("undisturbed") / "r"
        assert ta.run([talks], out, settings=FAST, writing=QUICK).n_kept == 0
    return out


@pytest.fixture(scope="module")
def undisturbed(finished: Path) -> dict[str, bytes]:
    return files(finished)


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of the results of a finished run."""
    return shutil.copytree(finished, tmp_path / "r")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 60)


def stopping(after: int, error: BaseException) -> Callable[..., None]:
    """Return a way to write sessions that fails when so many were written."""
    written, write_session = 0, results.write_session

    def write(*arguments: object, **options: object) -> None:
        nonlocal written
        if written == after:
            raise error
        written += 1
        write_session(*arguments, **options)  # type: ignore[arg-type]

    return write


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_run_that_was_stopped_goes_on(
    after: int, talks: Path, undisturbed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(results, "write_session", stopping(after, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            ta.run([talks], tmp_path / "r", settings=FAST, writing=QUICK)
    there = files(tmp_path / "r")
    assert {name: data for name, data in there.items() if name.startswith("sessions/")}.items() <= undisturbed.items()
    assert not {"sessions.csv", "run.json"} & set(there)
    assert ta.run([talks], tmp_path / "r", settings=FAST, writing=QUICK).n_kept == after
    assert files(tmp_path / "r") == undisturbed


def test_the_same_again_measures_nothing(
    talks: Path, undisturbed: dict[str, bytes], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "write_session", stopping(0, AssertionError()))
    assert ta.run([talks], out, settings=FAST, writing=QUICK).n_kept == 5
    assert files(out) == undisturbed


def test_a_file_that_was_cut_or_changed_is_written_anew(talks: Path, undisturbed: dict[str, bytes], out: Path) -> None:
    turns = out / "sessions" / "nair_yuki" / "turns.csv"
    turns.write_bytes(turns.read_bytes()[:100])
    (out / "sessions" / "aria_ben" / "measures.csv").unlink()
    (out / "sessions" / "boyle_lucia" / "done.json").write_text("{")
    (out / "sessions" / "lindqvist_omar" / "more.csv").write_text("")
    assert ta.run([talks], out, settings=FAST, writing=QUICK).n_kept == 1
    assert files(out) == undisturbed


def test_other_options_say_so_and_measure_anew(talks: Path, out: Path, tmp_path: Path) -> None:
    sentences: list[str] = []
    writing = ta.Writing(figures=(), report=False, on_before=sentences.append)
    ta.run([talks], out, settings=FAST, writing=writing)
    assert sentences == []
    other = ta.Settings(tagger=ta.TaggerOptions(kind="fast", aim="recall"), seed=1)
    assert ta.run([talks], out, settings=other, writing=writing).n_kept == 0
    (sentence,) = sentences
    assert "options, tagger." in sentence
    assert "anew" in sentence
    ta.run([talks], tmp_path / "fresh", settings=other, writing=writing)
    assert files(out) == files(tmp_path / "fresh")


def test_another_form_of_figures_draws_them_and_measures_nothing(
    talks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = [talks / "nair_yuki.txt"]
    drawn = ta.Writing(figures=("svg",), report=False)
    ta.run(one, tmp_path / "r", settings=FAST, writing=ta.Writing(figures=(), report=False))
    with monkeypatch.context() as patched:
        patched.setattr(results, "write_session", stopping(0, AssertionError()))
        assert ta.run(one, tmp_path / "r", settings=FAST, writing=drawn).n_kept == 1
    ta.run(one, tmp_path / "fresh", settings=FAST, writing=drawn)
    assert files(tmp_path / "r") == files(tmp_path / "fresh")
    ta.run(one, tmp_path / "r", settings=FAST, writing=ta.Writing(figures=(), report=False))
    assert not list((tmp_path / "r").rglob("*.svg"))


def test_a_figure_of_the_run_is_never_half_there(talks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, drawing = [talks / "nair_yuki.txt"], ta.Writing(figures=("svg",), report=False)

    def full(figure: Figure, path: Path, **_: object) -> None:
        Path(path).write_text("<svg", encoding="utf-8")
        raise OSError(errno.ENOSPC, "No space left on device")

    whole = files(ta.run(one, tmp_path / "r", settings=FAST, writing=drawing).out)
    (tmp_path / "r" / "responses.svg").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(Figure, "savefig", full)
        with pytest.raises(CannotWriteError, match="the disk is full"):
            ta.run(one, tmp_path / "r", settings=FAST, writing=drawing)
    there = files(tmp_path / "r")
    assert [name for name in there if name.endswith(".svg") and there[name] != whole[name]] == []
    ta.run(one, tmp_path / "r", settings=FAST, writing=drawing)
    assert files(tmp_path / "r") == whole


def test_sessions_of_other_transcripts_are_taken_away(talks: Path, out: Path) -> None:
    ta.run([talks / "nair_yuki.txt"], out, settings=FAST, writing=QUICK, replace=True)
    assert [path.name for path in (out / "sessions").iterdir()] == ["nair_yuki"]


def test_a_second_run_into_the_folder_is_refused(talks: Path, tmp_path: Path) -> None:
    again = partial(ta.run, [talks], tmp_path / "r", settings=FAST, writing=QUICK)
    with ThreadPoolExecutor(1) as other, opened(tmp_path / "r"):
        refusal = other.submit(again).exception()
    assert isinstance(refusal, BadOptionError)
    assert "another command is writing into" in str(refusal)
    assert again().n_kept == 0


def test_a_full_disk_stops_it_with_nothing_half_there(
    talks: Path, undisturbed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    real = Path.write_bytes

    def write_bytes(self: Path, content: bytes) -> int:
        if "lindqvist" in str(self) and "responses" in self.name:
            raise full
        return real(self, content)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", write_bytes)
        with pytest.raises(CannotWriteError, match="the disk is full"):
            ta.run([talks], tmp_path / "r", settings=FAST, writing=QUICK)
    there = {name for name in files(tmp_path / "r") if name != ".going.json"}
    assert there <= set(undisturbed)
    ta.run([talks], tmp_path / "r", settings=FAST, writing=QUICK)
    assert files(tmp_path / "r") == undisturbed


def test_a_defect_costs_the_session_that_it_stops(talks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = work.measure_batch

    def fails(batch: tuple[ta.Session, ...], *rest: object, **options: object) -> object:
        if any(session.id == "nair_tomas" for session in batch):
            raise KeyError("said in private")
        return real(batch, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 2_000)
    monkeypatch.setattr(work, "measure_batch", fails)
    found = ta.run([talks], tmp_path / "r", settings=FAST, writing=QUICK)
    (problem,) = found.problems
    assert "a defect of this program stopped session nair_tomas (KeyError in test_resume.py, line" in problem.problem
    assert len(found.sessions) == 4
    assert b"said in private" not in b"".join(files(tmp_path / "r").values())


KILLED = """
import sys
import therapy_analytics as ta
import therapy_analytics.measures.settings as settings
settings.TURNS_PER_BATCH = 60
fast = ta.Settings(tagger=ta.TaggerOptions(kind="fast"))
ta.run([sys.argv[1]], sys.argv[2], settings=fast, writing=ta.Writing(figures=(), report=False))
"""


def test_kills_at_random_moments_lose_nothing(talks: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """Fifty of them: ``python -m benchmarks.kills``."""
    out, moments = tmp_path / "r", random.Random(5)
    command = [sys.executable, "-c", KILLED, str(talks), str(out)]
    for _ in range(2):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=tmp_path)
        began = time.monotonic()
        while process.poll() is None and not (out / ".going.json").exists() and time.monotonic() - began < 60:
            time.sleep(0.02)
        time.sleep(moments.uniform(0, 0.8))
        process.send_signal(signal.SIGKILL)
        process.wait()
        for name, data in files(out).items():
            kept = not any(part.startswith(".") for part in Path(name).parts)
            assert not kept or undisturbed[name] == data, name
    ta.run([talks], out, settings=FAST, writing=QUICK)
    assert files(out) == undisturbed


def test_done_json_holds_no_words(undisturbed: dict[str, bytes]) -> None:
    done = json.loads(undisturbed["sessions/nair_yuki/done.json"])
    assert set(done) == {field.name for field in fields(results.Record)}
    assert done["about"]["session_id"] == "nair_yuki"


@pytest.mark.parametrize("name", ["sessions/mine.txt", "turns/mine.parquet", "sessions.csv", "profile.png"])
def test_what_others_keep_under_our_names_is_not_touched(name: str, talks: Path, tmp_path: Path) -> None:
    path = tmp_path / "r" / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    with pytest.raises(BadOptionError, match="holds other things than results"):
        ta.run([talks / "nair_yuki.txt"], tmp_path / "r", settings=FAST, writing=QUICK)
    assert path.read_text() == "mine"
    assert len(files(tmp_path / "r")) == 1


def test_no_words_stay_in_memory_after_a_run(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("T: How is the quorvex?\nC: I sleep badly.\n")
    ta.run([tmp_path / "a.txt"], tmp_path / "r", settings=FAST, writing=QUICK)
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, ta.Turn) and "quorvex" in one.text]


def test_a_file_that_changes_during_a_run_is_left_out(
    talks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "talks").mkdir()
    shutil.copy(talks / "boyle_lucia.txt", tmp_path / "talks" / "b.txt")
    shutil.copy(talks / "nair_yuki.txt", tmp_path / "talks" / "c.txt")
    (tmp_path / "talks" / "a.txt").write_text("T: How is the sleep?\nC: I sleep badly.\n")
    changed = tmp_path / "talks" / "a.txt"
    writing = ta.Writing(
        figures=(), report=False, on_total=lambda _: changed.write_text("T: How are you?\nC: I am well.")
    )
    found = ta.run([tmp_path / "talks"], tmp_path / "r", settings=FAST, writing=writing)
    assert [one.problem for one in found.problems] == ["session a: its file has changed since the run began"]
    assert list(found.sessions["session_id"]) == ["b", "c"]


def test_what_is_sent_to_workers_holds_no_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []
    real = executors.ThisProcess.submit

    def submit(self: executors.ThisProcess, *call: object) -> Future[object]:
        sent.append(pickle.dumps(call))
        future = real(self, *call)  # type: ignore[arg-type, var-annotated]
        sent.append(pickle.dumps(future.result()))
        return future

    monkeypatch.setattr(executors.ThisProcess, "submit", submit)
    talk = "speaker,text\nTherapist,quorvex?\nClient,yes quorvex\n" * 9
    (tmp_path / "a.csv").write_text(talk)
    ta.run([tmp_path], tmp_path / "r", settings=FAST, writing=QUICK)
    assert len(sent) == 2
    assert not any(b"quorvex" in one for one in sent)


def test_a_change_in_any_source_of_the_program_measures_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    sources: list[Path] = []
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: sources.append(self) or real(self))
    program.__wrapped__()
    package = Path(ta.__file__).parent
    assert set(package.rglob("*.py")) <= set(sources)
