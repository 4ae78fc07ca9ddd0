"""The coded turns from which a tagger is learnt: their texts, soft labels of each code, and groups of sessions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.agreement._gold import NAMES, GoldOptions, as_text, gold_of, named, read_table
from therapy_analytics.agreement._labels import NONE, LabelIndex, slug
from therapy_analytics.agreement._machine import Machine
from therapy_analytics.behaviours import Code, Codebook, builtin_codebooks, codebook_named
from therapy_analytics.errors import BadOptionError
from therapy_analytics.language import Batch, annotate
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.session import Role, Session
from therapy_analytics.training._groups import Groups, groups_of

Floats = NDArray[np.float64]
OWN = "own"
"""Id of the book that is made of labels which no codebook has."""
CODED: tuple[Role, ...] = ("therapist", "client")
BLANK, BESIDE = ("none", "missing"), ("accurate", "fast")
_LONGEST_LABEL = 40
_MOST_LABELS = 100
_YES, _NO = frozenset({"1", "1.0", "true", "yes", "y", "x", "t"}), frozenset({"0", "0.0", "false", "no", "n", "f"})
_SEVERAL = re.compile(r"[;|,]")
_MAKESHIFT = "A label of the user's codes; no codebook was given that defines it."


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """How codes are read, and how a tagger is learnt from them.

    Attributes
    ----------
    codebook : str, Path, Codebook or None
        What the labels are codes of: the user's own file (``docs/codebooks.md``), or ``mi``, ``bolt``, ``misc``,
        ``miti``. Without it, labels that a codebook of the package has are its codes, and all others become
        codes of a book ``own``.
    columns : mapping
        Which column of the table holds what, where the names do not say: ``session_id``, ``turn``, ``first_row``,
        ``text``, ``coder``, ``code``, ``value``.
    blank : {"none", "missing"}
        What an empty cell of labels means: that the turn has none of them, or that nobody coded it.
    only : tuple of str
        Columns of the codes to learn; all when empty.
    group : str or None
        Column about the sessions (``counselor``, ...) whose values are kept together when the model is tried on what
        it has not seen. Near-copies, and sessions of one ``client``, ``source_group`` or ``recording``, always are.
    warm_start : bool
        Whether what the tagger of the package says of a turn may be built on.
    beside : {"accurate", "fast"}
        Which tagger of the package is scored beside the new one, on the codes that both have.
    seed : int
        Of folds. The same seed and data give the same bytes.
    """

    codebook: str | Path | Codebook | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    blank: str = "none"
    only: tuple[str, ...] = ()
    group: str | None = None
    warm_start: bool = True
    beside: str = "accurate"
    seed: int = 0

    def __post_init__(self) -> None:
        for option, given, known in (("blank", self.blank, BLANK), ("beside", self.beside, BESIDE)):
            if given not in known:
                name = f"--{option}"
                raise BadOptionError(name, f"{given!r} is not known", f"Known: {', '.join(known)}")


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Coded turns.

    Attributes
    ----------
    batch : Batch
        The sessions that have coded turns; ``n_turns`` are their turns in order.
    codes : tuple of Code
        Codes to learn.
    labels : float64 array (n_turns, n_codes)
        The share of the coders who gave the code; nan where nobody coded the turn for it, or its role cannot have it.
    groups : int64 array (n_turns,)
        What is kept together in cross-validation.
    together : Groups
        The same by session, and why.
    n_coders : int
        How many people coded.
    notes : tuple of str
        What was matched and what was not, in sentences.
    """

    batch: Batch
    codes: tuple[Code, ...]
    labels: Floats
    groups: NDArray[np.int64]
    together: Groups
    n_coders: int
    notes: tuple[str, ...]

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0


