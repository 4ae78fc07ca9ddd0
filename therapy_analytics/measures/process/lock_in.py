"""Lock-in: the same advice again, and the same formula to begin with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Mark, OnPage, Shown, Value
from therapy_analytics.measures._rates import counted_rate, mark_column, marks
from therapy_analytics.measures.process._repeats import (
    ADVISES,
    ALIKE,
    FEWEST,
    FRAME,
    OFTEN,
    SHARED,
    advice_of,
    expected_by_shuffling,
    openings,
    seen_often,
)

_SOURCE = "This package's own; a check that language models and people can be compared on"
_ADVICE = Column(
    name="repeated_advice_rate",
    meaning="Share of the therapist's sentences of advice that say again what an earlier turn advised",
    unit="proportion",
    low=0,
    high=1,
    high_means="more of the same advice again",
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
    high_means="more turns begin with the same words",
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
_SHUFFLED = replace(
    _OPENING,
    name="repeated_opening_rate_null_mean",
    measure="repeated_opening_rate",
    statistic="null_mean",
    meaning="What repeated_opening_rate would be if first, second and third words went together by chance",
    high_means="the language repeats itself more",
    formula="mean of repeated_opening_rate over 20 shuffles of the first, the second and the third words among "
    "the turns",
    misleads="A therapist who always begins with one word has a high value",
)


_PAGE: dict[str, Shown] = {
    "repeated_advice_rate": OnPage("therapist", "Repeats advice"),
    "repeated_advice_turn": Mark("Repeats advice"),
}


@measure(
    columns=[
        *rate_columns(_ADVICE, counted="Sentences of advice that come again"),
        *rate_columns(_OPENING, counted="Therapist turns that open as several before did"),
        _SHUFFLED,
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
    ],
    page=_PAGE,
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
    advice = advice_of(session)
    turns, frames = openings(session)
    often, opens = np.zeros((2, len(session)), dtype=np.bool_)
    often[turns[seen_often(frames)]] = True
    opens[turns] = True
    advised = np.bincount(advice.turns, minlength=len(session)) > 0
    again = np.bincount(advice.turns[advice.repeats], minlength=len(session)) > 0
    n = len(advice.turns) if session.has("mi_input") else 0
    n_frames = len(frames)
    return {
        **counted_rate(_ADVICE.name, float(np.count_nonzero(advice.repeats)), float(n)),
        **rate(_OPENING.name, often, opens),
        _SHUFFLED.name: expected_by_shuffling(frames, session.generator(7))
        if n_frames > OFTEN
        else 0.0
        if n_frames
        else np.nan,
        "repeated_advice_turn": marks(advised, again),
        "repeated_opening_turn": marks(opens, often),
    }
