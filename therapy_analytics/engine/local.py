"""Batches through this process or a pool of them, results in the order of the batches."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(function: Callable[[Item], Result], items: Iterable[Item], *, processes: int = 1) -> Iterator[Result]:
    """Apply a function to items as they come.

    Parameters
    ----------
    function : callable
        Picklable when there is more than one process.
    items : iterable
        Taken as needed: at most two for each process are waiting.
    processes : int
        1 works in this process; more start a pool of fresh ones.

    Yields
    ------
    Result
        In the order of the items.
    """
    if processes <= 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
