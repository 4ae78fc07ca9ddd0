"""Whether the therapist goes along with what the client claims, or questions it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Mark, OnPage, Shown, Value
from therapy_analytics.measures._intervals import WORD_CORRELATION
from therapy_analytics.measures._rates import counted_rate, marks
from therapy_analytics.measures.process._agreement import (
    agreement_openers,
    answers,
    challenges,
    goes_along,
    likely,
    model_says,
    replies_to,
    therapist_turns,
    untested_claims,
)

_SOURCE = (
    "This package's own; constructs: collaborative empiricism (Beck, Rush, Shaw & Emery, 1979), collusion, and "
    "sycophancy and pushback as marked in Spiral-Bench (Paech, 2025)"
)
_BOOK = "lexicons/going_along.toml"
_AGREES = Column(
    name="agreement_opener_rate",
    meaning="Share of the therapist's answers that open with agreement ('exactly', 'you are right', 'I agree')",
    unit="proportion",
    low=0,
    high=1,
    high_means="agrees more often",
    formula=f"answers with [phrases.agreement] of {_BOOK} among the first words, unless turned around ('yes, but') or "
    "a yes to a question / therapist turns with words after the client has spoken",
    misleads="Agreement with what is so is no fault. 'Okay', 'right' and 'mm-hmm' are left out. With several clients "
    "it is of all; dyads.csv has each pair",
    source=_SOURCE,
    evidence="weak",
)
_PRAISES = Column(
    name="therapist_praise_per_100_words",
    meaning="Sentences in which the therapist praises the client's idea, insight or person, per 100 therapist words",
    unit="per 100 words",
    low=0,
    high=100,
    high_means="more praise",
    formula="sentences with a probability of praise of 0.5 or more (behaviours/going_along.py) / therapist words * 100",
    misleads="Learnt from chats of language models: of people's turns, thanks and 'great' count, often wrongly. Praise "
    "of effort and strengths is therapist_affirmation_rate. The interval takes words as independent",
    source=_SOURCE,
    evidence="weak",
)
_CHALLENGES = Column(
    name="challenge_rate",
    meaning="Share of the therapist's answers that disagree, doubt, test a claim, decline to confirm it, or offer "
    "another explanation",
    unit="proportion",
    low=0,
    high=1,
    high_means="questions more often",
    formula=f"answers with [phrases.challenge] of {_BOOK} / therapist turns with words after the client has spoken",
    misleads="Checked on chats with delusional content. In ordinary sessions most turns found are none (of 24 read, "
    "about 5 were right): read them. Harsh and gentle, concern and refusal count alike; most in other words are missed",
    source=_SOURCE,
    evidence="weak",
)
_WENT = Column(
    name="went_along_rate",
    meaning="Share of the client's distorted or untested claims that the therapist's next turn agrees with, praises, "
    "takes over or takes further",
    unit="proportion",
    low=0,
    high=1,
    high_means="goes along more often",
    formula="claims answered with agreement, praise, a presupposition ('since they are watching you') or, without a "
    "question or 'you feel that', reinforcement by the model; and without a challenge / claims with an answer. A "
    "claim: probability of a distorted thought 0.45 (0.2 with an absolute word) or of a core belief 0.5, or "
    "[phrases.claims]",
    misleads="In ordinary sessions many turns taken for claims are none. Validation of a feeling beside a claim can "
    "count; going along in other words is missed (0 of 8). Over few claims the interval is wide",
    source=_SOURCE,
    evidence="weak",
)
_CHALLENGED = replace(
    _WENT,
    name="challenged_rate",
    meaning="Share of the client's distorted or untested claims that the therapist's next turn challenges",
    high_means="questions claims more often",
    formula="claims whose answer counts for challenge_rate / claims with an answer; claims as for went_along_rate",
    misleads="What is neither (a reflection, a plain question, 'mm-hmm') is usual and often right; so is a challenge "
    "some turns later, which is not seen",
)
_EXPECTED = Column(
    name="going_along_expected",
    compare="no",
    meaning="Going along against challenging: praise as the model expects it, as a share of praise and challenges",
    unit="proportion",
    low=0,
    high=1,
    high_means="praises much and challenges little",
    formula="(sum of praise_turn over answers + 1) / (the same + answers that challenge + 2)",
    misleads="Pulled to 0.5 where there is little of either, as in most sessions between people: compare with "
    "therapist_praise_per_100_words and challenge_rate. Made and checked on chats of language models",
    source=_SOURCE,
    evidence="weak",
)


def _turn_column(name: str, meaning: str, formula: str, like: Column) -> Column:
    return replace(
        like,
        name=name,
        meaning=meaning,
        unit="0 or 1",
        high=1,
        high_means="1: yes",
        formula=formula,
        level="turn",
    )


_TURNS = (
    _turn_column(
        "going_along_turn",
        "Whether the therapist's answer goes along with what was said, should it be a claim",
        "1 where it would count for went_along_rate; empty for turns that answer nothing",
        _WENT,
    ),
    _turn_column(
        "went_along_turn",
        "Whether the therapist's answer goes along with the claim that it answers",
        "1 where the claim counts for went_along_rate; empty for turns that answer no claim",
        _WENT,
    ),
    _turn_column(
        "challenge_turn",
        "Whether the therapist's answer challenges",
        "1 where it counts for challenge_rate; empty for turns that answer nothing",
        _CHALLENGES,
    ),
    _turn_column(
        "untested_claim_turn",
        "Whether the client's turn is a distorted or untested claim that can be gone along with",
        "1 where it is a claim as for went_along_rate; empty for other speakers and turns without words",
        _WENT,
    ),
    replace(
        _PRAISES,
        name="praise_turn",
        meaning="How likely the therapist's turn praises the client's idea, insight or person",
        unit="probability",
        high=1,
        high_means="more likely praise",
        formula="of its likeliest sentence, by behaviours/going_along.py; empty for other speakers",
        level="turn",
    ),
)


_PAGE: dict[str, Shown] = {
    "went_along_rate": OnPage("review", "Goes along with an untested claim"),
    "challenged_rate": OnPage("review", "Challenges an untested claim"),
    "went_along_turn": Mark("Goes along with an untested claim"),
}


@measure(
    columns=[
        *rate_columns(_AGREES, counted="Answers of the therapist that open with agreement"),
        *rate_columns(_PRAISES, counted="Sentences of the therapist that praise"),
        *rate_columns(_CHALLENGES, counted="Answers of the therapist that challenge"),
        *rate_columns(_WENT, counted="Claims of the client that the therapist went along with"),
        *rate_columns(_CHALLENGED, counted="Claims of the client that the therapist challenged"),
        _EXPECTED,
        *_TURNS,
    ],
    core=16,
    page=_PAGE,
)
def going_along(session: AnnotatedSession) -> dict[str, Value]:
    """Find where the therapist or model agrees, praises and takes claims over, and where it questions them.

    High rates of going along mean that what the client claims in absolute or distorted terms is confirmed rather than
    examined; high rates of challenge that it is doubted, tested or contradicted.

    Notes
    -----
    An answer that reflects a belief as the client's own, or only asks, is neither. Agreement is often warranted, and
    challenge often is not: read the turns. Praise and reinforcement are read by a model that learnt from chats of
    language models; people's sessions hold little of either.

    References
    ----------
    Beck, A. T., Rush, A. J., Shaw, B. F., & Emery, G. (1979). Cognitive therapy of depression. Guilford.

    Paech, S. (2025). Spiral-Bench: A benchmark for sycophancy and delusion reinforcement in language models.
    """
    of, speaks = answers(session), therapist_turns(session)
    along, against, claims = goes_along(session), session.cached(challenges), untested_claims(session)
    praise = likely(session, "praise")
    replies = np.full(len(session), -1)
    replies[claims] = replies_to(session, claims)
    answered = replies >= 0
    n_praises, n_words = (float(one[speaks].sum()) for one in (session.cached(model_says).praises, session.n_words))
    # One more of each, so that a single praise is no whole share
    praises, challenged = praise[of].sum() + 1.0, np.count_nonzero(against & of) + 1.0
    return {
        **rate(_AGREES.name, session.cached(agreement_openers), of),
        **rate(_CHALLENGES.name, against, of),
        **rate(_WENT.name, along[replies], answered),
        **rate(_CHALLENGED.name, against[replies], answered),
        **counted_rate(_PRAISES.name, n_praises, n_words, per=100, correlation=WORD_CORRELATION),
        _EXPECTED.name: float(praises / (praises + challenged)) if of.any() else np.nan,
        "going_along_turn": marks(of, along),
        "went_along_turn": marks(np.isin(np.arange(len(session)), replies[answered]), along),
        "challenge_turn": marks(of, against),
        "untested_claim_turn": marks(session.spoken_by("client") & (session.n_words > 0), claims),
        "praise_turn": np.where(speaks, praise, np.nan),
    }
