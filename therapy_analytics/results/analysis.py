"""The tables of an analysis: the list of them, what makes each, and `Analysis`, which holds them.

How to add a table: add a `RunTable` to `TABLES`. A run then writes it, for each session or for all sessions, as CSV and
as Parquet, and the codebook has its columns. With ``in_analysis``, `Analysis` needs an attribute of its name, which
`load` and `export` then fill and write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from therapy_analytics.codes import meaning
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures import Column
from therapy_analytics.measures.association import disclosure_after_synchrony
from therapy_analytics.measures.response_rows import RESPONSE_COLUMNS
from therapy_analytics.measures.rows import MEASURE_COLUMNS, PART_COLUMNS
from therapy_analytics.measures.settings import Settings
from therapy_analytics.results import tables
from therapy_analytics.results.codebook_table import FIRST, codebook_of, codebook_table
from therapy_analytics.results.frames import behaviours_table, code_labels, profile_table, sessions_html, wide_turns
from therapy_analytics.results.tables import GOLD, MeasuredSessions, columns_of, core_measures

__all__ = [
    "IN_ANALYSIS", "JOINED", "NAMED", "TABLES", "Analysis", "MeasuredSessions", "RunTable", "codebook", "columns_of",
    "core_measures", "gold_names", "joined_tables",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTable:
    """A table that a run writes.

    Attributes
    ----------
    name : str
        Of the table, and of its data set of Parquet.
    make : callable
        Makes its rows for some sessions, in their order. The first column is ``session_id``; the rows of a session
        must not depend on the other sessions.
    file : str
        Stem of its CSV file, where it is not the name of the table.
    joined : bool
        Whether one file of the run holds the rows of all sessions; else each session has a file of its own.
    with_core : bool
        Whether the core measures follow the columns of `columns`.
    in_analysis : bool
        Whether it is an attribute of `Analysis`.
    may_be_missing : bool
        Whether no file is written where there are no rows.
    columns : tuple of Column
        The columns that do not depend on the settings, for the codebook.
    family : str
        The family of these columns in the codebook.
    whole : tuple of str
        Columns of integers that are never missing.
    """

    name: str
    make: Callable[[MeasuredSessions], pd.DataFrame]
    file: str = ""
    joined: bool = False
    with_core: bool = False
    in_analysis: bool = True
    may_be_missing: bool = False
    columns: tuple[Column, ...] = ()
    family: str = "process"
    whole: tuple[str, ...] = ()

    @property
    def csv(self) -> str:
        """The name of its CSV file."""
        return f"{self.file or self.name}.csv"


TABLES = (
    RunTable(name="sessions", make=tables.sessions_table, joined=True, with_core=True),
    RunTable(name="measures", make=tables.measures_table, joined=True, columns=MEASURE_COLUMNS),
    RunTable(
        name="dyads", make=tables.dyads_table, joined=True, with_core=True, may_be_missing=True,
        columns=tables.DYAD_COLUMNS, family="fixed",
    ),
    RunTable(name="turns", make=tables.turns_table, whole=("turn", "first_row")),
    RunTable(name="probabilities", make=tables.probabilities_table, whole=("turn",)),
    RunTable(name="turn_measures", make=tables.turn_measures_table, whole=("turn", "n_sentences")),
    RunTable(
        name="parts", make=tables.parts_table, file="measures", columns=PART_COLUMNS, whole=("first_turn", "last_turn"),
    ),
    RunTable(
        name="responses", make=tables.responses_table, columns=RESPONSE_COLUMNS,
        whole=("n_client", "n_both", "n_client_other", "n_both_other"),
    ),
)  # fmt: skip
"""All tables of a run but the codebook."""
NAMED = {one.name: one for one in TABLES}
JOINED = tuple(one.name for one in TABLES if one.joined)
IN_ANALYSIS = tuple(one.name for one in TABLES if one.in_analysis)


def codebook(settings: Settings, sessions: Iterable[str], gold: Iterable[str]) -> pd.DataFrame:
    """Return the codebook of a sessions table with these columns and a turns table with these codes of people."""
    measures = codebook_table(
        columns_of(settings), settings.codebooks, sessions=sessions, gold=gold, meaning=meaning(settings.tagger),
        repaired=settings.repair_speakers,
    )  # fmt: skip
    others = [codebook_of(one.name, one.family, one.columns) for one in TABLES if one.columns]
    return pd.concat([measures, *others], ignore_index=True)


def joined_tables(
    found: Sequence[Mapping[str, pd.DataFrame]], about: Sequence[str], gold: Sequence[str], measures: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """Return the tables of several batches of sessions under each other.

    Parameters
    ----------
    found : sequence of mapping of str to DataFrame
        The tables of each batch, by their names.
    about, measures : sequence of str
        The columns of the sessions table. A batch may lack some of those in `about`, which are no measures.
    gold : sequence of str
        The columns of the turns table with codes that people gave; a batch may lack some.
    """
    whole = {name: pd.concat([one[name] for one in found], ignore_index=True) for name in found[0]}
    whole["sessions"] = _with_texts(whole["sessions"], about)[[*about, *measures]]
    turns = [name for name in map(str, whole["turns"]) if not name.startswith(GOLD)]
    whole["turns"] = _with_texts(whole["turns"], gold)[[*turns, *gold]]
    return whole


def _with_texts(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return a table with these columns of text; missing texts are empty."""
    texts = {name: table[name].fillna("") if name in table else "" for name in names}
    columns: dict[str, Any] = {str(name): column for name, column in table.items()}
    return pd.DataFrame(columns | texts)


