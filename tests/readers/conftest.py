"""Write a small file, read it, look at what came out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import FileReading, ReadOptions, read_files


@pytest.fixture
def reading(tmp_path: Path) -> Callable[..., FileReading]:
    """Return a function from text (or bytes), a file name and options to the reading of that file."""

    def read_it(content: str | bytes, name: str = "case.txt", **options: Any) -> FileReading:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        (one,) = read_files([path], options=ReadOptions(**options))
        return one

    return read_it


@pytest.fixture
def sessions(reading: Callable[..., FileReading]) -> Callable[..., tuple[Session, ...]]:
    """Return a function to the sessions of a file that must be readable."""

    def read_it(content: str | bytes, name: str = "case.txt", **options: Any) -> tuple[Session, ...]:
        one = reading(content, name, **options)
        assert one.problem is None, str(one.problem)
        return one.sessions

    return read_it


@pytest.fixture
def session(sessions: Callable[..., tuple[Session, ...]]) -> Callable[..., Session]:
    """Return a function to the only session of a file."""

    def read_it(content: str | bytes, name: str = "case.txt", **options: Any) -> Session:
        (one,) = sessions(content, name, **options)
        return one

    return read_it


@pytest.fixture
def spoken(session: Callable[..., Session]) -> Callable[..., list[tuple[str, str]]]:
    """Return a function to speaker and text of each turn in the only session of a file."""

    def read_it(content: str | bytes, name: str = "case.txt", **options: Any) -> list[tuple[str, str]]:
        return [(turn.speaker, turn.text) for turn in session(content, name, **options).turns]

    return read_it


@pytest.fixture
def problem(reading: Callable[..., FileReading]) -> Callable[..., UnreadableFileError]:
    """Return a function to the problem of a file that must be refused, on purpose and in plain words."""

    def read_it(content: str | bytes, name: str = "case.txt", **options: Any) -> UnreadableFileError:
        one = reading(content, name, **options)
        assert one.problem is not None
        assert one.sessions == ()
        assert "could not be understood" not in one.problem.problem
        return one.problem

    return read_it
