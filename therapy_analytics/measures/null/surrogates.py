"""Surrogate pairs: the session's speakers with speakers of other sessions, whom they never met.

Donors are other sessions of the run. Half of them give the turns of their therapist, the others those of their client,
so that no two donors have ever talked with each other. Each turn of the session is replaced by a donor's turn of about
its length and place. All turns that a session and its surrogate pairs need stand in one `Pool`, and each measure
scores positions in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.annotate import Company
from therapy_analytics.language.integers import consecutive, distinct
from therapy_analytics.session import CLIENT, THERAPIST

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FEWEST_DONORS = 5
"""With fewer other sessions there are no surrogate pairs, and with fewer than `FEWEST_FOR_P` no z and no p."""
FEWEST_FOR_P = 10
MOST_DONORS = 8
"""At most so many donors of turns of each role."""
_STEPS = 1_000_000
"""Costs are whole numbers of so many parts, so that ties are ties on every machine."""


def spoken_turns(session: AnnotatedSession) -> tuple[Ints, Ints]:
    """Return the positions of turns with words, (n_therapist_turns,) and (n_client_turns,)."""
    return session.cached(_spoken_turns)


def _spoken_turns(session: AnnotatedSession) -> tuple[Ints, Ints]:
    spoken, roles = session.n_words > 0, session.turns.roles
    return np.flatnonzero(spoken & (roles == THERAPIST)), np.flatnonzero(spoken & (roles == CLIENT))


def donors_of(session: AnnotatedSession) -> list[int]:
    """Return the donors of a session, as numbers in its `Company`: an even number, at most twice `MOST_DONORS`.

    They are those who speak as many turns as the session, or come nearest to it. Whoever speaks fewer turns gives some
    of them twice, and such dialogues are less varied than real ones.
    """
    return session.cached(_donors)


def _donors(session: AnnotatedSession) -> list[int]:
    company, wanted = session.company, [len(turns) for turns in spoken_turns(session)]
    others = company.others_than(session.session) if company is not None else []
    if company is None or len(others) < FEWEST_DONORS or not all(wanted):
        return []
    has = [min(1.0, *(n / own for n, own in zip(company.n_turns(i), wanted, strict=True))) for i in others]
    n = min(len(others) // 2, MOST_DONORS)
    nearest = sorted(range(len(others)), key=lambda at: -has[at])[: 2 * n]
    return [others[at] for at in sorted(nearest)]


def turns_like(wanted: Ints, company: Company, role: int, donor: int) -> Ints:
    """Return a donor's turns that are like a session's own in length and place.

    Sessions open and close alike: two speakers would seem to go along with each other for that alone if a donor's turns
    came from anywhere. Of all ways to give each turn one of the donor's, the one is taken in which the turns differ
    least, on the sum of two differences: that of the logarithms of (words + 1), and that of the places, as shares of
    all turns of the role. No turn is taken twice, unless the donor has too few. There is nothing random in it.

    Parameters
    ----------
    wanted : int64 array (n_turns,)
        The words of the session's turns of one role.
    company : Company
        The other sessions.
    role, donor : int
        Whose turns are taken, `THERAPIST` or `CLIENT`, and of which of the other sessions.

    Returns
    -------
    int64 array (n_turns,)
        Positions in `Company.whole`.

    References
    ----------
    Crouse, D. F. (2016). On implementing 2D rectangular assignment algorithms. IEEE Transactions on Aerospace and
    Electronic Systems, 52(4), 1679-1696.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 (slow to import)

    turns, found = company.spoken[donor, role], np.empty(len(wanted), dtype=np.int64)
    cost = _apart(np.log1p(wanted), np.log1p(company.whole.n_words[turns]))
    cost += _apart(_places(len(wanted)), _places(len(turns)))
    # Whoever has too few turns is asked several times, each time for turns from all over the session.
    times = -(-len(wanted) // len(turns))
    for time in range(times):
        found[time::times] = turns[linear_sum_assignment(cost[time::times])[1]]
    return found


def _places(n: int) -> Floats:
    return (np.arange(n) + 0.5) / n


def _apart(own: Floats, others: Floats) -> Floats:
    apart: Floats = np.rint(np.abs(own[:, None] - others) * _STEPS)
    return apart


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The turns of a session and of its surrogate pairs.

    Positions below ``n_turns`` are the session's own turns; position ``n_turns + k`` is turn ``donated[k]`` of
    `Company.whole`.

    Attributes
    ----------
    therapists, clients : int64 array (1 + n_donors, n_turns_of_role)
        Positions of the turns of the session's own speaker (row 0) and of each donor in that role, turn by turn in the
        places of the session's own.
    donated : int64 array (n_donated,)
        The donors' turns, each once.
    """

    therapists: Ints
    clients: Ints
    donated: Ints

    def of_role(self, role: int) -> Ints:
        """Return the speakers' turns of a role, `THERAPIST` or `CLIENT`."""
        return self.therapists if role == THERAPIST else self.clients


def pool_of(session: AnnotatedSession) -> Pool:
    """Return the turns of a session and of its surrogate pairs, of whom there may be none."""
    return session.cached(_pool)


def _pool(session: AnnotatedSession) -> Pool:
    own, donors, company = spoken_turns(session), donors_of(session), session.company
    if company is None or not donors:
        return Pool(own[THERAPIST][None], own[CLIENT][None], np.zeros(0, dtype=np.int64))
    each = [
        np.stack([turns_like(session.n_words[own[role]], company, role, donor) for donor in donors[role::2]])
        for role in (THERAPIST, CLIENT)
    ]
    taken = np.concatenate([turns.ravel() for turns in each])
    donated, place = distinct(taken, len(company.whole))
    at = np.split(len(session) + place, [each[THERAPIST].size])
    therapists, clients = (
        np.concatenate([turns[None], some.reshape(-1, len(turns))]) for turns, some in zip(own, at, strict=True)
    )
    return Pool(therapists, clients, donated)


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """The tokens of turns, with two numbers each.

    Attributes
    ----------
    values : uint64 array (n_tokens, 2)
        What each token is, by the same numbers in every session; and something else about it.
    offsets : int64 array (n_turns + 1,)
        Turn ``i`` owns tokens ``offsets[i]:offsets[i + 1]``.
    """

    values: NDArray[np.uint64]
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, turns: Ints) -> TokenRows:
        """Return some of the turns."""
        lengths = np.diff(self.offsets)[turns]
        places, _ = consecutive(self.offsets[turns], lengths)
        return TokenRows(self.values[places], np.append(0, np.cumsum(lengths)))

    def followed_by(self, others: TokenRows) -> TokenRows:
        """Return these turns, then others."""
        values = np.concatenate([self.values, others.values])
        return TokenRows(values, np.append(self.offsets, others.offsets[1:] + self.offsets[-1]))

    @property
    def turn(self) -> Ints:
        """The turn of each token, (n_tokens,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def pooled(session: AnnotatedSession, represent: Callable[[AnnotatedSession], Any]) -> Any:
    """Return what a function makes of the turns of a session, followed by what it makes of the donors' turns.

    Parameters
    ----------
    session : AnnotatedSession
        The session, with its donors.
    represent : callable
        Makes an array (n_turns, ...), or `TokenRows`, of the turns of a session, or of all donors at once.

    Returns
    -------
    array or TokenRows
        A row for each position of the `Pool`.
    """
    own, donated, company = represent(session), pool_of(session).donated, session.company
    if company is None or not len(donated):
        return own
    others = company.whole.cached(represent)[donated]
    return own.followed_by(others) if isinstance(own, TokenRows) else np.concatenate([own, others])
