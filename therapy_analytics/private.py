"""Files and folders that only their owner opens, whatever the system gives to new ones (on macOS and Linux)."""

from __future__ import annotations

from pathlib import Path

FILE, FOLDER = 0o600, 0o700


def fresh(path: Path) -> Path:
    """Make an empty file that only its owner reads, before anything is written into it.

    Parameters
    ----------
    path : Path
        What stands there is replaced, a link by a file.

    Returns
    -------
    Path
        The same, to be handed on: who opens it to write leaves its mode as it is.
    """
    path.unlink(missing_ok=True)
    path.touch(mode=FILE, exist_ok=False)
    return path


def write(path: Path, content: str | bytes) -> Path:
    r"""Write a file that only its owner reads: text as UTF-8, its line breaks as they are.

    Parameters
    ----------
    path : Path
        What stands there is replaced.
    content : str or bytes
        All of it.

    Returns
    -------
    Path
        The same.
    """
    fresh(path).write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def folder(path: Path, *, parents: bool = True) -> Path:
    """Make a folder that only its owner opens, and those above it, where they are not.

    Parameters
    ----------
    path : Path
        One that is there already stays as it is: it may hold what others are to see.
    parents : bool, optional
        Whether those above it are made as well; without, it is a FileNotFoundError if they are not there.

    Returns
    -------
    Path
        The same.
    """
    path.mkdir(mode=FOLDER, parents=parents, exist_ok=True)
    return path
