"""Whose we: that of the two who talk, or that of a client's family, a service, or everybody."""

from __future__ import annotations

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import slot
from therapy_analytics.language.word_sequence import Ints, Marks, WordSequence, word_sequence
from therapy_analytics.session import THERAPIST

_LET, _US, _SAY = frozenset({"let"}), frozenset({"us"}), frozenset({"say", "not", "put"})
_OURS = frozenset({"our", "ours"})
_ELSEWHERE = 20
"""Words before a we within which people of one's own life may be the others of it."""


def inclusive_we(session: AnnotatedSession) -> Marks:
    """Return, for each word of `said`, whether it is a first person plural that means therapist and client.

    Notes
    -----
    A therapist's we is taken as inclusive unless its neighbourhood names the client's people, a service, or everybody;
    a client's only where it goes with what the two of a session do or have together, and no such people are near.
    """
    words = word_sequence(session)
    at = np.flatnonzero(words.are(slot("alliance.plural_self")))

    def near(some: frozenset[str], back: int, ahead: int = -1) -> Marks:
        return words.near(words.are(some), back, ahead, at=at)

    therapist = session.turns.roles[words.turn_of[at]] == THERAPIST
    others, working = _others(words, at), near(slot("alliance.working_verbs"), -1, 5)
    our = words.are(_OURS)[at]
    ours = our & near(slot("alliance.shared_things"), -1, 3)
    us = words.are(_US)[at] & near(_LET, 1)
    lets = us & ~near(_SAY, -1, 1)
    at_large = near(slot("alliance.services"), 3, 5) | near(slot("alliance.mankind"), 2, 4)
    by_therapist = lets | ours | (~at_large & (working | ~others))
    by_client = (ours | (working & ~our)) & ~others
    found = np.zeros(len(words.ids), dtype=np.bool_)
    found[at] = (~us | lets) & np.where(therapist, by_therapist, by_client)
    return found


def _others(words: WordSequence, at: Ints) -> Marks:
    """Return where people of one's own life, or what is done with them, are near."""
    people = words.near(words.are(slot("alliance.own_people")), _ELSEWHERE, 8, within=words.turn_of, at=at)
    third = words.near(words.are(slot("alliance.third_persons")), 8, 4, at=at)
    life = words.near(words.are(slot("alliance.own_life")), 4, 6, at=at)
    return people | third | life
