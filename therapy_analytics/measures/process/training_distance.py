"""How unlike a session is to those that the tagger learnt from."""

from __future__ import annotations

from math import inf

from therapy_analytics.measures import Column, measure
from therapy_analytics.measures.turns import PAIR, Floats, Ints
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.meanings import meanings
from therapy_analytics.text.training_talk import training_talk

FAR = 1.0
"""Beyond this a session is unlike 95% of those that the tagger learnt from."""


@measure(
    columns=[
        Column(
            name="distance_from_training",
            meaning="How unlike the session is to those the tagger learnt from; over 1, rates may be off by more than "
            "their intervals",
            unit="1 = the distance that 95% of sessions of that length lie within",
            low=0,
            high=inf,
            high_means="the session is less like the demonstrations of counseling that the tagger learnt from",
            formula="Mahalanobis distance of mean turn vectors (8 directions and what is off them) and mean log words "
            "a turn, of therapist and client, / its 95% quantile in sessions of AnnoMI and HLQC of as many turns",
            misleads="It sees topics, wording and lengths, not whether codes are right: a session under 1 can be coded "
            "badly, and one over 1 well",
            source="This package's own; docs/validity.md has the corpora that were left out",
            evidence="weak",
            core=True,
            compare="no",
        )
    ],
    core=21,
)
def training_distance(session: AnnotatedSession) -> dict[str, float]:
    """Compare the session's words and lengths of turns with those of the sessions that the tagger learnt from.

    High means that the session is of another kind: another therapy, other topics, chatbots that write long turns. Then
    what docs/tagger.md says of how good codes are does not hold, and rates may be off by more than their intervals.

    Notes
    -----
    Undefined where one of the two has fewer than three turns with words.

    References
    ----------
    Mahalanobis, P. C. (1936). On the generalized distance in statistics. Proceedings of the National Institute of
    Sciences of India, 2, 49-55.
    """
    return {"distance_from_training": training_talk().distance(speakers(session))}


def speakers(session: AnnotatedSession, part: slice = slice(None)) -> list[tuple[Floats, Ints]]:
    """Return the vectors and numbers of words of the turns with words: the therapist's, then the client's.

    Parameters
    ----------
    session : AnnotatedSession
    part : slice, optional
        The turns that are asked for; without it all.

    Returns
    -------
    list of two (float64 array (n_turns, 256), int64 array (n_turns,))
        As `therapy_analytics.text.training_talk.TrainingTalk` takes them.
    """
    vectors, n_words = meanings(session).vectors[part], session.n_words[part]
    of = [session.spoken_by(role)[part] & (n_words > 0) for role in PAIR]
    return [(vectors[one], n_words[one]) for one in of]
