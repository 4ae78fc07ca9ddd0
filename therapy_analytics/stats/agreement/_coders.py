"""Two people with each other: how far they agree, and on which turns they differ. No machine takes part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from therapy_analytics.stats.agreement._report import (
    WEIGHTED,
    clusters_in_words,
    report_of_coders,
    summary_of_coders,
)
from therapy_analytics.stats.agreement._tables import coded, people_table
from therapy_analytics.stats.machine_codes import Machine
from therapy_analytics.stats.people_codes import LISTED, Gold, GoldOptions, codes_named, read_gold
from therapy_analytics.stats.people_tables import named, read_table, slug
from therapy_analytics.stats.turn_matching import plain_id, session_names

PAGE = "adjudicate.html"
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

    def both(self) -> pd.DataFrame:
        """Return what each gave where both coded: a row a turn and code (``place``, ``code``) and a column a coder."""
        wide = self.values.pivot_table(index=["place", "code"], columns="coder", values="value", aggfunc="first")
        return wide.reindex(columns=list(self.coders)).dropna().astype(np.int64).reset_index()


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
        files: dict[str, str | bytes] = {
            f"{name}.csv": csv_of_frame(getattr(self, name), digits=DIGITS) for name in ("coders", "disagreements")
        }
        files |= {"agreement.md": self.text} | ({PAGE: page} if page is not None else {})
        made = Made(
            what="an agreement of coders", names={*files, PAGE}, beside={"settled.csv"}, sources=self.sources,
            replace=replace, say=on_before,
        )  # fmt: skip
        with replaced_in(folder, made) as part:
            for name, content in files.items():
                private.write(part / name, content)
        return [folder / name for name in files]


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
        A file of each person's codes, in either form (``docs/coding.md``).
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
    tables = [_read(path, turns, options) for path in paths]
    coders = str(tables[0]["coder"].iloc[0]), str(tables[1]["coder"].iloc[0])
    if coders[0] == coders[1]:
        problem = f"both files hold the codes of {coders[0]!r}"
        raise BadOptionError(_CODES, problem, "Give a file of each of two people")
    machine = _frame_of(tables, turns, options)
    values, sets, marks, notes = [], [], [], []
    for path, rows in zip(paths, tables, strict=True):
        gold = read_gold(machine, rows, replace(options, columns={}, pseudonyms=None))
        code = rows["code"].map(slug) if "code" in rows else pd.Series("", index=rows.index)
        beside = {name: rows.get(name, "") for name in ("coder", "unsure", "note", "inclusion")}
        own = pd.DataFrame({"place": gold.place, "code": code.where(code.isin(machine.codes), ""), **beside})
        values.append(gold.values)
        sets.append(gold.sets)
        marks.append(own[own["place"] >= 0])
        notes += [f"{path.name}: {note}" for note in gold.notes if note != LISTED]
    given = Gold(pd.concat(values), pd.concat(sets), ())
    inclusion = _inclusions(given.values, machine.turns)
    if len(inclusion):
        weighted = [one.assign(inclusion=one["place"].map(inclusion)) for one in (given.values, given.sets)]
        given = Gold(weighted[0], weighted[1], ())
    cluster_of, clustered_by = machine.clusters(list(dict.fromkeys(machine.turns["session_id"])))
    table = people_table(coded(machine, given, cluster_of), coders)
    if table.empty:
        problem = f"{coders[0]} and {coders[1]} have no coded turn in common"
        raise BadOptionError(_CODES, problem, "Give two files about the same turns")
    about = machine.turns[["session_id", "turn", "role"]]
    codes = PeopleCodes(about, coders, given.values.reset_index(drop=True), pd.concat(marks, ignore_index=True))
    apart = _disagreements(codes)
    n_clusters = len({cluster_of[name] for name in about["session_id"].iloc[given.values["place"].unique()]})
    notes += [*([WEIGHTED] if len(inclusion) else []), clusters_in_words(clustered_by, n_clusters)]
    return CoderAgreement(
        coders=table,
        disagreements=apart,
        codes=codes,
        text=report_of_coders(table, apart, notes, coders),
        summary=tuple(summary_of_coders(table, apart, notes)),
        sources=sources_of(*paths),
    )


def _read(path: Path, turns: pd.DataFrame | None, options: GoldOptions) -> pd.DataFrame:
    """Return the table of one person's codes; where it names no coder, the file's name stands for them."""
    rows = named(read_table(path), options.columns)
    lacking = [name for name in ("session_id", "turn") if name not in rows]
    if lacking:
        problem = f"{path.name} has no column {lacking[0]}"
        raise BadOptionError(_CODES, problem, "Two files of codes are compared by session_id and turn")
    known = [] if turns is None else list(turns["session_id"].unique())
    names = session_names(rows["session_id"].str.strip(), known, options.pseudonyms)
    rows = rows.assign(session_id=names, coder=rows.get("coder", path.stem))
    if rows["coder"].nunique() != 1:
        problem = f"{path.name} holds the codes of {rows['coder'].nunique()} people"
        raise BadOptionError(_CODES, problem, "Give a file of each of two people")
    return rows


def _frame_of(tables: Sequence[pd.DataFrame], turns: pd.DataFrame | None, options: GoldOptions) -> Machine:
    """Return the turns and codes that are spoken of, in the form in which codes are matched to a machine's."""
    roles = {code.column: str(code.role) for book in builtin_codebooks() for code in book.codes}
    codes = sorted({code for rows in tables for code in codes_named(rows, tuple(roles), options)})
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
    names = pd.concat([rows["session_id"] for rows in tables], keys=range(len(tables)), names=["file", "row"])
    plain = names.map({name: plain_id(name) for name in names.unique()})
    in_file = names.groupby([plain, names.index.get_level_values("file")]).nunique()
    several = set(in_file.index[in_file > 1].get_level_values(0))
    turn = pd.to_numeric(pd.concat([rows["turn"] for rows in tables]), errors="coerce").fillna(-1).astype(np.int64)
    session = names.where(plain.isin(several), names.groupby(plain).transform("first"))
    found = pd.DataFrame({"session_id": session.to_numpy(), "turn": turn.to_numpy()})
    found = found[found["turn"] >= 0].drop_duplicates()
    order = found["session_id"].map({name: at for at, name in enumerate(found["session_id"].unique())})
    found = found.assign(order=order).sort_values(["order", "turn"])[["session_id", "turn"]]
    return found.assign(role="").reset_index(drop=True)


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
    wide = codes.both()
    wide = wide[wide[codes.coders[0]] != wide[codes.coders[1]]].reset_index(drop=True)
    book = wide["code"].str.partition("_")[0] if len(wide) else wide["code"]
    marked = codes.marks[codes.marks["unsure"] == "1"]
    unsure = set(zip(marked["place"], marked["coder"], (one.partition("_")[0] for one in marked["code"]), strict=True))
    found = codes.turns.iloc[wide["place"]][["session_id", "turn"]].reset_index(drop=True).assign(code=wide["code"])
    for name, coder in zip(("first", "second"), codes.coders, strict=True):
        found[f"{name}_coder"], found[name] = coder, wide[coder]
        found[f"{name}_unsure"] = [
            int(not unsure.isdisjoint({(place, coder, of_book), (place, coder, "")}))
            for place, of_book in zip(wide["place"], book, strict=True)
        ]
    return found
