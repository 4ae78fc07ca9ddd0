"""Whether the therapist's turn stays with what the client has just talked about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.meanings import Meanings, cosines, meanings
from therapy_analytics.measures import Column, measure, rate_columns
from therapy_analytics.measures._rates import counted_rate

FEWEST_WORDS = 5
"""Turns of fewer words have hardly a topic."""
FEWEST_OTHERS = 4
"""Other turns of the client that the last one is compared with."""
_LAST = 4
"""Turns back within which the client's last turn with a topic must lie."""
_CELLS = 1_000_000
Ints = NDArray[np.int64]

_COLUMN = Column(
    name="therapist_topic_kept_rate",
    meaning="Share of therapist turns that are nearer in meaning to what the client last said than to most of what the "
    "client says at other times; proxy of following the client",
    unit="proportion",
    low=0,
    high=1,
    high_means="the therapist stays with the client's last topic more often; 0.5 by chance",
    formula=f"of therapist turns of {FEWEST_WORDS} words or more: those whose cosine with the client's last turn of as "
    "many words is above that with more than half of the client's other such turns (without the next one)",
    misleads="A proxy of following, not a rating of alliance. A session of one topic lies near 0.5 though the two "
    "never leave it; a good question may lead on. Vectors are means over words: order and negation count for nothing",
    source="This package's own; static vectors as in semantic_similarity, of which this is the share of turns",
)


@measure(columns=rate_columns(_COLUMN, counted="Therapist turns that stay with the client's last topic"))
def topic_continuity(session: AnnotatedSession) -> dict[str, float]:
    """Count therapist turns that are about what the client has just talked about, rather than at other times.

    High means that the therapist follows. A client talks of sleep, of work, of a dog, of money, of a train; each time
    the therapist takes the word up: all turns are kept, the rate is 1.

    Notes
    -----
    Minimal responses are passed over on both sides, so that "mm-hmm" neither breaks nor makes a topic. Undefined where
    the client has fewer than four other turns to compare with.

    References
    ----------
    This package's own.
    """
    long = session.n_words >= FEWEST_WORDS
    client = np.flatnonzero(session.spoken_by("client") & long)
    therapist = np.flatnonzero(session.spoken_by("therapist") & long)
    last = np.searchsorted(client, therapist) - 1
    near = (last >= 0) & (therapist - client[last] <= _LAST) if len(client) else np.zeros(len(therapist), np.bool_)
    therapist, last = therapist[near], last[near]
    if len(client) < FEWEST_OTHERS + 2 or not len(therapist):
        return counted_rate(_COLUMN.name, 0.0, 0.0)
    own = meanings(session)
    has = (own.squares[therapist] > 0) & (own.squares[client[last]] > 0)
    kept = _kept(own, therapist[has], client, last[has])
    return counted_rate(_COLUMN.name, float(np.count_nonzero(kept)), float(len(kept)))


def _kept(own: Meanings, therapist: Ints, client: Ints, last: Ints) -> NDArray[np.bool_]:
    """Return which therapist turns are nearer to the client's last turn than to more than half of the others."""
    rows = max(1, _CELLS // len(client))
    parts = [slice(start, start + rows) for start in range(0, len(therapist), rows)]
    found = [_nearer(cosines(own, own, therapist[one, None], client[None]), last[one]) for one in parts]
    return np.concatenate([np.zeros(0, dtype=np.bool_), *found])


def _nearer(table: NDArray[np.float64], last: Ints) -> NDArray[np.bool_]:
    each = np.arange(len(last))
    others = ~np.isnan(table)
    others[each, last] = False
    # What the client says next answers this turn: it is near because of it
    others[each, np.minimum(last + 1, table.shape[1] - 1)] = False
    below = (table < table[each, last][:, None]) & others
    return np.asarray(2 * below.sum(axis=1) > others.sum(axis=1))
