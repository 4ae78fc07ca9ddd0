"""Tables of turns in text (CSV, TSV): the delimiter is found, and so is the end of a broken file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from therapy_analytics.cells import restored
from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._columns import MOST_COLUMNS, find_columns, may_be_header
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._table import (
    HEADER_WITHIN,
    Record,
    Table,
    filled,
    header_place,
    header_without,
    read_table,
)
from therapy_analytics.readers._wide import column_of_sessions, names_talk

_DELIMITERS = ",\t;|"
_TOP = 16_384
_BLOCK = 2**20
_END = "end of the table"
_LEFT_OPEN = f"\n{_END}"
_SEP = re.compile(r"\A\"?sep=(.)\"?\n", re.IGNORECASE)
_RULE = re.compile(r":?-+:?|=+")
_SUFFIXES = (".csv", ".tsv")
_OURS = ("turn", "speaker", "role", "start_s", "end_s", "text")
"""How a table begins that ``tanalyze convert`` wrote, whose cells are written so that no spreadsheet runs them."""


def sniff(source: Source) -> float:
    """Be sure of a first line that names columns of words and of speakers; trust the suffix otherwise."""
    _, rows = _top(source)
    if not any(map(may_be_header, rows)) and source.path.suffix.lower() not in _SUFFIXES:
        return 0.0
    known = find_columns(rows[0], {}, loosely=False) if rows else {}
    if known.get("text") is not None and known.get("speaker") is not None:
        return 0.9
    if rows and may_be_header(rows[0]) and names_talk(rows[0]) and all(len(row) == len(rows[0]) for row in rows[1:4]):
        return 0.85
    if _holds_sessions(source, rows):
        return 0.8
    return 0.6 if source.path.suffix.lower() in _SUFFIXES else 0.0


@reader("delimited", suffixes=_SUFFIXES, sniff=sniff)
def read_delimited(source: Source) -> Iterator[RawSession]:
    """CSV or TSV with a row an utterance, an exchange or a session; columns are found by their names."""
    delimiter, first = _top(source)
    header = header_without(first)
    above = 0 if header else header_place(first)
    records: Iterator[list[str]] = islice(_records(source, delimiter), above, None)
    header = header or next(records, [])
    if tuple(header[: len(_OURS)]) == _OURS:
        records = (list(map(restored, record)) for record in records)
    if len(header) > MOST_COLUMNS:  # to make every row as wide would take the machine's memory
        problem = f"the first row has {len(header)} cells; a table of more than {MOST_COLUMNS} columns is not read"
        raise source.error(problem, "Keep the columns with session, speaker and words", line=1)
    yield from read_table(source, _table(header, records, delimiter))


def _plain(text: str) -> str:
    """Leave out what is no part of the table: a mark of the encoding, NULs, the line in which Excel says ``sep=;``."""
    return _SEP.sub("\n", text.lstrip("\ufeff").replace("\0", ""), count=1)


def _top(source: Source) -> tuple[str, list[list[str]]]:
    """Return the delimiter that splits the header into the most known columns, then the most, and its first rows."""
    said = _SEP.match(source.head.lstrip("\ufeff"))
    top = _plain(source.head[:_TOP])
    possible = said[1] if said else _DELIMITERS[0] + "".join(one for one in _DELIMITERS[1:] if one in top)
    rows = {delimiter: _first_rows(top, delimiter) for delimiter in possible}
    best = max(rows, key=lambda delimiter: _worth(rows[delimiter])) if len(rows) > 1 else possible
    return best, rows[best]


def _first_rows(top: str, delimiter: str) -> list[list[str]]:
    """Return some rows from the top; the last may be cut off."""
    csv.field_size_limit(2**31 - 1)
    rows = csv.reader(io.StringIO(top, newline=""), delimiter=delimiter)
    return list(islice(filter(None, rows), HEADER_WITHIN))


def _worth(rows: list[list[str]]) -> tuple[int, int]:
    header = rows[header_place(rows)] if rows else []
    if not may_be_header(header):
        return 0, len(header)
    return sum(at is not None for at in find_columns(header, {}, loosely=False).values()), len(header)


def _records(source: Source, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows; a line put after the last one shows whether a quotation is left open."""
    rows = csv.reader(_lines(_plain(source.text).rstrip("\n")), delimiter=delimiter)
    begin = 1
    for record in rows:
        if record == [_END]:
            return
        if record and record[-1].endswith(_LEFT_OPEN):
            break
        if record:
            yield record
        begin = rows.line_num + 1
    raise source.error(
        "a quotation mark that opens a cell in this row is never closed, or the file breaks off",
        "Close it, or save the table again as CSV (UTF-8)",
        line=begin,
    )


def _lines(text: str) -> Iterator[str]:
    """Yield the lines, and one after the last; some at a time, for `io.StringIO` takes four bytes for each letter."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin + _BLOCK) + 1 or len(text)
        yield from io.StringIO(text[begin:end] if end < len(text) else f"{text[begin:]}\n", newline="")
        begin = end
    yield _END


def _table(header: list[str], rows: Iterable[list[str]], delimiter: str) -> Table:
    """Make the rows as wide as the header.

    Cells beyond the header are delimiters in words that nobody quoted, where the words stand last.
    """
    width = len(header)
    words_last = find_columns(header, {})["text"] == width - 1
    records: list[Record] = []
    too_long = 0
    for place, record in enumerate(rows, start=1):
        if len(record) != width:
            extra = any(cell.strip() for cell in record[width:])
            too_long += extra
            if extra and words_last:
                record[width - 1 :] = [delimiter.join(record[width - 1 :])]
            record[:] = record[:width] + [""] * (width - len(record))
        records.append((place, record))
    what = "are taken as words" if words_last else "were left out"
    note = f"{counted(too_long, 'row')} of the file with more cells than the header; those {what}."
    if delimiter == "|" and records and _is_rule(records[0][1]):
        del records[0]
    return Table(header, filled(header, records), notes=(note,) if too_long else ())


def _is_rule(record: list[str]) -> bool:
    """Tell the rule below the header of a Markdown table."""
    cells = [cell.strip() for cell in record if cell.strip()]
    return len(cells) > 1 and all(map(_RULE.fullmatch, cells))


def _holds_sessions(source: Source, rows: list[list[str]]) -> bool:
    """Tell a table of whole sessions, one in a cell, from a text with labels and commas; the last row may be cut."""
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows[1:-1]):
        return False
    width = len(rows[0])
    records = [(place, row[:width] + [""] * (width - len(row))) for place, row in enumerate(rows[1:], start=1)]
    return column_of_sessions(source, rows[0], records) is not None
