"""Tables: what was computed, as DataFrames with a codebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import inf, isinf, isnan
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.behaviours import Code, Codebook, Meaning
from therapy_analytics.errors import BadOptionError
from therapy_analytics.frames import BEHAVIOUR_COLUMNS, categories_of
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, Measure
from therapy_analytics.measures._base import Value, count_name
from therapy_analytics.measures._dyads import Dyad
from therapy_analytics.measures.process._feeling_rows import FEELING_COLUMNS, feeling_rows
from therapy_analytics.measures.process._profile import PROFILE_COLUMNS, profile_rows
from therapy_analytics.measures.process._responses import (
    POOLED_COLUMNS,
    RESPONSE_COLUMNS,
    Pooled,
    pooled_rows,
    response_rows,
)
from therapy_analytics.measures.synchrony.tables import ROW_COLUMNS, Kind, Labels, rows_of
from therapy_analytics.session import ROLES, Session

DIGITS = "%.6g"
CODEBOOK_COLUMNS = (
    "column",
    "table",
    "family",
    "meaning",
    "unit",
    "range",
    "direction",
    "formula",
    "misleads",
    "evidence",
    "source",
)
_FROM_FILE = "Read from the transcript"


def _fixed(name: str, meaning: str, unit: str = "text", low: float = -inf, high: float = inf) -> Column:
    return Column(
        name=name,
        meaning=meaning,
        unit=unit,
        low=low,
        high=high,
        direction="",
        formula="as found",
        misleads="",
        source=_FROM_FILE,
        evidence="",
    )


SESSION_COLUMNS = (
    _fixed("session_id", "The session; its folder below sessions/ has this name"),
    _fixed("source_file", "The transcript's file"),
    _fixed("counselor", "Who the therapist is, from the transcript or a table about the sessions"),
    _fixed("client", "Who the client is, from the transcript or a table about the sessions"),
    _fixed("source", "human or llm: what kind of therapist speaks"),
    _fixed(
        "role_method",
        "How it was found who the therapist is: option, file, labels, metadata, elimination, pronouns, none",
    ),
    _fixed(
        "role_margin",
        "For the pronoun rule: distance of the two speakers in you-minus-I words; under 4 is unsure",
        "per 100 words",
        0,
        200,
    ),
    _fixed("notes", "What to know before using the session's numbers"),
)
TURN_COLUMNS = (
    _fixed("session_id", "The session"),
    _fixed("turn", "Position in the session, from 0", "count", 0),
    _fixed("role", "therapist, client or other"),
    _fixed("speaker", "The label as the transcript writes it"),
    _fixed(
        "first_row",
        "Where the turn begins: data row of a table, message of a chat, line of a text",
        "count",
        1,
    ),
    _fixed("start_s", "When the turn begins", "seconds", 0),
    _fixed("end_s", "When the turn ends", "seconds", 0),
    _fixed("n_words", "Words of the turn; a contraction is one word", "words", 0),
    _fixed("n_sentences", "Sentences of the turn; text without punctuation counts as one", "sentences", 0),
)
DYAD_COLUMNS = (
    _fixed("session_id", "The session, one with several therapists or clients"),
    _fixed("therapist", "The label of one therapist; all others count as other speakers in the row"),
    _fixed("client", "The label of one client; all others count as other speakers in the row"),
)
GOLD = "gold_"
"""Before the name of a column of codes that people gave, as the file has it."""
UNSURE_COLUMN = _fixed("unsure_codes", "Codes whose decision on the turn may well be otherwise; several are split by ;")
QUOTE_COLUMN = _fixed("text", "What was said (only with --quotes)")
SPEAKER_COLUMN = _fixed(
    "speaker_changed",
    "How it was changed who says the turn: exchanged, words_moved; empty is unchanged (only with --repair-speakers)",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One session, tagged, with the values of all measures."""

    session: AnnotatedSession
    values: Mapping[str, Value]


def refuse_taken_names(codes: Iterable[Code], columns: Iterable[Column]) -> None:
    """Refuse codes of the user's books whose columns are there already.

    Raises
    ------
    BadOptionError
        A code would make a column (its own, its probability's, its rate's or its count's) that something else makes.
    """
    taken = {
        one.name for one in (*SESSION_COLUMNS, *TURN_COLUMNS, UNSURE_COLUMN, QUOTE_COLUMN, SPEAKER_COLUMN, *columns)
    }
    for code in codes:
        rate = f"{code.column}_rate"
        for name in (code.column, f"p_{code.column}", rate, f"{rate}_lo", f"{rate}_hi", count_name(rate)):
            if name in taken:
                problem = f"the code {code.column!r} would make the column {name!r}, which is there already"
                raise BadOptionError("--codebook", problem, "Give its book another id, such as the name of the manual")


