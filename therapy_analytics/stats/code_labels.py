"""What the labels of human coders say of the machine's codes, by the codebooks and their crosswalks."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from therapy_analytics.codes import Code, builtin_codebooks
from therapy_analytics.codes.lanes import books_in_order
from therapy_analytics.stats.people_tables import slug

EXHAUSTIVE = frozenset({"mi", "misc", "miti"})
"""Books whose codes leave no reflection, question or input uncoded; BOLT codes only some kinds of each."""
ALIASES = {"therapist_input": "input", "information_giving": "input_information", "neutral_talk": "neutral"}
_ENDINGS = ("_exists", "_present", "_talk", "_code")
SETS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "therapist_behaviour": (("mi_question", "mi_reflection", "mi_input"), "other"),
    "client_talk": (("mi_change", "mi_sustain"), "neutral"),
}
"""Sets of codes of which a turn has one, and the value where it has none of them."""


@dataclass(frozen=True, slots=True)
class LabelMeaning:
    """Which of the machine's codes (columns) a turn with a label has, lacks, or may have.

    `own` is the code that the label names, whether or not the machine has it; empty where it names none. A turn with
    the label has the codes `sure`, and may have those in `unsure`. A turn without it lacks the codes that mean the
    `same`, and if it has none of several such labels (simple and complex), those that they are `part_of` (reflection).
    `rest` is ``other`` or ``neutral`` where the label means that none of a role's codes fits.
    """

    own: str
    sure: frozenset[str]
    unsure: frozenset[str] = frozenset()
    same: frozenset[str] = frozenset()
    part_of: frozenset[str] = frozenset()
    rest: str = ""

    def member(self, name: str) -> str:
        """Return the one code of a set (of `SETS`) that the label means, or the value for none of them, or ""."""
        codes, rest = SETS[name]
        found = [code for code in codes if code in self.sure]
        return found[0] if len(found) == 1 else (rest if self.rest == rest and not found else "")


@dataclass(frozen=True)
class LabelIndex:
    """The labels of the codebooks and of the user's table.

    `machine` are the machine's columns; `own` the user's labels (`slug`) and their codes, empty where a label stands
    for none; `book` the codebook of the labels, empty to infer it.
    """

    machine: frozenset[str]
    own: Mapping[str, str] = field(default_factory=dict)
    book: str = ""

    def best_book(self, labels: Iterable[str]) -> str:
        """Return the book that has most of the labels."""
        if self.book:
            return self.book
        known = Counter(
            book for label in set(labels) for book in {code.book for code in _index().get(_base(label), ())}
        )
        return max(books(), key=lambda book: (known[book], any(one.startswith(f"{book}_") for one in self.machine)))

    def meaning(self, label: str, book: str) -> LabelMeaning | None:
        """Return the meaning of a label, or None where it is unknown."""
        label = slug(label)
        if self.own.get(label) == "":
            return LabelMeaning("", frozenset())
        return self.meaning_of(self.own.get(label, label), book)

    def meaning_of(self, name: str, book: str) -> LabelMeaning | None:
        """Return the meaning of the code of this name: a column, an id, a label or the name of a code."""
        codes = _index().get(_base(name), ())
        if codes and not (name in self.machine and name not in _index()):
            order = {one: place for place, one in enumerate((book, *books()))}
            return _meaning(min(codes, key=lambda code: order[code.book]), self.machine)
        own = [name] if name in self.machine else [one for one in self.machine if one.endswith(f"_{name}")]
        return LabelMeaning(own[0], frozenset(own), same=frozenset(own)) if len(own) == 1 else None

    def meanings(self, labels: Iterable[str], book: str) -> dict[str, LabelMeaning]:
        """Return the meanings of those labels that are known."""
        return {label: found for label in labels if (found := self.meaning(label, book)) is not None}


def books() -> tuple[str, ...]:
    """Return the ids of the built-in codebooks, in the order in which they are asked where a label is in several."""
    return tuple(book.id for book in books_in_order())


def bearing_on(code: str, meanings: Sequence[LabelMeaning]) -> list[int]:
    """Return the places of the labels that bear on a code: those of its own book alone where one of them names it."""
    if code not in {meaning.own for meaning in meanings}:
        return list(range(len(meanings)))
    book = code.partition("_")[0]
    return [at for at, one in enumerate(meanings) if one.own.partition("_")[0] == book]


def covered(meanings: Sequence[LabelMeaning], *, fewest: int = 2) -> list[str]:
    """Return the codes that these labels code as present and as absent.

    A code of which only sub-codes are coded needs at least `fewest` of them.
    """
    parts = Counter(code for one in meanings for code in one.part_of)
    found = {code for one in meanings for code in one.same} | {code for code in parts if parts[code] >= fewest}
    return sorted(found & {code for one in meanings for code in one.sure})


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


def _meaning(code: Code, machine: frozenset[str]) -> LabelMeaning:
    """Return the meaning of a code by its codebook: itself, its parent, and its crosswalks to other books."""
    book = next(one for one in builtin_codebooks() if one.id == code.book)
    parents = [one for one in book.codes if one.id == code.parent]
    kinds = {one.column for one in book.codes if one.parent == code.id}
    same = {code.column} | _crosswalked(code, "same")
    above = {column for one in parents for column in {one.column} | _crosswalked(one, "same")}
    wider = _crosswalked(code, "narrower").union(*(_crosswalked(one, "narrower") for one in parents))
    sure = same | above | wider
    # Where a label overlaps with a kind of code, whether the turn has that code stays open as well.
    near = _crosswalked(code, "broader", "overlaps")
    all_codes = [one for each in builtin_codebooks() for one in each.codes]
    of_near = {f"{one.book}_{one.parent}" for one in all_codes if one.column in near and one.parent}
    return LabelMeaning(
        own=code.column,
        sure=machine & sure,
        unsure=machine & ((near | of_near | kinds) - sure),
        same=machine & same,
        part_of=machine & (above | (wider if code.book in EXHAUSTIVE else set())),
        rest=code.group if code.group in {"other", "neutral"} else "",
    )


def _crosswalked(code: Code, *qualities: str) -> set[str]:
    return {entry.to.replace(".", "_", 1) for entry in code.crosswalk if entry.quality in qualities}
