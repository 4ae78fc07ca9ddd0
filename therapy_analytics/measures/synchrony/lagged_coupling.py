"""Lagged coupling: does one's turn rise and fall with the other's, and who follows whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from therapy_analytics.errors import BadOptionError
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.null.shuffles import DRAWS, permutations
from therapy_analytics.measures.null.summary import Bools, Floats
from therapy_analytics.measures.null.surrogates import Ints
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES
from therapy_analytics.measures.synchrony.tables import session_columns, session_values
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure

N_LAGS = 3
_FEWEST = 8
FEWEST_EXCHANGES = _FEWEST + N_LAGS + 1
"""Under so many with both values coupling is undefined, by the defaults of `couple`."""
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


@dataclass(frozen=True, slots=True)
class Coupling:
    """Correlation of two series at each lag, and what it comes to; nan where undefined.

    Attributes
    ----------
    lags : int64 array (2 * n_lags,)
        In turns: -5, -3, -1, 1, 3, 5. Above 0 the client's turn comes later: at 1 it is the reply to the
        therapist's turn, at -1 the therapist's turn is the reply to the client's.
    correlations : float64 array (2 * n_lags,)
        Pearson's r at each lag, -1 to 1.
    peak : float
        The r that is furthest from 0, with its sign.
    peak_lag : float
        Its lag, in turns.
    strength : float
        Mean over lags of the absolute value of Fisher's z of r, from 0.
    leading : float
        The same mean over the lags above 0 minus that over the lags below 0. Above 0: the client follows.
    """

    lags: NDArray[np.int64]
    correlations: Floats
    peak: float
    peak_lag: float
    strength: float
    leading: float


def couple(x: ArrayLike, y: ArrayLike, *, n_lags: int = N_LAGS, detrend: bool = True, whiten: bool = True) -> Coupling:
    """Correlate a value of the therapist's turns with the same value of the client's, at several lags.

    High `strength`: the one's value tells of the other's some turns before or later.

    Parameters
    ----------
    x, y : array (n_exchanges,)
        Value of the therapist's turn, and of the client's turn that follows it. nan (a turn without words) is
        put where the trend would have it, so that it counts for nothing.
    n_lags : int
        Lags on either side: 3 stands for 1, 3 and 5 turns, the client later, and as many with the client
        earlier. Turns alternate, so there are no even lags; and in exchanges the two sides would not be alike.
    detrend : bool
        Take the straight line over the session out of each series first: both tire as the hour goes on, and
        what a common drift makes alike is not following.
    whiten : bool
        Take out of each series what its own value before tells of it (a first-order autoregression), because
        two series that change slowly correlate by accident far more often than a shuffle makes them.

    Returns
    -------
    Coupling
        All nan when fewer than 4 values of a series differ from its most frequent one (the exchanges with words of
        emotion, say), when a series is a straight line, or when the furthest lag leaves fewer than 8 exchanges
        (with the defaults: under 12 exchanges with both values). A lag is nan when what it leaves of a series does
        not vary; `peak`, `strength` and `leading` then are too.

    Notes
    -----
    The mean of absolute z values is Ramseyer and Tschacher's; they and Boker et al. correlate in windows of a
    minute of video, which a session of 40 exchanges is too short for. The sign of coupling says nothing about
    quality. r beyond .999 counts as .999 in z.

    References
    ----------
    Boker, S. M., Xu, M., Rotondo, J. L., & King, K. (2002). Windowed cross-correlation and peak picking for the
    analysis of variability in the association between behavioral time series. Psychological Methods, 7, 338-355.

    Ramseyer, F., & Tschacher, W. (2011). Nonverbal synchrony in psychotherapy: coordinated body movement reflects
    relationship quality and outcome. Journal of Consulting and Clinical Psychology, 79, 284-295.

    Examples
    --------
    The client repeats the therapist's value in the reply (lag 1), whatever it is.

    >>> said = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    >>> found = couple(said, said, detrend=False, whiten=False)
    >>> round(found.peak, 3), found.peak_lag, found.leading > 0
    (1.0, 1.0, True)
    """
    one, other = (np.asarray(series, dtype=np.float64) for series in (x, y))
    if one.shape != other.shape or one.ndim != 1:
        raise BadOptionError("y", "the two series differ in length", "Give one value of each for every exchange")
    if n_lags < 1:
        raise BadOptionError("n_lags", "there is no lag below 1", "Give 1 or more")
    lags, found = 2 * np.arange(-n_lags, n_lags) + 1, np.full(2 * n_lags, nan)
    if both_defined(one, other, n_lags=n_lags, whiten=whiten):
        (own,), left = (left_over(each[None], detrend=detrend, whiten=whiten) for each in (one, other))
        (found,) = correlations(own, left, n_lags)
    at = int(np.argmax(np.abs(found)))
    strength, leading = strengths(found)
    peak_lag = nan if np.isnan(found[at]) else float(lags[at])
    return Coupling(lags, found, float(found[at]), peak_lag, float(strength), float(leading))


def both_defined(x: Floats, y: Floats, *, n_lags: int = N_LAGS, whiten: bool = True) -> Bools:
    """Return whether so many exchanges have both values that the furthest lag leaves 8, (..., n) each to (...)."""
    n = np.count_nonzero(np.isfinite(x) & np.isfinite(y), axis=-1)
    return np.asarray(n - n_lags - whiten >= _FEWEST)


def left_over(series: Floats, *, detrend: bool = True, whiten: bool = True) -> Floats:
    """Take trend and autocorrelation out of series.

    Parameters
    ----------
    series : float64 array (k, n)
        Nan where unknown.
    detrend, whiten : bool
        As for `couple`.

    Returns
    -------
    float64 array (k, n), or (k, n - 1) if whitened
        What is left, 0 where a value is unknown; nan all along a series that does not vary enough.

    References
    ----------
    Kendall, M. G. (1954). Note on bias in the estimation of autocorrelation. Biometrika, 41, 403-404.
    """
    known = np.isfinite(series)
    filled = np.where(known, series, 0.0)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)
    left = np.where(known, filled - filled.sum(axis=1, keepdims=True) / n, 0.0)
    if detrend:
        at = np.arange(series.shape[1], dtype=np.float64)
        time = np.where(known, at - (known @ at)[:, None] / n, 0.0)
        left = left - time * _products(time, left) / np.maximum(_products(time, time), 1e-300)
    varies = np.abs(left).max(axis=1, initial=0.0) > 1e-9 * np.abs(filled).max(axis=1, initial=0.0)
    varies &= np.array([_n_unusual(one[has]) for one, has in zip(series, known, strict=True)]) >= FEWEST_UNUSUAL
    if whiten:
        left = _whitened(left, known)
    return np.where(varies[:, None], left, nan)


def _n_unusual(values: Floats) -> int:
    """Return how many of the values (n,) differ from the most frequent one."""
    return len(values) - int(np.unique(values, return_counts=True)[1].max(initial=0))


def _products(a: Floats, b: Floats) -> Floats:
    """Return the sum of products of rows, (k, n) each to (k, 1)."""
    return np.asarray(np.vecdot(a, b)[:, None])


def _whitened(left: Floats, known: Bools) -> Floats:
    """Take out the first-order autoregression; its coefficient is corrected for its bias of -(1 + 3 phi) / n."""
    n = np.maximum(known.sum(axis=1, keepdims=True), 4)  # fewer are left undefined
    before, after = left[:, :-1], left[:, 1:]
    phi = _products(after, before) / np.maximum(_products(before, before), 1e-300)
    phi = np.clip((n * phi + 1) / (n - 3), -_HIGHEST_PHI, _HIGHEST_PHI)
    return np.where(known[:, 1:], after - phi * before, 0.0)


def correlations(x: Floats, ys: Floats, n_lags: int) -> Floats:
    """Return Pearson's r of a series with others at each lag.

    The client's value that stands ``shift`` exchanges later is 2 * shift + 1 turns later.

    Parameters
    ----------
    x : float64 array (n,)
        Of the therapist.
    ys : float64 array (n_series, n)
        Of the client, in several orders or of several clients.
    n_lags : int
        Lags on either side.

    Returns
    -------
    float64 array (n_series, 2 * n_lags)
        Nan where one of the two does not vary.
    """
    found = np.full((len(ys), 2 * n_lags), nan)
    for column, shift in enumerate(range(-n_lags, n_lags)):
        one, others = x[max(-shift, 0) : len(x) - max(shift, 0)], ys[:, max(shift, 0) : len(x) + min(shift, 0)]
        one, others = one - one.mean(), others - others.mean(axis=1, keepdims=True)
        scale = np.sqrt((others**2).sum(axis=1) * (one @ one))
        np.divide(others @ one, scale, out=found[:, column], where=scale > 1e-12)
    return np.asarray(np.clip(found, -1.0, 1.0))


def strengths(correlations: Floats) -> tuple[Floats, Floats]:
    """Return the mean absolute z over all lags, and over those of the client following less those of the therapist.

    Parameters
    ----------
    correlations : float64 array (..., 2 * n_lags)

    Returns
    -------
    float64 array (...), twice
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
    exchange_of, n, asked = {}, 0, False
    for at, is_answer in sorted([*((at, False) for at in therapist.tolist()), *((at, True) for at in client.tolist())]):
        n += not (is_answer and asked)
        exchange_of[at], asked = n - 1, not is_answer
    of_therapist, of_client = (np.array([exchange_of[at] for at in one.tolist()]) for one in (therapist, client))
    return of_therapist, of_client, n


