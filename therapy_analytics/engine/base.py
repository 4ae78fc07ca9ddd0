"""Who does the work, whoever it is: items in, results out in their order, and a death costs what died alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
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


def whole(item: Item) -> tuple[Item]:
    """Return an item as its only part."""
    return (item,)


class Crew(ABC):
    """Who does the work: see `crew`."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many work at a time."""

    @abstractmethod
    def in_order(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        apart: Callable[[Item], Iterable[Item]] = whole,
    ) -> Iterator[tuple[Item, Result | Lost]]:
        """Apply a function to items as they come.

        Parameters
        ----------
        function : callable
            A function of a module, or a `functools.partial` of one: it is sent to other processes, so it must be small.
        items : iterable
            Taken as needed: only a few for each who works are waiting.
        apart : callable
            Returns the parts of an item, to find the one that fails.

        Yields
        ------
        Item
            In order: the items, or the parts of those that failed as a whole.
        Result or Lost
            What became of it. Where a process dies, what was under way is tried again, each item alone.
        """


def tried(
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
        yield from tried(function, part, apart)


class Row(ABC, Generic[Item, Result]):
    """What waits in one call of `Crew.in_order` that others work on.

    Parameters
    ----------
    function : callable
        What is done with each item.
    """

    def __init__(self, function: Callable[[Item], Result]) -> None:
        self.function = function
        self.waiting: deque[tuple[Item, Future[Result]]] = deque()

    @property
    @abstractmethod
    def most(self) -> int:
        """How many items wait at most: enough for all who work to be busy."""

    @abstractmethod
    def submit(self, item: Item) -> Future[Result]:
        """Give an item away; an executor that is broken says so in the future."""

    @abstractmethod
    def alone(self, item: Item) -> Result:
        """Work on an item so that nothing else of this row can be what a process dies of."""

    @abstractmethod
    def mend(self) -> None:
        """Go on after a death."""

    def result(self, future: Future[Result]) -> Result:
        """Wait for a result; a death is a BrokenExecutor."""
        return future.result()

    def settle(self) -> None:
        """Wait until nothing is under way."""
        wait([future for _, future in self.waiting])

    def close(self) -> None:
        """Take back what nobody has begun."""
        for _, future in self.waiting:
            future.cancel()

    def run(
        self, items: Iterable[Item], apart: Callable[[Item], Iterable[Item]]
    ) -> Iterator[tuple[Item, Result | Lost]]:
        """Yield items and what became of them."""
        try:
            for item in items:
                self.waiting.append((item, self.submit(item)))
                if len(self.waiting) >= self.most:
                    yield from self._first(apart)
            while self.waiting:
                yield from self._first(apart)
        finally:
            self.close()

    def _first(self, apart: Callable[[Item], Iterable[Item]]) -> Iterator[tuple[Item, Result | Lost]]:
        """Yield what became of the first item that waits."""
        item, future = self.waiting.popleft()
        try:
            result = self.result(future)
        except BrokenExecutor:
            # What was under way broke with it; which of them it was is seen when each is alone.
            self.settle()
            yield from tried(self.alone, item, apart)
            self.mend()
        except MemoryError:
            yield from tried(self.alone, item, apart)
        else:
            yield item, result
