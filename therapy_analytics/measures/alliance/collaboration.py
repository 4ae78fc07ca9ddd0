"""How the therapist shares the lead: asks permission, and leaves the decision to the client."""

from __future__ import annotations

from therapy_analytics.measures import columns_of, measure, rate
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.turns import spoken
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.phrases import turns_with


@measure(columns=lambda *_: columns_of(__file__), core=5)
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
    own = spoken(session, "therapist")
    values: dict[str, Value] = {}
    for kind in ("permission", "autonomy"):
        values |= rate(f"therapist_{kind}_rate", turns_with(session, f"alliance.{kind}", "therapist"), own)
    return values
