"""The coded turns from which a tagger is learnt: their texts, soft labels of each code, and groups of sessions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.codes import Code, Codebook, builtin_codebooks, codebook_named
from therapy_analytics.codes.learnt import as_npz, turn_hashes
from therapy_analytics.core.clusters import Floats, Ints
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.core.session import Role, Session
from therapy_analytics.stats.code_labels import LabelIndex
from therapy_analytics.stats.machine_codes import Machine
from therapy_analytics.stats.people_codes import BLANK, NO, SEVERAL, YES, GoldOptions, read_gold, refuse_unblinded
from therapy_analytics.stats.people_tables import NAMES, NONE, as_text, named, read_table, slug
from therapy_analytics.stats.training._groups import Groups, groups_of
from therapy_analytics.text import Batch, annotate
from therapy_analytics.text.lexicons import Matcher

OWN = "own"
"""Id of the book that is made of labels which no codebook has."""
INCLUSION = "inclusion"
"""The column of a table of codes with the probability with which a turn was drawn to be coded."""
CODED: tuple[Role, ...] = ("therapist", "client")
BESIDE = ("accurate", "fast")
_LONGEST_LABEL = 40
_MOST_LABELS = 100
_MAKESHIFT = "A label of the user's codes; no codebook was given that defines it."


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """How codes are read, and how a tagger is learnt from them.

    Attributes
    ----------
    codebook : str, Path, Codebook or None
        The codebook of the labels: the user's own file (``docs/codebooks.md``), or ``mi``, ``bolt``, ``misc``,
        ``miti``, ``process``. Without it, labels that a codebook of the package has are its codes, and all others
        become codes of a book ``own``.
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
        Whether training begins at the package's tagger.
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
        for option, given, known in (("--blank", self.blank, BLANK), ("--beside", self.beside, BESIDE)):
            if given not in known:
                raise BadOptionError(option, f"{given!r} is not known", f"Known: {', '.join(known)}")


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """The sessions that have coded turns (`batch`), and the codes to learn.

    `labels` (n_turns, n_codes) is the share of the coders who gave a code; nan where nobody coded the turn for it, or
    its role cannot have it; `inclusion` (n_turns,) the probability with which the turn was drawn to be coded, 1 where
    the table does not say. `groups` (n_turns,) is what is kept together in cross-validation, `together` the same by
    session, and why. `notes` say what was matched and what was not.
    """

    batch: Batch
    codes: tuple[Code, ...]
    labels: Floats
    groups: Ints
    together: Groups
    n_coders: int
    notes: tuple[str, ...]
    inclusion: Floats

    @property
    def n_groups(self) -> int:
        """Return the number of groups."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0

    @property
    def n_coded(self) -> int:
        """Return the number of turns that are coded for any code."""
        return int((~np.isnan(self.labels)).any(axis=1).sum())

    def hashes(self) -> bytes:
        """Return the contents of the file by which sessions are known that the model learnt from."""
        return as_npz(learnt=turn_hashes(turn.text for session in self.batch.sessions for turn in session.turns))


def material_of(
    codes: Path | str | pd.DataFrame,
    sessions: Sequence[Session],
    options: TrainOptions,
    pseudonyms: Pseudonyms | None = None,
) -> Material:
    """Match codes to the turns of sessions, which may have been read with a key of pseudonyms.

    Raises
    ------
    BadOptionError
        No code is found, nothing identifies the turn of a row, or a column is missing.
    BadDataFileError
        The file is not a table, or the codebook is none.
    """
    rows = named(as_text(codes) if isinstance(codes, pd.DataFrame) else read_table(codes), options.columns)
    refuse_unblinded(rows)
    if {"code", "value"} <= set(
        rows.columns
    ):  # a row a turn and code: what stands beside, as in settled.csv, is no code
        rows = rows[[name for name in rows if name in NAMES]]
    constant = [name for name, changes in _binary(rows) if not changes] if options.codebook is None else []
    why = "the same for all turns of each session, so taken for facts about sessions and not for codes"
    facts = [f"Columns left out: {', '.join(constant)} ({why})."] if constant else []
    rows, wanted, book = _translated(rows, options.codebook)
    names = [code.column for code in wanted]
    if strange := sorted(set(options.only) - set(names)):
        raise BadOptionError("--only", f"there is no code {strange[0]!r}", f"Known: {', '.join(names)}")
    wanted = tuple(code for code in wanted if not options.only or code.column in options.only)
    machine = Machine(_turns(sessions, wanted), tuple(code.column for code in wanted), {})
    gold = read_gold(machine, rows, GoldOptions(book=book, blank=options.blank, pseudonyms=pseudonyms))
    shares = gold.values.pivot_table(index="place", columns="code", values="value", aggfunc="mean")
    wanted = tuple(code for code in wanted if code.column in shares.columns)
    labels = np.full((len(machine.turns), len(wanted)), np.nan)
    labels[shares.index.to_numpy(dtype=np.int64)] = shares[[code.column for code in wanted]].to_numpy(dtype=np.float64)
    wanted, remarks = _with_roles(wanted, labels, machine.turns["role"].to_numpy())
    inclusion = np.ones(len(labels))
    if INCLUSION in gold.values:
        inclusion[gold.values["place"].to_numpy(dtype=np.int64)] = gold.values[INCLUSION]
    known = sorted({name for one in sessions for name in one.metadata})
    if options.group is not None and options.group not in known:
        problem = f"no column about the sessions is called {options.group!r}"
        raise BadOptionError("--group", problem, f"Known: {', '.join(known)}")
    owner = np.repeat(np.arange(len(sessions)), [len(session.turns) for session in sessions])
    is_coded = ~np.isnan(labels).all(axis=1)
    with_codes = np.unique(owner[is_coded])
    kept = [sessions[number] for number in with_codes]
    together = groups_of(kept, options.group)
    notes = [*(note for note in gold.notes if not note.startswith("Columns left out")), *remarks, *facts]
    roles = {code.role for code in wanted}
    blank = sum(turn.role in roles for session in kept for turn in session.turns) - int(is_coded.sum())
    if blank:
        who = " and ".join(f"{role}s" for role in sorted(roles, reverse=True))
        notes.append(f"{blank:,} turns of {who} in these sessions have no codes: unknown, not without.")
    return Material(
        batch=annotate(kept, Matcher([])),
        codes=wanted,
        labels=labels[np.isin(owner, with_codes)],
        groups=np.repeat(together.index, [len(session.turns) for session in kept]),
        together=together,
        n_coders=int(gold.values["coder"].nunique()),
        notes=tuple(notes),
        inclusion=inclusion[np.isin(owner, with_codes)],
    )


def _turns(sessions: Sequence[Session], codes: Iterable[Code]) -> pd.DataFrame:
    """Return a table of turns as a tagger would give it: 0 where the role can have the code, else nan."""
    rows = [(one.id, turn.index, turn.role, turn.first_row, turn.text) for one in sessions for turn in one.turns]
    turns = pd.DataFrame(rows, columns=["session_id", "turn", "role", "first_row", "text"])
    role = turns["role"]
    fits = {code.column: role.isin(CODED) if code.definition == _MAKESHIFT else role.eq(code.role) for code in codes}
    return turns.assign(**{name: np.where(mine, 0.0, np.nan) for name, mine in fits.items()})


def _with_roles(
    codes: tuple[Code, ...], labels: Floats, roles: NDArray[np.object_]
) -> tuple[tuple[Code, ...], list[str]]:
    """Give makeshift codes the role of most turns that have them; of other roles, nothing is known (in `labels`)."""
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
    return tuple(fitted), notes


def _translated(rows: pd.DataFrame, wanted: str | Path | Codebook | None) -> tuple[pd.DataFrame, tuple[Code, ...], str]:
    """Write labels of own codes as their columns; return the table, the codes to look for, and the book of labels."""
    builtin = builtin_codebooks()
    if wanted is not None:
        book = wanted if isinstance(wanted, Codebook) else codebook_named(str(wanted))
        if book.id in {one.id for one in builtin}:
            return rows, book.codes, book.id
        names = {
            slug(name): code.column for code in book.codes for name in (code.id, code.name, code.label, code.column)
        }
        return _renamed(rows, names), book.codes, ""
    given = [
        *(name for name, changes in _binary(rows) if changes),
        *(_labels_in(rows["code"]) if "code" in rows else []),
    ]
    index = LabelIndex(frozenset(code.column for book in builtin for code in book.codes))
    best = index.best_book(given)
    strange = [one for one in given if index.meaning(one, best) is None]
    beside = [rows[name] for name in rows if name not in NAMES and rows[name].nunique() <= _LONGEST_LABEL]
    listed = [one for column in beside for one in _labels_in(column)]  # such as a column for each kind of code
    known = [one for one in (*listed, *given) if index.meaning(one, best) is not None]
    own = strange if len(known) >= len(strange) else given
    if len(own) > _MOST_LABELS:
        option, problem = "codes", f"the table has {len(own)} different labels"
        raise BadOptionError(option, problem, "Name the column of codes (--columns code=...), or give --codebook")
    made = {one: _made(one) for one in dict.fromkeys(own)}
    of_book = codebook_named(best).codes if len(known) >= max(len(strange), 1) else ()
    new = {code.column: code for code in made.values()}
    return _renamed(rows, {one: code.column for one, code in made.items()}), (*of_book, *new.values()), best


def _made(label: str) -> Code:
    """Return a makeshift code for a label that no codebook has."""
    name = re.sub(r"[^a-z0-9]+", "_", label.replace("+", "_plus").replace("-", "_minus")).strip("_") or "code"
    name = (name if name[0].isalpha() else f"code_{name}")[:_LONGEST_LABEL].strip("_")
    return Code(OWN, name, label.replace("_", " "), "therapist", OWN, _MAKESHIFT, (), (), source="The user's codes")


def _binary(rows: pd.DataFrame) -> Iterator[tuple[str, bool]]:
    """Yield columns of 0 and 1, and whether they change within a session."""
    for name in (str(name) for name in rows.columns if name not in NAMES):
        cells = rows[name].astype(str).str.strip().str.casefold()
        found = set(cells.unique())
        if found <= YES | NO | NONE and found & YES:
            given = cells[~cells.isin(NONE)]
            session = rows.loc[given.index, "session_id"] if "session_id" in rows else pd.Series("", index=given.index)
            yield slug(name), bool((given.groupby(session.to_numpy()).nunique() > 1).any())


def _labels_in(column: pd.Series) -> list[str]:
    """Return the labels in the cells of a column."""
    parts = {slug(part) for cell in column.dropna().astype(str).unique() for part in SEVERAL.split(cell)}
    return sorted(part for part in parts - NONE if len(part) <= _LONGEST_LABEL)


def _renamed(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Rename labels in headers, and in cells of columns that hold nothing else but labels."""
    rows = rows.rename(columns={name: names[slug(name)] for name in rows.columns if slug(name) in names})
    changed = {}
    for name in rows.columns:
        if name == "code" or (name not in NAMES and rows[name].nunique() <= _MOST_LABELS):
            cells = {cell: SEVERAL.split(str(cell)) for cell in rows[name].unique()}
            labels = {slug(part) for parts in cells.values() for part in parts}
            if labels & set(names):
                new = {cell: ";".join(names.get(slug(one), one) for one in parts) for cell, parts in cells.items()}
                changed[name] = rows[name].map(new)
    return rows.assign(**changed)
