"""What a therapist's turn does with what the client just said: goes along with it, questions it, or neither.

The phrases stand in ``lexicons/going_along.toml``; what is said here is where they count as evidence, and where the
model of ``behaviours/going_along.py`` does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.distortions import BALANCED, VOICED, distorted
from therapy_analytics.behaviours.going_along import KINDS, GoingAlong, WentAlong, load_going_along
from therapy_analytics.behaviours.text_model import session_segments
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.language.word_sequence import word_sequence
from therapy_analytics.measures._turns import last_of, next_of

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WITH_ABSOLUTE = 0.2
"""From this probability of a distorted thought on a client's turn with an absolute word is a claim."""
_AT_ONCE = 6
"""Agreement that opens a turn begins among so many words."""
_LONG = 15
"""A turn of so many words that begins with "yes" says more than that it listens."""
_REINFORCES = 0.3
"""A turn of this probability takes a claim further; alone it counts only where nothing is asked or held apart."""
_PRAISES = 0.5
"""A turn of this probability praises, whatever its words."""
_ABSOLUTES = "stance.absolutes"
_MINIMAL = "conversation.minimal_responses"


def model_says(session: AnnotatedSession) -> WentAlong:
    """Return what the model says of the therapist's turns; others have nan, and no praise."""
    return says(session, load_going_along())


def says(session: AnnotatedSession, model: GoingAlong) -> WentAlong:
    """Return what a model says of the therapist's turns."""
    own = session.spoken_by("therapist")
    found = model.of_segments(session_segments(session))
    return WentAlong(np.where(own[:, None], found.turns, np.nan), np.where(own, found.praises, 0))


def likely(session: AnnotatedSession, kind: str) -> Floats:
    """Return the probability that a turn is of a kind (`KINDS`), (n_turns,); 0 where it has no words."""
    return np.nan_to_num(session.cached(model_says).turns[:, KINDS.index(kind)])


def therapist_turns(session: AnnotatedSession) -> Bools:
    """Return the therapist's turns with words, bool (n_turns,)."""
    return np.asarray(session.spoken_by("therapist") & (session.n_words > 0))


def answers(session: AnnotatedSession) -> Bools:
    """Return the therapist's turns with words that come after words of the client, bool (n_turns,)."""
    return np.asarray(therapist_turns(session) & (last_of(session, "client") >= 0))


def agreement_openers(session: AnnotatedSession) -> Bools:
    """Return the answers that open with agreement, bool (n_turns,).

    A yes to a question is no agreement, nor is one that is turned around ("yes, but"), nor "mm-hmm" and "okay".
    """
    agrees = _therapist(session, "agreement", first=_AT_ONCE)
    agrees |= _therapist(session, "yes_alone", first=_AT_ONCE) & (session.n_words >= _LONG)
    after_question = _therapist(session, "agreement_after_question", first=_AT_ONCE)
    turned = _therapist(session, "agreement_turned", first=_AT_ONCE)
    asked = _before(session, _ends_asking(session))
    return np.asarray(np.where(asked, after_question, agrees) & ~turned & answers(session))


def challenges(session: AnnotatedSession) -> Bools:
    """Return the answers that disagree, doubt, test, decline to confirm or offer another explanation; (n_turns,)."""
    doubled = _therapist(session, "doubled") & _asks(session)
    return np.asarray((_therapist(session, "challenge") | doubled) & answers(session))


def praises(session: AnnotatedSession) -> Bools:
    """Return the therapist's turns that praise an idea or the person, by phrase or model; bool (n_turns,)."""
    return np.asarray(_therapist(session, "praise") | (likely(session, "praise") >= _PRAISES))


def untested_claims(session: AnnotatedSession) -> Bools:
    """Return the client's turns that a therapist could go along with, bool (n_turns,).

    A distorted thought or core belief as the model has it (absolute words make it likelier), or a phrase of hidden
    doings, signs, being singled out, or of a verdict on oneself or others.
    """
    found = distorted(session)
    least = np.where(session.count(_ABSOLUTES) > 0, WITH_ABSOLUTE, BALANCED)
    thought = (np.nan_to_num(found.any) >= least) | (np.nan_to_num(found.beliefs) >= VOICED).any(axis=1)
    claims = turns_with(session, "going_along.claims", "client")
    return np.asarray((thought | claims) & session.spoken_by("client") & (session.n_words > 0))


def replies_to(session: AnnotatedSession, turns: Bools) -> Ints:
    """Return the therapist's next turn after each of these, -1 where another client turn or the end comes first."""
    after = next_of(session, "therapist")
    at = np.flatnonzero(turns)
    reply, mine = after[at], next_of(session, "client")[at]
    return np.where((reply >= 0) & ((mine < 0) | (reply < mine)), reply, -1)


def goes_along(session: AnnotatedSession) -> Bools:
    """Return the therapist's turns that go along with what was said, should it be a claim; bool (n_turns,).

    Agreement, praise and a claim taken over ("since they are watching you") count as they stand. What takes a claim
    further, by phrase or model, counts where the turn does not ask and does not hold it apart as the client's belief. A
    turn that challenges does not go along.
    """
    further = _therapist(session, "going_further")
    further |= likely(session, "reinforcement") >= _REINFORCES
    apart = _therapist(session, "distance") | session.consists_of(_MINIMAL)
    takes_over = _therapist(session, "taken_over")
    agrees = session.cached(agreement_openers) | praises(session) | takes_over
    return np.asarray((agrees | (further & ~apart & ~_asks(session))) & ~session.cached(challenges) & answers(session))


def _therapist(session: AnnotatedSession, meaning: str, *, first: int | None = None) -> Bools:
    return turns_with(session, f"going_along.{meaning}", "therapist", first=first)


def _asks(session: AnnotatedSession) -> Bools:
    """Return the turns with a sentence that is closed by a question mark, or coded as a question."""
    words = word_sequence(session)
    found = np.bincount(words.turn_of, words.asks, len(session)) > 0
    return np.asarray(found | session.decided("mi_question")) if session.has("mi_question") else found


def _ends_asking(session: AnnotatedSession) -> Bools:
    """Return the turns whose last sentence is closed by a question mark."""
    words = word_sequence(session)
    last = np.append(np.diff(words.turn_of) > 0, True)[: len(words.turn_of)]
    found = np.zeros(len(session), dtype=np.bool_)
    found[words.turn_of[last & words.asks]] = True
    return found


def _before(session: AnnotatedSession, marks: Bools) -> Bools:
    """Return the turns whose last client turn before them is marked."""
    before = last_of(session, "client")
    return np.asarray((before >= 0) & marks[before]) if len(marks) else marks