def sessions_table(measured: Sequence[Measured], columns: Sequence[Column]) -> pd.DataFrame:
    """Return a row a session: the fixed columns, the metadata, then each session measure."""
    rows = [_session_row(one.session.session) for one in measured]
    fixed = [column.name for column in SESSION_COLUMNS]
    frame = pd.DataFrame(rows, columns=_with_metadata(rows, fixed, columns))
    return pd.concat([frame, _session_measures([one.values for one in measured], columns)], axis=1)


def _session_measures(values: Sequence[Mapping[str, Value]], columns: Sequence[Column]) -> pd.DataFrame:
    """Return the session measures of each set of values, a row a set."""
    names = [column.name for column in columns if column.level == "session"]
    of_each = itemgetter(*names)
    rows = np.array([of_each(one) for one in values], dtype=np.float64)
    return pd.DataFrame(rows.reshape(len(values), len(names)), columns=names)


def about(session: Session) -> dict[str, str]:
    """Return what sessions.csv says of a session besides its measures, as it is written there; fixed columns first."""
    row = _session_row(session)
    names = [column.name for column in SESSION_COLUMNS]
    margin = session.role_margin
    written = {name: str(row[name]) for name in dict.fromkeys([*names, *row])}
    return {**written, "role_margin": "" if isnan(margin) else DIGITS % margin}


def _session_row(session: Session) -> dict[str, object]:
    about = {f"meta_{key}" if key in _RESERVED else key: value for key, value in session.metadata.items()}
    return {
        **about,
        "session_id": session.id,
        "source_file": session.source_file,
        "counselor": session.metadata.get("counselor", ""),
        "client": session.metadata.get("client", ""),
        "source": session.metadata.get("source", ""),
        "role_method": session.role_method,
        "role_margin": session.role_margin,
        "notes": " ".join(session.notes),
    }


_RESERVED = frozenset({"session_id", "source_file", "role_method", "role_margin", "notes"})


def _with_metadata(rows: Sequence[Mapping[str, object]], fixed: list[str], columns: Sequence[Column]) -> list[str]:
    measures = {column.name for column in columns}
    extra = dict.fromkeys(key for row in rows for key in row if key not in fixed and key not in measures)
    return [*fixed, *extra]


def dyads_table(measured: Sequence[tuple[Dyad, Mapping[str, Value]]], columns: Sequence[Column]) -> pd.DataFrame:
    """Return a row for each therapist and client of the sessions that have several: labels, then session measures."""
    pairs = [dyad for dyad, _ in measured]
    labels = {
        "session_id": [dyad.session.session.id for dyad in pairs],
        "therapist": [dyad.therapist for dyad in pairs],
        "client": [dyad.client for dyad in pairs],
    }
    return pd.concat(
        [pd.DataFrame(labels, dtype=str), _session_measures([values for _, values in measured], columns)], axis=1
    )


def synchrony_table(sessions: Sequence[AnnotatedSession], asked: Sequence[Kind]) -> pd.DataFrame:
    """Return a row for each session, measure, direction and part (see `ROW_COLUMNS`)."""
    if not sessions:
        return _rows_table({}, ROW_COLUMNS)
    return pd.DataFrame({name: _column(values) for name, values in rows_of(sessions, asked).items()})


def _column(values: Labels | np.ndarray) -> Any:
    """Return a column; names are made once, and put where they belong."""
    return pd.Series(values.names).array.take(values.which) if isinstance(values, Labels) else values


def profile_table(sessions: Sequence[AnnotatedSession]) -> pd.DataFrame:
    """Return a row for each session, code and part of the session (see `PROFILE_COLUMNS`)."""
    return _rows_table(profile_rows(*sessions) if sessions else {}, PROFILE_COLUMNS, categories=True)


def responses_table(sessions: Sequence[AnnotatedSession]) -> pd.DataFrame:
    """Return a row for each session, client code and therapist code of the answer (see `RESPONSE_COLUMNS`)."""
    return _rows_table(response_rows(*sessions) if sessions else {}, RESPONSE_COLUMNS, categories=True)


