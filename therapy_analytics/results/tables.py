"""The tables of measured sessions, as DataFrames, and what their fixed columns mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.codes import Code
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.session import ROLES, Session
from therapy_analytics.measures import Column
from therapy_analytics.measures.base import STATISTICS, Value, count_name, values_of
from therapy_analytics.measures.dyads import Dyad
from therapy_analytics.measures.profile_rows import profile_rows
from therapy_analytics.measures.response_rows import RESPONSE_COLUMNS, response_rows
from therapy_analytics.measures.rows import MEASURE_COLUMNS, PART_COLUMNS, Row, as_part, measure_rows, row_column
from therapy_analytics.measures.synchrony.tables import Kind, kinds, part_rows, whole_rows
from therapy_analytics.results.frames import with_categories
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.english import undivided

DIGITS = "%.6g"
_FROM_FILE = "Read from the transcript"


def fixed_column(name: str, meaning: str, unit: str = "text", low: float = -inf, high: float = inf) -> Column:
    """Return the description of a column that is copied from the transcript or a table about the sessions."""
    column = row_column(name, meaning, unit, low=low, high=high)
    return replace(column, formula="as found", source=_FROM_FILE)


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
        "first_row",
        "Where the turn begins: data row of a table, message of a chat, line of a text",
        "count",
        1,
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


def measured(session: AnnotatedSession, columns: Sequence[Column]) -> Measured:
    """Measure a session that has codes: the columns that the settings ask for, and the rows of the long tables."""
    values = values_of(session)
    last = len(session) - 1
    whole = [as_part(row, "whole", 0, last) for row in measure_rows(columns, values)]
    there = {row["measure"] for row in whole}
    of_codes = [row for row in profile_rows(session) if row["part"] != "whole" or row["measure"] not in there]
    synchrony = [] if undivided(session.session) else part_rows(session, kinds(extras=session.extras))
    parts = [*whole, *of_codes, *synchrony]
    core = {column.row for column in columns if column.core}
    kept = [row for row in parts if _has_number(row) or (row["measure"], row["direction"]) in core]
    return Measured(session, values, kept, _responses(session))


def _has_number(row: Row) -> bool:
    """Return whether a row has a number; it has none, for example, where the codes of its measure were not given."""
    return any(not pd.isna(row[name]) for name in STATISTICS if name in row)  # type: ignore[call-overload]


def refuse_taken_names(codes: Iterable[Code], columns: Iterable[Column]) -> None:
    """Refuse codes of the user's codebooks whose columns have the names of others.

    Raises
    ------
    BadOptionError
        The column of a code, of its rate or of its count has the name of another column.
    """
    taken = {
        one.name
        for group in (SESSION_COLUMNS, TURN_COLUMNS, (UNSURE_COLUMN, QUOTE_COLUMN, SPEAKER_COLUMN), columns)
        for one in group
    }
    for code in codes:
        rate = f"{code.column}_rate"
        for name in (code.column, rate, f"{rate}_lo", f"{rate}_hi", count_name(rate)):
            if name in taken:
                problem = f"the code {code.column!r} would make the column {name!r}, which is there already"
                raise BadOptionError("--codebook", problem, "Give its book another id, such as the name of the manual")


def sessions_table(measured: Sequence[Measured], columns: Sequence[Column]) -> pd.DataFrame:
    """Return a row a session: the fixed columns, the metadata, then the core measures."""
    rows = [_session_row(one.session.session) for one in measured]
    fixed = [column.name for column in SESSION_COLUMNS]
    frame = pd.DataFrame(rows, columns=_with_metadata(rows, fixed, columns))
    return pd.concat([frame, _session_measures([one.values for one in measured], columns)], axis=1)


def _session_measures(values: Sequence[Mapping[str, Value]], columns: Sequence[Column]) -> pd.DataFrame:
    """Return the core measures, a row for each set of values."""
    names = core_names(columns)
    rows = np.array([[one[name] for name in names] for one in values], dtype=np.float64)
    return pd.DataFrame(rows.reshape(len(values), len(names)), columns=names)


def core_names(columns: Iterable[Column]) -> list[str]:
    """Return the names of the core measures, which are columns of ``sessions.csv``, in order."""
    return [column.name for column in columns if column.level == "session" and column.core]


def about(session: Session) -> dict[str, str]:
    """Return the columns of ``sessions.csv`` that are no measures, as text; the fixed columns first."""
    row = _session_row(session)
    names = [column.name for column in SESSION_COLUMNS]
    return {name: str(row[name]) for name in dict.fromkeys([*names, *row])}


def about_name(key: str) -> str:
    """Return the column of a fact about a session."""
    return f"meta_{key}" if key in _RESERVED else key


def _session_row(session: Session) -> dict[str, object]:
    about = {about_name(key): value for key, value in session.metadata.items()}
    return {
        **about,
        "session_id": session.id,
        "source_file": session.source_file,
        "counselor": session.metadata.get("counselor", ""),
        "client": session.metadata.get("client", ""),
        "source": session.metadata.get("source", ""),
        "role_method": session.role_method,
        "notes": " ".join(session.notes),
    }


_RESERVED = frozenset({"session_id", "source_file", "role_method", "notes"})


def _with_metadata(rows: Sequence[Mapping[str, object]], fixed: list[str], columns: Sequence[Column]) -> list[str]:
    measures = {column.name for column in columns}
    extra = dict.fromkeys(key for row in rows for key in row if key not in fixed and key not in measures)
    return [*fixed, *extra]


def dyads_table(measured: Sequence[tuple[Dyad, Mapping[str, Value]]], columns: Sequence[Column]) -> pd.DataFrame:
    """Return a row for each pair of a therapist and a client: labels, then the core measures of that pair."""
    pairs = [dyad for dyad, _ in measured]
    labels = {
        "session_id": [dyad.session.session.id for dyad in pairs],
        "therapist": [dyad.therapist for dyad in pairs],
        "client": [dyad.client for dyad in pairs],
    }
    return pd.concat(
        [pd.DataFrame(labels, dtype=str), _session_measures([values for _, values in measured], columns)], axis=1
    )


def measures_table(measured: Sequence[Measured]) -> pd.DataFrame:
    """Return a row for each session, measure and direction, over whole sessions (see `MEASURE_COLUMNS`)."""
    whole = [(one, [row for row in one.parts if row["part"] == "whole"]) for one in measured]
    return _long([(one.session.session.id, row) for one, rows in whole for row in rows], MEASURE_COLUMNS)


def parts_table(measured: Sequence[Measured]) -> pd.DataFrame:
    """Return a row for each session, measure, direction and part of the session (see `PART_COLUMNS`)."""
    found = _long([(one.session.session.id, row) for one in measured for row in one.parts], PART_COLUMNS)
    return with_categories(found)


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
            kind = np.int64 if column.unit == "count" else object
            found[column.name] = np.array(values, dtype=kind)
    frame = pd.DataFrame(found)
    texts = {column.name: "str" for column in columns if column.unit == "text"}
    return frame.astype(texts)


def _responses(session: AnnotatedSession) -> pd.DataFrame:
    """Return a row for each client code and therapist code of the reply (see `RESPONSE_COLUMNS`)."""
    return pd.DataFrame(dict(response_rows(session)))


def responses_table(measured: Sequence[Measured]) -> pd.DataFrame:
    """Return the responses of all sessions (see `RESPONSE_COLUMNS`)."""
    return _joined_rows([one.responses for one in measured], RESPONSE_COLUMNS)


def _joined_rows(tables: Sequence[pd.DataFrame], columns: Sequence[Column]) -> pd.DataFrame:
    """Return tables under each other, with codes as categories; without any, a table without rows."""
    if not tables:
        return pd.DataFrame({column.name: [] for column in columns})
    # Tables without rows have no types.
    whole = pd.concat([one for one in tables if len(one)] or tables[:1], ignore_index=True)
    return with_categories(whole)


def turns_table(
    measured: Sequence[Measured], codes: Sequence[Code], *, quotes: bool = False, repaired: bool = False
) -> pd.DataFrame:
    """Return a row a turn: place, role, times, number of words, then 0 or 1 for each code.

    Codes of the other role are missing, not 0. Codes that people gave are in columns ``gold_...``, sorted by name.
    """
    turns = [turn for one in measured for turn in one.session.session.turns]
    data: dict[str, object] = {
        **_turn_keys(measured),
        "role": pd.Categorical([turn.role for turn in turns], categories=list(ROLES)),
        "speaker": [turn.speaker for turn in turns],
        "first_row": np.array([turn.first_row for turn in turns], dtype=np.int64),
        "start_s": np.array([turn.start_s for turn in turns], dtype=np.float64),
        "end_s": np.array([turn.end_s for turn in turns], dtype=np.float64),
        "n_words": pd.arrays.IntegerArray(
            _joined([one.session.n_words for one in measured], np.int64),
            _joined([np.full(len(one.session), undivided(one.session.session)) for one in measured], np.bool_),
        ),
    }
    if repaired:
        data[SPEAKER_COLUMN.name] = [turn.speaker_changed for turn in turns]
    if quotes:
        data["text"] = [turn.text for turn in turns]
    for code in codes:
        missing = np.isnan(_joined([one.session.probabilities[code.column] for one in measured], np.float64))
        decision = _joined([one.session.decisions[code.column] for one in measured], np.bool_)
        data[code.column] = pd.arrays.IntegerArray(decision.astype(np.int8), missing)
    gold = [turn.gold for turn in turns]
    for name in sorted({name for one in gold for name in one}):
        data[f"{GOLD}{name}"] = [one.get(name, "") for one in gold]
    return pd.DataFrame(data)


def _turn_keys(measured: Sequence[Measured]) -> dict[str, object]:
    turns = [(one.session.session.id, turn.index) for one in measured for turn in one.session.session.turns]
    return {"session_id": [name for name, _ in turns], "turn": np.array([turn for _, turn in turns], dtype=np.int64)}


def probabilities_table(measured: Sequence[Measured], codes: Sequence[Code]) -> pd.DataFrame:
    """Return a row a turn: the probability of each code, and which decisions are unsure."""
    likely = {
        code.column: _joined([one.session.probabilities[code.column] for one in measured], np.float64) for code in codes
    }
    return pd.DataFrame({**_turn_keys(measured), **likely, UNSURE_COLUMN.name: _unsure(measured, codes)})


def turn_measures_table(measured: Sequence[Measured], columns: Sequence[Column]) -> pd.DataFrame:
    """Return a row a turn: its number of sentences, and the measures that have a value for each turn."""
    data: dict[str, object] = {
        **_turn_keys(measured),
        SENTENCES_COLUMN.name: _joined([one.session.turns.n_sentences for one in measured], np.int64),
    }
    for column in columns:
        if column.level == "turn":
            data[column.name] = _joined([np.asarray(one.values[column.name]) for one in measured], np.float64)
    return pd.DataFrame(data)


def _joined(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.zeros(0, dtype=dtype)


def _unsure(measured: Sequence[Measured], codes: Sequence[Code]) -> list[str]:
    """Return the unsure codes of each turn, joined by ;."""
    names = [code.column for code in codes]
    unsure = np.array([_joined([one.session.unsure[name] for one in measured], np.bool_) for name in names])
    return [";".join(compress(names, row)) for row in unsure.T]
