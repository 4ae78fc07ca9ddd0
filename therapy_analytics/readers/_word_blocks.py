"""Paragraphs and table rows of office documents, collected by a walk through the tree of their XML.

What is the same for Word and OpenDocument stands here; a format says which of its elements is what.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax.xmlreader import AttributesNSImpl

from therapy_analytics.readers._xml import Elements, walk_through
from therapy_analytics.readers.base import Source

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
Name = tuple[str | None, str]
"""Namespace and local name of an element."""


def office_tree(
    source: Source, part: IO[bytes], plain: Callable[[Name], str], *, remedy: str, encoding: str = ""
) -> Element:
    """Return the root of a part of an office document.

    Parameters
    ----------
    source : Source
        The file, for errors.
    part : file
        Open for reading bytes.
    plain : function
        From namespace and name of an element to its tag in the tree. Attributes have their local names.
    remedy : str
        What to do about a broken file.
    encoding : str, optional
        Of the letters, if not the one that the part declares.

    Raises
    ------
    UnreadableFileError
        It is not what a word processor writes.
    """
    tree = _Tree(plain)
    walk_through(source, part, tree, remedy=remedy, encoding=encoding)
    root: Element = tree.builder.close()
    return root


class _Tree(Elements):
    """Builds a tree, within the bounds of `Elements`."""

    def __init__(self, plain: Callable[[Name], str]) -> None:
        super().__init__()
        self.plain = plain
        self.builder = TreeBuilder()

    def opened(self, name: Name, attrs: AttributesNSImpl) -> None:
        """Open an element."""
        self.builder.start(self.plain(name), {key: value for (_, key), value in attrs.items()})

    def closed(self, name: Name) -> None:
        """Close an element."""
        self.builder.end(self.plain(name))

    def characters(self, content: str) -> None:
        """Take letters."""
        self.builder.data(content)


class Context(NamedTuple):
    """What an element stands in.

    Attributes
    ----------
    texts : list of (str, bool) or None
        The texts of the paragraph, to be added to.
    cell : list of Paragraph or None
        The paragraphs of the table cell, to be added to; None outside of tables.
    row : list of list of Paragraph or None
        The cells of the table row, to be added to.
    table : int
        The number of the table.
    outer : list of Paragraph or None
        The cell in which the table itself stands.
    in_box, bold, hidden : bool
        Whether it is in a text box, bold, and hidden.
    """

    texts: list[StyledText] | None = None
    cell: list[Paragraph] | None = None
    row: list[list[Paragraph]] | None = None
    table: int = 0
    outer: list[Paragraph] | None = None
    in_box: bool = False
    bold: bool = False
    hidden: bool = False


class BlockReader:
    """Collects the blocks of a document.

    A format adds to `kinds` how an element is read, by its tag; other elements are only looked into.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.n_boxes = 0
        self.kinds: dict[str, Callable[[Element, Context], None]] = {}
        self._n_places = self._n_tables = 0
        self._joined: tuple[int, list[StyledText]] | None = None

    def read(self, element: Element, at: Context) -> None:
        """Read an element by its kind."""
        self.kinds.get(element.tag, self.inside)(element, at)

    def inside(self, element: Element, at: Context) -> None:
        """Read what stands in an element."""
        self.letters(element.text or "", at)
        for child in element:
            self.read(child, at)
            self.letters(child.tail or "", at)

    def letters(self, text: str, at: Context) -> None:
        """Take letters that stand between elements; in formats where they are words, they are added."""

    def add(self, text: str, at: Context) -> None:
        """Add words to the paragraph."""
        if at.texts is not None:
            at.texts.append((text, at.bold))

    def paragraph(self, element: Element, at: Context) -> None:
        """Read a paragraph, which may continue the one before."""
        self._n_places += at.cell is None and not at.in_box
        place, texts = self._joined or (self._n_places, [])
        self._joined = None
        self.inside(element, at._replace(texts=texts))
        if self.is_joined(element):
            self._joined = place, texts
        else:
            (self.blocks if at.cell is None else at.cell).append(_finished(place, texts, in_box=at.in_box))

    def is_joined(self, element: Element) -> bool:
        """Return whether the end of a paragraph is deleted, so that the next one continues it."""
        del element
        return False

    def box(self, element: Element, at: Context) -> None:
        """Read a text box, whose paragraphs are no part of the one around it."""
        self.n_boxes += not at.in_box
        self.inside(element, at._replace(texts=None, in_box=True))

    def table(self, element: Element, at: Context) -> None:
        """Read a table."""
        self._n_tables += 1
        self.inside(element, at._replace(texts=None, cell=[], row=None, table=self._n_tables, outer=at.cell))

    def cell(self, element: Element, at: Context) -> None:
        """Read a cell of a table."""
        paragraphs: list[Paragraph] = []
        self.inside(element, at._replace(texts=None, cell=paragraphs))
        if at.row is not None:
            at.row.append(paragraphs)

    def row(self, element: Element, at: Context, *, is_deleted: bool = False) -> None:
        """Read a row; one of a single cell is a frame around paragraphs, a table in a cell is text of that cell."""
        cells: list[list[Paragraph]] = []
        self.inside(element, at._replace(texts=None, row=cells))
        if is_deleted or not cells:
            self._n_places += at.outer is None
        elif at.outer is not None:
            at.outer.extend(cells[0] if len(cells) == 1 else [Paragraph(0, "\t".join(map(_joined_text, cells)))])
        elif len(cells) == 1:
            for paragraph in cells[0]:
                self._n_places += 1
                paragraph.place = self._n_places
                self.blocks.append(paragraph)
        else:
            self._n_places += 1
            self.blocks.append(TableRow(self._n_places, at.table, list(map(_joined_text, cells))))


def _joined_text(paragraphs: list[Paragraph]) -> str:
    return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.in_box).strip()


def _finished(place: int, texts: list[StyledText], *, in_box: bool) -> Paragraph:
    n_bold = 0
    for text, bold in texts:
        if not bold and text.strip():
            break
        n_bold += len(text) if bold else 0
    return Paragraph(place, "".join(text for text, _ in texts).replace("\xa0", " "), n_bold, in_box)
