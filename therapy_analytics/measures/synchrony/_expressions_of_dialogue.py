"""Expressions that two speakers share, and those that one repeats: the rules of the papers behind dialign."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.measures.synchrony._expressions import (
    Expressions,
    Ints,
    Lengths,
    TurnOrder,
    bare,
    find_expressions,
    free_repeats,
    lengths_of,
    order_turns,
    stretch,
)
from therapy_analytics.session import CLIENT, THERAPIST

Sides = tuple[float, float]
"""A value of the therapist and one of the client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedExpressions:
    """What two speakers share; undefined values are nan.

    A shared expression is a sequence of one or more tokens within a turn that both speakers use, and that stands free
    (not inside a longer sequence that both use) at least once. It is established in the turn by which both have used
    it and it has stood free. Names in brackets are those of the papers, see `expressions_of_dialogue`.

    Attributes
    ----------
    n_tokens, n_expressions : int
        Tokens of the two, and different shared expressions.
    variety : float
        Expressions per token, 0 to 1 (EV).
    repetition : float
        Share of tokens in established expressions: free occurrences from the turn on that establishes them (ER).
    establishment : float
        Share of tokens in free occurrences in the very turn that establishes the expression (EE).
    entropy, mean_length, max_length : float
        Of the lengths in tokens of instances, an instance being an expression that stands free in a turn: Shannon
        entropy in bits (ENTR), mean (L), maximum (LMAX).
    initiated : tuple of float
        Share of the expressions that the therapist, and that the client used first (IE_S); together 1.
    repetition_by : tuple of float
        Share of the therapist's, and of the client's tokens that `repetition` counts (ER_S).
    per_turn : float array (n_turns,)
        The same share for each turn; nan for turns of others and turns without tokens.
    """

    n_tokens: int
    n_expressions: int
    variety: float
    repetition: float
    establishment: float
    entropy: float
    mean_length: float
    max_length: float
    initiated: Sides
    repetition_by: Sides
    per_turn: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfExpressions:
    """What one speaker repeats of their own; undefined values are nan.

    A self expression is a sequence of tokens that stands in two turns of the speaker or more, and free at least once.

    Attributes
    ----------
    n_tokens, n_expressions : int
        Tokens of the speaker, and different self expressions.
    variety : float
        Expressions per token of the speaker (SEV_S).
    repetition : float
        Share of the speaker's tokens in free occurrences, the first use among them (SER_S).
    entropy, mean_length, max_length : float
        Of the lengths of instances, as in `SharedExpressions` (SENTR_S, SL_S, SLMAX_S).
    """

    n_tokens: int
    n_expressions: int
    variety: float
    repetition: float
    entropy: float
    mean_length: float
    max_length: float


def expressions_of_dialogue(
    ids: NDArray[np.integer], offsets: Ints, roles: NDArray[np.integer], *, words: NDArray[np.bool_] | None = None
) -> SharedExpressions:
    """Measure the expressions that therapist and client share.

    Parameters
    ----------
    ids : int array (n_tokens,)
        Token ids, not negative.
    offsets : int64 array (n_turns + 1,)
        Turn ``i`` owns tokens ``offsets[i]:offsets[i + 1]``.
    roles : int array (n_turns,)
        0 therapist, 1 client; turns of others are passed over.
    words : bool array (n_tokens,), optional
        Which tokens hold a letter; sequences without any (punctuation, numbers) are no expressions, though they stand
        inside of some. All tokens by default.

    Returns
    -------
    SharedExpressions
        All nan where one of the two says nothing.

    Examples
    --------
    The therapist says "a b c", the client "a b d". Shared is "a b", free in both turns ("a" and "b" are always inside
    it). It is established in the client's turn, where it makes 2 of 3 tokens.

    >>> found = expressions_of_dialogue(np.array([0, 1, 2, 0, 1, 3]), np.array([0, 3, 6]), np.array([0, 1]))
    >>> found.n_expressions, found.mean_length, found.initiated
    (1, 2.0, (1.0, 0.0))
    >>> found.per_turn.round(3).tolist()
    [0.0, 0.667]

    Notes
    -----
    Values grow with the length of the dialogue and with turns of one common word; read them beside those of a
    surrogate dialogue (`paired_expressions`). The program of the papers' author (pydialign 0.1.0) gives the same
    values. So does not dialign_python, see `_expressions_by_turn_pairs`.

    References
    ----------
    Dubuisson Duplessis, G., Clavel, C., & Landragin, F. (2017). Automatic measures to characterise verbal alignment
    in human-agent interaction. SIGDIAL, 71-81.
    Dubuisson Duplessis, G., Langlet, C., Clavel, C., & Landragin, F. (2021). Towards alignment strategies in
    human-agent interactions based on measures of lexical repetitions. Language Resources and Evaluation, 55, 353-388.
    Asano, Y., et al. (2022). Comparison of lexical alignment with a teachable robot in human-robot and
    human-human-robot interactions. SIGDIAL, 615-622 (establishment).
    """
    return expressions_between(order_turns(ids, offsets, words), np.arange(len(offsets) - 1), roles)


