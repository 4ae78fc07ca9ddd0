"""An executor of new processes of this machine."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread
from typing import Self

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.run._executor import Executor, Result, Task, one_thread

_LASTING = one_thread()
"""Entered by a process of a pool when it starts, and never left."""
TRIES_ALONE = 2
"""How often a process may die of a task alone before the task is given up: the system may have killed it because
another program took the memory."""
TRIES_TO_START = 3
"""How often an idle process may die before it is concluded that none can be started."""
_GUARD = 'In a script of your own, write what it does below a line `if __name__ == "__main__":`'


class ProcessPool(Executor):
    """Processes of this machine, started when there is something to do, and replaced when one dies."""

    def __init__(self, processes: int) -> None:
        self._n_workers = processes
        self._pool = _fresh(processes)

    @property
    def n_workers(self) -> int:
        """How many tasks run at a time."""
        return self._n_workers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # Running tasks are not waited for: a process writes a file completely or not at all.
            for process in multiprocessing.active_children():
                process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, function: Callable[[Task], Result], task: Task) -> Future[Result]:
        """Submit a task to the pool."""
        try:
            return _submitted(self._pool, function, task)
        except BrokenExecutor as error:
            future: Future[Result] = Future()
            future.set_exception(error)
            return future

    def alone(self, function: Callable[[Task], Result], task: Task) -> Result:
        """Run a task in a process that does nothing else, and again in another one if that dies."""
        return _in_a_fresh_process(functools.partial(function, task), tries=TRIES_ALONE)

    def recover(self, waiting: Iterable[Future[Result]]) -> None:
        """Wait until no task is running, check that processes can be started, and replace the pool if it is broken.

        It works if an earlier call replaced it, after the same death.
        """
        super().recover(waiting)
        try:
            _in_a_fresh_process(int, tries=TRIES_TO_START)
        except BrokenExecutor:
            remedy = f"{_GUARD}; or take one process, or --engine dask"
            raise BadOptionError("processes", "no other process can be started", remedy) from None
        try:
            _submitted(self._pool, int).result()
        except BrokenExecutor:
            self._pool.shutdown(wait=False)
            self._pool = _fresh(self._n_workers)


def _in_a_fresh_process(function: Callable[[], Result], *, tries: int) -> Result:
    """Call a function in a process that does nothing else, and again in another one if that process dies.

    Raises
    ------
    BrokenExecutor
        The process died each time.
    """
    while True:
        tries -= 1
        try:
            with _fresh(1) as one:
                return _submitted(one, function).result()
        except BrokenExecutor:
            if not tries:
                raise


def _submitted(pool: ProcessPoolExecutor, function: Callable[..., Result], *arguments: object) -> Future[Result]:
    """Submit work to a pool, which may start a process for it."""
    with _ctrl_c_waits(), _ctrl_c_is_blocked():
        return pool.submit(function, *arguments)


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Delay a Ctrl-C until the end of the block.

    A worker whose start is interrupted would not be told what to do, and would print a traceback. Python handles
    signals in the main thread alone, so other threads are never interrupted.
    """
    # In a program that embeds Python and handles Ctrl-C itself, Python knows no handler.
    if signal.getsignal(signal.SIGINT) is None or current_thread() is not main_thread():
        yield
        return
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _ctrl_c_is_blocked() -> Iterator[None]:
    """Start workers that never receive Ctrl-C, which a terminal sends to all processes.

    A worker that is still loading its modules would print a traceback. It inherits the blocked signals of the thread
    that starts it. Windows cannot block signals; there a worker ignores Ctrl-C once `_begin` has run.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def refuse_to_begin_again() -> None:
    """Refuse a run in a process that is being started as a worker: the user's script lacks a main guard.

    Raises
    ------
    BadOptionError
        The script would start processes that start processes.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise BadOptionError("processes", "each process begins by running the script that starts it", _GUARD)


def _fresh(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)


def _begin() -> None:
    """Ignore Ctrl-C, use one thread for linear algebra, and end with the main process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _LASTING.__enter__()
    Thread(target=_end_with_the_main_one, daemon=True).start()


def _end_with_the_main_one() -> None:
    """End this process when the main process ends, even if that was killed."""
    main = multiprocessing.parent_process()
    if main is not None:
        main.join()
        os._exit(1)
