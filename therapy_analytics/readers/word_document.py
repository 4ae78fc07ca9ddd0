"""Word documents (``.docx``): labelled paragraphs, or a table of labels and words, as accepted.

By hand on a safe parser, because python-docx drops words that were inserted with tracked changes on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._label_forms import Line
from therapy_analytics.readers._labelled_lines import labelled_rows
from therapy_analytics.readers._notes import lost
from therapy_analytics.readers._text_heads import is_clinical_note, note_error
from therapy_analytics.readers._word_blocks import (
    Block,
    BlockReader,
    Context,
    Name,
    Paragraph,
    TableRow,
    office_tree,
)
from therapy_analytics.readers._word_tables import table_rows
from therapy_analytics.readers._zip import read_part
from therapy_analytics.readers.base import BINARY, RawSession, Source, reader

_BODY = re.compile(r"word/document\d*\.xml")
_WORD = frozenset(
    {
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
    }
)
_FALLBACK = ("http://schemas.openxmlformats.org/markup-compatibility/2006", "Fallback")
_LEFT_OUT_TAGS = """
delText instrText delInstrText rPrChange pPrChange tcPrChange trPrChange tblPrChange tblPrExChange
sectPrChange tblGridChange numberingChange sectPr tblPr tblGrid
"""
_LEFT_OUT = frozenset(_LEFT_OUT_TAGS.split())
"""What is no part of the text with all changes accepted: deleted and moved words, former formats, field codes."""
_LETTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_DELETED = frozenset({"del", "moveFrom"})
_PROPERTIES = ("pPr", "rPr", "trPr", "sdtPr")
_BOLD_STYLES = frozenset({"strong", "bold", "intenseemphasis", "fett", "heading1char", "heading2char"})
_NO_WORDS = re.compile(r"\n(?:[ \t]*\n)+")
_LONGEST_LABEL = 60
_NO_COLUMNS = "no table of the document has all the columns named with --columns"
_AGAIN = "Open it in Word and save it again as .docx"
_COUNTED = {"commentReference": "comment", "footnoteReference": "footnote", "endnoteReference": "endnote"}
_NOTED = {**_COUNTED, "change": "tracked deletion", "hidden": "hidden passage", "box": "text box"}


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
        for kind, name in _NOTED.items()
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
    root = read_part(source, _BODY, lambda part: office_tree(source, part, _plain, remedy=_AGAIN))
    if root is None:
        raise source.error("the file has no text of a document in it", _AGAIN)
    document = _WordReader()
    document.read(root, Context())
    document.counts["box"] = document.n_boxes
    return document.blocks, document.counts


def _plain(name: Name) -> str:
    """Return the tag of an element of Word; of others nothing but whether it repeats another for older programs."""
    return name[1] if name[0] in _WORD else "delText" if name == _FALLBACK else ""


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


class _WordReader(BlockReader):
    """Reads ``word/document.xml``, and counts what is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.kinds = {
            "p": self.paragraph,
            "tbl": self.table,
            "tr": self._row,
            "tc": self.cell,
            "txbxContent": self.box,
            "r": self._run,
            "t": lambda element, at: self._add(element.text or "", at),
            "sdt": self._control,
            **dict.fromkeys(_LETTERS, lambda element, at: self._add(_LETTERS[element.tag], at)),
            **dict.fromkeys(_COUNTED, self._count),
            **dict.fromkeys((*_PROPERTIES, *_DELETED), self._count_changes),
            **dict.fromkeys(_LEFT_OUT, lambda *_: None),
        }

    def is_joined(self, element: Element) -> bool:
        """Return whether the end of a paragraph is marked as deleted."""
        return _has_deletion(element, "pPr")

    def _row(self, element: Element, at: Context) -> None:
        self.row(element, at, is_deleted=_has_deletion(element, "trPr"))

    def _run(self, element: Element, at: Context) -> None:
        bold = hidden = False
        for one in element.iterfind("rPr/*"):
            value = one.get("val", "true")
            on = value not in {"0", "false", "off"}
            bold = on if one.tag == "b" else bold or (one.tag == "rStyle" and value.lower() in _BOLD_STYLES)
            hidden = on if one.tag == "vanish" else hidden
        self.inside(element, at._replace(bold=bold, hidden=hidden))

    def _control(self, element: Element, at: Context) -> None:
        """Read a content control, unless it only shows a prompt."""
        prompts = element.iterfind("sdtPr/showingPlcHdr")
        if not any(one.get("val", "true") not in {"0", "false", "off"} for one in prompts):
            self.inside(element, at)

    def _add(self, text: str, at: Context) -> None:
        if not at.hidden:
            self.add(text, at)
        self.counts["hidden"] += at.hidden

    def _count(self, element: Element, _at: Context) -> None:
        self.counts[element.tag] += 1

    def _count_changes(self, element: Element, _at: Context) -> None:
        self.counts["change"] += any(one.tag in _DELETED for one in element.iter())


def _has_deletion(element: Element, properties: str) -> bool:
    return any(one.tag in _DELETED for found in element.iterfind(properties) for one in found.iter())
