"""Meaning: is a turn about what the other said, how far do thoughts move on, and does talk return to what was left.

All of it rests on the vectors of `therapy_analytics.language.meanings`.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.meanings import meanings
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Curve, Direction, OnPage, Shown, Value, wide_name
from therapy_analytics.measures._rates import mean_column
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.synchrony._course import (
    FLOW_TURN,
    FLOWS,
    VECTORS,
    cosines,
    flow_columns,
    flow_values,
    return_columns,
    return_values,
)
from therapy_analytics.measures.synchrony.adjacent_turns import (
    AdjacentTurnMeasure,
    adjacent_turn_measure,
)
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
    session_columns,
    session_values,
)
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure, speakers_in

_OWN = "This package's own"


def vectors_of(session: AnnotatedSession) -> Floats:
    """Return the vector of each turn, (n_turns, n_dimensions), of length `STEPS`; 0 without meaning."""
    return meanings(session).vectors


SIMILARITY = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="semantic_similarity",
        series="semantic_similarity_turn",
        meaning="Similarity of meaning of neighbouring turns",
        unit="cosine",
        formula="cosine of the vectors of a turn and of the turn before, each the mean of the vectors of its words",
        misleads="Long turns are alike whatever they are about (means over many words lie near one another), and short "
        "ones ('yeah', 'okay') are 1 or near 0; saying the opposite in the same words is 1. Read it beside words per "
        f"turn and its null distributions. {VECTORS}. Not a quality score",
        source="This package's own; static vectors after Tulkens, S., & van Dongen, T. (2024). Model2Vec",
        represent=vectors_of,
        score=cosines,
        low=-1.0,
        core=True,
        shown=True,
    )
)


# ---- context: all that the other has said so far


def context(own: Side, other: Side) -> Floats:
    """Return the cosine of each turn with the sum of the other's earlier turns, float64 (n_turns,).

    Parameters
    ----------
    own, other : Side
        Whose rows are vectors of meaning, (n_turns, n_dimensions). Nan where there is no meaning.
    """
    heard = np.cumsum(np.vstack([np.zeros(other.rows.shape[1]), other.rows]), axis=0)
    return cosines(own.rows, heard[np.searchsorted(other.at, own.at)])


def _context_score(therapist: Side, client: Side) -> Floats:
    means = mean_column(context(therapist, client)), mean_column(context(client, therapist))
    return np.array([mean_column(np.array(means)), *means])


def _context_column(direction: Direction, whose: str) -> Column:
    return Column(
        name=wide_name("semantic_context", direction),
        measure="semantic_context",
        direction=direction,
        meaning=f"Similarity of meaning of {whose} with all that the other has said so far",
        unit="cosine",
        low=-1,
        high=1,
        high_means="higher: nearer to what the other has talked about",
        formula="cosine of a turn's vector with the mean of the unit vectors of all the other's earlier turns; mean "
        "over turns" + (", then of the two" if direction == "both" else ""),
        misleads="Grows over a session as the mean settles, and with words per turn; a session of one topic is high "
        "whoever brought it up. What counts is the distance from surrogate pairs. "
        f"{VECTORS}. Not a quality score",
        source=_OWN,
        evidence="supported",
    )


CONTEXT = session_measure(
    SessionMeasure(
        name="semantic_context",
        columns=(
            _context_column("both", "turns"),
            _context_column("therapist", "the therapist's turns"),
            _context_column("client", "the client's turns"),
        ),
        represent=vectors_of,
        score=_context_score,
        core=True,
    )
)
CONTEXT_TURN = replace(
    _context_column("both", "this turn"),
    name="semantic_context_turn",
    formula="cosine of the turn's vector with the mean of the unit vectors of all the other's earlier turns",
    level="turn",
)


def _context_series(session: AnnotatedSession) -> Floats:
    """Return the cosine of each turn with all that the other has said so far, (n_turns,)."""
    series = np.full(len(session), nan)
    therapists, clients = speakers_in(CONTEXT, session, surrogates=False)
    for own, other in ((therapists[0], clients[0]), (clients[0], therapists[0])):
        series[own.at] = context(own, other)
    return series


_PAGE: dict[str, Shown] = {
    "semantic_similarity": OnPage("together", "Similar in meaning"),
    "semantic_context": OnPage("together", "Near in meaning to all that the other said so far"),
    "semantic_similarity_turn": Curve("Similar in meaning", "synchrony", beside="semantic_similarity"),
}


@measure(
    columns=[
        *adjacent_columns(SIMILARITY),
        *session_columns(CONTEXT),
        CONTEXT_TURN,
        *(column for name, whose in FLOWS.items() for column in flow_columns(name, whose)),
        FLOW_TURN,
        *return_columns(),
    ],
    core=10,
    page=_PAGE,
)
def semantic_similarity(session: AnnotatedSession) -> dict[str, Value]:
    """Compare turns by what they are about: with the turn before, and with all that was said earlier.

    High similarity means that neighbouring turns, or a turn and what the other has said so far, are about the same;
    high forward flow that thoughts move on; high return that talk comes back to what it had left. See `cosines`,
    `context`, `forward_flow` and `returns` for the formulas as examples.

    Notes
    -----
    A text is the mean of the vectors of its words. So the vectors know what is talked about, not what is said about it.

    References
    ----------
    Tulkens, S., & van Dongen, T. (2024). Model2Vec: Fast state-of-the-art static embeddings.

    Gray, K., Anderson, S., Chen, E. E., Kelly, J. M., Christian, M. S., Patrick, J., Huang, L., Kenett, Y. N., &
    Lewis, K. (2019). "Forward flow": A new measure to quantify free thought and predict creativity. American
    Psychologist, 74, 539-554.

    Angus, D., Smith, A., & Wiles, J. (2012). Human communication as coupled time series: Quantifying
    multi-participant recurrence. IEEE Transactions on Audio, Speech, and Language Processing, 20, 1795-1807.
    """
    vectors = vectors_of(session)
    values = adjacent_values(SIMILARITY, session) | session_values(CONTEXT, session)
    values |= {CONTEXT_TURN.name: _context_series(session)}
    return values | flow_values(session, vectors) | return_values(session, vectors)
