"""The course of meaning over a session: nearness to all that was said so far, forward flow, return to earlier talk."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.meanings import STEPS
from therapy_analytics.measures import Column, OnPage, mean_column, measure
from therapy_analytics.measures._base import Direction, Statistic, Value, wide_name
from therapy_analytics.measures.null.shuffles import DRAWS, FEWEST_PAIRS, permutations
from therapy_analytics.measures.null.summary import Floats, beside_shuffles
from therapy_analytics.measures.null.surrogates import Ints, spoken_turns
from therapy_analytics.measures.synchrony.adjacent_turns import mean_of_defined
from therapy_analytics.measures.synchrony.semantic_similarity import VECTORS, cosines, vectors_of
from therapy_analytics.measures.synchrony.tables import null_columns, session_columns, session_values
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure, speakers_in
from therapy_analytics.session import CLIENT, THERAPIST

BLOCK = 10
"""Turns of a block, the unit in which talk leaves a topic and returns to it."""
FEWEST_BLOCKS, MOST_BLOCKS = FEWEST_PAIRS + 2, 200
"""From so many on there are shuffles; longer sessions have so many, which are longer."""
_GRAY = (
    "Gray, K., Anderson, S., Chen, E. E., Kelly, J. M., Christian, M. S., Patrick, J., ... & Lewis, K. (2019). Forward "
    "flow: A new measure to quantify free thought and predict creativity. American Psychologist 74; here over turns"
)
_ANGUS = (
    "This package's own, after the long-range recurrence of Angus, D., Smith, A., & Wiles, J. (2012). Human "
    "communication as coupled time series. IEEE Transactions on Audio, Speech, and Language Processing 20"
)


# ---- forward flow: how far thoughts move on


def forward_flow(alike: Floats) -> Floats:
    """Return how far each turn lies from all before it, on average.

    Parameters
    ----------
    alike : float64 array (n, n)
        Cosines of turns, in order.

    Returns
    -------
    float64 array (n,)
        Mean of 1 - cosine, 0 to 2; nan for the first.

    Examples
    --------
    The second is as the first (0); the third at a right angle to both (1); the fourth as the third (1, 1, 0).

    >>> turns = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> forward_flow(turns @ turns.T).round(3).tolist()
    [nan, 0.0, 1.0, 0.667]
    """
    n_before = np.arange(len(alike))
    near = np.tril(alike, -1).sum(axis=1) / np.maximum(n_before, 1)
    return np.where(n_before > 0, np.clip(1.0 - near, 0.0, 2.0), nan)


def flow_in_orders(alike: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of the mean `forward_flow` over all orders of the turns; exact, not drawn.

    Parameters
    ----------
    alike : float64 array (n, n)
        Cosines of turns, which all have a meaning.

    Notes
    -----
    The mean forward flow is the sum of all distances, each weighed by the later of its two places. Sums of that form
    over all n! orders have known moments, for which the sum, the squares and the row sums of the distances are enough.

    References
    ----------
    Mantel, N. (1967). The detection of disease clustering and a generalized regression approach. Cancer Research, 27.
    """
    n = len(alike)
    if n < FEWEST_PAIRS:
        return nan, nan
    distances = np.where(np.eye(n, dtype=np.bool_), 0.0, 1.0 - alike)
    average = float(distances.sum()) / (n * (n - 1))
    distances = np.where(np.eye(n, dtype=np.bool_), 0.0, distances - average)
    squares, rows = (distances**2).sum(), (distances.sum(axis=1) ** 2).sum()
    # The weight of a distance by its later place k = 1, 2, ... is 1 / k; scaled so that all weights add up to 1.
    places = np.arange(1, n)
    later = np.append(np.cumsum((1.0 / places)[::-1])[::-1], 0.0)
    scale = 2.0 * (n - 1)
    row_weights = (((np.arange(n) > 0) + later) ** 2).sum() / scale**2
    weights = 2.0 * (1.0 / places).sum() / scale**2
    pairs, triples = n * (n - 1), n * (n - 1) * (n - 2)
    variance = (
        2 * weights * squares / pairs
        + 4 * (row_weights - weights) * (rows - squares) / triples
        + (1.0 + 2 * weights - 4 * row_weights) * (2 * squares - 4 * rows) / (triples * (n - 3))
    )
    return average, float(np.sqrt(max(variance, 0.0)))


def flow_columns(name: str, whose: str) -> list[Column]:
    """Return the columns of a forward flow: its value, and its mean and distance over all orders of the turns."""
    value = Column(
        name=name,
        meaning=f"Forward flow: how far {whose} lie in meaning from all before them",
        unit="semantic distance",
        low=0,
        high=2,
        high_means="higher: talk ranges more widely and moves on from what was said",
        formula="1 - cosine of a turn's vector with those of earlier turns, mean over these, then over turns",
        misleads="Made for chains of single thoughts: short turns are far from one another, and lift it. Not a quality "
        f"score. {VECTORS}. _z says whether the order matters: below 0, talk moves step by step, so that turns are "
        "near to what was just said",
        source=_GRAY,
    )
    orders = "all orders of the turns (exact, after Mantel, 1967)"
    return [value, *null_columns(value, ("null_mean", "z"), shuffles=orders)]


