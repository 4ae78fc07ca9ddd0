"""How often the therapist affirms: names effort, strength, honesty or success of the client with praise."""

from __future__ import annotations

from dataclasses import replace

from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures.base import OnPage, Value, count_name
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.phrases import turns_with

_COLUMN = Column(
    name="therapist_affirmation_rate",
    meaning="Share of therapist turns in which the therapist names the client's effort, strength, honesty or success "
    "with praise; proxy of the bond",
    unit="proportion",
    low=0,
    high=1,
    high_means="the therapist affirms more often",
    formula="therapist turns with a phrase of [phrases.affirmation] of lexicons/alliance.toml / turns with words",
    misleads="A proxy of the bond, not a rating of alliance. Praise is not always affirmation: it can judge, or be "
    "habit. Irony is not seen; strengths in reflections without praise are therapist_reflections_on_strengths_rate. "
    "Chat bots are free with praise",
    source="This package's own; construct: Miller & Rollnick (2013), Motivational interviewing, 3rd ed.",
    evidence="weak",
)
_COUNT = count_name(_COLUMN.name)
"""What stands in ``sessions.csv``: of a rate with weak evidence the count alone."""


def _columns() -> list[Column]:
    columns = rate_columns(_COLUMN, counted="Therapist turns that affirm")
    return [replace(one, core=one.name == _COUNT) for one in columns]


@measure(
    columns=_columns(),
    core=6,
    page={_COLUMN.name: OnPage("therapist", "Affirms")},
)
def affirmation(session: AnnotatedSession) -> dict[str, Value]:
    """Count turns in which the therapist affirms.

    High rates mean that more of it is said. "You worked hard on that" affirms; "You did not do well", "Did you do
    well?" and "She said you did well" do not.

    Notes
    -----
    It rests on phrases because no code that the tagger gives finds affirmations as well (docs/validity.md). Phrases
    have slots, so that no single word of praise counts. What is negated, asked, supposed, or reported of somebody else
    is left out.

    References
    ----------
    This package's own. Construct: Miller, W. R., & Rollnick, S. (2013). Motivational interviewing (3rd ed.).
    """
    own = session.spoken_by("therapist") & (session.n_words > 0)
    return {**rate(_COLUMN.name, turns_with(session, "alliance.affirmation", "therapist"), own)}
