"""Tables of turns in text (CSV, TSV), whatever the delimiter; a file that breaks off is noticed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from therapy_analytics.core.cells import restored
from therapy_analytics.core.printable import counted
from therapy_analytics.readers._cells import column_of_sessions
from therapy_analytics.readers._chat_markup import begins_marked
from therapy_analytics.readers._columns import MOST_COLUMNS, Record, find_columns, may_be_header
from therapy_analytics.readers._contents import speaker_and_text
from therapy_analytics.readers._table import (
    HEADER_WITHIN,
    Table,
    filled,
    header_place,
    header_without,
    names_a_transcript,
    read_table,
)
from therapy_analytics.readers._wide import names_talk
from therapy_analytics.readers.base import RawSession, Source, reader

_DELIMITERS = ",\t;|"
_TOP = 16_384
_END = "end of the table"
_LEFT_OPEN = f"\n{_END}"
_SEP = re.compile(r"\A\"?sep=(.)\"?\n", re.IGNORECASE)
_LONGEST_NAME = 60
_NO_NAME = frozenset(":.?!")
_FEWEST = 4
_RULE = re.compile(r":?-+:?|=+")
_SUFFIXES = (".csv", ".tsv")
_OURS = ("turn", "speaker", "role", "start_s", "end_s", "text")
"""The first columns of tables that ``tanalyze convert`` writes, in which formulas are defused (see `cells`)."""


def sniff(source: Source) -> float:
    """Return how certain a table is: by columns that the user names, by known names, by the shape of its rows."""
    if begins_marked(source.head):
        return 0.0
    delimiter, rows = _top(source)
    by_suffix = source.path.suffix.lower() in _SUFFIXES
    if not any(map(may_be_header, rows)):
        return 0.6 if by_suffix else 0.0
    header = rows[0]
    if _has_columns(rows, source.options.columns, by_number=by_suffix or delimiter != ","):
        return 0.97
    known = find_columns(header, {}, loosely=False)
    if known.get("text") is not None and known.get("speaker") is not None:
        return 0.9
    if may_be_header(header) and names_talk(header) and all(len(row) == len(header) for row in rows[1:4]):
        return 0.85
    return max(0.6 * by_suffix, _by_shape(source, rows, delimiter, by_suffix=by_suffix))


def _by_shape(source: Source, rows: list[list[str]], delimiter: str, *, by_suffix: bool) -> float:
    """Tell a table whose columns have names of their own by its rows, and by what they hold."""
    if not by_suffix and _breaks_off(source.head, delimiter):
        return 0.0
    named, even = _names_columns(rows[0]), _is_even(rows)
    by_content = even and (by_suffix or delimiter != ",")  # most texts have commas
    sure = (
        (named and _holds_sessions(source, rows))
        or (even and by_suffix and named)
        or (by_content and _holds_talk(rows))
    )
    return 0.8 * sure


def _breaks_off(head: str, delimiter: str) -> bool:
    """Tell a short text in which a quotation mark is never closed: there it is a mark of the words, not of a cell."""
    *_, last = csv.reader(io.StringIO(f"{head.rstrip()}{_LEFT_OPEN}", newline=""), delimiter=delimiter)
    return len(head) < _TOP and last != [_END]


def _has_columns(rows: list[list[str]], wanted: Mapping[str, str], *, by_number: bool) -> bool:
    """Return whether a row names all columns of the user; numbers, which would fit any text, need even rows."""
    numbers = all(name.isdecimal() for name in wanted.values())
    if not wanted or (numbers and not (by_number and _is_even(rows))):
        return False
    found = [find_columns(row, wanted) for row in rows if len(row) > 1]
    return any(all(row[kind] is not None for kind in wanted) for row in found)


def _is_even(rows: list[list[str]]) -> bool:
    """Return whether all rows are as wide as the first, apart from the last, which may be cut off."""
    width = len(rows[0])
    return width > 1 and len(rows) > 1 and all(len(row) == width for row in rows[1:-1] or rows)


def _names_columns(header: list[str]) -> bool:
    """Tell names of columns from the first line of a talk: no labels of speakers, no sentences, no numbers."""
    short = all(len(name) <= _LONGEST_NAME and ": " not in name for name in header)
    return short and not any(name.strip().isdecimal() or name.rstrip()[-1:] in _NO_NAME for name in header)


def _holds_talk(rows: list[list[str]]) -> bool:
    """Tell a table by what its columns hold, where there are rows enough to tell; the last may be cut."""
    even = rows[:-1] if len(rows[-1]) != len(rows[0]) else rows
    if len(even) < _FEWEST:
        return False
    return bool(header_without(even)) or speaker_and_text(even[0], even[1:], find_columns(even[0], {})) is not None


@reader("delimited", suffixes=_SUFFIXES, sniff=sniff)
def read_delimited(source: Source) -> Iterator[RawSession]:
    """CSV or TSV with a row an utterance, an exchange or a session; columns are found by their names."""
    delimiter, first = _top(source)
    header = header_without(first, source.options.columns)
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
    """Return a text without byte order mark, NULs, and the line ``sep=;`` of Excel."""
    return _SEP.sub("\n", text.lstrip("\ufeff").replace("\0", ""), count=1)


def _top(source: Source) -> tuple[str, list[list[str]]]:
    """Return the delimiter that splits the header into the most known columns, then the most, and its first rows."""
    named = _SEP.match(source.head.lstrip("\ufeff"))
    top = _plain(source.head[:_TOP])
    possible = named[1] if named else _DELIMITERS[0] + "".join(one for one in _DELIMITERS[1:] if one in top)
    rows = {delimiter: _first_rows(top, delimiter) for delimiter in possible}
    best = max(rows, key=lambda delimiter: _worth(rows[delimiter])) if len(rows) > 1 else possible
    return best, rows[best]


def _first_rows(top: str, delimiter: str) -> list[list[str]]:
    """Return some rows from the top; the last may be cut off."""
    csv.field_size_limit(2**31 - 1)
    rows = csv.reader(io.StringIO(top, newline=""), delimiter=delimiter)
    return list(islice(filter(None, rows), HEADER_WITHIN))


def _worth(rows: list[list[str]]) -> tuple[bool, int, bool, int]:
    """Return how well a delimiter splits rows, the most telling first.

    Whether the header names a transcript, how many columns of it are known, whether all rows have as many cells, how
    many columns have a name.
    """
    header = rows[header_place(rows)] if rows else []
    n_named = sum(any(map(str.isalnum, name)) for name in header)
    if not may_be_header(header):
        return False, 0, False, n_named
    n_known = sum(at is not None for at in find_columns(header, {}, loosely=False).values())
    is_even = all(len(row) == len(header) for row in rows[1:-1])
    return names_a_transcript(header), n_known, is_even, n_named


def _records(source: Source, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows; a line put after the last one shows whether a quotation is left open."""
    text = _plain(source.text).rstrip("\n")
    if delimiter == "\t" and '"' in text and (lines := _of_one_line_each(text)):
        yield from lines
        return
    rows = csv.reader(_lines(text), delimiter=delimiter)
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