FLOWS = {
    "therapist_forward_flow": "the therapist's turns",
    "client_forward_flow": "the client's turns",
    "session_forward_flow": "turns (of both, from those of both)",
}
_OF_BOTH = "session_forward_flow"
FLOW_TURN = replace(
    flow_columns("forward_flow_turn", "this speaker's words")[0],
    meaning="How far the turn lies in meaning from all earlier turns of its speaker",
    formula="1 - cosine of the turn's vector with those of its speaker's earlier turns, mean over these",
    level="turn",
)


def flow_values(session: AnnotatedSession, vectors: Floats) -> dict[str, Value]:
    """Return the forward flow of the therapist's turns, of the client's, and of those of both, by column."""
    of_role = [np.equal(session.turns.roles, role) for role in (THERAPIST, CLIENT)]
    values: dict[str, Value] = {}
    series = np.full(len(session), nan)
    for name, counted in zip(FLOWS, (*of_role, of_role[0] | of_role[1]), strict=True):
        turns = np.flatnonzero(counted & vectors.any(axis=1))
        alike = vectors[turns] @ vectors[turns].T / STEPS**2
        flow = forward_flow(alike)
        if name != _OF_BOTH:
            series[turns] = flow
        mean = float(flow[1:].mean()) if len(turns) > 1 else nan
        null, sd = flow_in_orders(alike)
        # Under the steps of the vectors there is no spread
        values |= {name: mean, f"{name}_null_mean": null, f"{name}_z": (mean - null) / sd if sd > 1e-6 else nan}
    return values | {FLOW_TURN.name: series}


# ---- return: back to what was left


def returns(alike: Floats, order: Ints) -> Floats:
    """Return how much nearer blocks of talk are to one left behind than to the last one.

    Parameters
    ----------
    alike : float64 array (n, n, ...)
        Cosine of what the one says in a block (row) with what the other says in a block (column); nan if undefined.
    order : int64 array (n,)
        The blocks in the order as they came, or in another.

    Returns
    -------
    float64 array (...)
        The highest cosine with a block before the last one, less that with the last one; mean over blocks from the
        third on. -2 to 2; nan under three blocks.

    Examples
    --------
    Topic A, then B, then A again (1 - 0); and A, B, C (0 - 0).

    >>> order = np.arange(3)
    >>> float(returns(np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 1]]), order)), float(returns(np.eye(3), order))
    (1.0, 0.0)
    """
    ordered = alike[np.ix_(order, order)]
    nearest = np.fmax.accumulate(ordered, axis=1)  # the highest cosine with a block up to each
    gains = [nearest[place, place - 2] - ordered[place, place - 1] for place in range(2, len(order))]
    return mean_of_defined(np.array(gains).reshape(-1, *alike.shape[2:]))


def _return_column(name: str, who: str, whose: str) -> Column:
    return Column(
        name=name,
        meaning=f"Return: how much nearer in meaning the {who}'s words are to {whose} words of some time ago than to "
        "those just before",
        unit="difference of cosines",
        low=-2,
        high=2,
        high_means="higher: comes back to what was left; below 0: stays with what was talked of last",
        formula=f"segments of {BLOCK} turns (at most {MOST_BLOCKS}): highest cosine with a segment before the "
        "last one, less that with the last one; mean over segments from the third on",
        misleads="The more segments, the likelier that one of them is near: read it beside the shuffled segments. A "
        "closing summary counts as a return, and so does following the other who returns. Most sessions lie below "
        f"their shuffles, because talk stays with a topic longer than shuffled talk does. {VECTORS}",
        source=_ANGUS,
    )


RETURNS = {
    "therapist_topic_return": ("therapist", "the client's"),
    "client_topic_return": ("client", "the therapist's"),
    "therapist_own_topic_return": ("therapist", "the same speaker's"),
    "client_own_topic_return": ("client", "the same speaker's"),
}
_RETURN_STATISTICS: tuple[Statistic, ...] = ("null_mean", "z", "p")
_RETURN_NAMES = [name + end for name in RETURNS for end in ("", *(f"_{one}" for one in _RETURN_STATISTICS))]


def return_columns() -> list[Column]:
    """Return the columns of `return_values`, each with those of its null distribution."""
    values = [_return_column(name, *about) for name, about in RETURNS.items()]
    orders = f"{DRAWS} seeded shuffles of the session's segments of {BLOCK} turns"
    return [one for value in values for one in (value, *null_columns(value, _RETURN_STATISTICS, shuffles=orders))]


