"""Where clients speak of danger and what therapists do then: phrases, answers to direct questions, and their place.

The phrases stand in ``lexicons/safety.toml``; what is said here is where they count. A turn that also holds a figure
of speech, a denial or somebody else's danger is looked at sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.text_model import session_segments
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.meanings import cosines, meanings
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.language.word_sequence import word_sequence
from therapy_analytics.measures._turns import last_of
from therapy_analytics.measures.alliance._rupture_signs import repair_windows
from therapy_analytics.session import Role

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

KINDS = ("suicide_active", "suicide_passive", "harm_others", "self_harm", "abuse", "psychosis", "mania")
"""Kinds of cues: 1, 2, ... in ``safety_cue``; the first that a turn shows."""
POSSIBLE, CLEAR = 1, 2
RESPONSES = (
    "colluded",
    "asked about plan, means or time",
    "asked directly",
    "worked on staying safe",
    "named a crisis line or other help",
    "acknowledged only",
    "changed the subject",
    "none of these",
)
"""What stands for 1, 2, ... in ``safety_response``; the first that a turn shows."""
COLLUDED, PLAN, ASKED, SAFETY, REFERRED, ACKNOWLEDGED, CHANGED, NONE = range(1, len(RESPONSES) + 1)
FOLLOWED = (PLAN, ASKED, SAFETY, REFERRED)
WITHIN = 3
"""Therapist turns after a cue in which a response is looked for."""
_PHRASES: Mapping[str, tuple[tuple[str, int], ...]] = {
    "suicide_active": (("suicide_active", CLEAR), ("suicide_signs", POSSIBLE)),
    "suicide_passive": (("suicide_passive", CLEAR), ("death_in_mind", CLEAR), ("suicide_indirect", POSSIBLE)),
    "harm_others": (("harm_others", CLEAR), ("harm_others_possible", POSSIBLE)),
    "self_harm": (("self_harm", CLEAR), ("self_harm_past", POSSIBLE)),
    "abuse": (("abuse", CLEAR), ("abuse_possible", POSSIBLE)),
    "psychosis": (("psychosis", CLEAR), ("psychosis_possible", POSSIBLE)),
    "mania": (("mania", POSSIBLE),),
}
_FOUND = (*(meaning for pairs in _PHRASES.values() for meaning, _ in pairs), "past")
_OF_OTHERS_TOO = frozenset({"suicide_active", "suicide_signs", "self_harm", "self_harm_past", "psychosis", "mania"})
"""What is not the client's own in a sentence about somebody else's danger."""
_PAST = frozenset({"suicide_active", "self_harm"})
"""What is possible, not clear, where it is said of the past alone."""
_DISOWNABLE = frozenset({"suicide_active", "suicide_signs", "self_harm", "harm_others", "death_in_mind"})
_QUESTIONS = {
    "ask_suicide": "suicide_active",
    "ask_passive": "suicide_passive",
    "ask_self_harm": "self_harm",
    "ask_others": "harm_others",
    "ask_abuse": "abuse",
    "ask_psychosis": "psychosis",
}
_DIRECT = (*_QUESTIONS, "ask_safe", "ask_safe_home")
_ONLY_OF = {"ask_psychosis": ("psychosis", "mania"), "ask_mania": ("psychosis", "mania")}
_REACH = 2
"""Turns back to the question that is answered."""
_NEAR = 6
"""Turns around a cue or direct question in which a general denial ('not planning anything') is one."""
_APART = 0.15
"""Cosine under which a therapist's question is about something else than the cue."""


@dataclass(frozen=True, slots=True, eq=False)
class Cues:
    """What clients say of danger, turn by turn.

    Attributes
    ----------
    strength : int64 array (n_kinds, n_turns)
        0 none found, `POSSIBLE` or `CLEAR`, for each of `KINDS`.
    denial, others : bool array (n_turns,)
        Where danger is denied, and where somebody else's is told of.
    """

    strength: Ints
    denial: Bools
    others: Bools

    @property
    def any(self) -> Bools:
        """Which turns have a cue of any kind."""
        return np.asarray(self.strength.max(axis=0) > 0)


def cues(session: AnnotatedSession) -> Cues:
    """Return the cues, denials and other people's dangers in the client's turns."""
    answered, refused, questioned = _answers(session)
    strength = np.maximum(session.cached(_strengths).T, answered)
    denied, denied_here, others = session.cached(_denying).T
    near = _around((strength.max(axis=0) > 0) | questioned)
    return Cues(strength, denied | (denied_here & near) | refused, others)


def _denying(session: AnnotatedSession) -> Bools:
    """Return which client turns deny danger, deny in general, and tell of another's; (n_turns, 3)."""
    return np.stack([_spoken(session, name, "client") for name in ("denial", "denial_here", "others")], axis=1)