def _of_one_line_each(text: str) -> list[list[str]]:
    """Return the rows of a table with tabs if all are equally wide without quoting: quotation marks are then words'."""
    rows = [line.split("\t") for line in text.split("\n") if line.strip()]
    if any(len(row) != len(rows[0]) for row in rows):
        return []
    return [[_unquoted(cell) for cell in row] for row in rows]


def _unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if quoted else cell


def _lines(text: str) -> Iterator[str]:
    """Yield the lines, and one after the last."""
    yield from (line[0] for line in re.finditer(r".*\n", f"{text}\n"))
    yield _END


def _table(header: list[str], rows: Iterable[list[str]], delimiter: str) -> Table:
    """Make the rows as wide as the header.

    Cells beyond the header are delimiters in words that nobody quoted, where the words stand last.
    """
    width = len(header)
    words_last = find_columns(header, {})["text"] == width - 1
    records: list[Record] = []
    too_long = n_words = 0
    for place, record in enumerate(rows, start=1):
        if len(record) != width:
            extra = any(cell.strip() for cell in record[width:])
            too_long += extra
            n_words += sum(len(cell.split()) for cell in record[width:])
            if extra and words_last:
                record[width - 1 :] = [delimiter.join(record[width - 1 :])]
            record[:] = record[:width] + [""] * (width - len(record))
        records.append((place, record))
    what = "are taken as words" if words_last else f"were left out ({counted(n_words, 'word')})"
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
