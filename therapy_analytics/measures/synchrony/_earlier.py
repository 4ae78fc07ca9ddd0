"""Meanings, and those of what was said earlier: how near turns are to it, and how far they move on from it.

Computed for all sessions of a batch at once: running sums are of whole numbers (see `_meanings`), so that what earlier
sessions of the batch had added is taken off again without a trace.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import pairwise
from math import nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures.synchrony._chance import FEWEST_PAIRS, Bools, Floats, Ints
from therapy_analytics.measures.synchrony._meanings import STEPS, Meanings, dots, meanings
from therapy_analytics.measures.synchrony._pairwise import divided
from therapy_analytics.session import CLIENT, THERAPIST


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """What certain turns that come before each turn of a session add up to.

    Attributes
    ----------
    vectors : float64 array (n, n_dimensions)
        The sum of their meanings, which points where their mean does.
    n : int64 array (n,)
        How many of them have a meaning.
    """

    vectors: Floats
    n: Ints

    def __add__(self, other: Earlier) -> Earlier:
        return Earlier(self.vectors + other.vectors, self.n + other.n)

    def __getitem__(self, which: Ints | Bools) -> Earlier:
        return Earlier(self.vectors[which], self.n[which])


def earlier(turns: Meanings, of: Bools, begins: Ints) -> Earlier:
    """Return what the earlier ones of certain turns add up to.

    Parameters
    ----------
    turns : Meanings
        Of some sessions, in order.
    of : bool array (n,)
        The turns that count.
    begins : int64 array (n,)
        The first turn of each turn's session.

    Examples
    --------
    >>> said = Meanings.units(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    >>> found = earlier(said, np.array([True, True, False]), np.zeros(3, dtype=np.int64))
    >>> (found.vectors / STEPS).tolist(), found.n.tolist()
    ([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 2])
    """
    counted = (of & (turns.squares > 0)).nonzero()[0]
    n_before = np.searchsorted(counted, np.arange(len(of)))
    before_session = n_before[begins]
    sums = _sums_so_far(turns.vectors[counted])
    vectors = sums.take(n_before, axis=0)
    vectors -= sums.take(before_session, axis=0)
    return Earlier(vectors, n_before - before_session)


def _sums_so_far(vectors: Floats) -> Floats:
    """Return the sums of the first 0, 1, ... of some vectors, (n, ...) to (n + 1, ...)."""
    sums = np.empty((len(vectors) + 1, *vectors.shape[1:]))
    sums[0] = 0.0
    for i, vector in enumerate(vectors):  # numpy's cumsum goes down one dimension after the other, and takes far longer
        np.add(sums[i], vector, out=sums[i + 1])
    return sums


def forward_flow(turns: Meanings, before: Earlier) -> Floats:
    """Return how far each turn lies from all before it, on average.

    Parameters
    ----------
    turns : Meanings
        In order.
    before : Earlier
        Those before each.

    Returns
    -------
    float64 array (n,)
        Mean of 1 - cosine, 0 to 2; nan for the first and for those without meaning, which also count for nothing
        in those after them.

    Examples
    --------
    The second is as the first (0); the third at a right angle to both (1); the fourth as the third (1, 1, 0).

    >>> said = Meanings.units(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    >>> before = earlier(said, np.ones(4, dtype=np.bool_), np.zeros(4, dtype=np.int64))
    >>> forward_flow(said, before).round(3).tolist()
    [nan, 0.0, 1.0, 0.667]
    """
    near = dots(turns.vectors, before.vectors) / (STEPS**2 * np.maximum(before.n, 1))
    return np.where((turns.squares > 0) & (before.n > 0), np.clip(1.0 - near, 0.0, 2.0), nan)


@dataclass(frozen=True, slots=True, eq=False)
class Talk:
    """The turns of a session, and how they go with what was said earlier.

    Attributes
    ----------
    said, heard : Meanings
        Of each turn, and of all earlier turns of the other together.
    context : float64 array (n_turns,)
        Cosine of the two; nan where either has no meaning.
    flow : float64 array (n_turns,)
        `forward_flow` of the speaker's turns; nan for the turns of others than the two.
    flows : float64 array (3, 3)
        `flows_by_chance` of the therapist's turns, of the client's, and of those of both.
    """

    said: Meanings
    heard: Meanings
    context: Floats
    flow: Floats
    flows: Floats


def talk(session: AnnotatedSession) -> Talk:
    """Return a session's turns beside what was said earlier."""
    return session.by_session(_talks)


def _talks(session: AnnotatedSession) -> list[Talk]:
    said, bounds = meanings(session), session.bounds
    begins = np.repeat(bounds[:-1], np.diff(bounds))
    of = [session.turns.roles == role for role in (THERAPIST, CLIENT)]
    before = [earlier(said, one, begins) for one in of]
    sums, flow = np.zeros_like(said.vectors), np.full(len(said), nan)
    for mine, own, others in zip(of, before, before[::-1], strict=True):
        flow[mine] = forward_flow(said[mine], own[mine])
        sums[mine] = others.vectors[mine]
    heard = Meanings.of(sums)
    context = divided(dots(said.vectors, sums), said.squares * heard.squares)
    of_both = forward_flow(said, before[0] + before[1])
    asked = ((of[0], flow), (of[1], flow), (of[0] | of[1], of_both))
    flows = np.stack([_flows(said, counted, each, bounds) for counted, each in asked], axis=1)
    parts = [slice(*edges) for edges in pairwise(bounds.tolist())]
    return [Talk(said[at], heard[at], context[at], flow[at], own) for at, own in zip(parts, flows, strict=True)]


def _flows(said: Meanings, of: Bools, flow: Floats, bounds: Ints) -> Floats:
    """Return `flows_by_chance` of certain turns of each session, (n_sessions, 3): of all that have as many at once."""
    counted = (of & (said.squares > 0)).nonzero()[0]
    edges = np.searchsorted(counted, bounds)
    sizes = np.diff(edges)
    found = np.full((len(sizes), 3), nan)
    for n in np.unique(sizes[sizes > 1]).tolist():
        which = (sizes == n).nonzero()[0]
        turns = counted[edges[which, None] + np.arange(n)]
        found[which] = flows_by_chance(said[turns], flow[turns])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Speakers:
    """Several speakers, any of whom may speak the turns of one role.

    Attributes
    ----------
    said : Meanings
        Of turns.
    turns : int64 array (n_speakers, n)
        The turns of each among those.
    at : int64 array (n,)
        The places in the session where these stand, in order.
    """

    said: Meanings
    turns: Ints
    at: Ints


def contexts_of_each(therapists: Speakers, clients: Speakers) -> tuple[Floats, Floats]:
    """Return the cosines of turns with what the other said earlier, for each therapist with each client.

    Returns
    -------
    float64 array (n_therapist_turns, n_therapists, n_clients), and the same of the clients' turns
        Of each turn with the mean of the other's earlier turns; nan where either has no meaning.
    """
    sides = therapists, clients
    totals = [np.zeros((len(side.turns), side.said.vectors.shape[1])) for side in sides]
    found: tuple[list[Floats], list[Floats]] = ([], [])
    places = np.concatenate([side.at for side in sides])
    for which in np.argsort(places).tolist():
        role = int(which >= len(therapists.at))
        turns = sides[role].turns[:, which - role * len(therapists.at)]
        vectors, heard = sides[role].said.vectors[turns], totals[1 - role]
        squares = sides[role].said.squares[turns][:, None] * dots(heard, heard)
        cosine = divided(vectors @ heard.T, squares)
        found[role].append(cosine if role == THERAPIST else cosine.T)
        totals[role] += vectors
    return np.stack(found[THERAPIST]), np.stack(found[CLIENT])


def flows_by_chance(turns: Meanings, flow: Floats) -> Floats:
    """Return the mean forward flow of turns, what it is by chance, and how many standard deviations lie between them.

    Parameters
    ----------
    turns : Meanings
        Those of sessions with as many turns each, in order, (n_sessions, n); all have a meaning.
    flow : float64 array (n_sessions, n)
        Their `forward_flow`.

    Returns
    -------
    float64 array (n_sessions, 3)
        The distance is nan where there is no spread, and that and chance under `FEWEST_PAIRS` turns.
    """
    found = np.full((len(flow), 3), nan)
    found[:, 0] = flow[:, 1:].sum(axis=1) / (flow.shape[1] - 1)
    found[:, 1], sd = flow_by_chance(turns)
    # Under the steps of the vectors there is no spread
    np.divide(found[:, 0] - found[:, 1], sd, out=found[:, 2], where=sd > 1e-6)
    return found


def flow_by_chance(turns: Meanings) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the mean `forward_flow` over all orders of the turns; exact, not drawn.

    Parameters
    ----------
    turns : Meanings
        Turns with a meaning, (..., n); the results are (...).

    Notes
    -----
    The mean forward flow is the sum of all distances, each weighed by the later of its two places. Sums of that form
    over all n! orders have known moments, for which the sum, the squares and the row sums of the distances are enough.

    References
    ----------
    Mantel, N. (1967). The detection of disease clustering and a generalized regression approach. Cancer Research, 27.
    """
    *shape, n, n_dimensions = turns.vectors.shape
    if n < FEWEST_PAIRS:
        none = np.full(shape, nan)
        return none, none
    vectors, own = turns.vectors, turns.squares / STEPS**2
    turned = np.swapaxes(vectors, -1, -2)
    small = (turned @ vectors if n > n_dimensions else vectors @ turned) / STEPS**2
    small *= small
    rows = (n - 1.0) - (dots(vectors, vectors.sum(axis=-2, keepdims=True)) / STEPS**2 - own)
    total = rows.sum(axis=-1)
    average = total / (n * (n - 1))
    # Distances less their average, so that little is lost when large sums are taken from one another
    off = small.reshape(*shape, -1).sum(axis=-1) - dots(own, own)
    squares = off - 2 * (1 - average) * (n * (n - 1) - total) + n * (n - 1) * (1 - average) ** 2
    variance = _variance(rows - (n - 1) * average[..., None], np.maximum(squares, 0.0))
    return average, np.sqrt(np.maximum(variance, 0.0))


def _variance(rows: Floats, squares: Floats) -> Floats:
    """Return the variance over orders, from the row sums and the sum of squares of distances whose mean is 0."""
    n = rows.shape[-1]
    row_squares, square = _weights(n)
    own = (rows * rows).sum(axis=-1)
    pairs, triples = n * (n - 1), n * (n - 1) * (n - 2)
    return np.asarray(
        2 * square * squares / pairs
        + 4 * (row_squares - square) * (own - squares) / triples
        + (1.0 + 2 * square - 4 * row_squares) * (2 * squares - 4 * own) / (triples * (n - 3))
    )


@functools.lru_cache(maxsize=512)
def _weights(n: int) -> tuple[float, float]:
    """Return the sums of squares of the weights of distances, which add up to 1: of those of a place, and of each."""
    places = np.arange(1, n)
    later = np.append(np.cumsum((1.0 / places)[::-1])[::-1], 0.0)
    weights = (np.arange(n) > 0) + later
    scale = 2.0 * (n - 1)
    return float((weights**2).sum()) / scale**2, 2.0 * float((1.0 / places).sum()) / scale**2
