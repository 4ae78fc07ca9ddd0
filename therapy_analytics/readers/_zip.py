"""Opens zip archives (Word, Excel, OpenDocument), which may be broken, locked, or malicious."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, TypeVar

from therapy_analytics.readers._limits import LARGEST_FILE, LARGEST_SESSION, refuse_large
from therapy_analytics.readers.base import Source

T = TypeVar("T")
MAX_RATIO = 100
_SMALL = 100_000
"""Bytes up to which a part may be packed tighter than `MAX_RATIO`."""
_OFFICE_PACKING = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_LOCKED = 0x1
_AGAIN = "Open it in the program that wrote it and save it again"


def bounded_zip(source: Source) -> zipfile.ZipFile:
    """Open the archive that a file is, after a check of what unpacking it would cost at most.

    The sizes that an archive claims are the bound: `zipfile` never unpacks more of a part
    than its claim, so a claim that lies ends in a checksum error, not in a full memory.

    Parameters
    ----------
    source : Source
        A file whose bytes are a zip archive.

    Returns
    -------
    zipfile.ZipFile
        Over the bytes in memory; its parts may still turn out to be damaged when read.

    Raises
    ------
    UnreadableFileError
        It is cut off or broken, locked by a password, or would unpack to more than 200 MB or
        to more than 100 times its size.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(source.data))
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError):
        raise source.error("the file is damaged or breaks off", _AGAIN) from None
    parts = archive.infolist()
    if any(part.flag_bits & _LOCKED for part in parts):
        raise source.error("the file is locked by a password", "Save a copy without a password")
    if any(part.compress_type not in _OFFICE_PACKING for part in parts):
        raise source.error("the file is packed in a way that no office program uses", _AGAIN)
    refuse_large(str(source.path), sum(part.file_size for part in parts), LARGEST_FILE, packed=True)
    if _is_bomb(parts, len(source.data)):
        raise source.error("the file would unpack to more than 100 times its size, as no transcript does", _AGAIN)
    return archive


def read_part(source: Source, name: re.Pattern[str], take: Callable[[IO[bytes]], T]) -> T | None:
    """Return what `take` makes of the first part of an archive whose name fits; None where there is none.

    Raises
    ------
    UnreadableFileError
        The archive or the part is damaged or too large.
    """
    try:
        with bounded_zip(source) as archive:
            part = next((one for one in archive.infolist() if name.fullmatch(one.filename)), None)
            if part is None:
                return None
            refuse_large(str(source.path), part.file_size, LARGEST_SESSION, packed=True)
            with archive.open(part) as file:
                return take(file)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError):
        raise source.error("the file is damaged or breaks off", _AGAIN) from None


def _is_bomb(parts: list[zipfile.ZipInfo], size: int) -> bool:
    """Tell whether an archive unpacks to far more than its size, in one part or in parts that share their bytes."""
    whole = sum(part.file_size for part in parts)
    by_part = any(part.file_size > max(_SMALL, MAX_RATIO * part.compress_size) for part in parts)
    return by_part or whole > max(_SMALL, MAX_RATIO * size)
