"""Paragraphs and table rows of a document, and a builder that collects them while the document is parsed."""

from __future__ import annotations

from dataclasses import dataclass, field

StyledText = tuple[str, bool]
"""Letters, and whether they are bold."""


@dataclass(slots=True)
class Paragraph:
    """A paragraph: its place, its text, how many of its first letters are bold, whether it is in a text box."""

    place: int = 0
    text: str = field(default="", repr=False)
    n_bold: int = 0
    in_box: bool = False


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
    texts: list[StyledText]
    joins_next: bool = False


@dataclass(slots=True)
class _Table:
    """A table while it is read: its rows so far, and the cells of the row that is open."""

    number: int
    cells: list[list[Paragraph]] = field(default_factory=list)
    row_is_deleted: bool = False
    inside: list[Paragraph] = field(default_factory=list)


class Builder:
    """Is told what opens and closes in a document, and keeps the finished blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.n_boxes = 0
        self._places = self._n_tables = self._boxes = 0
        self._drafts: list[_Draft] = []
        self._tables: list[_Table] = []
        self._joined: list[StyledText] = []
        self._joined_from = 0

    def add(self, text: str, *, bold: bool) -> None:
        """Add letters to the paragraph that is open."""
        if self._drafts:
            self._drafts[-1].texts.append((text, bold))

    def join_next(self) -> None:
        """Note that the end of the open paragraph is deleted."""
        if self._drafts:
            self._drafts[-1].joins_next = True

    def delete_row(self) -> None:
        """Note that the open row is deleted."""
        if self._tables:
            self._tables[-1].row_is_deleted = True

    def open_box(self) -> None:
        """Open a text box: its paragraphs stand inside another, and are no part of it."""
        self._boxes += 1
        self.n_boxes += self._boxes == 1

    def close_box(self) -> None:
        """Close a text box."""
        self._boxes -= 1

    def open_paragraph(self) -> None:
        """Open a paragraph."""
        self._places += not self._tables and not self._boxes
        self._drafts.append(_Draft(self._joined_from or self._places, self._joined))
        self._joined, self._joined_from = [], 0

    def close_paragraph(self) -> None:
        """Close a paragraph."""
        draft = self._drafts.pop()
        if draft.joins_next:
            self._joined, self._joined_from = draft.texts, draft.place
            return
        paragraph = _finished(draft, in_box=self._boxes > 0)
        if self._tables:
            self._tables[-1].inside.append(paragraph)
        else:
            self.blocks.append(paragraph)

    def open_table(self) -> None:
        """Open a table."""
        self._n_tables += 1
        self._tables.append(_Table(self._n_tables))

    def close_table(self) -> None:
        """Close a table."""
        self._tables.pop()

    def open_row(self) -> None:
        """Open a row."""
        for table in self._tables[-1:]:
            table.cells, table.row_is_deleted = [], False

    def open_cell(self) -> None:
        """Open a cell."""
        for table in self._tables[-1:]:
            table.inside = []

    def close_cell(self) -> None:
        """Close a cell."""
        for table in self._tables[-1:]:
            table.cells.append(table.inside)

    def close_row(self) -> None:
        """Close a row; one of a single cell is a frame around paragraphs, a table in a cell is text of that cell."""
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
    return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.in_box).strip()


def _finished(draft: _Draft, *, in_box: bool) -> Paragraph:
    n_bold = 0
    for text, bold in draft.texts:
        if not bold and text.strip():
            break
        n_bold += len(text) if bold else 0
    text = "".join(text for text, _ in draft.texts)
    return Paragraph(draft.place, text.replace("\xa0", " "), n_bold, in_box)
