"""Lagged coupling: does one's turn rise and fall with the other's, and who follows whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.integers import differs
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._chance import DRAWS, Floats, Ints
from therapy_analytics.measures.synchrony._coupling import (
    FEWEST_EXCHANGES,
    N_LAGS,
    Coupling,
    ShuffledCoupling,
    chance_p,
    correlations,
    couple,
    coupling_against_chance,
    left_of_pairs,
    shuffled,
    strengths,
)
from therapy_analytics.measures.synchrony._whole import Generator, Side, Whole, whole, whole_columns, whole_values
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES

__all__ = [
    "COUPLING",
    "SERIES",
    "Coupling",
    "ShuffledCoupling",
    "chance_p",
    "couple",
    "coupling_against_chance",
    "exchanges",
    "lagged_coupling",
    "turn_series",
]

SERIES: Mapping[str, tuple[str, str]] = {
    "words": (
        "words per turn",
        (
            "A turn's length goes with what is asked and with who holds the floor. There is no baseline of strangers: "
            "their turns are chosen by length"
        ),
    ),
    "affect": (
        "emotion words per 100 words",
        "Most turns have none, so that little is left to correlate; a list sees neither negation nor tone",
    ),
    "function_words": (
        "function words per 100 words",
        (
            "Turns of few words have extreme shares, so that lengths that go together look like coupling: shuffles are "
            "exceeded in 21 of 100 sessions, strangers of the same lengths are not"
        ),
    ),
    "pace": (
        "words per second",
        "Needs the beginning and the end of turns; coarse times and pauses make the pace of short turns a guess",
    ),
}
"""What of each turn is coupled, and when that misleads."""
_WORDS = list(SERIES).index("words")
_MISLEADS = (
    "Not a quality score. Undefined under 12 exchanges, and where fewer than 4 exchanges of one of the two differ from "
    "the most frequent value; under 40 found only when strong (a correlation of .5 in two of three sessions)"
)


def turn_series(session: AnnotatedSession) -> Floats:
    """Return the series of `SERIES` for each turn, (4, n_turns); nan where there are no words or no times."""
    return session.by_turn(_series).T


def _series(session: AnnotatedSession) -> Floats:
    words = session.n_words.astype(np.float64)
    categories = session.turns.categories
    lists = ([one for one in categories if one.startswith("emotions.")], CATEGORIES)
    emotions, function = (session.turns.counts[:, [categories[one] for one in names]].sum(axis=1) for names in lists)
    # A turn of no length has no pace.
    seconds = np.array([_seconds(turn.start_s, turn.end_s) for turn in session.session.turns], dtype=np.float64)
    said = np.where(words > 0, words, nan)
    return np.stack([said, 100 * emotions / said, 100 * function / said, said / seconds], axis=-1)


def _seconds(start: float | None, end: float | None) -> float:
    return end - start if start is not None and end is not None and end > start else nan


def exchanges(therapist: Ints, client: Ints) -> tuple[Ints, Ints, int]:
    """Return the exchange of each turn of the two, and how many there are.

    An exchange is a turn of the therapist and the turn of the client that comes next; either may lack.

    Parameters
    ----------
    therapist, client : int64 array
        Where in the session their turns stand.

    Examples
    --------
    C T C T T C: the client's first turn is the end of an exchange, and one turn of the therapist has no answer.

    >>> theirs, clients, n = exchanges(np.array([1, 3, 4]), np.array([0, 2, 5]))
    >>> theirs.tolist(), clients.tolist(), n
    ([1, 2, 3], [0, 1, 3], 4)
    """
    before, after = therapist.searchsorted(client), client.searchsorted(therapist)
    answers = differs(before)
    answers[:1] &= before[:1] > 0
    unasked = np.zeros(len(client) + 1, dtype=np.int64)  # so many turns of the client's are no answers
    np.cumsum(~answers, out=unasked[1:])
    return np.arange(len(therapist)) + unasked.take(after), before - 1 + unasked[1:], len(therapist) + int(unasked[-1])


def _by_exchange(therapists: Side, clients: Side) -> tuple[Floats, Ints]:
    """Return all series of some speakers by exchange, (n, n_exchanges), and those of each therapist with each client.

    The second is (2, n_therapists * n_clients * n_series).
    """
    *places, n = exchanges(therapists.at, clients.at)
    each = [_laid_out(side, at, n) for side, at in zip((therapists, clients), places, strict=True)]
    one, other = (np.arange(len(some)).reshape(-1, len(SERIES)) for some in each)
    pairs = np.broadcast_arrays(one[:, None], other[None] + one.size)
    return np.concatenate(each), np.stack([some.ravel() for some in pairs])


def _laid_out(side: Side, at: Ints, n: int) -> Floats:
    turns = side.turns.reshape(-1, len(at))
    found = np.full((len(turns), len(SERIES), n), nan)
    found[..., at] = side.represented.take(turns, axis=1).swapaxes(0, 1)
    if not side.is_own:
        found[:, _WORDS] = nan  # a donor's turn is as long as the one that it stands for
    return found.reshape(-1, n)


def _coupled(series: Floats, pairs: Ints, orders: Callable[[Floats], Sequence[Floats]], n_orders: int) -> Floats:
    """Return strength and leading of pairs of series, the client's in some orders: (n_dialogues * n_orders, values)."""
    found = np.full((2, pairs.shape[1], n_orders), nan)
    rows, x, y = left_of_pairs(series, pairs, N_LAGS, detrend=True, whiten=True)
    if len(rows):
        each = [strengths(correlations(x, ordered, N_LAGS)) for ordered in orders(y)]
        found[:, rows] = np.concatenate(each, axis=-1)
    by_dialogue = found.reshape(2, -1, len(SERIES), n_orders)
    return by_dialogue.transpose(1, 3, 2, 0).reshape(-1, 2 * len(SERIES))


