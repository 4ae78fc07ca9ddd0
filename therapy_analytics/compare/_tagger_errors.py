"""How often the tagger misses a code or gives it wrongly, and rates and ratios corrected for that.

The errors stand in ``tagger_errors.csv``, which ``tools/build_tagger_errors.py`` makes from codes of recordings that
the tagger had not seen.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import exp, inf, isnan, log, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from therapy_analytics.errors import UnknownNameError
from therapy_analytics.measures._intervals import Z95, wilson

Floats = NDArray[np.float64]

ERRORS = Path(__file__).parent / "tagger_errors.csv"
TAGGERS = ("accurate", "fast")
UNCHECKED = ("llm", "")
"""Coders whose errors nobody has measured: an outside one, and one that is not known."""
PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Share:
    """A share (0 to 1), and the size `n` of a simple random sample of turns that is as uncertain (`effective_n`)."""

    value: float
    n: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval."""
        return wilson(self.value * self.n, self.n)


@dataclass(frozen=True, slots=True)
class TaggerErrors:
    """How well the tagger finds a code.

    Attributes
    ----------
    sensitivity, specificity : Share
        From recordings that it had not seen.
    correlation : float
        Of the two estimates.
    truth : str
        Who gave the true codes: ``people`` or ``language model``.
    """

    sensitivity: Share
    specificity: Share
    correlation: float
    truth: str

    @property
    def gain(self) -> float:
        """Sensitivity + specificity - 1: by how much the observed rate rises for a rise of the true one."""
        return self.sensitivity.value + self.specificity.value - 1

    def true_rate(self, observed: float) -> float:
        """Return the true rate at which the observed one is expected; not cut to 0..1, nan if the gain is not positive.

        Examples
        --------
        >>> round(TaggerErrors(Share(0.8, 100), Share(0.9, 100), 0.0, "people").true_rate(0.31), 3)
        0.3
        """
        return (observed + self.specificity.value - 1) / self.gain if self.gain > 0 else nan


@functools.cache
def errors_table() -> pd.DataFrame:
    """Return ``tagger_errors.csv``: a row a tagger, aim, code and kind of corpus."""
    return pd.read_csv(ERRORS)


def errors_by_code(tagger: str, aim: str = "balanced") -> dict[str, TaggerErrors]:
    """Return the errors of each code in whole sessions; none for coders that nobody has checked.

    Parameters
    ----------
    tagger : {"accurate", "fast", "llm", ""}
        Who coded the turns.
    aim : {"balanced", "precision", "recall", "rate"}, optional
        What its thresholds are for.

    Raises
    ------
    UnknownNameError
        There is no such tagger or aim.

    Examples
    --------
    >>> known = errors_by_code("accurate")
    >>> known["mi_question"].sensitivity.value > known["mi_sustain"].sensitivity.value
    True
    """
    table = errors_table()
    if tagger in UNCHECKED:
        return {}
    if tagger not in TAGGERS:
        raise UnknownNameError("tagger", tagger, TAGGERS)
    aims = table["aim"].unique().tolist()
    if aim not in aims:
        raise UnknownNameError("aim of the tagger", aim, aims)
    rows = table[(table["tagger"] == tagger) & (table["aim"] == aim) & table["whole_sessions"]]
    return {str(row["code"]): errors_of_row(row) for row in rows.to_dict("records")}


def errors_of_row(row: Mapping[Hashable, Any]) -> TaggerErrors:
    """Read a row of the file; standard errors between recordings become sizes of samples."""
    both = [
        Share(float(row[name]), effective_n(float(row[name]), float(row[f"{name}_error"]), float(row[n]), inf))
        for name, n in (("sensitivity", "n_with"), ("specificity", "n_without"))
    ]
    return TaggerErrors(both[0], both[1], float(row["correlation"]), str(row["truth"]))


def effective_n(share: float, error: float, most: float, df: float) -> float:
    """Return the size of the simple random sample whose share is as uncertain as this one of clusters.

    Parameters
    ----------
    share, error : float
        A share, and its standard error between clusters.
    most : float
        The number of turns: clusters that happen to be alike are not taken for more than that.
    df : float
        Degrees of freedom of the error; with fewer the sample is smaller.

    References
    ----------
    Korn, E. L., & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology, 24(2), 193-201.

    Examples
    --------
    >>> round(effective_n(0.5, 0.05, 400, inf), 6)
    100.0
    """
    known = share * (1 - share) / error**2 if error > 0 and 0 < share < 1 else inf
    spread = float(stats.t.ppf(0.975, df)) if df >= 1 else Z95
    return min(known, most) * (Z95 / spread) ** 2


def cluster_error(shifts: Floats, clusters: NDArray[np.generic]) -> tuple[float, int]:
    """Return the standard error of the sum of sessions' `shifts` (n,) over `clusters` (n,), and how many clusters.

    A shift is what a session adds to an estimate's distance from its expectation. nan for one cluster.
    """
    place = np.unique(clusters, return_inverse=True)[1]
    n = int(place.max()) + 1 if len(place) else 0
    if n < 2:
        return nan, n
    sums = np.bincount(place, shifts, n)
    return sqrt(n / (n - 1) * float(sums @ sums)), n


