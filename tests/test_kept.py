"""Results of an earlier run are never destroyed unasked, whatever a run is given and whatever happens to it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from commands import PLAIN, tanalyze
from folders import FAST, QUICK

import therapy_analytics as ta
from therapy_analytics import results
from therapy_analytics.core.errors import BadOptionError, CannotWriteError, NothingToReadError
from therapy_analytics.results import Form
from therapy_analytics.run import work

COMMAND = (sys.executable, "-c", "from therapy_analytics.cli import main; main()", "run")
ON_LINUX = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are found in /proc")


def transcripts(folder: Path, names: str = "abcd", *, about: str = "sleep", n: int = 3) -> Path:
    """Write a transcript for each letter; no two have the same words."""
    folder.mkdir(exist_ok=True)
    for name in names:
        turns = (f"T: What about {about} {name} {i}?\nC: I worry, and I am tired of {i}." for i in range(n))
        (folder / f"{name}.txt").write_text("\n".join(turns))
    return folder


def state(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return of each file and folder in a folder what it holds, its mode, and when a file was written."""
    found = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        about, is_file = path.stat(), path.is_file()
        data, when = (path.read_bytes(), about.st_mtime_ns) if is_file else (b"", 0)
        found[str(path.relative_to(folder))] = (data, about.st_mode, when)
    return found


def told_by(*words: object, cwd: Path) -> tuple[int, str]:
    """Run the command; return its status and all that it says, as one line."""
    done = tanalyze("run", *map(str, words), *PLAIN, folder=cwd)
    return done.status, " ".join((done.out + done.err).split())


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_command_keeps_the_results_of_an_earlier_run(form: Form, tmp_path: Path) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    transcripts(tmp_path / "talks")
    transcripts(tmp_path / "other", "xyz")
    (tmp_path / "empty").mkdir()
    (tmp_path / "unreadable").mkdir()
    (tmp_path / "unreadable" / "a.txt").write_text("nobody speaks here\n")
    settings = ta.Settings(tagger=FAST.tagger, seed=3)
    page = form == "csv"
    ta.run([tmp_path / "talks"], tmp_path / "results", settings=settings, writing=ta.Writing(form=form, report=page))
    (tmp_path / "results").chmod(0o750)
    before = state(tmp_path / "results")
    assert len(before) > 10
    for name, phrase in (
        ("typo", "could not be read"),
        ("empty", "No transcript"),
        ("unreadable", "could not be read"),
    ):
        status, told = told_by(name, cwd=tmp_path)
        assert (status, phrase in told) == (2, True), told
        assert state(tmp_path / "results") == before
        assert told_by(name, "--out", "new/results", cwd=tmp_path)[0] == 2
        assert not (tmp_path / "new").exists()
    status, told = told_by("other", "--output-format", form, cwd=tmp_path)
    assert status == 2
    assert "results holds the results of other transcripts (4 sessions, 20" in told
    assert "4 of its 4 transcripts are not among those named now" in told
    assert "--out" in told
    assert "--replace" in told
    assert state(tmp_path / "results") == before
    status, told = told_by("other", "--replace", "--output-format", form, cwd=tmp_path)
    assert status == 0, told
    assert "(4 sessions, 20" in told
    assert "are replaced, as --replace asks" in told
    assert list(ta.load(tmp_path / "results").sessions["session_id"]) == ["x", "y", "z"]


def _same(_: Path) -> str:
    return "talks"


def _added(here: Path) -> str:
    transcripts(here / "talks", "e")
    return "talks"


def _corrected(here: Path) -> str:
    transcripts(here / "talks", "b", about="work")
    return "talks"


def _removed(here: Path) -> str:
    (here / "talks" / "b.txt").unlink()
    return "talks"


def _absolute(here: Path) -> str:
    return str(here / "talks")


def _linked(here: Path) -> str:
    (here / "link").symlink_to(here / "talks")
    return "link"


def _moved(here: Path) -> str:
    (here / "talks").rename(here / "moved")
    return "moved"


def _moved_and_corrected(here: Path) -> str:
    transcripts(here / "talks", "b", about="work")
    return _moved(here)


