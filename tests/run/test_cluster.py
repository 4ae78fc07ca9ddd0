"""Work on a real cluster on this machine, of two workers: the same bytes as here, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from clusters import There, a_cluster, wait_for_workers
from folders import FAST, copied, files
from typer.testing import CliRunner

import therapy_analytics as ta
from therapy_analytics.cli import app
from therapy_analytics.core.errors import BadOptionError, UnreadableFileError
from therapy_analytics.core.third_party import threads
from therapy_analytics.run import Lost, open_executor
from therapy_analytics.run import cluster as cluster_of_dask
from therapy_analytics.run.cluster import Program, checked_address, unfitness

distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")

Batch = tuple[int, ...]


def _double(batch: Batch) -> Batch:
    if 13 in batch:
        os.kill(os.getpid(), signal.SIGKILL)
    if 99 in batch:
        raise MemoryError
    return tuple(2 * one for one in batch)


def _dies_once(flag: Path, batch: Batch) -> int:
    (number,) = batch
    if number == 3 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return -number


def _refuse(batch: tuple[str, ...]) -> int:
    raise UnreadableFileError(batch[0], 3, "quorvexed", "Be calm")


def _linger(batch: tuple[float, ...]) -> float:
    time.sleep(batch[0])
    return batch[0]


def _waits_for(flag: Path, wait: tuple[bool, ...]) -> None:
    """Wait until `flag` is there; leave a file beside it where it does not come."""
    until = time.monotonic() + 60
    while wait[0] and not flag.exists():
        if time.monotonic() > until:
            flag.with_name(f"in_vain{os.getpid()}").touch()
            return
        time.sleep(0.05)


def _threads(_: object) -> tuple[int, int]:
    from threadpoolctl import threadpool_info

    return max(library["num_threads"] for library in threadpool_info()), threads()


def _version() -> str:
    return os.environ.get("VERSION_OF_THIS_TEST", "one")


def _nothing_of_ours(folder: Path) -> dict[str, str]:
    """Return the environment of a process that has not got this package."""
    (folder / "therapy_analytics.py").write_text("raise ModuleNotFoundError(name='therapy_analytics')")
    return {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[There]:
    """Two workers of one thread each, which are started again when they die."""
    with a_cluster(tmp_path_factory.mktemp("cluster")) as there:
        there.start("worker", there.address, "--nthreads", "1", "--nworkers", "2")
        wait_for_workers(there.address, 2)
        yield there


def test_results_are_those_of_this_machine_in_order(cluster: There) -> None:
    batches = [(n, n + 1) for n in range(20, 60, 2)]
    with open_executor() as here, open_executor(scheduler=cluster.address, program=_version) as there:
        assert list(there.in_order(_double, batches)) == list(here.in_order(_double, batches))
        assert list(there.in_order(sum, [(-1, 2), (-1, 2)])) == [((-1, 2), 1), ((-1, 2), 1)]


def test_a_worker_takes_one_thread(cluster: There) -> None:
    with open_executor(scheduler=cluster.address) as there:
        assert {n for _, n in there.in_order(_threads, [(n,) for n in range(4)])} == {(1, 1)}


def test_errors_travel_and_say_nothing_on_the_way(cluster: There) -> None:
    with (
        open_executor(scheduler=cluster.address) as there,
        pytest.raises(UnreadableFileError, match=r"a\.csv, line 3: quorvexed") as e,
    ):
        list(there.in_order(_refuse, [("a.csv",)]))
    assert "on the worker tcp://127.0.0.1" in e.value.__notes__[0]
    assert "quorvexed" not in cluster.log.read_text()
    assert "a.csv" not in cluster.log.read_text()


def test_a_worker_killed_in_the_middle_loses_nothing(cluster: There, tmp_path: Path) -> None:
    with open_executor(scheduler=cluster.address) as there:
        found = list(there.in_order(partial(_dies_once, tmp_path / "flag"), [(n,) for n in range(12)]))
    assert (tmp_path / "flag").exists()
    assert found == [((n,), -n) for n in range(12)]


def test_an_item_that_kills_each_worker_is_lost_alone(cluster: There) -> None:
    with open_executor(scheduler=cluster.address) as there:
        found = list(there.in_order(_double, [(1, 2), (13,), (6, 7), (99, 9), (10,)]))
    assert found == [
        ((1, 2), (2, 4)),
        ((13,), Lost("died")),
        ((6, 7), (12, 14)),
        ((99,), Lost("memory")),
        ((9,), (18,)),
        ((10,), (20,)),
    ]


def test_what_is_under_way_is_not_waited_for(cluster: There, tmp_path: Path) -> None:
    over = tmp_path / "over"
    with pytest.raises(KeyboardInterrupt), open_executor(scheduler=cluster.address) as there:  # noqa: PT012
        for _ in there.in_order(partial(_waits_for, over), [(False,)] * 8 + [(True,)] * 20):
            raise KeyboardInterrupt
    over.touch()
    assert not list(tmp_path.glob("in_vain*"))


def _other(cluster: There, kind: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a worker that is not as it must be."""
    env = {"version": {"VERSION_OF_THIS_TEST": "two"}, "absent": _nothing_of_ours(folder)}.get(kind, {})
    return cluster.start("worker", cluster.address, "--no-nanny", "--nthreads", "1", **env)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("version", r"the worker tcp://127\.0\.0\.1:\d+ has another version of therapy-analytics"),
        ("absent", r"the worker tcp://127\.0\.0\.1:\d+ cannot load therapy-analytics"),
    ],
)
def test_a_worker_that_is_not_fit_is_refused(cluster: There, kind: str, problem: str, tmp_path: Path) -> None:
    with open_executor(scheduler=cluster.address, program=_version) as there:
        one = _other(cluster, kind, tmp_path)
        try:
            if kind != "absent":  # who has not got the program dies of the first item, and others do the work
                with pytest.raises(BadOptionError, match=problem):  # it comes when the work has begun
                    list(there.in_order(_linger, [(0.1,)] * 200))
            with pytest.raises(BadOptionError, match=problem):
                _soon_refused(cluster.address)
        finally:
            one.terminate()
            one.wait(20)


