"""The contract of readers: options, source, rows and sessions; registration; decoding of files."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.printable import printable
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.core.registry import Registry
from therapy_analytics.core.session import Role
from therapy_analytics.readers._limits import whole_file

HEAD = 65_536
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = (
    (b"PK\x03\x04", "a zip file, or a Word or Excel file that is damaged"),
    (b"\xd0\xcf\x11\xe0", "an old Word or Excel file"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"RIFF", "a sound or video file"),
    (b"ID3", "a sound file"),
)
_WESTERN = 0.05
"""Text with a smaller share of bytes beyond ASCII is taken for Windows-1252."""
BINARY = "binary"
_AS_TEXT = "Save the transcript as plain text, CSV, JSON or WebVTT (UTF-8)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What the user tells us about the files.

    Attributes
    ----------
    columns : mapping of str to str
        For tables: our name of a column (``speaker``, ``text``, ``session``, ``start``, ``end``,
        ``utterance``, ``annotator``) to the name in the file.
    therapist, client : str or None
        The labels of the therapist and the client, as written in the files.
    metadata : Path, str or None
        A table about the sessions, besides any ``sessions.csv`` beside the files.
    pattern : str or None
        The parts of the file names, as in ``{counselor}_{client}_{date}``.
    keep : tuple of str
        Fields beside the turns that are copied although nothing is known of their meaning, and columns of remarks or
        sentences in tables about sessions, which are left out unless named here.
    pseudonyms : Pseudonyms or None
        The key by which names of clients, counselors, sessions and files, and labels that are names, are replaced.
    split_by : str or None
        Where one session of a file ends and the next begins: ``gap=4h`` where nobody speaks for longer than that
        (``s``, ``min``, ``h``, ``d``), or ``day``.

    Notes
    -----
    An option that has no effect on any transcript is an error when all have been read; where it has an effect on
    some sessions, the `notes` of the others say so.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    therapist: str | None = None
    client: str | None = None
    metadata: Path | str | None = None
    pattern: str | None = None
    keep: tuple[str, ...] = ()
    split_by: str | None = None
    pseudonyms: Pseudonyms | None = None


_NO_CODES: Mapping[str, str] = {}
"""Shared by all rows without codes: a dictionary for each would take much memory."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row, message, line or cue.

    Attributes
    ----------
    speaker : str
        The label as written.
    text : str
        The words, with their speech marks.
    place : int
        Where in the file, from 1.
    start_s, end_s : float or None
        Times in seconds.
    role : str or None
        The role, where the format itself tells it, as for system messages.
    gold : mapping of str to str
        Codes by people, by column.
    """

    speaker: str
    text: str = field(repr=False)
    place: int
    start_s: float | None = None
    end_s: float | None = None
    role: Role | None = None
    gold: Mapping[str, str] = field(default_factory=lambda: _NO_CODES)


@dataclass(frozen=True, slots=True)
class RawSession:
    """The rows of one session as they stand in a file.

    Attributes
    ----------
    name : str
        Empty where the session has no other name than the file.
    rows : list of Row
        In the order of the file.
    metadata : mapping of str to str
        What the file says about the session as a whole.
    notes : tuple of str
        What to tell the user, without words of the transcript.
    of_table : bool
        Whether it stands in a table with columns, for which the option of columns is meant.
    began : float or None
        What its times count from, where the file has dates: seconds from 1970 on a local clock.
    passed_over : mapping of str to int
        What begins lines as labels do and was not taken for a speaker, with the number of lines.
    """

    name: str
    rows: list[Row]
    metadata: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    of_table: bool = False
    began: float | None = None
    passed_over: Mapping[str, int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Source:
    """A file, with the options of the run.

    Attributes
    ----------
    path : Path
        As the user named it.
    text : str
        Decoded; empty for a binary file (Word, Excel, ...), whose reader works on `data`.
    options : ReadOptions
        Of the run.
    data : bytes
        As it stands on disk.
    encoding : str
        How `text` was decoded; ``binary`` when it was not.
    place : str
        Where the file is opened; empty for what is in memory. To tell the format of a large file, `text` and `data`
        hold no more than its beginning.
    voice : str
        The one speaker of a file that holds one speaker of a talk, as its name says; a table then needs no speakers.
    """

    path: Path
    text: str = field(repr=False)
    options: ReadOptions = field(default_factory=ReadOptions)
    data: bytes = field(default=b"", repr=False)
    encoding: str = "utf-8"
    place: str = ""
    voice: str = ""

    @property
    def sha256(self) -> str:
        """Hash of the file."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def head(self) -> str:
        """The beginning of the text, enough to tell a format."""
        return self.text[:HEAD]

    @property
    def lines(self) -> list[str]:
        """The lines as an editor counts them: `str.splitlines` breaks at rarer marks as well."""
        return self.text.split("\n")

    def error(self, problem: str, remedy: str, *, line: int | None = None) -> UnreadableFileError:
        """Return an error about this file, to be raised by the reader."""
        return UnreadableFileError(str(self.path), line, problem, remedy)


