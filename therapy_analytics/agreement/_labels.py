"""What a table of human codes says of the machine's codes: its labels by the codebooks and crosswalks, its cells."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from therapy_analytics.behaviours import Code, builtin_codebooks
from therapy_analytics.behaviours.lanes import books_in_order
from therapy_analytics.errors import BadDataFileError
from therapy_analytics.readers._notes import counted
from therapy_analytics.tables import GOLD

EXHAUSTIVE = frozenset({"mi", "misc", "miti"})
"""Books whose codes leave no reflection, question or input uncoded; BOLT codes only some kinds of each."""
ALIASES = {"therapist_input": "input", "information_giving": "input_information", "neutral_talk": "neutral"}
_ENDINGS = ("_exists", "_present", "_talk", "_code")
NONE = frozenset({"", "none", "no", "nan", "na", "n/a", "-", "no_code", "uncoded"})
SETS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "therapist_behaviour": (("mi_question", "mi_reflection", "mi_input"), "other"),
    "client_talk": (("mi_change", "mi_sustain"), "neutral"),
}
"""Sets of codes of which a turn has one, and what it is where it has none of them."""
YES, NO = frozenset({"1", "1.0", "true", "yes", "y", "x", "t"}), frozenset({"0", "0.0", "false", "no", "n", "f"})
VARIED = 3
"""With so many different labels a column is taken to code its whole book: one kind of question then stands for all."""
_CODER_COLUMN = re.compile(r"(?:coder|annotator|rater|human|expert)[ _]?\w{1,12}")
_SEVERAL = re.compile(r"[;|,]")
MISSING, ZERO, UNSURE, ONE = 0, 1, 2, 3
REPEATED, LONGEST, MOST_NAMED = 3, 24, 12
LISTED = (
    "Only turns that the table lists count. Somebody who corrects a machine looks most where it errs: on such turns "
    "alone agreement is lower than on all."
)


Block = tuple[bool, pd.Series, Mapping[str, np.ndarray]]
"""Whether the values are derived (by a crosswalk or from a sub-code) or given by the coder; the coder of each row; and
the value of each code on each row (n_rows,)."""


@dataclass(frozen=True, slots=True)
class LabelMeaning:
    """Which of the machine's codes a turn with a label has, lacks, or may have.

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


def _only(column: str) -> LabelMeaning:
    return LabelMeaning(column, frozenset({column}), same=frozenset({column}))


@dataclass(frozen=True)
class LabelIndex:
    """The labels of the codebooks and of the user's table.

    Attributes
    ----------
    machine : frozenset of str
        The machine's columns.
    own : mapping
        The user's labels, as `slug` writes them, and their codes; an empty code means that the label stands for none.
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
        return max(books(), key=lambda book: (known[book], any(one.startswith(f"{book}_") for one in self.machine)))

    def meaning(self, label: str, book: str) -> LabelMeaning | None:
        """Return what a label means, or None where nobody knows."""
        label = slug(label)
        if label in self.own:
            code = self.own[label]
            return self.meaning_of(code, book) if code else LabelMeaning("", frozenset())
        return self.meaning_of(label, book)

    def meaning_of(self, name: str, book: str) -> LabelMeaning | None:
        """Return what the code of this name means: a column, an id, a label or the name of a code."""
        if name in self.machine and name not in _index():
            return _only(name)
        codes = _index().get(_base(name), ())
        if not codes:
            ends = [column for column in self.machine if column.endswith(f"_{name}")]
            return _only(ends[0]) if len(ends) == 1 else None
        order = {one: place for place, one in enumerate((book, *books()))}
        return _meaning(min(codes, key=lambda code: order[code.book]), self.machine)


def books() -> tuple[str, ...]:
    """Return the ids of the built-in codebooks, in the order in which they are asked where a label is in several."""
    return tuple(book.id for book in books_in_order())


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


def _meaning(code: Code, machine: frozenset[str]) -> LabelMeaning:
    """Return what a code means by its codebook: itself, its parent, and its crosswalks to other books."""
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
    return LabelMeaning(code.column, of_machine[0], of_machine[1], of_machine[2], of_machine[3], rest)


def _crosswalked(code: Code, *qualities: str) -> set[str]:
    return {entry.to.replace(".", "_", 1) for entry in code.crosswalk if entry.quality in qualities}


def _parents_of(columns: set[str]) -> set[str]:
    codes = [one for book in builtin_codebooks() for one in book.codes if one.column in columns and one.parent]
    return {f"{one.book}_{one.parent}" for one in codes}


def check_own(own: Mapping[str, str], labels: LabelIndex, path: str) -> None:
    """Refuse a user's table whose codes nobody knows."""
    for label, code in own.items():
        if code and labels.meaning_of(code, "") is None:
            known = ", ".join(sorted(labels.machine)[:8])
            raise BadDataFileError(
                path, f"the code {code!r} of {label!r} is not known", f"Give columns such as {known}"
            )


