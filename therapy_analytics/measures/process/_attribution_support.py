"""Where a therapist says that the client said something, and how well the client's words so far bear it out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.word_sequence import Ints, Marks, WordSequence, word_sequence
from therapy_analytics.measures.process._word_meanings import Floats, WordMeanings, word_meanings

_VERBS = frozenset({
    "mentioned", "said", "told", "described", "shared", "explained", "noted", "expressed", "talked", "spoke", "spoken",
    "brought", "stated", "reported", "indicated", "pointed", "revealed", "acknowledged", "admitted",
})  # fmt: skip
_GOING_ON = frozenset({"saying", "telling", "mentioning", "describing", "talking", "explaining", "sharing"})
_BETWEEN = frozenset({"have", "had", "d", "'d", "also", "just", "already", "earlier", "previously", "first", "even",
                      "yourself", "once", "both", "actually", "ve"})  # fmt: skip
_ASKED = frozenset({"did", "have", "has", "had", "could", "would", "can", "if", "should", "will", "might", "may",
                    "unless", "wish", "not", "before", "until", "give", "gives", "giving"})  # fmt: skip
_TO = frozenset({"to", "with"})
_US = frozenset({"me", "us"})
_ELSEWHERE = frozenset({"questionnaire", "intake", "survey", "profile"})
_BEFORE_TODAY = frozenset({"week", "time", "session", "month", "year", "visit", "appointment", "meeting"})
_LAST = frozenset({"last", "previous"})
_STARTS = frozenset({
    "i", "what", "could", "would", "can", "let", "we", "wondering", "which", "do", "did", "is", "but", "though",
    "since", "so", "these", "those", "there", "please", "honestly",
})  # fmt: skip
"""Where, after some content, the therapist goes on with what is the therapist's own."""
_OBJECTS = frozenset({"that", "you", "your", "how", "about", "to", "me", "us", "because"})
"""Words behind the verb that open what is attributed; behind others it may stand before: "the plant you mentioned"."""
_CLOSES = frozenset({"and", "even", "are", "is", "was", "were", "which", "but", "or", "so", "as"})
"""Words behind the verb after which nothing attributed can come."""
_WHOLES = frozenset({"what", "everything", "all"})
_SHELLS = frozenset({
    "step", "steps", "change", "changes", "insight", "insights", "situation", "situations", "experience",
    "experiences", "challenge", "challenges", "important", "positive", "several", "concern", "concerns",
    "concerned", "angle", "angles", "strong", "aspect", "aspects", "example", "examples", "point", "points",
    "issue", "issues", "reason", "reasons", "factor", "factors", "idea", "ideas", "thought", "thoughts", "word",
    "words", "story", "context", "previously", "earlier", "today", "such", "here", "before", "others",
    "particularly", "specific", "specifically", "different", "real", "serious", "relatable", "common", "awareness",
    "benefits", "effects", "motivation", "motivations", "goals", "interesting", "helpful", "clear", "clearly",
    "session", "conversation", "remember", "appreciate", "next", "perspective", "look", "wanting", "using",
    "needing", "tends", "sounds", "deserve", "resonates", "recently", "quite", "similar",
})  # fmt: skip
"""Words with which one sums up what was told, without its content."""
_REACH, _LONGEST, _FEWEST = 3, 14, 2
"""Words between "you" and the verb; words of a content; content words under which nothing can be looked for."""
_WINDOW, _STEP = 16, 4
"""Content words of the client that are held against an attribution at once, and how far a window moves on."""
_NEAR = 0.3
"""Cosine from which another word begins to bear a word out."""
FEATURES = ("near", "whole", "of_therapist")
"""Rarity-weighted share that is borne out: by one passage of the client, by all the client said, by the therapist."""
_WEIGHTS = np.array([-2.93, -2.25, -0.92])
"""A logistic model, trained on attributions planted into 75 sessions and on those that stood there."""
_INTERCEPT = 2.19
UNSUPPORTED = 0.3
"""The probability from which an attribution is a candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class Attributions:
    """What a therapist says that the client said.

    Attributes
    ----------
    turns : int64 array (n,)
        Where they stand.
    features : float64 array (n, n_features)
        How well the client's words so far bear each out, see `FEATURES`; nan where it cannot be said, because too
        little is said, the client has not spoken, or another occasion is meant.
    """

    turns: Ints
    features: Floats

    @property
    def unsupported(self) -> Floats:
        """Return how likely it is that the client did not say so: probabilities, nan where it cannot be said."""
        return np.asarray(1.0 / (1.0 + np.exp(-(self.features @ _WEIGHTS + _INTERCEPT))))


def attributions_of(session: AnnotatedSession) -> Attributions:
    """Return the attributions of a session, in order (to be asked for by `AnnotatedSession.cached`)."""
    words = word_sequence(session)
    verbs = np.flatnonzero(_verbs(session))
    if not len(verbs):
        return Attributions(verbs, np.zeros((0, len(FEATURES))))
    meanings, turns = session.cached(word_meanings), words.turn_of[verbs]
    spoken = [
        np.flatnonzero(session.spoken_by(role)[words.turn_of] & meanings.content) for role in ("client", "therapist")
    ]
    before = [np.searchsorted(words.turn_of[some], turns) for some in spoken]
    features = np.full((len(verbs), len(FEATURES)), np.nan)
    places = _places(session, meanings)
    for i, verb in enumerate(verbs.tolist()):
        heard, own = (some[: stop[i]] for some, stop in zip(spoken, before, strict=True))
        contents = _contents(words, places, verb) if len(heard) else []
        if contents:
            found = [_borne_out(meanings, one, heard, own) for one in contents]
            features[i] = max(found, key=lambda one: one[0])
    return Attributions(turns, features)


def _verbs(session: AnnotatedSession) -> Marks:
    """Return the verbs of saying of which "you" is the subject, among the therapist's words."""
    words = word_sequence(session)
    therapist = session.spoken_by("therapist")[words.turn_of]
    you, between = words.are(frozenset({"you"})), words.are(_BETWEEN)
    verb = words.are(_VERBS)
    going_on = words.are(_GOING_ON) & _shifted(words, words.are(frozenset({"were"})))
    found = np.zeros(len(verb), dtype=np.bool_)
    subject = you & ~words.near(words.are(_ASKED), 1)
    for _ in range(_REACH + 1):
        subject = _shifted(words, subject)
        found |= subject & verb
        subject &= between | words.are(frozenset({"were"}))
    found |= going_on & words.near(you, 3) & ~words.near(words.are(_ASKED), 4)
    return np.asarray(found & therapist & ~_to_others(words) & ~_bare(words))


