"""Codes that people gave, in the forms that they have them: one value for each turn, coder and code."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from therapy_analytics.core.cells import restore
from therapy_analytics.core.clusters import Ints
from therapy_analytics.core.errors import BadDataFileError, BadOptionError, UnreadableFileError
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms, lacking_key, refuse_other_key
from therapy_analytics.readers import other_program, whole_file
from therapy_analytics.results.tables import GOLD
from therapy_analytics.stats.agreement._cells import MISSING, ONE, UNSURE, ZERO, Block, CellReader
from therapy_analytics.stats.agreement._labels import SETS, LabelIndex, books, slug
from therapy_analytics.stats.agreement._machine import Machine, with_words
from therapy_analytics.stats.agreement._match import match

NAMES: Mapping[str, tuple[str, ...]] = {
    "session_id": ("session_id", "session", "transcript_id", "transcript", "dialogue_id", "dialog_id",
                   "conversation_id", "conv_id", "case_id", "case", "source_file", "file"),
    "turn": ("turn", "turn_index", "turn_id", "turn_number", "volley"),
    "first_row": ("first_row", "row", "line"),
    "text": ("text", "utterance_text", "utt_text", "utterance", "turn_text", "sentence", "said", "words", "message"),
    "coder": ("coder", "annotator", "annotator_id", "coder_id", "rater", "rater_id", "annotator_name", "judge"),
    "code": ("code",),
    "value": ("value", "present", "coded"),
    "inclusion": ("inclusion",),
}  # fmt: skip
"""Names of columns in the wild, the best known first."""
ALONE = "human"
BLANK = ("none", "missing")
_GOLD = "gold"
_NO_TABLE = "Give a table: CSV, xlsx or JSON Lines, with a row a turn or a row a turn and code"
UNBLINDED = "unblinded"
"""The column by which corrections are known that version 0.4.0 let people make on the report page."""


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
        There are none, nothing identifies the turns, or they are unblinded corrections.
    BadDataFileError
        The file is not a table, or the table of labels is not right.
    """
    labels = label_index(options, machine.codes)
    refuse_other_key([machine.recipe], options.pseudonyms)
    if gold is None:
        rows, place, notes = _brought(machine, options)
    else:
        table = read_table(gold) if not isinstance(gold, pd.DataFrame) else as_text(gold)
        if table.empty:
            raise BadOptionError(_GOLD, "the table has no rows", "Give it a row for each turn and coder")
        rows = named(table, options.columns)
        refuse_unblinded(rows)
        if options.transcripts is not None:
            machine = with_words(machine, options.transcripts, options.pseudonyms)
        found = match(rows, machine.turns, options.pseudonyms, lacking_key([machine.recipe], options.pseudonyms))
        place, notes = found.place, found.notes
    values, sets, remarks = _values(rows, place, machine, labels, options.blank)
    if values.empty:
        remedy = f"Give --map, or columns such as {', '.join(machine.codes[:6])}"
        raise BadOptionError(_GOLD, "no code in it is one of the machine's", remedy)
    return Gold(values, sets, (*notes, *remarks), place)


def read_table(path: Path | str) -> pd.DataFrame:
    """Return a table (CSV of any separator, xlsx, JSON Lines), all cells as text.

    Raises
    ------
    BadDataFileError
        It is none that can be read.
    """
    path = Path(path)
    if path.suffix.lower() == ".eaf":
        problem = "this is an ELAN file, and codes are read from tables"
        remedy = "Export its tiers of codes from ELAN as tab-delimited text, from which docs/coding.md makes codes"
        raise BadDataFileError(str(path), problem, remedy)
    if (other := other_program(path)) is not None:
        raise BadDataFileError(str(path), f"{other[0]}, and codes are read from tables", other[1])
    if path.suffix.lower() == ".jsonl":
        return as_text(_json_lines(path))
    try:
        if path.suffix.lower() in {".xlsx", ".xlsm"}:
            from therapy_analytics.readers import bounded_zip  # noqa: PLC0415
            from therapy_analytics.readers.base import Source  # noqa: PLC0415

            bounded_zip(Source(path, "", data=path.read_bytes()))
            return restore(pd.read_excel(path, dtype=str, keep_default_na=False))
        table = pd.read_csv(path, dtype=str, keep_default_na=False, sep=None, engine="python", encoding="utf-8-sig")
        return restore(table)
    except (ValueError, OSError, csv.Error, pd.errors.ParserError):
        raise BadDataFileError(str(path), "it is no table that can be read", "Save it as CSV (UTF-8) or xlsx") from None