def material_of(codes: Path | str | pd.DataFrame, sessions: Sequence[Session], options: TrainOptions) -> Material:
    """Match codes to the turns of sessions.

    Raises
    ------
    BadOptionError
        No code is found, nothing tells which turn a row is about, or a column is not there.
    BadDataFileError
        The file is no table, or the codebook is none.
    """
    table = as_text(codes) if isinstance(codes, pd.DataFrame) else read_table(codes)
    rows = named(table, options.columns)
    passed = _passed(rows) if options.codebook is None else []
    rows, wanted, book = _translated(rows, options.codebook)
    wanted = _chosen(wanted, options.only)
    machine = Machine(_turns(sessions, wanted), tuple(code.column for code in wanted), {})
    gold = gold_of(machine, rows, GoldOptions(book=book, blank=cast("Literal['none', 'missing']", options.blank)))
    shares = gold.values.pivot_table(index="place", columns="code", values="value", aggfunc="mean")
    found = tuple(code for code in wanted if code.column in shares.columns)
    labels = np.full((len(machine.turns), len(found)), np.nan)
    labels[shares.index.to_numpy(dtype=np.int64)] = shares[[code.column for code in found]].to_numpy(dtype=np.float64)
    found, labels, said = _with_roles(found, labels, machine.turns["role"].to_numpy())
    said += passed
    notes = (*(note for note in gold.notes if not note.startswith("Columns left out")), *said)
    return _material(sessions, found, labels, options, int(gold.values["coder"].nunique()), notes)


def _material(
    sessions: Sequence[Session],
    codes: tuple[Code, ...],
    labels: Floats,
    options: TrainOptions,
    n_coders: int,
    notes: tuple[str, ...],
) -> Material:
    """Keep the sessions that hold coded turns."""
    owner = np.repeat(np.arange(len(sessions)), [len(session.turns) for session in sessions])
    known = ~np.isnan(labels).all(axis=1)
    coded = np.unique(owner[known])
    kept = [sessions[number] for number in coded]
    mine = np.isin(owner, coded)
    _check_column(sessions, options.group)
    together = groups_of(kept, options.group)
    groups = np.repeat(together.index, [len(session.turns) for session in kept])
    roles = {code.role for code in codes}
    blank = sum(turn.role in roles for session in kept for turn in session.turns) - int(known.sum())
    if blank:
        who = " and ".join(f"{role}s" for role in sorted(roles, reverse=True))
        notes = (*notes, f"{blank:,} turns of {who} in these sessions have no codes: unknown, not without.")
    return Material(annotate(kept, Matcher([])), codes, labels[mine], groups, together, n_coders, notes)


def _check_column(sessions: Sequence[Session], column: str | None) -> None:
    known = sorted({name for one in sessions for name in one.metadata})
    if column is not None and column not in known:
        option = "--group"
        raise BadOptionError(option, f"nothing about the sessions is called {column!r}", f"Known: {', '.join(known)}")


def _turns(sessions: Sequence[Session], codes: Iterable[Code]) -> pd.DataFrame:
    rows = [(one.id, turn.index, turn.role, turn.first_row, turn.text) for one in sessions for turn in one.turns]
    turns = pd.DataFrame(rows, columns=["session_id", "turn", "role", "first_row", "text"])
    role = turns["role"]
    fits = {code.column: role.isin(CODED) if code.definition == _MAKESHIFT else role.eq(code.role) for code in codes}
    return turns.assign(**{name: np.where(mine, 0.0, np.nan) for name, mine in fits.items()})


def _chosen(codes: tuple[Code, ...], only: Sequence[str]) -> tuple[Code, ...]:
    names = [code.column for code in codes]
    strange = sorted(set(only) - set(names))
    if strange:
        option = "--only"
        raise BadOptionError(option, f"there is no code {strange[0]!r}", f"Known: {', '.join(names)}")
    return tuple(code for code in codes if not only or code.column in only)


def _with_roles(
    codes: tuple[Code, ...], labels: Floats, roles: NDArray[np.object_]
) -> tuple[tuple[Code, ...], Floats, list[str]]:
    """Give makeshift codes the role of most turns that have them; of other roles, nothing is known."""
    fitted, notes = [], []
    for at, code in enumerate(codes):
        role = code.role
        if code.definition == _MAKESHIFT:
            n = {one: int((labels[roles == one, at] > 0).sum()) for one in CODED}
            role = max(CODED, key=lambda one: n[one])
            if min(n.values()):
                notes.append(
                    f"{code.column} was given to {n['therapist']} turns of therapists and {n['client']} of clients: it "
                    f"is learnt on {role} turns. For both, code them under two names."
                )
        labels[roles != role, at] = np.nan
        fitted.append(replace(code, role=role))
    return tuple(fitted), labels, notes