@dataclass(slots=True)
class CellReader:
    """Reads the cells of a table of human codes, and collects what a note must say of them.

    Attributes
    ----------
    labels : LabelIndex
        What labels mean.
    blank : str
        What an empty cell of labels means: ``none`` or ``missing``.
    keys : frozenset of str
        Columns that hold no codes.
    strange : Counter of str
        Labels that mean no code of the machine, and in how many rows.
    crosswalked : set of str
        Codes of other codebooks than that of the labels.
    remarks : list of str
        Further sentences.
    passed : list of str
        Columns that were left out.
    exclusive : list of tuple
        For each column that names the one code of a set that a turn has: the set, the coder and the code of each row.
    """

    labels: LabelIndex
    blank: str
    keys: frozenset[str]
    strange: Counter[str] = field(default_factory=Counter)
    crosswalked: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    exclusive: list[tuple[str, pd.Series, pd.Series]] = field(default_factory=list)

    def notes(self, derived: AbstractSet[str]) -> list[str]:
        """Say what was not understood, what was left out, and which of the derived codes are of another book."""
        # A label comes again and is short; what is not may be words of somebody.
        shown = sorted(label for label, n in self.strange.items() if n >= REPEATED and len(label) <= LONGEST)
        said = []
        if self.strange:
            named = f", among them {', '.join(shown[:MOST_NAMED])}" if shown else ""
            said.append(f"{counted(len(self.strange), 'label')} of no code of the machine{named}.")
        crosswalked = sorted(self.crosswalked & derived)
        if crosswalked:
            said.append(
                f"Taken from labels of another codebook that mean the same, or contain it: {', '.join(crosswalked)}."
            )
        more = f" and {len(self.passed) - MOST_NAMED} more" if len(self.passed) > MOST_NAMED else ""
        passed = [f"Columns left out: {', '.join(self.passed[:MOST_NAMED])}{more}."] if self.passed else []
        return said + passed + self.remarks

    def listed(self, rows: pd.DataFrame, coder: pd.Series) -> Iterator[Block]:
        """Read a row for each turn and code, with the value: what is not listed is not coded."""
        book = self.labels.best_book(map(slug, rows["code"]))
        value = rows["value"].map(_flag)
        self.remarks.append(LISTED)
        strange = int((value < 0).sum())
        if strange:
            self.remarks.append(f"{counted(strange, 'row')} whose value is neither 0 nor 1: left out.")
        for name, rows_of in rows.groupby("code").indices.items():
            meaning = self.labels.meaning(str(name), book)
            if meaning is None:
                self.strange[slug(name)] += len(rows_of)
                continue
            mine = np.zeros(len(rows), dtype=bool)
            mine[rows_of] = True
            given = np.where(mine & value.isin((ZERO, ONE)), value, MISSING)
            own = meaning.own in self.labels.machine
            # A row speaks of the code that it names; of others only where the machine does not have that one.
            yield not own, coder, dict.fromkeys({meaning.own} if own else meaning.same, given)

    def columns(self, rows: pd.DataFrame, coder: pd.Series) -> Iterator[Block]:
        """Read columns of 0 and 1, columns of labels, and a column for each coder."""
        of_run = any(f"p_{code}" in rows for code in self.labels.machine)
        left = [str(name) for name in rows.columns if name not in self.keys and not _no_coders(str(name), of_run)]
        people = [name for name in left if _CODER_COLUMN.fullmatch(slug(name)) and "coder" not in rows]
        flags = [name for name in left if set(map(_flag, rows[name].unique())) <= {0, 1, 3} and name not in people]
        known = {name: meaning for name in flags if (meaning := self._header(name, flags)) is not None}
        if known:
            yield from self._flags(rows, known, coder)
        for name in [one for one in left if one not in known]:
            whose = pd.Series(name, index=rows.index) if len(people) > 1 and name in people else coder
            yield from self._labelled(name, rows[name], whose)

    def _header(self, name: str, flags: Sequence[str]) -> LabelMeaning | None:
        return self.labels.meaning(name, self.labels.best_book(map(slug, flags)))

    def _flags(self, rows: pd.DataFrame, known: Mapping[str, LabelMeaning], coder: pd.Series) -> Iterator[Block]:
        cells = np.column_stack([rows[name].map(_flag).to_numpy(dtype=np.int64) for name in known])
        meanings = list(known.values())
        self._remember(meanings, self.labels.best_book(map(slug, known)))
        for meaning, values in zip(meanings, cells.T, strict=True):
            if meaning.own in self.labels.machine:
                yield False, coder, {meaning.own: values}
        yield True, coder, {code: _value(code, meanings, cells) for code in _family(meanings)}

    def _labelled(self, name: str, column: pd.Series, coder: pd.Series) -> Iterator[Block]:
        """Read a column of labels, if most of what is in it are labels."""
        cells = {cell: [slug(one) for one in _SEVERAL.split(cell) if slug(one) not in NONE] for cell in column.unique()}
        said = {label for found in cells.values() for label in found}
        book = self.labels.best_book(said)
        meanings = {label: found for label in sorted(said) if (found := self.labels.meaning(label, book)) is not None}
        if not meanings or 2 * len(meanings) < len(said):
            self.passed.append(name)
            return
        rows_of = column.value_counts()
        for cell, labels in cells.items():
            self.strange.update({label: int(rows_of[cell]) for label in labels if label not in meanings})
        kinds = list(meanings.values())
        table = np.array([[ONE if label in found else ZERO for label in meanings] for found in cells.values()])
        empty = np.array([not found for found in cells.values()]) & (self.blank == "missing")
        table[empty] = MISSING
        self._remember(kinds, book)
        at = column.map({cell: number for number, cell in enumerate(cells)}).to_numpy(dtype=np.int64)
        own = {meaning.own for meaning in kinds}
        for code in _family(kinds, fewest=1 if len(kinds) >= VARIED else 2):
            heard = _speaking(code, kinds)
            speakers = [kinds[one] for one in heard]
            yield code not in own, coder, {code: _value(code, speakers, table[:, heard])[at]}
        self._exclusive(column, coder, cells, meanings)

    def _remember(self, meanings: Sequence[LabelMeaning], book: str) -> None:
        """Collect the codes of other books of the package than that of the labels."""
        of_books = {
            code for code in _family(meanings, fewest=1) if code.startswith(tuple(f"{one}_" for one in books()))
        }
        self.crosswalked |= {code for code in of_books if not code.startswith(f"{book}_")}

    def _exclusive(
        self, column: pd.Series, coder: pd.Series, cells: Mapping[str, list[str]], meanings: Mapping[str, LabelMeaning]
    ) -> None:
        """Collect a column that names the one code of a set that a turn has."""
        for name, (codes, rest) in SETS.items():
            kinds = list(meanings.values())
            heard = {kinds[one].own for code in codes for one in _speaking(code, kinds)}
            one = {
                label: _member(meaning, codes, rest) if meaning.own in heard else ""
                for label, meaning in meanings.items()
            }
            if len(set(one.values()) - {""}) > 1:
                value = {cell: one.get(found[0], "") if len(found) == 1 else "" for cell, found in cells.items()}
                self.exclusive.append((name, coder, column.map(value)))


