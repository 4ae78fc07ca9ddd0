"""Folders and files that commands write: whole or absent, and by one command at a time.

A command holds the lock of its folder (`alone_in`) and writes into ``.new.part`` in it. When all is written, that gets
the name ``.whole.part`` and its files are moved into their places, as its journal says. A command that is killed before
has written nothing; one that is killed after is finished by the next that is about the folder.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from errno import EDQUOT, ENOSPC
from pathlib import Path

from filelock import FileLock, Timeout

from therapy_analytics.core import private
from therapy_analytics.core.errors import BadOptionError, CannotWriteError

OUT = "--out"
DISK_FULL = frozenset({ENOSPC, EDQUOT})
"""Numbers of the errors by which a system says that nothing more can be written."""
LOCK = ".lock"
MADE_FROM = ".made_from.json"
"""Lists what the files of a folder were made from, relative to it, so that all can be moved together, and the files."""
_NEW, _WHOLE, _JOURNAL = ".new.part", ".whole.part", ".journal.json"
_LEFT = re.compile(r"\.(new|whole|(.+\.)?[0-9a-f]{8})\.part")
_OTHERS = "which was made from other files or folders"
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
    if error.errno in DISK_FULL:
        return CannotWriteError(place, "the disk is full", f"Free some space; {_GO_ON}")
    why = error.strerror or type(error).__name__
    remedy = f"See to it that {out} can be written to; {_GO_ON}"
    return CannotWriteError(place, f"the system refused to write or read it ({why})", remedy)


@contextmanager
def alone_in(out: Path) -> Iterator[None]:
    """Keep other commands out of a folder, and put right what a killed one left in it.

    The folder is made unless it is there; one that was made, and is still empty at the end, is removed again. A command
    may hold its folder several times.

    Raises
    ------
    BadOptionError
        The folder cannot be used, or another command is writing into it.
    """
    refuse_unusable(out)
    made = [path for path in (out, *out.absolute().parents) if not path.exists()]
    try:
        with written_to(out):
            private.folder(out)
            lock = FileLock(Path(os.path.realpath(out), LOCK), timeout=0, mode=private.FILE, is_singleton=True)
            is_first = not lock.is_locked
            try:
                lock.acquire()
            except Timeout:
                problem = f"another command is writing into {out}"
                raise BadOptionError(OUT, problem, "Wait until it is done, or name another folder") from None
        try:
            if is_first:
                with written_to(out):
                    _put_right(out)
            yield
        finally:
            if is_first and os.name == "nt":  # where no file can be removed that is open
                lock.release()
            if is_first:
                with suppress(OSError):  # it is gone with its folder, or another command has it by now
                    Path(lock.lock_file).unlink()
            lock.release()
    finally:
        for path in made:
            with suppress(OSError):  # it holds something, or is gone
                path.rmdir()


def finish_stopped(folder: Path) -> None:
    """Finish what a command that was killed at its end wrote into a folder that is to be read, if there is such."""
    if (folder / _WHOLE).is_dir():
        with alone_in(folder):
            pass


def is_left(name: str) -> bool:
    """Return whether a file or folder of this name is what a command needs only while it is working."""
    return name == LOCK or _LEFT.fullmatch(name) is not None


def _put_right(out: Path) -> None:
    whole = out / _WHOLE
    gone, undone = _journal(whole)
    if gone is not None:
        _move_from(whole, out, gone)
    for name in undone:
        if not os.path.lexists(whole / name):
            _remove(out / name)
    if undone:
        whole.rename(out / _NEW)
    for path in list(out.iterdir()):
        if _LEFT.fullmatch(path.name):
            _remove(path)


def _move_from(whole: Path, out: Path, gone: Iterable[str]) -> None:
    """Remove what is gone, and move what is new into its place; each step may have been done before."""
    for name in gone:
        _remove(out / name)
    for path in sorted(whole.iterdir()):
        if path.name != _JOURNAL:
            path.replace(out / path.name)
    (whole / _JOURNAL).unlink()
    whole.rmdir()


def _journal(whole: Path) -> tuple[list[str] | None, list[str]]:
    """Return what is to be removed before a command's files are moved (None if there is nothing to move).

    And the files that are to be taken away again, where a command must not replace anything.
    """
    try:
        journal = json.loads((whole / _JOURNAL).read_text(encoding="utf-8"))
        gone, undone = (list(filter(_is_name, journal[name])) for name in ("remove", "undo"))
    except (OSError, ValueError, LookupError, TypeError):
        return None, []
    return None if undone else gone, undone


def _is_name(name: object) -> bool:
    """Tell the name of a file of a folder from a path, which could lead out of it."""
    return isinstance(name, str) and Path(name).name == name and name not in ("", ".", "..")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


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
        The real paths (or addresses) of what it is made from; none for tables in memory.
    replace : bool
        Whether files that were made from other sources may be replaced.
    only_new : bool
        Whether nothing that is there may be replaced, as people may have changed it since; what the files were made
        from is not noted then.
    among_others : bool
        Whether the folder may hold anything else.
    say : callable
        Called with a sentence on what is replaced.
    """

    what: str
    names: Collection[str]
    beside: Collection[str] = ()
    sources: tuple[str, ...] = ()
    replace: bool = False
    only_new: bool = False
    among_others: bool = False
    say: Callable[[str], None] = lambda _: None


