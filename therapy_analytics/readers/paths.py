"""Paths of files: as results name them, opened and looked at with plain words about what goes wrong."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.printable import printable


def placed(path: str | os.PathLike[str]) -> str:
    """Return an absolute path."""
    return str(Path(path).absolute())


def sibling(place: str, name: str) -> str:
    """Return the path of another file of the same folder."""
    return str(Path(place).parent / name)


def open_binary(place: str) -> IO[bytes]:
    """Open a file for its bytes."""
    with plainly(place):
        return Path(place).open("rb")


def size(place: str) -> int:
    """Return the number of bytes of a file; 0 where it is not known."""
    try:
        return Path(place).stat().st_size
    except OSError:
        return 0


def version(place: str) -> tuple[object, ...]:
    """Return size and time of a file, which change when it is written again; nothing where there is none."""
    try:
        found = Path(place).stat()
    except (OSError, ValueError):
        return ()
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else ()


@contextmanager
def plainly(place: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of opening a file into plain ones."""
    try:
        yield
    except OSError as error:
        why = error.strerror or (os.strerror(error.errno) if error.errno else type(error).__name__)
        remedy = "Check that it exists and may be read"
        raise UnreadableFileError(printable(str(place)), None, f"the file cannot be opened ({why})", remedy) from None
