"""The tables of measured sessions: what makes each, and what their fixed columns mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.codes import Code
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.session import ROLES, Session
from therapy_analytics.measures import Column, Measure
from therapy_analytics.measures.base import STATISTICS, Value, all_columns, count_name, values_of
from therapy_analytics.measures.dyads import dyads
from therapy_analytics.measures.profile_rows import profile_rows
from therapy_analytics.measures.response_rows import RESPONSE_COLUMNS, response_rows
from therapy_analytics.measures.rows import MEASURE_COLUMNS, PART_COLUMNS, Row, as_part, measure_rows, row_column
from therapy_analytics.measures.settings import Settings
from therapy_analytics.measures.synchrony.tables import Kind, kinds, part_rows, whole_rows
from therapy_analytics.results.frames import with_categories
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.english import undivided

DIGITS = "%.6g"
"""How files of results hold numbers with decimals."""


def fixed_column(name: str, meaning: str, unit: str = "text", low: float = -inf, high: float = inf) -> Column:
    """Return the description of a column that is copied from the transcript or a table about the sessions."""
    column = row_column(name, meaning, unit, low=low, high=high)
    return replace(column, formula="as found", source="Read from the transcript")


SESSION_COLUMNS = (
    fixed_column("session_id", "The session; its folder below sessions/ has this name"),
    fixed_column("source_file", "The transcript's file, relative to the folder that was named"),
    fixed_column("counselor", "Who the therapist is, from the transcript or a table about the sessions"),
    fixed_column("client", "Who the client is, from the transcript or a table about the sessions"),
    fixed_column("source", "human or llm: what kind of therapist speaks"),
    fixed_column(
        "role_method",
        "How it was found who the therapist is: option, file, labels, metadata, elimination, pronouns, none",
    ),
    fixed_column("notes", "What to know before using the session's numbers"),
)
TURN_COLUMNS = (
    fixed_column("session_id", "The session"),
    fixed_column("turn", "Position in the session, from 0", "count", 0),
    fixed_column("role", "therapist, client or other"),
    fixed_column("speaker", "The label as the transcript writes it"),
    fixed_column(
        "first_row", "Where the turn begins: data row of a table, message of a chat, line of a text", "count", 1
    ),
    fixed_column("start_s", "When the turn begins", "seconds", 0),
    fixed_column("end_s", "When the turn ends", "seconds", 0),
    replace(
        fixed_column("n_words", "Words of the turn; a contraction is one word", "words", 0),
        misleads="Empty in scripts without spaces between words",
    ),
)
TURN_KEYS = TURN_COLUMNS[:2]
"""The columns that identify a turn."""
DYAD_COLUMNS = (
    fixed_column("session_id", "The session, one with several therapists or clients"),
    fixed_column("therapist", "The label of one therapist; all others count as other speakers in the row"),
    fixed_column("client", "The label of one client; all others count as other speakers in the row"),
)
GOLD = "gold_"
"""Precedes the names of columns of codes that people gave, which are those of the transcript."""
UNSURE_COLUMN = fixed_column(
    "unsure_codes", "Codes whose decision on the turn may well be otherwise; several are split by ;"
)
SENTENCES_COLUMN = fixed_column(
    "n_sentences", "Sentences of the turn; text without punctuation counts as one", "sentences", 0
)
QUOTE_COLUMN = fixed_column("text", "The words of the turn (only with --quotes)")
SPEAKER_COLUMN = fixed_column(
    "speaker_changed",
    "How it was changed who says the turn: swapped, words_moved; empty is unchanged (only with --repair-speakers)",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A session with its codes and measures.

    Attributes
    ----------
    session : AnnotatedSession
        The session as arrays, with its codes.
    values : mapping of str to float or array (n_turns,)
        The value of each column of each measure.
    parts : list of Row
        The measures of the whole session and of its parts.
    responses : DataFrame
        The session's rows of this table.
    """

    session: AnnotatedSession
    values: Mapping[str, Value]
    parts: Sequence[Row]
    responses: pd.DataFrame


@dataclass(frozen=True, slots=True)
class MeasuredSessions:
    """Sessions with their measures, from which all tables are made.

    Attributes
    ----------
    measured : sequence of Measured
        The sessions, in order.
    settings : Settings
        The settings of the analysis.
    counts : mapping of str to int
        What an outside coder counted: turns asked, cached, refused.
    """

    measured: Sequence[Measured]
    settings: Settings
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def sessions(self) -> list[AnnotatedSession]:
        """The sessions as arrays."""
        return [one.session for one in self.measured]

    @property
    def columns(self) -> list[Column]:
        """The columns of all measures."""
        return [column for _, column in columns_of(self.settings)]

    @property
    def codes(self) -> list[Code]:
        """The codes that the coder gives, of all codebooks."""
        return [code for book in self.settings.codebooks for code in book.codes]


