"""Signs of withdrawal, confrontation and repair, turn by turn: phrases, and where they may count.

The phrases stand in ``lexicons/ruptures.toml``; what is said here is where they count as evidence.
"""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.meanings import cosines, meanings
from therapy_analytics.language.phrases import turns_of, turns_with
from therapy_analytics.measures._turns import last_of

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONFRONTATION = ("about_therapist", "about_therapy", "rejection", "self_defence")
WITHDRAWAL = ("blank_answer", "shift", "deference", "avoidance")
REPAIRS_WITHIN = 3
"""Therapist turns after a candidate among which a repair is looked for."""
_FEWEST_WORDS = 5
"""A therapist's turn of fewer words sets nothing that a client could turn from."""
_REACH = 3
"""Turns back to the therapist's turn that is being answered: acknowledgements may come between."""
_BASELINE_TURNS, _FEWEST_BEFORE, _LONG = 10, 4, 10.0
"""A client who has had 4 turns, of 10 words in the mean of the last 10, may be short of words; others are so always."""
_BLANK_WORDS, _DEFERENCE_WORDS, _AVOIDANCE_WORDS = 6, 20, 60
_NEAR_THE_END = 20
_NEAR_THE_BEGINNING = 12
_APART = 0.3
"""Cosine under which an answer is not about the question. A third of real answers lie below: it never counts alone."""
_ADVICE = "conversation.advice_cues"
_MINIMAL = "conversation.minimal_responses"


def signs(session: AnnotatedSession) -> dict[str, Bools]:
    """Return which client turns show what: a bool array (n_turns,) for each of `CONFRONTATION` and `WITHDRAWAL`."""
    client, asked = candidates_among(session), prompts(session)
    answers = asked >= 0
    at_once = answers & (asked == np.arange(len(session)) - 1)
    found = {name: _client(session, name) for name in ("about_therapist", "about_therapy", "self_defence")}
    suggested = turns_with(session, "ruptures.rejection", "client", first=_NEAR_THE_BEGINNING)
    found["rejection"] = suggested & _after(asked, _suggestions(session))
    deference, avoidance = (_client(session, name) for name in ("deference", "avoidance"))
    found["deference"] = deference & at_once & (session.n_words <= _DEFERENCE_WORDS)
    found["avoidance"] = avoidance & (session.n_words <= _AVOIDANCE_WORDS)
    blank = at_once & _blank(session)
    found["blank_answer"] = blank & _after(asked, _open(session)) if blank.any() else blank
    found["shift"] = _shifts(session, _client(session, "shift_openers") & _after(asked, _questions(session)))
    return {name: hits & client for name, hits in found.items()}


def candidates_among(session: AnnotatedSession) -> Bools:
    """Return the client's turns with words that come after a word of the therapist."""
    return np.asarray(session.spoken_by("client") & (session.n_words > 0) & (last_of(session, "therapist") >= 0))


def prompts(session: AnnotatedSession) -> Ints:
    """Return the therapist's turn that each turn comes after; -1 where there is none of some words just before.

    Parameters
    ----------
    session : AnnotatedSession
        Its roles and words a turn.

    Returns
    -------
    int64 array (n_turns,)
        The last therapist turn of five words or more before, at most three turns back.
    """
    at = np.arange(len(session))
    heard = np.where(session.spoken_by("therapist") & (session.n_words >= _FEWEST_WORDS), at, -1)
    last = np.append(-1, np.maximum.accumulate(heard))[: len(session)]
    return np.where((at - last <= _REACH) & (last >= 0), last, -1)


def running_words(session: AnnotatedSession) -> Floats:
    """Return the client's own mean of words a turn so far, for each client turn with words.

    Returns
    -------
    float64 array (n_turns,)
        Mean over up to ten client turns before; nan under four, and for all other turns.
    """
    turns = np.flatnonzero(session.spoken_by("client") & (session.n_words > 0))
    before = np.concatenate([[0], np.cumsum(session.n_words[turns])])
    k = np.arange(len(turns))
    first = np.maximum(k - _BASELINE_TURNS, 0)
    means = np.full(len(session), nan)
    enough = k >= _FEWEST_BEFORE
    means[turns[enough]] = ((before[k] - before[first])[enough]) / (k - first)[enough]
    return means


def repair_windows(session: AnnotatedSession, hits: Bools) -> tuple[Ints, Ints]:
    """Return the therapist's turns after each candidate: positions among the candidates, and turns.

    Parameters
    ----------
    session : AnnotatedSession
        Its turns.
    hits : bool array (n_turns,)
        The candidates.

    Returns
    -------
    which, turns : int64 arrays
        Up to three therapist turns for each candidate; those that only say "mm-hmm" are passed over.
    """
    replies = np.flatnonzero(session.spoken_by("therapist") & (session.n_words > 0) & ~session.consists_of(_MINIMAL))
    at = np.flatnonzero(hits)
    places = np.searchsorted(replies, at)[:, None] + np.arange(REPAIRS_WITHIN)
    after = np.append(replies, len(session))[np.minimum(places, len(replies))]
    inside = after < len(session)
    return np.nonzero(inside)[0], after[inside]


def repairs(session: AnnotatedSession) -> Bools:
    """Return which therapist turns hold what can mend, bool (n_turns,): see the lexicon for its kinds."""
    mends = [_therapist(session, name) for name in ("apology", "acknowledgement", "new_task")]
    explores = _therapist(session, "exploration") & _questions(session)
    reflects = _decided(session, "mi_reflection") & ~_decided(session, "mi_input")
    return np.asarray(np.any([*mends, explores, reflects], axis=0))


def _client(session: AnnotatedSession, meaning: str) -> Bools:
    return turns_with(session, f"ruptures.{meaning}", "client")


def _therapist(session: AnnotatedSession, meaning: str) -> Bools:
    return turns_with(session, f"ruptures.{meaning}", "therapist")


def _after(asked: Ints, given: Bools) -> Bools:
    """Return which turns come after a therapist turn that has something."""
    found = np.zeros(len(asked), dtype=np.bool_)
    answers = asked >= 0
    found[answers] = given[asked[answers]]
    return found


def _decided(session: AnnotatedSession, code: str) -> Bools:
    return session.decided(code) if session.has(code) else np.zeros(len(session), dtype=np.bool_)


def _suggestions(session: AnnotatedSession) -> Bools:
    return np.asarray(_decided(session, "mi_input") | (session.count(_ADVICE) > 0))


def _questions(session: AnnotatedSession) -> Bools:
    """Return the therapist's questions; every turn where the run's coder does not code them."""
    return session.decided("mi_question") if session.has("mi_question") else session.spoken_by("therapist")


def _open(session: AnnotatedSession) -> Bools:
    return _questions(session) & turns_with(session, "ruptures.open_questions", "therapist", last=_NEAR_THE_END)


def _blank(session: AnnotatedSession) -> Bools:
    """Return answers without content of clients who have said more so far."""
    short = session.n_words <= _BLANK_WORDS
    return np.asarray(short & turns_of(session, "ruptures.blank_answers", "client") & (running_words(session) >= _LONG))


def _shifts(session: AnnotatedSession, opens: Bools) -> Bools:
    """Return which of the turns that open another subject are far in meaning from the question."""
    turns = np.flatnonzero(opens & ~np.isnan(running_words(session)))
    found = np.zeros(len(session), dtype=np.bool_)
    if len(turns):
        own = meanings(session)
        found[turns] = cosines(own, own, turns, prompts(session)[turns]) < _APART
    return found
