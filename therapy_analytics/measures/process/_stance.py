"""Sentences in which the therapist says how the client is, and states of mind ascribed to the client."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from therapy_analytics.language import AnnotatedSession, builtin_lexicons
from therapy_analytics.language.integers import distinct
from therapy_analytics.language.phrases import slot
from therapy_analytics.language.word_sequence import Ints, Marks, bounds, fluent_words
from therapy_analytics.measures.process._clauses import Bools, Clauses, clauses
from therapy_analytics.measures.process._word_meanings import directions

WITHIN = 5
"""Client turns of some words in which the ground of what is ascribed to the client is looked for."""
FEWEST_WORDS = 4
"""Words from which a client's turn counts among these."""
LIKE = 0.6
"""Cosine from which two words mean much the same."""
_CONTENT = 8
"""Words after a state of mind in which its content is looked for."""
_SHORTEST = 4
_LONGEST = 25
"""Words after which an unpunctuated turn is taken to go on to another sentence."""
_YOU = frozenset({"you"})
_AUXILIARIES = frozenset({
    "are", "were", "do", "did", "does", "have", "had", "would", "could", "can", "will", "should", "is", "was",
    "thank", "may", "might", "to", "for", "with", "about", "of", "tell", "told", "ask", "give", "gave", "let",
    "see", "hear", "hearing", "help", "from", "on", "at", "if", "unless", "when", "whenever", "while", "wherever",
    "whatever", "'d", "until",
})  # fmt: skip
"""Before you: it is then asked about, supposed, or no subject."""
_OPEN = frozenset({
    "what", "which", "whenever", "wherever", "whatever", "anything", "something", "things", "if", "unless", "any",
    "how", "where", "why", "ways", "goals", "whichever",
})  # fmt: skip
"""A few words before you: what follows is left open, asked or supposed."""
_ADVISING = frozenset({
    "should", "could", "can", "may", "might", "must", "ought", "will", "would", "shall", "need", "'ll", "'d", "better",
})  # fmt: skip
_SAYING = frozenset({
    "said", "say", "saying", "mentioned", "mention", "mentioning", "told", "tell", "telling", "described", "talked",
    "talking", "asked", "for", "and", "to", "in", "with", "or", "so", "very", "much", "today", "here", "guys", "the",
})  # fmt: skip
"""After you: what the client said is reported, or you is no subject."""
_FILLING = frozenset({"know"})
_LINKS = frozenset({
    "are", "were", "have", "had", "been", "really", "also", "just", "still", "do", "did", "already", "not", "always",
    "never", "definitely", "clearly", "obviously", "probably", "maybe", "truly", "certainly", "kind", "sort",
    "of", "'re", "re", "both", "quite", "very", "pretty", "feel",
})  # fmt: skip
_VAGUE = frozenset({
    "like", "really", "just", "going", "gonna", "know", "mean", "things", "thing", "kind", "sort", "okay", "yeah",
    "right", "being", "having", "getting", "doing", "something", "anything", "want", "able", "make", "made", "come",
    "take", "well", "good", "time", "still", "even", "then", "also", "maybe", "much", "more", "very", "need", "there",
    "feel",
})  # fmt: skip
"""Words that hold too little to be the content of a thought."""
_AFTER_KNOW = frozenset({"that", "how", "what", "about", "it", "you", "why", "where"})


@dataclass(frozen=True, slots=True, eq=False)
class Assertions:
    """Sentences of the therapist that say how the client is.

    Attributes
    ----------
    turn : int64 array (n,)
        Whose they are.
    hedged, sure : bool array (n,)
        Whether a word marks it as a guess; whether, without such a word, one leaves no doubt.
    """

    turn: Ints
    hedged: Bools
    sure: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Ascribed:
    """States of mind that the therapist ascribes to the client.

    Attributes
    ----------
    turn : int64 array (n,)
        Whose they are.
    grounded : bool array (n,)
        Whether the client has said something of the kind in the last turns.
    known : bool array (n,)
        Whether the client has said anything, and the state of mind has a content of words.
    """

    turn: Ints
    grounded: Bools
    known: Bools


def assertions(session: AnnotatedSession) -> Assertions:
    """Return the sentences in which the therapist says how the client is."""
    row = clauses(session)
    words = row.words
    subject = _subjects(session, row) & ~row.next(_ADVISING | _SAYING)
    unit = _sentences(row)
    within = bounds(unit)
    hedge = row.near(row.are(slot("stance_phrases.tentative")), 12, 6, within=within) | words.asks
    sure = row.near(row.are(slot("stance_phrases.sure")), 6, 6, within=within)
    of, first = np.unique(unit[subject], return_index=True)
    at = np.flatnonzero(subject)
    hedged = np.bincount(np.searchsorted(of, unit[subject]), hedge[at], minlength=len(of)) > 0
    certain = np.bincount(np.searchsorted(of, unit[subject]), sure[at], minlength=len(of)) > 0
    return Assertions(words.turn_of[at][first], hedged, certain & ~hedged)


