"""Who replies to whom, and to whom they would by chance: in another order, or to a stranger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.integers import distinct
from therapy_analytics.measures.synchrony._lenders import turns_like
from therapy_analytics.session import CLIENT, THERAPIST

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Closer = Literal["higher", "lower"]

DRAWS = 200
"""Shuffles within the session, and dialogues with strangers, that a value is set beside."""
FEWEST_PAIRS = 4
"""Under so many pairs of turns chance is not asked."""
FEWEST_STRANGERS = 5
"""With fewer strangers there is no baseline of them, and with fewer than `FEWEST_FOR_P` no p: what differs between
strangers would be taken for what differs between draws."""
FEWEST_FOR_P = 10


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Pairs of turns, many times over, held as positions among the turns that occur.

    Attributes
    ----------
    anchors, replies : int64 array
        The turns that occur at all.
    anchor_at, reply_at : int64 array (n_pairs, 1 or n_draws)
        Positions in those; one column where all draws have the same.
    """

    anchors: Ints
    replies: Ints
    anchor_at: Ints
    reply_at: Ints

    @classmethod
    def of(cls, anchors: Ints, replies: Ints) -> Draws:
        """Return the draws of turns given as (1 or n_draws, n_pairs) each."""
        (those, anchor_at), (these, reply_at) = (_different(np.ascontiguousarray(one.T)) for one in (anchors, replies))
        return cls(those, these, anchor_at, reply_at)

    @property
    def n_draws(self) -> int:
        """How many draws there are."""
        return int(max(self.anchor_at.shape[1], self.reply_at.shape[1]))

    @property
    def n_pairs(self) -> int:
        """How many pairs a draw has."""
        return len(self.reply_at)

    def some(self, draws: slice) -> tuple[Ints, Ints]:
        """Return the positions of some of the draws."""
        return (
            self.anchor_at if self.anchor_at.shape[1] == 1 else self.anchor_at[:, draws],
            self.reply_at if self.reply_at.shape[1] == 1 else self.reply_at[:, draws],
        )

    def turned(self) -> Draws:
        """Return the same with anchors and replies exchanged."""
        return Draws(self.replies, self.anchors, self.reply_at, self.anchor_at)

    def followed_by(self, other: Draws) -> Draws:
        """Return the pairs of these draws, and behind them those of as many others."""
        anchors, anchor_at = _both((self.anchors, self.anchor_at), (other.anchors, other.anchor_at))
        replies, reply_at = _both((self.replies, self.reply_at), (other.replies, other.reply_at))
        return Draws(anchors, replies, anchor_at, reply_at)


def _different(turns: Ints) -> tuple[Ints, Ints]:
    return distinct(turns, int(turns.max(initial=-1)) + 1)


