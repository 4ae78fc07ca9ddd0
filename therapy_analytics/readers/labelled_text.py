"""Plain text and Markdown with speaker labels: ``T: ...``, ``**Counselor 1:** ...``, ``Ruth  0:03``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._columns import find_columns, may_be_header
from therapy_analytics.readers._label_forms import EDGE, PLAIN, Line
from therapy_analytics.readers._labelled_lines import Labelled, labelled_rows, plain_lines
from therapy_analytics.readers._text_heads import NONE, FrontMatter, front_matter, is_clinical_note, note_error
from therapy_analytics.readers._word_blocks import TableRow
from therapy_analytics.readers._word_tables import Tabled, table_rows
from therapy_analytics.readers.base import HEAD, RawSession, Row, Source, reader
from therapy_analytics.readers.roles import role_of_label

_MAGIC = re.compile(
    r"\ufeff?\s*(?:WEBVTT|@(?:UTF8|Begin|Font|PID)\b|<[?!]|\{|\[\s*\{|\[[Ss]cript [Ii]nfo\]|File ?type ?="
    r"|\d+[ \t]*\n[ \t]*[\d:.,]+[ \t]*-->)"
)
"""Beginnings of captions, CHAT, XML, JSON and Praat files, whose lines have colons as well."""
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}")
_BOLD_TAG = re.compile(r"</?(?:b|strong)>", re.IGNORECASE)
_LONGEST_FACT = 4
_NOTE_SURE = 0.45
"""Enough to tell the user what the file is, and too little for a cell of a table to be a transcript."""
_SEVERAL = 2

_INLINE = re.compile(r"(?<![ \t])[ \t]++(?=(?P<label>[A-Z][\w.]*(?: \w+)?)[:\uff1a]\s)")
_DASH = re.compile(rf"{EDGE}[\u2013\u2014\u2015][ \t\xa0]*(?=\S)")
_FEWEST = 4
_LONGEST_TITLE = 3
_MOSTLY = 0.5
_BY_DASHES = "Dashes without names were read as two people taking turns. Check the first turns."
_ROW = re.compile(r"[ \t>]*\|(?P<cells>.*)\|[ \t]*$")
_BELOW_HEADER = re.compile(r"[ \t>]*+\|?(?:[ \t]*+:?-++:?[ \t]*+\|)+(?:[ \t]*+:?-++:?[ \t]*+)?$")
_BAR = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_STARS = re.compile(r"\A(\*\*|__|\*|_)(.*)\1\Z")


class _TextReading(NamedTuple):
    """What was understood, the front matter above it, and the certainty of that, from 0 to 1."""

    found: Labelled | None
    front: FrontMatter
    sure: float = 0.0
    is_note: bool = False


def sniff(source: Source) -> float:
    """Be more certain the more lines begin with a label."""
    head = source.head
    if _MAGIC.match(head) or _names_columns(head):
        return 0.0
    return _head_read(head).sure


def _names_columns(head: str) -> bool:
    """Tell a table by a first line that names a column of words and one of speakers."""
    first = head.lstrip("\ufeff \n").partition("\n")[0]
    rows = [[cell.strip(' "\r') for cell in first.split(delimiter)] for delimiter in "\t,;" if delimiter in first]
    named = [find_columns(row, {}) for row in rows if may_be_header(row)]
    return any(found["text"] is not None and found["speaker"] is not None for found in named)


@reader("labelled_text", suffixes=(".txt", ".text", ".md", ".markdown"), sniff=sniff, one_session=True)
def read_labelled_text(source: Source) -> Iterator[RawSession]:
    """Text in which each turn begins with the speaker's label, and a colon or a line of its own."""
    yield session_of(source, source.text)


def session_of(source: Source, text: str) -> RawSession:
    """Return the session of a text, which is that of the file or was extracted from it.

    Raises
    ------
    UnreadableFileError
        It has no speaker labels, or is a clinical note.
    """
    found, front, _, is_note = _head_read(text) if len(text) <= HEAD else _read(text)
    if is_note:
        raise note_error(source)
    if found is None:
        raise source.error(
            "no speaker labels were found", 'Begin each turn with a label and a colon, as in "Therapist:"'
        )
    metadata = {**found.facts, **front.metadata}
    odd = (f"{counted(front.n_left_out, 'line')} of the front matter left out.",) if front.n_left_out else ()
    name = metadata.pop("session_id", "")
    return RawSession(name, list(found.rows), metadata, (*odd, *found.notes), passed_over=found.passed_over)


@lru_cache(maxsize=1)
def _head_read(text: str) -> _TextReading:
    """Read a text that is no longer than a head: `sniff` has read it already."""
    return _read(text)


def _read(text: str) -> _TextReading:
    """Read the lines below the front matter; if there is no talk below, it is no front matter."""
    lines = (_BOLD_TAG.sub("**", text) if "</" in text else text).split("\n")
    front = front_matter(lines)
    if front.n_lines:
        below = _talk(lines[front.n_lines :], first=front.n_lines + 1)
        if below.is_note:
            return below
        if below.found is not None and not _holds_turns(lines[1 : front.n_lines - 1], below.found):
            return below._replace(front=front)
    return _talk(lines, first=1)