def _shifted(words: WordSequence, marks: Marks) -> Marks:
    """Return which words come right after a marked one in their sentence."""
    return np.append(False, marks[:-1])[: len(marks)] & words.goes_on


def _ahead(words: WordSequence, marks: Marks, by: int = 1) -> Marks:
    """Return which words stand so many words before a marked one in their sentence."""
    found = np.zeros(len(marks), dtype=np.bool_)
    found[:-by] = marks[by:] & (words.sentence_of[by:] == words.sentence_of[:-by])
    return found


def _to_others(words: WordSequence) -> Marks:
    """Return which verbs go on to others: "told him", "talked to your wife", "said to her"."""
    us = words.are(_US)
    to_others = _ahead(words, words.are(_TO)) & ~_ahead(words, us, 2)
    told = words.are(frozenset({"told", "telling"})) & _ahead(words, ~us & ~words.are(frozenset({"that", "earlier"})))
    return np.asarray(to_others | told)


def _bare(words: WordSequence) -> Marks:
    """Return verbs that need a partner and have none: "brought" without "up", "pointed" without "out"."""
    partners = _ahead(words, words.are(frozenset({"up", "out"}))) | _ahead(words, words.are(frozenset({"up"})), 2)
    return np.asarray(words.are(frozenset({"brought", "pointed"})) & ~partners)


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """What the words of a row are to an attribution, bool (n_words,) each."""

    says: Marks
    ends: Marks
    pauses: Marks
    opens: Marks
    closes: Marks
    wholes: Marks