def adjusted_interval(observed: Share, errors: TaggerErrors) -> tuple[float, float]:
    """Return the 95 % interval of the true rate, not cut to 0..1; nan where the gain is not positive.

    Parameters
    ----------
    observed : Share
        Of turns that the tagger gave the code.
    errors : TaggerErrors
        Of the tagger, with their uncertainty.

    References
    ----------
    Lang, Z., & Reiczigel, J. (2014). Confidence limits for prevalence of disease adjusted for estimated sensitivity
    and specificity. Preventive Veterinary Medicine, 113(1), 13-22. Theirs is for independent estimates of the two; the
    covariance is added here.

    Examples
    --------
    >>> errors = TaggerErrors(Share(0.8, 100), Share(0.9, 100), 0.0, "people")
    >>> [round(end, 3) for end in adjusted_interval(Share(0.31, 200), errors)]
    [0.182, 0.415]
    """
    n = observed.n + Z95**2
    rate = (observed.value * observed.n + Z95**2 / 2) / n
    sens, of_sens = _smoothed(errors.sensitivity)
    spec, of_spec = _smoothed(errors.specificity)
    gain = sens + spec - 1
    if not (errors.gain > 0 and gain > 0):
        return nan, nan
    true = (rate + spec - 1) / gain
    shift = 2 * Z95**2 * (true * of_sens - (1 - true) * of_spec)
    both = -2 * true * (1 - true) * errors.correlation * sqrt(of_sens * of_spec)
    variance = rate * (1 - rate) / n + true**2 * of_sens + (1 - true) ** 2 * of_spec + both
    half = Z95 * sqrt(max(variance, 0.0)) / gain
    return true + shift - half, true + shift + half


def corrected_ratio(
    counts: Floats, clusters: NDArray[np.generic], errors: tuple[TaggerErrors, TaggerErrors], effect: float = 1.0
) -> tuple[float, float, float]:
    """Return the ratio of two codes' corrected rates with its 95 % interval.

    Parameters
    ----------
    counts : float array (n_sessions, 3)
        Turns with the first code, with the second, and all turns.
    clusters : array (n_sessions,)
        What each session belongs to.
    errors : tuple of TaggerErrors
        Of the tagger on both codes, taken to be independent of each other.
    effect : float, optional
        Design effect of the turns of a single session, at least 1.

    Returns
    -------
    tuple of float
        Ratio, low, high; nan where either corrected rate is 0 or less, or over 1.

    Notes
    -----
    Delta method on the logarithm: the variance between clusters (no less than that of independent turns), and those of
    sensitivities and specificities.

    Examples
    --------
    >>> sure = TaggerErrors(Share(1.0, 1e9), Share(1.0, 1e9), 0.0, "people")
    >>> [round(one, 2) for one in corrected_ratio(np.array([[8.0, 8.0, 24.0]]), np.array(["a"]), (sure, sure))]
    [1.0, 0.38, 2.66]
    """
    turns = counts[:, 2]
    n = float(turns.sum())
    rates = [float(counts[:, i].sum()) / n if n else nan for i in range(2)]
    true = [one.true_rate(rate) for one, rate in zip(errors, rates, strict=True)]
    if any(isnan(one) or not 0 < one <= 1 for one in true):
        return nan, nan, nan
    gains = [one * of.gain for one, of in zip(true, errors, strict=True)]
    residuals = [(counts[:, i] - rates[i] * turns) / n / gains[i] for i in range(2)]
    error, n_clusters = cluster_error(residuals[0] - residuals[1], clusters)
    alone = [rate * (1 - rate) / n / gain**2 for rate, gain in zip(rates, gains, strict=True)]
    # Clusters that happen to be alike are not more certain than independent turns with at most one of the codes.
    least = alone[0] + alone[1] + 2 * rates[0] * rates[1] / n / gains[0] / gains[1]
    sampled = least * effect if isnan(error) else max(error**2, least)
    spread = sqrt(sampled + sum(_variance_of_errors(one, of) for one, of in zip(true, errors, strict=True)))
    width = float(stats.t.ppf(0.975, inf if isnan(error) else n_clusters - 1)) * spread
    middle = log(true[0] / true[1])
    return exp(middle), exp(middle - width), exp(middle + width)


def _smoothed(share: Share) -> tuple[float, float]:
    """Return a share with a turn added to each side, so that 1 is not taken for certain, and its variance."""
    n = share.n + 2
    value = (share.value * share.n + 1) / n
    return value, value * (1 - value) / n


def _variance_of_errors(true: float, errors: TaggerErrors) -> float:
    """Return what the uncertainty of the errors adds to the variance of the logarithm of a corrected rate."""
    (_, of_sens), (_, of_spec) = _smoothed(errors.sensitivity), _smoothed(errors.specificity)
    by_sens, by_spec = -1 / errors.gain, (1 - true) / (true * errors.gain)
    both = 2 * by_sens * by_spec * errors.correlation * sqrt(of_sens * of_spec)
    return max(by_sens**2 * of_sens + by_spec**2 * of_spec + both, 0.0)