def _talk(lines: list[str], *, first: int) -> _TextReading:
    """Read a table, or lines with labels; failing that, labels inside long lines, or dashes without names."""
    in_table = _tabled(lines, first)
    numbered = plain_lines(lines, first=first)
    found = labelled_rows(numbered)
    if in_table and (found is None or len(in_table.rows) > len(found.rows) / 2):
        labels = frozenset(row.speaker.casefold() for row in in_table.rows)
        return _TextReading(Labelled(in_table.rows, labels, 1.0, in_table.notes), NONE, 0.95)
    if found is None or len(found.rows) < 2:
        found = labelled_rows([part for line in numbered for part in _unfolded(line)]) or found
    if is_clinical_note(numbered, found.rows if found else ()):
        return _TextReading(None, NONE, _NOTE_SURE, is_note=True)
    if found is not None:
        return _TextReading(found, NONE, _sureness(found))
    rows = dialogue_rows(numbered)
    by_dash = Labelled(rows, frozenset({"speaker 1", "speaker 2"}), 0.0, (_BY_DASHES,)) if rows else None
    return _TextReading(by_dash, NONE, 0.4 if rows else 0.0)


def _tabled(lines: list[str], first: int) -> Tabled | None:
    """Read Markdown tables; one with a column of sessions is left to the reader of tables."""
    rows = [replace(row, place=row.place + first - 1) for row in markdown_rows(lines)]
    if not rows or find_columns(rows[0].cells, {})["session"] is not None:
        return None
    return table_rows(rows)


def _sureness(found: Labelled) -> float:
    if any(_DATE.search(label) for label in found.labels):
        return 0.3  # a messenger's copy: the day is no part of a name
    return 0.5 + 0.2 * found.share if len(found.labels) > 1 else 0.3


def _unfolded(line: Line) -> list[Line]:
    """Part a line before each label of a role, where it has several: a transcript that lost its line breaks."""
    ends = [space.end() for space in _INLINE.finditer(line.text) if role_of_label(space["label"])]
    first = PLAIN[0].pattern.match(line.text)
    if len(ends) < _SEVERAL or first is None or role_of_label(first["label"]) is None:
        return [line]
    turns = [line.text[begin:end] for begin, end in pairwise([0, *ends, len(line.text)])]
    return [Line(line.place, turn, turn) for turn in turns]


def _holds_turns(lines: list[str], below: Labelled) -> bool:
    """Tell rules around turns from front matter: only speakers are named, and their words are more than a name."""
    pairs = [match for line in lines if (match := PLAIN[0].pattern.match(line))]
    are_sentences = any(
        len(pair["words"].split()) > _LONGEST_FACT or pair["words"].rstrip()[-1:] in set(".?!") for pair in pairs
    )
    return are_sentences and {pair["label"].casefold() for pair in pairs} <= below.labels


def dialogue_rows(lines: Sequence[Line]) -> list[Row]:
    r"""Return the turns of a text whose lines mostly begin with a long dash, the mark of a change; else nothing.

    Examples
    --------
    >>> text = ["\u2014 Hello.", "\u2014 Hi.", "\u2014 How so?", "\u2014 Well.", "It is late."]
    >>> [(row.speaker, row.text) for row in dialogue_rows([Line(1, line, line) for line in text])][2:]
    [('Speaker 1', 'How so?'), ('Speaker 2', 'Well.\nIt is late.')]
    """
    filled = [line for line in lines if line.raw.strip()]
    dashes = [(at, match) for at, line in enumerate(filled) if (match := _DASH.match(line.text))]
    if len(dashes) < max(_FEWEST, _MOSTLY * len(filled)) or dashes[0][0] > _LONGEST_TITLE:
        return []
    rows: list[Row] = []
    for n, (at, match) in enumerate(dashes):
        end = dashes[n + 1][0] if n + 1 < len(dashes) else len(filled)
        words = [filled[at].text[match.end() :], *(line.raw for line in filled[at + 1 : end])]
        rows.append(Row(f"Speaker {n % 2 + 1}", "\n".join(words), filled[at].place))
    return rows


def markdown_rows(lines: Sequence[str]) -> list[TableRow]:
    """Return the rows of all Markdown tables of a text, each with the number of its line.

    Examples
    --------
    >>> [row.cells for row in markdown_rows(["| Who | Said |", "| --- | --- |", "| **T** | Hello. |"])]
    [['Who', 'Said'], ['T', 'Hello.']]
    """
    below = [at for at, line in enumerate(lines) if "-" in line and "|" in line and _BELOW_HEADER.fullmatch(line)]
    return [row for number, at in enumerate(below, start=1) for row in _rows_of(lines, at, number)]


def _rows_of(lines: Sequence[str], below_header: int, number: int) -> Iterator[TableRow]:
    for at in range(max(below_header - 1, 0), len(lines)):
        match = _ROW.match(lines[at])
        if match is None:
            return
        if at != below_header:
            yield TableRow(at + 1, number, [_cell(cell) for cell in _BAR.split(match["cells"])])


def _cell(written: str) -> str:
    text = _BREAK.sub("\n", written.replace("\\|", "|")).strip()
    return _STARS.sub(r"\2", text)
