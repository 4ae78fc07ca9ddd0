"""Who replies to whom, and to whom they would by chance: in another order, or to a stranger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.annotate import Company
from therapy_analytics.language.integers import distinct
from therapy_analytics.measures.synchrony._draws import Draws, Replies
from therapy_analytics.measures.synchrony._lenders import turns_like
from therapy_analytics.session import CLIENT, THERAPIST

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Closer = Literal["higher", "lower"]

DRAWS = 200
"""Shuffles within the session that a value is set beside."""
FEWEST_PAIRS = 4
"""Under so many pairs of turns chance is not asked."""
FEWEST_STRANGERS = 5
"""With fewer donors there are no surrogate pairs, and with fewer than `FEWEST_FOR_P` no z and no p."""
FEWEST_FOR_P = 10
MOST_DONORS = 8
"""At most so many donors of turns of each role."""
EXCHANGES: tuple[tuple[int, ...], ...] = ((CLIENT,), (THERAPIST,), (THERAPIST, CLIENT))
"""Whose turns are a donor's in the surrogate dialogues, in the order in which these are drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """The replies of one of the two to the other.

    Attributes
    ----------
    role : int
        Who replies, `THERAPIST` or `CLIENT`.
    anchors, replies : int64 array (n_pairs,)
        Turns before, and turns that follow, in order.
    shuffled : Draws
        The pairs as they are (the first draw), then with the replies in another order.
    exchanged : mapping of tuple to Draws
        Whose turns are a donor's (see `EXCHANGES`) to the pairs of such dialogues: a donor's turns are positions of
        `Company.whole`. Empty without surrogate pairs.
    """

    role: int
    anchors: Ints
    replies: Ints
    shuffled: Draws
    exchanged: Mapping[tuple[int, ...], Draws]

    def __len__(self) -> int:
        return len(self.replies)


def directions(session: AnnotatedSession, *, delay: int = 1) -> tuple[Direction, Direction]:
    """Return the therapist's replies to the client, and the client's to the therapist.

    Parameters
    ----------
    session : AnnotatedSession
        The session, and its company.
    delay : int
        1 for the turn before, 2 for the other's turn before that, ...
    """
    lent, generator = _lent(session), session.generator()
    therapist, client = (_direction(session, role, delay, lent, generator) for role in (THERAPIST, CLIENT))
    return therapist, client


def _direction(
    session: AnnotatedSession, role: int, delay: int, lent: list[tuple[Ints, Ints]], generator: np.random.Generator
) -> Direction:
    anchors, replies = pairs_of(session, role, delay)
    own, others = spoken_turns(session)[role], spoken_turns(session)[1 - role]
    anchor_at, reply_at = np.searchsorted(others, anchors), np.searchsorted(own, replies)
    orders = np.tile(reply_at, (DRAWS + 1, 1))
    orders[1:] = generator.permuted(orders[1:], axis=1)
    exchanged: dict[tuple[int, ...], Draws] = {}
    for whose in EXCHANGES if lent else ():
        before, after = (
            _of_donors(lent[one], at, one, whose) if one in whose else (turns, at[:, None])
            for one, turns, at in ((1 - role, others, anchor_at), (role, own, reply_at))
        )
        exchanged[whose] = Draws.of(before[0], after[0], before[1], after[1])
    shuffled = Draws.of(others, own, anchor_at[:, None], np.ascontiguousarray(orders.T))
    return Direction(role, anchors, replies, shuffled, exchanged)


def _of_donors(lent: tuple[Ints, Ints], at: Ints, role: int, whose: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Return the turns that donors may lend in a role, and which of them stand at places, (n_places, n_dialogues).

    Where both are donors, each donor of the therapist's turns meets each donor of the client's.
    """
    turns, each = lent[0], lent[1].take(at, axis=0)
    if len(whose) == 1:
        return turns, each
    n = each.shape[1]
    donors = np.divmod(np.arange(n * n), n)[role]  # THERAPIST is 0 and CLIENT 1: the therapist changes last
    return turns, np.ascontiguousarray(each.take(donors, axis=1))


