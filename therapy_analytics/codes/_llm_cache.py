"""A cache of an outside coder's answers: codes by the hash of the question, no words."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from therapy_analytics.core.errors import BadOptionError

_APP = "therapy-analytics"


def default_folder() -> Path:
    """Return the user's cache folder on this system."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / _APP / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / _APP
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / _APP


class AnswerCache:
    """A file of answers that survives being killed and can be shared by processes.

    A line has one answer and is written in one call. A line that is cut off is ignored.

    Parameters
    ----------
    path : Path or None
        The file; created with its folder, readable by the user alone. None: answers are kept in memory alone.

    Raises
    ------
    BadOptionError
        The file or its folder cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.Lock()
        self._file: io.BytesIO | io.FileIO = io.BytesIO()
        self._answers: dict[str, tuple[str, ...]] = {}
        if path is None:
            return
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = io.FileIO(str(path), "a+", opener=_private)
            self._answers = self._read()
        except OSError as error:
            problem = f"{path.parent} cannot be written ({error.strerror or type(error).__name__})"
            raise BadOptionError("--llm-cache", problem, "Name another folder") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def get(self, key: str) -> tuple[str, ...] | None:
        """Return the codes of a question, or None where it is not in the cache."""
        return self._answers.get(key)

    def put(self, key: str, codes: tuple[str, ...]) -> None:
        """Store an answer; the first one to a question stays."""
        line = json.dumps({"key": key, "codes": codes}).encode() + b"\n"
        with self._lock:
            if key not in self._answers:
                self._answers[key] = codes
                self._file.write(line)

    def _read(self) -> dict[str, tuple[str, ...]]:
        self._file.seek(0)
        data = self._file.read()
        if data and not data.endswith(b"\n"):
            self._file.write(b"\n")
        answers: dict[str, tuple[str, ...]] = {}
        for line in data.splitlines():
            answer = _answer(line)
            if answer is not None:
                answers.setdefault(*answer)
        return answers


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _answer(line: bytes) -> tuple[str, tuple[str, ...]] | None:
    try:
        entry = json.loads(line)
        key, codes = entry["key"], entry["codes"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(key, str) or not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        return None
    return key, tuple(codes)
