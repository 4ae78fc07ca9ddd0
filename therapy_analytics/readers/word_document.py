"""Word documents (``.docx``): labelled paragraphs, or a table of labels and words, as accepted."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO
from xml.sax import SAXException

from therapy_analytics.readers._base import BINARY, RawSession, Source, reader
from therapy_analytics.readers._clinical_notes import is_clinical_note, note_error
from therapy_analytics.readers._label_forms import Line
from therapy_analytics.readers._labelled_lines import labelled_rows
from therapy_analytics.readers._limits import LARGEST_SESSION, refuse_large
from therapy_analytics.readers._notes import counted, lost
from therapy_analytics.readers._word_blocks import Block, Paragraph, TableRow
from therapy_analytics.readers._word_tables import table_rows
from therapy_analytics.readers._word_xml import BeyondMeasureError, word_blocks
from therapy_analytics.readers._zip import bounded_zip

_BODY = re.compile(r"word/document\d*\.xml")
_NO_WORDS = re.compile(r"\n(?:[ \t]*\n)+")
_LONGEST_LABEL = 60
_NO_COLUMNS = "no table of the document has all the columns named with --columns"
_AGAIN = "Open it in Word and save it again as .docx"
_COUNTED = (
    ("commentReference", "comment"),
    ("footnoteReference", "footnote"),
    ("endnoteReference", "endnote"),
    ("change", "tracked deletion"),
    ("hidden", "piece of hidden text"),
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
    outside = [block for block in blocks if isinstance(block, TableRow) or not block.in_box]
    wanted = source.options.columns
    session = session_of_blocks(outside, wanted)
    if session is None:  # the whole transcript may stand in boxes
        session, left_out["box"] = session_of_blocks(blocks, wanted), 0
    if is_clinical_note(list(_lines(blocks)), session.rows if session else ()):
        raise note_error(source)
    if session is None and wanted and any(isinstance(block, TableRow) for block in blocks):
        raise source.error(_NO_COLUMNS, "Check its spelling against the first row of the table")
    if session is None:
        raise source.error(
            "no speaker labels were found",
            'Begin each paragraph with a label and a colon, as in "Therapist:", or use a table of labels and words',
        )
    yield replace(session, notes=(*session.notes, *_about(left_out)))


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
    try:
        with bounded_zip(source) as archive:
            body = next((part for part in archive.infolist() if _BODY.fullmatch(part.filename)), None)
            if body is None:
                raise source.error("the file has no text of a document in it", _AGAIN)
            refuse_large(str(source.path), body.file_size, LARGEST_SESSION, packed=True)
            with archive.open(body) as part:
                return _parsed(source, part)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError):
        raise source.error("the file is damaged or breaks off", _AGAIN) from None


def _parsed(source: Source, part: IO[bytes]) -> tuple[list[Block], Counter[str]]:
    from defusedxml import DefusedXmlException  # noqa: PLC0415 (only Word files need it)

    try:
        return word_blocks(part)
    except DefusedXmlException:
        raise source.error("the file declares entities or a document type, which can do harm", _AGAIN) from None
    except BeyondMeasureError:
        raise source.error("the document has more parts than any transcript", "Split it into smaller files") from None
    except (SAXException, ValueError, LookupError):
        raise source.error("the text of the document is damaged", _AGAIN) from None


def _lines(blocks: Sequence[Block]) -> Iterator[Line]:
    """Yield the lines of the paragraphs; a short bold beginning is written as in Markdown, for it may be a label."""
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
