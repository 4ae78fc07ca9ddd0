"""Surrogate pairs: the session's speakers with speakers of other sessions, whom they never met.

Donors are other sessions of the run. Half of them give the turns of their therapist, the others those of their client,
so that no two donors have ever talked with each other. Each turn of the session is replaced by a donor's turn of about
its length and place. The turns of a session and of its donors stand in one `TurnPool`; measures score positions in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core.session import CLIENT, THERAPIST
from therapy_analytics.measures.turns import Ints
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.annotate import Donors
from therapy_analytics.text.integers import consecutive

FEWEST_DONORS = 5
"""With fewer other sessions there are no surrogate pairs, and with fewer than `FEWEST_FOR_P` no z and no p."""
FEWEST_FOR_P = 10
MOST_DONORS = 8
"""At most so many donors of turns of each role."""
_STEPS = 1_000_000
"""Costs are whole numbers of so many parts, so that ties are ties on every machine."""


def spoken_turns(session: AnnotatedSession) -> tuple[Ints, Ints]:
    """Return the positions of turns with words, int64 (n_therapist_turns,) and (n_client_turns,)."""
    spoken, roles = session.n_words > 0, session.turns.roles
    return np.flatnonzero(spoken & (roles == THERAPIST)), np.flatnonzero(spoken & (roles == CLIENT))


def donors_of(session: AnnotatedSession) -> list[int]:
    """Return the donors of a session, as numbers in its `Donors`: an even number, at most twice `MOST_DONORS`.

    They are those who speak as many turns as the session, or come nearest to it. Whoever speaks fewer turns gives some
    of them twice, and such dialogues are less varied than real ones.
    """
    donors, wanted = session.donors, [len(turns) for turns in spoken_turns(session)]
    others = donors.others_than(session.session) if donors is not None else []
    if donors is None or len(others) < FEWEST_DONORS or not all(wanted):
        return []
    enough = {i: min(1.0, *(n / own for n, own in zip(donors.n_turns(i), wanted, strict=True))) for i in others}
    n = min(len(others) // 2, MOST_DONORS)
    return sorted(sorted(others, key=lambda i: -enough[i])[: 2 * n])


def turns_like(wanted: Ints, donors: Donors, role: int, donor: int) -> Ints:
    """Return a donor's turns that are like a session's own in length and place.

    Sessions open and close alike: two speakers would seem to go along with each other for that alone if a donor's turns
    came from anywhere. Of all ways to give each turn one of the donor's, the one is taken in which the turns differ
    least, on the sum of two differences: that of the logarithms of (words + 1), and that of the places, as shares of
    all turns of the role. No turn is taken twice, unless the donor has too few. There is nothing random in it.

    Parameters
    ----------
    wanted : int64 array (n_turns,)
        The words of the session's turns of one role.
    donors : Donors
        The other sessions.
    role, donor : int
        Whose turns are taken, `THERAPIST` or `CLIENT`, and of which of the donors.

    Returns
    -------
    int64 array (n_turns,)
        Positions in `Donors.whole`.

    References
    ----------
    Crouse, D. F. (2016). On implementing 2D rectangular assignment algorithms. IEEE Transactions on Aerospace and
    Electronic Systems, 52(4), 1679-1696.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 (slow to import)

    turns, found = donors.spoken[donor, role], np.empty(len(wanted), dtype=np.int64)
    places = [(np.arange(n) + 0.5) / n for n in (len(wanted), len(turns))]
    lengths = np.log1p(wanted), np.log1p(donors.whole.n_words[turns])
    cost = sum(np.rint(np.abs(np.subtract.outer(*both)) * _STEPS) for both in (lengths, places))
    # A donor with too few turns is asked several times, each time for turns from all over the session.
    times = -(-len(wanted) // len(turns))
    for time in range(times):
        found[time::times] = turns[linear_sum_assignment(cost[time::times])[1]]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class TurnPool:
    """The turns of a session and of its surrogate pairs.

    Positions below ``n_turns`` are the session's own turns; position ``n_turns + k`` is turn ``donated[k]`` of
    `Donors.whole`.

    Attributes
    ----------
    speakers : two int64 arrays (1 + n_donors, n_therapist_turns) and (1 + n_donors, n_client_turns)
        Of the therapists, then of the clients: the positions of the turns of the session's own speaker (row 0) and of
        each donor in that role, turn by turn in the places of the session's own.
    donated : int64 array (n_donated,)
        The donors' turns, each once.
    """

    speakers: tuple[Ints, Ints]
    donated: Ints


def pool_of(session: AnnotatedSession) -> TurnPool:
    """Return the turns of a session and of its surrogate pairs, of whom there may be none; chosen once a session."""
    return session.cached(_pool)


def _pool(session: AnnotatedSession) -> TurnPool:
    own, donors, chosen = spoken_turns(session), session.donors, donors_of(session)
    if donors is None or not chosen:
        return TurnPool((own[THERAPIST][None], own[CLIENT][None]), np.zeros(0, dtype=np.int64))
    taken = [
        np.stack([turns_like(session.n_words[own[role]], donors, role, donor) for donor in chosen[role::2]])
        for role in (THERAPIST, CLIENT)
    ]
    donated = np.unique(np.concatenate([turns.ravel() for turns in taken]))
    therapists, clients = (
        np.concatenate([turns[None], len(session) + np.searchsorted(donated, others)])
        for turns, others in zip(own, taken, strict=True)
    )
    return TurnPool((therapists, clients), donated)


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """The tokens of turns, as numbers.

    Attributes
    ----------
    values : uint64 array (n_tokens, n)
        What each token is, by the same numbers in every session; and what else a measure needs of it.
    offsets : int64 array (n_turns + 1,)
        Turn ``i`` owns tokens ``offsets[i]:offsets[i + 1]``.
    """

    values: NDArray[np.uint64]
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, turns: Ints) -> TokenRows:
        """Return the tokens of some of the turns."""
        lengths = np.diff(self.offsets)[turns]
        places, _ = consecutive(self.offsets[turns], lengths)
        return TokenRows(self.values[places], np.append(0, np.cumsum(lengths)))

    def followed_by(self, others: TokenRows) -> TokenRows:
        """Return these turns, then others."""
        values = np.concatenate([self.values, others.values])
        return TokenRows(values, np.append(self.offsets, others.offsets[1:] + self.offsets[-1]))

    @property
    def turn(self) -> Ints:
        """The turn of each token, int64 (n_tokens,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def pooled(session: AnnotatedSession, represent: Callable[[AnnotatedSession], Any]) -> Any:
    """Return what a function makes of the turns of a session, followed by what it makes of the donated turns.

    Parameters
    ----------
    session : AnnotatedSession
        The session, with its donors.
    represent : callable
        Makes an array (n_turns, ...), or `TokenRows`, of the turns of a session, or of all donors at once.

    Returns
    -------
    array or TokenRows
        A row for each position of the `TurnPool`.
    """
    own, donated, donors = represent(session), pool_of(session).donated, session.donors
    if donors is None or not len(donated):
        return own
    others = donors.whole.cached(represent)[donated]
    return own.followed_by(others) if isinstance(own, TokenRows) else np.concatenate([own, others])