def _places(session: AnnotatedSession, meanings: WordMeanings) -> _Places:
    words = meanings.spoken
    says = meanings.content & ~words.are(_VERBS | _BETWEEN | _SHELLS)
    opens = words.are(_OBJECTS) | words.types(_is_gerund)[words.ids]
    return _Places(says, words.are(_STARTS), _pauses(session), opens, words.are(_CLOSES), words.are(_WHOLES))


def _is_gerund(word: str) -> bool:
    return word.endswith("ing")


def _contents(words: WordSequence, places: _Places, verb: int) -> list[Ints]:
    """Return the content words of what may be attributed: after the verb, and before it ("..., as you said")."""
    low, high = np.searchsorted(words.sentence_of, words.sentence_of[verb] + np.arange(2))
    if _of_another_day(words, slice(low, high)):
        return []
    after = np.arange(verb + 1, min(high, verb + 1 + _LONGEST))
    enough = np.cumsum(places.says[after]) >= _FEWEST
    ends = np.flatnonzero(places.ends[after] & enough)
    stops = np.flatnonzero(places.pauses[after] & enough)
    after = after[: min([len(after), *ends[:1], *(stops[:1] + 1)])]
    first = after[:1]
    closes = places.closes[first].any()
    if closes and places.wholes[max(low, verb - _REACH) : verb].any():
        return []
    before = np.arange(max(low, verb - _LONGEST // 2), max(low, verb - 1))
    after, before = after[places.says[after]], before[places.says[before]]
    if places.opens[first].any():
        return [after] * (len(after) > 0)
    return [one for one in ([before] if closes and len(before) >= _FEWEST else [after, before]) if len(one) >= _FEWEST]


def _pauses(session: AnnotatedSession) -> Marks:
    """Return after which words of the row a comma or another sign stands within the sentence."""
    tokens, offsets = session.turns.tokens, session.turns.offsets
    ids = tokens.ids[int(offsets[0]) : int(offsets[-1])]
    verbal = tokens.verbal[ids]
    signs = np.append(~verbal[1:], True)[: len(verbal)]
    return np.asarray(signs[verbal])


def _of_another_day(words: WordSequence, part: slice) -> bool:
    last = words.are(_LAST)[part]
    day = words.are(_BEFORE_TODAY)[part]
    return bool(words.are(_ELSEWHERE)[part].any() or (last[:-1] & day[1:]).any())


def _borne_out(meanings: WordMeanings, content: Ints, heard: Ints, own: Ints) -> tuple[float, float, float]:
    """Return how well words so far bear others out, 0 to 1 each: `FEATURES`.

    Parameters
    ----------
    meanings : WordMeanings
        Of the session.
    content, heard, own : int64 arrays
        Content words of the attribution, of the client before it (some), and of the therapist; places in the row.
    """
    told = meanings.types[content]
    told = told[np.sort(np.unique(told, return_index=True)[1])]
    share = meanings.rarity[told] / meanings.rarity[told].sum()
    alike = meanings.of_types[told] @ meanings.of_types.T
    alike[np.arange(len(told)), told] = 1.0
    near = np.clip((alike - _NEAR) / (1.0 - _NEAR), 0.0, 1.0)
    steps = np.maximum.reduceat(near[:, meanings.types[heard]], np.arange(0, len(heard), _STEP), axis=1)
    best = steps.copy()
    for further in range(1, _WINDOW // _STEP):
        np.maximum(best[:, :-further], steps[:, further:], out=best[:, :-further])
    of_own = near[:, meanings.types[own]].max(axis=1, initial=0.0)
    return float((share @ best).max()), float(steps.max(axis=1) @ share), float(of_own @ share)
