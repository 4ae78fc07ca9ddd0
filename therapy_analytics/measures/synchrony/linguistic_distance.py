"""Linguistic coordination by word mover's distance (nCLiD): how near do replies stay to what was said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.errors import BadOptionError
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.embeddings import load_embeddings
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.null.shuffles import DRAWS, permutations
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.null.surrogates import Ints, spoken_turns
from therapy_analytics.measures.synchrony.tables import session_columns, session_values
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure
from therapy_analytics.session import CLIENT, OTHER, ROLES, THERAPIST

K = 3
"""So many of the other's next turns are looked at."""
_STEPS = 1 << 27
"""Parts of 1 in which distances between words are counted."""
_MOST_STEPS = 1_000_000
"""Of the solver."""


@dataclass(frozen=True, slots=True)
class Nclid:
    """Coordination of one person, the coordinator, with another, the anchor.

    Attributes
    ----------
    uclid : float
        Mean of `per_turn`: unnormalised distance.
    alpha_anchor, alpha_coord : float
        Mean distance between any two turns of the anchor, and of the coordinator.
    alpha_between : float
        Mean distance between a turn of the anchor and any later one of the coordinator.
    nclid : float
        ``uclid / (alpha_anchor + alpha_coord + alpha_between)``; high means less coordination.
    n_anchor : int
        Turns that `uclid` rests on.
    per_turn : float64 array (n_turns,)
        For each turn of the anchor, the distance to the nearest of the coordinator's next turns; nan for others.
    """

    uclid: float
    alpha_anchor: float
    alpha_coord: float
    alpha_between: float
    nclid: float
    n_anchor: int
    per_turn: Floats


def nclid(distances: Floats, roles: NDArray[np.integer], *, k: int = 3) -> dict[str, Nclid]:
    """Return nCLiD in both directions, under the role of the anchor.

    High means that the other's replies stay farther from what the anchor said, as measured against
    how far turns of this session are from each other anyway.

    Parameters
    ----------
    distances : float64 array (n_turns, n_turns)
        Symmetric; nan where a turn has no known word.
    roles : int array (n_turns,)
        Positions in `therapy_analytics.session.ROLES`; turns of others take no part.
    k : int
        How many of the coordinator's next turns are looked at.

    Returns
    -------
    dict of str to Nclid
        ``"therapist"``: does the client stay near the therapist; ``"client"``: the other way
        round. Values that rest on no pair are nan.

    Notes
    -----
    Not a quality score. Short turns lie far from everything, and in most sessions nCLiD is not
    below what shuffled turns give: `least_distances` takes shuffles.

    References
    ----------
    Nasir, M., Chakravarthula, S. N., Baucom, B., Atkins, D. C., Georgiou, P., & Narayanan, S. (2019).
    Modeling interpersonal linguistic coordination in conversations using word mover's distance.
    Interspeech.

    Examples
    --------
    Two turns each, in turn. The therapist's first is .2 from the nearest reply, the second .4: their
    mean is .3. Two turns of the therapist are .5 apart, of the client .6, and of a therapist's turn and
    a later one of the client's (.2 + .7 + .4) / 3; .3 / (.5 + .6 + .4333) = .1957.

    >>> apart = np.array([[0, 0.2, 0.5, 0.7], [0.2, 0, 0.3, 0.6], [0.5, 0.3, 0, 0.4], [0.7, 0.6, 0.4, 0]])
    >>> round(nclid(apart, np.array([THERAPIST, CLIENT, THERAPIST, CLIENT]))["therapist"].nclid, 4)
    0.1957
    """
    sides = {THERAPIST: CLIENT, CLIENT: THERAPIST}
    return {ROLES[anchor]: _one_way(distances, roles == anchor, roles == other, k) for anchor, other in sides.items()}


