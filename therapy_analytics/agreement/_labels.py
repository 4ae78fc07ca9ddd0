"""What people call a code, and which of the machine's columns it speaks to."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from therapy_analytics.behaviours import Code, builtin_codebooks
from therapy_analytics.errors import BadDataFileError

BOOKS = ("mi", "bolt", "misc", "miti")
"""The order in which books are asked where a label is in several and nothing else decides."""
EXHAUSTIVE = frozenset({"mi", "misc", "miti"})
"""Books whose codes leave no reflection, question or input uncoded; BOLT codes only some kinds of each."""
ALIASES = {"therapist_input": "input", "information_giving": "input_information", "neutral_talk": "neutral"}
_ENDINGS = ("_exists", "_present", "_talk", "_code")
NONE = frozenset({"", "none", "no", "nan", "na", "n/a", "-", "no_code", "uncoded"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a label says of the machine's codes.

    Attributes
    ----------
    own : str
        Column of the code that the label names, whether or not the machine has it; empty where it names none.
    sure : frozenset of str
        Columns that a turn with this label has.
    unsure : frozenset of str
        Columns of which the label leaves open whether the turn has them.
    same : frozenset of str
        Columns that a turn without this label lacks: the code itself and those that mean the same.
    part_of : frozenset of str
        Columns that a turn lacks if it has none of several such labels (simple and complex, of reflection).
    rest : str
        ``other`` or ``neutral`` where the label means that none of a role's codes fits.
    """

    own: str
    sure: frozenset[str]
    unsure: frozenset[str] = frozenset()
    same: frozenset[str] = frozenset()
    part_of: frozenset[str] = frozenset()
    rest: str = ""


def _only(column: str) -> Meaning:
    return Meaning(column, frozenset({column}), same=frozenset({column}))


@dataclass(frozen=True)
class Labels:
    """The labels that are understood.

    Attributes
    ----------
    machine : frozenset of str
        The machine's columns.
    own : mapping
        Labels of the user's table, as `slug` writes them, to codes; an empty code means that the label stands for none.
    book : str
        The codebook that the labels are of; empty to find out.
    """

    machine: frozenset[str]
    own: Mapping[str, str] = field(default_factory=dict)
    book: str = ""

    def best_book(self, labels: Iterable[str]) -> str:
        """Return the book that knows most of the labels."""
        if self.book:
            return self.book
        known = Counter(
            book for label in set(labels) for book in {code.book for code in _index().get(_base(label), ())}
        )
        return max(BOOKS, key=lambda book: (known[book], any(one.startswith(f"{book}_") for one in self.machine)))

    def meaning(self, label: str, book: str) -> Meaning | None:
        """Return what a label means, or None where nobody knows."""
        label = slug(label)
        if label in self.own:
            code = self.own[label]
            return self.meaning_of(code, book) if code else Meaning("", frozenset())
        return self.meaning_of(label, book)

    def meaning_of(self, name: str, book: str) -> Meaning | None:
        """Return what the code of this name means: a column, an id, a label or the name of a code."""
        if name in self.machine and name not in _index():
            return _only(name)
        codes = _index().get(_base(name), ())
        if not codes:
            ends = [column for column in self.machine if column.endswith(f"_{name}")]
            return _only(ends[0]) if len(ends) == 1 else None
        order = {one: place for place, one in enumerate((book, *BOOKS))}
        return _meaning(min(codes, key=lambda code: order.get(code.book, 9)), self.machine)


def slug(label: object) -> str:
    """Return a label in lower case with _ for spaces; plus and minus stay, for they tell codes of MISC apart.

    Examples
    --------
    >>> slug(" Open Question "), slug("R+")
    ('open_question', 'r+')
    """
    text = str(label).strip().lower().replace(".", "_")
    return "_".join(text.replace("-", " ").split()) + ("-" if text.endswith("-") and len(text) > 1 else "")


def _base(label: str) -> str:
    """Return the label that is indexed: without an ending such as ``_exists``."""
    found = ALIASES.get(label, label)
    for ending in _ENDINGS:
        shorter = found.removesuffix(ending)
        found = ALIASES.get(shorter, shorter) if found not in _index() else found
    return found


@functools.cache
def _index() -> Mapping[str, tuple[Code, ...]]:
    """Return the codes by each of their names."""
    found: dict[str, list[Code]] = {}
    for book in builtin_codebooks():
        for code in book.codes:
            for name in {code.column, code.id, code.label or code.id, code.name, f"{code.book}.{code.id}"}:
                found.setdefault(slug(name), []).append(code)
    return {name: tuple(codes) for name, codes in found.items()}


def _meaning(code: Code, machine: frozenset[str]) -> Meaning:
    """Follow the codebook: the code itself, what it is a kind of, and its crosswalks to other books."""
    book = next(one for one in builtin_codebooks() if one.id == code.book)
    parents = [one for one in book.codes if one.id == code.parent]
    kinds = {one.column for one in book.codes if one.parent == code.id}
    same = {code.column} | _crosswalked(code, "same")
    above = {column for one in parents for column in {one.column} | _crosswalked(one, "same")}
    wider = _crosswalked(code, "narrower").union(*(_crosswalked(one, "narrower") for one in parents))
    sure = same | above | wider
    # Where a label overlaps with a kind of code, whether the turn has that code stays open as well.
    near = _crosswalked(code, "broader", "overlaps")
    unsure = (near | _parents_of(near) | kinds) - sure
    part_of = above | (wider if code.book in EXHAUSTIVE else set())
    rest = code.group if code.group in {"other", "neutral"} else ""
    of_machine = [frozenset(columns & machine) for columns in (sure, unsure, same, part_of)]
    return Meaning(code.column, of_machine[0], of_machine[1], of_machine[2], of_machine[3], rest)


def _crosswalked(code: Code, *qualities: str) -> set[str]:
    return {entry.to.replace(".", "_", 1) for entry in code.crosswalk if entry.quality in qualities}


def _parents_of(columns: set[str]) -> set[str]:
    codes = [one for book in builtin_codebooks() for one in book.codes if one.column in columns and one.parent]
    return {f"{one.book}_{one.parent}" for one in codes}


def check_own(own: Mapping[str, str], labels: Labels, path: str) -> None:
    """Refuse a user's table whose codes nobody knows."""
    for label, code in own.items():
        if code and labels.meaning_of(code, "") is None:
            known = ", ".join(sorted(labels.machine)[:8])
            raise BadDataFileError(
                path, f"the code {code!r} of {label!r} is not known", f"Give columns such as {known}"
            )
