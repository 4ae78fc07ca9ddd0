"""Folders that commands write to: which can be used, what their files were made from, what failed when writing."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from errno import EDQUOT, ENOSPC
from pathlib import Path

from therapy_analytics import private
from therapy_analytics.errors import BadOptionError, CannotWriteError
from therapy_analytics.readers._addresses import is_address, shown

OUT = "--out"
_GO_ON = "what is finished is kept, and the same command goes on from there"


def refuse_unusable(out: Path) -> None:
    """Refuse a folder that cannot be made or written to, without touching anything.

    Raises
    ------
    BadOptionError
        It, or a folder above it, is a file, a broken link, or may not be written to.
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
    """Turn errors of the system, while results are written to a folder, into errors of this package.

    Raises
    ------
    CannotWriteError
        The system refused to write or read a file. Errors of network connections are passed on as they are.
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
        return CannotWriteError(place, "the disk is full", f"Free some space; {_GO_ON}")
    why = error.strerror or type(error).__name__
    remedy = f"See to it that {out} can be written to; {_GO_ON}"
    return CannotWriteError(place, f"the system refused to write or read it ({why})", remedy)


MADE_FROM = ".made_from.json"
"""Lists what the files of a folder were made from, relative to it, so that all can be moved together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a command writes into a folder of its own, and what it makes that from.

    Attributes
    ----------
    what : str
        What the folder holds, as in "a comparison".
    names : collection of str
        All files that the command may write there; those that it does not write this time are removed.
    beside : collection of str
        Other files of the program that may be there; they are kept if they were made from the same sources.
    sources : tuple of str
        The files and folders that it is made from, as `sources_of` returns them; none for tables in memory.
    replace : bool
        Whether files that were made from other sources may be replaced.
    say : callable
        Called with a sentence on what is replaced.
    """

    what: str
    names: Collection[str]
    beside: Collection[str] = ()
    sources: tuple[str, ...] = ()
    replace: bool = False
    say: Callable[[str], None] = lambda _: None


def sources_of(*things: object) -> tuple[str, ...]:
    """Return the real paths (or addresses) of the files and folders among some objects, sorted."""
    paths = {one for one in things if isinstance(one, str | Path)}
    return tuple(sorted({shown(one) if is_address(one) else os.path.realpath(one) for one in paths}))


def seen_from(place: str, out: Path) -> str:
    """Return the path of a file relative to a folder, so that both can be moved together.

    An address is returned as it is shown; a path on another drive is returned whole.
    """
    if is_address(place):
        return shown(place)
    real = os.path.realpath(place)
    try:
        return Path(os.path.relpath(real, os.path.realpath(out))).as_posix()
    except ValueError:
        return Path(real).as_posix()


def refuse_others(out: Path, made: Made) -> str:
    """Refuse a folder that this may not be written to, without touching anything.

    Returns
    -------
    str
        A sentence on what would be replaced; empty where nothing would.

    Raises
    ------
    BadOptionError
        It cannot be used, holds other files, or holds what was made from other sources and may not be replaced.
    """
    refuse_unusable(out)
    there = {path.name for path in out.iterdir()} - {MADE_FROM} if out.is_dir() else set()
    if other := sorted(there.difference(made.names, made.beside)):
        problem = f"{out} holds other things than {made.what} ({other[0]}, ...)"
        raise BadOptionError(OUT, problem, "Name a new or an empty folder")
    if not there:
        return ""
    when = max((out / name).stat().st_mtime for name in there)
    held = f"{made.what} of {datetime.fromtimestamp(when):%Y-%m-%d %H:%M}"
    before = _sources_in(out)
    if not made.replace and before != _note(out, made):
        why = "which was made from other files or folders" if before else "and it is not known what that was made from"
        remedy = "Name another folder with --out, or give --replace (in Python: replace=True) to have that replaced"
        raise BadOptionError(OUT, f"{out} holds {held}, {why}", remedy)
    return f"Replaced in {out}: {held}."


@contextmanager
def replaced_in(out: Path, made: Made) -> Iterator[Path]:
    """Yield an empty folder to write into; its files replace those of an earlier command if the block ends well.

    Raises
    ------
    BadOptionError
        As `refuse_others`.
    CannotWriteError
        The system refused to write.
    """
    sentence = refuse_others(out, made)
    with written_to(out):
        private.folder(out).chmod(private.FOLDER)
        part = out / f".{secrets.token_hex(4)}.part"
        part.mkdir(mode=private.FOLDER)
        try:
            yield part
            private.write(part / MADE_FROM, _note(out, made))
            written = sorted(part.iterdir())
            beside = made.beside if _sources_in(out) == _note(out, made) else ()
            for name in {*made.names, *made.beside}.difference(beside, (path.name for path in written)):
                (out / name).unlink(missing_ok=True)
            for path in written:
                path.replace(out / path.name)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    if sentence:
        made.say(sentence)


def files_before(recipe: Path) -> list[str]:
    """Return the files that an earlier command says it wrote beside its recipe: names without a folder."""
    try:
        names = json.loads(recipe.read_text(encoding="utf-8")).get("files", [])
    except (OSError, ValueError, AttributeError):
        return []
    return [name for name in names if isinstance(name, str) and Path(name).name == name and name not in ("", ".", "..")]


def _note(out: Path, made: Made) -> str:
    return json.dumps({"made_from": [seen_from(one, out) for one in made.sources]}, indent=1) + "\n"


def _sources_in(out: Path) -> str:
    try:
        return (out / MADE_FROM).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
