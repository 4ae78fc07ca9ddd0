"""What a worker of a cluster does: sees whether it is fit, works on an item, and says nothing in the cluster's logs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from therapy_analytics.engine.address import SCHEDULER
from therapy_analytics.engine.base import Result
from therapy_analytics.engine.threads import one_thread
from therapy_analytics.errors import BadOptionError, place_of
from therapy_analytics.language.cores import take_one

if TYPE_CHECKING:
    from distributed import Worker

Answer = TypeVar("Answer")

_ONE_AT_A_TIME = Lock()
"""Several workers can share a process (a cluster inside of a notebook): what is kept in it is for one at a time."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a worker must agree with before it works.

    Attributes
    ----------
    alike : callable or None
        Says what the program is.
    said : str
        What it said to who gives the work.
    """

    alike: Callable[[], str] | None
    said: str = ""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Answer]):
    """What became of an item; an error is one of the two, not raised.

    What a task of Dask raises is written into the log of its worker, message and all, and a message could quote a
    transcript or name a file. What it returns is not.
    """

    answer: Answer | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class Task(Generic[Result]):
    """Work on one item, as it is sent.

    Dask's logs and keys have its name. Where a process cannot unpack it, as one without this program, they have its
    bytes as well: so a function and its items hold names of files and settings, and never a word of a transcript.
    """

    function: Callable[[], Result]
    terms: Terms
    __name__: ClassVar[str] = "item"

    def __repr__(self) -> str:
        return "Task()"

    def __call__(self) -> Outcome[Result]:
        """Do the work."""
        try:
            with _ONE_AT_A_TIME, one_thread():
                take_one()
                if unfit := unfitness(self.terms):
                    return Outcome(error=unfit)
                return Outcome(self.function())
        except Exception as error:  # noqa: BLE001 (it is raised where the work was given)
            error.add_note(f"on the worker {_me()[0]}: {place_of(error)}")
            return Outcome(error=error.with_traceback(None))


def unfitness(terms: Terms, dask_worker: Worker | None = None) -> BadOptionError | None:
    """Return what keeps this worker from doing the work as who gives it would; Dask names the worker if it asks."""
    address, n = _me(dask_worker)
    if n != 1:
        return BadOptionError(
            SCHEDULER,
            f"the worker {address} works on {n} things at a time in one process",
            f"Start more of them instead: dask worker ADDRESS --nworkers {n} --nthreads 1",
        )
    if terms.alike is not None and _said(terms.alike) != terms.said:
        return BadOptionError(
            SCHEDULER,
            f"the worker {address} has another version of therapy-analytics than this machine",
            "Install the same version on all machines, and start the workers again",
        )
    return None


@functools.lru_cache(maxsize=4)
def _said(alike: Callable[[], str]) -> str:
    """Ask once, when the program is loaded: a file that is replaced later is not what this process runs."""
    return alike()


def _me(worker: Worker | None = None) -> tuple[str, int]:
    """Return this worker's address, and how many things it works on at a time."""
    from distributed import get_worker  # noqa: PLC0415

    worker = worker or get_worker()
    return worker.address, worker.state.nthreads
