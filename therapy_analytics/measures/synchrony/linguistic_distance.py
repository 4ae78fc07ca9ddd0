"""Linguistic coordination by word mover's distance (nCLiD): how near do replies stay to what was said."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes import Code
from therapy_analytics.core.errors import BadOptionError, how_to_install
from therapy_analytics.measures import Column, columns_of, measure
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.null.summary import permutations
from therapy_analytics.measures.rates import mean_column
from therapy_analytics.measures.synchrony.tables import session_columns, session_values
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure, speakers_in
from therapy_analytics.measures.turns import Floats, Ints
from therapy_analytics.text import AnnotatedSession, Lexicon
from therapy_analytics.text.embeddings import load_embeddings

K = 3
"""So many of the other's next turns are looked at."""
_STEPS = 1 << 27
"""Parts of 1 in which distances between words are counted."""
_MOST_STEPS = 1_000_000
"""Of the solver."""


def nearest_next(apart: Floats, at: Ints, others_at: Ints, *, k: int = K) -> Floats:
    """Return the distance of each turn to the nearest of the other's next `k` turns.

    Parameters
    ----------
    apart : float64 array (n_turns, n_others)
        Distance of each turn of the one to each of the other's; nan where one has no known word.
    at, others_at : int64 array (n_turns,) and (n_others,)
        Where in the session the turns stand, in order.
    k : int
        How many of the other's next turns are looked at.

    Returns
    -------
    float64 array (n_turns,)
        Nan where no distance is known.

    Examples
    --------
    The one's turns stand at 0 and 3, the other's at 1, 2 and 4: next after 0 are 1 and 2, after 3 is 4.

    >>> apart = np.array([[0.5, 0.2, 0.1], [0.3, 0.3, 0.4]])
    >>> nearest_next(apart, np.array([0, 3]), np.array([1, 2, 4]), k=2).tolist()
    [0.2, 0.4]
    """
    following = np.searchsorted(others_at, at)[:, None] + np.arange(k)
    padded = np.pad(apart, ((0, 0), (0, k)), constant_values=nan)
    return np.asarray(np.fmin.reduce(np.take_along_axis(padded, following, axis=1), axis=1))


def uclid(anchor: Side, other: Side, order: Ints | None = None) -> float:
    """Return the mean distance of the anchor's turns to the nearest of the other's next turns.

    Parameters
    ----------
    anchor, other : Side
        Of `word_distances`; `Side.rows` are the distances of each of its turns to all turns of the session.
    order : int64 array (n_others,), optional
        The turns of the other in another order, as places in the session.
    """
    apart = anchor.rows[:, other.at if order is None else order]
    return mean_column(nearest_next(apart, anchor.at, other.at))


def scale(anchor: Side, other: Side) -> float:
    """Return how far turns lie from each other: among the anchor's, among the other's, and to the other's later ones.

    The sum of three mean distances.
    """
    within = [mean_column(side.rows[:, side.at][np.less.outer(side.at, side.at)]) for side in (anchor, other)]
    return sum(within) + mean_column(anchor.rows[:, other.at][np.less.outer(anchor.at, other.at)])


def nclid(therapist: Side, client: Side) -> Floats:
    """Return nCLiD of both directions: mean, therapist, client, difference; and the mean of uclid.

    High means that replies stay farther from what the other said, as measured against how far turns of this session
    are from each other anyway. Who replies gives the name; the other is the anchor.

    Parameters
    ----------
    therapist, client : Side
        Of `word_distances`.

    Returns
    -------
    float64 array (5,)
        Nan where a value rests on no pair of turns.

    Notes
    -----
    Not a quality score. Short turns lie far from everything, and in most sessions nCLiD is not below what shuffled
    turns give.

    Examples
    --------
    Two turns each, in turn. The therapist's first is .2 from the nearest reply, the second .4: their
    mean is .3. Two turns of the therapist are .5 apart, of the client .6, and of a therapist's turn and
    a later one of the client's (.2 + .7 + .4) / 3; .3 / (.5 + .6 + .4333) = .1957.

    >>> apart = np.array([[0, 0.2, 0.5, 0.7], [0.2, 0, 0.3, 0.6], [0.5, 0.3, 0, 0.4], [0.7, 0.6, 0.4, 0]])
    >>> therapist, client = (Side(i, apart[i::2], np.arange(i, 4, 2), np.arange(1 - i, 4, 2)) for i in (0, 1))
    >>> float(nclid(therapist, client)[2].round(4))
    0.1957
    """
    scales = scale(client, therapist), scale(therapist, client)
    return _values(uclid(client, therapist), uclid(therapist, client), scales)


def _values(of_therapist: float, of_client: float, scales: tuple[float, float]) -> Floats:
    """Return the values from the uclid of the therapist's replies and of the client's, and their scales, (5,)."""
    one, other = of_therapist / (scales[0] or nan), of_client / (scales[1] or nan)
    return np.array([(one + other) / 2, one, other, one - other, (of_therapist + of_client) / 2])


def _shuffled(therapist: Side, client: Side, generator: np.random.Generator) -> Floats:
    """Return the values with the replies of each in another order, (n_draws, 5); the scales stay."""
    scales = scale(client, therapist), scale(therapist, client)
    orders = [permutations(side.at, generator) for side in (therapist, client)]
    return np.array(
        [
            _values(uclid(client, therapist, replies), uclid(therapist, client, answers), scales)
            for replies, answers in zip(*orders, strict=True)
        ]
    )


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
    shares = [(words, n / n.sum()) for words, n in (np.unique(bag, return_counts=True) for bag in bags)]
    found = np.full((len(bags), len(bags)), nan)
    known: dict[tuple[bytes, ...], float] = {}
    for i, one in enumerate(shares):
        for j, other in enumerate(shares[: i + 1]):
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
        raise BadOptionError("nclid", problem, f"Install it with: {how_to_install('POT')}") from None
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


NCLID = session_measure(
    SessionMeasure(
        name="nclid",
        values=("nclid", "nclid_therapist", "nclid_client", "nclid_difference", "uclid"),
        represent=word_distances,
        score=nclid,
        shuffled=_shuffled,
        surrogates=False,
        two_sided=("nclid_difference",),
        closer="lower",
        extra="nclid",
    )
)


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    return [*session_columns(NCLID, columns_of(__file__, "shared", K=K)), *columns_of(__file__, "alone", K=K)]


@measure(columns=_columns, extra="nclid")
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
    therapist, client = (one for (one,) in speakers_in(NCLID, session, surrogates=False))
    for anchor, other in ((therapist, client), (client, therapist)):
        each[anchor.at] = nearest_next(anchor.rows[:, other.at], anchor.at, other.at)
    return session_values(NCLID, session) | {"uclid_turn": each}
