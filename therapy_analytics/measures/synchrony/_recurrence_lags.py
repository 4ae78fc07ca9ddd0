"""Recurrence at each distance in turns: who takes up whose words, and how long after."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from therapy_analytics.measures.synchrony._recurrence_points import REACH, Ints, Series, lay_out, points
from therapy_analytics.measures.synchrony._recurrence_values import Floats


@dataclass(frozen=True, slots=True)
class LagProfile:
    """Diagonal-wise recurrence profile in turns.

    Attributes
    ----------
    lags : int64 array (2 * reach + 1,)
        Position of the client's turn minus that of the therapist's; above 0, the client's comes later.
    rates : float64 array (2 * reach + 1,)
        Recurrent share of the pairs of words at that lag, 0 to 1; nan where there is no pair (in a session of
        two that alternate, at the even lags).
    peak_lag : float
        Lag of the greatest rate; of equal ones that nearest to 0, then the later client. nan if all are 0.
    balance : float
        Mean rate at lags above 0 minus mean rate at lags below 0, over the lags d where d and -d are defined.
    """

    lags: Ints
    rates: Floats
    peak_lag: float
    balance: float


def lag_profile(x: Series, y: Series, *, reach: int | None = REACH) -> LagProfile:
    """Return the recurrence rate at each distance in turns.

    Parameters
    ----------
    x, y : Series
        The therapist's words, and the client's.
    reach : int or None
        Greatest distance, in turns; None for the whole session.

    Returns
    -------
    LagProfile
        High at +1: the client answers in the therapist's words; at -1: the therapist in the client's.

    Notes
    -----
    crqa's drpfromts measures the lag in samples of two equally long series. Words of a talk are not
    simultaneous, so the lag is measured in turns here.

    Examples
    --------
    Turns 0 (therapist) and 1 (client) share one of 2 x 2 pairs of words, 1 and 2 (therapist) share none.

    >>> found = lag_profile(Series.of([5, 6, 8], [0, 0, 2]), Series.of([6, 7], [1, 1]), reach=1)
    >>> found.lags.tolist(), found.rates.tolist(), found.peak_lag, found.balance
    ([-1, 0, 1], [0.0, nan, 0.25], 1.0, 0.25)
    """
    plot = lay_out(x, y, reach=reach, cut_at_turns=False)
    far = plot.reach if reach is None else reach
    n_points = np.zeros(2 * far + 1)
    for i, j in points(plot):
        n_points += np.bincount(plot.y_turn[j] - plot.x_turn[i] + far, minlength=2 * far + 1)
    cells = _cells_by_lag(x, y, far)
    rates = np.divide(n_points, cells, out=np.full(len(cells), nan), where=cells > 0)
    lags = np.arange(-far, far + 1)
    both = ~np.isnan(rates) & ~np.isnan(rates[::-1]) & (lags > 0)
    balance = float(np.mean((rates - rates[::-1])[both])) if both.any() else nan
    return LagProfile(lags, rates, _peak(lags, rates), balance)


def _cells_by_lag(x: Series, y: Series, far: int) -> Floats:
    size = max((int(one.turn[-1]) for one in (x, y) if len(one)), default=0) + 1
    said = np.bincount(x.turn, minlength=size).astype(np.float64)
    answered = np.pad(np.bincount(y.turn, minlength=size).astype(np.float64), far)
    return np.correlate(answered, said, mode="valid")


def _peak(lags: Ints, rates: Floats) -> float:
    known = np.flatnonzero(rates > 0)
    if not len(known):
        return nan
    best = known[rates[known] == rates[known].max()]
    return float(min(lags[best].tolist(), key=lambda lag: (abs(lag), -lag)))
