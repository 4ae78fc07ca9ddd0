"""What the cells of a table of human codes say of the machine's codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from therapy_analytics.agreement._labels import BOOKS, NONE, Labels, Meaning, slug
from therapy_analytics.readers._notes import counted
from therapy_analytics.tables import GOLD

SETS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "therapist_behaviour": (("mi_question", "mi_reflection", "mi_input"), "other"),
    "client_talk": (("mi_change", "mi_sustain"), "neutral"),
}
"""Sets of codes of which a turn has one, and what it is where it has none of them."""
YES, NO = frozenset({"1", "1.0", "true", "yes", "y", "x", "t"}), frozenset({"0", "0.0", "false", "no", "n", "f"})
VARIED = 3
"""A column of so many different labels is taken to code all that its book has: one kind of question is enough."""
_CODER_COLUMN = re.compile(r"(?:coder|annotator|rater|human|expert)[ _]?\w{1,12}")
_SEVERAL = re.compile(r"[;|,]")
MISSING, ZERO, UNSURE, ONE = 0, 1, 2, 3
REPEATED, LONGEST, MOST_NAMED = 3, 24, 12
LISTED = (
    "Only turns that the table lists count. Somebody who corrects a machine looks most where it errs: on such turns "
    "alone agreement is lower than on all."
)


Block = tuple[bool, pd.Series, Mapping[str, np.ndarray]]
"""Whether values are derived (over a crosswalk or from a kind of the code) and not the coder's own word, whose they
are, and the value of each code on each row (n_rows,)."""


@dataclass(slots=True)
class Reading:
    """Reads cells, and remembers what it met."""

    labels: Labels
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

    def _header(self, name: str, flags: Sequence[str]) -> Meaning | None:
        return self.labels.meaning(name, self.labels.best_book(map(slug, flags)))

    def _flags(self, rows: pd.DataFrame, known: Mapping[str, Meaning], coder: pd.Series) -> Iterator[Block]:
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

    def _remember(self, meanings: Sequence[Meaning], book: str) -> None:
        """Remember codes of other books than that of the labels; codes of no book of the package are the user's own."""
        of_books = {code for code in _family(meanings, fewest=1) if code.startswith(tuple(f"{one}_" for one in BOOKS))}
        self.crosswalked |= {code for code in of_books if not code.startswith(f"{book}_")}

    def _exclusive(
        self, column: pd.Series, coder: pd.Series, cells: Mapping[str, list[str]], meanings: Mapping[str, Meaning]
    ) -> None:
        """Remember a column that names the one code of a set that a turn has."""
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
    """Tell columns of a run's turns table that hold codes of others than the coder who filled the table in."""
    return name == "unsure_codes" or (of_run and name.startswith(GOLD))


def _speaking(code: str, meanings: Sequence[Meaning]) -> list[int]:
    """Return the places of the labels that speak of a code: of its own book alone where one of them names it."""
    everyone = list(range(len(meanings)))
    if code not in {meaning.own for meaning in meanings}:
        return everyone
    return [one for one in everyone if meanings[one].own.partition("_")[0] == code.partition("_")[0]]


def _flag(cell: object) -> int:
    """Return what a cell of 0 and 1 says: -1 where it says something else, nothing where coders differ (0;1)."""
    parts = {_flag_of(part.strip()) for part in str(cell).casefold().split(";")}
    if len(parts) == 1:
        return parts.pop()
    return -1 if -1 in parts else (MISSING if {ZERO, ONE} <= parts else max(parts))


def _flag_of(text: str) -> int:
    if text in YES:
        return ONE
    return ZERO if text in NO else (MISSING if text in NONE else -1)


def _member(meaning: Meaning, codes: Sequence[str], rest: str) -> str:
    found = [code for code in codes if code in meaning.sure]
    return found[0] if len(found) == 1 else (rest if meaning.rest == rest and not found else "")


def _family(meanings: Sequence[Meaning], *, fewest: int = 2) -> list[str]:
    """Return the codes of which these labels say both that a turn has and that it lacks them.

    A code of which only parts are coded counts with so many of its parts.
    """
    same = {code for one in meanings for code in one.same}
    parts = [code for one in meanings for code in one.part_of]
    covered = same | {code for code in parts if parts.count(code) >= fewest}
    return sorted(covered & {code for one in meanings for code in one.sure})


def _value(code: str, meanings: Sequence[Meaning], cells: np.ndarray) -> np.ndarray:
    """Return what each row (n, n_labels) says of a code."""
    sure = np.array([code in one.sure for one in meanings])
    unsure = np.array([code in one.unsure for one in meanings])
    same = np.array([code in one.same for one in meanings])
    looked = (cells[:, same] == ZERO).any(axis=1) if same.any() else (cells[:, sure] == ZERO).any(axis=1)
    found = np.where(looked, ZERO, MISSING)
    found = np.where((cells[:, unsure] == ONE).any(axis=1) & (found != MISSING), UNSURE, found)
    return np.where((cells[:, sure] == ONE).any(axis=1), ONE, found)