def _both(one: tuple[Ints, Ints], two: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Return the turns that occur in either, and the positions in the one and then in the other as those in these."""
    turns, place = _different(np.concatenate([one[0], two[0]]))
    at, others = place[: len(one[0])].take(one[1]), place[len(one[0]) :].take(two[1])
    n = max(at.shape[1], others.shape[1])
    return turns, np.concatenate([np.broadcast_to(each, (len(each), n)) for each in (at, others)])


_NONE = np.zeros(0, dtype=np.int64)
NO_DRAWS = Draws(_NONE, _NONE, _NONE[:, None], _NONE[:, None])
"""Of who never replies."""


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
    exchanged : mapping of int to Draws
        Whose turns are a stranger's, `THERAPIST` or `CLIENT`, to the pairs of such dialogues: his turns are
        positions of `Company.whole`. Empty without company.
    """

    role: int
    anchors: Ints
    replies: Ints
    shuffled: Draws
    exchanged: Mapping[int, Draws]

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
    return session.meanwhile(lambda one: _directions(one, delay), key=("directions", delay))


def _directions(session: AnnotatedSession, delay: int) -> tuple[Direction, Direction]:
    generator = session.generator()
    return _direction(session, THERAPIST, delay, generator), _direction(session, CLIENT, delay, generator)


@dataclass(frozen=True, slots=True, eq=False)
class Replies:
    """Replies of the therapist and of the client, drawn many times over.

    Attributes
    ----------
    each : two Draws
        Those of the therapist, and those of the client.
    together : Draws
        Both, one behind the other; of the client's the replies stand as anchors, and the turns before as replies.
        What is the same whichever turn replies is so asked of the two at once.
    """

    each: tuple[Draws, Draws]
    together: Draws

    @classmethod
    def of(cls, therapist: Draws, client: Draws) -> Replies:
        """Return the two, and both together."""
        return cls((therapist, client), therapist.followed_by(client.turned()))

    @property
    def n_draws(self) -> int:
        """How many draws there are."""
        return max(draws.n_draws for draws in self.each)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The replies of a session as chance gives them; see `Direction`."""

    shuffled: Replies
    exchanged: Mapping[int, Replies]


def replies_of(session: AnnotatedSession, *, delay: int = 1) -> Drawn:
    """Return the replies of both as they are, in other orders, and with a stranger's turns; see `directions`."""
    return session.meanwhile(lambda one: _replies(*directions(one, delay=delay)), key=("replies", delay))


def _replies(therapist: Direction, client: Direction) -> Drawn:
    two = (therapist, client)
    exchanged = {
        one: Replies.of(*(direction.exchanged.get(one, NO_DRAWS) for direction in two))
        for one in (THERAPIST, CLIENT)
        if any(one in direction.exchanged for direction in two)
    }
    return Drawn(Replies.of(therapist.shuffled, client.shuffled), exchanged)


def _direction(session: AnnotatedSession, role: int, delay: int, generator: np.random.Generator) -> Direction:
    anchors, replies = pairs_of(session, role, delay)
    at = np.arange(len(replies))
    shuffled = np.tile(at, (DRAWS + 1, 1))
    shuffled[1:] = generator.permuted(shuffled[1:], axis=1)
    exchanged: dict[int, Draws] = {}
    for other, theirs in enumerate(stranger_turns(session) or () if len(replies) else ()):
        lent = theirs[:, np.searchsorted(spoken_turns(session)[other], replies if other == role else anchors)]
        exchanged[other] = Draws.of(anchors[None], lent) if other == role else Draws.of(lent, replies[None])
    draws = Draws(anchors, replies, at[:, None], np.ascontiguousarray(shuffled.T))
    return Direction(role, anchors, replies, draws, exchanged)


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
    return session.meanwhile(_spoken_turns)


def _spoken_turns(session: AnnotatedSession) -> tuple[Ints, Ints]:
    spoken, roles = session.n_words > 0, session.turns.roles
    therapist, client = (np.flatnonzero(spoken & (roles == role)) for role in (THERAPIST, CLIENT))
    return therapist, client


def stranger_turns(session: AnnotatedSession) -> tuple[Ints, Ints] | None:
    """Return strangers' turns in the place of the therapist's, and of the client's: (DRAWS / 2, n_turns) each.

    A draw takes all turns from one stranger of the session's length class, each about as long as
    the turn in whose place it stands, as positions of `Company.whole`; the next draw takes the next stranger's.
    None where there are too few strangers.
    """
    return session.meanwhile(_stranger_turns)


def _stranger_turns(session: AnnotatedSession) -> tuple[Ints, Ints] | None:
    others, sides = strangers_of(session), spoken_turns(session)
    if len(others) < FEWEST_STRANGERS or not all(map(len, sides)):
        return None
    generator = session.generator(1)
    company, lenders = session.company, np.array(others)
    assert company is not None  # noqa: S101 (there are no strangers without)
    therapist, client = (
        turns_like(session.n_words[turns], company, role, lenders, DRAWS // 2, generator)
        for role, turns in zip((THERAPIST, CLIENT), sides, strict=True)
    )
    return therapist, client


def strangers_of(session: AnnotatedSession) -> list[int]:
    """Return the strangers that a session is set beside.

    Those who speak as many turns as the session, if there are enough of them: others must lend turns twice.
    """
    return session.once(_strangers)


def _strangers(session: AnnotatedSession) -> list[int]:
    company = session.company
    if company is None:
        return []
    others = company.others_than(session.session)
    n_therapist, n_client = map(len, spoken_turns(session))
    lent = ((i, company.n_turns(i)) for i in others)
    ample = [i for i, (of_therapist, of_client) in lent if of_therapist >= n_therapist and of_client >= n_client]
    found = ample if len(ample) >= FEWEST_FOR_P else others
    return found if len(found) >= FEWEST_STRANGERS else []


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """What a kind of chance gives, in the shape of the values that are set beside it; nan where undefined.

    Attributes
    ----------
    mean, sd : float64 array
        Of the draws.
    z : float64 array
        Distance of the value from the mean, in standard deviations.
    p : float64 array
        Share of draws at least as synchronous as the session, itself included; two-sided for differences and slopes.
    """

    mean: Floats
    sd: Floats
    z: Floats
    p: Floats


def without_p(chance: Chance, session: AnnotatedSession) -> Chance:
    """Return the chance that strangers give, without its p where they are too few for one."""
    few = len(strangers_of(session)) < FEWEST_FOR_P
    return replace(chance, p=np.full(chance.p.shape, nan)) if few else chance


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
    asked = asked & ~np.isnan(values) & (len(draws) >= 2)
    found = np.full((4, *values.shape), nan)
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
        n = np.maximum(n, 2)
        mean = np.where(undefined, 0.0, drawn).sum(axis=1) / n
        off = np.where(undefined, 0.0, drawn - mean[:, None])
    else:
        n = np.full(len(drawn), drawn.shape[1])
        enough, mean = n > 0, drawn.sum(axis=1) / n
        off = drawn - mean[:, None]
    sd = np.sqrt((off * off).sum(axis=1) / (n - 1))
    z = np.where(sd > 1e-12, (values - mean) / np.where(sd > 1e-12, sd, 1.0), nan)
    above = (np.count_nonzero(drawn >= (values - 1e-12)[:, None], axis=1) + 1) / (n + 1)
    below = (np.count_nonzero(drawn <= (values + 1e-12)[:, None], axis=1) + 1) / (n + 1)
    one_sided = above if closer == "higher" else below
    p = np.where(two_sided, np.minimum(1.0, 2 * np.minimum(above, below)), one_sided)
    return np.where(enough, np.stack([mean, sd, z, p]), nan)
