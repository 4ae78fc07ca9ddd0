"""How far the client's talk leans to change or against it, at the start and at the end, and how that moves."""

from __future__ import annotations

from math import nan

import numpy as np

from therapy_analytics.measures import columns_of, measure
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.turns import FEWEST_FOR_SLOPE, Floats, slope, spoken
from therapy_analytics.text import AnnotatedSession

_BASE_RATES = (0.237, 0.109, 0.654)
"""How common change talk, sustain talk and neither are: mean of both taggers' probabilities on AnnoMI."""
_EXPONENT, _STAY, _PULL = 0.96, 0.42, 0.52
"""How much a turn's own words say, how often talk stays of one kind from one client turn to the next, and how far the
kind that it stays of draws a turn: fitted to the human codes of 3,450 client turns of AnnoMI."""
_YES, _NO, _LEAST = 0.9, 0.05, 0.02
"""What a coder's plain yes and no are taken for, and the least that is left to talk of neither kind."""


@measure(columns=lambda *_: columns_of(__file__, FEWEST_FOR_SLOPE=FEWEST_FOR_SLOPE), core=7)
def change_balance(session: AnnotatedSession) -> dict[str, Value]:
    """Say how far the client's talk leans to change in the first and the last third, and how that moves.

    High balances mean that the client speaks more for change than against it; a rising one went with change of
    behaviour in studies of motivational interviewing.

    Notes
    -----
    Turns that the coder did not code are passed over; without codes of client talk everything is undefined.

    References
    ----------
    Amrhein, P. C., Miller, W. R., Yahne, C. E., Palmer, M., & Fulcher, L. (2003). Client commitment language during
    motivational interviewing predicts drug use outcomes. Journal of Consulting and Clinical Psychology, 71(5), 862-878.

    Gaume, J., Magill, M., Mastroleo, N. R., Longabaugh, R., Bertholet, N., Gmel, G., & Daeppen, J.-B. (2016). Change
    talk during brief motivational intervention with young adult males: Strength matters. Journal of Substance Abuse
    Treatment, 65, 58-65.

    Newey, W. K., & West, K. D. (1987). A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix. Econometrica, 55(3), 703-708.

    Rabiner, L. R. (1989). A tutorial on hidden Markov models and selected applications in speech recognition.
    Proceedings of the IEEE, 77(2), 257-286.
    """
    lean = np.zeros(0)
    if session.has("mi_change", "mi_sustain"):
        change, sustain = session.probabilities["mi_change"], session.probabilities["mi_sustain"]
        coded = spoken(session, "client") & ~np.isnan(change) & ~np.isnan(sustain)
        lean = balance(change[coded], sustain[coded])
    n, (moves, low, high) = len(lean), slope(lean)
    return {
        "change_balance_first": float(lean[: round(n / 3)].mean()) if n > 2 else nan,
        "change_balance_last": float(lean[round(2 * n / 3) :].mean()) if n > 2 else nan,
        "change_balance_slope": moves,
        "change_balance_slope_lo": low,
        "change_balance_slope_hi": high,
    }


def balance(change: Floats, sustain: Floats) -> Floats:
    """Return the probability of change talk less that of sustain talk, each turn weighed with its neighbours; (n,).

    Talk stays of one kind (change, sustain, neither) from one client turn to the next, or is drawn anew from the base
    rates; a turn is of the kind that talk stays of, or is drawn from the base rates, too. What the turns before and
    after say of a turn is then the forward and the backward sum of such a chain (Rabiner 1989).

    Parameters
    ----------
    change, sustain : float64 arrays (n,)
        A coder's probabilities for the client's turns, in order. Those of 0 and 1 are not taken to be that sure.

    Examples
    --------
    Between turns of change talk, a turn that leans to change by .1 leans to it by more:

    >>> balance(np.array([0.8, 0.2, 0.8]), np.array([0.1, 0.1, 0.1])).round(2).tolist()
    [0.71, 0.23, 0.71]
    """
    told = [np.where(p >= 1, _YES, np.where(p <= 0, _NO, p)) for p in (change, sustain)]
    p = np.stack([*told, np.maximum(1.0 - told[0] - told[1], _LEAST)], axis=1)
    base, n = np.array(_BASE_RATES), len(p)
    words = (p / p.sum(axis=1, keepdims=True) / base) ** _EXPONENT
    words /= words.max(axis=1, keepdims=True, initial=1e-300)
    kinds = _PULL * words + (1 - _PULL) * (words @ base)[:, None]
    before, after = np.tile(base, (n, 1)), np.ones((n, 3))
    for i in range(1, n):
        known = before[i - 1] * kinds[i - 1]
        before[i] = _STAY * known / known.sum() + (1 - _STAY) * base
    for i in range(n - 2, -1, -1):
        known = after[i + 1] * kinds[i + 1]
        after[i] = _STAY * known / (base @ known) + (1 - _STAY)
    both = before * after
    found = (_PULL * both + (1 - _PULL) * both.sum(axis=1, keepdims=True) * base) * words
    found /= found.sum(axis=1, keepdims=True)
    return np.asarray(found[:, 0] - found[:, 1])
