"""`tanalyze run` on a real cluster of this machine: the same bytes as here, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest
from clusters import There, a_cluster, wait_for_workers
from folders import FAST, copied, files
from typer.testing import CliRunner

import therapy_analytics as ta
from therapy_analytics.cli import app

distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")

TURNS = 60


@pytest.fixture(scope="module")
def talks(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(samples, tmp_path_factory.mktemp("talks"))


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[There]:
    with a_cluster(tmp_path_factory.mktemp("cluster")) as made:
        for _ in range(2):
            made.start("worker", made.address, "--nthreads", "1", "--nworkers", "1")
        wait_for_workers(made.address, 2)
        yield made


@pytest.fixture(autouse=True)
def small_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", TURNS)


def test_the_results_are_those_of_this_machine(
    talks: Path, there: There, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(talks)  # the workers are elsewhere, and a path is relative
    options = ta.ReadOptions(metadata=Path("sessions.csv"))
    for out, scheduler in (("here", None), ("there", there.address)):
        writing = ta.Writing(figures=(), report=False, scheduler=scheduler)
        ta.run([Path()], tmp_path / out, settings=FAST, read_options=options, writing=writing)
    assert files(tmp_path / "there") == files(tmp_path / "here")


def test_a_worker_killed_in_the_middle_loses_nothing_and_repeats_nothing(
    samples: Path, there: There, tmp_path: Path
) -> None:
    ta.run([samples], tmp_path / "here", settings=FAST, writing=ta.Writing(form="parquet"))
    with distributed.Client(there.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        worker = min(client.run(os.getpid).values())
    out = tmp_path / "there"

    def kill() -> None:
        while not list(out.glob("sessions/part-*")):
            time.sleep(0.01)
        os.kill(worker, signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    found = ta.run([samples], out, settings=FAST, writing=ta.Writing(form="parquet", scheduler=there.address))
    killer.join()
    assert not found.problems
    assert files(out) == files(tmp_path / "here")
    ids = pd.read_parquet(out / "sessions")["session_id"]
    assert len(ids) == len(set(ids)) == 15
    assert len(list((out / "sessions").iterdir())) > 5


def test_the_command_names_the_scheduler(talks: Path, there: There, tmp_path: Path) -> None:
    words = ["run", str(talks / "nair_yuki.txt"), "--tagger", "fast", "--no-plots", "--no-report", "--engine", "dask"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "r"), "--scheduler", there.address])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "r" / "sessions.csv").is_file()
    refused = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "o")])
    assert refused.exit_code == 2
    assert "--scheduler ADDRESS" in refused.output


def test_no_words_reach_the_logs_of_the_cluster(talks: Path, there: There, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("speaker,text\nTherapist,quorvexed?\nClient,yes quorvexed\n" * 9)
    (tmp_path / "b.txt").write_text("quorvexed\n")
    found = ta.run(
        [tmp_path / "a.csv", tmp_path / "b.txt"], tmp_path / "r", settings=FAST,
        writing=ta.Writing(figures=(), report=False, scheduler=there.address),
    )  # fmt: skip
    assert len(found.problems) == 1
    assert "quorvexed" not in there.log.read_text()
