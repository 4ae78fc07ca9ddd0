"""Lagged coupling: does one's turn rise and fall with the other's, and who follows whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.null.shuffles import permutations
from therapy_analytics.measures.null.summary import Bools, Floats
from therapy_analytics.measures.null.surrogates import Ints
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES
from therapy_analytics.measures.synchrony.tables import session_columns, session_values
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure
from therapy_analytics.session import THERAPIST

N_LAGS = 3
"""Lags on either side: 1, 3 and 5 turns."""
FEWEST_EXCHANGES = 8 + N_LAGS + 1
"""Under so many with both values coupling is undefined: the furthest lag, and the autoregression, leave under 8."""
FEWEST_UNUSUAL = 4
"""So many values of a series must differ from its most frequent one.

Where one exchange alone is unlike the others in each of two unrelated series, 14 of 100 pairs of 40 exchanges, and 28
of 100 pairs of 20, lay beyond the 5 per cent limit of their shuffles: the autoregression that is taken out leaves a
trace right behind it, alike in both, which no shuffle keeps. With four it was 5 or 6."""
_HIGHEST_R = 0.999
_HIGHEST_PHI = 0.95
SERIES: Mapping[str, tuple[str, str]] = {
    "words": (
        "words per turn",
        (
            "A turn's length goes with what is asked and with who holds the floor. There are no surrogate pairs: "
            "donors' turns are chosen by length"
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
            "exceeded in 21 of 100 sessions, surrogate pairs of the same lengths are not"
        ),
    ),
    "pace": (
        "words per second",
        "Needs the beginning and the end of turns; coarse times and pauses make the pace of short turns a guess",
    ),
}
"""What of each turn is coupled, and when that misleads."""
_MISLEADS = (
    "Not a quality score. Undefined under 12 exchanges, and where fewer than 4 exchanges of one of the two differ from "
    "the most frequent value; under 40 found only when strong (a correlation of .5 in two of three sessions)"
)


def left_over(series: Floats) -> Floats:
    """Take the straight line over the session, and the first-order autoregression, out of series.

    What a common drift makes alike is not following; and two series that change slowly correlate by accident far more
    often than a shuffle makes them.

    Parameters
    ----------
    series : float64 array (k, n)
        Nan where unknown (a turn without words).

    Returns
    -------
    float64 array (k, n - 1)
        What is left of all values but the first; 0 where a value is unknown, so that it counts for nothing. Nan all
        along a series that does not vary enough: fewer than `FEWEST_UNUSUAL` values differ from its most frequent one,
        or it is a straight line.

    References
    ----------
    Kendall, M. G. (1954). Note on bias in the estimation of autocorrelation. Biometrika, 41, 403-404.
    """
    known = np.isfinite(series)
    filled = np.where(known, series, 0.0)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)
    at = np.arange(series.shape[1], dtype=np.float64)
    centred = np.where(known, filled - filled.sum(axis=1, keepdims=True) / n, 0.0)
    time = np.where(known, at - (known @ at)[:, None] / n, 0.0)
    straight = centred - time * _products(time, centred) / np.maximum(_products(time, time), 1e-300)
    varies = np.abs(straight).max(axis=1, initial=0.0) > 1e-9 * np.abs(filled).max(axis=1, initial=0.0)
    varies &= np.array([_n_unusual(one[has]) for one, has in zip(series, known, strict=True)]) >= FEWEST_UNUSUAL
    return np.where(varies[:, None], _whitened(straight, known), nan)


def _n_unusual(values: Floats) -> int:
    """Return how many of the values (n,) differ from the most frequent one."""
    return len(values) - int(np.unique(values, return_counts=True)[1].max(initial=0))


def _products(a: Floats, b: Floats) -> Floats:
    """Return the sum of products of rows, (k, n) each to (k, 1)."""
    return np.asarray(np.vecdot(a, b)[:, None])


def _whitened(values: Floats, known: Bools) -> Floats:
    """Take out the first-order autoregression; its coefficient is corrected for its bias of -(1 + 3 phi) / n."""
    n = np.maximum(known.sum(axis=1, keepdims=True), 4)  # series of fewer are undefined anyway
    before, after = values[:, :-1], values[:, 1:]
    phi = _products(after, before) / np.maximum(_products(before, before), 1e-300)
    phi = np.clip((n * phi + 1) / (n - 3), -_HIGHEST_PHI, _HIGHEST_PHI)
    return np.where(known[:, 1:], after - phi * before, 0.0)


def correlations(x: Floats, y: Floats, n_lags: int = N_LAGS) -> Floats:
    """Return Pearson's r of series of the therapist with series of the client at each lag.

    Parameters
    ----------
    x, y : float64 array (..., n), shapes that broadcast
        Values of the therapist's turns, and of the client's turns that follow them.
    n_lags : int
        Lags on either side: 3 stands for 1, 3 and 5 turns, the client later, and as many with the client earlier.
        Turns alternate, so there are no even lags.

    Returns
    -------
    float64 array (..., 2 * n_lags)
        -1 to 1, at the lags -5, -3, -1, 1, 3, 5. Above 0 the client's turn comes later: at 1 it is the reply to the
        therapist's turn, at -1 the therapist's turn is the reply to the client's. Nan where one does not vary, and
        where the series are shorter than the lag.

    Examples
    --------
    The client repeats the therapist's value in the reply (lag 1), whatever it is.

    >>> values = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    >>> correlations(values, values, n_lags=1).round(3).tolist()
    [-0.081, 1.0]
    """
    n, found = x.shape[-1], []
    for shift in range(-n_lags, n_lags):  # the client's value stands so many exchanges later
        if n <= abs(shift):
            found.append(np.full(np.broadcast_shapes(x.shape[:-1], y.shape[:-1]), nan))
            continue
        one, other = x[..., max(-shift, 0) : n - max(shift, 0)], y[..., max(shift, 0) : n + min(shift, 0)]
        one, other = (each - each.mean(axis=-1, keepdims=True) for each in (one, other))
        scale = np.sqrt(np.vecdot(one, one) * np.vecdot(other, other))
        found.append(np.vecdot(one, other) / np.where(scale > 1e-12, scale, nan))
    return np.asarray(np.clip(np.stack(found, axis=-1), -1.0, 1.0))


def strengths(correlations: Floats) -> tuple[Floats, Floats]:
    """Return how strong coupling is, and how much more the client follows the therapist than the other way round.

    Parameters
    ----------
    correlations : float64 array (..., 2 * n_lags)
        As `correlations` returns them.

    Returns
    -------
    strength, leading : float64 array (...)
        The mean over lags of the absolute value of Fisher's z of r, from 0 (r beyond .999 counts as .999); and this
        mean over the lags above 0 less that over the lags below 0.

    Notes
    -----
    The mean of absolute z values is Ramseyer and Tschacher's; they and Boker et al. correlate in windows of a minute of
    video, which a session of 40 exchanges is too short for. The sign of coupling says nothing about quality.
    """
    z = np.abs(np.arctanh(np.clip(correlations, -_HIGHEST_R, _HIGHEST_R)))
    earlier, later = np.split(z, 2, axis=-1)
    return np.asarray(z.mean(axis=-1)), np.asarray(later.mean(axis=-1) - earlier.mean(axis=-1))


# ---- of a session


def turn_series(session: AnnotatedSession) -> Floats:
    """Return the series of `SERIES` for each turn, (n_turns, 4); nan where there are no words or no times."""
    words = session.n_words.astype(np.float64)
    categories = session.turns.categories
    lists = ([one for one in categories if one.startswith("emotions.")], CATEGORIES)
    emotions, function = (session.turns.counts[:, [categories[one] for one in names]].sum(axis=1) for names in lists)
    # A turn of no length has no pace.
    seconds = np.array([_seconds(turn.start_s, turn.end_s) for turn in session.session.turns], dtype=np.float64)
    spoken = np.where(words > 0, words, nan)
    return np.stack([spoken, 100 * emotions / spoken, 100 * function / spoken, spoken / seconds], axis=-1)


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
    exchange_of, n, asked = {}, 0, False
    for at, is_answer in sorted([*((at, False) for at in therapist.tolist()), *((at, True) for at in client.tolist())]):
        n += not (is_answer and asked)
        exchange_of[at], asked = n - 1, not is_answer
    of_therapist, of_client = (np.array([exchange_of[at] for at in one.tolist()]) for one in (therapist, client))
    return of_therapist, of_client, n


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerSeries:
    """The series of one speaker.

    Attributes
    ----------
    known : bool array (n_series, n_exchanges)
        Whether the exchange has a value.
    left : float64 array (n_series, n_exchanges - 1), or (n_shuffles, n_series, n_exchanges - 1)
        What `left_over` leaves of the values; in several orders.
    """

    known: Bools
    left: Floats


def of_speaker(side: Side) -> SpeakerSeries:
    """Return the series of a speaker by exchange; its rows are those of `turn_series`."""
    places = (side.at, side.others_at) if side.role == THERAPIST else (side.others_at, side.at)
    *exchange, n = exchanges(*places)
    series = np.full((len(SERIES), n), nan)
    series[:, exchange[side.role]] = side.rows.T
    return SpeakerSeries(np.isfinite(series), left_over(series))


def couple(therapist: SpeakerSeries, client: SpeakerSeries) -> Floats:
    """Return strength and leading of each series, float64 (..., 2 * n_series).

    Nan where the furthest lag leaves fewer than 8 exchanges with both values.
    """
    n_both = np.count_nonzero(therapist.known & client.known, axis=-1)
    enough = n_both >= FEWEST_EXCHANGES
    left = np.where(enough[:, None], therapist.left, nan)
    found = np.stack(strengths(correlations(left, client.left)), axis=-1)
    return found.reshape(*found.shape[:-2], -1)


def _shuffled(therapist: SpeakerSeries, client: SpeakerSeries, generator: np.random.Generator) -> Floats:
    """Return the values with what is left of the client's series in other orders, (n_draws, 2 * n_series)."""
    orders = permutations(np.arange(client.left.shape[1]), generator)
    return couple(therapist, replace(client, left=client.left[:, orders].swapaxes(0, 1)))


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
        high_means="higher: the two rise and fall together, or against each other",
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
        high_means="above 0: the client follows the therapist more than the therapist the client",
        formula=f"as coupling_{name}_strength, where the client's turn comes later, minus where it comes earlier",
        misleads=f"{_MISLEADS}. {misleads}",
        source="Boker, S. M., Xu, M., Rotondo, J. L., & King, K. (2002). Psychological Methods 7",
        evidence="weak",
    )
    return strength, leading