def feelings_table(sessions: Sequence[AnnotatedSession]) -> pd.DataFrame:
    """Return a row for each feeling of the client's that the therapist names (see `FEELING_COLUMNS`)."""
    table = _rows_table(feeling_rows(*sessions) if sessions else {}, FEELING_COLUMNS)
    said = table["expressed_turn"].to_numpy(dtype=np.float64)
    missing = np.isnan(said)
    return table.assign(expressed_turn=pd.arrays.IntegerArray(np.where(missing, 0, said).astype(np.int64), missing))


def pooled_responses_table(pooled: Pooled) -> pd.DataFrame:
    """Return a row for each client code and therapist code over all sessions (see `POOLED_COLUMNS`)."""
    return _rows_table(pooled_rows(pooled), POOLED_COLUMNS, categories=True)


def _rows_table(rows: Mapping[str, np.ndarray], columns: Sequence[Column], *, categories: bool = False) -> pd.DataFrame:
    """Return rows as a table, codes and parts as categories if so asked; of no rows, its columns alone."""
    found: dict[str, Any] = {column.name: rows.get(column.name, np.zeros(0)) for column in columns}
    return pd.DataFrame(found | categories_of(found) if categories else found)


def turns_table(
    measured: Sequence[Measured],
    columns: Sequence[Column],
    codes: Sequence[Code],
    *,
    quotes: bool = False,
    repaired: bool = False,
) -> pd.DataFrame:
    """Return a row a turn: place, role, times, words, then codes and turn measures.

    Codes of the other role are empty (missing), not 0. Codes that people gave stand in ``gold_...``, by name.
    """
    turns = [turn for one in measured for turn in one.session.session.turns]
    data: dict[str, object] = {
        "session_id": [one.session.session.id for one in measured for _ in one.session.session.turns],
        "turn": np.array([turn.index for turn in turns], dtype=np.int64),
        "role": pd.Categorical([turn.role for turn in turns], categories=list(ROLES)),
        "speaker": [turn.speaker for turn in turns],
        "first_row": np.array([turn.first_row for turn in turns], dtype=np.int64),
        "start_s": np.array([turn.start_s for turn in turns], dtype=np.float64),
        "end_s": np.array([turn.end_s for turn in turns], dtype=np.float64),
        "n_words": _joined([one.session.n_words for one in measured], np.int64),
        "n_sentences": _joined([one.session.turns.n_sentences for one in measured], np.int64),
    }
    if repaired:
        data[SPEAKER_COLUMN.name] = [turn.speaker_changed for turn in turns]
    if quotes:
        data["text"] = [turn.text for turn in turns]
    for code in codes:
        data |= _code_columns(measured, code)
    data[UNSURE_COLUMN.name] = _unsure(measured, codes)
    gold = [turn.gold for turn in turns]
    for name in sorted({name for one in gold for name in one}):
        data[f"{GOLD}{name}"] = [one.get(name, "") for one in gold]
    for column in columns:
        if column.level == "turn":
            data[column.name] = _joined([np.asarray(one.values[column.name]) for one in measured], np.float64)
    return pd.DataFrame(data)


