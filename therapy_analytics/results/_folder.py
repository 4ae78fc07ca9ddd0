"""The folder itself: whose it is, what may lie in it, and that one run at a time writes into it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from therapy_analytics.errors import BadOptionError
from therapy_analytics.results._files import PART, write_text

SESSIONS = "sessions"
RUN = "run.json"
GOING = ".going.json"
"""What a run that is going on, or was stopped, was asked for; `RUN` takes its place when all is done."""
LOCK = ".lock"
WRITTEN = (
    "sessions.csv",
    "responses.csv",
    "dyads.csv",
    "codebook.csv",
    "problems.csv",
    RUN,
    "report.html",
    *(f"{name}.{kind}" for name in ("profile", "thirds", "responses") for kind in ("png", "svg", "pdf")),
)
_OWN = frozenset({SESSIONS, GOING, LOCK, *WRITTEN})


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that this run alone writes into.

    Attributes
    ----------
    path : Path
        Where it is.
    before : mapping of str to object
        What the run before was asked for, as its ``run.json`` says; empty where there was none.
    """

    path: Path
    before: Mapping[str, Any]

    def session(self, name: str) -> Path:
        """Return the folder of a session."""
        return self.path / SESSIONS / name

    def begin(self, recipe: Mapping[str, Any]) -> None:
        """Take away what an earlier run said of all its sessions, and note what this one is asked for."""
        for path in [self.path / name for name in WRITTEN] + list(self.path.glob(f".*{PART}")):
            path.unlink(missing_ok=True)
        write_text(json.dumps(recipe, ensure_ascii=False) + "\n", self.path / GOING)

    @contextmanager
    def ending(self, recipe: Mapping[str, Any], sessions: set[str]) -> Iterator[None]:
        """Take away sessions that are not of this run, say what it did; after the rest is written, that it ended."""
        for path in (self.path / SESSIONS).iterdir():
            if path.name not in sessions:
                shutil.rmtree(path)
        write_text(json.dumps(recipe, indent=2, ensure_ascii=False) + "\n", self.path / RUN)
        yield
        (self.path / GOING).unlink(missing_ok=True)


@contextmanager
def opened(out: Path) -> Iterator[Folder]:
    """Make the folder private, and keep other runs out of it; touch nothing else.

    Raises
    ------
    BadOptionError
        It is a file, holds something that is no result of this program, or another run is writing into it.
    """
    _refuse_others(out)
    (out / SESSIONS).mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in (out, out / SESSIONS):
        path.chmod(0o700)
    lock = FileLock(out / LOCK, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        problem = f"another run is writing into {out}"
        raise BadOptionError("--out", problem, "Wait until it is done, or name another folder") from None
    try:
        yield Folder(out, _before(out))
    finally:
        lock.release()
        (out / LOCK).unlink(missing_ok=True)


def _refuse_others(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise BadOptionError("--out", f"{out} is a file", "Name a folder")
    names = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    strangers = [name for name in names if name not in _OWN and not (name.startswith(".") and name.endswith(PART))]
    if strangers:
        raise BadOptionError(
            "--out",
            f"{out} holds other things than results ({strangers[0]}, ...)",
            "Name a new or an empty folder",
        )


def _before(out: Path) -> Mapping[str, Any]:
    for name in (GOING, RUN):
        try:
            found = json.loads((out / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(found, dict):
            return found
    return {}
