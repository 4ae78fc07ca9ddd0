"""Data files that users may supply (arrays, JSON, TOML), checked before they are used.

Sizes are bounded before memory is allocated. Whatever a broken or crafted file makes a parser raise becomes a
`BadDataFileError`, which names the file and what to do and never quotes the file. No pickle is read.
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

from therapy_analytics.core.errors import BadDataFileError

MB = 2**20
LARGEST_TEXT = 16 * MB
"""Bytes of a JSON or TOML file, a lexicon or a vocabulary: ten times the largest of the package."""
LARGEST_ARRAYS = 512 * MB
"""Bytes in memory of all arrays of an archive together."""
LARGEST_ENCODER = 512 * MB
"""Bytes of an ONNX file, twenty times the package's own."""
_HEADER = 4_096
"""Bytes of an array's header; numpy writes 128."""
_STEEPEST = 1e6
"""The largest absolute value in an array: beyond it, sums of weights would no longer be finite."""
_PACKED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_WHERE = re.compile(r"\(at [^()]*\)\Z")
_QUOTES = re.compile(r"illegal character|namespace|\bkey '", re.IGNORECASE)
"""Messages of the TOML parser that quote the file have one of these."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Requirements on an array.

    Attributes
    ----------
    shape : tuple of int
        The exact shape.
    types : tuple of str
        The dtypes that are accepted.
    held_as : str
        The dtype that the array is converted to.
    """

    shape: tuple[int, ...]
    types: tuple[str, ...] = ("float16", "float32", "float64")
    held_as: str = "float64"

    @property
    def n_bytes(self) -> int:
        """Bytes of the array in memory."""
        return math.prod(self.shape) * np.dtype(self.held_as).itemsize

    def fits(self, shape: tuple[int, ...], kind: np.dtype[Any]) -> bool:
        """Return whether an array's header meets the requirements."""
        return shape == self.shape and kind.name in self.types


def read_bytes(path: Path, most: int, *, what: str, remedy: str) -> bytes:
    """Return the contents of a file of bounded size.

    Parameters
    ----------
    path : Path
        The file.
    most : int
        The most bytes that it may have.
    what : str
        Name of such a file in errors, as in "the codebook".
    remedy : str
        What the error tells the user to do.

    Raises
    ------
    BadDataFileError
        It cannot be opened, or is larger.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MB)
            if len(data) == MB:  # memory is only allocated for what is there
                data += file.read(most + 1 - MB)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "The name is no name of a file"
        raise BadDataFileError(str(path), f"{what} cannot be opened", str(why)) from None
    if len(data) > most:
        raise BadDataFileError(str(path), f"{what} has more than {most // MB} MB, the most that is read", remedy)
    return data


@contextmanager
def parsing(path: Path, what: str, remedy: str) -> Iterator[None]:
    """Turn whatever parsing a file raises into a `BadDataFileError` that does not quote the file.

    Examples
    --------
    >>> with parsing(Path("model.json"), "what a model is", "Train it again"):
    ...     {}["name"]
    Traceback (most recent call last):
    therapy_analytics.core.errors.BadDataFileError: model.json: not what a model is (KeyError). Train it again.
    """
    try:
        yield
    except BadDataFileError:
        raise
    except Exception as error:  # noqa: BLE001 (crafted files can make parsers raise anything)
        raise BadDataFileError(str(path), f"not {what} ({type(error).__name__})", remedy) from None


def json_object(data: bytes) -> dict[str, Any]:
    """Parse a JSON text that must be an object; call it within `parsing`."""
    found = json.loads(data.decode("utf-8-sig"))
    if not isinstance(found, dict):
        raise TypeError
    return found


def json_list(found: Mapping[str, Any], name: str, kind: type = str) -> list[Any]:
    """Return a field that must be a list of values of one kind; call it within `parsing`."""
    values = found[name]
    if not isinstance(values, list) or not all(isinstance(one, kind) for one in values):
        raise TypeError
    return values


def toml_table(data: bytes, path: Path, *, what: str, remedy: str, problem: str = "not valid TOML") -> dict[str, Any]:
    """Parse a TOML file.

    Parameters
    ----------
    data, path : bytes, Path
        Contents and place of the file.
    what : str
        Name of such a file in errors, as in "the codebook".
    remedy, problem : str
        What the error says where it is not TOML.

    Raises
    ------
    BadDataFileError
        It is not text in UTF-8, or not TOML; the error gives line and column.
    """
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadDataFileError(str(path), f"{what} is not UTF-8 text", "Save it as UTF-8") from None
    except (ValueError, RecursionError, LookupError, TypeError, ArithmeticError, MemoryError) as error:
        message = str(error) if isinstance(error, tomllib.TOMLDecodeError) else type(error).__name__
        if _QUOTES.search(message):
            where = _WHERE.search(message)
            message = where[0].strip("()") if where else ""
        raise BadDataFileError(str(path), f"{problem} ({message})", remedy) from None


def read_arrays(
    path: Path, data: bytes, wanted: Mapping[str, Wanted], *, what: str, remedy: str
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` archive; their sizes are checked before any is unpacked.

    Parameters
    ----------
    path, data : Path, bytes
        Place and contents of the archive.
    wanted : mapping of str to Wanted
        The arrays that it must hold; others are ignored.
    what : str
        Name of such a file in errors, as in "an archive of weights".
    remedy : str
        What the error tells the user to do.

    Returns
    -------
    dict of str to array
        Finite arrays of the shapes and dtypes that are wanted.

    Raises
    ------
    BadDataFileError
        It is broken, or an array is missing, comes twice, has another shape or dtype, is not finite, or all together
        would take more than `LARGEST_ARRAYS`.
    """
    if sum(one.n_bytes for one in wanted.values()) > LARGEST_ARRAYS:
        problem = f"the arrays would take more than {LARGEST_ARRAYS // MB} MB, the most that is loaded"
        raise BadDataFileError(str(path), problem, remedy)
    with parsing(path, what, remedy), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: _array(archive, name, one, path, remedy) for name, one in wanted.items()}


def _array(archive: zipfile.ZipFile, name: str, wanted: Wanted, path: Path, remedy: str) -> NDArray[Any]:
    """Read one array; `zipfile` never unpacks more than the size that a member claims, which is bounded here."""
    found = [one for one in archive.infolist() if one.filename == f"{name}.npy"]
    unfit = BadDataFileError(
        str(path), f"the array {name!r} does not have numbers of ordinary size in the shape {wanted.shape}", remedy
    )
    if len(found) != 1 or found[0].compress_type not in _PACKED:
        raise unfit
    if found[0].file_size > _HEADER + math.prod(wanted.shape) * np.dtype("float64").itemsize:
        raise unfit
    file = io.BytesIO(archive.read(found[0]))
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = header(file, max_header_size=_HEADER)
    if not wanted.fits(shape, kind):
        raise unfit
    file.seek(0)
    array = np.lib.format.read_array(file, allow_pickle=False, max_header_size=_HEADER).astype(wanted.held_as)
    if not (np.isfinite(array) & (np.abs(array.astype(np.float64)) <= _STEEPEST)).all():
        raise unfit
    return array
