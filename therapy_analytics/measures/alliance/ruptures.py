"""Candidates for ruptures of the working relationship, and for their repair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Mark, OnPage, Shown, Value
from therapy_analytics.measures._rates import mark_column, marks
from therapy_analytics.measures.alliance._rupture_signs import (
    CONFRONTATION,
    REPAIRS_WITHIN,
    WITHDRAWAL,
    Bools,
    Floats,
    candidates_among,
    repair_windows,
    repairs,
    signs,
)

_SOURCE = (
    "Construct: Safran & Muran (2000), Negotiating the therapeutic alliance; Eubanks, Muran & Safran (2015), rupture "
    "resolution rating system; the candidates are this package's own, and no rating by that system"
)
_PROXY = (
    "A candidate to read, not a rating: found by phrases and where they stand. Of 20 sentences of ruptures in other "
    "words 1 was found, so that most may be missed (tone, silence and politeness always are); of candidates in "
    "sessions that the phrases were not chosen on, 11 of 19 were judged to be right. "
)
_KINDS = {
    "withdrawal": (
        (
            "steps back: an answer without content to an open question after longer turns, another subject, giving way "
            "without content, or asking to leave the subject or the session"
        ),
        (
            "client turns with a sign (blank_answers, shift_openers far in meaning from the question, deference, "
            "avoidance of lexicons/ruptures.toml) / client turns with words after the therapist has spoken"
        ),
        "Tiredness, haste and not knowing look the same; what is merely left unsaid is not seen",
    ),
    "confrontation": (
        "turns against the therapist, the therapy or a suggestion, or defends self against the therapist",
        (
            "client turns with a sign (about_therapist, about_therapy, self_defence, or rejection after a suggestion, "
            "of lexicons/ruptures.toml) / client turns with words after the therapist has spoken"
        ),
        (
            "Complaints of others that name nobody ('you never listen') and quoted talk without a verb of saying "
            "count; where therapist and client are confused, so do the therapist's words"
        ),
    ),
}
EVIDENCE = (*CONFRONTATION, *WITHDRAWAL)
"""What stands for 1, 2, ... in ``rupture_evidence``; the first that a turn shows."""


def _rate_column(kind: str) -> Column:
    does, formula, misleads = _KINDS[kind]
    return Column(
        name=f"client_{kind}_rate",
        meaning=f"Share of client turns that are a candidate for a {kind} rupture: the client {does}",
        unit="proportion",
        low=0,
        high=1,
        high_means=f"more candidates for {kind}",
        formula=formula,
        misleads=f"{_PROXY}{misleads}. Few or none is usual: read the turns",
        source=_SOURCE,
        evidence="weak",
    )


def _turn_column(kind: str) -> Column:
    meaning = f"Whether the client's turn is a candidate for a {kind} rupture"
    return mark_column(_rate_column(kind), f"rupture_{kind}_turn", meaning)


_EVIDENCE_COLUMN = Column(
    name="rupture_evidence",
    meaning="Why the client's turn is a candidate for a rupture",
    unit="code",
    low=0,
    high=len(EVIDENCE),
    high_means="a number for a kind of evidence, not an amount",
    formula="0 no candidate; " + "; ".join(f"{i} {name}" for i, name in enumerate(EVIDENCE, start=1)) + " (the first)",
    misleads=f"{_PROXY}A turn may show more than one kind",
    source=_SOURCE,
    level="turn",
    evidence="weak",
)
_REPAIR_COLUMN = Column(
    name="rupture_repair_rate",
    meaning="Share of rupture candidates after which the therapist makes a candidate for a repair",
    unit="proportion",
    low=0,
    high=1,
    high_means="more candidates are followed by a repair move",
    formula=f"candidates with a repair move in the next {REPAIRS_WITHIN} therapist turns (those that only say mm-hmm "
    "passed over) / candidates with a therapist turn after them. Moves: apology, acknowledgement, exploration, another "
    "task (phrases of lexicons/ruptures.toml), or a reflection without advice or information",
    misleads=f"{_PROXY}Says that the therapist did something that can mend, not that it mended; therapists who reflect "
    "much do so after any turn. Over few candidates the interval is wide",
    source=_SOURCE,
    evidence="weak",
)
_REPAIR_TURN = replace(
    _REPAIR_COLUMN,
    name="repair_turn",
    meaning="Whether the therapist's turn, one of the three after a rupture candidate, is a candidate for a repair",
    unit="0 or 1",
    high_means="1: a repair move",
    formula="1 with a repair move, else 0; empty for turns that do not follow a candidate",
    level="turn",
)
_COUNT_COLUMN = replace(
    _rate_column("withdrawal"),
    name="n_rupture_candidates",
    meaning="Client turns that are a candidate for a rupture of either kind",
    unit="count",
    high=np.inf,
    high_means="more candidates",
    formula="client turns with rupture_withdrawal_turn or rupture_confrontation_turn",
    misleads=f"{_PROXY}Grows with the length of the session",
    core=True,
)


_PAGE: dict[str, Shown] = {
    "n_rupture_candidates": OnPage("review", "Possible ruptures"),
    "rupture_repair_rate": OnPage("review", "Possible ruptures followed by repair"),
    "rupture_withdrawal_turn": Mark("Possible rupture: withdraws"),
    "rupture_confrontation_turn": Mark("Possible rupture: confronts"),
    "repair_turn": Mark("Possible repair"),
}


@measure(
    columns=[
        *rate_columns(_rate_column("withdrawal"), counted="Client turns that are a candidate for withdrawal"),
        *rate_columns(_rate_column("confrontation"), counted="Client turns that are a candidate for confrontation"),
        _COUNT_COLUMN,
        *rate_columns(_REPAIR_COLUMN, counted="Rupture candidates followed by a repair move"),
        _turn_column("withdrawal"),
        _turn_column("confrontation"),
        _EVIDENCE_COLUMN,
        _REPAIR_TURN,
    ],
    core=12,
    page=_PAGE,
)
def ruptures(session: AnnotatedSession) -> dict[str, Value]:
    """Find client turns that may be ruptures, and what the therapist did in the next three turns.

    High rates mean more turns to read: candidates for withdrawal (the client steps back) and for confrontation (the
    client turns against the therapist, the therapy or a suggestion). A high repair rate means that the therapist mostly
    acknowledged, explored, apologised or changed the task thereafter.

    Notes
    -----
    Sustain talk, complaints of others and short answers to closed questions are no ruptures and are left out as
    far as words tell. Ruptures are often silent; the absence of candidates says little.

    References
    ----------
    Safran, J. D., & Muran, J. C. (2000). Negotiating the therapeutic alliance. Guilford.

    Eubanks, C. F., Muran, J. C., & Safran, J. D. (2015). Rupture resolution rating system (3RS): Manual. Only the
    constructs are taken from it, in other words.
    """
    of, found = candidates_among(session), signs(session)
    withdrawal, confrontation = (
        np.any([found[name] for name in names], axis=0) for names in (WITHDRAWAL, CONFRONTATION)
    )
    either = withdrawal | confrontation
    evidence = np.select([found[name] for name in EVIDENCE], [float(i) for i in range(1, len(EVIDENCE) + 1)], 0.0)
    followed, mended, moves = _repaired(session, either)
    return {
        **rate("client_withdrawal_rate", withdrawal, of),
        **rate("client_confrontation_rate", confrontation, of),
        **rate(_REPAIR_COLUMN.name, mended, followed),
        "n_rupture_candidates": float(np.count_nonzero(either)) if of.any() else np.nan,
        "rupture_withdrawal_turn": marks(of, withdrawal),
        "rupture_confrontation_turn": marks(of, confrontation),
        _EVIDENCE_COLUMN.name: np.where(of, evidence, np.nan),
        _REPAIR_TURN.name: moves,
    }


def _repaired(session: AnnotatedSession, candidates: Bools) -> tuple[Bools, Bools, Floats]:
    """Return which candidates have a therapist's turn after them, and which a repair move; and the moves."""
    which, turns = repair_windows(session, candidates)
    followed, mended, asked = np.zeros((3, len(session)), dtype=np.bool_)
    mends = repairs(session) if len(turns) else np.zeros(len(session), dtype=np.bool_)
    at = np.flatnonzero(candidates)[which]
    followed[at], mended[at[mends[turns]]], asked[turns] = True, True, True
    return followed, mended, marks(asked, mends)
