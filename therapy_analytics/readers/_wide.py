"""Tables without a column of speakers: who speaks is in the header, or inside the cells."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._base import READERS, Layout, RawSession, Reader, Row, Source
from therapy_analytics.readers._chat_markup import marked_messages
from therapy_analytics.readers._columns import LONGEST_FACT, Record, slug
from therapy_analytics.readers._json_messages import WEAK, session_of
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._wide_rows import (
    Found,
    Grid,
    alternating,
    columns_of_talk,
    exchanges,
    names_talk,
    of_row,
    questions,
)

__all__ = ["TABLES", "column_of_sessions", "layout_of", "names_talk", "read"]

TABLES = frozenset({"delimited", "workbook", "parquet"})
_BEFORE_LABEL = re.compile(r"(?<!\s)\s++(?=(?P<label>[A-Z][\w.]*(?: \w+)?)[:\uff1a]\s)")
_ENOUGH = 0.8
_USED, _USED_IN_TEXTS = ("session",), ("session", "text")
"""Columns named by the user that layouts with several utterances in a row go by."""
_TEXTS = ("cells", "labels")
"""Layouts that have one column of words."""
_SAMPLE = 50
_FIRST_LABEL = re.compile(r"\s*(?P<label>[A-Z][\w.]*(?: \w+)?)[:\uff1a]\s")
_DIALOGUE = re.compile(r"dialog|conversation|chat|turns|utterances|exchange|gespr\u00e4ch", re.IGNORECASE)
_RANGES = frozenset({"excerpt_range", "range", "char_range", "character_range"})
_RANGE = re.compile(r"\s*(\d{1,9})\s*[-\u2013]\s*(\d{1,9})\s*")
_ENDS = frozenset('.?!\u2026"\u201d)')
_BETWEEN = re.compile(r"__eou__|__eot__|<eou>|<eot>|<sep>|\[SEP\]|<turn>", re.IGNORECASE)
_STRING = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_STRINGS = re.compile(rf"\[\s*+(?:(?:{_STRING})\s*+,?\s*+)++\]", re.DOTALL)
_ONE_STRING = re.compile(_STRING, re.DOTALL)
_LONGEST_CELL = 2_000_000
_BY_TURNS = "Two people without names were read as taking turns. Check the first turns."


def read(source: Source, header: Sequence[str], records: Sequence[Record], found: Found) -> list[RawSession]:
    """Return the sessions in the first wide layout that fits, or none.

    Parameters
    ----------
    source : Source
        The file.
    header : sequence of str
        Names of the columns.
    records : sequence of Record
        Data rows.
    found : mapping
        Where the columns of known names are.
    """
    table = Grid(source, header, records, found)
    forms = _LAYOUTS if source.part is None else [source.part.layout.form]
    for form in forms:
        if sessions := _LAYOUTS[form](table):
            return _with_unused(sessions, form, source.options.columns)
    return []


def _with_unused(sessions: list[RawSession], form: str, wanted: Iterable[str]) -> list[RawSession]:
    """Note which of the user's columns this layout, whose rows hold more than one utterance, has no use for."""
    unused = [kind for kind in wanted if kind not in (_USED_IN_TEXTS if form in _TEXTS else _USED)]
    if not unused:
        return sessions
    said = f"--columns {', '.join(unused)} had no effect: a row of this table holds more than one utterance."
    return [replace(one, notes=(*one.notes, said)) for one in sessions]


def layout_of(table: Grid, reader: str) -> Layout | None:
    """Return the layout that fits some rows of a large table, if each session stands in few rows of it."""
    form = next((name for name, layout in _LAYOUTS.items() if layout(table)), "labels")
    if form == "labels":
        return None
    if form == "cells":
        at = _column(table)
        return None if at is None else Layout(reader, form, (at,))
    return Layout(reader, form, tuple(columns_of_talk(table, _LAYOUTS[form])))


def _column(table: Grid) -> int | None:
    """Return the column of whole sessions: the user's own, if one is named."""
    if table.source.part is not None:
        return table.source.part.layout.columns[0]
    only = table.found["text"] if "text" in table.source.options.columns else None
    return column_of_sessions(table.source, table.header, table.records, only=only)


def _cells(table: Grid) -> list[RawSession]:
    """Read a column whose cells each hold a whole session, in whatever form of text."""
    at = _column(table)
    if at is None:
        return []
    by_lines = _DIALOGUE.search(table.header[at]) is not None
    sessions: list[RawSession] = []
    ranges: list[str] = []
    at_range = next((place for place, name in enumerate(table.header) if slug(name) in _RANGES), None)
    lost = n_words = 0
    for place, record in table.records:
        try:
            inside = list(_inside(record[at], table.source, by_lines=by_lines))
        except UnreadableFileError:
            inside = []
        lost += not inside
        n_words += 0 if inside else len(record[at].split())
        for one in inside:
            rows = [replace(row, place=place) for row in one.rows]
            sessions.append(replace(of_row(table, (place, record), rows, {at}), notes=one.notes))
            ranges.append("" if at_range is None else record[at_range])
    where = "this part of the file" if table.is_part else "the file"
    note = (
        (f"{counted(lost, 'row')} of {where} without labelled turns left out ({counted(n_words, 'word')}).",)
        if lost
        else ()
    )
    if len({one.name for one in sessions}) < len(sessions):
        joined = _joined(sessions, ranges)
        how = (
            "they were joined in the order of their ranges." if joined else "each row was read as a session of its own."
        )
        note, sessions = (*note, f"Several rows name the same session: {how}"), joined or sessions
    sessions = sessions if len(sessions) > 1 or table.is_part else [replace(one, name="") for one in sessions]
    return [replace(one, notes=(*note, *one.notes)) for one in sessions]


