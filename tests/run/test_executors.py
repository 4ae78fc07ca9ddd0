"""Work in one process or several: in order, and a death costs what died alone; how many processes a run takes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from therapy_analytics.run import Lost, Workers, open_executor, processes_for, writing


def _double(batch: tuple[int, ...]) -> tuple[int, ...]:
    if 13 in batch:
        os.kill(os.getpid(), signal.SIGKILL)
    if 99 in batch:
        raise MemoryError
    return tuple(2 * one for one in batch)


def _who(_: object) -> int:
    return os.getpid()


def _threads(_: object) -> int:
    import scipy.linalg  # noqa: F401

    return max(int(library["num_threads"]) for library in threadpool_info())


def _refuse(batch: tuple[int, ...]) -> tuple[int, ...]:
    raise ValueError(batch)


def test_linear_algebra_takes_one_thread_for_the_time_of_the_executor() -> None:
    before = _threads(0)
    for processes in (1, 2):
        with open_executor(processes=processes) as workers:
            assert {n for _, n in workers.in_order(_threads, [(1,), (2,)])} == {1}
            assert _threads(0) == 1
        assert _threads(0) == before


@pytest.fixture(scope="module")
def pool() -> Iterator[Workers]:
    with open_executor(processes=2) as two:
        yield two


def test_results_come_in_order(pool: Workers) -> None:
    batches = [(n, n + 1) for n in range(0, 12, 2)]
    expected = [(batch, tuple(2 * one for one in batch)) for batch in batches]
    with open_executor() as here:
        assert list(pool.in_order(_double, batches)) == list(here.in_order(_double, batches)) == expected


def test_processes_are_started_once_for_several_tasks(pool: Workers) -> None:
    first, second = ({who for _, who in pool.in_order(_who, [(n,) for n in range(8)])} for _ in range(2))
    assert os.getpid() not in first | second
    assert len(first | second) <= pool.n_workers == 2


def test_items_are_taken_as_needed(pool: Workers) -> None:
    items = iter([(n,) for n in range(100)])
    found = pool.in_order(_who, items)
    next(found)
    assert next(items) == (2 * pool.n_workers,)
    del found  # what waits is taken back
    assert len(list(pool.in_order(_who, [(n,) for n in range(3)]))) == 3


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_death_costs_the_one_that_died(pool: Workers) -> None:
    batches = [(1, 2), (3, 13, 5), (6, 7), (99, 9), (10,)]
    assert list(pool.in_order(_double, batches)) == [
        ((1, 2), (2, 4)),
        ((3,), (6,)),
        ((13,), Lost("died")),
        ((5,), (10,)),
        ((6, 7), (12, 14)),
        ((99,), Lost("memory")),
        ((9,), (18,)),
        ((10,), (20,)),
    ]
    assert list(pool.in_order(_double, [(1,)])) == [((1,), (2,))]  # and the executor goes on


def _dies_so_often(batch: tuple[Path, ...]) -> tuple[str, ...]:
    for path in batch:
        left = int(path.read_text())
        if left:
            path.write_text(str(left - 1))
            os.kill(os.getpid(), signal.SIGKILL)
    return tuple(path.name for path in batch)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_an_item_is_lost_only_when_its_process_dies_twice_alone(pool: Workers, tmp_path: Path) -> None:
    """The system may kill a process for want of memory that others take: that is not the fault of what it worked on."""
    twice, three = tmp_path / "dies_twice", tmp_path / "dies_three_times"
    twice.write_text("2")
    three.write_text("3")
    assert list(pool.in_order(_dies_so_often, [(twice,), (three,)])) == [
        ((twice,), ("dies_twice",)),
        ((three,), Lost("died")),
    ]


def test_too_little_memory_in_this_process_costs_one() -> None:
    with open_executor() as here:
        found = list(here.in_order(_double, [(1, 99, 2), (3,)]))
    assert found == [((1,), (2,)), ((99,), Lost("memory")), ((2,), (4,)), ((3,), (6,))]


def test_other_errors_travel(pool: Workers) -> None:
    with pytest.raises(ValueError, match="1"):
        list(pool.in_order(_refuse, [(1,)]))


ORPHANS = """
import os, sys, time
from therapy_analytics.run import open_executor

