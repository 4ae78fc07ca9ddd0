"""The accepted text of a Word document: paragraphs and rows of tables, one after another.

By hand on a safe parser, because python-docx drops words that were inserted with tracked
changes on, and holds the whole document in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO
from xml.sax import ContentHandler
from xml.sax.handler import feature_namespaces
from xml.sax.xmlreader import AttributesNSImpl

_WORD = frozenset(
    {
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
    }
)
_FALLBACK = ("http://schemas.openxmlformats.org/markup-compatibility/2006", "Fallback")
_LEFT_OUT_TAGS = """
del moveFrom delText instrText delInstrText rPrChange pPrChange tcPrChange trPrChange tblPrChange tblPrExChange
sectPrChange tblGridChange numberingChange sectPr tblPr tblGrid
"""
_LEFT_OUT = frozenset(_LEFT_OUT_TAGS.split())
"""What the accepted text does not have: deleted and moved words, formats that were, commands of fields."""
_LETTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_PROPERTIES = frozenset({"pPr", "rPr", "trPr", "sdtPr"})
_BOLD_STYLES = frozenset({"strong", "bold", "intenseemphasis", "fett", "heading1char", "heading2char"})
_DEEPEST = 200
_MOST_ELEMENTS = 500_000


class BeyondMeasureError(Exception):
    """More elements, in all or inside each other, than a transcript has."""


@dataclass(slots=True)
class Paragraph:
    """A paragraph with its place, its text, and how many letters of its beginning are bold."""

    place: int = 0
    text: str = field(default="", repr=False)
    n_bold: int = 0


@dataclass(slots=True)
class TableRow:
    """A row of a table with its place and the text of each cell."""

    place: int
    table: int
    cells: list[str] = field(repr=False)


Block = Paragraph | TableRow


@dataclass(slots=True)
class _Draft:
    """A paragraph while it is read."""

    place: int
    pieces: list[tuple[str, bool]]
    joins_next: bool = False


@dataclass(slots=True)
class _Table:
    """A table while it is read: its rows so far, and the cells of the row that is open."""

    number: int
    cells: list[list[Paragraph]] = field(default_factory=list)
    row_is_deleted: bool = False
    inside: list[Paragraph] = field(default_factory=list)


class BodyHandler(ContentHandler):
    """Collects the blocks of ``word/document.xml`` and counts what is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self.counts: Counter[str] = Counter()
        self._depth = self._skipped_from = self._places = self._n_tables = self._n_elements = 0
        self._drafts: list[_Draft] = []
        self._tables: list[_Table] = []
        self._joined: list[tuple[str, bool]] = []
        self._joined_from = 0
        self._properties = ""
        self._bold = self._hidden = self._in_text = self._is_prompt = False
        self._opening: dict[str, Callable[[], object]] = {
            "p": self._open_paragraph,
            "r": self._open_run,
            "tbl": self._open_table,
            "tr": self._open_row,
            "tc": self._open_cell,
        }
        self._closing: dict[str, Callable[[], object]] = {
            "p": self._close_paragraph,
            "tc": self._close_cell,
            "tr": self._close_row,
            "tbl": self._tables.pop,
        }

    def startElementNS(self, name: tuple[str | None, str], qname: str | None, attrs: AttributesNSImpl) -> None:  # noqa: N802, ARG002
        """Open an element."""
        self._depth += 1
        self._n_elements += 1
        if self._depth > _DEEPEST or self._n_elements > _MOST_ELEMENTS:
            raise BeyondMeasureError
        if self._skipped_from:
            return
        if name == _FALLBACK:
            self._skipped_from = self._depth
        elif name[0] in _WORD:
            self._open(name[1], attrs)

    def endElementNS(self, name: tuple[str | None, str], qname: str | None) -> None:  # noqa: N802, ARG002
        """Close an element."""
        if self._skipped_from == self._depth:
            self._skipped_from = 0
        elif not self._skipped_from and name[0] in _WORD:
            self._close(name[1])
        self._depth -= 1

    def characters(self, content: str) -> None:
        """Take letters, where they are words."""
        if self._in_text and not self._skipped_from:
            self._add(content)

    def _open(self, tag: str, attrs: AttributesNSImpl) -> None:
        if tag == "t":
            self._in_text = True
        elif tag in self._opening:
            self._opening[tag]()
        elif tag in _PROPERTIES:
            self._properties = self._properties or tag  # those of a run may stand inside those of a paragraph
        elif tag in _LEFT_OUT or (tag == "sdtContent" and self._is_prompt):
            self._leave_out(tag)
        elif self._properties:
            self._note_property(tag, next((value for (_, key), value in attrs.items() if key == "val"), "true"))
        elif tag in _LETTERS:
            self._add(_LETTERS[tag])
        else:
            self.counts[tag] += tag.endswith("Reference")

    def _close(self, tag: str) -> None:
        if tag == "t":
            self._in_text = False
        elif tag in self._closing:
            self._closing[tag]()
        elif tag == self._properties:
            self._properties = ""

    def _leave_out(self, tag: str) -> None:
        """Skip an element. Where it marks the end of a paragraph, or a row, as deleted, that goes."""
        self._skipped_from, self._is_prompt = self._depth, False
        if tag not in {"del", "moveFrom"}:
            return
        if self._properties == "pPr" and self._drafts:
            self._drafts[-1].joins_next = True
        elif self._properties == "trPr" and self._tables:
            self._tables[-1].row_is_deleted = True
        self.counts["change"] += 1

    def _note_property(self, tag: str, value: str) -> None:
        on = value not in {"0", "false", "off"}
        if self._properties == "sdtPr":
            self._is_prompt = self._is_prompt or (tag == "showingPlcHdr" and on)
        elif self._properties == "rPr" and tag == "b":
            self._bold = on
        elif self._properties == "rPr" and tag == "rStyle":
            self._bold = self._bold or value.lower() in _BOLD_STYLES
        elif self._properties == "rPr" and tag == "vanish":
            self._hidden = on

    def _add(self, text: str) -> None:
        if self._drafts and not self._hidden:
            self._drafts[-1].pieces.append((text, self._bold))
        self.counts["hidden"] += self._hidden

    def _open_run(self) -> None:
        self._bold = self._hidden = False

    def _open_paragraph(self) -> None:
        self._places += not self._tables
        self._drafts.append(_Draft(self._joined_from or self._places, self._joined))
        self._joined, self._joined_from = [], 0

    def _close_paragraph(self) -> None:
        draft = self._drafts.pop()
        if draft.joins_next:
            self._joined, self._joined_from = draft.pieces, draft.place
            return
        paragraph = _finished(draft)
        if self._tables:
            self._tables[-1].inside.append(paragraph)
        else:
            self.blocks.append(paragraph)

    def _open_table(self) -> None:
        self._n_tables += 1
        self._tables.append(_Table(self._n_tables))

    def _open_row(self) -> None:
        for table in self._tables[-1:]:
            table.cells, table.row_is_deleted = [], False

    def _open_cell(self) -> None:
        for table in self._tables[-1:]:
            table.inside = []

    def _close_cell(self) -> None:
        for table in self._tables[-1:]:
            table.cells.append(table.inside)

    def _close_row(self) -> None:
        """Hand over a row; one of a single cell is a frame around paragraphs, one of a table in a cell is its words."""
        if not self._tables:
            return
        *outer, table = self._tables
        if table.row_is_deleted or not table.cells:
            self._places += not outer
        elif outer and len(table.cells) > 1:
            outer[-1].inside.append(Paragraph(0, "\t".join(map(_joined_text, table.cells))))
        elif outer:
            outer[-1].inside.extend(table.cells[0])
        elif len(table.cells) == 1:
            for paragraph in table.cells[0]:
                self._places += 1
                paragraph.place = self._places
                self.blocks.append(paragraph)
        else:
            self._places += 1
            self.blocks.append(TableRow(self._places, table.number, list(map(_joined_text, table.cells))))


