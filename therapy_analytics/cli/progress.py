"""Progress of a command: files that were read, sessions that were measured."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.segment import Segment

from therapy_analytics.core.printable import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from therapy_analytics.core.errors import UnreadableFileError
    from therapy_analytics.run import InputFile

NAMED_FILES = 50
"""The most files that are named one by one as they are read; of more, there are lines on how far it is."""
STEPS = 20
"""How many of these lines there are."""
_MINUTE, _HOUR = 60, 3600


@dataclass(slots=True)
class _Count:
    """How many files or sessions are done, for output that is no terminal."""

    what: str
    total: int = 0
    n: int = 0
    _reported: int = 0
    _reported_at: float = 0.0

    def begin(self, total: int) -> None:
        self.total, self._reported_at = total, time.monotonic()

    def add(self, n: int) -> str:
        """Count, and return a line when another step is done; the time to go is estimated from the last step."""
        self.n += n
        done = self.n - self._reported
        if self.total <= NAMED_FILES or done * STEPS < self.total or self.n >= self.total:
            return ""
        left = (time.monotonic() - self._reported_at) / done * (self.total - self.n)
        self._reported, self._reported_at = self.n, time.monotonic()
        return f"{self.n:,} of {self.total:,} {self.what}, {_in_words(left)} to go"


def _in_words(seconds: float) -> str:
    if seconds < 2 * _MINUTE:
        return "less than two minutes"
    if seconds < 2 * _HOUR:
        return f"about {seconds / _MINUTE:.0f} minutes"
    return f"about {seconds / _HOUR:.0f} hours"


class Terminal(Console):
    """A console that shows the control characters of texts (file names, labels, columns) as numbers.

    The control sequences that rich itself writes are kept.
    """

    def print(self, *objects: Any, **how: Any) -> None:
        """Print as `Console.print` does."""
        super().print(*(_printable_lines(one) if isinstance(one, str) else one for one in objects), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as `Console.render` does."""
        for one in super().render(renderable, options):
            yield one if one.control else Segment(_printable_lines(one.text), one.style)


def _printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


_DONE = {"files": "read", "sessions": "measured"}


class Progress:
    """A progress bar on a terminal, plain lines otherwise; problems are printed at once."""

    def __init__(self) -> None:
        self._console = Terminal(stderr=True)
        self._counts = {what: _Count(f"{what} {done}") for what, done in _DONE.items()}
        self._bar = Bar(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} of {task.total}"),
            TimeElapsedColumn(), TextColumn("to go:"), TimeRemainingColumn(), console=self._console, transient=True,
            speed_estimate_period=2 * _MINUTE,
        ) if self._console.is_terminal else None  # fmt: skip
        self._tasks: dict[str, TaskID] = {}
        if self._bar is not None:
            self._bar.start()

    def files(self, n: int) -> None:
        """Say how many files there are."""
        self._begin("files", n)

    def file(self, file: InputFile) -> None:
        """Report a file that was read or could not be."""
        if file.problem is not None:
            self.say(f"Not read: {file.problem}")
        elif self._bar is None and self._counts["files"].n < NAMED_FILES:
            self.say(f"Read {file.file}: {counted(file.sessions, 'session')} ({file.reader})")
        self._add("files", 1)

    def total(self, n: int) -> None:
        """Say how many sessions there are."""
        self._begin("sessions", n)

    def problem(self, problem: UnreadableFileError) -> None:
        """Report a session that could not be measured."""
        self.say(f"Not measured: {problem}")

    def sessions(self, n: int) -> None:
        """Count sessions that were written, or that an earlier run had finished."""
        self._add("sessions", n)

    def close(self) -> None:
        """Remove the bar from the terminal."""
        if self._bar is not None:
            self._bar.stop()

    def say(self, line: str) -> None:
        """Print a line."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _begin(self, what: str, n: int) -> None:
        self._counts[what].begin(n)
        if self._bar is not None:
            self._tasks[what] = self._bar.add_task(self._counts[what].what, total=n)

    def _add(self, what: str, n: int) -> None:
        line = self._counts[what].add(n)
        if self._bar is not None:
            self._bar.advance(self._tasks[what], n)
        elif line:
            self.say(line)