def _joined(sessions: Sequence[RawSession], ranges: Sequence[str]) -> list[RawSession]:
    """Join the excerpts of each session in the order of their ranges; nothing where a range is missing or overlaps."""
    parts: dict[str, list[tuple[int, int, RawSession]]] = {}
    for one, written in zip(sessions, ranges, strict=True):
        span = _RANGE.fullmatch(written)
        if span is None:
            return []
        parts.setdefault(one.name, []).append((int(span[1]), int(span[2]), one))
    joined: list[RawSession] = []
    for excerpts in parts.values():
        excerpts.sort(key=lambda part: part[:2])
        if any(one[1] > two[0] for one, two in pairwise(excerpts)):
            return []
        first, *others = (one for _, _, one in excerpts)
        same = {
            key: said for key, said in first.metadata.items() if all(one.metadata.get(key) == said for one in others)
        }
        notes = tuple(dict.fromkeys(note for one in (first, *others) for note in one.notes))
        rows = [row for one in (first, *others) for row in one.rows]
        joined.append(replace(first, rows=rows, metadata=same, notes=notes))
    return joined


def column_of_sessions(
    source: Source, header: Sequence[str], records: Sequence[Record], *, only: int | None = None
) -> int | None:
    """Return the first column whose cells are nearly all transcripts by themselves."""
    for at in range(len(header)) if only is None else [only]:
        cells = [record[at] for _, record in records[:_SAMPLE] if record[at].strip()]
        if cells and mean(map(len, cells)) > LONGEST_FACT:
            by_lines = _DIALOGUE.search(header[at]) is not None
            read = sum(_is_session(cell, source, by_lines=by_lines) for cell in cells)
            if read >= _ENOUGH * len(cells):
                return at
    return None


def _inside(cell: str, source: Source, *, by_lines: bool) -> Iterator[RawSession]:
    """Yield what a cell holds, in whatever form; lines without labels take turns, if the column is named for it."""
    if messages := marked_messages(cell):
        yield session_of(messages, WEAK).session
        return
    said = _said_by_turns(cell)
    by_turns = len(said) > 1 and not _is_labelled(said)
    text = "\n".join(said) or _lines(_as_json(cell))
    reader = None if by_turns else _reader_of(text, source)
    if reader is None:
        said = said if by_turns or not by_lines else [line.strip() for line in text.split("\n") if line.strip()]
        rows = [Row(f"Speaker {at % 2 + 1}", words, at + 1) for at, words in enumerate(said)]
        yield from [RawSession("", rows, notes=(_BY_TURNS,))] if len(rows) > 1 else []
    else:
        yield from reader.read(Source(source.path, text, source.options, text.encode("utf-8", "replace")))


def _is_labelled(said: Sequence[str]) -> bool:
    return 2 * sum(":" in one[:LONGEST_FACT] for one in said) > len(said)


def _is_session(cell: str, source: Source, *, by_lines: bool) -> bool:
    """Tell a cell that holds a session, at a glance."""
    if marked_messages(cell) or len(_said_by_turns(cell)) > 1:
        return True
    text = _lines(_as_json(cell))
    return (by_lines and "\n" in text.strip()) or _reader_of(text, source) is not None


def _reader_of(text: str, source: Source) -> Reader | None:
    """Return the format that a cell is written in, if it is one with more than one speaker."""
    inside = Source(Path(source.path.stem), text, source.options, text.encode("utf-8", "replace"))
    bids = ((one.sniff(inside), one.name, one) for one in READERS if one.name not in TABLES)
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


def _labelled_rows(table: Grid) -> list[RawSession]:
    """Read a column of words in which the speaker stands before each turn: ``T: ...``."""
    at = table.found["text"]
    if at is None or 2 * sum(":" in record[at][:LONGEST_FACT] for _, record in table.records) < len(table.records):
        return []
    sessions: dict[str, list[tuple[int, str]]] = {}
    for place, record in table.records:
        name = table.session_name(record)
        sessions.setdefault(name, []).extend((place, line) for line in record[at].split("\n"))
    read = [_labelled(table.source, name, lines) for name, lines in sessions.items()]
    return [one for one in read if one is not None] if all(read) else []


def _labelled(source: Source, name: str, lines: list[tuple[int, str]]) -> RawSession | None:
    text = "\n".join(line for _, line in lines)
    reader = _reader_of(text, source)
    if reader is None:
        return None
    try:
        (one,) = reader.read(Source(source.path, text, source.options, text.encode("utf-8", "replace")))
    except (UnreadableFileError, ValueError):
        return None
    rows = [replace(row, place=lines[row.place - 1][0]) for row in one.rows]
    return RawSession(name, rows, one.metadata, one.notes)


def _said_by_turns(cell: str) -> list[str]:
    r"""Return what is said in a cell that lists it, with neither names nor roles, or parts it by marks.

    Examples
    --------
    >>> _said_by_turns("['I am late.', \"It's early.\"]"), _said_by_turns("Hi. __eou__ Hello. __eou__")
    (['I am late.', "It's early."], ['Hi.', 'Hello.'])
    """
    text = cell.strip()
    if text.startswith("[") and len(text) <= _LONGEST_CELL and _STRINGS.fullmatch(text):
        try:
            found = [str(ast.literal_eval(one)) for one in _ONE_STRING.findall(text)]
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return []
        return [words for one in found if (words := one.strip())]
    parts = _BETWEEN.split(text)
    return [words for part in parts if (words := part.strip())] if len(parts) > 1 else []


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
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return cell


_LAYOUTS: Mapping[str, Callable[[Grid], list[RawSession]]] = {
    "alternating": alternating,
    "exchanges": exchanges,
    "questions": questions,
    "cells": _cells,
    "labels": _labelled_rows,
}
