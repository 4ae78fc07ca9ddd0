"""Work in this process, or in a pool of fresh ones."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from threading import Thread
from typing import Self

from therapy_analytics.engine.base import Crew, Item, Lost, Result, Row, tried, whole
from therapy_analytics.engine.threads import one_thread
from therapy_analytics.errors import BadOptionError

_LASTING = one_thread()
"""Of a process of a pool: entered once, and never left."""
TRIES_ALONE = 2
"""How often a process may die with one item alone before the item is given up.

The system may have killed the process for want of memory that another program took.
"""
TRIES_TO_START = 3
"""How often a process with nothing to do may die before it is said that none can be started."""
_GUARD = 'In a script of your own, write what it does below a line `if __name__ == "__main__":`'


class Alone(Crew):
    """Work is done in this process."""

    width = 1

    def in_order(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        apart: Callable[[Item], Iterable[Item]] = whole,
    ) -> Iterator[tuple[Item, Result | Lost]]:
        """Apply a function to items as they come."""
        for item in items:
            yield from tried(function, item, apart)


class Pool(Crew):
    """Processes of this machine, started when there is something to do, and replaced when one of them dies."""

    def __init__(self, processes: int) -> None:
        self._width = processes
        self._pool = _fresh(processes)

    @property
    def width(self) -> int:
        """How many work at a time."""
        return self._width

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # What is under way is not waited for: what a process writes, it writes whole or not at all.
            for process in multiprocessing.active_children():
                process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def in_order(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        apart: Callable[[Item], Iterable[Item]] = whole,
    ) -> Iterator[tuple[Item, Result | Lost]]:
        """Apply a function to items as they come."""
        return _PoolRow(self, function).run(items, apart)

    def submit(self, function: Callable[[Item], Result], item: Item) -> Future[Result]:
        """Give an item to the pool."""
        return _submitted(self._pool, function, item)

    def mend(self) -> None:
        """Take another pool, unless that was done for an item that broke with this one."""
        try:
            _submitted(self._pool, int).result()
        except BrokenExecutor:
            self._pool.shutdown(wait=False)
            self._pool = _fresh(self._width)


class _PoolRow(Row[Item, Result]):
    """What waits for a pool."""

    def __init__(self, pool: Pool, function: Callable[[Item], Result]) -> None:
        super().__init__(function)
        self._pool = pool

    @property
    def most(self) -> int:
        return 2 * self._pool.width

    def submit(self, item: Item) -> Future[Result]:
        try:
            return self._pool.submit(self.function, item)
        except BrokenExecutor as error:
            future: Future[Result] = Future()
            future.set_exception(error)
            return future

    def alone(self, item: Item) -> Result:
        return _in_a_fresh_process(functools.partial(self.function, item), tries=TRIES_ALONE)

    def settle(self) -> None:
        super().settle()
        _prove()

    def mend(self) -> None:
        self._pool.mend()


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
    """Give work to a pool; a process that is started for it does not hear Ctrl-C from its first moment on.

    A terminal sends Ctrl-C to all processes. One that is still loading its modules would print a traceback. A process
    inherits from the thread that starts it which signals wait, so the signal is made to wait in this thread until the
    process is there. Windows has no such mask; there a process ignores Ctrl-C once `_begin` has run.
    """
    if not hasattr(signal, "pthread_sigmask"):
        return pool.submit(function, *arguments)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(function, *arguments)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prove() -> None:
    """Refuse to go on where processes die before they have anything to do: that is no item's fault."""
    try:
        _in_a_fresh_process(int, tries=TRIES_TO_START)
    except BrokenExecutor:
        remedy = f"{_GUARD}; or take one process, or --engine dask"
        raise BadOptionError("processes", "no other process can be started", remedy) from None


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
