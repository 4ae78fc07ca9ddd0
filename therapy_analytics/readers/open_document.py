"""OpenDocument text (``.odt``, ``.fodt``) of LibreOffice and others: read as Word documents are."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import IO
from xml.etree.ElementTree import Element

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._word_blocks import Block, BlockReader, Context, Name, Paragraph, office_tree
from therapy_analytics.readers._xml import begins_with
from therapy_analytics.readers._zip import read_part
from therapy_analytics.readers.base import BINARY, RawSession, Source, reader
from therapy_analytics.readers.word_document import session_of_document

_TEXT_TYPE = b"application/vnd.oasis.opendocument.text"
_BODY, _MANIFEST = re.compile(r"content\.xml"), re.compile(r"META-INF/manifest\.xml")
_AGAIN = "Open it in LibreOffice or another word processor and save it again as .odt or .docx"
_LEFT_OUT = {
    "text:tracked-changes": "tracked deletions",
    "text:note": "footnotes",
    "office:annotation": "comments",
    "text:table-of-content": "a table of contents",
    **dict.fromkeys(("svg:title", "svg:desc", "text:ruby-text", "office:forms"), ""),
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


class _OpenDocumentReader(BlockReader):
    """Reads ``content.xml``, and counts the words of what is left out."""

    def __init__(self, root: Element) -> None:
        super().__init__()
        self.left_out: Counter[str] = Counter()
        self.bold_styles = _bold_styles(root)
        self.kinds = {
            **dict.fromkeys(("text:p", "text:h"), self._paragraph),
            "text:span": self._span,
            "text:s": lambda element, at: self.add(" " * min(int(element.get("c", "1")), _MOST_SPACES), at),
            "text:tab": lambda _, at: self.add("\t", at),
            "text:line-break": lambda _, at: self.add("\n", at),
            "table:table": self.table,
            "table:table-row": self.row,
            **dict.fromkeys(("table:table-cell", "table:covered-table-cell"), self.cell),
            "draw:text-box": self.box,
            **dict.fromkeys(_LEFT_OUT, self._leave_out),
        }

    def letters(self, text: str, at: Context) -> None:
        """Add letters to the paragraph; white space is one space."""
        self.add(_SPACE.sub(" ", text), at)

    def _paragraph(self, element: Element, at: Context) -> None:
        self.paragraph(element, at._replace(bold=self._is_bold(element)))

    def _span(self, element: Element, at: Context) -> None:
        self.inside(element, at._replace(bold=at.bold or self._is_bold(element)))

    def _is_bold(self, element: Element) -> bool:
        style = element.get("style-name", "")
        return style in self.bold_styles or style.lower().startswith(_BOLD_STYLES)

    def _leave_out(self, element: Element, _at: Context) -> None:
        self.left_out[_LEFT_OUT[element.tag]] += len("".join(element.itertext()).split())


def _bold_styles(root: Element) -> set[str]:
    found: set[str] = set()
    style = ""
    for element in root.iter():
        if element.tag.startswith("style:"):
            style = element.get("name", style)
            if element.tag == "style:text-properties" and element.get("font-weight") in _BOLD_WEIGHTS:
                found.add(style)
    return found


def _plain(name: Name) -> str:
    """Return a tag with the last word of its namespace before the version: ``text:p``."""
    space = (name[0] or "").removesuffix(":1.0").replace("-compatible", "")
    return f"{space.rpartition(':')[2]}:{name[1]}"


def _blocks(source: Source) -> tuple[list[Block], Counter[str]]:
    def tree(part: IO[bytes], encoding: str = "") -> Element:
        return office_tree(source, part, _plain, remedy=_AGAIN, encoding=encoding)

    if source.encoding != BINARY:
        root: Element | None = tree(io.BytesIO(source.text.encode("utf-8", "replace")), "utf-8")
    elif read_part(source, _MANIFEST, lambda part: b"encryption-data" in part.read()):
        raise source.error("the file is locked by a password", "Save a copy without a password")
    else:
        root = read_part(source, _BODY, tree)
    if root is None:
        raise source.error("the file has no text of a document in it", _AGAIN)
    if next(root.iter("office:text"), None) is None:
        raise source.error(
            "this OpenDocument file is no text document, but a spreadsheet or slides",
            "Save a spreadsheet as CSV or Excel (.xlsx)",
        )
    document = _OpenDocumentReader(root)
    document.read(root, Context())
    return document.blocks, document.left_out
