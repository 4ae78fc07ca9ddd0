"""The cells of a table of human codes: the value of each code on each row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Ints
from therapy_analytics.core.printable import counted
from therapy_analytics.results.tables import GOLD
from therapy_analytics.stats.agreement._labels import SETS, LabelIndex, LabelMeaning, books, slug

NONE = frozenset({"", "none", "no", "nan", "na", "n/a", "-", "no_code", "uncoded"})
YES, NO = frozenset({"1", "1.0", "true", "yes", "y", "x", "t"}), frozenset({"0", "0.0", "false", "no", "n", "f"})
SEVERAL = re.compile(r"[;|,]")
"""What stands between several labels of a cell."""
VARIED = 3
"""With so many different labels a column is taken to code its whole book: one kind of question then stands for all."""
_CODER_COLUMN = re.compile(r"(?:coder|annotator|rater|human|expert)[ _]?\w{1,12}")
MISSING, ZERO, UNSURE, ONE = 0, 1, 2, 3
REPEATED, LONGEST, MOST_NAMED = 3, 24, 12
LISTED = (
    "Only turns that the table lists count. Somebody who corrects a machine looks most where it errs: on such turns "
    "alone agreement is lower than on all."
)

Block = tuple[bool, pd.Series, Mapping[str, Ints]]
"""Whether the values are derived (by a crosswalk or from a sub-code) or given by the coder; the coder of each row; and
the value of each code on each row (n_rows,)."""


@dataclass(slots=True)
class CellReader:
    """Reads the cells of a table of human codes, and collects what a note must say of them.

    It is given the meanings of labels, what a blank cell of labels means (``none`` or ``missing``), and the columns
    that hold no codes (`keys`). It collects labels that mean no code of the machine, with their numbers of rows
    (`unknown`); codes of other codebooks than that of the labels (`crosswalked`); further sentences (`remarks`);
    columns that were left out (`passed`); and for each column that names the one code of a set that a turn has, the
    set, the coder and the code of each row (`exclusive`).
    """

    labels: LabelIndex
    blank: str
    keys: frozenset[str]
    unknown: Counter[str] = field(default_factory=Counter)
    crosswalked: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    exclusive: list[tuple[str, pd.Series, pd.Series]] = field(default_factory=list)

    def notes(self, derived: AbstractSet[str]) -> list[str]:
        """Say what was not understood, what was left out, and which of the derived codes are of another book."""
        notes = []
        if self.unknown:
            # A label is short and repeated; anything else may be words of somebody.
            shown = sorted(label for label, n in self.unknown.items() if n >= REPEATED and len(label) <= LONGEST)
            among = f", among them {', '.join(shown[:MOST_NAMED])}" if shown else ""
            notes.append(f"{counted(len(self.unknown), 'label')} of no code of the machine{among}.")
        crosswalked = sorted(self.crosswalked & derived)
        if crosswalked:
            names = ", ".join(crosswalked)
            notes.append(f"Taken from labels of another codebook that mean the same, or contain it: {names}.")
        if self.passed:
            more = f" and {len(self.passed) - MOST_NAMED} more" if len(self.passed) > MOST_NAMED else ""
            notes.append(f"Columns left out: {', '.join(self.passed[:MOST_NAMED])}{more}.")
        return notes + self.remarks

    def listed(self, rows: pd.DataFrame, coder: pd.Series) -> Iterator[Block]:
        """Read a row for each turn and code, with the value: what is not listed is not coded."""
        book = self.labels.best_book(map(slug, rows["code"]))
        value = rows["value"].map(_flag)
        if "inclusion" not in rows:  # turns that were drawn, most often where the machine is unsure, are weighted
            self.remarks.append(LISTED)
        strange = int((value < 0).sum())
        if strange:
            self.remarks.append(f"{counted(strange, 'row')} whose value is neither 0 nor 1: left out.")
        for name, rows_of in rows.groupby("code").indices.items():
            meaning = self.labels.meaning(str(name), book)
            if meaning is None:
                self.unknown[slug(name)] += len(rows_of)
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
        names = [str(name) for name in rows.columns if name not in self.keys and name != "unsure_codes"]
        # In a run's own turns table, columns of gold codes are of others than the coder who filled the table in.
        left = [name for name in names if not (of_run and name.startswith(GOLD))]
        people = [name for name in left if _CODER_COLUMN.fullmatch(slug(name)) and "coder" not in rows]
        flags = [name for name in left if set(map(_flag, rows[name].unique())) <= {0, 1, 3} and name not in people]
        book = self.labels.best_book(map(slug, flags))
        known = {name: meaning for name in flags if (meaning := self.labels.meaning(name, book)) is not None}
        if known:
            yield from self._flags(rows, known, coder)
        for name in [one for one in left if one not in known]:
            whose = pd.Series(name, index=rows.index) if len(people) > 1 and name in people else coder
            yield from self._labelled(name, rows[name], whose)

    def _flags(self, rows: pd.DataFrame, known: Mapping[str, LabelMeaning], coder: pd.Series) -> Iterator[Block]:
        cells = np.column_stack([rows[name].map(_flag) for name in known]).astype(np.int64)
        meanings = list(known.values())
        self._remember(meanings, self.labels.best_book(map(slug, known)))
        for meaning, values in zip(meanings, cells.T, strict=True):
            if meaning.own in self.labels.machine:
                yield False, coder, {meaning.own: values}
        yield True, coder, {code: _value(code, meanings, cells) for code in _family(meanings)}

    def _labelled(self, name: str, column: pd.Series, coder: pd.Series) -> Iterator[Block]:
        """Read a column of labels, if most of what is in it are labels."""
        cells = {cell: [slug(one) for one in SEVERAL.split(cell) if slug(one) not in NONE] for cell in column.unique()}
        found = {label for labels in cells.values() for label in labels}
        book = self.labels.best_book(found)
        meanings = {label: one for label in sorted(found) if (one := self.labels.meaning(label, book)) is not None}
        if not meanings or 2 * len(meanings) < len(found):
            self.passed.append(name)
            return
        rows_of = column.value_counts()
        for cell, labels in cells.items():
            self.unknown.update({label: int(rows_of[cell]) for label in labels if label not in meanings})
        kinds = list(meanings.values())
        flags = [[ONE if label in labels else ZERO for label in meanings] for labels in cells.values()]
        table = np.array(flags, dtype=np.int64)
        table[np.array([not labels for labels in cells.values()]) & (self.blank == "missing")] = MISSING
        self._remember(kinds, book)
        at = column.map({cell: number for number, cell in enumerate(cells)}).to_numpy(dtype=np.int64)
        own = {meaning.own for meaning in kinds}
        for code in _family(kinds, fewest=1 if len(kinds) >= VARIED else 2):
            places = _bearing_on(code, kinds)
            yield code not in own, coder, {code: _value(code, [kinds[one] for one in places], table[:, places])[at]}
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
        kinds = list(meanings.values())
        for name, (codes, rest) in SETS.items():
            bearing = {kinds[one].own for code in codes for one in _bearing_on(code, kinds)}
            member = {label: _member(one, codes, rest) if one.own in bearing else "" for label, one in meanings.items()}
            if len(set(member.values()) - {""}) > 1:
                value = {cell: member.get(labels[0], "") if len(labels) == 1 else "" for cell, labels in cells.items()}
                self.exclusive.append((name, coder, column.map(value)))


def _bearing_on(code: str, meanings: Sequence[LabelMeaning]) -> list[int]:
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
    """Return the one of these codes that a label means, or the rest, or ""."""
    found = [code for code in codes if code in meaning.sure]
    return found[0] if len(found) == 1 else (rest if meaning.rest == rest and not found else "")


def _family(meanings: Sequence[LabelMeaning], *, fewest: int = 2) -> list[str]:
    """Return the codes that these labels code as present and as absent.

    A code of which only sub-codes are coded needs at least `fewest` of them.
    """
    same = {code for one in meanings for code in one.same}
    parts = [code for one in meanings for code in one.part_of]
    covered = same | {code for code in parts if parts.count(code) >= fewest}
    return sorted(covered & {code for one in meanings for code in one.sure})


def _value(code: str, meanings: Sequence[LabelMeaning], cells: Ints) -> Ints:
    """Return the value of a code on each row (n,), from the values of its labels (n, n_labels)."""
    sure, unsure, same = (
        np.array([code in getattr(one, kind) for one in meanings]) for kind in ("sure", "unsure", "same")
    )
    absent = (cells[:, same if same.any() else sure] == ZERO).any(axis=1)
    found = np.where(absent, ZERO, MISSING)
    found = np.where((cells[:, unsure] == ONE).any(axis=1) & (found != MISSING), UNSURE, found)
    return np.where((cells[:, sure] == ONE).any(axis=1), ONE, found)
