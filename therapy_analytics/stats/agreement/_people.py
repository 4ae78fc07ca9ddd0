"""Two people with each other: how far they agree, and on which turns they differ. No machine takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from therapy_analytics.codes import builtin_codebooks
from therapy_analytics.core import private
from therapy_analytics.core.cells import csv_of_frame
from therapy_analytics.core.clusters import COLUMNS
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import Made, replaced_in, sources_of
from therapy_analytics.core.verbs import options_of
from therapy_analytics.results.tables import DIGITS
from therapy_analytics.stats.agreement._cells import LISTED, NONE, SEVERAL
from therapy_analytics.stats.agreement._gold import NAMES, Gold, GoldOptions, label_index, named, read_gold, read_table
from therapy_analytics.stats.agreement._labels import slug
from therapy_analytics.stats.agreement._machine import Machine
from therapy_analytics.stats.agreement._match import plain_id, session_names
from therapy_analytics.stats.agreement._people_report import report, summary
from therapy_analytics.stats.agreement._report import WEIGHTED, clusters_in_words
from therapy_analytics.stats.agreement._tables import coded, people_table

TABLES = ("coders", "disagreements")
PAGE = "adjudicate.html"
MOST_LABELS = 60
"""A column with more different values holds no labels."""
DIGITS_OF_INCLUSION = 6
_CODES = "codes"


@dataclass(frozen=True, slots=True)
class PeopleCodes:
    """What two people gave.

    Attributes
    ----------
    turns : DataFrame
        A row a turn: ``session_id``, ``turn``, ``role`` ("" where it is not known).
    coders : tuple of str
        The two people.
    values : DataFrame
        ``place`` (row of `turns`), ``coder``, ``code``, ``value`` (0 or 1).
    marks : DataFrame
        What else they said: ``place``, ``coder``, ``code`` ("" where it is about the turn as a whole), ``unsure``
        (0 or 1), ``note``, ``inclusion``, as text.
    """

    turns: pd.DataFrame
    coders: tuple[str, str]
    values: pd.DataFrame
    marks: pd.DataFrame


@dataclass(frozen=True, slots=True)
class CoderAgreement:
    """How far two people agree.

    Attributes
    ----------
    coders : DataFrame
        A row a code or set of codes: counts, agreement, kappa, AC1, alpha and F1, with intervals.
    disagreements : DataFrame
        A row a turn and code on which the two differ; no words and no notes.
    codes : PeopleCodes
        All that both gave.
    text : str
        The agreement in words (Markdown).
    summary : tuple of str
        The same in a few lines.
    sources : tuple of str
        The files that it was made from.
    """

    coders: pd.DataFrame
    disagreements: pd.DataFrame
    codes: PeopleCodes
    text: str
    summary: tuple[str, ...]
    sources: tuple[str, ...] = ()

    def write(
        self,
        folder: Path | str,
        *,
        page: bytes | None = None,
        replace: bool = False,
        on_before: Callable[[str], None] = lambda _: None,
    ) -> list[Path]:
        """Write the tables, ``agreement.md`` and, if given, the page on which they settle; return the files.

        Raises
        ------
        BadOptionError
            The folder holds anything else, or the agreement of others that may not be replaced.
        CannotWriteError
            The system refused to write.
        """
        folder = Path(folder)
        texts: dict[str, str | bytes] = {
            f"{name}.csv": csv_of_frame(getattr(self, name), digits=DIGITS) for name in TABLES
        }
        texts["agreement.md"] = self.text
        made = Made(
            what="an agreement of coders", names={*texts, PAGE}, beside={"settled.csv"}, sources=self.sources,
            replace=replace, say=on_before,
        )  # fmt: skip
        with replaced_in(folder, made) as part:
            for name, text in (texts | ({PAGE: page} if page is not None else {})).items():
                private.write(part / name, text)
        return [folder / name for name in (*texts, *([PAGE] if page is not None else []))]


def people_agreement(
    first: Path | str,
    second: Path | str,
    *,
    turns: pd.DataFrame | None = None,
    options: GoldOptions | None = None,
) -> CoderAgreement:
    """Compare the codes of two people.

    Parameters
    ----------
    first, second : str or Path
        A file of each person's codes, as `GoldOptions` says.
    turns : DataFrame, optional
        The turns that they coded: ``session_id``, ``turn``, ``role``, columns of clusters, and ``inclusion`` (the
        probability with which each was drawn, as text) if the files do not have it. By default those that the files
        name, with sessions as clusters.
    options : GoldOptions, optional
        How the tables are read.

    Raises
    ------
    BadOptionError
        A file holds no codes, codes of several people or of the same; both have no turn in common, or give one with
        different inclusions.
    BadDataFileError
        A file is not a table.
    """
    options = options_of(GoldOptions, options)
    paths = (Path(first), Path(second))
    tables = [_with_coder(named(read_table(path), options.columns), path) for path in paths]
    known = [] if turns is None else list(turns["session_id"].unique())
    for table in tables:
        table["session_id"] = session_names(table["session_id"].str.strip(), known, options.pseudonyms)
    coders = _coders(tables, paths)
    machine = _frame_of(tables, turns, options)
    parts = [_given(machine, table, options) for table in tables]
    values, sets = (pd.concat([getattr(part, name) for part, _ in parts]) for name in ("values", "sets"))
    inclusion = _inclusions(values, machine.turns)
    if len(inclusion):
        values, sets = (one.assign(inclusion=one["place"].map(inclusion)) for one in (values, sets))
    marks = pd.concat([own for _, own in parts], ignore_index=True)
    notes = [f"{path.name}: {note}" for path, (part, _) in zip(paths, parts, strict=True) for note in part.notes]
    sessions = list(dict.fromkeys(machine.turns["session_id"]))
    cluster_of, clustered_by = machine.clusters(sessions)
    table = people_table(coded(machine, Gold(values, sets, ()), cluster_of), coders)
    if table.empty:
        problem = f"{coders[0]} and {coders[1]} have no coded turn in common"
        raise BadOptionError(_CODES, problem, "Give two files about the same turns")
    codes = PeopleCodes(machine.turns[["session_id", "turn", "role"]], coders, values.reset_index(drop=True), marks)
    apart = _disagreements(codes)
    n_clusters = len({cluster_of[name] for name in machine.turns["session_id"].iloc[values["place"].unique()]})
    notes += [*([WEIGHTED] if len(inclusion) else []), clusters_in_words(clustered_by, n_clusters)]
    return CoderAgreement(
        coders=table,
        disagreements=apart,
        codes=codes,
        text=report(table, apart, notes, coders),
        summary=tuple(summary(table, apart, notes)),
        sources=sources_of(*paths),
    )


def _with_coder(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Give each row its coder: where the file names none, its own name stands for them."""
    lacking = [name for name in ("session_id", "turn") if name not in rows]
    if lacking:
        problem = f"{path.name} has no column {lacking[0]}"
        raise BadOptionError(_CODES, problem, "Two files of codes are compared by session_id and turn")
    return rows if "coder" in rows else rows.assign(coder=path.stem)