def _blocks(vectors: Floats, turns: Ints, n_turns: int) -> Floats:
    """Return the sum of the vectors of one speaker's turns in each block of the session, (n_blocks, n_dimensions)."""
    n = min(max(n_turns // BLOCK, 1), MOST_BLOCKS)
    return np.equal.outer(np.arange(n), turns * n // max(n_turns, 1)).astype(np.float64) @ vectors[turns]


def return_values(session: AnnotatedSession, vectors: Floats) -> dict[str, Value]:
    """Return how much talk returns to what was left, beside shuffled segments; vectors of turns (n_turns, n)."""
    if len(session) < 3 * BLOCK:
        return dict.fromkeys(_RETURN_NAMES, nan)
    one, other = (_blocks(vectors, turns, len(session)) for turns in spoken_turns(session))
    pairs = (one, other), (other, one), (one, one), (other, other)
    alike = np.stack([cosines(a[:, None], b) for a, b in pairs], axis=-1)
    places = np.arange(len(one))
    orders = permutations(places, session.generator(4)) if len(one) >= FEWEST_BLOCKS else places[None][:0]
    value, draws = returns(alike, places), np.array([returns(alike, order) for order in orders]).reshape(-1, len(pairs))
    asked = np.ones(len(RETURNS), dtype=np.bool_)
    null = beside_shuffles(value, draws.T, asked, closer="higher", two_sided=~asked)
    statistics = np.stack([value, null.mean, null.z, null.p], axis=1)
    return dict(zip(_RETURN_NAMES, statistics.ravel().tolist(), strict=True))


# ---- context: all that the other has said so far


def context(own: Side, other: Side) -> Floats:
    """Return the cosine of each turn with the sum of the other's earlier turns, float64 (n_turns,).

    Parameters
    ----------
    own, other : Side
        Whose rows are vectors of meaning, (n_turns, n_dimensions). Nan where there is no meaning.
    """
    heard = np.cumsum(np.vstack([np.zeros(other.rows.shape[1]), other.rows]), axis=0)
    return cosines(own.rows, heard[np.searchsorted(other.at, own.at)])


def _context_score(therapist: Side, client: Side) -> Floats:
    means = mean_column(context(therapist, client)), mean_column(context(client, therapist))
    return np.array([mean_column(np.array(means)), *means])


def _context_column(direction: Direction, whose: str) -> Column:
    return Column(
        name=wide_name("semantic_context", direction),
        measure="semantic_context",
        direction=direction,
        meaning=f"Similarity of meaning of {whose} with all that the other has said so far",
        unit="cosine",
        low=-1,
        high=1,
        high_means="higher: nearer to what the other has talked about",
        formula="cosine of a turn's vector with the mean of the unit vectors of all the other's earlier turns; mean "
        "over turns" + (", then of the two" if direction == "both" else ""),
        misleads="Grows over a session as the mean settles, and with words per turn; a session of one topic is high "
        "whoever brought it up. What counts is the distance from surrogate pairs. "
        f"{VECTORS}. Not a quality score",
        source="This package's own",
        evidence="supported",
    )


CONTEXT = session_measure(
    SessionMeasure(
        name="semantic_context",
        columns=(
            _context_column("both", "turns"),
            _context_column("therapist", "the therapist's turns"),
            _context_column("client", "the client's turns"),
        ),
        represent=vectors_of,
        score=_context_score,
    )
)
CONTEXT_TURN = replace(
    _context_column("both", "this turn"),
    name="semantic_context_turn",
    formula="cosine of the turn's vector with the mean of the unit vectors of all the other's earlier turns",
    level="turn",
)


def _context_series(session: AnnotatedSession) -> Floats:
    """Return the cosine of each turn with all that the other has said so far, (n_turns,)."""
    series = np.full(len(session), nan)
    therapists, clients = speakers_in(CONTEXT, session, surrogates=False)
    for own, other in ((therapists[0], clients[0]), (clients[0], therapists[0])):
        series[own.at] = context(own, other)
    return series


@measure(
    columns=[
        *session_columns(CONTEXT),
        CONTEXT_TURN,
        *(column for name, whose in FLOWS.items() for column in flow_columns(name, whose)),
        FLOW_TURN,
        *return_columns(),
    ],
    page={"semantic_context": OnPage("together", "Near in meaning to all that the other said so far")},
)
def semantic_course(session: AnnotatedSession) -> dict[str, Value]:
    """Follow what the talk is about over the session: nearness to what the other has said so far, flow, and return.

    High nearness means that a turn is about what the other has talked about so far; high forward flow that thoughts
    move on; high return that talk comes back to what it had left. See `context`, `forward_flow` and `returns` for the
    formulas as examples.

    References
    ----------
    Gray, K., Anderson, S., Chen, E. E., Kelly, J. M., Christian, M. S., Patrick, J., Huang, L., Kenett, Y. N., &
    Lewis, K. (2019). "Forward flow": A new measure to quantify free thought and predict creativity. American
    Psychologist, 74, 539-554.

    Angus, D., Smith, A., & Wiles, J. (2012). Human communication as coupled time series: Quantifying
    multi-participant recurrence. IEEE Transactions on Audio, Speech, and Language Processing, 20, 1795-1807.
    """
    vectors = vectors_of(session)
    values = session_values(CONTEXT, session) | {CONTEXT_TURN.name: _context_series(session)}
    return values | flow_values(session, vectors) | return_values(session, vectors)