def _sentences(row: Clauses) -> Ints:
    """Return the number of each word's sentence; what has no full stop is cut into runs of `_LONGEST` words."""
    place = np.arange(len(row.words.ids)) - row.sentence[0]
    return np.asarray(np.cumsum(~row.words.goes_on | ((place % _LONGEST == 0) & (place > 0))))


def _subjects(session: AnnotatedSession, row: Clauses) -> Marks:
    """Return where the therapist speaks of you as the subject of a statement."""
    you = row.are(_YOU) & session.spoken_by("therapist")[row.words.turn_of]
    aside = row.next(_FILLING) & ~row.next(_AFTER_KNOW, 2)
    followed = np.append(row.words.goes_on[1:], False)[: len(you)]
    return np.asarray(you & followed & ~aside & ~row.near(row.are(_AUXILIARIES), 1) & ~row.near(row.are(_OPEN), 5))


def ascribed(session: AnnotatedSession) -> Ascribed:
    """Return the states of mind that the therapist ascribes to the client, and whether the client's words bear them."""
    row = clauses(session)
    words = row.words
    at = np.flatnonzero(_states(session))
    client = np.flatnonzero(session.spoken_by("client") & (session.n_words >= FEWEST_WORDS))
    turn = words.turn_of[at]
    c = np.searchsorted(client, turn)
    content = _contents(row, at)
    has = (content >= 0).any(axis=1)
    found = _found(session, content, client, c)
    share = found.sum(axis=1) / np.maximum((content >= 0).sum(axis=1), 1)
    return Ascribed(turn, share >= 0.5, has & (c > 0))


def _states(session: AnnotatedSession) -> Marks:
    """Return the words that ascribe a state of mind: after you, with up to three linking words between."""
    row = clauses(session)
    reach = _subjects(session, row) & ~row.next(_ADVISING - {"need"})
    link, goes_on = row.are(_LINKS), row.words.goes_on
    for _ in range(3):
        reach[1:] |= reach[:-1] & link[1:] & goes_on[1:]
    after = np.append(False, reach[:-1])[: len(reach)] & goes_on
    return np.asarray(after & row.are(slot("stance_phrases.mental")))


def _contents(row: Clauses, at: Ints) -> Ints:
    """Return the content words after each state of mind, as types of words; -1 where there is none, (n, `_CONTENT`)."""
    places = at[:, None] + np.arange(1, _CONTENT + 1)
    inside = places < row.sentence[1][at][:, None]
    types = row.words.ids[np.where(inside, places, at[:, None])]
    return np.where(inside & row.words.types(_is_full)[types], types, -1)


def _is_full(word: str) -> bool:
    """Whether a word has a content of its own."""
    return len(word) >= _SHORTEST and word not in _empty()


@functools.cache
def _empty() -> frozenset[str]:
    lists = [one for one in builtin_lexicons() if one.name in {"function_words", "pronouns"}]
    words = (category.words for one in lists for category in one.categories)
    return _VAGUE.union(slot("stance_phrases.mental"), *words)


def _found(session: AnnotatedSession, content: Ints, client: Ints, c: Ints) -> Bools:
    """Return which content words the client said, or a word near in meaning, in the last turns; as `content`.

    Parameters
    ----------
    session : AnnotatedSession
        Its turns.
    content : int64 array (n, n_words)
        The types of words, -1 for none.
    client : int64 array (n_client,)
        The client's turns that count.
    c : int64 array (n,)
        How many of them come before each state of mind.
    """
    words = fluent_words(session)
    place = np.searchsorted(client, words.turn_of)
    own = words.types(_is_full)[words.ids] & (place < len(client))
    own[own] &= client[place[own]] == words.turn_of[own]
    spoken, place = words.ids[own], place[own]
    if not len(content) or not len(spoken):
        return np.zeros(content.shape, dtype=np.bool_)
    used, kind = distinct(spoken, len(words.index))
    asked, row = distinct(content + 1, len(words.index) + 1)
    often = np.zeros((len(client) + 1, len(used)), dtype=np.int32)
    np.add.at(often, (place + 1, kind), 1)
    so_far = np.cumsum(often, axis=0, dtype=np.int32)
    window = so_far[c] > so_far[np.maximum(c - WITHIN, 0)]
    near = _alike(session, asked - 1, used)[row]
    return np.asarray((near & window[:, None, :]).any(axis=2) & (content >= 0))


def _alike(session: AnnotatedSession, asked: Ints, used: Ints) -> Bools:
    """Return which words mean much the same as which, (n_asked, n_used); -1 is no word."""
    a, b = (directions(session)[one].astype(np.float32) for one in (asked, used))
    return np.asarray((a @ b.T >= LIKE) | (asked[:, None] == used))