def _coders(tables: Sequence[pd.DataFrame], paths: Sequence[Path]) -> tuple[str, str]:
    """Return the names of the two people, one a file."""
    found = []
    for rows, path in zip(tables, paths, strict=True):
        names = [str(name) for name in rows["coder"].unique()]
        if len(names) != 1:
            problem = f"{path.name} holds the codes of {len(names)} people"
            raise BadOptionError(_CODES, problem, "Give a file of each of two people")
        found.append(names[0])
    if found[0] == found[1]:
        problem = f"both files hold the codes of {found[0]!r}"
        raise BadOptionError(_CODES, problem, "Give a file of each of two people")
    return found[0], found[1]


def _frame_of(tables: Sequence[pd.DataFrame], turns: pd.DataFrame | None, options: GoldOptions) -> Machine:
    """Return the turns and codes that are spoken of, in the form in which codes are matched to a machine's."""
    roles = {code.column: str(code.role) for book in builtin_codebooks() for code in book.codes}
    codes = sorted({code for rows in tables for code in _codes_in(rows, tuple(roles), options)})
    if not codes:
        raise BadOptionError(
            _CODES, "the files hold no code of a codebook", "Give --map, or columns such as mi_question"
        )
    found = _turns_in(tables) if turns is None else turns
    role = found["role"]
    columns: dict[str, object] = {}
    for code in codes:
        fits = (role == roles.get(code, "")) | (role == "") | (code not in roles)
        columns |= {code: np.where(fits, 0.0, np.nan), f"p_{code}": np.nan}
    about = found[["session_id", *(name for name in COLUMNS if name in found)]].drop_duplicates("session_id")
    whole = pd.concat([found, pd.DataFrame(columns, index=found.index)], axis=1)
    return Machine(whole, tuple(codes), {}, about)


