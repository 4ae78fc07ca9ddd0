"""Parts of a large text file, from line to line."""

from __future__ import annotations

from dataclasses import replace
from typing import IO

from therapy_analytics.readers._base import Part, Source, decoded, refuse_binary
from therapy_analytics.readers._limits import LARGEST_FILE, refuse_large
from therapy_analytics.readers._paths import open_binary

_BLOCK = 2**20


def line_after(file: IO[bytes], at: int) -> int:
    """Return the offset in bytes of the first line that begins after an offset; the end of the file if none does."""
    file.seek(at)
    while block := file.read(_BLOCK):
        end = block.find(b"\n")
        if end >= 0:
            return at + end + 1
        at += len(block)
    return at


def part_of_text(source: Source, part: Part) -> Source:
    """Return a source with the text of one part.

    Raises
    ------
    UnreadableFileError
        It is no text, its letters cannot be decoded, or a single line of it is too large.
    """
    refuse_large(str(source.path), part.end - part.begin, LARGEST_FILE)
    with open_binary(source.place) as file:
        file.seek(part.begin)
        data = file.read(part.end - part.begin)
    if not data.strip():
        return replace(source, text="", data=b"")
    read = decoded(source.path, data, source.options)
    refuse_binary(read)
    return replace(read, place=source.place, part=part)


def lines_before(source: Source) -> int:
    """Return the number of lines of the file before the part; only errors need it."""
    if source.part is None:
        return 0
    count, left = 0, source.part.begin
    with open_binary(source.place) as file:
        while left > 0 and (block := file.read(min(_BLOCK, left))):
            left -= len(block)
            if block.endswith(b"\r") and left:
                block += file.read(1)
                left -= 1
            count += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
    return count