def gold_names(turns: pd.DataFrame) -> list[str]:
    """Return the columns of codes that people gave."""
    return [name for name in map(str, turns) if name.startswith(GOLD)]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What `analyze` and `load` return: tables, of which `codebook` gives the unit and range of every column.

    Rates are proportions from 0 to 1, times are in seconds, and what is undefined is missing, never 0.

    Attributes
    ----------
    sessions : DataFrame
        A row a session: identity, size, and the core measures.
    measures : DataFrame
        A row for each session, measure and direction, over whole sessions: value, count, interval, and the value's
        position in its null distributions. `wide` turns it into a column a number.
    parts : DataFrame
        The same for the parts of each session: whole, thirds, windows.
    turns : DataFrame
        A row a turn: place, role, times, number of words, and 0 or 1 for each code.
    probabilities : DataFrame
        The same rows: the probability of each code.
    turn_measures : DataFrame
        The same rows: measures that have a value for a turn.
    dyads : DataFrame
        A row for each pair of a therapist and a client of the sessions with more than one pair
        (couples, families, co-therapists): their labels and the core measures of that pair alone.
    responses : DataFrame
        A row for each session, client code and therapist code: how often a client turn with the one is followed by a
        therapist turn with the other.
    codebook : DataFrame
        A row for each column of these, and for each measure: meaning, unit, range, formula, evidence, source.
    seed : int
        Random seed of all shuffles.
    tagger : mapping of str to object
        What coded the turns, as in ``run.json``; empty where that is not known.
    """

    sessions: pd.DataFrame = field(repr=False)
    measures: pd.DataFrame = field(repr=False)
    parts: pd.DataFrame = field(repr=False)
    turns: pd.DataFrame = field(repr=False)
    probabilities: pd.DataFrame = field(repr=False)
    turn_measures: pd.DataFrame = field(repr=False)
    dyads: pd.DataFrame = field(repr=False)
    responses: pd.DataFrame = field(repr=False)
    codebook: pd.DataFrame = field(repr=False)
    seed: int = 0
    tagger: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"Analysis({len(self.sessions)} sessions, {len(self.turns)} turns)"

    def _repr_html_(self) -> str:
        n_codes = len(code_labels(self.turns, self.codebook))
        sizes = f"{len(self.sessions):,} sessions, {len(self.turns):,} turns, {n_codes} codes"
        known = self.codebook[self.codebook["table"] == "sessions"]
        first = known.loc[known["page"].str.endswith(FIRST), "column"]
        return sessions_html(self.sessions, sizes, first=["n_turns", *first])

    def where(self, condition: str) -> Analysis:
        """Return the analysis of some of the sessions.

        Parameters
        ----------
        condition : str
            A condition on the columns of `sessions`, as for `pandas.DataFrame.query`: ``"source == 'llm'"``,
            ``"counselor == 'Priya Nair' and n_turns > 20"``, ``"session_id == 'nair_yuki'"``.

        Returns
        -------
        Analysis
            The rows of those sessions in every table, with unchanged numbers.

        Raises
        ------
        BadOptionError
            The condition cannot be read, or names an unknown column.
        """
        try:
            kept = self.sessions.query(condition)["session_id"]
        except Exception as error:  # noqa: BLE001 (pandas and Python raise many kinds)
            option = "condition"
            problem = f"{condition!r} cannot be read ({type(error).__name__})"
            raise BadOptionError(option, problem, "Write one such as \"source == 'llm'\"") from None
        tables = {name: getattr(self, name) for name in IN_ANALYSIS}
        some = {name: frame[frame["session_id"].isin(kept)].reset_index(drop=True) for name, frame in tables.items()}
        return replace(self, **some)

    @property
    def profile(self) -> pd.DataFrame:
        """How often each code is given in each session and in its thirds, see `profile_table`."""
        found = profile_table(self.parts)
        found.attrs["tagger"] = str(self.tagger.get("kind", ""))  # so that a plot takes references of the same tagger
        return found

    @property
    def wide_turns(self) -> pd.DataFrame:
        """`turns`, the probabilities of the codes as ``p_...``, and `turn_measures`, in one table."""
        return wide_turns(self.turns, self.probabilities, self.turn_measures)

    @property
    def behaviours(self) -> pd.DataFrame:
        """The codes of `turns` in long form: a row for each turn and code, see `behaviours_table`.

        Made each time it is asked for.
        """
        return behaviours_table(self.turns, self.probabilities, self.codebook)

    @property
    def associations(self) -> pd.DataFrame:
        """Whether clients disclose more after replies that follow them more, see `disclosure_after_synchrony`.

        Computed each time it is asked for: a mixed model for each pair of columns takes seconds.
        """
        return disclosure_after_synchrony(self.wide_turns, seed=self.seed)
