"""Tables about sessions: a ``sessions.csv`` beside the transcripts, or ``--metadata FILE``."""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from therapy_analytics.core.cells import restored
from therapy_analytics.core.errors import BadDataFileError, BadOptionError, UnreadableFileError
from therapy_analytics.core.identity import reads_like_talk
from therapy_analytics.core.ids import safe_id
from therapy_analytics.core.printable import printable
from therapy_analytics.readers._columns import names_remarks
from therapy_analytics.readers.base import READERS, ReadOptions, load_source, refuse_binary
from therapy_analytics.readers.paths import placed, sibling, version

FILE_NAME = "sessions.csv"
_KEPT = 8
"""Tables that a process keeps: files of one folder follow each other."""
_KEYS = ("session_id", "session", "id", "file", "filename", "file_name", "source_file", "transcript")
_WORDS = {"text", "utterance", "content", "utterance_text", "vol_text", "utt_text", "turn_text", "message", "speech"}
ALIASES = {
    "counsellor": "counselor",
    "therapist": "counselor",
    "clinician": "counselor",
    "provider": "counselor",
    "patient": "client",
    "client_id": "client",
}


@dataclass(frozen=True, slots=True)
class AboutSession:
    """A row of a table about sessions: the line it ends on, how it names the session, and the facts."""

    line: int
    key: str
    facts: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SessionTable:
    """A table about sessions.

    Attributes
    ----------
    path, place : str
        The file as messages show it, and where it is opened.
    rows : mapping of str to AboutSession
        By the safe id of the session, or of its file without the ending, in lower case.
    columns : tuple of str
        Names of the columns that have any cell filled, as results have them.
    left_out : tuple of str
        Those of them that hold remarks or sentences, which the user did not ask to keep.
    """

    path: str
    place: str
    rows: Mapping[str, AboutSession] = field(repr=False)
    columns: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def find(self, *names: str) -> str:
        """Return the key of the row about a session that has one of these names; empty where there is none."""
        return next((key for name in names if (key := name.casefold()) in self.rows), "")


def is_metadata(path: Path) -> bool:
    """Return whether a file of a folder is a table about the sessions, not one of them.

    It is called ``sessions.csv`` and has no column of words.
    """
    return path.name.lower() == FILE_NAME and _is_metadata(printable(str(path)), str(path))


def _is_metadata(path: str, place: str) -> bool:
    try:
        return not _WORDS & set(_rows(path, place)[0])
    except BadDataFileError:
        return True


def load_metadata(path: Path, keep: Iterable[str] = ()) -> SessionTable:
    """Read a table about sessions.

    Parameters
    ----------
    path : Path
        The table.
    keep : iterable of str, optional
        Columns of remarks or sentences that are wanted.

    Raises
    ------
    BadDataFileError
        No column says which session a row is about, or two rows are about one session.
    """
    return _load(printable(str(path)), placed(path), tuple(keep))


def _load(path: str, place: str, keep: tuple[str, ...]) -> SessionTable:
    rows: dict[str, AboutSession] = {}
    header, records = _rows(path, place)
    if not set(_KEYS) & set(header):
        problem = "no column says which session a row is about"
        raise BadDataFileError(path, problem, "Give a column session_id or file")
    filled = {name: None for _, row in records for name in row}
    kept = {*_KEYS, *ALIASES, *ALIASES.values(), *map(plain_name, keep)}
    spoken = {name for _, row in records for name, cell in row.items() if reads_like_talk(cell)}
    left_out = [name for name in filled if (names_remarks(name) or name in spoken) and name not in kept]
    for number, (line, row) in enumerate(records, start=1):
        key = next((row.pop(name) for name in _KEYS if row.get(name)), None)
        if key is None:
            problem = f"data row {number} does not say which session it is about"
            raise BadDataFileError(path, problem, "Fill in its session_id or file, or delete the row")
        identity = _identity(key)
        if identity in rows:
            raise BadDataFileError(path, f"two rows are about the session {key!r}", "Keep one of them")
        facts = {ALIASES.get(name, name): value for name, value in row.items() if name not in left_out}
        rows[identity] = AboutSession(line, key, facts)
    return SessionTable(path, place, rows, tuple(filled), tuple(left_out))


def _identity(key: str) -> str:
    """Return the safe id, in lower case, of a session that is named by its id or by its file; ids may have dots."""
    name = key.replace("\\", "/").rpartition("/")[2]
    is_file = any(Path(name).suffix.lower() in one.suffixes for one in READERS)
    return safe_id(Path(name).stem if is_file else key).casefold()


def common_names(about: Mapping[str, str]) -> dict[str, str]:
    """Return facts under the names that tables use: a clinician is a counselor."""
    return {ALIASES.get(name, name): value for name, value in about.items()}


