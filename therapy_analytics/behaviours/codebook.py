"""Codebooks: what a code is, as data.

To add one, put a TOML file like ``codebooks/bolt.toml`` beside it; ids are stable names of
columns (``<book>_<code>``), so they are never reused for another meaning. A user's own
codebook is a file of the same form (``docs/codebooks.md``).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from therapy_analytics.behaviours import _codebook_form as form
from therapy_analytics.behaviours._codebook_form import REMEDY, Exclusive, Place, Quality, Status, Unit
from therapy_analytics.errors import UnknownNameError
from therapy_analytics.language.data_files import LARGEST_TEXT, read_bytes, toml_table
from therapy_analytics.session import Role

DEFAULT_CORRELATION = 0.06
"""`Code.turn_correlation` where it was not estimated, and for turns that are counted by other means than a code."""
LAST = 99
"""`Codebook.place` of books that do not say where they stand."""


@dataclass(frozen=True, slots=True)
class CrosswalkEntry:
    """How a code lies to a code of another book.

    Attributes
    ----------
    to : str
        The other code, as ``book.code``.
    quality : {"same", "narrower", "broader", "overlaps"}
        same: both are meant to be given to the same turns. narrower: whatever has this code should
        have the other, too, but not the other way round. broader: the reverse. overlaps: they
        share a good part, and each has turns that the other does not.
    note : str
        Where they differ, in a sentence.
    """

    to: str
    quality: Quality
    note: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """One behaviour of a codebook.

    Attributes
    ----------
    book, id : str
        Together the name of its columns, see `column`.
    name : str
        As a person reads it.
    role : {"therapist", "client"}
        Whose turns can have it.
    group : str
        The family that it belongs to, one word across books: reflection, question, advice,
        information, confrontation, support, normalizing, psychoeducation, change, sustain, neutral,
        feeling, insight, event, ...
    lane : str
        The lane of a session's timeline that marks its turns, as in ``question``; codes of several books may share one.
        Of a lane that ends in + or -, the marks of these codes point up or down. Empty for none.
    definition : str
        When a turn has it.
    examples, counter_examples : tuple of str
        Invented sentences that have it, and some that only look so, each with why not in brackets.
    source : str
        Who defined it; the book's, where the code names none.
    label : str
        As coded data write it, where that is not the id: ``SR``, ``R+``.
    unit : {"turn", "utterance"}
        What people give it to. A turn has the code of an utterance if one of its utterances has.
    parent : str
        Id of the code of the same book that it is a kind of; empty for a code of its own. A turn has a kind only
        where it has the code.
    exclusive : {"", "turn", "question"}
        How many of its kinds a turn may have: any number, one, or as many as it has questions.
    crosswalk : tuple of CrosswalkEntry
        Its nearest codes in other books.
    status : {"", "experimental"}
        experimental: people agree too little on it, so that it is written only on request.
    status_reason : str
        Why it is experimental.
    turn_correlation : float
        How alike two turns of a session are in having the code, beyond what the session's rate says: their intraclass
        correlation, 0 to 1. It widens the intervals of rates: ``n`` turns tell as much as ``n / (1 + (n - 1) x
        turn_correlation)`` independent ones. Estimated by ``benchmarks/turn_rates.py`` for the built-in codes.
    """

    book: str
    id: str
    name: str
    role: Role
    group: str
    definition: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]
    source: str = ""
    label: str = ""
    lane: str = ""
    unit: Unit = "turn"
    parent: str = ""
    exclusive: Exclusive = ""
    crosswalk: tuple[CrosswalkEntry, ...] = ()
    status: Status = ""
    status_reason: str = ""
    turn_correlation: float = DEFAULT_CORRELATION

    @property
    def column(self) -> str:
        """Column of its decision; its probability stands in ``p_`` + this."""
        return f"{self.book}_{self.id}"

    @property
    def level(self) -> Literal["coarse", "fine"]:
        """Fine for a kind of another code, coarse for all others."""
        return "fine" if self.parent else "coarse"


@dataclass(frozen=True, slots=True)
class Codebook:
    """A set of codes with its source, and the name (without folders) and hash of its file.

    Attributes
    ----------
    place : int
        Where its codes stand in figures and lists, from 1; books that do not say come last.
    overlaps : str
        The id of a book that codes the same behaviours: the codes of this one get rates only where it is asked for.
    """

    id: str
    name: str
    definition: str
    source: str
    codes: tuple[Code, ...]
    file: str
    sha256: str
    place: int = LAST
    overlaps: str = ""


def load_codebook(path: str | Path) -> Codebook:
    """Read a codebook file, of the package or the user's own.

    Raises
    ------
    BadDataFileError
        The file is not a codebook: it says which code and field, and what would be right. Also
        where its id is that of another codebook, or an entry of a crosswalk leads to no code of the package.
    """
    book = _parsed(Path(path))
    place = Place(str(path))
    builtin = {one.id: one for one in builtin_codebooks()}
    if book.id in builtin and book.sha256 != builtin[book.id].sha256:
        remedy = "Give it an id of its own, for its columns begin with it"
        raise place.error(f"the id {book.id!r} is that of a codebook of this package", remedy)
    taken = sorted(_columns(builtin.values()) & _columns([book])) if book.id not in builtin else []
    if taken:
        raise place.error(f"the column {taken[0]!r} would be that of another codebook", "Give the book another id")
    _check_crosswalk(book, builtin, str(path))
    return book


@functools.cache
def builtin_codebooks() -> tuple[Codebook, ...]:
    """Return the codebooks that come with the package, by id; the tagger need not know all of their codes."""
    paths = sorted((Path(__file__).parent / "codebooks").glob("*.toml"))
    read = [_parsed(path) for path in paths]
    books = {book.id: book for book in sorted(read, key=lambda book: book.id)}
    for path, book in zip(paths, read, strict=True):
        _check_crosswalk(book, books, str(path))
    return tuple(books.values())


@functools.cache
def correlation_of(*codes: str) -> float:
    """Return how alike turns are in having any of some codes: the largest `Code.turn_correlation` of them.

    Parameters
    ----------
    *codes : str
        Columns; those of no built-in codebook have `DEFAULT_CORRELATION`.
    """
    known = {code.column: code.turn_correlation for book in builtin_codebooks() for code in book.codes}
    return max(known.get(code, DEFAULT_CORRELATION) for code in codes)


def codebooks_with(columns: Iterable[str], *, more: Iterable[Codebook] = ()) -> tuple[Codebook, ...]:
    """Return the codebooks with those codes alone that have one of these columns.

    Parameters
    ----------
    columns : iterable of str
        As in ``load_tagger().names``. A book without any of them is left out.
    more : iterable of Codebook, optional
        Books to look at after the built-in ones; those among them count once.
    """
    wanted = set(columns)
    books = {book.id: replace(book, codes=_among(book, wanted)) for book in (*builtin_codebooks(), *more)}
    return tuple(book for book in books.values() if book.codes)


def codebook_named(name: str) -> Codebook:
    """Return the built-in codebook of this id, or that in the file of this name.

    Raises
    ------
    UnknownNameError
        There is neither.
    BadDataFileError
        The file is not a codebook.
    """
    builtin = {book.id: book for book in builtin_codebooks()}
    if name in builtin:
        return builtin[name]
    if not Path(name).exists():
        raise UnknownNameError("codebook or file", name, builtin)
    return load_codebook(name)


def _columns(books: Iterable[Codebook]) -> set[str]:
    return {code.column for book in books for code in book.codes}


def _among(book: Codebook, wanted: set[str]) -> tuple[Code, ...]:
    return tuple(code for code in book.codes if code.column in wanted)


def _parsed(path: Path) -> Codebook:
    """Read a file without a look at other books."""
    place = Place(str(path))
    data = read_bytes(path, LARGEST_TEXT, what="the codebook", remedy="Split it into several codebooks")
    table = toml_table(data, path, what="the codebook", remedy=REMEDY)
    form.only_known(table, form.BOOK_FIELDS, place)
    book, source = form.book_id(table, place), form.text(table, "source", place)
    unit = form.one_of(table, "unit", form.UNITS, place, default="turn")
    entries = form.tables(table, "codes", place)
    codes = tuple(_code(book, entry, place.of(number, entry), (source, unit)) for number, entry in enumerate(entries))
    form.check_ids([code.id for code in codes], place)
    _check_parents(codes, place)
    name, definition = form.text(table, "name", place), form.text(table, "definition", place)
    where, other = form.whole(table, "place", place, default=LAST), form.text(table, "overlaps", place, default="")
    return Codebook(book, name, definition, source, codes, path.name, hashlib.sha256(data).hexdigest(), where, other)


def _code(book: str, entry: Mapping[str, Any], place: Place, of_book: tuple[str, str]) -> Code:
    form.only_known(entry, form.CODE_FIELDS, place)
    source, unit = of_book
    status = form.one_of(entry, "status", form.STATUSES, place, default="")
    return Code(
        book=book,
        id=form.code_id(entry, place),
        name=form.text(entry, "name", place),
        role=form.one_of(entry, "role", form.CODED_ROLES, place),
        group=form.text(entry, "group", place),
        lane=form.text(entry, "lane", place, default=""),
        definition=form.text(entry, "definition", place),
        examples=form.texts(entry, "examples", place),
        counter_examples=form.texts(entry, "counter_examples", place),
        source=form.text(entry, "source", place, default=source),
        label=form.text(entry, "label", place, default=""),
        unit=form.one_of(entry, "unit", form.UNITS, place, default=unit),
        parent=form.text(entry, "parent", place, default=""),
        exclusive=form.one_of(entry, "exclusive", form.EXCLUSIVES, place, default=""),
        crosswalk=tuple(_crosswalk_entry(one, place) for one in form.tables(entry, "crosswalk", place, default=())),
        status=status,
        status_reason=form.text(entry, "status_reason", place, default=None if status else ""),
        turn_correlation=form.share(entry, "turn_correlation", place, default=DEFAULT_CORRELATION),
    )


def _crosswalk_entry(entry: Mapping[str, Any], place: Place) -> CrosswalkEntry:
    form.only_known(entry, form.CROSSWALK_FIELDS, place)
    quality = form.one_of(entry, "quality", form.QUALITIES, place)
    return CrosswalkEntry(form.text(entry, "to", place), quality, form.text(entry, "note", place, default=""))


def _check_parents(codes: tuple[Code, ...], place: Place) -> None:
    known = {code.id: code for code in codes}
    for code in codes:
        here = place.at(code.id)
        if code.exclusive and sum(one.parent == code.id for one in codes) < 2:
            raise here.error("it has fewer than two kinds that could exclude each other", "Leave out exclusive")
        if not code.parent:
            continue
        if code.parent not in known:
            raise here.error(
                f"its parent {code.parent!r} is no code of this book", "Name the id of a code of this book"
            )
        above = known[code.parent]
        if above.parent or above.role != code.role:
            what = "itself a kind of another code" if above.parent else f"a code of {above.role}s"
            raise here.error(
                f"its parent {code.parent!r} is {what}", "A parent has the same role and no parent of its own"
            )


def _check_crosswalk(book: Codebook, books: Mapping[str, Codebook], path: str) -> None:
    known = {f"{one.id}.{code.id}" for one in books.values() for code in one.codes if one.id != book.id}
    for code in book.codes:
        form.check_crosswalk([entry.to for entry in code.crosswalk], known, Place(path).at(code.id))
