"""How large transcripts may be, in all formats: larger ones are refused before they are read, and the run goes on.

Reading takes up to twelve times as much memory as what is read, unpacked; with these limits a small machine has enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.printable import printable
from therapy_analytics.readers.paths import plainly, size

MB = 2**20
LARGEST_FILE = 200 * MB
"""Bytes, unpacked, of a file."""
LARGEST_SESSION = 24 * MB
"""Bytes, unpacked, of a file of a format that holds one session: some two weeks of talk without a pause."""
MOST_LINES = 2_000_000
"""Lines of a text: a short one takes as much memory as one of a hundred letters."""
MOST_ROWS = 500_000
"""Lines, cues, rows, messages or elements of what is one session, empty ones too: ten for each turn."""
MOST_TURNS = 50_000
MOST_LETTERS = 8 * MB
"""Turns, and letters, of a session: some seventy hours of talk, which take 2 GB and two minutes to measure."""
_SPLIT = "Split it into several files, one a session"
_CUT = "Split it into several files, each with whole sessions"


def whole_file(place: str, path: str) -> bytes:
    """Return the bytes of the file at `place`, which the user calls `path`.

    Raises
    ------
    UnreadableFileError
        It cannot be opened, or is larger than `LARGEST_FILE` or `MOST_LINES`.
    """
    with plainly(path), Path(place).open("rb") as file:
        data: bytes = file.read(MB)
        if len(data) == MB:  # memory for more is only asked for where there is more
            data += file.read(LARGEST_FILE + 1 - MB)
    if len(data) > LARGEST_FILE:
        refuse_large(path, max(len(data), size(place)), LARGEST_FILE)
    if data.count(b"\n") > MOST_LINES:
        problem = f"the file has more than {MOST_LINES // 10**6} million lines, the most that are read"
        raise UnreadableFileError(printable(path), None, problem, _CUT)
    return data


def refuse_large(path: str, n_bytes: int, most: int, *, packed: bool = False) -> None:
    """Refuse a file whose contents, unpacked, are larger than `LARGEST_FILE` or `LARGEST_SESSION`.

    Raises
    ------
    UnreadableFileError
        They are; it names the size, the limit and what to do.
    """
    if n_bytes > most:
        of_one = most == LARGEST_SESSION
        what = "of a file in this format, which is one session," if of_one else "of a file"
        has = "would unpack to" if packed else "has"
        problem = f"the file {has} {_mb(n_bytes)}; at most {_mb(most)} {what} are read"
        raise UnreadableFileError(printable(path), None, problem, _SPLIT if of_one else _CUT)


def refuse_crowded(path: str, text: str) -> None:
    """Refuse the text of a format that holds one session, if it has more lines or elements than a session may have.

    Raises
    ------
    UnreadableFileError
        It has: most of them are empty, or the file is something else.
    """
    # An element of XML and HTML has two marks; rich text has a brace for each group.
    if text.count("\n") > MOST_ROWS or max(map(text.count, "<{")) > 2 * MOST_ROWS:
        problem = f"the file has more than {MOST_ROWS:,} lines or elements, the most of a session that are read"
        raise UnreadableFileError(printable(path), None, problem, f"Take empty lines out. {_SPLIT}")


def too_many_rows(path: str, session: str, texts: Sequence[str]) -> UnreadableFileError | None:
    """Return why turns are not made of the rows of a session, if these are more than `MOST_ROWS`, or too large."""
    n_letters = sum(map(len, texts))
    if len(texts) <= MOST_ROWS and n_letters <= LARGEST_SESSION:
        return None
    rows = f"more than {MOST_ROWS:,}" if len(texts) > MOST_ROWS else f"{len(texts):,}"
    return _too_long(path, session, f"{rows} rows", n_letters)


def too_long(path: str, session: str, texts: Sequence[str]) -> UnreadableFileError | None:
    """Return why a session is not read, if its turns are more than `MOST_TURNS` or longer than `MOST_LETTERS`."""
    n_letters = sum(map(len, texts))
    if len(texts) <= MOST_TURNS and n_letters <= MOST_LETTERS:
        return None
    return _too_long(path, session, f"{len(texts):,} turns", n_letters)


def _too_long(path: str, session: str, has: str, n_letters: int) -> UnreadableFileError:
    problem = (
        f"session {session} has {has} and {_mb(n_letters)} of words, and is not read: "
        f"a session may have {MOST_TURNS:,} turns and {_mb(MOST_LETTERS)} at most"
    )
    remedy = "If it is several sessions, name the column that says which (--columns session=NAME), or split the file"
    return UnreadableFileError(path, None, problem, remedy)


def _mb(n_bytes: int) -> str:
    """Return a size, rounded up, so that one beyond a limit never looks like the limit."""
    return f"{-(-n_bytes // MB):,} MB"
