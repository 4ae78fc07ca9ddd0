"""Plain markers that may go with the working relationship."""

from __future__ import annotations

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import counted_rate
from therapy_analytics.session import Role

_WE = "pronouns.first_person_plural"
_AGREES = "conversation.agreement_openers"
_MINIMAL = "conversation.minimal_responses"
_PROXY = (
    "A proxy, not a rating of alliance: the best text-only result known explains little (rho = .15 with client-rated "
    "alliance over 1,235 sessions). "
)


def _we(role: Role) -> list[Column]:
    column = Column(
        name=f"{role}_we_per_100_words",
        meaning=f"First person plural (we, us, our) in what the {role} says; proxy of working together",
        unit="per 100 words",
        low=0,
        high=100,
        direction="more talk of we",
        formula=f"100 x first person plural pronouns / words of the {role}",
        misleads=_PROXY + "'We' can be the client's family, or a nurse's 'how are we today'",
        source="Construct: Pennebaker (2011), The Secret Life of Pronouns; count is this package's own",
    )
    return rate_columns(column, counted="First person plural pronouns")


def _agreement(role: Role) -> list[Column]:
    column = Column(
        name=f"{role}_agreement_opener_rate",
        meaning=f"Share of {role} turns that open with agreement (yes, right, exactly, ...)",
        unit="proportion",
        low=0,
        high=1,
        direction="more turns begin by agreeing",
        formula=f"{role} turns whose first words are an agreement opener / {role} turns with words",
        misleads=_PROXY + "'Yeah' often only means: I hear you. Compliance looks the same as accord",
        source="This package's own",
    )
    return rate_columns(column, counted=f"{role.title()} turns that open with agreement")


_MINIMAL_COLUMN = Column(
    name="client_minimal_response_rate",
    meaning="Share of client turns that are nothing but a minimal response (mm-hmm, okay, yeah); proxy of withdrawal",
    unit="proportion",
    low=0,
    high=1,
    direction="the client says less",
    formula="client turns of which every word is a minimal response / client turns with words",
    misleads=_PROXY + "Rises when the therapist asks closed questions or speaks at length; captions drop backchannels",
    source="This package's own",
)


@measure(
    columns=[
        *_we("therapist"),
        *_we("client"),
        *_agreement("therapist"),
        *_agreement("client"),
        *rate_columns(_MINIMAL_COLUMN, counted="Client turns that are a minimal response"),
    ]
)
def togetherness(session: AnnotatedSession) -> dict[str, float]:
    """Count talk of we, turns that open with agreement, and clients' minimal responses.

    High talk of we and agreement may go with a better working relationship, a high rate of
    minimal responses with withdrawal; each is a proxy with weak evidence.

    Notes
    -----
    Rates without any turn or word of the role are undefined.

    References
    ----------
    This package's own. On how little text says of alliance: Goldberg, S. B., et al. (2020).
    Machine learning and natural language processing in psychotherapy research: Alliance as
    example use case. Journal of Counseling Psychology, 67, 438-448.
    """
    values: dict[str, float] = {}
    roles: tuple[Role, Role] = ("therapist", "client")
    for role in roles:
        of = session.of(role)
        k, n = float(np.sum(session.count(_WE)[of])), float(np.sum(session.n_words[of]))
        values.update(counted_rate(f"{role}_we_per_100_words", k, n, per=100))
        with_words = of & (session.n_words > 0)
        values.update(rate(f"{role}_agreement_opener_rate", session.opens_with(_AGREES), with_words))
    of = session.of("client") & (session.n_words > 0)
    values.update(rate("client_minimal_response_rate", session.consists_of(_MINIMAL), of))
    return values
