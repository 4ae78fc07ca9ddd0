"""PDF of a transcript: its text layer, without what stands at the top and the foot of each page."""

from __future__ import annotations

import io
import itertools
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.printable import counted
from therapy_analytics.readers._limits import LARGEST_SESSION, refuse_large
from therapy_analytics.readers._stamps import STAMP
from therapy_analytics.readers.base import RawSession, Source, begins, reader
from therapy_analytics.readers.labelled_text import session_of
from therapy_analytics.readers.roles import role_of_label

_EDGE = 2
"""Lines at the top, and at the foot, of a page among which headers and page numbers are looked for."""
_MOST_PAGES = 500
_FEWEST_NUMBERS = 5
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"\W{0,3}(?:page\s+)?(\d{1,4})(?:\s*(?:of|/)\s*\d{1,4})?\W{0,3}", re.IGNORECASE)
_LABEL = re.compile(r"[^\W\d_][^:\n]{0,39}:\s*\S")
_LEFT = re.compile(r"(?P<label>[^\W\d_]\S*+(?: \S++){0,3}?) {2,}(?P<words>\S.*)")
_OFTEN = 0.2
_FEWEST_ROWS = 4
_BROKEN_ROW = re.compile(rf"^(?P<row>{STAMP}[ \t]+[^\W\d_]\w{{0,14}})[ \t]*\n(?!{STAMP})", re.MULTILINE)
"""A table row of time and speaker whose words, of several lines, stand below it."""
_REMEDY = "Copy the words into a text file, or get the transcript as Word, text or captions"

Pages = list[list[str]]


@reader("pdf_document", suffixes=(".pdf",), sniff=begins(rb"%PDF"), one_session=True)
def read_pdf(source: Source) -> Iterator[RawSession]:
    """PDF with text: labelled paragraphs, or a column of speakers; headers, footers and line numbers left out."""
    pages = _pages(source)
    lines = [line for page in pages for line in page]
    if sum(map(bool, map(_LABEL.match, lines))) < _OFTEN * len(lines):
        pages = _columns(source) or pages
    n_empty = sum(not page for page in pages)
    if n_empty == len(pages):
        raise source.error(
            "this PDF holds pictures of pages, as a scanner makes them, and no text",
            "Let a program for text recognition (OCR) read it, check the words, and save them as text or Word",
        )
    talk, left_out = _without_edges(pages)
    session = session_of(source, _BROKEN_ROW.sub(r"\g<row> ", "\n".join(line for page in talk for line in page)))
    notes = [f"{counted(n_empty, 'page')} without text left out; look whether words stand there as a picture."]
    edges = f"{counted(len(left_out), 'line')} at the top or foot of pages left out ({_n_words(left_out)})."
    told = (*(notes if n_empty else []), *([edges] if left_out else []))
    rows = [replace(row, text=" ".join(row.text.split())) for row in session.rows]
    yield replace(session, rows=rows, notes=(*session.notes, *told))


def _n_words(lines: Sequence[str]) -> str:
    return counted(sum(len(line.split()) for line in lines), "word")


def _pages(source: Source, mode: Literal["plain", "layout"] = "plain") -> Pages:
    """Return the lines of each page, without empty ones; in the mode ``layout`` spaces keep their places.

    Raises
    ------
    UnreadableFileError
        The file is damaged, locked, or longer than a transcript.
    """
    from pypdf import PdfReader  # noqa: PLC0415 (only PDF needs it)
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError  # noqa: PLC0415

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every oddity that it can read nevertheless
    try:
        document = PdfReader(io.BytesIO(source.data))
        if document.is_encrypted and not document.decrypt(""):
            raise source.error("the PDF is locked by a password", "Save a copy without a password")
        if len(document.pages) > _MOST_PAGES:
            raise source.error(f"the PDF has more than {_MOST_PAGES:,} pages", "Split it into a file for each session")
        size = 0
        for page in document.pages:
            content = page.get_contents()
            size += 0 if content is None else len(content.get_data())
            refuse_large(str(source.path), size, LARGEST_SESSION, packed=True)
        return [
            [line for line in page.extract_text(extraction_mode=mode).split("\n") if line.strip()]
            for page in document.pages
        ]
    except (DependencyError, FileNotDecryptedError):
        raise source.error("the PDF is locked by a password", "Save a copy without a password") from None
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError):
        raise source.error(
            "the PDF is damaged or breaks off", f"Open it and print it to a new PDF. {_REMEDY}"
        ) from None