def test_which_workers_are_not_fit() -> None:
    worker: Any = SimpleNamespace(address="tcp://127.0.0.1:1", state=SimpleNamespace(nthreads=2))
    assert "tcp://127.0.0.1:1 works on 2 things at a time" in str(unfitness(Program(None), worker))
    worker.state.nthreads = 1
    assert unfitness(Program(_version, "one"), worker) is None
    assert "another version" in str(unfitness(Program(_version, "two"), worker))
    worker.address = "tcp://192.168.0.7:1"
    assert "is not known to be on this machine" in str(unfitness(Program(None), worker))
    assert unfitness(Program(None, remote=True), worker) is None


def _soon_refused(address: str) -> None:
    until = time.monotonic() + 15
    while time.monotonic() < until:
        with open_executor(scheduler=address, program=_version):
            time.sleep(0.1)


def test_a_scheduler_that_goes_is_missed_in_plain_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_cluster(tmp_path) as own:
        monkeypatch.setattr(cluster_of_dask, "SECONDS_TO_ANSWER", 1.5)
        with pytest.raises(BadOptionError, match="has no workers"), open_executor(scheduler=own.address):
            pass
        monkeypatch.undo()
        own.start("worker", own.address, "--nthreads", "1", "--no-nanny")
        wait_for_workers(own.address, 1)
        with (  # noqa: PT012
            pytest.raises(BadOptionError, match="the same command goes on"),
            open_executor(scheduler=own.address) as there,
        ):
            for _ in there.in_order(_linger, [(0.1,)] * 20):
                own.kill()


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_of_dask, "SECONDS_TO_ANSWER", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(BadOptionError, match=f"no Dask scheduler answers at tcp://{address}"),
            open_executor(scheduler=address),
        ):
            pass
    with pytest.raises(BadOptionError, match="no Dask scheduler answers"), open_executor(scheduler=address):
        pass
    with pytest.raises(BadOptionError, match="no certificate"), open_executor(scheduler=f"tls://{address}"):
        pass


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(BadOptionError, match="-m pip install dask distributed"),
        open_executor(scheduler="[::1]:1"),
    ):
        pass


