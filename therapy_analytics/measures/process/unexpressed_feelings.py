"""Feelings that the therapist names and the client has not expressed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Mark, OnPage, Shown, Value
from therapy_analytics.measures._rates import mark_column, marks
from therapy_analytics.measures.process._feelings_expressed import WITHIN, named_feelings

_SOURCE = "This package's own; families after Shaver et al. (1987), Journal of Personality and Social Psychology, 52(6)"
_MISLEADS = (
    "Reported, not scored: a complex reflection adds meaning on purpose, and may be right. Words alone: tone and what "
    "was said outside the session are not known, irony is not seen, and whose feeling it is follows from the "
    "nearest person named"
)
_NAMES = (
    "names a feeling of the client's (feeling words of lexicons/feelings.toml that are not asked, denied, supposed or "
    "another's)"
)
_UNEXPRESSED = Column(
    name="unexpressed_feeling_rate",
    meaning="Share of therapist turns naming a feeling of the client's that name one the client has not expressed "
    f"in the last {WITHIN} turns",
    unit="proportion",
    low=0,
    high=1,
    high_means="more feelings named that the client did not express",
    formula="turns naming a feeling of no family that the client expressed, or one near it (words, idioms, signs, or a "
    f"word near in meaning, in the last {WITHIN} client turns) / therapist turns naming a feeling of the "
    "client's after a word of the client",
    misleads=_MISLEADS + ". Over few turns the interval is wide",
    source=_SOURCE,
    evidence="weak",
)
_SO_FAR = replace(
    _UNEXPRESSED,
    name="feeling_unexpressed_so_far_rate",
    meaning="The same, where the client has not expressed it since the session began",
    formula="as unexpressed_feeling_rate, with words, idioms and signs from the session's beginning on",
    misleads=_MISLEADS + ". Falls along the session as more has been said",
)
_NAMED = replace(
    _UNEXPRESSED,
    name="therapist_named_feeling_rate",
    meaning="Share of therapist turns that name a feeling of the client's",
    high_means="feelings are named more often",
    formula=f"therapist turns in which the therapist {_NAMES}, after a word of the client / therapist turns with words "
    "after a word of the client",
)
_INTENSIFIED = replace(
    _UNEXPRESSED,
    name="feeling_intensified_rate",
    meaning="Share of therapist turns naming a feeling that the client named too, in which it is named more strongly "
    "than the client did",
    high_means="feelings are stepped up more often",
    formula="turns with a word of higher degree (weak, plain, strong; half a step for very or a bit) than the client's "
    f"highest of that family in the last {WITHIN} client turns / turns naming a feeling whose family the client named",
    misleads=_MISLEADS + ". The order of degrees is ours; a step is not a fault",
)
_TURNS = {
    "named_feeling_turn": (_NAMED, "Whether the therapist's turn names a feeling of the client's"),
    "unexpressed_feeling_turn": (_UNEXPRESSED, "Whether it names one that the client has not expressed"),
    "intensified_feeling_turn": (_INTENSIFIED, "Whether it names one more strongly than the client did"),
}


_PAGE: dict[str, Shown] = {
    "therapist_named_feeling_rate": OnPage("therapist", "Names a feeling"),
    "unexpressed_feeling_rate": OnPage("review", "Named feelings that the client had not expressed"),
    "unexpressed_feeling_turn": Mark("Names a feeling that the client had not expressed"),
}


@measure(
    columns=[
        *rate_columns(_UNEXPRESSED, counted="Therapist turns naming a feeling that the client has not expressed"),
        *rate_columns(_SO_FAR, counted="Therapist turns naming a feeling not expressed since the beginning"),
        *rate_columns(_NAMED, counted="Therapist turns naming a feeling of the client's"),
        *rate_columns(_INTENSIFIED, counted="Therapist turns naming a feeling more strongly than the client"),
        *(mark_column(of, name, meaning) for name, (of, meaning) in _TURNS.items()),
    ],
    core=15,
    page=_PAGE,
)
def unexpressed_feelings(session: AnnotatedSession) -> dict[str, Value]:
    """Find feelings that the therapist names, and whether the client had expressed them, and how strongly.

    High means that the therapist more often names feelings that are not found in the client's words.

    Notes
    -----
    Families, near families and paraphrases count as expressed, so that a reflection in other words does not count
    against the therapist; "not happy" expresses sadness, "not angry" expresses nothing.

    References
    ----------
    Shaver, P., Schwartz, J., Kirson, D., & O'Connor, C. (1987). Emotion knowledge: Further exploration of a prototype
    approach. Journal of Personality and Social Psychology, 52(6), 1061-1086.
    """
    found = named_feelings(session)
    spoken = session.n_words > 0
    begun = np.logical_or.accumulate(session.spoken_by("client") & spoken)
    of = session.spoken_by("therapist") & spoken & begun
    compared = ~np.isnan(found.own)
    names, unexpressed, so_far, can_rise, rises = (
        _turns(len(session), found.turn[which])
        for which in (
            np.ones(len(found.turn), dtype=np.bool_),
            ~found.expressed,
            ~found.so_far,
            compared,
            compared & (found.named > found.own),
        )
    )
    values = rate(_UNEXPRESSED.name, unexpressed, names) | rate(_SO_FAR.name, so_far, names)
    values |= rate(_NAMED.name, names, of) | rate(_INTENSIFIED.name, rises, can_rise)
    turns = zip(_TURNS, ((of, names), (names, unexpressed), (can_rise, rises)), strict=True)
    return values | {name: marks(may, does) for name, (may, does) in turns}


def _turns(n: int, which: np.ndarray) -> np.ndarray:
    found = np.zeros(n, dtype=np.bool_)
    found[which] = True
    return found
