"""Tables about sessions: a ``sessions.csv`` beside the transcripts, or ``--metadata FILE``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from therapy_analytics.errors import BadDataFileError, UnreadableFileError
from therapy_analytics.readers._base import ReadOptions, load_source
from therapy_analytics.readers._build import safe_id

FILE_NAME = "sessions.csv"
_KEYS = ("session_id", "session", "id", "file", "filename", "file_name", "source_file", "transcript")
_ALIASES = {
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
    if path.name.lower() != FILE_NAME:
        return False
    try:
        return not {"text", "utterance", "content"} & set(_rows(path)[0])
    except (BadDataFileError, IndexError):
        return True


def load_metadata(path: Path) -> Table:
    """Read a table about sessions, keyed by session id or file name (as safe ids, without suffix).

    Raises
    ------
    BadDataFileError
        No column says which session a row is about, or two rows are about one session.
    """
    table: dict[str, dict[str, str]] = {}
    for row in _rows(path):
        key = next((row.pop(name) for name in _KEYS if row.get(name)), None)
        if key is None:
            raise BadDataFileError(
                str(path), "no column says which session a row is about", "Give a column session_id or file"
            )
        identity = safe_id(Path(key).stem if "." in key else key).casefold()
        if identity in table:
            raise BadDataFileError(str(path), f"two rows are about the session {key!r}", "Keep one of them")
        table[identity] = {_ALIASES.get(name, name): value for name, value in row.items() if value}
    return table


def tables_for(path: Path, options: ReadOptions, cache: dict[Path, Table]) -> Iterator[Table]:
    """Yield the tables that speak about a transcript: the one beside it, then the user's own."""
    for candidate in (path.parent / FILE_NAME, options.metadata):
        if candidate is None or candidate == path or not candidate.is_file():
            continue
        if candidate != options.metadata and not is_metadata(candidate):
            continue
        if candidate not in cache:
            cache[candidate] = load_metadata(candidate)
        yield cache[candidate]


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        text = load_source(path, ReadOptions()).text
        reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline=""))
        return [
            {
                re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_"): value.strip()
                for name, value in row.items()
                if name and value
            }
            for row in reader
        ]
    except (UnreadableFileError, csv.Error) as error:
        raise BadDataFileError(
            str(path), f"the table about sessions cannot be read ({error})", "Save it as CSV"
        ) from None
