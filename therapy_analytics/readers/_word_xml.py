"""The accepted text of a Word document: paragraphs and rows of tables, one after another.

By hand on a safe parser, because python-docx drops words that were inserted with tracked
changes on, and holds the whole document in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import IO
from xml.sax import ContentHandler
from xml.sax.handler import feature_namespaces
from xml.sax.xmlreader import AttributesNSImpl

from therapy_analytics.readers._word_blocks import Block, Builder

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


class BodyHandler(ContentHandler):
    """Collects the blocks of ``word/document.xml`` and counts what is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.builder = build = Builder()
        self._depth = self._skipped_from = self._n_elements = 0
        self._properties = ""
        self._bold = self._hidden = self._in_text = self._is_prompt = False
        self._opening: dict[str, Callable[[], None]] = {
            "p": build.open_paragraph,
            "r": self._open_run,
            "tbl": build.open_table,
            "tr": build.open_row,
            "tc": build.open_cell,
            "txbxContent": build.open_box,
        }
        self._closing: dict[str, Callable[[], None]] = {
            "p": build.close_paragraph,
            "tc": build.close_cell,
            "tr": build.close_row,
            "tbl": build.close_table,
            "txbxContent": build.close_box,
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
        if self._properties == "pPr":
            self.builder.join_next()
        elif self._properties == "trPr":
            self.builder.delete_row()
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
        if not self._hidden:
            self.builder.add(text, bold=self._bold)
        self.counts["hidden"] += self._hidden

    def _open_run(self) -> None:
        self._bold = self._hidden = False


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
        and ``hidden`` pieces were left out, and how many text boxes (``box``) there are.

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
    handler.counts["box"] = handler.builder.n_boxes
    return handler.builder.blocks, handler.counts
