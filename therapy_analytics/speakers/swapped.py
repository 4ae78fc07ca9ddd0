"""Segments whose labels look swapped: the therapist's words sound like a client's, and the client's like a therapist's.

Each turn is evidence for or against its label, cut off at `MOST`. The score of a segment is the sum of the evidence
against the labels of its turns; the segment with the largest sum counts, as in a scan statistic (Kulldorff, 1997).

References
----------
Kulldorff, M. (1997). A spatial scan statistic. Communications in Statistics, 26, 1481-1496.
doi:10.1080/03610929708831995
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.text_model import read_texts
from therapy_analytics.core.session import CLIENT, THERAPIST, Session
from therapy_analytics.speakers.models import Limit, SpeakerModel, load_speaker_model
from therapy_analytics.text import Batch, TurnArrays
from therapy_analytics.text.english import NOT_ENGLISH, UNDIVIDED

Floats = NDArray[np.float64]
FEWEST = 6
"""A shorter segment is not looked at."""
MOST = 3.0
"""The most evidence of one turn, in log-odds."""


class SwappedSegment(NamedTuple):
    """Turns ``begin:end`` (by position), the score that their labels are swapped, and its probability."""

    begin: int
    end: int
    score: float
    probability: float = float("nan")


def voice_log_odds(turns: TurnArrays, model: SpeakerModel) -> Floats:
    """Return the log-odds of each turn, by itself, to be the therapist's, (n_turns,); 0 for one without words."""
    scores = model.voice.scores(read_texts(turns))[:, 0]
    return np.where(turns.n_words > 0, scores, 0.0)


def swapped_segments(voice: Floats, roles: NDArray[np.integer[Any]], limit: Limit) -> list[SwappedSegment]:
    """Return the segments whose labels look swapped, in order.

    Parameters
    ----------
    voice : float64 array (n_turns,)
        As `voice_log_odds` returns it.
    roles : int array (n_turns,)
        Positions in `ROLES`; turns of others are no evidence.
    limit : Limit
        `SpeakerModel.swapped`.
    """
    sign = np.where(roles == THERAPIST, -1.0, np.where(roles == CLIENT, 1.0, 0.0))
    against = np.clip(voice, -MOST, MOST) * sign
    found = _at_least(against, 0, len(against), limit.least)
    return [one._replace(probability=limit.probability(one.score)) for one in found]


def _at_least(against: Floats, begin: int, end: int, least: float) -> Iterator[SwappedSegment]:
    """Yield the largest segment within ``begin:end``, and those before and after it, as far as they reach the limit."""
    best = largest(against[begin:end])
    if best is None or best.score < least:
        return
    first, last = best.begin + begin, best.end + begin
    yield from _at_least(against, begin, first, least)
    yield SwappedSegment(first, last, best.score)
    yield from _at_least(against, last, end, least)


def largest(against: Floats) -> SwappedSegment | None:
    """Return the segment of at least `FEWEST` turns with the largest sum; None where there are fewer turns.

    Parameters
    ----------
    against : float64 array (n_turns,)
        Evidence of each turn against its label.

    Examples
    --------
    >>> largest(np.array([-1.0, -1, 2, 2, 2, -1, 2, 2, -1]))[:3]
    (2, 8, 9.0)
    """
    if len(against) < FEWEST:
        return None
    sums = np.append(0.0, np.cumsum(against))
    lowest = np.minimum.accumulate(sums[:-FEWEST])
    end = int(np.argmax(sums[FEWEST:] - lowest))
    begin = int(np.argmin(sums[: end + 1]))
    return SwappedSegment(begin, end + FEWEST, float(sums[end + FEWEST] - sums[begin]))


def two_speak(session: Session) -> bool:
    """Tell whether there is one therapist and one client, whose labels can be swapped."""
    labels = {role: {turn.speaker for turn in session.turns if turn.role == role} for role in ("therapist", "client")}
    return all(len(one) == 1 for one in labels.values())


def with_speaker_notes(batch: Batch) -> Batch:
    """Return a batch with a note on each session whose labels look swapped; it depends on that session alone."""
    foreign = (NOT_ENGLISH, UNDIVIDED)
    looked = [
        two_speak(one) and not any(why in note for why in foreign for note in one.notes) for one in batch.sessions
    ]
    if not any(looked):
        return batch
    model = load_speaker_model()
    voice, starts, sessions = voice_log_odds(batch.turns, model), batch.starts.tolist(), list(batch.sessions)
    for at in np.flatnonzero(looked).tolist():
        turns = slice(starts[at], starts[at + 1])
        found = swapped_segments(voice[turns], batch.turns.roles[turns], model.swapped)
        sessions[at] = replace(sessions[at], notes=(*sessions[at].notes, *map(_note, found)))
    return replace(batch, sessions=tuple(sessions))


def _note(one: SwappedSegment) -> str:
    sure = two_digits(one.probability)
    return (
        f"Speakers look swapped in turns {one.begin} to {one.end - 1} (probability {sure}): tanalyze speakers shows it."
    )


def two_digits(probability: float) -> str:
    """Return a probability with two digits for a note; never one that would say certain.

    Examples
    --------
    >>> two_digits(0.9713), two_digits(0.9999)
    ('.97', '.99')
    """
    return f"{min(probability, 0.99):.2f}".lstrip("0")
