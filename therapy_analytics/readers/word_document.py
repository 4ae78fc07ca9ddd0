"""Word documents (``.docx``): labelled paragraphs, or a table of labels and words, as accepted.

By hand on a safe parser, because python-docx drops words that were inserted with tracked changes on, and holds the
whole document in memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO
from xml.sax.xmlreader import AttributesNSImpl

from therapy_analytics.readers._base import BINARY, RawSession, Source, reader
from therapy_analytics.readers._label_forms import Line
from therapy_analytics.readers._labelled_lines import labelled_rows
from therapy_analytics.readers._notes import counted, lost
from therapy_analytics.readers._text_heads import is_clinical_note, note_error
from therapy_analytics.readers._word_blocks import Block, Builder, Paragraph, TableRow
from therapy_analytics.readers._word_tables import table_rows
from therapy_analytics.readers._xml import Elements, walk_through
from therapy_analytics.readers._zip import read_part

_BODY = re.compile(r"word/document\d*\.xml")
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
"""What is no part of the text with all changes accepted: deleted and moved words, former formats, field codes."""
_LETTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_PROPERTIES = frozenset({"pPr", "rPr", "trPr", "sdtPr"})
_BOLD_STYLES = frozenset({"strong", "bold", "intenseemphasis", "fett", "heading1char", "heading2char"})
_NO_WORDS = re.compile(r"\n(?:[ \t]*\n)+")
_LONGEST_LABEL = 60
_NO_COLUMNS = "no table of the document has all the columns named with --columns"
_AGAIN = "Open it in Word and save it again as .docx"
_COUNTED = (
    ("commentReference", "comment"),
    ("footnoteReference", "footnote"),
    ("endnoteReference", "endnote"),
    ("change", "tracked deletion"),
    ("hidden", "hidden passage"),
    ("box", "text box"),
)


def sniff(source: Source) -> float:
    """Be certain of an archive that holds the body of a document."""
    is_zip = source.encoding == BINARY and source.data.startswith(b"PK")
    return 1.0 if is_zip and b"word/document" in source.data else 0.0


@reader("word_document", suffixes=(".docx", ".docm"), sniff=sniff, one_session=True)
def read_word_document(source: Source) -> Iterator[RawSession]:
    """Word documents with labelled paragraphs or tables; tracked changes as accepted, comments left out."""
    blocks, left_out = _blocks(source)
    session, beside_boxes = session_of_document(source, blocks)
    if not beside_boxes:
        left_out["box"] = 0
    yield replace(session, notes=(*session.notes, *_about(left_out)))


def session_of_document(source: Source, blocks: Sequence[Block]) -> tuple[RawSession, bool]:
    """Return the session of a document, and whether it stands outside its text boxes.

    Raises
    ------
    UnreadableFileError
        Nobody speaks in it, or it is a clinical note.
    """
    outside = [block for block in blocks if isinstance(block, TableRow) or not block.in_box]
    wanted = source.options.columns
    beside = session_of_blocks(outside, wanted)
    session = beside or session_of_blocks(blocks, wanted)  # the whole transcript may stand in boxes
    refuse_note(source, blocks, session)
    if session is None and wanted and any(isinstance(block, TableRow) for block in blocks):
        raise source.error(_NO_COLUMNS, "Check its spelling against the first row of the table")
    if session is None:
        raise source.error(
            "no speaker labels were found",
            'Begin each paragraph with a label and a colon, as in "Therapist:", or use a table of labels and words',
        )
    return session, beside is not None


def refuse_note(source: Source, blocks: Sequence[Block], session: RawSession | None) -> None:
    """Raise an error where a document is a clinical note."""
    if is_clinical_note(list(_lines(blocks)), session.rows if session else ()):
        raise note_error(source)


def _about(left_out: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(
        f"{counted(left_out[kind], name).replace('texts', 'text').replace('boxs', 'boxes')} left out."
        for kind, name in _COUNTED
        if left_out[kind]
    )


def session_of_blocks(blocks: Sequence[Block], wanted: Mapping[str, str] | None = None) -> RawSession | None:
    """Read the paragraphs or the tables of any document, whichever hold more turns; None where nobody speaks.

    Where the user names columns, these are of a table, if there is any.
    """
    lines = list(_lines(blocks))
    in_tables = [block for block in blocks if isinstance(block, TableRow)]
    by_table = table_rows(in_tables, wanted)
    by_line = None if wanted and in_tables else labelled_rows(lines)
    n_table_rows = len(by_table.rows) if by_table else 0
    if by_line and len(by_line.rows) > n_table_rows:
        rows = [" ".join(block.cells) for block in in_tables]
        tables = (f"{lost(rows, 'table row')} left out.",) if rows else ()
        return RawSession("", by_line.rows, by_line.facts, (*by_line.notes, *tables), passed_over=by_line.passed_over)
    if by_table is None:
        return None
    outside = [line.raw for line in lines if line.raw.strip()]
    beside = (f"{lost(outside)} outside the tables left out.",) if outside else ()
    return RawSession("", by_table.rows, {}, (*by_table.notes, *beside), of_table=bool(wanted))


def _blocks(source: Source) -> tuple[list[Block], Counter[str]]:
    """Return the paragraphs and rows in order, and how often something was left out, by its kind."""
    body = _Body()

    def take(part: IO[bytes]) -> bool:
        walk_through(source, part, body, remedy=_AGAIN)
        return True

    if not read_part(source, _BODY, take):
        raise source.error("the file has no text of a document in it", _AGAIN)
    body.counts["box"] = body.builder.n_boxes
    return body.builder.blocks, body.counts


def _lines(blocks: Sequence[Block]) -> Iterator[Line]:
    """Yield the lines of the paragraphs; a short bold beginning, which may be a label, is marked as in Markdown."""
    before = ""
    for block in blocks:
        if isinstance(block, Paragraph) and (block.text or before):
            before = block.text
            first, *others = _NO_WORDS.sub("\n\n", block.text).split("\n")
            yield Line(block.place, _with_stars(first, block.n_bold), first)
            for line in others:
                yield Line(block.place, line, line)


def _with_stars(line: str, n_bold: int) -> str:
    bold = line[:n_bold].rstrip()
    if not bold.strip() or len(bold) > _LONGEST_LABEL or set(bold) & set(":\uff1a"):
        return line
    return f"**{bold.strip()}**{line[len(bold) :]}"


class _Body(Elements):
    """Collects the blocks of ``word/document.xml`` and counts what is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.builder = build = Builder()
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

    def opened(self, name: tuple[str | None, str], attrs: AttributesNSImpl) -> None:
        """Open an element."""
        if name == _FALLBACK:
            self.skipped_from = self.depth
        elif name[0] in _WORD:
            self._open(name[1], attrs)

    def closed(self, name: tuple[str | None, str]) -> None:
        """Close an element."""
        if name[0] in _WORD:
            self._close(name[1])

    def characters(self, content: str) -> None:
        """Take letters, where they are words."""
        if self._in_text and not self.skipped_from:
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
        """Skip an element, which may mark the end of a paragraph, or a row, as deleted."""
        self.skipped_from, self._is_prompt = self.depth, False
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
