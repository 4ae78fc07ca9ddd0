"""Codes that people gave, in one of two forms: one value for each turn, coder and code.

The long form has a row a turn and code (``session_id``, ``turn``, ``code``, ``value``), the wide form a row a turn and
code columns of 0 and 1; both may have ``coder``. ``docs/coding.md`` shows them. `Gold` is what either says of the turns
of a run; so are the codes that transcripts bring with them (``gold_...``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Ints
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms, lacking_key, refuse_other_key
from therapy_analytics.results.tables import GOLD
from therapy_analytics.stats.code_labels import SETS, LabelIndex, LabelMeaning, bearing_on, books, covered
from therapy_analytics.stats.machine_codes import Machine, with_words
from therapy_analytics.stats.people_tables import NAMES, NONE, as_text, named, read_table, slug
from therapy_analytics.stats.turn_matching import match

ALONE = "human"
"""The coder where a table names none."""
BLANK = ("none", "missing")
YES, NO = frozenset({"1", "1.0", "true", "yes", "y", "x", "t"}), frozenset({"0", "0.0", "false", "no", "n", "f"})
SEVERAL = re.compile(r"[;|,]")
"""What stands between several labels of a cell."""
VARIED = 3
"""With so many different labels a column is taken to code its whole book: one kind of question then stands for all."""
UNBLINDED = "unblinded"
"""The column by which corrections are known that version 0.4.0 let people make on the report page."""
LISTED = (
    "Only turns that the table lists count. Somebody who corrects a machine looks most where it errs: on such turns "
    "alone agreement is lower than on all."
)
MISSING, UNSURE, ZERO, ONE = 0, 1, 2, 3
"""Values of a code on a row: of several columns the larger counts, which is the more definite."""
REPEATED, LONGEST, MOST_NAMED = 3, 24, 12
_CODER_COLUMN = re.compile(r"(?:coder|annotator|rater|human|expert)[ _]?\w{1,12}")
_GOLD = "gold"


@dataclass(frozen=True, slots=True)
class GoldOptions:
    """How a table of human codes is read.

    Attributes
    ----------
    columns : mapping
        Which column holds what, where the names do not say: ``session_id``, ``turn``, ``first_row``, ``text``,
        ``coder``, ``code``, ``value``.
    labels : path or None
        CSV with columns ``label`` and ``code``: what the coders' labels mean, as columns of ``turns.csv`` or codes
        of the codebooks. An empty code: the label stands for none.
    book : str
        The codebook of the labels, ``mi``, ``bolt``, ``misc``, ``miti`` or ``process``, where one label is in several.
    blank : {"none", "missing"}
        What an empty cell of labels means: that the turn has none of them, or that nobody coded it.
    transcripts : path or None
        Where the words are, to match rows by them; results of ``run --quotes`` hold them already.
    pseudonyms : Pseudonyms or None
        The key that the results were made with: sessions of the table and of the transcripts get its pseudonyms.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Path | str | None = None
    book: str = ""
    blank: str = "none"
    transcripts: Path | str | None = None
    pseudonyms: Pseudonyms | None = None

    def __post_init__(self) -> None:
        for option, given, known in (("blank", self.blank, BLANK), ("book", self.book, ("", *books()))):
            if given not in known:
                raise BadOptionError(option, f"{given!r} is not known", f"Known: {', '.join(filter(None, known))}")


