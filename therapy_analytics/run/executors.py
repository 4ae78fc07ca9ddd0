"""Executors: this process, processes of this machine, or a Dask cluster; results come in order whichever it is.

Each of them is a `concurrent.futures.Executor` with a few things more (`Pool`). A task is a tuple of items, such as
sessions. If a worker dies, the tasks that were running are tried again one at a time, and the one that fails item by
item, so that only the item of which a worker dies is lost.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any, Literal, Self

from therapy_analytics.core.errors import BadOptionError

if TYPE_CHECKING:
    from threadpoolctl import threadpool_limits

Task = tuple[Any, ...]
Function = Callable[[Any], Any]

SECONDS_BETWEEN_CHECKS = 5
TRIES_TO_START = 3
"""How often an idle process may die before it is concluded that none can be started."""
_GUARD = 'In a script of your own, write what it does below a line `if __name__ == "__main__":`'


@dataclass(frozen=True, slots=True)
class Lost:
    """The result of an item that failed when it was tried again alone.

    Attributes
    ----------
    reason : {"died", "memory"}
        Its process died, as by a crash of a library, or there was not enough memory.
    """

    reason: Literal["died", "memory"]


class Pool(Executor):
    """An executor that says how many tasks it takes, and makes another one after a worker has died."""

    ahead = 2
    """Tasks that are submitted for each worker, so that it need not wait for the next."""
    tries_alone = 2
    """How often a worker may die of an item alone before the item is given up: the system may have killed it because
    another program took the memory."""

    @property
    def n_workers(self) -> int:
        """How many tasks run at a time."""
        return 1

    def another(self, n_workers: int) -> Pool:
        """Return another pool of this kind, whose workers were seen to work.

        Raises
        ------
        BadOptionError
            There are none.
        """
        raise NotImplementedError

    def check(self) -> None:
        """Check, while a result is waited for, that there still are workers."""


class Workers:
    """What `open_executor` yields: sends tasks to a pool, and replaces it when a worker dies."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.__exit__(*error)  # type: ignore[arg-type]

    @property
    def n_workers(self) -> int:
        """How many tasks run at a time."""
        return self._pool.n_workers

    def in_order(self, function: Function, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        """Apply a function to tasks as they come.

        Parameters
        ----------
        function : callable
            A function of a module, or a `functools.partial` of one: it is sent to other processes, so it must be small.
        tasks : iterable of tuple
            Taken as needed, a few ahead for each worker.

        Yields
        ------
        tuple
            The tasks in order; of one that failed as a whole each item, as a tuple.
        object
            The result, or `Lost`.
        """
        left, waiting = iter(tasks), deque[tuple[Task, Future[Any], Pool]]()
        try:
            while True:
                for task in islice(left, max(self._pool.ahead * self._pool.n_workers - len(waiting), 0)):
                    waiting.append((task, self._pool.submit(function, task), self._pool))
                if not waiting:
                    return
                task, future, pool = waiting.popleft()
                try:
                    result = self._awaited(future)
                except BrokenExecutor:
                    # Other tasks died with it; which one caused that is seen when each is run alone.
                    self._await([other for _, other, _ in waiting])
                    self._replace(pool)
                    yield from self._alone(function, task)
                except MemoryError:
                    yield from self._alone(function, task)
                else:
                    yield task, result
        finally:
            for _, future, _ in waiting:
                future.cancel()

    def _replace(self, pool: Pool) -> None:
        """Replace a pool of which a worker died, unless that was done after the same death."""
        if pool is self._pool:
            self._pool = pool.another(pool.n_workers)
            pool.shutdown(wait=False)

    def _alone(self, function: Function, task: Task) -> Iterator[tuple[Task, Any]]:
        """Yield the result of a task by a worker that does nothing else, or those of its items if it fails."""
        lost = Lost("died")
        for _ in range(self._pool.tries_alone if len(task) == 1 else 1):
            try:
                with self._pool.another(1) as one:
                    result = self._awaited(one.submit(function, task))
            except BrokenExecutor:
                continue
            except MemoryError:
                lost = Lost("memory")
                break
            yield task, result
            return
        if len(task) == 1:
            yield task, lost
            return
        for item in task:
            yield from self._alone(function, (item,))

    def _awaited(self, future: Future[Any]) -> Any:
        self._await([future])
        return future.result()

    def _await(self, futures: list[Future[Any]]) -> None:
        while wait(futures, timeout=SECONDS_BETWEEN_CHECKS).not_done:
            self._pool.check()


@contextmanager
def open_executor(
    *,
    processes: int = 1,
    scheduler: str | None = None,
    program: Callable[[], str] | None = None,
    remote: bool = False,
) -> Iterator[Workers]:
    """Yield workers; when the block ends, processes end, while a cluster stays.

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
    Workers
        As long as they are there, linear algebra in this process and in all workers takes one thread.

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
    ...     list(here.in_order(sum, [(1, 2), (3,)]))
    [((1, 2), 3), ((3,), 3)]
    """
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        pool: Pool = Processes(processes) if processes > 1 else ThisProcess()
        if scheduler is not None:
            from therapy_analytics.run.cluster import open_cluster  # noqa: PLC0415 (Dask is optional)

            pool = stack.enter_context(open_cluster(scheduler, program=program, remote=remote))
        yield stack.enter_context(Workers(pool))


def one_thread() -> threadpool_limits:
    """Let the libraries of linear algebra use one thread of this process; as a context, until its end.

    Processes share the cores already, and the matrices are small: with two threads OpenBLAS takes twice the processor
    time. The limit applies to what is loaded, so numpy's and scipy's copies are loaded first.
    """
    import numpy as np  # noqa: F401, PLC0415
    import scipy.linalg  # noqa: F401, PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    return threadpool_limits(1)


class ThisProcess(Pool):
    """Runs tasks in this process, each when it is submitted."""

    ahead = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run the task."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except MemoryError:
            future.set_exception(MemoryError())  # a new one: the traceback of the first holds on to the memory
        return future

    def another(self, n_workers: int) -> Pool:  # noqa: ARG002
        """Return this process."""
        return self


class Processes(Pool, ProcessPoolExecutor):
    """New processes of this machine, started when there is something to do."""

    def __init__(self, n_workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        ProcessPoolExecutor.__init__(self, n_workers, mp_context=context, initializer=_begin)
        self._n_workers = n_workers

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # Running tasks are not waited for: a process writes a file completely or not at all.
            for process in list((self._processes or {}).values()):
                process.terminate()
        self.shutdown(wait=True, cancel_futures=True)

    @property
    def n_workers(self) -> int:
        """How many tasks run at a time."""
        return self._n_workers

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task, for which a process may be started; if the pool is broken, the future raises that."""
        try:
            with _ctrl_c_waits():
                return ProcessPoolExecutor.submit(self, fn, *args, **kwargs)
        except BrokenExecutor as error:
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    def another(self, n_workers: int) -> Pool:
        """Return another pool, whose first process works."""
        for _ in range(TRIES_TO_START):
            pool = Processes(n_workers)
            try:
                pool.submit(int).result()
            except BrokenExecutor:
                pool.shutdown(wait=False)
            else:
                return pool
        remedy = f"{_GUARD}; or take one process, or --engine dask"
        raise BadOptionError("processes", "no other process can be started", remedy)


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Delay a Ctrl-C until the end of the block, and start workers that never receive it.

    A terminal sends Ctrl-C to all processes. A worker that is still loading its modules would print a traceback; it
    inherits the blocked signals of the thread that starts it. Windows cannot block signals; there a worker ignores
    Ctrl-C once `_begin` has run. Python handles signals in the main thread alone, and a program that embeds Python may
    handle Ctrl-C itself.
    """
    can_block = hasattr(signal, "pthread_sigmask")
    handled_here = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is not None
    came: list[int] = []
    if handled_here:
        handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_block else set()
    try:
        yield
    finally:
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if handled_here:
            signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


def refuse_to_begin_again() -> None:
    """Refuse a run in a process that is being started as a worker: the user's script lacks a main guard.

    Raises
    ------
    BadOptionError
        The script would start processes that start processes.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise BadOptionError("processes", "each process begins by running the script that starts it", _GUARD)


def _begin() -> None:
    """Ignore Ctrl-C, use one thread for linear algebra, and end with the main process, even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_thread()
    Thread(target=_end_with_the_main_one, daemon=True).start()


def _end_with_the_main_one() -> None:
    main = multiprocessing.parent_process()
    if main is not None:
        main.join()
        os._exit(1)
