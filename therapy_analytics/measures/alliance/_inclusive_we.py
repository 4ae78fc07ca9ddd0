"""Whose we: that of the two who talk, or that of a client's family, a service, or everybody."""

from __future__ import annotations

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import slot
from therapy_analytics.language.said import Marks, Said, said
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
    words = said(session)
    therapist = session.turns.roles[words.turn_of] == THERAPIST
    others, working = _others(words), words.near(words.are(slot("alliance.working_verbs")), -1, 5)
    ours = words.are(_OURS) & words.near(words.are(slot("alliance.shared_things")), -1, 3)
    us = words.are(_US) & words.near(words.are(_LET), 1)
    lets = us & ~words.near(words.are(_SAY), -1, 1)
    plural = words.are(slot("alliance.plural_self")) & (~us | lets)
    by_therapist = lets | ours | (~_at_large(words) & (working | ~others))
    by_client = (ours | (working & ~words.are(_OURS))) & ~others
    return np.asarray(plural & np.where(therapist, by_therapist, by_client))


def _others(words: Said) -> Marks:
    """Return where people of one's own life, or what is done with them, are near."""
    people = words.near(words.are(slot("alliance.own_people")), _ELSEWHERE, 8, of=words.turn_of)
    third = words.near(words.are(slot("alliance.third_persons")), 8, 4)
    life = words.near(words.are(slot("alliance.own_life")), 4, 6)
    return people | third | life


def _at_large(words: Said) -> Marks:
    """Return where a service or everybody is near."""
    services, mankind = words.are(slot("alliance.services")), words.are(slot("alliance.mankind"))
    return words.near(services, 3, 5) | words.near(mankind, 2, 4)