def columns_of(settings: Settings) -> list[tuple[Measure, Column]]:
    """Return each column of the measures of a run, with its measure."""
    return all_columns(settings.all_lexicons, settings.rated, extras=settings.extras)


def core_measures(settings: Settings) -> list[str]:
    """Return the columns of ``sessions.csv`` that are measures, in order."""
    return [column.name for _, column in columns_of(settings) if column.level == "session" and column.core]


def measured(session: AnnotatedSession, columns: Sequence[Column]) -> Measured:
    """Measure a session that has codes: the columns that the settings ask for, and the rows of the long tables.

    Rows without any number are left out, as where the codes of a measure were not given, but for those of the core.
    """
    values = values_of(session)
    last = len(session) - 1
    whole = [as_part(row, "whole", 0, last) for row in measure_rows(columns, values)]
    there = {row["measure"] for row in whole}
    of_codes = [row for row in profile_rows(session) if row["part"] != "whole" or row["measure"] not in there]
    synchrony = [] if undivided(session.session) else part_rows(session, kinds(extras=session.extras))
    core = {column.row for column in columns if column.core}
    kept = [
        row
        for row in (*whole, *of_codes, *synchrony)
        if (row["measure"], row["direction"]) in core
        or any(row[name] is not None and row[name] == row[name] for name in STATISTICS if name in row)
    ]
    return Measured(session, values, kept, pd.DataFrame(dict(response_rows(session))))


def refuse_taken_names(codes: Iterable[Code], columns: Iterable[Column]) -> None:
    """Refuse codes of the user's codebooks whose columns have the names of others.

    Raises
    ------
    BadOptionError
        The column of a code, of its rate or of its count has the name of another column.
    """
    fixed = (*SESSION_COLUMNS, *TURN_COLUMNS, UNSURE_COLUMN, QUOTE_COLUMN, SPEAKER_COLUMN)
    taken = {one.name for one in (*fixed, *columns)}
    for code in codes:
        rate = f"{code.column}_rate"
        for name in (code.column, rate, f"{rate}_lo", f"{rate}_hi", count_name(rate)):
            if name in taken:
                problem = f"the code {code.column!r} would make the column {name!r}, which is there already"
                raise BadOptionError("--codebook", problem, "Give its book another id, such as the name of the manual")


def about(session: Session) -> dict[str, str]:
    """Return the columns of ``sessions.csv`` that are no measures, as text; the fixed columns first."""
    facts = session.metadata
    fixed = {
        "session_id": session.id,
        "source_file": session.source_file,
        **{name: facts.get(name, "") for name in ("counselor", "client", "source")},
        "role_method": session.role_method,
        "notes": " ".join(session.notes),
    }
    return fixed | {about_name(key): str(value) for key, value in facts.items()}


def about_name(key: str) -> str:
    """Return the column of a fact about a session."""
    return f"meta_{key}" if key in ("session_id", "source_file", "role_method", "notes") else key


def sessions_table(some: MeasuredSessions) -> pd.DataFrame:
    """Return a row a session: the fixed columns, the metadata, then the core measures."""
    rows = [about(one.session) for one in some.sessions]
    names = dict.fromkeys([*(column.name for column in SESSION_COLUMNS), *(name for row in rows for name in row)])
    measures = {column.name for column in some.columns}
    facts = pd.DataFrame(rows, columns=[name for name in names if name not in measures])
    return pd.concat([facts, _core_values([one.values for one in some.measured], some.settings)], axis=1)


def dyads_table(some: MeasuredSessions) -> pd.DataFrame:
    """Return a row for each pair of a therapist and a client: labels, then the core measures of that pair."""
    pairs = [dyad for session in some.sessions for dyad in dyads(session)]
    labels = {
        "session_id": [dyad.session.session.id for dyad in pairs],
        "therapist": [dyad.therapist for dyad in pairs],
        "client": [dyad.client for dyad in pairs],
    }
    values = _core_values([values_of(dyad.session) for dyad in pairs], some.settings)
    return pd.concat([pd.DataFrame(labels, dtype=str), values], axis=1)


def _core_values(values: Sequence[Mapping[str, Value]], settings: Settings) -> pd.DataFrame:
    """Return the core measures, a row for each set of values."""
    names = core_measures(settings)
    rows = np.array([[one[name] for name in names] for one in values], dtype=np.float64)
    return pd.DataFrame(rows.reshape(len(values), len(names)), columns=names)


def measures_table(some: MeasuredSessions) -> pd.DataFrame:
    """Return a row for each session, measure and direction, over whole sessions (see `MEASURE_COLUMNS`)."""
    rows = [(one.session.session.id, row) for one in some.measured for row in one.parts if row["part"] == "whole"]
    return _long(rows, MEASURE_COLUMNS)


def parts_table(some: MeasuredSessions) -> pd.DataFrame:
    """Return a row for each session, measure, direction and part of the session (see `PART_COLUMNS`)."""
    rows = [(one.session.session.id, row) for one in some.measured for row in one.parts]
    return with_categories(_long(rows, PART_COLUMNS))


