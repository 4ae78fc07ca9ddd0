"""The ratio of two corrected rates, with the uncertainty of both and of the tagger's errors."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isnan, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.compare._corrected import cluster_error
from therapy_analytics.compare._tagger_errors import Errors

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """Turns of sessions: with the first code, with the second, and all; float arrays (n_sessions,), and clusters.

    Attributes
    ----------
    effect : float
        Design effect of the turns of a single session, at least 1.
    """

    top: Floats
    beside: Floats
    turns: Floats
    clusters: NDArray[np.generic]
    effect: float = 1.0


def corrected_ratio(totals: Totals, top: Errors, beside: Errors) -> tuple[float, float, float]:
    """Return the ratio of two codes' corrected rates with its 95 % interval.

    Parameters
    ----------
    totals : Totals
        What was counted.
    top, beside : Errors
        Of the tagger on both codes, taken to be independent of each other.

    Returns
    -------
    tuple of float
        Ratio, low, high; nan where either corrected rate is 0 or less, or over 1.

    Notes
    -----
    Delta method on the logarithm: what each cluster adds to it (no less than turns that were independent and had one of
    both codes at most), and the variances of sensitivities and specificities.

    Examples
    --------
    >>> from therapy_analytics.compare._tagger_errors import Share
    >>> sure = Errors(Share(1.0, 1e9), Share(1.0, 1e9), 0.0, "people")
    >>> totals = Totals(np.array([8.0]), np.array([8.0]), np.array([24.0]), np.array(["a"]))
    >>> [round(one, 2) for one in corrected_ratio(totals, sure, sure)]
    [1.0, 0.38, 2.66]
    """
    from scipy import stats  # noqa: PLC0415  # slow: only where it is used

    n = float(totals.turns.sum())
    rates = [float(counts.sum()) / n if n else nan for counts in (totals.top, totals.beside)]
    true = [errors.true_rate(rate) for errors, rate in zip((top, beside), rates, strict=True)]
    if any(isnan(one) or not 0 < one <= 1 for one in true):
        return nan, nan, nan
    gains = [one * errors.gain for one, errors in zip(true, (top, beside), strict=True)]
    shifts = (totals.top - rates[0] * totals.turns) / n / gains[0]
    shifts -= (totals.beside - rates[1] * totals.turns) / n / gains[1]
    error, n_clusters = cluster_error(shifts, totals.clusters)
    # Clusters that happen to be alike are not taken for surer than their turns.
    alone = [rate * (1 - rate) / n / gain**2 for rate, gain in zip(rates, gains, strict=True)]
    least = alone[0] + alone[1] + 2 * rates[0] * rates[1] / n / gains[0] / gains[1]
    sampled = least * totals.effect if isnan(error) else max(error**2, least)
    spread = sqrt(sampled + _of_errors(true[0], top) + _of_errors(true[1], beside))
    width = float(stats.t.ppf(0.975, inf if isnan(error) else n_clusters - 1)) * spread
    middle = log(true[0] / true[1])
    return exp(middle), exp(middle - width), exp(middle + width)


def _of_errors(true: float, errors: Errors) -> float:
    """Return what the uncertainty of the errors adds to the variance of the logarithm of a corrected rate."""
    sens, spec = errors.sensitivity, errors.specificity
    # Half a turn is added to each side, so that a share of 1 is not taken for certain.
    of_sens, of_spec = (
        share * (1 - share) / (one.n + 2) for one in (sens, spec) for share in ((one.value * one.n + 1) / (one.n + 2),)
    )
    by_sens, by_spec = -1 / errors.gain, (1 - true) / (true * errors.gain)
    both = 2 * by_sens * by_spec * errors.correlation * sqrt(of_sens * of_spec)
    return max(by_sens**2 * of_sens + by_spec**2 * of_spec + both, 0.0)
