"""What the therapist announces, and whether the turns after it keep to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import OnPage, Shown, Value
from therapy_analytics.measures.process._announced import BROKEN, KEPT, KINDS, OPEN, WITHIN, announced

_SOURCE = "This package's own"
_MISLEADS = (
    "Candidates to read: announcements are found by phrases (lexicons/announcements.toml), and what follows by the "
    "tagger's codes and phrases, which err. To break a promise can be right, as in danger. One announcement a "
    "turn counts. "
    "A session has few, so that the interval is wide"
)
_KINDS = ", ".join(f"{i} {kind.name}" for i, kind in enumerate(KINDS, start=1))
_KEPT = Column(
    name="announcement_kept_rate",
    meaning="Share of what the therapist announces that the next turns keep",
    unit="proportion",
    low=0,
    high=1,
    high_means="more is done as announced",
    formula=(
        f"announcements ({_KINDS}) that the therapist's turn itself or the next {WITHIN} therapist turns keep / "
        f"those kept "
        "or broken. Asking, looking at a plan and hearing are kept by doing it; what is not to be done "
        "(advice, pressing, "
        "judging) by not doing it"
    ),
    misleads=_MISLEADS,
    source=_SOURCE,
    evidence="weak",
)
_BROKEN = replace(
    _KEPT,
    name="announcement_broken_rate",
    meaning="Share of what the therapist announces that the next turns break",
    high_means="more is done otherwise than announced",
    formula=(
        f"announcements that the next {WITHIN} therapist turns break (advice or directives after none were to "
        f"come; advice "
        "before understanding; no question or plan where one was announced; judging or pressing after the "
        "promise not to) "
        "/ those kept or broken"
    ),
)
_COUNT = replace(
    _KEPT,
    name="n_announcements",
    meaning="Therapist turns that announce what will be done or left undone",
    unit="count",
    high=np.inf,
    high_means="more announcements",
    formula="therapist turns with a phrase of a kind of lexicons/announcements.toml",
)
_TURN = replace(
    _KEPT,
    name="announcement_turn",
    meaning="What the therapist's turn announces",
    unit="code",
    high=len(KINDS),
    high_means="a number for a kind, not an amount",
    formula=f"0 nothing, {_KINDS} (the first); empty for turns of others",
    level="turn",
)
_OUTCOME = replace(
    _TURN,
    name="announcement_outcome",
    meaning="What came of the therapist's announcement",
    high=2,
    formula=f"{OPEN:.0f} open, {KEPT:.0f} kept, {BROKEN:.0f} broken; empty for turns that announce nothing",
)


_PAGE: dict[str, Shown] = {
    "announcement_broken_rate": OnPage("review", "Announces and does otherwise"),
}


@measure(
    columns=[
        _COUNT,
        *rate_columns(_KEPT, counted="Announcements that are kept"),
        *rate_columns(_BROKEN, counted="Announcements that are broken"),
        _TURN,
        _OUTCOME,
    ],
    page=_PAGE,
)
def say_and_do(session: AnnotatedSession) -> dict[str, Value]:
    """Hold what the therapist announces against what follows.

    A high broken rate means that the therapist often does otherwise than announced: advice after "I won't tell you
    what to do", pressing after "it is up to you".

    Notes
    -----
    Announcements in other words are not found; those at the end of a session stay open.

    References
    ----------
    This package's own. Agenda and autonomy: Miller, W. R., & Rollnick, S. (2013). Motivational interviewing (3rd ed.).
    Guilford.
    """
    of = session.spoken_by("therapist") & (session.n_words > 0)
    found = announced(session)
    kinds, outcomes = np.where(of, 0.0, np.nan), np.full(len(session), np.nan)
    kinds[found.turns] = found.kinds + 1.0
    outcomes[found.turns] = found.outcomes
    kept, broken = outcomes == KEPT, outcomes == BROKEN
    return {
        _COUNT.name: float(np.count_nonzero(~np.isnan(outcomes))) if of.any() else np.nan,
        **rate(_KEPT.name, kept, kept | broken),
        **rate(_BROKEN.name, broken, kept | broken),
        _TURN.name: kinds,
        _OUTCOME.name: outcomes,
    }
