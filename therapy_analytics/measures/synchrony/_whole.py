"""Synchrony of all that one says with all that the other says, beside what it is in surrogate pairs.

The words of one of the two or of both are exchanged for a donor's, turn by turn for turns of about the same length and
place.
Where the order of turns enters a measure, it also says what shuffles of it give.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, TypeAlias, TypeVar

import numpy as np

from therapy_analytics.language import AnnotatedSession, Extra
from therapy_analytics.measures import Column
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._chance import (
    EXCHANGES,
    FEWEST_PAIRS,
    Chance,
    Closer,
    Floats,
    Ints,
    against,
    spoken_turns,
    stranger_turns,
)
from therapy_analytics.measures.synchrony._columns import figure, figure_columns
from therapy_analytics.measures.synchrony._surrogates import beside_surrogates
from therapy_analytics.registry import Registry
from therapy_analytics.session import CLIENT, THERAPIST

MOST_TURNS = 2000
"""So many turns of speakers of one role are measured at a time."""
T = TypeVar("T")
Generator: TypeAlias = Callable[[], np.random.Generator]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """What one of the two says.

    Attributes
    ----------
    represented : object
        What `Whole.represent` made of the session, or of the donors.
    turns : int64 array (n,)
        This side's turns, with words, as positions in that; of several speakers (n_speakers, n), see `Whole.many`.
    at : int64 array (n,)
        Where in the session each stands, from 0; in order.
    """

    represented: Any
    turns: Ints
    at: Ints
    _known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, compute: Callable[[Side], T]) -> T:
        """Return what a function makes of this side, computed when it is first asked for: own sides recur."""
        if compute not in self._known:
            self._known[compute] = compute(self)
        found: T = self._known[compute]
        return found

    @property
    def is_own(self) -> bool:
        """Whether these are the session's turns, and no donor's."""
        return self.turns is self.at

    def speakers(self) -> list[Side]:
        """Return the sides of the several speakers, one by one."""
        return [Side(self.represented, turns, self.at) for turns in self.turns]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Whole:
    """A measure of two sides of a dialogue.

    Attributes
    ----------
    name : str
        By which `synchrony` finds it.
    columns : tuple of Column
        Of its values, in their order.
    represent : callable
        What the measure needs of each turn.
    values : callable
        ``values(therapist, client)`` of two `Side`, a number for each column.
    many : callable or None
        ``many(therapists, clients)``: the values of each therapist with each client, (n_therapists, n_clients,
        n_columns), where that is less work than one by one. The turns of either side are (n_speakers, n).
    shuffled : callable or None
        ``shuffled(therapist, client, generator)``: the values under `DRAWS` shuffles of the
        turns within the session, (n_draws, n_columns); None where their order does not enter. ``generator()`` makes
        the random numbers, for who needs them.
    itself_first : bool
        Whether `shuffled` returns the values of the session as it is in a row before those, so that nobody asks
        `values` for them.
    strangers : bool
        Whether it is set beside surrogate pairs.
    two_sided : tuple of str
        Columns of which both ends count: those that say who leads.
    factors : tuple of str
        Columns on which speakers act as factors: set beside surrogate pairs by their logarithms.
    closer : {"higher", "lower"}
        Which values mean more synchrony.
    extra : str or None
        What must be asked for, because it is costly; see `Extra`.
    part_of : Whole or None
        Another one, not registered, that has these columns among its own and finds them all at once.
    """

    name: str
    columns: tuple[Column, ...]
    represent: Callable[[AnnotatedSession], Any]
    values: Callable[[Side, Side], Sequence[float]]
    many: Callable[[Side, Side], Floats] | None = None
    shuffled: Callable[[Side, Side, Generator], Floats] | None = None
    itself_first: bool = False
    strangers: bool = True
    two_sided: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    closer: Closer = "higher"
    extra: Extra | None = None
    part_of: Whole | None = None


WHOLE: Registry[Whole] = Registry("measure of whole dialogues", package="therapy_analytics.measures.synchrony")


def whole(kind: Whole) -> Whole:
    """Register a measure of whole dialogues, so that `synchrony` finds it by its name."""
    WHOLE.add(kind.name, kind, module=kind.represent.__module__)
    return kind


def parts_of(both: Whole, columns: Mapping[str, slice]) -> list[Whole]:
    """Register some columns of a measure under one name, others under another; all are found when one is asked for."""
    return [whole(_part(both, name, own)) for name, own in columns.items()]


def _part(both: Whole, name: str, own: slice) -> Whole:
    many, shuffled = both.many, both.shuffled
    return replace(
        both,
        name=name,
        columns=both.columns[own],
        values=lambda *of: both.values(*of)[own],
        many=many and (lambda *of: many(*of)[..., own]),
        shuffled=shuffled and (lambda *of: shuffled(*of)[:, own]),
        part_of=both,
    )


@dataclass(frozen=True, slots=True, eq=False)
class WholeOutcome:
    """What a measure finds in a session, (n_columns,) each."""

    values: Floats
    shuffled: Chance
    strangers: Chance

    def some(self, own: list[int]) -> WholeOutcome:
        """Return what is found for some of the columns."""
        shuffled, strangers = (
            Chance(*(one[own] for one in chance.figures)) for chance in (self.shuffled, self.strangers)
        )
        return WholeOutcome(self.values[own], shuffled, strangers)


def whole_outcome(kind: Whole, session: AnnotatedSession) -> WholeOutcome:
    """Return what a measure finds in a session; computed once."""
    if kind.part_of is not None:
        return whole_outcome(kind.part_of, session).some([kind.part_of.columns.index(one) for one in kind.columns])
    return session.once(lambda one: _outcome(kind, one), key=kind)


def _outcome(kind: Whole, session: AnnotatedSession) -> WholeOutcome:
    own = session.meanwhile(kind.represent)
    sides = [Side(own, turns, turns) for turns in spoken_turns(session)]
    fewest = min(len(side.turns) for side in sides)
    values = none = np.full(len(kind.columns), nan)
    orders = _in_orders(kind, session, sides) if kind.itself_first and fewest else None
    if fewest:
        values = np.array(kind.values(*sides) if orders is None else orders[0], dtype=np.float64)
    asked = ~np.isnan(values) & (fewest >= FEWEST_PAIRS)
    if not asked.any():
        return WholeOutcome(values, *[Chance(none, none, none, none)] * 2)
    shuffled = _in_orders(kind, session, sides) if orders is None else orders[1:]
    ends = np.array([column.name in kind.two_sided for column in kind.columns])
    of_order = against(values, shuffled, asked, closer=kind.closer, two_sided=ends)
    surrogates = _surrogate_values(kind, session, sides) if kind.strangers else none[None][:0]
    factors = np.array([column.name in kind.factors for column in kind.columns])
    of_pairs = beside_surrogates(values, surrogates, asked, closer=kind.closer, two_sided=ends, factors=factors)
    return WholeOutcome(values, of_order, of_pairs)


def _in_orders(kind: Whole, session: AnnotatedSession, sides: list[Side]) -> Floats:
    """Return the values under shuffles of the turns, (n_draws, n_columns); of no draws where order does not enter."""
    if kind.shuffled is None:
        return np.zeros((0, len(kind.columns)))
    return kind.shuffled(sides[0], sides[1], functools.partial(session.generator, 3))


def _surrogate_values(kind: Whole, session: AnnotatedSession, sides: list[Side]) -> Floats:
    """Return the values of the surrogate dialogues, (n_dialogues, n_columns), in the order of `EXCHANGES`."""
    turns = stranger_turns(session)
    if turns is None or session.company is None:
        return np.zeros((0, len(kind.columns)))
    theirs = session.company.whole.once(kind.represent)
    own = [Side(side.represented, side.turns[None], side.at) for side in sides]
    lent = [Side(theirs, some, side.at) for some, side in zip(turns, sides, strict=True)]
    pairs = ([lent[role] if role in whose else own[role] for role in (THERAPIST, CLIENT)] for whose in EXCHANGES)
    each = kind.many or functools.partial(_one_by_one, kind)
    found = (np.concatenate([_of_one_row(each, some, pair[1]) for some in _portions(pair[0])]) for pair in pairs)
    return np.concatenate([one.reshape(-1, len(kind.columns)) for one in found])


def _of_one_row(each: Callable[[Side, Side], Floats], therapists: Side, clients: Side) -> Floats:
    return np.concatenate([each(therapists, some) for some in _portions(clients)], axis=1)


def _portions(side: Side) -> list[Side]:
    """Return the speakers of a side, as many at a time as may be held of sessions of this length."""
    most = max(1, MOST_TURNS // side.turns.shape[1])
    parts = (side.turns[start : start + most] for start in range(0, len(side.turns), most))
    return [Side(side.represented, turns, side.at) for turns in parts]


def _one_by_one(kind: Whole, therapists: Side, clients: Side) -> Floats:
    """Return the values of each therapist with each client, as `Whole.many` does."""
    others = clients.speakers()
    return np.array([[kind.values(one, other) for other in others] for one in therapists.speakers()], dtype=np.float64)


def whole_columns(kind: Whole) -> list[Column]:
    """Return the columns that `whole_values` fills."""
    figures = _figures(kind)
    return [one for of in kind.columns for one in (of, *figure_columns(of, figures))]


def _figures(kind: Whole) -> tuple[str, ...]:
    """Return which figures of chance stand beside each value."""
    shuffles, strangers = ("null", "z", "p"), ("strangers", "strangers_z", "strangers_p")
    return shuffles * bool(kind.shuffled) + strangers * kind.strangers


@functools.lru_cache(maxsize=64)
def _names(kind: Whole) -> list[str]:
    """Return the names of `whole_columns`."""
    ends = ["", *(f"_{one}" for one in _figures(kind))]
    return [column.name + end for column in kind.columns for end in ends]


def whole_values(kind: Whole, session: AnnotatedSession) -> dict[str, Value]:
    """Return what a measure finds in a session, by column."""
    found = whole_outcome(kind, session)
    beside = [figure(found.shuffled, found.strangers, one) for one in _figures(kind)]
    return dict(zip(_names(kind), np.stack([found.values, *beside], axis=1).ravel().tolist(), strict=True))