@dataclass(frozen=True, slots=True)
class Gold:
    """Codes that people gave.

    Attributes
    ----------
    values : DataFrame
        ``place`` (row of the turns table), ``coder``, ``code`` (column of the turns table), ``value`` (0 or 1). Turns
        that a coder did not code have no row. ``inclusion`` (the probability with which the turn was drawn) if the
        table has it.
    sets : DataFrame
        ``place``, ``coder``, ``code`` (a name of `SETS`), ``value`` (its code, or other or neutral), ``inclusion``.
    notes : tuple of str
        What was matched, and what was not understood.
    place : int64 array (n_rows,)
        The row of the turns table that each row of the table of codes is about, -1 for none.
    """

    values: pd.DataFrame
    sets: pd.DataFrame
    notes: tuple[str, ...]
    place: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def read_gold(machine: Machine, gold: Path | str | pd.DataFrame | None, options: GoldOptions) -> Gold:
    """Return the human codes of a table, or those that the transcripts brought with them (``gold_...``).

    Raises
    ------
    BadOptionError
        There are none, nothing identifies the turns, the table has neither form, or its codes are unblinded
        corrections.
    BadDataFileError
        The file is not a table, or the table of labels is not right.
    """
    labels = label_index(options, machine.codes)
    refuse_other_key([machine.recipe], options.pseudonyms)
    if gold is None:
        rows = _brought(machine, options)
        place = np.arange(len(rows))
        notes: tuple[str, ...] = (
            "The human codes are those in the transcripts (columns gold_... of turns.csv), as of one coder.",
        )
    else:
        rows = named(read_table(gold) if not isinstance(gold, pd.DataFrame) else as_text(gold), options.columns)
        if rows.empty:
            raise BadOptionError(_GOLD, "the table has no rows", "Give it a row for each turn and coder")
        refuse_unblinded(rows)
        if options.transcripts is not None:
            machine = with_words(machine, options.transcripts, options.pseudonyms)
        found = match(rows, machine.turns, options.pseudonyms, lacking_key([machine.recipe], options.pseudonyms))
        place, notes = found.place, found.notes
    own = rows[place >= 0].reset_index(drop=True)
    reader = _CodeReader(own, labels, options.blank)
    if {"code", "value"} <= set(own):
        reader.listed()
    elif gold is None:
        reader.brought()
    elif "code" in own:
        reader.labels_in("code")
        reader.passed += [str(name) for name in own if name not in NAMES]
    else:
        reader.wide()
    at = place[place >= 0]
    values, derived = reader.resolved(at)
    values = _with_inclusion(_of_their_role(values, machine), own, at)
    if values.empty:
        remedy = f"Give --map, or columns such as {', '.join(machine.codes[:6])}"
        raise BadOptionError(_GOLD, "no code in it is one of the machine's", remedy)
    sets = _with_inclusion(_of_their_role(_sets(reader, values, at, machine), machine), own, at)
    return Gold(values, sets, (*notes, *reader.notes(derived)), place)


def refuse_unblinded(rows: pd.DataFrame) -> None:
    """Refuse corrections that somebody made with the machine's answer in view: they show too much agreement with it."""
    if UNBLINDED in rows and (rows[UNBLINDED] == "1").any():
        problem = "these are unblinded corrections, made with the machine's answer in view, and no measure of anything"
        remedy = "Draw turns with tanalyze sample and have them coded blind with tanalyze code"
        raise BadOptionError(_GOLD, problem, remedy)


def label_index(options: GoldOptions, codes: Sequence[str]) -> LabelIndex:
    """Return the meanings of labels; refuse a user's table whose codes nobody knows."""
    builtin = LabelIndex(frozenset(codes), book=options.book)
    if options.labels is None:
        return builtin
    path, table = str(options.labels), read_table(options.labels)
    table.columns = [slug(name) for name in table.columns]
    if not {"label", "code"} <= set(table.columns):
        raise BadDataFileError(path, "it has no columns label and code", "Name its columns so")
    own = {slug(label): slug(code) for label, code in zip(table["label"], table["code"], strict=True)}
    for label, code in own.items():
        if code and builtin.meaning_of(code, "") is None:
            remedy = f"Give columns such as {', '.join(sorted(codes)[:8])}"
            raise BadDataFileError(path, f"the code {code!r} of {label!r} is not known", remedy)
    return LabelIndex(frozenset(codes), own, options.book)


def codes_named(rows: pd.DataFrame, columns: Sequence[str], options: GoldOptions) -> set[str]:
    """Return which of these columns of codes a table (`named`) is about, and in the long form codes of no codebook."""
    labels = {slug(name) for name in rows if name not in NAMES}
    if "code" in rows:
        labels = {slug(label) for cell in rows["code"].unique() for label in SEVERAL.split(cell)} - NONE
    index = label_index(options, columns)
    known = index.meanings(labels, index.best_book(labels))
    own = labels - set(known) if {"code", "value"} <= set(rows) else set()
    return {meaning.own for meaning in known.values()} - {""} | own