def seen_from(place: str, out: Path) -> str:
    """Return the path of a file relative to a folder, so that both can be moved together; whole on another drive."""
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
    there = _held(out)
    before, own = _noted(out)
    if not made.among_others and (other := sorted(there.difference(made.names, made.beside, own))):
        problem = f"{out} holds other things than {made.what} ({other[0]}, ...)"
        raise BadOptionError(OUT, problem, "Name a new or an empty folder")
    if made.only_new and (mine := sorted(there.intersection(made.names))):
        raise BadOptionError(OUT, f"{out / mine[0]} is there already", "Name a new or an empty folder")
    if made.only_new or not there:
        return ""
    when = max((out / name).stat().st_mtime for name in there)
    held = f"{made.what} of {datetime.fromtimestamp(when):%Y-%m-%d %H:%M}"
    if not made.replace and before != _sources(out, made):
        why = "and it is not known what that was made from" if before is None else _OTHERS
        remedy = "Name another folder with --out, or give --replace (in Python: replace=True) to have that replaced"
        raise BadOptionError(OUT, f"{out} holds {held}, {why}", remedy)
    return f"Replaced in {out}: {held}."


@contextmanager
def replaced_in(out: Path, made: Made) -> Iterator[Path]:
    """Yield an empty folder to write into; its files replace those of an earlier command if the block ends well.

    Raises
    ------
    BadOptionError
        As `alone_in` and `refuse_others`.
    CannotWriteError
        The system refused to write.
    """
    with alone_in(out):
        sentence = refuse_others(out, made)
        with written_to(out):
            part = out / _NEW
            part.mkdir(mode=private.FOLDER)
            try:
                yield part
                refuse_others(out, made)  # again: something may have been put there since
                gone = _complete(part, out, made)
                if not made.among_others:
                    out.chmod(private.FOLDER)
                part.rename(out / _WHOLE)
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
            _move_from(out / _WHOLE, out, gone)
    if sentence:
        made.say(sentence)


def _complete(part: Path, out: Path, made: Made) -> list[str]:
    """Write the journal, and the note on what the files were made from; return what is to be removed."""
    written = sorted(path.name for path in part.iterdir())
    sources, (before, own) = _sources(out, made), _noted(out)
    beside = made.beside if before == sources else ()
    gone = [] if made.only_new else sorted({*made.names, *made.beside, *own}.difference(beside, written))
    private.write(part / _JOURNAL, json.dumps({"remove": gone, "undo": written if made.only_new else []}))
    if not made.only_new:
        files = sorted({*written, *own.intersection(beside)})
        private.write(part / MADE_FROM, json.dumps({"made_from": sources, "files": files}, indent=1) + "\n")
    return gone


def _held(out: Path) -> set[str]:
    """Return the names of all files and folders in a folder, without those that stand there for commands."""
    there = {path.name for path in out.iterdir()} if out.is_dir() else set()
    return {name for name in there if name != MADE_FROM and not is_left(name)}


def _sources(out: Path, made: Made) -> list[str]:
    """Return what the files are made from: addresses as they are, paths as seen from the folder."""
    return [seen_from(one, out) if Path(one).is_absolute() else one for one in made.sources]


def _noted(out: Path) -> tuple[list[str] | None, set[str]]:
    """Return what the files of a folder were made from (None if that is not known), and the files."""
    try:
        note = json.loads((out / MADE_FROM).read_text(encoding="utf-8"))
        return list(note["made_from"]), set(filter(_is_name, note.get("files", ())))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None, set()


def is_made(folder: Path) -> bool:
    """Return whether a command wrote a folder, or was killed when it began to."""
    return (folder / MADE_FROM).is_file() or not _held(folder)


def remove_made(folders: Sequence[Path]) -> None:
    """Remove folders that commands wrote.

    Raises
    ------
    BadOptionError
        One of them holds anything else (then none is removed), or a command is writing into it.
    """
    for folder in folders:
        if other := sorted(_held(folder) - _noted(folder)[1]):
            problem = f"{folder} holds other things than a command wrote there ({other[0]}, ...)"
            raise BadOptionError(OUT, problem, "Move them elsewhere, or name another folder with --out")
    for folder in folders:
        with alone_in(folder):
            for path in folder.iterdir():
                if path.name != LOCK:
                    _remove(path)
        folder.rmdir()


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield another name for a file to be written; the file takes its final name if the block ends well."""
    part = private.fresh(unique_part(path))
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def unique_part(path: Path) -> Path:
    """Return a unique name beside a file or folder, for what will replace it.

    It is unique because a worker of a cluster that was given up for dead may still write what another writes again.
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def sources_of(*things: object) -> tuple[str, ...]:
    """Return the real paths of the files and folders among some objects, sorted."""
    return tuple(sorted({os.path.realpath(one) for one in things if isinstance(one, str | Path)}))