COUPLING = session_measure(
    SessionMeasure(
        name="lagged_coupling",
        columns=tuple(column for name in SERIES for column in _columns(name)),
        represent=turn_series,
        speaker=of_speaker,
        score=couple,
        shuffled=_shuffled,
        # A donor's turn is as long as the one that it stands for.
        matched=("coupling_words_strength", "coupling_words_leading"),
        two_sided=tuple(f"coupling_{name}_leading" for name in SERIES),
        extra="coupling",
    )
)


@measure(columns=session_columns(COUPLING), extra="coupling")
def lagged_coupling(session: AnnotatedSession) -> dict[str, Value]:
    """Correlate what the two do turn by turn at several lags: words, emotion words, function words, pace.

    High strength: one's turns tell of the other's some turns later; leading above 0: the
    client follows the therapist. See `correlations` for an example, and `strengths`.

    Notes
    -----
    Shuffles put the client's values in another order after trend and autocorrelation were taken
    out of them: a series that changes slowly would else exceed its shuffles by itself.

    References
    ----------
    Boker, S. M., Xu, M., Rotondo, J. L., & King, K. (2002). Windowed cross-correlation and peak
    picking for the analysis of variability in the association between behavioral time series.
    Psychological Methods, 7, 338-355.

    Ramseyer, F., & Tschacher, W. (2011). Nonverbal synchrony in psychotherapy: coordinated body
    movement reflects relationship quality and outcome. Journal of Consulting and Clinical
    Psychology, 79, 284-295.
    """
    return session_values(COUPLING, session)