def _translated(rows: pd.DataFrame, wanted: str | Path | Codebook | None) -> tuple[pd.DataFrame, tuple[Code, ...], str]:
    """Write labels of own codes as their columns; return the table, the codes to look for, and the book of labels."""
    if wanted is not None:
        book = wanted if isinstance(wanted, Codebook) else codebook_named(str(wanted))
        if book.id in {one.id for one in builtin_codebooks()}:
            return rows, book.codes, book.id
        names = {
            slug(name): code.column for code in book.codes for name in (code.id, code.name, code.label, code.column)
        }
        return _renamed(rows, names), book.codes, ""
    flags, cells = _flags(rows), _cells(rows)
    whole = LabelIndex(frozenset(code.column for book in builtin_codebooks() for code in book.codes))
    best = whole.best_book([*flags, *cells])
    strange = [one for one in (*flags, *cells) if whole.meaning(one, best) is None]
    known = [one for one in (*_labels_of_columns(rows), *flags, *cells) if whole.meaning(one, best) is not None]
    own = strange if len(known) >= len(strange) else [*flags, *cells]
    if len(own) > _MOST_LABELS:
        option = "codes"
        problem = f"the table has {len(own)} different labels"
        raise BadOptionError(option, problem, "Name the column of codes (--columns code=...), or give --codebook")
    made = {one: _made(one) for one in dict.fromkeys(own)}
    builtin = codebook_named(best).codes if len(known) >= max(len(strange), 1) else ()
    new = {code.column: code for code in made.values()}
    return _renamed(rows, {one: code.column for one, code in made.items()}), (*builtin, *new.values()), best


def _made(label: str) -> Code:
    name = re.sub(r"[^a-z0-9]+", "_", label.replace("+", "_plus").replace("-", "_minus")).strip("_") or "code"
    name = (name if name[0].isalpha() else f"code_{name}")[:_LONGEST_LABEL].strip("_")
    return Code(OWN, name, label.replace("_", " "), "therapist", OWN, _MAKESHIFT, (), (), source="The user's codes")


def _flags(rows: pd.DataFrame) -> list[str]:
    """Return columns of 0 and 1 that change within sessions: one that does not says something of the session."""
    return [name for name, changes in _binary(rows) if changes]


def _passed(rows: pd.DataFrame) -> list[str]:
    names = [name for name, changes in _binary(rows) if not changes]
    said = "the same for all turns of each session, so taken for facts about sessions and not for codes"
    return [f"Columns left out: {', '.join(names)} ({said})."] if names else []


def _binary(rows: pd.DataFrame) -> Iterator[tuple[str, bool]]:
    """Yield columns of 0 and 1, and whether they change within a session."""
    said = _YES | _NO | NONE
    for name in (str(name) for name in rows.columns if name not in NAMES):
        cells = rows[name].astype(str).str.strip().str.casefold()
        if set(cells.unique()) <= said and set(cells.unique()) & _YES:
            given = cells[~cells.isin(NONE)]
            session = rows.loc[given.index, "session_id"] if "session_id" in rows else pd.Series("", index=given.index)
            yield slug(name), bool((given.groupby(session.to_numpy()).nunique() > 1).any())


def _cells(rows: pd.DataFrame) -> list[str]:
    """Return the labels in the column of codes."""
    return _labels_in(rows["code"]) if "code" in rows else []


def _labels_of_columns(rows: pd.DataFrame) -> list[str]:
    """Return the labels of other columns with few different short values, such as one a kind of code."""
    names = [name for name in rows.columns if name not in NAMES and rows[name].nunique() <= _LONGEST_LABEL]
    return [label for name in names for label in _labels_in(rows[name])]


def _labels_in(column: pd.Series) -> list[str]:
    parts = {slug(part) for cell in column.astype(str).unique() for part in _SEVERAL.split(cell)}
    return sorted(part for part in parts - NONE if len(part) <= _LONGEST_LABEL)


def _renamed(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Write labels by these names, in headers and in cells of columns that hold nothing else but labels."""
    rows = rows.rename(columns={name: names[slug(name)] for name in rows.columns if slug(name) in names})
    changed = {}
    for name in rows.columns:
        if name == "code" or (name not in NAMES and rows[name].nunique() <= _MOST_LABELS):
            cells = {cell: _SEVERAL.split(str(cell)) for cell in rows[name].unique()}
            labels = {slug(part) for parts in cells.values() for part in parts}
            if labels & set(names):
                told = {cell: ";".join(names.get(slug(one), one) for one in parts) for cell, parts in cells.items()}
                changed[name] = rows[name].map(told)
    return rows.assign(**changed)
