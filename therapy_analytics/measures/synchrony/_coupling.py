"""Correlation of two short series at several lags, without trend and autocorrelation, and by chance."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from therapy_analytics.errors import BadOptionError
from therapy_analytics.language.integers import distinct
from therapy_analytics.measures.synchrony._chance import DRAWS, Bools, Floats, Ints

N_LAGS = 3
SHUFFLES = DRAWS
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


@dataclass(frozen=True, slots=True)
class ShuffledCoupling:
    """A session's coupling, and that of the same values in random order.

    Attributes
    ----------
    observed : Coupling
        Of the session.
    peak, strength, leading : float64 array (shuffles,)
        The same values with the client's series in random order.
    """

    observed: Coupling
    peak: Floats
    strength: Floats
    leading: Floats


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
    (own,), (other,) = prepared(*_pair(x, y), n_lags, detrend=detrend, whiten=whiten)
    return _coupling(correlations(own, other[None], n_lags))


def coupling_against_chance(
    x: ArrayLike,
    y: ArrayLike,
    generator: np.random.Generator,
    *,
    n_lags: int = N_LAGS,
    shuffles: int = SHUFFLES,
    whiten: bool = True,
) -> ShuffledCoupling:
    """Return the coupling of a session, and that of the same session with the client's values in random order.

    Parameters
    ----------
    x, y, n_lags, whiten
        As for `couple`; the trend is taken out.
    generator : numpy.random.Generator
        Where the orders come from.
    shuffles : int
        How many orders.

    Returns
    -------
    ShuffledCoupling
        Arrays of nan where the coupling is undefined.

    Notes
    -----
    A random order also breaks what ties a series to itself. Of 500 pairs of independent series with an
    autocorrelation of .5 over 36 exchanges, 12 per cent (peak) and 21 per cent (strength) lay beyond the 5 per cent
    limit of shuffles of the series as they are, and 11 and 12 beyond that of circular shifts, of which so short a
    series has few. With `whiten`, and the autocorrelation corrected for the length of the series (Kendall, 1954),
    it was 3 to 8, around 5, for 12 to 100 exchanges and autocorrelations of 0 to .8: so that is the default. A slow
    drift under much noise is more than a first-order autoregression takes out: there, 10 at 100 exchanges.

    What is found: at 36 exchanges a client who follows with a correlation of .5 is found by `peak` in 60 of 100
    sessions, by `leading` in 35; with .8 in 100 and 90.

    References
    ----------
    Kendall, M. G. (1954). Note on bias in the estimation of autocorrelation. Biometrika, 41, 403-404.

    Haugh, L. D. (1976). Checking the independence of two covariance-stationary time series: a univariate residual
    cross-correlation approach. Journal of the American Statistical Association, 71, 378-385.
    """
    if shuffles < 1:
        raise BadOptionError("shuffles", "chance needs at least one order", "Give 200 or more")
    (own,), (other,) = prepared(*_pair(x, y), n_lags, detrend=True, whiten=whiten)
    found = correlations(own, shuffled(other, generator, shuffles), n_lags)
    return ShuffledCoupling(_coupling(correlations(own, other[None], n_lags)), _peak(found), *strengths(found))


def shuffled(series: Floats, generator: np.random.Generator, shuffles: int) -> Floats:
    """Return random orders of series, (..., n) to (..., shuffles, n); of several, the same orders."""
    orders = generator.permuted(np.tile(np.arange(series.shape[-1]), (shuffles, 1)), axis=1)
    return series.take(orders, axis=-1)


def chance_p(observed: float, shuffled: Floats, *, two_sided: bool = False) -> float:
    """Return how often shuffles reach an observed value, the observed order counted among them.

    Parameters
    ----------
    observed : float
        The session's value.
    shuffled : float64 array (shuffles,)
        The same value of random orders.
    two_sided : bool
        Whether distance from the mean of the shuffles counts, on either side: for `peak` and `leading`.

    Returns
    -------
    float
        Above 0, at most 1; nan when the observed value is.

    Examples
    --------
    Reached by one of four, and by the observed order itself: 2 of 5.

    >>> chance_p(0.3, np.array([0.1, 0.2, 0.3, 0.0]))
    0.4
    """
    known = shuffled[~np.isnan(shuffled)]
    if np.isnan(observed) or not len(known):
        return nan
    centre = float(known.mean())
    reached = np.abs(known - centre) >= abs(observed - centre) - 1e-12 if two_sided else known >= observed - 1e-12
    return float((1 + np.count_nonzero(reached)) / (1 + len(known)))


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return two series as arrays of one row."""
    one, other = (np.asarray(series, dtype=np.float64) for series in (x, y))
    if one.shape != other.shape or one.ndim != 1:
        raise BadOptionError("y", "the two series differ in length", "Give one value of each for every exchange")
    return one[None], other[None]


def prepared(x: Floats, y: Floats, n_lags: int, *, detrend: bool, whiten: bool) -> tuple[Floats, Floats]:
    """Return pairs of series, (k, n) each, as `left_of_pairs` leaves them; nan where it leaves nothing."""
    pairs = np.arange(2 * len(x)).reshape(2, -1)
    rows, *left = left_of_pairs(np.concatenate([x, y]), pairs, n_lags, detrend=detrend, whiten=whiten)
    one, other = np.full((2, len(x), max(left[0].shape[1], 1)), nan)
    if len(rows):
        one[rows], other[rows] = left
    return one, other