def _lent(session: AnnotatedSession) -> list[tuple[Ints, Ints]]:
    """Return which turns donors lend in the place of the therapist's, and of the client's, and which of them where.

    The positions are (n_turns, n_donors). Nothing where there are too few donors.
    """
    return [distinct(turns.T, int(turns.max()) + 1) for turns in stranger_turns(session) or ()]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The replies in some sessions, as they are and as chance gives them.

    Attributes
    ----------
    turns : two lists of int64 array
        The turns of each session in which the therapist replies, and those in which the client does.
    shuffled : Replies
        As they are (the first draw), then in other orders; turns are those of the batch.
    exchanged : mapping of tuple to Replies
        Whose turns are a donor's to such dialogues; see `Direction`.
    company : Company or None
        Whose turns these are; None where nothing is exchanged.
    """

    turns: tuple[list[Ints], list[Ints]]
    shuffled: Replies
    exchanged: Mapping[tuple[int, ...], Replies]
    company: Company | None


def replies_of(whole: AnnotatedSession, group: Sequence[int], *, delay: int = 1) -> Drawn:
    """Return the replies in some sessions of a batch, of one company and as many donors, or none; see `directions`."""
    sessions, firsts = [whole.sessions[number] for number in group], whole.bounds[list(group)].tolist()
    two = tuple(zip(*(directions(one, delay=delay) for one in sessions), strict=True))
    exchanged = {}
    for whose in two[0][0].exchanged:
        first_of = [[0] * len(group) if role in whose else firsts for role in (THERAPIST, CLIENT)]
        ways = zip(two, ((first_of[CLIENT], first_of[THERAPIST]), (first_of[THERAPIST], first_of[CLIENT])), strict=True)
        exchanged[whose] = Replies.of(*(Draws.joined([one.exchanged[whose] for one in way], of) for way, of in ways))
    shuffled = Replies.of(*(Draws.joined([one.shuffled for one in way], (firsts, firsts)) for way in two))
    turns = [[one.replies for one in way] for way in two]
    return Drawn((turns[0], turns[1]), shuffled, exchanged, sessions[0].company if exchanged else None)


def pairs_of(session: AnnotatedSession, role: int, delay: int = 1) -> tuple[Ints, Ints]:
    """Return the turns of a role that stand right behind one of the other, and the turns that they are compared with.

    Both have words, and all between them are of these two in turn.

    Returns
    -------
    anchors, replies : int64 array (n_pairs,)
        In order.
    """
    roles, spoken = session.turns.roles, session.n_words > 0
    back = 2 * delay - 1
    of_role, of_other = spoken & (roles == role), spoken & (roles == (CLIENT if role == THERAPIST else THERAPIST))
    fits = of_role[back:].copy()
    for step in range(1, back + 1):
        fits &= (of_other if step % 2 else of_role)[back - step : max(len(roles) - step, 0)]
    replies = np.flatnonzero(fits) + back
    return replies - back, replies


def spoken_turns(session: AnnotatedSession) -> tuple[Ints, Ints]:
    """Return the turns with words of the therapist, and of the client."""
    return session.alone.meanwhile(_spoken_turns)


def _spoken_turns(session: AnnotatedSession) -> tuple[Ints, Ints]:
    spoken, roles = session.n_words > 0, session.turns.roles
    therapist, client = (np.flatnonzero(spoken & (roles == role)) for role in (THERAPIST, CLIENT))
    return therapist, client


def stranger_turns(session: AnnotatedSession) -> tuple[Ints, Ints] | None:
    """Return donors' turns in the place of the therapist's, and of the client's: (n_donors, n_turns) each.

    Half of the donors lend turns of their therapist, the others of their client, so that no two of them have ever
    talked with each other. Each turn is about as long as the turn in whose place it stands, and from about there in
    its session, as position of `Company.whole`. None where there are too few donors.
    """
    return session.alone.meanwhile(_stranger_turns)


def _stranger_turns(session: AnnotatedSession) -> tuple[Ints, Ints] | None:
    others, sides = np.array(strangers_of(session)), spoken_turns(session)
    if not len(others):
        return None
    company = session.company
    assert company is not None  # noqa: S101 (there are no donors without)
    therapist, client = (
        turns_like(session.n_words[turns], company, role, others[role::2])
        for role, turns in zip((THERAPIST, CLIENT), sides, strict=True)
    )
    return therapist, client


def strangers_of(session: AnnotatedSession) -> list[int]:
    """Return the donors of a session's surrogate pairs, an even number of at most twice `MOST_DONORS`.

    Those who speak as many turns as the session, or come nearest to it. Whoever speaks fewer turns lends some of them
    twice, and such dialogues are less varied than real ones.
    """
    return session.alone.once(_strangers)


def _strangers(session: AnnotatedSession) -> list[int]:
    company = session.company
    if company is None:
        return []
    others = company.others_than(session.session)
    if len(others) < FEWEST_STRANGERS or not all(map(len, spoken_turns(session))):
        return []
    wanted = [len(turns) for turns in spoken_turns(session)]
    has = [min(1.0, *(n / own for n, own in zip(company.n_turns(i), wanted, strict=True))) for i in others]
    n = min(len(others) // 2, MOST_DONORS)
    nearest = sorted(range(len(others)), key=lambda at: -has[at])[: 2 * n]
    return [others[at] for at in sorted(nearest)]


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """What a null distribution gives, in the shape of the values that are set beside it; nan where undefined.

    Attributes
    ----------
    mean, sd : float64 array
        Of the shuffles; or what the surrogate pairs lead one to expect, and how far such an expectation is off.
    z : float64 array
        Distance of the value from the mean, in standard deviations.
    p : float64 array
        Share of draws at least as synchronous as the session, itself included; two-sided for differences and slopes.
    """

    mean: Floats
    sd: Floats
    z: Floats
    p: Floats

    @property
    def figures(self) -> tuple[Floats, Floats, Floats, Floats]:
        """All four of them."""
        return self.mean, self.sd, self.z, self.p


def against(values: Floats, draws: Floats, asked: Bools, *, closer: Closer, two_sided: Bools) -> Chance:
    """Set values beside draws of the same statistics.

    Parameters
    ----------
    values, asked, two_sided : array
        The values; where chance is asked at all; where both ends count.
    draws : float64 array (n_draws, *values.shape)
        What chance gives, quickest as a view of what has the draws last. Where more than half of them are undefined,
        the result is nan.
    closer : {"higher", "lower"}
        Which end counts where only one does.
    """
    found = np.full((4, *values.shape), nan)
    if len(draws) < 2:
        return Chance(*found)
    asked = asked & ~np.isnan(values)
    if asked.any():
        drawn = draws.transpose(*range(1, draws.ndim), 0)[asked]
        found[:, asked] = _beside(values[asked], drawn, closer, two_sided[asked])
    return Chance(*found)


def _beside(values: Floats, drawn: Floats, closer: Closer, two_sided: Bools) -> Floats:
    """Return the figures of `Chance`, (4, n_values), of values with their draws, (n_values, n_draws)."""
    undefined = np.isnan(drawn)
    if undefined.any():
        n = np.count_nonzero(~undefined, axis=1)
        enough = n >= max(2, drawn.shape[1] / 2)
        return np.where(enough, _figures(values, drawn, undefined, np.maximum(n, 2), closer, two_sided), nan)
    return _figures(values, drawn, None, drawn.shape[1], closer, two_sided)


def _figures(
    values: Floats, drawn: Floats, undefined: Bools | None, n: Ints | int, closer: Closer, two_sided: Bools
) -> Floats:
    """Return the same where it is known which draws are undefined, and how many are not, two at least."""
    found = np.empty((4, len(values)))
    mean, sd, z, p = found
    np.divide(np.add.reduce(drawn if undefined is None else np.where(undefined, 0.0, drawn), axis=1), n, out=mean)
    off = drawn - mean[:, None]
    if undefined is not None:
        off[undefined] = 0.0
    off *= off
    np.sqrt(np.add.reduce(off, axis=1) / (n - 1), out=sd)
    varies = sd > 1e-12
    z[:] = np.where(varies, (values - mean) / np.where(varies, sd, 1.0), nan)
    p[:] = _beyond(values, drawn, n, closer)
    if two_sided.any():
        least = np.minimum(p, _beyond(values, drawn, n, "lower" if closer == "higher" else "higher"))
        np.minimum(1.0, 2 * least, out=p, where=two_sided)
    return found


def _beyond(values: Floats, drawn: Floats, n: Ints | int, closer: Closer) -> Floats:
    """Return the share of draws that are at least as high, or as low, with the value itself."""
    beyond = drawn >= (values - 1e-12)[:, None] if closer == "higher" else drawn <= (values + 1e-12)[:, None]
    share: Floats = (np.add.reduce(beyond, axis=1, dtype=np.int64) + 1) / (n + 1)
    return share