def _json_lines(path: Path) -> pd.DataFrame:
    try:
        lines = whole_file(str(path), str(path)).decode("utf-8-sig").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        frame = pd.DataFrame(rows)
    except (ValueError, RecursionError, AttributeError, UnreadableFileError):
        problem = "it is no table that can be read: JSON Lines with an object a line"
        raise BadDataFileError(str(path), problem, _NO_TABLE) from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise BadDataFileError(str(path), "its lines are not objects", _NO_TABLE)
    return frame


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with all cells as text, "" where they are missing."""
    return frame.astype(object).where(frame.notna(), "").astype(str).reset_index(drop=True)


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


def named(
    table: pd.DataFrame, wanted: Mapping[str, str], names_in_use: Mapping[str, Sequence[str]] = NAMES
) -> pd.DataFrame:
    """Give columns that are named in one of many ways their standard names; leave all others.

    Parameters
    ----------
    table : DataFrame
        The table, all cells as text.
    wanted : mapping of str to str
        Which column holds what, by standard name, where the names do not say.
    names_in_use : mapping of str to sequence of str, optional
        Standard names, each with the names that people give such a column, the best known first.

    Raises
    ------
    BadOptionError
        ``wanted`` names what is no standard name, or a column that the table does not have.
    """
    unknown = sorted(set(wanted) - set(names_in_use)) + sorted(set(wanted.values()) - set(table.columns))
    if unknown:
        option, remedy = "columns", f"Known: {', '.join(names_in_use)}, and the table's columns"
        raise BadOptionError(option, f"{unknown[0]!r} is not known", remedy)
    by_slug = {slug(name): str(name) for name in reversed(table.columns)}
    found: dict[str, str] = {name: kind for kind, name in wanted.items()}
    for kind, names in names_in_use.items():
        free = [by_slug[name] for name in names if name in by_slug and by_slug[name] not in found]
        fits = [name for name in free if kind != "text" or not _are_numbers(table[name])]
        if fits and kind not in found.values():
            found[fits[0]] = kind
    return table.rename(columns=found)


def _are_numbers(column: pd.Series) -> bool:
    return bool(pd.to_numeric(column, errors="coerce").notna().mean() > 0.5)


def _brought(machine: Machine, options: GoldOptions) -> tuple[pd.DataFrame, Ints, tuple[str, ...]]:
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
    rows = as_text(machine.turns[names]).rename(columns=lambda name: str(name).removeprefix(GOLD))
    note = "The human codes are those in the transcripts (columns gold_... of turns.csv), as of one coder."
    return rows, np.arange(len(rows)), (note,)


def _values(
    rows: pd.DataFrame, place: Ints, machine: Machine, labels: LabelIndex, blank: str
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return the values of codes and of sets, and what was not understood."""
    kept = place >= 0
    rows, place = rows[kept].reset_index(drop=True), place[kept]
    coder = rows["coder"].where(rows["coder"] != "", ALONE) if "coder" in rows else pd.Series(ALONE, index=rows.index)
    reader = CellReader(labels, blank, frozenset(NAMES) - {"code"})
    is_long = {"code", "value"} <= set(rows.columns)
    blocks = list(reader.listed(rows, coder) if is_long else reader.columns(rows, coder))
    values, derived = _resolved(blocks, place)
    values = _with_inclusion(_of_their_role(values, machine), rows, place)
    sets = _of_their_role(_sets(reader.exclusive, values, place, machine), machine)
    return values, _with_inclusion(sets, rows, place), reader.notes(derived)