def _brought(machine: Machine, options: GoldOptions) -> pd.DataFrame:
    """Return the codes that the transcripts brought, which stand beside the turns already."""
    remedy = "Name the table: tanalyze agree RESULTS CODES.csv"
    for option, given in (("--columns", bool(options.columns)), ("--transcripts", options.transcripts is not None)):
        if given:
            problem = "it is for a table of codes, and none was given"
            raise BadOptionError(option, problem, f"{remedy}, or leave this out")
    names = [name for name in machine.turns if str(name).startswith(GOLD)]
    if not names:
        problem = "the transcripts of this run brought no codes by people"
        raise BadOptionError(_GOLD, problem, "Name a table of codes: tanalyze agree RESULTS CODES.csv")
    return as_text(machine.turns[names]).rename(columns=lambda name: str(name).removeprefix(GOLD))


class _CodeReader:
    """Reads the cells of a table of human codes (`named`), and collects what a note must say of them."""

    def __init__(self, rows: pd.DataFrame, labels: LabelIndex, blank: str) -> None:
        self.rows, self.labels, self.blank = rows, labels, blank
        alone = pd.Series(ALONE, index=rows.index)
        self.coder = rows["coder"].where(rows["coder"] != "", alone) if "coder" in rows else alone
        self.frames: list[pd.DataFrame] = []  # row, coder, code, value, derived: whether it follows from other codes
        self.exclusive: dict[str, list[pd.DataFrame]] = {}  # by set: row, coder, value (its one code, or "")
        self.unknown: Counter[str] = Counter()  # labels of no code of the machine, with their numbers of rows
        self.crosswalked: set[str] = set()  # codes of other codebooks than that of the labels
        self.passed: list[str] = []  # columns that were left out
        self.remarks: list[str] = []

    def listed(self) -> None:
        """Read the long form: what is not listed is not coded."""
        book = self.labels.best_book(map(slug, self.rows["code"]))
        value = _flags(self.rows["value"])
        if "inclusion" not in self.rows:  # turns that were drawn, most often where the machine is unsure, are weighted
            self.remarks.append(LISTED)
        strange = int((value < 0).sum())
        if strange:
            self.remarks.append(f"{counted(strange, 'row')} whose value is neither 0 nor 1: left out.")
        for name, at in self.rows.groupby("code").indices.items():
            meaning = self.labels.meaning(str(name), book)
            if meaning is None:
                self.unknown[slug(name)] += len(at)
                continue
            own = meaning.own in self.labels.machine
            kept = np.asarray(at)[np.isin(value[at], (ZERO, ONE))]
            # A row speaks of the code that it names; of others only where the machine does not have that one.
            for code in {meaning.own} if own else meaning.same:
                self._keep(code, value[kept], kept, derived=not own)

    def wide(self) -> None:
        """Read the wide form: a column of 0 and 1 a code."""
        # In a run's own turns table, columns of gold codes are of others than the coder who filled the table in.
        of_run = any(f"p_{code}" in self.rows for code in self.labels.machine)
        names = [str(name) for name in self.rows if name not in NAMES and name != "unsure_codes"]
        names = [name for name in names if not (of_run and name.startswith(GOLD))]
        left = self._read_flags(names)
        if len(left) == len(names):
            problem = "it has no column code, and no column of 0 and 1 that is named for a code"
            codes = ", ".join(sorted(self.labels.machine)[:6])
            remedy = f"Give columns session_id, turn, code and value, or a column a code (such as {codes})"
            raise BadOptionError(_GOLD, problem, remedy)
        self.passed += left

    def brought(self) -> None:
        """Read columns that transcripts brought: of 0 and 1, of labels, and of labels with a column a coder."""
        names = [str(name) for name in self.rows if name == "code" or name not in NAMES]
        people = [name for name in names if _CODER_COLUMN.fullmatch(slug(name)) and "coder" not in self.rows]
        left = self._read_flags([name for name in names if name not in people])
        for name in [one for one in names if one in left or one in people]:
            whose = pd.Series(name, index=self.rows.index) if len(people) > 1 and name in people else self.coder
            self.labels_in(name, whose, guessed=True)

    def labels_in(self, name: str, coder: pd.Series | None = None, *, guessed: bool = False) -> None:
        """Read a column of labels; if that is `guessed`, only where most of what is in it are labels."""
        column, coder = self.rows[name], self.coder if coder is None else coder
        cells = {cell: [slug(one) for one in SEVERAL.split(cell) if slug(one) not in NONE] for cell in column.unique()}
        found = {label for labels in cells.values() for label in labels}
        book = self.labels.best_book(found)
        meanings = self.labels.meanings(sorted(found), book)
        if guessed and 2 * len(meanings) < max(len(found), 1):
            self.passed.append(name)
            return
        n_rows = column.value_counts()
        for cell, labels in cells.items():
            self.unknown.update({label: int(n_rows[cell]) for label in labels if label not in meanings})
        if not meanings:
            return
        kinds = list(meanings.values())
        table = np.array([[ONE if label in labels else ZERO for label in meanings] for labels in cells.values()])
        table[np.array([not labels for labels in cells.values()]) & (self.blank == "missing")] = MISSING
        self._remember(kinds, book)
        at = column.map({cell: number for number, cell in enumerate(cells)}).to_numpy(dtype=np.int64)
        own = {meaning.own for meaning in kinds}
        for code in covered(kinds, fewest=1 if len(kinds) >= VARIED else 2):
            places = bearing_on(code, kinds)
            value = _value(code, [kinds[one] for one in places], table[:, places])[at]
            self._keep(code, value, derived=code not in own, coder=coder)
        for set_name, (codes, _) in SETS.items():
            bearing = {kinds[one].own for code in codes for one in bearing_on(code, kinds)}
            member = {label: one.member(set_name) for label, one in meanings.items() if one.own in bearing}
            if len(set(member.values()) - {""}) > 1:  # the column names the one code of the set that a turn has
                one_of = {cell: member.get(labels[0], "") if len(labels) == 1 else "" for cell, labels in cells.items()}
                frame = pd.DataFrame({"row": np.arange(len(column)), "coder": coder, "value": column.map(one_of)})
                self.exclusive.setdefault(set_name, []).append(frame)

    def _read_flags(self, names: Sequence[str]) -> list[str]:
        """Read those of these columns that are codes of 0 and 1; return the others."""
        cells = {name: _flags(self.rows[name]) for name in names}
        flags = [name for name in names if (cells[name] >= 0).all()]
        book = self.labels.best_book(map(slug, flags))
        known = self.labels.meanings(flags, book)
        if known:
            kinds, table = list(known.values()), np.column_stack([cells[name] for name in known])
            self._remember(kinds, self.labels.best_book(map(slug, known)))
            for meaning, value in zip(kinds, table.T, strict=True):
                if meaning.own in self.labels.machine:
                    self._keep(meaning.own, value, derived=False)
            for code in covered(kinds):
                self._keep(code, _value(code, kinds, table), derived=True)
        return [name for name in names if name not in known]

    def _keep(
        self, code: str, value: Ints, at: Ints | None = None, *, derived: bool, coder: pd.Series | None = None
    ) -> None:
        at, coder = np.arange(len(self.rows)) if at is None else at, self.coder if coder is None else coder
        frame = pd.DataFrame({"row": at, "coder": coder.to_numpy()[at], "code": code, "value": value})
        self.frames.append(frame[frame["value"] != MISSING].assign(derived=derived))

    def _remember(self, meanings: Sequence[LabelMeaning], book: str) -> None:
        """Collect the codes of other books of the package than that of the labels."""
        others = tuple(f"{one}_" for one in books() if one != book)
        self.crosswalked |= {code for code in covered(meanings, fewest=1) if code.startswith(others)}

    def resolved(self, place: Ints) -> tuple[pd.DataFrame, set[str]]:
        """Return one value for each turn, coder and code, and the codes of which some values are derived.

        A given value always wins: derived values fill only codes that the coder gives nowhere. Of several columns a
        definite value counts more than an open one, of several rows of a turn a 1 counts more than a 0.
        """
        if not self.frames:
            return pd.DataFrame({"place": [], "coder": [], "code": [], "value": []}), set()
        whole = pd.concat(self.frames, ignore_index=True)
        whole = whole[whole["derived"] == whole.groupby(["coder", "code"])["derived"].transform("min")]
        rows = whole.groupby(["row", "coder", "code"], sort=False)["value"].max().reset_index()
        by_turn = rows.assign(place=place[rows["row"]]).groupby(["place", "coder", "code"])["value"]
        turns = by_turn.agg(["min", "max"]).reset_index()
        turns = turns[(turns["max"] == ONE) | (turns["min"] == ZERO)].reset_index(drop=True)  # else it is open
        values = turns[["place", "coder", "code"]].assign(value=(turns["max"] == ONE).astype(np.int64))
        return values, set(whole.loc[whole["derived"], "code"])

    def notes(self, derived: set[str]) -> list[str]:
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


