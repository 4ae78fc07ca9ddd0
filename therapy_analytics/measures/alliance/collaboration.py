"""How the therapist shares the lead: asks permission, and leaves the decision to the client."""

from __future__ import annotations

from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures.base import OnPage, Shown, Value
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.phrases import turns_with

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
    "autonomy": (
        "says that the client decides, knows best, is free",
        "leaves the decision to the client more often",
        "'It is up to you' can also be said to end a dispute. ",
    ),
}


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
        evidence="supported",
        core=kind == "permission",
    )
    return rate_columns(column, counted=f"Therapist turns: {meaning}")


_PAGE: dict[str, Shown] = {"therapist_permission_rate": OnPage("therapist", "Asks permission")}


@measure(columns=[column for kind in _KINDS for column in _columns(kind)], core=5, page=_PAGE)
def collaboration(session: AnnotatedSession) -> dict[str, Value]:
    """Count turns that ask permission, and turns that leave the decision to the client.

    High rates mean that the therapist shares the lead in words. In "Is it okay if I share an idea?", "It is up to
    you", "Fine" one of three turns asks permission, and one leaves the decision.

    Notes
    -----
    A turn may count under both. What somebody else is said to have said is left out ("she told me it is up to you").
    It rests on phrases because they find what people code as well as the tagger's codes do, and more precisely
    (docs/validity.md). Whether advice was invited is a code, and has rates of its own.

    References
    ----------
    This package's own. Construct: Miller, W. R., & Rollnick, S. (2013). Motivational interviewing (3rd ed.).
    """
    own = session.spoken_by("therapist") & (session.n_words > 0)
    values: dict[str, Value] = {}
    for kind in _KINDS:
        values |= rate(_name(kind), turns_with(session, f"alliance.{kind}", "therapist"), own)
    return values