ReadFunction = Callable[[Source], Iterable[RawSession]]


@dataclass(frozen=True, slots=True)
class Reader:
    """A registered format."""

    name: str
    suffixes: tuple[str, ...]
    sniff: Callable[[Source], float]
    read: ReadFunction
    description: str
    one_session: bool = False


READERS: Registry[Reader] = Registry("reader", package="therapy_analytics.readers")


def reader(
    name: str,
    *,
    suffixes: tuple[str, ...],
    sniff: Callable[[Source], float],
    one_session: bool = False,
) -> Callable[[ReadFunction], ReadFunction]:
    """Register a function as the reader of a format.

    Parameters
    ----------
    name : str
        Unique, snake_case.
    suffixes : tuple of str
        File name endings of the format, as in ``(".vtt",)``.
    sniff : function
        From a `Source` to a certainty between 0 and 1.
    one_session : bool, optional
        Whether a file of the format is one session, which may not be as large as a file of many.

    Returns
    -------
    callable
        A decorator for a function from a `Source` to sessions as rows, which it returns as it is.

    Raises
    ------
    DuplicateNameError
        A reader in another module has that name.
    """

    def register(read: ReadFunction) -> ReadFunction:
        description = (read.__doc__ or "").strip().split("\n", maxsplit=1)[0]
        READERS.add(name, Reader(name, suffixes, sniff, read, description, one_session), module=read.__module__)
        return read

    return register


def begins(pattern: str | bytes, *, sure: float = 1.0) -> Callable[[Source], float]:
    """Return a `sniff` that is as sure as told of files that begin with a pattern, and 0 of all others.

    Parameters
    ----------
    pattern : str or bytes
        A regular expression: for the text behind a byte order mark, or for the bytes on disk.
    sure : float, optional
        The certainty, between 0 and 1.
    """
    if isinstance(pattern, bytes):
        of_data = re.compile(pattern)
        return lambda source: sure if of_data.match(source.data) else 0.0
    of_text = re.compile(pattern)
    return lambda source: sure if of_text.match(source.head.lstrip("\ufeff")) else 0.0


def load_source(path: str | Path, options: ReadOptions, place: str = "") -> Source:
    """Read and decode a file; the lines of its text end in line feeds. `place` is where it is opened, if not its path.

    Raises
    ------
    UnreadableFileError
        It cannot be opened, is larger than what is read, is empty, or its letters cannot be decoded.
    """
    place = place or str(path)
    return replace(decoded(Path(printable(str(path))), whole_file(place, str(path)), options), place=place)


def decoded(path: Path, data: bytes, options: ReadOptions) -> Source:
    """Decode the bytes of a file, or of its beginning.

    Raises
    ------
    UnreadableFileError
        It is empty, or its letters cannot be decoded.
    """
    text, encoding = _decode(data, path)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if encoding != BINARY and not text.strip("\ufeff\0 \t\n"):
        raise UnreadableFileError(str(path), None, "the file is empty", "It should hold a transcript")
    return Source(path, text, options, data, encoding)


def refuse_binary(source: Source) -> None:
    """Refuse a file that is not text, and say what it is."""
    if source.encoding == BINARY:
        raise source.error(f"this is {_kind_of_binary(source.data)}, which this version does not read", _AS_TEXT)


def _kind_of_binary(data: bytes) -> str:
    """Return the kind of a binary file by its first bytes; nothing for what may be text."""
    known = next((what for magic, what in _BINARY if data.startswith(magic)), "")
    has_zeros = b"\0" in data[:HEAD] and data.strip(b"\0 \t\r\n") and not any(data.startswith(bom) for bom, _ in _BOMS)
    return known or ("a file that is not text" if has_zeros else "")


def _decode(data: bytes, path: Path) -> tuple[str, str]:
    """Return the text and its encoding; no text for a binary file."""
    if _kind_of_binary(data):
        return "", BINARY
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, errors="replace"), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return data[: error.start].decode("utf-8"), "utf-8"
        return _guess(data, path)


def _guess(data: bytes, path: Path) -> tuple[str, str]:
    """Decode text that is not UTF-8; with few letters beyond ASCII, charset-normalizer would guess wrong languages."""
    if len(data.translate(None, bytes(range(128)))) < _WESTERN * len(data):
        return data.decode("cp1252", errors="replace"), "cp1252"
    import charset_normalizer  # noqa: PLC0415 (only the odd file needs it)

    best = charset_normalizer.from_bytes(data).best()
    if best is None:
        raise UnreadableFileError(str(path), None, "the letters of the file could not be decoded", _AS_TEXT)
    return str(best), best.encoding