def following(anchor: NDArray[np.bool_], other: NDArray[np.bool_], *, k: int) -> tuple[Ints, Ints]:
    """Return the anchor's turns (a,), and for each the other's next `k` turns (a, k), -1 where there are fewer.

    Examples
    --------
    >>> turns, after = following(np.array([1, 0, 0, 1, 0], bool), np.array([0, 1, 1, 0, 1], bool), k=2)
    >>> turns.tolist(), after.tolist()
    ([0, 3], [[1, 2], [4, -1]])
    """
    turns, others = np.flatnonzero(anchor), np.flatnonzero(other)
    place = np.searchsorted(others, turns)[:, None] + np.arange(k)
    return turns, np.append(others, np.full(k, -1))[np.minimum(place, len(others))]


def least_distances(distances: Floats, turns: Ints, after: Ints) -> Floats:
    """Return the distance of each turn to the nearest of those after it, nan where none is known.

    Parameters
    ----------
    distances : float64 array (n_turns, n_turns)
        Nan where a turn has no known word.
    turns, after : int arrays (..., a) and (..., a, k)
        As from `following`, -1 for no turn; or many shuffles of them at once.

    Returns
    -------
    float64 array (..., a)

    Examples
    --------
    >>> least_distances(np.array([[0, 0.5, 0.2], [0.5, 0, 0.9], [0.2, 0.9, 0]]), np.array([0]), np.array([[1, 2, -1]]))
    array([0.2])
    """
    found = distances[turns[..., None], after]
    least = np.where((after < 0) | np.isnan(found), inf, found).min(axis=-1, initial=inf)
    return np.where(np.isinf(least), nan, least)


def _one_way(distances: Floats, anchor: NDArray[np.bool_], other: NDArray[np.bool_], k: int) -> Nclid:
    turns, after = following(anchor, other, k=k)
    per_turn = np.full(len(distances), nan)
    per_turn[turns] = least_distances(distances, turns, after)
    later = np.triu(np.ones(distances.shape, dtype=np.bool_), 1)
    uclid, n_anchor = _mean(per_turn)
    within, within_other, between = (
        _mean(distances[later & one[:, None] & two])[0]
        for one, two in ((anchor, anchor), (other, other), (anchor, other))
    )
    scale = within + within_other + between
    return Nclid(
        uclid=uclid,
        alpha_anchor=within,
        alpha_coord=within_other,
        alpha_between=between,
        nclid=uclid / scale if scale else nan,
        n_anchor=n_anchor,
        per_turn=per_turn,
    )


def _mean(values: Floats) -> tuple[float, int]:
    """Return the mean of the values that are known, nan if there is none, and their number."""
    known = values[~np.isnan(values)]
    return (float(known.mean()), len(known)) if len(known) else (nan, 0)


def word_movers(bags: Sequence[Ints], vectors: NDArray[np.floating]) -> Floats:
    """Return the word mover's distance between every two bags of words.

    The words of the one bag, in equal shares, are moved to those of the other so that the sum of share times distance
    is as small as it can be.

    Parameters
    ----------
    bags : sequence of int array
        The words of each turn, as rows of `vectors`; a word said twice stands twice.
    vectors : array (n_words, n_dimensions)
        Word vectors; they are brought to unit length.

    Returns
    -------
    float64 array (n_bags, n_bags)
        Symmetric, 0 to 2; 0 between bags of the same proportions, nan where a bag is empty.

    Raises
    ------
    BadOptionError
        The package POT, which solves the transport problems, is not installed.

    References
    ----------
    Kusner, M. J., Sun, Y., Kolkin, N. I., & Weinberger, K. Q. (2015). From word embeddings to document distances. ICML.

    Examples
    --------
    One word against two halves, at distance 0 and at a right angle (the square root of 2):

    >>> word_movers([np.array([0]), np.array([0, 1])], np.eye(2)).round(4)
    array([[0.    , 0.7071],
           [0.7071, 0.    ]])
    """
    transport, apart = load_transport(), _word_distances(np.asarray(vectors, dtype=np.float64))
    shares = [np.unique(bag, return_counts=True) for bag in bags]
    each = [(words, n / n.sum()) for words, n in shares]
    found = np.full((len(bags), len(bags)), nan)
    known: dict[tuple[bytes, ...], float] = {}
    for i, one in enumerate(each):
        for j, other in enumerate(each[: i + 1]):
            if len(one[0]) and len(other[0]):
                key = tuple(part.tobytes() for part in (*one, *other))
                if key not in known:
                    known[key] = _moved(transport, one, other, apart)
                found[i, j] = found[j, i] = known[key]
    return found