def test_other_machines_must_be_allowed() -> None:
    assert checked_address("tls://clinic.example:8786", remote=True) == "tls://clinic.example:8786"
    for address in ("tcp://192.168.0.7:8786", "localhost.example:8786", "tls://[2001:db8::1]:8786"):
        with pytest.raises(BadOptionError, match="--allow-remote"):
            checked_address(address, remote=False)
    for address in (
        "",
        "localhost",
        "http://127.0.0.1:1",
        "tcp://:1",
        "tcp://127.0.0.1:x",
        "tcp://127.0.0.1:1/a",
        "inproc://a/1",
    ):
        with pytest.raises(BadOptionError, match="is not the address of a Dask scheduler"):
            checked_address(address, remote=True)


@pytest.fixture(scope="module")
def talks(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(samples, tmp_path_factory.mktemp("talks"))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 60)


@pytest.mark.usefixtures("small_batches")
def test_a_run_writes_the_same_bytes(
    talks: Path, cluster: There, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(talks)  # the workers are elsewhere, and a path is relative
    options = ta.ReadOptions(metadata=Path("sessions.csv"))
    for out, scheduler in (("here", None), ("there", cluster.address)):
        writing = ta.Writing(figures=(), report=False, scheduler=scheduler)
        ta.run([Path()], tmp_path / out, settings=FAST, read_options=options, writing=writing)
    assert files(tmp_path / "there") == files(tmp_path / "here")


@pytest.mark.usefixtures("small_batches")
def test_a_worker_killed_in_the_middle_of_a_run_loses_nothing_and_repeats_nothing(
    samples: Path, cluster: There, tmp_path: Path
) -> None:
    ta.run([samples], tmp_path / "here", settings=FAST, writing=ta.Writing(form="parquet"))
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        worker = min(client.run(os.getpid).values())
    out = tmp_path / "there"

    def kill() -> None:
        while not list(out.glob("sessions/part-*")):
            time.sleep(0.01)
        os.kill(worker, signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    found = ta.run([samples], out, settings=FAST, writing=ta.Writing(form="parquet", scheduler=cluster.address))
    killer.join()
    assert not found.problems
    assert files(out) == files(tmp_path / "here")
    ids = pd.read_parquet(out / "sessions")["session_id"]
    assert len(ids) == len(set(ids)) == 15
    assert len(list((out / "sessions").iterdir())) > 5


def test_the_command_names_the_scheduler(talks: Path, cluster: There, tmp_path: Path) -> None:
    words = ["run", str(talks / "nair_yuki.txt"), "--tagger", "fast", "--no-plots", "--no-report", "--engine", "dask"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "r"), "--scheduler", cluster.address])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "r" / "sessions.csv").is_file()
    refused = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "o")])
    assert refused.exit_code == 2
    assert "--scheduler ADDRESS" in refused.output


def test_no_words_reach_the_logs_of_the_cluster(talks: Path, cluster: There, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("speaker,text\nTherapist,quorvexed?\nClient,yes quorvexed\n" * 9)
    (tmp_path / "b.txt").write_text("quorvexed\n")
    found = ta.run(
        [tmp_path / "a.csv", tmp_path / "b.txt"], tmp_path / "r", settings=FAST,
        writing=ta.Writing(figures=(), report=False, scheduler=cluster.address),
    )  # fmt: skip
    assert len(found.problems) == 1
    assert "quorvexed" not in cluster.log.read_text()