def _replying(session: AnnotatedSession) -> Bools:
    """Return which client turns say yes, half a yes, that it is in their mind, and no; (n_turns, 4)."""
    names = ("admission", "half_admission", "in_mind", "no_answer")
    return np.stack([_spoken(session, name, "client") for name in names], axis=1)


def _spoken(session: AnnotatedSession, meaning: str, role: Role) -> Bools:
    return turns_with(session, f"safety.{meaning}", role)


def _strengths(session: AnnotatedSession) -> Ints:
    """Return the strength of each kind that client turns show by phrases alone, (n_turns, n_kinds)."""
    found = _found_by_sentence(session)
    strengths = {kind: _strength(found, kind, len(session)) for kind in KINDS}
    asleep = _spoken(session, "no_sleep", "client") & _spoken(session, "high_spirits", "client")
    strengths["mania"][asleep] = CLEAR
    return np.stack([*strengths.values()], axis=1)


def _strength(found: Mapping[str, Bools], kind: str, n: int) -> Ints:
    strength = np.zeros(n, dtype=np.int64)
    for meaning, of in _PHRASES[kind]:
        past = found["past"] if meaning in _PAST else np.zeros(n, dtype=np.bool_)
        strength = np.maximum(strength, np.where(found[meaning], np.where(past, POSSIBLE, of), 0))
    return strength


def _found_by_sentence(session: AnnotatedSession) -> dict[str, Bools]:
    """Return which client turns have which phrases; where some speak against it, by sentence."""
    names = _FOUND[:-1]
    found = {name: _spoken(session, name, "client") for name in _FOUND}
    against = {name: _spoken(session, name, "client") for name in ("idiom", "disowned", "others")}
    mixed = np.any([*against.values()], axis=0) & np.any([found[name] for name in names], axis=0)
    if not mixed.any():
        return found
    cut, of = _sentences(session)
    lines = {name: _spoken(cut, name, "client") for name in against}
    for name in names:
        blocks = (
            lines["idiom"] | (lines["others"] & (name in _OF_OTHERS_TOO)) | (lines["disowned"] & (name in _DISOWNABLE))
        )
        kept = np.bincount(of, _spoken(cut, name, "client") & ~blocks, minlength=len(session)) > 0
        found[name] = np.where(mixed, kept, found[name])
    return found


def _sentences(session: AnnotatedSession) -> tuple[AnnotatedSession, Ints]:
    """Return the session with each sentence (or window of words) as a turn, and whose turn each was."""

    def cut(one: AnnotatedSession) -> tuple[AnnotatedSession, Ints]:
        parts = session_segments(one).segments
        return replace(one, turns=parts.turns, probabilities={}, decisions={}, unsure={}), parts.turn_of

    return session.cached(cut, key=_sentences)


def _asked(session: AnnotatedSession, meaning: str) -> Bools:
    """Return which therapist turns ask about something."""

    def find(one: AnnotatedSession) -> Bools:
        return _asked_by_sentence(one, meaning)[0]

    return session.cached(find, key=(_asked, meaning))


def _asked_by_sentence(session: AnnotatedSession, meaning: str) -> tuple[Bools, Bools]:
    """Return which therapist turns ask about something, and which of them with their last question."""
    turns = _spoken(session, meaning, "therapist")
    if not turns.any():
        return turns, turns
    cut, of = _sentences(session)
    asks, last = session.cached(_asking)
    hits = _spoken(cut, meaning, "therapist") & asks & ~_spoken(cut, "confidentiality", "therapist")
    every, final = (np.bincount(of, hits & row, minlength=len(session)) > 0 for row in (asks, last))
    return every, final


def _asking(session: AnnotatedSession) -> tuple[Bools, Bools]:
    """Return which sentences ask, and which are the last of their turn to do so; all of a turn without any signs."""
    cut, of = _sentences(session)
    words = word_sequence(cut)
    marked = np.bincount(words.turn_of, words.asks, minlength=len(cut)) > 0
    tokens, offsets = session.turns.tokens, session.turns.offsets
    ends = np.append(0, np.cumsum(tokens.sentence_end))
    bare = (ends[offsets[1:]] - ends[offsets[:-1]]) == 0
    asks = marked | bare[of]
    at = np.arange(len(of))
    latest = np.full(len(session), -1)
    np.maximum.at(latest, of[asks], at[asks])
    return asks, (at == latest[of]) | bare[of]


def _direct(session: AnnotatedSession) -> Bools:
    """Return which therapist turns ask directly, and which so at last: (n_turns, n_questions, 2), see `_DIRECT`."""
    return np.stack([np.stack(_asked_by_sentence(session, name), axis=1) for name in _DIRECT], axis=1)


