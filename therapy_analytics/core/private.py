"""Files and folders that only their owner can open, whatever the umask is (on macOS and Linux)."""

from __future__ import annotations

from pathlib import Path

FILE, FOLDER = 0o600, 0o700


def fresh(path: Path) -> Path:
    """Make an empty file that only its owner can read, in the place of a file or link of that name; return its path.

    Writing to it later does not change its mode.
    """
    path.unlink(missing_ok=True)
    path.touch(mode=FILE, exist_ok=False)
    return path


def write(path: Path, content: str | bytes) -> Path:
    """Write a file that only its owner can read, text as UTF-8 with its line breaks as they are; return its path."""
    fresh(path).write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def folder(path: Path, *, parents: bool = True) -> Path:
    """Make a folder that only its owner can open, unless it is there already, and return its path.

    Parameters
    ----------
    path : Path
        The folder. The mode of one that is there stays: others may be meant to see it.
    parents : bool, optional
        Whether missing folders above it are made, too; else they are a FileNotFoundError.
    """
    path.mkdir(mode=FOLDER, parents=parents, exist_ok=True)
    return path