def from_name(stem: str, pattern: str | None) -> dict[str, str]:
    """Return the facts that the name of a file holds by the user's pattern; none where it does not fit.

    Examples
    --------
    >>> from_name("lee_p01_2025-03-04", "{counselor}_{client}_{date}")
    {'counselor': 'lee', 'client': 'p01', 'date': '2025-03-04'}
    >>> from_name("notes", "{counselor}_{client}")
    {}
    """
    if pattern is None:
        return {}
    match = _pattern(pattern).fullmatch(stem)
    return common_names(match.groupdict()) if match else {}


@functools.cache
def _pattern(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"\{([a-z][a-z0-9_]*)\}", pattern)
    if len(parts) < 3 or len(set(parts[1::2])) < len(parts[1::2]) or set("{}") & set("".join(parts[::2])):
        raise BadOptionError(
            "--pattern",
            f"{pattern!r} has no name in braces, or one twice",
            "Write names in braces, as in {counselor}_{client}_{date}",
        )
    named = (f"(?P<{part}>.+?)" if number % 2 else re.escape(part) for number, part in enumerate(parts))
    return re.compile("".join(named))


def combined(*sources: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Merge the facts of several sources about a session: the later wins, and a note names where they differ."""
    about: dict[str, str] = {}
    differ: dict[str, None] = {}
    for source in sources:
        differ |= dict.fromkeys(key for key, value in source.items() if about.get(key, value) != value)
        about.update(source)
    notes = f"Sources differ on {', '.join(differ)}; the table about the sessions or the file's name was taken."
    return about, (notes,) if differ else ()


def tables_for(beside: str, path: str, place: str, options: ReadOptions) -> Iterator[SessionTable]:
    """Yield the tables about the sessions of a transcript: the one beside it, then the user's own.

    Parameters
    ----------
    beside : str
        Where the table beside the transcript is opened; empty where there is none.
    path, place : str
        The transcript as the user named it, and where it is opened.
    options : ReadOptions
        Options of the run.

    Raises
    ------
    BadDataFileError
        A table cannot be used.
    """
    own = "" if options.metadata is None else placed(options.metadata)
    there = [(printable(sibling(path, Path(beside).name)), beside)] if beside not in ("", place, own) else []
    for name, where in (*there, *([(printable(str(options.metadata or "")), own)] if own not in ("", place) else [])):
        found = table_at(name, where, options)
        if found is not None:
            yield found


def table_at(path: str, place: str, options: ReadOptions) -> SessionTable | None:
    """Return the table at a place; None where it is a transcript, or is no longer there.

    Raises
    ------
    BadDataFileError
        It cannot be used.
    """
    state = version(place)
    by_user = options.metadata is not None and placed(options.metadata) == place
    found = _known(path, place, state, options.keep, by_user=by_user) if state else None
    if isinstance(found, BadDataFileError):
        raise BadDataFileError(*found.args)
    return found


@functools.lru_cache(maxsize=_KEPT)
def _known(
    name: str, place: str, _state: object, keep: tuple[str, ...], *, by_user: bool
) -> SessionTable | BadDataFileError | None:
    """Return a table, cached because many files ask for it; an error that it has; or None for a transcript.

    The state of the file is part of the key, so that a changed file is read again.
    """
    if not by_user and not _is_metadata(name, place):
        return None
    try:
        return _load(name, place, keep)
    except BadDataFileError as error:
        return error


def table_in(names: Iterable[str], folder: str) -> str:
    """Return the name of the table about sessions among the names in a folder; empty where there is none.

    Raises
    ------
    BadDataFileError
        There are two, whose names differ in upper and lower case alone.
    """
    named = [name for name in names if name.lower() == FILE_NAME]
    found = [name for name in named if is_metadata(Path(folder) / name)] if len(named) > 1 else named
    if len(found) > 1:
        problem = f"there are two tables about the sessions: {' and '.join(sorted(found))}"
        raise BadDataFileError(printable(folder), problem, "Keep one of them")
    return found[0] if found else ""


def _rows(path: str, place: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the names of the columns and the rows: the line each ends on, and its filled cells by column."""
    try:
        source = load_source(path, ReadOptions(), place)
        refuse_binary(source)
        text = source.text.lstrip("\ufeff")
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        header = list(map(plain_name, next(lines, [])))
        cells = ((lines.line_num, [restored(cell).strip() for cell in record]) for record in lines)
        named = ((at, zip(header, row, strict=False)) for at, row in cells)
        rows = [(at, {name: cell for name, cell in row if name and cell}) for at, row in named]
        return header, [row for row in rows if row[1]]
    except (UnreadableFileError, csv.Error) as error:
        raise BadDataFileError(path, f"the table about sessions cannot be read ({error})", "Save it as CSV") from None


def plain_name(name: str) -> str:
    """Return the name of a column as results have it."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