def _flags(column: pd.Series) -> Ints:
    """Return the values of cells of 0 and 1, (n_rows,): -1 for anything else."""
    return column.map({cell: _flag(cell) for cell in column.unique()}).to_numpy(dtype=np.int64)


def _flag(cell: object) -> int:
    """Return the value of a cell of 0 and 1: -1 where it is anything else, `MISSING` where coders differ (0;1)."""
    parts = set()
    for part in str(cell).casefold().split(";"):
        text = part.strip()
        parts.add(ONE if text in YES else ZERO if text in NO else MISSING if text in NONE else -1)
    if len(parts) == 1:
        return parts.pop()
    return -1 if -1 in parts else (MISSING if {ZERO, ONE} <= parts else max(parts))


def _value(code: str, meanings: Sequence[LabelMeaning], cells: Ints) -> Ints:
    """Return the value of a code on each row (n,), from the values of its labels (n, n_labels)."""
    sure, unsure, same = (
        np.array([code in getattr(one, kind) for one in meanings]) for kind in ("sure", "unsure", "same")
    )
    absent = (cells[:, same if same.any() else sure] == ZERO).any(axis=1)
    found = np.where(absent, ZERO, MISSING)
    found = np.where((cells[:, unsure] == ONE).any(axis=1) & (found != MISSING), UNSURE, found)
    return np.where((cells[:, sure] == ONE).any(axis=1), ONE, found)


