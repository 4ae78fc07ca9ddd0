"""Lock-in: the same advice again, and the same formula to begin with."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.said import Ints, Marks
from therapy_analytics.measures import Column, measure, rate_columns
from therapy_analytics.measures._base import Value, mark_column, marks
from therapy_analytics.measures._together import counted_rates, counts, number_of, of_each, rates
from therapy_analytics.measures.process._repeats import (
    ADVISES,
    ALIKE,
    FEWEST,
    FRAME,
    OFTEN,
    SHARED,
    Advice,
    advice_of_each,
    by_chance,
    openings,
    seen_often,
)
from therapy_analytics.measures.process._word_meanings import Floats

_SOURCE = "This package's own; a check that language models and people can be compared on"
_ADVICE = Column(
    name="repeated_advice_rate",
    meaning="Share of the therapist's sentences of advice that say again what an earlier turn advised",
    unit="proportion",
    low=0,
    high=1,
    direction="more of the same advice again",
    formula=(
        f"sentences as alike to one of an earlier turn as: cosine {ALIKE} above the mean between the session's "
        f"sentences "
        f"of advice, and {SHARED:.0%} of content words, by rarity, in common / sentences of advice: statements of "
        f"{FEWEST} content words or more in turns with {' or '.join(ADVISES)}"
    ),
    misleads=(
        "Coming back to a plan that was agreed on, and summing up, are repetition too. All statements of a "
        "turn of advice "
        "count, so that reflections in it do. The longer the session, the more there is to repeat"
    ),
    source=_SOURCE,
    evidence="weak",
)
_OPENING = replace(
    _ADVICE,
    name="repeated_opening_rate",
    meaning="Share of therapist turns that open with a formula that opened several of the therapist's turns before",
    direction="more turns begin with the same words",
    formula=(
        f"turns whose first {FRAME} words, behind words of assent and fillers, opened {OFTEN} or more of the "
        f"therapist's "
        f"turns before / therapist turns with {FRAME} such words"
    ),
    misleads="Grows with the number of turns: set beside it what the speaker's language gives by chance. The "
    "same words "
    "with something put in between are not seen",
    evidence="weak",
)
_CHANCE = replace(
    _OPENING,
    name="repeated_opening_null",
    meaning="What repeated_opening_rate would be if first, second and third words went together by chance",
    direction="the language repeats itself more",
    formula="mean of repeated_opening_rate over 20 shuffles of the first, the second and the third words among "
    "the turns",
    misleads="A therapist who always begins with one word has a high value",
)


@measure(
    columns=[
        *rate_columns(_ADVICE, counted="Sentences of advice that come again"),
        *rate_columns(_OPENING, counted="Therapist turns that open as several before did"),
        _CHANCE,
        mark_column(
            _ADVICE,
            "repeated_advice_turn",
            "Whether the therapist's turn has a sentence of advice of an earlier turn again",
            empty="turns without a sentence of advice",
        ),
        mark_column(
            _OPENING,
            "repeated_opening_turn",
            "Whether the therapist's turn opens with a formula that opened several before",
            empty=f"turns that have not {FRAME} words to open with",
        ),
    ]
)
def lock_in(session: AnnotatedSession) -> dict[str, Value]:
    """Say how much the therapist repeats advice by meaning, and openings by their words.

    High values mean that the therapist goes round in circles: the same advice or the same formula again, which
    language models do under pressure.

    Notes
    -----
    Words said again anywhere in a turn are counted by ``therapist_self_repetition``.

    References
    ----------
    This package's own. Similarity by static vectors of words: Arora, S., Liang, Y., & Ma, T. (2017). A simple but
    tough-to-beat baseline for sentence embeddings. ICLR.
    """
    values = dict(session.by_session(_values))
    frames = session.by_session(_frames)
    n = len(frames)
    chance = by_chance(frames, session.generator(7)) if n > OFTEN else 0.0 if n else np.nan
    return values | {_CHANCE.name: chance}


def _frames(session: AnnotatedSession) -> list[Ints]:
    """Return the frames of each session."""
    turns, frames = session.once(openings)
    ends = np.searchsorted(turns, session.bounds).tolist()
    return [frames[start:stop] for start, stop in pairwise(ends)]


def _values(session: AnnotatedSession) -> list[dict[str, Value]]:
    advice = session.once(_advice_of_all)
    turns, frames = session.once(openings)
    often = np.zeros(len(session), dtype=np.bool_)
    often[turns[seen_often(frames, number_of(session)[turns])]] = True
    opens = np.zeros(len(session), dtype=np.bool_)
    opens[turns] = True
    n, k = (
        counts(session, np.bincount(some, minlength=len(session)))
        for some in (advice.turns, advice.turns[advice.repeats])
    )
    n = n if session.has("mi_input") else np.zeros_like(n)
    found = rates(session, {_OPENING.name: (often, opens)}) | counted_rates((_ADVICE.name,), k[None], n[None])
    marked = {
        "repeated_advice_turn": _marks(session, advice.turns, advice.repeats),
        "repeated_opening_turn": marks(opens, often),
    }
    return of_each(session, found, marked)


def _advice_of_all(session: AnnotatedSession) -> Advice:
    """Return the advice of all sessions, by turns of the batch."""
    found = session.once(advice_of_each)
    turns = [one.turns + start for one, start in zip(found, session.bounds.tolist(), strict=False)]
    return Advice(np.concatenate(turns), np.concatenate([one.repeats for one in found]))


def _marks(session: AnnotatedSession, turns: Ints, hits: Marks) -> Floats:
    """Return 1 for turns with a hit, 0 for others that could have one, nan elsewhere."""
    marks = np.full(len(session), np.nan)
    marks[turns] = 0.0
    marks[turns[hits]] = 1.0
    return marks
