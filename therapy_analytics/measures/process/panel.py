"""Several therapists or clients: who agrees without content of their own, and whose claims are challenged by whom."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import OnPage, Shown, Value
from therapy_analytics.measures._codes import (
    NOT_GIVEN,
    PREDICTED,
    SOURCE,
    Bools,
    given,
    main_codes,
    spoken,
)
from therapy_analytics.measures._dyads import speakers_of
from therapy_analytics.measures._rates import counted_rate
from therapy_analytics.measures._turns import last_of

_MISLEADS = (
    f"{PREDICTED}; {NOT_GIVEN}, and with a single speaker of the role. Labels of speakers must be right: recognised "
    "speech often mixes up those of one role"
)
_SILENT = Column(
    name="silent_agreement_rate",
    meaning="Share of a therapist's turns right after another therapist's that bring nothing of their own",
    unit="proportion",
    low=0,
    high=1,
    high_means="co-therapists or panel members more often only agree with each other",
    formula="therapist turns whose turn before is another therapist's, without any therapist code of the shipped "
    "codebooks / therapist turns whose turn before is another therapist's",
    misleads=f"{_MISLEADS}. A turn without a code may still say something that no code names",
    source=SOURCE,
)
_CHALLENGER = replace(
    _SILENT,
    name="main_challenger_rate",
    meaning="Share of the therapists' challenges that the one therapist makes who makes most of them",
    high_means="one of the therapists does the challenging",
    formula="turns with process_challenges of the therapist with most of them / turns with process_challenges",
    misleads=f"{_MISLEADS}. Who talks most challenges most; over few challenges it is high by chance",
)
_CHALLENGED = replace(
    _CHALLENGER,
    name="most_challenged_client_rate",
    meaning="Share of the therapists' challenges that come right after the one client who is challenged most",
    high_means="one of the clients is challenged, the others are not",
    formula="turns with process_challenges whose last client turn before is the one client's who has most of them / "
    "turns with process_challenges after a client turn",
)
_COLUMNS = {
    _SILENT: "Turns that only agree",
    _CHALLENGER: "Challenges of that therapist",
    _CHALLENGED: "Challenges of that client",
}
_PAGE: dict[str, Shown] = {
    "silent_agreement_rate": OnPage("together", "Co-therapists agree without content"),
    "main_challenger_rate": OnPage("together", "Challenges by the therapist who challenges most"),
    "most_challenged_client_rate": OnPage("together", "Challenges to the client who is challenged most"),
}


@measure(
    columns=[column for one, counted in _COLUMNS.items() for column in rate_columns(one, counted=counted)],
    core=12,
    page=_PAGE,
)
def panel(session: AnnotatedSession) -> dict[str, Value]:
    """Say of sessions with several therapists or clients how far therapists only agree, and who challenges whom.

    A high rate of silent agreement means that one therapist follows the other without content; high rates of the other
    two, that challenging is the matter of one therapist, or goes to one client.

    References
    ----------
    This package's own.
    """
    speaker = np.array([turn.speaker for turn in session.session.turns], dtype=object)
    _, challenges = given(session, ("process_challenges",))
    challenges &= spoken(session, "therapist")
    several = {role: len(speakers_of(session, role)) > 1 for role in ("therapist", "client")}
    before = last_of(session, "client")
    answers = np.flatnonzero(challenges & (before >= 0))
    values: dict[str, Value] = dict(rate(_SILENT.name, *_silent(session, speaker)))
    values |= _of_the_first(_CHALLENGER.name, speaker[challenges] if several["therapist"] else speaker[:0])
    return values | _of_the_first(_CHALLENGED.name, speaker[before[answers]] if several["client"] else speaker[:0])


def _silent(session: AnnotatedSession, speaker: np.ndarray) -> tuple[Bools, Bools]:
    """Return the therapist turns without a code, and those after another therapist's turn; both bool (n_turns,)."""
    codes = [code.column for code in main_codes() if code.role == "therapist"]
    likely, has = given(session, codes)
    ours = spoken(session, "therapist")
    follows = np.zeros(len(session), dtype=np.bool_)
    follows[1:] = ours[1:] & ours[:-1] & (speaker[1:] != speaker[:-1])
    return ~has, follows & ~np.isnan(likely)


def _of_the_first(name: str, who: np.ndarray) -> dict[str, float]:
    """Return the rate of the commonest of some names among them."""
    most = max(Counter(who.tolist()).values(), default=0)
    return counted_rate(name, float(most), float(len(who)))
