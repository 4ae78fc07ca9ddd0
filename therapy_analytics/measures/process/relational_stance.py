"""How the therapist stands towards the client: here and now, own reactions, tentative or sure, in the client's view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.language.word_sequence import Ints
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Value
from therapy_analytics.measures._rates import mark_column, marks
from therapy_analytics.measures.process._clauses import Bools
from therapy_analytics.measures.process._stance import WITHIN, ascribed, assertions

_SOURCE = "Construct: Hill (2014), Helping skills; phrases and rules are this package's own"
_IMMEDIACY = Column(
    name="therapist_immediacy_rate",
    meaning="Share of therapist turns that speak of what goes on between the two, here and now",
    unit="proportion",
    low=0,
    high=1,
    high_means="more immediacy",
    formula="therapist turns with a phrase 'immediacy' of lexicons/stance_phrases.toml / therapist turns with words",
    misleads="Found by phrases: other wording is missed. Rare: read the turns. Talk of the session's agenda is not "
    "meant but may slip in",
    source=_SOURCE,
    evidence="weak",
)
_REACTION = replace(
    _IMMEDIACY,
    name="therapist_owned_reaction_rate",
    meaning="Share of therapist turns that tell a reaction of the therapist's own to the client",
    high_means="more of the therapist's own reactions",
    formula="therapist turns with a phrase 'owned_reaction' of lexicons/stance_phrases.toml / therapist "
    "turns with words",
    misleads="Found by phrases, which leave courtesies out ('I am glad you came'). Facts of the therapist's own life "
    "are therapist_informational_disclosure",
)
_HEDGED = replace(
    _IMMEDIACY,
    name="hedged_assertion_rate",
    meaning="Share of the therapist's statements about the client that are tentative",
    high_means="more tentative statements about the client",
    formula="sentences with you as the subject (not asked, supposed, advised or reporting what the client said) that "
    "hold a word such as sounds, seems, perhaps, I wonder, or end in a question mark / such sentences",
    misleads="Of what is said of the client only; a tentative word may belong to something else in the sentence. "
    "Without question marks (speech recognition) tentative intonation is lost, so compare like transcripts",
    evidence="supported",
)
_SURE = replace(
    _HEDGED,
    name="certain_assertion_rate",
    meaning="Share of the therapist's statements about the client that leave no doubt",
    high_means="more certainty about the client",
    formula="sentences as in hedged_assertion_rate with a word such as always, clearly, obviously, and no tentative "
    "one / such sentences",
    misleads="Praise is often sure of itself ('you definitely can'); all-or-nothing words may be the client's own",
    evidence="weak",
)
_PERSPECTIVE = replace(
    _IMMEDIACY,
    name="therapist_perspective_taking_rate",
    meaning="Share of therapist turns that say what the client thinks, wants, knows or hopes",
    high_means="more is said of the client's mind",
    formula="therapist turns with you as the subject of a state of mind (mental, lexicons/stance_phrases.toml), not "
    "asked, supposed or advised / therapist turns with words",
    misleads="Says that it is talked of, not that it is right: see grounded_perspective_rate",
)
_GROUNDED = replace(
    _PERSPECTIVE,
    name="grounded_perspective_rate",
    meaning="Share of states of mind ascribed to the client whose content the client has just spoken of",
    high_means="what is ascribed to the client stands nearer to the client's words",
    formula="states of mind of which half or more of the content words (in the next 8 words) or words near in meaning "
    f"were said in the last {WITHIN} client turns of some words / states of mind with content words, after such a turn",
    misleads="Words, not sense: a denied or twisted content counts as grounded, a good inference in new words does not",
)
_TURNS = {
    "immediacy_turn": (_IMMEDIACY, "Whether the therapist's turn speaks of what goes on between the two"),
    "owned_reaction_turn": (_REACTION, "Whether the therapist's turn tells a reaction of their own"),
    "hedged_assertion_turn": (_HEDGED, "Whether a statement about the client in the turn is tentative"),
    "certain_assertion_turn": (_SURE, "Whether a statement about the client in the turn leaves no doubt"),
    "perspective_taking_turn": (_PERSPECTIVE, "Whether the therapist's turn says what is in the client's mind"),
    "grounded_perspective_turn": (_GROUNDED, "Whether all that it ascribes has a ground in the client's last words"),
}


_COUNTED = (
    (_IMMEDIACY, "Therapist turns with immediacy"),
    (_REACTION, "Therapist turns with a reaction of the therapist's own"),
    (_HEDGED, "Tentative statements about the client"),
    (_SURE, "Statements about the client that leave no doubt"),
    (_PERSPECTIVE, "Therapist turns that ascribe a state of mind to the client"),
    (_GROUNDED, "States of mind with a ground in the client's last words"),
)


@measure(
    columns=[
        *(column for one, counted in _COUNTED for column in rate_columns(one, counted=counted)),
        *(mark_column(of, name, meaning) for name, (of, meaning) in _TURNS.items()),
    ]
)
def relational_stance(session: AnnotatedSession) -> dict[str, Value]:
    """Read how the therapist stands towards the client, from phrases, hedges and whose words a thought rests on.

    High rates mean more talk of the relationship here and now, of the therapist's own reactions, more tentative and
    more certain statements about the client, and more said of the client's mind, with a ground in the client's words.

    Notes
    -----
    None of them is good or bad by itself. Repair of ruptures and the therapist's own life are other measures.

    References
    ----------
    Hill, C. E. (2014). Helping skills: Facilitating exploration, insight, and action (4th ed.). American Psychological
    Association. Only the constructs are taken from it, in other words.
    """
    of = session.spoken_by("therapist") & (session.n_words > 0)
    immediate, reacts = (
        turns_with(session, f"stance_phrases.{name}", "therapist") for name in ("immediacy", "owned_reaction")
    )
    spoken, minds = assertions(session), ascribed(session)

    def turns(which: Ints) -> Bools:
        found = np.zeros(len(session), dtype=np.bool_)
        found[which] = True
        return found

    states, asserts, known = turns(minds.turn), turns(spoken.turn), turns(minds.turn[minds.known])
    hedged, sure = turns(spoken.turn[spoken.hedged]), turns(spoken.turn[spoken.sure])
    loose = turns(minds.turn[minds.known & ~minds.grounded])
    evidence = ((of, immediate), (of, reacts), (asserts, hedged), (asserts, sure), (of, states), (known, ~loose))
    return {
        **rate(_IMMEDIACY.name, immediate, of),
        **rate(_REACTION.name, reacts, of),
        **rate(_PERSPECTIVE.name, states, of),
        **rate(_HEDGED.name, spoken.hedged, np.ones_like(spoken.hedged)),
        **rate(_SURE.name, spoken.sure, np.ones_like(spoken.sure)),
        **rate(_GROUNDED.name, minds.grounded, minds.known),
        **{name: marks(may, does) for name, (may, does) in zip(_TURNS, evidence, strict=True)},
    }
