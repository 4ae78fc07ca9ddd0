"""OpenDocument text (``.odt``, ``.fodt``) of LibreOffice and others: read as Word documents are."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import IO
from xml.sax.xmlreader import AttributesNSImpl

from therapy_analytics.readers._base import BINARY, RawSession, Source, reader
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._word_blocks import Block, Builder, Paragraph
from therapy_analytics.readers._xml import Elements, begins_with, walk_through
from therapy_analytics.readers._zip import read_part
from therapy_analytics.readers.word_document import session_of_document

_TEXT_TYPE = b"application/vnd.oasis.opendocument.text"
_BODY, _MANIFEST = re.compile(r"content\.xml"), re.compile(r"META-INF/manifest\.xml")
_AGAIN = "Open it in LibreOffice or another word processor and save it again as .odt or .docx"
_LEFT_OUT: Mapping[tuple[str, str], str] = {
    ("text", "tracked-changes"): "tracked deletions",
    ("text", "note"): "footnotes",
    ("office", "annotation"): "comments",
    ("text", "table-of-content"): "a table of contents",
    ("svg", "title"): "",
    ("svg", "desc"): "",
    ("text", "ruby-text"): "",
    ("office", "forms"): "",
}
"""Elements that hold no words of the talk, and what a note calls them."""
_SPACE = re.compile(r"[ \t\r\n]+")
_BOLD_STYLES = ("strong", "bold")
_BOLD_WEIGHTS = frozenset({"bold", "600", "700", "800", "900"})
_MOST_SPACES = 100


def sniff(source: Source) -> float:
    """Return 1 for an archive that says it is OpenDocument text, and for such text in a single XML file."""
    if source.encoding != BINARY:
        return 1.0 if begins_with(source, "document") and _TEXT_TYPE.decode() in source.head else 0.0
    is_zip = source.data.startswith(b"PK")
    return 1.0 if is_zip and (_TEXT_TYPE in source.data[:200] or b"content.xml" in source.data) else 0.0


@reader("open_document", suffixes=(".odt", ".fodt"), sniff=sniff, one_session=True)
def read_open_document(source: Source) -> Iterator[RawSession]:
    """OpenDocument text with labelled paragraphs or tables; tracked changes as accepted, comments left out."""
    blocks, left_out = _blocks(source)
    session, beside_boxes = session_of_document(source, blocks)
    boxes = [block.text for block in blocks if beside_boxes and isinstance(block, Paragraph) and block.in_box]
    left_out["text boxes"] = sum(len(text.split()) for text in boxes)
    about = tuple(f"{kind.capitalize()} left out ({counted(n, 'word')})." for kind, n in left_out.items() if kind and n)
    yield replace(session, notes=(*session.notes, *about))


class _OpenDocumentBody(Elements):
    """Collects the blocks of ``content.xml``, and counts the words of what is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.builder = build = Builder()
        self.left_out: Counter[str] = Counter()
        self.is_text = False
        self._bold_styles: set[str] = set()
        self._style = ""
        self._bold: list[bool] = []
        self._kind = ""
        self._words: list[str] = []
        self._opening: dict[tuple[str, str], Callable[[], None]] = {
            ("text", "p"): build.open_paragraph,
            ("text", "h"): build.open_paragraph,
            ("text", "tab"): lambda: self._add("\t"),
            ("text", "line-break"): lambda: self._add("\n"),
            ("table", "table"): build.open_table,
            ("table", "table-row"): build.open_row,
            ("table", "table-cell"): build.open_cell,
            ("table", "covered-table-cell"): build.open_cell,
            ("draw", "text-box"): build.open_box,
        }
        self._closing: dict[tuple[str, str], Callable[[], None]] = {
            ("text", "p"): build.close_paragraph,
            ("text", "h"): build.close_paragraph,
            ("table", "table"): build.close_table,
            ("table", "table-row"): build.close_row,
            ("table", "table-cell"): build.close_cell,
            ("table", "covered-table-cell"): build.close_cell,
            ("draw", "text-box"): build.close_box,
        }

    def opened(self, name: tuple[str | None, str], attrs: AttributesNSImpl) -> None:
        """Open an element."""
        key = _short(name)
        if key in _LEFT_OUT:
            self.skipped_from, self._kind, self._words = self.depth, _LEFT_OUT[key], []
        else:
            self._begin(key, {key[1]: value for key, value in attrs.items()})

    def _begin(self, key: tuple[str, str], attrs: Mapping[str, str]) -> None:
        if key in self._opening:
            self._opening[key]()
        if key in {("text", "p"), ("text", "h"), ("text", "span")}:
            style = attrs.get("style-name", "")
            is_bold = style in self._bold_styles or style.lower().startswith(_BOLD_STYLES)
            self._bold.append(is_bold or (key[1] == "span" and self._bold[-1:] == [True]))
        elif key == ("text", "s"):
            self._add(" " * min(int(attrs.get("c", "1")), _MOST_SPACES))
        elif key[0] == "style" and "name" in attrs:
            self._style = attrs["name"]
        elif key == ("style", "text-properties") and attrs.get("font-weight") in _BOLD_WEIGHTS:
            self._bold_styles.add(self._style)
        self.is_text = self.is_text or key == ("office", "text")

    def closed(self, name: tuple[str | None, str]) -> None:
        """Close an element."""
        key = _short(name)
        if key in self._closing:
            self._closing[key]()
        if key in {("text", "p"), ("text", "h"), ("text", "span")}:
            self._bold.pop()

    def left(self) -> None:
        """Count the words of what was left out."""
        self.left_out[self._kind] += len("".join(self._words).split())

    def characters(self, content: str) -> None:
        """Take letters, or keep them to be counted where an element is left out."""
        if self.skipped_from:
            self._words.append(content)
        else:
            self._add(_SPACE.sub(" ", content))

    def _add(self, text: str) -> None:
        self.builder.add(text, bold=self._bold[-1:] == [True])


def _short(name: tuple[str | None, str]) -> tuple[str, str]:
    """Return a name with the last word of its namespace before the version: ``("text", "p")``."""
    space = (name[0] or "").removesuffix(":1.0").replace("-compatible", "")
    return space.rpartition(":")[2], name[1]


def _blocks(source: Source) -> tuple[list[Block], Counter[str]]:
    body = _OpenDocumentBody()

    def take(part: IO[bytes], encoding: str = "") -> bool:
        walk_through(source, part, body, remedy=_AGAIN, encoding=encoding)
        return True

    if source.encoding != BINARY:
        take(io.BytesIO(source.text.encode("utf-8", "replace")), "utf-8")
    elif read_part(source, _MANIFEST, lambda part: b"encryption-data" in part.read()):
        raise source.error("the file is locked by a password", "Save a copy without a password")
    elif not read_part(source, _BODY, take):
        raise source.error("the file has no text of a document in it", _AGAIN)
    if not body.is_text:
        raise source.error(
            "this OpenDocument file is no text document, but a spreadsheet or slides",
            "Save a spreadsheet as CSV or Excel (.xlsx)",
        )
    return body.builder.blocks, body.left_out
