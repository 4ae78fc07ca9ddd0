"""The feelings that the therapist names, as rows: where, of which family, and where the client said so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.tokens import spans
from therapy_analytics.language.word_sequence import Ints, fluent_words
from therapy_analytics.measures._rows import row_column
from therapy_analytics.measures.process._feeling_words import families
from therapy_analytics.measures.process._feelings_expressed import WITHIN, NamedFeelings, named_feelings

_TURN = row_column("turn", "The therapist's turn, as in turns.csv", "count", low=0)
FEELING_COLUMNS = (
    row_column("session_id", "The session"),
    _TURN,
    row_column("start", "Where the word or idiom begins: characters of the turn's text, from 0", "count", low=0),
    row_column("end", "Where it ends; the character there is not part of it", "count", low=0),
    row_column("family", "The family of feelings that it is of (lexicons/feelings.toml)"),
    row_column(
        "expressed",
        f"Whether the client expressed it, or a feeling near it, in their last {WITHIN} turns before; 0 is no fault: "
        "a counselor may hear what was not said",
        "0 or 1",
        low=0,
        high=1,
    ),
    replace(_TURN, name="expressed_turn", meaning="The client's last turn before that expresses it, if any does"),
)


def feeling_rows(session: AnnotatedSession) -> Mapping[str, NDArray[np.generic]]:
    """Return the rows of a session as columns of one length, by the names of `FEELING_COLUMNS`."""
    found = named_feelings(session)
    places = _places(session, found)
    values: dict[str, NDArray[np.generic]] = {
        "session_id": np.repeat(np.array([session.session.id], dtype=object), len(found.turn)),
        "turn": found.turn,
        "start": places[:, 0],
        "end": places[:, 1],
        "family": np.array(families().names, dtype=object)[found.family],
        "expressed": found.expressed.astype(np.int64),
        "expressed_turn": np.where(found.spoken >= 0, found.spoken, np.nan),
    }
    return {column.name: values[column.name] for column in FEELING_COLUMNS}


def _places(session: AnnotatedSession, found: NamedFeelings) -> Ints:
    """Return where each feeling stands in its turn's text, (n, 2): the tokeniser keeps no places and is asked again."""
    token, first = fluent_words(session).token, session.turns.offsets - session.turns.offsets[0]
    begin, end = (token[at] - first[found.turn] for at in (found.at, found.end - 1))
    turns = found.turn.tolist()
    at = {turn: spans(session.session.turns[turn].text) for turn in set(turns)}
    places = [(at[turn][a][0], at[turn][b][1]) for turn, a, b in zip(turns, begin.tolist(), end.tolist(), strict=True)]
    return np.array(places, dtype=np.int64).reshape(-1, 2)