def _joined_text(paragraphs: list[Paragraph]) -> str:
    return "\n".join(paragraph.text for paragraph in paragraphs).strip()


def _finished(draft: _Draft) -> Paragraph:
    n_bold = 0
    for text, bold in draft.pieces:
        if not bold and text.strip():
            break
        n_bold += len(text) if bold else 0
    text = "".join(piece for piece, _ in draft.pieces)
    return Paragraph(draft.place, text.replace("\xa0", " "), n_bold)


def word_blocks(part: IO[bytes]) -> tuple[list[Block], Counter[str]]:
    """Read ``document.xml``.

    Parameters
    ----------
    part : file
        Open for reading bytes.

    Returns
    -------
    list of Paragraph or TableRow
        In order.
    Counter
        How many ``commentReference``, ``footnoteReference``, ``endnoteReference``, ``change``
        and ``hidden`` pieces were left out.

    Raises
    ------
    BeyondMeasureError, xml.sax.SAXException, defusedxml.DefusedXmlException
        It is not what a word processor writes.
    """
    from defusedxml.sax import make_parser  # noqa: PLC0415 (only Word files need it)

    parser, handler = make_parser(), BodyHandler()
    parser.forbid_dtd = True
    parser.setFeature(feature_namespaces, True)
    parser.setContentHandler(handler)
    parser.parse(part)
    return handler.blocks, handler.counts
