"""Places that results are written to: whether one can be used, and what is said when writing there fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from pathlib import Path

from therapy_analytics.errors import BadOptionError, CannotWriteError

OUT = "--out"
_GO_ON = "what is finished is kept, and the same command goes on from there"


def refuse_unusable(out: Path) -> None:
    """Refuse a folder that cannot be written to; nothing is made, and nothing in it is touched.

    Parameters
    ----------
    out : Path
        A folder that is there, or is to be made.

    Raises
    ------
    BadOptionError
        It is a file, a link that leads nowhere, or may not be written to; or one of the folders above it is.
    """
    first = next(path for path in (out, *out.absolute().parents) if os.path.lexists(path))
    if not first.exists():
        problem = f"{first} is a link to a folder that does not exist ({first.readlink()})"
        raise BadOptionError(OUT, problem, "Make that folder, or name another one")
    if not first.is_dir():
        raise BadOptionError(OUT, f"{first} is a file", "Name a folder")
    if not os.access(first, os.W_OK | os.X_OK):
        problem = f"{first} cannot be written to: you do not have the permission, or the disk is read-only"
        raise BadOptionError(OUT, problem, "Name another folder, or have the permission given to you")


@contextmanager
def written_to(out: Path) -> Iterator[None]:
    """Say in an error of this package what the system refused while results were written.

    Parameters
    ----------
    out : Path
        The folder of the results.

    Raises
    ------
    CannotWriteError
        Something could not be written or read in the meantime. A lost connection, which is no matter of disks, stays
        the error that it is.
    """
    try:
        yield
    except (ConnectionError, TimeoutError):
        raise
    except OSError as error:
        raise _refused(out, error) from error


def _refused(out: Path, error: OSError) -> CannotWriteError:
    if not out.is_dir():
        return CannotWriteError(
            str(out),
            "the folder of results is no longer there: it was deleted, moved or renamed while the command was working",
            f"If it was moved, put it back under this name; {_GO_ON}. If it was deleted, the same command begins anew",
        )
    place = str(error.filename or out)
    if error.errno in (ENOSPC, EDQUOT):
        return CannotWriteError(place, "the disk is full", f"Make room; {_GO_ON}")
    why = error.strerror or type(error).__name__
    remedy = f"See to it that {out} can be written to; {_GO_ON}"
    return CannotWriteError(place, f"the system refused to write or read it ({why})", remedy)
