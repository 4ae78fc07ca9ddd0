"""Words at the wrong side of a boundary: the last words of a turn are the next speaker's, or the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core.session import Role, Turn
from therapy_analytics.speakers.models import GapScores, Limit, SpeakerModel, gap_scores

FARTHEST = 4
"""So many words can go from one turn to its neighbour."""
_PUNCTUATED = 0.03
"""Talk in which a smaller share of the words ends with a full stop, question or exclamation mark has no punctuation."""
_WORD = re.compile(r"\S+")
_MAIN: set[Role] = {"therapist", "client"}


class Move(NamedTuple):
    """A boundary behind turn ``turn`` that is `words` too late (positive) or too early (negative)."""

    turn: int
    words: int
    score: float
    probability: float


def is_written(words: Sequence[str]) -> bool:
    """Tell talk with punctuation from talk without."""
    ended = sum(word[-1] in ".?!\u2026" for word in words)
    return ended >= _PUNCTUATED * len(words)


def moves(turns: Sequence[Turn], model: SpeakerModel) -> list[Move]:
    """Return which boundaries between therapist and client stand a few words off, in order."""
    by_turn = [turn.text.split() for turn in turns]
    words = [word for one in by_turn for word in one]
    limit = model.moved["written" if is_written(words) else "recognised"]
    ends = np.cumsum([len(one) for one in by_turn])
    return list(moves_of(ends, [turn.role for turn in turns], gap_scores(words, model.gaps), limit))


def moves_of(ends: NDArray[np.int64], roles: Sequence[Role], scores: GapScores, limit: Limit) -> Iterator[Move]:
    """Yield which boundaries between therapist and client stand a few words off, in order.

    A boundary is moved where another gap, at most `FARTHEST` words away, is by enough the likelier one for a change
    from this speaker to the next. Each turn keeps a word at least.

    Parameters
    ----------
    ends : int64 array (n_turns,)
        How many words of the session stand before the end of each turn.
    roles : sequence of str
        Of the turns.
    scores : GapScores
        Of the gaps of the session.
    limit : Limit
        How much likelier the other gap must be.
    """
    after = {role: scores.after(role == "therapist") for role in _MAIN}
    first = 0  # the first word of the turn, where its beginning has been moved to
    for at, (role, following) in enumerate(pairwise(roles)):
        end = int(ends[at])
        if {role, following} == _MAIN and first < end < ends[at + 1]:
            best, score = likeliest(after[role], end, first + 1, int(ends[at + 1]) - 1)
            if best != end and score >= limit.least:
                yield Move(at, end - best, score, limit.probability(score))
                end = best
        first = end


def likeliest(scores: NDArray[np.float64], end: int, low: int, high: int) -> tuple[int, float]:
    """Return the likeliest other end of a turn within `FARTHEST` words, and by how much it is likelier.

    Parameters
    ----------
    scores : float64 array (n_words - 1,)
        Log-odds that this turn ends behind each word.
    end, low, high : int
        How many words stand before the boundary as it is, and may stand there at least and at most.

    Examples
    --------
    >>> likeliest(np.array([-3.0, 2.0, -1.0, -2.0]), 3, 1, 4)
    (2, 3.0)
    """
    others = [one for one in range(max(end - FARTHEST, low), min(end + FARTHEST, high) + 1) if one != end]
    if not others:
        return end, 0.0
    best = max(others, key=lambda one: scores[one - 1])
    return best, float(scores[best - 1] - scores[end - 1])


def moved(turn: Turn, after: Turn, words: int) -> tuple[Turn, Turn]:
    """Give the last words of a turn to the next one, or, if `words` is negative, the next one's first words to it."""
    if words > 0:
        cut = [match.start() for match in _WORD.finditer(turn.text)][-words]
        kept, given = turn.text[:cut].rstrip(), turn.text[cut:].rstrip()
        gone = [replace(mark, at=max(mark.at - cut, 0)) for mark in turn.marks if mark.at >= cut]
        stay = tuple(replace(mark, at=min(mark.at, len(kept))) for mark in turn.marks if mark.at < cut)
        later = [replace(mark, at=mark.at + len(given) + 1) for mark in after.marks]
        return replace(turn, text=kept, marks=stay), replace(after, text=f"{given} {after.text}", marks=(*gone, *later))
    cut = [match.end() for match in _WORD.finditer(after.text)][-words - 1]
    given, kept = after.text[:cut], after.text[cut:].lstrip()
    skipped = len(after.text) - len(kept)
    before = len(turn.text) + 1
    gone = [replace(mark, at=mark.at + before) for mark in after.marks if mark.at < cut]
    stay = tuple(replace(mark, at=max(mark.at - skipped, 0)) for mark in after.marks if mark.at >= cut)
    return replace(turn, text=f"{turn.text} {given}", marks=(*turn.marks, *gone)), replace(after, text=kept, marks=stay)
