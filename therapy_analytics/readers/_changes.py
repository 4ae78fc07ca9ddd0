"""Changes of speaker that are marked with ``>>`` and name nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from therapy_analytics.readers._base import Row
from therapy_analytics.readers._notes import counted

CHANGE = ">>"
"""The mark of a change of speaker."""
UNKNOWN = "Unknown"
"""Who speaks where nothing tells."""
_BEGINS = re.compile(r"^[ \t]*>>+[ \t]*", re.MULTILINE)


def parted_at_changes(rows: Sequence[Row]) -> tuple[list[Row], str]:
    r"""Part the rows of a text at lines that begin with the mark; of two people, it is the other who speaks then.

    Examples
    --------
    >>> rows, note = parted_at_changes([Row("Ann", "Well?\n>> Yes.", 1), Row("Ben", "So.", 3)])
    >>> [(row.speaker, row.text) for row in rows]
    [('Ann', 'Well?'), ('Ben', 'Yes.'), ('Ben', 'So.')]
    """
    names = list({row.speaker.casefold(): row.speaker for row in rows}.values())
    done = [part for row in rows for part in _parts(row, names)]
    n = len(done) - len(rows)
    return done, about_changes(n, names if len(names) == 2 else []) if n else ""


def _parts(row: Row, names: Sequence[str]) -> Iterator[Row]:
    first, *others = _BEGINS.split(row.text)
    yield replace(row, text=first.strip(), end_s=None if others else row.end_s)
    speaker, place = row.speaker, row.place + first.count("\n")
    for words in others:
        speaker = other_of(speaker, names)
        yield replace(row, speaker=speaker, text=words.strip(), place=place, start_s=None, end_s=None)
        place += words.count("\n")


def other_of(speaker: str, names: Sequence[str]) -> str:
    """Return who speaks after a change that names nobody: of two people the other one."""
    others = [name for name in names if name.casefold() != speaker.casefold()]
    return others[0] if len(others) == 1 else UNKNOWN


def about_changes(n: int, pair: Sequence[str]) -> str:
    """Return a note on changes of speaker that name nobody, and between whom they were taken to be."""
    said = f"{counted(n, 'change')} of speaker without a name"
    if not pair:
        return f"{said} among more than two speakers; whose words follow is unknown."
    return f"{said}: they were read as two people taking turns. Check the first turns."
