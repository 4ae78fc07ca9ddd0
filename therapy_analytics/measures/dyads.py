"""Sessions with several clients or therapists, seen as one pair of them at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from therapy_analytics.core.session import ROLES, Role
from therapy_analytics.text import AnnotatedSession

MOST = 50
"""Pairs of one session that are looked at; a chat room of hundreds has no dyads to speak of."""


@dataclass(frozen=True, slots=True)
class Dyad:
    """One therapist and one client of a session that has more of either.

    Attributes
    ----------
    therapist, client : str
        Their labels, as the transcript writes them.
    session : AnnotatedSession
        The session with every other therapist and client as ``other``.
    """

    therapist: str
    client: str
    session: AnnotatedSession


def speakers_of(session: AnnotatedSession, role: Role) -> list[str]:
    """Return the labels of those who speak in a role, in the order in which they first do."""
    return list(dict.fromkeys(turn.speaker for turn in session.session.turns if turn.role == role))


def dyads(session: AnnotatedSession) -> Iterator[Dyad]:
    """Yield each pair of a therapist and a client, of sessions that have more than one pair.

    Yields
    ------
    Dyad
        At most `MOST`; none where the session's own measures already are those of its only pair.
    """
    therapists, clients = speakers_of(session, "therapist"), speakers_of(session, "client")
    if not 1 < len(therapists) * len(clients) <= MOST:
        return
    for therapist in therapists:
        for client in clients:
            yield Dyad(therapist, client, _seen_by(session, {"therapist": therapist, "client": client}))


def _seen_by(session: AnnotatedSession, pair: Mapping[Role, str]) -> AnnotatedSession:
    """Return the session with all but the pair as others: their turns stay, and have no codes."""
    turns = session.session.turns
    left_out = np.array([pair.get(turn.role, turn.speaker) != turn.speaker for turn in turns], dtype=np.bool_)
    seen = [replace(turn, role="other") if out else turn for turn, out in zip(turns, left_out, strict=True)]
    roles = np.where(left_out, np.int8(ROLES.index("other")), session.turns.roles)
    return replace(
        session,
        session=replace(session.session, turns=tuple(seen)),
        turns=replace(session.turns, roles=roles),
        probabilities={code: np.where(left_out, np.nan, given) for code, given in session.probabilities.items()},
        decisions={code: given & ~left_out for code, given in session.decisions.items()},
        unsure={code: given & ~left_out for code, given in session.unsure.items()},
    )
