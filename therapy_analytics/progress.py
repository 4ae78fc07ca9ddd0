"""What the command says while it works: files as they are read, sessions as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from therapy_analytics.readers._notes import counted

if TYPE_CHECKING:
    from therapy_analytics.errors import UnreadableFileError
    from therapy_analytics.readers import FileReading


class Progress:
    """A bar on a terminal, plain lines otherwise; problems at once."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._written = 0
        self._bar = Bar(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} of {task.total} sessions"),
            TimeElapsedColumn(), TextColumn("to go:"), TimeRemainingColumn(), console=self._console, transient=True,
        ) if self._console.is_terminal else None  # fmt: skip
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("Analysing", total=0)

    def file(self, reading: FileReading) -> None:
        """Tell of a file that was read or could not be."""
        if reading.problem is not None:
            self.say(f"Not read: {reading.problem}")
        elif self._bar is None:
            self.say(f"Read {reading.path}: {counted(len(reading.sessions), 'session')} ({reading.reader})")

    def problem(self, problem: UnreadableFileError) -> None:
        """Tell of a session that could not be measured."""
        self.say(f"Not measured: {problem}")

    def total(self, n: int) -> None:
        """Tell how many sessions there are."""
        if self._bar is not None:
            self._bar.update(self._task, total=n)

    def sessions(self, n: int) -> None:
        """Tell of sessions that were written."""
        self._written += n
        if self._bar is not None:
            self._bar.update(self._task, completed=self._written)

    def close(self) -> None:
        """Leave the terminal clean."""
        if self._bar is not None:
            self._bar.stop()

    def say(self, line: str) -> None:
        """Tell something in a line."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
