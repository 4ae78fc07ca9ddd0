"""How the therapist shares the lead: asks permission, offers a choice, leaves the decision, checks, asks how it is."""

from __future__ import annotations

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import OnPage, Shown, Value

_PROXY = "A proxy of working together, not a rating of alliance. "
_RITUAL = (
    "Phrases are counted, not whether they are meant: set wording of a service or a chat bot counts as much. Unusual "
    "wording is missed"
)
_KINDS: dict[str, tuple[str, str, str]] = {
    "permission": (
        "asks permission before asking, telling or suggesting",
        "asks permission more often",
        "'Can I ask' may be a form of politeness only. ",
    ),
    "choice": (
        "offers two or more ways to go, or asks the client to choose",
        "offers choices more often",
        "Options that are only mentioned count as offered. ",
    ),
    "autonomy": (
        "says that the client decides, knows best, is free",
        "leaves the decision to the client more often",
        "'It is up to you' can also be said to end a dispute. ",
    ),
    "checking": (
        "checks whether what was understood or said is right and clear",
        "checks understanding more often",
        "'Does that make sense' also stands at the end of teaching. ",
    ),
    "feedback": (
        "asks what the client thinks of what was said, of the session or of the way of working",
        "asks for the client's view more often",
        "Most of these ask for a reaction to what was just said; few are about the session. ",
    ),
}

_SUPPORTED = ("permission", "autonomy")
"""Kinds that were checked against codes of people; of the others only the precision is known."""


def _name(kind: str) -> str:
    return f"therapist_{kind}_rate"


def _columns(kind: str) -> list[Column]:
    meaning, direction, misleads = _KINDS[kind]
    column = Column(
        name=_name(kind),
        meaning=f"Share of therapist turns in which the therapist {meaning}; proxy of working together",
        unit="proportion",
        low=0,
        high=1,
        high_means=direction,
        formula=f"therapist turns with a phrase of [phrases.{kind}] of lexicons/alliance.toml / turns with words",
        misleads=_PROXY + misleads + _RITUAL,
        source="This package's own; construct: Miller & Rollnick (2013), Motivational interviewing, 3rd ed.",
        evidence="supported" if kind in _SUPPORTED else "weak",
        core=kind == "permission",
    )
    return rate_columns(column, counted=f"Therapist turns: {meaning}")


_PAGE: dict[str, Shown] = {
    "therapist_permission_rate": OnPage("therapist", "Asks permission"),
    "therapist_checking_rate": OnPage("therapist", "Checks understanding"),
}


@measure(columns=[column for kind in _KINDS for column in _columns(kind)], core=5, page=_PAGE)
def collaboration(session: AnnotatedSession) -> dict[str, Value]:
    """Count turns that ask permission, offer a choice, leave the decision, check, or ask for the client's view.

    High rates mean that the therapist shares the lead in words. In "Is it okay if I share an idea?", "It is up to
    you", "Fine" one of three turns asks permission, and one leaves the decision.

    Notes
    -----
    A turn may count under several. What somebody else is said to have said is left out ("she told me it is up to you").

    References
    ----------
    This package's own. Construct: Miller, W. R., & Rollnick, S. (2013). Motivational interviewing (3rd ed.).
    """
    own = session.spoken_by("therapist") & (session.n_words > 0)
    values: dict[str, Value] = {}
    for kind in _KINDS:
        values |= rate(_name(kind), turns_with(session, f"alliance.{kind}", "therapist"), own)
    return values