def _by_exchange(turns: Floats, therapists: Side, clients: Side) -> tuple[Floats, Floats]:
    """Return the series of each therapist and each client by exchange, (n_speakers, n_series, n_exchanges) each."""
    *places, n = exchanges(therapists.at, clients.at)
    found = []
    for side, at in zip((therapists, clients), places, strict=True):
        series = np.full((len(side.turns), len(SERIES), n), nan)
        series[..., at] = turns[side.turns].swapaxes(1, 2)
        series[1:, _WORDS] = nan  # a donor's turn is as long as the one that it stands for
        found.append(series)
    return found[0], found[1]


def _values(turns: Floats, therapists: Side, clients: Side) -> Floats:
    """Return strength and leading of each series, (n_therapists, n_clients, 2 * n_series)."""
    one, other = _by_exchange(turns, therapists, clients)
    found = np.full((len(one), len(other), len(SERIES), 2), nan)
    for therapist, series in np.ndindex(one.shape[:2]):
        enough = both_defined(one[therapist, series], other[:, series])
        if enough.any():
            (x,), ys = left_over(one[therapist, series][None]), left_over(other[enough, series])
            found[therapist, enough, series] = np.stack(strengths(correlations(x, ys, N_LAGS)), axis=-1)
    return found.reshape(*found.shape[:2], -1)


def _shuffled(turns: Floats, therapists: Side, clients: Side, generator: np.random.Generator) -> Floats:
    """Return the values with what is left of the client's series in other orders, (n_draws, 2 * n_series)."""
    (one,), (other,) = _by_exchange(turns, therapists, clients)
    found = np.full((DRAWS, len(SERIES), 2), nan)
    orders = permutations(np.arange(one.shape[1] - 1), generator)
    for series in range(len(SERIES)):
        if both_defined(one[series], other[series]):
            (x,), (y,) = left_over(one[series][None]), left_over(other[series][None])
            found[:, series] = np.stack(strengths(correlations(x, y[orders], N_LAGS)), axis=-1)
    return found.reshape(DRAWS, -1)


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
        values=_values,
        shuffled=_shuffled,
        two_sided=tuple(f"coupling_{name}_leading" for name in SERIES),
        extra="coupling",
    )
)


@measure(columns=session_columns(COUPLING), extra="coupling")
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
    return session_values(COUPLING, session)
