"""Who does the work: tasks in, results out in their order, and a death costs what died alone."""

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
    """Stands for the result of a task that failed alone and a second time.

    Attributes
    ----------
    reason : {"died", "memory"}
        Its process died, as by a crash in a library, or there was not enough memory.
    """

    reason: Literal["died", "memory"]


def undivided(task: Task) -> tuple[Task]:
    """Return a task that is not divided."""
    return (task,)


class Executor(ABC):
    """Does tasks in this process, in several, or on a cluster: see `open_executor`."""

    queue_per_worker = 2
    """So many tasks are given away for each worker, so that none waits for the next."""

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """How many tasks are done at a time."""

    @abstractmethod
    def submit(self, function: Callable[[Task], Result], task: Task) -> Future[Result]:
        """Give a task away; an executor that is broken says so in the future."""

    @abstractmethod
    def alone(self, function: Callable[[Task], Result], task: Task) -> Result:
        """Do a task so that nothing else that was submitted can be what its process dies of."""

    def result(self, future: Future[Result]) -> Result:
        """Wait for a result; the death of a process is a BrokenExecutor."""
        return future.result()

    def recover(self, waiting: Iterable[Future[Result]]) -> None:
        """After a death, wait until nothing is under way, and be ready for more."""
        wait(waiting)

    def cancel(self, waiting: Iterable[Future[Result]]) -> None:
        """Take back what was not begun."""
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
            Taken as needed: only a few for each worker are waiting.
        divide : callable
            Returns the smaller tasks that a task consists of, to find the one that fails.

        Yields
        ------
        Task
            In order: the tasks, or the smaller ones of those that failed as a whole.
        Result or Lost
            What became of it. Where a process dies, what was under way is tried again, each task alone.
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
        """Yield what became of the first task that waits."""
        task, future = waiting.popleft()
        try:
            result = self.result(future)
        except BrokenExecutor:
            # What was under way died with it; which task it was is seen when each is done alone.
            self.recover([other for _, other in waiting])
            yield from self._alone(function, task, divide)
        except MemoryError:
            yield from self._alone(function, task, divide)
        else:
            yield task, result

    def _alone(
        self, function: Callable[[Task], Result], task: Task, divide: Divide[Task]
    ) -> Iterator[tuple[Task, Result | Lost]]:
        """Yield what becomes of a task when it is done alone, or of its smaller tasks where it fails."""
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
    """Tasks are done in this process, each when it is submitted."""

    n_workers = 1
    queue_per_worker = 1

    def submit(self, function: Callable[[Task], Result], task: Task) -> Future[Result]:
        """Do the task."""
        future: Future[Result] = Future()
        try:
            future.set_result(function(task))
        except MemoryError:
            future.set_exception(MemoryError())  # another one: what led to the first holds on to the memory
        return future

    def alone(self, function: Callable[[Task], Result], task: Task) -> Result:
        """Do a task."""
        return function(task)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the libraries of linear algebra use one thread of this process, until the end of the block.

    The cores are shared out among processes already. The matrices are small: on two cores, OpenBLAS spends twice the
    processor time on waiting for itself. What is there to limit must be loaded before, and so numpy's and scipy's own
    copies are.
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
    """Give an executor; when the block ends its processes end, a cluster stays.

    Parameters
    ----------
    processes : int, optional
        1 works in this process; more start a pool of fresh ones, when there is something to do.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, which then works instead.
    program : callable, optional
        A function of a module that says what the program is: each worker of a cluster must say the same.
    remote : bool, optional
        Whether the cluster may be on other machines than this one.

    Yields
    ------
    Executor
        Meanwhile the linear algebra of this process, and of all workers, takes one thread.

    Raises
    ------
    BadOptionError
        Dask is not installed, the address is none or may not be used, nobody answers there, or a worker is not fit.

    Notes
    -----
    When the block ends with an exception (Ctrl-C), what is under way is not waited for.

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
            from therapy_analytics.run._local import Pool  # noqa: PLC0415 (it needs this module)

            with Pool(processes) as pool:
                yield pool
        else:
            yield ThisProcess()
