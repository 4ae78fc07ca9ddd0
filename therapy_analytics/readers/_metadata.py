"""Tables about sessions: a ``sessions.csv`` beside the transcripts, or ``--metadata FILE``."""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from therapy_analytics.cells import restored
from therapy_analytics.errors import BadDataFileError, BadOptionError, UnreadableFileError
from therapy_analytics.readers._addresses import beside, placed, shown, version
from therapy_analytics.readers._base import READERS, ReadOptions, load_source, refuse_binary
from therapy_analytics.readers._build import safe_id

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

Table = Mapping[str, Mapping[str, str]]


def is_metadata(path: Path) -> bool:
    """Return whether a file of a folder is a table about the sessions, not one of them.

    It is called ``sessions.csv`` and has no column of words.
    """
    return path.name.lower() == FILE_NAME and _is_metadata(shown(path), str(path))


def _is_metadata(path: str, place: str) -> bool:
    try:
        return not _WORDS & set(_rows(path, place)[0])
    except BadDataFileError:
        return True


def load_metadata(path: Path) -> Table:
    """Read a table about sessions, keyed by session id or file name (as safe ids, without suffix).

    Raises
    ------
    BadDataFileError
        No column says which session a row is about, or two rows are about one session.
    """
    return _load(shown(path), str(path))


def _load(path: str, place: str) -> Table:
    table: dict[str, dict[str, str]] = {}
    header, rows = _rows(path, place)
    if not set(_KEYS) & set(header):
        problem = "no column says which session a row is about"
        raise BadDataFileError(path, problem, "Give a column session_id or file")
    for number, row in enumerate(rows, start=1):
        key = next((row.pop(name) for name in _KEYS if row.get(name)), None)
        if key is None:
            problem = f"data row {number} does not say which session it is about"
            raise BadDataFileError(path, problem, "Fill in its session_id or file, or delete the row")
        identity = _identity(key)
        if identity in table:
            raise BadDataFileError(path, f"two rows are about the session {key!r}", "Keep one of them")
        table[identity] = {ALIASES.get(name, name): value for name, value in row.items()}
    return table


def _identity(key: str) -> str:
    """Return the safe id of a session that is named by its id or by its file; ids may have dots in them."""
    name = key.replace("\\", "/").rpartition("/")[2]
    is_file = any(Path(name).suffix.lower() in one.suffixes for one in READERS)
    return safe_id(Path(name).stem if is_file else key).casefold()


def common_names(about: Mapping[str, str]) -> dict[str, str]:
    """Return what a file says of itself under the names that tables use: a clinician is a counselor."""
    return {ALIASES.get(name, name): value for name, value in about.items()}


def keys(*names: str) -> Iterator[str]:
    """Yield the keys under which a table may speak of a session."""
    return (name.casefold() for name in names)


def from_name(stem: str, pattern: str | None) -> dict[str, str]:
    """Return what the name of a file says by the user's pattern; nothing where it does not fit.

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
    pieces = re.split(r"\{([a-z][a-z0-9_]*)\}", pattern)
    if len(pieces) < 3 or len(set(pieces[1::2])) < len(pieces[1::2]) or set("{}") & set("".join(pieces[::2])):
        raise BadOptionError(
            "--pattern",
            f"{pattern!r} has no name in braces, or one twice",
            "Write names in braces, as in {counselor}_{client}_{date}",
        )
    named = (f"(?P<{piece}>.+?)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
    return re.compile("".join(named))


def combined(*sources: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Put together what several sources say of a session: the later wins, and a note tells where they differ."""
    about: dict[str, str] = {}
    differ: dict[str, None] = {}
    for source in sources:
        differ |= dict.fromkeys(key for key, value in source.items() if about.get(key, value) != value)
        about.update(source)
    notes = f"Sources differ on {', '.join(differ)}; the table about the sessions or the file's name was taken."
    return about, (notes,) if differ else ()


def tables_for(path: str, place: str, options: ReadOptions) -> Iterator[Table]:
    """Yield the tables that speak about a transcript: the one beside it, then the user's own.

    Parameters
    ----------
    path, place : str
        The transcript as the user named it, and where it is opened.
    options : ReadOptions
        Of the run.

    Raises
    ------
    BadDataFileError
        A table cannot be used.
    """
    own = None if options.metadata is None else (shown(options.metadata), placed(options.metadata))
    for candidate in ((beside(path, FILE_NAME), beside(place, FILE_NAME)), own):
        state = version(candidate[1]) if candidate and candidate[1] != place else ()
        if not candidate or not state:
            continue
        found = _known(*candidate, state, by_user=own is not None and candidate[1] == own[1])
        if isinstance(found, BadDataFileError):
            raise BadDataFileError(*found.args)
        if found is not None:
            yield found


@functools.lru_cache(maxsize=_KEPT)
def _known(name: str, place: str, _state: object, *, by_user: bool) -> Table | BadDataFileError | None:
    """Return a table that many files ask for, what is wrong with it, or nothing for one that is a transcript.

    What a process keeps is found by the state of the file, so that no one is told what an older one said.
    """
    if not by_user and not _is_metadata(name, place):
        return None
    try:
        return _load(name, place)
    except BadDataFileError as error:
        return error


def _rows(path: str, place: str) -> tuple[list[str], list[dict[str, str]]]:
    """Return the names of the columns, and the cells of each row that are filled; rows without any are none."""
    try:
        source = load_source(path, ReadOptions(), place)
        refuse_binary(source)
        text = source.text.lstrip("\ufeff")
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        first, *records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        header = [re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in first]
        cells = ([restored(cell).strip() for cell in record] for record in records)
        rows = [{name: cell for name, cell in zip(header, row, strict=False) if name and cell} for row in cells]
        return header, [row for row in rows if row]
    except (UnreadableFileError, csv.Error) as error:
        raise BadDataFileError(path, f"the table about sessions cannot be read ({error})", "Save it as CSV") from None