def _moved(transport: Any, one: tuple[Ints, Floats], other: tuple[Ints, Floats], apart: Floats) -> float:
    """Return the least cost of moving the shares of words of one bag to those of another."""
    (words, shares), (others, wanted) = one, other
    cost = np.ascontiguousarray(apart[np.ix_(words, others)])
    if len(words) == 1 or len(others) == 1:
        return float(shares @ cost @ wanted)  # there is but one way
    if np.array_equal(words, others) and np.array_equal(shares, wanted):
        return 0.0
    _, least, *_ = transport(shares, wanted, cost, _MOST_STEPS, 1)
    return float(least)


def load_transport() -> Any:
    """Return the solver of transport problems of the package POT.

    Raises
    ------
    BadOptionError
        It is not installed.
    """
    try:
        from ot.lp.emd_wrap import emd_c  # noqa: PLC0415 (slow to import, and may not be there)
    except ImportError:
        problem = "word mover's distances need the package POT, which is not installed"
        raise BadOptionError("nclid", problem, "Install it with: pip install 'therapy-analytics[nclid]'") from None
    return emd_c


def _word_distances(vectors: Floats) -> Floats:
    """Return the distances between vectors of length 1, counted in `_STEPS`, so that ties are ties on every machine."""
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    squares = (units**2).sum(axis=1)
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * units @ units.T, 0.0))
    np.fill_diagonal(apart, 0.0)
    return np.asarray(np.rint(apart * _STEPS) / _STEPS)


def word_distances(session: AnnotatedSession) -> Floats:
    """Return word mover's distances between turns, by the static embeddings of the package, (n_turns, n_turns)."""
    return session.cached(_of_turns)


def _of_turns(session: AnnotatedSession) -> Floats:
    tokens, offsets = session.turns.tokens, session.turns.offsets
    ids = tokens.ids[offsets[0] : offsets[-1]]
    types, place = np.unique(ids, return_inverse=True)
    vectors = load_embeddings().embed([tokens.lower[i] for i in types])
    known = tokens.verbal[types] & ~np.isnan(vectors).any(axis=1)
    bags = [part[known[part]] for part in np.split(place, offsets[1:-1] - offsets[0])] if len(session) else []
    return word_movers(bags, vectors)


def _roles(therapists: Side, clients: Side, n_turns: int) -> NDArray[np.int8]:
    roles = np.full(n_turns, OTHER, dtype=np.int8)
    roles[therapists.at], roles[clients.at] = THERAPIST, CLIENT
    return roles


def _values(distances: Floats, therapists: Side, clients: Side) -> Floats:
    """Return the values of the session, (1, 1, 5)."""
    found = nclid(distances, _roles(therapists, clients, len(distances)), k=K)
    # Who follows is the one who is not the anchor.
    by_therapist, by_client = found["client"], found["therapist"]
    both = (by_therapist.nclid + by_client.nclid) / 2
    distance = (by_therapist.uclid + by_client.uclid) / 2
    values = both, by_therapist.nclid, by_client.nclid, by_therapist.nclid - by_client.nclid, distance
    return np.array(values)[None, None]


def _shuffled(distances: Floats, therapists: Side, clients: Side, generator: np.random.Generator) -> Floats:
    """Return the values with each speaker's turns in another order, (n_draws, 5)."""
    n_turns, roles = len(distances), _roles(therapists, clients, len(distances))
    orders = np.tile(np.append(np.arange(n_turns), -1), (DRAWS, 1))  # the last is for no turn
    for side in (therapists, clients):
        orders[:, side.at] = permutations(side.at, generator)
    found, distance, normed = nclid(distances, roles, k=K), [], []
    for anchor, other in ((THERAPIST, CLIENT), (CLIENT, THERAPIST)):
        turns, after = following(roles == anchor, roles == other, k=K)
        each = least_distances(distances, np.broadcast_to(turns, (DRAWS, len(turns))), orders[:, after])
        known, one = ~np.isnan(each), found[ROLES[anchor]]
        distance.append(np.where(known, each, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))
        normed.append(distance[-1] / (one.alpha_anchor + one.alpha_coord + one.alpha_between))
    by_client, by_therapist = normed
    both = (by_client + by_therapist) / 2
    return np.stack([both, by_therapist, by_client, by_therapist - by_client, (distance[0] + distance[1]) / 2], axis=1)