def _columns(source: Source) -> Pages | None:
    try:
        return _as_labelled(_pages(source, mode="layout"))
    except UnreadableFileError:  # what can be read otherwise is no reason to refuse a file
        return None


def _as_labelled(pages: Pages) -> Pages | None:
    """Return pages with a column of speakers and one of words as labelled lines; None where there are no such columns.

    Labels come again or name a role, and nearly all other lines stand further to the right than any label.
    """
    rows = [[(line.rstrip(), _LEFT.fullmatch(line.rstrip())) for line in page] for page in pages]
    counts = Counter(_label(row) for page in rows for _, row in page if row)
    labels = {label for label, n in counts.items() if n > 1 or role_of_label(label)}
    n_turns = sum(counts[label] for label in labels)
    width = max(map(len, labels), default=0)
    other = [line for page in rows for line, row in page if not (row and _label(row) in labels)]
    n_odd = sum(len(line) - len(line.lstrip()) <= width for line in other)
    if n_turns < max(_FEWEST_ROWS, 2 * len(labels)) or len(labels) < 2 or 10 * n_odd > n_turns + len(other):
        return None
    return [
        [f"{_label(row)}: {row['words']}" if row and _label(row) in labels else line.strip() for line, row in page]
        for page in rows
    ]


def _label(row: re.Match[str]) -> str:
    return row["label"].rstrip(":")


def _without_edges(pages: Pages) -> tuple[Pages, list[str]]:
    """Return pages without headers, footers and line numbers, and the lines left out.

    Headers and footers are lines that most pages share at the top or the foot, apart from numbers in them.
    """
    filled = [page for page in pages if page]
    tops, feet = (Counter(form for page in filled for form in {*map(_form, _edge(page, end))}) for end in (True, False))
    kept: Pages = []
    left_out: list[str] = []
    for page in filled:
        beside = _line_numbers(page)
        for end, common in ((True, tops), (False, feet)):
            for at in _edge_places(page, end):
                one_page = len(filled) == 1 and _NUMBER.fullmatch(page[at].strip())
                repeated = len(filled) > 1 and 2 * common[_form(page[at])] > len(filled)
                if one_page or (repeated and _is_beside(page[at])):
                    beside.add(at)
                else:
                    break
        left_out += [line for at, line in enumerate(page) if at in beside]
        kept.append([line for at, line in enumerate(page) if at not in beside])
    return kept, left_out


def _edge_places(page: Sequence[str], top: bool) -> Sequence[int]:
    places = range(len(page))
    return places[:_EDGE] if top else places[: -_EDGE - 1 : -1]


def _edge(page: Sequence[str], top: bool) -> list[str]:
    return [page[at] for at in _edge_places(page, top)]


def _form(line: str) -> str:
    return _DIGITS.sub("0", " ".join(line.casefold().split()))


def _is_beside(line: str) -> bool:
    """Tell a header, with a number or without a label, from a short answer that begins several pages."""
    return bool(_DIGITS.search(line)) or not _LABEL.match(line.strip())


def _line_numbers(page: Sequence[str]) -> set[int]:
    """Return the places of lines that only number the lines of a page."""
    bare = [
        (at, int(line))
        for at, line in enumerate(page)
        if line.strip().isascii() and line.strip().isdecimal() and len(line.strip()) < 5
    ]
    counts = [number for _, number in bare]
    is_count = len(bare) >= _FEWEST_NUMBERS and all(two - one == 1 for one, two in itertools.pairwise(counts))
    return {at for at, _ in bare} if is_count else set()
