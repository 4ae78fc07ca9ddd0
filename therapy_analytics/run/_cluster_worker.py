"""What a worker of a cluster does: it checks that it is suitable and runs a task, without a word in Dask's logs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from therapy_analytics.core.errors import BadOptionError, place_of
from therapy_analytics.core.third_party import take_one
from therapy_analytics.run._executor import Result, one_thread

if TYPE_CHECKING:
    from distributed import Worker

Answer = TypeVar("Answer")

SCHEDULER = "--scheduler"
_ONE_AT_A_TIME = Lock()
"""Workers that share a process (a cluster inside a notebook) take turns, as they share its caches."""


@dataclass(frozen=True, slots=True)
class Program:
    """Identifies the program, so that workers with another one are refused.

    Attributes
    ----------
    describe : callable or None
        Returns a description of the program; None accepts any.
    described : str
        What it returned on the machine that gives out the work.
    """

    describe: Callable[[], str] | None
    described: str = ""


@dataclass(frozen=True, slots=True)
class Reply(Generic[Answer]):
    """The answer of a task, or the error that it ended with.

    Errors are returned because Dask writes what a task raises into the log of its worker, with its message, which could
    quote a transcript or name a file.
    """

    answer: Answer | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class ClusterTask(Generic[Result]):
    """A task as it is sent.

    Dask writes its name into logs and keys, and its bytes where a process cannot unpack it: so the function and its
    arguments hold names of files and settings, and never a word of a transcript.
    """

    function: Callable[[], Result]
    program: Program
    __name__: ClassVar[str] = "task"

    def __repr__(self) -> str:
        return "ClusterTask()"

    def __call__(self) -> Reply[Result]:
        """Run the function."""
        try:
            with _ONE_AT_A_TIME, one_thread():
                take_one()
                if unfit := unfitness(self.program):
                    return Reply(error=unfit)
                return Reply(self.function())
        except Exception as error:  # noqa: BLE001 (it is raised on the machine that gives out the work)
            error.add_note(f"on the worker {_me()[0]}: {place_of(error)}")
            return Reply(error=error.with_traceback(None))


def unfitness(program: Program, dask_worker: Worker | None = None) -> BadOptionError | None:
    """Return why this worker is unsuitable, or None; `dask_worker` is given by Dask."""
    address, n = _me(dask_worker)
    if n != 1:
        return BadOptionError(
            SCHEDULER,
            f"the worker {address} works on {n} things at a time in one process",
            f"Start more of them instead: dask worker ADDRESS --nworkers {n} --nthreads 1",
        )
    if program.describe is not None and _described(program.describe) != program.described:
        return BadOptionError(
            SCHEDULER,
            f"the worker {address} has another version of therapy-analytics than this machine",
            "Install the same version on all machines, and start the workers again",
        )
    return None


@functools.lru_cache(maxsize=4)
def _described(describe: Callable[[], str]) -> str:
    """Return the description as of the first call: a file that is replaced later is not what this process runs."""
    return describe()


def _me(worker: Worker | None = None) -> tuple[str, int]:
    """Return this worker's address, and how many tasks it runs at a time."""
    from distributed import get_worker  # noqa: PLC0415

    worker = worker or get_worker()
    return worker.address, worker.state.nthreads
