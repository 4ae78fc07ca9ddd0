"""Cells of a table that each hold a whole session: labelled text, JSON, or lists as Python prints them."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.identity import LONGEST_FACT
from therapy_analytics.readers._chat_markup import marked_messages
from therapy_analytics.readers._columns import Record
from therapy_analytics.readers._json_messages import WEAK, session_of
from therapy_analytics.readers.base import READERS, RawSession, Reader, Row, Source
from therapy_analytics.readers.roles import role_of_label

NOT_IN_CELLS = frozenset({"delimited", "workbook", "parquet", "pdf_document"})
"""Readers whose formats stand in no cell."""
_ENOUGH = 0.8
_SAMPLE = 50
_LABEL = r"(?P<label>[A-Z][\w.]*(?: \w+)?)[:\uff1a]\s"
_FIRST_LABEL = re.compile(rf"\s*{_LABEL}")
_BEFORE_LABEL = re.compile(rf"(?<!\s)\s++(?={_LABEL})")
_DIALOGUE = re.compile(r"dialog|conversation|chat|turns|utterances|exchange|gespr\u00e4ch", re.IGNORECASE)
"""In the name of a column: lines without labels take turns."""
_ENDS = frozenset('.?!\u2026"\u201d)')
_BETWEEN = re.compile(r"__eou__|__eot__|<eou>|<eot>|<sep>|\[SEP\]|<turn>", re.IGNORECASE)
_STRING = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_STRINGS = re.compile(rf"\[\s*+(?:(?:{_STRING})\s*+,?\s*+)++\]", re.DOTALL)
_ONE_STRING = re.compile(_STRING, re.DOTALL)
_LONGEST_CELL = 2_000_000
_NOT_PYTHON = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
_BY_TURNS = "Two people without names were read as taking turns. Check the first turns."


def column_of_sessions(
    source: Source, header: Sequence[str], records: Sequence[Record], *, only: int | None = None
) -> int | None:
    """Return the first column whose cells are nearly all transcripts by themselves.

    Parameters
    ----------
    source : Source
        The file.
    header : sequence of str
        Names of the columns.
    records : sequence of Record
        Data rows, of which the first 50 are looked at.
    only : int, optional
        The one column that may be it.
    """
    for at in range(len(header)) if only is None else [only]:
        cells = [record[at] for _, record in records[:_SAMPLE] if record[at].strip()]
        if cells and mean(map(len, cells)) > LONGEST_FACT:
            n_sessions = sum(_looks_like_session(cell, source, header[at]) for cell in cells)
            if n_sessions >= _ENOUGH * len(cells):
                return at
    return None


def _looks_like_session(cell: str, source: Source, name: str) -> bool:
    if marked_messages(cell) or len(_listed_turns(cell)) > 1:
        return True
    text = _lines(_as_json(cell))
    by_lines = _DIALOGUE.search(name) is not None and "\n" in text.strip()
    return by_lines or _reader_of(text, source) is not None


def sessions_in_cell(cell: str, source: Source, name: str) -> list[RawSession]:
    """Return the sessions that a cell holds, none where it cannot be read; `name` is that of its column."""
    if messages := marked_messages(cell):
        return [session_of(messages, WEAK).session]
    listed = _listed_turns(cell)
    if len(listed) > 1 and not 2 * sum(":" in one[:LONGEST_FACT] for one in listed) > len(listed):
        return [_taking_turns(listed)]
    text = "\n".join(listed) or _lines(_as_json(cell))
    sessions = read_text(text, source)
    if sessions is not None:
        return sessions
    lines = [line.strip() for line in text.split("\n") if line.strip()] if _DIALOGUE.search(name) else listed
    return [_taking_turns(lines)] if len(lines) > 1 else []


def _taking_turns(texts: Sequence[str]) -> RawSession:
    rows = [Row(f"Speaker {at % 2 + 1}", words, at + 1) for at, words in enumerate(texts)]
    return RawSession("", rows, notes=(_BY_TURNS,))


def read_text(text: str, source: Source) -> list[RawSession] | None:
    """Read a text inside a table as a file with that text is read.

    Returns
    -------
    list of RawSession or None
        None where the text is in no known format; empty where it cannot be read.
    """
    reader = _reader_of(text, source)
    if reader is None:
        return None
    try:
        return list(reader.read(Source(source.path, text, source.options, text.encode("utf-8", "replace"))))
    except UnreadableFileError:
        return []


def _reader_of(text: str, source: Source) -> Reader | None:
    """Return the format that a cell is written in, if it is one with more than one speaker."""
    inside = Source(Path(source.path.stem), text, source.options, text.encode("utf-8", "replace"))
    bids = ((one.sniff(inside), one.name, one) for one in READERS if one.name not in NOT_IN_CELLS)
    best, _, reader = max(bids, key=lambda bid: bid[:2])
    return reader if best >= 0.5 else None


def _lines(cell: str) -> str:
    """Put each turn on a line of its own where a cell marks lines otherwise, or not at all."""
    text = re.sub(r"<br\s*/?>", "\n", cell.replace("\r\n", "\n").replace("\r", "\n"))
    if "\n" in text.strip() or text.lstrip()[:1] in {"[", "{"}:
        return text
    text = text.replace("\\n", "\n")
    if "\n" in text.strip():
        return text
    often = Counter(space["label"] for space in _BEFORE_LABEL.finditer(text) if text[space.start() - 1] in _ENDS)
    often.update(first["label"] for first in [_FIRST_LABEL.match(text)] if first)
    return _BEFORE_LABEL.sub(
        lambda space: "\n" if role_of_label(space["label"]) or often[space["label"]] > 1 else space[0], text
    )


def _listed_turns(cell: str) -> list[str]:
    r"""Return the turns of a cell that lists them without names or roles, or divides them by marks.

    Examples
    --------
    >>> _listed_turns("['I am late.', \"It's early.\"]"), _listed_turns("Hi. __eou__ Hello. __eou__")
    (['I am late.', "It's early."], ['Hi.', 'Hello.'])
    """
    text = cell.strip()
    turns = _BETWEEN.split(text)
    if text.startswith("[") and len(text) <= _LONGEST_CELL and _STRINGS.fullmatch(text):
        try:
            turns = [str(ast.literal_eval(one)) for one in _ONE_STRING.findall(text)]
        except _NOT_PYTHON:
            return []
    elif len(turns) == 1:
        return []
    return [words for turn in turns if (words := turn.strip())]


def _as_json(cell: str) -> str:
    """Return a cell that holds lists and dictionaries as Python prints them in JSON, and any other as it is.

    Examples
    --------
    >>> _as_json("[{'role': 'user', 'content': None}]"), _as_json("[sic] So.")
    ('[{"role": "user", "content": null}]', '[sic] So.')
    """
    text = cell.strip()
    if not text.startswith(("[{'", "{'", '[{"', "[['", "[('")) or len(text) > _LONGEST_CELL:
        return cell
    try:
        json.loads(text)
    except ValueError:
        pass
    except RecursionError:
        return cell
    else:
        return cell
    try:
        return json.dumps(ast.literal_eval(text.replace("}\n {", "}, {")), ensure_ascii=False)
    except _NOT_PYTHON:
        return cell
