"""Work in a pool of fresh processes of this machine."""

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

from therapy_analytics.errors import BadOptionError
from therapy_analytics.run._executor import Executor, Result, Task, one_thread

_LASTING = one_thread()
"""Of a process of a pool: entered once, and never left."""
TRIES_ALONE = 2
"""How often a process may die with one task alone before the task is given up.

The system may have killed the process for want of memory that another program took.
"""
TRIES_TO_START = 3
"""How often a process with nothing to do may die before it is said that none can be started."""
_GUARD = 'In a script of your own, write what it does below a line `if __name__ == "__main__":`'


class Pool(Executor):
    """Processes of this machine, started when there is something to do, and replaced when one of them dies."""

    def __init__(self, processes: int) -> None:
        self._n_workers = processes
        self._pool = _fresh(processes)

    @property
    def n_workers(self) -> int:
        """How many tasks are done at a time."""
        return self._n_workers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # What is under way is not waited for: what a process writes, it writes whole or not at all.
            for process in multiprocessing.active_children():
                process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, function: Callable[[Task], Result], task: Task) -> Future[Result]:
        """Give a task to the pool."""
        try:
            return _submitted(self._pool, function, task)
        except BrokenExecutor as error:
            future: Future[Result] = Future()
            future.set_exception(error)
            return future

    def alone(self, function: Callable[[Task], Result], task: Task) -> Result:
        """Do a task in a process that does nothing else, and once more if that dies."""
        return _in_a_fresh_process(functools.partial(function, task), tries=TRIES_ALONE)

    def recover(self, waiting: Iterable[Future[Result]]) -> None:
        """Wait until nothing is under way; see whether processes can be started; take another pool.

        The other pool was taken before if this one works: then what broke now broke with the last death.
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
    """Give work to a pool, which may start a process for it."""
    with _ctrl_c_waits(), _ctrl_c_is_blocked():
        return pool.submit(function, *arguments)


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Let a Ctrl-C that comes now stop this process only at the end.

    If it stopped this process halfway through the start of a worker, the worker would not be told what to do, and would
    print a traceback. Python handles signals in the main thread alone, so any other thread is never stopped.
    """
    # A program that has Python within it may handle Ctrl-C by itself; Python then knows of no handler.
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
    """Start workers that do not receive Ctrl-C from their first moment on.

    A terminal sends Ctrl-C to all processes, and a worker that is still loading its modules would print a traceback. A
    worker inherits the blocked signals of the thread that starts it. Windows cannot block signals; there a worker
    ignores Ctrl-C once `_begin` has run.
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
    """Refuse a run in a process that is only being started for another: its script does not tell the two apart.

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
    """Leave Ctrl-C, which a terminal sends to all processes, to the main one; and the other cores to the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _LASTING.__enter__()
    Thread(target=_end_with_the_main_one, daemon=True).start()


def _end_with_the_main_one() -> None:
    """End when the main process does, even if it was killed: nobody else would ever tell this one."""
    main = multiprocessing.parent_process()
    if main is not None:
        main.join()
        os._exit(1)
