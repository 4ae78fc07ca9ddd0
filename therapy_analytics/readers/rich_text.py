"""Rich Text Format (``.rtf``), as TextEdit and older programs save documents: its text, read as labelled text is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.readers.base import RawSession, Source, begins, reader
from therapy_analytics.readers.labelled_text import session_of

_ROW = re.compile(r"^(?P<label>[^|\n]{1,60}?):?[ \t]*\|(?P<words>[^|\n]*)\|$", re.MULTILINE)
"""A row of two cells, as the library writes it."""
_OPEN_FONT = re.compile(r"\\fcharset(?![^;{}\\]{0,200};)")
_LONGEST_FONTS = 20_000
"""Letters of a font table: the library takes minutes for longer ones, which no program writes."""


@reader("rich_text", suffixes=(".rtf",), sniff=begins(r"[\ufeff \n]*\{\\rtf"), one_session=True)
def read_rich_text(source: Source) -> Iterator[RawSession]:
    """Rich text with labelled paragraphs, or a table of labels and words; pictures and footnotes are left out."""
    yield session_of(source, _plain(source))


def _plain(source: Source) -> str:
    """Return the text without its format; letters beyond 16 bits, which stand as halves in the file, are joined."""
    from striprtf.striprtf import font_table_group, rtf_to_text  # noqa: PLC0415 (read by few)

    rich = _OPEN_FONT.sub("", source.text)
    if len(font_table_group(rich)) > _LONGEST_FONTS:
        rich = rich.replace("\\fonttbl", "\\colortbl")
    try:
        text: str = rtf_to_text(rich, errors="replace")
    except (ArithmeticError, LookupError, TypeError, ValueError):
        problem = "the document is broken or breaks off"
        raise source.error(problem, "Open it in a word processor and save it again, as .docx or text") from None
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _ROW.sub(r"\g<label>: \g<words>", text)
