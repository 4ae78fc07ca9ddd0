"""Plain text and Markdown with speaker labels: ``T: ...``, ``**Counselor 1:** ...``, ``Ruth  0:03``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._front_matter import NONE, FrontMatter, front_matter
from therapy_analytics.readers._labelled_lines import Labelled, labelled_rows, plain_lines
from therapy_analytics.readers._notes import counted

_MAGIC = re.compile(
    r"\ufeff?\s*(?:WEBVTT|@(?:UTF8|Begin|Font|PID)\b|<[?!]|\{|\[\s*\{|File type ?=|\d+[ \t]*\n[ \t]*[\d:.,]+[ \t]*-->)"
)
"""How captions, CHAT, XML, JSON and Praat files begin: their lines have colons, and forms of their own."""
_TABLE_HEADER = re.compile(
    r"\s*\"?\w+\"?(?:\t\"?[\w ]+\"?)*\t\"?(?:\w+_)?(?:text|utterance|content|words)\b", re.IGNORECASE
)

_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}")


def sniff(source: Source) -> float:
    """Find it plausible where two labels take turns, more so where most lines have one."""
    head = source.head
    if _MAGIC.match(head) or _TABLE_HEADER.match(head):
        return 0.0
    found, _ = _read(head.split("\n"))
    if found is None:
        return 0.0
    if any(_DATE.search(label) for label in found.labels):
        return 0.3  # a messenger's copy: the day is no part of a name
    return 0.5 + 0.2 * found.share if len(found.labels) > 1 else 0.3


@reader("labelled_text", suffixes=(".txt", ".text", ".md", ".markdown"), sniff=sniff)
def read_labelled_text(source: Source) -> Iterator[RawSession]:
    """Text in which each turn begins with the speaker's label, and a colon or a line of its own."""
    found, facts = _read(source.lines)
    if found is None:
        raise source.error(
            "no speaker labels were found", 'Begin each turn with a label and a colon, as in "Therapist:"'
        )
    metadata = dict(facts.metadata)
    odd = (f"{counted(facts.n_left_out, 'line')} of the front matter left out.",) if facts.n_left_out else ()
    yield RawSession(metadata.pop("session_id", ""), found.rows, metadata, (*odd, *found.notes))


def _read(lines: list[str]) -> tuple[Labelled | None, FrontMatter]:
    """Read the lines below the front matter; where nothing is below, it was none."""
    facts = front_matter(lines)
    if facts.n_lines:
        found = labelled_rows(plain_lines(lines[facts.n_lines :], first=facts.n_lines + 1))
        if found is not None:
            return found, facts
    return labelled_rows(plain_lines(lines)), NONE
