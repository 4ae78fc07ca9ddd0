"""Plain markers that may go with the working relationship."""

from __future__ import annotations

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.word_sequence import Marks, word_sequence
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Value
from therapy_analytics.measures._intervals import WORD_CORRELATION
from therapy_analytics.measures._rates import counted_rate
from therapy_analytics.measures.alliance._inclusive_we import inclusive_we
from therapy_analytics.session import Role

_WE = "pronouns.first_person_plural"
_AGREES = "conversation.agreement_openers"
_MINIMAL = "conversation.minimal_responses"
_I = "pronouns.first_person_singular"
_OWN_WORDS = 5
"""Words beyond the agreement from which a turn adds something."""
_OPENING = 6
"""Words within which a 'but' takes the agreement back."""
_TAKES_BACK = frozenset({"but", "however", "though", "no", "not", "except"})
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
        high_means="more talk of we",
        formula=f"100 x first person plural pronouns / words of the {role}",
        misleads=_PROXY + "'We' can be the client's family, or a nurse's 'how are we today'",
        source="Construct: Pennebaker (2011), The Secret Life of Pronouns; count is this package's own",
        evidence="weak",
    )
    return rate_columns(column, counted="First person plural pronouns")


def _inclusive(role: Role) -> list[Column]:
    column = Column(
        name=f"{role}_inclusive_we_per_100_words",
        meaning=f"First person plural of the {role} that means therapist and client; proxy of working together",
        unit="per 100 words",
        low=0,
        high=100,
        high_means="more talk of the two together",
        formula="100 x first person plural pronouns that go with what the two of a session do or have together, far "
        "from words for the client's people; a therapist's also where no service or mankind is near / words",
        misleads=_PROXY + "In a reading of AnnoMI about 8 of 10 that it counts are inclusive, of either speaker; "
        "a service's 'we' ('we monitor you') is the commonest error. Where the client's partner sits in, 'we' is wider",
        source="This package's own; construct: Filimonova (2005), Clusivity",
        evidence="supported",
    )
    return rate_columns(column, counted="First person plural pronouns that mean therapist and client")


def _agreement(role: Role) -> list[Column]:
    column = Column(
        name=f"{role}_agreement_opener_rate",
        meaning=f"Share of {role} turns that open with agreement (yes, right, exactly, ...)",
        unit="proportion",
        low=0,
        high=1,
        high_means="more turns begin by agreeing",
        formula=f"{role} turns whose first words are an agreement opener / {role} turns with words",
        misleads=_PROXY + "'Yeah' often only means: I hear you. Compliance looks the same as accord",
        source="This package's own",
        evidence="weak",
    )
    return rate_columns(column, counted=f"{role.title()} turns that open with agreement")


_MINIMAL_COLUMN = Column(
    name="client_minimal_response_rate",
    meaning="Share of client turns that are nothing but a minimal response (mm-hmm, okay, yeah); proxy of withdrawal",
    unit="proportion",
    low=0,
    high=1,
    high_means="the client says less",
    formula="client turns of which every word is a minimal response / client turns with words",
    misleads=_PROXY + "Rises when the therapist asks closed questions or speaks at length; captions drop backchannels",
    source="This package's own",
    evidence="weak",
)


_I_COLUMN = Column(
    name="therapist_i_per_100_words",
    meaning="First person singular (I, me, my) in what the therapist says",
    unit="per 100 words",
    low=0,
    high=100,
    high_means="the therapist speaks of himself or herself more",
    formula="100 x first person singular pronouns / words of the therapist",
    misleads=_PROXY + "'I hear you' and 'I wonder' count as much as a story of one's own",
    source="Construct: Pennebaker (2011), The Secret Life of Pronouns; count is this package's own",
    evidence="weak",
)
_ELABORATED_COLUMN = Column(
    name="client_elaborated_agreement_rate",
    meaning="Share of client turns that open with agreement and go on with the client's own words; proxy of accord",
    unit="proportion",
    low=0,
    high=1,
    high_means="the client more often agrees and adds to it",
    formula=f"client turns that open with agreement, have {_OWN_WORDS} words or more beyond it and no 'but' or 'not' "
    f"among the first {_OPENING} words / client turns with words",
    misleads=_PROXY + "A 'yeah' that answers a closed question is no accord; what is added may turn away from it",
    source="This package's own",
)


@measure(
    columns=[
        *_we("therapist"),
        *_we("client"),
        *_inclusive("therapist"),
        *_inclusive("client"),
        *rate_columns(_I_COLUMN, counted="First person singular pronouns of the therapist"),
        *_agreement("therapist"),
        *_agreement("client"),
        *rate_columns(_ELABORATED_COLUMN, counted="Client turns that agree and add to it"),
        *rate_columns(_MINIMAL_COLUMN, counted="Client turns that are a minimal response"),
    ]
)
def togetherness(session: AnnotatedSession) -> dict[str, Value]:
    """Count talk of we and I, turns that open with agreement, and clients' minimal responses.

    High talk of we and agreement may go with a better working relationship, a high rate of
    minimal responses with withdrawal; each is a proxy with weak evidence.

    Notes
    -----
    Rates without any turn or word of the role are undefined. "Let's look at our plan" has two inclusive we; "we got
    married" has none.

    References
    ----------
    This package's own. On how little text says of alliance: Goldberg, S. B., et al. (2020).
    Machine learning and natural language processing in psychotherapy research: Alliance as
    example use case. Journal of Counseling Psychology, 67, 438-448.
    """
    therapist, client = (session.spoken_by(role) & (session.n_words > 0) for role in ("therapist", "client"))
    agrees = session.opens_with(_AGREES)
    values: dict[str, Value] = {
        **rate("therapist_agreement_opener_rate", agrees, therapist),
        **rate("client_agreement_opener_rate", agrees, client),
        **rate("client_elaborated_agreement_rate", _agrees_and_adds(session), client),
        **rate("client_minimal_response_rate", session.consists_of(_MINIMAL), client),
    }
    inclusive = np.bincount(word_sequence(session).turn_of[inclusive_we(session)], minlength=len(session))
    we, i = session.count(_WE), session.count(_I)
    for name, own, of in (
        ("therapist_i", i, therapist),
        ("therapist_we", we, therapist),
        ("client_we", we, client),
        ("therapist_inclusive_we", inclusive, therapist),
        ("client_inclusive_we", inclusive, client),
    ):
        k, n = float(own[of].sum()), float(session.n_words[of].sum())
        values |= counted_rate(f"{name}_per_100_words", k, n, per=100, correlation=WORD_CORRELATION)
    return values


def _agrees_and_adds(session: AnnotatedSession) -> Marks:
    """Return which turns open with agreement, are not taken back at once, and hold words of their own."""
    words = word_sequence(session)
    but = np.flatnonzero(words.are(_TAKES_BACK))
    turns = words.turn_of[but]
    back = np.zeros(len(session), dtype=np.bool_)
    back[turns[but - np.searchsorted(words.turn_of, turns) < _OPENING]] = True
    stock = np.maximum(*(session.turns.covered[:, session.turns.column(one)] for one in (_AGREES, _MINIMAL)))
    return np.asarray(session.opens_with(_AGREES) & ~back & (session.n_words - stock >= _OWN_WORDS))
