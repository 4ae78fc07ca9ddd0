"""Files of data that users may bring along: arrays, JSON and TOML, none of which is believed before it is checked.

Every size is bounded before anything is allocated, by what the file system and the headers say. Whatever a broken or
crafted file makes a parser raise becomes the package's own error, which names the file and what to do, and never
quotes what the file holds. No pickle is read.
"""

from __future__ import annotations

import io
import json
import math
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.errors import BadDataFileError

MB = 2**20
LARGEST_TEXT = 16 * MB
"""Bytes of a JSON or TOML file, a word list, or a list of pieces: ten times the largest of the package."""
LARGEST_ARRAYS = 512 * MB
"""Bytes of all arrays of an archive together, unpacked, as they are held."""
LARGEST_ENCODER = 512 * MB
"""Bytes of an ONNX file, twenty times the package's own."""
_HEADER = 4_096
"""Bytes of what stands before the numbers of an array; numpy writes 128."""
_STEEPEST = 1e6
"""The largest number that an array may hold: beyond it, sums of weights would no longer be finite."""
_PACKED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_WHERE = re.compile(r"\(at [^()]*\)\Z")
_QUOTES = re.compile(r"illegal character|namespace|\bkey '", re.IGNORECASE)
"""What tells that a message of the TOML parser quotes the file."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an array must be.

    Attributes
    ----------
    shape : tuple of int
        Exactly.
    types : tuple of str
        The types of numbers that are taken, as numpy names them.
    held_as : str
        The type that the array is turned into.
    """

    shape: tuple[int, ...]
    types: tuple[str, ...] = ("float16", "float32", "float64")
    held_as: str = "float64"

    @property
    def n_bytes(self) -> int:
        """Return how much memory the array takes once it is held."""
        return math.prod(self.shape) * np.dtype(self.held_as).itemsize

    def fits(self, shape: tuple[int, ...], kind: np.dtype[Any]) -> bool:
        """Tell whether a header says what is wanted."""
        return shape == self.shape and kind.name in self.types


def read_bytes(path: Path, most: int, *, what: str, remedy: str) -> bytes:
    """Return what a file holds, if that is not more than it may be.

    Parameters
    ----------
    path : Path
        The file.
    most : int
        The most bytes that it may have.
    what : str
        What it should be, as in "the codebook".
    remedy : str
        What to do where it is too large.

    Raises
    ------
    BadDataFileError
        It cannot be opened, or is larger.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MB)
            if len(data) == MB:  # room for more is only asked for where there is more
                data += file.read(most + 1 - MB)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "The name is no name of a file"
        raise BadDataFileError(str(path), f"{what} cannot be opened", str(why)) from None
    if len(data) > most:
        raise BadDataFileError(str(path), f"{what} has more than {most // MB} MB, the most that is read", remedy)
    return data


@contextmanager
def parsing(path: Path, what: str, remedy: str) -> Iterator[None]:
    """Turn whatever a file of the wrong form raises into the package's own error, which does not quote the file.

    Examples
    --------
    >>> with parsing(Path("model.json"), "the description of a model", "Train it again"):
    ...     {}["name"]
    Traceback (most recent call last):
    therapy_analytics.errors.BadDataFileError: model.json: not the description of a model (KeyError). Train it again.
    """
    try:
        yield
    except BadDataFileError:
        raise
    except Exception as error:  # noqa: BLE001 (what parsers raise on crafted files is not said, and of many kinds)
        raise BadDataFileError(str(path), f"not {what} ({type(error).__name__})", remedy) from None


def json_object(data: bytes) -> dict[str, Any]:
    """Return the object that a JSON text is; to be called while `parsing`."""
    found = json.loads(data.decode("utf-8-sig"))
    if not isinstance(found, dict):
        raise TypeError
    return found


def json_list(found: Mapping[str, Any], name: str, kind: type = str) -> list[Any]:
    """Return a field that is a list of values of one kind; to be called while `parsing`."""
    values = found[name]
    if not isinstance(values, list) or not all(isinstance(one, kind) for one in values):
        raise TypeError
    return values


def toml_table(data: bytes, path: Path, *, what: str, remedy: str, problem: str = "not valid TOML") -> dict[str, Any]:
    """Return the table that a TOML file is.

    Parameters
    ----------
    data, path : bytes, Path
        What is in the file, and where it stands.
    what : str
        What it should be, as in "the codebook".
    remedy, problem : str
        What is said where it is not TOML.

    Raises
    ------
    BadDataFileError
        It is not text in UTF-8, or not TOML; the line and the column are said.
    """
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadDataFileError(str(path), f"{what} is not UTF-8 text", "Save it as UTF-8") from None
    except (ValueError, RecursionError, LookupError, TypeError, ArithmeticError, MemoryError) as error:
        said = str(error) if isinstance(error, tomllib.TOMLDecodeError) else type(error).__name__
        where = _WHERE.search(said)
        said = (where[0].strip("()") if where else "") if _QUOTES.search(said) else said
        raise BadDataFileError(str(path), f"{problem} ({said})", remedy) from None


def read_arrays(
    path: Path, data: bytes, wanted: Mapping[str, Wanted], *, what: str, remedy: str
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` archive; what it says of their sizes is checked before any is unpacked.

    Parameters
    ----------
    path, data : Path, bytes
        Where the archive stands, and what is in it.
    wanted : mapping of str to Wanted
        The arrays that it must hold; others are not looked at.
    what : str
        What it should be, as in "an archive of weights".
    remedy : str
        What to do where it is not.

    Returns
    -------
    dict of str to array
        Each of the shape and type that is wanted, and finite.

    Raises
    ------
    BadDataFileError
        It is broken, or an array is missing, comes twice, is of another shape or type, is not finite, or all together
        would take more than `LARGEST_ARRAYS`.
    """
    if sum(one.n_bytes for one in wanted.values()) > LARGEST_ARRAYS:
        problem = f"the arrays would take more than {LARGEST_ARRAYS // MB} MB, the most that is loaded"
        raise BadDataFileError(str(path), problem, remedy)
    with parsing(path, what, remedy), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: _array(archive, name, one, path, remedy) for name, one in wanted.items()}


def _array(archive: zipfile.ZipFile, name: str, wanted: Wanted, path: Path, remedy: str) -> NDArray[Any]:
    """Read one array; `zipfile` never unpacks more of a member than its claim, which is bounded by what is wanted."""
    found = [one for one in archive.infolist() if one.filename == f"{name}.npy"]
    unfit = BadDataFileError(
        str(path), f"the array {name!r} does not have numbers of ordinary size in the shape {wanted.shape}", remedy
    )
    if len(found) != 1 or found[0].compress_type not in _PACKED:
        raise unfit
    if found[0].file_size > _HEADER + math.prod(wanted.shape) * np.dtype("float64").itemsize:
        raise unfit
    part = io.BytesIO(archive.read(found[0]))
    version = np.lib.format.read_magic(part)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = header(part, max_header_size=_HEADER)
    if not wanted.fits(shape, kind):
        raise unfit
    part.seek(0)
    array = np.lib.format.read_array(part, allow_pickle=False, max_header_size=_HEADER).astype(wanted.held_as)
    if not (np.isfinite(array) & (np.abs(array.astype(np.float64)) <= _STEEPEST)).all():
        raise unfit
    return array