def _answers(session: AnnotatedSession) -> tuple[Ints, Bools, Bools]:
    """Return what answers to direct questions show: strength by kind, denials, and which turns answer at all."""
    n = len(session)
    strength, refused, questioned = np.zeros((len(KINDS), n), np.int64), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    direct = session.cached(_direct)
    if not direct.any():
        return strength, refused, questioned
    before = last_of(session, "therapist")
    of = session.spoken_by("client") & (before >= 0) & (np.arange(n) - before <= _REACH)
    yes, half, mind, no = session.cached(_replying).T
    every, final = of & direct[before].transpose(2, 1, 0)
    for asked, last, kind in zip(every, final, _QUESTIONS.values(), strict=False):
        clear = asked & ((yes & last) | (mind & ~no & ~half))
        shown = np.where(clear, CLEAR, np.where(asked & (yes | half | mind), POSSIBLE, 0))
        strength[KINDS.index(kind)] = np.maximum(strength[KINDS.index(kind)], shown)
        refused |= asked & no
        questioned |= asked
    safe, home = every[len(_QUESTIONS) :] & ~questioned
    # "No" to "do you feel safe?" is a cue, "yes" a denial
    for kind, asked in (("abuse", safe & home), ("suicide_active", safe & ~home)):
        row = strength[KINDS.index(kind)]
        row[asked & (no | half)] = np.maximum(row[asked & (no | half)], POSSIBLE)
    return strength, refused | (safe & yes), questioned | safe


def _around(marks: Bools) -> Bools:
    """Return which turns are at most `_NEAR` turns after a marked one, or it."""
    at = np.where(marks, np.arange(len(marks)), -_NEAR - 1)
    return np.asarray(np.arange(len(marks)) - np.maximum.accumulate(at) <= _NEAR) if len(marks) else marks


def stigmatising(session: AnnotatedSession) -> Bools:
    """Return which therapist turns have a stigmatising word that the client did not just use."""
    client = _spoken(session, "stigma_words", "client")
    return np.asarray(_spoken(session, "stigma", "therapist") & ~_around(client))


def responses(session: AnnotatedSession, found: Cues) -> tuple[Ints, Ints, Ints]:
    """Return the therapist's turns after cues: positions among the cues, turns, and what each shows there.

    Returns
    -------
    which, turns, shown : int64 arrays
        Up to three therapist turns for each cue (those that only say "mm-hmm" are passed over); `shown` is a number
        for one of `RESPONSES`.
    """
    hits = found.any
    which, turns = repair_windows(session, hits)
    if not len(turns):
        return which, turns, turns
    at = np.flatnonzero(hits)[which]
    moves = _moves(session)
    asked = moves[ASKED][turns]
    strange = found.strength[[KINDS.index(one) for one in _ONLY_OF["ask_mania"]]].max(axis=0) > 0
    asked |= moves[0][turns] & strange[at]
    moves_of = {move: marks[turns] for move, marks in moves.items()} | {ASKED: asked}
    moves_of[CHANGED] |= _elsewhere(session, turns, at)
    order = range(COLLUDED, NONE)
    return which, turns, np.select([moves_of[one] for one in order], list(order), NONE)


def _moves(session: AnnotatedSession) -> dict[int, Bools]:
    """Return which therapist turns make each move; 0 for questions that only fit psychosis or mania."""

    def asks(*names: str) -> Bools:
        return np.asarray(np.any([_asked(session, name) for name in names], axis=0))

    direct = [name for name in (*_QUESTIONS, "ask_safe") if name not in _ONLY_OF]
    reflected = session.decided("mi_reflection") if session.has("mi_reflection") else np.zeros(len(session), np.bool_)
    return {
        0: asks(*_ONLY_OF),
        COLLUDED: _spoken(session, "colluded", "therapist"),
        PLAN: asks("ask_plan"),
        ASKED: asks(*direct),
        SAFETY: _spoken(session, "safety_plan", "therapist"),
        REFERRED: _spoken(session, "referral", "therapist"),
        ACKNOWLEDGED: _spoken(session, "acknowledged", "therapist") | reflected,
        CHANGED: _spoken(session, "changed_subject", "therapist"),
    }


def _elsewhere(session: AnnotatedSession, turns: Ints, at: Ints) -> Bools:
    """Return which of the turns are questions far in meaning from the cue."""
    if not session.has("mi_question"):
        return np.zeros(len(turns), dtype=np.bool_)
    own = meanings(session)
    return np.asarray(session.decided("mi_question")[turns] & (cosines(own, own, turns, at) < _APART))
