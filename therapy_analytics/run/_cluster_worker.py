"""What a worker of a cluster does: sees whether it is fit, does a task, and says nothing in the cluster's logs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from therapy_analytics.errors import BadOptionError, place_of
from therapy_analytics.language.cores import take_one
from therapy_analytics.run._executor import Result, one_thread

if TYPE_CHECKING:
    from distributed import Worker

Answer = TypeVar("Answer")

SCHEDULER = "--scheduler"
_ONE_AT_A_TIME = Lock()
"""Several workers can share a process (a cluster inside of a notebook): what is kept in it is for one at a time."""


@dataclass(frozen=True, slots=True)
class Program:
    """What the program of a worker must agree with before it works.

    Attributes
    ----------
    describe : callable or None
        Says what the program is; None accepts any.
    described : str
        What it said where the work is given away.
    """

    describe: Callable[[], str] | None
    described: str = ""


@dataclass(frozen=True, slots=True)
class Reply(Generic[Answer]):
    """What became of a task; an error is one of the two, not raised.

    What a task of Dask raises is written into the log of its worker, message and all, and a message could quote a
    transcript or name a file. What it returns is not.
    """

    answer: Answer | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class ClusterTask(Generic[Result]):
    """A task as it is sent.

    Dask's logs and keys have its name. Where a process cannot unpack it, as one without this program, they have its
    bytes as well: so a function and its arguments hold names of files and settings, and never a word of a transcript.
    """

    function: Callable[[], Result]
    program: Program
    __name__: ClassVar[str] = "task"

    def __repr__(self) -> str:
        return "ClusterTask()"

    def __call__(self) -> Reply[Result]:
        """Do the work."""
        try:
            with _ONE_AT_A_TIME, one_thread():
                take_one()
                if unfit := unfitness(self.program):
                    return Reply(error=unfit)
                return Reply(self.function())
        except Exception as error:  # noqa: BLE001 (it is raised where the work was given away)
            error.add_note(f"on the worker {_me()[0]}: {place_of(error)}")
            return Reply(error=error.with_traceback(None))


def unfitness(program: Program, dask_worker: Worker | None = None) -> BadOptionError | None:
    """Return what keeps this worker from doing the work as this machine would; Dask names the worker if it asks."""
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
    """Ask once, when the program is loaded: a file that is replaced later is not what this process runs."""
    return describe()


def _me(worker: Worker | None = None) -> tuple[str, int]:
    """Return this worker's address, and how many things it works on at a time."""
    from distributed import get_worker  # noqa: PLC0415

    worker = worker or get_worker()
    return worker.address, worker.state.nthreads
