"""Errors that tell a clinician what is wrong and what to do.

Every error carries its data as attributes, survives pickling, and never quotes what somebody said in a session.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path


class TherapyAnalyticsError(Exception):
    """Base of all errors that this package raises on purpose."""


class UnreadableFileError(TherapyAnalyticsError):
    """A transcript could not be read.

    Parameters
    ----------
    path : str
        The file, as the user named it.
    line : int or None
        Where in the file (line or row, from 1), when that is known.
    problem : str
        What is wrong, without a word of the transcript.
    remedy : str
        What would be right.
    """

    def __init__(self, path: str, line: int | None, problem: str, remedy: str) -> None:
        super().__init__(path, line, problem, remedy)
        self.path, self.line, self.problem, self.remedy = path, line, problem, remedy

    def __str__(self) -> str:
        place = f"{self.path}, line {self.line}" if self.line else self.path
        return f"{place}: {self.problem}. {self.remedy}."


class NothingToReadError(TherapyAnalyticsError):
    """The paths hold no transcript, or none that can be read.

    Parameters
    ----------
    message : str
        What was looked for, and where.
    problems : tuple of UnreadableFileError, optional
        Why each of the files could not be read.
    """

    def __init__(self, message: str, problems: tuple[UnreadableFileError, ...] = ()) -> None:
        super().__init__(message, problems)
        self.message, self.problems = message, problems

    def __str__(self) -> str:
        return self.message


class UnknownNameError(TherapyAnalyticsError, LookupError):
    """A name that is not registered; the known ones are listed."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        super().__init__(kind, name, self.known)

    def __str__(self) -> str:
        return f"There is no {self.kind} named {self.name!r}. Known: {', '.join(self.known) or 'none'}."


class DuplicateNameError(TherapyAnalyticsError):
    """Two definitions of one kind have the same name; both places are named."""

    def __init__(self, kind: str, name: str, first: str, second: str) -> None:
        super().__init__(kind, name, first, second)
        self.kind, self.name, self.first, self.second = kind, name, first, second

    def __str__(self) -> str:
        return f"The {self.kind} {self.name!r} is defined twice: in {self.first} and in {self.second}."


class _UnusableError(TherapyAnalyticsError):
    """A file, option or server cannot be used: which, why, and what to do about it."""

    def __init__(self, what: str, problem: str, remedy: str) -> None:
        super().__init__(what, problem, remedy)
        self.what, self.problem, self.remedy = what, problem, remedy

    def __str__(self) -> str:
        return f"{self.what}: {self.problem}. {self.remedy}."


class BadDataFileError(_UnusableError):
    """A lexicon, codebook, weights, metadata or results file that does not have the form it must have."""

    @property
    def path(self) -> str:
        """The file."""
        return self.what


class BadOptionError(_UnusableError, ValueError):
    """An option that cannot be used as it was given."""

    @property
    def option(self) -> str:
        """The option, as the command or the function names it."""
        return self.what


class CannotWriteError(_UnusableError):
    """Results could not be written to a file or folder: a full disk, a folder that was removed, no permission."""


class CoderServerError(_UnusableError):
    """The server of an outside coder does not answer, or cannot be used."""


def how_to_install(*packages: str) -> str:
    """Return the command that adds optional packages to the Python that runs this program.

    It names the packages themselves, so that it works for a checkout, a wheel and an installation from the index alike.
    """
    names = " ".join(packages)
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return f"pipx inject therapy-analytics {names}"
    if importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {_quoted(Path(sys.prefix))} {names}"
    return f"{_quoted(Path(sys.executable))} -m pip install {names}"


def _quoted(path: Path) -> str:
    """Return a path as one types it, relative to the folder one is in if it lies in it."""
    near = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    if os.name != "nt":
        return shlex.quote(str(near))
    return f'& "{near}"' if " " in str(near) else str(near)


def place_of(error: BaseException) -> str:
    """Return the type of an error and where it was raised, without its message, which could quote a transcript."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = f"{Path(last.tb_frame.f_code.co_filename).name}, line {last.tb_lineno}" if last else "unknown place"
    return f"{type(error).__name__} in {place}"