def _as_they_are(series: Floats) -> list[Floats]:
    return [series[:, None]]


def _values(therapist: Side, client: Side) -> list[float]:
    values: list[float] = _coupled(*_by_exchange(therapist, client), _as_they_are, 1)[0].tolist()
    return values


def _shuffles(therapist: Side, client: Side, generator: Generator) -> Floats:
    if min(len(therapist.at), len(client.at)) < FEWEST_EXCHANGES:
        return np.full((1 + DRAWS, 2 * len(SERIES)), nan)
    series, both = _by_exchange(therapist, client)
    return _coupled(series, both, lambda y: [*_as_they_are(y), shuffled(y, generator(), DRAWS)], 1 + DRAWS)


def _many(therapists: Side, clients: Side) -> Floats:
    """Return the values of each therapist with each client: the series of each are prepared once."""
    found = _coupled(*_by_exchange(therapists, clients), _as_they_are, 1)
    return found.reshape(len(therapists.turns), len(clients.turns), -1)


def _columns(name: str) -> tuple[Column, Column]:
    series, misleads = SERIES[name]
    lags = f"{N_LAGS} lags on either side (1 to {2 * N_LAGS - 1} turns)"
    left = f"{series}, of which the straight line over the session and the first-order autoregression are taken out"
    strength = Column(
        name=f"coupling_{name}_strength",
        meaning=f"Coupling: how far the therapist's and the client's {series} tell of each other some turns later",
        unit="Fisher's z",
        low=0,
        high=inf,
        direction="higher: the two rise and fall together, or against each other",
        formula=f"mean over {lags} of |atanh(r)|, r Pearson's correlation of the two's {left}",
        misleads=f"{_MISLEADS}. {misleads}",
        source="Ramseyer, F., & Tschacher, W. (2011). Nonverbal synchrony in psychotherapy. JCCP 79",
        evidence="weak",
    )
    leading = Column(
        name=f"coupling_{name}_leading",
        meaning=f"Who follows whom in {series}",
        unit="Fisher's z",
        low=-inf,
        high=inf,
        direction="above 0: the client follows the therapist more than the therapist the client",
        formula=f"as coupling_{name}_strength, where the client's turn comes later, minus where it comes earlier",
        misleads=f"{_MISLEADS}. {misleads}",
        source="Boker, S. M., Xu, M., Rotondo, J. L., & King, K. (2002). Psychological Methods 7",
        evidence="weak",
    )
    return strength, leading


COUPLING = whole(
    Whole(
        name="lagged_coupling",
        columns=tuple(column for name in SERIES for column in _columns(name)),
        represent=turn_series,
        values=_values,
        many=_many,
        shuffled=_shuffles,
        itself_first=True,
        two_sided=tuple(f"coupling_{name}_leading" for name in SERIES),
    )
)


@measure(columns=whole_columns(COUPLING))
def lagged_coupling(session: AnnotatedSession) -> dict[str, Value]:
    """Correlate what the two do turn by turn at several lags: words, emotion words, function words, pace.

    High strength: one's turns tell of the other's some turns later; leading above 0: the
    client follows the therapist. See `couple` for the formula as an example, and for the
    correlation at each lag.

    Notes
    -----
    Shuffles put the client's values in another order after trend and autocorrelation were taken
    out of them: a series that changes slowly would else exceed its shuffles by itself (see
    `coupling_against_chance`).

    References
    ----------
    Boker, S. M., Xu, M., Rotondo, J. L., & King, K. (2002). Windowed cross-correlation and peak
    picking for the analysis of variability in the association between behavioral time series.
    Psychological Methods, 7, 338-355.

    Ramseyer, F., & Tschacher, W. (2011). Nonverbal synchrony in psychotherapy: coordinated body
    movement reflects relationship quality and outcome. Journal of Consulting and Clinical
    Psychology, 79, 284-295.
    """
    return whole_values(COUPLING, session)
