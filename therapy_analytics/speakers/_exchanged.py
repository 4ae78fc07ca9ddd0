"""Turns whose labels look exchanged: what the therapist is said to say sounds like the client, and the reverse.

Each turn speaks for or against its label, by no more than `MOST` however clear it is. The score of a stretch of turns
is the sum of what speaks against their labels: a scan statistic (Kulldorff, 1997), of which the largest counts.

References
----------
Kulldorff, M. (1997). A spatial scan statistic. Communications in Statistics, 26, 1481-1496.
doi:10.1080/03610929708831995
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.text_model import read_texts
from therapy_analytics.language import Batch, TurnArrays
from therapy_analytics.language.english import NOT_ENGLISH
from therapy_analytics.session import CLIENT, THERAPIST, Session
from therapy_analytics.speakers._model import Limit, SpeakerModel, load_speaker_model

Floats = NDArray[np.float64]
FEWEST = 6
"""A shorter stretch of turns is not looked at."""
MOST = 3.0
"""So much, in log-odds, a turn can speak for or against its label."""


class Stretch(NamedTuple):
    """Turns ``begin:end`` (by position), the score that their labels are exchanged, and its probability."""

    begin: int
    end: int
    score: float
    probability: float


def voices(turns: TurnArrays, model: SpeakerModel) -> Floats:
    """Return the log-odds of each turn, by itself, to be the therapist's, (n_turns,); 0 for one without words."""
    scores = model.voice.scores(read_texts(turns))[:, 0]
    return np.where(turns.n_words > 0, scores, 0.0)


def exchanged(voice: Floats, roles: NDArray[np.integer[Any]], limit: Limit) -> list[Stretch]:
    """Return the stretches whose labels look exchanged, in order.

    Parameters
    ----------
    voice : float64 array (n_turns,)
        As `voices` returns it.
    roles : int array (n_turns,)
        Positions in `ROLES`; others speak neither for nor against.
    limit : Limit
        `SpeakerModel.exchanged`.
    """
    sign = np.where(roles == THERAPIST, -1.0, np.where(roles == CLIENT, 1.0, 0.0))
    against = np.clip(voice, -MOST, MOST) * sign
    found = _over(against, 0, len(against), limit.least)
    return [one._replace(probability=limit.probability(one.score)) for one in found]


def _over(against: Floats, begin: int, end: int, least: float) -> Iterator[Stretch]:
    """Yield the largest stretch of turns ``begin:end``, and what is left and right of it, as far as it is enough."""
    best = largest(against[begin:end])
    if best is None or best.score < least:
        return
    first, last = best.begin + begin, best.end + begin
    yield from _over(against, begin, first, least)
    yield best._replace(begin=first, end=last)
    yield from _over(against, last, end, least)


def largest(against: Floats) -> Stretch | None:
    """Return the stretch of at least `FEWEST` turns with the largest sum; None where there are fewer turns.

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
    return Stretch(begin, end + FEWEST, float(sums[end + FEWEST] - sums[begin]), float("nan"))


def two_speak(session: Session) -> bool:
    """Tell whether there is one therapist and one client, whose labels can be exchanged."""
    labels = {role: {turn.speaker for turn in session.turns if turn.role == role} for role in ("therapist", "client")}
    return all(len(one) == 1 for one in labels.values())


def with_speaker_notes(batch: Batch) -> Batch:
    """Return a batch in which a note stands on each session with turns whose labels look exchanged.

    A session's note does not depend on the other sessions.
    """
    model, starts = load_speaker_model(), batch.starts.tolist()
    looked = [two_speak(one) and not any(NOT_ENGLISH in note for note in one.notes) for one in batch.sessions]
    if not any(looked):
        return batch
    voice = voices(batch.turns, model)
    sessions = list(batch.sessions)
    for at in compress(range(len(sessions)), looked):
        part = slice(starts[at], starts[at + 1])
        found = exchanged(voice[part], batch.turns.roles[part], model.exchanged)
        sessions[at] = replace(sessions[at], notes=(*sessions[at].notes, *map(_note, found)))
    return replace(batch, sessions=tuple(sessions))


def _note(one: Stretch) -> str:
    return (
        f"Speakers look exchanged in turns {one.begin} to {one.end - 1} (probability {probability(one.probability)}): "
        "tanalyze speakers shows it."
    )


def probability(p: float) -> str:
    """Return a probability with two digits, as the notes have it; never one that would say certain.

    Examples
    --------
    >>> probability(0.9713), probability(0.9999)
    ('.97', '.99')
    """
    return f"{min(p, 0.99):.2f}".lstrip("0")