_SOURCE = (
    "Nasir, M., Chakravarthula, S. N., Baucom, B., Atkins, D. C., Georgiou, P., & Narayanan, S. (2019). Modeling "
    "interpersonal linguistic coordination in conversations using word mover's distance. Interspeech"
)
_FORMULA = (
    f"mean over the turns of one of the word mover's distance to the nearest of the other's next {K} turns (uclid), "
    "over the sum of the mean distances among the one's turns, among the other's, and between turns of the one and "
    "later ones of the other"
)


def _column(name: str, meaning: str, **change: object) -> Column:
    fields: dict[str, object] = {
        "unit": "ratio",
        "low": 0.0,
        "high": inf,
        "high_means": "lower is more alike",
        "formula": _FORMULA,
        "misleads": "Not a quality score: short turns lie far from everything, and most sessions are not below chance",
        "source": _SOURCE,
        "evidence": "supported",
        **change,
    }
    return Column(name=name, meaning=meaning, **fields)  # type: ignore[arg-type]


NCLID = session_measure(
    SessionMeasure(
        name="nclid",
        columns=(
            _column("nclid", "Normalised conversational linguistic distance, mean of both directions"),
            _column("nclid_therapist", "How far the therapist's next turns are from each of the client's"),
            _column("nclid_client", "How far the client's next turns are from each of the therapist's"),
            _column(
                "nclid_difference",
                "How far the therapist's distance exceeds the client's",
                low=-inf,
                high_means="above 0: the client follows the therapist more",
                formula="nclid_therapist - nclid_client",
            ),
            _column(
                "uclid",
                "Conversational linguistic distance as it is, mean of both directions",
                high=2.0,
                unit="word mover's distance, of vectors of length 1",
            ),
        ),
        represent=word_distances,
        values=_values,
        shuffled=_shuffled,
        surrogates=False,
        two_sided=("nclid_difference",),
        closer="lower",
        extra="nclid",
    )
)


@measure(
    columns=[
        *session_columns(NCLID),
        _column(
            "uclid_turn",
            f"Distance of this turn to the nearest of the other's next {K} turns",
            high=2.0,
            unit="word mover's distance, of vectors of length 1",
            formula="word mover's distance (exact), by the static embeddings of the package",
            level="turn",
        ),
    ],
    extra="nclid",
)
def linguistic_distance(session: AnnotatedSession) -> dict[str, Value]:
    """Measure how near what is said next stays to what was said (nCLiD).

    Low means that the other's next turns mean much the same as a turn, against how far turns of
    this session are from each other anyway. See `nclid` for the formula as an example.

    Notes
    -----
    Each pair of turns of a session costs the solution of a transport problem, which takes the package POT. It is
    therefore computed where it is asked for.

    References
    ----------
    Nasir, M., Chakravarthula, S. N., Baucom, B., Atkins, D. C., Georgiou, P., & Narayanan, S. (2019).
    Modeling interpersonal linguistic coordination in conversations using word mover's distance.
    Interspeech.
    """
    each = np.full(len(session), nan)
    if all(map(len, spoken_turns(session))):
        distances = word_distances(session)
        roles = np.where(session.n_words > 0, session.turns.roles, OTHER)
        found = nclid(distances, roles, k=K)
        for role in (THERAPIST, CLIENT):
            own = roles == role
            each[own] = found[ROLES[role]].per_turn[own]
    return session_values(NCLID, session) | {"uclid_turn": each}
