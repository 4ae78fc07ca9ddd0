"""Files read one after the other, with what a run must remember of each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from therapy_analytics.readers._base import ReadOptions
from therapy_analytics.readers._files import FileReading, read_files

if TYPE_CHECKING:
    from therapy_analytics.errors import UnreadableFileError
    from therapy_analytics.session import Session


class Inputs:
    """The transcripts of a run; what was read, and what could not be, is known once `sessions` is used up.

    Attributes
    ----------
    options : ReadOptions
        How files are read.
    files : list of dict
        Of each file: name, hash, reader, number of sessions; as in ``run.json``.
    problems : list of UnreadableFileError
        Of those that could not be read.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        options: ReadOptions,
        out: Path,
        on_file: Callable[[FileReading], None],
    ) -> None:
        self.options = options
        self.files: list[dict[str, Any]] = []
        self.problems: list[UnreadableFileError] = []
        self._read = functools.partial(read_files, paths, options=options, leave_out=out)
        self._on_file = on_file

    def at_first(self) -> Iterator[Session]:
        """Yield the sessions of all files before the run proper: nothing is remembered of them."""
        for reading in self._read():
            yield from reading.sessions

    def sessions(self) -> Iterator[Session]:
        """Yield the sessions of all files, reading each file as it is needed."""
        for reading in self._read():
            self._on_file(reading)
            if reading.problem is not None:
                self.problems.append(reading.problem)
            self.files.append(
                {
                    "file": str(reading.path),
                    "sha256": reading.sha256,
                    "reader": reading.reader,
                    "sessions": len(reading.sessions),
                }
            )
            yield from reading.sessions