def synchrony_table(sessions: Sequence[AnnotatedSession], asked: Sequence[Kind]) -> pd.DataFrame:
    """Return the same rows for measures of synchrony alone, without codes and tagger."""
    rows = [(one, row) for one in sessions for row in (*whole_rows(one, asked), *part_rows(one, asked))]
    return _long([(one.session.id, row) for one, row in rows], PART_COLUMNS)


def _long(rows: Sequence[tuple[str, Row]], columns: Sequence[Column]) -> pd.DataFrame:
    """Return rows as a table; statistics that a measure does not have are nan."""
    found: dict[str, Any] = {"session_id": [name for name, _ in rows]}
    for column in columns[1:]:
        values = [row.get(column.name) for _, row in rows]
        if column.name in STATISTICS:
            found[column.name] = np.array([nan if value is None else value for value in values], dtype=np.float64)
        else:
            found[column.name] = np.array(values, dtype=np.int64 if column.unit == "count" else object)
    return pd.DataFrame(found).astype({column.name: "str" for column in columns if column.unit == "text"})


def responses_table(some: MeasuredSessions) -> pd.DataFrame:
    """Return a row for each session, client code and therapist code of the reply (see `RESPONSE_COLUMNS`)."""
    found = [one.responses for one in some.measured]
    if not found:
        return pd.DataFrame({column.name: [] for column in RESPONSE_COLUMNS})
    # Tables without rows have no types.
    return with_categories(pd.concat([one for one in found if len(one)] or found[:1], ignore_index=True))


def turns_table(some: MeasuredSessions) -> pd.DataFrame:
    """Return a row a turn: place, role, times, number of words, then 0 or 1 for each code.

    Codes of the other role are missing, not 0. Codes that people gave are in columns ``gold_...``, sorted by name.
    """
    sessions, settings = some.sessions, some.settings
    turns = [turn for one in sessions for turn in one.session.turns]
    data: dict[str, object] = {
        **_turn_keys(sessions),
        "role": pd.Categorical([turn.role for turn in turns], categories=list(ROLES)),
        "speaker": [turn.speaker for turn in turns],
        "first_row": np.array([turn.first_row for turn in turns], dtype=np.int64),
        "start_s": np.array([turn.start_s for turn in turns], dtype=np.float64),
        "end_s": np.array([turn.end_s for turn in turns], dtype=np.float64),
        "n_words": pd.arrays.IntegerArray(
            _joined([one.n_words for one in sessions], np.int64),
            _joined([np.full(len(one), undivided(one.session)) for one in sessions], np.bool_),
        ),
    }
    if settings.repair_speakers:
        data[SPEAKER_COLUMN.name] = [turn.speaker_changed for turn in turns]
    if settings.quotes:
        data["text"] = [turn.text for turn in turns]
    for code in some.codes:
        missing = np.isnan(_joined([one.probabilities[code.column] for one in sessions], np.float64))
        decision = _joined([one.decisions[code.column] for one in sessions], np.bool_)
        data[code.column] = pd.arrays.IntegerArray(decision.astype(np.int8), missing)
    for name in sorted({name for turn in turns for name in turn.gold}):
        data[f"{GOLD}{name}"] = [turn.gold.get(name, "") for turn in turns]
    return pd.DataFrame(data)


def probabilities_table(some: MeasuredSessions) -> pd.DataFrame:
    """Return a row a turn: the probability of each code, and which decisions are unsure, joined by ;."""
    names, sessions = [code.column for code in some.codes], some.sessions
    likely = {name: _joined([one.probabilities[name] for one in sessions], np.float64) for name in names}
    unsure = np.array([_joined([one.unsure[name] for one in sessions], np.bool_) for name in names])
    told = [";".join(compress(names, row)) for row in unsure.T]
    return pd.DataFrame({**_turn_keys(sessions), **likely, UNSURE_COLUMN.name: told})


def turn_measures_table(some: MeasuredSessions) -> pd.DataFrame:
    """Return a row a turn: its number of sentences, and the measures that have a value for each turn."""
    data: dict[str, object] = {
        **_turn_keys(some.sessions),
        SENTENCES_COLUMN.name: _joined([one.turns.n_sentences for one in some.sessions], np.int64),
    }
    for column in some.columns:
        if column.level == "turn":
            data[column.name] = _joined([np.asarray(one.values[column.name]) for one in some.measured], np.float64)
    return pd.DataFrame(data)


def _turn_keys(sessions: Sequence[AnnotatedSession]) -> dict[str, object]:
    turns = [(one.session.id, turn.index) for one in sessions for turn in one.session.turns]
    return {"session_id": [name for name, _ in turns], "turn": np.array([turn for _, turn in turns], dtype=np.int64)}


def _joined(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.zeros(0, dtype=dtype)
