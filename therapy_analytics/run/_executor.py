"""Executors: tasks in, results out in order; if a worker dies, only the task that it dies of alone is lost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
Divide = Callable[[Task], Iterable[Task]]


@dataclass(frozen=True, slots=True)
class Lost:
    """The result of a task that failed when it was tried again alone.

    Attributes
    ----------
    reason : {"died", "memory"}
        Its process died, as by a crash of a library, or there was not enough memory.
    """

    reason: Literal["died", "memory"]


def undivided(task: Task) -> tuple[Task]:
    """Return a task as a whole."""
    return (task,)


class Executor(ABC):
    """Runs tasks in this process, in several, or on a cluster: see `open_executor`."""

    queue_per_worker = 2
    """Tasks that are submitted for each worker, so that it need not wait for the next."""

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """How many tasks run at a time."""

    @abstractmethod
    def submit(self, function: Callable[[Task], Result], task: Task) -> Future[Result]:
        """Submit a task; if the executor is broken, the future raises that."""

    @abstractmethod
    def alone(self, function: Callable[[Task], Result], task: Task) -> Result:
        """Run a task in a process that does nothing else, so that its death is due to the task."""

    def result(self, future: Future[Result]) -> Result:
        """Wait for a result; if the process died, raise BrokenExecutor."""
        return future.result()

    def recover(self, waiting: Iterable[Future[Result]]) -> None:
        """After the death of a worker, wait until no task is running, and be ready for more."""
        wait(waiting)

    def cancel(self, waiting: Iterable[Future[Result]]) -> None:
        """Cancel what has not begun."""
        for future in waiting:
            future.cancel()

    def in_order(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        *,
        divide: Divide[Task] = undivided,
    ) -> Iterator[tuple[Task, Result | Lost]]:
        """Apply a function to tasks as they come.

        Parameters
        ----------
        function : callable
            A function of a module, or a `functools.partial` of one: it is sent to other processes, so it must be small.
        tasks : iterable
            Taken as needed, a few ahead for each worker.
        divide : callable
            Returns the smaller tasks that a task consists of, to find the one that fails.

        Yields
        ------
        Task
            The tasks in order, or the smaller ones of those that failed as a whole.
        Result or Lost
            Its result. If a process dies, each task that was running is tried again alone.
        """
        waiting: deque[tuple[Task, Future[Result]]] = deque()
        try:
            for task in tasks:
                waiting.append((task, self.submit(function, task)))
                if len(waiting) >= self.queue_per_worker * self.n_workers:
                    yield from self._first(function, waiting, divide)
            while waiting:
                yield from self._first(function, waiting, divide)
        finally:
            self.cancel([future for _, future in waiting])

    def _first(
        self, function: Callable[[Task], Result], waiting: deque[tuple[Task, Future[Result]]], divide: Divide[Task]
    ) -> Iterator[tuple[Task, Result | Lost]]:
        """Yield the result of the first task that waits."""
        task, future = waiting.popleft()
        try:
            result = self.result(future)
        except BrokenExecutor:
            # Other tasks died with it; which one caused that is seen when each is run alone.
            self.recover([other for _, other in waiting])
            yield from self._alone(function, task, divide)
        except MemoryError:
            yield from self._alone(function, task, divide)
        else:
            yield task, result

    def _alone(
        self, function: Callable[[Task], Result], task: Task, divide: Divide[Task]
    ) -> Iterator[tuple[Task, Result | Lost]]:
        """Yield the result of a task that is run alone, or those of its smaller tasks if it fails."""
        try:
            result = self.alone(function, task)
        except BrokenExecutor:
            lost = Lost("died")
        except MemoryError:
            lost = Lost("memory")
        else:
            yield task, result
            return
        smaller = list(divide(task))
        if len(smaller) <= 1:
            yield task, lost
            return
        for one in smaller:
            yield from self._alone(function, one, divide)


class ThisProcess(Executor):
    """Runs tasks in this process, each when it is submitted."""

    n_workers = 1
    queue_per_worker = 1

    def submit(self, function: Callable[[Task], Result], task: Task) -> Future[Result]:
        """Run the task."""
        future: Future[Result] = Future()
        try:
            future.set_result(function(task))
        except MemoryError:
            future.set_exception(MemoryError())  # a new one: the traceback of the first holds on to the memory
        return future

    def alone(self, function: Callable[[Task], Result], task: Task) -> Result:
        """Run the task."""
        return function(task)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the libraries of linear algebra use one thread of this process, until the end of the block.

    Processes share the cores already, and the matrices are small: with two threads OpenBLAS takes twice the processor
    time. The limit applies to what is loaded, so numpy's and scipy's copies are loaded first.
    """
    import numpy as np  # noqa: F401, PLC0415
    import scipy.linalg  # noqa: F401, PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with threadpool_limits(1):
        yield


@contextmanager
def open_executor(
    *,
    processes: int = 1,
    scheduler: str | None = None,
    program: Callable[[], str] | None = None,
    remote: bool = False,
) -> Iterator[Executor]:
    """Yield an executor; when the block ends, its processes end, while a cluster stays.

    Parameters
    ----------
    processes : int, optional
        1 works in this process; more start a pool of new ones, when there is something to do.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, which then works instead.
    program : callable, optional
        A function of a module that identifies the program: each worker of a cluster must return the same.
    remote : bool, optional
        Whether the cluster may be on other machines than this one.

    Yields
    ------
    Executor
        As long as it is open, linear algebra in this process and in all workers takes one thread.

    Raises
    ------
    BadOptionError
        Dask is not installed, the address is wrong or not allowed, nothing answers there, or a worker is unsuitable.

    Notes
    -----
    When the block ends with an exception (Ctrl-C), running tasks are not waited for.

    Examples
    --------
    >>> with open_executor() as here:
    ...     list(here.in_order(abs, [-1, 2]))
    [(-1, 1), (2, 2)]
    """
    with one_thread():
        if scheduler is not None:
            from therapy_analytics.run._cluster import open_cluster  # noqa: PLC0415 (Dask is optional)

            with open_cluster(scheduler, program=program, remote=remote) as cluster:
                yield cluster
        elif processes > 1:
            from therapy_analytics.run._local import ProcessPool  # noqa: PLC0415 (it needs this module)

            with ProcessPool(processes) as pool:
                yield pool
        else:
            yield ThisProcess()
