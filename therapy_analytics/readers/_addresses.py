"""Where transcripts are: on this machine, or at an address such as ``s3://bucket/folder``.

Addresses are opened by universal_pathlib and fsspec, which are optional and imported only for an address. Messages and
results show no password or key of one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from therapy_analytics.errors import UnreadableFileError, how_to_install
from therapy_analytics.printable import printable

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_USER = re.compile(r"(?<=://)[^/]*@")
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
_RIGHTS = re.compile(r"permission|credential|forbidden|denied|unauthori[sz]ed|token|login", re.IGNORECASE)


def is_address(path: str | os.PathLike[str]) -> bool:
    """Tell an address from the path of a file on this machine; the letter of a drive is no scheme.

    Examples
    --------
    >>> [is_address(path) for path in ("s3://bucket/a.json", "talks/a.json", "C://talks", "a:/b")]
    [True, False, False, False]
    """
    return _ADDRESS.match(str(path)) is not None


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as messages and results show it: of an address, without user, password and query.

    Control characters and bytes that are not UTF-8 become numbers, see `printable`.

    Examples
    --------
    >>> shown("sftp://ann:secret@host/a.json"), shown("https://host/a.json?token=secret"), shown("talks/a?.json")
    ('sftp://host/a.json', 'https://host/a.json', 'talks/a?.json')
    """
    text = printable(str(path))
    if not is_address(text):
        return text
    bare = _USER.sub("", text).partition("?")[0]
    return bare.partition("#")[0] if bare.startswith("http") else bare


def placed(path: str | os.PathLike[str]) -> str:
    """Return an absolute path, or an address."""
    return str(path) if is_address(path) else str(Path(path).absolute())


def real(place: str | os.PathLike[str]) -> str:
    """Return what all names of one file have in common: the path without links, or the address."""
    return str(place) if is_address(place) else os.path.realpath(place)


def sources_of(*things: object) -> tuple[str, ...]:
    """Return the real paths (or addresses) of the files and folders among some objects, sorted."""
    paths = {one for one in things if isinstance(one, str | Path)}
    return tuple(sorted({shown(one) if is_address(one) else os.path.realpath(one) for one in paths}))


def sibling(place: str, name: str) -> str:
    """Return the place of another file of the same folder."""
    return inside(folder_of(place), name)


def folder_of(place: str) -> str:
    """Return the folder of a file."""
    return place.rpartition("/")[0] if is_address(place) else str(Path(place).parent)


def inside(folder: str, name: str) -> str:
    """Return the place of a file of a folder."""
    return f"{folder.rstrip('/')}/{name}" if is_address(folder) else str(Path(folder) / name)


def located(place: str | os.PathLike[str]) -> Path:
    """Return a path, or for an address an object that behaves like one.

    Raises
    ------
    UnreadableFileError
        It is an address, and the packages for it are not installed, or do not know this kind.
    """
    if not is_address(place):
        return Path(place)
    try:
        opener: Any = import_module("upath")
    except ImportError:
        problem = "reading from an address needs packages that are not installed (universal-pathlib, fsspec)"
        remedy = f"Install them with: {how_to_install('universal-pathlib', 'fsspec')}"
        raise UnreadableFileError(shown(place), None, problem, remedy) from None
    with plainly(place):
        found: Path = opener.UPath(str(place))
    return found


def named(path: str | os.PathLike[str]) -> Path:
    """Return a path for its name, stem and suffix, without what must not be shown."""
    try:
        return located(shown(path))
    except UnreadableFileError:
        return Path(shown(path))


def open_binary(place: str) -> IO[bytes]:
    """Open a file for its bytes."""
    with plainly(place):
        return located(place).open("rb")


def is_folder(place: str) -> bool:
    """Tell whether a place is a folder; one that cannot be opened is none, and reading it will say why."""
    if not is_address(place):
        return Path(place).is_dir()
    try:
        with plainly(place):
            return located(place).is_dir()
    except UnreadableFileError:
        return False


def size(place: str) -> int:
    """Return the number of bytes of a file; 0 where it is not known."""
    try:
        with plainly(place):
            return located(place).stat().st_size
    except UnreadableFileError:
        return 0


def version(place: str) -> tuple[object, ...]:
    """Return size and time of a file, which change when it is written again; nothing where there is none."""
    if is_address(place):
        with plainly(place):
            path: Any = located(place)
            path.fs.invalidate_cache(path.path)  # what a long-lived process knows of it may be old
            return (path.fs.size(path.path), path.fs.ukey(path.path)) if path.fs.isfile(path.path) else ()
    try:
        found = Path(place).stat()
    except (OSError, ValueError):
        return ()
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else ()


@contextmanager
def plainly(place: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of opening a file into plain ones; those of the packages for addresses may hold a key."""
    try:
        yield
    except UnreadableFileError:
        raise
    except OSError as error:
        why = _plain_words(error) if is_address(place) or not error.strerror else error.strerror
        remedy = "Check that it exists and may be read"
        raise UnreadableFileError(shown(place), None, f"the file cannot be opened ({why})", remedy) from None
    except Exception as error:
        if not is_address(place):
            raise
        raise _address_error(place, error) from None


def _plain_words(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "No such file or directory"
    if isinstance(error, PermissionError):
        return "Permission denied"
    return os.strerror(error.errno) if error.errno else type(error).__name__


def _address_error(place: str | os.PathLike[str], error: Exception) -> UnreadableFileError:
    """Return the error of an address that the package for its kind could not open."""
    scheme = str(place).partition("://")[0]
    if isinstance(error, ImportError):
        package = _PACKAGES.get(scheme)
        problem = f"reading from {scheme}:// needs a package that is not installed"
        remedy = (
            f"Install it with: {how_to_install(package)}" if package else "See the documentation of fsspec for which"
        )
    elif isinstance(error, ValueError) and "filesystem" in str(error):
        problem, remedy = f"{scheme}:// is no known kind of address", "Known are s3://, gs://, file:// and others"
    elif _RIGHTS.search(f"{type(error).__name__} {error}"):
        problem = "the address cannot be opened: you are not known there, or may not read it"
        remedy = "Check how you are logged in (see the documentation of the storage), and that you may read it"
    else:
        problem, remedy = f"the address cannot be opened ({type(error).__name__})", "Check it, and the connection"
    return UnreadableFileError(shown(place), None, problem, remedy)
