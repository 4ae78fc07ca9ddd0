"""Codebooks: definitions of codes, as data.

To add one, put a TOML file like ``codebooks/bolt.toml`` beside it. Ids are stable names of columns (``<book>_<code>``),
so they are never reused with another meaning. A user's own codebook has the same form (``docs/codebooks.md``).
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from therapy_analytics.core.errors import BadDataFileError, UnknownNameError
from therapy_analytics.core.session import Role
from therapy_analytics.text.data_files import LARGEST_TEXT, read_bytes, toml_table

Quality = Literal["same", "narrower", "broader", "overlaps"]
Status = Literal["", "experimental"]
Unit = Literal["turn", "utterance"]
Exclusive = Literal["", "turn", "question"]
QUALITIES: tuple[Quality, ...] = get_args(Quality)

_REMEDY = "See docs/codebooks.md"
_BOOK_FIELDS = ("id", "name", "place", "overlaps", "definition", "source", "unit", "codes")
CODE_FIELDS = (
    "id", "name", "role", "group", "lane", "definition", "examples", "counter_examples", "source", "label", "unit",
    "parent", "exclusive", "one_of", "rest", "crosswalk", "status", "status_reason", "turn_correlation",
)  # fmt: skip
_CROSSWALK_FIELDS = ("to", "quality", "note")
_ID = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST_ID = 40
_LONGEST_MESSAGE = 250
"""Characters of an error message."""
_OTHER_COLUMNS = ("client", "gold", "n", "p", "therapist")
"""The first words of columns that are no codes: no codebook may be called so."""
DEFAULT_CORRELATION = 0.06
"""`Code.turn_correlation` where it was not estimated, and for rates that do not rest on a code."""
LAST = 99
"""`Codebook.place` of books that do not say where they stand."""


@dataclass(frozen=True, slots=True)
class CrosswalkEntry:
    """How a code relates to a code of another book.

    Attributes
    ----------
    to : str
        The other code, as ``book.code``.
    quality : {"same", "narrower", "broader", "overlaps"}
        same: both are given to the same turns. narrower: turns with this code should have the other too, but not
        the reverse. broader: the reverse of narrower. overlaps: they share many turns, and each has others.
    note : str
        How they differ, in a sentence.
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
        Together the name of its column, see `column`.
    name : str
        For people.
    role : {"therapist", "client"}
        Whose turns can have it.
    group : str
        Family of the code, the same word in all books: reflection, question, advice, information, confrontation,
        support, normalizing, psychoeducation, change, sustain, neutral, feeling, insight, event, ...
    lane : str
        Lane of a session's timeline that marks its turns, as in ``question``; codes of several books may share one. In
        a lane whose name ends in + or -, the marks of these codes point up or down. Empty for none.
    definition : str
        When a turn has it.
    examples, counter_examples : tuple of str
        Invented sentences that have it, and some that seem to but do not, with the reason in brackets.
    source : str
        Who defined it; the book's, where the code names none.
    label : str
        Its label in coded data, where that is not the id: ``SR``, ``R+``.
    unit : {"turn", "utterance"}
        What human coders assign it to. A turn has the code of an utterance if any of its utterances has it.
    parent : str
        Id of the code of the same book that it is a sub-code of; empty for others. A turn has a sub-code only where it
        has the parent.
    exclusive : {"", "turn", "question"}
        How many of its sub-codes a turn may have: any number, one, or as many as it has questions.
    one_of : str
        Name of a set of codes of the book of which a turn has one at most; empty for none.
    rest : bool
        Whether it stands for what no other code of the role has, so that people give it alone.
    crosswalk : tuple of CrosswalkEntry
        The nearest codes of other books.
    status : {"", "experimental"}
        experimental: people agree too little on it, or the tagger finds it too poorly, so it is given only on request.
    status_reason : str
        Why it is experimental.
    turn_correlation : float
        Intraclass correlation of the turns of a session, given the session's rate, 0 to 1. It widens the intervals of
        rates: ``n`` turns are worth ``n / (1 + (n - 1) x turn_correlation)`` independent ones (Kish). Estimated by
        ``benchmarks/turn_rates.py`` for the built-in codes.
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
    one_of: str = ""
    rest: bool = False
    crosswalk: tuple[CrosswalkEntry, ...] = ()
    status: Status = ""
    status_reason: str = ""
    turn_correlation: float = DEFAULT_CORRELATION

    @property
    def column(self) -> str:
        """Name of the column of its decisions; that of its probabilities has ``p_`` before it."""
        return f"{self.book}_{self.id}"

    @property
    def level(self) -> Literal["coarse", "fine"]:
        """Fine for sub-codes, coarse for all others."""
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
        The file is not a codebook (the error names code and field, and what would be right), its id is that of another
        codebook, or an entry of a crosswalk leads to no code of the package.
    """
    book = _parsed(Path(path))
    builtin = {one.id: one for one in builtin_codebooks()}
    if book.id in builtin and book.sha256 != builtin[book.id].sha256:
        problem = f"the id {book.id!r} is that of a codebook of this package"
        raise _Fields({}, str(path)).error(problem, "Give it an id of its own, for its columns begin with it")
    taken = sorted(_columns(builtin.values()) & _columns([book])) if book.id not in builtin else []
    if taken:
        problem = f"the column {taken[0]!r} would be that of another codebook"
        raise _Fields({}, str(path)).error(problem, "Give the book another id")
    _check_crosswalk(book, builtin, str(path))
    return book


@functools.cache
def builtin_codebooks() -> tuple[Codebook, ...]:
    """Return the codebooks of the package, by id; the tagger does not give all of their codes."""
    paths = sorted((Path(__file__).parent / "codebooks").glob("*.toml"))
    read = [_parsed(path) for path in paths]
    books = {book.id: book for book in sorted(read, key=lambda book: book.id)}
    for path, book in zip(paths, read, strict=True):
        _check_crosswalk(book, books, str(path))
    return tuple(books.values())


@functools.cache
def correlation_of(*codes: str) -> float:
    """Return the largest `Code.turn_correlation` of some codes.

    Parameters
    ----------
    *codes : str
        Columns; those of no built-in codebook have `DEFAULT_CORRELATION`.
    """
    known = {code.column: code.turn_correlation for book in builtin_codebooks() for code in book.codes}
    return max(known.get(code, DEFAULT_CORRELATION) for code in codes)


def codebooks_with(columns: Iterable[str], *, more: Iterable[Codebook] = ()) -> tuple[Codebook, ...]:
    """Return the codebooks, reduced to the codes that have one of these columns.

    Parameters
    ----------
    columns : iterable of str
        As in ``load_tagger().names``. Books without any of them are left out.
    more : iterable of Codebook, optional
        Further books; built-in ones among them count once.
    """
    wanted = set(columns)
    books = {book.id: book for book in (*builtin_codebooks(), *more)}
    reduced = (
        replace(book, codes=tuple(code for code in book.codes if code.column in wanted)) for book in books.values()
    )
    return tuple(book for book in reduced if book.codes)


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


def parents(books: Iterable[Codebook]) -> dict[str, str]:
    """Return the parent of each sub-code, both as column names."""
    return {code.column: f"{code.book}_{code.parent}" for book in books for code in book.codes if code.parent}


# ---- files: each field is checked, and each error says what is wrong and how to mend it


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of a codebook in a file, or of its code of this name, which errors give."""

    table: Mapping[str, Any]
    path: str
    code: str = ""

    def error(self, problem: str, remedy: str) -> BadDataFileError:
        """Return the error to raise, which may quote a field of any length."""
        texts = (f"{self.code}: {problem}" if self.code else problem, remedy)
        return BadDataFileError(
            self.path, *(text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]} ..." for text in texts)
        )

    def only(self, known: Sequence[str]) -> None:
        """Refuse fields that nobody reads: most are misspelt."""
        for field in self.table:
            if field not in known:
                near = difflib.get_close_matches(field, known, n=1)
                remedy = f"Perhaps {near[0]!r} is meant" if near else f"The fields are {', '.join(known)}"
                raise self.error(f"there is no field {field!r}", remedy)

    def text(self, field: str, default: str | None = None) -> str:
        """Return a field of text on one line, or its default."""
        value = self.table.get(field, default)
        if value is None:
            raise self.error(f"the field {field!r} is missing", f'Add a line {field} = "..."')
        if not isinstance(value, str):
            raise self.error(f"the field {field!r} is not text", f'Put it into quotation marks: {field} = "..."')
        if not value.strip() and default is None:
            raise self.error(f"the field {field!r} is empty", "Say it in a few words")
        return " ".join(value.split())

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a list of sentences, empty where there is no such field."""
        value = self.table.get(field, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            form = f'Write {field} = ["First sentence.", "Second sentence."]'
            remedy = f"{form}, with square brackets even around a single one"
            raise self.error(f"the field {field!r} is not a list of sentences", remedy)
        return tuple(" ".join(one.split()) for one in value)

    def share(self, field: str, default: float) -> float:
        """Return a field that is a number from 0 to 1, or its default."""
        value = self.table.get(field, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            remedy = f"Write {field} = {default}, or leave it out"
            raise self.error(f"the field {field!r} is not a number from 0 to 1", remedy)
        return float(value)

    def number_from_1(self, field: str, default: int) -> int:
        """Return a field that is a whole number from 1, or its default."""
        value = self.table.get(field, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.error(f"the field {field!r} is not a whole number from 1", f"Write {field} = 3, or leave it out")
        return value

    def flag(self, field: str) -> bool:
        """Return a field that is true or false; false where there is no such field."""
        value = self.table.get(field, False)
        if not isinstance(value, bool):
            raise self.error(f"the field {field!r} is neither true nor false", f"Write {field} = true, or leave it out")
        return value

    def one_of(self, field: str, allowed: Sequence[str], default: str | None = None) -> Any:
        """Return a field that must have one of a few values."""
        value = self.text(field, default)
        if value not in allowed:
            choice = " or ".join(f"{field} = {one!r}" for one in allowed if one).replace("'", '"')
            raise self.error(f"the {field} {value!r} is not known", f"Write {choice}")
        return value

    def codes(self) -> list[_Fields]:
        """Return the codes of a codebook."""
        remedy = "Begin each code with a line [[codes]]"
        if self.table.get("codes", []) == []:
            raise self.error("the codebook has no codes", remedy)
        named = ((entry.get("id"), entry) for entry in self._tables("codes", remedy))
        return [
            _Fields(entry, self.path, f"code {id_!r}" if isinstance(id_, str) and id_ else f"code number {number}")
            for number, (id_, entry) in enumerate(named, start=1)
        ]

    def crosswalk(self) -> list[CrosswalkEntry]:
        """Return the entries of a code's crosswalk."""
        entries = []
        for table in self._tables("crosswalk", f"{_REMEDY}, on crosswalks"):
            one = _Fields(table, self.path, self.code)
            one.only(_CROSSWALK_FIELDS)
            quality = one.one_of("quality", QUALITIES)
            entries.append(CrosswalkEntry(one.text("to"), quality, one.text("note", default="")))
        return entries

    def identifier(self) -> str:
        """Return the id, which becomes part of the names of columns."""
        value = self.text("id")
        if not _ID.fullmatch(value) or len(value) > _LONGEST_ID:
            likely = re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_")[:_LONGEST_ID].rstrip("_")
            such = likely if _ID.fullmatch(likely) else "empathic_listening"
            remedy = f"Use small letters, digits and single _, {_LONGEST_ID} characters at most, such as {such!r}"
            raise self.error(f"the id {value!r} cannot be the name of a column", remedy)
        if not self.code and value.split("_")[0] in _OTHER_COLUMNS:
            problem = f"the id {value!r} begins as the names of other columns do"
            raise self.error(problem, "Choose another, such as the name of the manual")
        return value

    def _tables(self, field: str, remedy: str) -> Sequence[Mapping[str, Any]]:
        value = self.table.get(field, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.error(f"the field {field!r} does not have its form", remedy)
        return value


def _parsed(path: Path) -> Codebook:
    """Read a file, without comparing it with other codebooks."""
    data = read_bytes(path, LARGEST_TEXT, what="the codebook", remedy="Split it into several codebooks")
    fields = _Fields(toml_table(data, path, what="the codebook", remedy=_REMEDY), str(path))
    fields.only(_BOOK_FIELDS)
    id_, source = fields.identifier(), fields.text("source")
    unit = fields.one_of("unit", get_args(Unit), default="turn")
    codes = tuple(_code(id_, entry, source, unit) for entry in fields.codes())
    ids = [code.id for code in codes]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        problem = f"several codes have the id {', '.join(map(repr, twice))}"
        raise fields.error(problem, "Give each code an id of its own")
    _check_parents(codes, str(path))
    return Codebook(
        id=id_,
        name=fields.text("name"),
        definition=fields.text("definition"),
        source=source,
        codes=codes,
        file=path.name,
        sha256=hashlib.sha256(data).hexdigest(),
        place=fields.number_from_1("place", default=LAST),
        overlaps=fields.text("overlaps", default=""),
    )


def _code(book: str, fields: _Fields, source: str, unit: str) -> Code:
    fields.only(CODE_FIELDS)
    status = fields.one_of("status", get_args(Status), default="")
    return Code(
        book=book,
        id=fields.identifier(),
        name=fields.text("name"),
        role=fields.one_of("role", ("therapist", "client")),
        group=fields.text("group"),
        lane=fields.text("lane", default=""),
        definition=fields.text("definition"),
        examples=fields.texts("examples"),
        counter_examples=fields.texts("counter_examples"),
        source=fields.text("source", default=source),
        label=fields.text("label", default=""),
        unit=fields.one_of("unit", get_args(Unit), default=unit),
        parent=fields.text("parent", default=""),
        exclusive=fields.one_of("exclusive", get_args(Exclusive), default=""),
        one_of=fields.text("one_of", default=""),
        rest=fields.flag("rest"),
        crosswalk=tuple(fields.crosswalk()),
        status=status,
        status_reason=fields.text("status_reason", default=None if status else ""),
        turn_correlation=fields.share("turn_correlation", default=DEFAULT_CORRELATION),
    )


def _check_parents(codes: tuple[Code, ...], path: str) -> None:
    known = {code.id: code for code in codes}
    for code in codes:
        here = _Fields({}, path, f"code {code.id!r}")
        if code.exclusive and sum(one.parent == code.id for one in codes) < 2:
            raise here.error("it has fewer than two kinds that could exclude each other", "Leave out exclusive")
        if not code.parent:
            continue
        if code.parent not in known:
            problem = f"its parent {code.parent!r} is no code of this book"
            raise here.error(problem, "Name the id of a code of this book")
        parent = known[code.parent]
        if parent.parent or parent.role != code.role:
            what = "itself a kind of another code" if parent.parent else f"a code of {parent.role}s"
            remedy = "A parent has the same role and no parent of its own"
            raise here.error(f"its parent {code.parent!r} is {what}", remedy)


def _check_crosswalk(book: Codebook, books: Mapping[str, Codebook], path: str) -> None:
    """Refuse a crosswalk to a code that does not exist, or twice to one code."""
    known = sorted(f"{one.id}.{code.id}" for one in books.values() for code in one.codes if one.id != book.id)
    for code in book.codes:
        here, targets = _Fields({}, path, f"code {code.id!r}"), [entry.to for entry in code.crosswalk]
        for target in targets:
            if target not in known:
                problem = f"its crosswalk to {target!r} leads to no code of another built-in codebook"
                near = difflib.get_close_matches(target, known, n=1)
                hint = f"Perhaps {near[0]!r} is meant; " if near else "Write book.code, as in mi.question; "
                others = " ".join(sorted({one.partition(".")[0] for one in known}))
                raise here.error(problem, f"{hint}tanalyze codebook {others} lists all codes")
            if targets.count(target) > 1:
                raise here.error(f"its crosswalk names {target!r} several times", "Leave one")
