"""What the therapist says that the client said, and whether the client's words so far bear it out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate_columns
from therapy_analytics.measures._base import Mark, OnPage, Shown, Value
from therapy_analytics.measures._rates import counted_rate, rate
from therapy_analytics.measures.process._attribution_support import UNSUPPORTED, attributions_of

_SOURCE = (
    "This package's own; faithfulness of dialogue systems to what was said: Dziri et al. (2022), Maynez et al. (2020)"
)
_MISLEADS = (
    "A candidate to read, not a finding of fact: of 32 candidates in real sessions 9 were right, the others free "
    "summaries or paraphrases. What is known from a form, a profile or an earlier session, unless it is called so, "
    'counts because it is not in the transcript. Implied attributions ("so you ...") are not '
    "looked at"
)
_RATE = Column(
    name="attribution_rate",
    meaning='Share of therapist turns that say what the client said before ("you mentioned ...", "as you said")',
    unit="proportion",
    low=0,
    high=1,
    high_means="more reference to what the client said",
    formula=(
        "therapist turns with 'you' as the subject of a past verb of saying, not asked, supposed or told to others / "
        "therapist turns with words"
    ),
    misleads="Says nothing of whether it is right. Reflections without such a verb do not count",
    source=_SOURCE,
    evidence="untested",
)
_UNSUPPORTED = Column(
    name="unsupported_attribution_rate",
    meaning="Share of attributions whose content is not found in the client's words so far",
    unit="proportion",
    low=0,
    high=1,
    high_means="more attributions without support in the transcript: forgetting or invention",
    formula=(
        f"attributions with a probability of {UNSUPPORTED} or more / attributions that can be judged. Probability: "
        "logistic in the rarity-weighted share of content words that one passage of the client's words so far bears "
        "out by form or meaning, that all of them do, and that the therapist's do"
    ),
    misleads=_MISLEADS,
    source=_SOURCE,
    evidence="weak",
)
_TURN = replace(
    _UNSUPPORTED,
    name="false_attribution_turn",
    meaning="Whether the therapist's turn says that the client said what the client's words so far do not bear out",
    unit="0 or 1",
    high_means="1: a candidate",
    formula="1 where an attribution of the turn counts for unsupported_attribution_rate, 0 where all that can "
    "be judged "
    "are borne out; empty for turns without an attribution that can be judged",
    level="turn",
)


_PAGE: dict[str, Shown] = {
    "unsupported_attribution_rate": OnPage("review", "Says that the client said, and nothing like it is found"),
    "false_attribution_turn": Mark("Says that the client said, and nothing like it is found"),
}


@measure(
    columns=[
        *rate_columns(_RATE, counted="Therapist turns that say what the client said"),
        *rate_columns(_UNSUPPORTED, counted="Attributions without support in the client's words so far"),
        _TURN,
    ],
    core=17,
    page=_PAGE,
)
def attributions(session: AnnotatedSession) -> dict[str, Value]:
    """Find what the therapist says that the client said, and what of it the client did not say.

    A high unsupported rate means that the therapist often ascribes to the client what is not in the client's earlier
    words: a sign of invention or of forgetting, above all in language models.

    Notes
    -----
    Contradictions of the therapist's own earlier words are not looked for: static vectors do not tell a statement
    from its opposite; no rule for it was tried.

    References
    ----------
    Dziri, N., Milton, S., Yu, M., Zaiane, O., & Reddy, S. (2022). On the origin of hallucinations in conversational
    models. NAACL. The measure is this package's own.

    Maynez, J., Narayan, S., Bohnet, B., & McDonald, R. (2020). On faithfulness and factuality in abstractive
    summarization. ACL.
    """
    found = session.cached(attributions_of)
    of = session.spoken_by("therapist") & (session.n_words > 0)
    says = np.zeros(len(session), dtype=np.bool_)
    says[found.turns] = True
    p = found.unsupported
    judged = ~np.isnan(p)
    marks = np.full(len(session), np.nan)
    marks[found.turns[judged]] = 0.0
    marks[found.turns[p >= UNSUPPORTED]] = 1.0
    return {
        **rate(_RATE.name, says, of),
        **counted_rate(_UNSUPPORTED.name, float(np.sum(p >= UNSUPPORTED)), float(judged.sum())),
        _TURN.name: marks,
    }
