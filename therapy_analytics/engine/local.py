"""Batches through this process or a pool of them, results in the order of the batches."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Lost:
    """Stands for the result of an item that nobody could work on, alone and a second time.

    Attributes
    ----------
    reason : {"died", "memory"}
        Its process died, as by a crash in a library, or there was not enough memory.
    """

    reason: Literal["died", "memory"]


def in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    processes: int = 1,
    apart: Callable[[Item], Iterable[Item]] = lambda item: (item,),
) -> Iterator[tuple[Item, Result | Lost]]:
    """Apply a function to items as they come.

    Parameters
    ----------
    function : callable
        Picklable when there is more than one process.
    items : iterable
        Taken as needed: at most two for each process are waiting.
    processes : int
        1 works in this process; more start a pool of fresh ones.
    apart : callable
        Returns the parts of an item, to find the one that fails.

    Yields
    ------
    Item
        In order: the items, or the parts of those that failed as a whole.
    Result or Lost
        What became of it. Where a process dies, what was under way is tried again, each item in a process of its own.
    """
    if processes <= 1:
        for item in items:
            yield from _tried(function, item, apart)
        return
    with _Pool(function, processes) as pool:
        for item in items:
            pool.submit(item)
            if pool.full:
                yield from pool.take(apart)
        while pool.waiting:
            yield from pool.take(apart)


def _tried(
    function: Callable[[Item], Result], item: Item, apart: Callable[[Item], Iterable[Item]]
) -> Iterator[tuple[Item, Result | Lost]]:
    """Yield what becomes of an item, or of its parts where it fails."""
    try:
        result = function(item)
    except BrokenExecutor:
        lost = Lost("died")
    except MemoryError:
        lost = Lost("memory")
    else:
        yield item, result
        return
    parts = list(apart(item))
    if len(parts) <= 1:
        yield item, lost
        return
    for part in parts:
        yield from _tried(function, part, apart)


def _fresh(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"), initializer=_leave_ctrl_c)


def _leave_ctrl_c() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the main one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Pool(Generic[Item, Result]):
    """A pool that is replaced when one of its processes dies."""

    def __init__(self, function: Callable[[Item], Result], processes: int) -> None:
        self._function, self._processes = function, processes
        self._pool = _fresh(processes)
        self.waiting: deque[tuple[Item, Future[Result]]] = deque()

    def __enter__(self) -> _Pool[Item, Result]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # What is under way is not waited for: what a process writes, it writes whole or not at all.
            for process in multiprocessing.active_children():
                process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def full(self) -> bool:
        """Whether enough is waiting for the processes to be busy."""
        return len(self.waiting) >= 2 * self._processes

    def submit(self, item: Item) -> None:
        """Put an item at the end of the row."""
        try:
            future = self._pool.submit(self._function, item)
        except BrokenExecutor as error:
            future = Future()
            future.set_exception(error)
        self.waiting.append((item, future))

    def take(self, apart: Callable[[Item], Iterable[Item]]) -> Iterator[tuple[Item, Result | Lost]]:
        """Yield what became of the first item in the row."""
        item, future = self.waiting.popleft()
        try:
            yield item, future.result()
        except (BrokenExecutor, MemoryError) as error:
            # All that was under way broke with it; which of them it was is seen when each is alone.
            yield from _tried(self._alone, item, apart)
            if isinstance(error, BrokenExecutor):
                self._replace()

    def _alone(self, item: Item) -> Result:
        with _fresh(1) as one:
            return one.submit(self._function, item).result()

    def _replace(self) -> None:
        """Take another pool, unless that was done for an item that broke with this one."""
        try:
            self._pool.submit(int).result()
        except BrokenExecutor:
            self._pool.shutdown(wait=False)
            self._pool = _fresh(self._processes)
