"""What the two appreciate in each other: the therapist affirms and thanks, the client says that it helps."""

from __future__ import annotations

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import OnPage, Shown, Value
from therapy_analytics.session import Role

_PROXY = "A proxy of the bond, not a rating of alliance. "
_KINDS: dict[str, tuple[Role, str, str, str]] = {
    "therapist_affirmation_rate": (
        "therapist",
        "affirmation",
        "names the client's effort, strength, honesty or success with praise",
        (
            "Praise is not always affirmation: it can judge, or be habit. Irony is not seen; plain 'that's great' and "
            "strengths in reflections without praise are left out. Chat bots are free with it"
        ),
    ),
    "therapist_thanks_rate": (
        "therapist",
        "thanks",
        "thanks the client for coming, sharing, answering, being open",
        "Mostly part of greeting and parting, and so higher in short sessions",
    ),
    "client_appreciation_rate": (
        "client",
        "client_appreciation",
        "thanks the therapist, or says that the talk helps or makes sense",
        (
            "Politeness, above all at the end; clients who are unhappy with a session seldom say so. 'Makes sense' may "
            "be of anything that was said"
        ),
    ),
}


def _columns(name: str) -> list[Column]:
    role, phrases, meaning, misleads = _KINDS[name]
    column = Column(
        name=name,
        meaning=f"Share of {role} turns in which the {role} {meaning}; proxy of the bond",
        unit="proportion",
        low=0,
        high=1,
        high_means="more appreciation is put into words",
        formula=f"{role} turns with a phrase of [phrases.{phrases}] of lexicons/alliance.toml / turns with words",
        misleads=_PROXY + misleads,
        source="This package's own; construct: Miller & Rollnick (2013), Motivational interviewing, 3rd ed.",
        evidence="weak",
        core=name == "therapist_affirmation_rate",
    )
    return rate_columns(column, counted=f"{role.title()} turns: {meaning}")


_PAGE: dict[str, Shown] = {
    "therapist_affirmation_rate": OnPage("therapist", "Affirms"),
}


@measure(columns=[column for name in _KINDS for column in _columns(name)], core=6, page=_PAGE)
def affirmation(session: AnnotatedSession) -> dict[str, Value]:
    """Count turns in which the therapist affirms or thanks, and in which the client appreciates.

    High rates mean that more of it is said. "You worked hard on that" affirms; "You did not do well", "Did you do
    well?" and "She said you did well" do not.

    Notes
    -----
    Phrases have slots, so that no single word of praise counts. What is negated, asked, supposed, or reported of
    somebody else is left out.

    References
    ----------
    This package's own. Construct: Miller, W. R., & Rollnick, S. (2013). Motivational interviewing (3rd ed.).
    """
    values: dict[str, Value] = {}
    for name, (role, phrases, _, _) in _KINDS.items():
        of = session.spoken_by(role) & (session.n_words > 0)
        values |= rate(name, turns_with(session, f"alliance.{phrases}", role), of)
    return values