def _renamed(here: Path) -> str:
    for path in (here / "talks").iterdir():
        path.rename(path.with_stem(f"new_{path.stem}"))
    return "talks"


def _all_moved(here: Path) -> str:
    """Move the transcripts and their results together, and correct a transcript."""
    transcripts(here / "talks", "b", about="work")
    (here / "project").mkdir()
    for name in ("talks", "results"):
        (here / name).rename(here / "project" / name)
    os.chdir(here / "project")
    return "talks"


def _of_an_older_version(here: Path) -> str:
    """Have a record without places, as earlier versions wrote it, and correct a transcript."""
    record = here / "results" / "run.json"
    about = json.loads(record.read_text())
    for one in about["inputs"]:
        assert one.pop("place").startswith("../talks/")
    record.write_text(json.dumps(about))
    return _corrected(here)


def _killed_early_and_others(here: Path) -> str:
    """Have nothing finished in the folder: there is nothing to lose."""
    shutil.rmtree(here / "results" / "sessions")
    (here / "results" / "run.json").rename(here / "results" / ".going.json")
    transcripts(here / "other", "xyz")
    return "other"


@pytest.mark.parametrize(
    ("change", "phrase"),
    [
        (_same, ""),
        (_absolute, ""),
        (_linked, ""),
        (_moved, ""),
        (_renamed, ""),
        (_killed_early_and_others, ""),
        (_added, "1 transcript added."),
        (_corrected, "1 transcript changed."),
        (_all_moved, "1 transcript changed."),
        (_of_an_older_version, "1 transcript changed."),
        (_removed, "1 transcript removed; results of removed transcripts are removed."),
        (_moved_and_corrected, "1 transcript removed, 1 transcript added; "),
    ],
)
def test_a_run_goes_on_with_the_same_transcripts(
    change: Callable[[Path], str], phrase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    transcripts(tmp_path / "talks")
    ta.run(["talks"], "results", settings=FAST, writing=QUICK)
    path, told = change(tmp_path), list[str]()
    ta.run([path], "results", settings=FAST, writing=ta.Writing(figures=(), report=False, on_before=told.append))
    assert [phrase in sentence for sentence in told] == [True] * bool(phrase), told
    names = {path.stem for path in Path(path).iterdir()}
    assert {path.name for path in Path("results/sessions").iterdir()} == names


def _subset(_: Path) -> list[str]:
    return ["talks/a.txt", "talks/b.txt", "talks/c.txt"]


def _other_folder_same_names(here: Path) -> list[str]:
    return [str(transcripts(here / "other", about="work"))]


def _others_in_the_folder(here: Path) -> list[str]:
    for path in (here / "talks").iterdir():
        path.unlink()
    return [str(transcripts(here / "talks", "wxyz"))]


def _most_removed(here: Path) -> list[str]:
    for name in "abc":
        (here / "talks" / f"{name}.txt").unlink()
    return ["talks"]


def _most_unreadable(here: Path) -> list[str]:
    for name in "abc":
        (here / "talks" / f"{name}.txt").write_text("nobody speaks here\n")
    return ["talks"]


def _unknown(here: Path) -> list[str]:
    (here / "results" / "run.json").write_text("{")
    return ["talks"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_subset, r"1 of its 4 transcripts is not among those named now \(talks/d.txt\)"),
        (_other_folder_same_names, "4 of its 4 transcripts are not among those named now"),
        (_others_in_the_folder, "only 0 of its 4 transcripts are read now"),
        (_most_removed, "only 1 of its 4 transcripts is read now"),
        (_most_unreadable, "only 1 of its 4 transcripts is read now"),
        (_unknown, "it is not known which"),
    ],
)
def test_a_run_stops_before_results_of_other_transcripts(
    change: Callable[[Path], list[str]], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    transcripts(tmp_path / "talks")
    ta.run(["talks"], "results", settings=FAST, writing=QUICK)
    paths = change(tmp_path)
    before = state(Path("results"))
    with pytest.raises(BadOptionError, match=why):
        ta.run(paths, "results", settings=FAST, writing=QUICK)
    assert state(Path("results")) == before
    ta.run(paths, "results", settings=FAST, writing=QUICK, replace=True)
    assert ta.run(paths, "results", settings=FAST, writing=QUICK).n_kept > 0


def test_what_other_options_replace_is_said(tmp_path: Path) -> None:
    talks, told = [transcripts(tmp_path / "talks")], list[str]()
    ta.run(talks, tmp_path / "r", settings=FAST, writing=ta.Writing(figures=("svg",)))
    other = ta.Settings(tagger=FAST.tagger, seed=1)
    ta.run(talks, tmp_path / "r", settings=other, writing=ta.Writing(figures=(), report=False, on_before=told.append))
    anew, gone = told
    assert anew.startswith("Not as in the run before into this folder: options. All sessions are measured anew; the ")
    assert "4 sessions of 20" in anew
    assert gone == "Not asked for this time, and therefore removed: report.html, figures as svg."


def test_where_nothing_can_be_measured_earlier_sessions_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talks = [transcripts(tmp_path / "talks")]
    ta.run(talks, tmp_path / "r", settings=FAST, writing=QUICK)
    sessions = state(tmp_path / "r" / "sessions")
    other = ta.Settings(tagger=FAST.tagger, seed=1)
    with monkeypatch.context() as patched:
        patched.setattr(work, "measure_batch", None)
        with pytest.raises(NothingToReadError, match="None of the 4 sessions could be measured"):
            ta.run(talks, tmp_path / "r", settings=other, writing=QUICK)
    assert state(tmp_path / "r" / "sessions") == sessions
    assert ta.run(talks, tmp_path / "r", settings=FAST, writing=QUICK).n_kept == 4


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_earlier_numbers_of_a_session_that_fails_now_are_not_taken_for_new_ones(
    form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 1)
    talks, writing = [transcripts(tmp_path / "talks")], ta.Writing(form=form, figures=(), report=False)
    ta.run(talks, tmp_path / "r", settings=FAST, writing=writing)
    real = work.measure_batch

    def fails(batch: tuple[ta.Session, ...], *rest: object, **more: object) -> object:
        if batch[0].id == "b":
            raise KeyError("b")
        return real(batch, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(work, "measure_batch", fails)
    other = ta.Settings(tagger=FAST.tagger, seed=1)
    found = ta.run(talks, tmp_path / "r", settings=other, writing=writing)
    assert found.n_unmeasured == 1
    assert list(found.sessions["session_id"]) == ["a", "c", "d"]
    assert set(ta.load(tmp_path / "r").turns["session_id"]) == {"a", "c", "d"}


def test_out_that_cannot_be_a_folder_is_told_in_a_sentence(tmp_path: Path) -> None:
    transcripts(tmp_path / "talks", "a")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link_to_file").symlink_to(tmp_path / "file")
    for out, phrase in {
        "dangling": "dangling is a link to a folder that does not exist",
        "dangling/results": "dangling is a link to a folder that does not exist",
        "file": "file is a file. Name a folder",
        "link_to_file": "link_to_file is a file",
        "file/results": "file is a file",
    }.items():
        status, told = told_by("talks", "--out", out, cwd=tmp_path)
        assert (status, phrase in told) == (2, True), told
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_out_that_may_not_be_written_to_is_told_in_a_sentence(tmp_path: Path) -> None:
    transcripts(tmp_path / "talks", "a")
    (tmp_path / "locked").mkdir(mode=0o500)
    for out in ("locked", "locked/results"):
        status, told = told_by("talks", "--out", out, cwd=tmp_path)
        assert (status, "locked cannot be written to: you do not have the permission" in told) == (2, True), told


def test_a_folder_that_is_moved_while_a_run_goes_on_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transcripts(tmp_path / "talks")
    out, moved, real = tmp_path / "results", tmp_path / "moved", results.write_session

    def write(*words: object, **options: object) -> None:
        real(*words, **options)  # type: ignore[arg-type]
        if not moved.exists():
            out.rename(moved)

    with monkeypatch.context() as patched:
        patched.setattr(results, "write_session", write)
        status, told = told_by("talks", cwd=tmp_path)
    assert status == 2, told
    assert "results: the folder of results is no longer there: it was deleted, moved or renamed" in told
    assert not out.exists()
    moved.rename(out)
    status, told = told_by("talks", cwd=tmp_path)
    assert status == 0, told
    assert "1 session done by an earlier run of the same kind was kept." in told
    assert len(ta.load(out).sessions) == 4


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_finished_sessions_that_are_deleted_during_the_run_are_missed(
    form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 1)
    talks, out = [transcripts(tmp_path / "talks")], tmp_path / "r"
    kind, pattern = ("write_session", "sessions/a") if form == "csv" else ("write_data_files", ".parts")
    real = getattr(results, kind)

    def write(*words: object, **options: object) -> None:
        shutil.rmtree(out / pattern, ignore_errors=True)
        real(*words, **options)

    writing = ta.Writing(form=form, figures=(), report=False)
    with monkeypatch.context() as patched:
        patched.setattr(results, kind, write)
        with pytest.raises(CannotWriteError, match=r"results of \d sessions? were deleted or moved while"):
            ta.run(talks, out, settings=FAST, writing=writing)
    assert not (out / "run.json").exists()
    assert len(ta.run(talks, out, settings=FAST, writing=writing).sessions) == 4


def _workers(main: int) -> list[int]:
    """Return the processes that share the work of a process, in the order in which they were started."""
    found: set[int] = set()
    for task in Path(f"/proc/{main}/task").iterdir():
        try:
            found |= set(map(int, (task / "children").read_text().split()))
        except OSError:
            continue
    return sorted(pid for pid in found if _is_worker(pid))


def _is_worker(pid: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _begun(words: tuple[str, ...], cwd: Path, command: Sequence[str] = COMMAND) -> subprocess.Popen[str]:
    """Start the command as a terminal does: Ctrl-C then reaches it and its workers."""
    # Whoever starts the tests in the background has them ignore Ctrl-C, and the command would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        [*command, *words, *PLAIN], cwd=cwd, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip


@ON_LINUX
@pytest.mark.parametrize("processes", ["1", "2"])
def test_ctrl_c_says_that_the_same_command_goes_on(processes: str, tmp_path: Path) -> None:
    transcripts(tmp_path / "talks", "abcdefgh", n=60)
    words = ("talks", "--processes", processes)
    going, out = tmp_path / "results" / ".going.json", tmp_path / "results"
    moments: list[Callable[[int], object]] = [lambda _: out.exists(), lambda _: going.exists()]
    if processes == "2":
        moments[0] = _workers
    for moment in moments:
        shutil.rmtree(out, ignore_errors=True)
        run = _begun(words, tmp_path)
        while run.poll() is None and not moment(run.pid):
            time.sleep(0.005)
        os.killpg(run.pid, signal.SIGINT)
        _, told = run.communicate(timeout=60)
        phrase = [line for line in told.splitlines() if not line.startswith("Read ")]
        assert phrase == ["tanalyze: Stopped. What is finished is kept: the same command goes on from there."]
        assert run.returncode == 130
    assert going.exists()
    status, told = told_by("talks", cwd=tmp_path)
    assert status == 0, told
    assert "Not as in" not in told
    assert len(ta.load(out).sessions) == 8


@ON_LINUX
def test_ctrl_c_while_a_worker_is_being_started_shows_no_traceback(tmp_path: Path) -> None:
    """Send Ctrl-C when a worker's process exists and has not yet been told what to do."""
    transcripts(tmp_path / "talks", "ab")
    interrupting = """
import os, signal, time
from multiprocessing import util
start = util.spawnv_passfds

def interrupted(path, words, handles):
    process = start(path, words, handles)
    if any("spawn_main" in str(word) for word in words):
        os.killpg(0, signal.SIGINT)
        time.sleep(0.2)
    return process

util.spawnv_passfds = interrupted
"""
    command = [COMMAND[0], COMMAND[1], f"{interrupting}{COMMAND[2]}", *COMMAND[3:]]
    run = _begun(("talks", "--processes", "2"), tmp_path, command)
    _, told = run.communicate(timeout=60)
    told = [line for line in told.splitlines() if not line.startswith("Read ")]
    assert told == ["tanalyze: Stopped. What is finished is kept: the same command goes on from there."]
    assert run.returncode == 130
