"""A Dask cluster on this machine, of processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class There:
    """A cluster: its address, and how to start more."""

    address: str
    start: Callable[..., subprocess.Popen[bytes]]
    log: Path
    kill: Callable[[], None]


def wait_for_workers(address: str, n: int) -> None:
    """Wait until a cluster has its workers, which takes long on a busy machine; commands wait a few seconds."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(n, timeout=120)


@contextmanager
def a_cluster(folder: Path) -> Iterator[There]:
    """Start a scheduler, for as long as the block lasts; workers are started by the test."""
    log, started = folder / "log", []
    # Workers import the modules of the tests, and so search where this process does.
    path = os.pathsep.join(filter(None, sys.path))
    os_env = os.environ | {"PYTHONPATH": path, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}

    def start(kind: str, *words: str, **env: str) -> subprocess.Popen[bytes]:
        words = (sys.executable, "-m", f"distributed.cli.dask_{kind}", *words, "--dashboard-address", "127.0.0.1:0")
        with log.open("ab") as out:
            one = subprocess.Popen(words, cwd=folder, env=os_env | env, stdout=out, stderr=subprocess.STDOUT)
        started.append(one)
        return one

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", "scheduler.json")
        there = folder / "scheduler.json"
        while not there.exists():
            time.sleep(0.05)
        yield There(json.loads(there.read_text())["address"], start, log, started[0].kill)
    finally:
        for one in started[1:]:
            one.terminate()
        for one in reversed(started):  # the scheduler last: workers that miss it are slow to go
            one.terminate()
            one.wait(20)