def expressions_between(order: TurnOrder, turns: Ints, roles: NDArray[np.integer]) -> SharedExpressions:
    """Measure the shared expressions of a dialogue made of chosen turns.

    Parameters
    ----------
    order : TurnOrder
        Of one session or of many, by `order_turns`; made once, it serves all dialogues of its turns.
    turns : int64 array (n,)
        The turns of the dialogue, as places in `order`, in the order in which they are said. One may come twice, as
        strangers' turns do, but not with both roles.
    roles : int array (n,)
        Their roles, 0 therapist, 1 client; others are passed over.
    """
    return expressions_of_each(order, turns, roles, np.zeros(len(turns), dtype=np.int64), 1)[0]


def expressions_of_each(
    order: TurnOrder, turns: Ints, roles: NDArray[np.integer], dialogues: Ints, n: int
) -> list[SharedExpressions]:
    """Return `expressions_between` of n dialogues; the dialogue of each turn is given too, and never falls."""
    kept = np.flatnonzero((roles == THERAPIST) | (roles == CLIENT))
    talk = stretch(order, turns[kept], dialogues[kept])
    sides = roles[kept].astype(np.int64)[talk.turn]
    found = find_expressions(order, talk, groups=sides, sides=sides)
    established = found.established[found.entry]
    covered = found.covered(found.turn >= established, len(sides))
    new = found.covered(found.turn == established, len(sides))
    begun = found.first_use[THERAPIST] < found.first_use[CLIENT]
    of_each = [
        *(dialogues[kept][found.first_free[some]] for some in (slice(None), begun)),
        *(talk.dialogue[(sides == role) & some] for some in (True, covered) for role in (THERAPIST, CLIENT)),
        talk.dialogue[new],
    ]
    counts = np.stack([np.bincount(one, minlength=n) for one in of_each], axis=1)
    per_turn = np.split(_per_turn(covered, talk.turn, kept, len(turns)), np.searchsorted(dialogues, np.arange(1, n)))
    about = zip(counts.tolist(), _lengths_of_each(found, dialogues[kept], n), per_turn, strict=True)
    return [_shared(*one) for one in about]


def _lengths_of_each(found: Expressions, dialogues: Ints, n: int) -> list[Lengths]:
    """Return the entropy in bits, mean and maximum of the lengths of each dialogue's instances."""
    turn, sizes = found.instances()
    return [lengths_of(one) for one in np.split(sizes, np.searchsorted(dialogues[turn], np.arange(1, n)))]


def _per_turn(covered: NDArray[np.bool_], turn: Ints, kept: Ints, n_turns: int) -> NDArray[np.float64]:
    """Return the share of covered tokens in each turn; nan for turns that were not kept, and those without tokens."""
    total, hits = np.bincount(turn, minlength=len(kept)), np.bincount(turn[covered], minlength=len(kept))
    shares = np.full(n_turns, nan)
    shares[kept] = np.divide(hits, total, out=np.full(len(kept), nan), where=total > 0)
    return shares


def _shared(counts: list[int], lengths: Lengths, per_turn: NDArray[np.float64]) -> SharedExpressions:
    """Return what is said of a dialogue, of which this is counted.

    Its expressions and those that the therapist began, the tokens of each of the two, those of each in established
    expressions, and those in the turns that establish them.
    """
    n, begun, of_therapist, of_client, hits, other_hits, new = counts
    n_tokens = of_therapist + of_client
    spoken = of_therapist > 0 and of_client > 0
    entropy, mean, longest = lengths
    return SharedExpressions(
        n_tokens=n_tokens,
        n_expressions=n,
        variety=n / n_tokens if spoken else nan,
        repetition=(hits + other_hits) / n_tokens if spoken else nan,
        establishment=new / n_tokens if spoken else nan,
        entropy=entropy,
        mean_length=mean,
        max_length=longest,
        initiated=(begun / n, (n - begun) / n) if n else (nan, nan),
        repetition_by=(hits / of_therapist, other_hits / of_client) if spoken else (nan, nan),
        per_turn=per_turn if spoken else np.full(len(per_turn), nan),
    )