def _no_coders(name: str, of_run: bool) -> bool:
    """Return whether a column of a run's turns table holds codes of others than the coder who filled the table in."""
    return name == "unsure_codes" or (of_run and name.startswith(GOLD))


def _speaking(code: str, meanings: Sequence[LabelMeaning]) -> list[int]:
    """Return the places of the labels that bear on a code: those of its own book alone where one of them names it."""
    everyone = list(range(len(meanings)))
    if code not in {meaning.own for meaning in meanings}:
        return everyone
    return [one for one in everyone if meanings[one].own.partition("_")[0] == code.partition("_")[0]]


def _flag(cell: object) -> int:
    """Return the value of a cell of 0 and 1: -1 where it is anything else, `MISSING` where coders differ (0;1)."""
    parts = {_flag_of(part.strip()) for part in str(cell).casefold().split(";")}
    if len(parts) == 1:
        return parts.pop()
    return -1 if -1 in parts else (MISSING if {ZERO, ONE} <= parts else max(parts))


def _flag_of(text: str) -> int:
    if text in YES:
        return ONE
    return ZERO if text in NO else (MISSING if text in NONE else -1)


def _member(meaning: LabelMeaning, codes: Sequence[str], rest: str) -> str:
    found = [code for code in codes if code in meaning.sure]
    return found[0] if len(found) == 1 else (rest if meaning.rest == rest and not found else "")


def _family(meanings: Sequence[LabelMeaning], *, fewest: int = 2) -> list[str]:
    """Return the codes of which these labels tell both that a turn has and that it lacks them.

    A code of which only sub-codes are coded is told by at least `fewest` of them.
    """
    same = {code for one in meanings for code in one.same}
    parts = [code for one in meanings for code in one.part_of]
    covered = same | {code for code in parts if parts.count(code) >= fewest}
    return sorted(covered & {code for one in meanings for code in one.sure})


def _value(code: str, meanings: Sequence[LabelMeaning], cells: np.ndarray) -> np.ndarray:
    """Return the value of a code on each row (n,), from the values of its labels (n, n_labels)."""
    sure = np.array([code in one.sure for one in meanings])
    unsure = np.array([code in one.unsure for one in meanings])
    same = np.array([code in one.same for one in meanings])
    looked = (cells[:, same] == ZERO).any(axis=1) if same.any() else (cells[:, sure] == ZERO).any(axis=1)
    found = np.where(looked, ZERO, MISSING)
    found = np.where((cells[:, unsure] == ONE).any(axis=1) & (found != MISSING), UNSURE, found)
    return np.where((cells[:, sure] == ONE).any(axis=1), ONE, found)
