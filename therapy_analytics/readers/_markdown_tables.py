"""Tables in Markdown: lines of cells between bars, a line of dashes below the header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from therapy_analytics.readers._word_blocks import TableRow

_ROW = re.compile(r"[ \t>]*\|(?P<cells>.*)\|[ \t]*$")
_BELOW_HEADER = re.compile(r"[ \t>]*+\|?(?:[ \t]*+:?-++:?[ \t]*+\|)+(?:[ \t]*+:?-++:?[ \t]*+)?$")
_BAR = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_STARS = re.compile(r"\A(\*\*|__|\*|_)(.*)\1\Z")


def markdown_rows(lines: Sequence[str]) -> list[TableRow]:
    """Return the rows of all tables of a text, each with the number of its line.

    Examples
    --------
    >>> [row.cells for row in markdown_rows(["| Who | Said |", "| --- | --- |", "| **T** | Hello. |"])]
    [['Who', 'Said'], ['T', 'Hello.']]
    """
    below = [at for at, line in enumerate(lines) if "-" in line and "|" in line and _BELOW_HEADER.fullmatch(line)]
    return [row for number, at in enumerate(below, start=1) for row in _table(lines, at, number)]


def _table(lines: Sequence[str], below_header: int, number: int) -> Iterator[TableRow]:
    for at in range(max(below_header - 1, 0), len(lines)):
        match = _ROW.match(lines[at])
        if match is None:
            return
        if at != below_header:
            yield TableRow(at + 1, number, [_cell(cell) for cell in _BAR.split(match["cells"])])


def _cell(written: str) -> str:
    text = _BREAK.sub("\n", written.replace("\\|", "|")).strip()
    return _STARS.sub(r"\2", text)