def paired_expressions(
    order: TurnOrder, roles: NDArray[np.integer], *, therapist_of: Ints, client_of: Ints
) -> SharedExpressions:
    """Measure the surrogate dialogue of one session's therapist with another session's client.

    The client turns of the one session are replaced, in order, by those of the other, and the dialogue ends where
    these run out. A surrogate that was cut is to be compared with as many turns of the session itself:
    ``expressions_between(order, therapist_of[:n], roles[therapist_of[:n]])`` with ``n = len(paired.per_turn)``.

    Parameters
    ----------
    order : TurnOrder
        Turns of both sessions.
    roles : int array (n_turns,)
        Roles of all turns of `order`.
    therapist_of, client_of : int64 arrays
        Turns of the two sessions, as places in `order`.

    Examples
    --------
    Session 1 is T "a b", C "c", T "d"; session 2 is T "e", C "b". T "a b", C "b", T "d" share "b".

    >>> order = order_turns(np.array([0, 1, 2, 3, 4, 1]), np.array([0, 2, 3, 4, 5, 6]))
    >>> paired_expressions(
    ...     order, np.array([0, 1, 0, 0, 1]), therapist_of=np.arange(3), client_of=np.arange(3, 5)
    ... ).per_turn.tolist()
    [0.0, 1.0, 0.0]
    """
    turns = np.array(therapist_of, dtype=np.int64)
    places = np.flatnonzero(roles[turns] == CLIENT)
    stand_ins = client_of[roles[client_of] == CLIENT][: len(places)]
    if len(stand_ins) < len(places):
        turns = turns[: places[len(stand_ins)]]
    turns[places[: len(stand_ins)]] = stand_ins
    return expressions_between(order, turns, roles[turns])


def self_expressions(
    ids: NDArray[np.integer],
    offsets: Ints,
    roles: NDArray[np.integer],
    *,
    role: int,
    words: NDArray[np.bool_] | None = None,
) -> SelfExpressions:
    """Measure what one of the two repeats of their own, whatever the other says.

    Parameters
    ----------
    ids, offsets, roles, words
        As in `expressions_of_dialogue`.
    role : int
        0 therapist, 1 client.

    Examples
    --------
    Turns "a b", "a b c", "d" have 6 tokens; "a b" comes again, 4 tokens of 6.

    >>> own = self_expressions(np.array([0, 1, 0, 1, 2, 3]), np.array([0, 2, 5, 6]), np.zeros(3, dtype=int), role=0)
    >>> own.n_expressions, round(own.variety, 3), round(own.repetition, 3)
    (1, 0.167, 0.667)
    """
    return expressions_of_one(order_turns(ids, offsets, words), np.flatnonzero(roles == role))


def expressions_of_one(order: TurnOrder, turns: Ints) -> SelfExpressions:
    """Measure what comes again in turns of one speaker, given as places in an order."""
    talk = stretch(order, turns)
    n = len(talk.tokens)
    found = find_expressions(order, talk, groups=talk.turn, sides=np.zeros(n, dtype=np.int64))
    entropy, mean, longest = lengths_of(found.instances()[1])
    return SelfExpressions(
        n_tokens=n,
        n_expressions=len(found.sizes),
        variety=len(found.sizes) / n if n else nan,
        repetition=float(found.covered(found.entry >= 0, n).mean()) if n else nan,
        entropy=entropy,
        mean_length=mean,
        max_length=longest,
    )


def repetition_of_each(order: TurnOrder, turns: Ints, speakers: Ints, n: int) -> NDArray[np.float64]:
    """Return the repetition of `expressions_of_one`, of n speakers; nan for those who say nothing.

    The speaker of each turn, from 0, is given too, and never falls.
    """
    talk = stretch(order, turns, speakers)
    start, length = free_repeats(order, talk, groups=talk.turn)
    hits = np.bincount(talk.dialogue[start], bare(start, length), minlength=n)
    total = np.bincount(talk.dialogue, minlength=n)
    return np.asarray(np.divide(hits, total, out=np.full(n, nan), where=total > 0))
