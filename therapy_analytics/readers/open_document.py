"""OpenDocument text (``.odt``, ``.fodt``) of LibreOffice and others: read as Word documents are."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import IO
from xml.sax import ContentHandler, SAXException
from xml.sax.handler import feature_namespaces
from xml.sax.xmlreader import AttributesNSImpl, InputSource

from therapy_analytics.readers._base import BINARY, RawSession, Source, reader
from therapy_analytics.readers._limits import LARGEST_SESSION, refuse_large
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._word_blocks import Block, Builder, Paragraph
from therapy_analytics.readers._word_xml import BeyondMeasureError
from therapy_analytics.readers._xml import begins_with
from therapy_analytics.readers._zip import bounded_zip
from therapy_analytics.readers.word_document import session_of_document

_TEXT_TYPE = b"application/vnd.oasis.opendocument.text"
_BODY, _MANIFEST = "content.xml", "META-INF/manifest.xml"
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
_DEEPEST = 200
_MOST_ELEMENTS = 500_000
_MOST_SPACES = 100


def sniff(source: Source) -> float:
    """Be certain of an archive that says it is OpenDocument text, and of such text in one piece of XML."""
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


class _Body(ContentHandler):
    """Collects the blocks of ``content.xml``, and counts the words of what is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.builder = build = Builder()
        self.left_out: Counter[str] = Counter()
        self.is_text = False
        self._bold_styles: set[str] = set()
        self._style = ""
        self._bold: list[bool] = []
        self._skipped_from = self._depth = self._n_elements = 0
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

    def startElementNS(  # noqa: N802 (the name that the parser calls)
        self, name: tuple[str | None, str], _qname: str | None, attrs: AttributesNSImpl
    ) -> None:
        """Open an element."""
        self._depth += 1
        self._n_elements += 1
        if self._depth > _DEEPEST or self._n_elements > _MOST_ELEMENTS:
            raise BeyondMeasureError
        key = _short(name)
        if self._skipped_from:
            return
        if key in _LEFT_OUT:
            self._skipped_from, self._kind, self._words = self._depth, _LEFT_OUT[key], []
            return
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

    def endElementNS(  # noqa: N802 (the name that the parser calls)
        self, name: tuple[str | None, str], _qname: str | None
    ) -> None:
        """Close an element."""
        self._depth -= 1
        key = _short(name)
        if self._skipped_from:
            if self._depth < self._skipped_from:
                self.left_out[self._kind] += len("".join(self._words).split())
                self._skipped_from = 0
            return
        if key in self._closing:
            self._closing[key]()
        if key in {("text", "p"), ("text", "h"), ("text", "span")}:
            self._bold.pop()

    def characters(self, content: str) -> None:
        """Take letters; in a part that is left out, they are counted."""
        if self._skipped_from:
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
    if source.encoding != BINARY:
        return _parsed(source, io.BytesIO(source.text.encode("utf-8", "replace")), encoding="utf-8")
    try:
        with bounded_zip(source) as archive:
            names = {part.filename: part for part in archive.infolist()}
            if _BODY not in names:
                raise source.error("the file has no text of a document in it", _AGAIN)
            if _MANIFEST in names and b"encryption-data" in archive.read(_MANIFEST):
                raise source.error("the file is locked by a password", "Save a copy without a password")
            refuse_large(str(source.path), names[_BODY].file_size, LARGEST_SESSION, packed=True)
            with archive.open(_BODY) as part:
                return _parsed(source, part)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError):
        raise source.error("the file is damaged or breaks off", _AGAIN) from None


def _parsed(source: Source, part: IO[bytes], encoding: str | None = None) -> tuple[list[Block], Counter[str]]:
    from defusedxml import DefusedXmlException  # noqa: PLC0415 (only few documents need it)
    from defusedxml.sax import make_parser  # noqa: PLC0415

    parser, body = make_parser(), _Body()
    parser.forbid_dtd = True
    parser.setFeature(feature_namespaces, True)
    parser.setContentHandler(body)
    document = InputSource()
    document.setByteStream(part)
    document.setEncoding(encoding)
    try:
        parser.parse(document)
    except DefusedXmlException:
        raise source.error("the file declares entities or a document type, which can do harm", _AGAIN) from None
    except BeyondMeasureError:
        raise source.error("the document has more parts than any transcript", "Split it into smaller files") from None
    except (SAXException, ValueError, LookupError):
        raise source.error("the text of the document is damaged", _AGAIN) from None
    if not body.is_text:
        raise source.error(
            "this OpenDocument file is no text document, but a spreadsheet or slides",
            "Save a spreadsheet as CSV or Excel (.xlsx)",
        )
    return body.builder.blocks, body.left_out