def _with_inclusion(values: pd.DataFrame, rows: pd.DataFrame, place: Ints) -> pd.DataFrame:
    """Add the probability with which each turn was drawn, if the table says it."""
    if "inclusion" not in rows or not (rows["inclusion"] != "").any():
        return values
    given = pd.to_numeric(rows["inclusion"], errors="coerce").astype(np.float64)
    wrong = int((~((given > 0) & (given <= 1))).sum())
    differing = int((given.groupby(place).nunique() > 1).sum())
    if wrong or differing:
        problem = f"{counted(wrong, 'row')} say no inclusion between 0 and 1"
        problem = problem if wrong else f"{counted(differing, 'turn')} are given with several inclusions"
        remedy = "Keep the rows of one sample as tanalyze sample drew it, or remove the column inclusion"
        raise BadOptionError(_GOLD, problem, remedy)
    return values.assign(inclusion=given.groupby(place).first().reindex(values["place"]).to_numpy())


def _sets(reader: _CodeReader, values: pd.DataFrame, place: Ints, machine: Machine) -> pd.DataFrame:
    """Return the one code of each set that a turn has, from columns that name it, else from the codes."""
    found = [
        one.assign(place=place[one["row"]], code=name) for name, frames in reader.exclusive.items() for one in frames
    ]
    for name, (codes, rest) in SETS.items():
        if name in reader.exclusive or not set(codes) <= set(machine.codes):
            continue
        own = values[values["code"].isin(codes)]
        wide = own.pivot_table(index=["place", "coder"], columns="code", values="value")
        wide = wide.reindex(columns=list(codes)).dropna()
        wide = wide[wide.sum(axis=1) < 2]  # with two of its codes, a turn has no value
        value = np.where(wide.sum(axis=1) == 1, wide.to_numpy() @ np.arange(len(codes)), len(codes)).astype(np.int64)
        found.append(
            wide.index.to_frame(index=False).assign(code=name, value=np.array([*codes, rest], dtype=object)[value])
        )
    whole = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(values))
    group = whole[whole["value"] != ""].groupby(["place", "coder", "code"])["value"]
    return group.first()[group.nunique() == 1].reset_index()


def _of_their_role(values: pd.DataFrame, machine: Machine) -> pd.DataFrame:
    """Leave out values of turns whose role cannot have the code."""
    if values.empty:
        return values
    roles = {code: set(machine.turns["role"][machine.turns[code].notna()]) for code in machine.codes}
    roles |= {name: roles.get(codes[0], set()) for name, (codes, _) in SETS.items()}
    role = machine.turns["role"].to_numpy()[values["place"].to_numpy(dtype=np.int64)]
    fits = [one in roles.get(code, set()) for one, code in zip(role, values["code"], strict=True)]
    return values[fits].reset_index(drop=True)