def _turns_in(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the turns that files of codes name, each once, by session and in order.

    Sessions whose plain names are the same are one, unless a file has several of that name.
    """
    names = [rows["session_id"].astype(str).str.strip() for rows in tables]
    plain = [own.map({name: plain_id(name) for name in own.unique()}) for own in names]
    several = {
        one for own, by in zip(names, plain, strict=True) for one in by[own.groupby(by).transform("nunique") > 1]
    }
    every, by_plain = (pd.concat(own, ignore_index=True) for own in (names, plain))
    first = every.groupby(by_plain).transform("first")
    turn = pd.to_numeric(pd.concat([rows["turn"] for rows in tables], ignore_index=True), errors="coerce")
    found = pd.DataFrame(
        {"session_id": every.where(by_plain.isin(several), first), "turn": turn.fillna(-1).astype(np.int64)}
    )
    found = found[found["turn"] >= 0].drop_duplicates()
    order = found["session_id"].map({name: at for at, name in enumerate(found["session_id"].unique())})
    found = found.assign(order=order).sort_values(["order", "turn"])[["session_id", "turn"]]
    return found.assign(role="").reset_index(drop=True)


def _codes_in(rows: pd.DataFrame, columns: Sequence[str], options: GoldOptions) -> set[str]:
    """Return the codes that a table of human codes names."""
    is_long = {"code", "value"} <= set(rows.columns)
    labels = {slug(code) for code in rows["code"].unique()} if is_long else _labels_in(rows)
    index = label_index(options, columns)
    book = index.best_book(labels)
    found = {label: index.meaning(label, book) for label in labels}
    known = {meaning.own for meaning in found.values() if meaning is not None} - {""}
    # Codes of the user's own codebook, which a file of a row a turn and code names as columns.
    return known | ({label for label, meaning in found.items() if meaning is None and label} if is_long else set())


def _labels_in(rows: pd.DataFrame) -> set[str]:
    names = [name for name in rows.columns if name not in NAMES or name == "code"]
    few = [name for name in names if rows[name].nunique() <= MOST_LABELS]
    cells = {slug(part) for name in few for cell in rows[name].unique() for part in SEVERAL.split(str(cell))}
    return ({slug(name) for name in names} | cells) - NONE


def _given(machine: Machine, rows: pd.DataFrame, options: GoldOptions) -> tuple[Gold, pd.DataFrame]:
    """Return the codes of one person, and what they said beside them."""
    gold = read_gold(machine, rows, replace(options, columns={}, pseudonyms=None))
    code = rows["code"].map(slug) if "code" in rows else pd.Series("", index=rows.index)
    cells: Mapping[str, object] = {name: rows.get(name, "") for name in ("coder", "unsure", "note", "inclusion")}
    marks = pd.DataFrame({"place": gold.place, "code": code.where(code.isin(machine.codes), ""), **cells})
    return replace(gold, notes=tuple(note for note in gold.notes if note != LISTED)), marks[marks["place"] >= 0]


def _inclusions(values: pd.DataFrame, turns: pd.DataFrame) -> pd.Series:
    """Return with which probability each turn (place) was drawn, by the files, else by the sample; empty if unknown."""
    if "inclusion" in values:
        given = values[["place", "inclusion"]].dropna().round(DIGITS_OF_INCLUSION).groupby("place")["inclusion"]
        if (given.nunique() > 1).any():
            problem = "the two files give turns with different inclusions"
            raise BadOptionError(_CODES, problem, "Compare codes of one sample as tanalyze sample drew it")
        return given.first()
    told = turns["inclusion"] if "inclusion" in turns else pd.Series(dtype=object)
    return pd.to_numeric(told.reset_index(drop=True), errors="coerce").dropna()


def _disagreements(codes: PeopleCodes) -> pd.DataFrame:
    """Return a row for each turn and code on which the two differ."""
    wide = codes.values.pivot_table(index=["place", "code"], columns="coder", values="value", aggfunc="first")
    wide = wide.reindex(columns=list(codes.coders)).dropna()
    wide = wide[wide[codes.coders[0]] != wide[codes.coders[1]]].astype(np.int64).reset_index()
    marked = codes.marks[codes.marks["unsure"] == "1"]
    unsure = set(zip(marked["place"], marked["coder"], marked["code"].map(_book_of), strict=True))
    found = codes.turns.iloc[wide["place"]][["session_id", "turn"]].reset_index(drop=True).assign(code=wide["code"])
    for name, coder in zip(("first", "second"), codes.coders, strict=True):
        found[f"{name}_coder"], found[name] = coder, wide[coder]
        about = zip(wide["place"], wide["code"].map(_book_of), strict=True)
        found[f"{name}_unsure"] = [
            int(not unsure.isdisjoint({(place, coder, book), (place, coder, "")})) for place, book in about
        ]
    return found


def _book_of(code: str) -> str:
    return code.partition("_")[0]