def sleepy(task):
    time.sleep(0.2)
    return task

if __name__ == "__main__":
    with open_executor(processes=2) as pool:
        print(*{who for _, who in pool.in_order(sleepy, [(n,) for n in range(4)])}, flush=True)
        import multiprocessing
        print(*(one.pid for one in multiprocessing.active_children()), flush=True)
        time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_processes_end_with_one_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(ORPHANS)
    main = subprocess.Popen([sys.executable, str(tmp_path / "main.py")], stdout=subprocess.PIPE, text=True)
    assert main.stdout is not None
    main.stdout.readline()
    workers = list(map(int, main.stdout.readline().split()))
    assert workers
    main.kill()
    main.wait()
    main.stdout.close()
    until = time.monotonic() + 20
    while any(map(_lives, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in workers if _lives(pid)]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        return False
    except OSError:  # no /proc, or it has just gone
        return not Path("/proc/self").exists()


SCRIPT = """
import sys
from therapy_analytics import Settings, TaggerOptions, run
from therapy_analytics.run import Writing

fast = Settings(tagger=TaggerOptions(kind="fast"))
run([sys.argv[1]], sys.argv[2], settings=fast, writing=Writing(processes=2, figures=(), report=False))
"""


def test_a_script_that_begins_again_in_each_process_is_told_what_to_write(tmp_path: Path) -> None:
    script, out = tmp_path / "mine.py", tmp_path / "out"
    script.write_text(SCRIPT)
    talk = tmp_path / "talk.txt"
    talk.write_text("Therapist: How are you?\nClient: I am tired.\n")
    done = subprocess.run([sys.executable, script, talk, out], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    sentence = done.stderr.strip().splitlines()[-1]
    assert sentence.startswith(
        "therapy_analytics.core.errors.BadOptionError: processes: no other process can be started. "
    )
    assert 'below a line `if __name__ == "__main__":`' in sentence
    assert "another run is writing" not in done.stderr
    assert not (out / "problems.csv").exists()


FATAL = """
import os, signal, sys
from therapy_analytics import Settings, TaggerOptions, run
from therapy_analytics.run import Writing, work

measure = work.measure_batch

def fails(batch, *rest):
    names = {session.id for session in batch}
    if "b" in names:
        os.kill(os.getpid(), signal.SIGKILL)
    if "c" in names:
        raise MemoryError
    return measure(batch, *rest)

work.measure_batch = fails  # in each process, which begins by running this script

if __name__ == "__main__":
    fast = Settings(tagger=TaggerOptions(kind="fast"))
    found = run([sys.argv[1]], sys.argv[2], settings=fast, writing=Writing(processes=2, figures=(), report=False))
    print(*found.sessions["session_id"], *(one.problem for one in found.problems), sep="\\n")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_process_that_dies_costs_a_run_one_session(tmp_path: Path) -> None:
    script, talks = tmp_path / "mine.py", tmp_path / "talks"
    script.write_text(FATAL)
    talks.mkdir()
    for name in "abcd":
        (talks / f"{name}.txt").write_text(f"Therapist: How are you, {name}?\nClient: I am tired.\n")
    done = subprocess.run(
        [sys.executable, script, talks, tmp_path / "out"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.splitlines() == [
        "a",
        "d",
        "session b is missing: the process that measured it died",
        "session c is missing: there was not enough memory",
    ], done.stderr


@pytest.mark.parametrize(("cores", "most"), [(1, 1), (2, 2), (64, 4)])
def test_large_folders_are_shared_among_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, most: int
) -> None:
    monkeypatch.setattr(writing, "threads", lambda: cores)
    (tmp_path / "inner").mkdir()
    for i in range(2):
        (tmp_path / "inner" / f"{i}.txt").write_bytes(b"T: yes\n" * 40_000)
    assert processes_for([tmp_path]) == most
    assert processes_for([tmp_path / "inner" / "0.txt", str(tmp_path / "inner" / "1.txt")]) == most
    assert processes_for([tmp_path / "inner" / "0.txt"]) == 1


def test_what_is_not_there_counts_for_nothing(tmp_path: Path) -> None:
    assert processes_for([tmp_path / "gone"]) == 1