def _resolved(blocks: Sequence[Block], place: Ints) -> tuple[pd.DataFrame, set[str]]:
    """Return one value for each turn, coder and code, and the codes of which some values are derived.

    A given value always wins: derived values fill only codes that the coder gives nowhere. Of several columns a
    definite value counts more than an open one, of several rows of a turn a 1 counts more than a 0.
    """
    rank = {UNSURE: 1, ZERO: 2, ONE: 3}
    about = {"row": np.arange(len(place)), "place": place}
    frames = [
        pd.DataFrame(about | {"coder": coder, "code": code, "value": value, "derived": derived})
        for derived, coder, codes in blocks
        for code, value in codes.items()
    ]
    if not frames:
        return pd.DataFrame({"place": [], "coder": [], "code": [], "value": []}), set()
    whole = pd.concat(frames, ignore_index=True)
    whole = whole[whole["value"] != MISSING].assign(rank=lambda one: one["value"].map(rank))
    whole = whole[whole["derived"] == whole.groupby(["coder", "code"])["derived"].transform("min")]
    rows = whole.groupby(["row", "place", "coder", "code"], sort=False)["rank"].max().reset_index()
    rows["value"] = rows["rank"].map({number: value for value, number in rank.items()})
    turns = rows.groupby(["place", "coder", "code"], sort=True)["value"].max().reset_index()
    turns = turns[turns["value"] != UNSURE]
    turns = turns.assign(value=(turns["value"] == ONE).astype(np.int64)).reset_index(drop=True)
    return turns, set(whole.loc[whole["derived"], "code"])


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


def _sets(
    exclusive: Sequence[tuple[str, pd.Series, pd.Series]], values: pd.DataFrame, place: Ints, machine: Machine
) -> pd.DataFrame:
    """Return the one code of each set that a turn has, from columns that name it, else from the codes."""
    found = [
        pd.DataFrame({"place": place, "coder": coder, "code": name, "value": value}) for name, coder, value in exclusive
    ]
    told = {name for name, _, _ in exclusive}
    others = [name for name in SETS if name not in told and set(SETS[name][0]) <= set(machine.codes)]
    found += [_from_codes(values, name) for name in others]
    whole = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(values))
    group = whole[whole["value"] != ""].groupby(["place", "coder", "code"])["value"]
    return group.first()[group.nunique() == 1].reset_index()


def _from_codes(values: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the set's code of turns that have one of its codes, or none."""
    codes, rest = SETS[name]
    own = values[values["code"].isin(codes)]
    wide = own.pivot_table(index=["place", "coder"], columns="code", values="value")
    wide = wide.reindex(columns=list(codes)).dropna()
    wide = wide[wide.sum(axis=1) < 2]
    one = np.where(wide.sum(axis=1) == 1, wide.to_numpy().argmax(axis=1) if len(wide) else 0, len(codes))
    value = np.array([*codes, rest], dtype=object)[one.astype(np.int64)]
    return wide.index.to_frame(index=False).assign(code=name, value=value)


def _of_their_role(values: pd.DataFrame, machine: Machine) -> pd.DataFrame:
    """Leave out values of turns whose role cannot have the code."""
    if values.empty:
        return values
    roles = {code: set(machine.turns["role"][machine.turns[code].notna()]) for code in machine.codes}
    roles |= {name: roles.get(codes[0], set()) for name, (codes, _) in SETS.items()}
    role = machine.turns["role"].to_numpy()[values["place"].to_numpy(dtype=np.int64)]
    fits = [one in roles.get(code, set()) for one, code in zip(role, values["code"], strict=True)]
    return values[fits].reset_index(drop=True)