def _joined(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.zeros(0, dtype=dtype)


def _code_columns(measured: Sequence[Measured], code: Code) -> dict[str, object]:
    probability = _joined([one.session.probabilities[code.column] for one in measured], np.float64)
    decision = _joined([one.session.decisions[code.column] for one in measured], np.bool_)
    masked = pd.arrays.IntegerArray(decision.astype(np.int8), np.isnan(probability))
    return {f"p_{code.column}": probability, code.column: masked}


def _unsure(measured: Sequence[Measured], codes: Sequence[Code]) -> np.ndarray:
    """Name the unsure codes of each turn; few combinations occur, so each is put into words once."""
    names = [code.column for code in codes]
    n_turns = sum(len(one.session) for one in measured)
    table = np.zeros((n_turns, len(names)), dtype=np.bool_)
    for column, name in enumerate(names):
        table[:, column] = _joined([one.session.unsure[name] for one in measured], np.bool_)
    texts = np.full(n_turns, "", dtype=object)
    (some,) = np.nonzero(table.any(axis=1))
    if len(some):
        kinds = [row.tobytes() for row in table[some]]
        said = {kind: ";".join(compress(names, kind)) for kind in set(kinds)}
        texts[some] = [said[kind] for kind in kinds]
    return texts


def codebook_table(
    measures: Sequence[tuple[Measure, Column]],
    codebooks: Sequence[Codebook],
    *,
    sessions: Iterable[str],
    gold: Iterable[str],
    meaning: Meaning,
    repaired: bool = False,
) -> pd.DataFrame:
    """Return a row for every column of the sessions, turns and behaviours tables, saying what it means.

    Parameters
    ----------
    measures, codebooks : sequences
        Of the run: each column of each measure, and the codes.
    sessions : iterable of str
        Columns of the sessions table, for the metadata among them.
    gold : iterable of str
        Columns of codes that people gave.
    meaning : Meaning
        What codes are worth, which depends on who gave them.
    repaired : bool, optional
        Whether speakers were repaired, so that the turns say where.
    """
    named = {column.name for column in SESSION_COLUMNS} | {column.name for _, column in measures}
    changed = (SPEAKER_COLUMN,) if repaired else ()
    rows = [_codebook_row(column, "sessions", "fixed") for column in SESSION_COLUMNS]
    rows += [_codebook_row(_metadata_column(name), "sessions", "metadata") for name in sessions if name not in named]
    rows += [_codebook_row(column, "sessions", one.family) for one, column in measures if column.level == "session"]
    rows += [_codebook_row(column, "turns", "fixed") for column in (*TURN_COLUMNS, *changed, QUOTE_COLUMN)]
    rows += [row for book in codebooks for code in book.codes for row in _code_rows(code, book, meaning)]
    unsure = replace(UNSURE_COLUMN, formula=meaning.unsure, misleads=meaning.misleads, source="This program")
    rows.append(_codebook_row(unsure, "turns", "codes"))
    rows += [_codebook_row(_gold_column(name), "turns", "codes, by people") for name in gold]
    rows += [_codebook_row(column, "turns", one.family) for one, column in measures if column.level == "turn"]
    rows += [_codebook_row(column, "behaviours", "codes") for column in BEHAVIOUR_COLUMNS]
    return pd.DataFrame(rows, columns=list(CODEBOOK_COLUMNS))


def codebook_of(table: str, family: str, columns: Sequence[Column]) -> pd.DataFrame:
    """Return the rows of the codebook about a table whose columns are always the same."""
    rows = [_codebook_row(column, table, family) for column in columns]
    return pd.DataFrame(rows, columns=list(CODEBOOK_COLUMNS))


def _metadata_column(name: object) -> Column:
    return _fixed(str(name), "From the transcript's file or a table about the sessions")


def _gold_column(name: str) -> Column:
    return _fixed(name, "Codes that people gave the turn, as the transcript's file has them; several are split by ;")


def _codebook_row(column: Column, table: str, family: str) -> dict[str, str]:
    return {
        "column": column.name,
        "table": table,
        "family": family,
        "meaning": column.meaning,
        "unit": column.unit,
        "range": _range(column),
        "direction": column.direction,
        "formula": column.formula,
        "misleads": column.misleads,
        "evidence": column.evidence,
        "source": column.source,
    }


def _range(column: Column) -> str:
    low, high = column.low, column.high
    if isinf(low) and isinf(high):
        return "any"
    return f"{low:g} or more" if isinf(high) else f"{low:g} to {high:g}"


def _code_rows(code: Code, book: Codebook, meaning: Meaning) -> list[dict[str, str]]:
    shared = {
        "table": "turns",
        "family": f"codes, {book.name}",
        "direction": "",
        "misleads": f"{meaning.misleads}; experimental: {code.status_reason}" if code.status else meaning.misleads,
        "evidence": "",
        "source": code.source or book.source,
    }
    decision = {
        "column": code.column,
        "meaning": f"{code.name}: {code.definition}",
        "unit": "0 or 1",
        "range": "0 to 1",
        "formula": meaning.decision,
    }
    probability = {
        "column": f"p_{code.column}",
        "meaning": f"Probability of {code.column}",
        "unit": "probability",
        "range": "0 to 1",
        "formula": meaning.probability,
    }
    return [{**shared, **probability}, {**shared, **decision}]


def codes_table(codebooks: Iterable[Codebook]) -> pd.DataFrame:
    """Return a row for every code of these codebooks, with all that its book says of it."""
    rows = [_code_row(code) for book in codebooks for code in book.codes]
    return pd.DataFrame(rows)


def _code_row(code: Code) -> dict[str, str]:
    return {
        "column": code.column,
        "book": code.book,
        "id": code.id,
        "label": code.label,
        "name": code.name,
        "role": code.role,
        "group": code.group,
        "level": code.level,
        "parent": code.parent,
        "status": f"{code.status}: {code.status_reason}" if code.status else "",
        "unit": code.unit,
        "definition": code.definition,
        "examples": "\n".join(code.examples),
        "counter_examples": "\n".join(code.counter_examples),
        "crosswalk": "\n".join(f"{one.to} ({one.quality}) {one.note}".strip() for one in code.crosswalk),
        "source": code.source,
    }