def left_of_pairs(
    series: Floats, pairs: Ints, n_lags: int, *, detrend: bool, whiten: bool
) -> tuple[Ints, Floats, Floats]:
    """Take trend and autocorrelation out of pairs of series.

    Parameters
    ----------
    series : float64 array (k, n)
        The series; nan where unknown.
    pairs : int64 array (2, n_pairs)
        Which of them are the first and the second of each pair; one series may be in several.
    n_lags, detrend, whiten
        As for `couple`.

    Returns
    -------
    rows : int64 array (n_defined,)
        Which of the pairs are long enough, and both vary.
    x, y : float64 array (n_defined, n or n - 1)
        What is left of those; 0 where unknown.
    """
    if n_lags < 1:
        raise BadOptionError("n_lags", "there is no lag below 1", "Give 1 or more")
    known = np.isfinite(series)
    n_known = np.count_nonzero(known[pairs[0]] & known[pairs[1]], axis=1)
    rows = np.flatnonzero(n_known - n_lags - whiten >= _FEWEST)
    if not len(rows):
        return rows, series[:0], series[:0]
    used, (x, y) = distinct(pairs[:, rows], len(series))
    series, known = series[used], known[used]
    left, varies = _left_over(series, known, detrend=detrend)
    varies &= _n_unusual(series, known) >= FEWEST_UNUSUAL
    if whiten:
        left = _whitened(left, known)
    two = varies[x] & varies[y]
    return rows[two], left[x[two]], left[y[two]]


def _n_unusual(series: Floats, known: Bools) -> Ints:
    """Return how many values of each series (k, n) differ from its most frequent one."""
    ordered = np.sort(np.where(known, series, nan), axis=1)
    begins = np.ones(ordered.shape, dtype=np.bool_)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]  # nan, which differs from itself, counts once at most
    at = np.arange(ordered.shape[1])
    alike = at - np.maximum.accumulate(np.where(begins, at, 0), axis=1) + 1
    return np.asarray(known.sum(axis=1) - alike.max(axis=1))


def _left_over(series: Floats, known: Bools, *, detrend: bool) -> tuple[Floats, Bools]:
    """Return series (k, n) without mean and trend, 0 where unknown; and which of them vary."""
    filled = np.where(known, series, 0.0)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)
    left = np.where(known, filled - filled.sum(axis=1, keepdims=True) / n, 0.0)
    if detrend:
        at = np.arange(series.shape[1], dtype=np.float64)
        time = np.where(known, at - (known @ at)[:, None] / n, 0.0)
        slope = _products(time, left) / np.maximum(_products(time, time), 1e-300)
        left = left - time * slope
    return left, np.abs(left).max(axis=1) > 1e-9 * np.abs(filled).max(axis=1)


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
    """Pearson's r of series (..., n) with each of P (..., P, n) at each lag, (..., P, 2 * n_lags).

    The client's value that stands ``shift`` exchanges later is 2 * shift + 1 turns later.
    """
    at, inside, n = _places(x.shape[-1], n_lags)
    beside = x[..., at] * inside
    beside = (beside - beside.sum(axis=-1, keepdims=True) / n[:, None]) * inside
    each = ys.reshape(-1, ys.shape[-1])  # one product of all series is quicker than one of each
    squares = (each * each @ inside.T - (each @ inside.T) ** 2 / n).reshape(*ys.shape[:-1], len(n))
    scale = np.sqrt(np.maximum(squares, 0.0) * np.vecdot(beside, beside)[..., None, :])
    found = np.full(scale.shape, nan)
    np.divide(ys @ np.swapaxes(beside, -1, -2), scale, out=found, where=scale > 1e-12)
    return np.asarray(np.clip(found, -1.0, 1.0))


@functools.lru_cache(maxsize=8)
def _places(n: int, n_lags: int) -> tuple[Ints, Floats, Floats]:
    """Return which of x stands beside each of y at each lag, 1 where there is one, (n_lags, n); and how many are."""
    at = np.arange(n) - np.arange(-n_lags, n_lags)[:, None]
    inside = ((at >= 0) & (at < n)).astype(np.float64)
    return np.clip(at, 0, n - 1), inside, np.maximum(inside.sum(axis=1), 1)


def _peak(correlations: Floats) -> Floats:
    at = np.argmax(np.abs(correlations), axis=1)
    return np.asarray(correlations[np.arange(len(at)), at])


def strengths(correlations: Floats) -> tuple[Floats, Floats]:
    """Mean absolute z over all lags, and of the client following minus of the therapist following, (...) each."""
    by_lag = np.ascontiguousarray(np.moveaxis(correlations, -1, 0))  # quicker to add up than when lags stand last
    z: Floats = np.abs(np.arctanh(np.clip(by_lag, -_HIGHEST_R, _HIGHEST_R)))
    n = len(z) // 2
    return z.sum(axis=0) / len(z), z[n:].sum(axis=0) / n - z[:n].sum(axis=0) / n


def _coupling(correlations: Floats) -> Coupling:
    n_lags = correlations.shape[1] // 2
    lags = 2 * np.arange(-n_lags, n_lags) + 1
    (peak,), ((strength,), (leading,)) = _peak(correlations), strengths(correlations)
    peak_lag = nan if np.isnan(peak) else float(lags[np.argmax(np.abs(correlations[0]))])
    return Coupling(lags, correlations[0], float(peak), peak_lag, float(strength), float(leading))
