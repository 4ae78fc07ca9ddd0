"""Meaning: is a turn about what the other said, how far do thoughts move on, and does talk return to what was left.

All of it rests on the static vectors of `therapy_analytics.language.embeddings`; the arithmetic is in `_meanings`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._chance import DRAWS, FEWEST_PAIRS, Floats, Ints, against, spoken_turns
from therapy_analytics.measures.synchrony._columns import figure_columns, pairwise_columns, pairwise_values
from therapy_analytics.measures.synchrony._earlier import Speakers, contexts_of_each, talk
from therapy_analytics.measures.synchrony._meanings import (
    Meanings,
    cosines,
    meanings,
    means,
    products,
    returns_in_orders,
)
from therapy_analytics.measures.synchrony._pairwise import Pairwise, divided, of_cells, pairwise, scores
from therapy_analytics.measures.synchrony._whole import Side, Whole, whole, whole_columns, whole_values

STRETCH = 10
"""Turns of a stretch of talk, the unit in which talk leaves a topic and returns to it."""
FEWEST_STRETCHES, MOST_STRETCHES = FEWEST_PAIRS + 2, 200
"""From so many on chance is asked; sessions of more have so many, which are longer."""
_OWN = "This package's own"
_GRAY = (
    "Gray, K., Anderson, S., Chen, E. E., Kelly, J. M., Christian, M. S., Patrick, J., ... & Lewis, K. (2019). Forward "
    "flow: A new measure to quantify free thought and predict creativity. American Psychologist 74; here over turns"
)
_ANGUS = (
    "This package's own, after the long-range recurrence of Angus, D., Smith, A., & Wiles, J. (2012). Human "
    "communication as coupled time series. IEEE Transactions on Audio, Speech, and Language Processing 20"
)
_VECTORS = "Vectors are means over words: order, negation and irony count for nothing"


def _terms(before: Meanings, after: Meanings, anchors: Ints, replies: Ints) -> Floats:
    return scores(cosines(before, after, anchors, replies))


SIMILARITY = pairwise(
    Pairwise(
        name="semantic_similarity",
        series="semantic_similarity_turn",
        meaning="Similarity of meaning of neighbouring turns",
        unit="cosine",
        formula="cosine of the vectors of a turn and of the turn before, each the mean of the vectors of its words",
        misleads="Long turns are alike whatever they are about (means over many words lie near one another), and short "
        "ones ('yeah', 'okay') are 1 or near 0; saying the opposite in the same words is 1. Read it beside words per "
        f"turn and its baselines. {_VECTORS}. Not a quality score",
        source="This package's own; static vectors after Tulkens, S., & van Dongen, T. (2024). Model2Vec",
        represent=meanings,
        terms=_terms,
        score=cosines,
        products=lambda before, after, draws: of_cells(partial(products, before, after), draws),
        symmetric=True,
        tables=8,
        low=-1.0,
    )
)


def _itself(session: AnnotatedSession) -> AnnotatedSession:
    return session


def _of_many_contexts(therapists: Side, clients: Side) -> Floats:
    sides = (Speakers(meanings(side.represented), side.turns, side.at) for side in (therapists, clients))
    return _context_means(*contexts_of_each(*sides))


def _context_means(of_therapist: Floats, of_client: Floats) -> Floats:
    """Return the means over turns, of both, of the therapist's and of the client's, (n_turns, ...) to (..., 3)."""
    one, other = means(of_therapist), means(of_client)
    return np.stack([means(np.stack([one, other])), one, other], axis=-1)


def _context_values(therapist: Side, client: Side) -> list[float]:
    context = talk(therapist.represented).context
    values: list[float] = _context_means(context[therapist.turns], context[client.turns]).tolist()
    return values


def _context_column(end: str, whose: str) -> Column:
    return Column(
        name=f"semantic_context{end}",
        meaning=f"Similarity of meaning of {whose} with all that the other has said so far",
        unit="cosine",
        low=-1,
        high=1,
        direction="higher: nearer to what the other has talked about",
        formula="cosine of a turn's vector with the mean of the unit vectors of all the other's earlier turns; mean "
        "over turns" + ("" if end else ", then of the two"),
        misleads="Grows over a session as the mean settles, and with words per turn; a session of one topic is high "
        "whoever brought it up. What counts is the distance from strangers. "
        f"{_VECTORS}. Not a quality score",
        source=_OWN,
        evidence="supported",
    )


CONTEXT = whole(
    Whole(
        name="semantic_context",
        columns=(
            _context_column("", "turns"),
            _context_column("_therapist", "the therapist's turns"),
            _context_column("_client", "the client's turns"),
        ),
        represent=_itself,
        values=_context_values,
        many=_of_many_contexts,
    )
)
CONTEXT_TURN = replace(
    _context_column("", "this turn"),
    name="semantic_context_turn",
    formula="cosine of the turn's vector with the mean of the unit vectors of all the other's earlier turns",
    level="turn",
)


def _flow_columns(name: str, whose: str) -> list[Column]:
    value = Column(
        name=name,
        meaning=f"Forward flow: how far {whose} lie in meaning from all before them",
        unit="semantic distance",
        low=0,
        high=2,
        direction="higher: talk ranges more widely and moves on from what was said",
        formula="1 - cosine of a turn's vector with those of earlier turns, mean over these, then over turns",
        misleads="Made for chains of single thoughts: short turns are far from one another, and lift it. Not a quality "
        f"score. {_VECTORS}. _z says whether the order matters: below 0, talk moves step by step, so that turns are "
        "near to what was just said",
        source=_GRAY,
    )
    orders = "all orders of the turns (exact, after Mantel, 1967)"
    return [value, *figure_columns(value, ("null", "z"), shuffles=orders)]


FLOWS = {
    "therapist_forward_flow": "the therapist's turns",
    "client_forward_flow": "the client's turns",
    "session_forward_flow": "turns (of both, from those of both)",
}
FLOW_TURN = replace(
    _flow_columns("forward_flow_turn", "this speaker's words")[0],
    meaning="How far the turn lies in meaning from all earlier turns of its speaker",
    formula="1 - cosine of the turn's vector with those of its speaker's earlier turns, mean over these",
    level="turn",
)


_FLOW_NAMES = [name + end for name in FLOWS for end in ("", "_null", "_z")]


def _topics(side: Side, n_turns: int) -> Floats:
    """Return the sum of the meanings of what one says in each stretch of `STRETCH` turns of the session."""
    n = min(max(n_turns // STRETCH, 1), MOST_STRETCHES)
    members = np.equal.outer(np.arange(n), side.at * n // max(n_turns, 1)).astype(np.float64)
    return np.asarray(members @ side.represented.vectors[side.turns])


def _alike(one: Floats, other: Floats) -> Floats:
    """Return the cosines of topics in the pairs of `RETURNS`, (n, n, n_pairs)."""
    n, both = len(one), Meanings.of(np.concatenate([one, other]))
    found = divided(both.vectors @ both.vectors.T, np.multiply.outer(both.squares, both.squares))
    return np.stack([found[:n, n:], found[n:, :n], found[:n, :n], found[n:, n:]], axis=-1)


def _orders(n: int, generator: np.random.Generator) -> Ints:
    """Return the order of stretches as it is, and behind it shuffles where chance is asked, (n, n_orders)."""
    shuffles = DRAWS if n >= FEWEST_STRETCHES else 0
    orders = np.tile(np.arange(n)[:, None], (1, 1 + shuffles))
    orders[:, 1:] = generator.permuted(orders[:, 1:], axis=0)
    return orders


def _return_column(name: str, who: str, whose: str) -> Column:
    return Column(
        name=name,
        meaning=f"Return: how much nearer in meaning the {who}'s words are to {whose} words of some time ago than to "
        "those just before",
        unit="difference of cosines",
        low=-2,
        high=2,
        direction="higher: comes back to what was left; below 0: stays with what was talked of last",
        formula=f"stretches of {STRETCH} turns (at most {MOST_STRETCHES}): highest cosine with a stretch before the "
        "last one, less that with the last one; mean over stretches from the third on",
        misleads="The more stretches, the likelier that one of them is near: read it beside the shuffled stretches. A "
        "closing summary counts as a return, and so does following the other who returns. Most sessions lie below "
        f"chance, because talk stays with a topic longer than shuffled talk does. {_VECTORS}",
        source=_ANGUS,
    )


RETURNS = {
    "therapist_topic_return": ("therapist", "the client's"),
    "client_topic_return": ("client", "the therapist's"),
    "therapist_own_topic_return": ("therapist", "the same speaker's"),
    "client_own_topic_return": ("client", "the same speaker's"),
}
_RETURN_FIGURES = ("null", "z", "p")
_RETURN_NAMES = [name + end for name in RETURNS for end in ("", *(f"_{one}" for one in _RETURN_FIGURES))]


def _return_columns() -> list[Column]:
    values = [_return_column(name, *about) for name, about in RETURNS.items()]
    orders = f"{DRAWS} seeded shuffles of the session's stretches of {STRETCH} turns"
    return [one for value in values for one in (value, *figure_columns(value, _RETURN_FIGURES, shuffles=orders))]


def _return_values(session: AnnotatedSession, therapist: Side, client: Side) -> dict[str, Value]:
    if len(session) < 3 * STRETCH:
        return dict.fromkeys(_RETURN_NAMES, nan)
    table = _alike(*(_topics(side, len(session)) for side in (therapist, client)))
    found = returns_in_orders(table, _orders(len(table), session.generator(4)))
    value, draws = found[0], found[1:]
    asked = np.ones(len(RETURNS), dtype=np.bool_)
    chance = against(value, draws, asked, closer="higher", two_sided=~asked)
    figures = np.stack([value, chance.mean, chance.z, chance.p], axis=1)
    return dict(zip(_RETURN_NAMES, figures.ravel().tolist(), strict=True))


@measure(
    columns=[
        *pairwise_columns(SIMILARITY),
        *whole_columns(CONTEXT),
        CONTEXT_TURN,
        *(column for name, whose in FLOWS.items() for column in _flow_columns(name, whose)),
        FLOW_TURN,
        *_return_columns(),
    ]
)
def semantic_similarity(session: AnnotatedSession) -> dict[str, Value]:
    """Compare turns by what they are about: with the turn before, and with all that was said earlier.

    High similarity means that neighbouring turns, or a turn and what the other has said so far, are about the same;
    high forward flow that thoughts move on; high return that talk comes back to what it had left. See `cosines`,
    `earlier`, `forward_flow` and `returns` for the formulas as examples.

    Notes
    -----
    A text is the mean of the vectors of its words. So the vectors know what is talked about, not what is said about it.

    References
    ----------
    Tulkens, S., & van Dongen, T. (2024). Model2Vec: Fast state-of-the-art static embeddings.

    Gray, K., Anderson, S., Chen, E. E., Kelly, J. M., Christian, M. S., Patrick, J., Huang, L., Kenett, Y. N., &
    Lewis, K. (2019). "Forward flow": A new measure to quantify free thought and predict creativity. American
    Psychologist, 74, 539-554.

    Angus, D., Smith, A., & Wiles, J. (2012). Human communication as coupled time series: Quantifying
    multi-participant recurrence. IEEE Transactions on Audio, Speech, and Language Processing, 20, 1795-1807.
    """
    own = talk(session)
    therapist, client = (Side(own.said, turns, turns) for turns in spoken_turns(session))
    values = pairwise_values(SIMILARITY, session) | whole_values(CONTEXT, session)
    values |= {CONTEXT_TURN.name: own.context, FLOW_TURN.name: own.flow}
    values |= zip(_FLOW_NAMES, own.flows.ravel().tolist(), strict=True)
    return values | _return_values(session, therapist, client)
